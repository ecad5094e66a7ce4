//! BBR, version 3: BBR that bounds what it keeps in flight by the losses it sees.
//!
//! Source: the algorithm of draft-ietf-ccwg-bbr (Cardwell, Swett, Beshay), after
//! Cardwell et al. Written from what is generally known of the draft's state machine,
//! model and numbers and not held against its text line by line: our reading.
//!
//! | state | pacing gain | window gain | until |
//! |---|---|---|---|
//! | startup | 2.773 | 2 | bandwidth has grown by less than a quarter in 3 rounds, or a round lost 2% with 6 losses |
//! | drain | 0.5 | 2 | one bandwidth-delay product is in flight |
//! | down | 0.9 | 2 | at most that, and at most 85% of `inflight_hi`, is in flight |
//! | cruise | 1 | 2 | 2 to 3 s, or as many rounds as Reno would need to grow (63 at most) |
//! | refill | 1 | 2 | a round |
//! | up | 1.25 | 2.25 | bandwidth grows no more, or more than 2% is lost |
//! | `probe_rtt` | 1 | 0.5 | 200 ms and a round; entered every 5 s without a smaller RTT |
//!
//! The model (`model`): `max_bw` over the last two cycles of probing; `bw_lo` and
//! `inflight_lo`, 0.7 of what was delivered in a round with losses, until the next
//! probe; `inflight_hi`, what was in flight when more than 2% was lost, raised by
//! one segment more per round each round while probing up.
//!
//! | parameter | default | unit |
//! |---|---|---|
//! | loss_threshold | 0.02 | part of what was in flight |
//! | beta | 0.7 | what a round with losses leaves of the short-term bounds |
//! | headroom | 0.15 | part of `inflight_hi` that is left free outside of probing |
//! | min_rtt_window | 10 s | |
//! | probe_rtt_interval | 5 s | |
//! | probe_rtt | 200 ms | |
//!
//! Left open or left out, and the reading chosen:
//! - The draft judges each lost packet by what was in flight when it was sent; here
//!   an ACK is judged by what was lost since the packet that it acknowledges was
//!   sent, and what was in flight then.
//! - Without ECN, and without more window for aggregated ACKs.
//! - Phases are drawn from the connection's own random stream.

mod model;

use super::max_filter::MaxFilter;
use crate::declaration::{Algorithm, Control, Described, Family, TransportDefaults};
use crate::parameter::{number, parameters, time};
use crate::{Ack, CongestionControl, Loss, Phase, RecoveryExit, Repair, Timeout, Window};
use bentpipe_random::Stream;
use bentpipe_units::{Duration, Rate, Segments, Time, math};
use model::Losses;

const STARTUP_GAIN: f64 = 2.773;
const DRAIN_GAIN: f64 = 0.5;
const WINDOW_GAIN: f64 = 2.0;
const UP_WINDOW_GAIN: f64 = 2.25;
const PROBE_RTT_WINDOW_GAIN: f64 = 0.5;
/// Part of the estimate that pacing stays below.
const MARGIN: f64 = 0.01;
const LEAST_WINDOW: Segments = 4.0;
const INITIAL_WINDOW: Segments = 10.0;
const FULL_GROWTH: f64 = 1.25;
const FULL_ROUNDS: u32 = 3;
/// Losses in a round that end startup.
const FULL_LOSSES: f64 = 6.0;
/// Rounds after which a probe comes in any case.
const MOST_ROUNDS: f64 = 63.0;
/// Cycles of probing that the bandwidth is the maximum of.
const BANDWIDTH_CYCLES: u64 = 2;

parameters! {
    /// What can be set; see the table above.
    #[derive(Copy)]
    pub struct Bbr3Settings {
        loss_threshold: f64 = number(0.02, "", (0.0, 1.0)), "loss that shows too much in flight";
        beta: f64 = number(0.7, "", (0.1, 1.0)), "what a round with losses leaves of the bounds";
        headroom: f64 = number(0.15, "", (0.0, 0.9)), "part of inflight_hi that is left free";
        min_rtt_window: Duration = time(
            Duration::from_secs(10),
            (Duration::from_millis(1), Duration::from_secs(86_400)),
        ),
            "length of the filter of the smallest RTT";
        probe_rtt_interval: Duration = time(
            Duration::from_secs(5),
            (Duration::from_millis(1), Duration::from_secs(86_400)),
        ),
            "age at which the smallest RTT is probed again";
        probe_rtt: Duration = time(
            Duration::from_millis(200),
            (Duration::ZERO, Duration::from_secs(3600)),
        ),
            "least time of a probe of the RTT";
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Startup,
    Drain,
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt,
}

/// BBR version 3. Bandwidths in segments per second; bounds are infinite where
/// there is none.
#[derive(Clone, Debug)]
pub struct Bbr3 {
    settings: Bbr3Settings,
    state: State,
    bandwidth: MaxFilter,
    cycle: u64,
    bw_lo: f64,
    inflight_lo: Segments,
    inflight_hi: Segments,
    /// Rounds, and the segments delivered at which this one ends.
    round_start: bool,
    round_end: Segments,
    rounds_since_probe: f64,
    delivered: Segments,
    losses: Losses,
    /// Of this round: the largest bandwidth, and the most delivered in a sample.
    bw_latest: f64,
    inflight_latest: Segments,
    /// A probe of bandwidth is under way, whose losses have not been judged.
    probes: bool,
    /// Segments acknowledged towards a raise of `inflight_hi`; those that it
    /// takes; and how many rounds it has been raised.
    raised: Segments,
    per_raise: Segments,
    raise_rounds: u32,
    full_bw: f64,
    full_rounds: u32,
    /// The bandwidth has stopped growing, in startup; and since the last probe.
    full: bool,
    full_now: bool,
    min_rtt: Duration,
    min_rtt_at: Option<Time>,
    probe_rtt_min: Duration,
    probe_rtt_min_at: Option<Time>,
    probe_rtt_until: Option<Time>,
    probe_rtt_round_done: bool,
    cycle_began: Time,
    wait: Duration,
    prior_cwnd: Segments,
    repair: Repair,
    restarts: bool,
    has_rtt: bool,
    mss: u32,
    random: Stream,
}

impl Bbr3 {
    /// BBR with `settings`.
    #[must_use]
    pub fn new(settings: Bbr3Settings) -> Bbr3 {
        Bbr3 {
            settings,
            state: State::Startup,
            bandwidth: MaxFilter::default(),
            cycle: 0,
            bw_lo: f64::INFINITY,
            inflight_lo: f64::INFINITY,
            inflight_hi: f64::INFINITY,
            round_start: false,
            round_end: 0.0,
            rounds_since_probe: 0.0,
            delivered: 0.0,
            losses: Losses::default(),
            bw_latest: 0.0,
            inflight_latest: 0.0,
            probes: false,
            raised: 0.0,
            per_raise: f64::INFINITY,
            raise_rounds: 0,
            full_bw: 0.0,
            full_rounds: 0,
            full: false,
            full_now: false,
            min_rtt: Duration::MAX,
            min_rtt_at: None,
            probe_rtt_min: Duration::MAX,
            probe_rtt_min_at: None,
            probe_rtt_until: None,
            probe_rtt_round_done: false,
            cycle_began: Time::ZERO,
            wait: Duration::ZERO,
            prior_cwnd: 0.0,
            repair: Repair::None,
            restarts: false,
            has_rtt: false,
            mss: 1460,
            random: Stream::new(0, "bbr3"),
        }
    }

    /// Pacing and window gain of the state.
    fn gains(&self) -> (f64, f64) {
        match self.state {
            State::Startup => (STARTUP_GAIN, WINDOW_GAIN),
            State::Drain => (DRAIN_GAIN, WINDOW_GAIN),
            State::Down => (0.9, WINDOW_GAIN),
            State::Cruise | State::Refill => (1.0, WINDOW_GAIN),
            State::Up => (1.25, UP_WINDOW_GAIN),
            State::ProbeRtt => (1.0, PROBE_RTT_WINDOW_GAIN),
        }
    }

    fn bw(&self) -> f64 {
        self.bandwidth.get().min(self.bw_lo)
    }

    /// `gain` bandwidth-delay products at `bw`.
    fn product(&self, bw: f64, gain: f64) -> Segments {
        if self.min_rtt == Duration::MAX {
            return INITIAL_WINDOW;
        }
        gain * bw * self.min_rtt.as_secs()
    }

    /// Room for what the ends collect into bursts.
    fn inflight(&self, bw: f64, gain: f64, window: &Window) -> Segments {
        let budget = 3.0 * f64::from(window.send_quantum);
        let target = self.product(bw, gain).max(budget).max(LEAST_WINDOW);
        math::ceil(if self.state == State::Up {
            target + 2.0
        } else {
            target
        })
    }

    fn set_pacing_rate(&self, gain: f64, window: &mut Window) {
        let rate = |bw: f64| {
            let bits = gain * bw * f64::from(window.mss) * 8.0 * (1.0 - MARGIN);
            Rate::from_bps_f64(bits).max(Rate::from_bps(1))
        };
        let rate = rate(self.bw());
        if self.full || window.pacing_rate.is_none_or(|now| rate > now) {
            self.set_rate(rate, window);
        }
    }

    /// A burst of a millisecond at the pacing rate, two segments at least.
    fn set_rate(&self, rate: Rate, window: &mut Window) {
        window.pacing_rate = Some(rate);
        let bytes = (rate.bps_f64() / 8_000.0).min(65_536.0);
        window.send_quantum = math::floor(bytes / f64::from(window.mss.max(1))).max(2.0) as u32;
    }

    fn set_first_pacing_rate(&mut self, rtt: Option<Duration>, window: &mut Window) {
        self.has_rtt = rtt.is_some();
        let rtt = rtt.unwrap_or(Duration::from_millis(1));
        let bw = window.cwnd / rtt.max(Duration::from_nanos(1)).as_secs();
        let bits = STARTUP_GAIN * bw * f64::from(window.mss) * 8.0;
        self.set_rate(Rate::from_bps_f64(bits), window);
    }

    fn save_window(&mut self, window: &Window) {
        self.prior_cwnd = if self.repair == Repair::None && self.state != State::ProbeRtt {
            window.cwnd
        } else {
            self.prior_cwnd.max(window.cwnd)
        };
    }

    /// The window: towards its target, within the bounds of the model.
    fn set_window(&mut self, ack: &Ack, repair: Repair, window: &mut Window) {
        if self.repair != Repair::None && repair == Repair::None {
            window.cwnd = window.cwnd.max(self.prior_cwnd);
        }
        self.repair = repair;
        let (_, gain) = self.gains();
        let target = self.inflight(self.bw(), gain, window);
        if self.full {
            window.cwnd = (window.cwnd + ack.delivered).min(target);
        } else if window.cwnd < target || self.delivered < 2.0 * INITIAL_WINDOW {
            window.cwnd += ack.delivered;
        }
        window.cwnd = window.cwnd.max(LEAST_WINDOW);
        if self.state == State::ProbeRtt {
            let most = self.product(self.bw(), PROBE_RTT_WINDOW_GAIN);
            window.cwnd = window.cwnd.min(most.max(LEAST_WINDOW));
        }
        let bound = match self.state {
            State::Down | State::Refill | State::Up => self.inflight_hi,
            State::Cruise | State::ProbeRtt => self.with_headroom(),
            State::Startup | State::Drain => f64::INFINITY,
        };
        let bound = bound.min(self.inflight_lo).max(LEAST_WINDOW);
        window.cwnd = math::floor(window.cwnd.min(bound)).clamp(1.0, crate::CWND_LIMIT);
    }

    fn with_headroom(&self) -> Segments {
        let room = (self.settings.headroom * self.inflight_hi).max(1.0);
        if self.inflight_hi.is_finite() {
            (self.inflight_hi - room).max(LEAST_WINDOW)
        } else {
            f64::INFINITY
        }
    }
}

impl Algorithm for Bbr3 {
    fn controls() -> Vec<Control<Bbr3>> {
        let described = Described {
            name: "bbr3",
            summary: "BBR that bounds what it keeps in flight by the losses it sees",
            source: "draft-ietf-ccwg-bbr (our reading)",
            open: "losses are judged by the ACK after them; no ECN; ACK aggregation is not \
                   made up for",
            family: Family::Model,
            transport: TransportDefaults {
                summary: "BBR version 3: BBR with a bound of 2% of losses",
                source: "draft-ietf-ccwg-bbr (our reading)",
                ..TransportDefaults::NEW
            },
            ..Described::NEW
        };
        vec![Control::new(described, Bbr3::new)]
    }
}

impl CongestionControl for Bbr3 {
    fn name(&self) -> &str {
        "bbr3"
    }

    fn on_established(&mut self, rtt: Option<Duration>, window: &mut Window) {
        if let Some(rtt) = rtt {
            self.min_rtt = self.min_rtt.min(rtt);
            self.probe_rtt_min = self.min_rtt;
        }
        self.mss = window.mss;
        self.set_first_pacing_rate(rtt, window);
    }

    fn on_ack(&mut self, _: &Ack, _: &mut Window) {}

    fn on_control(&mut self, ack: &Ack, repair: Repair, window: &mut Window) {
        if repair == Repair::Recovery && self.repair == Repair::None {
            self.save_window(window);
        }
        self.update_model(ack, window);
        self.update_state(ack, window);
        if !self.has_rtt && !ack.smoothed_rtt.is_zero() {
            self.set_first_pacing_rate(Some(ack.smoothed_rtt), window);
        }
        let (gain, _) = self.gains();
        self.set_pacing_rate(gain, window);
        self.set_window(ack, repair, window);
    }

    fn on_loss(&mut self, _: &Loss, _: &mut Window) {}

    fn on_timeout(&mut self, timeout: &Timeout, window: &mut Window) {
        if self.repair == Repair::None {
            self.save_window(window);
        }
        self.repair = Repair::Timeout;
        self.losses.note(self.delivered, timeout.flight);
        window.cwnd = 1.0;
    }

    fn on_recovery_exit(&mut self, _: &RecoveryExit, _: &mut Window) {}

    fn on_spurious(&mut self, _: &Window, window: &mut Window) {
        self.reset_short_term();
        self.full_rounds = 0;
        window.cwnd = window.cwnd.max(self.prior_cwnd);
    }

    fn on_restart(&mut self, _: Time, window: &mut Window) {
        self.restarts = true;
        if matches!(
            self.state,
            State::Down | State::Cruise | State::Refill | State::Up
        ) {
            self.set_pacing_rate(1.0, window);
        }
    }

    fn seed(&mut self, seed: u64) {
        self.random = Stream::new(seed, "bbr3");
    }

    fn owns_window(&self) -> bool {
        true
    }

    fn needs_rate_samples(&self) -> bool {
        true
    }

    fn phase(&self, _: &Window) -> Phase {
        Phase::Own(match self.state {
            State::Startup => "startup",
            State::Drain => "drain",
            State::Down => "probe_bw_down",
            State::Cruise => "probe_bw_cruise",
            State::Refill => "probe_bw_refill",
            State::Up => "probe_bw_up",
            State::ProbeRtt => "probe_rtt",
        })
    }

    fn bandwidth_estimate(&self) -> Option<Rate> {
        (self.bw() > 0.0).then(|| Rate::from_bps_f64(self.bw() * 8.0 * f64::from(self.mss)))
    }
}
