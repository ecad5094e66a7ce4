//! A run while its rows are written.

use crate::model::{Outcome, RunInfo};
use bentpipe_units::Rate;
use std::ops::Deref;

/// An outcome with what all its rows share, so that a run of many flows takes
/// no time that grows with their square.
pub struct Run<'a> {
    outcome: &'a Outcome,
    pub(crate) total_goodput: Rate,
    pub(crate) jain_index: Option<f64>,
}

impl Run<'_> {
    pub(crate) fn of(outcome: &Outcome) -> Run<'_> {
        Run {
            outcome,
            total_goodput: outcome.total_goodput(),
            jain_index: outcome.jain_index(),
        }
    }

    /// Columns about the run in every row.
    pub(crate) fn info(&self) -> RunInfo {
        RunInfo {
            scenario: self.scenario.clone(),
            seed: self.seed,
            ended_at: self.ended_at,
            events: self.events,
            packet_hops: self.packet_hops,
        }
    }
}

impl Deref for Run<'_> {
    type Target = Outcome;
    fn deref(&self) -> &Outcome {
        self.outcome
    }
}
