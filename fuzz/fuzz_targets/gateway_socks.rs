//! No bytes of a client make the reader of SOCKS panic, and it makes the same of
//! them in any pieces.
//!
//! The first byte says where the rest is cut, and whether there are users.

#![no_main]

use bentpipe_gateway::entry::Users;
use bentpipe_gateway::entry::socks::{MOST, Socks, Step};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some((&cut, input)) = bytes.split_first() else {
        return;
    };
    let users = Users::default();
    let users = (cut & 1 == 1).then_some(&users);
    let whole = run(&[input], users);
    let (one, two) = input.split_at(usize::from(cut >> 1).min(input.len()));
    assert_eq!(whole, run(&[one, two], users));
    let single: Vec<&[u8]> = input.chunks(1).collect();
    if !single.is_empty() {
        assert_eq!(whole, run(&single, users));
    }
    if whole.1 == Step::More {
        assert!(whole.2.len() <= MOST);
    }
});

/// The answers, how it ended, and what is left of the input.
fn run(pieces: &[&[u8]], users: Option<&Users>) -> (Vec<u8>, Step, Vec<u8>) {
    let mut negotiation = Socks::new(users);
    let (mut held, mut said, mut last) = (Vec::new(), Vec::new(), Step::More);
    for piece in pieces {
        held.extend_from_slice(piece);
        while matches!(last, Step::More | Step::Answer(_)) {
            let (length, step) = negotiation.read(&held);
            held.drain(..length);
            last = step;
            let Step::Answer(answer) = last else { break };
            said.extend_from_slice(answer);
        }
    }
    (said, last, held)
}
