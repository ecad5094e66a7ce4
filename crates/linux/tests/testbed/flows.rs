//! What flows do.

use crate::common::{assert_as_simulated, link, may, pair, run, run_watched, transfer, transport};
use bentpipe_link::{Limit, LinkSettings, QueueSettings, RedPreset, RedSettings};
use bentpipe_scenario::{Handshake, Scenario};
use bentpipe_tcp::TransportSettings;
use bentpipe_traffic::{Application, PageConnection, Period, WebSettings};
use bentpipe_units::{Bytes, Duration, Rate, Time};

fn cubic() -> bentpipe_tcp::Transport {
    transport("cubic", TransportSettings::default())
}

#[test]
fn a_transfer_takes_what_the_simulator_says() {
    if !may("a_transfer_takes_what_the_simulator_says") {
        return;
    }
    let (mut builder, server, client) = pair();
    // Slow start of Reno, where nothing is lost: the same for both.
    let reno = transport("reno-linux", TransportSettings::default());
    builder
        .flow("file", server, client, transfer(579_200))
        .transport(reno);
    let scenario = builder.build().unwrap();
    let (live, late) = run_watched(&scenario);
    let options = bentpipe_sim::Options {
        seed: 7,
        ..Default::default()
    };
    let simulated = bentpipe_sim::run(&scenario, &options).unwrap();
    let (ours, theirs) = (&live.outcome.flows[0], &simulated.flows[0]);
    let (took, expected) = (
        ours.transfer_time.unwrap().as_secs(),
        theirs.transfer_time.unwrap().as_secs(),
    );
    assert_as_simulated("file", took, expected, late);
    assert_eq!(ours.delivered, Bytes::new(579_200));
    assert_eq!(ours.acknowledged, ours.delivered);
    assert_eq!(ours.sent, ours.delivered);
    // A write that comes late leaves a segment part full, and one more is needed.
    assert!(
        (400..=410).contains(&ours.packets_sent),
        "{}",
        ours.packets_sent
    );
    assert_eq!(ours.retransmissions, 0);
    assert_eq!((ours.timeouts, ours.recoveries, ours.reductions), (0, 0, 0));
    // One for two segments, and fewer where segments that come together are merged.
    assert!(
        (100..=410).contains(&ours.acks_received),
        "{}",
        ours.acks_received
    );
    assert!(ours.min_rtt.unwrap() >= Duration::from_millis(100));
    assert!(ours.mean_rtt >= ours.min_rtt);
    assert!(ours.max_cwnd > 20.0, "{}", ours.max_cwnd);
    assert!(ours.first_delivery_at.unwrap() < ours.last_delivery_at.unwrap());
    assert_eq!(live.controls, ["reno"]);

    // The schema of a simulation, all of it.
    let outcome = &live.outcome;
    let names = |o: &bentpipe_outcome::Outcome| -> Vec<String> {
        o.links.iter().map(|l| l.name.clone()).collect()
    };
    assert_eq!(names(outcome), names(&simulated));
    let crossed = |o: &bentpipe_outcome::Outcome| -> Vec<(usize, usize)> {
        o.crossings.iter().map(|c| (c.flow, c.link)).collect()
    };
    assert_eq!(crossed(outcome), crossed(&simulated));
    assert!(outcome.links[0].utilisation > 0.1);
    assert!(outcome.crossings[0].counts().delivered_packets >= 400);
    let [first, second] = &outcome.checkpoints[..] else {
        panic!("two checkpoints");
    };
    assert_eq!(first.flows[0].sent, Bytes::ZERO);
    assert_eq!(first.crossings.len(), outcome.crossings.len());
    let (then, in_all) = (second.flows[0].delivered, ours.delivered);
    assert!(Bytes::ZERO < then && then < in_all, "{then}");
    let (then, in_all) = (second.crossings[0], outcome.crossings[0].counts());
    assert!(0 < then.delivered_packets && then.delivered_packets < in_all.delivered_packets);
    let series = &outcome.series[0];
    assert!(series.sender.len() > 10, "{}", series.sender.len());
    assert_eq!(series.sender[0].phase, "slow_start");
    assert_eq!(series.delivered.last().unwrap().1, Bytes::new(579_200));
    assert!(series.sent.len() > 10);
}

#[test]
fn losses_are_counted_and_repaired() {
    if !may("losses_are_counted_and_repaired") {
        return;
    }
    let mut builder = Scenario::builder("lossy");
    let (server, client) = (builder.node("server"), builder.node("client"));
    let back: LinkSettings = link(10, 20, 200, 0.0);
    builder.asymmetric_link("satellite", server, client, link(10, 20, 200, 0.05), back);
    builder
        .flow("file", server, client, transfer(724_000))
        .transport(cubic())
        .handshake(Handshake::NotCounted);
    builder.duration(Duration::from_secs(60));
    let live = run(&builder.build().unwrap());
    let flow = &live.outcome.flows[0];
    assert!(flow.transfer_time.is_some());
    assert_eq!(flow.delivered, Bytes::new(724_000));
    assert_eq!(flow.queue_drops, 0);
    assert!(flow.channel_losses >= 5, "{}", flow.channel_losses);
    assert!(flow.retransmissions >= 5, "{}", flow.retransmissions);
    assert!(flow.recoveries + flow.timeouts >= 1);
    assert!(flow.reductions >= 1);
    let link = &live.outcome.links[0];
    assert_eq!(link.channel_losses, flow.channel_losses);
    assert_eq!(
        live.outcome.crossings[0].counts().channel_losses,
        flow.channel_losses
    );
}

#[test]
fn several_flows_share_a_link() {
    if !may("several_flows_share_a_link") {
        return;
    }
    let (mut builder, server, client) = pair();
    builder
        .flow("bulk", server, client, Application::Persistent)
        .transport(cubic())
        .stop(Time::ZERO + Duration::from_secs(3));
    builder
        .flow("file", server, client, transfer(500_000))
        .transport(transport(
            "reno-linux",
            TransportSettings {
                timestamps: Some(false),
                ack_count: Some(1),
                ..TransportSettings::default()
            },
        ))
        .start(Time::ZERO + Duration::from_millis(500));
    let voice = Application::ConstantRate {
        rate: Rate::from_bps(400_000),
        packet_size: Bytes::new(200),
        control: None,
        deadline: None,
    };
    builder
        .flow("voice", client, server, voice)
        .stop(Time::ZERO + Duration::from_secs(2));
    let live = run(&builder.build().unwrap());
    let [bulk, file, voice] = &live.outcome.flows[..] else {
        panic!("three flows");
    };
    assert!(bulk.delivered > Bytes::new(500_000), "{}", bulk.delivered);
    assert_eq!(bulk.transfer_time, None);
    assert_eq!(file.delivered, Bytes::new(500_000));
    assert!(file.started_at >= Time::ZERO + Duration::from_millis(500));
    // Without timestamps a segment holds 12 bytes more; each is acknowledged.
    // A machine that delays the application between two writes makes a segment shorter.
    let segments = file.packets_sent - file.retransmissions;
    let least = 500_000_u64.div_ceil(1460);
    assert!((least..least + 5).contains(&segments), "{segments}");
    assert!(file.acks_received >= 300, "{}", file.acks_received);
    // 2 s of 200 bytes every 4 ms, of which 28 are headers.
    assert_eq!((voice.packets_sent, voice.transport.as_str()), (500, "udp"));
    assert_eq!(voice.delivered, Bytes::new(500 * 172));
    assert!(live.outcome.ended_at >= Time::ZERO + Duration::from_secs(3));
}

#[test]
fn who_asks_gets_answers() {
    if !may("who_asks_gets_answers") {
        return;
    }
    let (mut builder, server, client) = pair();
    let exchange = Application::RequestResponse {
        request: Bytes::new(300),
        response: Bytes::new(20_000),
        count: 4,
        think_time: Duration::from_millis(100),
    };
    builder
        .flow("ask", server, client, exchange)
        .transport(cubic());
    let pages = |connection| {
        Application::Web(WebSettings {
            reading: Duration::from_millis(50),
            count: Some(3),
            connection,
            ..WebSettings::of_1997()
        })
    };
    builder
        .flow("pages", server, client, pages(PageConnection::Page))
        .transport(cubic());
    builder
        .flow("reader", server, client, pages(PageConnection::Persistent))
        .transport(cubic());
    let on_off = Application::OnOff {
        on: Period::Constant(Duration::from_millis(200)),
        off: Period::Constant(Duration::from_millis(200)),
        rate: Rate::from_bps(800_000),
        packet_size: Bytes::new(1000),
    };
    builder
        .flow("bursts", server, client, on_off)
        .transport(cubic())
        .stop(Time::ZERO + Duration::from_secs(1));
    let live = run(&builder.build().unwrap());
    let [ask, pages, reader, bursts] = &live.outcome.flows[..] else {
        panic!("four flows");
    };
    assert_eq!(ask.delivered, Bytes::new(80_000));
    // Four round trips, one for the handshake, three pauses.
    assert!(ask.transfer_time.unwrap() > Duration::from_millis(800));
    for reader in [pages, reader] {
        let seen = reader.pages.unwrap();
        assert_eq!(seen.completed, 3, "{}", reader.name);
        assert!(seen.mean_time.unwrap() > Duration::from_millis(100));
        assert!(reader.delivered > Bytes::ZERO && reader.transfer_time.is_some());
    }
    // 100 kB/s for 0.6 s.
    assert!(
        bursts.delivered >= Bytes::new(40_000) && bursts.delivered <= Bytes::new(60_000),
        "{}",
        bursts.delivered
    );
}

#[test]
fn windows_and_ecn_are_as_the_scenario_says() {
    if !may("windows_and_ecn_are_as_the_scenario_says") {
        return;
    }
    let mut builder = Scenario::builder("red");
    let (server, client) = (builder.node("server"), builder.node("client"));
    let mut marks = link(5, 20, 100, 0.0);
    marks.queue = QueueSettings::Red(RedSettings {
        ecn: true,
        ..RedSettings::preset(RedPreset::Ns2001, Limit::Packets(100))
    });
    builder.asymmetric_link("satellite", server, client, marks, link(5, 20, 100, 0.0));
    builder
        .flow("ecn", server, client, Application::Persistent)
        .transport(transport(
            "cubic",
            TransportSettings {
                ecn: Some(true),
                initial_window: Some(4.0),
                ..TransportSettings::default()
            },
        ));
    builder.duration(Duration::from_secs(4));
    let live = run(&builder.build().unwrap());
    let flow = &live.outcome.flows[0];
    assert!(live.outcome.links[0].marks > 0);
    assert!(flow.reductions >= 1);
    // Data follows a round trip after the SYN, and each later one doubles the window at most, so
    // that a sample that comes late may see more. From the default of ten it would be above that
    // at any time.
    let first = &live.outcome.series[0].sender[0];
    let round_trips = (first.at.as_secs() / 0.04).floor();
    let most = 4.0 * round_trips.exp2();
    assert!(
        (4.0..=most).contains(&first.cwnd),
        "{} at {}",
        first.cwnd,
        first.at
    );
}

#[test]
fn a_socket_that_fails_is_an_error() {
    if !may("a_socket_that_fails_is_an_error") {
        return;
    }
    let mut builder = Scenario::builder("broken");
    // The number of the sender's node, by which its namespace is found.
    let nodes: Vec<_> = (0..9).map(|n| builder.node(format!("n{n}"))).collect();
    let [.., server, client] = nodes[..] else {
        panic!("nine nodes");
    };
    builder.link("satellite", server, client, link(10, 5, 100, 0.0));
    builder.flow(
        "voice",
        server,
        client,
        Application::ConstantRate {
            rate: Rate::from_bps(64_000),
            packet_size: Bytes::new(200),
            control: None,
            deadline: None,
        },
    );
    builder.duration(Duration::from_secs(30));
    let scenario = builder.build().unwrap();
    let over = std::sync::atomic::AtomicBool::new(false);
    let result = std::thread::scope(|scope| {
        scope.spawn(|| {
            let ours = format!("bp-{}-", std::process::id());
            while !over.load(std::sync::atomic::Ordering::Relaxed) {
                let names = std::fs::read_dir("/run/netns").into_iter().flatten();
                let names = names.filter_map(|name| name.ok()?.file_name().into_string().ok());
                for name in names.filter(|n| n.starts_with(&ours) && n.ends_with("-7")) {
                    // Packets have nowhere to go any more.
                    let flush = ["-netns", &name, "route", "flush", "table", "main"];
                    let _ = std::process::Command::new("ip").args(flush).output();
                }
                std::thread::sleep(std::time::Duration::from_millis(100));
            }
        });
        let options = bentpipe_linux::testbed::Options::new(1).unwrap();
        let result = bentpipe_linux::testbed::run(&scenario, options);
        over.store(true, std::sync::atomic::Ordering::Relaxed);
        result
    });
    match result {
        Err(bentpipe_linux::testbed::Error::Failed(why)) => {
            assert!(why[0].starts_with("flow `voice` failed: from: "), "{why:?}");
        }
        // Between the host's address and the socket.
        Err(bentpipe_linux::testbed::Error::Socket { .. }) => {}
        other => panic!("{other:?}"),
    }
}

#[cfg(feature = "kernel")]
#[test]
fn a_control_of_ours_keeps_the_window_and_takes_what_its_twin_does() {
    let test = "a_control_of_ours_keeps_the_window_and_takes_what_its_twin_does";
    if !may(test) {
        return;
    }
    if let Err(why) = bentpipe_linux::kernel::available().ready() {
        let why = why.to_string();
        let why = why.lines().next().unwrap_or_default();
        crate::common::skip::skip(test, &format!("congestion controls: {why}"));
        return;
    }
    // The baseline of the papers on their host: 22 segments, delayed ACKs.
    let old = TransportSettings {
        profile: Some(bentpipe_tcp::HostProfile::Linux22),
        recovery: Some(bentpipe_tcp::Recovery::Fack),
        initial_window: Some(2.0),
        send_buffer: Some(Bytes::new(64 * 1024)),
        receive_buffer: Some(Bytes::new(64 * 1024)),
        ..TransportSettings::default()
    };
    let (mut builder, server, client) = pair();
    for (name, start) in [("newreno", 0), ("mtsi", 4)] {
        builder
            .flow(name, server, client, transfer(289_600))
            .transport(transport(name, old.clone()))
            .start(Time::ZERO + Duration::from_secs(start))
            .handshake(Handshake::NotCounted);
    }
    let scenario = builder.build().unwrap();
    let (live, late) = run_watched(&scenario);
    assert_eq!(
        live.controls[0],
        "bp_const initial_window=2 window_clamp=22 k=1"
    );
    let on_linux = bentpipe_linux::testbed::as_run_on_linux(&scenario);
    let simulated = bentpipe_sim::run(&on_linux, &bentpipe_sim::Options::default()).unwrap();
    for (ours, theirs) in live.outcome.flows.iter().zip(&simulated.flows) {
        let took = |f: &bentpipe_outcome::FlowOutcome| f.transfer_time.unwrap().as_secs();
        let (ours_took, expected) = (took(ours), took(theirs));
        assert_as_simulated(&ours.name, ours_took, expected, late);
        assert_eq!((ours.max_cwnd, ours.packets_sent), (22.0, 200));
    }
    let sender = &live.outcome.series[0].sender;
    assert_eq!(sender[0].cwnd, 2.0);
    // They went with the run, or go when a child process that another thread is starting has
    // closed its copies of our descriptors.
    let ours = format!("bp_{:x}_", std::process::id());
    let left = || {
        let names = bentpipe_linux::kernel::names();
        names.into_iter().find(|name| name.starts_with(&ours))
    };
    let end = std::time::Instant::now() + std::time::Duration::from_secs(2);
    while left().is_some() && std::time::Instant::now() < end {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    assert_eq!(left(), None);
}
