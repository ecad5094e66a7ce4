//! Constellations of satellites, as a file describes them.

use super::queues::{self, Queue};
use super::value::Read;
use super::{Fields, links};
use crate::diagnostic::{Diagnostic, Errors, Reported};
use crate::schema;
use crate::source::Place;
use crate::tree::{Entry, Value};
use bentpipe_link::{ChannelSettings, InFlightPolicy, WhenDown};
use bentpipe_orbit::{
    Angle, Catalogue, Constellation, Distance, GeoSlot, IslRules, Mesh, Mode, Pattern, Policy,
    Preset, Settings, Shell, Utc, Walker,
};
use bentpipe_units::{Duration, Rate};

/// A constellation, and what its links are like.
pub(super) struct Sky<'a> {
    pub(super) name: &'a str,
    pub(super) place: Place,
    /// For messages about it.
    pub(super) fields: Fields<'a>,
    pub(super) constellation: Constellation,
    /// Of terminals that say nothing.
    pub(super) mask: Angle,
    pub(super) up_rate: Rate,
    pub(super) down_rate: Rate,
    pub(super) isl_rate: Rate,
    pub(super) queue: (Queue, Place),
    pub(super) channel: ChannelSettings,
    pub(super) settings: Settings,
    pub(super) when_down: WhenDown,
    pub(super) in_flight: InFlightPolicy,
}

/// The constellations of a scenario.
pub(super) struct Skies<'a> {
    pub(super) skies: Vec<Sky<'a>>,
    /// Names in the file, good or bad.
    pub(super) names: Vec<&'a str>,
    /// False where one could not be read.
    pub(super) complete: bool,
}

pub(super) fn read<'a>(
    top: &Fields<'a>,
    files: &Errors,
    duration: Option<Duration>,
    seed: u64,
) -> Skies<'a> {
    let mut read = Skies {
        skies: Vec::new(),
        names: Vec::new(),
        complete: true,
    };
    let Ok(tables) = top.tables("constellation") else {
        read.complete = false;
        return read;
    };
    for (entry, _) in tables {
        read.names.push(&entry.key);
        match sky(top, entry, files, duration, seed) {
            Ok(sky) => read.skies.push(sky),
            Err(_) => read.complete = false,
        }
    }
    read
}

/// The value of a key that not every kind has.
fn maybe<T: Read>(fields: &Fields<'_>, name: &str) -> Result<Option<T>, Reported> {
    match fields.section.key(name) {
        Some(_) => fields.optional(name),
        None => Ok(None),
    }
}

fn maybe_word(fields: &Fields<'_>, name: &str) -> Result<Option<&'static str>, Reported> {
    match fields.section.key(name) {
        Some(_) => fields.optional_word(name),
        None => Ok(None),
    }
}

fn sky<'a>(
    top: &Fields<'a>,
    entry: &'a Entry,
    files: &Errors,
    duration: Option<Duration>,
    seed: u64,
) -> Result<Sky<'a>, Reported> {
    let mut fields = top.kind(entry, &schema::CONSTELLATIONS, "constellation")?;
    fields.what = format!("constellation `{}`", entry.key);
    let stars = stars(&fields, files);
    let mask = fields.optional::<f64>("mask");
    let rate = |name: &str, preset: Option<Rate>| match preset {
        Some(rate) => fields.optional(name).map(|r| r.unwrap_or(rate)),
        None => fields.required(name),
    };
    let preset = stars.as_ref().ok().and_then(|s| s.preset.as_ref());
    let (up, down) = match &stars {
        Ok(_) => (
            rate("up_rate", preset.map(|p| p.up_rate)),
            rate("down_rate", preset.map(|p| p.down_rate)),
        ),
        Err(_) => (fields.optional("up_rate").map(Option::unwrap_or_default), {
            fields.optional("down_rate").map(Option::unwrap_or_default)
        }),
    };
    let isl_rate = maybe::<Rate>(&fields, "isl_rate");
    let isl = maybe::<bool>(&fields, "isl");
    let queue = fields
        .entry("queue")
        .map(|entry| queues::read(&fields, entry))
        .transpose();
    let channel = fields
        .entry("channel")
        .map(|entry| links::channel(&fields, entry))
        .transpose();
    let handover = maybe_word(&fields, "handover");
    let search = maybe::<Duration>(&fields, "search");
    let jitter = maybe::<bool>(&fields, "jitter");
    let when_down = maybe_word(&fields, "when_down");
    let in_flight = maybe_word(&fields, "in_flight");
    let stars = stars?;
    let isl = isl?.unwrap_or(stars.linked);
    if isl && stars.constellation.isls().is_empty() {
        let place = fields.entry("isl").map_or(fields.at, |e| e.item.place);
        let message = format!("{} has no links between satellites", fields.what);
        let error = Diagnostic::new(place, message).label("expected `isl = false`");
        let error = error.help("name them in a file with `links`, or let satellites repeat");
        return Err(fields.errors.report(error));
    }
    let search = search?.unwrap_or(Duration::from_secs(10));
    let up_rate = up?;
    let preset = stars.preset.as_ref();
    Ok(Sky {
        name: &entry.key,
        place: entry.key_place,
        mask: Angle::from_degrees(mask?.unwrap_or(stars.mask)),
        up_rate,
        down_rate: down?,
        isl_rate: isl_rate?.unwrap_or(preset.map_or(up_rate, |p| p.isl_rate)),
        queue: queue?.unwrap_or((queues::FIFTY, fields.at)),
        channel: channel?.unwrap_or(ChannelSettings::Perfect),
        settings: Settings {
            duration: duration.unwrap_or(Duration::from_secs(1)),
            mode: if isl { Mode::Isl } else { Mode::BentPipe },
            policy: handover?.map_or(Policy::Keep, |word| word.parse().unwrap_or_default()),
            search,
            jitter: jitter?.unwrap_or(false).then_some(seed),
            isl_check: search,
        },
        when_down: match when_down? {
            Some("waits") => WhenDown::Waits,
            _ => WhenDown::Lost,
        },
        in_flight: match in_flight? {
            Some("lost") => InFlightPolicy::Lost,
            _ => InFlightPolicy::Delivered,
        },
        constellation: stars.constellation,
        fields,
    })
}

/// The satellites of a kind, and what holds where the file says nothing.
struct Stars {
    constellation: Constellation,
    /// Degrees.
    mask: f64,
    linked: bool,
    preset: Option<Preset>,
}

fn stars(fields: &Fields<'_>, files: &Errors) -> Result<Stars, Reported> {
    let own = |constellation, mask, linked| Stars {
        constellation,
        mask,
        linked,
        preset: None,
    };
    let preset = match fields.section.kind {
        Some("geo") => {
            let longitude: f64 = fields.required("longitude")?;
            let slot = GeoSlot::new(longitude).map_err(|e| wrong(fields, "longitude", e))?;
            return Ok(own(Constellation::geo(&[slot]), 0.0, false));
        }
        Some("walker") => return Ok(own(walker(fields)?, 10.0, true)),
        Some("elements") => {
            let constellation = elements(fields, files)?;
            let linked = !constellation.isls().is_empty();
            return Ok(own(constellation, 10.0, linked));
        }
        Some("teledesic") => {
            let stagger = fields.optional::<f64>("stagger")?.unwrap_or(7.5);
            bentpipe_orbit::teledesic(Angle::from_degrees(stagger))
        }
        Some("starlink") => bentpipe_orbit::starlink(),
        _ => bentpipe_orbit::iridium(),
    };
    Ok(Stars {
        constellation: preset.constellation.clone(),
        mask: preset.mask.degrees(),
        linked: true,
        preset: Some(preset),
    })
}

/// The error that the value of a key makes no constellation.
fn wrong(fields: &Fields<'_>, key: &str, why: impl ToString) -> Reported {
    let place = fields.entry(key).map_or(fields.at, |e| e.item.place);
    let error = Diagnostic::new(place, format!("`{key}`: {}", why.to_string()));
    fields.errors.report(error)
}

fn walker(fields: &Fields<'_>) -> Result<Constellation, Reported> {
    let pattern = fields.required::<String>("pattern");
    let altitude = fields.required::<f64>("altitude_km");
    let shape = fields.optional_word("shape");
    let latitude = fields.optional::<f64>("isl_latitude");
    let walker: Walker = pattern?.parse().map_err(|e| wrong(fields, "pattern", e))?;
    let shape = match shape? {
        Some("star") => Pattern::Star,
        _ => Pattern::Delta,
    };
    let altitude = Distance::from_km(altitude?);
    let shell = Shell::walker(walker, altitude, shape).map_err(|e| wrong(fields, "pattern", e))?;
    let rules = IslRules {
        latitude: latitude?.map(Angle::from_degrees),
        ..IslRules::NONE
    };
    Ok(Constellation::shell(shell, Mesh::GRID, rules))
}

fn elements(fields: &Fields<'_>, files: &Errors) -> Result<Constellation, Reported> {
    let text = |key: &str| -> Result<Option<&str>, Reported> {
        let Some(entry) = fields.entry(key) else {
            return Ok(None);
        };
        let Value::Text(name) = &entry.item.value else {
            // Says that it is no text.
            fields.optional::<String>(key)?;
            return Ok(None);
        };
        match files.origin().files.get(name) {
            Some(text) => Ok(Some(text)),
            None => {
                let why = format!("there is no text of the file `{name}`");
                Err(wrong(fields, key, why))
            }
        }
    };
    let (file, links) = (text("file"), text("links"));
    let start = fields.optional::<String>("start");
    let Some(file) = file? else {
        return Err(fields.missing("file"));
    };
    let catalogue = Catalogue::parse(file).map_err(|e| wrong(fields, "file", e))?;
    let start: Utc = match start? {
        Some(start) => start.parse().map_err(|e| wrong(fields, "start", e))?,
        None => catalogue.latest_epoch(),
    };
    let constellation = Constellation::elements(catalogue, start);
    match links? {
        Some(links) => constellation
            .with_links(links)
            .map_err(|e| wrong(fields, "links", e)),
        None => Ok(constellation),
    }
}
