//! BA-TCP: the bandwidth and the delay that routers write, over satellite links.

use crate::text::read;
use bentpipe_outcome::Outcome;
use bentpipe_sim::{Options, run};
use std::fmt::Write as _;

/// A flow for each of `rtts` (ms), over its own leg, through a bottleneck of
/// 10 Mbit/s, each starting five seconds after the one before.
fn outcome(transport: &str, queue: &str, rtts: &[u64], per: f64) -> Outcome {
    let mut text = format!(
        "duration = \"120 s\"\n[node.r0]\n[node.r1]\n[link.bottleneck]\n\
         between = [\"r0\", \"r1\"]\nrate = \"10 Mbit/s\"\none_way_delay = \"10 ms\"\n\
         queue = {{ kind = \"{queue}\", limit = \"400 packets\" }}\n\
         channel = {{ kind = \"uniform\", packet_error_rate = {per} }}\n\
         [link.bottleneck.reverse]\nchannel = \"perfect\"\n"
    );
    for (i, rtt) in rtts.iter().enumerate() {
        let leg = rtt / 2 - 10;
        write!(
            text,
            "[node.s{i}]\n[link.leg{i}]\nbetween = [\"s{i}\", \"r0\"]\n\
             rate = \"100 Mbit/s\"\none_way_delay = \"{leg} ms\"\n\
             queue = {{ kind = \"{queue}\", limit = \"4000 packets\" }}\n\
             [flow.f{i}]\nfrom = \"s{i}\"\nto = \"r1\"\ntransport = \"{transport}\"\n\
             application = \"persistent\"\nstart = \"{} s\"\n",
            5 * i
        )
        .unwrap();
    }
    run(&read(&text), &Options::default()).unwrap()
}

fn rates(outcome: &Outcome) -> Vec<f64> {
    let flows = outcome.flows.iter();
    flows
        .map(|f| f.delivered.as_f64() * 8e-6 / (120.0 - f.started_at.as_secs()))
        .collect()
}

/// The claim of the abstract: fair to connections whose round trips differ by an order
/// of magnitude, at a queue that stays short.
#[test]
fn a_satellite_connection_shares_fairly_with_one_on_ground() {
    let ba = outcome("ba-tcp", "bandwidth-aware", &[560, 40], 0.0);
    let found = rates(&ba);
    assert!((found[0] / found[1] - 1.0).abs() < 0.2, "{found:?}");
    assert!(found[0] + found[1] > 8.5, "{found:?}");
    let bottleneck = &ba.links[0];
    assert_eq!(bottleneck.queue_drops, 0);
    let reno = rates(&outcome("newreno", "drop-tail", &[560, 40], 0.0));
    assert!(reno[1] > 3.0 * reno[0], "{reno:?}");
}

#[test]
fn errors_cost_what_they_destroy() {
    let ba = rates(&outcome("ba-tcp", "bandwidth-aware", &[560], 0.01));
    let reno = rates(&outcome("sack", "drop-tail", &[560], 0.01));
    assert!(ba[0] > 3.5 && ba[0] > 5.0 * reno[0], "{ba:?} {reno:?}");
}
