//! The look-up of a name, which precedes a connection.
//!
//! A query in one datagram, the answer in another (RFC 1035, section 4.2.1). Sizes are those of a name
//! of 20 characters with EDNS, and of an answer with an alias and two addresses; a resolver library
//! sends a query again after five seconds (`resolv.conf(5)`, `timeout`). The name is in no cache, the
//! resolver has the answer.

use bentpipe_units::{Bytes, Duration, Time};

/// A query with its headers of IP and UDP.
pub const DNS_QUERY: Bytes = Bytes::new(28 + 50);

/// An answer with its headers.
pub const DNS_ANSWER: Bytes = Bytes::new(28 + 112);

/// Time without an answer after which the query is sent again.
pub const DNS_TIMEOUT: Duration = Duration::from_secs(5);

/// A look-up from its first query to the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lookup {
    next: Time,
}

impl Lookup {
    /// One that begins at `start`.
    #[must_use]
    pub const fn new(start: Time) -> Lookup {
        Lookup { next: start }
    }

    /// When [`Lookup::asks`] is to be called next.
    #[must_use]
    pub const fn next(&self) -> Time {
        self.next
    }

    /// True if a query is to be sent now.
    pub fn asks(&mut self, now: Time) -> bool {
        if now < self.next {
            return false;
        }
        self.next = now + DNS_TIMEOUT;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_sent_again_after_five_seconds() {
        let second = |s: u64| Time::ZERO + Duration::from_secs(s);
        let mut lookup = Lookup::new(second(1));
        assert!(!lookup.asks(second(0)));
        assert!(lookup.asks(second(1)));
        assert!(!lookup.asks(second(5)));
        assert_eq!(lookup.next(), second(6));
        assert!(lookup.asks(second(6)));
    }
}
