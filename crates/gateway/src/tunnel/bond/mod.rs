//! Bonded connections: one TCP connection over several associations between the same two boxes, where a
//! terminal has several WANs.
//!
//! A bonded connection has a *subflow*, a stream, on each association. Its bytes are numbered from 0 in
//! each direction; data goes over whichever subflow delivers it first (`state`), and is kept until
//! the other box has acknowledged it, so that another subflow can bring it when one is late or lost.
//! The first bytes are the terminal's request, as on any stream.
//!
//! - `frame`: what the boxes say to each other on a subflow.
//! - `outgoing` and `incoming`: what is sent, and what has arrived, of one direction.
//! - `state`: which subflow does what next.
//! - `path`: an association as subflows see it.
//! - `carry`: a subflow's task.
//! - `halves`: what the relay sends to and receives from.
//! - `table`: the hub's connections, by which subflows find theirs.

mod carry;
mod frame;
mod halves;
mod incoming;
mod meter;
mod outgoing;
mod path;
mod state;
mod table;

#[doc(hidden)]
pub use frame::decode_any;
pub(crate) use halves::{BondEnd, BondReceiver, BondSender};
pub(crate) use path::Path;
pub(crate) use table::{Bonds, Joined};

use super::budget::Budget;
use super::sharing::Subscriber;
use super::stream::{Receiver, Sender, Share};
use crate::CloseReason;
use crate::config::{Urgency, WEIGHT};
use crate::usage::Member;
use bytes::Bytes;
use state::State;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// What the hub takes of a connection before it says how much, bytes.
const FIRST: u64 = 256 << 10;

/// The name of a bonded connection: random, and chosen by the terminal.
pub(crate) type BondId = [u8; 16];

/// Whose a connection is, and how urgent.
#[derive(Debug)]
struct Class {
    urgency: Urgency,
    subscriber: Subscriber,
    member: Option<Arc<Member>>,
}

/// One bonded connection.
#[derive(Debug)]
pub(crate) struct Bond {
    id: BondId,
    /// How long it lasts without a subflow.
    outage: Duration,
    state: Mutex<State>,
    class: Mutex<Class>,
    /// Something has arrived for the host.
    arrived: Notify,
    /// What was sent has left, has arrived, or is not wanted; or the connection is lost.
    moved: Notify,
}

impl Bond {
    /// At the terminal: a new connection, and both of its halves.
    pub(crate) fn open(budget: &Arc<Budget>, outage: Duration) -> (Arc<Bond>, Sender, Receiver) {
        let mut id = BondId::default();
        id[..8].copy_from_slice(&super::transport::random().to_be_bytes());
        id[8..].copy_from_slice(&super::transport::random().to_be_bytes());
        Bond::start(
            id,
            State::new(FIRST, budget.promise(), None, Instant::now()),
            budget,
            outage,
        )
    }

    /// At the hub: the connection of a terminal that takes so many bytes.
    fn accept(
        id: BondId,
        takes: u64,
        budget: &Arc<Budget>,
        outage: Duration,
    ) -> (Arc<Bond>, Sender, Receiver) {
        let state = State::new(takes, budget.promise(), Some(FIRST), Instant::now());
        Bond::start(id, state, budget, outage)
    }

    fn start(
        id: BondId,
        state: State,
        budget: &Arc<Budget>,
        outage: Duration,
    ) -> (Arc<Bond>, Sender, Receiver) {
        let bond = Arc::new(Bond {
            id,
            outage,
            state: Mutex::new(state),
            class: Mutex::new(Class {
                urgency: Urgency::Normal,
                subscriber: Subscriber::default(),
                member: None,
            }),
            arrived: Notify::new(),
            moved: Notify::new(),
        });
        let sender = Sender::bonded(BondSender(Arc::clone(&bond))).budgeted(budget);
        let receiver = Receiver::bonded(BondReceiver(Arc::clone(&bond))).budgeted(budget);
        (bond, sender, receiver)
    }

    /// Its name.
    pub(crate) const fn id(&self) -> BondId {
        self.id
    }

    /// What this box takes of it at the start, bytes.
    pub(crate) fn window(&self) -> u64 {
        self.lock().window()
    }

    /// The other box knows it, so that further subflows may be added, and it has not ended.
    pub(crate) fn is_open(&self) -> bool {
        let state = self.lock();
        state.is_known && state.failed.is_none() && !state.is_done()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn share(&self) -> Share {
        let class = self.class.lock().unwrap_or_else(PoisonError::into_inner);
        let weight = class.member.as_ref();
        Share {
            urgency: class.urgency,
            subscriber: class.subscriber,
            weight: weight.map_or(WEIGHT, |member| member.weight()),
        }
    }

    fn classify(&self, urgency: Urgency, subscriber: Subscriber, member: &Arc<Member>) {
        let mut class = self.class.lock().unwrap_or_else(PoisonError::into_inner);
        *class = Class {
            urgency,
            subscriber,
            member: Some(Arc::clone(member)),
        };
    }

    /// Changes the state, and wakes whom that concerns.
    fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let (changed, reader, ends) = {
            let mut state = self.lock();
            let changed = change(&mut state);
            let reader = std::mem::take(&mut state.wakes_reader);
            (changed, reader, std::mem::take(&mut state.wakes_ends))
        };
        if reader {
            self.arrived.notify_one();
        }
        if ends {
            self.moved.notify_waiters();
        }
        changed
    }

    /// Adds a subflow, and carries the connection over it until either ends. `request` goes before its
    /// frames.
    pub(crate) fn attach(
        self: &Arc<Bond>,
        sender: Sender,
        receiver: Receiver,
        path: &Arc<Path>,
        request: Option<Bytes>,
    ) {
        let way: Arc<dyn path::Way> = Arc::clone(path) as _;
        let (index, wake) = self.change(|state| state.add(way, Instant::now()));
        let carried = carry::Subflow {
            bond: Arc::clone(self),
            path: Arc::clone(path),
            index,
            wake,
        };
        tokio::spawn(carried.carry(sender, receiver, request));
    }

    /// At the hub: its request has been read.
    pub(crate) fn note_served(&self) {
        self.change(|state| state.is_served = true);
    }

    /// Whether it has a subflow on this path.
    pub(crate) fn uses(&self, path: &Arc<Path>) -> bool {
        let path: Arc<dyn path::Way> = Arc::clone(path) as _;
        self.lock().uses(&path)
    }

    /// This box ends it.
    pub(crate) fn fail(&self) {
        self.change(|state| state.fail(CloseReason::PeerGone));
    }

    /// A subflow is lost, `gone` where the other box has ended its association. Without any other the
    /// connection lasts for as long as an outage may, if the other box knows it and is there.
    fn lose(self: &Arc<Bond>, index: usize, gone: bool) {
        let now = Instant::now();
        let (is_alone, waits) = self.change(|state| {
            state.lost(index, now);
            state.is_gone |= gone;
            let waits = state.is_served && state.is_known && !state.is_gone;
            let until = state.heard() + self.outage;
            let patience = until.saturating_duration_since(now);
            (state.lives() == 0, Some(patience).filter(|_| waits))
        });
        if !is_alone {
            return;
        }
        let patience = waits.unwrap_or_default();
        let bond = Arc::clone(self);
        tokio::spawn(async move {
            tokio::time::sleep(patience).await;
            bond.change(|state| {
                if state.alone() == Some(now) {
                    state.fail(CloseReason::PeerGone);
                }
            });
        });
    }
}
