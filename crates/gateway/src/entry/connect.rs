//! The proxy's side of HTTP CONNECT (RFC 9110, section 9.3.6; RFC 9112). It reads
//! and writes no socket.

use super::host;
use super::reply::response;
use super::users::Users;
use crate::Destination;

/// Most bytes of a request's head.
pub const MOST: usize = 16 << 10;

/// Most header fields of a request.
const FIELDS: usize = 64;

/// Result of a client's bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// The head is not whole yet.
    More,
    /// The head has this many bytes, and asks for a connection to this
    /// destination.
    Connect(usize, Destination),
    /// The connection ends, after this response.
    Refuse(Vec<u8>),
}

/// The request of one HTTP CONNECT client, while it is read and answered.
#[derive(Debug)]
pub struct Connect<'a> {
    users: Option<&'a Users>,
    /// Bytes in which no end of the head is: each is searched once, however
    /// slowly they come.
    searched: usize,
}

impl<'a> Connect<'a> {
    /// A client that has sent nothing. With `users`, it must be one of them.
    #[must_use]
    pub const fn new(users: Option<&'a Users>) -> Connect<'a> {
        Connect { users, searched: 0 }
    }

    /// Reads a request at the start of `input`, all that the client has sent.
    pub fn read(&mut self, input: &[u8]) -> Step {
        let Some(end) = self.end(input) else {
            if input.len() >= MOST {
                return too_large();
            }
            return Step::More;
        };
        if end > MOST {
            return too_large();
        }
        self.head(&input[..end], end)
    }

    /// Where the head ends: after an empty line. Lines end with CR LF, or with LF
    /// alone (RFC 9112, section 2.2).
    fn end(&mut self, input: &[u8]) -> Option<usize> {
        let start = self.searched.saturating_sub(3);
        // Empty lines before a request are not its end (RFC 9112, section 2.2).
        let first = input.iter().position(|b| !matches!(b, b'\r' | b'\n'));
        let start = start.max(first.unwrap_or(input.len()));
        self.searched = input.len();
        let mut at = start;
        while let Some(line) = input.get(at..)?.iter().position(|b| *b == b'\n') {
            at += line + 1;
            match input.get(at..)? {
                [b'\n', ..] => return Some(at + 1),
                [b'\r', b'\n', ..] => return Some(at + 2),
                _ => {}
            }
        }
        None
    }

    fn head(&self, head: &[u8], end: usize) -> Step {
        let mut fields = [httparse::EMPTY_HEADER; FIELDS];
        let mut request = httparse::Request::new(&mut fields);
        match request.parse(head) {
            Ok(httparse::Status::Complete(length)) if length == end => {}
            Err(httparse::Error::TooManyHeaders) => return too_large(),
            _ => return refuse("400 Bad Request", "This is no request of HTTP/1.1."),
        }
        if request.method != Some("CONNECT") {
            let text = "This proxy takes CONNECT only; with curl, use --proxytunnel.";
            return refuse("405 Method Not Allowed\r\nAllow: CONNECT", text);
        }
        if let Some(users) = self.users {
            let given = request
                .headers
                .iter()
                .find(|field| field.name.eq_ignore_ascii_case("proxy-authorization"));
            if !given.is_some_and(|field| users.admit_basic(field.value)) {
                let status = "407 Proxy Authentication Required\r\n\
                              Proxy-Authenticate: Basic realm=\"bentpipe\", charset=\"UTF-8\"";
                return refuse(status, "This proxy needs a name and a password.");
            }
        }
        match request.path.and_then(host::authority) {
            Some(destination) => Step::Connect(end, destination),
            None => refuse(
                "400 Bad Request",
                "Expected CONNECT with a host and a port, such as example.net:443.",
            ),
        }
    }
}

/// The response to a client that takes too long.
pub(super) fn too_slow() -> Vec<u8> {
    response("408 Request Timeout", "The request did not come in time.")
}

fn too_large() -> Step {
    refuse(
        "431 Request Header Fields Too Large",
        "The head of the request is too large.",
    )
}

fn refuse(status: &str, text: &str) -> Step {
    Step::Refuse(response(status, text))
}
