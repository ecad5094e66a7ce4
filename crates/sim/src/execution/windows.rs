//! The run of one part of a network, window by window: see [`crate::parts`].

use super::Execution;
use crate::RunError;
use crate::collect::{self, Yield};
use crate::flow::Running;
use crate::network::tally::{Remains, Tally};
use crate::parts::{Crossing, Division};
use crate::queue::{Class, Event};
use crate::snapshot::LinkSnapshot;
use bentpipe_outcome::{FlowCounts, Outcome};
use bentpipe_units::Time;

/// A place in the order in which one queue would give out the events of all parts: the largest event
/// of its instant so far, since one that another causes at the same instant comes after that,
/// whatever its class.
pub(crate) type Label = Event;

/// How far a part came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progressed {
    /// To the end of the window.
    Through,
    /// To the end of the last flow here that the run waits for.
    Ended(Label),
    /// To an event of another part that cannot be told from one here in the order.
    Tied,
}

/// What a part has counted by a checkpoint.
#[derive(Debug)]
pub(crate) struct Counted {
    flows: Vec<FlowCounts>,
    tally: Tally,
    snapshot: LinkSnapshot,
}

/// What a part has yielded.
#[derive(Debug)]
pub(crate) struct PartYield {
    /// By flow; `None` where it has no end here.
    flows: Vec<Option<Yield>>,
    lost: Option<(usize, RunError)>,
    events: u64,
    remains: Remains,
}

/// Where a part is between two windows.
#[derive(Clone, Debug)]
pub(crate) struct Standing {
    label: Label,
    /// What is left to do of the event that ended the last flow here.
    rest: Option<(usize, core::ops::Range<usize>)>,
    /// The first part, which counts what happens in every one.
    is_first: bool,
}

impl Standing {
    pub(crate) fn new(is_first: bool) -> Standing {
        Standing {
            label: Event {
                at: Time::ZERO,
                class: Class::Route,
                component: 0,
            },
            rest: None,
            is_first,
        }
    }
}

impl Standing {
    fn passes(&mut self, event: Event) {
        self.label = match event.at > self.label.at {
            true => event,
            false => self.label.max(event),
        };
    }
}

impl Execution<'_, false> {
    /// Runs all events before `limit`, and stops within the one that ends the last flow.
    pub(crate) fn run_before(&mut self, limit: Time, standing: &mut Standing) -> Progressed {
        while let Some(event) = self.net.driver.events.pop_before(limit) {
            standing.passes(event);
            if self.take(event, standing.is_first) {
                standing.rest = self.last.take();
                return Progressed::Ended(standing.label);
            }
        }
        Progressed::Through
    }

    /// Runs all events that come before `end`, the last event of the run.
    pub(crate) fn run_until(&mut self, end: Label, standing: &mut Standing) -> Progressed {
        if standing.label == end {
            return Progressed::Tied;
        }
        let limit = Time::from_nanos(end.at.as_nanos().saturating_add(1));
        while let Some(event) = self.net.driver.events.pop_before(limit) {
            standing.passes(event);
            if standing.label >= end {
                return match standing.label == end {
                    true => Progressed::Tied,
                    false => Progressed::Through,
                };
            }
            self.take(event, standing.is_first);
        }
        Progressed::Through
    }

    /// Goes on within the event that ended the last flow here, since others are left elsewhere. From
    /// now on no end of a flow stops this part.
    pub(crate) fn resume(&mut self, standing: &mut Standing) {
        self.going = usize::MAX;
        if let Some((index, sides)) = standing.rest.take() {
            self.follow_up(self.net.now, index, sides);
        }
    }

    /// One event; true if it ended the last flow.
    #[inline]
    fn take(&mut self, event: Event, counts_routes: bool) -> bool {
        self.net.now = event.at;
        // A change of routes is an event of every part.
        self.events += u64::from(event.class != Class::Route || counts_routes);
        if event.class == Class::Arrival {
            let arrived = self.net.arrive(event.component);
            arrived.is_some_and(|handle| self.receive(event.at, handle))
        } else {
            self.wake(event)
        }
    }

    /// True if the run waits for flows here.
    pub(crate) fn waits(&self) -> bool {
        self.going > 0 && self.going != usize::MAX
    }

    /// The time of the next event here, those on their way to other parts among them.
    pub(crate) fn next_time(&self) -> Time {
        let own = self.net.driver.events.next_time().unwrap_or(Time::MAX);
        let outgoing = self.net.driver.outgoing.as_ref();
        own.min(outgoing.map_or(Time::MAX, |outgoing| outgoing.earliest()))
    }

    /// Events so far, and packets that were alive at once at most.
    pub(crate) fn size(&self) -> (u64, u64) {
        (self.events, self.net.driver.packets.capacity() as u64)
    }

    /// The packets for another part are in `batch` from now on, what was there is here.
    pub(crate) fn swap_outgoing(&mut self, part: usize, batch: &mut Vec<Crossing>) {
        if let Some(outgoing) = &mut self.net.driver.outgoing {
            outgoing.swap(part, batch);
        }
    }

    /// Takes the packets that have come from another part.
    pub(crate) fn land(&mut self, batch: &mut Vec<Crossing>) {
        self.net.land(batch);
    }

    /// The next checkpoint.
    pub(crate) fn next_checkpoint(&self) -> Time {
        self.to_note.last().copied().unwrap_or(Time::MAX)
    }

    /// What is counted here at the next checkpoint, if that is before `until`.
    pub(crate) fn count_before(&mut self, until: Time) -> Option<Counted> {
        let at = self.to_note.pop_if(|at| *at < until)?;
        self.net.now = at;
        Some(Counted {
            snapshot: self.net.snapshot(self.scenario),
            flows: self.flows.iter().map(collect::counts).collect(),
            tally: self.net.tally(),
        })
    }

    /// Notes the sum of what all parts have counted at a checkpoint; this is one of them.
    pub(crate) fn note_sum(&mut self, parts: impl IntoIterator<Item = Counted>) {
        let sum = parts.into_iter().reduce(|mut sum, part| {
            for (flow, more) in sum.flows.iter_mut().zip(&part.flows) {
                flow.add(more);
            }
            sum.tally.add(&part.tally);
            sum.snapshot.add(&part.snapshot);
            sum
        });
        let Some(sum) = sum else { return };
        let own = self.net.exchange(sum.tally);
        let flows = sum.flows.into_iter();
        let checkpoint = collect::mark(self.scenario, flows, &self.net, &sum.snapshot);
        self.net.exchange(own);
        self.checkpoints.push(checkpoint);
    }

    /// What this part has yielded by `ended_at`, the end of the run.
    pub(crate) fn into_yield(
        mut self,
        me: usize,
        division: &Division,
        ended_at: Time,
    ) -> PartYield {
        let (flows, lost) = self.end(me, division, ended_at);
        PartYield {
            flows,
            lost,
            events: self.events,
            remains: self.net.into_remains(),
        }
    }

    /// What the whole run has yielded by `ended_at`; this is its first part.
    pub(crate) fn into_outcome(
        mut self,
        division: &Division,
        ended_at: Time,
        others: Vec<PartYield>,
    ) -> Result<Outcome, RunError> {
        let (mut flows, first) = self.end(0, division, ended_at);
        let mut lost: Vec<_> = first.into_iter().collect();
        let mut remains = Vec::with_capacity(others.len());
        let mut events = self.events;
        for part in others {
            events += part.events;
            lost.extend(part.lost);
            remains.push(part.remains);
            for (own, other) in flows.iter_mut().zip(part.flows) {
                *own = match (own.take(), other) {
                    (Some(own), Some(other)) => Some(own.join(other)),
                    (own, other) => own.or(other),
                };
            }
        }
        if let Some((_, lost)) = lost.into_iter().min_by_key(|(index, _)| *index) {
            return Err(lost);
        }
        self.net.gather(remains, |link| division.home(link));
        Ok(collect::outcome(
            self.scenario,
            self.options,
            flows.into_iter().flatten(),
            self.net,
            events,
            self.checkpoints,
        ))
    }

    /// What the flows have yielded that have an end in part `me`, and the first whose connection was
    /// lost.
    fn end(
        &mut self,
        me: usize,
        division: &Division,
        ended_at: Time,
    ) -> (Vec<Option<Yield>>, Option<(usize, RunError)>) {
        self.net.now = ended_at;
        let lost = self.lost_connection();
        let scenario = self.scenario;
        let flows = std::mem::take(&mut self.flows).into_iter().enumerate();
        let flows = flows.map(|(index, running): (usize, Running)| {
            let is_here = division.sides(index).contains(&me);
            is_here.then(|| Yield::of(scenario, index, running, ended_at))
        });
        let flows = flows.collect();
        self.net.catch_up();
        (flows, lost)
    }
}
