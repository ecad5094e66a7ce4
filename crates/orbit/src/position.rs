//! Points in space, and distances and lines of sight between them.

use bentpipe_units::math::{asin, atan2, cos, sin, sqrt};

use crate::constants::{ATMOSPHERE_MARGIN_KM, EARTH_RADIUS_KM};
use crate::quantity::{Angle, Distance, Place};

/// A point in kilometres from the earth's centre, in the frame that turns with the earth: x through
/// 0 N 0 E, y through 0 N 90 E, z through the north pole. The earth's centre itself represents a
/// missing satellite.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Position {
    /// Towards 0 N 0 E, km.
    pub x: f64,
    /// Towards 0 N 90 E, km.
    pub y: f64,
    /// Towards the north pole, km.
    pub z: f64,
}

impl Position {
    /// The earth's centre: a satellite that is not there.
    pub const CENTRE: Position = Position {
        x: 0.0,
        y: 0.0,
        z: 0.0,
    };

    /// Above `place` by `altitude`.
    #[must_use]
    pub fn above(place: Place, altitude: Distance) -> Position {
        let radius = EARTH_RADIUS_KM + altitude.km();
        let latitude = Angle::from_degrees(place.latitude()).radians();
        let longitude = Angle::from_degrees(place.longitude()).radians();
        Position {
            x: radius * cos(latitude) * cos(longitude),
            y: radius * cos(latitude) * sin(longitude),
            z: radius * sin(latitude),
        }
    }

    pub(crate) fn dot(self, other: Position) -> f64 {
        self.x * other.x + self.y * other.y + self.z * other.z
    }

    pub(crate) fn km_to(self, other: Position) -> f64 {
        let (x, y, z) = (self.x - other.x, self.y - other.y, self.z - other.z);
        sqrt(x * x + y * y + z * z)
    }

    /// The distance in a straight line.
    #[must_use]
    pub fn distance(self, other: Position) -> Distance {
        Distance::from_km(self.km_to(other))
    }

    /// From the earth's centre.
    #[must_use]
    pub fn radius(self) -> Distance {
        self.distance(Position::CENTRE)
    }

    /// Height above the ground of the spherical earth.
    #[must_use]
    pub fn altitude(self) -> Distance {
        Distance::from_km(self.radius().km() - EARTH_RADIUS_KM)
    }

    /// The place on the ground below.
    #[must_use]
    pub fn place(self) -> Place {
        let degrees = |radians| Angle::from_radians(radians).degrees();
        let latitude = degrees(self.latitude_radians()).clamp(-90.0, 90.0);
        let longitude = degrees(self.longitude_radians()).clamp(-180.0, 180.0);
        Place::new(latitude, longitude).expect("clamped")
    }

    pub(crate) fn latitude_radians(self) -> f64 {
        let radius = self.radius().km();
        if radius == 0.0 {
            return 0.0;
        }
        asin((self.z / radius).clamp(-1.0, 1.0))
    }

    pub(crate) fn longitude_radians(self) -> f64 {
        atan2(self.y, self.x)
    }

    /// The sine of the elevation of `satellite` at this point of the ground; -1 for a missing
    /// satellite.
    pub(crate) fn sine_of_elevation(self, satellite: Position) -> f64 {
        let radius = self.km_to(Position::CENTRE);
        let range = self.km_to(satellite);
        (self.dot(satellite) / radius - radius) / range
    }

    /// The elevation of `satellite` above the horizon of this point of the
    /// ground, negative below it.
    #[must_use]
    pub fn elevation(self, satellite: Position) -> Angle {
        Angle::from_radians(asin(self.sine_of_elevation(satellite).clamp(-1.0, 1.0)))
    }

    /// Whether the straight line to another satellite passes at least
    /// [`ATMOSPHERE_MARGIN_KM`] above the ground.
    #[must_use]
    pub fn sees(self, other: Position) -> bool {
        let lowest = EARTH_RADIUS_KM + ATMOSPHERE_MARGIN_KM;
        let (here, there) = (self.dot(self), other.dot(other));
        if here < lowest * lowest || there < lowest * lowest {
            return false;
        }
        let along = self.dot(other);
        // The foot of the perpendicular from the earth's centre lies outside
        // the line: the nearer end is the lowest point.
        if along >= here || along >= there {
            return true;
        }
        let apart = here + there - 2.0 * along;
        // |a x b| / |a - b|, squared.
        (here * there - along * along) >= lowest * lowest * apart
    }
}

/// The greatest distance at which two satellites at `altitude` see each other
/// above the atmosphere's margin.
#[must_use]
pub fn visibility_limit(altitude: Distance) -> Distance {
    let radius = EARTH_RADIUS_KM + altitude.km();
    let lowest = EARTH_RADIUS_KM + ATMOSPHERE_MARGIN_KM;
    Distance::from_km(2.0 * sqrt((radius * radius - lowest * lowest).max(0.0)))
}

/// The slant range to a satellite at `altitude` and `elevation`.
#[must_use]
pub fn slant_range(altitude: Distance, elevation: Angle) -> Distance {
    let radius = EARTH_RADIUS_KM + altitude.km();
    let up = EARTH_RADIUS_KM * sin(elevation.radians());
    Distance::from_km(sqrt(up * up + radius * radius - EARTH_RADIUS_KM * EARTH_RADIUS_KM) - up)
}

/// The half angle, seen from the earth's centre, of the cap in which a satellite at `altitude` has
/// an elevation of at least `mask`.
#[must_use]
pub fn coverage_half_angle(altitude: Distance, mask: Angle) -> Angle {
    let radius = EARTH_RADIUS_KM + altitude.km();
    let nadir = asin(EARTH_RADIUS_KM * cos(mask.radians()) / radius);
    Angle::from_radians(core::f64::consts::FRAC_PI_2 - mask.radians() - nadir)
}
