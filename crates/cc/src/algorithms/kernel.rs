//! The kernel's congestion controls of `bpf/` in the simulator: their C, compiled
//! for this machine, called as Linux calls `tcp_congestion_ops`.
//!
//! What will run in the kernel runs here: whole windows, whole microseconds, and
//! the hooks in the kernel's order. On every ACK `pkts_acked`, then
//! `in_ack_event`; `ssthresh` when the window is to be cut, then `set_state`; a
//! timeout raises `CA_EVENT_LOSS` in between. The end of recovery sets the state
//! Open, then cwnd to ssthresh, and raises `CA_EVENT_COMPLETE_CWR`. Last comes
//! `cong_avoid` for an ACK that may raise the window or, where the control has
//! it, `cong_control` for every ACK: such a control does recovery itself.
//!
//! Left open, and the reading chosen:
//! - The state Disorder is left out; a control must treat it as Open.
//! - Whether the window was needed is what the transport says of the ACK; on the
//!   profile `linux` that is what Linux would say.
//! - The recovery fix of a host is not the kernel's: a control has its own or none.
//! - An echoed mark cuts at once and its round does not last (CWR).
//! - Where an ACK brings no delivery rate sample, it counts as limited by the
//!   application if it found the window unused.
//! - The first ten segments of a connection are not paced; here that is known
//!   with the next ACK.
//! - State Loss ends when all is acknowledged that was outstanding at the first
//!   ACK after the timeout.

mod declaration;

pub use declaration::own;

use crate::{Ack, CongestionControl, Loss, RecoveryExit, Repair, Timeout, Window};
use bentpipe_bpf::{AckSample, CongestionEvent, CongestionState, Native, RateSample};
use bentpipe_units::{Duration, Rate, Segments, Time};

/// Flag of `in_ack_event`: the ACK took the slow path.
const SLOW_PATH: u32 = 1;

/// `sk_pacing_status` of a socket that paces by itself.
const PACED: u32 = 1;

/// So many segments of a connection leave unpaced (`tcp_update_skb_after_send`).
const UNPACED_SEGMENTS: Segments = 10.0;

/// A control at work.
#[derive(Clone, Debug)]
pub struct Kernel {
    native: Native,
    /// `init` has been called.
    begun: bool,
    state: CongestionState,
    /// Segments acknowledged cumulatively, and outstanding after that.
    acked: Segments,
    outstanding: Segments,
    /// All of these acknowledged, the state Loss is over; once known.
    lost_until: Option<Segments>,
    /// ssthresh before the last cut (`prior_ssthresh`); 0 before one.
    prior_ssthresh: u32,
    /// Segments delivered, each counted once.
    delivered: Segments,
    /// In flight after the last ACK: what is more before the next was sent in
    /// between.
    flight: Segments,
}

fn microseconds(time: Duration) -> u64 {
    time.as_nanos() / 1_000
}

/// `value` as a field of 32 bits.
fn field(value: f64) -> u32 {
    value.clamp(0.0, f64::from(u32::MAX)) as u32
}

impl Kernel {
    /// A connection of the control that `native` is.
    #[must_use]
    pub const fn new(native: Native) -> Kernel {
        Kernel {
            native,
            begun: false,
            state: CongestionState::Open,
            acked: 0.0,
            outstanding: 0.0,
            lost_until: None,
            prior_ssthresh: 0,
            delivered: 0.0,
            flight: 0.0,
        }
    }

    /// Copies what the transport may have changed into the socket.
    fn enter(&mut self, window: &Window) {
        let socket = &mut self.native.socket;
        socket.snd_cwnd = field(window.cwnd.max(1.0));
        if window.ssthresh.is_finite() {
            socket.snd_ssthresh = field(window.ssthresh);
        }
        socket.mss_cache = window.mss.max(1);
    }

    /// Copies what the control changed back.
    fn leave(&mut self, window: &mut Window) {
        window.cwnd = f64::from(self.native.socket.snd_cwnd.max(1));
        if !self.native.has_infinite_ssthresh() {
            window.ssthresh = f64::from(self.native.socket.snd_ssthresh);
        }
        self.pace(window);
    }

    fn pace(&mut self, window: &mut Window) {
        let socket = &self.native.socket;
        let rate = socket.sk_pacing_rate.min(socket.sk_max_pacing_rate);
        let sent = self.acked + self.outstanding;
        let paces = socket.sk_pacing_status == PACED
            && rate > 0
            && rate < u64::MAX
            && sent >= UNPACED_SEGMENTS;
        window.pacing_rate = paces.then(|| Rate::from_bps(rate.saturating_mul(8)));
        if paces {
            window.send_quantum = self.native.min_tso_segs().unwrap_or(2).max(1);
        }
    }

    fn begin(&mut self, rtt: Option<Duration>, window: &mut Window) {
        self.begun = true;
        self.enter(window);
        if let Some(rtt) = rtt {
            self.native.socket.srtt_us = field(microseconds(rtt) as f64 * 8.0);
        }
        self.native.init();
        self.leave(window);
    }

    fn set_state(&mut self, state: CongestionState) {
        self.native.set_state(state);
        self.state = state;
    }

    /// Takes what the ACK says of the connection into the socket.
    fn observe(&mut self, ack: &Ack) {
        self.acked += ack.acked;
        let mss = f64::from(ack.mss);
        let bytes = |segments: Segments| (segments * mss) as u64 as u32;
        let socket = &mut self.native.socket;
        socket.tcp_mstamp = ack.now.as_nanos() / 1_000;
        if !ack.smoothed_rtt.is_zero() {
            socket.srtt_us = field(ack.smoothed_rtt.as_nanos() as f64 / 125.0);
        }
        socket.snd_una = bytes(self.acked);
        socket.snd_nxt = bytes(self.acked + ack.outstanding);
        socket.snd_wnd = field(ack.receive_window * mss);
        socket.delivered = socket.delivered.wrapping_add(field(ack.delivered));
        socket.data_segs_out = socket.data_segs_out.max(1);
        // Twice what was sent is the transport's to consider.
        socket.is_cwnd_limited = u32::from(ack.cwnd_limited);
        socket.max_packets_out = 0;
        if self.state == CongestionState::Recovery {
            let new = ack.outstanding + ack.acked - self.outstanding;
            let sent = field((ack.flight_before - self.flight).max(new));
            socket.prr_out = socket.prr_out.saturating_add(sent);
        }
        self.outstanding = ack.outstanding;
        self.delivered += ack.delivered;
        // What was delivered twice counts twice, until nothing is missing.
        if ack.flight >= ack.outstanding {
            self.delivered = self.acked;
        }
        self.flight = ack.flight;
        self.count_packets(ack.flight);
    }

    /// The kernel's four counts of packets, `flight` being what they amount to.
    fn count_packets(&mut self, flight: Segments) {
        let sacked = (self.delivered - self.acked).clamp(0.0, self.outstanding);
        let lost = self.outstanding - sacked - flight;
        let socket = &mut self.native.socket;
        socket.packets_out = field(self.outstanding.ceil());
        socket.sacked_out = field(sacked);
        socket.lost_out = field(lost.max(0.0));
        socket.retrans_out = field((-lost).max(0.0));
    }

    /// Gets the threshold of a cut from the control, with so many segments out.
    fn cut(&mut self, now: Time, outstanding: Segments, window: &Window) {
        let socket = &mut self.native.socket;
        socket.tcp_mstamp = now.as_nanos() / 1_000;
        socket.prior_cwnd = socket.snd_cwnd;
        self.prior_ssthresh = socket.snd_ssthresh;
        socket.prr_out = 0;
        socket.packets_out = field(outstanding.ceil());
        socket.snd_nxt = socket
            .snd_una
            .wrapping_add(field(outstanding * f64::from(window.mss)));
        let ssthresh = self.native.ssthresh();
        self.native.socket.snd_ssthresh = ssthresh;
    }
}

impl CongestionControl for Kernel {
    fn name(&self) -> &str {
        self.native.control().name
    }

    fn on_established(&mut self, rtt: Option<Duration>, window: &mut Window) {
        self.begin(rtt, window);
    }

    #[inline]
    fn on_sample(&mut self, ack: &Ack, window: &mut Window) {
        if !self.begun {
            self.begin(None, window);
        }
        self.enter(window);
        self.observe(ack);
        let rtt_us = ack.rtt.map_or(-1, |rtt| {
            i32::try_from(microseconds(rtt)).unwrap_or(i32::MAX)
        });
        let pkts_acked = field(ack.acked.ceil());
        self.native.pkts_acked(&AckSample { pkts_acked, rtt_us });
        self.native.in_ack_event(SLOW_PATH);
        if self.state == CongestionState::Loss {
            let until = *self.lost_until.get_or_insert(self.acked + self.outstanding);
            if self.acked >= until {
                self.set_state(CongestionState::Open);
            }
        }
        self.leave(window);
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        if self.native.has_cong_control() {
            return;
        }
        self.enter(window);
        self.native.cong_avoid(field(ack.delivered.max(1.0)));
        self.leave(window);
    }

    fn on_loss(&mut self, loss: &Loss, window: &mut Window) {
        self.enter(window);
        self.cut(loss.now, loss.outstanding, window);
        if loss.ecn {
            self.set_state(CongestionState::Reduction);
        } else {
            self.set_state(CongestionState::Recovery);
        }
        if !self.native.has_cong_control() {
            self.native.socket.snd_cwnd = self.native.socket.snd_ssthresh;
        }
        if loss.ecn {
            if !self.native.has_cong_control() {
                self.native.cwnd_event(CongestionEvent::ReductionComplete);
            }
            self.set_state(CongestionState::Open);
        }
        self.leave(window);
    }

    fn on_timeout(&mut self, timeout: &Timeout, window: &mut Window) {
        self.enter(window);
        // What fast recovery has cut is not cut again (tcp_enter_loss).
        if timeout.first && self.state != CongestionState::Recovery {
            self.cut(timeout.now, timeout.outstanding, window);
            self.native.cwnd_event(CongestionEvent::Loss);
        }
        self.native.socket.snd_cwnd = 1;
        self.set_state(CongestionState::Loss);
        self.lost_until = None;
        self.leave(window);
    }

    fn on_recovery_exit(&mut self, exit: &RecoveryExit, window: &mut Window) {
        self.enter(window);
        self.count_packets(exit.flight);
        self.set_state(CongestionState::Open);
        if !self.native.has_cong_control() {
            self.native.socket.snd_cwnd = self.native.socket.snd_ssthresh;
            self.native.cwnd_event(CongestionEvent::ReductionComplete);
        }
        self.leave(window);
    }

    fn on_spurious(&mut self, _: &Window, window: &mut Window) {
        self.enter(window);
        if self.prior_ssthresh == 0 {
            return; // Nothing has been cut.
        }
        self.native.socket.snd_cwnd = self.native.undo_cwnd();
        self.native.socket.snd_ssthresh = self.prior_ssthresh;
        self.set_state(CongestionState::Open);
        if self.native.has_infinite_ssthresh() {
            window.ssthresh = f64::INFINITY;
        }
        self.leave(window);
    }

    fn after_idle(&mut self, initial_window: Segments, window: &mut Window) {
        self.enter(window);
        self.native.cwnd_event(CongestionEvent::Restart);
        self.leave(window);
        window.cwnd = window.cwnd.min(initial_window);
    }

    fn on_control(&mut self, ack: &Ack, repair: Repair, window: &mut Window) {
        if !self.native.has_cong_control() {
            return;
        }
        self.enter(window);
        // Not every host reports the end of recovery where the control owns the
        // window.
        if repair == Repair::None && self.state != CongestionState::Open {
            self.count_packets(ack.flight);
            self.set_state(CongestionState::Open);
        }
        let rate = ack.rate_sample.as_ref();
        let sample = RateSample {
            interval_us: rate.map_or(-1, |rate| microseconds(rate.interval).cast_signed()),
            rtt_us: ack.rtt.map_or(-1, |rtt| microseconds(rtt).cast_signed()),
            delivered: rate.map_or(-1, |rate| rate.delivered as i32),
            losses: ack.lost as i32,
            acked_sacked: field(ack.delivered),
            prior_in_flight: field(ack.flight_before),
            is_app_limited: rate
                .map_or(!ack.cwnd_limited, |rate| rate.app_limited)
                .into(),
            ..RateSample::default()
        };
        self.native.cong_control(&sample);
        self.leave(window);
    }

    fn on_restart(&mut self, _: Time, window: &mut Window) {
        self.enter(window);
        self.native.cwnd_event(CongestionEvent::TransmissionStart);
        self.leave(window);
    }

    fn owns_window(&self) -> bool {
        self.native.has_cong_control()
    }

    fn needs_rate_samples(&self) -> bool {
        self.native.has_cong_control()
    }
}
