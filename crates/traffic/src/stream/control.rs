//! Rate controls of streams: RCS, and AIMD without its dummies.
//!
//! # RCS
//!
//! Source: Tang, Morabito & Akyildiz, "RCS: a rate control scheme for real-time traffic in
//! networks with high bandwidth-delay products and high bit error rates", INFOCOM 2001, and
//! Akyildiz, Akan & Morabito, "A rate control scheme for adaptive real-time applications in IP
//! networks with lossy links and long round trip times", IEEE/ACM ToN 13(3), 2005. Of both the
//! abstracts could be read, of the first public lecture notes and a rendition of its state diagram
//! and Initial algorithm. From these: dummies of low priority probe the path; the receiver
//! acknowledges data and dummies; the four states, and these rules, for a smoothed round trip R and
//! a target St:
//!
//! - Initial, for 2 R: no data; dummies at the rate St for R. n answers: S = max(1, n) / R, then
//!   Steady.
//! - Steady: every R the rate S grows by one packet a round trip, up to St; each answer to a dummy
//!   that is not to be ignored adds the same. After a loss: Detected.
//! - Detected, for R: S = S0 / 2 where S0 was the rate; for each packet of data two dummies, which is
//!   the rate S0. Then Steady. The first S0 R / 2 answers are ignored: so many a path lets through
//!   that S0 had filled. The others restore S0 if the loss was an error.
//! - Backoff, if the signal is lost, until it is resolved or a timeout leads back to Initial.
//!
//! | parameter | default | unit |
//! |---|---|---|
//! | target | | the rate of the application: `rate` or `bitrate` |
//! | dummies | 1000 | packets: no more dummies in a round trip than this |
//! | give_up | 8 | round trips in Backoff that lead back to Initial |
//!
//! Readings, where the sources could not be had:
//! - A loss begins a detection only if the packet was sent after the last detection ended: losses
//!   from before, and while its answers still come, are of a rate that was halved already.
//! - Signal loss: no answer at all for 2 R in Steady counts as a loss; none in all of Detected leads
//!   to Backoff.
//! - The timeout leads to Initial by way of another opening packet: dummies that nobody answers
//!   do not tell a path without room from one without a signal.
//! - In Backoff the rate halves every R, down to a packet a round trip, and dummies fill it up to
//!   the rate of before Detected. With the first answer the dummies end; the answers to those on
//!   their way restore what the path has room for, in Steady.
//! - Dummies go in Initial, Detected and Backoff only, not in Steady.
//!
//! Example: packets of 1250 bytes, target 1 Mbit/s, R = 500 ms: 100 packets a second, 50 dummies
//! 10 ms apart in Initial. 30 answers: S = 60 packets a second. A loss: S = 30, and 30 dummies in
//! a round trip; 15 answers change nothing, 15 more restore 60.
//!
//! # AIMD
//!
//! What RCS would be without dummies, and what RAP (Rejaie, Handley & Estrin, INFOCOM 1999) does but
//! for its fine-grained adaptation: one packet a round trip at the start and one more in each
//! further one, half the rate after a loss, once in a round trip; silence for 2 R halves every R.

use bentpipe_units::{Duration, Time};

/// Which rate control a stream has, with its settings.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub enum RateControl {
    /// RCS: dummies of low priority find the rate and restore it after errors.
    Rcs {
        /// No more dummies in a round trip than this.
        dummies: u32,
        /// Round trips of silence after which it starts over.
        give_up: u32,
    },
    /// Additive increase and halving alone.
    Aimd,
}

/// Silence of so many round trips is a loss.
const PATIENCE: u64 = 2;

/// The least round trip that it reckons with.
const SHORTEST: Duration = Duration::from_micros(10);

/// Where a control is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum State {
    /// The opening packet has not been answered, at the start or after a timeout.
    Opening,
    Initial {
        began: Time,
        answers: u32,
    },
    Steady {
        grows_at: Time,
    },
    Detected {
        until: Time,
        heard: bool,
    },
    Backoff {
        halves_at: Time,
        left: u32,
    },
}

/// A rate control at work. Rates are in packets a second.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Control {
    target: f64,
    settings: RateControl,
    pub(super) state: State,
    srtt: Duration,
    pub(super) rate: f64,
    /// The rate before the last detection.
    before: f64,
    /// Answers to dummies that are still to be ignored.
    ignored: u32,
    heard_at: Time,
    /// Packets from this one on count as lost.
    counts_from: u64,
    /// Times that the rate was halved.
    pub(super) reductions: u64,
}

impl Control {
    pub(super) fn new(settings: &RateControl, target: f64) -> Control {
        Control {
            target,
            settings: settings.clone(),
            state: State::Opening,
            srtt: Duration::ZERO,
            rate: 0.0,
            before: 0.0,
            ignored: 0,
            heard_at: Time::ZERO,
            counts_from: 0,
            reductions: 0,
        }
    }

    fn per_round_trip(&self) -> f64 {
        1.0 / self.srtt.as_secs()
    }

    fn probes(&self) -> Option<(f64, u32)> {
        match self.settings {
            RateControl::Rcs { dummies, give_up } => Some((f64::from(dummies), give_up)),
            RateControl::Aimd => None,
        }
    }

    /// The rate of dummies at `now`.
    pub(super) fn dummy_rate(&self, now: Time) -> f64 {
        let Some((most, _)) = self.probes() else {
            return 0.0;
        };
        let wanted = match self.state {
            State::Initial { began, .. } if now < began + self.srtt => self.target,
            State::Detected { .. } => self.before,
            State::Backoff { .. } => self.before - self.rate,
            State::Initial { .. } | State::Opening | State::Steady { .. } => 0.0,
        };
        match wanted > 0.0 {
            true => wanted.min(most * self.per_round_trip()),
            false => 0.0,
        }
    }

    /// When [`Control::on_time`] has something to do.
    pub(super) fn deadline(&self) -> Time {
        match self.state {
            State::Opening => Time::MAX,
            State::Initial { began, .. } => began + self.srtt * 2,
            State::Steady { grows_at } => grows_at.min(self.heard_at + self.srtt * PATIENCE),
            State::Detected { until, .. } => until,
            State::Backoff { halves_at, .. } => halves_at,
        }
    }

    /// An answer has come, to a dummy or to something else, after a round trip `rtt`; `next` is
    /// the next packet to be sent.
    pub(super) fn on_answer(&mut self, now: Time, dummy: bool, rtt: Duration, next: u64) {
        self.heard_at = now;
        let rtt = rtt.max(SHORTEST);
        let smoothed = (self.srtt.as_nanos() * 7 + rtt.as_nanos()) / 8;
        if self.state == State::Opening {
            self.srtt = rtt;
            self.begin(now);
            return;
        }
        self.srtt = Duration::from_nanos(smoothed);
        match &mut self.state {
            State::Opening => {}
            State::Initial { answers, .. } => *answers += u32::from(dummy),
            State::Steady { .. } if dummy => self.on_dummy(),
            State::Steady { .. } => {}
            State::Detected { heard, .. } => {
                *heard = true;
                if dummy {
                    self.on_dummy();
                }
            }
            State::Backoff { .. } => {
                // What the silence cost is known.
                self.counts_from = next;
                self.ignored = 0;
                self.steady(now);
                if dummy {
                    self.on_dummy();
                }
            }
        }
    }

    fn begin(&mut self, now: Time) {
        if self.probes().is_some() {
            self.rate = 0.0;
            self.state = State::Initial {
                began: now,
                answers: 0,
            };
        } else {
            self.rate = self.per_round_trip().min(self.target);
            self.steady(now);
        }
    }

    fn steady(&mut self, now: Time) {
        self.heard_at = now;
        self.state = State::Steady {
            grows_at: now + self.srtt,
        };
    }

    fn on_dummy(&mut self) {
        if self.ignored > 0 {
            self.ignored -= 1;
        } else {
            self.grow();
        }
    }

    fn grow(&mut self) {
        self.rate = (self.rate + self.per_round_trip()).min(self.target);
    }

    fn halve(&mut self) {
        self.rate = (self.rate / 2.0).max(self.per_round_trip().min(self.target));
        self.reductions += 1;
    }

    /// Packet `lost` is missing; `next` is the next to be sent.
    pub(super) fn on_loss(&mut self, now: Time, lost: u64, next: u64) {
        if matches!(self.state, State::Steady { .. }) && lost >= self.counts_from {
            self.detect(now, next);
        }
    }

    fn detect(&mut self, now: Time, next: u64) {
        self.before = self.rate;
        self.halve();
        self.counts_from = next;
        if self.probes().is_some() {
            self.ignored = (self.before * self.srtt.as_secs() / 2.0) as u32;
            self.state = State::Detected {
                until: now + self.srtt,
                heard: false,
            };
        }
    }

    /// Does what is due at `now`; `next` is the next packet to be sent.
    pub(super) fn on_time(&mut self, now: Time, next: u64) {
        if now < self.deadline() {
            return;
        }
        match self.state {
            State::Opening => {}
            State::Initial { answers, .. } => {
                let found = f64::from(answers.max(1)) * self.per_round_trip();
                self.rate = found.min(self.target);
                self.counts_from = next;
                self.steady(now);
            }
            State::Steady { grows_at } => {
                if now >= self.heard_at + self.srtt * PATIENCE {
                    self.detect(now, next);
                    if self.probes().is_none() {
                        self.back_off(now);
                    }
                } else if now >= grows_at {
                    self.grow();
                    self.state = State::Steady {
                        grows_at: now + self.srtt,
                    };
                }
            }
            State::Detected { heard: true, .. } => {
                self.counts_from = next;
                self.steady(now);
            }
            State::Detected { heard: false, .. } => self.back_off(now),
            State::Backoff { left: 0, .. } => {
                self.rate = 0.0;
                self.state = State::Opening;
            }
            State::Backoff { left, .. } => {
                self.halve();
                self.counts_from = next;
                self.state = State::Backoff {
                    halves_at: now + self.srtt,
                    left: left - 1,
                };
            }
        }
    }

    fn back_off(&mut self, now: Time) {
        self.state = State::Backoff {
            halves_at: now + self.srtt,
            left: self.probes().map_or(u32::MAX, |(_, give_up)| give_up),
        };
    }
}
