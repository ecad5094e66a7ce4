//! A run of which the steady state is skipped is the whole run, within a thousandth.

use crate::text::read;
use bentpipe_outcome::{Outcome, TableKind, columns, rows};
use bentpipe_scenario::Scenario;
use bentpipe_sim::{NoSkip, Observer, Options, Simulation, Steady, Unobserved};
use bentpipe_tcp::Packet;
use bentpipe_units::{Duration, Time};
use proptest::prelude::*;
use std::fmt::Write;

fn skipped_with(
    scenario: &Scenario,
    options: &Options,
    observer: &mut dyn Observer,
) -> (Outcome, Steady) {
    let options = Options {
        skip_steady: true,
        ..options.clone()
    };
    let mut told = None;
    let mut simulation = Simulation::new(scenario, &options).unwrap();
    simulation.on_steady(|steady| told = Some(steady.clone()));
    let outcome = simulation.run(observer).unwrap();
    (outcome, told.unwrap())
}

fn skipped(scenario: &Scenario, options: &Options) -> (Outcome, Steady) {
    skipped_with(scenario, options, &mut Unobserved)
}

/// Every figure of an outcome, by table, column and row, as text.
fn figures(outcome: &Outcome) -> Vec<(String, String)> {
    let mut all = Vec::new();
    let tables = TableKind::ALL.into_iter().filter(|t| t.is_of(outcome));
    for table in tables {
        let columns = columns(table);
        for (number, row) in rows(table, outcome).iter().enumerate() {
            for (column, value) in columns.iter().zip(row) {
                // Timers that were moved are events at other places of each period.
                if column.name != "events" {
                    let name = format!("{} {} {number}", table.name(), column.name);
                    all.push((name, value.to_text().to_string()));
                }
            }
        }
    }
    for checkpoint in &outcome.checkpoints {
        let text = format!("{checkpoint:?}");
        let numbers = text.split(|c: char| !c.is_ascii_digit());
        let numbers = numbers.filter(|n| !n.is_empty()).enumerate();
        all.extend(numbers.map(|(i, n)| (format!("checkpoint {i}"), n.to_owned())));
    }
    all
}

/// Holds a run that was to be skipped against the whole; true if it was.
fn holds(scenario: &Scenario, options: &Options) -> Result<Steady, String> {
    let whole = bentpipe_sim::run(scenario, options).map_err(|e| e.to_string())?;
    let (outcome, told) = skipped(scenario, options);
    if matches!(told, Steady::Refused(_)) {
        return match outcome == whole {
            true => Ok(told),
            false => Err(format!("{told:?} is not the whole run")),
        };
    }
    let (got, expected) = (figures(&outcome), figures(&whole));
    if got.len() != expected.len() {
        return Err(format!("{} figures for {}", got.len(), expected.len()));
    }
    for ((name, got), (_, expected)) in got.iter().zip(&expected) {
        let near = match (got.parse::<f64>(), expected.parse::<f64>()) {
            (Ok(got), Ok(expected)) => (got - expected).abs() <= 1e-3 * expected.abs(),
            _ => got == expected,
        };
        if !near {
            return Err(format!("{name}: {got} for {expected}, {told:?}"));
        }
    }
    Ok(told)
}

/// One link in the middle and one flow; `more` are further lines of its transport.
fn satellite(base: &str, more: &str, duration: &str) -> String {
    format!(
        "duration = \"{duration}\"\n[node.a]\n[node.b]\n\
         [link.satellite]\nbetween = [\"a\", \"b\"]\nrate = \"2 Mbit/s\"\n\
         one_way_delay = \"250 ms\"\nqueue = \"1000 packets\"\n\
         [transport.mine]\nbase = \"{base}\"\n{more}\n\
         [flow.feed]\nfrom = \"a\"\nto = \"b\"\ntransport = \"mine\"\n\
         application = {{ kind = \"persistent\" }}\n"
    )
}

#[test]
fn windows_and_rates_that_settle_are_skipped() {
    for (base, more) in [
        ("newreno", "receive_buffer = \"64 kB\""),
        ("sack", "receive_buffer = \"30 kB\""),
        ("cubic", "receive_buffer = \"64 kB\""),
        ("cubic-linux", "receive_buffer = \"64 kB\""),
        // More than the link holds: a standing queue.
        ("newreno", "receive_buffer = \"256 kB\""),
        ("fixed-window", ""),
        // Paced.
        ("open-loop", "rate = 0.5"),
        ("vegas", "receive_buffer = \"64 kB\"\nprofile = \"ns-2\""),
    ] {
        let scenario = read(&satellite(base, more, "1800 s"));
        match holds(&scenario, &Options::default()) {
            Ok(Steady::Skipped { from, .. }) => {
                let limit = Time::ZERO + Duration::from_secs(225);
                assert!(from < limit, "{base} {more}: {from:?}");
            }
            other => panic!("{base} {more}: {other:?}"),
        }
    }
}

#[test]
fn datagrams_and_checkpoints_are_counted() {
    let text = "duration = \"2000 s\"\n[node.a]\n[node.b]\n\
         [link.satellite]\nbetween = [\"a\", \"b\"]\nrate = \"2 Mbit/s\"\n\
         one_way_delay = \"250 ms\"\nqueue = \"1000 packets\"\n\
         [flow.one]\nfrom = \"a\"\nto = \"b\"\n\
         application = { kind = \"constant-rate\", rate = \"64 kbit/s\", packet_size = \"200 B\" }\n\
         [flow.two]\nfrom = \"b\"\nto = \"a\"\nstart = \"7 s\"\n\
         application = { kind = \"constant-rate\", rate = \"80 kbit/s\", packet_size = \"300 B\" }\n";
    let checkpoints = [0, 3, 20, 100, 777, 1999, 2000, 3000];
    let options = Options {
        checkpoints: checkpoints
            .map(|s| Time::ZERO + Duration::from_secs(s))
            .to_vec(),
        ..Options::default()
    };
    let told = holds(&read(text), &options).unwrap();
    assert!(matches!(told, Steady::Skipped { .. }), "{told:?}");
}

#[test]
fn what_is_not_sure_to_repeat_is_simulated() {
    let options = Options::default();
    let plain = satellite("newreno", "receive_buffer = \"64 kB\"", "1800 s");
    let refused = |text: &str, options: &Options| match skipped(&read(text), options) {
        (outcome, Steady::Refused(why)) => {
            let whole = Options {
                skip_steady: false,
                ..options.clone()
            };
            assert_eq!(outcome, bentpipe_sim::run(&read(text), &whole).unwrap());
            why
        }
        (_, skipped) => panic!("{skipped:?} of {text}"),
    };
    let link = || "satellite".to_owned();
    let flow = || "feed".to_owned();
    let with = |from: &str, to: &str| plain.replace(from, to);
    let queue = "queue = \"1000 packets\"";
    let cases = [
        (
            with(
                queue,
                "queue = \"1000 packets\"\nchannel = { kind = \"uniform\", packet_error_rate = \"0.01%\" }",
            ),
            NoSkip::Random { link: link() },
        ),
        (
            with(
                queue,
                "queue = { kind = \"codel\", limit = \"1000 packets\" }",
            ),
            NoSkip::Queue { link: link() },
        ),
        (
            with(
                queue,
                "queue = \"1000 packets\"\n\
                 timeline = [{ at = \"0 s\" }, { at = \"900 s\", rate = \"1 Mbit/s\" }]",
            ),
            NoSkip::Changes { link: link() },
        ),
        (
            with("kind = \"persistent\"", "kind = \"web\""),
            NoSkip::Application { flow: flow() },
        ),
        (
            with(
                "kind = \"persistent\"",
                "kind = \"transfer\", size = \"100 MB\"",
            ),
            NoSkip::Ends { flow: flow() },
        ),
        (
            with("[flow.feed]", "[flow.feed]\nstop = \"900 s\""),
            NoSkip::TooShort,
        ),
        (with("1800 s", "60 s"), NoSkip::TooShort),
        (with("newreno", "bbr"), NoSkip::Transport { flow: flow() }),
        // A sawtooth.
        (
            with("receive_buffer = \"64 kB\"", "").replace("1000 packets", "50 packets"),
            NoSkip::Losses,
        ),
        // The window of ns-2 grows beyond the receiver's.
        (
            with(
                "base = \"newreno\"",
                "base = \"newreno\"\nprofile = \"ns-2\"",
            ),
            NoSkip::Unsettled {
                looked: Duration::from_secs(225),
            },
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(refused(&text, &options), expected, "{text}");
    }
    let series = Options {
        series: Some(Duration::from_secs(1)),
        ..Options::default()
    };
    assert_eq!(refused(&plain, &series), NoSkip::Recorded);
    struct Looks;
    impl Observer for Looks {
        fn sent(&mut self, _: Time, _: u32, _: &Packet) {}
        fn received(&mut self, _: Time, _: u32, _: &Packet) {}
    }
    let (_, told) = skipped_with(&read(&plain), &options, &mut Looks);
    assert_eq!(told, Steady::Refused(NoSkip::Recorded));
}

/// A transfer that goes on beyond the end of the run is skipped; see
/// `what_is_not_sure_to_repeat_is_simulated` for one that ends.
#[test]
fn a_transfer_without_end_in_sight_is_skipped() {
    let text = satellite("sack", "receive_buffer = \"64 kB\"", "1800 s");
    let text = text.replace(
        "kind = \"persistent\"",
        "kind = \"transfer\", size = \"1 GB\"",
    );
    let told = holds(&read(&text), &Options::default()).unwrap();
    assert!(matches!(told, Steady::Skipped { .. }), "{told:?}");
}

/// A row of nodes with flows in both directions, without losses.
fn row() -> impl Strategy<Value = String> {
    let rate = prop_oneof![Just("1 Mbit/s"), Just("3 Mbit/s"), Just("7 Mbit/s")];
    let link = (rate, prop_oneof![Just(2u32), Just(20), Just(250)]);
    let transport = prop_oneof![
        Just("newreno"),
        Just("cubic"),
        Just("hybla"),
        Just("vegas"),
        Just("fixed-window"),
        Just("open-loop"),
        Just("udp"),
    ];
    let profile = prop_oneof![Just("rfc"), Just("linux"), Just("ns-2")];
    let flow = (transport, profile, 1u32..8, 0u32..4, any::<bool>());
    let flows = proptest::collection::vec(flow, 1..4);
    (proptest::collection::vec(link, 1..4), flows).prop_map(|(links, flows)| {
        let mut text = String::from("duration = \"900 s\"\n[node.n0]\n");
        for (i, (rate, delay)) in links.iter().enumerate() {
            let _ = write!(
                text,
                "[node.n{next}]\n[link.l{i}]\nbetween = [\"n{i}\", \"n{next}\"]\n\
                 rate = \"{rate}\"\none_way_delay = \"{delay} ms\"\nqueue = \"2000 packets\"\n",
                next = i + 1,
            );
        }
        for (i, (transport, profile, size, start, back)) in flows.iter().enumerate() {
            let (from, to) = match back {
                true => (links.len(), 0),
                false => (0, links.len()),
            };
            let _ = writeln!(
                text,
                "[flow.f{i}]\nfrom = \"n{from}\"\nto = \"n{to}\"\nstart = \"{start} s\""
            );
            let _ = match *transport {
                "udp" => writeln!(
                    text,
                    "application = {{ kind = \"constant-rate\", rate = \"{} kbit/s\", \
                     packet_size = \"250 B\" }}",
                    20 * size
                ),
                base => writeln!(
                    text,
                    "transport = \"t{i}\"\napplication = {{ kind = \"persistent\" }}\n\
                     [transport.t{i}]\nbase = \"{base}\"\nprofile = \"{profile}\"\n\
                     receive_buffer = \"{} kB\"",
                    16 * size
                ),
            };
        }
        text
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn it_is_the_whole_run(text in row()) {
        let options = Options {
            checkpoints: [100, 433, 899].map(|s| Time::ZERO + Duration::from_secs(s)).to_vec(),
            ..Options::default()
        };
        if let Err(why) = holds(&read(&text), &options) {
            return Err(TestCaseError::fail(format!("{why}\n{text}")));
        }
    }
}
