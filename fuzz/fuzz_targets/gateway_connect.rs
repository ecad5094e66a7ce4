//! No bytes of a client make the reader of HTTP CONNECT panic, and it makes the
//! same of them in any pieces.
//!
//! The first byte says where the rest is cut, and whether there are users.

#![no_main]

use bentpipe_gateway::entry::Users;
use bentpipe_gateway::entry::connect::{Connect, MOST, Step};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some((&cut, input)) = bytes.split_first() else {
        return;
    };
    // A client is read in pieces, so that its limit holds before it is passed.
    let input = &input[..input.len().min(MOST)];
    let users = Users::default();
    let users = (cut & 1 == 1).then_some(&users);
    let whole = run(&[input], users);
    let at = usize::from(cut >> 1).min(input.len());
    let (one, two) = input.split_at(at);
    assert_eq!(whole, run(&[one, two], users));
    let single: Vec<&[u8]> = input.chunks(1).collect();
    assert_eq!(whole, run(&single, users));
    match whole {
        Step::More => assert!(input.len() < MOST),
        Step::Connect(length, _) => assert!(length <= input.len()),
        Step::Refuse(response) => assert!(response.starts_with(b"HTTP/1.1 4")),
    }
});

fn run(pieces: &[&[u8]], users: Option<&Users>) -> Step {
    let mut request = Connect::new(users);
    let mut held = Vec::new();
    for piece in pieces {
        held.extend_from_slice(piece);
        let step = request.read(&held);
        if step != Step::More {
            return step;
        }
    }
    Step::More
}
