//! Every packet is somewhere: delivered, dropped, lost, or on a link when the run ends.
//!
//! What is on a link is counted by looking at it (`in_flight_packets`), everything else as it
//! happens, and what ends send and get by an observer.

use crate::crossings::Ends;
use crate::line::{Line, named};
use bentpipe_link::ChannelSettings;
use bentpipe_middlebox::split::Tunnel;
use bentpipe_outcome::{LinkOutcome, Outcome};
use bentpipe_scenario::{Document, Flow, Scenario, SplitPep};
use bentpipe_sim::{Options, Simulation};
use bentpipe_tcp::{Recovery, Transport, transports};
use bentpipe_traffic::Application;
use bentpipe_units::{Bytes, Duration, Rate, Ratio};

/// Packets that a link dropped or lost.
fn gone(link: &LinkOutcome) -> u64 {
    link.queue_drops + link.channel_losses + link.outage_losses
}

/// Runs it and accounts for what every link was handed; what the ends sent and got is in the
/// result.
fn accounted(scenario: &Scenario, what: &str) -> (Outcome, Ends) {
    let mut ends = Ends::default();
    let options = Options::default();
    let simulation = Simulation::new(scenario, &options).unwrap();
    let outcome = simulation.run(&mut ends).unwrap();
    for (index, link) in outcome.links.iter().enumerate() {
        let known = link.delivered_packets + gone(link) + link.in_flight_packets;
        assert_eq!(link.offered_packets, known, "{what}: {link:?}");
        // The flows of the link add up to it, where all its packets are flows'.
        let crossings = outcome.crossings.iter().filter(|c| c.link == index);
        let counts = crossings.map(|c| c.counts());
        let left: u64 = counts
            .map(|c| {
                let gone = c.queue_drops + c.channel_losses + c.outage_losses;
                c.offered_packets - c.delivered_packets - gone
            })
            .sum();
        assert_eq!(left, link.in_flight_packets, "{what}: {link:?}");
    }
    (outcome, ends)
}

/// The same from end to end, where nothing stands between.
fn accounted_from_end_to_end(scenario: &Scenario, what: &str) -> Outcome {
    let (outcome, ends) = accounted(scenario, what);
    let packets = |list: &[(u64, u64)]| list.iter().map(|(packets, _)| packets).sum::<u64>();
    let on_links = |of: fn(&LinkOutcome) -> u64| outcome.links.iter().map(of).sum::<u64>();
    let nowhere: u64 = outcome.flows.iter().map(|f| f.no_route_losses).sum();
    let known = packets(&ends.received) + on_links(gone) + on_links(|l| l.in_flight_packets);
    assert_eq!(packets(&ends.sent), known + nowhere, "{what}");
    outcome
}

#[test]
fn every_packet_of_every_scenario_is_accounted_for() {
    let folder = format!("{}/../../scenarios", env!("CARGO_MANIFEST_DIR"));
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "toml"))
        .collect();
    files.sort();
    assert!(files.len() > 20);
    for path in files {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let bytes = std::fs::read(&path).unwrap();
        let document = Document::parse_bytes(&path.to_string_lossy(), &bytes).unwrap();
        let mut scenario = document
            .validate()
            .unwrap_or_else(|e| panic!("{}", e.render(false)));
        // Long enough for each of them to have begun, which takes minutes where a round trip does,
        // and cut where packets are under way.
        let longest = if name == "planet" { 2_000_123 } else { 90_123 };
        scenario.duration = scenario.duration.min(Duration::from_millis(longest));
        // The boxes of a gateway restore packets that were lost.
        let has_tunnel = |pep: &SplitPep| pep.settings.tunnel == Tunnel::Gateway;
        let boxed = !scenario.middleboxes.is_empty() || scenario.peps.iter().any(has_tunnel);
        let notifies = |l: &bentpipe_scenario::Link| l.settings.queue.notifies();
        let outcome = if boxed || scenario.links.iter().any(notifies) {
            accounted(&scenario, &name).0
        } else {
            accounted_from_end_to_end(&scenario, &name)
        };
        assert!(outcome.packet_hops > 0, "{name}");
    }
}

/// Streams, datagrams and repairs through the boxes of a gateway, with losses in both directions: every
/// link accounts for each of its packets.
#[test]
fn every_packet_between_the_boxes_of_a_gateway_is_accounted_for() {
    let file = format!(
        "{}/../../scenarios/pep-gateway.toml",
        env!("CARGO_MANIFEST_DIR")
    );
    let text = std::fs::read_to_string(file).unwrap();
    let mut scenario = Document::parse("gateway.toml", &text)
        .unwrap()
        .validate()
        .unwrap();
    scenario.duration = Duration::from_millis(20_123);
    let like = scenario.flows[0].clone();
    for (number, mbps) in [1, 40].into_iter().enumerate() {
        scenario.flows.push(Flow {
            name: format!("talk-{number}"),
            transport: None,
            application: Application::ConstantRate {
                rate: Rate::from_mbps(mbps),
                packet_size: Bytes::new(if number == 0 { 200 } else { 1500 }),
                control: None,
                deadline: None,
            },
            split: None,
            ..like.clone()
        });
    }
    for link in scenario
        .links
        .iter_mut()
        .filter(|l| l.name.starts_with("satellite"))
    {
        std::sync::Arc::make_mut(&mut link.settings).channel = ChannelSettings::Uniform {
            packet_error_rate: Ratio::new(0.01).unwrap(),
        };
    }
    let (outcome, _) = accounted(&scenario, "gateway");
    let satellite = outcome
        .links
        .iter()
        .find(|l| l.name == "satellite")
        .unwrap();
    assert!(
        satellite.channel_losses > 100 && satellite.queue_drops == 0,
        "{satellite:?}"
    );
    for flow in &outcome.flows[scenario.flows.len() - 2..] {
        assert!(flow.delivered > Bytes::ZERO, "{flow:?}");
    }
}

/// A path with losses and a short queue, cut in the middle of it.
fn line() -> Line {
    Line {
        rate: Rate::from_mbps(4),
        rtt: Duration::from_millis(300),
        queue: 40,
        loss: 0.01,
        duration: Duration::from_millis(20_123),
        flows: Vec::new(),
    }
}

#[test]
fn every_packet_of_every_transport_is_accounted_for() {
    for registered in transports() {
        let (name, transport) = (registered.name, registered.transport());
        let without_end = line().with(Application::Persistent, Some(transport.clone()));
        accounted_from_end_to_end(&without_end.scenario(), name);
        // The run ends with the transfer, and what is in flight then stays there.
        let finite = line().transfer(500_000, transport);
        accounted_from_end_to_end(&finite.scenario(), name);
    }
}

/// Data and probes that a sender counts, and ACKs, are what its link was handed; and what of it is
/// neither delivered nor lost when the transfer ends is in flight.
#[test]
fn a_sender_that_probes_ends_with_probes_in_flight() {
    for name in ["swift", "peach", "pbs", "rcs"] {
        let transport = named(name, Recovery::Sack);
        let transport: Transport = Transport {
            initial_window: 10.0,
            ..transport
        };
        let scenario = line().transfer(200_000, transport).scenario();
        let outcome = accounted_from_end_to_end(&scenario, name);
        let (flow, way) = (&outcome.flows[0], &outcome.links[..2]);
        assert!(flow.probes_sent > 0, "{name}");
        let sent = flow.packets_sent + flow.probes_sent;
        // And its part of the handshake.
        let others = way[0].offered_packets - sent;
        assert!(others <= 2, "{name}: {others}");
        let in_flight: u64 = way.iter().map(|l| l.in_flight_packets).sum();
        let known = way[1].delivered_packets + way.iter().map(gone).sum::<u64>() + in_flight;
        assert_eq!(way[0].offered_packets, known, "{name}");
    }
}
