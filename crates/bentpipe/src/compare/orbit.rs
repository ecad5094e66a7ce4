//! The satellites that a download goes over, in the place of a fixed round-trip
//! time.
//!
//! The whole path from place to place is one link per direction: its delay
//! follows the satellites, a route number tells paths apart, and it is down
//! while there is no path. The rate is that of the comparison: access to the
//! satellite limits it, not links between satellites.

use super::profile::{LinkProfile, ProfileKind, WITHOUT_PATH};
use super::trace::lasting;
use crate::{Error, input};
use bentpipe_link::slots::presets::{self, SlotPreset};
use bentpipe_link::{InFlightPolicy, Timeline};
use bentpipe_orbit::{
    Angle, Catalogue, Constellation, GeoSlot, IslRules, Mode, PRESETS, Pattern, Settings, Site,
    Terminal,
};
use bentpipe_scenario::pair_timeline;
use bentpipe_units::{Bytes, Duration, Rate};
use std::path::Path;

/// Runs begin within this time unless it is said otherwise.
pub(super) const HOUR: Duration = Duration::from_secs(3_600);

/// The longest time that runs may begin within.
pub(super) const LONGEST: Duration = Duration::from_secs(7 * 24 * 3_600);

/// Orbits of Starlink's satellites: the name, and the preset of the slots that are added to what
/// the geometry gives, which is the lower bound of the delay. The geometry has the links between
/// satellites, so that only `starlink-2023` adds the levels of delay that were measured over them.
const STARLINK: [(&str, Option<&str>); 3] = [
    ("starlink", Some("starlink-2023-near")),
    ("starlink-2023", Some("starlink-2023")),
    ("starlink-geometry", None),
];

/// The orbits that have a name, `geo` first.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    let [_, more @ ..] = STARLINK.map(|(name, _)| name);
    ["geo"].into_iter().chain(PRESETS).chain(more)
}

/// Elevation mask of satellites from a file, degrees.
const MASK: f64 = 10.0;

/// Terminals use a geostationary satellite that stands higher than this, degrees.
const GEO_MASK: f64 = 5.0;

/// Degrees of latitude beyond which satellites of a star from a file are linked
/// in their planes alone: ns-2's for Iridium.
const STAR_LATITUDE: f64 = 60.0;

/// Satellites and the two places that they join.
#[derive(Clone, Debug, PartialEq)]
pub struct Orbit {
    pub(super) name: String,
    pub(super) from: Site,
    pub(super) to: Site,
    pub(super) slot: Option<f64>,
}

/// What an orbit needs from the rest of the comparison.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rest {
    /// Towards the receiver; the satellites' or the default unless it is given.
    pub(super) rate: Option<Rate>,
    pub(super) return_rate: Option<Rate>,
    /// Bytes of a run.
    pub(super) volume: Bytes,
    /// Within which runs begin.
    pub(super) over: Option<Duration>,
}

impl Orbit {
    /// The satellites called `name` between the server's place and the users':
    /// `geo`, `iridium`, `teledesic`, `starlink` or a file of TLE or OMM. Over `starlink` the path
    /// changes every 15 s and its delay varies, as was measured; over `starlink-2023` it has the
    /// levels of delay of the measured paths as well, over `starlink-geometry` neither.
    #[must_use]
    pub fn new(name: impl Into<String>, from: impl Into<Site>, to: impl Into<Site>) -> Orbit {
        Orbit {
            name: name.into(),
            from: from.into(),
            to: to.into(),
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

    /// The profile of the link, and its rates.
    pub(super) fn profile(
        &self,
        default: Rate,
        rest: Rest,
    ) -> Result<(LinkProfile, [Rate; 2]), Error> {
        let (name, from, to) = (&self.name, &self.from, &self.to);
        let sky = self.sky()?;
        let rates = sky.rates(default, rest);
        let terminals = [from, to].map(|site| Terminal {
            place: site.place(),
            mask: sky.mask,
        });
        let span = rest.over.unwrap_or(HOUR);
        // A run that begins at the end of it sees satellites as well.
        let needed = rates[0].transmission_time(rest.volume) * 20;
        let settings = Settings {
            duration: span + needed.max(Duration::from_secs(600)).min(HOUR * 6),
            mode: sky.mode,
            ..Settings::default()
        };
        let plan = bentpipe_orbit::plan(&sky.constellation, &terminals, &[(0, 1)], &settings)
            .map_err(|e| Error::setting("orbit", format!("{name}: {e}")))?;
        let line = |rate| {
            let (down, flight) = (WITHOUT_PATH, InFlightPolicy::Delivered);
            pair_timeline(&plan, 0, rate, down, flight)
        };
        let (Some(forth), Some(back)) = (line(rates[0]), line(rates[1])) else {
            let length = lasting(settings.duration);
            let why = match sky.mode {
                Mode::BentPipe => format!(
                    "{name}: no satellite stands above {:.0} deg over both {from} and {to} at any \
                     time in {length}{}",
                    sky.mask.degrees(),
                    sky.unlinked()
                ),
                Mode::Isl => format!(
                    "{name}: no path joins {from} and {to} at any time in {length}: one of them \
                     has no satellite above {:.0} deg",
                    sky.mask.degrees()
                ),
            };
            return Err(Error::setting("orbit", why));
        };
        // It begins again after its end, which runs do not reach.
        let lines = [forth, back].map(|line| again(line, settings.duration));
        let text = format!("{} from {from} to {to}", sky.what);
        let mut profile = LinkProfile::of(ProfileKind::Orbit, name, text, lines, span);
        profile.notes.extend(sky.note);
        // While there is a path; the mean over outages says less.
        profile.rate = rates[0];
        if let Some(slots) = sky.slots {
            profile = profile.with_slots(slots);
        }
        Ok((profile.check("orbit")?, rates))
    }

    fn sky(&self) -> Result<Sky, Error> {
        let (name, slot) = (self.name.as_str(), self.slot);
        if name != "geo" && slot.is_some() {
            return Err(Error::setting("slot", "is for --orbit geo"));
        }
        if name == "geo" {
            return self.geo(slot);
        }
        let of_starlink = STARLINK.iter().find(|(known, _)| *known == name);
        let geometry = of_starlink.map_or(name, |_| "starlink");
        let slots = of_starlink.and_then(|(_, slots)| presets::preset((*slots)?));
        if let Some(preset) = bentpipe_orbit::preset(geometry) {
            let note = slots.as_ref().map(|slots| {
                let every = slots.slots.every;
                format!(
                    "Every {every} the path is another one, with a delay above that of the \
                     geometry, and within a slot the delay varies: fitted to {}. \
                     `--orbit starlink-geometry` is without.",
                    slots.source
                )
            });
            return Ok(Sky {
                slots,
                mask: preset.mask,
                mode: Mode::Isl,
                what: format!("{name} with links between satellites"),
                constellation: preset.constellation,
                rates: Some([preset.down_rate, preset.up_rate]),
                note,
            });
        }
        let file = Path::new(name);
        if file.extension().is_none() && !file.exists() {
            let near = bentpipe_units::nearest(name, names());
            let known = names().skip(1).collect::<Vec<_>>().join(", ");
            let near = near.map_or_else(String::new, |near| format!("; did you mean {near}?"));
            let why = format!(
                "{name} does not exist: expected geo, {known} or a file of TLE or OMM{near}"
            );
            return Err(Error::setting("orbit", why));
        }
        let catalogue = Catalogue::parse(&input::text_beside(file)?)
            .map_err(|e| Error::setting("orbit", format!("{name}: {e}")))?;
        Ok(of_file(name, catalogue))
    }

    /// One satellite over the equator, which both places must see.
    fn geo(&self, longitude: Option<f64>) -> Result<Sky, Error> {
        let places = [&self.from, &self.to];
        let slot = match longitude {
            Some(longitude) => {
                GeoSlot::new(longitude).map_err(|e| Error::setting("slot", e.to_string()))?
            }
            None => GeoSlot::between(self.from.place(), self.to.place()),
        };
        let elevation = |slot: GeoSlot, site: &Site| slot.elevation(site.place()).degrees();
        let lowest = |slot: GeoSlot| {
            let all = places.map(|site| elevation(slot, site));
            all[0].min(all[1])
        };
        if lowest(slot) < GEO_MASK {
            let low = match elevation(slot, places[0]) < elevation(slot, places[1]) {
                true => places[0],
                false => places[1],
            };
            let angle = elevation(slot, low);
            let stands = match angle < 0.0 {
                true => format!("{:.1} deg below the horizon", -angle),
                false => format!("only {angle:.1} deg above the horizon"),
            };
            let best = (-180..180)
                .filter_map(|longitude| GeoSlot::new(f64::from(longitude)).ok())
                .max_by(|a, b| lowest(*a).total_cmp(&lowest(*b)));
            let advice = match best.filter(|best| lowest(*best) >= GEO_MASK) {
                Some(best) => format!(
                    "--slot {:.0} gives both at least {:.1} deg",
                    best.longitude(),
                    lowest(best)
                ),
                None => "no slot serves both places".to_owned(),
            };
            let setting = if longitude.is_some() { "slot" } else { "orbit" };
            let why = format!(
                "geo: the satellite at {} stands {stands} of {low}, and a terminal needs \
                 {GEO_MASK:.0}: {advice}",
                degrees(slot)
            );
            return Err(Error::setting(setting, why));
        }
        Ok(Sky {
            constellation: Constellation::geo(&[slot]),
            mask: Angle::from_degrees(GEO_MASK),
            mode: Mode::BentPipe,
            what: format!("a geostationary satellite at {}", degrees(slot)),
            rates: None,
            note: None,
            slots: None,
        })
    }
}

/// `98.2 W`.
fn degrees(slot: GeoSlot) -> String {
    let east = slot.longitude();
    let side = if east < 0.0 { "W" } else { "E" };
    format!("{:.1} {side}", east.abs())
}

/// The satellites of a file: with links between them if they form a grid.
fn of_file(name: &str, catalogue: Catalogue) -> Sky {
    let (start, count) = (catalogue.latest_epoch(), catalogue.len());
    let plain = Constellation::elements(catalogue, start);
    let rules = |latitude: Option<f64>| IslRules {
        latitude: latitude.map(Angle::from_degrees),
        ..IslRules::NONE
    };
    let mask = Angle::from_degrees(MASK);
    let linked = plain.clone().with_grid(rules(None)).and_then(|(c, grid)| {
        // A star's planes cross near the poles.
        match grid.pattern {
            Pattern::Star => plain.clone().with_grid(rules(Some(STAR_LATITUDE))),
            Pattern::Delta => Ok((c, grid)),
        }
    });
    match linked {
        Ok((constellation, grid)) => Sky {
            constellation,
            mask,
            mode: Mode::Isl,
            what: format!("{count} satellites of {name} with links between them"),
            rates: None,
            slots: None,
            note: Some(format!(
                "The satellites of {name} form a grid, {grid}, and are taken to have links to \
                 their neighbours in it."
            )),
        },
        Err(why) => Sky {
            constellation: plain,
            mask,
            mode: Mode::BentPipe,
            what: format!("{count} satellites of {name} without links between them"),
            rates: None,
            slots: None,
            note: Some(format!(
                "The satellites of {name} are not linked, since they form no grid: {why}."
            )),
        },
    }
}

/// A plan's timeline, which begins again when the plan ends.
fn again(line: Timeline, after: Duration) -> Timeline {
    let same = line.clone();
    line.repeating(after).unwrap_or(same)
}

/// A constellation with the settings that go with it.
struct Sky {
    constellation: Constellation,
    mask: Angle,
    mode: Mode,
    /// In words.
    what: String,
    /// To a terminal and from it, where the constellation says so.
    rates: Option<[Rate; 2]>,
    /// A sentence on what was found in a file.
    note: Option<String>,
    /// Slots on top of the geometry.
    slots: Option<SlotPreset>,
}

impl Sky {
    fn rates(&self, default: Rate, rest: Rest) -> [Rate; 2] {
        let rate = rest.rate.or(self.rates.map(|r| r[0])).unwrap_or(default);
        let fifth = Rate::from_bps((rate.bps() / 5).max(1));
        // The constellation's own uplink goes with its own downlink.
        let own = self.rates.filter(|_| rest.rate.is_none()).map(|r| r[1]);
        [rate, rest.return_rate.or(own).unwrap_or(fifth)]
    }

    /// Why a file's satellites are without links, for an error.
    fn unlinked(&self) -> String {
        match &self.note {
            Some(note) => format!(". {}", note.trim_end_matches('.')),
            None => String::new(),
        }
    }
}

#[cfg(test)]
#[path = "orbit_tests.rs"]
mod tests;
