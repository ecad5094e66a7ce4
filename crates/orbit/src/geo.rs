//! Geostationary bent pipes.
//!
//! Source: spherical trigonometry; the constants of ns-2. From a place at
//! latitude `lat` and `dlon` degrees of longitude from the satellite, with
//! cos g = cos(lat) cos(dlon), the slant range is
//! d = sqrt(R² + r² - 2 R r cos g) and the elevation asin((r cos g - R) / d),
//! r = 42 164 km. One hop is ground, satellite, ground: (d1 + d2) / c. The
//! repeater adds no delay and has no queue.

use bentpipe_units::Duration;

use crate::constants::GEO_ALTITUDE_KM;
use crate::position::Position;
use crate::quantity::{Angle, Distance, Place, PlaceError};

/// A geostationary satellite, above a longitude of the equator.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct GeoSlot {
    place: Place,
}

impl GeoSlot {
    /// The slot at `longitude` degrees east (negative: west).
    ///
    /// # Errors
    /// If it is not between -180 and 180.
    pub fn new(longitude: f64) -> Result<GeoSlot, PlaceError> {
        Ok(GeoSlot {
            place: Place::new(0.0, longitude)?,
        })
    }

    /// The slot midway between two places, along the shorter way round.
    #[must_use]
    pub fn between(a: Place, b: Place) -> GeoSlot {
        let mut middle = f64::midpoint(a.longitude(), b.longitude());
        if (a.longitude() - b.longitude()).abs() > 180.0 {
            middle += if middle > 0.0 { -180.0 } else { 180.0 };
        }
        GeoSlot {
            place: Place::new(0.0, middle).expect("the middle of two longitudes is one"),
        }
    }

    /// Degrees east of Greenwich.
    #[must_use]
    pub fn longitude(self) -> f64 {
        self.place.longitude()
    }

    /// Fixed position in the rotating earth's frame.
    #[must_use]
    pub fn position(self) -> Position {
        Position::above(self.place, Distance::from_km(GEO_ALTITUDE_KM))
    }

    /// From `place` to the satellite.
    #[must_use]
    pub fn slant_range(self, place: Place) -> Distance {
        ground(place).distance(self.position())
    }

    /// The satellite above the horizon of `place`.
    #[must_use]
    pub fn elevation(self, place: Place) -> Angle {
        ground(place).elevation(self.position())
    }

    /// The one-way delay of one hop: up from one place and down to another.
    #[must_use]
    pub fn hop_delay(self, from: Place, to: Place) -> Duration {
        let km = self.slant_range(from).km() + self.slant_range(to).km();
        Distance::from_km(km).one_way_delay()
    }
}

fn ground(place: Place) -> Position {
    Position::above(place, Distance::from_km(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(d: Duration) -> f64 {
        d.as_secs() * 1e3
    }

    fn place(latitude: f64, longitude: f64) -> Place {
        Place::new(latitude, longitude).unwrap()
    }

    #[test]
    fn below_the_satellite() {
        let slot = GeoSlot::new(0.0).unwrap();
        let here = place(0.0, 0.0);
        assert_eq!(
            format!("{:.3}", ms(slot.slant_range(here).one_way_delay())),
            "119.369"
        );
        let hop = ms(slot.hop_delay(here, here));
        assert_eq!(format!("{hop:.2}"), "238.74");
        assert_eq!(format!("{:.1}", 2.0 * hop), "477.5");
        assert!((slot.elevation(here).degrees() - 90.0).abs() < 1e-6);
    }

    #[test]
    fn at_the_horizon() {
        let range = crate::position::slant_range(Distance::from_km(GEO_ALTITUDE_KM), Angle::ZERO);
        assert_eq!(format!("{:.1}", range.km()), "41678.8");
        assert_eq!(format!("{:.2}", ms(range.one_way_delay())), "139.03");
        assert_eq!(format!("{:.1}", 4.0 * ms(range.one_way_delay())), "556.1");
    }

    #[test]
    fn genoa_to_italsat() {
        let slot = GeoSlot::new(13.0).unwrap();
        let genoa = place(44.41, 13.0 - 4.07);
        assert_eq!(format!("{:.1}", slot.slant_range(genoa).km()), "37884.6");
        assert_eq!(
            format!("{:.2}", ms(slot.slant_range(genoa).one_way_delay())),
            "126.37"
        );
        let hop = ms(slot.hop_delay(genoa, genoa));
        assert_eq!(format!("{hop:.1}"), "252.7");
        assert_eq!(format!("{:.1}", 2.0 * hop), "505.5");
    }

    #[test]
    fn new_york_to_san_francisco_over_95_west() {
        let slot = GeoSlot::new(-95.0).unwrap();
        // The places of ns-2's `sat-repeater.tcl`.
        let hop = slot.hop_delay(place(40.9, -73.9), place(37.8, -122.4));
        assert_eq!(format!("{:.2}", ms(hop)), "253.17");
    }

    #[test]
    fn midway_goes_the_shorter_way_round() {
        let middle = |a, b| GeoSlot::between(place(0.0, a), place(10.0, b)).longitude();
        assert_eq!(middle(-122.0, -71.0), -96.5);
        assert_eq!(middle(170.0, -160.0), -175.0);
        assert_eq!(middle(-170.0, 170.0), 180.0);
    }
}
