//! Flows through split-connection PEPs: the spec's example of a terrestrial leg
//! of 10 Mbit/s and 50 ms and a satellite leg of 2 Mbit/s and 250 ms, one way.

use bentpipe_link::{ChannelSettings, Limit, LinkSettings, QueueSettings};
use bentpipe_middlebox::split::{Accept, Pool, SplitSettings};
use bentpipe_outcome::Outcome;
use bentpipe_scenario::{Handshake, Scenario};
use bentpipe_sim::{Options, run};
use bentpipe_tcp::{Transport, find_transport};
use bentpipe_traffic::Application;
use bentpipe_units::{Bytes, Duration, Rate, Ratio, Time};

/// Acknowledges every segment: a delayed ACK would keep a segment in the relay
/// for longer than a round trip.
fn transport(name: &str) -> Transport {
    let mut transport = find_transport(name).unwrap().transport();
    transport.delayed_ack.count = 1;
    transport
}

fn link(mbps: f64, one_way_ms: u64, queue: u32, loss: f64) -> LinkSettings {
    LinkSettings {
        channel: if loss > 0.0 {
            ChannelSettings::Uniform {
                packet_error_rate: Ratio::new(loss).unwrap(),
            }
        } else {
            ChannelSettings::Perfect
        },
        ..LinkSettings::new(
            Rate::from_bps_f64(mbps * 1e6),
            Duration::from_millis(one_way_ms),
            QueueSettings::drop_tail(Limit::Packets(queue)),
        )
    }
}

/// The legs of the example.
#[derive(Clone, Debug)]
struct Example {
    terrestrial_ms: u64,
    satellite_mbps: f64,
    satellite_ms: u64,
    loss: f64,
    duration: u64,
    handshake: Handshake,
    /// None sends end to end.
    pep: Option<SplitSettings>,
    /// A second PEP at the terminal.
    distributed: bool,
    first: Transport,
}

impl Default for Example {
    fn default() -> Example {
        Example {
            terrestrial_ms: 50,
            satellite_mbps: 2.0,
            satellite_ms: 250,
            loss: 0.0,
            duration: 120,
            handshake: Handshake::Counted,
            pep: Some(SplitSettings {
                transport: Some(transport("hybla")),
                ..SplitSettings::default()
            }),
            distributed: false,
            first: transport("cubic"),
        }
    }
}

impl Example {
    fn buffer(mut self, bytes: u64) -> Example {
        if let Some(pep) = &mut self.pep {
            pep.buffer = Bytes::new(bytes);
        }
        self
    }

    fn scenario(&self, application: Application) -> Scenario {
        let mut builder = Scenario::builder("split");
        builder.duration(Duration::from_secs(self.duration));
        let [server, gateway, terminal, client] =
            ["server", "gateway", "terminal", "client"].map(|name| builder.node(name));
        builder.link(
            "lan",
            server,
            gateway,
            link(10.0, self.terrestrial_ms, 1000, 0.0),
        );
        let satellite = link(self.satellite_mbps, self.satellite_ms, 1000, self.loss);
        builder.link("satellite", gateway, terminal, satellite);
        builder.link("home", terminal, client, link(100.0, 1, 1000, 0.0));
        builder
            .flow("download", server, client, application)
            .transport(self.first.clone())
            .handshake(self.handshake);
        if let Some(pep) = &self.pep {
            builder.split_pep("gateway", gateway, pep.clone());
            if self.distributed {
                let transport = None;
                let settings = SplitSettings {
                    transport,
                    ..pep.clone()
                };
                builder.split_pep("terminal", terminal, settings);
            }
        }
        builder.build().unwrap()
    }
}

fn file(bytes: u64) -> Application {
    Application::Transfer {
        size: Bytes::new(bytes),
    }
}

fn outcome(example: &Example, application: Application) -> Outcome {
    run(&example.scenario(application), &Options::default()).unwrap()
}

/// Payload bit/s delivered in the second half of the run.
fn steady(example: &Example) -> f64 {
    let half = Time::ZERO + Duration::from_secs(example.duration / 2);
    let options = Options {
        checkpoints: vec![half],
        ..Options::default()
    };
    let outcome = run(&example.scenario(Application::Persistent), &options).unwrap();
    let before = outcome.checkpoints[0].flows[0].delivered;
    let bytes = outcome.flows[0].delivered.get() - before.get();
    bytes as f64 * 8.0 / outcome.ended_at.since(half).as_secs()
}

/// The payload's part of a rate, with headers of 52 bytes.
fn payload(bps: f64) -> f64 {
    bps * 1448.0 / 1500.0
}

/// RTT of the satellite leg and what is behind it, without queues: a segment
/// one way, an ACK the other.
fn round_trip(example: &Example) -> f64 {
    let bits = (1500.0 + 52.0) * 8.0;
    let transmission = bits / (example.satellite_mbps * 1e6) + bits / 100e6;
    2e-3 * (example.satellite_ms + 1) as f64 + transmission
}

/// min(C, B / RTT of the satellite leg), B with the bytes that it has not
/// acknowledged, within 1%. C is the payload's part of the link.
#[test]
fn the_steady_rate_is_that_of_the_link_or_of_the_buffer() {
    for (satellite_mbps, satellite_ms, terrestrial_ms) in
        [(2.0, 250, 50), (9.0, 250, 50), (5.0, 25, 10)]
    {
        for part in [0.1, 0.25, 0.5, 0.75, 0.9, 1.1, 1.5, 3.0] {
            let example = Example {
                satellite_mbps,
                satellite_ms,
                terrestrial_ms,
                ..Example::default()
            };
            let (rtt, capacity) = (round_trip(&example), payload(satellite_mbps * 1e6));
            let buffer = (part * capacity * rtt / 8.0) as u64;
            let expected = capacity.min(buffer as f64 * 8.0 / rtt);
            let measured = steady(&example.clone().buffer(buffer));
            let error = measured / expected - 1.0;
            assert!(
                error.abs() < 0.01,
                "{satellite_mbps} Mbit/s {satellite_ms} ms, {part} BDP: {error:+.4}"
            );
        }
    }
}

/// The receive buffer of the PEP is a window, too: over a long way to it, it
/// is the limit. What is being acknowledged is not read yet, so that a segment is
/// lost of it.
#[test]
fn a_long_way_to_the_pep_needs_a_receive_buffer() {
    let example = Example {
        terrestrial_ms: 200,
        satellite_ms: 25,
        ..Example::default()
    };
    let pep = |receive_buffer| SplitSettings {
        buffer: Bytes::new(200_000),
        receive_buffer: Some(Bytes::new(receive_buffer)),
        ..SplitSettings::default()
    };
    let with = |receive_buffer| Example {
        pep: Some(pep(receive_buffer)),
        ..example.clone()
    };
    let expected = 27.0 * 1448.0 * 8.0 / (0.4 + 1552.0 * 8.0 / 10e6);
    let error = steady(&with(28 * 1448)) / expected - 1.0;
    assert!(error.abs() < 0.01, "{error}");
    let error = steady(&with(200_000)) / payload(2e6) - 1.0;
    assert!(error.abs() < 0.01, "{error}");
}

/// With one pool for everything the buffer turns over once in both round trips.
#[test]
fn a_shared_pool_needs_room_for_the_way_to_the_pep() {
    let example = Example::default();
    let pep = SplitSettings {
        buffer: Bytes::new(43 * 1448),
        pool: Pool::Shared,
        ..SplitSettings::default()
    };
    let both = round_trip(&example) + 0.1 + 1552.0 * 8.0 / 10e6;
    let expected = 43.0 * 1448.0 * 8.0 / both;
    let measured = steady(&Example {
        pep: Some(pep),
        ..example
    });
    let error = measured / expected - 1.0;
    assert!(error.abs() < 0.05, "{error}");
}

/// The example of the literature: 2 Mbit/s in the long run, and a relay that
/// grows to its buffer because the terrestrial leg is faster.
#[test]
fn the_relay_fills_and_the_file_is_acknowledged_before_it_arrives() {
    let example = Example::default().buffer(200_000);
    let o = outcome(&example, file(3_000_000));
    let (flow, legs) = (&o.flows[0], &o.legs);
    assert_eq!(legs.len(), 2);
    assert_eq!(
        [legs[0].nodes.as_str(), &legs[1].nodes],
        ["server > gateway", "gateway > client"]
    );
    assert_eq!(
        [legs[0].transport.as_str(), &legs[1].transport],
        ["cubic", "hybla"]
    );
    assert_eq!(legs[1].max_buffered, Bytes::new(200_000));
    assert!(legs[1].mean_buffered > Bytes::new(150_000));
    assert!(legs[1].max_waiting > Bytes::new(190_000));
    assert_eq!(flow.delivered, Bytes::new(3_000_000));
    let received = flow.transfer_time.unwrap();
    let acknowledged = legs[0].acknowledged_after.unwrap();
    // Two buffers of 200 kB at 1.93 Mbit/s: 1.66 s.
    let ahead = received.as_secs() - acknowledged.as_secs();
    assert!((1.0..2.5).contains(&ahead), "{ahead}");
    // 12.4 s of transmission, 0.1 s to the PEP, half a second of latency.
    assert!(
        received.as_secs() > 12.9 && received.as_secs() < 15.0,
        "{received}"
    );
}

#[test]
fn a_split_beats_end_to_end_on_a_lossy_satellite_leg() {
    let mean = |pep: Option<SplitSettings>| {
        let lossy = Example {
            loss: 0.01,
            duration: 600,
            pep,
            first: transport("newreno"),
            ..Example::default()
        };
        let scenario = lossy.scenario(file(1_000_000));
        let time = |seed| {
            let options = Options {
                seed,
                ..Options::default()
            };
            let outcome = run(&scenario, &options).unwrap();
            outcome.flows[0].transfer_time.unwrap().as_secs()
        };
        (1..=20).map(time).sum::<f64>() / 20.0
    };
    // The same NewReno, over half a second instead of 0.6 s.
    let (split, whole) = (mean(Some(SplitSettings::default())), mean(None));
    assert!(split * 1.1 < whole, "{split} {whole}");
}

#[test]
fn two_peps_make_three_legs() {
    let example = Example {
        distributed: true,
        loss: 0.005,
        ..Example::default()
    };
    let o = outcome(&example, file(1_000_000));
    let nodes: Vec<_> = o.legs.iter().map(|l| l.nodes.as_str()).collect();
    assert_eq!(
        nodes,
        [
            "server > gateway",
            "gateway > terminal",
            "terminal > client"
        ]
    );
    let transports: Vec<_> = o.legs.iter().map(|l| l.transport.as_str()).collect();
    assert_eq!(transports, ["cubic", "hybla", "cubic"]);
    assert!(o.legs.iter().all(|l| l.delivered == Bytes::new(1_000_000)));
    assert_eq!(
        o.flows[0].retransmissions,
        o.legs.iter().map(|l| l.retransmissions).sum::<u64>()
    );
    assert!(o.legs[0].retransmissions == 0 && o.legs[2].retransmissions == 0);
    // Every link is crossed by the flow, each way.
    assert_eq!(o.crossings.len(), 6);
    assert!(
        o.crossings
            .iter()
            .all(|c| c.flow == 0 && c.counts().delivered_packets > 0)
    );
}

#[test]
fn an_early_accept_saves_the_terrestrial_handshake_a_satellite_round_trip() {
    let late = |accept| {
        let mut example = Example::default();
        if let Some(pep) = &mut example.pep {
            pep.accept = accept;
        }
        let o = outcome(&example, file(1448));
        o.flows[0].transfer_time.unwrap().as_secs()
    };
    // Early: half a second of SYNs over the satellite begins with the
    // server's SYN; late: the data wait for the SYN-ACK to come back, too.
    let (early, late) = (late(Accept::Early), late(Accept::Late));
    assert!((late - early - 0.1).abs() < 0.01, "{early} {late}");
}

#[test]
fn requests_go_up_and_responses_down() {
    for distributed in [false, true] {
        let example = Example {
            distributed,
            ..Example::default()
        };
        let application = Application::RequestResponse {
            request: Bytes::new(300),
            response: Bytes::new(50_000),
            count: 5,
            think_time: Duration::from_millis(500),
        };
        let o = outcome(&example, application);
        assert_eq!(o.flows[0].delivered, Bytes::new(250_000));
        assert!(o.flows[0].transfer_time.is_some());
    }
}

#[test]
fn connections_that_exist_have_no_handshake() {
    let example = Example {
        handshake: Handshake::Skipped,
        distributed: true,
        ..Example::default()
    };
    let o = outcome(&example.buffer(3_000), file(1448));
    let took = o.flows[0].transfer_time.unwrap().as_secs();
    assert!((took - 0.309).abs() < 0.002, "{took}");
}

#[test]
fn the_same_seed_gives_the_same_outcome_and_a_series_changes_nothing() {
    let example = Example {
        loss: 0.02,
        distributed: true,
        ..Example::default()
    };
    let scenario = example.scenario(file(500_000));
    let plain = run(&scenario, &Options::default()).unwrap();
    assert_eq!(plain, run(&scenario, &Options::default()).unwrap());
    let recorded = Options {
        series: Some(Duration::ZERO),
        ..Options::default()
    };
    let mut recorded = run(&scenario, &recorded).unwrap();
    let series = std::mem::take(&mut recorded.series);
    assert_eq!(plain, recorded);
    let names: Vec<_> = series.iter().map(|s| s.flow.as_str()).collect();
    assert_eq!(names, ["download", "download/gateway", "download/terminal"]);
    let most = series[1].held.iter().map(|&(_, b)| b).max();
    assert_eq!(most, Some(plain.legs[1].max_buffered));
    assert!(
        series[2]
            .delivered
            .last()
            .is_some_and(|&(_, b)| b == Bytes::new(500_000))
    );
}

/// `count` files over the satellite leg with the transport of that name.
fn told(name: &str, count: u32, loss: f64, bytes: u64) -> Outcome {
    let mut pep = SplitSettings {
        transport: Some(transport(name)),
        buffer: Bytes::new(1_000_000),
        ..SplitSettings::default()
    };
    pep.receive_buffer = Some(Bytes::new(100_000));
    let example = Example {
        loss,
        pep: Some(pep),
        duration: 400,
        ..Example::default()
    };
    let mut scenario = example.scenario(file(bytes));
    let flow = scenario.flows[0].clone();
    for i in 1..count {
        let mut another = flow.clone();
        another.name = format!("download[{i}]");
        scenario.flows.push(another);
    }
    run(&scenario, &Options::default()).unwrap()
}

/// It paces at the rate of the link from the first segment on: half a second of
/// SYNs and data on their way, 3 MB at 1.9307 Mbit/s, nothing lost at the queue.
#[test]
fn complete_knowledge_takes_the_link_at_once() {
    let o = told("complete-knowledge", 1, 0.0, 3_000_000);
    let took = o.flows[0].transfer_time.unwrap().as_secs();
    let least = 3_000_000.0 * 8.0 / payload(2e6) + 3.0 * 0.251;
    // The file also comes over the terrestrial leg, beginning slowly.
    assert!(took > least && took < least + 0.15, "{took} {least}");
    assert_eq!(o.legs[1].retransmissions, 0);
    assert!(o.links[2].max_queue_packets <= 2);
}

#[test]
fn complete_knowledge_loses_no_more_than_the_channel_takes() {
    let o = told("complete-knowledge", 1, 0.02, 3_000_000);
    let took = o.flows[0].transfer_time.unwrap().as_secs();
    let least = 3_000_000.0 * 8.0 / (0.98 * payload(2e6)) + 3.0 * 0.251;
    // The last losses cost round trips.
    assert!(took > least - 0.3 && took < least + 2.0, "{took} {least}");
    let (legs, satellite) = (&o.legs[1], &o.links[2]);
    assert_eq!(satellite.queue_drops, 0);
    assert!(legs.retransmissions <= satellite.channel_losses + legs.spurious_retransmissions);
}

#[test]
fn those_who_are_told_share_alike() {
    for name in ["complete-knowledge", "satpep"] {
        let o = told(name, 4, 0.0, 1_000_000);
        let times = o.flows.iter().map(|f| f.transfer_time.unwrap().as_secs());
        let times: Vec<f64> = times.collect();
        let least = 4_000_000.0 * 8.0 / payload(2e6) + 0.75;
        for took in &times {
            assert!(
                *took > least - 1.0 && *took < least + 1.5,
                "{name}: {times:?} {least}"
            );
        }
        let drops: u64 = o.links.iter().map(|l| l.queue_drops).sum();
        assert_eq!(drops, 0, "{name}");
    }
}

/// By weight: 3 to 1 while both have something to send.
#[test]
fn complete_knowledge_shares_by_weight() {
    let mut scenario = Example::default().scenario(Application::Persistent);
    let mut flow = scenario.flows[0].clone();
    for (name, weight) in [("a", 3.0), ("b", 1.0)] {
        flow.name = name.into();
        let split = flow.split.as_mut().unwrap();
        split.legs[1].transport = transport("complete-knowledge");
        split.legs[1].transport.parameters.set("weight", weight);
        scenario.flows.push(flow.clone());
    }
    scenario.flows.remove(0);
    let o = run(&scenario, &Options::default()).unwrap();
    let [a, b] = [0, 1].map(|i: usize| o.flows[i].delivered.as_f64());
    assert!((a / b - 3.0).abs() < 0.05, "{a} {b}");
    let used = (a + b) * 8.0 / 120.0 / payload(2e6);
    assert!(used > 0.985, "{used}");
}

/// End to end, too: no PEP is needed to know.
#[test]
fn a_plain_flow_can_be_told() {
    let example = Example {
        pep: None,
        first: transport("complete-knowledge"),
        ..Example::default()
    };
    let o = outcome(&example, file(3_000_000));
    let took = o.flows[0].transfer_time.unwrap().as_secs();
    let least = 3_000_000.0 * 8.0 / payload(2e6) + 2.0 * 0.602;
    assert!((took - least).abs() < 0.05, "{took} {least}");
}
