//! Orbits become profiles, or errors that say what to do.

use super::*;
use bentpipe_units::Time;

fn site(text: &str) -> Site {
    text.parse().unwrap()
}

fn rest() -> Rest {
    Rest {
        rate: None,
        return_rate: None,
        volume: Bytes::new(1_000_000),
        over: None,
    }
}

fn profile(orbit: &Orbit) -> (LinkProfile, [Rate; 2]) {
    orbit.profile(Rate::from_mbps(10), rest()).unwrap()
}

fn wrong(orbit: &Orbit) -> String {
    let found = orbit.profile(Rate::from_mbps(10), rest());
    found.unwrap_err().to_string()
}

#[test]
fn the_slot_of_a_geo_orbit_is_midway_unless_given() {
    let [from, to] = ["New York", "San Francisco"].map(site);
    let geo = Orbit::new("geo", from.clone(), to.clone());
    let (midway, rates) = profile(&geo);
    assert!(
        midway
            .text
            .starts_with("a geostationary satellite at 98.2 W from New York")
    );
    assert_eq!(rates, [Rate::from_mbps(10), Rate::from_mbps(2)]);
    assert!(!midway.changes() && midway.availability == 1.0);
    let (given, _) = profile(&geo.slot(-95.0));
    assert!(given.text.contains("at 95.0 W"), "{}", given.text);
    let error = wrong(&Orbit::new("iridium", from, to).slot(1.0));
    assert_eq!(error, "`slot` is for --orbit geo");
}

#[test]
fn a_satellite_that_stands_too_low_is_refused_with_its_angle() {
    let geo = Orbit::new("geo", site("Berlin"), site("Nairobi"));
    let error = wrong(&geo.clone().slot(-60.0));
    assert!(error.contains("at 60.0 W stands"), "{error}");
    assert!(
        error.contains("below the horizon of Nairobi, Kenya"),
        "{error}"
    );
    assert!(error.contains("--slot 13 gives both at least"), "{error}");
    assert!(profile(&geo).0.rtt[1] > Duration::from_millis(480));
    // The poles see none of them, and no satellite sees both ends of the earth.
    let pole = wrong(&Orbit::new("geo", site("Oslo"), site("89,0")));
    assert!(pole.contains("no slot serves both places"), "{pole}");
    let far = wrong(&Orbit::new("geo", site("Wellington"), site("Madrid")));
    assert!(far.contains("no slot serves both places"), "{far}");
}

#[test]
fn a_constellation_brings_its_rates() {
    let iridium = Orbit::new("iridium", site("Anchorage"), site("Oslo"));
    let (way, rates) = profile(&iridium);
    assert_eq!(rates, [Rate::from_bps(1_500_000); 2]);
    assert_eq!(
        way.text,
        "iridium with links between satellites from Anchorage, Alaska to Oslo, Norway"
    );
    assert!(
        way.changes() && way.path_changes > 5,
        "{}",
        way.path_changes
    );
    assert!(way.rtt[0] > Duration::from_millis(45) && way.rtt[2] < Duration::from_millis(250));
    let given = Rest {
        rate: Some(Rate::from_mbps(1)),
        ..rest()
    };
    let (_, rates) = iridium.profile(Rate::from_mbps(10), given).unwrap();
    assert_eq!(rates, [Rate::from_mbps(1), Rate::from_bps(200_000)]);
    // A day is longer than an hour, and begins like it.
    let day = Rest {
        over: Some(Duration::from_secs(86_400)),
        ..rest()
    };
    let (day, _) = iridium.profile(Rate::from_mbps(10), day).unwrap();
    assert_eq!(day.span, Duration::from_secs(86_400));
    let at = Time::ZERO + Duration::from_secs(1_000);
    assert_eq!(day.timelines[0].at(at), way.timelines[0].at(at));
}

#[test]
fn what_does_not_exist_gets_the_nearest() {
    let error = wrong(&Orbit::new("irridium", site("Oslo"), site("Berlin")));
    assert!(error.contains("did you mean iridium?"), "{error}");
}

fn file(name: &str, text: &str) -> String {
    let folder = std::env::temp_dir().join(format!("bentpipe-orbit-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join(name);
    std::fs::write(&file, text).unwrap();
    file.display().to_string()
}

/// A shell of `planes` planes of 12 as OMM.
fn shell(planes: u32, missing: u32) -> String {
    let mut text = "OBJECT_NAME,EPOCH,MEAN_MOTION,ECCENTRICITY,INCLINATION,RA_OF_ASC_NODE,\
                    ARG_OF_PERICENTER,MEAN_ANOMALY,BSTAR\n"
        .to_owned();
    for i in 0..planes * 12 {
        let (plane, slot) = (i / 12, i % 12);
        if plane == missing {
            continue;
        }
        text.push_str(&format!(
            "S{i},2026-01-01T00:00:00,12.6,0.0001,75,{},0,{},0\n",
            f64::from(plane) * 360.0 / f64::from(planes),
            slot * 30 + plane * 5
        ));
    }
    text
}

#[test]
fn a_file_is_linked_where_it_is_a_grid_and_says_so() {
    let grid = file("grid.csv", &shell(8, 99));
    let (way, _) = profile(&Orbit::new(&grid, site("Berlin"), site("Nairobi")));
    assert!(way.text.contains("with links between them"), "{}", way.text);
    let note = way.notes.join(" ");
    assert!(
        note.contains("form a grid, 8 planes of 12 satellites"),
        "{note}"
    );
    let holed = file("holed.csv", &shell(8, 3));
    let (way, _) = profile(&Orbit::new(&holed, site("Berlin"), site("Vienna")));
    let note = way.notes.join(" ");
    assert!(
        note.contains("not linked, since they form no grid: 7 planes, but not evenly"),
        "{note}"
    );
    // Without links nothing joins places that are far apart.
    let error = wrong(&Orbit::new(&holed, site("Oslo"), site("Wellington")));
    assert!(
        error.contains("no satellite stands above 10 deg over both Oslo, Norway and"),
        "{error}"
    );
    assert!(error.contains("they form no grid"), "{error}");
}

/// The Sky view writes the same path as a trace, which loses nothing either.
#[test]
fn a_path_over_satellites_loses_nothing_unless_it_is_said() {
    use super::super::{Comparison, Loss};
    let orbit = || Orbit::new("geo", site("Oslo"), site("Rome"));
    let loss = |question: Comparison| {
        let path = question.path().unwrap();
        (path.loss, path.is_loss_assumed)
    };
    assert_eq!(loss(Comparison::new().orbit(orbit())), (Loss::NONE, false));
    let given: Loss = "0.5%".parse().unwrap();
    assert_eq!(
        loss(Comparison::new().orbit(orbit()).loss(given)),
        (given, false)
    );
    let usual: Loss = "0.1%".parse().unwrap();
    assert_eq!(loss(Comparison::new()), (usual, true));
    assert_eq!(loss(Comparison::new().loss(usual)), (usual, false));
}
