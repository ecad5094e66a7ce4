//! Out-of-order data: the ranges that have arrived above a gap, and the SACK
//! blocks that report them.

use crate::packet::{MAX_SACK_BLOCKS, Packet, SackBlock};
use std::collections::VecDeque;

/// Data waiting above a gap.
#[derive(Clone, Debug, Default)]
pub(super) struct Reassembly {
    /// Ranges of bytes that have arrived, ascending and apart; islands below.
    islands: VecDeque<(u64, u64)>,
    /// Bytes waiting for a gap to be filled.
    held: u64,
    /// The islands that changed last, the most recent first. An island that was
    /// joined to another since follows that one.
    recent: [(u64, u64); MAX_SACK_BLOCKS + 1],
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

    /// Bytes waiting for a gap to be filled.
    pub(super) fn held(&self) -> u64 {
        self.held
    }

    /// The ranges that wait, ascending and apart.
    pub(super) fn islands(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.islands.iter().copied()
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
            self.mark_recent(self.islands[at - 1]);
            return false;
        }
        self.held += end - start;
        let joins_above = at < self.islands.len() && self.islands[at].0 <= end;
        let island = match (joins_below, joins_above) {
            (true, true) => {
                let (_, above_end) = self.islands.remove(at).unwrap_or((0, end));
                self.islands[at - 1].1 = above_end.max(end);
                self.islands[at - 1]
            }
            (true, false) => {
                self.islands[at - 1].1 = end;
                self.islands[at - 1]
            }
            (false, true) => {
                self.islands[at].0 = start;
                self.islands[at]
            }
            (false, false) => {
                self.islands.insert(at, (start, end));
                (start, end)
            }
        };
        self.mark_recent(island);
        true
    }

    /// The lowest part of [`start`, `end`) that waits already.
    pub(super) fn overlap(&self, start: u64, end: u64) -> Option<(u64, u64)> {
        let at = self.islands.partition_point(|&(_, e)| e <= start);
        let &(low, high) = self.islands.get(at)?;
        (low < end).then_some((low.max(start), high.min(end)))
    }

    /// True if a report of [`start`, `end`) would push another one out of the first
    /// two places: it lies in an island in the third place or beyond, or in none
    /// while there are two.
    pub(super) fn crowds(&self, start: u64, end: u64) -> bool {
        let Some(&(first, _)) = self.islands.front() else {
            return false;
        };
        let recent = self.recent[..self.recent_len].iter();
        let touched = recent
            .filter(|&&(low, _)| low >= first)
            .position(|&(low, high)| start <= high && low <= end);
        touched.unwrap_or(self.islands.len()) >= 2
    }

    fn mark_recent(&mut self, island: (u64, u64)) {
        let old = self.recent[..self.recent_len]
            .iter()
            .position(|&(start, _)| start == island.0);
        let end = old.unwrap_or_else(|| {
            self.recent_len = (self.recent_len + 1).min(self.recent.len());
            self.recent_len - 1
        });
        self.recent.copy_within(0..end, 1);
        self.recent[0] = island;
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
        // Islands that were joined to another, which comes before them, or
        // delivered drop out here.
        let mut kept = 0;
        for i in 0..self.recent_len {
            let (start, end) = self.recent[i];
            let joined = |&(s, e): &(u64, u64)| s <= start && end <= e;
            if start < packet.acknowledgement || self.recent[..kept].iter().any(joined) {
                continue;
            }
            self.recent[kept] = (start, end);
            kept += 1;
            put(packet, (start, end));
        }
        self.recent_len = kept.min(remembered);
        packet.sack_count = count as u8;
    }
}
