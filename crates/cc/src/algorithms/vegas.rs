//! TCP Vegas: keeps a few segments in the queue of the bottleneck, by comparing the throughput it
//! gets with the one an empty path would give.
//!
//! Source: Brakmo & Peterson, "TCP Vegas: End to End Congestion Avoidance on a
//! Global Internet", IEEE JSAC 13(8), 1995; where it leaves a number open, the
//! Vegas agent of ns-2.35, which Caini & Firrincieli 2006 and Salamanca 2008
//! used.
//!
//! Once per round trip, with `sent` segments since the round began, `flight`
//! outstanding now, base the smallest RTT and R the mean of the round's samples,
//!
//! diff = flight - sent x base / R, the segments that wait in queues.
//!
//! - Slow start grows one segment per ACK in every other round trip. At the
//!   start of such a round, diff > gamma ends it: cwnd -= cwnd / 8, ssthresh = 2.
//! - Congestion avoidance: diff < alpha adds one segment over the next round
//!   trip (1/cwnd per ACK), diff > beta takes one away at once, to no less than
//!   2; else cwnd stays.
//! - base follows any smaller sample, and also rises to R when at most one segment was sent in the
//!   round: that one met no queue caused by the connection itself.
//! - Nothing grows while more than two segments of the window are not used.
//!
//! Losses:
//! - A duplicate ACK that finds the first unacknowledged segment overdue by the
//!   fine timer (17/16 of srtt + 2 deviations) sends it again, without waiting
//!   for the third one ([`crate::Actions::retransmit_head`]).
//! - The first two ACKs that advance after a retransmission look again: a
//!   segment that is overdue goes at once, and cwnd stays.
//! - The window is cut only if the lost segment was sent after the last cut: to
//!   3/4, or to 1/2 if it had been sent again before; 3 and less become 2. After
//!   recovery ssthresh is 2.
//! - A timeout sets ssthresh to half and cwnd to 2.
//!
//! | parameter | default | unit |
//! |---|---|---|
//! | alpha | 1 | segments in the queue below which cwnd grows |
//! | beta | 3 | segments in the queue above which cwnd shrinks |
//! | gamma | 1 | segments in the queue above which slow start ends |
//! | whole_diff | true | diff is rounded to whole segments, as in ns-2 |
//! | syn_is_segment | false (profile ns-2: true) | the handshake's RTT is one of data |
//!
//! Left open, and the reading chosen:
//! - The RTT of a round: the mean of its samples (ns-2). The sample of the ACK
//!   that ends a round belongs to the next one.
//! - In ns-2 the SYN is a full segment: its RTT is the first sample, and base.
//!   That of a SYN of its usual size is shorter than any of data by the time that
//!   a full packet takes on each link; base would stay below every sample, and a
//!   window of some hundred segments take the difference for a queue. It starts
//!   the fine timer and nothing else (`syn_is_segment`). Either way slow start
//!   grows in the first round of data.
//! - Only what the sender counts as a sample enters the mean; with timestamps
//!   that includes segments sent twice, which ns-2 leaves out.
//! - ns-2 has its own recovery, which ends with the first new ACK. Here the
//!   transport repairs (NewReno, SACK): a retransmission asked for by the fine
//!   timer starts its recovery, [`Vegas::on_loss`] decides the cut, and while
//!   recovery lasts nothing grows and further overdue segments are asked for.
//!   The agent of profile `ns-2` repairs as ns-2 does.
//! - An echoed ECN mark halves the window.
//! - Vegas takes the time that a receiver delays an ACK for a queue: with
//!   timestamps (RFC 7323, section 4.3) a sample includes it. The hosts that ran
//!   Vegas avoid that in two ways: ns-2's sinks acknowledge each segment, and Linux
//!   takes the smallest sample of a round. The profile `rfc` does neither. At
//!   10 Mbit/s and 500 ms without loss (200 s) it delivers 1.0 Mbit/s with ACKs
//!   delayed by up to 200 ms, 4.4 by up to 40 ms, and 5.9 with each segment
//!   acknowledged (`delayed_ack = { count = 1 }`).

use super::fine_timer::FineTimer;
use crate::declaration::{Algorithm, Control, Described, Family, TransportDefaults};
use crate::parameter::{flag, number, parameters};
use crate::{Ack, CWND_LIMIT, CongestionControl, Head, Loss, RecoveryExit, Timeout, Window};
use bentpipe_units::{Duration, Segments, Time, math};

/// The smallest window that Vegas sets.
const LEAST: Segments = 2.0;

/// Acknowledgements after a retransmission that check for overdue segments.
const WORRIED_ACKS: u32 = 2;

/// Permitted range of a parameter in segments of the queue.
const QUEUED: (f64, f64) = (0.0, 1_000_000.0);

parameters! {
    /// Settings of [`Vegas`].
    #[derive(Copy)]
    pub struct VegasParameters {
        alpha: f64 = number(1.0, "segments", QUEUED),
            "segments in the queue below which cwnd grows";
        beta: f64 = number(3.0, "segments", QUEUED),
            "segments in the queue above which cwnd shrinks";
        gamma: f64 = number(1.0, "segments", QUEUED),
            "segments in the queue above which slow start ends";
        whole_diff: bool = flag(true), "round the segments in the queue to whole ones (ns-2)";
        syn_is_segment: bool = flag(false),
            "the handshake's RTT is one of data (ns-2, whose profile says so)";
    }
}

/// TCP Vegas as Brakmo & Peterson and ns-2 have it.
#[derive(Clone, Debug, PartialEq)]
pub struct Vegas {
    settings: VegasParameters,
    timer: FineTimer,
    round: Round,
    /// What an ACK adds: nothing, 1 in slow start, 1/cwnd at the last decision.
    increment: Segments,
    /// That increment is one of slow start.
    doubles: bool,
    /// Slow start grows in the next round.
    grows: bool,
    /// ACKs that still check for overdue segments.
    worried: u32,
    /// The retransmission asked for last is such a second look: no cut.
    second_look: bool,
    /// When the window was cut last.
    cut_at: Option<Time>,
    /// What that cut left; 0 before one and after a timeout.
    cut_to: Segments,
    /// The window to converge to faster than by one segment a round (New
    /// Vegas).
    target: Option<Segments>,
    /// Losses cut the window.
    cuts: bool,
    /// Segments known to be in a queue besides those that the RTT shows
    /// (DVegas).
    known_queue: Segments,
}

/// The round trip that runs, and the smallest of all.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Round {
    /// Smallest RTT, seconds; infinite before a sample.
    base: f64,
    /// Sum and number of the round's samples.
    sum: f64,
    count: f64,
    /// The sample of the last ACK, which joins the round after its decision.
    pending: Option<f64>,
    /// Segments acknowledged so far.
    acked: Segments,
    /// Segments that had been sent when the round began.
    begin: Segments,
    began_at: Option<Time>,
}

/// Measurements over one round trip.
struct Measured {
    /// Estimate of the connection's own segments in queues.
    difference: Segments,
    /// False if the round had no duration to divide by.
    valid: bool,
}

impl Round {
    const NEW: Round = Round {
        base: f64::INFINITY,
        sum: 0.0,
        count: 0.0,
        pending: None,
        acked: 0.0,
        begin: 0.0,
        began_at: None,
    };

    /// The sample of the last ACK joins the mean.
    #[inline]
    fn settle(&mut self) {
        if let Some(rtt) = self.pending.take() {
            self.sum += rtt;
            self.count += 1.0;
            self.base = self.base.min(rtt);
        }
    }

    /// True if the first segment of the round has been acknowledged.
    #[inline]
    fn is_over(&self) -> bool {
        self.acked > self.begin
    }

    /// Ends the round with `ack` and begins the next.
    fn end(&mut self, ack: &Ack) -> Measured {
        let rtt = if self.count > 0.0 {
            self.sum / self.count
        } else {
            self.began_at
                .map_or(self.base, |began| ack.now.since(began).as_secs())
        };
        let next = self.acked + ack.outstanding;
        let sent = next - self.begin;
        let valid = rtt > 0.0 && rtt.is_finite();
        let mut difference = 0.0;
        if valid {
            if rtt < self.base || sent <= 1.0 {
                self.base = rtt;
            }
            // The last segment acknowledged counts as in flight, as in ns-2:
            // nothing has been sent in its place yet.
            difference = ack.outstanding + 1.0 - sent * self.base / rtt;
        }
        self.begin = next;
        self.began_at = Some(ack.now);
        (self.sum, self.count) = (0.0, 0.0);
        Measured { difference, valid }
    }
}

impl Vegas {
    /// Vegas with these settings.
    #[must_use]
    pub const fn new(settings: VegasParameters) -> Vegas {
        Vegas {
            settings,
            timer: FineTimer::NEW,
            round: Round::NEW,
            increment: 0.0,
            doubles: false,
            grows: true,
            worried: 0,
            second_look: false,
            cut_at: None,
            cut_to: 0.0,
            target: None,
            cuts: true,
            known_queue: 0.0,
        }
    }

    /// Segments in the queue below which cwnd grows.
    pub(super) const fn alpha(&self) -> Segments {
        self.settings.alpha
    }

    /// Vegas in which a loss does not reduce the window (DVegas).
    pub(super) const fn without_cuts(mut self) -> Vegas {
        self.cuts = false;
        self
    }

    /// From now on so many segments more are in the queue than the RTT shows.
    pub(super) const fn add_to_queue(&mut self, segments: Segments) {
        self.known_queue = segments;
    }

    /// The smallest RTT, once known.
    pub(super) fn base_rtt(&self) -> Option<Duration> {
        let base = self.round.base;
        base.is_finite().then(|| Duration::from_secs_f64(base))
    }

    /// Go to a window of `target` segments, half of the way in each round, while
    /// the queue holds less than alpha.
    pub(super) fn converge_to(&mut self, target: Option<Segments>) {
        self.target = target;
    }

    /// The window that it converges to.
    pub(super) fn target(&self) -> Option<Segments> {
        self.target
    }

    /// Segments to add over a round with less than alpha in the queue.
    fn step(&mut self, cwnd: Segments) -> Segments {
        if let Some(target) = self.target {
            let distance = target - cwnd;
            if distance > 1.0 {
                // At most a segment per segment acknowledged.
                return (distance / 2.0).max(1.0).min(cwnd);
            }
            self.target = None;
        }
        1.0
    }

    /// What a round trip that queued `difference` segments means for the
    /// window and for the next round.
    fn decide(&mut self, difference: Segments, window: &mut Window) {
        let difference = difference + self.known_queue;
        let difference = if self.settings.whole_diff {
            (difference + 0.5).trunc()
        } else {
            difference
        };
        self.doubles = window.in_slow_start();
        if self.doubles {
            self.grows = !self.grows;
            self.increment = 0.0;
            if self.grows && difference > self.settings.gamma {
                window.ssthresh = LEAST;
                window.cwnd = (window.cwnd - window.cwnd / 8.0).max(LEAST);
            } else if self.grows {
                self.increment = 1.0;
            }
        } else if difference < self.settings.alpha {
            self.increment = self.step(window.cwnd) / window.cwnd;
        } else {
            self.increment = 0.0;
            self.target = None;
            if difference > self.settings.beta {
                window.cwnd = (window.cwnd - 1.0).max(LEAST);
            }
        }
    }

    /// A segment was lost: the timer backs off, and the window is cut to part
    /// of `base` segments unless a cut since the segment was sent has dealt
    /// with that.
    fn lost(&mut self, now: Time, head: Option<Head>, base: Segments, window: &mut Window) {
        let transmissions = head.map_or(1, |head| head.transmissions);
        self.worried = WORRIED_ACKS;
        self.timer.back_off(transmissions);
        let cut_since = head.is_some_and(|head| self.cut_at.is_some_and(|at| at >= head.sent_at));
        if cut_since || !self.cuts {
            return;
        }
        let base = math::floor(base);
        self.cut_to = if base <= 3.0 {
            LEAST
        } else if transmissions > 1 {
            math::floor(base / 2.0)
        } else {
            base - math::floor(base / 4.0)
        };
        window.cwnd = self.cut_to;
        self.cut_at = Some(now);
    }

    fn is_overdue(&self, ack: &Ack) -> bool {
        ack.head
            .is_some_and(|head| self.timer.expired(ack.now, head.sent_at))
    }

    fn on_duplicate(&mut self, ack: &Ack, window: &mut Window) {
        if !self.is_overdue(ack) {
            return;
        }
        window.actions.retransmit_head = true;
        // Outside recovery the retransmission begins one, and that is a loss.
        if ack.in_recovery {
            self.lost(ack.now, ack.head, window.cwnd, window);
        }
    }

    fn on_advance(&mut self, ack: &Ack, window: &mut Window) {
        self.round.acked += ack.acked;
        if let Some(rtt) = ack.rtt.map(Duration::as_secs).filter(|rtt| *rtt > 0.0) {
            if self.round.base.is_infinite() {
                self.round.base = rtt;
            }
            self.timer.sample(rtt);
            self.round.pending = Some(rtt);
        }
        if self.worried == 0 {
            return;
        }
        self.worried -= 1;
        if self.is_overdue(ack) {
            window.actions.retransmit_head = true;
            self.second_look = true;
        } else {
            self.worried = 0;
        }
    }
}

impl Algorithm for Vegas {
    fn controls() -> Vec<Control<Vegas>> {
        let described = Described {
            name: "vegas",
            on_linux: Some("vegas-linux"),
            summary: "keeps a few segments in the queue; retransmits by a fine timer",
            source: "Brakmo & Peterson 1995; the numbers of ns-2.35",
            open: "RTT of a round: the mean of its samples; the handshake's RTT is the first \
                   round; the transport's recovery repairs, the fine timer only starts it",
            family: Family::Delay,
            transport: TransportDefaults {
                summary: "keeps one to three segments in the queue; retransmits by a fine timer",
                source: "Brakmo & Peterson 1995, with the numbers of ns-2",
                ..TransportDefaults::NEW
            },
            settles: true,
            ..Described::NEW
        };
        vec![Control::new(described, Vegas::new)]
    }
}

impl CongestionControl for Vegas {
    named!("vegas");

    fn on_established(&mut self, rtt: Option<Duration>, _: &mut Window) {
        let Some(rtt) = rtt.map(Duration::as_secs).filter(|rtt| *rtt > 0.0) else {
            return;
        };
        // The round of the SYN: slow start had its turn.
        self.timer.sample(rtt);
        self.grows = false;
        if self.settings.syn_is_segment {
            self.round.base = rtt;
            self.round.pending = Some(rtt);
        }
    }

    #[inline]
    fn on_sample(&mut self, ack: &Ack, window: &mut Window) {
        self.round.settle();
        self.second_look = false;
        if ack.duplicate {
            self.on_duplicate(ack, window);
        } else {
            self.on_advance(ack, window);
        }
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        if ack.in_recovery {
            return;
        }
        if self.round.is_over() {
            let measured = self.round.end(ack);
            if measured.valid {
                self.decide(measured.difference, window);
            }
        }
        if self.doubles && !window.in_slow_start() {
            self.increment = 0.0;
        }
        let unused = window.cwnd - (ack.outstanding + 1.0);
        if unused <= 2.0 && ack.cwnd_limited {
            window.cwnd = (window.cwnd + self.increment).min(CWND_LIMIT);
        }
    }

    fn on_loss(&mut self, loss: &Loss, window: &mut Window) {
        if std::mem::take(&mut self.second_look) {
            return;
        }
        if loss.ecn {
            window.ssthresh = math::floor(loss.flight / 2.0).max(LEAST);
            window.cwnd = (loss.flight / 2.0).max(LEAST);
            return;
        }
        self.lost(loss.now, loss.head, loss.flight, window);
    }

    fn on_timeout(&mut self, timeout: &Timeout, window: &mut Window) {
        if timeout.first {
            window.ssthresh = math::floor(timeout.flight / 2.0).max(LEAST);
        }
        window.cwnd = LEAST;
        self.cut_to = 0.0;
        self.cut_at = Some(timeout.now);
    }

    fn on_recovery_exit(&mut self, exit: &RecoveryExit, window: &mut Window) {
        if self.cut_to > 0.0 {
            window.cwnd = window.cwnd.min(self.cut_to);
            window.ssthresh = LEAST;
        }
        if exit.recovery_fix {
            window.cwnd = window.cwnd.min(exit.flight + 1.0).max(LEAST);
        }
    }

    fn on_spurious(&mut self, before: &Window, window: &mut Window) {
        window.cwnd = window.cwnd.max(before.cwnd);
        window.ssthresh = before.ssthresh;
        self.cut_at = None;
        self.cut_to = 0.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameter::ParameterSet as _;

    #[test]
    fn rapid_convergence_halves_the_distance_every_round() {
        let none = crate::Parameters::new();
        let reader = crate::parameter::Reader::new("vegas", &[], &none).unwrap();
        let mut vegas = Vegas::new(VegasParameters::read(&reader).unwrap());
        vegas.converge_to(Some(180.0));
        let mut cwnd = 100.0;
        let windows: Vec<f64> = (0..7)
            .map(|_| {
                cwnd += vegas.step(cwnd);
                cwnd
            })
            .collect();
        assert_eq!(windows, [140.0, 160.0, 170.0, 175.0, 177.5, 178.75, 179.75]);
        // Within a segment it is over, and growth is Vegas' again.
        assert_eq!(vegas.step(cwnd), 1.0);
        assert_eq!(vegas.target(), None);
    }
}
