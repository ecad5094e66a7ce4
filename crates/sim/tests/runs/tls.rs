//! TLS before the data of TCP, and pages of objects over TCP and QUIC.

use bentpipe_outcome::{FlowOutcome, Outcome};
use bentpipe_sim::{Options, run};
use bentpipe_units::Duration;

/// A line of 20 Mbit/s and a round trip of 600 ms.
fn scenario(transport: &str, flow: &str, more: &str) -> String {
    let host = match transport.contains("quic") {
        true => "",
        false => "profile = \"linux\"",
    };
    format!(
        "duration = \"300 s\"\n[node.hub]\n[node.gateway]\n[node.terminal]\n\
         [link.lan]\nbetween = [\"hub\", \"gateway\"]\nrate = \"1 Gbit/s\"\none_way_delay = \"0 s\"\n\
         [link.satellite]\n\
         between = [\"gateway\", \"terminal\"]\nrate = \"20 Mbit/s\"\none_way_delay = \"300 ms\"\n\
         queue = {{ kind = \"drop-tail\", limit = \"1000 packets\" }}\n{more}\n\
         [transport.mine]\nbase = \"cubic\"\n{host}\n{transport}\n\
         [flow.download]\nfrom = \"hub\"\nto = \"terminal\"\ntransport = \"mine\"\n{flow}\n"
    )
}

fn outcome(transport: &str, flow: &str, more: &str) -> Outcome {
    let text = scenario(transport, flow, more);
    let scenario = bentpipe_scenario::Document::parse("test", &text)
        .and_then(|document| document.validate())
        .unwrap_or_else(|error| panic!("{error}\n{text}"));
    run(&scenario, &Options::default()).unwrap()
}

fn flow(transport: &str, application: &str) -> FlowOutcome {
    outcome(transport, application, "").flows.remove(0)
}

const FILE: &str = "application = { kind = \"transfer\", size = \"80 kB\" }";
const PAGE: &str =
    "application = { kind = \"web\", mean = \"80 kB\", deviation = \"1 B\", count = 1 }";

fn seconds(flow: &FlowOutcome) -> f64 {
    flow.transfer_time.unwrap().as_secs()
}

#[test]
fn a_handshake_takes_a_round_trip_more_or_none() {
    for application in [FILE, PAGE] {
        let plain = flow("", application);
        let full = flow("tls = true", application);
        let resumed = flow("tls = true\nresumption = \"1-rtt\"", application);
        let early = flow("tls = true\nresumption = \"0-rtt\"", application);
        let more = |flow: &FlowOutcome| seconds(flow) - seconds(&plain);
        // A round trip, and the transmission of 3 kB of certificates at 20 Mbit/s.
        assert!((0.599..0.606).contains(&more(&full)), "{}", more(&full));
        assert!(
            (0.598..0.603).contains(&more(&resumed)),
            "{}",
            more(&resumed)
        );
        assert!(more(&early).abs() < 0.003, "{}", more(&early));
        for secure in [full, resumed, early] {
            // The handshake is no data.
            assert_eq!(secure.delivered, plain.delivered);
            // Of a page the last acknowledgements are under way when it is complete.
            if application == FILE {
                assert_eq!(secure.acknowledged, plain.acknowledged);
            }
            assert!(secure.sent > plain.sent);
        }
    }
}

#[test]
fn what_is_not_counted_ends_with_the_handshake() {
    for application in [FILE, PAGE] {
        let time = |transport: &str| {
            let text = format!("{application}\nhandshake = \"not-counted\"");
            seconds(&flow(transport, &text))
        };
        let (plain, secure) = (time(""), time("tls = true"));
        assert!((plain - secure).abs() < 0.003, "{plain} {secure}");
    }
    let skipped = format!("{FILE}\nhandshake = \"skipped\"");
    let (plain, secure) = (flow("", &skipped), flow("tls = true", &skipped));
    assert_eq!(plain.sent, secure.sent);
}

/// TLS is between the ends; a split proxy passes its bytes on.
#[test]
fn tls_crosses_a_split_proxy() {
    let pep = "[middlebox.proxy]\nkind = \"split\"\nnode = \"gateway\"";
    for application in [FILE, PAGE] {
        let plain = outcome("", application, pep);
        let secure = outcome("tls = true", application, pep);
        let more = seconds(&secure.flows[0]) - seconds(&plain.flows[0]);
        assert!((0.58..0.62).contains(&more), "{more}");
        assert_eq!(plain.flows[0].delivered, secure.flows[0].delivered);
        assert_eq!(plain.legs.len(), secure.legs.len());
        for (plain, secure) in plain.legs.iter().zip(&secure.legs) {
            assert_eq!(plain.delivered, secure.delivered);
            if application == FILE {
                assert_eq!(plain.acknowledged, secure.acknowledged);
            }
        }
    }
}

/// What is written at a rate waits for the handshake, too.
#[test]
fn on_off_traffic_waits_for_it() {
    let application = "application = { kind = \"on-off\", rate = \"100 kbit/s\", on = \"10 s\", \
                       off = \"10 s\", packet_size = \"1000 B\" }\nstop = \"5 s\"";
    let first = |transport: &str| {
        let flow = flow(transport, application);
        flow.first_delivery_at.unwrap().as_secs()
    };
    let (plain, secure, early) = (
        first(""),
        first("tls = true"),
        first("tls = true\nresumption = \"0-rtt\""),
    );
    assert!((0.59..0.61).contains(&(secure - plain)), "{plain} {secure}");
    assert!((early - plain).abs() < 0.01, "{plain} {early}");
}

#[test]
fn a_lost_handshake_is_repaired() {
    let loss = "channel = { kind = \"uniform\", packet_error_rate = 0.1 }";
    for resumption in ["none", "1-rtt", "0-rtt"] {
        let transport = format!("tls = true\nresumption = \"{resumption}\"");
        for application in [FILE, PAGE] {
            let text = scenario(&transport, application, loss);
            let scenario = bentpipe_scenario::Document::parse("test", &text)
                .and_then(|document| document.validate())
                .unwrap();
            for seed in 0..20 {
                let options = Options {
                    seed,
                    ..Options::default()
                };
                let outcome = run(&scenario, &options).unwrap();
                assert!(
                    outcome.flows[0].transfer_time.is_some(),
                    "{resumption} {seed}"
                );
            }
        }
    }
}

fn page(transport: &str, priorities: bool, loss: f64) -> (Duration, Duration) {
    let application = format!(
        "[flow.download.application]\nkind = \"web\"\nmean = \"2 MB\"\ndeviation = \"1 B\"\ncount = 5\n\
         objects = {{ priorities = {priorities} }}"
    );
    let channel = format!("channel = {{ kind = \"uniform\", packet_error_rate = {loss} }}");
    let mut outcome = outcome(transport, &application, &channel);
    let pages = outcome.flows.remove(0).pages.unwrap();
    assert_eq!(pages.completed, 5);
    (pages.mean_time.unwrap(), pages.mean_render_time.unwrap())
}

#[test]
fn what_drawing_waits_for_comes_first() {
    for protocol in ["tls = true", "protocol = \"quic\""] {
        let (urgent, equal) = (page(protocol, true, 0.0), page(protocol, false, 0.0));
        assert!(urgent.1 < equal.1, "{protocol}: {urgent:?} {equal:?}");
        // It is the order alone that differs.
        let whole = (urgent.0.as_secs() - equal.0.as_secs()).abs();
        assert!(whole < 0.03 * equal.0.as_secs(), "{urgent:?} {equal:?}");
    }
}
