//! Angles, distances and places on the ground.

use core::fmt;
use core::str::FromStr;

use bentpipe_units::Duration;

use crate::constants::LIGHT_KM_PER_S;

/// An angle; degrees outside, radians inside.
#[derive(Clone, Copy, PartialEq, PartialOrd, Default)]
pub struct Angle(f64);

impl Angle {
    /// 0 degrees.
    pub const ZERO: Angle = Angle(0.0);

    /// An angle of `degrees`.
    #[must_use]
    pub fn from_degrees(degrees: f64) -> Angle {
        Angle(degrees * (core::f64::consts::PI / 180.0))
    }

    /// An angle of `radians`.
    #[must_use]
    pub const fn from_radians(radians: f64) -> Angle {
        Angle(radians)
    }

    /// Value in degrees.
    #[must_use]
    pub fn degrees(self) -> f64 {
        self.0 * (180.0 / core::f64::consts::PI)
    }

    /// Value in radians.
    #[must_use]
    pub const fn radians(self) -> f64 {
        self.0
    }
}

impl fmt::Debug for Angle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.4} deg", self.degrees())
    }
}

/// A length, in kilometres.
#[derive(Clone, Copy, PartialEq, PartialOrd, Default)]
pub struct Distance(f64);

impl Distance {
    /// A length of `km` kilometres.
    #[must_use]
    pub const fn from_km(km: f64) -> Distance {
        Distance(km)
    }

    /// Value in kilometres.
    #[must_use]
    pub const fn km(self) -> f64 {
        self.0
    }

    /// How long light takes over it, one way, to the nearest nanosecond.
    #[must_use]
    pub fn one_way_delay(self) -> Duration {
        Duration::from_secs_f64(self.0 / LIGHT_KM_PER_S)
    }
}

impl fmt::Debug for Distance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3} km", self.0)
    }
}

/// A place on the ground, at altitude 0: latitude from -90 (south) to 90,
/// longitude from -180 (west) to 180, both in degrees.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Place {
    latitude: f64,
    longitude: f64,
}

/// Why a text or a pair of numbers is no [`Place`].
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum PlaceError {
    /// Beyond a pole, or not a number.
    #[error("latitude {0} is not between -90 and 90 degrees")]
    Latitude(f64),
    /// More than half a turn, or not a number.
    #[error("longitude {0} is not between -180 and 180 degrees")]
    Longitude(f64),
    /// The text does not consist of two numbers.
    #[error("`{0}` is not a place: expected LATITUDE,LONGITUDE in degrees, such as 37.9,-122.3")]
    Form(String),
}

impl Place {
    /// The place at `latitude` and `longitude`, in degrees.
    ///
    /// # Errors
    /// If either is out of its range or not a number.
    pub fn new(latitude: f64, longitude: f64) -> Result<Place, PlaceError> {
        if !(-90.0..=90.0).contains(&latitude) {
            return Err(PlaceError::Latitude(latitude));
        }
        if !(-180.0..=180.0).contains(&longitude) {
            return Err(PlaceError::Longitude(longitude));
        }
        Ok(Place {
            latitude,
            longitude,
        })
    }

    /// Degrees north of the equator.
    #[must_use]
    pub const fn latitude(self) -> f64 {
        self.latitude
    }

    /// Degrees east of Greenwich.
    #[must_use]
    pub const fn longitude(self) -> f64 {
        self.longitude
    }
}

impl FromStr for Place {
    type Err = PlaceError;

    /// `37.9,-122.3`: latitude, comma, longitude.
    fn from_str(text: &str) -> Result<Place, PlaceError> {
        let form = || PlaceError::Form(text.to_owned());
        let (latitude, longitude) = text.split_once(',').ok_or_else(form)?;
        let number = |part: &str| part.trim().parse::<f64>().map_err(|_| form());
        Place::new(number(latitude)?, number(longitude)?)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{},{}", self.latitude, self.longitude)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_read_and_printed() {
        let berkeley: Place = "37.9, -122.3".parse().unwrap();
        assert_eq!(berkeley, Place::new(37.9, -122.3).unwrap());
        assert_eq!(berkeley.to_string(), "37.9,-122.3");
    }

    #[test]
    fn what_is_no_place_says_why() {
        let message = |text: &str| text.parse::<Place>().unwrap_err().to_string();
        assert_eq!(
            message("91,0"),
            "latitude 91 is not between -90 and 90 degrees"
        );
        assert_eq!(
            message("0,200"),
            "longitude 200 is not between -180 and 180 degrees"
        );
        assert!(message("here").contains("expected LATITUDE,LONGITUDE"));
        assert!(message("nan,0").contains("latitude NaN"));
    }
}
