//! The interface between a transport and its congestion control.

use crate::dispatch::dispatched;
use crate::event::half;
use crate::{
    Ack, Feedback, Loss, PathHint, Phase, QueueReport, RecoveryExit, Repair, SharedState, Timeout,
    Window,
};
use bentpipe_units::{Duration, Rate, Segments, Time};

/// What a host does around every algorithm that it runs; applied with
/// [`CongestionControl::apply_host_rules`].
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
    /// Growth counts what is acknowledged and not ACKs (QUIC: RFC 9002, appendix B.5).
    pub counts_bytes: bool,
    /// Halving takes cwnd and not what is in flight (QUIC: RFC 9002, appendix B.6).
    pub halves_window: bool,
    /// Packets are spaced, so that an ACK of many segments lets no burst go (RFC 9406, section 4.3).
    pub spaces_packets: bool,
}

dispatched! {
    $
    /// A congestion control: what is built in implements this trait, and so does
    /// a user's own, which a transport runs as [`crate::Controller::Custom`].
    ///
    /// Every method that changes the window receives it. The defaults are those
    /// of a sender that follows RFC 5681 and SACK recovery (RFC 6675), so that a
    /// new algorithm needs a name and a growth law.
    pub trait CongestionControl by dispatch_congestion_control;
    required {
        /// The name under which results are listed.
        fn name(self: &Self) -> &str;

        /// An ACK that advances, outside recovery (or inside it on hosts that grow
        /// while recovering): grow the window.
        fn on_ack(self: &mut Self, ack: &Ack, window: &mut Window);
    }
    provided {
        /// The connection is established; `rtt` is the sample of the handshake.
        /// Called once, before anything is sent. The default leaves the initial
        /// window as it is.
        fn on_established(self: &mut Self, rtt: Option<Duration>, window: &mut Window) {}

        /// The receive window, once when the connection is established and before
        /// [`CongestionControl::on_established`]; later ACKs carry it.
        fn on_open(self: &mut Self, receive_window: Segments) {}

        /// Every ACK, duplicates and those of recovery included, before
        /// [`CongestionControl::on_ack`]: take samples, do not grow. Only answers to
        /// probes ([`Ack::probes`]) grow the window here.
        fn on_sample(self: &mut Self, ack: &Ack, window: &mut Window) {}

        /// Feedback of routers on the path, after [`CongestionControl::on_sample`]
        /// of its ACK and before everything else. Called only where
        /// [`CongestionControl::needs_feedback`] is true.
        fn on_feedback(self: &mut Self, feedback: &Feedback, window: &mut Window) {}

        /// The bandwidth that the routers on the path have for this connection
        /// (BA-TCP), as an ACK brings it back, after
        /// [`CongestionControl::on_sample`] of that ACK. The ACK's receive window fits
        /// it. Called only where [`CongestionControl::needs_bandwidth`] is true.
        fn on_bandwidth(self: &mut Self, available: Rate, window: &mut Window) {}

        /// What the connections of this host to the same peer share: before the
        /// connection begins, and whenever one of them begins or ends having
        /// something to send. Called only where
        /// [`CongestionControl::shares_state`] is true.
        fn on_shared(self: &mut Self, shared: &SharedState, window: &mut Window) {}

        /// Links report that so many more packets of the connection were corrupted
        /// (explicit error notification), before [`CongestionControl::on_sample`] of
        /// the ACK that carries it. Called only where
        /// [`CongestionControl::needs_error_reports`] is true.
        fn on_error_report(self: &mut Self, corrupted: u32) {}

        /// A loss was found: set ssthresh and cwnd. The transport adds the three
        /// segments of window inflation itself, where its recovery works that way.
        fn on_loss(self: &mut Self, loss: &Loss, window: &mut Window) {
            window.ssthresh = half(loss.flight);
            window.cwnd = window.ssthresh;
        }

        /// The retransmission timer ran out.
        fn on_timeout(self: &mut Self, timeout: &Timeout, window: &mut Window) {
            timeout.reduce(window, half);
        }

        /// Recovery ended.
        fn on_recovery_exit(self: &mut Self, exit: &RecoveryExit, window: &mut Window) {
            exit.leave(window.ssthresh, window);
        }

        /// The last loss or timeout was spurious; `before` is the window from
        /// before it. The default restores it (Eifel response, RFC 4015).
        fn on_spurious(self: &mut Self, before: &Window, window: &mut Window) {
            window.cwnd = window.cwnd.max(before.cwnd);
            window.ssthresh = before.ssthresh;
        }

        /// New data is sent after an idle time of more than the retransmission
        /// timeout, on hosts that restart then. The default goes back to the initial
        /// window (RFC 5681, section 4.1).
        fn after_idle(self: &mut Self, initial_window: Segments, window: &mut Window) {
            window.cwnd = window.cwnd.min(initial_window);
        }

        /// The last call for every ACK, after recovery has begun or ended by it;
        /// `repair` is the transport's state then, and `ack.flight` is from before
        /// anything is sent. Called only where [`CongestionControl::owns_window`] is
        /// true (Linux: `cong_control`).
        fn on_control(self: &mut Self, ack: &Ack, repair: Repair, window: &mut Window) {}

        /// Nothing was in flight and the application had run out of data; now it
        /// sends again. Called before the first packet, and only where
        /// [`CongestionControl::needs_rate_samples`] is true.
        fn on_restart(self: &mut Self, now: Time, window: &mut Window) {}

        /// Data is sent at `now` while nothing is in flight, `idle` after the last
        /// segment was sent; before that segment. Only the stack of Linux calls it
        /// (`CA_EVENT_TX_START`).
        fn on_transmission_start(self: &mut Self, now: Time, idle: Duration) {}

        /// The queue at the sender's own node, about once a frame of the medium
        /// behind it. Called only where
        /// [`CongestionControl::needs_queue_reports`] is true.
        fn on_queue(self: &mut Self, report: &QueueReport, window: &mut Window) {}

        /// The state of the path: at the start, whenever it changes, and about once
        /// a round trip. Called only where [`CongestionControl::needs_path`] is true.
        fn on_path(self: &mut Self, path: &PathHint, window: &mut Window) {}

        /// The seed of the algorithm's own random choices. Called before
        /// everything else.
        fn seed(self: &mut Self, seed: u64) {}

        /// Takes over what the host does around its algorithms, before everything
        /// else. A rule that is false leaves the algorithm's own setting, and a rule
        /// about a part that the algorithm does not have does nothing.
        fn apply_host_rules(self: &mut Self, rules: HostRules) {}

        /// True for an algorithm that sets the window in every state of the
        /// transport through [`CongestionControl::on_control`]: the transport then
        /// leaves the window alone after an idle time and in recovery, and compares
        /// it with what is in flight. Read once, at the start.
        fn owns_window(self: &Self) -> bool {
            false
        }

        /// True where the algorithm needs [`Ack::rate_sample`]: the transport then
        /// keeps the record that it takes. Read once, at the start.
        fn needs_rate_samples(self: &Self) -> bool {
            false
        }

        /// True where [`CongestionControl::on_queue`] is to be called. Read once,
        /// at the start.
        fn needs_queue_reports(self: &Self) -> bool {
            false
        }

        /// True where [`CongestionControl::on_path`] is to be called. Read once, at
        /// the start.
        fn needs_path(self: &Self) -> bool {
            false
        }

        /// True where packets are to carry a congestion header (XCP). Read once, at
        /// the start.
        fn needs_feedback(self: &Self) -> bool {
            false
        }

        /// True where packets are to carry fields for propagation delay and
        /// available bandwidth (BA-TCP). Read once, at the start.
        fn needs_bandwidth(self: &Self) -> bool {
            false
        }

        /// True where [`CongestionControl::on_shared`] is to be called, and the window
        /// is shared with the other connections of the host to the same peer. Read
        /// once, at the start.
        fn shares_state(self: &Self) -> bool {
            false
        }

        /// True where ACKs are to carry the number of packets that links report to
        /// be corrupted. Read once, at the start.
        fn needs_error_reports(self: &Self) -> bool {
            false
        }

        /// The phase of the algorithm, for time series. The default distinguishes
        /// slow start and congestion avoidance by ssthresh.
        fn phase(self: &Self, window: &Window) -> Phase {
            window.phase()
        }

        /// The bandwidth that the algorithm estimates, for time series; `None`
        /// where it keeps no estimate.
        fn bandwidth_estimate(self: &Self) -> Option<Rate> {
            None
        }

        /// Why the algorithm cannot go on. Asked only after a call that left a
        /// window which no transport can use: an algorithm of one's own that has
        /// failed sets cwnd to NaN and says here why, and the run ends with that
        /// message.
        fn failure(self: &Self) -> Option<String> {
            None
        }
    }
}

/// In an implementation of [`CongestionControl`]: its name.
macro_rules! named {
    ($name:literal) => {
        fn name(&self) -> &str {
            $name
        }
    };
}

/// In an implementation of [`CongestionControl`]: questions whose answer is yes.
macro_rules! always {
    ($($question:ident),*) => {
        $(fn $question(&self) -> bool {
            true
        })*
    };
}

/// In an implementation of [`CongestionControl`]: events that change nothing.
macro_rules! ignores {
    ($($event:ident),*) => {
        $(dispatch_congestion_control!(@ignore $event);)*
    };
}

/// In an implementation of [`CongestionControl`]: what the control in a field does.
macro_rules! delegates {
    ($field:ident: $($method:ident),*) => {
        $(dispatch_congestion_control!(@delegate $method $field);)*
    };
}
