//! Those who wait for the bucket of a socket: whoever has had least for its weight sends next
//! (start-time fair queueing: Goyal, Vin and Cheng, 1996).

use super::{Bucket, FULL_PACKET, Turn};
use bentpipe_quic::turns::WEIGHT;
use bentpipe_units::Rate;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::task::Waker;
use std::time::Instant;

/// Cost of a byte at a weight of 1.
const COST: u64 = 1_000;
/// Batches that one of the usual weight may be behind and catch up with, as where another thread asks
/// just before it: two take 4 ms.
const BEHIND: u64 = 2;

/// One that sends: an association.
#[derive(Debug)]
pub(in crate::tunnel) struct Sender {
    id: u64,
    /// What it gets beside others.
    weight: AtomicU64,
    /// What it has had, as a cost. It is changed under the lock of the line.
    had: AtomicU64,
}

impl Sender {
    pub(super) const fn new(id: u64) -> Sender {
        Sender {
            id,
            weight: AtomicU64::new(WEIGHT),
            had: AtomicU64::new(0),
        }
    }

    /// What it gets beside others, of whom each has [`WEIGHT`] unless it is told otherwise.
    pub(in crate::tunnel) fn set_weight(&self, weight: u64) {
        self.weight.store(weight.max(1), Relaxed);
    }
}

#[derive(Debug)]
struct Place {
    id: u64,
    /// What its sender had when it took the place.
    start: u64,
    waker: Waker,
}

/// The shared bucket and those who wait for it, in order.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) bucket: Bucket,
    pub(super) rate: Option<Rate>,
    waiting: VecDeque<Place>,
    /// Virtual time: what the last one that sent had had before that.
    had: u64,
}

impl Line {
    pub(super) const fn new(bucket: Bucket, rate: Option<Rate>) -> Line {
        Line {
            bucket,
            rate,
            waiting: VecDeque::new(),
            had: 0,
        }
    }

    /// What `sender` has had: one that was away has no claim to what it has missed.
    fn start(&self, sender: &Sender, batch: usize) -> u64 {
        let behind = BEHIND * (batch as u64) * (FULL_PACKET as u64) * COST / WEIGHT;
        sender
            .had
            .load(Relaxed)
            .max(self.had.saturating_sub(behind))
    }

    /// As [`super::Shaper::turn`], with batches of so many packets.
    pub(super) fn turn(
        &mut self,
        sender: &Sender,
        now: Instant,
        waker: &Waker,
        batch: usize,
    ) -> Turn {
        let place = self.waiting.iter().position(|it| it.id == sender.id);
        let place = match place {
            Some(place) => {
                self.waiting[place].waker.clone_from(waker);
                place
            }
            // It needs no place where it need not wait.
            None if self.waiting.is_empty() && self.bucket.wait(now).is_none() => return Turn::Now,
            None => self.take_place(sender, waker, batch),
        };
        match place {
            0 => self.bucket.wait(now).map_or(Turn::Now, Turn::At),
            _ => Turn::Behind,
        }
    }

    fn take_place(&mut self, sender: &Sender, waker: &Waker, batch: usize) -> usize {
        let start = self.start(sender, batch);
        let before = self.waiting.iter().rposition(|it| it.start <= start);
        let place = before.map_or(0, |before| before + 1);
        let own = Place {
            id: sender.id,
            start,
            waker: waker.clone(),
        };
        self.waiting.insert(place, own);
        place
    }

    /// Charges a batch, of `sender` where that is known; returns whom to wake.
    pub(super) fn sent(
        &mut self,
        sender: Option<&Sender>,
        bytes: usize,
        now: Instant,
        batch: usize,
    ) -> Option<Waker> {
        self.bucket.charge(bytes, now);
        let sender = sender?;
        let place = self.waiting.iter().find(|it| it.id == sender.id);
        let start = place.map_or_else(|| self.start(sender, batch), |place| place.start);
        let cost = (bytes as u64).saturating_mul(COST) / sender.weight.load(Relaxed);
        sender.had.store(start.saturating_add(cost), Relaxed);
        self.had = self.had.max(start);
        self.leave(sender)
    }

    /// Takes `sender` out of the line; returns whom to wake, if it was the first.
    pub(super) fn leave(&mut self, sender: &Sender) -> Option<Waker> {
        let place = self.waiting.iter().position(|it| it.id == sender.id)?;
        self.waiting.remove(place);
        let first = self.waiting.front().filter(|_| place == 0)?;
        Some(first.waker.clone())
    }

    /// Sets the rate; returns whom to wake.
    pub(super) fn set_rate(&mut self, rate: Option<Rate>, now: Instant) -> Vec<Waker> {
        self.rate = rate;
        self.bucket.set_rate(rate, now);
        match rate {
            Some(_) => self
                .waiting
                .front()
                .map(|it| it.waker.clone())
                .into_iter()
                .collect(),
            None => self.waiting.drain(..).map(|it| it.waker).collect(),
        }
    }
}
