//! The state of one connection.

use super::SpoofSettings;
use crate::connections;
use crate::interface::{Pass, Surroundings};
use bentpipe_tcp::packet::{MAX_SACK_BLOCKS, SackBlock, ecn, flags};
use bentpipe_tcp::{Packet, Transmit};
use bentpipe_units::{Duration, Time};
use std::collections::VecDeque;

type Shared = connections::Shared<SpoofSettings, ()>;

/// A packet that the box answers for.
#[derive(Clone, Copy, Debug)]
struct Cached {
    packet: Packet,
    /// When it last left toward the leg.
    sent_at: Time,
    resent: bool,
    /// The receiver has it, by a SACK block.
    sacked: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Connection {
    /// Ascending by sequence number; all that the receiver has not
    /// acknowledged.
    cache: VecDeque<Cached>,
    /// The next byte that the box expects: what it has acknowledged.
    next: u64,
    /// The next byte that the receiver expects, by its last ACK.
    last_ack: u64,
    /// Window that the receiver advertised, bytes.
    pub(super) window: u32,
    /// What the box has advertised last.
    advertised: u32,
    /// Duplicates since the last ACK of the receiver that advanced.
    duplicates: u32,
    /// While losses are repaired: one past the last byte that had been sent
    /// when the first was found.
    repairs: Option<u64>,
    /// What the ACKs of the box are made from: the last data of the sender.
    template: Packet,
    srtt: f64,
    rttvar: f64,
    sampled: bool,
    deadline: Time,
}

impl Connection {
    /// The connection whose first byte has this number.
    pub(super) fn new(first: u64) -> Connection {
        Connection {
            cache: VecDeque::new(),
            next: first,
            last_ack: first,
            window: u32::MAX,
            advertised: u32::MAX,
            duplicates: 0,
            repairs: None,
            template: Packet::new(0),
            // As Snoop's before a sample.
            srtt: 0.1,
            rttvar: 0.25,
            sampled: false,
            deadline: Time::MAX,
        }
    }

    /// Moves `next` over what is cached without a gap, from place `at` on.
    fn reassemble(&mut self, at: usize) {
        for cached in self.cache.range(at.min(self.cache.len())..) {
            if cached.packet.sequence > self.next {
                return;
            }
            self.next = self.next.max(end(&cached.packet));
        }
    }

    /// Sends an ACK for all that the box has; `recent` is the place of what came
    /// last.
    fn acknowledge<T: Transmit>(
        &mut self,
        now: Time,
        recent: Option<usize>,
        shared: &mut Shared,
        out: &mut T,
    ) {
        let data = &self.template;
        let mut ack = Packet::new(data.destination ^ 1);
        ack.flags = flags::ACK;
        if data.ecn == ecn::MARKED {
            ack.flags |= flags::ECE;
        }
        ack.acknowledgement = self.next;
        ack.sequence = data.acknowledgement;
        ack.timestamp_echo = data.timestamp;
        if data.timestamp != 0 {
            // Truncation is the wrap of a 32-bit timestamp clock.
            ack.timestamp = (now.as_nanos() / 1_000) as u32;
        }
        self.advertised = self.offer(shared);
        ack.window = self.advertised;
        let recent = recent.map(|at| self.cache[at].packet.sequence);
        self.put_blocks(&mut ack, recent);
        let headers = data.bytes - data.payload;
        let blocks = u16::from(ack.sack_count);
        ack.bytes = headers + if blocks == 0 { 0 } else { 4 + 8 * blocks };
        shared.counters.acknowledged += 1;
        out.transmit(ack);
    }

    /// The window to advertise: above what the box has, it has no room beyond
    /// its cache.
    fn offer(&self, shared: &Shared) -> u32 {
        let free = u64::from(shared.settings.cache).saturating_sub(self.cache.len() as u64);
        let bytes = free * u64::from(self.template.payload.max(1));
        // The receiver's window counts from what it has acknowledged.
        let held = self.next.saturating_sub(self.last_ack);
        let receiver = u64::from(self.window).saturating_sub(held);
        bytes.min(receiver).min(u64::from(u32::MAX)) as u32
    }

    /// SACK blocks: first the one with what came last, then those nearest to
    /// the end.
    fn put_blocks(&self, ack: &mut Packet, recent: Option<u64>) {
        if self
            .cache
            .back()
            .is_none_or(|last| last.packet.sequence < self.next)
        {
            return; // Nearly always.
        }
        let relative = |byte: u64| byte.wrapping_sub(self.next) as u32;
        let mut blocks = [SackBlock::default(); MAX_SACK_BLOCKS];
        let mut count = 0;
        let above = |c: &&Cached| c.packet.sequence >= self.next;
        let mut islands = Islands {
            cached: self.cache.iter().rev().take_while(above),
            ahead: None,
        };
        for (start, stop) in islands.by_ref() {
            let block = SackBlock {
                start: relative(start),
                end: relative(stop),
            };
            let is_recent = recent.is_some_and(|byte| (start..stop).contains(&byte));
            if is_recent {
                let kept = count.min(MAX_SACK_BLOCKS - 1);
                blocks.copy_within(0..kept, 1);
                blocks[0] = block;
                count = kept + 1;
            } else if count < MAX_SACK_BLOCKS {
                blocks[count] = block;
                count += 1;
            }
        }
        ack.sack = blocks;
        ack.sack_count = count as u8;
    }

    fn advance(&mut self, now: Time, ack: u64, shared: &Shared) {
        let mut sample = None;
        while let Some(head) = self.cache.front()
            && end(&head.packet) <= ack
        {
            // Not of what was sent twice, nor of what waited for that.
            let clean = !head.resent && self.repairs.is_none();
            sample = clean.then_some(head.sent_at);
            self.cache.pop_front();
        }
        if let Some(sent_at) = sample {
            self.sample(now.since(sent_at));
        }
        self.last_ack = ack;
        self.repairs = self.repairs.filter(|until| ack < *until);
        self.duplicates = 0;
        self.deadline = Time::MAX;
        if !self.cache.is_empty() {
            self.arm(now, shared);
        }
    }

    /// Marks what the receiver has above a hole.
    fn take_blocks(&mut self, packet: &Packet) {
        let ack = packet.acknowledgement;
        for block in &packet.sack[..usize::from(packet.sack_count).min(MAX_SACK_BLOCKS)] {
            // A duplicate report lies below the ACK and wraps.
            if block.start >= block.end || block.end > u32::MAX / 2 {
                continue;
            }
            let (start, stop) = (ack + u64::from(block.start), ack + u64::from(block.end));
            let at = self.cache.partition_point(|c| c.packet.sequence < start);
            for cached in self.cache.range_mut(at..) {
                if end(&cached.packet) > stop {
                    break;
                }
                cached.sacked = true;
            }
        }
    }

    /// Sends again, once, what more than `threshold` packets have overtaken.
    fn resend_holes<T: Transmit>(&mut self, now: Time, shared: &mut Shared, out: &mut T) {
        let mut above = self.cache.iter().filter(|c| c.sacked).count();
        for at in 0..self.cache.len() {
            if above <= shared.settings.threshold as usize {
                return;
            }
            let cached = &self.cache[at];
            if cached.sacked {
                above -= 1;
            } else if !cached.resent {
                self.resend(at, now, shared, out);
            }
        }
    }

    /// Sends the head of the cache again, if it is missing and was not yet.
    fn resend_head<T: Transmit>(&mut self, now: Time, shared: &mut Shared, out: &mut T) {
        let missing = self
            .cache
            .front()
            .is_some_and(|head| head.packet.sequence <= self.last_ack && !head.resent);
        if missing {
            self.resend(0, now, shared, out);
        }
    }

    /// Sends the packet at a place of the cache again.
    fn resend<T: Transmit>(&mut self, at: usize, now: Time, shared: &mut Shared, out: &mut T) {
        let last = self.cache.back().map(|last| end(&last.packet));
        let Some(cached) = self.cache.get_mut(at) else {
            return;
        };
        cached.resent = true;
        cached.sent_at = now;
        out.transmit(cached.packet);
        shared.counters.local_retransmissions += 1;
        self.repairs = self.repairs.or(last);
        self.arm(now, shared);
    }

    fn arm(&mut self, now: Time, shared: &Shared) {
        let timer = Duration::from_secs_f64(self.srtt + 4.0 * self.rttvar);
        self.deadline = now + timer.max(shared.settings.tick);
    }

    fn sample(&mut self, rtt: Duration) {
        let rtt = rtt.as_secs();
        if self.sampled {
            self.rttvar += 0.25 * ((rtt - self.srtt).abs() - self.rttvar);
            self.srtt += 0.125 * (rtt - self.srtt);
        } else {
            (self.srtt, self.rttvar) = (rtt, rtt / 2.0);
        }
        self.sampled = true;
    }
}

impl connections::Connection for Connection {
    type Settings = SpoofSettings;
    type More = ();

    fn of_data(packet: &Packet, _: &SpoofSettings) -> Connection {
        // Without a handshake the stream begins with its first data.
        Connection::new(packet.sequence)
    }

    fn on_answer(connection: &mut Option<Box<Connection>>, packet: &Packet) {
        // Sequence numbers go on from an earlier connection.
        connection
            .get_or_insert_with(|| Box::new(Connection::new(packet.acknowledgement)))
            .window = packet.window;
    }

    fn on_data<T: Transmit>(
        &mut self,
        around: Surroundings,
        packet: &Packet,
        shared: &mut Shared,
        out: &mut T,
    ) -> Pass {
        self.template = *packet;
        let sequence = packet.sequence;
        let at = self.cache.partition_point(|c| c.packet.sequence < sequence);
        let known = self
            .cache
            .get(at)
            .is_some_and(|c| c.packet.sequence == sequence);
        if end(packet) <= self.last_ack || known {
            // The box has it: its ACK was lost, or late.
            self.acknowledge(around.now, None, shared, out);
            return Pass::Suppress;
        }
        if !around.room || self.cache.len() >= shared.settings.cache as usize {
            shared.counters.overflow += 1;
            return Pass::Forward;
        }
        let cached = Cached {
            packet: *packet,
            sent_at: around.now,
            resent: false,
            sacked: false,
        };
        self.cache.insert(at, cached);
        shared.counters.cached += 1;
        self.reassemble(at);
        self.acknowledge(around.now, Some(at), shared, out);
        if self.deadline == Time::MAX {
            self.arm(around.now, shared);
        }
        Pass::Forward
    }

    fn on_ack<T: Transmit>(
        &mut self,
        now: Time,
        packet: &Packet,
        shared: &mut Shared,
        out: &mut T,
    ) -> Pass {
        self.window = packet.window;
        let ack = packet.acknowledgement;
        if ack > self.last_ack {
            self.advance(now, ack, shared);
            // What is missing after a repair was lost with it.
            if self.repairs.is_some() {
                self.resend_head(now, shared, out);
            }
        } else if ack == self.last_ack && packet.payload == 0 && !self.cache.is_empty() {
            self.duplicates += 1;
            if self.duplicates > shared.settings.threshold {
                self.resend_head(now, shared, out);
            }
        }
        if packet.sack_count > 0 {
            self.take_blocks(packet);
            self.resend_holes(now, shared, out);
        }
        let news = ack > self.next;
        if news {
            // What did not fit into the cache has arrived nevertheless.
            self.next = ack;
            self.reassemble(0);
        }
        let few = 2 * u32::from(self.template.payload.max(1));
        let reopened = self.advertised < few && self.offer(shared) >= few;
        if (news || reopened) && self.template.payload > 0 {
            self.acknowledge(now, None, shared, out);
        }
        if packet.payload > 0 || packet.has(flags::FIN) {
            return Pass::Forward;
        }
        Pass::Suppress
    }

    fn deadline(&self) -> Time {
        self.deadline
    }

    fn on_deadline<T: Transmit>(&mut self, now: Time, shared: &mut Shared, out: &mut T) {
        self.deadline = Time::MAX;
        let held = self
            .cache
            .front()
            .is_some_and(|head| head.packet.sequence <= self.last_ack);
        if held {
            shared.counters.timeouts += 1;
            self.resend(0, now, shared, out);
        }
    }
}

/// Runs of cached packets without a gap, the last first.
struct Islands<I> {
    cached: I,
    /// A packet that was taken and belongs to the next run.
    ahead: Option<(u64, u64)>,
}

impl<'a, I: Iterator<Item = &'a Cached>> Iterator for Islands<I> {
    type Item = (u64, u64);

    fn next(&mut self) -> Option<(u64, u64)> {
        let range = |c: &Cached| (c.packet.sequence, end(&c.packet));
        let (mut start, stop) = match self.ahead.take() {
            Some(run) => run,
            None => self.cached.next().map(range)?,
        };
        for cached in self.cached.by_ref() {
            let below = range(cached);
            if below.1 < start {
                self.ahead = Some(below);
                break;
            }
            start = below.0;
        }
        Some((start, stop))
    }
}

/// One past the last sequence number of a packet: a FIN takes one.
fn end(packet: &Packet) -> u64 {
    packet.sequence + u64::from(packet.payload) + u64::from(packet.has(flags::FIN))
}
