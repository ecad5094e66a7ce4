//! What the time of users of the web consists of: TLS, QUIC, pages of objects, calls.

use crate::common::{assert_as_simulated, may, pair, run_watched, transfer, transport};
use bentpipe_tcp::TransportSettings;
use bentpipe_traffic::{Application, Objects, WebSettings};
use bentpipe_units::{Bytes, Duration, Rate};

/// QUIC has the same endpoints on both sides. Each flow has the link to itself: what another one that
/// is late leaves free would make it faster.
#[test]
fn quic_takes_what_the_simulator_says() {
    if !may("quic_takes_what_the_simulator_says") {
        return;
    }
    let pages = WebSettings {
        count: Some(3),
        reading: Duration::from_millis(200),
        ..WebSettings::of_mean(Bytes::new(100_000))
    };
    for (name, application) in [
        ("file", transfer(579_200)),
        ("pages", Application::Web(pages)),
    ] {
        let settings = TransportSettings {
            protocol: Some(bentpipe_tcp::Protocol::Quic),
            ..TransportSettings::default()
        };
        let (mut builder, server, client) = pair();
        builder
            .flow(name, server, client, application)
            .transport(transport("cubic", settings));
        let scenario = builder.build().unwrap();
        let (live, late) = run_watched(&scenario);
        let options = bentpipe_sim::Options {
            seed: 7,
            ..Default::default()
        };
        let simulated = bentpipe_sim::run(&scenario, &options).unwrap();
        let (ours, theirs) = (&live.outcome.flows[0], &simulated.flows[0]);
        let seconds = |flow: &bentpipe_outcome::FlowOutcome| flow.transfer_time.unwrap().as_secs();
        assert_as_simulated(name, seconds(ours), seconds(theirs), late);
        assert_eq!(ours.delivered, theirs.delivered, "{name}");
        let read = |flow: &bentpipe_outcome::FlowOutcome| flow.pages.as_ref().map(|p| p.completed);
        assert_eq!(read(ours), read(theirs));
        assert!(ours.min_rtt.unwrap() >= Duration::from_millis(100));
        assert!(ours.max_cwnd > 10.0);
        assert_eq!(live.controls, ["cubic over QUIC"]);
    }
}

/// A look-up before the connection, TLS before TCP's data, and pages of objects over both protocols:
/// bytes and times are the simulator's. Each flow has the link to itself.
#[test]
fn pages_of_objects_and_tls_take_what_the_simulator_says() {
    if !may("pages_of_objects_and_tls_take_what_the_simulator_says") {
        return;
    }
    let pages = WebSettings {
        count: Some(2),
        reading: Duration::from_millis(200),
        objects: Some(Objects {
            count: 12,
            document: Bytes::new(20_000),
            ..Objects::default()
        }),
        ..WebSettings::of_mean(Bytes::new(150_000))
    };
    let secure = TransportSettings {
        profile: Some(bentpipe_tcp::HostProfile::Linux),
        tls: Some(true),
        ..TransportSettings::default()
    };
    let early = TransportSettings {
        resumption: Some(bentpipe_tcp::Resumption::ZeroRtt),
        ..secure.clone()
    };
    let quic = TransportSettings {
        protocol: Some(bentpipe_tcp::Protocol::Quic),
        ..TransportSettings::default()
    };
    for (name, application, settings) in [
        ("file", transfer(579_200), &secure),
        ("pages", Application::Web(pages), &secure),
        ("early-pages", Application::Web(pages), &early),
        ("quic-pages", Application::Web(pages), &quic),
    ] {
        let (mut builder, server, client) = pair();
        builder
            .flow(name, server, client, application)
            .dns(name != "pages")
            .transport(transport("cubic", settings.clone()));
        let scenario = builder.build().unwrap();
        let (live, late) = run_watched(&scenario);
        let on_linux = bentpipe_linux::testbed::as_run_on_linux(&scenario);
        let options = bentpipe_sim::Options {
            seed: 7,
            ..Default::default()
        };
        let simulated = bentpipe_sim::run(&on_linux, &options).unwrap();
        let (ours, theirs) = (&live.outcome.flows[0], &simulated.flows[0]);
        let seconds = |flow: &bentpipe_outcome::FlowOutcome| flow.transfer_time.unwrap().as_secs();
        assert_as_simulated(name, seconds(ours), seconds(theirs), late);
        assert_eq!(ours.delivered, theirs.delivered, "{name}");
        if let (Some(ours), Some(theirs)) = (ours.pages, theirs.pages) {
            let drawn = |pages: bentpipe_outcome::PageOutcome| {
                pages.mean_render_time.map(|time| time.as_secs())
            };
            let (page, its) = [ours, theirs]
                .map(|p| p.mean_time.unwrap().as_secs())
                .into();
            assert_as_simulated(&format!("{name}, a page"), page, its, late);
            let (ours, theirs) = (drawn(ours).unwrap(), drawn(theirs).unwrap());
            assert_as_simulated(&format!("{name}, drawn"), ours, theirs, late);
        }
    }
}

/// Calls have a deadline on real hosts, too, over UDP and over QUIC.
#[test]
fn calls_say_what_came_in_time() {
    if !may("calls_say_what_came_in_time") {
        return;
    }
    let call = || Application::ConstantRate {
        rate: Rate::from_bps(80_000),
        packet_size: Bytes::new(200),
        control: None,
        deadline: Some(Duration::from_millis(90)),
    };
    let quic = TransportSettings {
        protocol: Some(bentpipe_tcp::Protocol::Quic),
        ..TransportSettings::default()
    };
    let (mut builder, server, client) = pair();
    builder.duration(Duration::from_secs(2));
    builder.flow("udp", server, client, call());
    builder
        .flow("quic", server, client, call())
        .transport(transport("cubic", quic));
    let scenario = builder.build().unwrap();
    let (live, late) = run_watched(&scenario);
    for flow in &live.outcome.flows {
        let packets = flow.deadline.unwrap();
        // 50 a second, over QUIC after the handshake.
        assert!(
            (80..=97).contains(&packets.due),
            "{}: {packets:?}",
            flow.name
        );
        let mean = packets.mean_delay.unwrap();
        assert!(
            mean >= Duration::from_millis(50),
            "{}: {packets:?}",
            flow.name
        );
        if late < Duration::from_millis(20) {
            assert_eq!(packets.missed, 0, "{}: {packets:?}", flow.name);
        }
    }
}
