//! What the host profile decides, and how transfers end.

use crate::line::{Line, named};
use crate::text::read;
use bentpipe_sim::{Options, run};
use bentpipe_tcp::{DelayedAck, HostProfile, Recovery, Transport};
use bentpipe_units::Duration;

/// Seconds for three segments where two have an ACK and a single one waits 200 ms
/// for its.
fn three_segments(profile: HostProfile) -> f64 {
    let transport = Transport {
        profile,
        delayed_ack: DelayedAck {
            count: 2,
            timer: Duration::from_millis(200),
            quick_acks: 0,
        },
        ..named("newreno", Recovery::NewReno)
    };
    let line = Line::geo().transfer(3 * 1_448, transport);
    let outcome = run(&line.scenario(), &Options::default()).unwrap();
    outcome.flows[0].transfer_time.unwrap().as_secs()
}

#[test]
fn the_fin_spares_an_odd_last_segment_the_delayed_ack() {
    // Three packets of 6 ms and a round trip.
    let rfc = three_segments(HostProfile::Rfc);
    assert!((rfc - 0.529).abs() < 0.002, "{rfc}");
    // An agent of ns-2 sends no FIN.
    let ns2 = three_segments(HostProfile::Ns2);
    assert!((ns2 - rfc - 0.2).abs() < 0.002, "{ns2}");
}

#[test]
fn both_sides_of_a_transfer_close() {
    let line = Line::geo()
        .transfer(1_448, named("newreno", Recovery::Sack))
        .transfer(500_000, named("newreno", Recovery::Sack));
    let outcome = run(&line.scenario(), &Options::default()).unwrap();
    let short = &outcome.flows[0];
    assert_eq!((short.packets_sent, short.retransmissions), (1, 0));
    // What goes back: SYN-ACKs and ACKs of both, and the FIN of the short one's
    // receiver. That of the long one leaves with the last ACK, when the run ends.
    let plain = Line::geo().transfer(500_000, named("newreno", Recovery::Sack));
    let alone = run(&plain.scenario(), &Options::default()).unwrap();
    let back = |outcome: &bentpipe_outcome::Outcome| outcome.links[3].delivered_packets;
    assert_eq!(back(&outcome) - back(&alone), 3);
}

/// Mbit/s over 100 s at 10 Mbit/s and an RTT of 600 ms.
fn goodput(transport: &str) -> f64 {
    let scenario = read(&format!(
        r#"
duration = "100 s"
[node.server]
[node.client]
[link.satellite]
between = ["server", "client"]
rate = "10 Mbit/s"
one_way_delay = "300 ms"
queue = "600 packets"
[transport.mine]
{transport}
[flow.download]
from = "server"
to = "client"
transport = "mine"
application = "persistent"
"#
    ));
    let outcome = run(&scenario, &Options::default()).unwrap();
    outcome.flows[0].delivered.get() as f64 * 8.0 / 100e6
}

#[test]
fn on_linux_no_base_holds_the_receive_window_back() {
    for base in ["sack", "newreno", "reno", "hybla"] {
        let mbps = goodput(&format!("base = \"{base}\"\nprofile = \"linux\""));
        assert!(mbps > 8.0, "{base}: {mbps} Mbit/s");
    }
    // Without SACK, too.
    let mbps = goodput("base = \"sack\"\nprofile = \"linux\"\nrecovery = \"newreno\"");
    assert!(mbps > 7.0, "without SACK: {mbps} Mbit/s");
}
