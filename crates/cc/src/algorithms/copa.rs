//! Copa: steers the sending rate to 1 / (delta x queueing delay).
//!
//! Source: Arun & Balakrishnan, "Copa: Practical Delay-Based Congestion Control for
//! the Internet", NSDI 2018, section 2. RTTstanding is the smallest RTT of the
//! last srtt/2, RTTmin the smallest of the last 10 s, and dq = RTTstanding -
//! RTTmin.
//!
//! - Every ACK compares the rate cwnd / RTTstanding with the target
//!   1 / (delta x dq), in segments a second: where it is not above the target,
//!   cwnd grows by v / (delta x cwnd) per segment delivered, else it shrinks by
//!   as much. A flow alone then oscillates around 1/delta segments in the queue.
//! - Velocity: once a round trip, the direction in which cwnd moved over it is
//!   compared with the one before. After three round trips in the same direction v
//!   doubles with each further one; a change of direction sets it back to 1.
//! - Slow start doubles cwnd per round trip until the rate exceeds the target.
//! - Packets are paced at 2 cwnd / RTTstanding.
//! - Mode switching: the queue is nearly empty where dq is below a tenth of the
//!   largest RTT of the last four round trips less RTTmin. Where it has not been
//!   for five round trips, a buffer-filling flow shares the bottleneck, and the
//!   competitive mode varies delta: 1/delta grows by 1 in a round trip without
//!   loss and halves in one with a loss, to no less than that of the default mode.
//!
//! | parameter | default | |
//! |---|---|---|
//! | delta | 0.5 | of the default mode: 1/delta segments in the queue |
//! | mode | switching | `default`: that mode always; `competitive`: the other one |
//!
//! Left open, and the reading chosen:
//! - A loss cuts nothing in the default mode; in the competitive mode it halves
//!   1/delta, and cwnd follows. A timeout sets cwnd to 1 and slow start begins
//!   again.
//! - A velocity above 1 acts in the direction in which it was built up: an ACK that
//!   would move cwnd the other way sets it back to 1 at once, or an overshoot
//!   would last for a round trip. It is never more than delta x cwnd, so that cwnd
//!   at most doubles in a round trip.
//! - The least window is 2 segments. Without a queueing delay the target is
//!   infinite, and the queue counts as nearly empty.
//! - The round trips of the windows (srtt/2, four, five) are smoothed RTTs.
//! - cwnd does not grow where the application left it unused.
//! - A return to the default mode sets 1/delta back; a switch to the competitive
//!   mode starts from it.
//!
//! Example: 600 ms, 10 Mbit/s and 1500-byte packets are 500 segments a round trip.
//! 2 segments in the queue are 2.4 ms, and 1 / (0.5 x 2.4 ms) = 833 segments a
//! second: the rate of the link.

use super::max_filter::MaxFilter;
use crate::declaration::{Algorithm, Control, Described, Family};
use crate::parameter::{number, parameters, word, words};
use crate::{
    Ack, CWND_LIMIT, CongestionControl, Loss, Phase, RecoveryExit, Repair, Timeout, Window,
};
use bentpipe_units::{Duration, Rate, Segments, Time};

/// The smallest window in congestion avoidance.
const LEAST: Segments = 2.0;
/// Age of the samples that RTTmin is the smallest of.
const MIN_RTT_WINDOW: Duration = Duration::from_secs(10);
/// Round trips that the largest RTT is taken from.
const SWING_ROUNDS: u64 = 4;
/// Round trips without a nearly empty queue that mean competition.
const EMPTY_ROUNDS: u64 = 5;
/// What of the RTT's swing still counts as an empty queue.
const NEARLY_EMPTY: f64 = 0.1;
/// Round trips in one direction before the velocity doubles.
const STEADY_ROUNDS: u32 = 3;
/// Packets are paced at so many times the window per RTTstanding.
const PACING_GAIN: f64 = 2.0;

words! {
    /// Which modes Copa uses.
    pub enum CopaMode {
        /// Competitive where the queue is never nearly empty, else default.
        Switching = "switching",
        /// The default mode always.
        Default = "default",
        /// The competitive mode always.
        Competitive = "competitive",
    }
}

parameters! {
    /// Settings of [`Copa`].
    #[derive(Copy)]
    pub struct CopaParameters {
        delta: f64 = number(0.5, "1/segments", (0.001, 1.0)),
            "the default mode keeps 1/delta segments in the queue";
        mode: CopaMode = word(),
            "switch to the competitive mode where the queue is never nearly empty, or stay in one";
    }
}

/// Direction in which the window moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Up,
    Down,
}

/// The velocity of the window, and what it follows from.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Velocity {
    value: f64,
    direction: Direction,
    /// Round trips in that direction.
    rounds: u32,
    /// cwnd when the round trip began.
    begin: Segments,
}

impl Velocity {
    /// A round trip begins.
    fn on_round(&mut self, cwnd: Segments) {
        let moved = if cwnd > self.begin {
            Direction::Up
        } else {
            Direction::Down
        };
        self.begin = cwnd;
        if moved != self.direction {
            self.turn(moved);
            return;
        }
        self.rounds += 1;
        if self.rounds >= STEADY_ROUNDS {
            self.value = (2.0 * self.value).min(CWND_LIMIT);
        }
    }

    fn turn(&mut self, direction: Direction) {
        self.value = 1.0;
        self.rounds = 0;
        self.direction = direction;
    }
}

/// State of Copa for one connection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Copa {
    parameters: CopaParameters,
    /// 1 / RTT, a second, of the samples of srtt/2 and of 10 s: the largest is
    /// that of the smallest RTT.
    standing: MaxFilter,
    least: MaxFilter,
    /// RTT, seconds, of the samples of four round trips.
    largest: MaxFilter,
    slow_start: bool,
    velocity: Velocity,
    competitive: bool,
    /// 1/delta of the competitive mode, and whether its round trip saw a loss.
    queue: Segments,
    lost: bool,
    /// When the queue was nearly empty last; `None` before an RTT.
    emptied_at: Option<Time>,
}

impl Copa {
    /// Copa with these settings.
    #[must_use]
    pub fn new(parameters: CopaParameters) -> Copa {
        Copa {
            parameters,
            standing: MaxFilter::default(),
            least: MaxFilter::default(),
            largest: MaxFilter::default(),
            slow_start: true,
            velocity: Velocity {
                value: 1.0,
                direction: Direction::Up,
                rounds: 0,
                begin: 0.0,
            },
            competitive: parameters.mode == CopaMode::Competitive,
            queue: 1.0 / parameters.delta,
            lost: false,
            emptied_at: None,
        }
    }

    /// delta of the mode.
    fn delta(&self) -> f64 {
        if self.competitive {
            1.0 / self.queue
        } else {
            self.parameters.delta
        }
    }

    /// RTTstanding, seconds; zero before a sample.
    fn standing(&self) -> f64 {
        seconds(&self.standing)
    }

    /// Standing queueing delay dq, seconds.
    fn queueing_delay(&self) -> f64 {
        (self.standing() - seconds(&self.least)).max(0.0)
    }

    fn sample(&mut self, rtt: Duration, srtt: Duration, now: Time) {
        let inverse = 1.0 / rtt.as_secs();
        let now = now.as_nanos();
        self.standing.update(srtt.as_nanos() / 2, now, inverse);
        self.least.update(MIN_RTT_WINDOW.as_nanos(), now, inverse);
        let window = srtt.as_nanos() * SWING_ROUNDS;
        self.largest.update(window, now, rtt.as_secs());
    }

    /// Sets the mode by when the queue was nearly empty last.
    fn detect(&mut self, srtt: Duration, now: Time) {
        let delay = self.queueing_delay();
        let swing = self.largest.get() - seconds(&self.least);
        if delay <= 0.0 || delay < NEARLY_EMPTY * swing {
            self.emptied_at = Some(now);
        }
        let emptied_at = *self.emptied_at.get_or_insert(now);
        if self.parameters.mode != CopaMode::Switching {
            return;
        }
        let competes = now.since(emptied_at) > srtt * EMPTY_ROUNDS;
        if competes != self.competitive {
            self.competitive = competes;
            self.queue = 1.0 / self.parameters.delta;
        }
    }

    /// AIMD on 1/delta, at the end of a round trip.
    fn on_round(&mut self, cwnd: Segments) {
        if self.competitive {
            self.queue = if self.lost {
                (self.queue / 2.0).max(1.0 / self.parameters.delta)
            } else {
                (self.queue + 1.0).min(CWND_LIMIT)
            };
        }
        self.lost = false;
        if !self.slow_start {
            self.velocity.on_round(cwnd);
        }
    }

    fn steer(&mut self, ack: &Ack, window: &mut Window) {
        let (delta, delay) = (self.delta(), self.queueing_delay());
        // rate <= target, multiplied out: without a queue it always is.
        let below = window.cwnd * delta * delay <= self.standing();
        if self.slow_start {
            if below {
                window.cwnd += if ack.cwnd_limited { ack.delivered } else { 0.0 };
                return;
            }
            self.slow_start = false;
            self.velocity.turn(Direction::Down);
            self.velocity.begin = window.cwnd;
        }
        let direction = if below {
            Direction::Up
        } else {
            Direction::Down
        };
        if direction != self.velocity.direction && self.velocity.value > 1.0 {
            self.velocity.turn(direction);
        }
        let velocity = self.velocity.value.min((delta * window.cwnd).max(1.0));
        let step = velocity * ack.delivered / (delta * window.cwnd);
        match direction {
            Direction::Up if ack.cwnd_limited => window.cwnd += step.min(ack.delivered),
            Direction::Up => {}
            Direction::Down => window.cwnd = (window.cwnd - step).max(LEAST.min(window.cwnd)),
        }
    }

    fn pace(&self, window: &mut Window) {
        let standing = self.standing();
        if standing > 0.0 {
            let bits = window.cwnd * f64::from(window.mss) * 8.0;
            window.pacing_rate = Some(Rate::from_bps_f64(PACING_GAIN * bits / standing));
        }
    }
}

/// The RTT of a filter of 1 / RTT, seconds; zero before a sample.
fn seconds(filter: &MaxFilter) -> f64 {
    let inverse = filter.get();
    if inverse > 0.0 { 1.0 / inverse } else { 0.0 }
}

impl Algorithm for Copa {
    fn controls() -> Vec<Control<Copa>> {
        let described = Described {
            name: "copa",
            summary: "steers the rate to 1 / (delta x queueing delay); keeps a few segments queued",
            source: "Arun & Balakrishnan 2018, section 2",
            open: "a loss cuts nothing in the default mode; a velocity that meets the other \
                   direction starts again at once and is at most delta x cwnd; a timeout starts \
                   again from one segment",
            family: Family::Delay,
            ..Described::NEW
        };
        vec![Control::new(described, Copa::new)]
    }
}

impl CongestionControl for Copa {
    named!("copa");
    always!(owns_window);
    ignores!(on_ack, on_recovery_exit);

    fn on_established(&mut self, rtt: Option<Duration>, window: &mut Window) {
        self.velocity.begin = window.cwnd;
        if let Some(rtt) = rtt.filter(|rtt| !rtt.is_zero()) {
            let bits = window.cwnd * f64::from(window.mss) * 8.0;
            window.pacing_rate = Some(Rate::from_bps_f64(PACING_GAIN * bits / rtt.as_secs()));
        }
    }

    fn on_control(&mut self, ack: &Ack, _: Repair, window: &mut Window) {
        if let Some(rtt) = ack.rtt.filter(|rtt| !rtt.is_zero()) {
            let srtt = ack.smoothed_rtt.max(Duration::from_nanos(1));
            self.sample(rtt, srtt, ack.now);
            self.detect(srtt, ack.now);
        }
        if ack.round_start {
            self.on_round(window.cwnd);
        }
        if self.standing() > 0.0 && ack.delivered > 0.0 {
            self.steer(ack, window);
        }
        window.cwnd = window.cwnd.clamp(1.0, CWND_LIMIT);
        self.pace(window);
    }

    fn on_loss(&mut self, _: &Loss, _: &mut Window) {
        self.lost = true;
    }

    fn on_timeout(&mut self, _: &Timeout, window: &mut Window) {
        self.lost = true;
        self.slow_start = true;
        self.velocity.turn(Direction::Up);
        window.cwnd = 1.0;
    }

    fn phase(&self, _: &Window) -> Phase {
        match (self.slow_start, self.competitive) {
            (true, _) => Phase::SlowStart,
            (false, false) => Phase::Own("default_mode"),
            (false, true) => Phase::Own("competitive_mode"),
        }
    }
}
