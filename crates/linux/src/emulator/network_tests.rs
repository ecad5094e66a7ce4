//! The same arrivals meet the same links as in the simulator: what the flows of
//! a simulated run send is sent through the live network, and what arrives, and
//! when, is compared packet by packet.

use super::super::plan::{self, Pairs};
use super::*;
use bentpipe_scenario::Document;
use bentpipe_sim::{Observer, Options, Simulation};
use bentpipe_tcp::Packet;
use bentpipe_tcp::packet::{ecn, priority};
use std::path::Path;

/// What the ends of a simulated run send and receive.
#[derive(Default)]
struct Recorder {
    sent: Vec<(Time, Packet)>,
    received: Vec<(Time, u32, Packet)>,
}

impl Observer for Recorder {
    fn sent(&mut self, now: Time, _: u32, packet: &Packet) {
        self.sent.push((now, *packet));
    }
    fn received(&mut self, now: Time, endpoint: u32, packet: &Packet) {
        self.received.push((now, endpoint, *packet));
    }
}

/// What arrives, by the number of the packet.
#[derive(Default)]
struct Arrivals {
    arrived: Vec<(Time, u32, u32)>,
    marked: Vec<u32>,
    lost: u64,
}

impl Sink for Arrivals {
    fn arrives(&mut self, at: Time, endpoint: u32, packet: &InFlight) {
        self.arrived.push((at, endpoint, packet.handle));
    }
    fn lost(&mut self, _: Time, _: u32, _: Option<LinkId>, _: Cause, _: &InFlight) {
        self.lost += 1;
    }
    fn marked(&mut self, packet: &InFlight) {
        self.marked.push(packet.handle);
    }
}

fn scenario(file: &str, set: &[(&str, &str)]) -> Scenario {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let text = std::fs::read_to_string(folder.join(file)).unwrap();
    let mut document = Document::parse(file, &text).unwrap();
    for (key, value) in set {
        let value = bentpipe_scenario::Override::parse(value);
        document.set(key, &value).unwrap();
    }
    document.validate().unwrap()
}

/// Runs `scenario` in the simulator and its packets through a live network.
/// Returns how many were lost and how many marked.
fn compare(scenario: &Scenario, seed: u64) -> (u64, usize) {
    assert_eq!(plan::refusals(scenario), [""; 0]);
    let options = Options {
        seed,
        ..Options::default()
    };
    let mut simulated = Recorder::default();
    let simulation = Simulation::new(scenario, &options).unwrap();
    let outcome = simulation.run(&mut simulated).unwrap();

    let pairs = plan::pairs(scenario, Pairs::Flows);
    let mut network = Network::new(scenario, &pairs, seed);
    let mut live = Arrivals::default();
    for (number, (at, packet)) in simulated.sent.iter().enumerate() {
        let offered = PacketMeta {
            bytes: u32::from(packet.bytes),
            ecn_capable: packet.ecn != ecn::NOT_CAPABLE,
            low_priority: packet.carries(priority::LOW),
            flow: packet.destination,
        };
        let entering = super::Packet {
            slot: number as u32,
            segments: 1,
            offered,
        };
        network.send(*at, packet.destination, entering, &mut live);
    }
    network.finish(outcome.ended_at, &mut live);

    let end = outcome.ended_at;
    let expected: Vec<_> = simulated
        .received
        .iter()
        .filter(|r| r.0 < end)
        .map(|(at, endpoint, packet)| (*at, *endpoint, packet.sequence, packet.ecn))
        .collect();
    let mut found: Vec<_> = live
        .arrived
        .iter()
        .filter(|a| a.0 < end)
        .map(|(at, endpoint, number)| {
            let packet = &simulated.sent[*number as usize].1;
            let marked = live.marked.contains(number);
            let ecn = if marked { ecn::MARKED } else { packet.ecn };
            (*at, *endpoint, packet.sequence, ecn)
        })
        .collect();
    let mut expected = expected;
    expected.sort_unstable();
    found.sort_unstable();
    assert!(expected.len() > 1000, "{} arrivals", expected.len());
    let differ = expected.iter().zip(&found).position(|(a, b)| a != b);
    assert_eq!(
        differ,
        None,
        "{:?}",
        differ.map(|i| (expected[i], found[i]))
    );
    assert_eq!(expected.len(), found.len());
    for (outcome, link) in outcome.links.iter().zip(network.links()) {
        let c = link.counters();
        assert_eq!(outcome.queue_drops, c.queue_drops, "{}", outcome.name);
        assert_eq!(outcome.marks, c.marks, "{}", outcome.name);
    }
    (live.lost, live.marked.len())
}

#[test]
fn losses_and_queues_are_those_of_the_simulator() {
    let (lost, _) = compare(&scenario("geo.toml", &[]), 7);
    assert!(lost > 0);
    let channel = "{ kind = 'gilbert-elliott', packet_error_rate = '2%', mean_burst = 4.0 }";
    let set = [("link.satellite.channel", channel)];
    assert!(compare(&scenario("geo.toml", &set), 3).0 > 0);
}

#[test]
fn queue_disciplines_are_those_of_the_simulator() {
    let queues = [
        "{ kind = 'red', minimum = '5 packets', maximum = '15 packets', limit = '40 packets' }",
        "{ kind = 'codel', limit = '60 packets' }",
        "{ kind = 'priority-drop', limit = '30 packets' }",
    ];
    for queue in queues {
        let set = [("link.satellite.queue", queue)];
        assert!(compare(&scenario("geo.toml", &set), 5).0 > 0, "{queue}");
    }
}

#[test]
fn retransmission_by_the_link_is_that_of_the_simulator() {
    let set = [(
        "link.satellite.arq",
        "{ kind = 'selective-repeat', transmissions = 3, window = 1000 }",
    )];
    compare(&scenario("geo.toml", &set), 5);
}

#[test]
fn handovers_are_those_of_the_simulator() {
    assert!(compare(&scenario("leo-hop.toml", &[]), 2).0 > 0);
}

#[test]
fn marks_are_those_of_the_simulator() {
    let red = "{ kind = 'red', minimum = '5 packets', maximum = '15 packets', \
               limit = '90 packets', weight = 0.1, ecn = true }";
    let ecn = "{ base = 'newreno', ecn = true }";
    for queue in [red, "{ kind = 'codel', limit = '60 packets', ecn = true }"] {
        let set = [
            ("link.satellite.queue", queue),
            ("transport.marked", ecn),
            ("flow.download.transport", "marked"),
        ];
        assert!(compare(&scenario("geo.toml", &set), 5).1 > 0, "{queue}");
    }
}

#[test]
fn shared_media_are_those_of_the_simulator() {
    let frame = "frame = '24 ms'\nslots = 12";
    for rule in [
        format!("kind = 'tdma'\n{frame}"),
        format!("kind = 'cf-dama'\n{frame}"),
        "kind = 'slotted-aloha'\nslot = '4 ms'".to_owned(),
    ] {
        let text = format!(
            r#"
duration = "200 s"
[node.hub]
[node.vsat]
count = 4
[medium.uplink]
rate = "1 Mbit/s"
one_way_delay = "250 ms"
{rule}
[link.up]
between = ["vsat", "hub"]
medium = "uplink"
queue = "20 packets"
channel = {{ kind = "uniform", packet_error_rate = "2%" }}
[link.up.reverse]
rate = "4 Mbit/s"
[flow.datagrams]
from = "vsat"
to = "hub"
application = {{ kind = "on-off", rate = "400 kbit/s", packet_size = "500 B", on = {{ kind = "exponential", mean = "100 ms" }}, off = {{ kind = "exponential", mean = "2 s" }} }}
[flow.file]
from = "hub"
to = "vsat[2]"
transport = "sack"
application = {{ kind = "transfer", size = "1 MB" }}
"#
        );
        let document = Document::parse("media.toml", &text).unwrap();
        assert!(compare(&document.validate().unwrap(), 3).0 > 0, "{rule}");
    }
}

#[test]
fn changing_routes_are_those_of_the_simulator() {
    let set = [("duration", "120 s")];
    compare(&scenario("iridium.toml", &set), 2);
}
