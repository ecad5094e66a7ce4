//! The associations of one link whose tails are coded, by the address of the other box.
//!
//! All sockets of a shaper look here: those of a terminal towards its hubs, and a hub's.

use super::Coding;
use super::outgoing::Credit;
use crate::tunnel::shaper::canonical;
use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// Associations of one link that keep what they have sent, and as many that keep what they have
/// received: each up to 300 kB in a direction. Others go without repairs until there is a place.
const MOST_KEEPING: usize = 128;

/// What the codes of all associations of a link have in common.
#[derive(Debug, Default)]
pub(in crate::tunnel) struct Paths {
    known: Mutex<HashMap<SocketAddr, Weak<Coding>>>,
    sending: Arc<AtomicUsize>,
    receiving: Arc<AtomicUsize>,
    credit: Credit,
}

/// The place of an association that keeps packets.
#[derive(Debug)]
pub(super) struct Place(Arc<AtomicUsize>);

impl Place {
    fn take(count: &Arc<AtomicUsize>) -> Option<Place> {
        let more = |count| (count < MOST_KEEPING).then_some(count + 1);
        let taken = count.fetch_update(Relaxed, Relaxed, more);
        taken.is_ok().then(|| Place(Arc::clone(count)))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

impl Paths {
    fn known(&self) -> MutexGuard<'_, HashMap<SocketAddr, Weak<Coding>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What comes from this address and goes there is of this association from now on.
    pub(in crate::tunnel) fn attach(&self, address: SocketAddr, coding: &Arc<Coding>) {
        let mut known = self.known();
        known.retain(|_, known| known.strong_count() > 0);
        known.insert(canonical(address), Arc::downgrade(coding));
    }

    /// It is of none any more, unless another one has taken its place.
    pub(in crate::tunnel) fn detach(&self, address: SocketAddr, coding: &Arc<Coding>) {
        let mut known = self.known();
        let address = canonical(address);
        let is_its = |known: &Weak<Coding>| std::ptr::eq(known.as_ptr(), Arc::as_ptr(coding));
        if known.get(&address).is_some_and(is_its) {
            known.remove(&address);
        }
    }

    /// The association with the box at this address.
    pub(in crate::tunnel) fn find(&self, address: SocketAddr) -> Option<Arc<Coding>> {
        self.known().get(&canonical(address))?.upgrade()
    }

    /// Some keep what they have sent.
    pub(in crate::tunnel) fn any_sends(&self) -> bool {
        self.sending.load(Relaxed) > 0
    }

    /// Some keep what they have received.
    pub(in crate::tunnel) fn any_receives(&self) -> bool {
        self.receiving.load(Relaxed) > 0
    }

    pub(super) fn send(&self) -> Option<Place> {
        Place::take(&self.sending)
    }

    pub(super) fn receive(&self) -> Option<Place> {
        Place::take(&self.receiving)
    }

    /// What all of their repairs may take of the link.
    pub(super) const fn credit(&self) -> &Credit {
        &self.credit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_of_the_newest_association() {
        let paths = Arc::new(Paths::default());
        let address: SocketAddr = "192.0.2.7:4433".parse().unwrap();
        let mapped: SocketAddr = "[::ffff:192.0.2.7]:4433".parse().unwrap();
        let (old, new) = (Coding::new(&paths), Coding::new(&paths));
        paths.attach(address, &old);
        paths.attach(mapped, &new);
        paths.detach(address, &old);
        let found = paths.find(mapped);
        assert!(found.is_some_and(|found| Arc::ptr_eq(&found, &new)));
        paths.detach(address, &new);
        assert!(paths.find(address).is_none());
    }

    #[test]
    fn few_keep_packets_at_a_time() {
        let paths = Paths::default();
        let mut places: Vec<_> = (0..MOST_KEEPING).filter_map(|_| paths.send()).collect();
        assert_eq!(places.len(), MOST_KEEPING);
        assert!(paths.send().is_none() && paths.receive().is_some());
        places.pop();
        assert!(paths.send().is_some());
        drop(places);
        assert!(!paths.any_sends() && !paths.any_receives());
    }
}
