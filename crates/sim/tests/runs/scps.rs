//! SCPS-TP compared with SACK on a lossy satellite link.

use crate::text::read;
use bentpipe_outcome::Outcome;
use bentpipe_sim::{Options, run};
use std::fmt::Write as _;

/// A stream without end for 200 s over 10 Mbit/s and a round trip of 500 ms;
/// losses strike data.
fn outcome(transport: &str, per: f64, reports: bool) -> Outcome {
    let text = format!(
        "duration = \"200 s\"\n[node.a]\n[node.b]\n[link.satellite]\nbetween = [\"a\", \"b\"]\n\
         rate = \"10 Mbit/s\"\none_way_delay = \"250 ms\"\nqueue = \"1 BDP\"\n\
         reports_corruption = {reports}\n\
         channel = {{ kind = \"uniform\", packet_error_rate = {per} }}\n\
         [link.satellite.reverse]\nchannel = \"perfect\"\n[transport.t]\n{transport}\n\
         [flow.f]\nfrom = \"a\"\nto = \"b\"\ntransport = \"t\"\napplication = \"persistent\"\n"
    );
    run(&read(&text), &Options::default()).unwrap()
}

/// Transports with SACK and with SNACK, one pair after the other.
const TRANSPORTS: [(&str, &str); 8] = [
    ("newreno + sack", "base = \"sack\""),
    ("newreno + snack", "base = \"sack\"\nrecovery = \"snack\""),
    ("cubic + sack", "base = \"cubic\""),
    ("cubic + snack", "base = \"cubic\"\nrecovery = \"snack\""),
    ("vegas + sack", "base = \"vegas\""),
    ("scps-tp", "base = \"scps-tp\""),
    ("8 Mbit/s + sack", "base = \"open-loop\"\nrate = 8"),
    (
        "8 Mbit/s + snack",
        "base = \"open-loop\"\nrate = 8\nrecovery = \"snack\"",
    ),
];

/// SCPS-TP is faster with 5% corrupted than with none, because its window is
/// Vegas': without gaps the receiver delays its ACKs, which Vegas takes for a queue
/// (2.2 Mbit/s; 5.9 if each segment is acknowledged), and above a gap it
/// acknowledges each at once (7.1; 7.5).
#[test]
fn goodput_over_losses() {
    let mut table = String::from(
        "Mbit/s of payload; packets sent again / lost; timeouts\n\
         `told`: the link reports corruption\n\n",
    );
    for (name, transport) in TRANSPORTS {
        let _ = write!(table, "{name:<17}");
        for (per, reports) in [
            (0.0, false),
            (0.01, false),
            (0.05, false),
            (0.01, true),
            (0.05, true),
        ] {
            let outcome = outcome(transport, per, reports);
            let flow = &outcome.flows[0];
            let lost = flow.queue_drops + flow.channel_losses;
            let rate = flow.delivered.as_f64() * 8.0 / 200e6;
            let again = format!("{}/{lost}", flow.retransmissions);
            let told = if reports { " told" } else { "" };
            let _ = write!(
                table,
                " | {}%{told}: {rate:.3} {again} {}",
                per * 100.0,
                flow.timeouts
            );
        }
        table.push('\n');
    }
    insta::assert_snapshot!(table);
}

#[test]
fn snack_repairs_without_timeouts_what_sack_cannot() {
    let rate = |recovery: &str| {
        let transport = format!("base = \"open-loop\"\nrate = 8\nrecovery = \"{recovery}\"");
        outcome(&transport, 0.05, false).flows.remove(0)
    };
    let (sack, snack) = (rate("sack"), rate("snack"));
    assert!(snack.timeouts == 0 && sack.timeouts > 20);
    assert_eq!(snack.spurious_retransmissions, 0);
    assert!(snack.retransmissions <= snack.channel_losses);
    assert!(snack.delivered.as_f64() > 1.2 * sack.delivered.as_f64());
}

#[test]
fn a_link_that_tells_saves_the_window() {
    let delivered = |transport: &str, reports: bool| {
        outcome(transport, 0.01, reports).flows[0]
            .delivered
            .as_f64()
    };
    for transport in [
        "base = \"scps-tp\"",
        "base = \"cubic\"\nrecovery = \"snack\"",
    ] {
        let (silent, told) = (delivered(transport, false), delivered(transport, true));
        assert!(told > 5.0 * silent, "{transport}: {silent} {told}");
    }
    // SACK does not listen.
    let sack = "base = \"sack\"";
    assert_eq!(delivered(sack, false), delivered(sack, true));
}
