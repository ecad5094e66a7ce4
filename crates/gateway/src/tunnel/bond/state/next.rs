//! What each subflow of a bonded connection does next: which data it takes, which it leaves to faster
//! ones, which it repeats, and which of them acknowledges.

use super::{ACK_DELAY, State, Subflow};
use crate::CloseReason;
use crate::tunnel::bond::frame::{Acknowledgement, Frame};
use crate::tunnel::bond::outgoing::{Index, Times};
use bytes::Bytes;
use std::time::{Duration, Instant};

/// What may wait besides what the slowest subflow leaves to the others, bytes.
const WAITING: u64 = 128 << 10;
/// Time between looks at a path that has not delivered, while something waits for it.
const LOOK: Duration = Duration::from_millis(100);

/// What a subflow does next.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::tunnel::bond) enum Next {
    /// It sends this frame.
    Frame(Frame),
    /// It asks for its turn to send data.
    Data,
    /// It ends: both directions of the connection have.
    Finish,
    /// It ends: the connection has failed.
    Fail(CloseReason),
    /// It waits to be woken, or for that time.
    Wait(Option<Instant>),
}

impl State {
    /// The subflows that work, or all that live where none seems to.
    fn working(&self) -> Vec<(Index, &Subflow)> {
        let living = self.subflows.iter().enumerate().filter(|(_, it)| it.lives);
        let living: Vec<_> = living.collect();
        let working: Vec<_> = living
            .iter()
            .copied()
            .filter(|(_, it)| !it.path.is_late())
            .collect();
        if working.is_empty() { living } else { working }
    }

    /// Of the bytes that wait, those that subflow `by` leaves to faster ones, and whether it is the only
    /// one that works; `None` where it does not.
    fn place(&self, by: Index) -> Option<(u64, bool)> {
        let working = self.working();
        let (_, own) = working.iter().find(|(at, _)| *at == by)?;
        let delay = own.path.delay();
        let mut skip = 0.0;
        for (at, other) in &working {
            let sooner = delay.saturating_sub(other.path.delay());
            if *at == by || sooner.is_zero() {
                continue;
            }
            // What was counted has the bytes in it that the path took at once, at the start.
            let rate = other.meter.rate().into_iter().chain(other.path.rate());
            // While a faster one's rate is unknown all is left to it.
            skip += rate
                .reduce(f64::min)
                .map_or(f64::INFINITY, |rate| rate * sooner.as_secs_f64());
        }
        Some((skip as u64, working.len() == 1))
    }

    /// The working subflow that delivers first.
    fn fastest(&self) -> Option<Index> {
        let working = self.working();
        let fastest = working.iter().min_by_key(|(_, it)| it.path.delay());
        fastest.map(|(at, _)| *at)
    }

    /// Bytes that may be pushed now, so that each subflow finds what is its own.
    pub(in crate::tunnel::bond) fn room(&self) -> u64 {
        let places = self
            .working()
            .into_iter()
            .filter_map(|(at, _)| self.place(at));
        let most = places
            .map(|(skip, _)| skip)
            .filter(|skip| *skip < u64::MAX)
            .max();
        (most.unwrap_or(0) + WAITING).saturating_sub(self.outgoing.waiting())
    }

    fn times(&self, by: Index, now: Instant) -> Option<Times> {
        let path = &self.subflows.get(by)?.path;
        Some(Times {
            now,
            delay: path.delay(),
            patience: path.patience(),
        })
    }

    /// What is overdue waits again, unless there is no other subflow to carry it.
    fn expire(&mut self, now: Instant) {
        if self.lives() < 2 {
            return;
        }
        let late = self.outgoing.expire(now);
        for (by, left) in &late {
            if let Some(subflow) = self.subflows.get(*by) {
                subflow.path.note_overdue(*left, now);
            }
        }
        if !late.is_empty() {
            self.wake_all();
        }
    }

    /// What subflow `by` does next.
    pub(in crate::tunnel::bond) fn next(&mut self, by: Index, now: Instant) -> Next {
        if let Some(why) = self.failed {
            return Next::Fail(why);
        }
        if let Some(frame) = self.control(by, now) {
            return Next::Frame(frame);
        }
        if self.is_done() {
            return Next::Finish;
        }
        if self.wants(by, now) {
            return Next::Data;
        }
        if self.outgoing.has_end()
            && self.fastest() == Some(by)
            && let Some(times) = self.times(by, now)
            && let Some(end) = self.outgoing.take_end(by, times)
        {
            return Next::Frame(Frame::End(end));
        }
        let subflow = self.subflows.get(by);
        if subflow.is_some_and(|it| it.path.asks(now)) {
            return Next::Frame(Frame::Ack(self.acknowledgement()));
        }
        // A path that works again, and one that changes its delay, wake nobody.
        let is_late = self.subflows.get(by).is_some_and(|it| it.path.is_late());
        let waits = self.outgoing.waiting() > 0 || self.outgoing.has_end() || is_late;
        let look = waits.then(|| now + LOOK);
        Next::Wait(self.timer(now).into_iter().chain(look).min())
    }

    /// When an acknowledgement, or what is overdue, has to be looked at. All subflows wake for it: which
    /// one it concerns may change until then.
    pub(in crate::tunnel::bond) fn timer(&self, now: Instant) -> Option<Instant> {
        let ack = self
            .ack
            .map(|at| if at > now { at } else { now + ACK_DELAY });
        let overdue = self.outgoing.next_overdue().filter(|_| self.lives() > 1);
        ack.into_iter().chain(overdue).min()
    }

    /// Whether there is data for subflow `by`.
    pub(in crate::tunnel::bond) fn wants(&self, by: Index, now: Instant) -> bool {
        let place = self.place(by);
        place.is_some_and(|(skip, alone)| {
            self.outgoing.has(by, skip, alone) || self.repeats(by, now)
        })
    }

    /// A frame without data that subflow `by` is to send now.
    pub(in crate::tunnel::bond) fn control(&mut self, by: Index, now: Instant) -> Option<Frame> {
        self.expire(now);
        let subflow = self.subflows.get_mut(by)?;
        if let Some(frame) = subflow.control.pop_front() {
            return Some(frame);
        }
        let due = self.ack.is_some_and(|at| at <= now);
        if !due || !self.acknowledges(by, now) {
            return None;
        }
        self.ack = None;
        self.ack_by = None;
        self.unacknowledged = 0;
        if self.is_done() {
            self.wake_all();
        }
        Some(Frame::Ack(self.acknowledgement()))
    }

    pub(super) fn acknowledgement(&self) -> Acknowledgement {
        self.incoming.acknowledgement()
    }

    /// Whether acknowledgements go over subflow `by`: the fastest by which something has arrived lately,
    /// or the one by which something has arrived last.
    fn acknowledges(&self, by: Index, now: Instant) -> bool {
        if let Some(only) = self.ack_by
            && self.subflows.get(only).is_some_and(|it| it.lives)
        {
            return by == only;
        }
        let living = || self.subflows.iter().enumerate().filter(|(_, it)| it.lives);
        let lately = |it: &Subflow| {
            now.saturating_duration_since(it.heard) < it.path.patience() && !it.path.is_late()
        };
        let fastest = living()
            .filter(|(_, it)| lately(it))
            .min_by_key(|(_, it)| it.path.delay());
        let last = || living().max_by_key(|(_, it)| (!it.path.is_late(), it.heard));
        fastest.or_else(last).is_some_and(|(at, _)| at == by)
    }

    /// Whether an idle subflow has something to repeat.
    fn repeats(&self, by: Index, now: Instant) -> bool {
        let Some(times) = self.times(by, now) else {
            return false;
        };
        self.lives() > 1
            && self.outgoing.waiting() == 0
            && self.outgoing.has_again(by, now, times.delay)
    }

    /// Takes data for subflow `by`, whose turn it is.
    pub(in crate::tunnel::bond) fn take(
        &mut self,
        by: Index,
        most: usize,
        now: Instant,
    ) -> Option<(u64, Bytes)> {
        let times = self.times(by, now)?;
        let (skip, alone) = self.place(by)?;
        let taken = match self.outgoing.take(by, skip, alone, most, times) {
            None if self.repeats(by, now) => return self.outgoing.take_again(by, most, times),
            taken => taken?,
        };
        let more = self.outgoing.waiting() > 0;
        self.subflows
            .get_mut(by)?
            .meter
            .took(taken.1.len(), more, now);
        Some(taken)
    }
}
