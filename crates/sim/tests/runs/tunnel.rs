//! Two PEPs with a tunnel between them, as `bentpipe gateway` has it: a satellite
//! link of 550 ms between two fast networks on the ground.

use bentpipe_link::{ChannelSettings, Limit, LinkSettings, Piece, QueueSettings, Timeline};
use bentpipe_middlebox::split::{KnownRate, SplitSettings, TUNNEL_BUFFER, Tunnel};
use bentpipe_outcome::Outcome;
use bentpipe_scenario::{Handshake, Scenario};
use bentpipe_sim::{Options, run};
use bentpipe_tcp::find_transport;
use bentpipe_traffic::Application;
use bentpipe_units::{Bytes, Duration, Rate, Ratio, Time};

fn link(mbps: f64, one_way: Duration, loss: f64) -> LinkSettings {
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
            one_way,
            QueueSettings::drop_tail(Limit::Packets(1_000)),
        )
    }
}

fn pep() -> SplitSettings {
    SplitSettings {
        tunnel: Tunnel::Gateway,
        buffer: TUNNEL_BUFFER,
        ..SplitSettings::default()
    }
}

/// Flows from the server to the client, each with its start.
fn scenario(mbps: f64, loss: f64, flows: &[(Application, f64)]) -> Scenario {
    let mut builder = Scenario::builder("tunnel");
    builder.duration(Duration::from_secs(600));
    let [server, hub, terminal, client] =
        ["server", "hub", "terminal", "client"].map(|name| builder.node(name));
    let ground = || link(1_000.0, Duration::from_micros(50), 0.0);
    builder.link("internet", server, hub, ground());
    let way = Duration::from_millis(275);
    builder.link("satellite", hub, terminal, link(mbps, way, loss));
    builder.link("home", terminal, client, ground());
    builder.split_pep("hub", hub, pep());
    builder.split_pep("terminal", terminal, pep());
    for (number, (application, start)) in flows.iter().enumerate() {
        let flow = builder
            .flow(
                format!("flow-{number}"),
                server,
                client,
                application.clone(),
            )
            .start(Time::ZERO + Duration::from_secs_f64(*start))
            .handshake(Handshake::Counted);
        if application.needs_transport() {
            flow.transport(find_transport("cubic").unwrap().transport());
        }
    }
    builder.build().unwrap()
}

fn transfer(bytes: u64) -> Application {
    Application::Transfer {
        size: Bytes::new(bytes),
    }
}

fn simulated(scenario: &Scenario, seed: u64) -> Outcome {
    run(
        scenario,
        &Options {
            seed,
            ..Options::default()
        },
    )
    .unwrap()
}

fn seconds(outcome: &Outcome, flow: usize) -> f64 {
    outcome.flows[flow].transfer_time.unwrap().as_secs()
}

/// One way, 99% of the rate of the link, and 60 bytes of headers: no round trip
/// besides.
#[test]
fn a_transfer_takes_what_the_link_takes() {
    for (mbps, bytes, bound) in [
        (20.0, 100_000, 0.275 + 0.0421),
        (20.0, 1_000_000, 0.275 + 0.4211),
        (20.0, 10_000_000, 0.275 + 4.211),
        (2.0, 1_000_000, 0.275 + 4.211),
    ] {
        let outcome = simulated(&scenario(mbps, 0.0, &[(transfer(bytes), 0.0)]), 1);
        let took = seconds(&outcome, 0);
        assert!(
            (bound..bound + 0.015).contains(&took),
            "{mbps} {bytes}: {took}"
        );
        let leg = &outcome.legs[1];
        assert_eq!((leg.retransmissions, leg.timeouts), (0, 0));
        assert_eq!(leg.transport, "gateway");
    }
}

/// A hub has one sender for the terminals behind the link that is slowest on the way to both:
/// twice the data takes twice the time, and nothing waits before the link.
#[test]
fn terminals_behind_one_link_share_its_rate() {
    let mut builder = Scenario::builder("terminals");
    let [server, hub, satellite] = ["server", "hub", "satellite"].map(|name| builder.node(name));
    let ground = || link(1_000.0, Duration::from_micros(50), 0.0);
    builder.link("internet", server, hub, ground());
    let way = Duration::from_millis(275);
    builder.link("satellite", hub, satellite, link(20.0, way, 0.0));
    builder.split_pep("hub", hub, pep());
    for number in 1..=2 {
        let [terminal, client] =
            ["terminal", "client"].map(|n| builder.node(format!("{n}-{number}")));
        let down = link(10_000.0, Duration::ZERO, 0.0);
        builder.link(format!("down-{number}"), satellite, terminal, down);
        builder.link(format!("home-{number}"), terminal, client, ground());
        builder.split_pep(format!("terminal-{number}"), terminal, pep());
        builder
            .flow(
                format!("flow-{number}"),
                server,
                client,
                transfer(5_000_000),
            )
            .transport(find_transport("cubic").unwrap().transport())
            .handshake(Handshake::Counted);
    }
    let outcome = simulated(&builder.build().unwrap(), 1);
    for flow in 0..2 {
        let took = seconds(&outcome, flow);
        assert!(
            (0.275 + 4.2..0.275 + 4.25).contains(&took),
            "{flow}: {took}"
        );
    }
    let shared = outcome.links.iter().find(|l| l.name == "satellite");
    assert!(shared.unwrap().max_queue_packets <= 2);
}

/// With a request first it is what a user sees: the first byte after one round
/// trip, 100 kB in 0.59 s.
#[test]
fn a_request_takes_one_round_trip() {
    for (response, bound) in [(100_000, 0.592), (1_000_000, 0.971), (10_000_000, 4.761)] {
        let page = Application::RequestResponse {
            request: Bytes::new(100),
            response: Bytes::new(response),
            count: 1,
            think_time: Duration::ZERO,
        };
        let outcome = simulated(&scenario(20.0, 0.0, &[(page, 0.0)]), 1);
        let took = seconds(&outcome, 0);
        assert!((bound..bound + 0.02).contains(&took), "{response}: {took}");
    }
}

/// Losses cost their repair and no rate.
#[test]
fn losses_reduce_nothing() {
    let mut sum = 0.0;
    for seed in 1..=10 {
        let outcome = simulated(&scenario(20.0, 0.01, &[(transfer(10_000_000), 0.0)]), seed);
        assert!(outcome.legs[1].retransmissions > 30);
        // What was restored, and found lost before that was acknowledged.
        assert!(outcome.legs[1].spurious_retransmissions <= 8);
        sum += seconds(&outcome, 0);
    }
    // 4.5 s, 1% more packets, and mostly one or two round trips at the end.
    assert!((4.6..5.9).contains(&(sum / 10.0)), "{}", sum / 10.0);
}

/// A small transfer that competes with 20 large ones hardly waits, and those share the rest.
#[test]
fn a_small_transfer_goes_before_large_ones() {
    let mut flows: Vec<_> = (0..20)
        .map(|i| (transfer(4_000_000), 0.01 * f64::from(i)))
        .collect();
    flows.push((transfer(10_000), 10.0));
    let outcome = simulated(&scenario(20.0, 0.0, &flows), 1);
    let small = seconds(&outcome, 20);
    assert!(small < 0.275 + 0.0042 + 0.01, "{small}");
    let large: Vec<f64> = (0..20).map(|flow| seconds(&outcome, flow)).collect();
    let least = large.iter().copied().fold(f64::INFINITY, f64::min);
    let most = large.iter().copied().fold(0.0, f64::max);
    assert!(most / least < 1.12, "{least} to {most}");
    // All together have the link's rate.
    assert!((33.6..35.0).contains(&most), "{most}");
}

/// Subscribers share the link first: one download has as much as eight of somebody else, and within
/// the part of those each has the same.
#[test]
fn one_download_has_as_much_as_eight_of_another_subscriber() {
    let mut flows = vec![(transfer(2_500_000), 0.0); 8];
    flows.push((transfer(2_500_000), 3.0));
    let mut scenario = scenario(20.0, 0.0, &flows);
    scenario.flows[8].subscriber = Some("alone".to_owned());
    let outcome = simulated(&scenario, 1);
    // 2.5 MB at half of 99% of the rate, 60 bytes of 1480 headers; the last of it leaves QUIC in turn with
    // the others' packets. They have what it leaves.
    let alone = seconds(&outcome, 8);
    assert!((2.35..2.95).contains(&alone), "{alone}");
    let others: Vec<f64> = (0..8).map(|flow| seconds(&outcome, flow)).collect();
    let least = others.iter().copied().fold(f64::INFINITY, f64::min);
    let most = others.iter().copied().fold(0.0, f64::max);
    assert!(most / least < 1.1, "{least} to {most}");
    assert!((9.6..9.9).contains(&most), "{most}");
}

/// Requests and short answers whose last packets are lost do not wait for a timer once the boxes know
/// that the link loses packets: some are restored, and nothing arrives twice in the count.
#[test]
fn tails_are_restored_once_losses_are_known() {
    let page = Application::RequestResponse {
        request: Bytes::new(200),
        response: Bytes::new(10_000),
        count: 1,
        think_time: Duration::ZERO,
    };
    // First what shows the hub that the link loses packets. The terminal sees that of its requests.
    let mut flows = vec![(transfer(3_000_000), 0.0)];
    flows.extend((0..200).map(|number| (page.clone(), 10.0 + 1.5 * f64::from(number))));
    let outcome = simulated(&scenario(20.0, 0.02, &flows), 1);
    let mut times: Vec<f64> = (1..201).map(|flow| seconds(&outcome, flow)).collect();
    times.sort_by(f64::total_cmp);
    assert!(times[190] < 0.65, "{times:?}");
}

/// 10 MB over a link that falls to a tenth 2 s after the start, for 10 s, of which nobody tells the
/// boxes unless `rate` says so: the time, and the most that waited before the link.
fn fading(rate: KnownRate) -> (f64, u64) {
    let mut scenario = scenario(20.0, 0.0, &[(transfer(10_000_000), 0.0)]);
    for link in scenario
        .links
        .iter_mut()
        .filter(|l| l.name.starts_with("satellite"))
    {
        let steady = Timeline::steady(&link.settings).pieces()[0];
        let pieces = [(0, 20), (2, 2), (12, 20)].map(|(at, mbps)| Piece {
            from: Time::ZERO + Duration::from_secs(at),
            rate: Rate::from_mbps(mbps),
            ..steady
        });
        let timeline = Timeline::new(pieces.to_vec()).unwrap();
        link.timeline = Some(std::sync::Arc::new(timeline));
    }
    for split in scenario
        .flows
        .iter_mut()
        .filter_map(|flow| flow.split.as_mut())
    {
        split
            .peps
            .iter_mut()
            .for_each(|pep| pep.settings.rate = rate);
    }
    let outcome = simulated(&scenario, 1);
    let satellite = outcome.links.iter().find(|l| l.name == "satellite");
    (seconds(&outcome, 0), satellite.unwrap().max_queue_packets)
}

/// 2 s of 20 Mbit/s, 10 s of 2, and the rest at 20 again: 10 MB need 13.2 s with headers, and one way.
#[test]
fn a_fade_that_nobody_reports_is_found_out() {
    let (reported, waits) = fading(KnownRate::Reported);
    assert!(
        (13.4..13.7).contains(&reported) && waits <= 30,
        "{reported} {waits}"
    );
    let (verified, waits) = fading(KnownRate::Verified);
    // Two windows of a third of a round trip pass before it is known, and the queue grows meanwhile.
    assert!(waits > 500, "{waits}");
    assert!(verified > reported && verified < 18.0, "{verified}");
}

/// UDP of a user has no more than its part beside that user's downloads, and none of it waits before
/// the link.
#[test]
fn datagrams_are_carried_beside_streams() {
    let talk = |mbps| Application::ConstantRate {
        rate: Rate::from_mbps(mbps),
        packet_size: Bytes::new(1228),
        control: None,
        deadline: Some(Duration::from_millis(400)),
    };
    for (offered, share) in [(5, 0.97..=1.0), (20, 0.54..=0.62)] {
        let mut flows = vec![(transfer(40_000_000), 0.0); 4];
        flows.push((talk(offered), 0.0));
        let mut scenario = scenario(20.0, 0.0, &flows);
        scenario.duration = Duration::from_secs(20);
        let outcome = simulated(&scenario, 1);
        let udp = &outcome.flows[4];
        let arrived = udp.delivered.as_f64() / udp.sent.as_f64();
        assert!(share.contains(&arrived), "{offered}: {arrived}");
        let satellite = outcome.links.iter().find(|l| l.name == "satellite");
        let satellite = satellite.unwrap();
        assert!(
            satellite.max_queue_packets <= 3,
            "{}",
            satellite.max_queue_packets
        );
        assert!(satellite.utilisation > 0.94, "{}", satellite.utilisation);
    }
}

/// UDP beyond the rate of the link, for a while, stops nothing that comes after it.
#[test]
fn what_comes_after_too_many_datagrams_is_carried() {
    let talk = |mbps| Application::ConstantRate {
        rate: Rate::from_mbps(mbps),
        packet_size: Bytes::new(1228),
        control: None,
        deadline: None,
    };
    let flows = [(talk(30), 0.0), (talk(1), 15.0), (transfer(100_000), 20.0)];
    let mut scenario = scenario(20.0, 0.0, &flows);
    scenario.flows[0].stop = Some(Time::ZERO + Duration::from_secs(10));
    scenario.duration = Duration::from_secs(40);
    let outcome = simulated(&scenario, 1);
    let later = &outcome.flows[1];
    let arrived = later.delivered.as_f64() / later.sent.as_f64();
    assert!(arrived > 0.98, "{arrived}");
    assert!(seconds(&outcome, 2) < 0.7, "{}", seconds(&outcome, 2));
}

/// The hub's queue and the satellite's stay empty: the sender waits instead.
#[test]
fn nothing_waits_before_the_link() {
    let flows: Vec<_> = (0..5).map(|_| (transfer(2_000_000), 0.0)).collect();
    let outcome = simulated(&scenario(5.0, 0.0, &flows), 1);
    let satellite = outcome
        .links
        .iter()
        .find(|l| l.name == "satellite")
        .unwrap();
    assert!(
        satellite.max_queue_packets <= 2,
        "{}",
        satellite.max_queue_packets
    );
}

#[test]
fn the_same_seed_gives_the_same_outcome() {
    let flows: Vec<_> = (0..7).map(|_| (transfer(500_000), 0.1)).collect();
    let scenario = scenario(5.0, 0.02, &flows);
    let times = |o: &Outcome| (0..7).map(|f| seconds(o, f)).collect::<Vec<_>>();
    assert_eq!(
        times(&simulated(&scenario, 3)),
        times(&simulated(&scenario, 3))
    );
}

#[test]
fn a_tunnel_has_two_ends() {
    let mut builder = Scenario::builder("half");
    let [server, hub, client] = ["server", "hub", "client"].map(|name| builder.node(name));
    let way = Duration::from_millis(10);
    builder.link("internet", server, hub, link(10.0, way, 0.0));
    builder.link("satellite", hub, client, link(10.0, way, 0.0));
    builder.split_pep("hub", hub, pep());
    builder
        .flow("data", server, client, transfer(1_000))
        .transport(find_transport("cubic").unwrap().transport());
    let error = builder.build().unwrap_err().to_string();
    assert!(error.contains("a tunnel has two ends"), "{error}");
}
