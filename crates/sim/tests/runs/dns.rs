//! The look-up of a name before a connection.

use bentpipe_outcome::{FlowOutcome, Outcome};
use bentpipe_scenario::Document;
use bentpipe_sim::{Options, run};

/// A line of 20 Mbit/s and a round trip of 600 ms.
fn outcome(transport: &str, flow: &str, more: &str) -> Outcome {
    let text = format!(
        "duration = \"300 s\"\n[node.hub]\n[node.gateway]\n[node.terminal]\n\
         [link.lan]\nbetween = [\"hub\", \"gateway\"]\nrate = \"1 Gbit/s\"\none_way_delay = \"0 s\"\n\
         [link.satellite]\n\
         between = [\"gateway\", \"terminal\"]\nrate = \"20 Mbit/s\"\none_way_delay = \"300 ms\"\n\
         queue = \"1000 packets\"\n{more}\n\
         [transport.mine]\nbase = \"cubic\"\n{transport}\n\
         [flow.download]\nfrom = \"hub\"\nto = \"terminal\"\ntransport = \"mine\"\n{flow}\n"
    );
    let scenario = Document::parse("test", &text).and_then(|document| document.validate());
    let scenario = scenario.unwrap_or_else(|error| panic!("{error}\n{text}"));
    run(&scenario, &Options::default()).unwrap()
}

fn flow(transport: &str, flow: &str, more: &str) -> FlowOutcome {
    outcome(transport, flow, more).flows.remove(0)
}

const FILE: &str = "application = { kind = \"transfer\", size = \"80 kB\" }";
const PAGE: &str =
    "application = { kind = \"web\", mean = \"80 kB\", deviation = \"1 B\", count = 2 }";
const QUIC: &str = "protocol = \"quic\"";
const SPLIT: &str = "[middlebox.pep]\nkind = \"split\"\nnode = \"gateway\"\ntoward = \"satellite\"";

/// 78 and 140 bytes at 20 Mbit/s and at 1 Gbit/s, and a round trip.
const LOOK_UP: f64 = 0.6 + 218.0 * 8.0 / 20e6 + 218.0 * 8.0 / 1e9;

#[test]
fn a_look_up_takes_a_round_trip_more() {
    for (transport, application, more) in [
        ("", FILE, ""),
        ("tls = true\nprofile = \"linux\"", PAGE, ""),
        ("", PAGE, ""),
        (QUIC, FILE, ""),
        (QUIC, PAGE, ""),
        ("", FILE, SPLIT),
        ("", PAGE, SPLIT),
    ] {
        let of = |dns: &str| flow(transport, &format!("dns = {dns}\n{application}"), more);
        let (without, with) = (of("false"), of("true"));
        let seconds = |flow: &FlowOutcome| flow.transfer_time.unwrap().as_secs();
        let longer = seconds(&with) - seconds(&without);
        assert!(
            (longer - LOOK_UP).abs() < 2e-3,
            "{transport} {more}: {longer} s"
        );
        assert_eq!(with.delivered, without.delivered);
        if let (Some(with), Some(without)) = (with.pages, without.pages) {
            // Of two pages the first waits.
            let longer = with.mean_time.unwrap().as_secs() - without.mean_time.unwrap().as_secs();
            assert!(
                (longer - LOOK_UP / 2.0).abs() < 2e-3,
                "{transport}: {longer} s"
            );
        }
    }
}

/// An outage takes the first query; the second goes after five seconds.
#[test]
fn a_query_that_is_lost_is_sent_again() {
    let outage = "timeline = [{ at = \"0 s\", up = false }, { at = \"1 s\", up = true }]";
    let time = |more: &str| {
        let one = flow("", &format!("dns = true\n{FILE}"), more);
        one.transfer_time.unwrap().as_secs()
    };
    assert!((time(outage) - time("") - 5.0).abs() < 1e-3);
}

#[test]
fn who_stops_before_the_answer_sends_nothing() {
    for transport in ["", QUIC] {
        let text = "dns = true\nstop = \"300 ms\"\napplication = { kind = \"persistent\" }";
        let stopped = flow(transport, text, "");
        assert_eq!(stopped.sent.get(), 0);
    }
}

#[test]
fn what_has_no_name_is_refused() {
    for (transport, flow, why) in [
        (
            "",
            "handshake = \"skipped\"",
            "a connection that exists already needs no name",
        ),
        ("", "ipsec = {}", "a flow under IPsec has no packets of UDP"),
    ] {
        let text = format!(
            "duration = \"9 s\"\n[node.a]\n[node.b]\n[link.l]\nbetween = [\"a\", \"b\"]\n\
             rate = \"1 Mbit/s\"\none_way_delay = \"1 ms\"\n[transport.mine]\nbase = \"cubic\"\n\
             {transport}\n[flow.f]\nfrom = \"a\"\nto = \"b\"\ntransport = \"mine\"\ndns = true\n\
             {FILE}\n{flow}\n"
        );
        let error = Document::parse("test", &text)
            .and_then(|document| document.validate())
            .unwrap_err()
            .to_string();
        assert!(error.contains(why), "{error}");
    }
}
