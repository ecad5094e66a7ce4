//! A place as the user gave it: by name or in degrees.

use super::{LookupError, find};
use crate::quantity::{Place, PlaceError};
use core::fmt;
use core::str::FromStr;

/// A place, and its name if it was given by name.
#[derive(Clone, PartialEq, Debug)]
pub struct Site {
    place: Place,
    name: Option<String>,
}

/// Why a text is no [`Site`].
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum SiteError {
    /// Degrees that are none.
    #[error(transparent)]
    Degrees(#[from] PlaceError),
    /// A name that is no place.
    #[error(transparent)]
    Name(#[from] LookupError),
}

impl Site {
    /// Latitude and longitude.
    #[must_use]
    pub const fn place(&self) -> Place {
        self.place
    }

    /// Its name, such as `Berlin, Germany`.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }
}

impl From<Place> for Site {
    fn from(place: Place) -> Site {
        Site { place, name: None }
    }
}

impl FromStr for Site {
    type Err = SiteError;

    /// `37.9,-122.3`, or a name as [`find`] takes it. A text with digits and
    /// without letters is in degrees.
    fn from_str(text: &str) -> Result<Site, SiteError> {
        let letters = text.chars().any(char::is_alphabetic);
        if !letters && text.contains(|c: char| c.is_ascii_digit()) {
            return Ok(Site::from(text.parse::<Place>()?));
        }
        let city = find(text)?;
        Ok(Site {
            place: city.place,
            name: Some(city.to_string()),
        })
    }
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => f.write_str(name),
            None => self.place.fmt(f),
        }
    }
}
