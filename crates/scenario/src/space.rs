//! The constellations behind the links and routes of a scenario.
//!
//! A run needs none of this: [`crate::Document::survey`] gives it to those who
//! draw satellites and the ways of flows.

use crate::model::{LinkId, NodeId};
use bentpipe_orbit::{Constellation, Mode, Plan, Terminal};
use bentpipe_units::Rate;

/// Constellations and what flows cross.
#[derive(Clone, Debug, Default)]
pub struct ExpandedConstellations {
    /// In the order of the file.
    pub skies: Vec<ExpandedConstellation>,
    /// Of each flow what it crosses, from its `from` to its `to`.
    pub ways: Vec<Vec<Hop>>,
}

/// A constellation and its plan for the run.
#[derive(Clone, Debug)]
pub struct ExpandedConstellation {
    /// Its name in the file.
    pub name: String,
    /// Its satellites.
    pub constellation: Constellation,
    /// Whether they repeat or hand on.
    pub mode: Mode,
    /// Its terminals, as numbered in the plan.
    pub terminals: Vec<Terminal>,
    /// Their nodes, in the same order.
    pub nodes: Vec<NodeId>,
    /// Rate up of terminals that say nothing.
    pub up_rate: Rate,
    /// Rate down of terminals that say nothing.
    pub down_rate: Rate,
    /// Paths, delays and handovers of the pairs of terminals that flows join.
    pub plan: Plan,
}

/// A part of a flow's way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hop {
    /// A link on the ground.
    Link(LinkId),
    /// Up into a constellation and down again.
    Sky {
        /// Which of [`ExpandedConstellations::skies`].
        sky: usize,
        /// Which of the pairs of its plan.
        pair: usize,
        /// From the second terminal of the pair to the first.
        back: bool,
    },
}
