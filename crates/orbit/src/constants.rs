//! Physical constants. All are those of ns-2.35 (`satellite/satgeometry.h`), so that its
//! constellations are reproduced to the kilometre; better values are noted where they exist.

/// The earth's gravitational parameter, km³/s² (WGS-84: 398 600.4418).
pub const MU_KM3_PER_S2: f64 = 398_601.2;

/// The earth's radius, km: a sphere, everywhere (WGS-84: 6378.137 at the
/// equator, 6356.752 at the poles, so that a slant range is right to 21 km,
/// 70 µs).
pub const EARTH_RADIUS_KM: f64 = 6378.0;

/// The speed of light, km/s (exactly: 299 792.458).
pub const LIGHT_KM_PER_S: f64 = 299_793.0;

/// One turn of the earth, s (sidereal day: 86 164.0905).
pub const EARTH_DAY_S: f64 = 86_164.0;

/// The altitude of a geostationary satellite, km.
pub const GEO_ALTITUDE_KM: f64 = 35_786.0;

/// No inter-satellite link passes lower than this above the ground, km.
pub const ATMOSPHERE_MARGIN_KM: f64 = 150.0;
