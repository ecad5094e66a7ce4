//! CUBIC as Linux has it, in its fixed point.
//!
//! Source: the behaviour of Linux `tcp_cubic.c` (Ha, Rhee, Xu; with HyStart, `cubic_hystart`), as
//! of 6.18; Ha, Rhee, Xu, "CUBIC: a new TCP-friendly high-speed TCP variant", 2008. What differs
//! from RFC 9438:
//!
//! - Times are ticks of the kernel, and the curve has a resolution of 1/1024 s:
//!   K = cbrt(2^40 / 410 x (W_max - cwnd)) with 410/1024 for C.
//! - The curve is read where it will be after the smallest RTT seen, not the
//!   smoothed one, and turned into a count: cwnd grows by one in every
//!   cwnd / (target - cwnd) segments acknowledged, in 2 at the fastest, and in
//!   100 cwnd where the target is not above cwnd. Before the first cut the count
//!   is 20 at most (5% in a round trip).
//! - The count is renewed at most once a tick; for an unchanged cwnd 32 times a
//!   second, or once in the smallest RTT where that is shorter.
//! - The Reno-friendly window grows by one in every cwnd x 15/8 segments (alpha
//!   = 0.53) and does not change to alpha = 1 at W_max.
//! - A cut leaves 717/1024 of cwnd, at least 2. Fast convergence: W_max = cwnd x
//!   1741/2048 where cwnd is below the last W_max.
//! - A timeout forgets everything, the smallest RTT and the end of HyStart too.
//!   The undo of a spurious loss restores window and threshold, not W_max.
//! - When sending begins again with nothing in flight, the epoch moves by the
//!   time since the last segment.
//!
//! | parameter | default | unit |
//! |---|---|---|
//! | c | 0.4 (41 x 10 / 1024) | segments / s^3 |
//! | beta | 0.7 (717 / 1024) | |
//! | fast_convergence | true | |
//! | reno_friendly | true | |
//! | tick | 4 ms (HZ = 250) | |
//!
//! Left open, and the reading chosen: the kernel's cube root is a table and a
//! step of Newton's, 0.2% off on average; here it is exact to 1/1024 s.

use super::cubic_hystart::{HyStart, HyStartParameters};
use super::host::{Host, Version, whole};
use super::module::{Linux, Module, described};
use crate::declaration::{Algorithm, Control, Described};
use crate::parameter::{flag, number, parameters, time};
use crate::{Ack, Window};
use bentpipe_units::{Duration, Time, math};

/// Beta and fast convergence are parts of this.
const SCALE: u64 = 1024;
/// The curve's times are 1/2^10 s, its factor has 10 + 3 x 10 binary digits.
const DIGITS: u32 = 40;
/// Before any cut the count is at most this.
const COUNT_BEFORE_CUT: u64 = 20;
/// The least count: 1.5 times cwnd in a round trip.
const LEAST_COUNT: u64 = 2;
/// For an unchanged cwnd the count is renewed so many times a second.
const RENEWALS: u64 = 32;

parameters! {
    /// Settings of [`Cubic`].
    #[derive(Copy)]
    pub struct CubicParameters {
        c: f64 = number(0.4, "segments/s^3", (0.01, 100.0)),
            "constant C of the cubic, rounded to 10/1024";
        beta: f64 = number(0.7, "", (0.1, 0.99)),
            "what the cut leaves of the window, rounded to 1/1024";
        fast_convergence: bool = flag(true), "leave room for new flows when the window peaks lower";
        reno_friendly: bool = flag(true), "never slower than Reno";
        tick: Duration =
            time(Duration::from_millis(4), (Duration::from_millis(1), Duration::from_millis(10))),
            "the kernel's tick (HZ = 250: 4 ms; 1000: 1 ms)";
    }
}

/// The parameters in fixed point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Constants {
    /// Beta in 1/1024.
    beta: u64,
    /// C in 1/1024.
    c: u64,
    /// 2^40 / C, for K.
    cube_factor: u64,
    /// Eighths of cwnd in which the Reno-friendly window grows by one.
    friendly: u64,
    fast_convergence: bool,
    reno_friendly: bool,
    /// Nanoseconds of a tick, and ticks of a second.
    tick: u64,
    second: u64,
}

impl Constants {
    fn new(p: CubicParameters) -> Constants {
        let beta = math::floor(p.beta * SCALE as f64 + 0.5) as u64;
        let c = 10 * (math::floor(p.c * SCALE as f64 / 10.0 + 0.5) as u64).max(1);
        let tick = p.tick.as_nanos().max(1);
        Constants {
            beta,
            c,
            cube_factor: (1 << DIGITS) / c,
            friendly: 8 * (SCALE + beta) / 3 / (SCALE - beta).max(1),
            fast_convergence: p.fast_convergence,
            reno_friendly: p.reno_friendly,
            tick,
            second: (1_000_000_000 / tick).max(1),
        }
    }

    fn ticks(&self, now: Time) -> u64 {
        now.as_nanos() / self.tick
    }

    /// K for a distance of `below` segments, in 1/1024 s.
    fn k(&self, below: u64) -> u64 {
        u64::try_from(cube_root(u128::from(self.cube_factor) * u128::from(below)))
            .unwrap_or(u64::MAX)
    }
}

/// The largest whole number whose cube is at most `x`.
fn cube_root(x: u128) -> u128 {
    let (mut low, mut high) = (0u128, 1u128 << 42);
    while low < high {
        let middle = (low + high).div_ceil(2);
        if middle * middle * middle <= x {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    low
}

/// What a timeout forgets. Times in ticks but `delay`, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct State {
    /// Segments per segment of growth.
    count: u64,
    /// cwnd at the last cut, or less by fast convergence; 0 before one.
    last_max: u64,
    /// The last renewal of the count: its cwnd and its time.
    renewed: Option<(u64, u64)>,
    /// Where the curve is flat, and how long until it is reached, 1/1024 s.
    origin: u64,
    k: u64,
    /// Smallest RTT; 0 before a sample.
    delay: u64,
    epoch: Option<u64>,
    /// Segments acknowledged since the Reno-friendly window grew, and that
    /// window.
    acked: u64,
    friendly: u64,
}

/// State of Linux' CUBIC for one connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cubic {
    constants: Constants,
    state: State,
    hystart: HyStart,
}

impl Cubic {
    /// CUBIC with these settings.
    #[must_use]
    pub fn new(own: CubicParameters, hystart: &HyStartParameters) -> Cubic {
        Cubic {
            constants: Constants::new(own),
            state: State::default(),
            hystart: HyStart::new(hystart),
        }
    }

    /// The smallest RTT in ticks, rounded up.
    fn delay_in_ticks(&self) -> u64 {
        (self.state.delay * 1000).div_ceil(self.constants.tick)
    }

    /// Takes `acked` segments at a window of `cwnd` into the count.
    fn update(&mut self, now: Time, cwnd: u64, acked: u64) {
        let constants = self.constants;
        let now = constants.ticks(now);
        let most = (constants.second / RENEWALS).min(self.delay_in_ticks());
        let state = &mut self.state;
        state.acked += acked;
        if let Some((at, when)) = state.renewed
            && at == cwnd
            && now - when <= most
        {
            return;
        }
        let same_tick = state.renewed.is_some_and(|(_, when)| when == now);
        if state.epoch.is_none() || !same_tick {
            state.renewed = Some((cwnd, now));
            self.follow_curve(now, cwnd, acked);
        }
        if constants.reno_friendly {
            self.keep_up_with_reno(cwnd);
        }
        self.state.count = self.state.count.max(LEAST_COUNT);
    }

    fn follow_curve(&mut self, now: u64, cwnd: u64, acked: u64) {
        let ahead = self.delay_in_ticks();
        let Cubic {
            constants, state, ..
        } = self;
        let epoch = *state.epoch.get_or_insert_with(|| {
            (state.acked, state.friendly) = (acked, cwnd);
            (state.k, state.origin) = if state.last_max <= cwnd {
                (0, cwnd)
            } else {
                (constants.k(state.last_max - cwnd), state.last_max)
            };
            now
        });
        let t = ((now - epoch + ahead) << 10) / constants.second;
        let away = u128::from(t.abs_diff(state.k).min(1 << 28));
        let delta = (u128::from(constants.c) * away * away * away) >> DIGITS;
        let delta = u64::try_from(delta).unwrap_or(u64::MAX);
        let target = if t < state.k {
            state.origin.saturating_sub(delta)
        } else {
            state.origin.saturating_add(delta)
        };
        state.count = if target > cwnd {
            cwnd / (target - cwnd)
        } else {
            100 * cwnd
        };
        if state.last_max == 0 {
            state.count = state.count.min(COUNT_BEFORE_CUT);
        }
    }

    fn keep_up_with_reno(&mut self, cwnd: u64) {
        let state = &mut self.state;
        let step = (cwnd * self.constants.friendly) >> 3;
        if state.acked > step {
            // The kernel subtracts while more than a step is left.
            let steps = (state.acked - 1) / step.max(1);
            state.acked -= steps * step;
            state.friendly += steps;
        }
        if state.friendly > cwnd {
            state.count = state.count.min(cwnd / (state.friendly - cwnd));
        }
    }
}

impl Algorithm for Linux<Cubic> {
    fn controls() -> Vec<Control<Linux<Cubic>>> {
        let described = Described {
            open: "the cube root is exact; cwnd stops growing at the receive window",
            ..described(
                ("cubic-linux", "cubic"),
                "CUBIC of Linux: fixed point, ticks, HyStart by ACK trains and delay",
                "Linux tcp_cubic.c",
                "CUBIC of Linux, with HyStart: what hosts of today run by default",
            )
        };
        type Settings = (CubicParameters, HyStartParameters);
        vec![Control::new(described, |(own, hystart): Settings| {
            Linux::new(Version::Current, Cubic::new(own, &hystart))
        })]
    }
}

impl Module for Cubic {
    fn name(&self) -> &'static str {
        "cubic-linux"
    }

    fn acked(&mut self, ack: &Ack, host: &Host, window: &mut Window) {
        let Some(rtt) = ack.rtt else {
            return;
        };
        let state = &mut self.state;
        // Samples right after a recovery are not of an empty queue.
        let now = self.constants.ticks(ack.now);
        if state
            .epoch
            .is_some_and(|epoch| now.saturating_sub(epoch) < self.constants.second)
        {
            return;
        }
        let delay = rtt.as_micros().max(1);
        if state.delay == 0 || state.delay > delay {
            state.delay = delay;
        }
        if host.in_slow_start(window) && self.hystart.ends(ack, host, window, delay, state.delay) {
            window.ssthresh = whole(window.cwnd) as f64;
        }
    }

    fn grow(&mut self, ack: &Ack, host: &mut Host, window: &mut Window) {
        if !host.needs_window(ack, window) {
            return;
        }
        let mut acked = ack.acked as u64;
        if host.in_slow_start(window) {
            acked = host.slow_start(ack, window);
            if acked == 0 {
                return;
            }
        }
        self.update(ack.now, whole(window.cwnd), acked);
        host.avoid(ack, window, self.state.count, acked);
    }

    fn threshold(&mut self, cwnd: u64, _: bool) -> u64 {
        let Cubic {
            constants, state, ..
        } = self;
        state.epoch = None;
        state.last_max = if cwnd < state.last_max && constants.fast_convergence {
            cwnd * (SCALE + constants.beta) / (2 * SCALE)
        } else {
            cwnd
        };
        cwnd * constants.beta / SCALE
    }

    fn lost(&mut self, host: &Host) {
        self.state = State::default();
        self.hystart.reset(host);
    }

    fn restarted(&mut self, now: Time, idle: Duration) {
        let ticks = self.constants.ticks(now);
        let last = Time::from_nanos(now.as_nanos().saturating_sub(idle.as_nanos()));
        let before = self.constants.ticks(last);
        if let Some(epoch) = &mut self.state.epoch {
            *epoch = (*epoch + (ticks - before)).min(ticks);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameter::{Parameters, Reader};

    fn cubic() -> Cubic {
        let empty = Parameters::new();
        let own = crate::parameter::listed::<(CubicParameters, HyStartParameters)>();
        let reader = Reader::new("cubic-linux", own, &empty).unwrap();
        use crate::parameter::ParameterSet as _;
        let (own, hystart) = <(CubicParameters, HyStartParameters)>::read(&reader).unwrap();
        Cubic::new(own, &hystart)
    }

    #[test]
    fn the_kernels_constants() {
        let constants = cubic().constants;
        assert_eq!((constants.beta, constants.c), (717, 410));
        assert_eq!(constants.cube_factor, 2_681_735_677);
        assert_eq!(constants.friendly, 15);
        assert_eq!(constants.second, 250);
    }

    /// K = cbrt(dW / 0.4): 100 segments 6.30 s, 300 segments 9.09 s.
    #[test]
    fn k_in_1024ths_of_a_second() {
        let constants = cubic().constants;
        assert_eq!(constants.k(100), 6448);
        assert_eq!(constants.k(300), 9300);
        assert_eq!(constants.k(0), 0);
        // 6448 / 1024 s = 6.297 s; with C = 0.4 exactly it would be 6.300.
        assert!((constants.k(100) as f64 / 1024.0 - 6.300).abs() < 0.004);
    }

    #[test]
    fn cube_roots_are_exact() {
        for n in [0u128, 1, 2, 1023, 65_536, 1 << 30] {
            assert_eq!(cube_root(n * n * n), n);
            assert_eq!(cube_root(n * n * n + 1), n.max(1));
        }
    }

    /// From 1000 segments: 700, K = 9300/1024 s. At the start the target with an
    /// RTT of 600 ms ahead is 1000 - 410 (9300 - 614)^3 / 2^40 = 756 segments.
    #[test]
    fn the_count_of_the_first_ack_after_a_cut() {
        let mut cubic = cubic();
        cubic.state.delay = 600_000;
        assert_eq!(cubic.threshold(1000, false), 700);
        cubic.update(Time::from_nanos(8_000_000_000), 700, 2);
        assert_eq!((cubic.state.origin, cubic.state.k), (1000, 9300));
        assert_eq!(cubic.state.count, 700 / (756 - 700));
        // A window that peaked lower leaves room: 0.85 x 900.
        assert_eq!(cubic.threshold(900, false), 630);
        assert_eq!(cubic.state.last_max, 765);
    }

    /// The window of Reno from 100 segments: a segment in every 187 acknowledged.
    #[test]
    fn the_friendly_window_leads_on_short_paths() {
        let mut cubic = cubic();
        cubic.state.delay = 10_000;
        cubic.threshold(142, false);
        let ms = |ms: u64| Time::from_nanos(ms * 1_000_000);
        cubic.update(ms(1000), 100, 1);
        let slow = cubic.state.count;
        assert!(slow >= 100, "{slow}");
        // 748 are four times 187; a fifth step needs more.
        cubic.update(ms(1040), 100, 748);
        assert_eq!(cubic.state.friendly, 104);
        assert_eq!(cubic.state.count, 100 / 4);
    }

    #[test]
    fn an_idle_time_moves_the_epoch() {
        let mut cubic = cubic();
        cubic.threshold(100, false);
        let second = |s: u64| Time::from_nanos(s * 1_000_000_000);
        cubic.update(second(10), 70, 1);
        assert_eq!(cubic.state.epoch, Some(2500));
        cubic.restarted(second(30), Duration::from_secs(5));
        assert_eq!(cubic.state.epoch, Some(3750));
        // It never lies in the future.
        cubic.restarted(second(16), Duration::from_secs(16));
        assert_eq!(cubic.state.epoch, Some(4000));
    }
}
