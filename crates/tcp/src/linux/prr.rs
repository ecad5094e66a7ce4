//! Proportional rate reduction: the window on its way to ssthresh.
//!
//! Source: RFC 9937. While more than ssthresh is in flight, the sender sends the fraction ssthresh
//! / (previous window) of the delivered data. Below ssthresh it sends as much as was delivered
//! (CRB), plus a segment with every ACK that advances and reveals no loss (SSRB), until ssthresh is
//! reached. In any case it sends one segment when recovery begins.
//!
//! The end of recovery leaves cwnd at ssthresh, unless the reduction was undone.

use super::{Linux, State};
use crate::sender_core::Core;
use bentpipe_units::{Time, math};

/// The counts of a reduction, in segments.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Prr {
    /// cwnd before the reduction, segments.
    before: u64,
    /// Delivered and sent since.
    delivered: u64,
    pub(super) sent: u64,
}

impl Prr {
    fn new(before: u64) -> Prr {
        Prr {
            before,
            ..Prr::default()
        }
    }

    /// `delivered` more segments have arrived: how many may be sent, with
    /// `flight` of them in flight.
    fn may_send(&mut self, delivered: u64, flight: u64, ssthresh: u64, safe: bool) -> u64 {
        self.delivered += delivered;
        let allowed = if flight > ssthresh {
            let target = (ssthresh * self.delivered).div_ceil(self.before.max(1));
            target.saturating_sub(self.sent)
        } else {
            let owed = self.delivered.saturating_sub(self.sent).max(delivered);
            (owed + u64::from(safe)).min(ssthresh - flight)
        };
        allowed.max(u64::from(self.sent == 0))
    }
}

impl Linux {
    /// An ACK delivered `delivered` segments; `safe` if it advanced and showed
    /// no new loss.
    pub(super) fn reduce(&mut self, s: &mut Core, delivered: u64, safe: bool) {
        if delivered == 0 || self.prr.before == 0 || s.options.owns_window {
            return;
        }
        let flight = s.board.flight() as u64;
        let ssthresh = math::floor(s.window.ssthresh.min(1e15)) as u64;
        let allowed = self.prr.may_send(delivered, flight, ssthresh, safe);
        s.window.cwnd = (flight + allowed).max(1) as f64;
    }

    /// A reduction begins: the congestion control sets ssthresh.
    pub(super) fn begin_reduction(&mut self, s: &mut Core, now: Time, ecn: bool) {
        self.high = s.snd.next;
        self.probe.end();
        self.prr = Prr::new(Linux::window(s) as u64);
        let before = s.window.cwnd;
        let loss = s.loss(now, Linux::window(s) as f64, ecn);
        s.cc.on_loss(&loss, &mut s.window);
        if !s.options.owns_window {
            // A control that sets only cwnd means the window to go down to.
            if s.window.cwnd < before && s.window.ssthresh >= before {
                s.window.ssthresh = s.window.cwnd;
            }
            s.window.cwnd = before;
        }
        let reduced = s.window.ssthresh < before || s.window.cwnd < before;
        s.counters.reductions += u64::from(reduced);
        s.headers.cwr_pending = true;
    }

    /// It ends.
    pub(super) fn end_reduction(&mut self, s: &mut Core, now: Time) {
        let stands = self.state == State::Cwr || self.undo.is_possible();
        if s.options.owns_window || !stands || !s.window.ssthresh.is_finite() {
            return;
        }
        s.window.cwnd = s.window.ssthresh;
        s.end_recovery(now, s.board.flight() as f64, s.rtt.smallest());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One loss in a window of 20, ssthresh 10: after it every other ACK sends.
    #[test]
    fn a_single_loss_halves_the_rate() {
        let mut prr = Prr::new(20);
        let mut flight = 16; // Three arrived, one is lost.
        let mut sent = Vec::new();
        for _ in 0..16 {
            let n = prr.may_send(1, flight, 10, false);
            prr.sent += n;
            flight = flight + n - 1;
            sent.push(n);
        }
        assert_eq!(sent.iter().sum::<u64>(), 9);
        assert_eq!(sent[..6], [1, 0, 1, 0, 1, 0]);
        assert_eq!(flight, 9);
    }

    /// RFC 9937, section 6.2: with most of the window lost, as much is sent as
    /// arrives, and one more where that is safe.
    #[test]
    fn a_burst_loss_grows_back_to_ssthresh_and_not_beyond() {
        let mut prr = Prr::new(20);
        assert_eq!(prr.may_send(1, 4, 10, false), 1);
        prr.sent += 1;
        assert_eq!(prr.may_send(1, 4, 10, false), 1);
        prr.sent += 1;
        assert_eq!(prr.may_send(2, 4, 10, true), 3);
        prr.sent += 3;
        assert_eq!(prr.may_send(4, 8, 10, true), 2);
    }

    #[test]
    fn the_first_ack_always_sends() {
        let mut prr = Prr::new(100);
        assert_eq!(prr.may_send(1, 90, 2, false), 1);
        prr.sent += 1;
        assert_eq!(prr.may_send(1, 90, 2, false), 0);
    }
}
