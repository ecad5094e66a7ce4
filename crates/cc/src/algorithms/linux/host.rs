//! What Linux keeps around its congestion control modules: the count of ACKs
//! towards the next segment, the state of the connection, and the two growth
//! laws that the modules share.

use crate::parameter::{parameters, word, words};
use crate::{Ack, CWND_LIMIT, Window};
use bentpipe_units::Segments;

words! {
    /// Which Linux.
    pub enum Version {
        /// The kernels of today.
        Current = "current",
        /// The modules of Linux 2.6.22, as `Agent/TCP/Linux` of ns-2.35 calls them.
        Ns2 = "ns-2",
    }
}

parameters! {
    /// The setting of every module.
    pub struct LinuxParameters {
        version: Version = word(),
            "the kernels of today, or 2.6.22 as TCP/Linux of ns-2.35 calls it";
    }
}

/// The state of the connection, as far as the modules use it.
#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Open,
    /// Fast recovery.
    Recovery,
    /// After a timeout, until what was sent before it is acknowledged: so many
    /// segments, known with the first ACK.
    Loss(Option<Segments>),
}

/// State and arithmetic that all modules share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Host {
    pub(super) version: Version,
    /// `snd_cwnd_cnt`.
    pub(super) count: u64,
    /// Segments acknowledged since the last step of Reno (`bytes_acked`).
    unspent: Segments,
    state: State,
    /// Segments acknowledged cumulatively so far.
    acked: Segments,
    /// Segments outstanding after the last ACK.
    outstanding: Segments,
}

/// The window in whole segments.
pub(super) fn whole(cwnd: Segments) -> u64 {
    cwnd.clamp(1.0, CWND_LIMIT) as u64
}

/// Raises cwnd to `to` segments.
pub(super) fn raise(window: &mut Window, to: u64) {
    window.cwnd = window.cwnd.max(to as f64);
}

impl Host {
    pub(super) const fn new(version: Version) -> Host {
        Host {
            version,
            count: 0,
            unspent: 0.0,
            state: State::Open,
            acked: 0.0,
            outstanding: 0.0,
        }
    }

    /// Takes note of an ACK.
    #[inline]
    pub(super) fn observe(&mut self, ack: &Ack) {
        self.acked += ack.acked;
        self.unspent += ack.acked;
        self.outstanding = ack.outstanding;
        if self.state == State::Loss(None) {
            self.state = State::Loss(Some(self.next()));
        }
    }

    /// The most segments that cwnd grows to (`snd_cwnd_clamp`). Today's kernels set no bound,
    /// so a window above the receiver's is what a loss halves; ns-2 sets the receive window.
    #[inline]
    pub(super) fn clamp(&self, ack: &Ack) -> u64 {
        match self.version {
            Version::Current => CWND_LIMIT as u64,
            Version::Ns2 => whole(ack.receive_window),
        }
    }

    /// Segments acknowledged so far (`snd_una`).
    pub(super) fn acknowledged(&self) -> Segments {
        self.acked
    }

    /// Segments sent so far (`snd_nxt`).
    pub(super) fn next(&self) -> Segments {
        self.acked + self.outstanding
    }

    /// True in state Open.
    #[inline]
    pub(super) fn is_open(&self) -> bool {
        self.state == State::Open
    }

    /// True in fast recovery.
    #[inline]
    pub(super) fn is_recovering(&self) -> bool {
        self.state == State::Recovery
    }

    /// A loss was found.
    pub(super) fn recover(&mut self) {
        self.state = State::Recovery;
        (self.count, self.unspent) = (0, 0.0);
    }

    /// The retransmission timer ran out.
    pub(super) fn lose(&mut self) {
        self.state = State::Loss(None);
        (self.count, self.unspent) = (0, 0.0);
    }

    /// What was lost is repaired.
    pub(super) fn open(&mut self) {
        self.state = State::Open;
    }

    /// After the module has taken an ACK: true if that ended the state Loss.
    #[inline]
    pub(super) fn ends_loss(&mut self) -> bool {
        let ends = matches!(self.state, State::Loss(Some(until)) if self.acked >= until);
        if ends {
            self.state = State::Open;
        }
        ends
    }

    /// True if the sender needed its whole window.
    #[inline]
    pub(super) fn needs_window(&self, ack: &Ack, window: &Window) -> bool {
        ack.cwnd_limited
            && (self.version == Version::Current || ack.flight_before >= window.cwnd.floor())
    }

    #[inline]
    pub(super) fn in_slow_start(&self, window: &Window) -> bool {
        match self.version {
            Version::Current => window.cwnd < window.ssthresh,
            Version::Ns2 => window.cwnd <= window.ssthresh,
        }
    }

    /// One ACK of slow start; the acknowledged segments that are left for
    /// congestion avoidance.
    pub(super) fn slow_start(&mut self, ack: &Ack, window: &mut Window) -> u64 {
        let cwnd = whole(window.cwnd);
        match self.version {
            Version::Current => {
                let acked = ack.acked as u64;
                let target = (cwnd + acked).min(whole(window.ssthresh)).max(cwnd);
                raise(window, target.min(self.clamp(ack)));
                acked - (target - cwnd)
            }
            Version::Ns2 => {
                if core::mem::take(&mut self.unspent) < 1.0 {
                    return 0;
                }
                let (mut cwnd, most) = (cwnd, self.clamp(ack));
                self.count += cwnd;
                // The remainder of an earlier congestion avoidance may lie in
                // the count.
                while self.count >= cwnd {
                    self.count -= cwnd;
                    cwnd += u64::from(cwnd < most);
                }
                raise(window, cwnd);
                0
            }
        }
    }

    /// Today's congestion avoidance: a segment per `per` acknowledged ones.
    pub(super) fn avoid(&mut self, ack: &Ack, window: &mut Window, per: u64, acked: u64) {
        let mut cwnd = whole(window.cwnd);
        if self.count >= per {
            self.count = 0;
            cwnd += 1;
        }
        self.count += acked;
        if self.count >= per {
            let steps = self.count / per;
            self.count -= steps * per;
            cwnd += steps;
        }
        raise(window, cwnd.min(self.clamp(ack)));
    }

    /// Congestion avoidance of some modules of 2.6.22: a segment after more than
    /// `per` ACKs.
    pub(super) fn avoid_old(&mut self, ack: &Ack, window: &mut Window, per: u64) {
        if self.count < per {
            self.count += 1;
            return;
        }
        self.count = 0;
        let cwnd = whole(window.cwnd);
        if cwnd < self.clamp(ack) {
            raise(window, cwnd + 1);
        }
    }

    /// One ACK of Reno, which the other modules fall back to.
    pub(super) fn reno(&mut self, ack: &Ack, window: &mut Window) {
        if !self.needs_window(ack, window) {
            return;
        }
        let mut acked = ack.acked as u64;
        if self.in_slow_start(window) {
            acked = self.slow_start(ack, window);
            if acked == 0 {
                return;
            }
        }
        let cwnd = whole(window.cwnd);
        match self.version {
            Version::Current => self.avoid(ack, window, cwnd, acked),
            // RFC 3465, which ns-2 switches on (`sysctl_tcp_abc`).
            Version::Ns2 if self.unspent >= cwnd as f64 => {
                self.unspent -= cwnd as f64;
                raise(window, (cwnd + 1).min(self.clamp(ack)));
            }
            Version::Ns2 => {}
        }
    }
}
