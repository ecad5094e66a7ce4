//! What a name, a profile and a file make of a transport.

use super::named::control;
use super::*;

#[test]
fn every_named_transport_builds_its_congestion_control() {
    for named in transports() {
        let transport = named.transport();
        assert_eq!(transport.name, named.name);
        assert!(transport.controller().is_ok(), "{}", named.name);
        assert_eq!(transport.header_bytes() + transport.mss, DEFAULT_PACKET);
        assert_eq!(find_transport(named.name).map(|t| t.name), Some(named.name));
    }
    assert_eq!(nearest_transport("mtis"), Some("mtsi"));
}

#[test]
fn a_layer_wins_over_those_below_and_the_profile_comes_last() {
    let file = TransportSettings {
        profile: Some(HostProfile::Linux22),
        ack_count: Some(1),
        ..TransportSettings::default()
    };
    let mtsi = find_transport("mtsi").unwrap().settings();
    let transport = file.over(mtsi).resolve("mine");
    // File over profile, name over profile, profile for the rest.
    assert_eq!(transport.delayed_ack.count, 1);
    assert_eq!(transport.initial_window, 6.0);
    assert_eq!(transport.recovery, Recovery::Fack);
    assert_eq!(transport.delayed_ack.timer, Duration::from_millis(40));
    assert!(!transport.limited_transmit);

    let file = TransportSettings {
        initial_window: Some(2.0),
        ..Default::default()
    };
    let transport = file
        .over(find_transport("mtsi").unwrap().settings())
        .resolve("mine");
    assert_eq!(transport.initial_window, 2.0);
}

#[test]
fn the_profile_sets_the_initial_window_of_a_base_that_is_not_about_it() {
    let initial_window = |base: &str, profile, own| {
        let settings = TransportSettings {
            profile: Some(profile),
            initial_window: own,
            ..TransportSettings::default()
        };
        let base = find_transport(base).unwrap().settings();
        settings.over(base).resolve("mine").initial_window
    };
    for base in ["sack", "newreno", "reno", "tahoe", "vegas", "cubic"] {
        assert_eq!(initial_window(base, HostProfile::Rfc, None), 10.0, "{base}");
        assert_eq!(initial_window(base, HostProfile::Ns2, None), 2.0, "{base}");
        let own = initial_window(base, HostProfile::Ns2, Some(4.0));
        assert_eq!(own, 4.0, "{base}");
    }
}

#[test]
fn the_profile_alone_chooses_the_stack() {
    let on = |profile, base: &str| {
        let file = TransportSettings {
            profile: Some(profile),
            ..TransportSettings::default()
        };
        let base = find_transport(base).unwrap().settings();
        file.over(base).resolve("mine")
    };
    for base in ["sack", "newreno", "reno", "hybla", "westwood", "satpep"] {
        let transport = on(HostProfile::Linux, base);
        assert_eq!(transport.recovery, Recovery::Rack, "{base}");
        assert!(transport.controller().is_ok(), "{base}");
        for (profile, recovery) in [
            (HostProfile::Linux22, Recovery::Fack),
            (HostProfile::Linux24, Recovery::Fack),
            (HostProfile::Ns2Linux, Recovery::Sack),
        ] {
            assert_eq!(on(profile, base).recovery, recovery, "{base}");
        }
    }
    // Hybla's recovery fix is not Linux'; its initial window is the host's.
    let hybla = on(HostProfile::Linux, "hybla");
    assert!(!hybla.recovery_fix && hybla.undo);
    assert_eq!(hybla.initial_window, 10.0);
    // The agents of ns-2 are chosen by name.
    let newreno = on(HostProfile::Ns2, "newreno");
    assert_eq!(newreno.recovery, Recovery::NewReno);
    assert_eq!(on(HostProfile::Ns2, "sack").recovery, Recovery::Sack);
    // What is a recovery needs a host that has it.
    for base in ["tahoe", "fack", "scps-tp"] {
        let error = on(HostProfile::Linux, base).controller().unwrap_err();
        assert_eq!(error.key(), "recovery");
        let text = error.to_string();
        assert!(text.contains("profile `linux`"), "{text}");
        assert!(on(HostProfile::Rfc, base).controller().is_ok());
    }
}

#[test]
fn on_linux_a_file_may_switch_sack_off_and_no_more() {
    let with = |recovery| TransportSettings {
        profile: Some(HostProfile::Linux),
        recovery: Some(recovery),
        ..control("newreno")
    };
    for (written, runs) in [
        (Recovery::Rack, Some(Recovery::Rack)),
        (Recovery::Sack, Some(Recovery::Rack)),
        (Recovery::NewReno, Some(Recovery::NewReno)),
        (Recovery::SackRepeat, None),
        (Recovery::Reno, None),
    ] {
        let transport = with(written).resolve("mine");
        match runs {
            Some(recovery) => assert_eq!(transport.recovery, recovery),
            None => assert!(transport.controller().is_err(), "{written:?}"),
        }
    }
}

/// Raw Hybla has more than 16 MB under way, which ns-2's agent sends.
#[test]
fn no_buffer_bounds_the_agent_tcp_linux_of_ns_2() {
    let resolve = |profile, send_buffer| {
        let settings = TransportSettings {
            profile: Some(profile),
            send_buffer,
            ..TransportSettings::default()
        };
        let base = find_transport("hybla-linux").unwrap().settings();
        settings.over(base).resolve("mine")
    };
    let agent = resolve(HostProfile::Ns2Linux, None);
    assert_eq!(agent.send_buffer.get(), 1 << 30);
    assert_eq!(agent.receive_buffer.get(), 1 << 30);
    // The first threshold is that of the default buffer as before.
    assert_eq!(agent.initial_ssthresh, Some(11_049.0));
    let own = resolve(HostProfile::Ns2Linux, Some(Bytes::new(64_000)));
    assert_eq!(own.send_buffer.get(), 64_000);
    let rfc = resolve(HostProfile::Rfc, None);
    assert_eq!(rfc.send_buffer, DEFAULT_BUFFER);
}

#[test]
fn on_linux_a_name_runs_the_kernels_control_unless_the_control_is_named() {
    let on_linux = || TransportSettings {
        profile: Some(HostProfile::Linux),
        ..TransportSettings::default()
    };
    let runs = |above: TransportSettings, name: &str| {
        let named = find_transport(name).unwrap().settings();
        let transport = above.over(named).resolve("t");
        assert!(transport.controller().is_ok(), "{name}");
        assert_eq!(transport.pacing, Pacing::Off, "{name}");
        transport.congestion_control
    };
    for (name, kernels) in [
        ("cubic", "cubic-linux"),
        ("reno", "reno-linux"),
        ("vegas", "vegas-linux"),
        ("westwood", "westwood-linux"),
        ("hybla", "hybla-linux"),
        ("dctcp", "dctcp-linux"),
        ("bbr", "bbr"),
        ("westwood+", "westwood+"),
        ("dvegas", "dvegas"),
    ] {
        let got = runs(on_linux(), name);
        assert_eq!(
            got,
            CongestionControlChoice::Named(kernels.into()),
            "{name}"
        );
    }
    // By its name the paper's, with what it has around it.
    let above = TransportSettings {
        congestion_control: Some(CongestionControlChoice::Named("cubic".into())),
        ..on_linux()
    };
    let got = runs(above, "cubic");
    assert_eq!(got, CongestionControlChoice::Named("cubic".into()));
    // Elsewhere the RFC's.
    let got = runs(TransportSettings::default(), "cubic");
    assert_eq!(got, CongestionControlChoice::Named("cubic".into()));
}

#[test]
fn parameters_of_a_replaced_congestion_control_go_with_it() {
    let below = TransportSettings {
        parameters: Parameters::new()
            .with("thresholds", vec![1.0])
            .with("hoe", "round"),
        ..control("mtsi")
    };
    let above = control("newreno").over(below.clone());
    assert_eq!(above.parameters.get("thresholds"), None);
    assert!(above.parameters.get("hoe").is_some());
    let same = TransportSettings::default().over(below.clone());
    assert_eq!(same, below);
}

#[test]
fn the_mss_fills_a_packet_with_or_without_timestamps() {
    let without = TransportSettings {
        timestamps: Some(false),
        ..control("cubic")
    };
    assert_eq!(without.resolve("a").mss, 1460);
    assert_eq!(control("cubic").resolve("b").mss, 1448);
}
