//! Files that are right and files that are not.

use bentpipe_units::{Duration, Time};

use super::*;
use crate::constellation::Constellation;

const ONE: &str = "1 25544U 98067A   08264.51782528 -.00002182  00000-0 -11606-4 0  2927";
const TWO: &str = "2 25544  51.6416 247.4627 0006703 130.5360 325.0288 15.72125391563537";

fn message(text: &str) -> String {
    Catalogue::parse(text).unwrap_err().to_string()
}

#[test]
fn lines_with_and_without_names() {
    let two = format!("{ONE}\n{TWO}\n");
    let three = format!("\n# of today\nISS (ZARYA)\r\n{ONE}\r\n{TWO}\r\n");
    let zero = format!("0 ISS (ZARYA)\n{ONE}\n{TWO}\n");
    for (text, name) in [
        (two, "25544"),
        (three, "ISS (ZARYA)"),
        (zero, "ISS (ZARYA)"),
    ] {
        let catalogue = Catalogue::parse(&text).unwrap();
        assert_eq!(catalogue.names().collect::<Vec<_>>(), [name]);
        let epoch = catalogue.latest_epoch().to_string();
        assert!(epoch.starts_with("2008-09-20T12:25:40.104192"), "{epoch}");
    }
}

#[test]
fn what_is_wrong_with_lines() {
    assert_eq!(
        message(""),
        "line 1: no satellites: expected TLE lines or an OMM as JSON, CSV or KVN"
    );
    assert_eq!(
        message("hello\n"),
        "line 1: `hello` is no line of a TLE, nor a name with one after it: expected a line that begins with `1 `"
    );
    assert_eq!(
        message(&format!("ISS\n{ONE}\n")),
        "line 2: expected a line that begins with `2 ` after it"
    );
    assert_eq!(
        message(TWO),
        "line 1: a second line of a TLE without a first one"
    );
    assert_eq!(
        message(&format!("{}\n{TWO}", &ONE[..60])),
        "line 1: a line of a TLE has 69 characters, this one 60"
    );
    assert_eq!(
        message(&format!("{ONE}\n{}8", &TWO[..68])),
        "line 2: the checksum, character 69, is `8`, expected 7"
    );
    // Two digits changed places: the checksum cannot tell, the two lines can.
    let other = TWO.replace("25544", "25454");
    assert!(message(&format!("{ONE}\n{other}")).contains("NORAD mismatch"));
    assert!(
        message(&format!(
            "{ONE}\n{}",
            TWO.replace("51.6416", "51.641\u{e9}")
        ))
        .contains("ASCII")
    );
}

#[test]
fn the_planes_of_hypatia() {
    let satellites = format!("a\n{ONE}\n{TWO}\nb\n{ONE}\n{TWO}\n");
    let catalogue = Catalogue::parse(&format!("1 2\n{satellites}")).unwrap();
    assert_eq!(catalogue.planes, Some((1, 2)));
    assert_eq!(
        message(&format!("2 2\n{satellites}")),
        "line 1: 2 planes of 2 are 4 satellites, but 2 follow"
    );
    let sky = Constellation::elements(catalogue.clone(), catalogue.latest_epoch());
    assert_eq!(sky.follower(0), Some(1));
    let linked = sky.clone().with_links("0 1\n").unwrap();
    assert_eq!(linked.isls().len(), 1);
    let error = |text: &str| sky.clone().with_links(text).unwrap_err().to_string();
    assert_eq!(
        error("0 1\n1 2"),
        "line 2: satellite 2 does not exist: there are 2, counted from 0"
    );
    assert_eq!(
        error("0 0"),
        "line 1: expected two different satellite numbers, such as `0 21`"
    );
}

/// The ISS as CelesTrak writes it (the example of the `sgp4` crate).
const RECORD: &str = r#"{
  "OBJECT_NAME": "ISS (ZARYA)", "OBJECT_ID": "1998-067A",
  "EPOCH": "2020-07-12T01:19:07.402656", "MEAN_MOTION": 15.49560532,
  "ECCENTRICITY": 0.0001771, "INCLINATION": 51.6435, "RA_OF_ASC_NODE": 225.4004,
  "ARG_OF_PERICENTER": 44.9625, "MEAN_ANOMALY": 5.1087, "EPHEMERIS_TYPE": 0,
  "CLASSIFICATION_TYPE": "U", "NORAD_CAT_ID": 25544, "ELEMENT_SET_NO": 999,
  "REV_AT_EPOCH": 23587, "BSTAR": 0.0049645, "MEAN_MOTION_DOT": 0.00289036,
  "MEAN_MOTION_DDOT": 0
}"#;

const CSV: &str = "OBJECT_NAME,OBJECT_ID,EPOCH,MEAN_MOTION,ECCENTRICITY,INCLINATION,RA_OF_ASC_NODE,ARG_OF_PERICENTER,MEAN_ANOMALY,EPHEMERIS_TYPE,CLASSIFICATION_TYPE,NORAD_CAT_ID,ELEMENT_SET_NO,REV_AT_EPOCH,BSTAR,MEAN_MOTION_DOT,MEAN_MOTION_DDOT
ISS (ZARYA),1998-067A,2020-07-12T01:19:07.402656,15.49560532,.0001771,51.6435,225.4004,44.9625,5.1087,0,U,25544,999,23587,.0049645,.00289036,0
";

const KVN: &str = "CCSDS_OMM_VERS = 2.0
COMMENT made by hand
OBJECT_NAME = ISS (ZARYA)
EPOCH = 2020-07-12T01:19:07.402656
MEAN_MOTION = 15.49560532 [rev/day]
ECCENTRICITY = 0.0001771
INCLINATION = 51.6435 [deg]
RA_OF_ASC_NODE = 225.4004 [deg]
ARG_OF_PERICENTER = 44.9625 [deg]
MEAN_ANOMALY = 5.1087 [deg]
BSTAR = 0.0049645
MEAN_MOTION_DOT = 0.00289036
MEAN_MOTION_DDOT = 0
";

#[test]
fn three_forms_of_an_omm_are_one_orbit() {
    let at = |text: &str| {
        let catalogue = Catalogue::parse(text).unwrap();
        assert_eq!(catalogue.names().next(), Some("ISS (ZARYA)"));
        let start = catalogue.latest_epoch();
        assert_eq!(start.to_string(), "2020-07-12T01:19:07.402656Z");
        let sky = Constellation::elements(catalogue, start);
        sky.position(0, Time::ZERO + Duration::from_secs(600))
    };
    let json = at(RECORD);
    assert_eq!(json, at(&format!("[{RECORD},\n{RECORD}]")));
    assert_eq!(json, at(CSV));
    assert_eq!(json, at(KVN));
    let altitude = json.altitude().km();
    assert!((400.0..440.0).contains(&altitude), "{altitude}");
}

#[test]
fn what_is_wrong_with_an_omm() {
    assert!(message("[{]").starts_with("line 1: not JSON:"));
    assert!(message("[\n\"a.}\n").starts_with("line 2: not JSON:"));
    assert!(message("[1]").starts_with("line 1: record 1: expected an object"));
    let second = format!(
        "[{RECORD},\n{}]",
        RECORD.replace("\"INCLINATION\": 51.6435,", "")
    );
    assert_eq!(
        message(&second),
        "line 11: OMM of ISS (ZARYA): missing field `INCLINATION`"
    );
    let third = CSV.replace(",51.6435", "");
    assert_eq!(
        message(&third),
        "line 2: expected 17 values as in the first line, found 16"
    );
    assert!(message(&CSV.replace("51.6435", "north")).starts_with("line 2: OMM of ISS (ZARYA):"));
    assert_eq!(
        message("CCSDS_OMM_VERS = 2.0\nnonsense\n"),
        "line 2: expected `KEY = VALUE`"
    );
    let never = RECORD.replace("15.49560532", "0");
    assert!(
        message(&never).contains("are no orbit"),
        "{}",
        message(&never)
    );
}

#[test]
fn a_satellite_that_has_decayed_is_not_there() {
    // Vallado's test case 33333 or any other with much drag: within years SGP4
    // gives up.
    let catalogue = Catalogue::parse(RECORD).unwrap();
    let late: Utc = "2024-07-12T00:00:00Z".parse().unwrap();
    let sky = Constellation::elements(catalogue, late);
    assert_eq!(sky.position(0, Time::ZERO), crate::Position::CENTRE);
}

#[test]
fn a_pass_that_vallado_computed() {
    // Satellite 00005 of Vallado's SGP4 verification: TEME at its epoch, with
    // the earth of WGS-72; ours is that of WGS-84, some metres.
    let one = "1 00005U 58002B   00179.78495062  .00000023  00000-0  28098-4 0  4753";
    let two = "2 00005  34.2682 348.7242 1859667 331.7664  19.3264 10.82419157413667";
    let catalogue = Catalogue::parse(&format!("{one}\n{two}")).unwrap();
    let start = catalogue.latest_epoch();
    let at = Constellation::elements(catalogue, start).position(0, Time::ZERO);
    let teme: [f64; 3] = [7_022.465_292_66, -1_400.082_967_55, 0.039_951_55];
    let radius = (teme[0] * teme[0] + teme[1] * teme[1] + teme[2] * teme[2]).sqrt();
    assert!((at.radius().km() - radius).abs() < 0.01, "{at:?}");
    // Turned by the sidereal angle of its epoch and nothing else.
    let longitude = at.longitude_radians() + start.sidereal_angle().radians();
    let expected = bentpipe_units::math::atan2(teme[1], teme[0]);
    let turns = (longitude - expected) / (2.0 * core::f64::consts::PI);
    assert!((turns - turns.round()).abs() < 1e-6, "{turns}");
}
