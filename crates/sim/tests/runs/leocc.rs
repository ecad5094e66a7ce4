//! `LeoCC` where the path changes every 15 s, at any phase of the clock.

use crate::line::{Line, named};
use bentpipe_link::{Loss, Piece, Timeline};
use bentpipe_outcome::{Outcome, SenderSample};
use bentpipe_sim::{Options, run};
use bentpipe_tcp::{Recovery, Transport};
use bentpipe_traffic::Application;
use bentpipe_units::{Duration, Rate, Time};
use std::sync::Arc;

const SECONDS: u64 = 120;
const PERIOD: u64 = 15;
/// When the steps come within the 15 s; nothing in the control knows it.
const PHASES: [u64; 6] = [0, 3, 5, 7, 10, 14];

/// One-way delays in milliseconds and rates in Mbit/s, 15 s each. Two of the steps go up.
type Path = [(u64, u64); 4];
const DELAYS: Path = [(20, 50), (40, 50), (25, 50), (60, 50)];
const DELAYS_AND_RATES: Path = [(20, 50), (40, 20), (25, 60), (60, 30)];

fn piece(at: u64, (ms, mbps): (u64, u64)) -> Piece {
    Piece {
        from: Time::ZERO + Duration::from_secs(at),
        rate: Rate::from_mbps(mbps),
        one_way_delay: Duration::from_millis(ms),
        sloped: false,
        loss: Loss::Channel,
        up: true,
        route: 0,
    }
}

/// A control over `path` whose steps come at `phase`, with a queue of 500 packets.
fn over(control: &str, path: Path, phase: u64) -> Outcome {
    let transport = Transport {
        initial_window: 10.0,
        ..named(control, Recovery::SackRepeat)
    };
    let line = Line {
        rate: Rate::from_mbps(50),
        rtt: Duration::from_millis(40),
        queue: 500,
        loss: 0.0,
        duration: Duration::from_secs(SECONDS),
        flows: Vec::new(),
    };
    let mut scenario = line
        .with(Application::Persistent, Some(transport))
        .scenario();
    let mut pieces = Vec::new();
    if phase > 0 {
        pieces.push(piece(0, path[3]));
    }
    let steps = path.iter().zip(0..);
    pieces.extend(steps.map(|(&state, i)| piece(phase + i * PERIOD, state)));
    let timeline = Timeline::new(pieces).unwrap();
    let timeline = Arc::new(timeline.repeating(Duration::from_secs(60)).unwrap());
    for link in [1, 2] {
        scenario.links[link].timeline = Some(Arc::clone(&timeline));
    }
    let options = Options {
        series: Some(Duration::from_millis(50)),
        ..Options::default()
    };
    run(&scenario, &options).unwrap()
}

/// Goodput in Mbit/s, mean RTT in ms, mean queue in packets.
fn figures(outcome: &Outcome) -> (f64, f64, f64) {
    let flow = &outcome.flows[0];
    (
        flow.delivered.as_f64() * 8e-6 / SECONDS as f64,
        flow.mean_rtt.unwrap().as_secs() * 1e3,
        outcome.links[1].mean_queue_packets,
    )
}

/// Times that the control began to probe the RTT.
fn probes(outcome: &Outcome) -> usize {
    let samples = &outcome.series[0].sender;
    let begins = |pair: &&[SenderSample]| {
        let [before, after] = pair else { return false };
        before.phase != "probe_rtt" && after.phase == "probe_rtt"
    };
    samples.windows(2).filter(begins).count()
}

/// Round-trip propagation over a minute, weighted by the rates as samples are.
fn propagation(path: Path) -> f64 {
    let weighted: u64 = path.iter().map(|(ms, mbps)| 2 * ms * mbps).sum();
    let weight: u64 = path.iter().map(|(_, mbps)| mbps).sum();
    weighted as f64 / weight as f64
}

/// At each phase: every step is found, and nothing else; the rate is at least BBR's; the
/// RTT stays within `most` of the propagation. BBR's own RTT is nearly that, so that no
/// control could be far below it.
fn follows(path: Path, most: f64) {
    for phase in PHASES {
        let (leocc, bbr) = (over("leocc", path, phase), over("bbr", path, phase));
        let ((own, rtt, _), (first, ..)) = (figures(&leocc), figures(&bbr));
        let shown = format!("phase {phase}: {:?} {:?}", figures(&leocc), figures(&bbr));
        // One at time zero is none.
        let steps = (SECONDS - phase).div_ceil(PERIOD) - u64::from(phase == 0);
        assert_eq!(probes(&leocc) as u64, steps, "{shown}");
        assert!(own >= first, "{shown}");
        assert!(rtt < most * propagation(path), "{shown}");
    }
}

#[test]
fn it_finds_steps_of_the_delay_at_any_phase() {
    follows(DELAYS, 1.12);
}

#[test]
fn it_finds_steps_of_delay_and_rate_at_any_phase() {
    follows(DELAYS_AND_RATES, 1.25);
}

#[test]
fn its_queue_is_a_fraction_of_that_of_cubic() {
    for path in [DELAYS, DELAYS_AND_RATES] {
        let ((_, rtt, own), (_, with_cubic, full)) = (
            figures(&over("leocc", path, 7)),
            figures(&over("cubic", path, 7)),
        );
        assert!(own < 0.2 * full, "{own} {full}");
        assert!(rtt < 0.6 * with_cubic, "{rtt} {with_cubic}");
    }
}

/// Flows of these controls, begun 5 s apart, on a path without reconfigurations.
fn beside(controls: &[&str], mbps: u64, queue: u32, rtt_ms: u64) -> Outcome {
    let mut line = Line {
        rate: Rate::from_mbps(mbps),
        rtt: Duration::from_millis(rtt_ms),
        queue,
        loss: 0.0,
        duration: Duration::from_secs(SECONDS),
        flows: Vec::new(),
    };
    for control in controls {
        let transport = Transport {
            initial_window: 10.0,
            ..named(control, Recovery::SackRepeat)
        };
        line = line.with(Application::Persistent, Some(transport));
    }
    let mut scenario = line.scenario();
    for (flow, start) in scenario.flows.iter_mut().zip((0..).step_by(5)) {
        flow.start = Time::ZERO + Duration::from_secs(start);
    }
    let options = Options {
        series: Some(Duration::from_millis(20)),
        ..Options::default()
    };
    run(&scenario, &options).unwrap()
}

/// Times that a flow measured its path anew, as after a reconfiguration: a probe that ends in
/// startup.
fn restarts(outcome: &Outcome, flow: usize) -> usize {
    let samples = &outcome.series[flow].sender;
    let restarts = |pair: &&[SenderSample]| {
        let [before, after] = pair else { return false };
        before.phase == "probe_rtt" && after.phase == "startup"
    };
    samples.windows(2).filter(restarts).count()
}

/// Goodputs in Mbit/s and restarts of each flow.
fn shares(controls: &[&str], mbps: u64, queue: u32, rtt_ms: u64) -> Vec<(f64, usize)> {
    let outcome = beside(controls, mbps, queue, rtt_ms);
    let goodput = |flow: usize| outcome.flows[flow].delivered.as_f64() * 8e-6 / SECONDS as f64;
    let of = |flow| (goodput(flow), restarts(&outcome, flow));
    (0..controls.len()).map(of).collect()
}

/// What it takes falsely for reconfigurations, and what it gets, where flows of its own kind share
/// the path: none for two at 50 Mbit/s; for three with a queue of three bandwidth-delay products one
/// in a minute and a quarter each, a known limit.
#[test]
fn flows_of_its_own_kind_rarely_look_like_reconfigurations() {
    for (count, mbps, queue, rtt, most) in [
        (2, 50, 100, 40, 0),
        (2, 50, 500, 40, 0),
        (2, 10, 100, 100, 1),
        (3, 50, 100, 40, 0),
        (3, 50, 500, 40, 5),
    ] {
        let all = shares(&vec!["leocc"; count], mbps, queue, rtt);
        let falsely: usize = all.iter().map(|flow| flow.1).sum();
        assert!(falsely <= most, "{all:?}");
        let sum: f64 = all.iter().map(|flow| flow.0).sum();
        let least = all.iter().map(|flow| flow.0).fold(f64::MAX, f64::min);
        assert!(sum > 0.9 * mbps as f64, "{all:?}");
        assert!(least > 0.6 * sum / count as f64, "{all:?}");
    }
}

/// The same beside cubic: none with a queue of half a bandwidth-delay product, one in half a minute
/// with longer ones. A known limit, and no worse than this.
#[test]
fn the_end_of_a_queue_of_cubic_looks_like_a_reconfiguration() {
    for (controls, mbps, queue, rtt, most) in [
        (["leocc", "cubic"], 50, 100, 40, 0),
        (["leocc", "cubic"], 50, 500, 40, 4),
        (["cubic", "leocc"], 10, 100, 100, 7),
    ] {
        let all = shares(&controls, mbps, queue, rtt);
        let falsely: usize = all.iter().map(|flow| flow.1).sum();
        assert!(falsely <= most, "{all:?}");
        // It is not driven out, and does not drive cubic out.
        let sum: f64 = all.iter().map(|flow| flow.0).sum();
        let least = all.iter().map(|flow| flow.0).fold(f64::MAX, f64::min);
        assert!(sum > 0.9 * mbps as f64 && least > 0.3 * sum, "{all:?}");
    }
}
