//! Out-of-order data: the ranges that have arrived above a gap, and the SACK
//! blocks that report them.

use crate::packet::{MAX_SACK_BLOCKS, Packet, SackBlock};
use std::collections::VecDeque;

/// What waits above a gap.
#[derive(Clone, Debug, Default)]
pub(super) struct Reassembly {
    /// Ranges of bytes that have arrived, ascending and apart; islands below.
    islands: VecDeque<(u64, u64)>,
    /// Their bytes.
    held: u64,
    /// Starts of the islands that changed last, the most recent first.
    recent: [u64; MAX_SACK_BLOCKS + 1],
    recent_len: usize,
    /// A duplicate to report in the next ACK.
    pub(super) duplicate: Option<(u64, u64)>,
}

impl Reassembly {
    /// True if nothing waits.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.islands.is_empty()
    }

    /// Bytes that wait.
    pub(super) fn held(&self) -> u64 {
        self.held
    }

    /// Everything below `next` is there: takes off the islands that follow
    /// without a gap and returns the end of the last of them.
    pub(super) fn advance(&mut self, mut next: u64) -> u64 {
        while let Some(&(s, e)) = self.islands.front() {
            if s > next {
                break;
            }
            next = next.max(e);
            self.islands.pop_front();
            self.held = self.held.saturating_sub(e - s);
        }
        next
    }

    /// Adds [`start`, `end`), which lies above the gap; false if all of it was
    /// there already.
    pub(super) fn insert(&mut self, start: u64, end: u64) -> bool {
        // Nearly always at the end: the search starts there.
        let at = match self.islands.back() {
            None => 0,
            Some(&(s, _)) if s <= start => self.islands.len(),
            Some(_) => self.islands.partition_point(|&(s, _)| s <= start),
        };
        let joins_below = at > 0 && self.islands[at - 1].1 >= start;
        if joins_below && self.islands[at - 1].1 >= end {
            self.mark_recent(self.islands[at - 1].0);
            return false;
        }
        self.held += end - start;
        let joins_above = at < self.islands.len() && self.islands[at].0 <= end;
        let island = match (joins_below, joins_above) {
            (true, true) => {
                let (_, above_end) = self.islands.remove(at).unwrap_or((0, end));
                self.islands[at - 1].1 = above_end.max(end);
                self.islands[at - 1].0
            }
            (true, false) => {
                self.islands[at - 1].1 = end;
                self.islands[at - 1].0
            }
            (false, true) => {
                self.islands[at].0 = start;
                start
            }
            (false, false) => {
                self.islands.insert(at, (start, end));
                start
            }
        };
        self.mark_recent(island);
        true
    }

    fn mark_recent(&mut self, island: u64) {
        let old = self.recent[..self.recent_len]
            .iter()
            .position(|&s| s == island);
        let end = old.unwrap_or_else(|| {
            self.recent_len = (self.recent_len + 1).min(self.recent.len());
            self.recent_len - 1
        });
        self.recent.copy_within(0..end, 1);
        self.recent[0] = island;
    }

    /// The island that holds `sequence`.
    fn island(&self, sequence: u64) -> Option<(u64, u64)> {
        let last = *self.islands.back()?;
        if last.0 <= sequence {
            return (sequence < last.1).then_some(last);
        }
        let i = self
            .islands
            .partition_point(|&(s, _)| s <= sequence)
            .checked_sub(1)?;
        let island = self.islands[i];
        (sequence < island.1).then_some(island)
    }

    /// Writes at most `most` SACK blocks into `packet`: the duplicate, then the
    /// islands that changed last. Of those, as many as `remembered` are written
    /// again in later ACKs.
    pub(super) fn write_blocks(&mut self, packet: &mut Packet, most: usize, remembered: usize) {
        let mut count = 0;
        let mut put = |packet: &mut Packet, (start, end): (u64, u64)| {
            if count < most {
                // Relative to the acknowledgement; a duplicate lies below it
                // and wraps.
                packet.sack[count] = SackBlock {
                    start: start.wrapping_sub(packet.acknowledgement) as u32,
                    end: end.wrapping_sub(packet.acknowledgement) as u32,
                };
                count += 1;
            }
        };
        if let Some(duplicate) = self.duplicate.take() {
            put(packet, duplicate);
        }
        // An island that was joined to one below it is reported under its new
        // start; one that was delivered is gone. Both drop out here.
        let mut kept = 0;
        for i in 0..self.recent_len {
            let Some(island) = self.island(self.recent[i]) else {
                continue;
            };
            if self.recent[..kept].contains(&island.0) {
                continue;
            }
            self.recent[kept] = island.0;
            kept += 1;
            put(packet, island);
        }
        self.recent_len = kept.min(remembered);
        packet.sack_count = count as u8;
    }
}
