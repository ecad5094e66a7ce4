//! Optional parts of a receiver that few connections have, and their setters.

use super::Receiver;
use super::buffer::ReceiveBuffer;
use super::feedback::Feedback;
use super::guided::Guided;
use super::holes::Holes;
use super::quickack::QuickAck;
use super::status::Status;

/// Parts of a receiver that few connections have.
#[derive(Clone, Debug, Default)]
pub(super) struct Extras {
    /// Present where the application reads explicitly.
    pub(super) buffer: Option<ReceiveBuffer>,
    /// Present on the host profile `linux`.
    pub(super) quickack: Option<QuickAck>,
    /// Present where negative acknowledgements are sent.
    pub(super) holes: Option<Holes>,
    /// Present where the sender polls.
    pub(super) status: Option<Status>,
    /// Corrupted packets that links have reported, where ACKs carry their number.
    pub(super) errors: Option<u32>,
    pub(super) feedback: Feedback,
    pub(super) guided: Guided,
    /// Each change between marked and unmarked packets is reported (RFC 8257).
    pub(super) echoes_changes: bool,
}

impl Extras {
    /// The stream begins at byte `first`: a connection follows another.
    pub(super) fn start_at(&mut self, first: u64) {
        if let Some(quickack) = &mut self.quickack {
            quickack.start_at(first);
        }
        if let Some(holes) = &mut self.holes {
            holes.start_at(first);
        }
        if let Some(status) = &mut self.status {
            status.start_at(first);
        }
    }
}

impl Extras {
    /// Linux' acknowledgements, where there is nothing else that looks at a segment.
    #[inline]
    pub(super) fn only_quickack(&self) -> Option<&QuickAck> {
        let others = self.buffer.is_some()
            || self.holes.is_some()
            || self.status.is_some()
            || self.errors.is_some()
            || self.echoes_changes;
        self.quickack.as_ref().filter(|_| !others)
    }
}

impl Receiver {
    /// Which parts it has: negative acknowledgements, status reports, counts of
    /// corruption, each change of marks.
    #[cfg(test)]
    pub(crate) fn parts(&self) -> [bool; 4] {
        let extras = self.extras.as_deref();
        extras.map_or([false; 4], |e| {
            let (holes, status) = (e.holes.is_some(), e.status.is_some());
            [holes, status, e.errors.is_some(), e.echoes_changes]
        })
    }

    /// Acknowledges as Linux 6.
    pub(crate) fn set_quickack(&mut self, quickack: QuickAck) {
        self.extras.get_or_insert_default().quickack = Some(quickack);
    }

    /// Reports which packets were marked, each change of it at once.
    pub(crate) fn set_echoes_changes(&mut self) {
        self.extras.get_or_insert_default().echoes_changes = true;
    }

    pub(crate) fn set_holes(&mut self, holes: Holes) {
        self.extras.get_or_insert_default().holes = Some(holes);
    }

    /// Counts the corrupted packets that links report in its ACKs.
    pub(crate) fn count_errors(&mut self) {
        self.extras.get_or_insert_default().errors = Some(0);
    }

    /// The application reads explicitly from `buffer`.
    pub(crate) fn set_buffer(&mut self, buffer: ReceiveBuffer) {
        self.extras.get_or_insert_default().buffer = Some(buffer);
    }

    pub(crate) fn buffer(&self) -> Option<&ReceiveBuffer> {
        self.extras.as_ref()?.buffer.as_ref()
    }

    pub(crate) fn buffer_mut(&mut self) -> Option<&mut ReceiveBuffer> {
        self.extras.as_mut()?.buffer.as_mut()
    }

    pub(super) fn quickack(&mut self) -> Option<&mut QuickAck> {
        self.extras.as_mut()?.quickack.as_mut()
    }

    pub(super) fn holes(&mut self) -> Option<&mut Holes> {
        self.extras.as_mut()?.holes.as_mut()
    }

    /// This side closes the connection. A FIN that it `answers` with carries the acknowledgement of
    /// the peer's, which need not leave by itself.
    pub(crate) fn close(&mut self, answers: bool) {
        if let Some(quickack) = self.quickack() {
            quickack.close();
            if answers {
                self.deadline = bentpipe_units::Time::MAX;
                self.last_acknowledged = self.next;
            }
        }
    }

    /// True on the host profile `linux`.
    pub(crate) fn is_linux(&self) -> bool {
        self.extras.as_ref().is_some_and(|e| e.quickack.is_some())
    }
}
