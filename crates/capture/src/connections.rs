//! The TCP connections of a capture.

use crate::clock::Clock;
use crate::file::{Reader, Record};
use crate::wire::{ACK, Content, FIN, RST, SYN, Segment, content};
use crate::{Builder, History, ReadError};
use std::collections::HashMap;
use std::io::Read;
use std::net::SocketAddr;

/// Connections that are told apart at most; packets of further ones are counted as others.
const MOST: usize = 100_000;

/// Packets of one connection that are kept at most, about 2 GB of memory.
const MOST_PACKETS: usize = 20_000_000;

/// The smallest MSS that is believed.
const LEAST_SEGMENT: u32 = 256;

/// A copy of the packet before it within so many nanoseconds is the same packet, seen at two
/// devices.
const COPY_NS: i64 = 1_000_000;

/// Which end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The first of [`Connection::ends`].
    First,
    /// The other one.
    Second,
}

/// A connection, and what it carried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connection {
    /// Its ends: the one whose packet was seen first, and the other one.
    pub ends: [SocketAddr; 2],
    /// The interface of the capture.
    pub interface: u32,
    /// Bytes of payload that each end sent, those that were sent again included.
    pub bytes: [u64; 2],
    /// Packets of both ends.
    pub packets: u64,
    key: Key,
}

impl Connection {
    /// The end that sent more.
    #[must_use]
    pub fn sender(&self) -> Side {
        match self.bytes[0] >= self.bytes[1] {
            true => Side::First,
            false => Side::Second,
        }
    }

    /// Address and port of the end that sent more, and of the other one.
    #[must_use]
    pub fn from_to(&self) -> [SocketAddr; 2] {
        let [a, b] = self.ends;
        match self.sender() {
            Side::First => [a, b],
            Side::Second => [b, a],
        }
    }
}

/// The ends in order, the interface, and how many connections these ends had before.
type Key = (SocketAddr, SocketAddr, u32, u32);

/// What tells connections of the same ends apart.
#[derive(Clone, Copy, Debug, Default)]
struct Generation {
    number: u32,
    /// Sequence number of the last SYN of each end.
    opened: [Option<u32>; 2],
}

/// Assigns packets to connections, in the order of the file.
#[derive(Debug, Default)]
struct Sorter {
    generations: HashMap<(SocketAddr, SocketAddr, u32), Generation>,
}

impl Sorter {
    fn key(&mut self, interface: u32, segment: &Segment) -> Option<Key> {
        let (a, b) = (segment.source, segment.destination);
        let (low, high) = if a <= b { (a, b) } else { (b, a) };
        let known = self.generations.len();
        let generation = match self.generations.entry((low, high, interface)) {
            std::collections::hash_map::Entry::Occupied(entry) => entry.into_mut(),
            std::collections::hash_map::Entry::Vacant(_) if known >= MOST => return None,
            std::collections::hash_map::Entry::Vacant(entry) => entry.insert(Generation::default()),
        };
        if segment.flags & SYN != 0 {
            let side = usize::from(a != low);
            let is_first = segment.flags & ACK == 0;
            match generation.opened[side] {
                Some(before) if is_first && before != segment.sequence => {
                    generation.number += 1;
                    generation.opened = [None; 2];
                }
                _ => {}
            }
            generation.opened[side] = Some(segment.sequence);
        }
        Some((low, high, interface, generation.number))
    }
}

/// The connections of a capture, and what else is in it.
#[derive(Clone, Debug, Default)]
pub struct Connections {
    /// The connections, those with more payload first.
    pub list: Vec<Connection>,
    /// Packets that are not of TCP.
    pub others: u64,
    /// Packets that end before their TCP header does.
    pub unreadable: u64,
    /// Where the file ends in the middle of a record, bytes from its start.
    pub cut_at: Option<u64>,
}

impl Connections {
    /// Reads through a capture.
    ///
    /// # Errors
    /// If it is none, or is malformed.
    pub fn read(from: impl Read) -> Result<Connections, ReadError> {
        let mut reader = Reader::new(from)?;
        let mut sorter = Sorter::default();
        let mut numbers: HashMap<Key, usize> = HashMap::new();
        let mut found = Connections::default();
        while let Some(record) = reader.next_record()? {
            let segment = match content(record.link_type, record.bytes, record.length) {
                Content::Tcp(segment) => segment,
                Content::Other => {
                    found.others += 1;
                    continue;
                }
                Content::Unreadable => {
                    found.unreadable += 1;
                    continue;
                }
            };
            let Some(key) = sorter.key(record.interface, &segment) else {
                found.others += 1;
                continue;
            };
            let list = &mut found.list;
            let number = *numbers.entry(key).or_insert_with(|| {
                list.push(Connection {
                    ends: [segment.source, segment.destination],
                    interface: record.interface,
                    bytes: [0; 2],
                    packets: 0,
                    key,
                });
                list.len() - 1
            });
            let connection = &mut list[number];
            connection.packets += 1;
            let side = usize::from(segment.source != connection.ends[0]);
            connection.bytes[side] += u64::from(segment.payload);
        }
        found.cut_at = reader.cut_at();
        // Stable: of equal ones the first in the file.
        found
            .list
            .sort_by_key(|c| std::cmp::Reverse(c.bytes[0].max(c.bytes[1])));
        Ok(found)
    }
}

/// What was seen of a connection.
#[derive(Clone, Debug)]
pub struct Seen {
    packets: Vec<Packet>,
    /// True if the handshake is in the capture.
    pub begins_with_handshake: bool,
    /// Steps of the clock that were taken out.
    pub clock_steps: u32,
    /// Packets that were in the file twice in a row.
    pub copies: u64,
    /// Times between the SYN and its answer, and between that and its answer, seconds, with the
    /// end that sent the SYN.
    handshake: Option<(Side, f64, Option<f64>)>,
    mss: Option<u32>,
    scale: [Option<u8>; 2],
    sack: bool,
}

#[derive(Clone, Copy, Debug)]
struct Packet {
    at_ns: i64,
    side: u8,
    flags: u8,
    sack_count: u8,
    window: u16,
    headers: u16,
    sequence: u32,
    acknowledgement: u32,
    payload: u32,
    sack: [(u32, u32); 4],
}

impl Seen {
    /// Reads a connection from the capture that it was found in.
    ///
    /// # Errors
    /// As [`Connections::read`].
    pub fn read(from: impl Read, connection: &Connection) -> Result<Seen, ReadError> {
        let mut reader = Reader::new(from)?;
        let mut sorter = Sorter::default();
        let mut seen = Seen {
            packets: Vec::new(),
            begins_with_handshake: false,
            clock_steps: 0,
            copies: 0,
            handshake: None,
            mss: None,
            scale: [None; 2],
            sack: false,
        };
        let mut opening = Opening::default();
        let mut clock = Clock::default();
        let mut before: Option<(i64, Segment)> = None;
        while let Some(record) = reader.next_record()? {
            let Record {
                link_type,
                bytes,
                length,
                offset,
                ..
            } = record;
            let Content::Tcp(segment) = content(link_type, bytes, length) else {
                continue;
            };
            if sorter.key(record.interface, &segment) != Some(connection.key) {
                continue;
            }
            if before
                .is_some_and(|(at, s)| s == segment && record.at_ns.saturating_sub(at) < COPY_NS)
                && segment.payload > 0
            {
                seen.copies += 1;
                continue;
            }
            before = Some((record.at_ns, segment));
            if seen.packets.len() >= MOST_PACKETS {
                let what = format!("the connection has more than {MOST_PACKETS} packets");
                return Err(ReadError::malformed(offset, what));
            }
            let side = usize::from(segment.source != connection.ends[0]);
            let stamp = segment.timestamps.map(|(value, _)| value);
            let at_ns = clock.at(record.at_ns, side, stamp);
            opening.take(&mut seen, at_ns, side, &segment);
            seen.packets.push(Packet {
                at_ns,
                side: side as u8,
                flags: segment.flags,
                sack_count: segment.sack_count,
                window: segment.window,
                headers: segment.headers.min(u32::from(u16::MAX)) as u16,
                sequence: segment.sequence,
                acknowledgement: segment.acknowledgement,
                payload: segment.payload,
                sack: segment.sack,
            });
        }
        seen.clock_steps = clock.steps();
        seen.sack |= seen.packets.iter().any(|p| p.sack_count > 0);
        Ok(seen)
    }

    /// The round trip of the handshake as the data's sender had it, where the capture was made
    /// at one of the ends; seconds.
    fn handshake_rtt(&self, sender: Side) -> Option<f64> {
        let (caller, first, second) = self.handshake?;
        match caller == sender {
            true => Some(first),
            false => second,
        }
    }

    /// True if the capture was made at the other end: what the sender says is answered at once,
    /// and what the other end says after a round trip.
    #[must_use]
    pub fn is_from_the_receiver(&self, sender: Side) -> bool {
        let Some((caller, first, Some(second))) = self.handshake else {
            return false;
        };
        let (own, other) = match caller == sender {
            true => (first, second),
            false => (second, first),
        };
        own < 0.1 * other && other > 0.002
    }

    /// The sender's view of the connection; `None` if it sent no data.
    #[must_use]
    pub fn history(&self, sender: Side) -> Option<History> {
        let own = sender as u8;
        let data = || {
            self.packets
                .iter()
                .filter(move |p| p.side == own && p.payload > 0)
        };
        let first = data().next()?;
        let headers = u32::from(data().map(|p| p.headers).max()?);
        // A smaller size would be none of a path, and make too many units of a packet.
        let mss = LEAST_SEGMENT.max(self.segment_size(headers, data().map(|p| p.payload)));
        let mut builder = Builder::new(mss, headers, self.sack);
        let begin = self.packets[0].at_ns;
        let seconds = |at_ns: i64| at_ns.saturating_sub(begin) as f64 * 1e-9;
        builder.handshake(self.handshake_rtt(sender), self.begins_with_handshake);
        // Sequence numbers without the wrap, from a number that leaves room before it.
        const ROOM: u64 = 1 << 32;
        let (base, mut near) = (first.sequence, ROOM);
        let unwrap = |sequence: u32, near: u64| -> u64 {
            let low = (near as u32).wrapping_sub(ROOM as u32);
            let ahead = sequence.wrapping_sub(base).wrapping_sub(low).cast_signed();
            near.saturating_add_signed(i64::from(ahead))
        };
        let scale = match self.begins_with_handshake {
            // Both must have asked for it (RFC 7323, section 2.2).
            true => Some(
                self.scale[0]
                    .and(self.scale[1])
                    .map_or(0, |_| self.scale[1 - own as usize].unwrap_or(0)),
            ),
            false => None,
        };
        for packet in &self.packets {
            let at = seconds(packet.at_ns);
            if packet.flags & (SYN | RST) != 0 {
                continue;
            }
            if packet.side == own {
                if packet.payload > 0 {
                    let start = unwrap(packet.sequence, near);
                    near = near.max(start);
                    builder.data(at, start, packet.payload);
                }
                if packet.flags & FIN != 0 {
                    builder.finish();
                }
            } else if packet.flags & ACK != 0 {
                let ack = unwrap(packet.acknowledgement, near);
                let mut blocks = [(0, 0); 4];
                let count = usize::from(packet.sack_count.min(4));
                for (to, (from, until)) in blocks.iter_mut().zip(&packet.sack[..count]) {
                    *to = (unwrap(*from, near), unwrap(*until, near));
                }
                let window = scale.map(|scale| u64::from(packet.window) << scale);
                let bare = packet.payload == 0 && packet.flags & FIN == 0;
                builder.ack(at, ack, &blocks[..count], window, bare);
            }
        }
        Some(builder.build())
    }

    /// Bytes of payload of a full segment. Packets that the device is to split are longer.
    fn segment_size(&self, headers: u32, payloads: impl Iterator<Item = u32>) -> u32 {
        let mut most = 0;
        let mut counts: HashMap<u32, u32> = HashMap::new();
        for payload in payloads {
            *counts.entry(payload).or_default() += 1;
            most = most.max(payload);
        }
        // The option counts no options of later segments (RFC 6691), which hosts take off it.
        let offered = self.mss.unwrap_or(1500_u32.saturating_sub(40));
        if most <= offered {
            return most;
        }
        let usual = offered.saturating_sub(headers.saturating_sub(40)).max(1);
        // Segments for the device to split: most are of whole packets.
        let multiples = |size: u32| {
            let of = |(payload, count): (&u32, &u32)| match payload % size {
                0 => u64::from(*count),
                _ => 0,
            };
            counts.iter().map(of).sum::<u64>()
        };
        match multiples(offered) > multiples(usual) {
            true => offered,
            false => usual,
        }
    }
}

/// What the packets of a handshake say.
#[derive(Debug, Default)]
struct Opening {
    syn: Option<(usize, i64)>,
    answer: Option<i64>,
    asked_again: bool,
}

impl Opening {
    fn take(&mut self, seen: &mut Seen, at_ns: i64, side: usize, segment: &Segment) {
        let who = |side: usize| match side {
            0 => Side::First,
            _ => Side::Second,
        };
        if segment.flags & SYN != 0 {
            seen.scale[side] = segment.window_scale;
            let smaller = |mss: u16| seen.mss.unwrap_or(u32::MAX).min(u32::from(mss));
            seen.mss = segment.mss.map(smaller).or(seen.mss);
            if segment.flags & ACK == 0 {
                self.asked_again |= self.syn.is_some();
                self.syn = Some((side, at_ns));
                seen.begins_with_handshake = true;
            } else {
                seen.sack |= segment.sack_permitted;
                // Sent again, it says nothing of the time.
                self.asked_again |= self.answer.is_some();
                self.answer = Some(at_ns);
                seen.begins_with_handshake = true;
            }
        } else if let (Some((caller, asked)), Some(answered), None) =
            (self.syn, self.answer, seen.handshake)
            && side == caller
            && !self.asked_again
        {
            let seconds = |from: i64, to: i64| to.saturating_sub(from) as f64 * 1e-9;
            let (first, second) = (seconds(asked, answered), seconds(answered, at_ns));
            seen.handshake = Some((who(caller), first, Some(second)));
        }
    }
}

#[cfg(test)]
#[path = "connections_tests.rs"]
mod tests;
