//! Throughput of ALOHA against the formulas: with G packets offered per packet
//! time, S = G exp(-2 G) without slots and S = G exp(-G) with them.

use super::drive::{poisson, slotted, unslotted};
use bentpipe_units::math;

/// Shares of the packets sent that met no other.
fn success(settings: &bentpipe_link::medium::MediumSettings, load: f64) -> (f64, f64) {
    // A terminal has a packet every 4000 packet times on average, ten times
    // as long as it is busy with one: a population as good as infinite.
    let terminals = (4000.0 * load) as usize;
    let (link, end) = poisson(settings, terminals, load, 200_000, true);
    let total = link.total();
    let packet_times = end.as_secs() * 1e3;
    let offered = total.transmissions as f64 / packet_times;
    (offered, total.sent as f64 / packet_times)
}

#[test]
fn throughput_follows_the_formulas() {
    for load in [0.05, 0.1, 0.25, 0.5, 1.0] {
        for (settings, vulnerable) in [(unslotted(0), 2.0), (slotted(0), 1.0)] {
            let (g, s) = success(&settings, load);
            assert!((g / load - 1.0).abs() < 0.01, "{g} offered for {load}");
            let want = g * math::exp(-vulnerable * g);
            let error = s / want - 1.0;
            assert!(error.abs() < 0.02, "G {g}: S {s}, formula {want}");
        }
    }
}

#[test]
fn sending_again_after_ns2s_pauses_is_as_good_as_poisson() {
    // Up to about half of the largest throughput; above that three
    // retransmissions do not save every packet.
    for load in [0.05, 0.1, 0.15] {
        for (settings, vulnerable) in [(unslotted(3), 2.0), (slotted(3), 1.0)] {
            let terminals = 4000;
            let (link, end) = poisson(&settings, terminals, load, 100_000, true);
            let total = link.total();
            let packet_times = end.as_secs() * 1e3;
            let g = total.transmissions as f64 / packet_times;
            let s = total.sent as f64 / packet_times;
            let want = g * math::exp(-vulnerable * g);
            assert!(
                (s / want - 1.0).abs() < 0.02,
                "G {g}: S {s}, formula {want}"
            );
            assert_eq!(total.sent + total.given_up, 100_000);
        }
    }
}
