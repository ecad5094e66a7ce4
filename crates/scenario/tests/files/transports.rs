//! What each way of writing a transport means.

use bentpipe_cc::ParameterValue;
use bentpipe_scenario::{Document, Scenario};
use bentpipe_tcp::{
    Ciphers, CongestionControlChoice, HostProfile, Opener, Pacing, Recovery, Transport,
};
use bentpipe_units::{Bytes, Duration};

fn read(text: &str) -> Scenario {
    let document = Document::parse("test.toml", text).unwrap_or_else(|e| panic!("{e}"));
    document
        .validate()
        .unwrap_or_else(|e| panic!("{}", e.render(false)))
}

/// A scenario of two nodes with this after the link's rate and delay, and this
/// after the flow.
fn two_nodes(link: &str, rest: &str) -> Scenario {
    read(&format!(
        "duration = \"10 s\"\n[node.a]\n[node.b]\n[link.l]\nbetween = [\"a\", \"b\"]\n\
         rate = \"8 Mbit/s\"\n{link}\n[flow.f]\nfrom = \"a\"\nto = \"b\"\n{rest}\n"
    ))
}

const DELAY: &str = "one_way_delay = \"10 ms\"";
/// The transport that `[transport.mine]` with these keys makes.
fn transport(keys: &str) -> Transport {
    let flow = "transport = \"mine\"\napplication = \"persistent\"\n[transport.mine]\n";
    let scenario = two_nodes(DELAY, &format!("{flow}{keys}"));
    scenario.flows[0].transport.as_deref().cloned().unwrap()
}

#[test]
fn the_file_wins_over_the_named_transport_and_it_over_the_profile() {
    let as_it_is = transport("base = \"mtsi\"");
    assert_eq!(as_it_is.profile, HostProfile::Rfc);
    assert_eq!(
        (as_it_is.initial_window, as_it_is.recovery),
        (6.0, Recovery::Sack)
    );

    let on_linux = transport("base = \"mtsi\"\nprofile = \"linux-2.2\"");
    // Of mtsi itself:
    assert_eq!(on_linux.initial_window, 6.0);
    assert_eq!(on_linux.receive_buffer, Bytes::new(320 * 1024));
    // Of the profile:
    assert_eq!(on_linux.recovery, Recovery::Fack);
    assert_eq!(
        on_linux.delayed_ack,
        HostProfile::Linux22.rules().delayed_ack
    );
    assert!(!on_linux.limited_transmit);

    let by_hand = transport(
        "base = \"mtsi\"\nprofile = \"linux-2.2\"\ninitial_window = 2\nrecovery = \"reno\"\n\
         delayed_ack = { count = 1 }\nlimited_transmit = true",
    );
    assert_eq!(
        (by_hand.initial_window, by_hand.recovery),
        (2.0, Recovery::Reno)
    );
    assert!(by_hand.limited_transmit);
    assert_eq!(by_hand.delayed_ack.count, 1);
    // The rest of the table is still the profile's.
    assert_eq!(by_hand.delayed_ack.timer, Duration::from_millis(40));
    assert_eq!(by_hand.delayed_ack.quick_acks, 1);
    assert_eq!(by_hand.name, "mine");
}

#[test]
fn offload_is_of_linux() {
    let linux = transport("base = \"cubic\"\nprofile = \"linux\"");
    assert!(!linux.kernel.single_segments);
    let single = transport("base = \"cubic\"\nprofile = \"linux\"\noffload = false");
    assert!(single.kernel.single_segments);
    let text = "duration = \"1 s\"\n[node.a]\n[node.b]\n[link.l]\nbetween = [\"a\", \"b\"]\n\
                rate = \"8 Mbit/s\"\none_way_delay = \"1 ms\"\n[transport.t]\nbase = \"cubic\"\n\
                offload = true\n[flow.f]\nfrom = \"a\"\nto = \"b\"\ntransport = \"t\"\n\
                application = \"persistent\"\n";
    let document = Document::parse("test.toml", text).unwrap();
    let wrong = document.validate().unwrap_err().render(false);
    assert!(
        wrong.contains("`offload` expects profile `linux`"),
        "{wrong}"
    );
    assert!(wrong.contains(":10:"), "{wrong}");
}

#[test]
fn every_key_of_a_transport() {
    let all = transport(
        "base = \"newreno\"\nprofile = \"ns-2\"\nrecovery = \"sack\"\nmss = \"1000 B\"\n\
         initial_window = 3.5\ninitial_ssthresh = 64\nsend_buffer = \"64 KiB\"\n\
         receive_buffer = \"1 MB\"\ntimestamps = true\nlimited_transmit = false\n\
         recovery_fix = true\nundo = true\necn = true\nminimum_rto = \"200 ms\"\n\
         pacing = { kind = \"window\", gain = 1.25, initial_burst = 4 }\n\
         delayed_ack = { count = 3, timer = \"100 ms\", quick_acks = 2 }",
    );
    assert_eq!(all.profile, HostProfile::Ns2);
    assert_eq!(
        (all.mss, all.initial_window, all.initial_ssthresh),
        (1000, 3.5, Some(64.0))
    );
    assert_eq!(
        (all.send_buffer, all.receive_buffer),
        (Bytes::new(65536), Bytes::new(1_000_000))
    );
    assert!(all.timestamps && !all.limited_transmit && all.recovery_fix && all.undo && all.ecn);
    assert_eq!(all.minimum_rto, Some(Duration::from_millis(200)));
    assert_eq!(
        all.pacing,
        Pacing::Window {
            gain: 1.25,
            initial_burst: 4
        }
    );
    assert_eq!((all.delayed_ack.count, all.delayed_ack.quick_acks), (3, 2));
    let again = transport("base = \"hybla\"\npacing = \"off\"\ninitial_ssthresh = \"unlimited\"");
    assert_eq!((again.pacing, again.initial_ssthresh), (Pacing::Off, None));
}

#[test]
fn keys_that_only_quic_has() {
    let mine = transport(
        "base = \"newreno\"\nprotocol = \"quic\"\nopener = \"to\"\n\
         initial_receive_window = \"1 MB\"\nstart = \"search\"\nthreshold = 0.26",
    );
    let quic = mine.quic.expect("it runs QUIC");
    assert_eq!(quic.opener, Opener::To);
    assert_eq!(quic.initial_receive_window, Some(Bytes::new(1_000_000)));
    let text = "duration = \"1 s\"\n[node.a]\n[node.b]\n[link.l]\nbetween = [\"a\", \"b\"]\n\
                rate = \"8 Mbit/s\"\none_way_delay = \"1 ms\"\n[transport.t]\nbase = \"cubic\"\n\
                opener = \"to\"\n[flow.f]\nfrom = \"a\"\nto = \"b\"\ntransport = \"t\"\n\
                application = \"persistent\"\n";
    let document = Document::parse("test.toml", text).unwrap();
    let wrong = document.validate().unwrap_err().render(false);
    assert!(wrong.contains("`opener` is a setting of QUIC"), "{wrong}");
    assert!(wrong.contains("protocol = \"quic\""), "{wrong}");
}

/// A build without TLS says so at the key; one with it refuses only what TLS cannot.
#[test]
fn ciphers_are_refused_where_they_are_not_there() {
    let text = |more: &str| {
        format!(
            "duration = \"1 s\"\n[node.a]\n[node.b]\n[link.l]\nbetween = [\"a\", \"b\"]\n\
             rate = \"8 Mbit/s\"\none_way_delay = \"1 ms\"\n[transport.t]\nbase = \"cubic\"\n\
             protocol = \"quic\"\n{more}\n[flow.f]\nfrom = \"a\"\nto = \"b\"\n\
             transport = \"t\"\napplication = \"persistent\"\n"
        )
    };
    let read = |more: &str| {
        Document::parse("test.toml", &text(more))
            .unwrap()
            .validate()
    };
    assert!(read("ciphers = \"none\"").is_ok());
    match (read("ciphers = \"tls\""), bentpipe_quic::HAS_TLS) {
        (Ok(scenario), true) => {
            let quic = scenario.flows[0].transport.as_ref().and_then(|t| t.quic);
            assert_eq!(quic.map(|quic| quic.ciphers), Some(Ciphers::Tls));
            let resumes = read("ciphers = \"tls\"\nresumption = \"1-rtt\"").unwrap_err();
            assert!(resumes.render(false).contains("no earlier connection"));
        }
        (Err(wrong), false) => {
            let wrong = wrong.render(false);
            assert!(
                wrong.contains("has no ciphers") && wrong.contains("test.toml:11"),
                "{wrong}"
            );
        }
        (other, _) => panic!("{:?}", other.is_ok()),
    }
}

#[test]
fn parameters_stand_beside_the_keys() {
    let mine = transport("base = \"mtsi\"\nthresholds = [10, 20.5, 30]\nrule = \"B\"");
    let thresholds = Some(&ParameterValue::Numbers(vec![10.0, 20.5, 30.0]));
    assert_eq!(mine.parameters.get("thresholds"), thresholds);
    assert!(mine.controller().is_ok());
    let hybla = transport("base = \"hybla\"\nrtt0 = \"50 ms\"\ndoubling_limit = false");
    let rtt0 = Some(&ParameterValue::Duration(Duration::from_millis(50)));
    assert_eq!(hybla.parameters.get("rtt0"), rtt0);
    // `count` is a parameter here, as `count` of other tables is a number.
    let cubic = transport("base = \"cubic\"\ncount = \"segments\"");
    assert_eq!(
        cubic.parameters.get("count"),
        Some(&ParameterValue::Text("segments".into()))
    );
}

#[test]
fn slots_combine_freely() {
    let slots = |start: &str, avoidance: &str, reaction: &str| CongestionControlChoice::Slots {
        start: start.into(),
        avoidance: avoidance.into(),
        reaction: reaction.into(),
    };
    let mixed = transport("start = \"mtsi\"\navoidance = \"hybla\"\nreaction = \"westwood+\"");
    assert_eq!(
        mixed.congestion_control,
        slots("mtsi", "hybla", "westwood+")
    );
    let changed = transport("base = \"hybla\"\nreaction = \"westwood+\"\nrtt0 = \"25 ms\"");
    assert_eq!(
        changed.congestion_control,
        slots("hybla", "hybla", "westwood+")
    );
    assert_eq!(
        changed.pacing,
        Pacing::Window {
            gain: 1.0,
            initial_burst: 10
        }
    );
    let replaced = transport("base = \"hybla\"\ncongestion_control = \"cubic\"");
    assert_eq!(
        replaced.congestion_control,
        CongestionControlChoice::Named("cubic".into())
    );
    assert_eq!(replaced.recovery, Recovery::Sack);
}

#[test]
fn a_transport_may_refine_another_of_the_file_or_its_namesake() {
    let text = "transport = \"b\"\napplication = \"persistent\"\n\
                [transport.b]\nbase = \"a\"\nmss = \"500 B\"\n\
                [transport.a]\nbase = \"mtsi\"\nthresholds = [1, 2, 3]\ninitial_window = 9\n\
                [transport.mtsi]\ninitial_window = 4\necn = true";
    let transport = two_nodes(DELAY, text).flows[0].transport.clone().unwrap();
    assert_eq!(
        (transport.mss, transport.initial_window, transport.ecn),
        (500, 9.0, true)
    );
    assert!(transport.parameters.get("thresholds").is_some());
}

/// What would do nothing is refused where it is written.
#[test]
fn tls_is_refused_where_nothing_would_run_it() {
    let bound = "[flow.f]\nfrom = \"a\"\nto = \"b\"\ntransport = \"mine\"\napplication = \"persistent\"\n\
                 [transport.mine]\nbase = \"ideal\"\ntls = true\n";
    let leg = |keys: &str| {
        format!(
            "[node.c]\n[link.m]\nbetween = [\"b\", \"c\"]\nrate = \"1 Mbit/s\"\n{DELAY}\n\
             [middlebox.pep]\nkind = \"split\"\nnode = \"b\"\ntransport = \"mine\"\n\
             [flow.f]\nfrom = \"a\"\nto = \"c\"\ntransport = \"cubic\"\napplication = \"persistent\"\n\
             [transport.mine]\nbase = \"cubic\"\n{keys}\n"
        )
    };
    for (text, why) in [
        (
            bound.to_owned(),
            "the ideal bound is that of a transfer without TLS",
        ),
        (leg("tls = true"), "QUIC and TLS are from end to end"),
        (
            leg("protocol = \"quic\""),
            "QUIC and TLS are from end to end",
        ),
    ] {
        let text = format!(
            "duration = \"10 s\"\n[node.a]\n[node.b]\n[link.l]\nbetween = [\"a\", \"b\"]\n\
             rate = \"8 Mbit/s\"\n{DELAY}\n{text}"
        );
        let error = Document::parse("test.toml", &text)
            .and_then(|document| document.validate())
            .unwrap_err();
        assert!(error.to_string().contains(why), "{error}");
    }
}
