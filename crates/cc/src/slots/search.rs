//! SEARCH, Slow start Exit At Right CHokepoint: slow start that leaves when what arrives no longer
//! doubles with each round trip.
//!
//! Source: draft-chung-ccwg-search, algorithm 3.0 (versions up to 08), section 3.
//! Time is cut into bins of `window` x first RTT / 10. At the end of each, with the RTT of the ACK
//! that shows it, what 10 bins delivered is compared with what 10 bins delivered one RTT before:
//!
//! ```text
//! norm = (2 x previous - current) / (2 x previous)
//! ```
//!
//! It is 0 while the window doubles and nears 0.5 when the path is full. At `threshold` slow start
//! is over: what was delivered in the last two first RTTs, the time that detection takes, has come on
//! top of the path's window, and is taken off cwnd (`rolls_back`); ssthresh = cwnd. An RTT that is
//! no multiple of a bin is interpolated between the two windows beside it.
//!
//! What is inherent in it: with a constant RTT the threshold is reached 2.1 round trips after the path
//! is full. A queue that fills makes the RTT longer, and with it the time that the comparison looks
//! back: on 20 Mbit/s and 300 ms with an ample queue slow start ends 1.7 s after the path is full, with
//! more than five bandwidth-delay products in flight. A queue of one product overflows before.
//!
//! | parameter | default | unit |
//! |---|---|---|
//! | window | 3.5 | first RTTs that are compared |
//! | threshold | 0.35 | part of what was expected that is missing |
//! | rolls_back | true | cwnd returns to the congestion point |
//!
//! Left open, and the reading chosen:
//! - Version 09 compares with what was sent, at 0.26, and drains the window slowly; the draft's
//!   figures, and its modules for Linux, are of 3.0.
//! - Bins hold what has been delivered in all up to their end, so that a sum of bins is a difference
//!   (as the authors' modules have it). A skipped bin, in which nothing arrived, holds what the one
//!   before it does. Where more than 10 are skipped, as behind an idle application, the next ACK
//!   begins anew, with its RTT for the first.
//! - The interpolation takes the part of the earlier window; the text's `sum_bins` adds the parts of
//!   the two bins at the ends, which is the same.
//! - The comparison needs 10 bins before the RTT that is skipped, and an RTT of no more than 15
//!   bins; a longer one waits.
//! - cwnd returns to no less than the initial window, and no window below the path's is rolled back:
//!   what was delivered in two RTTs is at most what two windows of the path hold, so the roll-back is
//!   no more than half of cwnd.
//! - It runs until the first exit, loss or timeout of a connection; later slow starts count what is
//!   acknowledged.
//! - A duplicate ACK delivers, too: `delivered` counts, and not the sequence number.

use crate::parameter::{flag, number, parameters};
use crate::slot::SlowStart;
use crate::{Ack, Window};
use bentpipe_units::{Duration, Segments, Time};

/// Bins of a window (W), further ones to look back by an RTT (EXTRA_BINS), and all.
const BINS: u64 = 10;
const EXTRA_BINS: u64 = 15;
/// One more than W + EXTRA_BINS, since bins hold sums from the start, and one to interpolate.
const KEPT: usize = 27;
/// First RTTs that detection takes.
const DETECTION: u64 = 2;

parameters! {
    /// Settings of [`Search`].
    pub struct SearchParameters {
        window: f64 = number(3.5, "first RTTs", (1.0, 20.0)),
            "first RTTs in which deliveries are compared";
        threshold: f64 = number(0.35, "", (0.01, 0.5)),
            "part of the expected deliveries whose absence ends slow start";
        rolls_back: bool = flag(true), "cwnd returns to where the path became full";
    }
}

/// The bins of a connection.
#[derive(Clone, Debug, PartialEq)]
struct Bins {
    /// Delivered up to the end of each, the newest at `newest % KEPT`.
    sums: [Segments; KEPT],
    newest: u64,
    /// When the bin in progress ends.
    ends: Time,
    duration: Duration,
    first_rtt: Duration,
}

impl Bins {
    fn new(now: Time, first_rtt: Duration, window: f64, delivered: Segments) -> Option<Bins> {
        let nanos = first_rtt.as_nanos() as f64 * window / BINS as f64;
        let duration = Duration::from_nanos(nanos as u64);
        let bins = Bins {
            sums: [delivered; KEPT],
            newest: 0,
            ends: now + duration,
            duration,
            first_rtt,
        };
        (!duration.is_zero()).then_some(bins)
    }

    /// Bins that have ended by `now`.
    fn passed(&self, now: Time) -> u64 {
        if now <= self.ends {
            return 0;
        }
        now.since(self.ends).as_nanos() / self.duration.as_nanos() + 1
    }

    fn advance(&mut self, passed: u64, delivered: Segments) {
        let before = self.sum(self.newest);
        for skipped in 1..passed {
            self.sums[((self.newest + skipped) % KEPT as u64) as usize] = before;
        }
        self.newest += passed;
        self.ends += self.duration * passed;
        self.sums[(self.newest % KEPT as u64) as usize] = delivered;
    }

    fn sum(&self, bin: u64) -> Segments {
        self.sums[(bin % KEPT as u64) as usize]
    }

    /// Delivered in the window of bins that ends with `bin`.
    fn window(&self, bin: u64) -> Segments {
        self.sum(bin) - self.sum(bin - BINS)
    }

    /// The part of what was expected that is missing; `None` where the bins do not say.
    fn missing(&self, rtt: Duration) -> Option<f64> {
        let back = rtt.as_nanos() / self.duration.as_nanos();
        let part = (rtt.as_nanos() % self.duration.as_nanos()) as f64;
        let part = part / self.duration.as_nanos() as f64;
        let previous = self.newest.checked_sub(back)?;
        if previous <= BINS || back > EXTRA_BINS {
            return None;
        }
        let later = self.window(previous);
        let earlier = self.window(previous - 1);
        let expected = 2.0 * (later * (1.0 - part) + earlier * part);
        (expected > 0.0).then(|| (expected - self.window(self.newest)) / expected)
    }

    /// Delivered while the path was full and slow start did not know it.
    fn overshoot(&self) -> Segments {
        let back = DETECTION * self.first_rtt.as_nanos() / self.duration.as_nanos();
        let back = back.min(self.newest).min(KEPT as u64 - 1);
        self.sum(self.newest) - self.sum(self.newest - back)
    }
}

/// The state of SEARCH in a connection.
#[derive(Clone, Debug, PartialEq)]
pub struct Search {
    window: f64,
    threshold: f64,
    rolls_back: bool,
    active: bool,
    initial_window: Segments,
    delivered: Segments,
    bins: Option<Bins>,
}

impl Search {
    /// SEARCH with these settings.
    #[must_use]
    pub const fn new(settings: &SearchParameters) -> Search {
        Search {
            window: settings.window,
            threshold: settings.threshold,
            rolls_back: settings.rolls_back,
            active: true,
            initial_window: 0.0,
            delivered: 0.0,
            bins: None,
        }
    }

    /// Ends slow start.
    fn exit(&mut self, window: &mut Window) {
        self.active = false;
        if self.rolls_back
            && let Some(bins) = &self.bins
        {
            let least = (window.cwnd / 2.0).max(self.initial_window);
            let point = (window.cwnd - bins.overshoot()).max(least);
            window.cwnd = window.cwnd.min(point);
        }
        window.ssthresh = window.ssthresh.min(window.cwnd);
    }
}

fills! { Search, "search", "standard until deliveries stop doubling (SEARCH)",
    |parameters: SearchParameters| Search::new(&parameters)
}

impl SlowStart for Search {
    fn on_established(&mut self, _: Option<Duration>, window: &mut Window) {
        self.initial_window = window.cwnd;
    }

    fn on_sample(&mut self, ack: &Ack, window: &mut Window) {
        self.delivered += ack.delivered;
        if !self.active || ack.in_recovery {
            return;
        }
        let Some(rtt) = ack.rtt else { return };
        let Some(bins) = &mut self.bins else {
            self.bins = Bins::new(ack.now, rtt, self.window, self.delivered);
            return;
        };
        let passed = bins.passed(ack.now);
        if passed > BINS {
            self.bins = Bins::new(ack.now, rtt, self.window, self.delivered);
        } else if passed > 0 {
            bins.advance(passed, self.delivered);
            if bins.missing(rtt).is_some_and(|it| it >= self.threshold) {
                self.exit(window);
            }
        }
    }

    fn on_ack(&mut self, ack: &Ack, window: &mut Window, _: bool) {
        // An ACK must not carry the window far past ssthresh.
        let ceiling = window.ssthresh.max(window.cwnd + 1.0);
        window.cwnd = (window.cwnd + ack.acked).min(ceiling);
    }

    fn on_loss(&mut self) {
        self.active = false;
    }

    fn on_timeout(&mut self) {
        self.active = false;
    }
}
