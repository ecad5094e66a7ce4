//! One part of a network, from window to window.

use super::gate::Broken;
use super::table::{Report, Table, View};
use super::{Division, Outgoing};
use crate::connections::Connections;
use crate::execution::{Execution, Label, Progressed, Standing, Ties};
use crate::flow::{Here, Running};
use crate::network::Network;
use crate::observer::Observer;
use crate::simulation::{Progress, running};
use crate::{Options, RunError};
use bentpipe_scenario::Scenario;
use bentpipe_units::Time;

/// Events between two reports of how far the run is.
const BETWEEN_REPORTS: u64 = 1 << 12;

/// Why a part did not come to the end of the run.
#[derive(Clone, Debug)]
pub(super) enum Unfinished {
    /// The run failed, as it would on one thread.
    Failed(RunError),
    /// One thread has to repeat the run.
    Repeat,
    /// Another part has left, which has the reason.
    Left,
}

impl From<Broken> for Unfinished {
    fn from(_: Broken) -> Unfinished {
        Unfinished::Left
    }
}

/// A part at work.
pub(super) struct Part<'a> {
    execution: Execution<'a, false>,
    standing: Standing,
    options: &'a Options,
    scenario: &'a Scenario,
    division: &'a Division,
    table: &'a Table,
    me: usize,
    /// Meetings so far.
    round: usize,
}

/// Leaves the table unless the part came to its end.
struct Leaving<'a>(Option<&'a Table>);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        if let Some(table) = self.0 {
            table.leave();
        }
    }
}

impl<'a> Part<'a> {
    /// Sets part `me` up.
    pub(super) fn new(
        scenario: &'a Scenario,
        options: &'a Options,
        division: &'a Division,
        table: &'a Table,
        me: usize,
        observer: &'a mut dyn Observer,
    ) -> Result<Part<'a>, Unfinished> {
        let mut leaving = Leaving(Some(table));
        let mut net = Network::new(scenario, options.seed, options.queueing_delays, observer);
        let hops = division.hops();
        net.forward.paths.cut(|hop| hops[hop] != hops[hop + 1]);
        let outgoing = Outgoing::new(hops, division.parts());
        net.driver.outgoing = Some(Box::new(outgoing));
        let connections = Connections::new(scenario);
        let flows = (0..scenario.flows.len()).map(|index| {
            let here = match division.sides(index).map(|part| part == me) {
                [false, false] => return Ok(Running::elsewhere()),
                [true, true] => Here::Both,
                [true, false] => Here::From,
                [false, true] => Here::To,
            };
            let mut flow = running(scenario, options, &connections, index, &mut |_| None)?;
            flow.keep(here);
            Ok(flow)
        });
        let flows = flows.collect::<Result<Vec<_>, RunError>>();
        let flows = flows.map_err(Unfinished::Failed)?;
        leaving.0 = None;
        Ok(Part {
            execution: Execution::new(scenario, options, flows, Ties::default(), net),
            standing: Standing::new(me == 0),
            options,
            scenario,
            division,
            table,
            me,
            round: 0,
        })
    }

    pub(super) fn into_execution(self) -> Execution<'a, false> {
        self.execution
    }

    /// Runs to the end of the run, whose time it returns.
    pub(super) fn run(&mut self, progress: Option<&mut Progress<'_>>) -> Result<Time, Unfinished> {
        let mut leaving = Leaving(Some(self.table));
        let ended_at = self.run_windows(progress)?;
        leaving.0 = None;
        Ok(ended_at)
    }

    fn run_windows(&mut self, mut progress: Option<&mut Progress<'_>>) -> Result<Time, Unfinished> {
        let end = Time::ZERO + self.scenario.duration;
        let mut shown = 0;
        // The run does not end before this.
        let mut sure = Time::ZERO;
        let mut view = self.meet(Progressed::Through)?;
        loop {
            self.note_before(view.next.min(end))?;
            if view.next > end {
                return Ok(end);
            }
            let checkpoint = self.execution.next_checkpoint();
            let window = view.next + self.division.window();
            let limit = window.min(after(end.min(checkpoint)));
            let mut progressed = Progressed::Through;
            if self.execution.waits() {
                progressed = self.execution.run_before(limit, &mut self.standing);
            } else {
                self.execution.resume(&mut self.standing);
                self.execution.run_before(sure, &mut self.standing);
            }
            view = self.meet(progressed)?;
            if let Some((last, whose)) = view.ended
                && !view.waits
            {
                return self.run_until(last, whose);
            }
            sure = limit;
            if let Some(progress) = &mut progress
                && view.events >= shown + BETWEEN_REPORTS
            {
                shown = view.events;
                (progress.0)(view.next.min(end));
            }
        }
    }

    /// Runs up to the last event of the run, which is in part `whose`.
    fn run_until(&mut self, last: Label, whose: usize) -> Result<Time, Unfinished> {
        let mut progressed = Progressed::Through;
        if self.me != whose {
            self.execution.resume(&mut self.standing);
            progressed = self.execution.run_until(last, &mut self.standing);
        }
        self.meet(progressed)?;
        Ok(last.at)
    }

    /// Notes all checkpoints before `until`.
    fn note_before(&mut self, until: Time) -> Result<(), Unfinished> {
        while let Some(counted) = self.execution.count_before(until) {
            let all = self.table.count(self.me, counted)?;
            if self.me == 0 {
                self.execution.note_sum(all);
            }
        }
        Ok(())
    }

    /// Meets the other parts: tells them how far this one came and takes the packets that have
    /// crossed.
    fn meet(&mut self, progressed: Progressed) -> Result<View, Unfinished> {
        let (events, packets) = self.execution.size();
        let ended = match progressed {
            Progressed::Ended(label) => Some(label),
            Progressed::Through | Progressed::Tied => None,
        };
        let report = Report {
            next: self.execution.next_time(),
            waits: ended.is_none() && self.execution.waits(),
            ended,
            events,
            packets,
            tied: progressed == Progressed::Tied,
            stopped: self.options.stop.is_stopped(),
        };
        let at = (self.me, self.round);
        self.round += 1;
        let execution = &mut self.execution;
        let hand = |to: usize, batch: &mut _| execution.swap_outgoing(to, batch);
        let view = self.table.meet(at, report, hand)?;
        self.table.take(at, |batch| execution.land(batch));
        let limits = self.scenario.limits;
        if view.stopped {
            return Err(Unfinished::Failed(RunError::Stopped));
        }
        // How many were alive at once in all parts is not known.
        if view.tied || view.packets > u64::from(limits.packets) {
            return Err(Unfinished::Repeat);
        }
        if view.events > limits.events {
            let limit = limits.events;
            return Err(Unfinished::Failed(RunError::TooManyEvents { limit }));
        }
        Ok(view)
    }
}

/// The instant after `at`.
fn after(at: Time) -> Time {
    Time::from_nanos(at.as_nanos().saturating_add(1))
}
