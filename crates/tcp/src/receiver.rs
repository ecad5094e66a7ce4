//! The receiving half: reassembly, acknowledgements, SACK and D-SACK blocks.

pub(crate) mod buffer;
mod feedback;
pub(crate) mod holes;
pub(crate) mod quickack;

use crate::options::DelayedAck;
use crate::packet::{MAX_SACK_BLOCKS, Packet, SACK_BLOCKS_BESIDE, SackBlock, ecn, flags};
use bentpipe_units::Time;
use buffer::ReceiveBuffer;
use feedback::Feedback;
use holes::Holes;
use quickack::{Decision, QuickAck};
use std::collections::VecDeque;

/// What an arrived data packet asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Acknowledge at once.
    Now,
    /// Acknowledge when the timer runs out, or with the next segment.
    Later,
}

/// The receiving half of an endpoint.
#[derive(Clone, Debug)]
pub(crate) struct Receiver {
    delayed: DelayedAck,
    sack: bool,
    /// Duplicates are reported (RFC 2883).
    reports_duplicates: bool,
    /// Advertised window, bytes.
    window: u32,
    /// Kept where the application reads by itself.
    pub(crate) buffer: Option<ReceiveBuffer>,
    next: u64,
    /// The sequence number of the peer's FIN; [`u64::MAX`] before it.
    fin: u64,
    /// Ranges above `next` that have arrived, ascending and apart, and their
    /// bytes.
    islands: VecDeque<(u64, u64)>,
    held: u64,
    /// Starts of the islands that changed last, the most recent first.
    recent: [u64; MAX_SACK_BLOCKS + 1],
    recent_len: usize,
    /// A duplicate to report in the next ACK.
    duplicate: Option<(u64, u64)>,
    unacknowledged: u32,
    received: u32,
    pub(crate) deadline: Time,
    timestamp_recent: u32,
    last_acknowledged: u64,
    congestion_experienced: bool,
    feedback: Feedback,
    /// Kept where it acknowledges as Linux 6.
    pub(crate) quickack: Option<Box<QuickAck>>,
    /// Kept where negative acknowledgements are sent.
    pub(crate) holes: Option<Box<Holes>>,
    pub(crate) duplicates: u64,
}

impl Receiver {
    pub(crate) fn new(
        delayed: DelayedAck,
        sack: bool,
        reports_duplicates: bool,
        window: u32,
    ) -> Receiver {
        Receiver {
            delayed,
            sack,
            reports_duplicates,
            window,
            buffer: None,
            next: 0,
            fin: u64::MAX,
            islands: VecDeque::new(),
            held: 0,
            recent: [0; MAX_SACK_BLOCKS + 1],
            recent_len: 0,
            duplicate: None,
            unacknowledged: 0,
            received: 0,
            deadline: Time::MAX,
            timestamp_recent: 0,
            last_acknowledged: 0,
            congestion_experienced: false,
            feedback: Feedback::default(),
            quickack: None,
            holes: None,
            duplicates: 0,
        }
    }

    /// Takes the position over from the connection before this one.
    pub(crate) fn continue_after(&mut self, old: &Receiver) {
        self.next = old.next;
        self.last_acknowledged = old.next;
        self.duplicates = old.duplicates;
    }

    /// The window that it advertises.
    pub(crate) fn advertised(&self) -> u32 {
        self.quickack
            .as_ref()
            .map_or(self.window, |q| q.first_window())
    }

    pub(crate) fn uses_sack(&self) -> bool {
        self.sack
    }

    /// True if it reports duplicates.
    pub(crate) fn reports(&self) -> bool {
        self.reports_duplicates
    }

    /// Bytes delivered in order.
    pub(crate) fn delivered(&self) -> u64 {
        self.next.min(self.fin)
    }

    /// True once everything up to the peer's FIN has arrived.
    pub(crate) fn is_finished(&self) -> bool {
        self.next > self.fin
    }

    /// The window of an application that reads by itself.
    pub(crate) fn window_by_hand(&mut self) -> Option<u32> {
        self.buffer.as_mut().map(|b| b.advertise(self.next))
    }

    /// True if the peer should hear at once that there is room.
    pub(crate) fn wants_update(&self) -> bool {
        self.buffer.is_some_and(|b| b.wants_update(self.next))
    }

    /// Takes a packet with payload or a FIN.
    pub(crate) fn on_data(&mut self, now: Time, packet: &Packet) -> Answer {
        let (start, mut end) = (packet.sequence, packet.sequence + u64::from(packet.payload));
        let last = packet.has(flags::FIN);
        if last {
            self.fin = end;
            end += 1;
        }
        if let Some(buffer) = &self.buffer
            && end > buffer.edge()
        {
            return Answer::Now; // There was no room for it.
        }
        if packet.ecn == ecn::MARKED {
            self.congestion_experienced = true;
        }
        if packet.has(flags::CWR) {
            self.congestion_experienced = packet.ecn == ecn::MARKED;
        }
        self.feedback.take(packet);
        // RFC 7323, section 4.3: echo the timestamp of the segment that the
        // last ACK left off at, so that a delayed ACK echoes its first.
        if start <= self.last_acknowledged {
            self.timestamp_recent = packet.timestamp;
        }
        self.received = self.received.saturating_add(1);
        if let Some(quickack) = &mut self.quickack {
            quickack.on_echo(packet);
        }
        if let Some(holes) = &mut self.holes {
            holes.take(now, (start, end), packet.corruption_reports());
        }
        if end <= self.next {
            self.note_duplicate(start, end);
            if let Some(quickack) = &mut self.quickack {
                quickack.on_duplicate();
            }
            // ns-2 takes the last segment in order for new, whenever it comes.
            let is_last = end == self.next && self.islands.is_empty();
            if !self.reports_duplicates && is_last && self.deadline == Time::MAX {
                return self.delay(now);
            }
            return Answer::Now;
        }
        if start > self.next {
            self.insert(start, end);
            if let Some(quickack) = &mut self.quickack {
                let len = u32::from(packet.payload);
                let above = (self.next, self.held);
                let decision = quickack.on_gap(now, above, self.deadline, len);
                return self.follow(decision);
            }
            return Answer::Now;
        }
        let had_gap = !self.islands.is_empty();
        self.next = end;
        while let Some(&(s, e)) = self.islands.front() {
            if s > self.next {
                break;
            }
            self.next = self.next.max(e);
            self.islands.pop_front();
            self.held = self.held.saturating_sub(e - s);
        }
        if last {
            return Answer::Now;
        }
        if let Some(quickack) = &mut self.quickack {
            let gap = (had_gap && self.islands.is_empty(), self.held);
            let waiting = self.next - self.last_acknowledged;
            let len = u32::from(packet.payload);
            let bytes = (self.next, waiting);
            let decision = quickack.on_segment(now, len, bytes, self.deadline, gap);
            return self.follow(decision);
        }
        if had_gap {
            return Answer::Now;
        }
        self.delay(now)
    }

    fn follow(&mut self, decision: Decision) -> Answer {
        match decision {
            Decision::Now => return Answer::Now,
            Decision::By(deadline) => self.deadline = deadline,
            Decision::Wait => {}
        }
        Answer::Later
    }

    /// Acknowledges now or later, by the rule for delayed ACKs.
    fn delay(&mut self, now: Time) -> Answer {
        self.unacknowledged += 1;
        if self.unacknowledged >= self.delayed.count || self.received <= self.delayed.quick_acks {
            return Answer::Now;
        }
        if self.deadline == Time::MAX {
            let mut longest = self.delayed.timer;
            if let Some(holes) = &self.holes {
                longest = longest.min(holes.longest_delay());
            }
            self.deadline = now + longest;
        }
        Answer::Later
    }

    /// When an ACK is to be sent without a packet; [`Time::MAX`] if never.
    pub(crate) fn next_deadline(&self) -> Time {
        let holes = self.holes.as_ref().map_or(Time::MAX, |h| h.due());
        self.deadline.min(holes)
    }

    /// True if an ACK is to be sent at `now`.
    pub(crate) fn is_due(&mut self, now: Time) -> bool {
        let holes = self.holes.as_mut().is_some_and(|holes| {
            holes.set_now(now);
            holes.is_due(now)
        });
        let due = now >= self.deadline;
        if let Some(quickack) = self.quickack.as_mut().filter(|_| due) {
            quickack.on_timer();
        }
        holes || due
    }

    /// Takes a probe, which is answered at once. What it carries beyond a dummy
    /// is data like any other; that it may have arrived before says nothing
    /// about the sender's retransmissions.
    pub(crate) fn on_probe(&mut self, now: Time, packet: &Packet) {
        if packet.has(flags::DUMMY) {
            return;
        }
        let before = (self.duplicates, self.duplicate);
        self.on_data(now, packet);
        (self.duplicates, self.duplicate) = before;
    }

    fn note_duplicate(&mut self, start: u64, end: u64) {
        self.duplicates += 1;
        if self.reports_duplicates {
            self.duplicate = Some((start, end));
        }
    }

    /// Adds [`start`, `end`) above `next`.
    fn insert(&mut self, start: u64, end: u64) {
        // Nearly always at the end: the search starts there.
        let at = match self.islands.back() {
            None => 0,
            Some(&(s, _)) if s <= start => self.islands.len(),
            Some(_) => self.islands.partition_point(|&(s, _)| s <= start),
        };
        let joins_below = at > 0 && self.islands[at - 1].1 >= start;
        if joins_below && self.islands[at - 1].1 >= end {
            self.note_duplicate(start, end);
            self.mark_recent(self.islands[at - 1].0);
            return;
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

    /// Fills in the acknowledgement of a packet that is about to be sent.
    pub(crate) fn acknowledge(&mut self, packet: &mut Packet) {
        packet.flags |= flags::ACK;
        packet.acknowledgement = self.next;
        packet.window = match &mut self.buffer {
            None => match &mut self.quickack {
                None => self.window,
                Some(quickack) => quickack.advertise(self.next, self.held),
            },
            Some(buffer) => buffer.advertise(self.next),
        };
        if let Some(quickack) = &mut self.quickack {
            quickack.on_ack(self.next > self.last_acknowledged || !self.islands.is_empty());
        }
        packet.timestamp_echo = self.timestamp_recent;
        if self.congestion_experienced {
            packet.flags |= flags::ECE;
        }
        self.unacknowledged = 0;
        self.deadline = Time::MAX;
        self.last_acknowledged = self.next;
        self.feedback.give(packet);
        if let Some(holes) = &mut self.holes {
            holes.write(self.next, packet);
        }
        if !self.sack {
            return;
        }
        let most = if self.feedback.is_wanted() {
            SACK_BLOCKS_BESIDE
        } else {
            MAX_SACK_BLOCKS
        };
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
        if !self.islands.is_empty() {
            // An island that was joined to one below it is reported under its
            // new start; one that was delivered is gone. Both drop out here.
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
            // A sink of ns-2 remembers no more than it can report.
            self.recent_len = if self.reports_duplicates {
                kept
            } else {
                kept.min(MAX_SACK_BLOCKS)
            };
        } else {
            self.recent_len = 0;
        }
        packet.sack_count = count as u8;
    }
}

#[cfg(test)]
mod tests;
