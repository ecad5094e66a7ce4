//! Proactive TCP: a mean RTT that keeps rising is congestion to come.
//!
//! Source: Sarkar, Shukla & Dasgupta, "A Proactive Transport Protocol for
//! Performance Enhancement of Satellite based Networks", 2010, sections 2.1 to
//! 2.4. The mean RTT of each window is compared with that of the window before.
//! Three successive windows of increase are incipient congestion: cwnd falls to
//! 0.85 of itself. Three of decrease end the incipient state.
//!
//! | | uncongested | incipient |
//! |---|---|---|
//! | slow start (PSS) | cwnd + 1 per ACK | the same; no growth in the window after a penalty |
//! | avoidance (PCA) | 1/cwnd per ACK | the same |
//! | three duplicate ACKs | cwnd and ssthresh stay | both cwnd/2 |
//! | timeout | cwnd = 1, ssthresh = ssthresh/2; the state stays | the same |
//!
//! | parameter | default | unit |
//! |---|---|---|
//! | rises | 2 | rises (and falls) in a row: three windows; 3 for three rises |
//! | dead_band | 0 | share of the mean that a change must exceed |
//! | penalty | 0.85 | what a detection leaves of the window |
//! | slow_start | same | `one-rise`: in slow start the first rise is penalised |
//! | timeout_ssthresh | previous | `flight`: half of the flight, as everywhere else |
//! | after_error | avoidance | `by-ssthresh`: slow start goes on below ssthresh |
//! | start_ssthresh | half-receive-window | `transport`: the transport's own |
//!
//! Left open, and the reading chosen:
//! - "Three successive windows" with "the second window will detect an
//!   increase ... and the next increase will confirm": two rises. `rises = 3`
//!   takes three rises, so four windows.
//! - Equal means are neither a rise nor a fall, and end a row of either.
//! - Sections 2.2 and 2.4 speak of one increase in slow start, section 2 of
//!   three: three, and `slow_start = one-rise`. Either way the state becomes
//!   incipient.
//! - After a penalty the rises are counted from zero; ssthresh stays.
//! - "The window will not be doubled but rather decreased": in slow start
//!   nothing grows until the next window ends.
//! - The penalty and the halving act on the window in use, min(cwnd, receive
//!   window): a cwnd that has grown beyond what may be sent would not notice.
//! - A loss in the uncongested state leaves cwnd also at the end of recovery,
//!   whatever the host's recovery fix says; further losses of the window are
//!   repaired by the transport's recovery (NewReno or SACK) without a cut.
//! - After a loss in the uncongested state "the protocol moves to congestion avoidance" although
//!   ssthresh stays: linear growth also below ssthresh, until a timeout. An agent that only
//!   compares the two continues in slow start (`after_error = by-ssthresh`).
//! - Windows in which the application left room unused do not count.
//! - The second timeout of a segment leaves ssthresh.

use super::after_loss::AfterLoss;
use super::detector::{RttTrend, Trend, TrendDetector};
use crate::declaration::{Algorithm, Control, Described, Family, TransportDefaults};
use crate::parameter::{number, parameters, word, words};
use crate::{Ack, CWND_LIMIT, CongestionControl, Loss, Phase, RecoveryExit, Timeout, Window};
use bentpipe_units::Segments;

words! {
    /// What slow start takes for incipient congestion.
    pub enum ProactiveStart {
        /// As many rises as congestion avoidance.
        Same = "same",
        /// One rise.
        OneRise = "one-rise",
    }
}

words! {
    /// Where a loss in the uncongested state leads.
    pub enum AfterError {
        /// To congestion avoidance, although ssthresh stays.
        Avoidance = "avoidance",
        /// Where cwnd and ssthresh say.
        BySsthresh = "by-ssthresh",
    }
}

words! {
    /// What a timeout halves for ssthresh.
    pub enum TimeoutSsthresh {
        /// The previous ssthresh.
        Previous = "previous",
        /// The flight.
        Flight = "flight",
    }
}

words! {
    /// ssthresh at the start, where the transport sets none.
    pub enum StartSsthresh {
        /// Half of the receive window.
        HalfReceiveWindow = "half-receive-window",
        /// Infinite.
        Transport = "transport",
    }
}

parameters! {
    /// Settings of Proactive TCP.
    #[derive(Copy)]
    pub struct ProactiveSettings {
        rises: u32 = number(2.0, "", (1.0, 100.0)),
            "rises (and falls) of the mean RTT in a row that change the state: 2 for three \
             windows, 3 for three rises";
        dead_band: f64 = number(0.0, "", (0.0, 1.0)),
            "share of the last mean RTT that a change must exceed to count";
        penalty: f64 = number(0.85, "", (0.05, 1.0)),
            "what incipient congestion leaves of the window; 1 leaves it all";
        slow_start: ProactiveStart = word(),
            "what slow start takes for incipient congestion: the same, or the first rise";
        after_error: AfterError = word(),
            "where a loss without incipient congestion leads: congestion avoidance, or what cwnd \
             and ssthresh say";
        timeout_ssthresh: TimeoutSsthresh = word(), "what a timeout halves for ssthresh";
        start_ssthresh: StartSsthresh = word(),
            "ssthresh where the transport sets none: half of the receive window, or infinite";
    }
}

/// How often a loss found the detector in each state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProactiveCounters {
    /// Times that incipient congestion was detected.
    pub detections: u64,
    /// Losses that found the incipient state.
    pub losses_incipient: u64,
    /// Losses that found the uncongested state.
    pub losses_uncongested: u64,
}

/// State of Proactive TCP for one connection.
#[derive(Clone, Debug, PartialEq)]
pub struct Proactive {
    settings: ProactiveSettings,
    trend: RttTrend,
    detector: TrendDetector,
    incipient: bool,
    /// A loss has ended slow start.
    avoids: bool,
    /// No growth in slow start until the window ends.
    holds: bool,
    receive_window: Segments,
    after_loss: AfterLoss,
    counters: ProactiveCounters,
}

impl Proactive {
    /// Proactive TCP with these settings.
    #[must_use]
    pub const fn new(settings: ProactiveSettings) -> Proactive {
        Proactive {
            settings,
            trend: RttTrend::new(settings.dead_band),
            detector: TrendDetector::new(settings.rises),
            incipient: false,
            avoids: false,
            holds: false,
            receive_window: f64::INFINITY,
            after_loss: AfterLoss::NONE,
            counters: ProactiveCounters {
                detections: 0,
                losses_incipient: 0,
                losses_uncongested: 0,
            },
        }
    }

    /// Detections and losses so far.
    #[must_use]
    pub const fn counters(&self) -> ProactiveCounters {
        self.counters
    }

    fn in_slow_start(&self, window: &Window) -> bool {
        window.in_slow_start() && !self.avoids
    }

    fn in_use(&self, window: &Window) -> Segments {
        window.cwnd.min(self.receive_window)
    }

    fn window_ended(&mut self, trend: Trend, window: &mut Window) {
        let lasting = self.detector.take(trend);
        let early = self.settings.slow_start == ProactiveStart::OneRise
            && trend == Trend::Rise
            && self.in_slow_start(window);
        if lasting == Trend::Rise || early {
            self.counters.detections += 1;
            self.incipient = true;
            self.detector.restart();
            self.holds = self.in_slow_start(window);
            window.cwnd = (self.settings.penalty * self.in_use(window)).max(1.0);
            self.after_loss.lower(window.cwnd);
        } else if lasting == Trend::Fall {
            self.incipient = false;
        }
    }
}

impl Algorithm for Proactive {
    fn controls() -> Vec<Control<Proactive>> {
        let described = Described {
            name: "proactive",
            summary: "a mean RTT that rises for three windows is congestion to come; other losses \
                      are the channel's",
            source: "Sarkar, Shukla & Dasgupta 2010, sections 2.1 to 2.4",
            open: "three windows (two rises) or three rises: windows; slow start: the same \
                   detector; equal means: neither; the penalty leaves ssthresh and starts the \
                   count again; in slow start nothing grows in the window after it; what is cut is \
                   the window in use; a loss without incipient congestion leaves cwnd also when \
                   recovery ends and leads to congestion avoidance",
            family: Family::Satellite,
            transport: TransportDefaults {
                summary: "a rising mean RTT cuts the window by 15% ahead of losses; losses without \
                          it cut nothing",
                source: "Sarkar, Shukla & Dasgupta 2010, section 2",
                // Section 2.4: "the congestion window to one". Which recovery it
                // runs on is not said: the profile's, or the scenario's.
                initial_window: Some(1.0),
                ..TransportDefaults::NEW
            },
            ..Described::NEW
        };
        vec![Control::new(described, Proactive::new)]
    }
}

impl CongestionControl for Proactive {
    named!("proactive");

    fn on_sample(&mut self, ack: &Ack, window: &mut Window) {
        self.receive_window = ack.receive_window.max(1.0);
        if self.settings.start_ssthresh == StartSsthresh::HalfReceiveWindow
            && window.ssthresh.is_infinite()
            && ack.receive_window.is_finite()
        {
            window.ssthresh = (ack.receive_window / 2.0).max(2.0);
        }
        if ack.round_start {
            self.holds = false;
        }
        if let Some(trend) = self.trend.on_sample(ack) {
            self.window_ended(trend, window);
        }
    }

    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        if !ack.cwnd_limited {
            return;
        }
        let before = window.cwnd;
        if !self.in_slow_start(window) {
            window.cwnd += 1.0 / window.cwnd;
        } else if !self.holds {
            window.cwnd += 1.0;
        }
        window.cwnd = window.cwnd.min(CWND_LIMIT.max(before));
        self.after_loss.grow(window.cwnd - before);
    }

    fn on_loss(&mut self, loss: &Loss, window: &mut Window) {
        if self.incipient {
            self.counters.losses_incipient += 1;
            window.ssthresh = (self.in_use(window) / 2.0).max(2.0);
            window.cwnd = window.ssthresh;
        } else {
            self.counters.losses_uncongested += 1;
            self.avoids |= self.settings.after_error == AfterError::Avoidance && !loss.ecn;
        }
        self.after_loss = AfterLoss::new(self.incipient, window);
    }

    fn on_recovery_exit(&mut self, exit: &RecoveryExit, window: &mut Window) {
        self.after_loss.leave(exit, window);
    }

    fn on_timeout(&mut self, timeout: &Timeout, window: &mut Window) {
        if timeout.first {
            let previous = self.settings.timeout_ssthresh == TimeoutSsthresh::Previous;
            let halved = if previous && window.ssthresh.is_finite() {
                window.ssthresh
            } else {
                timeout.flight
            };
            window.ssthresh = (halved / 2.0).max(2.0);
        }
        window.cwnd = 1.0;
        self.after_loss = AfterLoss::NONE;
        (self.holds, self.avoids) = (false, false);
    }

    fn phase(&self, window: &Window) -> Phase {
        if self.incipient {
            Phase::Own("proactive_incipient")
        } else if self.in_slow_start(window) {
            Phase::SlowStart
        } else {
            Phase::CongestionAvoidance
        }
    }
}
