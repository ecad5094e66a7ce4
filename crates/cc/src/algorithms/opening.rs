//! A start that opens the window with low-priority packets, as TCP-Peach, TCP-Swift
//! and TCP PBS have it.
//!
//! `initial` segments of data go first, then as many probes as the window that is
//! probed for has room, a round trip divided by that window apart. The queues on
//! the way drop probes before data, so that the answers show what the path has
//! free. Each ACK for data or for a probe adds a segment, until a round trip has
//! passed since the first probe was answered: two round trips after the start the
//! window is what the path let through. Where no probe is answered the start ends
//! two round trips after the first ACK, which may be one for data that was sent
//! before a timeout.
//!
//! The window probed for is the receive window, bounded by `reach`. The round
//! trip is that of the handshake, later the smoothed one; without one the start
//! waits for the first sample.

use crate::{Ack, ProbeContent, Probes, Window};
use bentpipe_units::{Duration, Segments, Time};

/// Phase of the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Off,
    /// No RTT is known yet.
    Unpaced,
    /// The probes are on their way.
    Sent,
    /// An ACK has come, and no answer to a probe.
    Unanswered(Time),
    /// The first probe has been answered.
    Until(Time),
}

/// The start of a connection, and the one after a timeout.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Opening {
    pub(super) content: ProbeContent,
    reach: Segments,
    initial: Segments,
    pub(super) receive_window: Segments,
    rtt: Duration,
    stage: Stage,
}

impl Opening {
    /// Probes of `content` for no more than `reach` segments, after one of data.
    pub(super) const fn new(content: ProbeContent, reach: Segments) -> Opening {
        Opening {
            content,
            reach,
            initial: 1.0,
            receive_window: f64::INFINITY,
            rtt: Duration::ZERO,
            stage: Stage::Off,
        }
    }

    /// No more than `reach` segments are probed for, from the next start on.
    pub(super) fn set_reach(&mut self, reach: Segments) {
        self.reach = reach.max(1.0);
    }

    /// The round trip time that the start goes by; zero before there is one.
    pub(super) fn rtt(&self) -> Duration {
        self.rtt
    }

    /// The round trip is known before the first sample.
    pub(super) fn set_rtt(&mut self, rtt: Duration) {
        self.rtt = rtt;
    }

    /// Segments of data that go first, from the next start on.
    pub(super) fn set_initial(&mut self, initial: Segments) {
        self.initial = initial.max(1.0);
    }

    pub(super) fn set_receive_window(&mut self, receive_window: Segments) {
        self.receive_window = receive_window.max(1.0);
    }

    /// The connection begins, with the RTT of its handshake if there was one.
    pub(super) fn establish(&mut self, rtt: Option<Duration>, window: &mut Window) {
        self.rtt = rtt.unwrap_or_default();
        self.begin(window);
    }

    /// Starts, at the beginning or after a timeout.
    pub(super) fn begin(&mut self, window: &mut Window) {
        window.cwnd = self.initial;
        if self.rtt.is_zero() {
            self.stage = Stage::Unpaced;
        } else {
            self.probe(window);
        }
    }

    /// Ends the start: answers that are still to come grow nothing by it.
    pub(super) fn stop(&mut self) {
        self.stage = Stage::Off;
    }

    /// True from the start to a round trip after its first answer.
    pub(super) fn is_on(&self) -> bool {
        self.stage != Stage::Off
    }

    /// True while an ACK for data adds a segment.
    pub(super) fn grows(&self) -> bool {
        matches!(self.stage, Stage::Unanswered(_) | Stage::Until(_))
    }

    /// Takes an ACK's RTT and receive window, and moves on.
    pub(super) fn on_sample(&mut self, ack: &Ack, window: &mut Window) {
        self.set_receive_window(ack.receive_window);
        if !ack.smoothed_rtt.is_zero() {
            self.rtt = ack.smoothed_rtt;
        }
        match self.stage {
            Stage::Unpaced if !self.rtt.is_zero() => self.probe(window),
            Stage::Sent | Stage::Unanswered(_) if ack.probes > 0 => {
                self.stage = Stage::Until(ack.now + self.rtt);
            }
            Stage::Sent => self.stage = Stage::Unanswered(ack.now + self.rtt * 2),
            Stage::Unanswered(end) | Stage::Until(end) if ack.now >= end => self.stage = Stage::Off,
            _ => {}
        }
    }

    fn probe(&mut self, window: &mut Window) {
        self.stage = Stage::Sent;
        let target = self.receive_window.min(self.reach).max(1.0) as u32;
        window.actions.probes = Some(Box::new(Probes {
            count: target.saturating_sub(self.initial as u32),
            interval: self.rtt / u64::from(target),
            content: self.content,
            ..Probes::default()
        }));
    }
}
