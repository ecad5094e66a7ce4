//! The server's side of SOCKS5 (RFC 1928) with the command CONNECT, and of its
//! authentication by name and password (RFC 1929). It reads and writes no socket.

use super::host;
use super::users::Users;
use crate::Destination;
use std::net::SocketAddr;

/// More bytes than any message of a client has: its longest is the name and
/// password of RFC 1929.
pub const MOST: usize = 3 + 255 + 255;

/// No method of authentication is acceptable.
const NO_METHOD: &[u8] = &[5, 0xff];

/// Result of a client's bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// The message is not whole yet.
    More,
    /// The message is answered with these bytes, and another one follows.
    Answer(&'static [u8]),
    /// The client asks for a connection to this destination.
    Connect(Destination),
    /// The connection ends, after these bytes (none where the client does not
    /// speak SOCKS5).
    Refuse(&'static [u8]),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Greeting,
    Password,
    Request,
}

/// The negotiation with one SOCKS5 client.
#[derive(Debug)]
pub struct Socks<'a> {
    users: Option<&'a Users>,
    state: State,
}

impl<'a> Socks<'a> {
    /// A client that has sent nothing. With `users`, it must be one of them.
    #[must_use]
    pub const fn new(users: Option<&'a Users>) -> Socks<'a> {
        Socks {
            users,
            state: State::Greeting,
        }
    }

    /// Reads the next message at the start of `input`. Returns how many bytes it
    /// has, which is zero where it is not whole.
    pub fn read(&mut self, input: &[u8]) -> (usize, Step) {
        let read = match self.state {
            State::Greeting => self.greeting(input),
            State::Password => self.password(input),
            State::Request => request(input),
        };
        read.unwrap_or((0, Step::More))
    }

    /// RFC 1928, section 3: version, number of methods, methods.
    fn greeting(&mut self, input: &[u8]) -> Option<(usize, Step)> {
        if *input.first()? != 5 {
            return Some((0, Step::Refuse(&[])));
        }
        let count = usize::from(*input.get(1)?);
        let methods = input.get(2..2 + count)?;
        let (method, state, answer): (u8, State, &[u8]) = match self.users {
            None => (0, State::Request, &[5, 0]),
            Some(_) => (2, State::Password, &[5, 2]),
        };
        if !methods.contains(&method) {
            return Some((2 + count, Step::Refuse(NO_METHOD)));
        }
        self.state = state;
        Some((2 + count, Step::Answer(answer)))
    }

    /// RFC 1929, section 2: version, name and password, each with its length.
    fn password(&mut self, input: &[u8]) -> Option<(usize, Step)> {
        if *input.first()? != 1 {
            return Some((0, Step::Refuse(&[1, 1])));
        }
        let name_end = 2 + usize::from(*input.get(1)?);
        let length = usize::from(*input.get(name_end)?);
        let name = input.get(2..name_end)?;
        let end = name_end + 1 + length;
        let password = input.get(name_end + 1..end)?;
        if !self.users.is_some_and(|users| users.admit(name, password)) {
            return Some((end, Step::Refuse(&[1, 1])));
        }
        self.state = State::Request;
        Some((end, Step::Answer(&[1, 0])))
    }
}

/// RFC 1928, section 4: version, command, reserved, type of address, address,
/// port.
fn request(input: &[u8]) -> Option<(usize, Step)> {
    if *input.first()? != 5 {
        return Some((0, Step::Refuse(&[])));
    }
    let kind = *input.get(3)?;
    let (start, end) = match kind {
        1 => (4, 8),
        3 => (5, 5 + usize::from(*input.get(4)?)),
        4 => (4, 20),
        _ => return Some((4, refusal(8))),
    };
    let host = input.get(start..end)?;
    let port = input.get(end..end + 2)?;
    let port = port.try_into().map(u16::from_be_bytes).ok()?;
    // BIND and UDP ASSOCIATE, which would need a socket at the far end.
    if *input.get(1)? != 1 {
        return Some((end + 2, refusal(7)));
    }
    let destination = match kind {
        1 => <[u8; 4]>::try_from(host).ok().map(Into::into),
        4 => <[u8; 16]>::try_from(host).ok().map(Into::into),
        _ => None,
    };
    let destination = match destination {
        Some(_) if port == 0 => None,
        Some(address) => Some(SocketAddr::new(address, port).into()),
        None => std::str::from_utf8(host)
            .ok()
            .and_then(|name| host::destination(name, port)),
    };
    let step = destination.map_or(refusal(1), Step::Connect);
    Some((end + 2, step))
}

/// A reply that ends the negotiation, by its code (RFC 1928, section 6).
const fn refusal(code: u8) -> Step {
    Step::Refuse(match code {
        7 => &[5, 7, 0, 1, 0, 0, 0, 0, 0, 0],
        8 => &[5, 8, 0, 1, 0, 0, 0, 0, 0, 0],
        _ => &[5, 1, 0, 1, 0, 0, 0, 0, 0, 0],
    })
}
