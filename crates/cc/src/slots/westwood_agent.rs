//! The Westwood agents of ns-2: what the two releases do, all filters included.
//!
//! Sources: the agents that UCLA released for ns-2 (`Agent/TCP/Westwood` and
//! `Agent/TCP/WestwoodNR`, version 1.3, 2002) and the one of the Politecnico di
//! Bari for Westwood+ (also called `WestwoodNR`), with the settings that UCLA's
//! release adds to `ns-default.tcl`. Their behaviour, in our words:
//!
//! - **Count.** Before an ACK does anything else it gives a sample. A duplicate
//!   counts one segment, and is remembered. An ACK that advances by n > 1 counts
//!   one where at least n duplicates are remembered, and forgets n - 1 of them
//!   (UCLA) or n (Bari); else it counts n less those remembered, and forgets all
//!   of them. No ACK counts more than two.
//! - **Sample.** The bits that it counts / the time since the last ACK. The first
//!   is that of the SYN, which counts as a segment, over the time since the
//!   simulation began.
//! - **Filter.** `filter_type_` 0 to 3 in both, 4 to 10 in Bari's: the file
//!   `filter.rs` has them.
//! - **RTTmin.** The smallest round trip in ticks of 10 ms, of the segments that
//!   the retransmission timer times. A path of 25 ms may show 20 ms.
//! - **Loss.** ssthresh = max(2, BWE x RTTmin) in whole segments; cwnd comes down
//!   to that (Bari: to the same before rounding). A window below it stays.
//! - **Timeout.** UCLA: ssthresh = max(2, BWE x RTTmin / a), cwnd = 1; `a` is 1,
//!   gains 1/4 at a loss and 1 at a timeout that strike in slow start, up to 4,
//!   and goes back to 1 at one that strikes above ssthresh. Bari: no division,
//!   cwnd = 2.
//! - **Growth.** Reno's: slow start below ssthresh, 1/cwnd per ACK above.
//!
//! On a host of profile `ns-2` the retransmissions are those of the agents, too:
//!
//! | control | recovery | agent |
//! |---|---|---|
//! | `westwood-nr` | `newreno` | UCLA's `WestwoodNR`: Newreno with its settings of 2002: every partial ACK restarts the timer, which also ends the inflation. The inflation counts from the fourth duplicate |
//! | `westwood-nr` | `reno` | UCLA's `Westwood`: every third duplicate in a row is a loss, no inflation, no limited transmit |
//! | `westwood-nr` | `sack` | its laws merged with `Sack1`, as in E-TCPW |
//! | `westwood-bari` | `newreno` | Bari's `WestwoodNR`: as UCLA's, but a timeout keeps the inflation until the next ACK that advances, so that it sends what the inflation allows at once |
//!
//! | parameter | default | unit |
//! |---|---|---|
//! | filter | type-3 (UCLA's release); Bari: type-5 | |
//! | tau | 1 s | time constant of types 3, 4, 7, 8, 9 and 10 |
//! | alpha | 0.9 | weight of the estimate in types 0, 5 and 6 |
//! | newreno | 2002 (UCLA's release); Bari: 2003 | Newreno's settings on a host of profile `ns-2` |
//! | last_ack | follows | `frozen`: `westwood-nr` merged with `Sack1` line by line |
//! | interpolation | 1 | exponent of type 7 |
//! | queue_threshold | 0 s | queueing delay of type 10 |
//!
//! Left open, and the reading chosen:
//! - Which filter, Newreno settings and exponent Bari's release sets by default
//!   was not found. Type 5 is the law of Grieco & Mascolo 2004 (.9 and .1 once a
//!   round trip); the Newreno settings are those of ns-2 since May 2003
//!   (`newreno_changes1_` and `partial_window_deflation_` on): with UCLA's of 2002
//!   Bari's agent is as slow at the start as UCLA's, which Caini & Firrincieli
//!   2006 do not find.
//! - `last_ack`: `Sack1` keeps the number of the last ACK fixed during fast
//!   recovery. A merge that counts ACKs from that number, as `WestwoodNR` does,
//!   counts every ACK after the first partial one as several segments, and BWE
//!   rises up to twice the rate. How E-TCPW did it is not printed.
//! - Type 10 compares one-way delays of the way out, from time stamps. Ours
//!   compares the RTT with the smallest.
//! - Several ACKs at one instant are one sample; the agents divide by zero.
//! - Before the first RTT the product is unbounded, as in the agents.

mod filter;

pub use filter::{AgentFilter, FilterState};

use super::estimate::bits;
use super::newreno::{Reno, Standard};
use crate::declaration::{Control, Described, LossRecovery, TransportDefaults, of_slots};
use crate::hoe::HoeOff;
use crate::parameter::{number, parameters, time, word, word_of, words};
use crate::slot::{LossReaction, Parts};
use crate::{Ack, CWND_LIMIT, Loss, RecoveryExit, Timeout, Window};
use bentpipe_units::math;
use bentpipe_units::{Duration, Rate, Segments, Time};

/// The control `westwood-nr`.
pub(crate) fn westwood_nr() -> Control<Parts<Standard, Reno, UclaWestwood, HoeOff>> {
    of_slots(Described {
        name: "westwood-nr",
        summary: "the Westwood agents of UCLA for ns-2",
        source: "UCLA's agents for ns-2, Westwood and WestwoodNR, version 1.3 (2002)",
        open: "several ACKs at one instant are one sample; how E-TCPW merged it with Sack1: \
               `last_ack`",
        transport: TransportDefaults {
            summary: "Westwood as UCLA's agent for ns-2 runs it",
            source: "UCLA's agent WestwoodNR for ns-2, version 1.3 (2002)",
            recovery: Some(LossRecovery::NewReno),
            ..TransportDefaults::NEW
        },
        ..Described::NEW
    })
}

/// The control `westwood-bari`.
pub(crate) fn westwood_bari() -> Control<Parts<Standard, Reno, BariWestwood, HoeOff>> {
    of_slots(Described {
        name: "westwood-bari",
        summary: "the Westwood+ agent of Bari for ns-2, with its filters 0 to 10",
        source: "the agent WestwoodNR of the Politecnico di Bari for ns-2",
        open: "the filter that its release sets: type 5, the law of Grieco & Mascolo 2004; type \
               10 compares round trips",
        transport: TransportDefaults {
            summary: "Westwood+ as its authors' agent for ns-2 runs it",
            source: "the agent WestwoodNR of the Politecnico di Bari for ns-2",
            recovery: Some(LossRecovery::NewReno),
            ..TransportDefaults::NEW
        },
        ..Described::NEW
    })
}

words! {
    /// From which number an ACK counts in fast recovery.
    pub enum LastAck {
        /// That of the ACK before it.
        Follows = "follows",
        /// That of the ACK before fast recovery, as `Sack1` keeps it.
        Frozen = "frozen",
    }
}

words! {
    /// Newreno's settings, `newreno_changes1_` and `partial_window_deflation_`.
    pub enum NewrenoSettings {
        /// Both off, as in UCLA's release: every partial ACK restarts the timer
        /// and ends the inflation.
        Of2002 = "2002",
        /// Both on, the defaults of ns-2 since May 2003.
        Of2003 = "2003",
    }
}

/// Permitted range of `tau`.
const TAU_RANGE: (Duration, Duration) = (Duration::from_millis(1), Duration::from_secs(3600));

/// The default of `tau` (`tau_`).
const TAU: Duration = Duration::from_secs(1);

parameters! {
    /// Settings of UCLA's agents.
    pub struct UclaParameters {
        filter: AgentFilter = word_of(&["type-3", "type-0", "type-1", "type-2"]),
            "low-pass on the samples (`filter_type_`)";
        tau: Duration = time(TAU, TAU_RANGE),
            "time constant of type-3";
        alpha: f64 = number(0.9, "", (0.0, 1.0)),
            "weight of the estimate in type-0";
        newreno: NewrenoSettings = word_of(&["2002", "2003"]),
            "Newreno's settings on a host of ns-2: both off (2002) or on (2003)";
        last_ack: LastAck = word(),
            "the number from which an ACK of a fast recovery counts";
    }
}

parameters! {
    /// Settings of Bari's agent.
    pub struct BariParameters {
        filter: AgentFilter = word_of(&[
            "type-5", "type-0", "type-1", "type-2", "type-3", "type-4", "type-6", "type-7",
            "type-8", "type-9", "type-10",
        ]),
            "low-pass on the samples (`filter_type_`)";
        tau: Duration = time(TAU, TAU_RANGE),
            "time constant of types 3, 4, 7, 8, 9 and 10";
        alpha: f64 = number(0.9, "", (0.0, 1.0)),
            "weight of the estimate in types 0, 5 and 6";
        newreno: NewrenoSettings = word_of(&["2003", "2002"]),
            "Newreno's settings on a host of ns-2: both on (2003) or off (2002)";
        interpolation: f64 = number(1.0, "", (0.0, 10.0)),
            "exponent of the interpolation of type-7";
        queue_threshold: Duration = time(Duration::ZERO, (Duration::ZERO, Duration::from_secs(60))),
            "queueing delay above which type-10 takes a sample";
    }
}

/// Reaction to loss of UCLA's agents.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UclaWestwood(WestwoodAgent);

/// Reaction to loss of Bari's agent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BariWestwood(WestwoodAgent);

fills! { UclaWestwood, "westwood-nr", "bandwidth estimate of UCLA's agents for ns-2 x smallest RTT",
    |p: UclaParameters| {
        let filter = FilterState::new(p.filter, p.tau, p.alpha);
        let agent = WestwoodAgent::new(Release::Ucla, filter, p.last_ack);
        UclaWestwood(agent.with_newreno(p.newreno))
    }
}

fills! { BariWestwood, "westwood-bari", "bandwidth estimate of Bari's agent for ns-2 x smallest RTT",
    |p: BariParameters| {
        let filter = FilterState::new(p.filter, p.tau, p.alpha)
            .with_interpolation(p.interpolation)
            .with_queue_threshold(p.queue_threshold);
        let agent = WestwoodAgent::new(Release::Bari, filter, LastAck::Follows);
        BariWestwood(agent.with_newreno(p.newreno))
    }
}

/// The research group whose ns-2 agent is reproduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Release {
    /// University of California, Los Angeles.
    Ucla,
    /// Politecnico di Bari.
    Bari,
}

/// Segments that an ACK counts at most.
const MOST: Segments = 2.0;

/// The clock of ns-2's agents (`tcpTick_`).
const TICK: Duration = Duration::from_millis(10);

/// The largest value of `a`.
const LARGEST_REDUCTION: f64 = 4.0;

/// Lower bound of ssthresh.
const LEAST: Segments = 2.0;

/// The state of an agent in a connection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WestwoodAgent {
    release: Release,
    filter: FilterState,
    /// For the host, which reads it from the transport.
    newreno: NewrenoSettings,
    last_ack: LastAck,
    /// Segments acknowledged while the reference number for counting ACKs is frozen.
    advanced: Segments,
    /// Duplicates that no ACK has accounted for (`unaccounted_`).
    remembered: Segments,
    /// When the last ACK arrived (`lastackrx_`).
    since: Time,
    /// Segments of ACKs at this instant that no sample has taken yet.
    pending: Segments,
    /// The last round trip timed (`t_rtt_`); zero before one.
    rtt: Duration,
    /// The smallest of them (`min_rtt_estimate`); `Duration::MAX` before one.
    min_rtt: Duration,
    /// `a` (`fr_a_`).
    reduction: f64,
}

impl WestwoodAgent {
    /// A new connection of `release` with the given filter.
    #[must_use]
    pub const fn new(release: Release, filter: FilterState, last_ack: LastAck) -> WestwoodAgent {
        WestwoodAgent {
            release,
            filter,
            newreno: NewrenoSettings::Of2002,
            last_ack,
            advanced: 0.0,
            remembered: 0.0,
            since: Time::ZERO,
            pending: 0.0,
            rtt: Duration::ZERO,
            min_rtt: Duration::MAX,
            reduction: 1.0,
        }
    }

    /// Adapts the agent to a host whose Newreno has these settings.
    #[must_use]
    pub const fn with_newreno(mut self, newreno: NewrenoSettings) -> WestwoodAgent {
        self.newreno = newreno;
        self
    }

    /// Segments that an ACK counts which acknowledges up to `advance` beyond the
    /// last number.
    fn count(&mut self, advance: Segments) -> Segments {
        if advance < 1.0 {
            self.remembered += 1.0;
            return 1.0;
        }
        if advance == 1.0 {
            return 1.0;
        }
        if self.remembered >= advance {
            self.remembered -= match self.release {
                Release::Ucla => advance - 1.0,
                Release::Bari => advance,
            };
            return 1.0;
        }
        (advance - core::mem::take(&mut self.remembered)).min(MOST)
    }

    /// How far `ack` is beyond the number from which ACKs count.
    fn advance(&mut self, ack: &Ack) -> Segments {
        let frozen = self.last_ack == LastAck::Frozen && ack.in_recovery;
        self.advanced = if frozen {
            self.advanced + ack.acked
        } else {
            ack.acked
        };
        self.advanced
    }

    /// The SYN is a segment there: its ACK arrived when the first data left.
    fn begin(&mut self, ack: &Ack) {
        let Some(rtt) = ack.rtt else { return };
        let left = Time::from_nanos(ack.now.as_nanos().saturating_sub(rtt.as_nanos()));
        let gap = left.since(self.since);
        if !gap.is_zero() {
            let bits = bits(1.0, ack.mss);
            self.filter
                .take(gap.as_secs(), bits, Duration::ZERO, Duration::ZERO);
            self.since = left;
        }
        self.time(left, ack.min_rtt.min(rtt));
    }

    /// Takes the round trip of a timed segment whose ACK came at `arrived`, in
    /// ticks.
    fn time(&mut self, arrived: Time, rtt: Duration) {
        let tick = TICK.as_nanos();
        let arrived = arrived.as_nanos();
        // A connection may be older than time.
        let before = arrived.saturating_sub(rtt.as_nanos()) / tick;
        let older = rtt.as_nanos().saturating_sub(arrived).div_ceil(tick);
        let ticks = (arrived / tick - before + older).max(1);
        self.rtt = Duration::from_nanos(ticks * tick);
        self.min_rtt = self.min_rtt.min(self.rtt);
    }

    /// BWE x RTTmin, segments.
    fn product(&self, mss: u32) -> Segments {
        if self.min_rtt == Duration::MAX {
            return CWND_LIMIT;
        }
        let bits = self.filter.estimate() * self.min_rtt.as_secs();
        (bits / (8.0 * f64::from(mss.max(1)))).min(CWND_LIMIT)
    }

    fn take(&mut self, ack: &Ack) {
        if self.rtt.is_zero() {
            self.begin(ack);
        }
        let advance = self.advance(ack);
        self.pending += self.count(advance);
        let gap = ack.now.since(self.since);
        if !gap.is_zero() {
            self.since = ack.now;
            let bits = bits(core::mem::take(&mut self.pending), ack.mss);
            let queue = match ack.rtt {
                Some(rtt) if self.min_rtt != Duration::MAX => rtt.saturating_sub(self.min_rtt),
                _ => Duration::ZERO,
            };
            self.filter.take(gap.as_secs(), bits, self.rtt, queue);
        }
        if let (Some(rtt), true) = (ack.rtt, ack.round_start) {
            self.time(ack.now, rtt);
        }
    }

    fn reduce(&mut self, loss: &Loss, window: &mut Window) {
        if loss.ecn {
            // A mark is Reno's.
            window.ssthresh = math::floor(loss.flight / 2.0).max(LEAST);
            window.cwnd = (loss.flight / 2.0).max(1.0);
            return;
        }
        self.raise(0.25, window);
        let product = self.product(loss.mss).max(LEAST);
        let before = window.cwnd;
        window.ssthresh = math::floor(product);
        window.cwnd = before.min(match self.release {
            Release::Ucla => window.ssthresh,
            Release::Bari => product,
        });
    }

    /// `a` after a loss or timeout.
    fn raise(&mut self, by: f64, window: &Window) {
        self.reduction = if window.ssthresh > window.cwnd {
            (self.reduction + by).min(LARGEST_REDUCTION)
        } else {
            1.0
        };
    }

    fn start_over(&mut self, timeout: &Timeout, window: &mut Window) {
        self.advanced = 0.0;
        self.raise(1.0, window);
        let (divisor, cwnd) = match self.release {
            Release::Ucla => (self.reduction, 1.0),
            Release::Bari => (1.0, 2.0),
        };
        window.ssthresh = math::floor(self.product(timeout.mss) / divisor).max(LEAST);
        window.cwnd = cwnd;
    }
}

/// Both agents react alike, except for the differences given by [`Release`].
macro_rules! reacts {
    ($($Agent:ident)*) => { $(
        impl LossReaction for $Agent {
            #[inline]
            fn on_sample(&mut self, ack: &Ack) {
                self.0.take(ack);
            }

            fn on_loss(&mut self, loss: &Loss, window: &mut Window) {
                self.0.reduce(loss, window);
            }

            fn on_timeout(&mut self, timeout: &Timeout, window: &mut Window) {
                self.0.start_over(timeout, window);
            }

            fn on_recovery_exit(&mut self, exit: &RecoveryExit, window: &mut Window) {
                exit.leave_as_agent(window);
            }

            fn bandwidth_estimate(&self) -> Option<Rate> {
                let estimate = self.0.filter.estimate();
                (estimate > 0.0).then(|| Rate::from_bps_f64(estimate))
            }
        }
    )* };
}

reacts!(UclaWestwood BariWestwood);
