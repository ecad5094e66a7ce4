//! TLS 1.3 over TCP: the same messages as over QUIC, in records and without transport parameters.

use super::{
    CERTIFICATE_VERIFY, CLIENT_HELLO, ENCRYPTED_EXTENSIONS, FINISHED, Lengths, MESSAGE_HEADER,
    NEW_SESSION_TICKET, Resumption, SERVER_HELLO, TICKET_AND_BINDER,
};

/// Header of a record, bytes (RFC 8446, section 5.1).
const RECORD: usize = 5;
/// What encryption adds to a record: its type, and a tag of AES-GCM (RFC 8446, section 5.2).
const SEALED: usize = RECORD + 1 + 16;

/// Bytes that a handshake of TLS 1.3 over TCP takes, flight by flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flights {
    /// ClientHello; with 0-RTT what ends the early data, too (EndOfEarlyData and Finished), which
    /// leaves with the server's answer in truth.
    pub hello: u64,
    /// What the server answers, from ServerHello to Finished.
    pub server: u64,
    /// The client's Finished; nothing with 0-RTT.
    pub finished: u64,
    /// The ticket that the server sends when that has arrived; nothing to a client that came with one.
    pub ticket: u64,
}

impl Flights {
    /// The flights of a client that has `resumption` of an earlier connection.
    #[must_use]
    pub const fn new(resumption: Resumption, lengths: Lengths) -> Flights {
        let has_ticket = !matches!(resumption, Resumption::None);
        let is_early = matches!(resumption, Resumption::ZeroRtt);
        let finished = SEALED + FINISHED;
        let mut hello = RECORD + CLIENT_HELLO;
        let mut sealed = ENCRYPTED_EXTENSIONS + FINISHED;
        if has_ticket {
            hello += TICKET_AND_BINDER;
        } else {
            sealed += lengths.certificate + CERTIFICATE_VERIFY;
        }
        if is_early {
            hello += SEALED + MESSAGE_HEADER + finished;
        }
        Flights {
            hello: hello as u64,
            server: (RECORD + SERVER_HELLO + SEALED + sealed) as u64,
            finished: if is_early { 0 } else { finished as u64 },
            ticket: if has_ticket {
                0
            } else {
                (SEALED + NEW_SESSION_TICKET) as u64
            },
        }
    }

    /// Data leave with the first flight.
    #[must_use]
    pub const fn is_early(&self) -> bool {
        self.finished == 0
    }

    /// Bytes that the client sends in all, and the server.
    #[must_use]
    pub const fn in_all(&self) -> [u64; 2] {
        [self.hello + self.finished, self.server + self.ticket]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flights_of_each_resumption() {
        let flights = |resumption| Flights::new(resumption, Lengths::default());
        // 5 + 280; 5 + 90 and 22 + 15 + 2800 + 80 + 36; 22 + 36; 22 + 250.
        let full = flights(Resumption::None);
        let all = [full.hello, full.server, full.finished, full.ticket];
        assert_eq!(all, [285, 3_048, 58, 272]);
        assert_eq!(full.in_all(), [343, 3_320]);
        // Without certificates, with a ticket: 5 + 580; 95 + 22 + 51.
        let resumed = flights(Resumption::OneRtt);
        let all = [
            resumed.hello,
            resumed.server,
            resumed.finished,
            resumed.ticket,
        ];
        assert_eq!(all, [585, 168, 58, 0]);
        // Early data end with 22 + 4 and 22 + 36 bytes more.
        let early = flights(Resumption::ZeroRtt);
        let all = [early.hello, early.server, early.finished, early.ticket];
        assert_eq!(all, [669, 168, 0, 0]);
        assert!(early.is_early() && !full.is_early());
    }
}
