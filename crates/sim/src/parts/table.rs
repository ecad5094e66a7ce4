//! Where parts meet between two windows: what they tell each other, and the packets that cross.

use super::Crossing;
use super::gate::{Broken, Gate};
use crate::execution::{Counted, Label};
use bentpipe_units::Time;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What a part tells the others.
#[derive(Clone, Copy, Debug)]
pub(super) struct Report {
    /// When its next event is, or that of a packet on its way from it.
    pub(super) next: Time,
    /// The run waits for flows here.
    pub(super) waits: bool,
    /// The event that has just ended the last of them.
    pub(super) ended: Option<Label>,
    pub(super) events: u64,
    pub(super) packets: u64,
    /// The order of the last event cannot be told.
    pub(super) tied: bool,
    /// The run is to stop.
    pub(super) stopped: bool,
}

/// What all parts have told.
#[derive(Clone, Copy, Debug)]
pub(super) struct View {
    pub(super) next: Time,
    pub(super) events: u64,
    pub(super) packets: u64,
    pub(super) tied: bool,
    pub(super) stopped: bool,
    /// The run waits for flows somewhere.
    pub(super) waits: bool,
    /// The last of the events that have ended the last flow of a part, and that part.
    pub(super) ended: Option<(Label, usize)>,
}

impl View {
    fn of(reports: impl Iterator<Item = Report>) -> View {
        let mut view = View {
            next: Time::MAX,
            events: 0,
            packets: 0,
            tied: false,
            stopped: false,
            waits: false,
            ended: None,
        };
        for (part, report) in reports.enumerate() {
            view.next = view.next.min(report.next);
            view.events += report.events;
            view.packets += report.packets;
            view.stopped |= report.stopped;
            view.tied |= report.tied;
            view.waits |= report.waits;
            view.ended = view.ended.max(report.ended.map(|label| (label, part)));
        }
        view
    }
}

/// What the parts share, twice: who is fast writes for the next meeting while others still read what
/// was written for this one.
#[derive(Debug)]
pub(super) struct Table {
    parts: usize,
    gate: Gate,
    reports: [Vec<Mutex<Option<Report>>>; 2],
    /// By the part that they go to, then by that which they come from.
    crossings: [Vec<Mutex<Vec<Crossing>>>; 2],
    counted: Vec<Mutex<Option<Counted>>>,
}

impl Table {
    pub(super) fn new(parts: usize) -> Table {
        let each = || (0..parts).map(|_| Mutex::default()).collect();
        let pairs = || (0..parts * parts).map(|_| Mutex::default()).collect();
        Table {
            parts,
            gate: Gate::new(parts),
            reports: [each(), each()],
            crossings: [pairs(), pairs()],
            counted: (0..parts).map(|_| Mutex::default()).collect(),
        }
    }

    /// Meets the others for the `round`-th time: part `me` hands over its packets by `give`, a batch
    /// for each part, tells `report`, and takes what others have for it by `take`.
    pub(super) fn meet(
        &self,
        (me, round): (usize, usize),
        report: Report,
        mut hand: impl FnMut(usize, &mut Vec<Crossing>),
    ) -> Result<View, Broken> {
        let (reports, crossings) = (&self.reports[round % 2], &self.crossings[round % 2]);
        for to in 0..self.parts {
            hand(to, &mut lock(&crossings[to * self.parts + me]));
        }
        *lock(&reports[me]) = Some(report);
        self.gate.wait()?;
        Ok(View::of(reports.iter().filter_map(|report| *lock(report))))
    }

    /// Takes the packets for part `me` that were handed over in that round.
    pub(super) fn take(
        &self,
        (me, round): (usize, usize),
        mut take: impl FnMut(&mut Vec<Crossing>),
    ) {
        let crossings = &self.crossings[round % 2];
        for from in 0..self.parts {
            take(&mut lock(&crossings[me * self.parts + from]));
        }
    }

    /// Puts down what part `me` has counted by a checkpoint; the first part gets that of all.
    pub(super) fn count(&self, me: usize, counted: Counted) -> Result<Vec<Counted>, Broken> {
        *lock(&self.counted[me]) = Some(counted);
        self.gate.wait()?;
        let all = match me {
            0 => self.counted.iter().filter_map(|c| lock(c).take()).collect(),
            _ => Vec::new(),
        };
        self.gate.wait()?;
        Ok(all)
    }

    /// Leaves for good.
    pub(super) fn leave(&self) {
        self.gate.leave();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
