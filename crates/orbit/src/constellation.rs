//! Constellations: satellites, how they move and how they are linked.

use bentpipe_units::Time;
use bentpipe_units::math::{cos, floor, sin};

use crate::catalogue::{Catalogue, Entry};
use crate::epoch::Utc;
use crate::geo::GeoSlot;
use crate::grid::{self, Grid, GridError};
use crate::isl::{Isl, IslKind, IslRules};
use crate::position::Position;
use crate::quantity::Angle;
use crate::shell::{Orbits, Pattern, Phasing, Shell};

/// Satellites, their motion and the links between them.
#[derive(Clone, Debug)]
pub struct Constellation {
    motion: Motion,
    /// Satellites in each plane, where there are planes: satellite i is
    /// number i mod this of plane i / this.
    per_plane: Option<u32>,
    isls: Vec<Isl>,
    rules: IslRules,
}

#[derive(Clone, Debug)]
enum Motion {
    Standing(Vec<Position>),
    Shell(Box<Shell>, Orbits),
    Elements { entries: Vec<Entry>, start: Utc },
}

/// Which satellites of a shell are linked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mesh {
    /// Each satellite to the next 1, 2, ... of its plane.
    pub in_plane: u32,
    /// Each satellite to the same number of the next 1, 2, ... planes.
    pub across: u32,
    /// Links across the seam of a star.
    pub cross_seam: bool,
}

impl Mesh {
    /// Four links per satellite: two in the plane, one to each adjacent plane.
    pub const GRID: Mesh = Mesh {
        in_plane: 1,
        across: 1,
        cross_seam: false,
    };
}

/// Why links cannot be put into a constellation.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum LinkError {
    /// A mesh needs planes.
    #[error("the satellites stand in no known planes: name the links one by one")]
    NoPlanes,
    /// A satellite that does not exist.
    #[error("line {line}: satellite {satellite} does not exist: there are {count}, counted from 0")]
    Satellite {
        /// Line number, counted from 1.
        line: usize,
        /// The number that was read.
        satellite: u64,
        /// How many there are.
        count: usize,
    },
    /// The line does not consist of two numbers.
    #[error("line {line}: expected two different satellite numbers, such as `0 21`")]
    Form {
        /// Line number, counted from 1.
        line: usize,
    },
}

impl Constellation {
    /// Geostationary satellites.
    #[must_use]
    pub fn geo(slots: &[GeoSlot]) -> Constellation {
        Constellation {
            motion: Motion::Standing(slots.iter().map(|slot| slot.position()).collect()),
            per_plane: None,
            isls: Vec::new(),
            rules: IslRules::NONE,
        }
    }

    /// A shell of circular orbits, linked as `mesh` says under `rules`.
    ///
    /// Links across join satellites whose angles along their orbits differ
    /// least; in a delta also those of the last plane to those of the first.
    #[must_use]
    pub fn shell(shell: Shell, mesh: Mesh, rules: IslRules) -> Constellation {
        let orbits = Orbits::new(&shell);
        let isls = mesh_of(&shell, mesh, &orbits);
        Constellation {
            per_plane: Some(shell.per_plane),
            motion: Motion::Shell(Box::new(shell), orbits),
            isls,
            rules,
        }
    }

    /// Satellites from elements; time 0 is `start`. They are not linked.
    #[must_use]
    pub fn elements(catalogue: Catalogue, start: Utc) -> Constellation {
        Constellation {
            per_plane: catalogue.planes.map(|(_, per_plane)| per_plane),
            motion: Motion::Elements {
                entries: catalogue.entries,
                start,
            },
            isls: Vec::new(),
            rules: IslRules::NONE,
        }
    }

    /// With the links of a list instead: a line each, two satellite numbers
    /// counted from 0 (Hypatia's `isls.txt`). Only the earth cuts them.
    ///
    /// # Errors
    /// A line that is not two satellites.
    pub fn with_links(mut self, text: &str) -> Result<Constellation, LinkError> {
        let count = self.len();
        self.isls.clear();
        for (index, words) in text.lines().map(str::trim).enumerate() {
            let line = index + 1;
            if words.is_empty() || words.starts_with('#') {
                continue;
            }
            let form = LinkError::Form { line };
            let mut ends = [0u32; 2];
            let mut words = words.split_whitespace();
            for end in &mut ends {
                let word = words.next().ok_or(form.clone())?;
                let satellite: u64 = word.parse().map_err(|_| form.clone())?;
                if satellite >= count as u64 {
                    return Err(LinkError::Satellite {
                        line,
                        satellite,
                        count,
                    });
                }
                *end = satellite as u32;
            }
            let [a, b] = ends;
            if a == b || words.next().is_some() {
                return Err(form);
            }
            self.isls.push(Isl {
                a,
                b,
                kind: IslKind::InterPlane,
                up: true,
            });
        }
        self.rules = IslRules::NONE;
        Ok(self)
    }

    /// With links as in a Walker shell instead: to both neighbours in the plane and to one
    /// satellite of each adjacent plane, under `rules`. The satellites must be from elements and
    /// form a grid at time 0; they are put in the order of their planes and slots.
    ///
    /// # Errors
    /// Why they form none.
    pub fn with_grid(self, rules: IslRules) -> Result<(Constellation, Grid), GridError> {
        let Motion::Elements { entries, start } = self.motion else {
            return Err(GridError::Few(self.len()));
        };
        let mut grid = grid::find(&entries, start)?;
        let mut sorted = Vec::with_capacity(entries.len());
        for number in grid.slots.iter_mut().flatten().flatten() {
            sorted.push(entries[*number as usize].clone());
            *number = sorted.len() as u32 - 1;
        }
        let constellation = Constellation {
            per_plane: (grid.empty() == 0).then_some(grid.per_plane),
            motion: Motion::Elements {
                entries: sorted,
                start,
            },
            isls: grid.links(),
            rules,
        };
        Ok((constellation, grid))
    }

    /// Number of satellites.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.motion {
            Motion::Standing(positions) => positions.len(),
            Motion::Shell(_, orbits) => orbits.len(),
            Motion::Elements { entries, .. } => entries.len(),
        }
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The shell, if it is one.
    #[must_use]
    pub fn as_shell(&self) -> Option<&Shell> {
        match &self.motion {
            Motion::Shell(shell, _) => Some(shell),
            _ => None,
        }
    }

    /// Whether nothing moves against the ground.
    #[must_use]
    pub fn stands(&self) -> bool {
        matches!(self.motion, Motion::Standing(_))
    }

    /// The links as they are before anybody has looked at them.
    #[must_use]
    pub fn isls(&self) -> &[Isl] {
        &self.isls
    }

    /// When links are down.
    #[must_use]
    pub fn rules(&self) -> IslRules {
        self.rules
    }

    /// A short name for a satellite: `3-14` is number 14 of plane 3, both
    /// counted from 0; without planes its number.
    #[must_use]
    pub fn label(&self, satellite: usize) -> String {
        match self.per_plane {
            Some(n) => format!("{}-{}", satellite / n as usize, satellite % n as usize),
            None => satellite.to_string(),
        }
    }

    /// The satellite's name: as in the file of elements, or its label.
    #[must_use]
    pub fn name(&self, satellite: usize) -> String {
        match &self.motion {
            Motion::Elements { entries, .. } => entries[satellite].name.clone(),
            _ => self.label(satellite),
        }
    }

    /// The satellite that follows another in its plane, and will be where that one is now.
    #[must_use]
    pub fn follower(&self, satellite: u32) -> Option<u32> {
        let n = self.per_plane?;
        let first = satellite - satellite % n;
        Some(first + (satellite - first + n - 1) % n)
    }

    /// Where a satellite is.
    #[must_use]
    pub fn position(&self, satellite: usize, time: Time) -> Position {
        match &self.motion {
            Motion::Standing(positions) => positions[satellite],
            Motion::Shell(_, orbits) => orbits.position(satellite, time),
            Motion::Elements { entries, start } => {
                let now = start.at(time);
                let sky = now.sidereal_angle();
                propagate(&entries[satellite], now, turn(sky))
            }
        }
    }

    /// Where all satellites are. A satellite whose elements are not valid at that time (decayed) is
    /// put at the earth's centre, where no terminal sees it.
    pub fn positions(&self, time: Time, out: &mut Vec<Position>) {
        out.resize(self.len(), Position::CENTRE);
        match &self.motion {
            Motion::Standing(positions) => out.copy_from_slice(positions),
            Motion::Shell(_, orbits) => orbits.positions(time, out),
            Motion::Elements { entries, start } => {
                let now = start.at(time);
                let sky = turn(now.sidereal_angle());
                for (entry, slot) in entries.iter().zip(out) {
                    *slot = propagate(entry, now, sky);
                }
            }
        }
    }
}

fn turn(angle: Angle) -> (f64, f64) {
    (cos(angle.radians()), sin(angle.radians()))
}

/// SGP4's TEME to the frame that turns with the earth, by the sidereal angle
/// alone (no polar motion: some metres).
///
/// SGP4 is the one computation here whose sines may be the platform's (the
/// crate takes them from `num-traits`): they may differ in the last bit, 1e-9
/// km. Rounding to the centimetre hides that nearly always.
fn propagate(entry: &Entry, now: Utc, (c, s): (f64, f64)) -> Position {
    let minutes = sgp4::MinutesSinceEpoch(now.minutes_since(entry.epoch));
    let Ok(prediction) = entry.constants.propagate(minutes) else {
        return Position::CENTRE;
    };
    let [x, y, z] = prediction.position.map(|km| (km * 1e5).round() / 1e5);
    let at = Position {
        x: x * c + y * s,
        y: y * c - x * s,
        z,
    };
    let there = at.dot(at).is_finite() && at.altitude().km() > 0.0;
    if there { at } else { Position::CENTRE }
}

fn mesh_of(shell: &Shell, mesh: Mesh, orbits: &Orbits) -> Vec<Isl> {
    let (planes, n) = (shell.planes, shell.per_plane);
    let link = |a, b, kind| Isl {
        a,
        b,
        kind,
        up: true,
    };
    let mut isls = Vec::new();
    for plane in 0..planes {
        for step in 1..=mesh.in_plane.min(n / 2) {
            // Half way round each pair would come twice.
            let slots = if step * 2 == n { n / 2 } else { n };
            for slot in 0..slots {
                let (a, b) = (plane * n + slot, plane * n + (slot + step) % n);
                isls.push(link(a, b, IslKind::IntraPlane));
            }
        }
    }
    for step in 1..=mesh.across.min(planes) {
        for plane in 0..planes {
            let next = plane + step;
            let next = match shell.pattern {
                _ if next < planes => next,
                // The same two planes would be linked twice.
                Pattern::Delta if planes > 2 * step => next - planes,
                _ => continue,
            };
            // To the satellite that leads or trails least; with alternate
            // planes ahead, to the same number.
            let shift = match shell.phasing {
                Phasing::Alternate(_) => 0,
                Phasing::Walker(_) => {
                    let lead =
                        shell.argument(plane, 0).degrees() - shell.argument(next, 0).degrees();
                    let slots = floor(lead / 360.0 * f64::from(n) + 0.5 - 1e-9);
                    (slots as i64).rem_euclid(i64::from(n)) as u32
                }
            };
            for slot in 0..n {
                let (a, b) = (plane * n + slot, next * n + (slot + shift) % n);
                isls.push(link(a, b, IslKind::InterPlane));
            }
        }
    }
    if mesh.cross_seam && shell.pattern == Pattern::Star && planes > 1 {
        // The peers run through the last plane the other way round. The first
        // satellite starts with the one that is nearest a quarter of a spacing
        // later: of two that are as near now, the one that comes nearer.
        let soon = Time::ZERO + shell.period() / u64::from(4 * n);
        let here = orbits.position(0, soon);
        let last = (planes - 1) * n;
        let km = |slot: u32| here.km_to(orbits.position((last + slot) as usize, soon));
        let mut first = 0;
        for slot in 1..n {
            if km(slot) < km(first) {
                first = slot;
            }
        }
        for slot in 0..n {
            isls.push(link(
                slot,
                last + (first + n - slot) % n,
                IslKind::CrossSeam,
            ));
        }
    }
    isls
}
