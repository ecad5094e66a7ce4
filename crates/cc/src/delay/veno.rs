//! TCP Veno: tells random losses from congestion by the backlog that Vegas
//! would see.
//!
//! Source: Fu & Liew, "TCP Veno: TCP Enhancement for Transmission Over Wireless
//! Access Networks", IEEE JSAC 21(2), 2003, sections II.A and II.B.
//!
//! With N = cwnd (RTT - BaseRTT) / RTT segments in the queue:
//!
//! | | N < beta | N >= beta |
//! |---|---|---|
//! | congestion avoidance | 1/cwnd per ACK | 1/cwnd every other ACK |
//! | loss | ssthresh = 4/5 cwnd | ssthresh = cwnd/2 |
//!
//! | parameter | default | |
//! |---|---|---|
//! | beta | 3 | segments |

use crate::{Ack, CongestionControl, Loss, Timeout, Window};
use bentpipe_units::{Duration, Segments};

/// TCP Veno.
#[derive(Clone, Debug, PartialEq)]
pub struct Veno {
    /// Backlog that separates random loss from congestion, segments.
    pub beta: Segments,
    base_rtt: Duration,
    rtt: Duration,
    /// With a backlog, the next ACK grows.
    grows_next: bool,
}

impl Veno {
    /// Veno with the given backlog.
    #[must_use]
    pub const fn new(beta: Segments) -> Veno {
        Veno {
            beta,
            base_rtt: Duration::MAX,
            rtt: Duration::ZERO,
            grows_next: true,
        }
    }

    /// Segments in the queue, by the last RTT sample; zero before one.
    fn backlog(&self, cwnd: Segments) -> Segments {
        if self.rtt.is_zero() {
            return 0.0;
        }
        cwnd * self.rtt.saturating_sub(self.base_rtt).as_secs() / self.rtt.as_secs()
    }
}

impl CongestionControl for Veno {
    fn name(&self) -> &str {
        "veno"
    }

    fn on_sample(&mut self, ack: &Ack, _: &mut Window) {
        if let Some(rtt) = ack.rtt {
            self.rtt = rtt;
            self.base_rtt = self.base_rtt.min(rtt);
        }
    }

    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        if !ack.cwnd_limited {
            return;
        }
        if window.in_slow_start() {
            window.cwnd += 1.0;
            return;
        }
        let grows = self.backlog(window.cwnd) < self.beta || self.grows_next;
        self.grows_next = !grows;
        if grows {
            window.cwnd += 1.0 / window.cwnd;
        }
    }

    fn on_loss(&mut self, loss: &Loss, window: &mut Window) {
        let random = self.backlog(window.cwnd) < self.beta;
        let base = loss.flight;
        window.ssthresh = (if random { 0.8 * base } else { base / 2.0 }).max(2.0);
        window.cwnd = window.ssthresh;
    }

    fn on_timeout(&mut self, timeout: &Timeout, window: &mut Window) {
        if timeout.first {
            window.ssthresh = (timeout.flight / 2.0).max(2.0);
        }
        window.cwnd = 1.0;
    }
}
