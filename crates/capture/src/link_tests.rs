//! Tests of the link.

use super::*;
use crate::loss::Proportion;

fn losses(waits: Vec<f64>, longest_wait: f64) -> Losses {
    Losses {
        channel: Proportion {
            count: 0,
            of: 0,
            share: Estimate::at_least(0.0),
        },
        burst: None,
        dropped: waits.len() as u64,
        lost_by_channel: Vec::new(),
        waits_at_drops: waits,
        longest_wait,
    }
}

/// 10 Mbit/s for 100 ms are 125 kB.
#[test]
fn a_queue_that_dropped_is_known_and_one_that_did_not_is_bounded() {
    let found = queue(&losses(vec![0.1; 10], 0.1), 1e7, 1500.0);
    // 83.3 packets.
    assert!((found.value - 84.0 * 1500.0).abs() < 1.0, "{found:?}");
    assert!(found.low < 126_000.0 && found.high > 126_000.0);
    let bound = queue(&losses(Vec::new(), 0.1), 1e7, 1500.0);
    assert!(bound.is_bound() && (bound.value - 125_000.0).abs() < 1.0);
}
