//! BBR, version 3: BBR that bounds what it keeps in flight by the losses it sees.
//!
//! Source: draft-ietf-ccwg-bbr (Cardwell, Swett, Beshay), the working group's text of
//! August 2026, held against it function by function; comments name the draft's functions.
//!
//! | state | pacing gain | window gain | until |
//! |---|---|---|---|
//! | startup | 2.77 | 2 | `CheckFullBWReached`: bandwidth has grown by less than a quarter in 3 rounds; or `CheckStartupHighLoss` |
//! | drain | 0.5 | 2 | one bandwidth-delay product is in flight, or 3 rounds have passed |
//! | down | 0.9 | 2 | at most that, and at most 85% of `inflight_longterm`, is in flight |
//! | cruise | 1 | 2 | 2 to 3 s, or as many rounds as Reno would need to grow (63 at most) |
//! | refill | 1 | 2 | a round |
//! | up | 1.25 | 2.25 | `IsTimeToGoDown`: bandwidth grows no more; or more than 2% is lost |
//! | `probe_rtt` | 1 | 0.5 | 200 ms and a round; entered every 5 s without a smaller RTT |
//!
//! The model (`model`): `max_bw` over this cycle of probing and the last; `bw_shortterm` and
//! `inflight_shortterm`, 0.7 of what was delivered in a round with losses, until the next
//! probe; `inflight_longterm`, what was in flight when more than 2% was lost, raised by
//! one segment more per round each round while probing up; `extra_acked`, by how much ACKs
//! run ahead of the bandwidth, which the window adds.
//!
//! | parameter | default | unit |
//! |---|---|---|
//! | loss_threshold | 0.02 | part of what was in flight |
//! | beta | 0.7 | what a round with losses leaves of the short-term bounds |
//! | headroom | 0.15 | part of `inflight_longterm` that is left free outside of probing |
//! | min_rtt_window | 10 s | |
//! | probe_rtt_interval | 5 s | |
//! | probe_rtt | 200 ms | |
//!
//! Left open or left out, and the reading chosen:
//! - The draft runs `HandleLostPacket` for each lost packet with what was in flight when
//!   it was sent. A control sees how many segments an ACK shows to be lost, not which:
//!   they count as one packet P, sent with the packet that the ACK acknowledges.
//! - For the same reason `CheckStartupHighLoss` counts ACKs that found losses in a round,
//!   where the draft counts discontiguous ranges (as Google's implementation does).
//! - The control does not know whether SACK is in use: two rules for connections without
//!   it (one loss suffices) are left out.
//! - `OnEnterRTO` sets the window to what is in flight and one segment. After a timeout
//!   nothing counts as in flight, so that is 1; where a host keeps some of it (RACK of the
//!   profile `linux`), the host adds that.
//! - A timeout adds what was in flight to the losses, and is not judged itself: one that ends
//!   a probe upwards sets no long-term bound. The draft's `OnEnterRTO` is silent on it.
//! - What is in flight at a packet's sending excludes the packet (the draft's `tx_in_flight`
//!   includes it), so that thresholds are one segment lower.
//! - Whether a loss was found before a packet was sent (`P.lost`) is told by what had been
//!   delivered: what was sent between the last ACK and a timeout does not count its losses.
//! - The window is saved before the state changes to `probe_rtt`, and not at a loss.
//! - The draft has no ECN, and neither has this.
//! - Phases are drawn from the connection's own random stream.

mod cycle;
mod model;

use super::max_filter::MaxFilter;
use crate::declaration::{Algorithm, Control, Described, Family, TransportDefaults};
use crate::parameter::{number, parameters, time};
use crate::{Ack, CongestionControl, Loss, Phase, RecoveryExit, Repair, Timeout, Window};
use bentpipe_random::Stream;
use bentpipe_units::{Duration, Rate, Segments, Time, math};
use cycle::{AckPhase, Full};
use model::{Aggregation, Bounds, Losses};

const STARTUP_GAIN: f64 = 2.77;
const DRAIN_GAIN: f64 = 0.5;
const WINDOW_GAIN: f64 = 2.0;
const UP_WINDOW_GAIN: f64 = 2.25;
const PROBE_RTT_WINDOW_GAIN: f64 = 0.5;
/// Part of the estimate that pacing stays below.
const MARGIN: f64 = 0.01;
const LEAST_WINDOW: Segments = 4.0;
const INITIAL_WINDOW: Segments = 10.0;

parameters! {
    /// What can be set; see the table above.
    #[derive(Copy)]
    pub struct Bbr3Settings {
        loss_threshold: f64 = number(0.02, "", (0.0, 1.0)), "loss that shows too much in flight";
        beta: f64 = number(0.7, "", (0.1, 1.0)), "what a round with losses leaves of the bounds";
        headroom: f64 = number(0.15, "", (0.0, 0.9)), "part of inflight_longterm that is left free";
        min_rtt_window: Duration =
            time(Duration::from_secs(10), (Duration::from_millis(1), Duration::from_secs(86_400))),
            "length of the filter of the smallest RTT";
        probe_rtt_interval: Duration =
            time(Duration::from_secs(5), (Duration::from_millis(1), Duration::from_secs(86_400))),
            "age at which the smallest RTT is probed again";
        probe_rtt: Duration =
            time(Duration::from_millis(200), (Duration::ZERO, Duration::from_secs(3600))),
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
    ack_phase: AckPhase,
    /// Largest bandwidth of the last cycle of probing and of this one, and the smaller of
    /// `max_bw` and the short-term bound.
    max_bw: [f64; 2],
    bw: f64,
    /// The bounds by losses, and where they were when losses began.
    bounds: Bounds,
    undo: Bounds,
    /// The state that losses ended.
    undo_state: Option<State>,
    /// Rounds, and the segments delivered at which this one ends.
    round_start: bool,
    round_end: Segments,
    rounds: u64,
    rounds_since_probe: f64,
    delivered: Segments,
    losses: Losses,
    aggregation: Aggregation,
    /// What is acknowledged now was sent by a bandwidth probe whose losses have not been
    /// evaluated yet.
    is_probe_sample: bool,
    /// The last probe lost too much; the last one stopped where that was.
    probe_too_high: bool,
    probe_precautionary: bool,
    /// Segments acknowledged towards a raise of `inflight_longterm`; those that it
    /// takes; and how many rounds it has been raised.
    raised: Segments,
    per_raise: Segments,
    raise_rounds: u32,
    full: Full,
    drain_began: u64,
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
    /// A new connection under `settings`, in `Startup`.
    #[must_use]
    pub fn new(settings: Bbr3Settings) -> Bbr3 {
        Bbr3 {
            settings,
            state: State::Startup,
            ack_phase: AckPhase::Init,
            max_bw: [0.0; 2],
            bw: 0.0,
            bounds: Bounds::NONE,
            undo: Bounds::NONE,
            undo_state: None,
            round_start: false,
            round_end: 0.0,
            rounds: 0,
            rounds_since_probe: 0.0,
            delivered: 0.0,
            losses: Losses::default(),
            aggregation: Aggregation::default(),
            is_probe_sample: false,
            probe_too_high: false,
            probe_precautionary: false,
            raised: 0.0,
            per_raise: f64::INFINITY,
            raise_rounds: 0,
            full: Full::default(),
            drain_began: 0,
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

    /// `BDPMultiple`: `gain` bandwidth-delay products at `bw`.
    fn product(&self, bw: f64, gain: f64) -> Segments {
        if self.min_rtt == Duration::MAX {
            return INITIAL_WINDOW;
        }
        gain * bw * self.min_rtt.as_secs()
    }

    /// `QuantizationBudget`: room for what the ends collect into bursts.
    fn with_budget(&self, target: Segments, window: &Window) -> Segments {
        let budget = 3.0 * f64::from(window.send_quantum);
        let target = target.max(budget).max(LEAST_WINDOW);
        math::ceil(if self.state == State::Up {
            target + 2.0
        } else {
            target
        })
    }

    /// `Inflight`.
    fn inflight(&self, bw: f64, gain: f64, window: &Window) -> Segments {
        self.with_budget(self.product(bw, gain), window)
    }

    fn set_pacing_rate(&self, gain: f64, window: &mut Window) {
        let rate = |bw: f64| {
            let bits = gain * bw * f64::from(window.mss) * 8.0 * (1.0 - MARGIN);
            Rate::from_bps_f64(bits).max(Rate::from_bps(1))
        };
        let rate = rate(self.bw);
        if self.full.reached || window.pacing_rate.is_none_or(|now| rate > now) {
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

    /// `SaveCwnd`.
    fn save_window(&mut self, window: &Window) {
        self.prior_cwnd = if self.repair == Repair::None && self.state != State::ProbeRtt {
            window.cwnd
        } else {
            self.prior_cwnd.max(window.cwnd)
        };
    }

    /// `RestoreCwnd`.
    fn restore_window(&self, window: &mut Window) {
        window.cwnd = window.cwnd.max(self.prior_cwnd);
    }

    /// `SetCwnd`: towards the target, within the bounds of the model.
    fn set_window(&mut self, ack: &Ack, repair: Repair, window: &mut Window) {
        if self.repair != Repair::None && repair == Repair::None {
            self.restore_window(window);
        }
        self.repair = repair;
        let (_, gain) = self.gains();
        let target = self.product(self.bw, gain) + self.aggregation.extra();
        let target = self.with_budget(target, window);
        if self.full.reached {
            window.cwnd = (window.cwnd + ack.delivered).min(target);
        } else if window.cwnd < target || self.delivered < INITIAL_WINDOW {
            window.cwnd += ack.delivered;
        }
        window.cwnd = window.cwnd.max(LEAST_WINDOW);
        if self.state == State::ProbeRtt {
            window.cwnd = window.cwnd.min(self.probe_rtt_window());
        }
        self.bound_window(window);
    }

    /// `ProbeRTTCwnd`.
    fn probe_rtt_window(&self) -> Segments {
        self.product(self.bw, PROBE_RTT_WINDOW_GAIN)
            .max(LEAST_WINDOW)
    }

    /// `BoundCwndForModel`.
    fn bound_window(&self, window: &mut Window) {
        let bound = match self.state {
            State::Down | State::Refill | State::Up => self.bounds.inflight_longterm,
            State::Cruise | State::ProbeRtt => self.inflight_with_headroom(),
            State::Startup | State::Drain => f64::INFINITY,
        };
        let bound = bound.min(self.bounds.inflight_shortterm).max(LEAST_WINDOW);
        window.cwnd = math::floor(window.cwnd.min(bound)).clamp(1.0, crate::CWND_LIMIT);
    }

    /// `InflightWithHeadroom`.
    fn inflight_with_headroom(&self) -> Segments {
        let bound = self.bounds.inflight_longterm;
        if bound.is_infinite() {
            return bound;
        }
        let room = (self.settings.headroom * bound).max(1.0);
        (bound - room).max(LEAST_WINDOW)
    }
}

impl Algorithm for Bbr3 {
    fn controls() -> Vec<Control<Bbr3>> {
        let described = Described {
            name: "bbr3",
            summary: "BBR that bounds what it keeps in flight by the losses it sees",
            source: "draft-ietf-ccwg-bbr",
            open: "what one ACK shows to be lost is judged as one packet; losses of a round are \
                   counted by ACKs; no ECN",
            family: Family::Model,
            transport: TransportDefaults {
                summary: "BBR version 3: BBR with a bound of 2% of losses",
                source: "draft-ietf-ccwg-bbr",
                ..TransportDefaults::NEW
            },
            ..Described::NEW
        };
        vec![Control::new(described, Bbr3::new)]
    }
}

impl CongestionControl for Bbr3 {
    named!("bbr3");
    always!(owns_window, needs_rate_samples);
    ignores!(on_ack, on_loss, on_recovery_exit);

    fn on_established(&mut self, rtt: Option<Duration>, window: &mut Window) {
        if let Some(rtt) = rtt {
            self.min_rtt = self.min_rtt.min(rtt);
            self.probe_rtt_min = self.min_rtt;
        }
        self.mss = window.mss;
        self.set_first_pacing_rate(rtt, window);
    }

    /// `UpdateOnACK`.
    fn on_control(&mut self, ack: &Ack, repair: Repair, window: &mut Window) {
        if repair == Repair::Recovery && self.repair == Repair::None {
            // OnEnterFastRecovery.
            self.save_window(window);
            self.remember_bounds();
        }
        self.update_model_and_state(ack, repair, window);
        if !self.has_rtt && !ack.smoothed_rtt.is_zero() {
            self.set_first_pacing_rate(Some(ack.smoothed_rtt), window);
        }
        let (gain, _) = self.gains();
        self.set_pacing_rate(gain, window);
        self.set_window(ack, repair, window);
    }

    /// `OnEnterRTO`.
    fn on_timeout(&mut self, timeout: &Timeout, window: &mut Window) {
        self.save_window(window);
        self.remember_bounds();
        self.repair = Repair::Timeout;
        let lost = timeout.flight.min(timeout.outstanding);
        self.losses.note(self.delivered, lost);
        window.cwnd = 1.0;
    }

    /// `HandleSpuriousLossDetection`.
    fn on_spurious(&mut self, _: &Window, window: &mut Window) {
        self.restore_window(window);
        self.losses.forget_round();
        self.full.reset();
        self.bounds = self.bounds.at_least(&self.undo);
        let probes_rtt = self.state == State::ProbeRtt;
        match self.undo_state.take() {
            Some(State::Startup) if self.state != State::Startup => {
                self.full.reached = false;
                if !probes_rtt {
                    self.state = State::Startup;
                }
            }
            Some(State::Up) if self.state != State::Up && !probes_rtt => self.enter_refill(),
            _ => {}
        }
    }

    /// `HandleRestartFromIdle`.
    fn on_restart(&mut self, now: Time, window: &mut Window) {
        self.restarts = true;
        self.aggregation.restart(now);
        if self.is_probing_cycle() {
            self.set_pacing_rate(1.0, window);
        } else if self.state == State::ProbeRtt {
            self.check_probe_rtt_done(now, window);
        }
    }

    fn seed(&mut self, seed: u64) {
        self.random = Stream::new(seed, "bbr3");
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
        (self.bw > 0.0).then(|| Rate::from_bps_f64(self.bw * 8.0 * f64::from(self.mss)))
    }
}
