//! Shells of circular orbits: Walker's star and delta patterns.
//!
//! Source: J. G. Walker, "Satellite constellations", JBIS 37 (1984): `i: t/p/f`
//! is t satellites in p planes of inclination i, evenly spaced in their planes,
//! and a satellite of the next plane leads its neighbour by f 360/t degrees.
//! In a *delta* the ascending nodes are spread over 360 degrees, in a *star*
//! over about 180, so that the first and the last plane run against each other
//! across the *seam*.
//!
//! Motion: ns-2.35 (`satellite/satposition.cc`): circular, period
//! 2 pi sqrt(r³/mu), the earth turning below once in 86 164 s; no drag, no
//! precession. At time 0 node longitudes count from Greenwich.

use core::str::FromStr;

use bentpipe_units::math::{cos, floor, sin, sqrt};
use bentpipe_units::{Duration, Time};

use crate::constants::{EARTH_DAY_S, EARTH_RADIUS_KM, MU_KM3_PER_S2};
use crate::position::Position;
use crate::quantity::{Angle, Distance};

/// How the ascending nodes are spread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pattern {
    /// Over 180 degrees or as the spacing says, with a seam.
    Star,
    /// Over 360 degrees, without a seam.
    Delta,
}

/// What a satellite has over its neighbour in the plane before, along the
/// orbit.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Phasing {
    /// f 360/t degrees, plane after plane.
    Walker(u32),
    /// Every second plane, from the second on, by this angle.
    Alternate(Angle),
}

/// A shell of circular orbits.
#[derive(Clone, PartialEq, Debug)]
pub struct Shell {
    /// Of every plane, against the equator.
    pub inclination: Angle,
    /// Of every satellite, above the ground.
    pub altitude: Distance,
    /// Number of orbital planes.
    pub planes: u32,
    /// Satellites per plane.
    pub per_plane: u32,
    /// Walker star or Walker delta.
    pub pattern: Pattern,
    /// From the ascending node of a plane to the next one's.
    pub node_spacing: Angle,
    /// From plane to plane.
    pub phasing: Phasing,
    /// Angles along the orbit are rounded to this at time 0, as in a node
    /// list with so many decimals; zero: not rounded.
    pub grain: Angle,
}

/// Why a text is no Walker pattern, or a shell none that can be built.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum ShellError {
    /// Not of the form `i: t/p/f`.
    #[error(
        "`{0}` is no Walker pattern: expected `INCLINATION: SATELLITES/PLANES/PHASING`, such as `53: 1584/72/17`"
    )]
    Form(String),
    /// Satellites that do not fill the planes.
    #[error("{satellites} satellites cannot be shared out evenly among {planes} planes")]
    Uneven {
        /// Total number t.
        satellites: u32,
        /// Number of planes p.
        planes: u32,
    },
    /// f is not smaller than p.
    #[error("phasing {phasing} must be smaller than the number of planes, {planes}")]
    Phasing {
        /// Phasing factor f.
        phasing: u32,
        /// Number of planes p.
        planes: u32,
    },
    /// Nothing, or too much.
    #[error("a shell has 1 to {MAX_SATELLITES} satellites, not {0}")]
    Size(u64),
    /// The inclination is outside 0 to 180 degrees.
    #[error("inclination {0} is not between 0 and 180 degrees")]
    Inclination(f64),
    /// Below the atmosphere or not a number.
    #[error("altitude {0} km is not between {LOWEST_KM} and {HIGHEST_KM} km")]
    Altitude(f64),
}

/// The most satellites a shell may have.
pub const MAX_SATELLITES: u32 = 100_000;
const LOWEST_KM: f64 = 100.0;
const HIGHEST_KM: f64 = 400_000.0;

/// Walker's `i: t/p/f`: inclination in degrees, satellites, planes, phasing.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Walker {
    /// Inclination i, degrees.
    pub inclination: f64,
    /// Total number of satellites t.
    pub satellites: u32,
    /// Number of planes p.
    pub planes: u32,
    /// Phasing factor f, from 0 to p - 1.
    pub phasing: u32,
}

impl FromStr for Walker {
    type Err = ShellError;

    fn from_str(text: &str) -> Result<Walker, ShellError> {
        let form = || ShellError::Form(text.to_owned());
        let (inclination, rest) = text.split_once(':').ok_or_else(form)?;
        let inclination = inclination.trim().trim_end_matches("deg").trim();
        let inclination: f64 = inclination.parse().map_err(|_| form())?;
        let mut numbers = rest.split('/').map(|part| part.trim().parse::<u32>());
        let mut next = || numbers.next().and_then(Result::ok).ok_or_else(form);
        let walker = Walker {
            inclination,
            satellites: next()?,
            planes: next()?,
            phasing: next()?,
        };
        if numbers.next().is_some() {
            return Err(form());
        }
        Ok(walker)
    }
}

impl Shell {
    /// The Walker shell `walker` at `altitude`.
    ///
    /// # Errors
    /// If the numbers make no shell.
    pub fn walker(
        walker: Walker,
        altitude: Distance,
        pattern: Pattern,
    ) -> Result<Shell, ShellError> {
        let Walker {
            satellites, planes, ..
        } = walker;
        if planes == 0 || satellites == 0 || satellites > MAX_SATELLITES {
            return Err(ShellError::Size(u64::from(satellites)));
        }
        if !satellites.is_multiple_of(planes) {
            return Err(ShellError::Uneven { satellites, planes });
        }
        if walker.phasing >= planes {
            return Err(ShellError::Phasing {
                phasing: walker.phasing,
                planes,
            });
        }
        let spread = match pattern {
            Pattern::Star => 180.0,
            Pattern::Delta => 360.0,
        };
        let shell = Shell {
            inclination: Angle::from_degrees(walker.inclination),
            altitude,
            planes,
            per_plane: satellites / planes,
            pattern,
            node_spacing: Angle::from_degrees(spread / f64::from(planes)),
            phasing: Phasing::Walker(walker.phasing),
            grain: Angle::ZERO,
        };
        shell.check()?;
        Ok(shell)
    }

    /// Whether the numbers make a shell.
    ///
    /// # Errors
    /// If they do not.
    pub fn check(&self) -> Result<(), ShellError> {
        let size = u64::from(self.planes) * u64::from(self.per_plane);
        if size == 0 || size > u64::from(MAX_SATELLITES) {
            return Err(ShellError::Size(size));
        }
        let inclination = self.inclination.degrees();
        if !(-1e-9..=180.0 + 1e-9).contains(&inclination) {
            return Err(ShellError::Inclination(inclination));
        }
        let altitude = self.altitude.km();
        if !(LOWEST_KM..=HIGHEST_KM).contains(&altitude) {
            return Err(ShellError::Altitude(altitude));
        }
        Ok(())
    }

    /// Number of satellites.
    #[must_use]
    pub fn len(&self) -> usize {
        self.planes as usize * self.per_plane as usize
    }

    /// A shell without satellites; [`Shell::check`] refuses it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// From the earth's centre.
    #[must_use]
    pub fn radius(&self) -> Distance {
        Distance::from_km(EARTH_RADIUS_KM + self.altitude.km())
    }

    /// Orbital period.
    #[must_use]
    pub fn period(&self) -> Duration {
        Duration::from_secs_f64(2.0 * core::f64::consts::PI / self.mean_motion())
    }

    /// Of a satellite along its orbit, km/s, against the stars.
    #[must_use]
    pub fn speed_km_per_s(&self) -> f64 {
        self.mean_motion() * self.radius().km()
    }

    /// Between neighbours in a plane, before any rounding.
    #[must_use]
    pub fn in_plane_distance(&self) -> Distance {
        let half = core::f64::consts::PI / f64::from(self.per_plane);
        Distance::from_km(2.0 * self.radius().km() * sin(half))
    }

    /// Mean motion, radians per second.
    fn mean_motion(&self) -> f64 {
        let r = self.radius().km();
        sqrt(MU_KM3_PER_S2 / (r * r * r))
    }

    /// The angle along its orbit, from the ascending node, of satellite `slot`
    /// of `plane` at time 0.
    #[must_use]
    pub fn argument(&self, plane: u32, slot: u32) -> Angle {
        let spacing = 360.0 / f64::from(self.per_plane);
        let lead = match self.phasing {
            Phasing::Walker(f) => {
                f64::from(f) * f64::from(plane) * 360.0
                    / (f64::from(self.planes) * f64::from(self.per_plane))
            }
            Phasing::Alternate(angle) if plane % 2 == 1 => angle.degrees(),
            Phasing::Alternate(_) => 0.0,
        };
        let degrees = f64::from(slot) * spacing + lead;
        let grain = self.grain.degrees();
        if grain > 0.0 {
            Angle::from_degrees(floor(degrees / grain + 0.5) * grain)
        } else {
            Angle::from_degrees(degrees)
        }
    }
}

/// A shell with everything in place that does not change with time.
#[derive(Clone, Debug)]
pub(crate) struct Orbits {
    radius: f64,
    mean_motion: f64,
    per_plane: usize,
    /// Of each plane, the unit vectors to the ascending node and 90 degrees
    /// further on, at time 0.
    planes: Vec<[Position; 2]>,
    /// Of each satellite, cosine and sine of its argument at time 0.
    satellites: Vec<(f64, f64)>,
}

/// What all satellites of a shell share at one time.
#[derive(Clone, Copy)]
struct Turn {
    along: (f64, f64),
    earth: (f64, f64),
}

impl Orbits {
    pub(crate) fn new(shell: &Shell) -> Orbits {
        let i = shell.inclination.radians();
        let planes = (0..shell.planes)
            .map(|plane| {
                let node = shell.node_spacing.radians() * f64::from(plane);
                let (c, s) = (cos(node), sin(node));
                let to_node = Position { x: c, y: s, z: 0.0 };
                let further = Position {
                    x: -s * cos(i),
                    y: c * cos(i),
                    z: sin(i),
                };
                [to_node, further]
            })
            .collect();
        let satellites = (0..shell.planes)
            .flat_map(|plane| (0..shell.per_plane).map(move |slot| (plane, slot)))
            .map(|(plane, slot)| {
                let u = shell.argument(plane, slot).radians();
                (cos(u), sin(u))
            })
            .collect();
        Orbits {
            radius: shell.radius().km(),
            mean_motion: shell.mean_motion(),
            per_plane: shell.per_plane as usize,
            planes,
            satellites,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.satellites.len()
    }

    fn turn(&self, time: Time) -> Turn {
        let seconds = time.as_secs();
        let along = self.mean_motion * seconds;
        let earth = 2.0 * core::f64::consts::PI / EARTH_DAY_S * seconds;
        Turn {
            along: (cos(along), sin(along)),
            earth: (cos(earth), sin(earth)),
        }
    }

    fn place(&self, index: usize, turn: Turn) -> Position {
        let [p, q] = self.planes[index / self.per_plane];
        let (c0, s0) = self.satellites[index];
        let (ct, st) = turn.along;
        let c = self.radius * (c0 * ct - s0 * st);
        let s = self.radius * (s0 * ct + c0 * st);
        let (x, y, z) = (c * p.x + s * q.x, c * p.y + s * q.y, s * q.z);
        let (ce, se) = turn.earth;
        Position {
            x: x * ce + y * se,
            y: y * ce - x * se,
            z,
        }
    }

    pub(crate) fn position(&self, index: usize, time: Time) -> Position {
        self.place(index, self.turn(time))
    }

    pub(crate) fn positions(&self, time: Time, out: &mut [Position]) {
        let turn = self.turn(time);
        for (index, slot) in out.iter_mut().enumerate() {
            *slot = self.place(index, turn);
        }
    }
}
