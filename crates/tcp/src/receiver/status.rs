//! The receiving half of the Satellite Transport Protocol: the content of a status report
//! ([`crate::stp`] has the source and the readings).

use super::{Answer, Receiver};
use crate::packet::{MAX_SACK_BLOCKS, Packet, SackBlock};
use bentpipe_units::Time;

/// What arrived, as far as a report at once needs it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Status {
    /// One past the last byte that has arrived.
    highest: u64,
    /// The gap that the last segment left behind it, not reported yet.
    gap: Option<(u64, u64)>,
}

impl Status {
    /// The stream begins at byte `first`.
    pub(super) fn start_at(&mut self, first: u64) {
        self.highest = first;
    }

    /// Data from `start` to `end` has arrived.
    pub(super) fn take(&mut self, start: u64, end: u64) {
        if start > self.highest {
            self.gap = Some((self.highest, start));
        }
        self.highest = self.highest.max(end);
    }

    /// Writes the gap that was seen last into a report, which it makes an
    /// unsolicited one (USTAT).
    pub(super) fn write(&mut self, packet: &mut Packet) {
        if let Some((start, end)) = self.gap.take()
            && start >= packet.acknowledgement
        {
            packet.sack[0] = block(packet.acknowledgement, start, end);
            packet.sack_count = 1;
        }
    }
}

/// A range of the stream, relative to the acknowledgement.
fn block(acknowledgement: u64, start: u64, end: u64) -> SackBlock {
    // The advertised window keeps both within 31 bits.
    SackBlock {
        start: (start - acknowledgement) as u32,
        end: (end - acknowledgement) as u32,
    }
}

impl Receiver {
    /// Switches to acknowledgements on poll (STP).
    pub(crate) fn set_status(&mut self) {
        self.extras.get_or_insert_default().status = Some(Status::default());
    }

    /// Where the sender polls, data is not acknowledged; a new gap is reported
    /// at once.
    pub(super) fn answer_by_status(&mut self) -> Option<Answer> {
        let status = self.extras.as_ref()?.status.as_ref()?;
        let gap = status.gap.is_some();
        self.deadline = Time::MAX;
        Some(if gap { Answer::Now } else { Answer::Later })
    }

    /// Writes the gaps between byte `from` and byte `until` into a report, as many
    /// as fit; returns the first byte of the next, where more follow.
    pub(crate) fn write_gaps(&self, from: u64, until: u64, packet: &mut Packet) -> Option<u64> {
        let mut start = self.next.max(from);
        let islands = self.reassembly.iter().flat_map(|r| r.islands());
        let mut count = 0;
        for (island, after) in islands.chain(std::iter::once((until, until))) {
            let end = island.min(until);
            if start < end {
                if count == MAX_SACK_BLOCKS {
                    return Some(start);
                }
                packet.sack[count] = block(packet.acknowledgement, start, end);
                count += 1;
                packet.sack_count = count as u8;
            }
            start = start.max(after);
            if start >= until {
                break;
            }
        }
        None
    }

    /// A status report leaves: what was to be reported at once is in it.
    pub(crate) fn forget_gap(&mut self) {
        if let Some(status) = self.extras.as_mut().and_then(|e| e.status.as_mut()) {
            status.gap = None;
        }
    }
}
