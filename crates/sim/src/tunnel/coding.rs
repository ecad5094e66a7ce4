//! Repairs of the tails of what an association sends, at both of its ends: which packets are protected,
//! and which of those that were lost are restored.
//!
//! What is restored is received as if it had arrived late; the sender finds losses as before. A repair
//! restores any packet of its generation, as each of a maximum distance separable code does. The
//! numbers are those of [`bentpipe_quic::coding`].
//!
//! Reading chosen: data packets of streams, retransmissions included, and datagrams are protected.
//! Acknowledgements, which are repeated by those that follow them, and repairs are not.

use bentpipe_quic::coding::{self, Budget, Losses, PROTECTED};
use bentpipe_tcp::Packet;
use bentpipe_tcp::packet::priority;
use bentpipe_units::{Bytes, Duration, Rate, Time};
use std::collections::VecDeque;

/// Bytes that a repair of full packets has more than these.
const REPAIR_HEADER: u16 = 60;

/// A packet that was sent.
#[derive(Clone, Copy, Debug)]
struct Sent {
    at: Time,
    packet: Packet,
    has_arrived: bool,
}

/// The packets that are protected together, in generations that take turns.
#[derive(Debug)]
struct Block {
    /// The number of its first packet; the others follow.
    first: u64,
    packets: Vec<Sent>,
    /// By generation, repairs that have arrived.
    repairs: Vec<usize>,
}

/// A stream that has nothing more to send for now.
#[derive(Clone, Copy, Debug)]
struct Tail {
    due: Time,
    stream: usize,
    /// The packet that it sent last.
    number: u64,
}

/// The protection of what one box sends to another.
#[derive(Debug)]
pub(super) struct Protection {
    losses: Losses,
    budget: Budget,
    /// When the budget was brought up to date.
    budget_at: Time,
    /// The largest age of what is protected: a round trip.
    rtt: Duration,
    /// Bytes of a full packet.
    full: u16,
    /// Bytes a second of the link, once repairs have been due.
    rate: f64,
    /// The number of the next packet.
    next: u64,
    /// The last packets since the last repairs.
    recent: VecDeque<Sent>,
    last_sent_at: Time,
    /// By when they are due.
    tails: VecDeque<Tail>,
    /// By stream, the packet that it sent last.
    last_of: Vec<u64>,
    /// Oldest first.
    blocks: VecDeque<Block>,
    /// Repairs that are to be sent.
    repairs: VecDeque<Packet>,
}

impl Protection {
    pub(super) fn new(rtt: Duration, full: u16) -> Protection {
        Protection {
            losses: Losses::default(),
            budget: Budget::new(u32::from(full)),
            budget_at: Time::ZERO,
            rtt,
            full,
            rate: f64::INFINITY,
            next: 0,
            recent: VecDeque::new(),
            last_sent_at: Time::ZERO,
            tails: VecDeque::new(),
            last_of: Vec::new(),
            blocks: VecDeque::new(),
            repairs: VecDeque::new(),
        }
    }

    /// Acknowledgements were sent, which may be lost as other packets.
    pub(super) fn acknowledged(&mut self, packets: u64) {
        self.losses.sent(packets);
    }

    /// Packets were found lost.
    pub(super) fn lost(&mut self, packets: u64) {
        self.losses.lost(packets);
    }

    fn pause(&self) -> Duration {
        let rtt = std::time::Duration::from_nanos(self.rtt.as_nanos());
        let pause = coding::pause(rtt, self.rate, u32::from(self.full)).as_nanos();
        Duration::from_nanos(u64::try_from(pause).unwrap_or(u64::MAX))
    }

    /// The number that the next packet has.
    pub(super) const fn next_number(&self) -> u64 {
        self.next
    }

    /// A stream has sent `packet`, or a datagram has left; a stream `pauses` where it has nothing more.
    pub(super) fn sent(&mut self, now: Time, stream: Option<usize>, packet: Packet, pauses: bool) {
        let number = self.next;
        self.next += 1;
        self.losses.sent(1);
        self.last_sent_at = now;
        self.recent.push_back(Sent {
            at: now,
            packet,
            has_arrived: false,
        });
        if self.recent.len() > PROTECTED {
            self.recent.pop_front();
        }
        let Some(stream) = stream else { return };
        if self.last_of.len() <= stream {
            self.last_of.resize(stream + 1, u64::MAX);
        }
        self.last_of[stream] = number;
        if pauses && self.losses.share().is_some() {
            let due = now + self.pause();
            self.tails.push_back(Tail {
                due,
                stream,
                number,
            });
        }
    }

    /// The number of the first of the recent packets.
    fn first_recent(&self) -> u64 {
        self.next - self.recent.len() as u64
    }

    /// Takes out the tails that go on or are protected already.
    fn tidy(&mut self) {
        let first = self.first_recent();
        while let Some(tail) = self.tails.front()
            && (tail.number < first || self.last_of[tail.stream] != tail.number)
        {
            self.tails.pop_front();
        }
    }

    /// When [`Protection::protect`] is to be called; [`Time::MAX`]: not yet.
    pub(super) fn due(&mut self) -> Time {
        if self.recent.is_empty() || self.losses.share().is_none() {
            return Time::MAX;
        }
        self.tidy();
        let silence = self.last_sent_at + self.pause();
        self.tails.front().map_or(silence, |it| it.due.min(silence))
    }

    /// Makes the repairs that are due, on a link of this rate.
    pub(super) fn protect(&mut self, now: Time, rate: Rate) {
        let Some(share) = self.losses.share().filter(|_| self.due() <= now) else {
            return;
        };
        let passed = now.since(std::mem::replace(&mut self.budget_at, now));
        let passed = std::time::Duration::from_nanos(passed.as_nanos());
        self.rate = rate.bps_f64() / 8.0;
        self.budget.pass(passed, self.rate);
        let oldest = Time::from_nanos(now.as_nanos().saturating_sub(self.rtt.as_nanos()));
        while self.recent.front().is_some_and(|sent| sent.at < oldest) {
            self.recent.pop_front();
        }
        let block = Block {
            first: self.first_recent(),
            packets: self.recent.drain(..).collect(),
            repairs: Vec::new(),
        };
        self.tails.clear();
        if !block.packets.is_empty() {
            self.add(block, share);
        }
        // What has not been repaired by then was sent again.
        while let Some(block) = self.blocks.front()
            && block
                .packets
                .last()
                .is_none_or(|it| it.at + self.rtt * 4 < now)
        {
            self.blocks.pop_front();
        }
    }

    fn add(&mut self, mut block: Block, share: f64) {
        let count = coding::generations(block.packets.len());
        block.repairs = vec![0; count];
        for generation in 0..count {
            let members = block.packets.iter().skip(generation).step_by(count);
            let packets = members.clone().count();
            let longest = members.map(|it| it.packet.bytes).max().unwrap_or(0);
            let Some(last) = block.packets.last() else {
                return;
            };
            // One that is longer than a packet goes in two parts.
            let is_full = longest >= self.full;
            for _ in 0..coding::repairs(packets, 1 + usize::from(is_full), share) {
                let mut repair = Packet::new(last.packet.destination);
                let more = if is_full { REPAIR_HEADER } else { 0 };
                repair.bytes = longest.saturating_add(more);
                repair.priority = priority::REPAIR;
                repair.sequence = block.first;
                repair.window = generation as u32;
                if self.budget.take(u32::from(repair.bytes)) {
                    self.repairs.push_back(repair);
                }
            }
        }
        self.blocks.push_back(block);
    }

    /// True if repairs are to be sent.
    pub(super) fn has_repairs(&self) -> bool {
        !self.repairs.is_empty()
    }

    /// The next repair to send.
    pub(super) fn take_repair(&mut self) -> Option<Packet> {
        self.repairs.pop_front()
    }

    /// The packet with this number has arrived at the other box. Adds what is restored by that.
    pub(super) fn arrived(&mut self, number: u64, restored: &mut Vec<Packet>) {
        if let Some(at) = number.checked_sub(self.first_recent())
            && let Some(sent) = self.recent.get_mut(at as usize)
        {
            sent.has_arrived = true;
            return;
        }
        let after = self.blocks.partition_point(|block| block.first <= number);
        let block = after.checked_sub(1).and_then(|at| self.blocks.get_mut(at));
        if let Some(block) = block
            && let Some(sent) = block.packets.get_mut((number - block.first) as usize)
        {
            sent.has_arrived = true;
            let generation = (number - block.first) as usize % block.repairs.len().max(1);
            block.restore(generation, restored);
        }
    }

    /// A repair has arrived at the other box. Adds what is restored by it.
    pub(super) fn repaired(&mut self, repair: &Packet, restored: &mut Vec<Packet>) {
        let place = self
            .blocks
            .binary_search_by_key(&repair.sequence, |it| it.first);
        if let Some(block) = place.ok().and_then(|at| self.blocks.get_mut(at))
            && let Some(arrived) = block.repairs.get_mut(repair.window as usize)
        {
            *arrived += 1;
            block.restore(repair.window as usize, restored);
        }
    }
}

impl Block {
    /// Restores what is missing of a generation, where no more is than repairs have arrived.
    fn restore(&mut self, generation: usize, restored: &mut Vec<Packet>) {
        let count = self.repairs.len().max(1);
        let members = self.packets.iter_mut().skip(generation).step_by(count);
        let missing = members.filter(|it| !it.has_arrived);
        let repairs = self.repairs.get(generation).copied().unwrap_or(0);
        let mut missing: Vec<&mut Sent> = missing.take(repairs + 1).collect();
        if missing.len() <= repairs {
            for sent in &mut missing {
                sent.has_arrived = true;
                restored.push(sent.packet);
            }
        }
    }
}

/// What of `bytes` of acknowledgements with headers of so many bytes are packets.
pub(super) fn packets_in(bytes: u64, header: Bytes) -> u64 {
    bytes / header.get().max(1)
}

#[cfg(test)]
mod tests;
