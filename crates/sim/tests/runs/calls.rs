//! Calls: datagrams with a deadline, over UDP and over QUIC.

use bentpipe_outcome::{DeadlineOutcome, FlowOutcome};
use bentpipe_sim::{Options, run};
use bentpipe_units::Duration;

/// A call over 2 Mbit/s and 250 ms each way, for 20 s.
fn call(transport: &str, more: &str, link: &str) -> FlowOutcome {
    call_over(250, transport, more, link)
}

/// The same over so many milliseconds each way, with a deadline 50 ms later.
fn call_over(delay: u32, transport: &str, more: &str, link: &str) -> FlowOutcome {
    let deadline = delay + 50;
    let text = format!(
        "duration = \"20 s\"\n[node.hub]\n[node.terminal]\n[link.satellite]\n\
         between = [\"hub\", \"terminal\"]\nrate = \"2 Mbit/s\"\none_way_delay = \"{delay} ms\"\n\
         queue = \"50 packets\"\n{link}\n\
         [transport.quic]\nbase = \"cubic\"\nprotocol = \"quic\"\n\
         [flow.call]\nfrom = \"hub\"\nto = \"terminal\"\n{transport}\n\
         application = {{ kind = \"constant-rate\", rate = \"80 kbit/s\", packet_size = \"200 B\", \
         deadline = \"{deadline} ms\" }}\n{more}\n"
    );
    let scenario = bentpipe_scenario::Document::parse("test", &text)
        .and_then(|document| document.validate())
        .unwrap_or_else(|error| panic!("{error}\n{text}"));
    let mut outcome = run(&scenario, &Options::default()).unwrap();
    outcome.flows.remove(0)
}

const QUIC: &str = "transport = \"quic\"";

fn packets(flow: &FlowOutcome) -> DeadlineOutcome {
    flow.deadline.unwrap()
}

#[test]
fn every_packet_is_in_time_on_an_empty_link() {
    // 200 bytes every 20 ms, the last of which that are due begin at 19.7 s.
    let udp = packets(&call("", "", ""));
    assert_eq!((udp.due, udp.missed), (986, 0));
    assert!((udp.mean_delay.unwrap().as_secs() - 0.2508).abs() < 1e-6);
    // Over QUIC it begins after the handshake, and packets are longer.
    let quic = packets(&call(QUIC, "", ""));
    assert!((955..966).contains(&quic.due), "{quic:?}");
    assert_eq!(quic.missed, 0);
    let delay = quic.p95_delay.unwrap();
    assert!((0.2508..0.253).contains(&delay.as_secs()), "{delay}");
}

/// On a short way the window that losses leave has room for a call.
#[test]
fn what_is_lost_is_missed_and_not_sent_again() {
    let loss = "channel = { kind = \"uniform\", packet_error_rate = 0.02 }";
    for transport in ["", QUIC] {
        let packets = packets(&call_over(20, transport, "", loss));
        let share = packets.missed as f64 / packets.due as f64;
        assert!((0.01..0.04).contains(&share), "{transport} {packets:?}");
        // What arrives was never sent again.
        assert!(packets.p95_delay.unwrap() < Duration::from_millis(25));
    }
}

/// On a long one that window is smaller than what a call has under way, so that most packets wait.
#[test]
fn losses_leave_a_call_over_quic_no_window() {
    let loss = "channel = { kind = \"uniform\", packet_error_rate = 0.05 }";
    let share = |transport: &str| {
        let packets = packets(&call(transport, "", loss));
        packets.missed as f64 / packets.due as f64
    };
    assert!(share("") < 0.08, "{}", share(""));
    assert!(share(QUIC) > 0.5, "{}", share(QUIC));
}

#[test]
fn a_call_waits_behind_a_download() {
    let download = "[flow.download]\nfrom = \"hub\"\nto = \"terminal\"\ntransport = \"cubic\"\n\
                    application = \"persistent\"";
    for transport in ["", QUIC] {
        let packets = packets(&call(transport, download, ""));
        let share = packets.missed as f64 / packets.due as f64;
        assert!(share > 0.3, "{transport} {packets:?}");
        assert!(packets.p95_delay.unwrap() > Duration::from_millis(300));
    }
}
