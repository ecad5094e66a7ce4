//! One connection's cache, timer and count of duplicates.

use super::{SnoopSettings, SnoopVariant};
use crate::connections;
use crate::interface::{Pass, Surroundings};
use bentpipe_tcp::packet::flags;
use bentpipe_tcp::{Packet, Transmit};
use bentpipe_units::{Duration, Time};
use std::collections::VecDeque;

/// A packet in the cache.
#[derive(Clone, Copy, Debug)]
struct Cached {
    packet: Packet,
    /// When it last left toward the leg.
    sent_at: Time,
    /// Local retransmissions since the sender last sent it.
    resent: u32,
    /// The sender has sent it again: its duplicates are the sender's.
    by_sender: bool,
}

/// The number counts the duplicates that have passed, in the variant of ns-2.
type Shared = connections::Shared<SnoopSettings, u32>;

#[derive(Clone, Debug)]
pub(crate) struct Connection {
    /// Ascending by sequence number.
    cache: VecDeque<Cached>,
    /// The next byte that the receiver expects, by its last ACK.
    last_ack: u64,
    /// Window that the receiver advertised, bytes.
    window: u32,
    /// The highest sequence number seen.
    last_seen: Option<u64>,
    /// Duplicates still to come for the packets behind the hole; negative
    /// where there were fewer packets than duplicates.
    expected: i64,
    /// The head has been sent again since the last ACK that advanced, and does
    /// not count among the packets behind the hole.
    head_resent: bool,
    /// Duplicates that have passed since the last ACK that advanced.
    passed: u32,
    srtt: f64,
    rttvar: f64,
    sampled: bool,
    deadline: Time,
}

impl Connection {
    fn is_full(&self, settings: &SnoopSettings) -> bool {
        self.cache.len() >= settings.cache as usize
    }

    /// Puts a packet into the cache; true if the sender has sent it again, or
    /// if it came late.
    fn insert(&mut self, now: Time, packet: &Packet, shared: &mut Shared) -> bool {
        let sequence = packet.sequence;
        if end(packet) <= self.last_ack {
            return false;
        }
        let at = match self.last_seen {
            // Nearly always.
            Some(seen) if sequence > seen => self.cache.len(),
            _ => self.cache.partition_point(|c| c.packet.sequence < sequence),
        };
        if let Some(known) = self.cache.get_mut(at)
            && known.packet.sequence == sequence
        {
            *known = Cached {
                packet: *packet,
                sent_at: now,
                resent: 0,
                by_sender: true,
            };
            return true;
        }
        let late = self.last_seen.is_some_and(|seen| sequence < seen);
        let cached = Cached {
            packet: *packet,
            sent_at: now,
            resent: 0,
            by_sender: late && at == 0,
        };
        self.cache.insert(at, cached);
        shared.counters.cached += 1;
        if late {
            self.head_resent = false;
        } else {
            self.last_seen = Some(sequence);
        }
        late
    }

    fn advance(&mut self, now: Time, ack: u64, shared: &mut Shared) {
        let mut sent_at = None;
        while let Some(head) = self.cache.front()
            && end(&head.packet) <= ack
        {
            sent_at = Some(head.sent_at);
            self.cache.pop_front();
        }
        self.deadline = Time::MAX;
        if !self.cache.is_empty() {
            // Before the new sample counts, as in ns-2.
            self.arm(now, &shared.settings);
        }
        if let Some(sent_at) = sent_at {
            self.sample(now.since(sent_at), &shared.settings);
        }
        self.expected = 0;
        self.head_resent = false;
        self.passed = 0;
        self.last_ack = ack;
    }

    fn on_duplicate<T: Transmit>(&mut self, now: Time, shared: &mut Shared, out: &mut T) -> Pass {
        let Some(head) = self.cache.front() else {
            return Pass::Forward;
        };
        if head.packet.sequence > self.last_ack {
            return Pass::Forward; // It was never here.
        }
        let (by_sender, resent) = (head.by_sender, head.resent);
        match self.expected {
            0 => {
                let passed = match shared.settings.variant {
                    SnoopVariant::Standard => &mut self.passed,
                    SnoopVariant::Ns2 => &mut shared.more,
                };
                if *passed < shared.settings.threshold {
                    *passed += 1;
                    return Pass::Forward;
                }
                *passed = 0;
                if by_sender {
                    return Pass::Forward;
                }
                let threshold = i64::from(shared.settings.threshold);
                self.expected = self.behind_hole(&shared.settings) - threshold - 1;
                self.head_resent = true;
                if resent == 0 {
                    self.resend(now, shared, out)
                } else {
                    Pass::Forward
                }
            }
            1.. => {
                self.expected -= 1;
                Pass::Suppress
            }
            -1 if resent < 2 => self.resend(now, shared, out),
            _ => Pass::Forward,
        }
    }

    /// Packets whose arrival makes a duplicate. With the hole itself, as in
    /// ns-2: one more than there are, until it has been sent again.
    fn behind_hole(&self, settings: &SnoopSettings) -> i64 {
        if self.head_resent {
            return self.cache.len() as i64 - 1;
        }
        // The difference of two equal positions in a ring.
        let is_lost = settings.variant == SnoopVariant::Ns2 && self.is_full(settings);
        if is_lost { 0 } else { self.cache.len() as i64 }
    }

    /// Sends the head of the cache again, unless it was too often.
    fn resend<T: Transmit>(&mut self, now: Time, shared: &mut Shared, out: &mut T) -> Pass {
        let Some(head) = self.cache.front_mut() else {
            return Pass::Forward;
        };
        if head.resent >= shared.settings.retransmissions {
            return Pass::Forward;
        }
        head.resent += 1;
        head.sent_at = now;
        out.transmit(head.packet);
        shared.counters.local_retransmissions += 1;
        self.arm(now, &shared.settings);
        Pass::Suppress
    }

    fn arm(&mut self, now: Time, settings: &SnoopSettings) {
        let timer = Duration::from_secs_f64(self.srtt + 4.0 * self.rttvar);
        self.deadline = now + timer.max(settings.tick);
    }

    /// A round trip over the leg was measured.
    fn sample(&mut self, rtt: Duration, settings: &SnoopSettings) {
        if rtt.is_zero() {
            return;
        }
        let (rtt, gain) = (rtt.as_secs(), settings.gain);
        match settings.variant {
            SnoopVariant::Standard if !self.sampled => {
                self.srtt = rtt;
                self.rttvar = rtt / 2.0;
            }
            SnoopVariant::Standard => {
                self.rttvar += gain * ((rtt - self.srtt).abs() - self.rttvar);
                self.srtt += gain * (rtt - self.srtt);
            }
            SnoopVariant::Ns2 => {
                self.srtt = gain * self.srtt + (1.0 - gain) * rtt;
                let deviation = (rtt - self.srtt).abs();
                self.rttvar = if self.rttvar == 0.0 {
                    deviation
                } else {
                    gain * deviation + (1.0 - gain) * self.rttvar
                };
            }
        }
        self.sampled = true;
    }
}

impl connections::Connection for Connection {
    type Settings = SnoopSettings;
    type More = u32;

    fn identifies_ipsec(settings: &SnoopSettings) -> bool {
        settings.identifies_ipsec
    }

    fn of_data(_packet: &Packet, settings: &SnoopSettings) -> Connection {
        Connection {
            cache: VecDeque::with_capacity(settings.cache.min(1 << 12) as usize),
            last_ack: 0,
            window: 0,
            last_seen: None,
            expected: 0,
            head_resent: false,
            passed: 0,
            srtt: settings.srtt.as_secs(),
            rttvar: settings.rttvar.as_secs(),
            sampled: false,
            deadline: Time::MAX,
        }
    }

    fn on_data<T: Transmit>(
        &mut self,
        around: Surroundings,
        packet: &Packet,
        shared: &mut Shared,
        _out: &mut T,
    ) -> Pass {
        if self.is_full(&shared.settings) {
            self.last_seen = self.last_seen.max(Some(packet.sequence));
            shared.counters.overflow += 1;
            return Pass::Forward;
        }
        if !around.room {
            shared.counters.overflow += 1;
        } else if self.insert(around.now, packet, shared) {
            self.deadline = Time::MAX;
        }
        if self.deadline == Time::MAX && !self.cache.is_empty() {
            self.arm(around.now, &shared.settings);
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
        let ack = packet.acknowledgement;
        if ack < self.last_ack {
            return Pass::Forward; // Out of order.
        }
        let same_window = packet.window == self.window;
        self.window = packet.window;
        if ack > self.last_ack {
            self.advance(now, ack, shared);
            return Pass::Forward;
        }
        if packet.payload > 0 || !same_window {
            return Pass::Forward;
        }
        self.on_duplicate(now, shared, out)
    }

    fn deadline(&self) -> Time {
        self.deadline
    }

    fn on_deadline<T: Transmit>(&mut self, now: Time, shared: &mut Shared, out: &mut T) {
        self.deadline = Time::MAX;
        let missing = self
            .cache
            .front()
            .is_some_and(|head| head.packet.sequence <= self.last_ack);
        if missing && self.resend(now, shared, out) == Pass::Suppress {
            self.head_resent = true;
            shared.counters.timeouts += 1;
        }
    }
}

/// One past the last sequence number of a packet: a FIN takes one.
fn end(packet: &Packet) -> u64 {
    packet.sequence + u64::from(packet.payload) + u64::from(packet.has(flags::FIN))
}
