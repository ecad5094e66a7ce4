//! The filters of the Westwood agents, `filter_type_` 0 to 10.
//!
//! b is a sample, b' the one before it, T the time that it spans, tau the time
//! constant. Types 0 to 3 and 8 take a sample per ACK. The others take one per
//! round trip: the bits counted / the time gone by, as soon as that exceeds the
//! last round trip.
//!
//! | type | BWE becomes |
//! |---|---|
//! | 0, 5 | alpha BWE + (1 - alpha) b |
//! | 1 | .9047 BWE + .0476 (b + b') |
//! | 2 | .93548 BWE + .03225 (b + b') |
//! | 3 | Tustin's low-pass: ((2 tau - T) BWE + T (b + b')) / (2 tau + T). Before that each whole tau / 2 of the gap is a sample of zero, 3/5 BWE + 1/5 b', and b is taken over what is left of the gap; where that is below 10 ms, over tau / 2 and one zero less |
//! | 4 | Tustin's in steps: for each whole tau / 4 of T one step with the sample, 7/9 BWE + 1/9 (b + b'), then one for the rest of T |
//! | 6 | alpha BWE + (1 - alpha) (b + b') / 2 |
//! | 7 | as type 4, but the steps interpolate: step i of tau / 4 takes s = b' + (b - b') (i tau / 4 T)^p, 7/9 BWE + 2/9 s; the rest takes b twice |
//! | 8, 9 | e BWE + (1 - e) b with e = exp(-T / tau) |
//! | 10 | as type 9, but b is b' again unless the queueing delay exceeds a threshold |

use crate::parameter::words;
use bentpipe_units::Duration;
use bentpipe_units::math;

words! {
    /// `filter_type_`.
    pub enum AgentFilter {
        /// Exponential, per ACK.
        Type0 = "type-0",
        /// Tustin at tau = 10 T.
        Type1 = "type-1",
        /// Tustin at tau = 15 T.
        Type2 = "type-2",
        /// Tustin with samples of zero.
        Type3 = "type-3",
        /// Tustin per round trip.
        Type4 = "type-4",
        /// Exponential, per round trip: Westwood+ of Grieco & Mascolo.
        Type5 = "type-5",
        /// Exponential on the mean of two samples.
        Type6 = "type-6",
        /// Tustin per round trip, interpolated.
        Type7 = "type-7",
        /// Exponential by time, per ACK.
        Type8 = "type-8",
        /// Exponential by time, per round trip.
        Type9 = "type-9",
        /// The same, only while a queue stands.
        Type10 = "type-10",
    }
}

/// What is left of a gap counts from here on (type 3), seconds.
const SMALLEST_REST: f64 = 0.01;

/// A filter and its state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FilterState {
    filter: AgentFilter,
    /// Time constant tau, seconds.
    tau: f64,
    alpha: f64,
    exponent: f64,
    threshold: Duration,
    /// Bandwidth estimate BWE, bit/s.
    estimate: f64,
    /// The sample before, bit/s.
    last: f64,
    /// Bits of the round trip so far, and its seconds.
    bits: f64,
    seconds: f64,
}

impl FilterState {
    /// A filter that has seen nothing.
    #[must_use]
    pub fn new(filter: AgentFilter, tau: Duration, alpha: f64) -> FilterState {
        FilterState {
            filter,
            tau: tau.as_secs().max(1e-9),
            alpha,
            exponent: 1.0,
            threshold: Duration::ZERO,
            estimate: 0.0,
            last: 0.0,
            bits: 0.0,
            seconds: 0.0,
        }
    }

    /// Sets the exponent of type 7 (`interp_type_`).
    #[must_use]
    pub const fn with_interpolation(mut self, exponent: f64) -> FilterState {
        self.exponent = exponent;
        self
    }

    /// Sets the threshold of type 10 (`fr_a_`).
    #[must_use]
    pub const fn with_queue_threshold(mut self, threshold: Duration) -> FilterState {
        self.threshold = threshold;
        self
    }

    /// Current bandwidth estimate BWE, bit/s.
    #[must_use]
    pub const fn estimate(&self) -> f64 {
        self.estimate
    }

    /// Takes `bits` that an ACK counts, `gap` seconds after the last one (not
    /// zero). `rtt` is the last round trip timed, zero before one; `queue` the
    /// queueing delay that the ACK shows.
    pub fn take(&mut self, gap: f64, bits: f64, rtt: Duration, queue: Duration) {
        match self.filter {
            AgentFilter::Type0 => self.exponential(bits / gap, self.alpha),
            AgentFilter::Type1 => self.weigh(bits / gap, 0.9047, 0.0476),
            AgentFilter::Type2 => self.weigh(bits / gap, 0.93548, 0.03225),
            AgentFilter::Type3 => self.tustin_with_silence(gap, bits),
            AgentFilter::Type8 => self.exponential(bits / gap, math::exp(-gap / self.tau)),
            _ => {
                self.bits += bits;
                self.seconds += gap;
                if !rtt.is_zero() && self.seconds > rtt.as_secs() {
                    let bits = core::mem::take(&mut self.bits);
                    let seconds = core::mem::take(&mut self.seconds);
                    self.round(bits / seconds, seconds, queue);
                }
            }
        }
    }

    /// A sample of a round trip that took `seconds`.
    fn round(&mut self, sample: f64, seconds: f64, queue: Duration) {
        let by_time = math::exp(-seconds / self.tau);
        match self.filter {
            AgentFilter::Type4 => self.steps(sample, seconds),
            AgentFilter::Type6 => {
                let mean = f64::midpoint(sample, self.last);
                self.exponential(mean, self.alpha);
                self.last = sample;
            }
            AgentFilter::Type7 => self.interpolated_steps(sample, seconds),
            AgentFilter::Type9 => self.exponential(sample, by_time),
            AgentFilter::Type10 => {
                let taken = if queue > self.threshold {
                    sample
                } else {
                    self.last
                };
                self.exponential(taken, by_time);
            }
            _ => self.exponential(sample, self.alpha),
        }
    }

    fn exponential(&mut self, sample: f64, old: f64) {
        self.estimate = old * self.estimate + (1.0 - old) * sample;
        self.last = sample;
    }

    fn weigh(&mut self, sample: f64, old: f64, new: f64) {
        self.estimate = old * self.estimate + new * (sample + self.last);
        self.last = sample;
    }

    /// Tustin's approximation of a first-order low-pass over `seconds`.
    fn tustin(&mut self, sample: f64, seconds: f64) {
        let whole = 2.0 * self.tau + seconds;
        self.estimate =
            ((2.0 * self.tau - seconds) * self.estimate + seconds * (sample + self.last)) / whole;
        self.last = sample;
    }

    /// Filter type 3.
    fn tustin_with_silence(&mut self, gap: f64, bits: f64) {
        let half = self.tau / 2.0;
        let mut zeros = math::floor(gap / half);
        let mut rest = gap - zeros * half;
        if rest < SMALLEST_REST && zeros > 0.0 {
            rest = half;
            zeros -= 1.0;
        }
        if zeros > 0.0 {
            self.estimate = 0.6 * self.estimate + 0.2 * self.last;
            self.last = 0.0;
            self.estimate *= math::pow(0.6, zeros - 1.0);
        }
        self.tustin(bits / rest, rest);
    }

    /// Whole quarters of tau in `seconds`, and what is left.
    fn quarters(&self, seconds: f64) -> (u32, f64) {
        let quarter = self.tau / 4.0;
        let whole = math::floor(seconds / quarter).min(1e6);
        (whole as u32, seconds - whole * quarter)
    }

    /// Type 4.
    fn steps(&mut self, sample: f64, seconds: f64) {
        let (quarters, rest) = self.quarters(seconds);
        for _ in 0..quarters {
            self.tustin(sample, self.tau / 4.0);
        }
        if rest > 0.0 {
            self.tustin(sample, rest);
        }
    }

    /// Type 7.
    fn interpolated_steps(&mut self, sample: f64, seconds: f64) {
        let (quarters, rest) = self.quarters(seconds);
        let (from, rise) = (self.last, sample - self.last);
        for step in 0..quarters {
            let part = f64::from(step) * self.tau / 4.0 / seconds;
            self.last = from + rise * math::pow(part, self.exponent);
            self.tustin(self.last, self.tau / 4.0);
        }
        if rest > 0.0 {
            self.last = sample;
            self.tustin(sample, rest);
        }
    }
}
