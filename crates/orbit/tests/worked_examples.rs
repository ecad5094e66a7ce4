//! Lengths and delays worked out by hand, to the printed digit. GEO's stand
//! beside its code.

use bentpipe_orbit::{
    Angle, Constellation, Distance, IslRules, Mesh, Pattern, Policy, Shell, Walker,
    coverage_half_angle, iridium, slant_range, starlink, teledesic, visibility_limit,
};
use bentpipe_units::Time;

fn ms(distance: Distance) -> String {
    format!("{:.3}", distance.one_way_delay().as_secs() * 1e3)
}

fn shell_of(constellation: &Constellation) -> &Shell {
    constellation.as_shell().unwrap()
}

fn between(constellation: &Constellation, a: usize, b: usize) -> Distance {
    let at = |i| constellation.position(i, Time::ZERO);
    at(a).distance(at(b))
}

#[test]
fn iridium_of_ns_2() {
    let preset = iridium();
    let shell = shell_of(&preset.constellation);
    assert_eq!(preset.constellation.len(), 66);
    assert_eq!(format!("{:.2}", shell.period().as_secs()), "6026.96");
    assert_eq!(format!("{:.2}", shell.speed_km_per_s()), "7.46");
    let slant = slant_range(shell.altitude, preset.mask);
    assert_eq!(format!("{:.1}", slant.km()), "2464.6");
    assert_eq!(
        format!("{:.2}", slant.one_way_delay().as_secs() * 1e3),
        "8.22"
    );
    assert_eq!(
        format!("{:.2}", shell.altitude.one_way_delay().as_secs() * 1e3),
        "2.60"
    );
    assert_eq!(format!("{:.1}", shell.in_plane_distance().km()), "4033.3");
    assert_eq!(ms(shell.in_plane_distance()), "13.454");
    // n0 and n15: the first satellites of planes 1 and 2.
    let across = between(&preset.constellation, 0, 11);
    assert_eq!(format!("{:.2}", across.km()), "4435.95");
    assert_eq!(ms(across), "14.797");
    let cap = coverage_half_angle(shell.altitude, preset.mask);
    assert_eq!(format!("{:.2}", cap.degrees()), "19.92");
    assert_eq!(
        format!("{:.1}", visibility_limit(shell.altitude).km()),
        "5872.7"
    );
}

#[test]
fn the_angles_of_ns_2s_node_list() {
    let shell = shell_of(&iridium().constellation).clone();
    let degrees = |plane, slot| format!("{:.2}", shell.argument(plane, slot).degrees());
    assert_eq!(degrees(0, 1), "32.73");
    assert_eq!(degrees(2, 10), "327.27");
    assert_eq!(degrees(1, 0), "16.36");
    assert_eq!(degrees(5, 10), "343.64");
}

#[test]
fn teledesic_of_ns_2() {
    let preset = teledesic(Angle::from_degrees(7.5));
    let shell = shell_of(&preset.constellation);
    assert_eq!(preset.constellation.len(), 288);
    assert_eq!(format!("{:.2}", shell.period().as_secs()), "6793.84");
    let slant = slant_range(shell.altitude, preset.mask);
    assert_eq!(format!("{:.1}", slant.km()), "1920.1");
    assert_eq!(ms(slant), "6.405");
    assert_eq!(ms(shell.altitude), "4.586");
    assert_eq!(format!("{:.1}", shell.in_plane_distance().km()), "2023.9");
    assert_eq!(ms(shell.in_plane_distance()), "6.751");
    assert_eq!(format!("{:.6}", shell.argument(1, 0).degrees()), "7.500000");
}

#[test]
fn links_of_the_presets() {
    use bentpipe_orbit::IslKind::{CrossSeam, InterPlane, IntraPlane};
    let count = |constellation: &Constellation| {
        [IntraPlane, InterPlane, CrossSeam].map(|kind| {
            let isls = constellation.isls().iter();
            isls.filter(|isl| isl.kind == kind).count()
        })
    };
    assert_eq!(count(&iridium().constellation), [66, 55, 0]);
    // Four in the plane; 4 across, 3 in the planes at the seam, none beyond it.
    let stagger = Angle::from_degrees(7.5);
    let teledesic = teledesic(stagger).constellation;
    assert_eq!(count(&teledesic), [576, 24 * (11 + 10), 24]);
    assert_eq!(count(&starlink().constellation), [1584, 1584, 0]);
    // The peers across the seam of ns-2's `sat-teledesic-links`.
    let seam: Vec<(u32, u32)> = teledesic
        .isls()
        .iter()
        .filter(|isl| isl.kind == CrossSeam)
        .map(|isl| (isl.a, isl.b - 264))
        .collect();
    for (slot, peer) in seam {
        assert_eq!(peer, if slot < 12 { 11 - slot } else { 35 - slot });
    }
}

#[test]
fn the_lattice_of_a_delta_closes() {
    // Over the wrap from the last plane to the first links are as long as
    // everywhere else.
    let shell = starlink().constellation;
    let far = |isl: &bentpipe_orbit::Isl| {
        let [a, b] = [isl.a, isl.b].map(|i| shell.position(i as usize, Time::ZERO));
        a.distance(b).km()
    };
    let longest = shell.isls().iter().map(far).fold(0.0, f64::max);
    assert!(longest < 2_000.0, "{longest}");
    let shortest = shell.isls().iter().map(far).fold(f64::INFINITY, f64::min);
    assert!(shortest > 100.0, "{shortest}");
}

#[test]
fn phasing_65_keeps_a_starlink_shell_farthest_apart() {
    let apart = |phasing: u32| {
        let walker = Walker {
            inclination: 53.0,
            satellites: 1584,
            planes: 72,
            phasing,
        };
        let altitude = Distance::from_km(550.0);
        let shell = Shell::walker(walker, altitude, Pattern::Delta).unwrap();
        let period = shell.period();
        let sky = Constellation::shell(shell, Mesh::GRID, IslRules::NONE);
        // All satellites are alike: the first one against all others. The
        // cosine of the angle between two is K0 + K1 cos 2u + K2 sin 2u, u the
        // first one's argument: three looks give its maximum.
        let r = 6928.0;
        let mut looks = [const { Vec::new() }; 3];
        for (eighths, look) in looks.iter_mut().enumerate() {
            sky.positions(Time::ZERO + period * eighths as u64 / 8, look);
        }
        let cosine = |look: usize, other: usize| {
            let [a, b] = [looks[look][0], looks[look][other]];
            1.0 - a.distance(b).km() * a.distance(b).km() / (2.0 * r * r)
        };
        let nearest = |other: usize| {
            let [f0, f1, f2] = [0, 1, 2].map(|look| cosine(look, other));
            let k0 = f64::midpoint(f0, f2);
            let greatest = k0 + (f0 - k0).hypot(f1 - k0);
            r * (2.0 * (1.0 - greatest)).max(0.0).sqrt()
        };
        (1..1584).map(nearest).fold(f64::INFINITY, f64::min)
    };
    let apart: Vec<f64> = (0..72).map(apart).collect();
    let best = (0..72)
        .max_by(|a, b| apart[*a].total_cmp(&apart[*b]))
        .unwrap();
    assert_eq!(best, 65, "{apart:?}");
}

#[test]
fn walker_patterns_are_read() {
    let walker: Walker = "53: 1584/72/17".parse().unwrap();
    assert_eq!(
        (
            walker.inclination,
            walker.satellites,
            walker.planes,
            walker.phasing
        ),
        (53.0, 1584, 72, 17)
    );
    let message = |text: &str| {
        let walker = text.parse::<Walker>();
        let shell = walker.and_then(|w| Shell::walker(w, Distance::from_km(550.0), Pattern::Delta));
        shell.unwrap_err().to_string()
    };
    assert!(message("53 1584/72/17").contains("expected `INCLINATION: SATELLITES/PLANES/PHASING`"));
    assert_eq!(
        message("53: 1585/72/17"),
        "1585 satellites cannot be shared out evenly among 72 planes"
    );
    assert_eq!(
        message("53: 1584/72/72"),
        "phasing 72 must be smaller than the number of planes, 72"
    );
    assert_eq!(
        message("190: 66/6/1"),
        "inclination 190 is not between 0 and 180 degrees"
    );
    assert!(message("86: 0/6/1").contains("1 to 100000 satellites, not 0"));
}

#[test]
fn policies_have_names() {
    for policy in Policy::ALL {
        assert_eq!(policy.name().parse(), Ok(policy));
    }
    assert!("best".parse::<Policy>().is_err());
}
