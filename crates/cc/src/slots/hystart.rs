//! HyStart++: slow start that leaves when the round-trip time rises.
//!
//! Source: RFC 9406, section 4. Each round keeps its smallest RTT; from the
//! eighth sample on, a minimum that exceeds the last round's by
//! clamp(last / 8, 4 ms, 16 ms) enters Conservative Slow Start (CSS), which
//! grows a quarter as fast for five rounds and then sets ssthresh = cwnd. An
//! RTT below that at entry shows that the rise was noise: back to slow start.
//!
//! | parameter | default | unit |
//! |---|---|---|
//! | limit (L) | 8 | segments an ACK may add without pacing; 8 does not bind a host that spaces its packets (RFC 9406, section 4.3) |
//! | enabled | true | false: growth by L only |
//!
//! Left open, and the reading chosen: HyStart++ runs until the first exit,
//! loss or timeout of a connection; later slow starts count segments in the
//! same way without watching the delay. On geostationary paths the threshold
//! is always 16 ms (RTT / 8 is above it). Another `limit` than the RFC's binds a
//! host that spaces its packets, too.
//!
//! What is inherent in it: the RFC compares the smallest RTT of rounds. In the
//! round in which the window first exceeds the path, the queue is empty when
//! the round begins, and its first ACKs show that, however long the queue is
//! when it ends. The rise shows in the next round, when the window has doubled
//! once more: to four times the bandwidth-delay product at worst and twice at
//! best, where a queue of one such product holds two. So slow start overruns a
//! queue of one product. At 10 Mbit/s, 600 ms and a queue of 500 packets a
//! transfer of 5.3 MB by CUBIC loses 470 packets to it.

use super::SEGMENTS;
use crate::parameter::{flag, number, parameters};
use crate::slot::SlowStart;
use crate::{Ack, HostRules, Window};
use bentpipe_units::{Duration, Segments};

parameters! {
    /// Settings of [`HyStart`].
    pub struct HyStartParameters {
        hystart: bool = flag(true), "leave slow start when the RTT rises";
        limit: f64 = number(UNPACED_LIMIT, "segments", SEGMENTS),
            "segments that an ACK may add (RFC 9406, L); 8: none where packets are spaced";
    }
}

/// The limit of hosts without pacing.
const UNPACED_LIMIT: Segments = 8.0;
const MIN_THRESHOLD: Duration = Duration::from_millis(4);
const MAX_THRESHOLD: Duration = Duration::from_millis(16);
const SAMPLES: u32 = 8;
const CSS_GROWTH_DIVISOR: f64 = 4.0;
const CSS_ROUNDS: u32 = 5;

/// The state of HyStart++ in a connection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HyStart {
    /// Segments that an ACK may add.
    limit: Segments,
    active: bool,
    last_round_min: Duration,
    round_min: Duration,
    samples: u32,
    css_baseline: Duration,
    /// Rounds of CSS begun, the partial one at its entry included; 0 outside.
    css_rounds: u32,
}

impl HyStart {
    /// HyStart++ whose ACKs add at most `limit` segments; without its exit by
    /// delay where not `enabled`.
    #[must_use]
    pub const fn new(limit: Segments, enabled: bool) -> HyStart {
        HyStart {
            limit,
            active: enabled,
            last_round_min: Duration::MAX,
            round_min: Duration::MAX,
            samples: 0,
            css_baseline: Duration::MAX,
            css_rounds: 0,
        }
    }

    /// True in Conservative Slow Start.
    #[must_use]
    pub const fn in_css(&self) -> bool {
        self.css_rounds > 0
    }

    /// No more exits by delay.
    fn stop(&mut self) {
        self.active = false;
        self.css_rounds = 0;
    }
}

fills! { HyStart, "hystart++", "standard until the RTT rises (RFC 9406)",
    |parameters: HyStartParameters| HyStart::new(parameters.limit, parameters.hystart)
}

impl SlowStart for HyStart {
    #[inline]
    fn on_sample(&mut self, ack: &Ack, window: &mut Window) {
        if !self.active || ack.in_recovery {
            return;
        }
        if ack.round_start {
            if self.css_rounds >= CSS_ROUNDS {
                self.stop();
                window.ssthresh = window.ssthresh.min(window.cwnd);
                return;
            }
            if self.in_css() {
                self.css_rounds += 1;
            }
            self.last_round_min = self.round_min;
            self.round_min = Duration::MAX;
            self.samples = 0;
        }
        let Some(rtt) = ack.rtt else { return };
        self.round_min = self.round_min.min(rtt);
        self.samples += 1;
        if self.samples < SAMPLES {
            return;
        }
        if self.in_css() {
            if self.round_min < self.css_baseline {
                self.css_baseline = Duration::MAX;
                self.css_rounds = 0;
            }
        } else if self.last_round_min != Duration::MAX {
            let threshold = (self.last_round_min / 8).clamp(MIN_THRESHOLD, MAX_THRESHOLD);
            if self.round_min >= self.last_round_min + threshold {
                self.css_baseline = self.round_min;
                self.css_rounds = 1;
            }
        }
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack, window: &mut Window, _: bool) {
        let mut step = ack.acked.min(self.limit);
        if self.in_css() {
            step /= CSS_GROWTH_DIVISOR;
        }
        window.cwnd = (window.cwnd + step).min(window.ssthresh.max(window.cwnd + 1.0));
    }

    fn apply_host_rules(&mut self, rules: HostRules) {
        if rules.spaces_packets && self.limit == UNPACED_LIMIT {
            self.limit = Segments::INFINITY;
        }
    }

    fn on_loss(&mut self) {
        self.stop();
    }

    fn on_timeout(&mut self) {
        self.stop();
    }
}
