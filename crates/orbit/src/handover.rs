//! Choice of the satellite that a terminal uses, and handovers.
//!
//! Source: ns-2.35 (`satellite/sathandoff.cc`, `TermLinkHandoffMgr`) for [`Policy::Keep`].
//! Terminals search for a satellite at regular intervals (10 s in ns-2). There is no
//! make-before-break: between two searches a terminal keeps a satellite that has sunk below the
//! mask. ns-2 can draw each pause between looks uniformly from half to one and a half times the
//! interval.
//!
//! Where satellites are mere repeaters (a bent pipe) it is the pair of terminals that needs one
//! satellite: both must see it above their masks, and its elevation is the lower one of the two.

use core::fmt;
use core::str::FromStr;

use bentpipe_units::math::sin;
use bentpipe_units::{Duration, Time};

use crate::constellation::Constellation;
use crate::position::Position;
use crate::quantity::{Angle, Distance, Place};

/// A station on the ground.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Terminal {
    /// Where, at altitude 0.
    pub place: Place,
    /// It uses satellites at a higher elevation than this.
    pub mask: Angle,
}

/// How a terminal chooses.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Policy {
    /// ns-2: keep the satellite while it is above the mask; else take the one
    /// that follows it in its plane, if that one is; else the highest.
    #[default]
    Keep,
    /// At every look the highest.
    Highest,
    /// Keep the satellite while it is above the mask; else take the one that
    /// will stay above it longest.
    Longest,
}

impl Policy {
    /// All policies, in the order of their declaration.
    pub const ALL: [Policy; 3] = [Policy::Keep, Policy::Highest, Policy::Longest];

    /// As in scenarios and on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Policy::Keep => "keep",
            Policy::Highest => "highest",
            Policy::Longest => "longest",
        }
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is none of [`Policy::ALL`].
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{0}` is no way to choose a satellite: expected keep, highest or longest")]
pub struct PolicyError(String);

impl FromStr for Policy {
    type Err = PolicyError;

    fn from_str(text: &str) -> Result<Policy, PolicyError> {
        let found = Policy::ALL.into_iter().find(|p| p.name() == text);
        found.ok_or_else(|| PolicyError(text.to_owned()))
    }
}

/// Terminals that need one satellite together: one of them, or the two ends of
/// a bent pipe.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    /// Their places, and the sine of each mask.
    members: Vec<(Position, f64)>,
}

/// No satellite stays in sight longer than this for [`Policy::Longest`].
const LONGEST: Duration = Duration::from_secs(7_200);

impl Group {
    pub(crate) fn new(terminals: &[Terminal]) -> Group {
        let members = terminals.iter().map(|terminal| {
            let at = Position::above(terminal.place, Distance::from_km(0.0));
            (at, sin(terminal.mask.radians()))
        });
        Group {
            members: members.collect(),
        }
    }

    /// The elevation of `satellite`, as the sine of the lowest elevation at which a member sees it;
    /// none if one has it at or below its mask.
    fn height(&self, satellite: Position) -> Option<f64> {
        let mut lowest = f64::INFINITY;
        for &(at, mask) in &self.members {
            let sine = at.sine_of_elevation(satellite);
            if sine <= mask {
                return None;
            }
            lowest = lowest.min(sine);
        }
        Some(lowest)
    }

    fn highest(&self, positions: &[Position]) -> Option<u32> {
        let mut best = None;
        for (satellite, &at) in positions.iter().enumerate() {
            if let Some(height) = self.height(at)
                && best.is_none_or(|(_, highest)| height > highest)
            {
                best = Some((satellite as u32, height));
            }
        }
        best.map(|(satellite, _)| satellite)
    }

    fn longest(
        &self,
        constellation: &Constellation,
        positions: &[Position],
        now: Time,
        step: Duration,
    ) -> Option<u32> {
        let steps = (LONGEST.as_nanos() / step.as_nanos().max(1)).clamp(1, 10_000);
        let mut best: Option<(u32, u64, f64)> = None;
        for (satellite, &at) in positions.iter().enumerate() {
            let Some(height) = self.height(at) else {
                continue;
            };
            let stays = |n: &u64| {
                let then = constellation.position(satellite, now + step * *n);
                self.height(then).is_some()
            };
            let visible = (1..=steps).take_while(stays).count() as u64;
            let better = best.is_none_or(|(_, longest, highest)| {
                visible > longest || (visible == longest && height > highest)
            });
            if better {
                best = Some((satellite as u32, visible, height));
            }
        }
        best.map(|(satellite, ..)| satellite)
    }

    /// The satellite to use from now on, after `current`; `step` is how far
    /// apart the looks are.
    pub(crate) fn look(
        &self,
        policy: Policy,
        current: Option<u32>,
        constellation: &Constellation,
        positions: &[Position],
        (now, step): (Time, Duration),
    ) -> Option<u32> {
        let usable = |satellite: u32| self.height(positions[satellite as usize]).is_some();
        match policy {
            Policy::Highest => self.highest(positions),
            _ if current.is_some_and(usable) => current,
            Policy::Keep => {
                let follower = current.and_then(|satellite| constellation.follower(satellite));
                let follower = follower.filter(|satellite| usable(*satellite));
                follower.or_else(|| self.highest(positions))
            }
            Policy::Longest => self.longest(constellation, positions, now, step),
        }
    }
}
