//! TCP-Swift and TCP PBS over a satellite link whose queues drop low priority
//! first.

use crate::text::read;
use bentpipe_outcome::{FlowOutcome, Outcome};
use bentpipe_sim::{Options, run};
use bentpipe_units::Duration;

/// `application` over 10 Mbit/s and a round trip of 500 ms, windows of 500
/// segments, losses of `per` on the way forth.
fn outcome(transport: &str, application: &str, per: f64, reports: bool) -> Outcome {
    let text = format!(
        "duration = \"100 s\"\n[node.a]\n[node.b]\n[link.satellite]\nbetween = [\"a\", \"b\"]\n\
         rate = \"10 Mbit/s\"\none_way_delay = \"250 ms\"\n\
         queue = {{ kind = \"priority-drop\", limit = \"1 BDP\" }}\n\
         reports_corruption = {reports}\n\
         channel = {{ kind = \"uniform\", packet_error_rate = {per} }}\n\
         [link.satellite.reverse]\nchannel = \"perfect\"\n\
         [transport.t]\nbase = \"{transport}\"\nmss = \"1460 B\"\nreceive_buffer = \"730 kB\"\n\
         send_buffer = \"2 MB\"\n\
         [flow.f]\nfrom = \"a\"\nto = \"b\"\ntransport = \"t\"\napplication = {application}\n"
    );
    let options = Options {
        series: Some(Duration::from_millis(100)),
        ..Options::default()
    };
    run(&read(&text), &options).unwrap()
}

fn flow(transport: &str, application: &str, per: f64, reports: bool) -> FlowOutcome {
    outcome(transport, application, per, reports)
        .flows
        .remove(0)
}

/// 10 Mbit/s carry 417 segments in a round trip, which slow start from 10 segments
/// reaches after six.
#[test]
fn the_window_is_open_after_two_round_trips() {
    for transport in ["swift", "pbs"] {
        let outcome = outcome(transport, "\"persistent\"", 0.0, false);
        let samples = &outcome.series[0].sender;
        // Handshake, probes, answers.
        let at = samples.partition_point(|s| s.at.as_secs() < 1.6);
        assert!(
            samples[at].cwnd > 380.0,
            "{transport}: {}",
            samples[at].cwnd
        );
        assert_eq!(outcome.flows[0].timeouts, 0);
    }
}

#[test]
fn a_file_takes_half_of_the_time() {
    let application = "{ kind = \"transfer\", size = \"1 MB\" }";
    let time = |t: &str| flow(t, application, 0.0, false).transfer_time.unwrap();
    let sack = time("sack").as_secs();
    for transport in ["swift", "pbs"] {
        let time = time(transport).as_secs();
        assert!(time < 0.7 * sack, "{transport}: {time} s, sack: {sack} s");
    }
}

#[test]
fn errors_that_links_notify_cost_pbs_nothing() {
    let goodput = |reports| {
        flow("pbs", "\"persistent\"", 0.01, reports)
            .delivered
            .as_f64()
            / 12.5e6
    };
    let (silent, told) = (goodput(false), goodput(true));
    assert!(told > 5.0 * silent && told > 4.0, "{silent} {told}");
    // Others take no notice.
    let swift = |reports| flow("swift", "\"persistent\"", 0.01, reports).delivered;
    assert_eq!(swift(false), swift(true));
}

/// Without errors a queue of 50 packets overflows: the reports are none, and PBS
/// halves as others do.
#[test]
fn congestion_is_not_taken_for_an_error() {
    let text = "duration = \"60 s\"\n[node.a]\n[node.b]\n[link.satellite]\n\
                between = [\"a\", \"b\"]\nrate = \"2 Mbit/s\"\none_way_delay = \"50 ms\"\n\
                queue = { kind = \"priority-drop\", limit = \"20 packets\" }\n\
                reports_corruption = true\n[flow.f]\nfrom = \"a\"\nto = \"b\"\n\
                transport = \"pbs\"\napplication = \"persistent\"\n";
    let outcome = run(&read(text), &Options::default()).unwrap();
    let flow = &outcome.flows[0];
    assert!(flow.queue_drops > 0 && flow.reductions >= 5, "{flow:?}");
}

#[test]
fn swift_restores_after_errors_what_halving_costs() {
    let goodput = |transport| {
        flow(transport, "\"persistent\"", 0.001, false)
            .delivered
            .as_f64()
    };
    let (swift, sack) = (goodput("swift"), goodput("sack"));
    assert!(swift > 1.5 * sack, "{swift} {sack}");
}

/// RCS finds the 8 Mbit/s that its application could use; TP-Planet-like probing
/// finds the link. Both keep them over a link that loses one packet in a hundred,
/// where SACK falls to a tenth.
#[test]
fn probed_rates_survive_errors() {
    for (transport, least) in [("rcs\"\ntarget = 8\n#\"", 3.5), ("tp-planet", 3.5)] {
        for per in [0.0, 0.01] {
            let flow = flow(transport, "\"persistent\"", per, false);
            let rate = flow.delivered.as_f64() / 12.5e6;
            assert!(rate > least, "{transport}, {per}: {rate} Mbit/s, {flow:?}");
        }
    }
}

/// Two flows over one link: what low-priority dummies find leaves the other its
/// share.
#[test]
fn probed_rates_yield_to_congestion() {
    let text = "duration = \"300 s\"\n[node.a]\n[node.b]\n[link.satellite]\n\
                between = [\"a\", \"b\"]\nrate = \"10 Mbit/s\"\none_way_delay = \"250 ms\"\n\
                queue = { kind = \"priority-drop\", limit = \"1 BDP\" }\n\
                [flow.one]\nfrom = \"a\"\nto = \"b\"\ntransport = \"tp-planet\"\n\
                application = \"persistent\"\n[flow.two]\nfrom = \"a\"\nto = \"b\"\n\
                transport = \"tp-planet\"\napplication = \"persistent\"\nstart = \"20 s\"\n";
    let outcome = run(&read(text), &Options::default()).unwrap();
    let rates: Vec<f64> = outcome
        .flows
        .iter()
        .map(|f| f.delivered.as_f64() / 37.5e6)
        .collect();
    assert!(rates[1] > 1.0, "{rates:?}");
    assert!(rates[0] + rates[1] > 7.0, "{rates:?}");
}
