//! How satellites move, in numbers from which a page computes where they are.
//!
//! Satellites of a shell follow a law with a few parameters, those over the equator
//! stand, and those of a file come as positions at even distances in time.

use base64::Engine as _;
use bentpipe_orbit::{Angle, Constellation, Distance, Isl, Position, coverage_half_angle};
use bentpipe_scenario::space::ExpandedConstellation;
use bentpipe_units::{Duration, Time};
use serde_json::{Value, json};

/// The largest number that a sample holds.
const MOST: f64 = 32_767.0;

/// When positions are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sampling {
    /// The first ones.
    pub from: Time,
    /// Between one and the next.
    pub step: Duration,
    /// How many there are of each satellite.
    pub steps: u64,
}

/// Whether a satellite is there at all.
#[must_use]
pub fn is_there(at: Position) -> bool {
    at != Position::CENTRE
}

/// The half angle of the cap in which a satellite serves terminals with the
/// lowest mask of the constellation, degrees.
#[must_use]
pub fn half_angle(sky: &ExpandedConstellation, satellite: usize, time: Time) -> f64 {
    half_of(sky, sky.constellation.position(satellite, time))
}

fn half_of(sky: &ExpandedConstellation, at: Position) -> f64 {
    let masks = sky.terminals.iter().map(|t| t.mask.degrees());
    let mask = Angle::from_degrees(masks.fold(90.0, f64::min));
    let height = Distance::from_km(at.altitude().km().max(0.0));
    coverage_half_angle(height, mask).degrees()
}

/// The number to three decimals, as JSON.
fn short(x: f64) -> Value {
    json!((x * 1e3).round() / 1e3)
}

fn millis(at: Time) -> u64 {
    at.as_nanos() / 1_000_000
}

/// How the satellites of a constellation move: its `name`, how many there are
/// (`count`), `half` angles of their caps in degrees (one where all are the same), and
/// by `kind`:
///
/// - `shell`: circular orbits. Satellite s of plane p (number p · `per_plane` + s) is at
///   the angle `arguments` + 360° t / `period_s` along its orbit of `inclination` and
///   `radius_km`; the ascending node of its plane is at the longitude `spacing` · p,
///   which falls by 360° in a sidereal day.
/// - `standing`: `places`, each longitude and latitude, and `radius_km` of each.
/// - `sampled`: what [`samples`] gives.
#[must_use]
pub fn motion(sky: &ExpandedConstellation) -> Value {
    let count = sky.constellation.len();
    let mut value = json!({ "name": sky.name, "count": count });
    if let Some(shell) = sky.constellation.as_shell() {
        let planes = 0..shell.planes;
        let arguments = planes.flat_map(|p| (0..shell.per_plane).map(move |s| (p, s)));
        let arguments =
            arguments.map(|(p, s)| json!((shell.argument(p, s).degrees() * 1e6).round() / 1e6));
        value["kind"] = json!("shell");
        value["per_plane"] = json!(shell.per_plane);
        value["arguments"] = json!(arguments.collect::<Vec<_>>());
        value["inclination"] = json!(shell.inclination.degrees());
        value["spacing"] = json!(shell.node_spacing.degrees());
        value["period_s"] = json!(shell.period().as_secs());
        value["radius_km"] = json!(shell.radius().km());
        value["half"] = json!([short(half_angle(sky, 0, Time::ZERO))]);
        return value;
    }
    let mut here = Vec::new();
    sky.constellation.positions(Time::ZERO, &mut here);
    let half = here.iter().map(|at| short(half_of(sky, *at)));
    value["half"] = half.collect();
    if sky.constellation.stands() {
        let places = here.iter().map(|at| at.place());
        let places = places.map(|at| json!([short(at.longitude()), short(at.latitude())]));
        value["kind"] = json!("standing");
        value["places"] = places.collect();
        value["radius_km"] = here.iter().map(|at| short(at.radius().km())).collect();
        return value;
    }
    value["kind"] = json!("sampled");
    value
}

/// Positions at even distances in time, `steps` of them from `from_s` on, `step_s`
/// apart: `base64` of three 16-bit integers a satellite (little-endian, in the frame
/// that turns with the earth), in units of `unit_km`, all satellites of one time after
/// the other. Three zeros stand for a satellite that is not there.
#[must_use]
pub fn samples(constellation: &Constellation, sampling: Sampling) -> Value {
    let mut all = Vec::new();
    let mut here = Vec::new();
    for k in 0..sampling.steps {
        constellation.positions(sampling.from + sampling.step * k, &mut here);
        all.extend_from_slice(&here);
    }
    let radii = all.iter().map(|at| at.radius().km());
    let unit = radii.fold(1.0, f64::max) / MOST;
    let mut bytes: Vec<u8> = Vec::with_capacity(all.len() * 6);
    for at in &all {
        for km in [at.x, at.y, at.z] {
            bytes.extend(((km / unit).round() as i16).to_le_bytes());
        }
    }
    json!({
        "from_s": sampling.from.as_secs(),
        "step_s": sampling.step.as_secs(),
        "steps": sampling.steps,
        "unit_km": unit,
        "base64": base64::engine::general_purpose::STANDARD.encode(bytes),
    })
}

fn link(isl: &Isl) -> Value {
    json!([isl.a, isl.b, u8::from(isl.up)])
}

/// The links between satellites before they change, each the numbers of its ends and
/// whether it is up.
#[must_use]
pub fn links(sky: &ExpandedConstellation) -> Value {
    sky.plan.isls().iter().map(link).collect()
}

/// What becomes of [`links`] from `since` on: each the time in milliseconds, which of
/// them, and what it is from then on.
#[must_use]
pub fn link_changes(sky: &ExpandedConstellation, since: Time) -> Value {
    let changes = sky.plan.isl_changes().filter(|(at, ..)| *at >= since);
    let changes =
        changes.map(|(at, index, isl)| json!([millis(at), index, isl.a, isl.b, u8::from(isl.up)]));
    changes.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bentpipe_orbit::preset;

    #[test]
    fn samples_are_positions_to_a_fraction_of_a_kilometre() {
        let iridium = preset("iridium").unwrap().constellation;
        let sampling = Sampling {
            from: Time::ZERO + Duration::from_secs(60),
            step: Duration::from_secs(30),
            steps: 3,
        };
        let value = samples(&iridium, sampling);
        let unit = value["unit_km"].as_f64().unwrap();
        let text = value["base64"].as_str().unwrap();
        let bytes = base64::engine::general_purpose::STANDARD.decode(text);
        let bytes = bytes.unwrap();
        assert_eq!(bytes.len(), 66 * 3 * 6);
        // Satellite 17 at the second time.
        let at = &bytes[(66 + 17) * 6..];
        let km = |i: usize| f64::from(i16::from_le_bytes([at[2 * i], at[2 * i + 1]])) * unit;
        let right = iridium.position(17, Time::ZERO + Duration::from_secs(90));
        for (have, want) in [(km(0), right.x), (km(1), right.y), (km(2), right.z)] {
            assert!((have - want).abs() <= unit, "{have} {want}");
        }
    }
}
