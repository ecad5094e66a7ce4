//! The receiving half: reassembly, acknowledgements, SACK and D-SACK blocks.

pub(crate) mod buffer;
mod extras;
mod feedback;
mod guided;
pub(crate) mod holes;
pub(crate) mod quickack;
mod reassembly;
mod status;

use crate::options::DelayedAck;
use crate::packet::{MAX_SACK_BLOCKS, Packet, SACK_BLOCKS_BESIDE, ecn, flags, priority};
use bentpipe_units::{Duration, Time};
use extras::Extras;
use quickack::Decision;
use reassembly::Reassembly;

/// When an arrived data packet is acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Acknowledge at once.
    Now,
    /// When the timer runs out, or with the next segment.
    Later,
    /// An ACK of what came before it goes at once; the packet is then to be
    /// processed again.
    Before,
}

/// The receiving half of an endpoint.
#[derive(Clone, Debug)]
pub(crate) struct Receiver {
    next: u64,
    /// The sequence number of the peer's FIN; [`u64::MAX`] before it.
    fin: u64,
    last_acknowledged: u64,
    /// When a delayed ACK is due.
    pub(crate) deadline: Time,
    delayed: DelayedAck,
    /// Advertised window, bytes.
    window: u32,
    unacknowledged: u32,
    received: u32,
    timestamp_recent: u32,
    sack: bool,
    /// Duplicates are reported (RFC 2883).
    reports_duplicates: bool,
    congestion_experienced: bool,
    /// Present once a segment has arrived out of order or twice.
    reassembly: Option<Box<Reassembly>>,
    extras: Option<Box<Extras>>,
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
            next: 0,
            fin: u64::MAX,
            last_acknowledged: 0,
            deadline: Time::MAX,
            delayed,
            window,
            unacknowledged: 0,
            received: 0,
            timestamp_recent: 0,
            sack,
            reports_duplicates,
            congestion_experienced: false,
            reassembly: None,
            extras: None,
            duplicates: 0,
        }
    }

    fn echoes_changes(&self) -> bool {
        self.extras.as_ref().is_some_and(|e| e.echoes_changes)
    }

    /// True if what has arrived must be acknowledged before `packet` is, since one
    /// was marked and the other not (RFC 8257, section 3.2).
    fn precedes_change(&self, packet: &Packet) -> bool {
        self.echoes_changes()
            && self.deadline != Time::MAX
            && (packet.ecn == ecn::MARKED) != self.congestion_experienced
    }

    /// ACKs echo `timestamp` until a segment brings another.
    pub(crate) fn set_timestamp(&mut self, timestamp: u32) {
        self.timestamp_recent = timestamp;
    }

    /// The handshake gave a round trip at `now`.
    pub(crate) fn set_round_trip(&mut self, now: Time, smoothed: Duration, timeout: Duration) {
        if let Some(holes) = self.holes() {
            holes.set_round_trip(smoothed);
        }
        if let Some(quickack) = self.quickack() {
            quickack.set_round_trip(now, smoothed, timeout);
        }
    }

    /// Takes the position over from the connection before this one.
    pub(crate) fn continue_after(&mut self, old: &Receiver) {
        self.next = old.next;
        self.last_acknowledged = old.next;
        self.duplicates = old.duplicates;
        if let Some(extras) = &mut self.extras {
            extras.start_at(old.next);
        }
    }

    /// The largest window that it may advertise.
    pub(crate) fn largest(&mut self) -> u32 {
        let window = self.window;
        self.quickack().map_or(window, |q| q.largest())
    }

    /// Bytes delivered in order.
    pub(crate) fn delivered(&self) -> u64 {
        self.next.min(self.fin)
    }

    /// True once everything up to the peer's FIN has arrived.
    pub(crate) fn is_finished(&self) -> bool {
        self.next > self.fin
    }

    /// The window of an application that reads explicitly.
    pub(crate) fn window_by_hand(&mut self) -> Option<u32> {
        let next = self.next;
        self.buffer_mut().map(|b| b.advertise(next))
    }

    /// True if the peer should be sent a window update at once.
    pub(crate) fn wants_update(&self) -> bool {
        self.buffer().is_some_and(|b| b.wants_update(self.next))
    }

    /// True if no segment waits above a gap.
    #[inline]
    fn is_in_order(&self) -> bool {
        self.reassembly.as_ref().is_none_or(|r| r.is_empty())
    }

    /// True if an acknowledgement is only a number and a window.
    #[inline]
    fn is_plain(&self) -> bool {
        let reports = |r: &Reassembly| !r.is_empty() || r.duplicate.is_some();
        self.extras.is_none() && !self.reassembly.as_ref().is_some_and(|r| reports(r))
    }

    /// Processes a packet with payload or a FIN.
    #[inline]
    pub(crate) fn on_data(&mut self, now: Time, packet: &Packet) -> Answer {
        const UNUSUAL: u8 = flags::FIN | flags::CWR;
        let is_usual = packet.sequence == self.next
            && packet.payload > 0
            && packet.flags & UNUSUAL == 0
            && packet.ecn != ecn::MARKED
            && !packet.carries(priority::CONGESTION_HEADER);
        if is_usual && self.is_plain() {
            // The usual segment: the next one, with nothing else to note.
            self.take_next(packet);
            return self.delay(now);
        }
        if is_usual
            && self.is_in_order()
            && let Some(decision) = self.on_next_of_linux(now, packet)
        {
            return self.follow(decision);
        }
        let answer = self.on_any_data(now, packet);
        self.answer_by_status().unwrap_or(answer)
    }

    /// Counts a segment that is the next one.
    #[inline]
    fn take_next(&mut self, packet: &Packet) {
        if packet.sequence <= self.last_acknowledged {
            self.timestamp_recent = packet.timestamp;
        }
        self.received = self.received.saturating_add(1);
        self.next += u64::from(packet.payload);
    }

    /// The usual segment where nothing waits above a gap: [`Receiver::on_any_data`] without all that
    /// does not apply to it. `None` except on a Linux that does nothing but acknowledge.
    fn on_next_of_linux(&mut self, now: Time, packet: &Packet) -> Option<Decision> {
        self.extras.as_ref()?.only_quickack()?;
        self.take_next(packet);
        let held = self.reassembly.as_ref().map_or(0, |r| r.held());
        let quickack = self.extras.as_mut()?.quickack.as_mut()?;
        quickack.on_echo(now, packet);
        let waiting = self.next - self.last_acknowledged;
        let (place, len) = ((self.next, waiting), u32::from(packet.payload));
        Some(quickack.on_segment(now, len, place, self.deadline, (false, held)))
    }

    fn on_any_data(&mut self, now: Time, packet: &Packet) -> Answer {
        if self.precedes_change(packet) {
            return Answer::Before;
        }
        let (start, mut end) = (packet.sequence, packet.sequence + u64::from(packet.payload));
        let last = packet.has(flags::FIN);
        if last {
            self.fin = end;
            end += 1;
        }
        if self.buffer().is_some_and(|buffer| end > buffer.edge()) {
            return Answer::Now; // There was no room for it.
        }
        let marked = packet.ecn == ecn::MARKED;
        let changes = self.echoes_changes();
        let changed = changes && marked != self.congestion_experienced;
        if changes || marked || packet.has(flags::CWR) {
            self.congestion_experienced = marked;
        }
        if packet.carries(priority::CONGESTION_HEADER) {
            let extras = self.extras.get_or_insert_default();
            extras.feedback.take(packet);
            extras.guided.take(packet);
        }
        // RFC 7323, section 4.3: echo the timestamp of the segment that the
        // last ACK left off at, so that a delayed ACK echoes its first. Linux drops
        // what lies below that before it looks at the timestamp.
        let is_below = end < self.last_acknowledged && self.is_linux();
        if start <= self.last_acknowledged && !is_below {
            self.timestamp_recent = packet.timestamp;
        }
        self.received = self.received.saturating_add(1);
        if let Some(extras) = &mut self.extras {
            if let Some(quickack) = &mut extras.quickack {
                quickack.on_echo(now, packet);
            }
            if let Some(holes) = &mut extras.holes {
                holes.take(now, (start, end), packet.corruption_reports());
            } else if let Some(errors) = &mut extras.errors {
                *errors = errors.saturating_add(packet.corruption_reports());
            }
            if let Some(status) = &mut extras.status {
                status.take(start, end);
            }
        }
        match self.on_range(now, packet, (start, end), last) {
            Answer::Later if changed => Answer::Now,
            answer => answer,
        }
    }

    /// Data from `start` to `end`, the last of which is a FIN if `last`.
    fn on_range(
        &mut self,
        now: Time,
        packet: &Packet,
        (start, end): (u64, u64),
        last: bool,
    ) -> Answer {
        if end <= self.next {
            return self.on_old_data(now, start, end);
        }
        if start > self.next {
            return self.on_early_data(now, packet, end);
        }
        let had_gap = !self.is_in_order();
        if (had_gap || start < self.next) && self.reports_overlaps() {
            self.note_overlap(start, end);
        }
        self.next = end;
        let mut held = 0;
        if let Some(reassembly) = &mut self.reassembly {
            self.next = reassembly.advance(end);
            held = reassembly.held();
        }
        let fills = had_gap && self.is_in_order();
        let (next, deadline) = (self.next, self.deadline);
        let waiting = next - self.last_acknowledged;
        if last {
            let is_linux = self.is_linux();
            if let Some(reassembly) = self.reassembly.as_mut().filter(|_| is_linux) {
                reassembly.duplicate = None; // `tcp_fin` forgets it.
            }
            let len = u32::from(packet.payload);
            let decision = self
                .quickack()
                .map(|q| q.on_fin(now, len, waiting, deadline));
            return decision.map_or(Answer::Now, |decision| self.follow(decision));
        }
        if let Some(quickack) = self.quickack() {
            let len = u32::from(packet.payload);
            let decision = quickack.on_segment(now, len, (next, waiting), deadline, (fills, held));
            return self.follow(decision);
        }
        if had_gap {
            return Answer::Now;
        }
        self.delay(now)
    }

    /// Data up to `end` that has arrived before.
    fn on_old_data(&mut self, now: Time, start: u64, end: u64) -> Answer {
        self.note_duplicate(start, end);
        if let Some(quickack) = self.quickack() {
            quickack.on_duplicate();
        }
        // ns-2 takes the last segment in order for new, whenever it comes.
        let is_last = end == self.next && self.is_in_order();
        if !self.reports_duplicates && is_last && self.deadline == Time::MAX {
            return self.delay(now);
        }
        Answer::Now
    }

    /// Data up to `end` above a gap.
    fn on_early_data(&mut self, now: Time, packet: &Packet, end: u64) -> Answer {
        let waits = self.quickack().is_some_and(|q| q.waits_above_gap());
        let reports_overlaps = self.reports_overlaps();
        let reassembly = self.reassembly.get_or_insert_default();
        if waits && reassembly.crowds(packet.sequence, end) {
            if let Some(quickack) = self.quickack() {
                quickack.on_crowd();
            }
            return Answer::Before;
        }
        let overlap = if reports_overlaps {
            reassembly.overlap(packet.sequence, end)
        } else {
            None
        };
        if reassembly.insert(packet.sequence, end) {
            self.report_overlap(overlap);
        } else {
            self.note_duplicate(packet.sequence, end);
            // It is to be reported, which the ACK before it did not.
            if let Some(quickack) = self.quickack() {
                quickack.owes_report();
            }
        }
        let held = self.reassembly.as_ref().map_or(0, |r| r.held());
        let (next, deadline) = (self.next, self.deadline);
        if let Some(quickack) = self.quickack() {
            let decision = quickack.on_gap(now, (next, held), deadline, u32::from(packet.payload));
            return self.follow(decision);
        }
        Answer::Now
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
    #[inline]
    fn delay(&mut self, now: Time) -> Answer {
        self.unacknowledged += 1;
        if self.unacknowledged >= self.delayed.count || self.received <= self.delayed.quick_acks {
            return Answer::Now;
        }
        if self.deadline == Time::MAX {
            let mut longest = self.delayed.timer;
            if let Some(holes) = self.holes() {
                longest = longest.min(holes.longest_delay());
            }
            self.deadline = now + longest;
        }
        Answer::Later
    }

    /// When an ACK is to be sent without a packet; [`Time::MAX`] if never.
    #[inline]
    pub(crate) fn next_deadline(&self) -> Time {
        match &self.extras {
            None => self.deadline,
            Some(extras) => {
                let holes = extras.holes.as_ref().map_or(Time::MAX, |h| h.due());
                self.deadline.min(holes)
            }
        }
    }

    /// True if an ACK is to be sent at `now`.
    pub(crate) fn is_due(&mut self, now: Time) -> bool {
        let due = now >= self.deadline;
        let Some(extras) = &mut self.extras else {
            return due;
        };
        let holes = extras.holes.as_mut().is_some_and(|holes| {
            holes.set_now(now);
            holes.is_due(now)
        });
        if let Some(quickack) = extras.quickack.as_mut().filter(|_| due) {
            quickack.on_timer();
        }
        holes || due
    }

    /// Processes a probe, which is answered at once. What it carries beyond a
    /// dummy is data like any other; a duplicate of it does not count as one of
    /// the sender's retransmissions.
    pub(crate) fn on_probe(&mut self, now: Time, packet: &Packet) {
        if packet.has(flags::DUMMY) {
            return;
        }
        let count = self.duplicates;
        let duplicate = self.reassembly.as_ref().and_then(|r| r.duplicate);
        self.on_data(now, packet);
        self.duplicates = count;
        if let Some(reassembly) = &mut self.reassembly {
            reassembly.duplicate = duplicate;
        }
    }

    fn note_duplicate(&mut self, start: u64, end: u64) {
        self.duplicates += 1;
        if self.reports_duplicates && self.sack {
            self.reassembly.get_or_insert_default().duplicate = Some((start, end));
        }
    }

    /// True if a segment that brings some of what had arrived again is reported: Linux does.
    #[inline]
    fn reports_overlaps(&self) -> bool {
        self.sack && self.is_linux()
    }

    /// What lies from `start` to `end` brings something new, but not all of it is.
    #[cold]
    fn note_overlap(&mut self, start: u64, end: u64) {
        let below = (start < self.next).then_some((start, self.next));
        let reassembly = self.reassembly.as_ref();
        self.report_overlap(below.or_else(|| reassembly?.overlap(start, end)));
    }

    /// The next ACK reports a part of a segment that had arrived before, the lowest: Linux reports
    /// no other that lies apart from it (RFC 2883, section 4.2; `tcp_ofo_queue`,
    /// `tcp_data_queue_ofo`).
    fn report_overlap(&mut self, overlap: Option<(u64, u64)>) {
        if overlap.is_some() {
            self.reassembly.get_or_insert_default().duplicate = overlap;
        }
    }

    /// Fills in the acknowledgement of a packet that is about to be sent.
    #[inline]
    pub(crate) fn acknowledge(&mut self, packet: &mut Packet) {
        packet.flags |= flags::ACK;
        packet.acknowledgement = self.next;
        packet.window = self.window;
        packet.timestamp_echo = self.timestamp_recent;
        if self.congestion_experienced {
            packet.flags |= flags::ECE;
        }
        if !self.is_plain() {
            self.write_options(packet);
        }
        self.unacknowledged = 0;
        self.deadline = Time::MAX;
        self.last_acknowledged = self.next;
    }

    /// Writes what an acknowledgement carries besides its number, and the window
    /// where it is not constant.
    fn write_options(&mut self, packet: &mut Packet) {
        let held = self.reassembly.as_ref().map_or(0, |r| r.held());
        let news = self.next > self.last_acknowledged || !self.is_in_order();
        let mut most = MAX_SACK_BLOCKS;
        if let Some(extras) = &mut self.extras {
            if let Some(buffer) = &mut extras.buffer {
                packet.window = buffer.advertise(self.next);
            } else if let Some(quickack) = &mut extras.quickack {
                packet.window = quickack.advertise(self.next, held);
            }
            if let Some(quickack) = &mut extras.quickack {
                quickack.on_ack(news);
            }
            if let Some(status) = &mut extras.status {
                status.write(packet);
            }
            extras.feedback.give(packet);
            if let Some(holes) = &mut extras.holes {
                holes.write(self.next, packet);
            } else if let Some(errors) = extras.errors.filter(|errors| *errors > 0) {
                packet.count_errors(errors);
                most = SACK_BLOCKS_BESIDE;
            }
            if extras.guided.give(packet) || extras.feedback.is_wanted() {
                most = SACK_BLOCKS_BESIDE;
            }
        }
        if let Some(reassembly) = self.reassembly.as_mut().filter(|_| self.sack) {
            // A sink of ns-2 remembers no more than it can report.
            let remembered = if self.reports_duplicates {
                usize::MAX
            } else {
                MAX_SACK_BLOCKS
            };
            reassembly.write_blocks(packet, most, remembered);
        }
    }
}

#[cfg(test)]
mod tests;
