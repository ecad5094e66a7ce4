//! Places by name: `Berlin`, `London, Canada`, `Portland, Oregon`.
//!
//! The places are Natural Earth's populated places, 10m, version 2.0.0 (public
//! domain): some 7300 cities, towns and stations, packed into `data/places.txt`
//! by `data/natural_earth.py`, with a few English names added there. Positions
//! are those of Natural Earth to a hundredth of a degree, a kilometre or 4 us.
//!
//! A name matches whatever its case, accents and punctuation are (`Sao Paulo`, `st petersburg`).
//! After commas may follow the region and the country, by name or code (`OR`, `US`). If a name fits
//! several places, it means the one with [`DOMINANCE`] times the population of every other;
//! otherwise it is an error that lists them: `Paris` is that of France, `Birmingham` is ambiguous.

mod read;
mod site;

pub use site::{Site, SiteError};

use crate::position::Position;
use crate::quantity::{Distance, Place};
use core::fmt;
use read::{Gazetteer, folded};

/// A name that fits several places means one of them if that has so many times
/// the people of every other.
pub const DOMINANCE: u32 = 10;

/// A place with a name.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct City {
    /// Usual English name.
    pub name: &'static str,
    /// State or province; only where that tells places of one name apart, and
    /// everywhere in Australia, Canada and the United States.
    pub region: Option<&'static str>,
    /// English name of the country.
    pub country: &'static str,
    /// The country's code of two letters (ISO 3166); none for a few territories.
    pub code: Option<&'static str>,
    /// Of the urban area, rounded to thousands.
    pub people: u32,
    /// Latitude and longitude.
    pub place: Place,
}

impl fmt::Display for City {
    /// As one would write it: `Portland, Oregon`, `Berlin, Germany`,
    /// `Washington, D.C.`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.name.contains(',') {
            return f.write_str(self.name);
        }
        write!(f, "{}, {}", self.name, self.region.unwrap_or(self.country))
    }
}

/// Why a name is no place.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum LookupError {
    /// Nothing has this name.
    #[error("unknown place `{name}`{}", meant(.nearest))]
    Unknown {
        /// As it was given.
        name: String,
        /// Names that are almost the same, as one would type them.
        nearest: Vec<String>,
    },
    /// Places have this name, but not where it says.
    #[error("there is no `{name}`; expected {}", either(.there))]
    Elsewhere {
        /// As it was given.
        name: String,
        /// The places of that name, as one would type them.
        there: Vec<String>,
    },
    /// Several places have this name.
    #[error("`{name}` is ambiguous: write {}", either(.candidates))]
    Ambiguous {
        /// As it was given.
        name: String,
        /// The places, as one would type them, the largest first.
        candidates: Vec<String>,
    },
}

/// Candidates in a message, at most.
const SHOWN: usize = 8;

fn meant(names: &[String]) -> String {
    match names {
        [] => ": expected a city, or LATITUDE,LONGITUDE in degrees".to_owned(),
        names => format!(": did you mean {}?", either(names)),
    }
}

/// "`a`, `b` or `c`".
fn either(names: &[String]) -> String {
    let shown = names.len().min(SHOWN);
    let mut text = String::new();
    for (i, name) in names[..shown].iter().enumerate() {
        let before = match i {
            0 => "",
            i if i + 1 == names.len() => " or ",
            _ => ", ",
        };
        text.push_str(&format!("{before}`{name}`"));
    }
    if names.len() > shown {
        text.push_str(&format!(", or one of {} more", names.len() - shown));
    }
    text
}

/// The place that `text` names: a name, and after commas its region or country
/// where that is needed.
///
/// # Errors
/// If nothing has that name, or several places do.
pub fn find(text: &str) -> Result<City, LookupError> {
    let all = Gazetteer::get();
    let name = text.trim().to_owned();
    match meaning(all, text) {
        Meaning::One(index) => Ok(all.city(index)),
        Meaning::Several(found) => Err(LookupError::Ambiguous {
            name,
            candidates: typed(all, &found),
        }),
        Meaning::Elsewhere(there) => Err(LookupError::Elsewhere {
            name,
            there: typed(all, &there),
        }),
        Meaning::Nothing => {
            let first = text.split(',').next().unwrap_or("");
            let nearest = typed(all, &by_people(all, all.nearest(&folded(first))));
            Err(LookupError::Unknown { name, nearest })
        }
    }
}

/// Places whose names begin with `text`, the largest first, at most `most` of them: each as
/// one would type it, so that [`find`] means it. After a comma may follow the beginning of a
/// region or country.
#[must_use]
pub fn complete(text: &str, most: usize) -> Vec<(String, City)> {
    let all = Gazetteer::get();
    let (head, wider) = text.split_once(',').unwrap_or((text, ""));
    let (head, wider) = (folded(head), folded(wider));
    if head.is_empty() {
        return Vec::new();
    }
    let begins = |index: &u32| wider.is_empty() || all.begins_in(*index, &wider);
    let found = all.beginning(&head).filter(begins).collect();
    let mut found = by_people(all, found);
    found.truncate(most);
    let cities = found.iter().map(|index| all.city(*index));
    typed(all, &found).into_iter().zip(cities).collect()
}

/// The largest place within `within` of `place`, as one would type it.
#[must_use]
pub fn near(place: Place, within: Distance) -> Option<(String, City)> {
    let all = Gazetteer::get();
    let here = Position::above(place, Distance::from_km(0.0));
    let is_near = |index: &u32| {
        let there = Position::above(all.city(*index).place, Distance::from_km(0.0));
        here.distance(there).km() <= within.km()
    };
    let largest = all.indices().filter(is_near);
    let largest = largest.max_by_key(|index| all.city(*index).people)?;
    let text = typed(all, &[largest]).pop()?;
    Some((text, all.city(largest)))
}

/// What a text may mean; several are in order of their people.
enum Meaning {
    One(u32),
    Several(Vec<u32>),
    /// Only places of that name in other regions and countries.
    Elsewhere(Vec<u32>),
    Nothing,
}

fn meaning(all: &Gazetteer, text: &str) -> Meaning {
    // Names may hold commas themselves (`Washington, D.C.`): the longest first.
    let parts: Vec<&str> = text.split(',').take(8).collect();
    let mut elsewhere: Vec<u32> = Vec::new();
    for taken in (1..=parts.len().min(3)).rev() {
        let (head, rest) = parts.split_at(taken);
        let named = all.named(&folded(&head.join(" ")));
        let wider: Vec<String> = rest.iter().map(|part| folded(part)).collect();
        let wider: Vec<&String> = wider.iter().filter(|part| !part.is_empty()).collect();
        let there = |index: &&u32| wider.iter().all(|part| all.lies_in(**index, part));
        let found: Vec<u32> = named.iter().filter(there).copied().collect();
        if !found.is_empty() {
            let found = by_people(all, found);
            let people = |i: usize| found.get(i).map(|index| all.city(*index).people.max(1));
            return match (found[0], people(0), people(1)) {
                (one, Some(first), Some(second)) if first >= second.saturating_mul(DOMINANCE) => {
                    Meaning::One(one)
                }
                (one, _, None) => Meaning::One(one),
                _ => Meaning::Several(found),
            };
        }
        elsewhere.extend(named);
    }
    match elsewhere.is_empty() {
        true => Meaning::Nothing,
        false => Meaning::Elsewhere(by_people(all, elsewhere)),
    }
}

/// Each once, the largest first.
fn by_people(all: &Gazetteer, mut found: Vec<u32>) -> Vec<u32> {
    found.sort_unstable();
    found.dedup();
    found.sort_by_key(|index| core::cmp::Reverse(all.city(*index).people));
    found
}

/// For each place the shortest text that means it: its name with region or
/// country, with both, or in degrees.
fn typed(all: &Gazetteer, places: &[u32]) -> Vec<String> {
    let text = |index: &u32| {
        let city = all.city(*index);
        let short = city.to_string();
        let long = format!("{short}, {}", city.country);
        let means = |text: &String| matches!(meaning(all, text), Meaning::One(i) if i == *index);
        let texts = [short, long].into_iter().find(means);
        texts.unwrap_or_else(|| city.place.to_string())
    };
    places.iter().map(text).collect()
}

#[cfg(test)]
#[path = "places/tests.rs"]
mod tests;
