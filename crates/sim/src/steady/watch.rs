//! Watches the packets of a run until they repeat.

use super::NoSkip;
use super::period::period;
use crate::observer::{LostPacket, Observer};
use crate::options::Stop;
use bentpipe_tcp::{Packet, Snapshot};
use bentpipe_units::{Duration, Time};
use std::hash::{DefaultHasher, Hash, Hasher};

/// Periods must have been seen for so long. No host has a timer as long that would move an open
/// connection without losses, and congestion controls with a longer memory are not skipped.
pub(super) const LEAST: Duration = Duration::from_secs(10);

/// Packets sent and received that are remembered.
const MOST: usize = 1 << 23;

/// Packets before the first look for a period.
const FIRST: usize = 64;

/// What has been seen, and when.
#[derive(Clone, Copy, Debug)]
struct Seen {
    /// A hash of the packet and of the time since the one before.
    what: u64,
    at: Time,
}

impl PartialEq for Seen {
    fn eq(&self, other: &Seen) -> bool {
        self.what == other.what
    }
}

/// Numbers of the last packet in one direction that one end has seen.
#[derive(Clone, Copy, Debug, Default)]
struct Last {
    sequence: u64,
    acknowledgement: u64,
}

/// Watches a run until it repeats, and stops it then.
#[derive(Debug)]
pub(super) struct Watch {
    /// From when on nothing is due from outside.
    calm: Time,
    /// Stops the watched run.
    stop: Stop,
    /// What stops the run that was asked for.
    outer: Stop,
    seen: Vec<Seen>,
    before: Time,
    /// By endpoint, what it sent and what it received.
    last: Vec<[Last; 2]>,
    /// Of the sender that takes the next packet.
    sender: u64,
    /// By endpoint, the RTT samples of its sender.
    samples: Vec<u64>,
    /// Packets at which to look for a period again.
    next_look: usize,
    found: Option<(Time, Duration)>,
    /// When a packet was lost last, or a sender waited in vain.
    lost_at: Option<Time>,
    is_full: bool,
}

impl Watch {
    pub(super) fn new(calm: Time, stop: Stop, outer: Stop) -> Watch {
        Watch {
            calm,
            stop,
            outer,
            seen: Vec::new(),
            before: calm,
            last: Vec::new(),
            sender: 0,
            samples: Vec::new(),
            next_look: FIRST,
            found: None,
            lost_at: None,
            is_full: false,
        }
    }

    /// Up to when the run was watched until it repeated, and its period.
    pub(super) fn found(&self) -> Option<(Time, Duration)> {
        self.found
    }

    /// Why nothing was found in the time up to `budget`.
    pub(super) fn refusal(&self, budget: Duration) -> NoSkip {
        // What was lost before did not keep it from repeating.
        let half = Time::ZERO + budget / 2;
        if self.lost_at.is_some_and(|at| at > half) {
            return NoSkip::Losses;
        }
        match self.is_full {
            true => NoSkip::Long,
            false => NoSkip::Unsettled { looked: budget },
        }
    }

    fn see(&mut self, now: Time, endpoint: u32, packet: &Packet, received: bool) {
        let index = endpoint as usize;
        if self.last.len() <= index {
            self.last.resize(index + 1, [Last::default(); 2]);
        }
        let last = &mut self.last[index][usize::from(received)];
        let before = std::mem::replace(
            last,
            Last {
                sequence: packet.sequence,
                acknowledgement: packet.acknowledgement,
            },
        );
        if now < self.calm || self.found.is_some() {
            return;
        }
        let mut hash = DefaultHasher::new();
        (now.since(self.before), endpoint, received).hash(&mut hash);
        packet
            .sequence
            .wrapping_sub(before.sequence)
            .hash(&mut hash);
        packet
            .acknowledgement
            .wrapping_sub(before.acknowledgement)
            .hash(&mut hash);
        // Timestamps are the time at which it was sent.
        let Packet {
            window,
            payload,
            bytes,
            flags,
            sack_count,
            ecn,
            priority,
            ..
        } = *packet;
        (window, payload, bytes, flags, sack_count, ecn, priority).hash(&mut hash);
        for block in packet.sack.iter().take(sack_count.into()) {
            (block.start, block.end).hash(&mut hash);
        }
        if received {
            self.sender.hash(&mut hash);
        }
        self.before = now;
        self.seen.push(Seen {
            what: hash.finish(),
            at: now,
        });
        if self.seen.len() >= self.next_look {
            self.look();
        }
    }

    /// Looks whether the last half of what was seen repeats.
    #[cold]
    fn look(&mut self) {
        let all = self.seen.len();
        self.next_look = all + all / 4;
        if self.outer.is_stopped() {
            self.stop.stop();
        }
        if all >= MOST {
            self.is_full = true;
            self.stop.stop();
        }
        let half = &self.seen[all / 2..];
        let [first, .., last] = half else { return };
        if last.at.since(first.at) < LEAST {
            return;
        }
        if let Some(period) = period(half) {
            let length = last.at.since(half[half.len() - 1 - period].at);
            if !length.is_zero() {
                self.found = Some((last.at, length));
                self.stop.stop();
            }
        }
    }

    /// Something has happened that does not happen in a steady state.
    fn begin_again(&mut self, now: Time) {
        self.lost_at = Some(now);
        self.seen.clear();
        self.next_look = FIRST;
    }
}

impl Observer for Watch {
    fn sent(&mut self, now: Time, endpoint: u32, packet: &Packet) {
        self.see(now, endpoint, packet, false);
    }

    fn received(&mut self, now: Time, endpoint: u32, packet: &Packet) {
        self.see(now, endpoint, packet, true);
        self.sender = 0;
    }

    fn lost(&mut self, loss: &LostPacket) {
        self.begin_again(loss.at);
    }

    fn timed_out(&mut self, now: Time, _: u32) {
        self.begin_again(now);
    }

    fn sees_senders(&self) -> bool {
        true
    }

    fn sender(&mut self, endpoint: u32, state: &Snapshot) {
        let index = endpoint as usize;
        if self.samples.len() <= index {
            self.samples.resize(index + 1, 0);
        }
        let mut hash = DefaultHasher::new();
        let Snapshot {
            cwnd,
            ssthresh,
            flight,
            sacked,
            lost,
            retransmitted,
            reordering,
            rtt_samples,
            ..
        } = *state;
        // When it samples is a state that its packets do not show.
        let before = std::mem::replace(&mut self.samples[index], rtt_samples);
        rtt_samples.wrapping_sub(before).hash(&mut hash);
        (cwnd.to_bits(), ssthresh.to_bits(), flight).hash(&mut hash);
        (sacked, lost, retransmitted, reordering).hash(&mut hash);
        self.sender = hash.finish();
    }
}
