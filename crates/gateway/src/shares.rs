//! A share of a few places for each client address, so that one address cannot take them all.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The places that are taken, by address.
#[derive(Debug)]
pub(crate) struct Shares {
    most: usize,
    plenty: usize,
    taken: Mutex<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    all: usize,
    by_holder: HashMap<IpAddr, usize>,
}

/// A place; dropping it gives it back.
#[derive(Debug)]
pub(crate) struct Share {
    shares: Arc<Shares>,
    of: IpAddr,
}

impl Shares {
    /// At most `most` places for one address once `plenty` are taken by all; before, any number, so
    /// that a burst from one address, behind which there may be many hosts, is served.
    pub(crate) fn new(most: usize, plenty: usize) -> Arc<Shares> {
        Arc::new(Shares {
            most,
            plenty,
            taken: Mutex::default(),
        })
    }

    /// A place for `address`, if it has not its share already.
    pub(crate) fn take(self: &Arc<Shares>, address: IpAddr) -> Option<Share> {
        let of = holder(address);
        let mut taken = self.taken();
        let is_short = taken.all >= self.plenty;
        let count = taken.by_holder.get(&of).copied().unwrap_or(0);
        if is_short && count >= self.most {
            return None;
        }
        taken.by_holder.insert(of, count + 1);
        taken.all += 1;
        Some(Share {
            shares: Arc::clone(self),
            of,
        })
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut taken = self.shares.taken();
        taken.all -= 1;
        if let Some(count) = taken.by_holder.get_mut(&self.of) {
            *count -= 1;
            if *count == 0 {
                taken.by_holder.remove(&self.of);
            }
        }
    }
}

/// The address that stands for its holder: a host of IPv6 has a whole /64 (RFC 6177).
fn holder(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let mut segments = address.segments();
            segments[4..].fill(0);
            Ipv6Addr::from(segments).into()
        }
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_its_share_and_leaves_the_rest_to_others() {
        let shares = Shares::new(2, 0);
        let take = |text: &str| shares.take(text.parse().unwrap());
        let first = take("192.0.2.1").unwrap();
        let _second = take("::ffff:192.0.2.1").unwrap();
        assert!(take("192.0.2.1").is_none());
        assert!(take("192.0.2.2").is_some());
        drop(first);
        assert!(take("192.0.2.1").is_some());
        let _both = (take("2001:db8::1").unwrap(), take("2001:db8::2:1").unwrap());
        assert!(take("2001:db8::3").is_none());
        assert!(take("2001:db8:0:1::3").is_some());
        assert_eq!(shares.taken().by_holder.len(), 2);
        assert_eq!(shares.taken().all, 3);
    }

    #[test]
    fn an_address_has_more_than_its_share_while_there_is_plenty() {
        let shares = Shares::new(2, 4);
        let take = |text: &str| shares.take(text.parse().unwrap());
        let mut all: Vec<_> = (0..4).map(|_| take("192.0.2.1").unwrap()).collect();
        assert!(take("192.0.2.1").is_none());
        all.extend(take("192.0.2.2"));
        assert_eq!(all.len(), 5);
        all.truncate(3);
        assert!(take("192.0.2.1").is_some());
        drop(all);
        assert_eq!(shares.taken().all, 0);
    }
}
