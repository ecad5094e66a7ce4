//! The interface between a transport and its congestion control.

use crate::{
    Ack, Avoidance, Feedback, Hoe, Loss, PathKnowledge, Phase, QueueReport, Reaction, RecoveryExit,
    Repair, Start, Timeout, Whole, Window,
};
use bentpipe_units::{Duration, Rate, Segments, Time};
use std::borrow::Cow;

/// A congestion control that is not built in: implement this and hand it over
/// as [`Controller::Custom`].
///
/// Every method gets the window to change. The defaults are those of a sender
/// that follows RFC 5681 and SACK recovery (RFC 6675).
pub trait CongestionControl: core::fmt::Debug + Send {
    /// The name under which results are listed.
    fn name(&self) -> &str;

    /// The connection is established; `rtt` is the sample that the handshake
    /// gave. Called once, before anything is sent. The default leaves the
    /// initial window as it is.
    fn on_established(&mut self, rtt: Option<Duration>, window: &mut Window) {
        let _ = (rtt, window);
    }

    /// The receive window, once when the connection is established and before
    /// [`CongestionControl::on_established`]; later ACKs carry it.
    fn on_open(&mut self, receive_window: Segments) {
        let _ = receive_window;
    }

    /// An ACK that advances, outside recovery (or inside it on hosts that grow
    /// while recovering): grow the window.
    fn on_ack(&mut self, ack: &Ack, window: &mut Window);

    /// Every ACK, duplicates and those of recovery included, before
    /// [`CongestionControl::on_ack`]: take samples, do not grow. Only answers to
    /// probes ([`Ack::probes`]) grow the window here.
    fn on_sample(&mut self, ack: &Ack, window: &mut Window) {
        let _ = (ack, window);
    }

    /// Feedback of routers on the path, after [`CongestionControl::on_sample`]
    /// of its ACK and before everything else. Only where
    /// [`CongestionControl::needs_feedback`] is true.
    fn on_feedback(&mut self, feedback: &Feedback, window: &mut Window) {
        let _ = (feedback, window);
    }

    /// A loss was found: set ssthresh and cwnd. The transport adds the three
    /// segments of window inflation itself, where its recovery works that way.
    fn on_loss(&mut self, loss: &Loss, window: &mut Window) {
        window.ssthresh = (loss.flight / 2.0).max(2.0);
        window.cwnd = window.ssthresh;
    }

    /// The retransmission timer ran out.
    fn on_timeout(&mut self, timeout: &Timeout, window: &mut Window) {
        if timeout.first {
            window.ssthresh = (timeout.flight / 2.0).max(2.0);
        }
        window.cwnd = 1.0;
    }

    /// Recovery ended.
    fn on_recovery_exit(&mut self, exit: &RecoveryExit, window: &mut Window) {
        window.cwnd = if exit.recovery_fix {
            window.ssthresh.min(exit.flight + 1.0)
        } else {
            window.ssthresh
        };
    }

    /// The last loss or timeout was spurious; `before` is the window from
    /// before it. The default restores it (Eifel response, RFC 4015).
    fn on_spurious(&mut self, before: &Window, window: &mut Window) {
        window.cwnd = window.cwnd.max(before.cwnd);
        window.ssthresh = before.ssthresh;
    }

    /// New data is sent after an idle time of more than the retransmission
    /// timeout, on hosts that restart then. The default goes back to the initial
    /// window (RFC 5681, section 4.1).
    fn after_idle(&mut self, initial_window: Segments, window: &mut Window) {
        window.cwnd = window.cwnd.min(initial_window);
    }

    /// The last call for every ACK, once recovery has begun or ended by it;
    /// `repair` says where the transport stands then, and `ack.flight` is from
    /// before anything is sent. Called only where
    /// [`CongestionControl::owns_window`] is true (Linux: `cong_control`).
    fn on_control(&mut self, ack: &Ack, repair: Repair, window: &mut Window) {
        let _ = (ack, repair, window);
    }

    /// Nothing was in flight and the application had run out of data; now it
    /// sends again. Called before the first packet, and only where
    /// [`CongestionControl::needs_rate_samples`] is true.
    fn on_restart(&mut self, now: Time, window: &mut Window) {
        let _ = (now, window);
    }

    /// The queue at the sender's own node, about once a frame of the medium
    /// behind it. Called only where
    /// [`CongestionControl::wants_queue_reports`] is true.
    fn on_queue(&mut self, report: &QueueReport, window: &mut Window) {
        let _ = (report, window);
    }

    /// True where [`CongestionControl::on_queue`] is to be called. Asked once,
    /// at the start.
    fn wants_queue_reports(&self) -> bool {
        false
    }

    /// The seed of the algorithm's own random choices. Called before
    /// everything else.
    fn seed(&mut self, seed: u64) {
        let _ = seed;
    }

    /// True for an algorithm that sets the window in every state of the
    /// transport through [`CongestionControl::on_control`]: the transport then
    /// leaves the window alone after an idle time and in recovery, and compares
    /// it with what is in flight. Asked once, at the start.
    fn owns_window(&self) -> bool {
        false
    }

    /// True where [`Ack::rate_sample`] is wanted: the transport then keeps the
    /// record that it takes. Asked once, at the start.
    fn needs_rate_samples(&self) -> bool {
        false
    }

    /// Somebody tells about the path: at the start, whenever it changes, and
    /// about once a round trip. Only where [`CongestionControl::needs_path`] is
    /// true.
    fn on_path(&mut self, path: &PathKnowledge, window: &mut Window) {
        let _ = (path, window);
    }

    /// True where [`CongestionControl::on_path`] is to be called. Asked once, at
    /// the start.
    fn needs_path(&self) -> bool {
        false
    }

    /// True where packets are to carry a congestion header (XCP) and feedback is
    /// wanted. Asked once, at the start.
    fn needs_feedback(&self) -> bool {
        false
    }

    /// Where the algorithm stands, for time series. The default tells slow
    /// start from congestion avoidance by ssthresh.
    fn phase(&self, window: &Window) -> Phase {
        if window.in_slow_start() {
            Phase::SlowStart
        } else {
            Phase::CongestionAvoidance
        }
    }

    /// The bandwidth that the algorithm believes in, for time series; `None`
    /// where it keeps no estimate.
    fn bandwidth_estimate(&self) -> Option<Rate> {
        None
    }
}

/// The combination of a slow start, a congestion avoidance and a reaction.
#[derive(Clone, Debug)]
pub struct Classic {
    /// The name under which results are listed.
    pub name: Cow<'static, str>,
    /// Growth below ssthresh.
    pub start: Start,
    /// Growth above ssthresh.
    pub avoidance: Avoidance,
    /// What loss, timeout and the end of recovery do.
    pub reaction: Reaction,
    /// Hoe's estimate of the bandwidth from the first ACKs, where it is used.
    pub hoe: Option<Hoe>,
    /// `cwnd <= ssthresh` counts as slow start, as in Linux 2.2, where the
    /// first ACK after recovery therefore takes a slow start step. Set by the
    /// host profile, not by the algorithm.
    pub equality_is_slow_start: bool,
    /// True from a loss to the end of its recovery; kept for [`Classic::phase`].
    pub recovering: bool,
}

/// What a host does around every algorithm that it runs; applied with
/// [`Classic::apply_host_rules`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostRules {
    /// `cwnd <= ssthresh` is slow start (Linux 2.2).
    pub equality_is_slow_start: bool,
    /// Reno's congestion avoidance counts ACKs in whole numbers: cwnd grows by
    /// one after more than cwnd of them (Linux 2.2 and 2.4).
    pub integer_avoidance: bool,
    /// ssthresh after halving is a whole number of segments (ns-2, Linux).
    pub whole_ssthresh: bool,
    /// Halving leaves cwnd at the exact half, below ssthresh's floor too, and
    /// the end of recovery leaves cwnd alone (ns-2).
    pub exact_halves: bool,
}

/// A congestion control at work in a connection.
#[derive(Debug)]
#[allow(
    clippy::large_enum_variant,
    reason = "the large arm is the usual one; a box would cost a pointer chase per ACK"
)]
pub enum Controller {
    /// A built-in combination, dispatched without a vtable.
    Classic(Classic),
    /// A built-in algorithm whose parts share one state.
    Whole(Whole),
    /// A user's own.
    Custom(Box<dyn CongestionControl>),
}
