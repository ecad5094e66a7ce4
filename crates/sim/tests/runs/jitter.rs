//! Delays that vary from packet to packet, and what they do to slow start.

use crate::line::Line;
use bentpipe_link::{DelayDistribution, JitterSettings};
use bentpipe_outcome::Outcome;
use bentpipe_scenario::Scenario;
use bentpipe_sim::{Options, run};
use bentpipe_tcp::{HostProfile, Transport, TransportSettings, find_transport};
use bentpipe_units::{Duration, Rate};

const MS: Duration = Duration::from_millis(1);

fn cubic() -> Transport {
    let above = TransportSettings {
        profile: Some(HostProfile::Linux),
        ..TransportSettings::default()
    };
    let below = find_transport("cubic").unwrap().settings();
    above.over(below).resolve("cubic")
}

/// 20 MB over 90 Mbit/s and 40 ms, where the delay of the satellite link varies by `jitter`.
fn scenario(jitter: Option<JitterSettings>) -> Scenario {
    let line = Line {
        rate: Rate::from_mbps(90),
        rtt: MS * 40,
        queue: 600,
        ..Line::geo()
    };
    let mut scenario = line.transfer(20_000_000, cubic()).scenario();
    scenario.links[1].jitter = jitter.map(Box::new);
    scenario
}

fn outcome(scenario: &Scenario, seed: u64) -> Outcome {
    let options = Options {
        seed,
        series: Some(Duration::ZERO),
        ..Options::default()
    };
    run(scenario, &options).unwrap()
}

/// The threshold that the first end of slow start has left, segments, where no loss came before.
fn left_at(outcome: &Outcome) -> Option<f64> {
    let samples = &outcome.series[0].sender;
    let first = samples.iter().find(|s| s.ssthresh.is_finite())?;
    (first.retransmissions == 0).then_some(first.ssthresh)
}

#[test]
fn hystart_leaves_earlier_where_the_delay_varies() {
    let jitter = JitterSettings {
        holds: MS * 15,
        ..JitterSettings::new(DelayDistribution::Normal { deviation: MS * 8 })
    };
    let (steady, varying) = (scenario(None), scenario(Some(jitter)));
    let mut windows: Vec<f64> = (1..=21)
        .filter_map(|seed| left_at(&outcome(&varying, seed)))
        .collect();
    windows.sort_unstable_by(f64::total_cmp);
    assert_eq!(windows.len(), 21, "by delay and not by loss, in each run");
    let without = left_at(&outcome(&steady, 1)).unwrap_or(f64::INFINITY);
    let median = windows[10];
    assert!(median < 0.5 * without, "{median} of {without}");
}

#[test]
fn a_run_repeats_and_another_seed_differs() {
    let jitter = JitterSettings::new(DelayDistribution::Pareto { deviation: MS });
    let scenario = scenario(Some(jitter));
    let ended = |seed| outcome(&scenario, seed).ended_at;
    assert_eq!(ended(3), ended(3));
    assert_ne!(ended(3), ended(4));
    // Order is kept: nobody takes a packet for lost that is late.
    assert_eq!(outcome(&scenario, 3).flows[0].spurious_retransmissions, 0);
}
