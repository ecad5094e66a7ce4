//! One run on several threads is the run on one, to the bit.

use crate::text::read;
use bentpipe_scenario::{RouteChange, Scenario};
use bentpipe_sim::{Observer, OneThread, Options, RunError, Simulation, Stop, Threads, Unobserved};
use bentpipe_tcp::Packet;
use bentpipe_units::{Duration, Time};
use proptest::prelude::*;
use std::fmt::Write;

/// What a run on so many threads yields, and how it took place.
fn on_threads(scenario: &Scenario, options: &Options, threads: usize) -> (String, Threads) {
    let mut told = None;
    let mut simulation = Simulation::new(scenario, options).unwrap();
    simulation.on_threads(threads, |threads| told = Some(*threads));
    let outcome = simulation.run(&mut Unobserved);
    (format!("{outcome:?}"), told.unwrap())
}

/// The first fields that differ.
fn difference(a: &str, b: &str) -> String {
    let fields = a.split(", ").zip(b.split(", "));
    let other = fields.filter(|(a, b)| a != b);
    other.take(8).map(|(a, b)| format!("{a} | {b}\n")).collect()
}

/// The same outcome on 1, 2, 3 and 8 threads; on how many it was at most.
fn is_same(scenario: &Scenario, options: &Options) -> usize {
    let alone = format!("{:?}", bentpipe_sim::run(scenario, options));
    let runs = [1, 2, 3, 8].map(|threads| on_threads(scenario, options, threads));
    for (outcome, threads) in &runs {
        assert!(
            *outcome == alone,
            "{threads:?}: {}",
            difference(outcome, &alone)
        );
    }
    let most = runs.iter().map(|(_, told)| match told {
        Threads::One(_) => 1,
        Threads::Many { threads, .. } => *threads,
    });
    most.max().unwrap_or(0)
}

/// A link in the middle or to a host, as text.
#[derive(Clone, Debug)]
struct Line {
    rate: &'static str,
    delay: u64,
    queue: &'static str,
    more: &'static str,
}

fn line() -> impl Strategy<Value = Line> {
    let rate = prop_oneof![
        Just("700 kbit/s"),
        Just("3 Mbit/s"),
        Just("20 Mbit/s"),
        // Packets take no time at all.
        Just("400000 Gbit/s"),
    ];
    let delay =
        prop_oneof![2 => Just(0), 3 => Just(1), 3 => Just(4), 3 => 5u64..30, 1 => Just(250)];
    let queue = prop_oneof![
        6 => Just("\"20 packets\""),
        2 => Just("{ kind = \"red\", limit = \"30 packets\" }"),
        1 => Just("{ kind = \"codel\", limit = \"50 packets\" }"),
        1 => Just("{ kind = \"fq-codel\", limit = \"60 packets\" }"),
        1 => Just("{ kind = \"priority-drop\", limit = \"20 packets\" }"),
    ];
    let more = prop_oneof![
        5 => Just(""),
        3 => Just("channel = { kind = \"uniform\", packet_error_rate = \"1%\" }\n"),
        1 => Just("jitter = { kind = \"uniform\", spread = \"200 us\" }\n"),
        1 => Just("in_flight = \"lost\"\n\
             timeline = [{ at = \"700 ms\", up = false }, { at = \"900 ms\", up = true }]\n"),
        // What comes later arrives at the same instant, or before.
        2 => Just("timeline = [{ at = \"0 s\", one_way_delay = \"60 ms\" }, \
             { at = \"500 ms\", one_way_delay = \"9 ms\" }, { at = \"1 s\", rate = \"1 Mbit/s\" }]\n"),
        1 => Just("timeline = [{ at = \"600 ms\", one_way_delay = \"70 ms\", route = 1 }, \
             { at = \"1100 ms\", one_way_delay = \"8 ms\", route = 2 }]\n"),
    ];
    let all = (rate, delay, queue, more);
    all.prop_map(|(rate, delay, queue, more)| Line {
        rate,
        delay,
        queue,
        more,
    })
}

/// A flow between two hosts, as text.
#[derive(Clone, Debug)]
struct Course {
    hosts: (usize, usize),
    start: u64,
    what: &'static str,
}

fn course() -> impl Strategy<Value = Course> {
    let what = prop_oneof![
        6 => Just("transport = \"sack\"\napplication = { kind = \"transfer\", size = \"60 kB\" }\n"),
        1 => Just("transport = \"sack\"\ndns = true\napplication = { kind = \"transfer\", size = \"9 kB\" }\n"),
        2 => Just("transport = \"sack\"\napplication = { kind = \"transfer\", size = \"1 B\" }\n\
             handshake = \"skipped\"\n"),
        2 => Just("transport = \"cubic\"\napplication = \"persistent\"\nstop = \"1500 ms\"\n"),
        1 => Just("transport = \"bbr\"\napplication = \"persistent\"\nstop = \"900 ms\"\n\
             handshake = \"skipped\"\n"),
        1 => Just("transport = \"hybla\"\nstop = \"1200 ms\"\napplication = { kind = \"on-off\", \
             rate = \"900 kbit/s\", packet_size = \"700 B\", on = \"200 ms\", off = \"100 ms\" }\n"),
        2 => Just("stop = \"1300 ms\"\napplication = { kind = \"constant-rate\", \
             rate = \"400 kbit/s\", packet_size = \"500 B\" }\n"),
        1 => Just("transport = \"sack\"\napplication = { kind = \"request-response\", \
             request = \"300 B\", response = \"20 kB\", count = 3, think_time = \"50 ms\" }\n"),
        1 => Just("transport = \"ideal\"\napplication = { kind = \"transfer\", size = \"60 kB\" }\n"),
    ];
    let all = (0usize..100, 0usize..100, 0u64..800, what);
    all.prop_map(|(from, to, start, what)| Course {
        hosts: (from, to),
        start,
        what,
    })
}

/// Hosts around a ring of routers, and flows between them.
fn network() -> impl Strategy<Value = String> {
    let core = proptest::collection::vec(line(), 1..4);
    let access = proptest::collection::vec((line(), 0usize..100), 3..8);
    let courses = proptest::collection::vec(course(), 1..14);
    (core, access, courses).prop_map(|(core, access, courses)| {
        let mut text = String::from("duration = \"3 s\"\n");
        let link = |text: &mut String, name: &str, between: String, line: &Line| {
            let Line {
                rate,
                delay,
                queue,
                more,
            } = line;
            let _ = write!(
                text,
                "[link.{name}]\nbetween = [{between}]\nrate = \"{rate}\"\n\
                 one_way_delay = \"{delay} ms\"\nqueue = {queue}\n{more}"
            );
        };
        for router in 0..=core.len() {
            let _ = writeln!(text, "[node.r{router}]");
        }
        for host in 0..access.len() {
            let _ = writeln!(text, "[node.h{host}]");
        }
        for (i, line) in core.iter().enumerate() {
            let ends = format!("\"r{i}\", \"r{}\"", i + 1);
            link(&mut text, &format!("core{i}"), ends, line);
        }
        for (i, (line, router)) in access.iter().enumerate() {
            let ends = format!("\"h{i}\", \"r{}\"", router % (core.len() + 1));
            link(&mut text, &format!("access{i}"), ends, line);
        }
        for (i, course) in courses.iter().enumerate() {
            let from = course.hosts.0 % access.len();
            let to = (from + 1 + course.hosts.1 % (access.len() - 1)) % access.len();
            let _ = write!(
                text,
                "[flow.f{i}]\nfrom = \"h{from}\"\nto = \"h{to}\"\nstart = \"{} ms\"\n{}",
                course.start, course.what
            );
        }
        text
    })
}

/// Takes some flows off their route for a while.
fn with_gaps(mut scenario: Scenario, gaps: &[(usize, u64)]) -> Scenario {
    for &(flow, at) in gaps {
        let count = scenario.flows.len();
        let flow = &mut scenario.flows[flow % count];
        if flow.changes.is_empty() {
            let change = |at: u64, is_back: bool| RouteChange {
                at: Time::ZERO + Duration::from_millis(at),
                forward: if is_back {
                    flow.forward.clone()
                } else {
                    Vec::new()
                },
                reverse: flow.reverse.clone(),
            };
            flow.changes = vec![change(at, false), change(at + 150, true)];
        }
    }
    scenario
}

proptest! {
    #[test]
    fn threads_change_nothing(
        text in network(),
        gaps in proptest::collection::vec((0usize..20, 100u64..1_500), 0..3),
        checkpoints in proptest::collection::vec(0u64..3_200, 0..4),
        foreground in prop_oneof![3 => Just(None), 1 => (1usize..4).prop_map(Some)],
        series in prop_oneof![3 => Just(None), 1 => Just(Some(Duration::from_millis(10)))],
        seed in 0u64..1_000,
    ) {
        let at = |ms: u64| Time::ZERO + Duration::from_millis(ms);
        let options = Options {
            seed,
            series,
            foreground,
            checkpoints: checkpoints.into_iter().map(at).collect(),
            start_jitter: Duration::from_millis(seed % 2),
            ..Options::default()
        };
        is_same(&with_gaps(read(&text), &gaps), &options);
    }
}

/// Flows side by side, each with its own links to and from a satellite link.
fn dumbbell(flows: usize, application: &str, transport: &str) -> Scenario {
    let mut text = format!(
        "duration = \"20 s\"\n[transport.t]\n{transport}\n[node.sender]\ncount = {flows}\n[node.gateway]\n[node.station]\n\
         [node.receiver]\ncount = {flows}\n"
    );
    for (name, between, rate, delay) in [
        ("left", "\"sender\", \"gateway\"", 100, 5),
        ("satellite", "\"gateway\", \"station\"", 10, 250),
        ("right", "\"station\", \"receiver\"", 100, 5),
    ] {
        let _ = write!(
            text,
            "[link.{name}]\nbetween = [{between}]\nrate = \"{rate} Mbit/s\"\n\
             one_way_delay = \"{delay} ms\"\nqueue = \"100 packets\"\n"
        );
    }
    for flow in 1..=flows {
        let _ = write!(
            text,
            "[flow.f{flow}]\nfrom = \"sender[{flow}]\"\nto = \"receiver[{flow}]\"\n\
             start = \"{} ms\"\n{application}\n",
            10 * flow
        );
    }
    read(&text)
}

const SACK: &str = "base = \"sack\"";
const FILE: &str = "transport = \"t\"\napplication = { kind = \"transfer\", size = \"200 kB\" }";

#[test]
fn a_dumbbell_is_divided() {
    let scenario = dumbbell(24, FILE, SACK);
    assert_eq!(is_same(&scenario, &Options::default()), 8);
    let (_, told) = on_threads(&scenario, &Options::default(), 2);
    let window = Some(Duration::from_millis(255));
    assert_eq!(told, Threads::Many { threads: 2, window });
}

const ASKS: &str = "application = { kind = \"request-response\", request = \"300 B\", \
                    response = \"20 kB\", count = 6 }";

/// Exchanges, TLS and QUIC keep both ends of a flow together.
#[test]
fn whole_flows_are_divided() {
    let protected = "application = { kind = \"transfer\", size = \"40 kB\" }";
    for (transport, application) in [
        ("base = \"sack\"", ASKS),
        ("base = \"sack\"\ntls = true", protected),
        ("base = \"cubic\"\nprotocol = \"quic\"", ASKS),
    ] {
        let flows = format!("transport = \"t\"\n{application}");
        let mut scenario = dumbbell(10, &flows, transport);
        scenario.duration = Duration::from_secs(8);
        let threads = is_same(&scenario, &Options::default());
        assert_eq!(threads, 8, "{transport}");
    }
}

/// Two ends and what lies between: a link that only one other feeds is offered packets ahead of
/// time, and still can be cut behind.
#[test]
fn one_flow_is_divided_at_the_satellite() {
    let text = include_str!("../../../../scenarios/geo.toml");
    let (_, told) = on_threads(&read(text), &Options::default(), 8);
    let window = Some(Duration::from_micros(255_500));
    assert_eq!(told, Threads::Many { threads: 2, window });
}

/// Flows that share nothing run to the end without meeting.
#[test]
fn what_shares_nothing_never_meets() {
    let mut text = format!("duration = \"5 s\"\n[transport.t]\n{SACK}\n");
    for pair in 0..4 {
        let _ = write!(
            text,
            "[node.a{pair}]\n[node.b{pair}]\n[link.l{pair}]\nbetween = [\"a{pair}\", \"b{pair}\"]\n\
             rate = \"2 Mbit/s\"\none_way_delay = \"0 ms\"\nqueue = \"20 packets\"\n\
             [flow.f{pair}]\nfrom = \"a{pair}\"\nto = \"b{pair}\"\n{FILE}\n"
        );
    }
    let scenario = read(&text);
    let options = Options::default();
    let (_, told) = on_threads(&scenario, &options, 4);
    let window = None;
    assert_eq!(told, Threads::Many { threads: 4, window });
    is_same(&scenario, &options);
}

/// Bounds are those of one thread, and so is what is said of them.
#[test]
fn bounds_hold_on_threads() {
    let mut scenario = dumbbell(8, FILE, SACK);
    scenario.limits.events = 3_000;
    is_same(&scenario, &Options::default());
    let (outcome, _) = on_threads(&scenario, &Options::default(), 3);
    assert!(outcome.contains("TooManyEvents"), "{outcome}");
    scenario = dumbbell(8, FILE, SACK);
    for packets in [20, 60, 150, 400] {
        scenario.limits.packets = packets;
        is_same(&scenario, &Options::default());
    }
}

#[test]
fn a_run_on_threads_can_be_stopped() {
    let (scenario, stop) = (dumbbell(8, FILE, SACK), Stop::switch());
    stop.stop();
    let options = Options {
        stop,
        ..Options::default()
    };
    let mut simulation = Simulation::new(&scenario, &options).unwrap();
    simulation.on_threads(2, |_| {});
    assert_eq!(simulation.run(&mut Unobserved), Err(RunError::Stopped));
}

struct Watches;

impl Observer for Watches {
    fn sent(&mut self, _: Time, _: u32, _: &Packet) {}
    fn received(&mut self, _: Time, _: u32, _: &Packet) {}
}

#[test]
fn the_reason_for_one_thread_is_told() {
    let why = |scenario: &Scenario, threads: usize, observer: &mut dyn Observer| {
        let (options, mut told) = (Options::default(), None);
        let mut simulation = Simulation::new(scenario, &options).unwrap();
        simulation.on_threads(threads, |threads| told = Some(*threads));
        simulation.run(observer).unwrap();
        told.unwrap()
    };
    let scenario = dumbbell(4, FILE, SACK);
    for (threads, expected) in [(1, OneThread::Wanted), (0, OneThread::Wanted)] {
        let told = why(&scenario, threads, &mut Unobserved);
        assert_eq!(told, Threads::One(expected));
    }
    let told = why(&scenario, 2, &mut Watches);
    assert_eq!(told, Threads::One(OneThread::Observed));
    let ties = dumbbell(4, FILE, "base = \"complete-knowledge\"");
    let told = why(&ties, 2, &mut Unobserved);
    assert_eq!(told, Threads::One(OneThread::Ties));
    let asks = format!("transport = \"t\"\n{ASKS}");
    let told = why(&dumbbell(1, &asks, SACK), 2, &mut Unobserved);
    assert_eq!(told, Threads::One(OneThread::OnePiece));
}

/// A row of three links with four flows, for so long at such rates in Mbit/s.
fn spread(seconds: u32, rate: u32, delay_ms: u32) -> Scenario {
    let mut text = format!("duration = \"{seconds} s\"\n[node.l]\n[node.r]\n");
    let link = |name: &str, from: &str, to: &str| {
        format!(
            "[link.{name}]\nbetween = [\"{from}\", \"{to}\"]\nrate = \"{rate} Mbit/s\"\n\
             one_way_delay = \"{delay_ms} ms\"\nqueue = \"100 packets\"\n"
        )
    };
    text.push_str(&link("middle", "l", "r"));
    for i in 0..4 {
        let _ = write!(text, "[node.s{i}]\n[node.u{i}]\n");
        text.push_str(&link(&format!("up{i}"), &format!("s{i}"), "l"));
        text.push_str(&link(&format!("down{i}"), "r", &format!("u{i}")));
        let _ = write!(
            text,
            "[flow.f{i}]\nfrom = \"s{i}\"\nto = \"u{i}\"\ntransport = \"cubic\"\n\
             application = {{ kind = \"persistent\" }}\n"
        );
    }
    read(&text)
}

#[test]
fn a_run_takes_all_cores_where_that_pays() {
    let told_of = |scenario: &Scenario| {
        let stop = Stop::switch();
        let options = Options {
            stop: stop.clone(),
            ..Options::default()
        };
        let mut told = None;
        let mut simulation = Simulation::new(scenario, &options).unwrap();
        simulation.on_cores(|threads| {
            told = Some(*threads);
            // What it yields is not asked.
            stop.stop();
        });
        let _ = simulation.run(&mut Unobserved);
        told.unwrap()
    };
    let small = Threads::One(OneThread::Small);
    assert_eq!(told_of(&spread(5, 2, 100)), small);
    // Minutes of work, in which the parts would meet every few packets.
    assert_eq!(told_of(&spread(100_000, 2, 1)), small);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    match told_of(&spread(1_000, 1_000, 100)) {
        Threads::Many { threads, .. } => assert!(threads > 1 && threads <= cores, "{threads}"),
        Threads::One(why) => assert_eq!((why, cores), (OneThread::Wanted, 1)),
    }
}
