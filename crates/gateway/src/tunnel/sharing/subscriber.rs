//! Whose a connection is.

use crate::config::{Prefix, Subscribers};
use std::cmp::Ordering;
use std::fmt;
use std::net::IpAddr;

/// Whose a connection is: the client's network, or nobody's that is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Subscriber(Option<Prefix>);

impl Subscriber {
    /// That of a network.
    #[cfg(test)]
    pub(crate) const fn new(net: Option<Prefix>) -> Subscriber {
        Subscriber(net)
    }

    /// That of a client's address.
    #[must_use]
    pub(crate) fn of(address: IpAddr, subscribers: &Subscribers) -> Subscriber {
        Subscriber(subscribers.net(address))
    }

    /// Its network.
    #[must_use]
    pub(crate) const fn net(self) -> Option<Prefix> {
        self.0
    }
}

impl PartialOrd for Subscriber {
    fn partial_cmp(&self, other: &Subscriber) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Subscriber {
    fn cmp(&self, other: &Subscriber) -> Ordering {
        let key = |it: &Subscriber| it.0.map(|net| (net.address(), net.length()));
        key(self).cmp(&key(other))
    }
}

impl fmt::Display for Subscriber {
    /// A single address without its length.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            None => f.write_str("unknown"),
            Some(net) if net.length() == if net.is_ipv4() { 32 } else { 128 } => {
                write!(f, "{}", net.address())
            }
            Some(net) => write!(f, "{net}"),
        }
    }
}
