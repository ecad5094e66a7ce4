//! Whether the mean RTT of successive windows rises or falls.
//!
//! Source: Sarkar, Shukla & Dasgupta 2010, section 2: "an increase in the mean
//! RTT for three successive congestion windows". A window ends when what was
//! sent after it began is acknowledged.

use crate::Ack;
use bentpipe_units::{Duration, Segments};

/// Change of the mean RTT from one window to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trend {
    /// Up, by more than the dead band.
    Rise,
    /// Down, by more than the dead band.
    Fall,
    /// Neither rising nor falling.
    Level,
}

/// Mean RTT of each window against that of the window before.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RttTrend {
    /// Share of the last mean that a change must exceed.
    dead_band: f64,
    sum: Duration,
    samples: u64,
    /// The sender needed its whole window in this one.
    used: bool,
    /// Mean of the last window, seconds; zero before one.
    last_mean: f64,
}

impl RttTrend {
    /// Changes up to `dead_band` x the last mean are none.
    #[must_use]
    pub const fn new(dead_band: f64) -> RttTrend {
        RttTrend {
            dead_band,
            sum: Duration::ZERO,
            samples: 0,
            used: false,
            last_mean: 0.0,
        }
    }

    /// Takes the sample of an ACK; the trend if it ended a window.
    #[inline]
    pub fn on_sample(&mut self, ack: &Ack) -> Option<Trend> {
        let trend = if ack.round_start { self.end() } else { None };
        if let Some(rtt) = ack.rtt {
            self.sum += rtt;
            self.samples += 1;
        }
        self.used |= ack.cwnd_limited || fills_receive_window(ack);
        trend
    }

    /// Ends a window. One without a sample, or of which the application left a
    /// part unused, is passed over.
    fn end(&mut self) -> Option<Trend> {
        let samples = core::mem::take(&mut self.samples);
        let sum = core::mem::take(&mut self.sum);
        let used = core::mem::take(&mut self.used);
        if samples == 0 || !used {
            return None;
        }
        let mean = sum.as_secs() / samples as f64;
        let last = core::mem::replace(&mut self.last_mean, mean);
        if last == 0.0 {
            None
        } else if mean > last * (1.0 + self.dead_band) {
            Some(Trend::Rise)
        } else if mean < last * (1.0 - self.dead_band) {
            Some(Trend::Fall)
        } else {
            Some(Trend::Level)
        }
    }
}

/// True if the receive window was what stopped the sender before this ACK.
fn fills_receive_window(ack: &Ack) -> bool {
    let before: Segments = ack.outstanding + ack.acked;
    before + 1.0 > ack.receive_window
}

/// Counts successive rises and falls.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrendDetector {
    /// Rises, or falls, in a row that count as one change.
    needed: u32,
    rises: u32,
    falls: u32,
}

impl TrendDetector {
    /// `needed` rises in a row are an increase, as many falls a decrease.
    #[must_use]
    pub const fn new(needed: u32) -> TrendDetector {
        TrendDetector {
            needed,
            rises: 0,
            falls: 0,
        }
    }

    /// Takes the trend of a window; a rise or fall that has lasted, after
    /// which the count starts again.
    pub fn take(&mut self, trend: Trend) -> Trend {
        self.rises = if trend == Trend::Rise {
            self.rises + 1
        } else {
            0
        };
        self.falls = if trend == Trend::Fall {
            self.falls + 1
        } else {
            0
        };
        if self.rises >= self.needed {
            self.rises = 0;
            Trend::Rise
        } else if self.falls >= self.needed {
            self.falls = 0;
            Trend::Fall
        } else {
            Trend::Level
        }
    }

    /// Forgets what was counted.
    pub fn restart(&mut self) {
        (self.rises, self.falls) = (0, 0);
    }
}
