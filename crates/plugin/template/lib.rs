//! NAME: growth that does not depend on the round trip.
//!
//! TCP's congestion avoidance adds a segment per round trip, which over a
//! geostationary satellite is a segment in 600 ms. This control adds `step` segments
//! in 100 ms, whatever the round trip is. Slow start doubles as usual, and a loss
//! leaves `beta` of what is in flight.

mod bentpipe;

use bentpipe::{Ack, CongestionControl, Loss, Parameters, Window};

/// The time in which `step` segments are added, seconds.
const PERIOD: f64 = 0.1;

/// A connection.
struct TYPE {
    step: f64,
    beta: f64,
}

impl CongestionControl for TYPE {
    fn new(parameters: &Parameters) -> TYPE {
        TYPE {
            step: parameters.get("step"),
            beta: parameters.get("beta"),
        }
    }

    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        if !ack.is_cwnd_limited() {
            return;
        }
        if window.in_slow_start() {
            window.cwnd += ack.acked;
            return;
        }
        let rtt = ack.smoothed_rtt_ns as f64 / 1e9;
        let per_round = (self.step * rtt / PERIOD).clamp(1.0, window.cwnd);
        window.cwnd += per_round * ack.acked / window.cwnd;
    }

    fn on_loss(&mut self, loss: &Loss, window: &mut Window) {
        window.ssthresh = (loss.flight * self.beta).max(2.0);
        window.cwnd = window.ssthresh;
    }
}

crate::export! {
    TYPE, "NAME", "growth of `step` segments in 100 ms, whatever the round trip";
    step = 1.0, 0.1 ..= 100.0, "segments", "growth of the window in 100 ms";
    beta = 0.7, 0.1 ..= 0.95, "", "the part of what is in flight that a loss leaves";
}

#[cfg(test)]
mod tests {
    use super::*;
    use bentpipe::flag;

    #[test]
    fn avoidance_does_not_depend_on_the_round_trip() {
        let mut control = TYPE { step: 1.0, beta: 0.7 };
        for rtt_ns in [100_000_000_u64, 600_000_000] {
            let mut window = Window::new(100.0);
            window.ssthresh = 50.0;
            let ack = Ack {
                acked: 1.0,
                smoothed_rtt_ns: rtt_ns,
                flags: flag::CWND_LIMITED,
                ..Ack::empty()
            };
            for _ in 0..100 {
                control.on_ack(&ack, &mut window);
            }
            // One round trip: a segment per 100 ms.
            let expected = rtt_ns as f64 / 1e8;
            assert!((window.cwnd - 100.0 - expected).abs() < 0.2, "{}", window.cwnd);
        }
    }
}
