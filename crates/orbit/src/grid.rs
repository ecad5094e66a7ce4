//! Checks whether satellites from a file form a grid: evenly spaced planes, each with evenly spaced
//! satellites, as in a Walker shell. Then they can be linked like one.
//!
//! At one instant each satellite has a node (right ascension of the ascending node of the plane
//! that it moves in) and an argument (its angle along the orbit from there). Nodes nearer to each
//! other than [`PLANE_GAP`] are one plane. The planes must be evenly spaced, all around (a delta)
//! or except for one wide gap, the seam (a star). The number of slots of a plane follows from the
//! most frequent distance between neighbours, and is the same in every plane. Distances may be off
//! by a quarter of the spacing ([`TOLERANCE`]), and a tenth of the slots may be empty
//! ([`MOST_EMPTY`]): missing satellites are not linked.

mod error;

pub use error::GridError;

use core::fmt;

use bentpipe_units::math::{atan2, floor, sqrt};

use crate::catalogue::Entry;
use crate::epoch::Utc;
use crate::isl::{Isl, IslKind};
use crate::shell::Pattern;

/// Nodes nearer to each other than this are of one plane, degrees.
pub(crate) const PLANE_GAP: f64 = 0.6;

/// Share of the spacing by which a plane or a satellite may be off.
pub(crate) const TOLERANCE: f64 = 0.25;

/// Share of the slots that may be empty.
pub(crate) const MOST_EMPTY: f64 = 0.1;

/// Satellites of one shell differ by less than this in inclination, degrees.
pub(crate) const INCLINATION: f64 = 1.0;

/// And by less than this in altitude, km.
pub(crate) const ALTITUDE_KM: f64 = 25.0;

/// A grid of satellites.
#[derive(Clone, PartialEq, Debug)]
pub struct Grid {
    /// Planes all around, or half around with a seam.
    pub pattern: Pattern,
    /// Number of orbital planes.
    pub planes: u32,
    /// Slots per plane.
    pub per_plane: u32,
    /// Mean inclination, degrees.
    pub inclination: f64,
    /// Mean, km above the ground.
    pub altitude_km: f64,
    /// Of each plane in order its slots: satellites by their numbers.
    pub(crate) slots: Vec<Vec<Option<u32>>>,
    /// By how many slots a plane is behind the one before it, for each plane
    /// with the next; of the last with the first where they are linked.
    shifts: Vec<u32>,
}

impl Grid {
    /// Slots without a satellite.
    #[must_use]
    pub fn empty(&self) -> usize {
        self.slots.iter().flatten().filter(|s| s.is_none()).count()
    }
}

impl fmt::Display for Grid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (planes, slots) = (self.planes, self.per_plane);
        write!(f, "{planes} planes of {slots} satellites")?;
        write!(
            f,
            " at {:.1} deg, {:.0} km",
            self.inclination, self.altitude_km
        )?;
        match self.empty() {
            0 => Ok(()),
            1 => f.write_str(", 1 slot empty"),
            n => write!(f, ", {n} slots empty"),
        }
    }
}

/// A satellite at the instant.
#[derive(Clone, Copy)]
struct Spot {
    number: u32,
    /// Right ascension of the ascending node, degrees.
    node: f64,
    /// Argument of latitude, degrees.
    argument: f64,
}

/// The shells that satellites belong to, the largest first: how many, mean
/// inclination in degrees and mean altitude in km.
pub(crate) fn shells_of(entries: &[Entry]) -> Vec<(usize, f64, f64)> {
    let mut by: Vec<(f64, f64)> = entries
        .iter()
        .map(|e| (e.inclination, e.altitude_km))
        .collect();
    by.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut found = Vec::new();
    for same in by.chunk_by_mut(|a, b| b.0 - a.0 < INCLINATION) {
        same.sort_by(|a, b| a.1.total_cmp(&b.1));
        for shell in same.chunk_by(|a, b| b.1 - a.1 < ALTITUDE_KM) {
            let count = shell.len() as f64;
            let mean = |of: fn(&(f64, f64)) -> f64| shell.iter().map(of).sum::<f64>() / count;
            found.push((shell.len(), mean(|s| s.0), mean(|s| s.1)));
        }
    }
    found.sort_by_key(|shell| core::cmp::Reverse(shell.0));
    found
}

/// The grid that satellites form at `start`.
pub(crate) fn find(entries: &[Entry], start: Utc) -> Result<Grid, GridError> {
    if entries.len() < 6 {
        return Err(GridError::Few(entries.len()));
    }
    let shells = shells_of(entries);
    if shells.len() > 1 {
        return Err(GridError::Shells(shells));
    }
    let mut spots = Vec::with_capacity(entries.len());
    for (number, entry) in entries.iter().enumerate() {
        spots.push(spot(number as u32, entry, start)?);
    }
    let planes = planes(&mut spots);
    let name = |number: u32| entries[number as usize].name.clone();
    let (planes, pattern) = order(planes, &name)?;
    let slots = slots(&planes);
    if planes.len() < 2 || slots < 3 {
        return Err(GridError::Few(entries.len()));
    }
    let mut filled = Vec::with_capacity(planes.len());
    let mut phases = Vec::with_capacity(planes.len());
    for plane in &planes {
        let (row, phase) = fill(plane, slots, &name)?;
        filled.push(row);
        phases.push(phase);
    }
    check_holes(&filled, entries.len(), &name)?;
    Ok(Grid {
        pattern,
        planes: planes.len() as u32,
        per_plane: slots as u32,
        inclination: shells[0].1,
        altitude_km: shells[0].2,
        shifts: shifts(&phases, pattern, slots),
        slots: filled,
    })
}

/// Node and argument of a satellite from where it is and where it goes.
fn spot(number: u32, entry: &Entry, start: Utc) -> Result<Spot, GridError> {
    if entry.eccentricity > 0.05 {
        return Err(GridError::Ellipse {
            name: entry.name.clone(),
            eccentricity: entry.eccentricity,
        });
    }
    let minutes = sgp4::MinutesSinceEpoch(start.minutes_since(entry.epoch));
    let at = entry.constants.propagate(minutes);
    let at = at.map_err(|_| GridError::Decayed(entry.name.clone()))?;
    let ([x, y, z], [u, v, w]) = (at.position, at.velocity);
    let normal = [y * w - z * v, z * u - x * w, x * v - y * u];
    let node = atan2(normal[0], -normal[1]);
    // Along the node, and at right angles to it in the plane.
    let (s, c) = (
        bentpipe_units::math::sin(node),
        bentpipe_units::math::cos(node),
    );
    let length = sqrt(normal.iter().map(|n| n * n).sum::<f64>());
    let across = [
        (normal[1] * 0.0 - normal[2] * s) / length,
        (normal[2] * c - normal[0] * 0.0) / length,
        (normal[0] * s - normal[1] * c) / length,
    ];
    let along = x * c + y * s;
    let ahead = x * across[0] + y * across[1] + z * across[2];
    if !(along.is_finite() && ahead.is_finite() && length > 0.0) {
        return Err(GridError::Decayed(entry.name.clone()));
    }
    Ok(Spot {
        number,
        node: node.to_degrees().rem_euclid(360.0),
        argument: atan2(ahead, along).to_degrees().rem_euclid(360.0),
    })
}

/// Groups by nodes that are near each other, in their order around the earth.
fn planes(spots: &mut [Spot]) -> Vec<Vec<Spot>> {
    spots.sort_by(|a, b| a.node.total_cmp(&b.node).then(a.number.cmp(&b.number)));
    let mut planes: Vec<Vec<Spot>> = spots
        .chunk_by(|a, b| b.node - a.node < PLANE_GAP)
        .map(<[Spot]>::to_vec)
        .collect();
    // The first may begin before 0 degrees.
    if planes.len() > 1
        && let (Some(first), Some(last)) = (planes[0].first(), planes[planes.len() - 1].last())
        && first.node + 360.0 - last.node < PLANE_GAP
        && let Some(mut last) = planes.pop()
    {
        for spot in &mut last {
            spot.node -= 360.0;
        }
        last.append(&mut planes[0]);
        planes[0] = last;
    }
    planes
}

fn mean_node(plane: &[Spot]) -> f64 {
    plane.iter().map(|spot| spot.node).sum::<f64>() / plane.len().max(1) as f64
}

/// The planes in order, beginning behind the seam if there is one.
fn order(
    mut planes: Vec<Vec<Spot>>,
    name: &impl Fn(u32) -> String,
) -> Result<(Vec<Vec<Spot>>, Pattern), GridError> {
    let count = planes.len();
    if count < 2 {
        return Ok((planes, Pattern::Delta));
    }
    let nodes: Vec<f64> = planes.iter().map(|plane| mean_node(plane)).collect();
    let gaps: Vec<f64> = (0..count)
        .map(|i| (nodes[(i + 1) % count] - nodes[i]).rem_euclid(360.0))
        .collect();
    let mut sorted = gaps.clone();
    sorted.sort_by(f64::total_cmp);
    let spacing = match count {
        2 => sorted[0],
        _ => sorted[(count - 1) / 2],
    };
    let uneven = |gap: f64| (gap - spacing).abs() > TOLERANCE * spacing;
    let widest = (0..count)
        .max_by(|a, b| gaps[*a].total_cmp(&gaps[*b]))
        .unwrap_or(0);
    let odd = (0..count).filter(|i| uneven(gaps[*i]));
    let odd: Vec<usize> = odd.collect();
    // A seam is where planes that go up meet planes that go down: half a turn
    // is left without nodes.
    let pattern = match odd[..] {
        [] => Pattern::Delta,
        [seam] if gaps[seam] > 120.0 => {
            planes.rotate_left((seam + 1) % count);
            Pattern::Star
        }
        _ => {
            let plane = odd.iter().copied().find(|i| *i != widest).unwrap_or(widest);
            let plane = if odd.len() > 1 && gaps[widest] > 120.0 {
                plane
            } else {
                odd[0]
            };
            return Err(GridError::Planes {
                planes: count,
                plane,
                name: planes[plane]
                    .first()
                    .map_or(String::new(), |s| name(s.number)),
                gap: gaps[plane],
                spacing,
            });
        }
    };
    Ok((planes, pattern))
}

/// The slots of a plane: a turn over the commonest distance of neighbours.
fn slots(planes: &[Vec<Spot>]) -> usize {
    let mut gaps: Vec<f64> = Vec::new();
    for plane in planes {
        let mut arguments: Vec<f64> = plane.iter().map(|spot| spot.argument).collect();
        arguments.sort_by(f64::total_cmp);
        for (i, at) in arguments.iter().enumerate() {
            let next = arguments[(i + 1) % arguments.len()];
            let gap = (next - at).rem_euclid(360.0);
            gaps.push(if arguments.len() == 1 { 360.0 } else { gap });
        }
    }
    gaps.sort_by(f64::total_cmp);
    let middle = gaps.get(gaps.len() / 2).copied().unwrap_or(360.0);
    floor(360.0 / middle.max(0.05) + 0.5) as usize
}

/// Which satellite is in which slot of a plane, and where slot 0 is, degrees.
fn fill(
    plane: &[Spot],
    slots: usize,
    name: &impl Fn(u32) -> String,
) -> Result<(Vec<Option<u32>>, f64), GridError> {
    let spacing = 360.0 / slots as f64;
    let phase =
        |spot: &Spot| (spot.argument / spacing).rem_euclid(1.0) * 2.0 * core::f64::consts::PI;
    let (mut s, mut c) = (0.0, 0.0);
    for spot in plane {
        s += bentpipe_units::math::sin(phase(spot));
        c += bentpipe_units::math::cos(phase(spot));
    }
    let zero = (atan2(s, c) / (2.0 * core::f64::consts::PI)).rem_euclid(1.0) * spacing;
    let mut row: Vec<Option<u32>> = vec![None; slots];
    for spot in plane {
        let turns = (spot.argument - zero) / spacing;
        let nearest = floor(turns + 0.5);
        if (turns - nearest).abs() > TOLERANCE {
            return Err(GridError::Slot {
                name: name(spot.number),
                off: (turns - nearest).abs() * spacing,
                slots,
                spacing,
            });
        }
        let slot = &mut row[(nearest as i64).rem_euclid(slots as i64) as usize];
        if let Some(first) = slot.replace(spot.number) {
            return Err(GridError::Double {
                first: name(first),
                second: name(spot.number),
                slots,
            });
        }
    }
    Ok((row, zero))
}

fn check_holes(
    filled: &[Vec<Option<u32>>],
    satellites: usize,
    name: &impl Fn(u32) -> String,
) -> Result<(), GridError> {
    let (planes, slots) = (filled.len(), filled.first().map_or(0, Vec::len));
    let empty = planes * slots - satellites;
    if empty as f64 <= MOST_EMPTY * (planes * slots) as f64 {
        return Ok(());
    }
    let missing = |row: &Vec<Option<u32>>| row.iter().filter(|slot| slot.is_none()).count();
    let worst = filled.iter().max_by_key(|row| missing(row));
    let first = worst.and_then(|row| row.iter().flatten().next());
    Err(GridError::Holes {
        planes,
        slots,
        satellites,
        missing: worst.map_or(0, missing),
        name: first.map_or(String::new(), |number| name(*number)),
    })
}

/// To which slot of the next plane slot 0 of each is linked: to the one that
/// leads or trails least.
fn shifts(phases: &[f64], pattern: Pattern, slots: usize) -> Vec<u32> {
    let planes = phases.len();
    let linked = match pattern {
        // The same two planes would be linked twice.
        Pattern::Delta if planes > 2 => planes,
        _ => planes - 1,
    };
    let shift = |plane: usize| {
        let lead = phases[plane] - phases[(plane + 1) % planes];
        let slot = floor(lead / 360.0 * slots as f64 + 0.5 - 1e-9);
        (slot as i64).rem_euclid(slots as i64) as u32
    };
    (0..linked).map(shift).collect()
}

impl Grid {
    /// Links in the planes and across them, where both ends are there.
    pub(crate) fn links(&self) -> Vec<Isl> {
        let link = |a, b, kind| Isl {
            a,
            b,
            kind,
            up: true,
        };
        let mut links = Vec::new();
        let per_plane = self.per_plane as usize;
        let mut join = |a: Option<u32>, b: Option<u32>, kind| {
            if let (Some(a), Some(b)) = (a, b) {
                links.push(link(a, b, kind));
            }
        };
        for row in &self.slots {
            for (slot, satellite) in row.iter().enumerate() {
                join(*satellite, row[(slot + 1) % per_plane], IslKind::IntraPlane);
            }
        }
        for (plane, shift) in self.shifts.iter().enumerate() {
            let next = &self.slots[(plane + 1) % self.slots.len()];
            for (slot, satellite) in self.slots[plane].iter().enumerate() {
                let there = next[(slot + *shift as usize) % per_plane];
                join(*satellite, there, IslKind::InterPlane);
            }
        }
        links
    }
}

#[cfg(test)]
#[path = "grid_tests.rs"]
mod tests;
