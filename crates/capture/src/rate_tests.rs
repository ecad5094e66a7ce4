//! Tests of the rate.

use super::*;
use crate::Builder;

const MSS: u32 = 1460;

/// Packets that leave in windows over a link of 12 Mbit/s, 1 ms each, and 50 ms of round trip:
/// `window` at each round, and an acknowledgement for each, `late` of which come 30 ms late.
fn history(window: u64, rounds: u64, late: u64) -> History {
    let mut b = Builder::new(MSS, 40, true);
    let mut events: Vec<(f64, u64, bool)> = Vec::new();
    let mut free = 0.0_f64;
    let mut number = 0;
    for round in 0..rounds {
        let at = round as f64 * 0.2;
        for _ in 0..window {
            free = free.max(at) + 0.001;
            let delay = if late > 0 && number % late == late - 1 {
                0.03
            } else {
                0.0
            };
            events.push((at, number, false));
            events.push((free + 0.05 + delay, number, true));
            number += 1;
        }
    }
    events.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut most = 0;
    for (at, number, is_ack) in events {
        if is_ack {
            most = most.max(number + 1);
            b.ack(at, most * u64::from(MSS), &[], None, true);
        } else {
            b.data(at, number * u64::from(MSS), MSS);
        }
    }
    b.build()
}

#[test]
fn trains_show_the_rate_at_the_ip_layer() {
    let found = rate(&history(80, 10, 0)).unwrap();
    assert!((found.value / 12e6 - 1.0).abs() < 1e-6, "{found:?}");
    assert!(found.low < 12e6 && found.high > 12e6 && found.high < 12.1e6);
}

#[test]
fn an_acknowledgement_that_is_late_now_and_then_does_not_matter() {
    let found = rate(&history(80, 20, 97)).unwrap();
    assert!((found.value / 12e6 - 1.0).abs() < 0.02, "{found:?}");
}

/// Three packets at a time fill no train: what was sent is all that is known.
#[test]
fn a_sender_that_does_not_fill_the_link_shows_a_bound() {
    let found = rate(&history(3, 100, 0)).unwrap();
    assert!(found.is_bound(), "{found:?}");
    assert!(found.value <= 12e6, "{found:?}");
    assert!(rate(&Builder::new(MSS, 40, true).build()).is_none());
}
