//! `LeoCC` where the path changes every 15 s, at any phase of the clock, and where it does
//! not. What is measured is printed as the rows of two tables, which fidelity/README.md has.

#![allow(
    clippy::print_stdout,
    reason = "the tables, for who runs these tests to read them"
)]

use crate::line::{Line, named};
use crate::text::read;
use bentpipe_link::{Loss, Piece, Timeline};
use bentpipe_outcome::Outcome;
use bentpipe_random::Stream;
use bentpipe_sim::{Options, run};
use bentpipe_tcp::{Recovery, Transport};
use bentpipe_traffic::Application;
use bentpipe_units::{Duration, Rate, Time};
use std::sync::Arc;

const SECONDS: u64 = 120;
const PERIOD: u64 = 15;
/// When the steps come within the 15 s; nothing in the control knows it.
const PHASES: [u64; 6] = [0, 3, 5, 7, 10, 14];

/// One-way delays in milliseconds and rates in Mbit/s, 15 s each.
type States = [(u64, u64); 4];
/// Two of the steps go up.
const DELAYS: States = [(20, 50), (40, 50), (25, 50), (60, 50)];
const DELAYS_AND_RATES: States = [(20, 50), (40, 20), (25, 60), (60, 30)];
const RATES: States = [(20, 50), (20, 30), (20, 60), (20, 20)];
const STEADY: States = [(10, 50); 4];

/// A path that is reconfigured every 15 s.
#[derive(Clone, Copy)]
struct Path {
    name: &'static str,
    states: States,
    /// How long it is interrupted at each reconfiguration; all is lost meanwhile.
    outage: Duration,
    /// Delay and rate vary between reconfigurations, too.
    varies: bool,
}

impl Path {
    const fn new(name: &'static str, states: States) -> Path {
        Path {
            name,
            states,
            outage: Duration::ZERO,
            varies: false,
        }
    }

    const fn varying(name: &'static str, states: States) -> Path {
        Path {
            varies: true,
            ..Path::new(name, states)
        }
    }

    /// The seconds at which it is reconfigured. The first state lasts until the first.
    fn steps(&self, phase: u64) -> Vec<u64> {
        (0..SECONDS)
            .filter(|second| second % PERIOD == phase && *second > 0)
            .collect()
    }

    /// A tenth of a second each. As on Starlink the rate varies by a fifth (standard
    /// deviation) and forgets half of that in 1.4 s, and a delay by 4 ms: about what the
    /// example trace of the authors' replayer has.
    fn timeline(&self, phase: u64) -> Timeline {
        let steps = self.steps(phase);
        let mut stream = Stream::new(phase, "leocc path");
        let mut surplus = 0.0;
        let mut pieces = Vec::new();
        for tenth in 0..SECONDS * 10 {
            let from = Time::ZERO + Duration::from_millis(100 * tenth);
            let passed = steps.iter().filter(|step| **step * 10 <= tenth).count();
            let (ms, mbps) = self.states[passed % self.states.len()];
            let mut piece = Piece {
                from,
                rate: Rate::from_mbps(mbps),
                one_way_delay: Duration::from_millis(ms),
                sloped: false,
                loss: Loss::Channel,
                up: true,
                route: 0,
                jitter: None,
            };
            if self.varies {
                surplus = 0.95 * surplus + 0.216 * (stream.uniform() - 0.5);
                piece.rate = Rate::from_bps_f64(mbps as f64 * 1e6 * (1.0 + surplus));
                piece.one_way_delay += Duration::from_secs_f64(0.004 * stream.uniform());
            }
            if !self.outage.is_zero() && steps.contains(&(tenth / 10)) && tenth % 10 == 0 {
                pieces.push(Piece { up: false, ..piece });
                piece.from = from + self.outage;
            }
            pieces.push(piece);
        }
        Timeline::new(pieces).unwrap()
    }

    /// Round-trip propagation in ms, weighted by the rates as samples are.
    fn propagation(&self, phase: u64) -> f64 {
        let timeline = self.timeline(phase);
        let up = || timeline.pieces().iter().filter(|piece| piece.up);
        let round_trip = |piece: &Piece| 2e3 * piece.one_way_delay.as_secs();
        let weighted: f64 = up().map(|p| round_trip(p) * p.rate.bps_f64()).sum();
        weighted / up().map(|p| p.rate.bps_f64()).sum::<f64>()
    }

    /// A control over it, with a queue of 500 packets.
    fn run(&self, control: &str, phase: u64) -> Outcome {
        let mut scenario = line(50, 500, 40)
            .with(Application::Persistent, Some(transport(control)))
            .scenario();
        let timeline = Arc::new(self.timeline(phase));
        for link in [1, 2] {
            scenario.links[link].timeline = Some(Arc::clone(&timeline));
        }
        measured(&scenario)
    }
}

fn line(mbps: u64, queue: u32, rtt_ms: u64) -> Line {
    Line {
        rate: Rate::from_mbps(mbps),
        rtt: Duration::from_millis(rtt_ms),
        queue,
        loss: 0.0,
        duration: Duration::from_secs(SECONDS),
        flows: Vec::new(),
    }
}

fn transport(control: &str) -> Transport {
    Transport {
        initial_window: 10.0,
        ..named(control, Recovery::SackRepeat)
    }
}

fn measured(scenario: &bentpipe_scenario::Scenario) -> Outcome {
    run(scenario, &every_20_ms()).unwrap()
}

fn every_20_ms() -> Options {
    Options {
        series: Some(Duration::from_millis(20)),
        ..Options::default()
    }
}

/// Goodput in Mbit/s and mean RTT in ms.
fn figures(outcome: &Outcome) -> (f64, f64) {
    let flow = &outcome.flows[0];
    (
        flow.delivered.as_f64() * 8e-6 / SECONDS as f64,
        flow.mean_rtt.unwrap().as_secs() * 1e3,
    )
}

/// When a flow took the path for another, in seconds: probes of the RTT that end in startup.
fn found(outcome: &Outcome, flow: usize) -> Vec<f64> {
    let mut probing = None;
    let mut found = Vec::new();
    for sample in &outcome.series[flow].sender {
        match sample.phase {
            "probe_rtt" => {
                probing.get_or_insert(sample.at.since(Time::ZERO).as_secs());
            }
            "startup" => found.extend(probing.take()),
            "cruise" => probing = None,
            _ => {}
        }
    }
    found
}

/// Reconfigurations that were found, of these the ones after more than a fifth of a second, and
/// what was taken for one.
fn sorted(steps: &[u64], found: &[f64]) -> [usize; 3] {
    let (mut hits, mut late, mut falsely) = (0, 0, 0);
    let ends = steps[1.min(steps.len())..].iter().chain([&SECONDS]);
    for (step, end) in steps.iter().zip(ends) {
        let mut within = found
            .iter()
            .filter(|at| **at >= *step as f64 && **at < *end as f64);
        if let Some(at) = within.next() {
            hits += 1;
            late += usize::from(*at > *step as f64 + 0.2);
        }
        falsely += within.count();
    }
    let first = steps.first().copied().unwrap_or(SECONDS) as f64;
    falsely += found.iter().filter(|at| **at < first).count();
    [hits, late, falsely]
}

/// What `LeoCC` and BBR do over a path at all phases.
#[derive(Debug)]
struct Compared {
    /// Least share of BBR's rate, least and largest share of its mean RTT.
    rate: f64,
    rtt: [f64; 2],
    /// The mean RTT without any queue over BBR's mean RTT, the smallest.
    without_queue: f64,
    steps: usize,
    found: usize,
    late: usize,
    falsely: usize,
}

fn compared(path: Path) -> Compared {
    let mut all = Compared {
        rate: f64::MAX,
        rtt: [f64::MAX, 0.0],
        without_queue: f64::MAX,
        steps: 0,
        found: 0,
        late: 0,
        falsely: 0,
    };
    let mut spans = [[f64::MAX, 0.0]; 4];
    for phase in PHASES {
        let own = path.run("leocc", phase);
        let ((rate, rtt), (bbr_rate, bbr_rtt)) = (figures(&own), figures(&path.run("bbr", phase)));
        for (span, value) in spans.iter_mut().zip([rate, bbr_rate, rtt, bbr_rtt]) {
            *span = [span[0].min(value), span[1].max(value)];
        }
        all.rate = all.rate.min(rate / bbr_rate);
        all.rtt = [all.rtt[0].min(rtt / bbr_rtt), all.rtt[1].max(rtt / bbr_rtt)];
        all.without_queue = all.without_queue.min(path.propagation(phase) / bbr_rtt);
        let steps = match path.states == STEADY {
            true => Vec::new(),
            false => path.steps(phase),
        };
        let [hits, late, falsely] = sorted(&steps, &found(&own, 0));
        all.steps += steps.len();
        all.found += hits;
        all.late += late;
        all.falsely += falsely;
    }
    let to = |[least, most]: [f64; 2]| format!("{least:.1} to {most:.1}");
    println!(
        "| {} | {} | {} | {} | {} | {:.0} to {:.0}% | {:.0}% | {} of {}, {} late | {} |",
        path.name,
        to(spans[0]),
        to(spans[1]),
        to(spans[2]),
        to(spans[3]),
        100.0 * all.rtt[0],
        100.0 * all.rtt[1],
        100.0 * all.without_queue,
        all.found,
        all.steps,
        all.late,
        all.falsely
    );
    all
}

/// The rate is BBR's or more, but for a fiftieth; the reconfigurations are found, but for
/// `missed` and `late` ones, and nothing else; the mean RTT is below `most` times BBR's.
fn follows(path: Path, [missed, late]: [usize; 2], most: f64) {
    let all = compared(path);
    assert!(all.rate > 0.98, "{all:?}");
    assert!(
        all.found + missed >= all.steps && all.late <= late,
        "{all:?}"
    );
    assert!(all.falsely == 0 && all.rtt[1] < most, "{all:?}");
}

/// BBR's mean RTT is so near the propagation here that no control could be a fifth below it.
#[test]
fn it_finds_steps_of_the_delay_at_any_phase() {
    follows(Path::new("delay", DELAYS), [0, 0], 1.08);
}

#[test]
fn it_finds_steps_of_delay_and_rate_at_any_phase() {
    follows(Path::new("delay and rate", DELAYS_AND_RATES), [0, 0], 1.09);
}

/// The RTT is the same before and after.
#[test]
fn it_finds_interruptions_in_which_all_is_lost() {
    let path = Path {
        outage: Duration::from_millis(60),
        ..Path::new("rate, and down for 60 ms", RATES)
    };
    follows(path, [1, 0], 1.02);
}

/// A queue hides a shorter path until it has gone.
#[test]
fn where_the_rate_varies_it_queues_less_than_bbr() {
    let both = Path::varying("delay and rate, and all varies", DELAYS_AND_RATES);
    follows(
        Path::varying("delay, and all varies", DELAYS),
        [0, 10],
        0.93,
    );
    follows(both, [0, 2], 0.85);
}

#[test]
fn where_the_rate_varies_and_nothing_is_reconfigured_it_finds_nothing() {
    let all = compared(Path::varying("nothing, but all varies", STEADY));
    assert!(all.rate > 0.98, "{all:?}");
    assert!(all.falsely == 0 && all.rtt[1] < 0.8, "{all:?}");
}

/// Slots of Starlink at six phases, a draw of the jitter every 20 ms: changes, those found, those found
/// late, and what was taken for one.
fn over_slots(preset: &str) -> [usize; 4] {
    let mut sums = [0; 4];
    for phase in PHASES {
        let text = format!(
            "duration = \"{SECONDS} s\"\n[node.a]\n[node.b]\n[link.x]\n\
             between = [\"a\", \"b\"]\nrate = \"50 Mbit/s\"\none_way_delay = \"20 ms\"\n\
             queue = \"1 BDP\"\nslots = {{ preset = \"{preset}\", offset = \"{phase} s\" }}\n\
             [link.x.reverse]\nrate = \"10 Mbit/s\"\n[transport.t]\nbase = \"leocc\"\n\
             profile = \"linux\"\n[flow.f]\nfrom = \"a\"\nto = \"b\"\ntransport = \"t\"\n\
             application = \"persistent\"\n"
        );
        let options = Options {
            seed: phase + 1,
            ..every_20_ms()
        };
        let outcome = run(&read(&text), &options).unwrap();
        let steps = Path::new("slots", STEADY).steps(phase);
        let [hits, late, falsely] = sorted(&steps, &found(&outcome, 0));
        for (sum, more) in sums.iter_mut().zip([steps.len(), hits, late, falsely]) {
            *sum += more;
        }
    }
    let [steps, hits, late, falsely] = sums;
    println!("| {preset} | {hits} of {steps}, {late} late | {falsely} |");
    sums
}

/// Of the changes of slot an endpoint can see those that interrupt the path for longer than 45 ms,
/// which are half of them, and steps that exceed the jitter.
#[test]
fn jitter_does_not_look_like_reconfigurations() {
    for preset in ["starlink-2023-near", "starlink-2023"] {
        let [steps, hits, _, falsely] = over_slots(preset);
        assert!(
            5 * hits > 2 * steps && 4 * falsely < steps,
            "{hits} {falsely}"
        );
    }
}

#[test]
fn its_queue_is_a_fraction_of_that_of_cubic() {
    for path in [Path::new("", DELAYS), Path::new("", DELAYS_AND_RATES)] {
        let (own, cubic) = (path.run("leocc", 7), path.run("cubic", 7));
        let queue = |outcome: &Outcome| outcome.links[1].mean_queue_packets;
        assert!(
            queue(&own) < 0.2 * queue(&cubic),
            "{} {}",
            queue(&own),
            queue(&cubic)
        );
        let (with, rtt) = (figures(&cubic).1, figures(&own).1);
        assert!(rtt < 0.6 * with, "{rtt} {with}");
    }
}

/// Flows of these controls, begun 5 s apart, on a path without reconfigurations: goodputs in
/// Mbit/s, and what each takes falsely for reconfigurations.
fn beside(controls: &[&str], mbps: u64, queue: u32, rtt_ms: u64) -> Vec<(f64, usize)> {
    let mut line = line(mbps, queue, rtt_ms);
    for control in controls {
        line = line.with(Application::Persistent, Some(transport(control)));
    }
    let mut scenario = line.scenario();
    for (flow, start) in scenario.flows.iter_mut().zip((0..).step_by(5)) {
        flow.start = Time::ZERO + Duration::from_secs(start);
    }
    let outcome = measured(&scenario);
    let goodput = |flow: usize| outcome.flows[flow].delivered.as_f64() * 8e-6 / SECONDS as f64;
    let of = |flow| (goodput(flow), found(&outcome, flow).len());
    let all: Vec<(f64, usize)> = (0..controls.len()).map(of).collect();
    let rates: Vec<String> = all.iter().map(|(rate, _)| format!("{rate:.1}")).collect();
    let falsely: usize = all.iter().map(|flow| flow.1).sum();
    println!(
        "| {} | {mbps} Mbit/s, {rtt_ms} ms | {queue} | {} | {falsely} |",
        controls.join(", "),
        rates.join(", ")
    );
    all
}

/// What it takes falsely for reconfigurations, and what it gets, where flows of its own kind share
/// the path.
#[test]
fn flows_of_its_own_kind_do_not_look_like_reconfigurations() {
    for (count, mbps, queue, rtt, most) in [
        (2, 50, 100, 40, 0),
        (2, 50, 500, 40, 0),
        (2, 10, 100, 100, 0),
        (3, 50, 100, 40, 0),
        (3, 50, 500, 40, 0),
        (3, 10, 100, 100, 1),
        (8, 50, 500, 40, 0),
    ] {
        let all = beside(&vec!["leocc"; count], mbps, queue, rtt);
        let falsely: usize = all.iter().map(|flow| flow.1).sum();
        assert!(falsely <= most, "{all:?}");
        let sum: f64 = all.iter().map(|flow| flow.0).sum();
        let least = all.iter().map(|flow| flow.0).fold(f64::MAX, f64::min);
        assert!(sum > 0.9 * mbps as f64, "{all:?}");
        assert!(least > 0.6 * sum / count as f64, "{all:?}");
    }
}

/// The same beside others. One that begins in a full queue takes its end for a shorter path, once.
#[test]
fn queues_of_others_do_not_look_like_reconfigurations() {
    for (controls, mbps, queue, rtt, most) in [
        (["leocc", "cubic"], 50, 100, 40, 0),
        (["leocc", "cubic"], 50, 500, 40, 0),
        (["cubic", "leocc"], 50, 500, 40, 1),
        (["cubic", "leocc"], 10, 100, 100, 1),
        (["leocc", "bbr"], 50, 500, 40, 0),
        (["leocc", "newreno"], 50, 200, 40, 0),
    ] {
        let all = beside(&controls, mbps, queue, rtt);
        let falsely: usize = all.iter().map(|flow| flow.1).sum();
        assert!(falsely <= most, "{all:?}");
        let sum: f64 = all.iter().map(|flow| flow.0).sum();
        assert!(sum > 0.9 * mbps as f64, "{all:?}");
    }
}
