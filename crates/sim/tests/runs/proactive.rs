//! Proactive TCP over a shared satellite link (Sarkar et al. 2010, section 3):
//! what its detector is worth.

use crate::text::read;
use bentpipe_outcome::{FlowSeries, Outcome};
use bentpipe_sim::{Options, run};
use bentpipe_units::Duration;

/// Ten senders of 500 kbit/s into one satellite link with 25 packets of
/// queue; receive windows of 64 segments of 1000 bytes.
fn ten(transport: &str, profile: &str, recovery: &str, mbps: u32, loss: f64) -> Outcome {
    let text = format!(
        r#"
duration = "550 s"
[node.s]
count = 10
[node.a]
[node.b]
[node.r]
count = 10
[link.left]
between = ["s", "a"]
rate = "500 kbit/s"
one_way_delay = "5 ms"
queue = "1000 packets"
[link.satellite]
between = ["a", "b"]
rate = "{mbps} Mbit/s"
one_way_delay = "275 ms"
queue = "25 packets"
channel = {{ kind = "uniform", packet_error_rate = {loss} }}
[link.satellite.reverse]
channel = "perfect"
[link.right]
between = ["b", "r"]
rate = "500 kbit/s"
one_way_delay = "5 ms"
[transport.mine]
base = "{transport}"
profile = "{profile}"
recovery = "{recovery}"
mss = "1000 B"
receive_buffer = "64000 B"
[flow.f]
from = "s"
to = "r"
transport = "mine"
application = "persistent"
"#
    );
    let options = Options {
        series: Some(Duration::from_secs(1000)),
        start_jitter: Duration::from_secs(1),
        ..Options::default()
    };
    run(&read(&text), &options).unwrap()
}

/// Recoveries of all flows, and those of them that found the incipient state.
fn warned(outcome: &Outcome) -> (usize, usize) {
    let of = |series: &FlowSeries| {
        let phases: Vec<&str> = series.sender.iter().map(|s| s.phase).collect();
        let begun = phases.windows(2).filter(|p| p[1] == "recovery");
        let warned = begun.clone().filter(|p| p[0] == "proactive_incipient");
        (begun.count(), warned.count())
    };
    outcome
        .series
        .iter()
        .map(of)
        .fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
}

/// Mean goodput of the flows, kbit/s.
fn kbps(outcome: &Outcome) -> u64 {
    let bits: u64 = outcome.flows.iter().map(|f| f.delivered.get() * 8).sum();
    bits / outcome.flows.len() as u64 / 550_000
}

fn drops(outcome: &Outcome) -> u64 {
    outcome.links.iter().map(|l| l.queue_drops).sum()
}

#[test]
fn congestion_is_seen_coming() {
    // 5 Mbit/s of senders at 3 Mbit/s, a clean channel: every loss is
    // congestion, and most are announced by the RTT.
    for recovery in ["newreno", "sack"] {
        let proactive = ten("proactive", "ns-2", recovery, 3, 0.0);
        let (losses, announced) = warned(&proactive);
        assert!(2 * announced > losses, "{announced} of {losses}");
        let other = ten(recovery, "ns-2", recovery, 3, 0.0);
        assert!(2 * drops(&proactive) < drops(&other));
        assert!(kbps(&proactive) > kbps(&other));
    }
}

#[test]
fn errors_of_the_channel_cost_it_less() {
    for recovery in ["newreno", "sack"] {
        let proactive = kbps(&ten("proactive", "ns-2", recovery, 5, 0.01));
        let other = kbps(&ten(recovery, "ns-2", recovery, 5, 0.01));
        assert!(4 * proactive > 5 * other, "{proactive} and {other} kbit/s");
    }
    let proactive = kbps(&ten("proactive", "rfc", "sack", 5, 0.01));
    let other = kbps(&ten("sack", "rfc", "sack", 5, 0.01));
    assert!(
        10 * proactive > 11 * other,
        "{proactive} and {other} kbit/s"
    );
}
