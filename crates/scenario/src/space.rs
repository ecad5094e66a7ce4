//! The constellations behind the links and routes of a scenario.
//!
//! A run needs none of this: [`crate::Document::survey`] provides it for drawing satellites and the
//! paths of flows.

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
    /// Default uplink rate of terminals.
    pub up_rate: Rate,
    /// Default downlink rate of terminals.
    pub down_rate: Rate,
    /// Paths, delays and handovers of the pairs of terminals that flows join.
    pub plan: Plan,
}

/// A part of a flow's way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Hop {
    /// A link on the ground.
    Link(LinkId),
    /// Up into a constellation and down again.
    Sky {
        /// Index in [`ExpandedConstellations::skies`].
        sky: usize,
        /// Index in the pairs of its plan.
        pair: usize,
        /// From the second terminal of the pair to the first.
        back: bool,
    },
}
