//! Scenarios, and whether they can be run here.

#[path = "../../src/testing/skip.rs"]
pub(crate) mod skip;

pub(crate) use skip::may;

use bentpipe_link::{ChannelSettings, Limit, LinkSettings, QueueSettings};
use bentpipe_linux::testbed::{self, Options, Run};
use bentpipe_scenario::{NodeId, Scenario, ScenarioBuilder};
use bentpipe_tcp::{Transport, TransportSettings, find_transport};
use bentpipe_traffic::Application;
use bentpipe_units::{Bytes, Duration, Rate, Ratio, Time};
use std::sync::atomic::{AtomicBool, Ordering};

/// A link in both directions.
pub(crate) fn link(mbps: u64, delay_ms: u64, packets: u32, loss: f64) -> LinkSettings {
    LinkSettings {
        channel: ChannelSettings::Uniform {
            packet_error_rate: Ratio::new(loss).expect("a share"),
        },
        ..LinkSettings::new(
            Rate::from_mbps(mbps),
            Duration::from_millis(delay_ms),
            QueueSettings::drop_tail(Limit::Packets(packets)),
        )
    }
}

/// A server and a client with 10 Mbit/s and 100 ms between them.
pub(crate) fn pair() -> (ScenarioBuilder, NodeId, NodeId) {
    let mut builder = Scenario::builder("pair");
    let (server, client) = (builder.node("server"), builder.node("client"));
    builder.link("satellite", server, client, link(10, 50, 200, 0.0));
    builder.duration(Duration::from_secs(20));
    (builder, server, client)
}

/// A transport by name, with the settings of a layer above it.
pub(crate) fn transport(name: &str, above: TransportSettings) -> Transport {
    let named = find_transport(name).expect("a named transport");
    above.over(named.settings()).resolve(name)
}

pub(crate) fn transfer(bytes: u64) -> Application {
    Application::Transfer {
        size: Bytes::new(bytes),
    }
}

/// Runs a scenario with seed 7.
pub(crate) fn run(scenario: &Scenario) -> Run {
    let mut options = Options::new(7).expect("an event descriptor");
    options.series = Some(Duration::from_millis(20));
    options.checkpoints = vec![Time::ZERO, Time::ZERO + Duration::from_millis(400)];
    testbed::run(scenario, options).expect("a run")
}

/// Runs a scenario, and returns with the run how late anything was at most: a packet at the emulator's
/// end of a link, or a thread that sleeps for a millisecond at a time, as what stands between the
/// emulator and a host's TCP does.
pub(crate) fn run_watched(scenario: &Scenario) -> (Run, Duration) {
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let watch = scope.spawn(|| {
            let turn = std::time::Duration::from_millis(1);
            let mut late = std::time::Duration::ZERO;
            while !over.load(Ordering::Relaxed) {
                let began = std::time::Instant::now();
                std::thread::sleep(turn);
                late = late.max(began.elapsed().saturating_sub(turn));
            }
            late
        });
        let run = run(scenario);
        over.store(true, Ordering::Relaxed);
        let late = watch.join().expect("it only sleeps").as_nanos();
        let late = Duration::from_nanos(u64::try_from(late).expect("a short time"));
        let late = late.max(run.report.lateness.max);
        (run, late)
    })
}

/// Fails unless `took` is within 3% of `expected`, or above it by what an emulator and hosts that were
/// `late` explain: a transfer of these tests has at most ten round trips, in each of which data and an
/// acknowledgement may wait once at the emulator and once at a host. Alone on a machine runs are within
/// 1% (`docs/testbed.md`).
pub(crate) fn assert_as_simulated(what: &str, took: f64, expected: f64, late: Duration) {
    const WAITS: f64 = 40.0;
    let most = 1.03 * expected + WAITS * late.as_secs();
    assert!(
        0.97 * expected <= took && took <= most,
        "{what}: {took} s for {expected} s, late by {late} at most"
    );
}
