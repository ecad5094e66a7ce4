//! Files of orbital elements: TLE, 2LE and OMM.
//!
//! TLE: NORAD's two-line elements, each pair with or without a line of the name before it, blank
//! lines and lines that begin with `#` passed over. A first line of two numbers, planes and
//! satellites in each, is Hypatia's `tles.txt`: it gives the satellites of each plane. OMM: CCSDS
//! 502.0-B-3 orbit mean-elements messages as JSON (one or a list), CSV with a line of the names
//! (CelesTrak's) or KVN. The first characters of a text determine its format. Elements go through
//! SGP4 (the `sgp4` crate).

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use bentpipe_units::math::cbrt;

use crate::constants::{EARTH_RADIUS_KM, MU_KM3_PER_S2};
use crate::epoch::Utc;
use crate::grid::{ALTITUDE_KM, INCLINATION};
use crate::quantity::{Angle, Distance};

/// Satellites read from a file.
#[derive(Clone, Debug)]
pub struct Catalogue {
    pub(crate) entries: Vec<Entry>,
    /// Planes and satellites in each, if the file states them.
    pub(crate) planes: Option<(u32, u32)>,
}

/// One satellite.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) epoch: Utc,
    pub(crate) constants: sgp4::Constants,
    /// Inclination, degrees.
    pub(crate) inclination: f64,
    /// Mean, km above the ground.
    pub(crate) altitude_km: f64,
    pub(crate) eccentricity: f64,
}

/// What is wrong with a file of elements, and where.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct CatalogueError {
    /// Line number, counted from 1.
    pub line: usize,
    /// What is wrong and what was expected.
    pub what: String,
}

/// The most satellites that are read from a file.
pub const MAX_ENTRIES: usize = 100_000;

impl Catalogue {
    /// Reads `text`, TLE or OMM.
    ///
    /// # Errors
    /// The first thing that is wrong, with its line.
    pub fn parse(text: &str) -> Result<Catalogue, CatalogueError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let start = text.trim_start();
        let catalogue = if start.starts_with(['[', '{']) {
            json(text)
        } else if start.starts_with("CCSDS_OMM_VERS") {
            key_values(text)
        } else if start.lines().next().is_some_and(is_csv_header) {
            csv(text)
        } else {
            tle(text)
        }?;
        if catalogue.entries.is_empty() {
            let what = "no satellites: expected TLE lines or an OMM as JSON, CSV or KVN";
            return Err(error(1, what));
        }
        Ok(catalogue)
    }

    /// Number of satellites.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// False for a catalogue that was read, before [`Catalogue::only`].
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The latest instant for which any of the elements were made: the natural
    /// time 0 of a run.
    #[must_use]
    pub fn latest_epoch(&self) -> Utc {
        let epochs = self.entries.iter().map(|entry| entry.epoch);
        epochs.max().unwrap_or(Utc::from_unix_nanos(0))
    }

    /// The satellites' names, in the order of the file.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|entry| entry.name.as_str())
    }

    /// The shells that the satellites belong to, the largest first: how many,
    /// mean inclination in degrees and mean altitude in km. Those of a shell are
    /// less than a degree and 25 km from their neighbours.
    #[must_use]
    pub fn shells(&self) -> Vec<(usize, f64, f64)> {
        crate::grid::shells_of(&self.entries)
    }

    /// Only the satellites within a degree of `inclination` and within 25 km of
    /// `altitude`; either may be left out. None may be left.
    #[must_use]
    pub fn only(mut self, inclination: Option<Angle>, altitude: Option<Distance>) -> Catalogue {
        let all = self.entries.len();
        self.entries.retain(|entry| {
            inclination.is_none_or(|i| (entry.inclination - i.degrees()).abs() <= INCLINATION)
                && altitude.is_none_or(|a| (entry.altitude_km - a.km()).abs() <= ALTITUDE_KM)
        });
        if self.entries.len() != all {
            self.planes = None;
        }
        self
    }

    fn push(&mut self, elements: &sgp4::Elements, line: usize) -> Result<(), CatalogueError> {
        if self.entries.len() == MAX_ENTRIES {
            return Err(error(line, format!("more than {MAX_ENTRIES} satellites")));
        }
        let name = match &elements.object_name {
            Some(name) if !name.trim().is_empty() => name.trim().to_owned(),
            _ => elements.norad_id.to_string(),
        };
        let epoch = elements.datetime.and_utc().timestamp_nanos_opt();
        let epoch = epoch.ok_or_else(|| {
            let what = format!("epoch {} of `{name}` is too far away", elements.datetime);
            error(line, what)
        })?;
        let constants = sgp4::Constants::from_elements(elements)
            .map_err(|e| error(line, format!("the elements of `{name}` are no orbit: {e}")))?;
        // Turns a day to the half axis: Kepler's third law.
        let radians = elements.mean_motion * 2.0 * core::f64::consts::PI / 86_400.0;
        let axis = cbrt(MU_KM3_PER_S2 / (radians * radians));
        self.entries.push(Entry {
            name,
            epoch: Utc::from_unix_nanos(epoch),
            constants,
            inclination: elements.inclination,
            altitude_km: axis - EARTH_RADIUS_KM,
            eccentricity: elements.eccentricity,
        });
        Ok(())
    }

    const fn empty() -> Catalogue {
        Catalogue {
            entries: Vec::new(),
            planes: None,
        }
    }
}

fn error(line: usize, what: impl Into<String>) -> CatalogueError {
    CatalogueError {
        line,
        what: what.into(),
    }
}

/// The lines that say something, with their numbers.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let numbered = text.lines().enumerate();
    numbered
        .map(|(i, line)| (i + 1, line.trim_end()))
        .filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'))
}

fn tle(text: &str) -> Result<Catalogue, CatalogueError> {
    let mut catalogue = Catalogue::empty();
    let mut lines = lines(text).peekable();
    if let Some(planes) = lines.peek().and_then(|(_, line)| hypatia_header(line)) {
        catalogue.planes = Some(planes);
        lines.next();
    }
    while let Some((number, line)) = lines.next() {
        let (name, (one_at, one)) = if line.starts_with("1 ") {
            (None, (number, line))
        } else if line.starts_with("2 ") {
            return Err(error(number, "a second line of a TLE without a first one"));
        } else {
            let name = line.strip_prefix("0 ").unwrap_or(line).trim();
            let first = lines.next().filter(|(_, line)| line.starts_with("1 "));
            let first = first.ok_or_else(|| {
                let what = format!("`{name}` is no line of a TLE, nor a name with one after it: expected a line that begins with `1 `");
                error(number, what)
            })?;
            (Some(name.to_owned()), first)
        };
        check_line(one_at, one)?;
        let (two_at, two) = lines
            .next()
            .filter(|(_, line)| line.starts_with("2 "))
            .ok_or_else(|| error(one_at, "expected a line that begins with `2 ` after it"))?;
        check_line(two_at, two)?;
        let elements =
            sgp4::Elements::from_tle(name, one.as_bytes(), two.as_bytes()).map_err(|e| {
                let what = e.to_string();
                let at = if what.contains("line 2") {
                    two_at
                } else {
                    one_at
                };
                error(at, what)
            })?;
        catalogue.push(&elements, one_at)?;
    }
    if let Some((planes, per_plane)) = catalogue.planes {
        let expected = u64::from(planes) * u64::from(per_plane);
        if expected != catalogue.entries.len() as u64 {
            let found = catalogue.entries.len();
            let what = format!(
                "{planes} planes of {per_plane} are {expected} satellites, but {found} follow"
            );
            return Err(error(1, what));
        }
    }
    Ok(catalogue)
}

fn hypatia_header(line: &str) -> Option<(u32, u32)> {
    let mut words = line.split_whitespace().map(|word| word.parse().ok());
    let header = (words.next()??, words.next()??);
    words.next().is_none().then_some(header)
}

/// What the parser of the library takes for granted, and what it does not say
/// in full.
fn check_line(number: usize, line: &str) -> Result<(), CatalogueError> {
    if !line.is_ascii() {
        return Err(error(number, "a line of a TLE holds ASCII characters only"));
    }
    let bytes = line.as_bytes();
    if bytes.len() != 69 {
        let what = format!(
            "a line of a TLE has 69 characters, this one {}",
            bytes.len()
        );
        return Err(error(number, what));
    }
    let sum: u32 = bytes[..68]
        .iter()
        .map(|b| match b {
            b'0'..=b'9' => u32::from(b - b'0'),
            b'-' => 1,
            _ => 0,
        })
        .sum();
    let stated = char::from(bytes[68]);
    if stated.to_digit(10) != Some(sum % 10) {
        let what = format!(
            "the checksum, character 69, is `{stated}`, expected {}",
            sum % 10
        );
        return Err(error(number, what));
    }
    Ok(())
}

fn json(text: &str) -> Result<Catalogue, CatalogueError> {
    // serde_json finds the end of a file on the line after its last line break.
    let last = text.lines().count().max(1);
    let value: Value = serde_json::from_str(text)
        .map_err(|e| error(e.line().clamp(1, last), format!("not JSON: {e}")))?;
    let records = match value {
        Value::Array(records) => records,
        single => vec![single],
    };
    // serde_json keeps no places in a value: the line is that of the record's
    // name in the text.
    let mut places = text.lines().enumerate().filter_map(|(i, line)| {
        let count = line.matches("\"OBJECT_NAME\"").count();
        (count > 0).then_some(core::iter::repeat_n(i + 1, count))
    });
    let mut current = None;
    let mut catalogue = Catalogue::empty();
    let mut line = 1;
    for (index, record) in records.into_iter().enumerate() {
        let mut next = || loop {
            if current.is_none() {
                current = Some(places.next()?);
            }
            match current.as_mut().and_then(Iterator::next) {
                Some(line) => return Some(line),
                None => current = None,
            }
        };
        line = next().unwrap_or(line);
        let Value::Object(record) = record else {
            let what = format!(
                "record {}: expected an object with the keys of an OMM",
                index + 1
            );
            return Err(error(line, what));
        };
        add_record(&mut catalogue, record, line)?;
    }
    Ok(catalogue)
}

fn is_csv_header(line: &str) -> bool {
    let mut names = line.split(',').map(str::trim);
    line.contains(',') && names.any(|name| name == "MEAN_MOTION")
}

fn csv(text: &str) -> Result<Catalogue, CatalogueError> {
    let mut catalogue = Catalogue::empty();
    let mut lines = lines(text);
    let Some((_, header)) = lines.next() else {
        return Ok(catalogue);
    };
    let names: Vec<&str> = header.split(',').map(str::trim).collect();
    for (number, line) in lines {
        let values: Vec<&str> = line.split(',').map(str::trim).collect();
        if values.len() != names.len() {
            let (want, have) = (names.len(), values.len());
            let what = format!("expected {want} values as in the first line, found {have}");
            return Err(error(number, what));
        }
        let record = names.iter().zip(values);
        let record = record.map(|(name, value)| ((*name).to_owned(), Value::from(value)));
        add_record(&mut catalogue, record.collect(), number)?;
    }
    Ok(catalogue)
}

fn key_values(text: &str) -> Result<Catalogue, CatalogueError> {
    let mut catalogue = Catalogue::empty();
    let mut record: BTreeMap<String, Value> = BTreeMap::new();
    let mut begun = 1;
    for (number, line) in lines(text) {
        let line = line.trim();
        if line.starts_with("COMMENT") {
            continue;
        }
        let Some((key, value)) = line.split_once('=') else {
            return Err(error(number, "expected `KEY = VALUE`"));
        };
        let key = key.trim();
        if key == "CCSDS_OMM_VERS" && !record.is_empty() {
            add_record(
                &mut catalogue,
                core::mem::take(&mut record).into_iter().collect(),
                begun,
            )?;
        }
        if key == "CCSDS_OMM_VERS" {
            begun = number;
        }
        // A unit in brackets may follow a number.
        let value = value.split('[').next().unwrap_or("").trim();
        record.insert(key.to_owned(), Value::from(value));
    }
    if !record.is_empty() {
        add_record(&mut catalogue, record.into_iter().collect(), begun)?;
    }
    Ok(catalogue)
}

fn add_record(
    catalogue: &mut Catalogue,
    mut record: Map<String, Value>,
    line: usize,
) -> Result<(), CatalogueError> {
    // Not needed for the orbit and left out by some writers.
    for (key, value) in [
        ("OBJECT_NAME", Value::Null),
        ("OBJECT_ID", Value::Null),
        ("CLASSIFICATION_TYPE", Value::from("U")),
        ("EPHEMERIS_TYPE", Value::from(0)),
        ("ELEMENT_SET_NO", Value::from(0)),
        ("REV_AT_EPOCH", Value::from(0)),
        ("NORAD_CAT_ID", Value::from(0)),
        ("MEAN_MOTION_DOT", Value::from(0.0)),
        ("MEAN_MOTION_DDOT", Value::from(0.0)),
    ] {
        record.entry(key).or_insert(value);
    }
    if let Some(Value::String(epoch)) = record.get_mut("EPOCH")
        && epoch.ends_with('Z')
    {
        epoch.pop();
    }
    let name = record.get("OBJECT_NAME").and_then(Value::as_str);
    let name = name.unwrap_or("a satellite without a name").to_owned();
    let elements: sgp4::Elements = serde_json::from_value(Value::Object(record))
        .map_err(|e| error(line, format!("OMM of {name}: {e}")))?;
    catalogue.push(&elements, line)
}

#[cfg(test)]
#[path = "catalogue_tests.rs"]
mod tests;
