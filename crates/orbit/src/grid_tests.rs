//! Walker shells written as elements are found again, others are refused with
//! the cause.

use super::*;
use crate::catalogue::Catalogue;
use crate::constellation::{Constellation, Mesh};
use crate::isl::IslRules;
use crate::quantity::{Angle, Distance, Place};
use crate::shell::{Shell, Walker};
use crate::{Settings, Terminal, plan};
use bentpipe_random::Stream;
use bentpipe_units::{Duration, Time};
use core::fmt::Write;
use std::collections::BTreeSet;

/// The shell as OMM in CSV, each satellite off by up to `noise` degrees, named
/// by plane and slot.
fn omm(walker: &str, km: f64, pattern: Pattern, noise: f64) -> Vec<String> {
    let walker: Walker = walker.parse().unwrap();
    let shell = Shell::walker(walker, Distance::from_km(km), pattern).unwrap();
    let mut draws = Stream::new(7, "noise");
    let mut off = || (2.0 * draws.uniform() - 1.0) * noise;
    let turns = 86_400.0 / shell.period().as_secs();
    let mut lines = Vec::new();
    for plane in 0..shell.planes {
        for slot in 0..shell.per_plane {
            let node = shell.node_spacing.degrees() * f64::from(plane) + 300.0;
            let mut line = String::new();
            write!(
                line,
                "{plane}-{slot},2026-01-01T00:00:00,{turns:.8},0.0001,{:.4},{:.4},0,{:.4},0",
                walker.inclination,
                (node + off() * 0.2).rem_euclid(360.0),
                (shell.argument(plane, slot).degrees() + off()).rem_euclid(360.0)
            )
            .unwrap();
            lines.push(line);
        }
    }
    lines
}

const HEADER: &str = "OBJECT_NAME,EPOCH,MEAN_MOTION,ECCENTRICITY,INCLINATION,RA_OF_ASC_NODE,\
                      ARG_OF_PERICENTER,MEAN_ANOMALY,BSTAR";

fn catalogue(lines: &[String]) -> Catalogue {
    Catalogue::parse(&format!("{HEADER}\n{}\n", lines.join("\n"))).unwrap()
}

fn linked(lines: &[String]) -> Result<(Constellation, Grid), GridError> {
    let catalogue = catalogue(lines);
    let start = catalogue.latest_epoch();
    Constellation::elements(catalogue, start).with_grid(IslRules::NONE)
}

/// The links by the names of their ends.
fn links(constellation: &Constellation) -> BTreeSet<(String, String)> {
    let name = |satellite: u32| constellation.name(satellite as usize);
    let pairs = constellation
        .isls()
        .iter()
        .map(|isl| (name(isl.a), name(isl.b)));
    pairs
        .map(|(a, b)| if a < b { (a, b) } else { (b, a) })
        .collect()
}

fn shuffled(mut lines: Vec<String>) -> Vec<String> {
    lines.sort_by_key(|line| {
        line.bytes()
            .fold(5381u64, |h, b| h.wrapping_mul(33) ^ u64::from(b))
    });
    lines
}

#[test]
fn walker_shells_are_found_again_and_linked_alike() {
    for (walker, km, pattern) in [
        ("53: 1584/72/65", 550.0, Pattern::Delta),
        ("55: 24/6/1", 20_180.0, Pattern::Delta),
        ("86.4: 66/6/2", 780.0, Pattern::Star),
        ("87.9: 648/18/0", 1200.0, Pattern::Star),
        ("60: 12/2/0", 1500.0, Pattern::Star),
    ] {
        let shell = Shell::walker(walker.parse().unwrap(), Distance::from_km(km), pattern);
        let shell = shell.unwrap();
        // A twentieth of the distance in the plane, at most a degree.
        let noise = (18.0 / f64::from(shell.per_plane)).min(1.0);
        let (found, grid) = linked(&shuffled(omm(walker, km, pattern, noise))).unwrap();
        assert_eq!(
            (grid.planes, grid.per_plane),
            (shell.planes, shell.per_plane),
            "{walker}"
        );
        assert_eq!((grid.pattern, grid.empty()), (pattern, 0), "{walker}");
        assert!(
            (grid.altitude_km - km).abs() < 5.0,
            "{walker}: {}",
            grid.altitude_km
        );
        let own = Constellation::shell(shell, Mesh::GRID, IslRules::NONE);
        assert_eq!(links(&found), links(&own), "{walker}");
    }
}

/// The delay between two places over the links of the grid is that over the
/// shell that it was made from.
#[test]
fn a_grid_joins_places_as_its_shell_does() {
    let walker = "53: 1584/72/65";
    let (found, _) = linked(&omm(walker, 550.0, Pattern::Delta, 0.05)).unwrap();
    let terminals = ["Berlin", "Nairobi"].map(|name| Terminal {
        place: name.parse::<crate::Site>().unwrap().place(),
        mask: Angle::from_degrees(25.0),
    });
    let settings = Settings {
        duration: Duration::from_secs(600),
        ..Settings::default()
    };
    let plan = plan(&found, &terminals, &[(0, 1)], &settings).unwrap();
    assert!(plan.availability(0) > 0.99);
    let straight = {
        let at = |place: Place| crate::Position::above(place, Distance::from_km(550.0));
        at(terminals[0].place)
            .distance(at(terminals[1].place))
            .one_way_delay()
    };
    let delay = plan.delay_at(0, Time::ZERO).unwrap();
    let longest = straight.scaled(1.7) + Duration::from_millis(6);
    assert!(delay > straight && delay < longest, "{delay} {straight}");
}

#[test]
fn a_few_holes_are_left_out() {
    let mut lines = omm("53: 1584/72/65", 550.0, Pattern::Delta, 0.3);
    let all = lines.len();
    for n in 0..60 {
        lines.remove(n * 25);
    }
    let (found, grid) = linked(&shuffled(lines)).unwrap();
    assert_eq!((grid.planes, grid.per_plane, grid.empty()), (72, 22, 60));
    assert_eq!(found.len(), all - 60);
    // Each hole takes its four links away.
    assert!(found.isls().len() >= 2 * all - 4 * 60);
    assert_eq!(
        grid.to_string(),
        "72 planes of 22 satellites at 53.0 deg, 550 km, 60 slots empty"
    );
}

#[test]
fn what_is_no_grid_says_why() {
    let why = |lines: &[String]| linked(lines).unwrap_err().to_string();
    let shell = || omm("53: 240/12/1", 550.0, Pattern::Delta, 0.2);
    let other = omm("70: 72/6/1", 570.0, Pattern::Delta, 0.2);
    let mixed = why(&[shell(), other.clone()].concat());
    assert!(
        mixed.contains("several shells: 240 at 53.0 deg, "),
        "{mixed}"
    );
    assert!(mixed.contains("; 72 at 70.0 deg, "), "{mixed}");
    // One of them is a grid.
    let catalogue = catalogue(&[shell(), other].concat());
    let only = catalogue.only(Some(Angle::from_degrees(53.0)), None);
    assert_eq!((only.len(), only.shells().len()), (240, 1));
    let start = only.latest_epoch();
    assert!(
        Constellation::elements(only, start)
            .with_grid(IslRules::NONE)
            .is_ok()
    );

    let few = why(&shell()[..5]);
    assert!(few.contains("here are 5 satellites"), "{few}");
    let plane = why(&shell()[..20]);
    assert!(plane.contains("at least 2 planes"), "{plane}");
    // A plane of twelve that is missing.
    let planes: Vec<String> = shell()
        .into_iter()
        .filter(|l| !l.starts_with("4-"))
        .collect();
    let text = why(&planes);
    assert!(text.contains("11 planes, but not evenly spaced"), "{text}");
    assert!(
        text.contains("60.0 deg from the next one, the others 30.0"),
        "{text}"
    );
    // A fifth of the satellites missing.
    let holes: Vec<String> = shell()
        .into_iter()
        .enumerate()
        .filter(|(i, _)| i % 5 != 2)
        .map(|(_, l)| l)
        .collect();
    let text = why(&holes);
    assert!(text.contains("more than a tenth"), "{text}");
    // One between two slots.
    let mut moved = shell();
    let fields: Vec<&str> = moved[3].split(',').collect();
    let anomaly = (fields[7].parse::<f64>().unwrap() + 7.0).to_string();
    moved[3] = moved[3].replace(fields[7], &anomaly);
    let text = why(&moved);
    assert!(text.starts_with("`0-3` is "), "{text}");
    assert!(text.contains("off the nearest of the 20 slots"), "{text}");
    let mut round = shell();
    round[9] = round[9].replace(",0.0001,", ",0.2,");
    let text = why(&round);
    assert!(text.contains("the orbit of `0-9` is no circle"), "{text}");
}

#[test]
fn satellites_at_random_form_no_grid() {
    let mut draws = Stream::new(3, "sky");
    let lines: Vec<String> = (0..200)
        .map(|i| {
            let (a, b) = (draws.uniform() * 360.0, draws.uniform() * 360.0);
            format!("S{i},2026-01-01T00:00:00,15.06,0.0001,53.0,{a:.4},0,{b:.4},0")
        })
        .collect();
    assert!(linked(&lines).is_err());
}
