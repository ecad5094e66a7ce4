//! Satellites and the ways of flows over time, as numbers to draw.
//!
//! [`courses`] works out what the flows of a scenario meet: paths, delays, handovers.
//! [`motion`] says how the satellites of a constellation move, so that a page computes
//! by itself where they are at any time. Both begin with
//! [`ScenarioFile::survey`](crate::ScenarioFile::survey).

mod course;
mod motion;

pub use course::{Change, Course, Leg, Stop, courses, document, name};
pub use motion::{Sampling, half_angle, is_there, link_changes, links, motion, samples};
