//! Hoe's estimate: the initial ssthresh from the spacing of the first ACKs.
//!
//! Source: Hoe, SIGCOMM 1996: ssthresh = bandwidth x RTT, the bandwidth being
//! that of closely spaced ACKs. Caini & Firrincieli 2006 (sec. IV) use it in
//! Hybla and in E-TCPW without printing details.
//!
//! | parameter | default | |
//! |---|---|---|
//! | hoe | `off`; Hybla `round` | `ns-2` or `round` |
//!
//! Left open, and the readings there are:
//! - `ns-2`: the RTT of the first ACK and the gap of the second and third:
//!   ssthresh = int(RTT / gap), once, and only if it lowers ssthresh. The first
//!   is the ACK of the SYN, which is a segment there, so that the gap is that of
//!   the first two segments of data: right for any initial window but 1. With 1,
//!   or with 2 where no handshake is simulated, the third ACK belongs to the
//!   next round and ssthresh becomes 1: that is what ns-2 does, too.
//! - `round`: the largest of (segments acknowledged by the later ACK) / gap over
//!   neighbouring ACKs of one round, as soon as a round has two gaps, refined
//!   until that round ends. Holds for any initial window and for delayed ACKs.
//!   ssthresh is at least 2.
//!
//! Duplicate ACKs are left out, and the first loss or timeout ends the estimate.

use crate::parameter::{ParameterSet, parameters, word, word_of, words};
use crate::{Ack, CWND_LIMIT, Window};
use bentpipe_units::{Duration, Rate, Segments, Time};

words! {
    /// Which estimate a connection uses.
    pub(crate) enum HoeChoice {
        /// None.
        Off = "off",
        /// That of ns-2.
        Ns2 = "ns-2",
        /// The closest ACKs of one round.
        Round = "round",
    }
}

parameters! {
    /// Hoe's estimate, off by default.
    pub(crate) struct HoeOff {
        hoe: HoeChoice = word(),
            "Hoe's estimate of the initial ssthresh: from ACKs 2 and 3 (ns-2), or from the \
             closest ACKs of one round";
    }
}

parameters! {
    /// Hoe's estimate, on by default.
    pub(crate) struct HoeRound {
        hoe: HoeChoice = word_of(&["round", "ns-2", "off"]),
            "Hoe's estimate of the initial ssthresh: from ACKs 2 and 3 (ns-2), or from the \
             closest ACKs of one round";
    }
}

/// The parameter that chooses the estimate, where there is one.
pub(crate) trait HoeSetting: ParameterSet {
    /// The estimator; `needed` where congestion avoidance needs the estimate also
    /// if it sets no ssthresh.
    fn estimator(self, needed: bool) -> Option<Hoe>;
}

impl HoeSetting for () {
    fn estimator(self, _: bool) -> Option<Hoe> {
        None
    }
}

impl HoeSetting for HoeOff {
    fn estimator(self, needed: bool) -> Option<Hoe> {
        match self.hoe {
            HoeChoice::Off => needed.then(|| Hoe::new(HoeForm::Round, false)),
            HoeChoice::Ns2 => Some(Hoe::new(HoeForm::Ns2, true)),
            HoeChoice::Round => Some(Hoe::new(HoeForm::Round, true)),
        }
    }
}

impl HoeSetting for HoeRound {
    fn estimator(self, needed: bool) -> Option<Hoe> {
        HoeOff { hoe: self.hoe }.estimator(needed)
    }
}

/// How the gap is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HoeForm {
    /// ACKs 2 and 3 of the connection, that of the SYN being the first.
    Ns2,
    /// The closest ACKs of one round.
    #[default]
    Round,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Waiting,
    /// There is an estimate; the rest of its round may raise it.
    Refining,
    Done,
}

/// The estimator of a connection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hoe {
    form: HoeForm,
    /// False where only the gate of Hybla uses the estimate.
    sets_ssthresh: bool,
    stage: Stage,
    acks: u32,
    base_rtt: Duration,
    last: Time,
    gaps: u32,
    /// Smallest time between segments so far, nanoseconds.
    spacing: f64,
    /// The ssthresh that was set.
    applied: Segments,
    mss: u32,
}

impl Hoe {
    /// An estimator that sets ssthresh, or only estimates.
    #[must_use]
    pub const fn new(form: HoeForm, sets_ssthresh: bool) -> Hoe {
        Hoe {
            form,
            sets_ssthresh,
            stage: Stage::Waiting,
            acks: 0,
            base_rtt: Duration::MAX,
            last: Time::ZERO,
            gaps: 0,
            spacing: f64::INFINITY,
            applied: f64::INFINITY,
            mss: 0,
        }
    }

    /// True while ssthresh is still to be set.
    #[must_use]
    pub fn is_pending(&self) -> bool {
        self.sets_ssthresh && self.stage == Stage::Waiting
    }

    /// The estimated bandwidth of the path, payload only.
    #[must_use]
    pub fn bandwidth_estimate(&self) -> Option<Rate> {
        self.segment_time()
            .map(|ns| Rate::from_bps_f64(f64::from(self.mss) * 8e9 / ns))
    }

    /// Estimated bandwidth x `rtt`.
    #[must_use]
    pub fn bandwidth_delay_product(&self, rtt: Duration) -> Option<Segments> {
        if rtt == Duration::MAX {
            return None;
        }
        self.segment_time().map(|ns| rtt.as_nanos() as f64 / ns)
    }

    /// Nanoseconds between segments, once known.
    fn segment_time(&self) -> Option<f64> {
        (self.stage != Stage::Waiting && self.spacing.is_finite()).then_some(self.spacing)
    }

    /// The handshake took `rtt`: the ACK of the SYN.
    pub(crate) fn on_established(&mut self, rtt: Option<Duration>) {
        if let (HoeForm::Ns2, Some(rtt)) = (self.form, rtt) {
            self.acks = 1;
            self.base_rtt = rtt;
        }
    }

    #[inline]
    pub(crate) fn on_sample(&mut self, ack: &Ack, window: &mut Window) {
        if self.stage != Stage::Done && !ack.duplicate {
            self.advance(ack, window);
        }
    }

    fn advance(&mut self, ack: &Ack, window: &mut Window) {
        if ack.in_recovery {
            self.stop();
            return;
        }
        self.acks += 1;
        self.mss = ack.mss;
        match self.form {
            HoeForm::Ns2 => self.advance_ns2(ack, window),
            HoeForm::Round => self.advance_round(ack, window),
        }
    }

    /// No further samples. Without an estimate so far there will be none.
    pub(crate) fn stop(&mut self) {
        if self.stage == Stage::Waiting {
            self.spacing = f64::INFINITY;
        }
        self.stage = Stage::Done;
    }

    fn advance_ns2(&mut self, ack: &Ack, window: &mut Window) {
        match self.acks {
            1 => self.base_rtt = ack.rtt.unwrap_or(ack.min_rtt),
            2 => self.last = ack.now,
            _ => {
                let gap = ack.now.since(self.last);
                if !gap.is_zero() && self.base_rtt != Duration::MAX {
                    self.spacing = gap.as_nanos() as f64;
                    self.apply(self.base_rtt, 1.0, window);
                }
                self.finish();
            }
        }
    }

    fn advance_round(&mut self, ack: &Ack, window: &mut Window) {
        if ack.round_start || self.acks == 1 {
            if self.stage == Stage::Refining {
                self.finish();
                return;
            }
            self.gaps = 0;
            self.spacing = f64::INFINITY;
            self.last = ack.now;
            return;
        }
        let gap = ack.now.since(self.last);
        if gap.is_zero() || ack.acked <= 0.0 {
            return;
        }
        self.last = ack.now;
        self.gaps += 1;
        let spacing = gap.as_nanos() as f64 / ack.acked;
        let closer = spacing < self.spacing;
        self.spacing = self.spacing.min(spacing);
        if self.gaps >= 2 && ack.min_rtt != Duration::MAX {
            if closer || self.stage == Stage::Waiting {
                self.apply(ack.min_rtt, 2.0, window);
            }
            self.stage = Stage::Refining;
        }
    }

    fn finish(&mut self) {
        self.stage = Stage::Done;
    }

    /// Sets ssthresh if that lowers it, or raises one that this estimate set.
    fn apply(&mut self, rtt: Duration, least: Segments, window: &mut Window) {
        if !self.sets_ssthresh {
            return;
        }
        let ssthresh = (rtt.as_nanos() as f64 / self.spacing)
            .floor()
            .clamp(least, CWND_LIMIT);
        let ours = self.applied.is_finite() && window.ssthresh == self.applied;
        if ssthresh < window.ssthresh || ours {
            window.ssthresh = ssthresh;
            self.applied = ssthresh;
        }
    }
}
