//! BBR over whole paths: what it fills, which queue it leaves, what its phases
//! cost.

use crate::line::{Line, named};
use bentpipe_outcome::{FlowSeries, Outcome};
use bentpipe_sim::{Options, run};
use bentpipe_tcp::{Recovery, Transport};
use bentpipe_traffic::Application;
use bentpipe_units::{Duration, Rate, Time};

const SECONDS: u64 = 120;

fn bbr() -> Transport {
    Transport {
        initial_window: 10.0,
        ..named("bbr", Recovery::Sack)
    }
}

/// 10 Mbit/s, of which 9.653 are payload.
fn over(rtt_ms: u64, queue: u32, loss: f64, flows: u32) -> Outcome {
    runs(&bbr(), rtt_ms, queue, loss, flows)
}

fn runs(transport: &Transport, rtt_ms: u64, queue: u32, loss: f64, flows: u32) -> Outcome {
    let mut line = Line {
        rate: Rate::from_mbps(10),
        rtt: Duration::from_millis(rtt_ms),
        queue,
        loss,
        duration: Duration::from_secs(SECONDS),
        flows: Vec::new(),
    };
    for _ in 0..flows {
        line = line.with(Application::Persistent, Some(transport.clone()));
    }
    let options = Options {
        series: Some(Duration::from_millis(20)),
        ..Options::default()
    };
    run(&line.scenario(), &options).unwrap()
}

fn mbps(outcome: &Outcome, flow: usize) -> f64 {
    outcome.flows[flow].delivered.as_f64() * 8e-6 / SECONDS as f64
}

/// The part of the run that a flow spent in `phase`.
fn part(series: &FlowSeries, phase: &str) -> f64 {
    let end = Time::ZERO + Duration::from_secs(SECONDS);
    let ends = series.sender.iter().skip(1).map(|s| s.at).chain([end]);
    let spans = series.sender.iter().zip(ends);
    let time: f64 = spans
        .filter(|(s, _)| s.phase == phase)
        .map(|(s, until)| until.since(s.at).as_secs())
        .sum();
    time / SECONDS as f64
}

#[test]
fn a_deep_queue_stays_short() {
    let outcome = over(50, 2000, 0.0, 1);
    let flow = &outcome.flows[0];
    assert!(mbps(&outcome, 0) > 0.97 * 9.653, "{}", mbps(&outcome, 0));
    assert!(
        flow.mean_rtt.unwrap() < Duration::from_millis(65),
        "{flow:?}"
    );
    assert_eq!((flow.retransmissions, flow.timeouts), (0, 0));
}

#[test]
fn random_losses_hardly_slow_it_down() {
    let outcome = over(50, 42, 0.01, 1);
    assert!(mbps(&outcome, 0) > 0.95 * 9.653, "{}", mbps(&outcome, 0));
}

#[test]
fn the_phases_follow_each_other() {
    let outcome = over(50, 100, 0.0, 1);
    let mut phases: Vec<&str> = outcome.series[0].sender.iter().map(|s| s.phase).collect();
    phases.dedup();
    let expected = ["startup", "drain", "probe_bw", "probe_rtt", "probe_bw"];
    assert_eq!(phases[..5], expected);
    assert!(phases[3..].chunks(2).all(|p| p[0] == "probe_rtt"));
}

#[test]
fn probing_the_rtt_costs_two_percent_on_short_paths() {
    let short = part(&over(50, 42, 0.0, 1).series[0], "probe_rtt");
    assert!((0.015..0.035).contains(&short), "{short}");
}

#[test]
fn probing_the_rtt_of_a_long_path_with_a_standing_queue_costs_more() {
    // Alone a flow sees the RTT whenever its cycle drains the queue; two keep
    // a queue, and probe every ten seconds for two round trips.
    let alone = part(&over(600, 500, 0.0, 1).series[0], "probe_rtt");
    let together = part(&over(600, 500, 0.0, 2).series[0], "probe_rtt");
    assert!(alone < 0.03, "{alone}");
    assert!((0.05..0.14).contains(&together), "{together}");
}

#[test]
fn two_flows_share() {
    let outcome = over(50, 100, 0.0, 2);
    let (a, b) = (mbps(&outcome, 0), mbps(&outcome, 1));
    assert!(a + b > 0.95 * 9.653, "{a} {b}");
    assert!(a.min(b) > 0.7 * a.max(b), "{a} {b}");
}

#[test]
fn a_pause_of_the_application_does_not_lower_the_estimate() {
    // Responses of 500 kB with 3 s between them: after the first, each takes
    // what the path takes and no startup. 500 kB take 415 ms at 10 Mbit/s.
    let line = Line {
        rate: Rate::from_mbps(10),
        rtt: Duration::from_millis(50),
        queue: 100,
        duration: Duration::from_secs(SECONDS),
        ..Line::geo()
    };
    let application = Application::RequestResponse {
        request: bentpipe_units::Bytes::new(100),
        response: bentpipe_units::Bytes::new(500_000),
        count: 10,
        think_time: Duration::from_secs(3),
    };
    let scenario = line.with(application, Some(bbr())).scenario();
    let options = Options {
        series: Some(Duration::ZERO),
        ..Options::default()
    };
    let outcome = run(&scenario, &options).unwrap();
    let delivered = &outcome.series[0].delivered;
    let reached = |bytes: u64| {
        let first = delivered.iter().find(|(_, b)| b.get() >= bytes);
        first.map(|(at, _)| *at).unwrap()
    };
    for i in 1..10 {
        let took = reached(500_000 * (i + 1)).since(reached(500_000 * i + 1));
        assert!(took < Duration::from_millis(460), "{i}: {took:?}");
    }
}

#[test]
fn version_3_fills_a_geostationary_path_and_loses_less_than_version_1() {
    let bbr3 = Transport {
        initial_window: 10.0,
        ..named("bbr3", Recovery::Sack)
    };
    let deep = runs(&bbr3, 600, 1000, 0.0, 1);
    assert!(mbps(&deep, 0) > 0.92 * 9.653, "{}", mbps(&deep, 0));
    assert!(deep.flows[0].mean_rtt.unwrap() < Duration::from_millis(700));
    assert_eq!(deep.flows[0].retransmissions, 0);
    // An eighth of the bandwidth-delay product: startup overflows it.
    let (shallow, first) = (runs(&bbr3, 600, 100, 0.0, 1), over(600, 100, 0.0, 1));
    assert!(mbps(&shallow, 0) > 0.92 * 9.653, "{}", mbps(&shallow, 0));
    let (drops, first) = (shallow.flows[0].queue_drops, first.flows[0].queue_drops);
    assert!(drops > 0 && 3 * drops < 2 * first, "{drops} {first}");
}

#[test]
fn losses_below_its_threshold_cost_version_3_its_short_term_bounds() {
    // 1% of losses, half of what ends a probe: each round with losses lowers the bounds
    // until the next probe, so that version 3 stays below version 1 and far above Reno.
    let with = |name| {
        let transport = Transport {
            initial_window: 10.0,
            ..named(name, Recovery::SackRepeat)
        };
        mbps(&runs(&transport, 600, 1000, 0.01, 1), 0)
    };
    let (first, third, reno) = (with("bbr"), with("bbr3"), with("newreno"));
    assert!(third > 6.0 && third < first, "{third} {first}");
    assert!(third > 10.0 * reno, "{third} {reno}");
}
