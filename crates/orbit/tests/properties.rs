//! What must hold for any place and time.

use bentpipe_orbit::{
    Angle, Catalogue, Constellation, EdgeKind, GeoSlot, Handover, Mode, Node, Place, Plan, Policy,
    Settings, Terminal, plan, preset,
};
use bentpipe_units::{Duration, Time};
use proptest::prelude::*;

const MINUTES: u64 = 30;

const SEEDS: [&str; 4] = [
    include_str!("../../../fuzz/seeds/elements/iss.tle"),
    include_str!("../../../fuzz/seeds/elements/iss.csv"),
    include_str!("../../../fuzz/seeds/elements/iss.json"),
    include_str!("../../../fuzz/seeds/elements/iss.kvn"),
];

/// Puts the right digit at the end of each line that may be one of a TLE, so
/// that what is wrong with it lies deeper.
fn right_checksums(text: &str) -> String {
    let lines = text.lines().map(|line| {
        if line.len() != 69 || !line.is_ascii() {
            return format!("{line}\n");
        }
        let sum = line.bytes().take(68).map(|b| match b {
            b'0'..=b'9' => u32::from(b - b'0'),
            b'-' => 1,
            _ => 0,
        });
        format!("{}{}\n", &line[..68], sum.sum::<u32>() % 10)
    });
    lines.collect()
}

fn place() -> impl Strategy<Value = Place> {
    (-60.0..60.0, -180.0..180.0).prop_map(|(lat, lon)| Place::new(lat, lon).unwrap())
}

fn settings(mode: Mode, policy: Policy, jitter: Option<u64>) -> Settings {
    Settings {
        duration: Duration::from_secs(60 * MINUTES),
        mode,
        policy,
        jitter,
        ..Settings::default()
    }
}

fn above(satellite: Node, terminal: Node, sky: &Constellation, plan: &Plan, at: Time) -> Angle {
    let (Node::Satellite(s), Node::Terminal(t)) = (satellite, terminal) else {
        panic!("a ground edge joins a satellite and a terminal");
    };
    plan.ground()[t as usize].elevation(sky.position(s as usize, at))
}

/// Of the path of the first pair, km; negative without one.
fn length(sky: &Constellation, plan: &Plan, at: Time) -> f64 {
    let position = |node| match node {
        Node::Satellite(s) => sky.position(s as usize, at),
        Node::Terminal(t) => plan.ground()[t as usize],
    };
    plan.path_at(0, at).map_or(-1.0, |path| {
        let edges = path.windows(2);
        edges
            .map(|ends| position(ends[0]).distance(position(ends[1])).km())
            .sum()
    })
}

/// Everything that a plan promises.
fn check(name: &str, sky: &Constellation, mask: Angle, plan: &Plan, settings: &Settings) {
    let end = Time::ZERO + settings.duration;
    for edge in plan.edges() {
        assert!(edge.a < edge.b);
        for span in &edge.spans {
            assert!(
                span.knots.windows(2).all(|k| k[0].at < k[1].at),
                "{name}: order"
            );
            assert!(span.to() <= end);
            // The straight lines meet the geometry to 10 us.
            for i in 0..200u64 {
                let length = span.to().since(span.from());
                let at = span.from() + Duration::from_nanos(length.as_nanos() / 200 * i);
                let position = |node| match node {
                    Node::Satellite(s) => sky.position(s as usize, at),
                    Node::Terminal(t) => plan.ground()[t as usize],
                };
                let exact = position(edge.a).distance(position(edge.b)).one_way_delay();
                let line = edge.delay_at(at).unwrap();
                let off = exact.as_nanos().abs_diff(line.as_nanos());
                assert!(off < 10_000, "{name}: {off} ns off");
            }
        }
        if edge.kind == EdgeKind::Ground {
            assert!(matches!(edge.b, Node::Terminal(_)));
        }
    }
    for (index, pair) in plan.pairs().iter().enumerate() {
        assert_eq!(pair.stretches[0].from, Time::ZERO);
        assert!(
            pair.stretches
                .windows(2)
                .all(|s| s[0].from < s[1].from && s[0].path != s[1].path)
        );
        for (from, to, path) in plan.stretches(index) {
            assert!(from < to && to <= end);
            let Some(path) = path else { continue };
            assert_eq!(path[0], Node::Terminal(pair.from));
            assert_eq!(*path.last().unwrap(), Node::Terminal(pair.to));
            // No satellite twice.
            let mut nodes = path.to_vec();
            nodes.sort_unstable();
            nodes.dedup();
            assert_eq!(nodes.len(), path.len());
            // No terminal uses a satellite that was below the mask at the last update, and no
            // satellite sinks by more than a degree per second.
            let n = path.len();
            for (satellite, terminal) in [(path[1], path[0]), (path[n - 2], path[n - 1])] {
                let fell = if settings.jitter.is_none() { 0.0 } else { 15.0 };
                let elevation = above(satellite, terminal, sky, plan, from).degrees();
                assert!(elevation > mask.degrees() - fell, "{name}: {elevation}");
            }
            let middle = from + Duration::from_nanos(to.since(from).as_nanos() / 2);
            assert_eq!(plan.path_at(index, middle), Some(path));
            assert!(plan.delay_at(index, middle).is_some());
        }
    }
    for track in plan.tracks() {
        for Handover { at, satellite } in &track.handovers {
            let Some(satellite) = satellite else { continue };
            for terminal in &track.terminals {
                let up = above(
                    Node::Satellite(*satellite),
                    Node::Terminal(*terminal),
                    sky,
                    plan,
                    *at,
                );
                assert!(up > mask, "{name}: taken at {up:?}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn plans_keep_their_promises(
        a in place(),
        b in place(),
        which in 0..3usize,
        policy in 0..3usize,
        bent in any::<bool>(),
        jitter in proptest::option::of(any::<u64>()),
    ) {
        prop_assume!(a != b);
        let preset = preset(bentpipe_orbit::PRESETS[which]).unwrap();
        let sky = &preset.constellation;
        let mode = if bent { Mode::BentPipe } else { Mode::Isl };
        let settings = settings(mode, Policy::ALL[policy], jitter);
        let terminals = [a, b].map(|place| Terminal { place, mask: preset.mask });
        let there = plan(sky, &terminals, &[(0, 1)], &settings).unwrap();
        check(preset.name, sky, preset.mask, &there, &settings);
        // The way back is as long as the way there whenever routes are worked
        // out. (Of two ways that are as long each may take another one, and
        // between two looks they part.)
        let back = plan(sky, &terminals, &[(1, 0)], &settings).unwrap();
        let looks = there.stretches(0).map(|(from, ..)| from);
        for at in looks.filter(|_| jitter.is_none()) {
            let [there, back] = [&there, &back].map(|plan| length(sky, plan, at));
            prop_assert!((there - back).abs() < 1e-6);
        }
        // The same again, to the bit.
        prop_assert_eq!(there, plan(sky, &terminals, &[(0, 1)], &settings).unwrap());
    }

    #[test]
    fn geo_delay_is_symmetric_and_shortest_below(a in place(), b in place(), slot in -180.0..180.0) {
        let slot = GeoSlot::new(slot).unwrap();
        prop_assert_eq!(slot.hop_delay(a, b), slot.hop_delay(b, a));
        let below = Place::new(0.0, slot.longitude()).unwrap();
        prop_assert!(slot.slant_range(a) >= slot.slant_range(below));
        // The sky computed as a constellation is the same sky.
        let sky = Constellation::geo(&[slot]);
        let mask = Angle::from_degrees(-89.0);
        let terminals = [a, b].map(|place| Terminal { place, mask });
        let settings = settings(Mode::BentPipe, Policy::Keep, None);
        if a != b && slot.elevation(a) > mask && slot.elevation(b) > mask {
            let plan = plan(&sky, &terminals, &[(0, 1)], &settings).unwrap();
            let planned = plan.delay_at(0, Time::ZERO).unwrap();
            let off = planned.as_nanos().abs_diff(slot.hop_delay(a, b).as_nanos());
            prop_assert!(off <= 1);
            prop_assert_eq!(plan.edges()[0].spans[0].knots.len(), 2);
        }
    }

    #[test]
    fn no_file_of_elements_panics(
        seed in 0..4usize,
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<char>()), 0..4),
    ) {
        let mut text: Vec<char> = SEEDS[seed].chars().collect();
        for (at, with) in changes {
            let at = at.index(text.len());
            text[at] = with;
        }
        let mut text: String = text.into_iter().collect();
        text = right_checksums(&text);
        match Catalogue::parse(&text) {
            Err(error) => prop_assert!(error.line >= 1 && !error.what.is_empty()),
            Ok(catalogue) => {
                let start = catalogue.latest_epoch();
                let sky = Constellation::elements(catalogue, start);
                let radius = sky.position(0, Time::ZERO + Duration::from_secs(86_400)).radius();
                prop_assert!(radius.km().is_finite());
            }
        }
    }

    #[test]
    fn a_place_is_where_its_position_is(at in place()) {
        let back = bentpipe_orbit::Position::above(at, bentpipe_orbit::Distance::from_km(550.0));
        prop_assert!((back.place().latitude() - at.latitude()).abs() < 1e-9);
        prop_assert!((back.place().longitude() - at.longitude()).abs() < 1e-9);
        prop_assert!((back.altitude().km() - 550.0).abs() < 1e-6);
    }
}

#[test]
fn longest_hands_over_less_than_highest() {
    let preset = preset("starlink").unwrap();
    let terminals = ["37.9,-122.3", "42.3,-71.1"].map(|place| Terminal {
        place: place.parse().unwrap(),
        mask: preset.mask,
    });
    let count = |policy| {
        let settings = settings(Mode::Isl, policy, None);
        let plan = plan(&preset.constellation, &terminals, &[(0, 1)], &settings).unwrap();
        plan.tracks()
            .iter()
            .map(|track| track.handovers.len())
            .sum::<usize>()
    };
    let [keep, highest, longest] = Policy::ALL.map(count);
    assert!(
        longest <= keep && keep < highest,
        "{keep} {highest} {longest}"
    );
}

#[test]
fn requests_that_make_no_sense() {
    let preset = preset("iridium").unwrap();
    let sky = &preset.constellation;
    let terminals = [Terminal {
        place: "0,0".parse().unwrap(),
        mask: preset.mask,
    }; 2];
    let message = |pairs: &[(u32, u32)], settings: &Settings| {
        plan(sky, &terminals, pairs, settings)
            .unwrap_err()
            .to_string()
    };
    let good = Settings::default();
    assert_eq!(
        message(&[(0, 2)], &good),
        "a pair joins two different terminals of 2, not 0 and 2"
    );
    let never = Settings {
        search: Duration::ZERO,
        ..good
    };
    assert!(message(&[(0, 1)], &never).contains("at least 1 ms"));
    let endless = Settings {
        duration: Duration::from_secs(10_000_000_000),
        ..good
    };
    assert!(message(&[(0, 1)], &endless).contains("take a longer `search`, a shorter run"));
}
