//! The receiver's side of recovery `snack`: SCPS-TP's repair by selective
//! negative acknowledgements.
//!
//! Source: CCSDS 714.0-B (SCPS-TP), as Salamanca (2008), section 1.2.3.2, names it:
//! SNACK, corruption-induced losses signalled, timestamps, ACK delays computed
//! from the estimated RTT.
//!
//! The receiver records every hole. An ACK names a hole as soon as it is detected, and again each
//! time that [`REPEAT`] round trips have passed without its being filled, by a timer where no
//! packet arrives. Such an ACK names the first hole that is due and, by the bit vector, those close
//! behind it. The round trip is that of the handshake (a second without one), moved by an eighth
//! with each repair toward the time since the hole was first named. ACKs are delayed no longer than
//! half of it. Links may report packets that were corrupted (a link's `reports_corruption`). A hole
//! of no more segments than were reported within the last round trip is attributed to corruption,
//! and the ACK reports that (TCP option 23) if it holds for all holes in the ACK.
//!
//! Left open, with the reading chosen:
//! - SACK is not used in addition: duplicate ACKs show that data behind a hole has left the
//!   network, one segment each.
//! - The network keeps order: any gap is a hole.
//!
//! The sender's side is `rfc/snack.rs`.

use crate::packet::{Packet, SNACK_SEGMENTS, Snack, priority};
use bentpipe_units::{Duration, Time};
use std::collections::VecDeque;

/// A hole is named again after this many round trips.
const REPEAT: f64 = 1.25;

/// The round trip of an end that had no handshake, before the first sample.
pub(crate) const UNKNOWN_ROUND_TRIP: Duration = Duration::from_secs(1);

/// Bytes that are missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Hole {
    start: u64,
    end: u64,
    /// When an ACK names it next.
    due: Time,
    /// Links have reported as many corrupted packets.
    corrupted: bool,
    /// When an ACK named it, if exactly one has.
    named: Named,
}

/// How often ACKs named a hole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Named {
    Never,
    Once(Time),
    Again,
}

impl Hole {
    fn name(&mut self, now: Time, again: Time) {
        self.due = again;
        self.named = match self.named {
            Named::Never => Named::Once(now),
            _ => Named::Again,
        };
    }
}

/// The holes of a receiver.
#[derive(Clone, Debug)]
pub(crate) struct Holes {
    mss: u32,
    round_trip: Duration,
    /// Missing ranges, ascending and disjoint.
    holes: VecDeque<Hole>,
    /// No hole is due before.
    earliest: Time,
    /// One past the last byte that has arrived.
    highest: u64,
    now: Time,
    /// Corrupted packets that belong to no hole yet, and until when they may.
    reports: u32,
    reports_end: Time,
}

impl Holes {
    pub(crate) fn new(mss: u32) -> Holes {
        Holes {
            mss: mss.max(1),
            round_trip: UNKNOWN_ROUND_TRIP,
            holes: VecDeque::new(),
            earliest: Time::MAX,
            highest: 0,
            now: Time::ZERO,
            reports: 0,
            reports_end: Time::ZERO,
        }
    }

    /// The stream begins at byte `first`.
    pub(super) fn start_at(&mut self, first: u64) {
        self.highest = first;
    }

    /// The handshake took `rtt`.
    pub(crate) fn set_round_trip(&mut self, rtt: Duration) {
        if !rtt.is_zero() {
            self.round_trip = rtt;
        }
    }

    /// The longest delay of an ACK.
    pub(crate) fn longest_delay(&self) -> Duration {
        self.round_trip / 2
    }

    pub(crate) fn set_now(&mut self, now: Time) {
        self.now = now;
    }

    /// Bytes from `start` to `end` arrived at `now`, and links reported `reports`
    /// corrupted packets.
    pub(crate) fn take(&mut self, now: Time, (start, end): (u64, u64), reports: u32) {
        self.now = now;
        if now > self.reports_end {
            self.reports = 0;
        }
        if reports > 0 {
            self.reports = self.reports.saturating_add(reports);
            self.reports_end = now + self.round_trip;
        }
        if start > self.highest {
            let (from, to) = (self.highest, start);
            let corrupted = self.is_corrupted(to - from);
            self.holes.push_back(Hole {
                start: from,
                end: to,
                due: now,
                corrupted,
                named: Named::Never,
            });
            self.earliest = self.earliest.min(now);
        } else {
            self.fill(start, end);
        }
        self.highest = self.highest.max(end);
    }

    /// True if the reports explain a hole of that many bytes, which uses them
    /// up.
    fn is_corrupted(&mut self, bytes: u64) -> bool {
        let segments = bytes.div_ceil(u64::from(self.mss));
        let explained = segments <= u64::from(self.reports);
        self.reports = if explained {
            self.reports - segments as u32
        } else {
            0
        };
        explained
    }

    fn fill(&mut self, start: u64, end: u64) {
        let mut at = self.holes.partition_point(|h| h.end <= start);
        while let Some(&hole) = self.holes.get(at).filter(|h| h.start < end) {
            if let Named::Once(named) = hole.named {
                let took = self.now.since(named);
                self.round_trip = (self.round_trip * 7 + took) / 8;
            }
            let below = (hole.start < start).then_some(Hole { end: start, ..hole });
            let above = (hole.end > end).then_some(Hole { start: end, ..hole });
            match (below, above) {
                (None, None) => {
                    self.holes.remove(at);
                }
                (Some(below), None) => {
                    self.holes[at] = below;
                    at += 1;
                }
                (None, Some(above)) => {
                    self.holes[at] = above;
                    return;
                }
                (Some(below), Some(above)) => {
                    self.holes[at] = below;
                    self.holes.insert(at + 1, above);
                    return;
                }
            }
        }
    }

    /// No ACK names a hole before this; [`Time::MAX`] if there is none.
    pub(crate) fn due(&self) -> Time {
        self.earliest
    }

    /// True if an ACK names a hole at `now`.
    pub(crate) fn is_due(&mut self, now: Time) -> bool {
        if now >= self.earliest {
            // The one that was due may have been filled since.
            self.find_earliest();
        }
        now >= self.earliest
    }

    fn find_earliest(&mut self) {
        let due = self.holes.iter().map(|h| h.due);
        self.earliest = due.min().unwrap_or(Time::MAX);
    }

    /// Writes what is due into an ACK for all bytes below `acknowledgement`.
    pub(crate) fn write(&mut self, acknowledgement: u64, packet: &mut Packet) {
        let now = self.now;
        if !self.is_due(now) {
            return;
        }
        let Some(first) = self.holes.iter().position(|h| h.due <= now) else {
            return;
        };
        let again = now + self.round_trip.scaled(REPEAT);
        let mss = u64::from(self.mss);
        let hole = self.holes[first];
        let mut snack = Snack::hole(
            hole.start.saturating_sub(acknowledgement),
            hole.end.saturating_sub(acknowledgement),
            self.mss,
        );
        self.holes[first].name(now, again);
        let mut corrupted = hole.corrupted;
        // Whole segments behind the hole, as the sender will count them.
        let behind = acknowledgement + (u64::from(snack.offset) + u64::from(snack.size)) * mss;
        let arrived = self.highest.saturating_sub(behind) / mss;
        let covered = arrived.min(u64::from(SNACK_SEGMENTS)) as u32;
        let mut vector = (0..covered).fold(0, |v, i| v | 1u64 << (SNACK_SEGMENTS - 1 - i));
        // The vector ends with a segment that has arrived, or the zeros before its end would have
        // no meaning.
        for hole in self.holes.iter_mut().skip(first + 1) {
            let from = hole.start.saturating_sub(behind) / mss;
            let to = hole.end.saturating_sub(behind).div_ceil(mss);
            if from >= u64::from(covered) {
                break;
            }
            for i in from..to.min(u64::from(covered)) {
                vector &= !(1u64 << (u64::from(SNACK_SEGMENTS) - 1 - i));
            }
            if to < u64::from(covered) {
                hole.name(now, again);
                corrupted &= hole.corrupted;
            }
        }
        snack.vector = if vector.count_ones() == covered {
            0 // Nothing else is missing: the first hole says it all.
        } else {
            vector
        };
        packet.set_snack(snack);
        if corrupted {
            packet.priority |= priority::CORRUPTION;
        }
        self.find_earliest();
    }
}

#[cfg(test)]
#[path = "holes_tests.rs"]
mod tests;
