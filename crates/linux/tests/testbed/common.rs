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

/// A link in both directions.
pub(crate) fn link(mbps: u64, delay_ms: u64, packets: u32, loss: f64) -> LinkSettings {
    LinkSettings {
        rate: Rate::from_mbps(mbps),
        one_way_delay: Duration::from_millis(delay_ms),
        queue: QueueSettings::drop_tail(Limit::Packets(packets)),
        channel: ChannelSettings::Uniform {
            packet_error_rate: Ratio::new(loss).expect("a share"),
        },
        framing: Bytes::ZERO,
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
