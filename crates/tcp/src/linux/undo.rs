//! Undo: reverts a reduction that proves spurious.
//!
//! Sources: RFC 3522 and RFC 4015 (an ACK echoes a timestamp from before the retransmission), RFC
//! 3708 (every retransmission is reported as a duplicate), RFC 5682 (F-RTO). As in Linux ssthresh
//! is restored to the larger of its previous value and three quarters of the previous window.

use super::{Linux, State};
use crate::packet::is_older;
use crate::sender_core::Core;
use bentpipe_cc::Window;

/// State to undo the last reduction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Undo {
    /// First byte unacknowledged when the window was reduced; `None` where there
    /// is nothing to undo.
    marker: Option<u64>,
    /// Retransmissions not reported as duplicates; `None` before the first.
    unreported: Option<u32>,
    /// The window before, if it may come back.
    before: Option<Window>,
    /// Timestamp of the first retransmission.
    pub(super) resent_at: Option<u32>,
}

impl Undo {
    /// True while the reduction could be undone.
    pub(super) fn is_possible(&self) -> bool {
        self.marker.is_some()
    }

    /// Nothing can be undone any more.
    pub(super) fn give_up(&mut self) {
        self.marker = None;
    }

    /// The window may come back to what it is now.
    pub(super) fn remember(&mut self, s: &Core, reducing: bool) {
        let mut before = s.window.clone();
        before.ssthresh = Linux::current_ssthresh(s, reducing);
        before.actions = bentpipe_cc::Actions::default();
        self.before = Some(before);
    }

    /// An ECN echo reduces it, and that cannot be undone.
    pub(super) fn forget(&mut self) {
        self.before = None;
    }

    /// Something was sent again with this timestamp.
    pub(super) fn note_resent(&mut self, timestamp: u32) {
        self.resent_at.get_or_insert(timestamp);
        *self.unreported.get_or_insert(0) += 1;
    }

    /// So many segments up to byte `end` were reported as duplicates.
    pub(super) fn note_duplicates(&mut self, end: u64, segments: u32) {
        if self.marker.is_some_and(|marker| end > marker)
            && let Some(unreported) = &mut self.unreported
        {
            *unreported = unreported.saturating_sub(segments);
        }
    }

    fn all_reported(&self, s: &Core) -> bool {
        s.options.undo && self.is_possible() && self.unreported == Some(0)
    }
}

impl Linux {
    /// An episode begins.
    pub(super) fn begin_undo(&mut self, s: &Core) {
        self.undo.marker = Some(s.snd.una);
        let copies = u32::from(self.probe.end.is_some() && self.probe.is_copy);
        let under_way = s.board.retransmitted() + copies;
        self.undo.unreported = (under_way > 0).then_some(under_way);
    }

    /// True if the ACK that echoes this timestamp is not of a retransmission.
    fn is_of_original(&self, s: &Core, echo: u32) -> bool {
        s.options.undo
            && self
                .undo
                .resent_at
                .is_none_or(|resent_at| s.headers.timestamps && is_older(echo, resent_at))
    }

    fn may_undo(&self, s: &Core, echo: u32) -> bool {
        self.undo.all_reported(s) || (self.undo.is_possible() && self.is_of_original(s, echo))
    }

    /// The window comes back; with `finds`, what was lost is taken for under
    /// way again.
    fn restore(&mut self, s: &mut Core, finds: bool) {
        if finds {
            s.board.unlose_all();
        }
        if let Some(before) = self.undo.before.take() {
            s.cc.on_spurious(&before, &mut s.window);
            s.window.ssthresh = s.window.ssthresh.max(before.ssthresh);
            s.counters.reductions = s.counters.reductions.saturating_sub(1);
            s.counters.undone += 1;
        }
        self.undo.marker = None;
        self.rack.advanced = true;
    }

    /// All that was sent before recovery is acknowledged.
    pub(super) fn undo_recovery(&mut self, s: &mut Core, echo: u32) {
        if self.may_undo(s, echo) {
            self.restore(s, false);
        } else {
            self.rack.persistence = self.rack.persistence.saturating_sub(1);
        }
        self.state = State::Open;
    }

    /// A part of it is, and the ACK may be of what had never been lost. True if
    /// nothing else is to be done about this ACK.
    pub(super) fn undo_partially(&mut self, s: &mut Core, prior_una: u64, echo: u32) -> bool {
        if !self.undo.is_possible() || !self.is_of_original(s, echo) {
            return false;
        }
        self.check_reordering(s, prior_una);
        if s.board.retransmitted() > 0 {
            return true;
        }
        if !Linux::any_resent(s) {
            self.undo.resent_at = None;
        }
        self.restore(s, true);
        self.keep_open(s);
        false
    }

    /// Every retransmission was reported as a duplicate.
    pub(super) fn undo_reported(&mut self, s: &mut Core) -> bool {
        if !self.undo.all_reported(s) {
            return false;
        }
        self.rack.persistence = (self.rack.persistence + 1).min(super::rack::PERSISTENCE);
        self.restore(s, false);
        true
    }

    /// The timeout was spurious: by F-RTO, or because it may be undone.
    pub(super) fn undo_loss(&mut self, s: &mut Core, echo: u32, by_frto: bool) -> bool {
        if !((by_frto && s.options.undo) || self.may_undo(s, echo)) {
            return false;
        }
        self.restore(s, true);
        self.timeouts = 0;
        self.state = State::Open;
        true
    }

    /// True if something was sent again that is not acknowledged yet.
    pub(super) fn any_resent(s: &Core) -> bool {
        s.board.retransmitted() > 0 || s.board.head().is_some_and(|head| head.transmissions > 1)
    }
}
