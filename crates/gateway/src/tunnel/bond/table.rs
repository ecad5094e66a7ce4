//! The hub's bonded connections, by which a terminal's subflows find theirs.

use super::{Bond, BondId};
use crate::tunnel::budget::Budget;
use crate::tunnel::codec::Subflow;
use crate::tunnel::keys::PublicKey;
use crate::tunnel::stream::{Receiver, Sender};
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

/// Connections of a terminal that have ended and are remembered, since a subflow of one may come late.
const REMEMBERED: usize = 16_384;

/// The bonded connections of all terminals.
#[derive(Debug)]
pub(crate) struct Bonds {
    /// The number of this process, which no earlier one had.
    hub: u64,
    outage: Duration,
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    /// `None` is one that has ended.
    known: HashMap<(PublicKey, BondId), Option<Weak<Bond>>>,
    ended: HashMap<PublicKey, VecDeque<BondId>>,
}

/// What becomes of a subflow.
#[derive(Debug)]
pub(crate) enum Joined {
    /// It is the first of its connection.
    Opens(Arc<Bond>, Box<(Sender, Receiver)>),
    /// It is another one.
    Adds(Arc<Bond>),
    /// Its connection has ended.
    Ended,
    /// This process has no such connection, or is not the one that is meant.
    Unknown,
}

impl Bonds {
    /// None yet.
    pub(crate) fn new(outage: Duration) -> Arc<Bonds> {
        Arc::new(Bonds {
            hub: super::super::transport::random().max(1),
            outage,
            inner: Mutex::default(),
        })
    }

    /// The number of this process.
    pub(crate) const fn hub(&self) -> u64 {
        self.hub
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Finds or opens the connection of a subflow of `peer`.
    pub(crate) fn join(
        self: &Arc<Bonds>,
        peer: PublicKey,
        subflow: &Subflow,
        budget: &Arc<Budget>,
    ) -> Joined {
        if subflow.hub != 0 && subflow.hub != self.hub {
            return Joined::Unknown;
        }
        let key = (peer, subflow.id);
        let mut inner = self.lock();
        match inner.known.get(&key) {
            Some(Some(bond)) => match bond.upgrade() {
                Some(bond) => Joined::Adds(bond),
                None => Joined::Ended,
            },
            Some(None) => Joined::Ended,
            None if !subflow.opens => Joined::Unknown,
            None => {
                let (bond, sender, receiver) =
                    Bond::accept(subflow.id, subflow.window, budget, self.outage);
                inner.known.insert(key, Some(Arc::downgrade(&bond)));
                Joined::Opens(bond, Box::new((sender, receiver)))
            }
        }
    }

    /// This box stops: none goes on.
    pub(crate) fn stop(&self) {
        let live: Vec<_> = self.lock().known.values().flatten().cloned().collect();
        for bond in live.iter().filter_map(Weak::upgrade) {
            bond.fail();
        }
    }

    /// A connection has ended.
    pub(crate) fn end(&self, peer: PublicKey, id: BondId) {
        let mut inner = self.lock();
        inner.known.insert((peer, id), None);
        let ended = inner.ended.entry(peer).or_default();
        ended.push_back(id);
        let old = (ended.len() > REMEMBERED)
            .then(|| ended.pop_front())
            .flatten();
        if let Some(old) = old {
            inner.known.remove(&(peer, old));
        }
    }
}
