//! The satellites that a download goes over, in the place of a fixed round-trip
//! time.
//!
//! The whole path from place to place is one link per direction: its delay
//! follows the satellites, a route number tells paths apart, and it is down
//! while there is no path. The rate is that of the comparison: access to the
//! satellite limits it, not links between satellites.

use crate::{Error, input};
use bentpipe_link::{InFlightPolicy, Timeline, WhenDown};
use bentpipe_orbit::{
    Angle, Catalogue, Constellation, GeoSlot, Mode, PRESETS, Place, Plan, Settings, Terminal,
};
use bentpipe_scenario::pair_timeline;
use bentpipe_units::{Bytes, Duration, Rate, Time};
use std::path::Path;
use std::sync::Arc;

/// How long the orbits are computed for: at least an hour, at most a day.
const SHORTEST: Duration = Duration::from_secs(3_600);
const LONGEST: Duration = Duration::from_secs(24 * 3_600);

/// Elevation mask of satellites from a file, degrees.
const MASK: f64 = 10.0;

/// Satellites and the two places that they join.
#[derive(Clone, Debug, PartialEq)]
pub struct Orbit {
    name: String,
    from: Place,
    to: Place,
    slot: Option<f64>,
}

/// The path over satellites.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct OrbitPath {
    /// The name that was given.
    pub name: String,
    /// The satellites and the places, in words.
    pub text: String,
    /// Towards the receiver and back.
    pub(super) timelines: [Arc<Timeline>; 2],
    /// Round-trip propagation time: smallest, mean and largest while there is
    /// a path.
    pub rtt: [Duration; 3],
    /// Share of the time with a path.
    pub availability: f64,
    /// Changes of path in the first hour.
    pub changes: usize,
}

impl Orbit {
    /// The satellites called `name` between the sender's place and the
    /// receiver's: `geo`, `iridium`, `teledesic`, `starlink` or a file of TLE or
    /// OMM.
    #[must_use]
    pub fn new(name: impl Into<String>, from: Place, to: Place) -> Orbit {
        Orbit {
            name: name.into(),
            from,
            to,
            slot: None,
        }
    }

    /// Longitude of the geostationary satellite, degrees east; midway between
    /// the two places unless it is set.
    #[must_use]
    pub fn slot(mut self, longitude: f64) -> Orbit {
        self.slot = Some(longitude);
        self
    }

    /// The path of a download of `size` over `rate` and back over
    /// `return_rate`.
    pub(super) fn path(
        &self,
        [rate, return_rate]: [Rate; 2],
        size: Bytes,
    ) -> Result<OrbitPath, Error> {
        let (name, from, to) = (&self.name, self.from, self.to);
        let sky = sky(name, self.slot, from, to)?;
        let terminals = [from, to].map(|place| Terminal {
            place,
            mask: sky.mask,
        });
        let needed = rate.transmission_time(size) * 50;
        let settings = Settings {
            duration: needed.max(SHORTEST).min(LONGEST),
            mode: sky.mode,
            ..Settings::default()
        };
        let plan = bentpipe_orbit::plan(&sky.constellation, &terminals, &[(0, 1)], &settings)
            .map_err(|e| Error::setting("orbit", format!("{name}: {e}")))?;
        let line = |rate| {
            let (down, flight) = (WhenDown::Waits, InFlightPolicy::Delivered);
            pair_timeline(&plan, 0, rate, down, flight).map(Arc::new)
        };
        let (Some(forth), Some(back)) = (line(rate), line(return_rate)) else {
            let why = format!(
                "{name}: no satellite joins {from} and {to} at any time in the {} h that were \
                 looked at: one of them sees none of those that the other sees",
                settings.duration.as_secs() / 3600.0
            );
            return Err(Error::setting("orbit", why));
        };
        let hour = Time::ZERO + SHORTEST;
        let begins = plan.pairs()[0].stretches.iter().map(|s| s.from);
        Ok(OrbitPath {
            name: name.clone(),
            text: format!("{} from {from} to {to}", sky.what),
            timelines: [forth, back],
            rtt: round_trips(&plan),
            availability: plan.availability(0),
            changes: begins.filter(|at| *at > Time::ZERO && *at < hour).count(),
        })
    }
}

/// Smallest, mean and largest of the round trips at every second.
fn round_trips(plan: &Plan) -> [Duration; 3] {
    let seconds = plan.duration().as_nanos() / 1_000_000_000;
    let at = |second: u64| Time::ZERO + Duration::from_secs(second);
    let (mut least, mut most) = (Duration::MAX, Duration::ZERO);
    let (mut sum, mut count) = (0.0, 0.0);
    for delay in (0..seconds).filter_map(|second| plan.delay_at(0, at(second))) {
        least = least.min(delay * 2);
        most = most.max(delay * 2);
        sum += delay.as_secs() * 2.0;
        count += 1.0;
    }
    // To a tenth of a millisecond, as people write it.
    let mean = (sum / f64::max(count, 1.0) * 1e4).round() / 1e4;
    [least, Duration::from_secs_f64(mean), most]
}

/// A constellation with the settings that go with it.
struct Sky {
    constellation: Constellation,
    mask: Angle,
    mode: Mode,
    /// In words.
    what: String,
}

fn sky(name: &str, slot: Option<f64>, from: Place, to: Place) -> Result<Sky, Error> {
    if name != "geo" && slot.is_some() {
        return Err(Error::setting("slot", "is for --orbit geo"));
    }
    if name == "geo" {
        let slot = match slot {
            Some(longitude) => {
                GeoSlot::new(longitude).map_err(|e| Error::setting("slot", e.to_string()))?
            }
            None => GeoSlot::between(from, to),
        };
        let east = slot.longitude();
        let (degrees, side) = (east.abs(), if east < 0.0 { "W" } else { "E" });
        return Ok(Sky {
            constellation: Constellation::geo(&[slot]),
            mask: Angle::ZERO,
            mode: Mode::BentPipe,
            what: format!("a geostationary satellite at {degrees:.1} {side}"),
        });
    }
    if let Some(preset) = bentpipe_orbit::preset(name) {
        return Ok(Sky {
            mask: preset.mask,
            mode: Mode::Isl,
            what: format!("{name} with links between satellites"),
            constellation: preset.constellation,
        });
    }
    let file = Path::new(name);
    if file.extension().is_none() && !file.exists() {
        let known = PRESETS.join(", ");
        let why = format!("{name} does not exist: expected geo, {known} or a file of TLE or OMM");
        return Err(Error::setting("orbit", why));
    }
    let catalogue = Catalogue::parse(&input::text(file)?)
        .map_err(|e| Error::setting("orbit", format!("{name}: {e}")))?;
    let (start, count) = (catalogue.latest_epoch(), catalogue.len());
    Ok(Sky {
        what: format!("{count} satellites of {name} without links between them, from {start} on"),
        constellation: Constellation::elements(catalogue, start),
        mask: Angle::from_degrees(MASK),
        mode: Mode::BentPipe,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slot_of_a_geo_orbit_is_midway_unless_given() {
        let [from, to] = ["40.9,-73.9", "37.8,-122.4"].map(|place| place.parse().unwrap());
        let what = |slot| sky("geo", slot, from, to).unwrap().what;
        assert_eq!(what(None), "a geostationary satellite at 98.2 W");
        assert_eq!(what(Some(-95.0)), "a geostationary satellite at 95.0 W");
        let wrong = sky("iridium", Some(1.0), from, to).err().unwrap();
        assert_eq!(wrong.to_string(), "`slot` is for --orbit geo");
    }
}
