//! The server's side of SOCKS5 (RFC 1928) with the commands CONNECT and UDP ASSOCIATE, and of
//! its authentication by name and password (RFC 1929). It reads and writes no socket.

use super::host;
use super::users::Users;
use crate::Destination;
use std::net::{Ipv4Addr, SocketAddr};

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
    /// The client asks to send datagrams, from this address; zeros where it does not know it.
    Associate(SocketAddr),
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
    let place = match Place::read(input, 3)? {
        Ok(place) => place,
        Err(UnknownKind) => return Some((4, refusal(8))),
    };
    let step = match *input.get(1)? {
        1 => place.destination().map_or(refusal(1), Step::Connect),
        // A name says no more than zeros: its address is not looked up.
        3 => Step::Associate(
            place
                .address()
                .unwrap_or((Ipv4Addr::UNSPECIFIED, place.port).into()),
        ),
        // BIND, which would need a listener at the far end.
        _ => refusal(7),
    };
    Some((place.end, step))
}

/// An address and a port as clients write them: type, address, port (RFC 1928, section 5).
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'a> {
    kind: u8,
    host: &'a [u8],
    port: u16,
    /// Where it ends.
    pub(super) end: usize,
}

/// A type of address that RFC 1928 does not have.
#[derive(Clone, Copy, Debug)]
pub(super) struct UnknownKind;

impl<'a> Place<'a> {
    /// Reads one whose type is at `start`; `None` where it is not whole.
    pub(super) fn read(input: &'a [u8], start: usize) -> Option<Result<Place<'a>, UnknownKind>> {
        let kind = *input.get(start)?;
        let (begin, end) = match kind {
            1 => (start + 1, start + 5),
            3 => (start + 2, start + 2 + usize::from(*input.get(start + 1)?)),
            4 => (start + 1, start + 17),
            _ => return Some(Err(UnknownKind)),
        };
        let host = input.get(begin..end)?;
        let port = input.get(end..end + 2)?;
        let port = port.try_into().map(u16::from_be_bytes).ok()?;
        Some(Ok(Place {
            kind,
            host,
            port,
            end: end + 2,
        }))
    }

    /// The address, unless it is a name; the port may be zero.
    fn address(&self) -> Option<SocketAddr> {
        let ip = match self.kind {
            1 => <[u8; 4]>::try_from(self.host).ok()?.into(),
            4 => <[u8; 16]>::try_from(self.host).ok()?.into(),
            _ => return None,
        };
        Some(SocketAddr::new(ip, self.port))
    }

    /// Where something can be sent; `None` where the port is zero, or the name is none.
    pub(super) fn destination(&self) -> Option<Destination> {
        match self.address() {
            Some(address) => (address.port() != 0).then(|| address.into()),
            None => std::str::from_utf8(self.host)
                .ok()
                .and_then(|name| host::destination(name, self.port)),
        }
    }
}

/// A reply that ends the negotiation, by its code (RFC 1928, section 6).
const fn refusal(code: u8) -> Step {
    Step::Refuse(match code {
        7 => &[5, 7, 0, 1, 0, 0, 0, 0, 0, 0],
        8 => &[5, 8, 0, 1, 0, 0, 0, 0, 0, 0],
        _ => &[5, 1, 0, 1, 0, 0, 0, 0, 0, 0],
    })
}
