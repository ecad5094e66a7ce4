//! Between the packets of an endpoint and the segments of a script.
//!
//! An endpoint counts the bytes of its stream from 0 and knows windows in bytes; a segment has
//! 32-bit sequence numbers, in which SYN and FIN take one each, and scaled windows.

use crate::script::{Ecn, Segment, TcpOption, flag};
use bentpipe_tcp::packet::{MAX_SACK_BLOCKS, Packet, SackBlock, ecn, flags};
use std::collections::BTreeMap;

/// What the handshake settled, and the numbers that follow from it.
#[derive(Clone, Debug)]
pub(crate) struct Wire {
    /// Payload of a full segment of ours, bytes.
    pub(crate) mss: u32,
    /// The MSS that we announce.
    pub(crate) announced_mss: u16,
    pub(crate) sack: bool,
    pub(crate) timestamps: bool,
    pub(crate) ecn: bool,
    /// Window scales where both sides have one: ours and the peer's.
    pub(crate) shifts: Option<(u8, u8)>,
    /// The peer's initial sequence number. Ours is 0, as packetdrill counts.
    pub(crate) peer_start: u32,
    /// The endpoint's timestamps by those that the script has for them.
    stamps: BTreeMap<u32, u32>,
    /// The first timestamp: the script's and the endpoint's.
    first_stamp: Option<(u32, u32)>,
}

impl Wire {
    pub(crate) fn new(announced_mss: u16) -> Wire {
        Wire {
            mss: u32::from(announced_mss),
            announced_mss,
            sack: false,
            timestamps: false,
            ecn: false,
            shifts: None,
            peer_start: 0,
            stamps: BTreeMap::new(),
            first_stamp: None,
        }
    }

    /// The packet that an arrived segment is for the endpoint, whose bytes are acknowledged up to
    /// `una` and which has received everything below `received`; or what of it is not modelled.
    pub(crate) fn incoming(
        &self,
        segment: &Segment,
        una: u64,
        received: u64,
    ) -> Result<Packet, String> {
        let mut packet = Packet::new(0);
        let syn = segment.flags & flag::SYN != 0;
        for (bit, of) in [
            (flag::SYN, flags::SYN),
            (flag::ACK, flags::ACK),
            (flag::FIN, flags::FIN),
            (flag::RST, flags::RST),
            (flag::ECE, flags::ECE),
            (flag::CWR, flags::CWR),
        ] {
            if segment.flags & bit != 0 {
                packet.flags |= of;
            }
        }
        if syn {
            // On a handshake they negotiate.
            packet.flags &= !(flags::ECE | flags::CWR);
        }
        packet.payload = u16::try_from(segment.payload)
            .ok()
            .filter(|payload| *payload <= 65_000)
            .ok_or("segments of more than 65,000 bytes")?;
        // The byte of a stream that a number means: the one near `known`.
        let near = |number: u32, start: u32, known: u64| {
            let there = start.wrapping_add(1).wrapping_add(known as u32);
            let distance = number.wrapping_sub(there).cast_signed();
            known.saturating_add_signed(i64::from(distance))
        };
        if !syn {
            packet.sequence = near(segment.sequence, self.peer_start, received);
        }
        let acknowledged = segment.acknowledgement.unwrap_or(0);
        packet.acknowledgement = near(acknowledged, 0, una);
        let shift = self.shifts.filter(|_| !syn).map_or(0, |(_, theirs)| theirs);
        packet.window = u32::from(segment.window.unwrap_or(0)) << shift.min(14);
        packet.bytes = packet.payload.saturating_add(40);
        packet.ecn = match segment.ecn {
            Some(Ecn::Ce) => ecn::MARKED,
            Some(Ecn::Ect0 | Ecn::Ect1 | Ecn::Ect01) => ecn::CAPABLE,
            Some(Ecn::Not) | None => ecn::NOT_CAPABLE,
        };
        for option in segment.options.iter().flatten() {
            match option {
                TcpOption::Timestamp(value, echo) if self.timestamps => {
                    packet.timestamp = *value;
                    packet.timestamp_echo = self.stamp(*echo);
                }
                TcpOption::Sack(blocks) if self.sack => {
                    if blocks.len() > MAX_SACK_BLOCKS {
                        return Err("more than three SACK blocks in a segment".to_owned());
                    }
                    for (slot, (from, to)) in packet.sack.iter_mut().zip(blocks) {
                        *slot = SackBlock {
                            start: from.wrapping_sub(acknowledged),
                            end: to.wrapping_sub(acknowledged),
                        };
                    }
                    packet.sack_count = blocks.len() as u8;
                }
                TcpOption::Foreign(name) => return Err((*name).to_owned()),
                _ => {}
            }
        }
        Ok(packet)
    }

    /// The endpoint's timestamp for one of the script's.
    fn stamp(&self, of_script: u32) -> u32 {
        match (self.stamps.get(&of_script), self.first_stamp) {
            (Some(own), _) => *own,
            // packetdrill interpolates as well, by its own option.
            (None, Some((script, own))) => {
                let ticks = of_script.wrapping_sub(script);
                own.wrapping_add(ticks.wrapping_mul(1_000))
            }
            (None, None) => of_script,
        }
    }

    /// The script has this timestamp for one of the endpoint's.
    pub(crate) fn note_stamp(&mut self, of_script: u32, own: u32) {
        self.first_stamp.get_or_insert((of_script, own));
        self.stamps.insert(of_script, own);
    }

    /// Microseconds between the first timestamp and `own`, and ticks that the script has there.
    pub(crate) fn stamps_since_first(&self, of_script: u32, own: u32) -> (i64, i64) {
        let (first_script, first_own) = self.first_stamp.unwrap_or((of_script, own));
        (
            i64::from(own.wrapping_sub(first_own).cast_signed()),
            i64::from(of_script.wrapping_sub(first_script).cast_signed()),
        )
    }

    /// A SYN, or the answer to one.
    pub(crate) fn handshake(&self, packet: &Packet, offers: &Offers) -> Segment {
        let answers = packet.has(flags::ACK);
        let mut bits = flag::SYN;
        if answers {
            bits |= flag::ACK;
        }
        if offers.ecn {
            bits |= flag::ECE;
            if !answers {
                bits |= flag::CWR;
            }
        }
        let mut options = vec![TcpOption::Mss(self.announced_mss)];
        match (offers.sack, offers.timestamps) {
            (true, true) => options.push(TcpOption::SackPermitted),
            (true, false) => {
                options.extend([TcpOption::Nop, TcpOption::Nop, TcpOption::SackPermitted])
            }
            (false, true) => options.extend([TcpOption::Nop, TcpOption::Nop]),
            (false, false) => {}
        }
        if offers.timestamps {
            let echo = if answers { packet.timestamp_echo } else { 0 };
            options.push(TcpOption::Timestamp(packet.timestamp, echo));
        }
        if let Some(shift) = offers.shift {
            options.extend([TcpOption::Nop, TcpOption::WindowScale(shift)]);
        }
        Segment {
            flags: bits,
            sequence: 0,
            payload: 0,
            acknowledgement: answers.then(|| self.peer_start.wrapping_add(1)),
            window: Some(u16::MAX),
            ecn: Some(Ecn::Not),
            options: Some(options),
        }
    }

    /// A packet that leaves after the handshake; everything of the peer is acknowledged below
    /// `received`, which may be sent to up to `edge`.
    pub(crate) fn outgoing(&self, packet: &Packet, received: u64, edge: u64) -> Segment {
        let mut bits = 0;
        for (of, bit) in [
            (flags::ACK, flag::ACK),
            (flags::FIN, flag::FIN),
            (flags::RST, flag::RST),
            (flags::ECE, flag::ECE),
            (flags::CWR, flag::CWR),
        ] {
            if packet.has(of) {
                bits |= bit;
            }
        }
        // A probe of a closed window has the number below it.
        let probes = packet.flags & (flags::PROBE | flags::DUMMY) == flags::DUMMY;
        let sequence = packet.sequence.wrapping_add(u64::from(!probes)) as u32;
        let acknowledged = self
            .peer_start
            .wrapping_add(1)
            .wrapping_add(received as u32);
        let mut options = Vec::new();
        if self.timestamps {
            let stamp = TcpOption::Timestamp(packet.timestamp, packet.timestamp_echo);
            options.extend([TcpOption::Nop, TcpOption::Nop, stamp]);
        }
        if packet.sack_count > 0 && self.sack {
            let blocks = packet.sack.iter().take(usize::from(packet.sack_count));
            let number = |offset: u32| {
                (self.peer_start.wrapping_add(1))
                    .wrapping_add(packet.acknowledgement as u32)
                    .wrapping_add(offset)
            };
            let blocks = blocks.map(|b| (number(b.start), number(b.end))).collect();
            options.extend([TcpOption::Nop, TcpOption::Nop, TcpOption::Sack(blocks)]);
        }
        let shift = self.shifts.map_or(0, |(ours, _)| ours);
        let window = edge.saturating_sub(received) >> shift;
        Segment {
            flags: bits,
            sequence,
            payload: u32::from(packet.payload),
            acknowledgement: packet.has(flags::ACK).then_some(acknowledged),
            window: Some(u16::try_from(window).unwrap_or(u16::MAX)),
            ecn: Some(match packet.ecn {
                ecn::CAPABLE => Ecn::Ect0,
                ecn::MARKED => Ecn::Ce,
                _ => Ecn::Not,
            }),
            options: Some(options),
        }
    }
}

/// What a SYN or its answer offers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Offers {
    pub(crate) mss: Option<u16>,
    pub(crate) sack: bool,
    pub(crate) timestamps: bool,
    pub(crate) shift: Option<u8>,
    pub(crate) ecn: bool,
}

impl Offers {
    /// What is in a segment with SYN; or what of it is not modelled.
    pub(crate) fn of(segment: &Segment) -> Result<Offers, String> {
        let ecn_bits = segment.flags & (flag::ECE | flag::CWR);
        let answers = segment.flags & flag::ACK != 0;
        let mut offers = Offers {
            ecn: if answers {
                ecn_bits == flag::ECE
            } else {
                ecn_bits == flag::ECE | flag::CWR
            },
            ..Offers::default()
        };
        if segment.flags & flag::AE != 0 {
            return Err("accurate ECN".to_owned());
        }
        for option in segment.options.iter().flatten() {
            match option {
                TcpOption::Mss(mss) => offers.mss = Some(*mss),
                TcpOption::SackPermitted => offers.sack = true,
                TcpOption::Timestamp(..) => offers.timestamps = true,
                TcpOption::WindowScale(shift) => offers.shift = Some((*shift).min(14)),
                TcpOption::Foreign(name) => return Err((*name).to_owned()),
                TcpOption::Nop | TcpOption::Eol | TcpOption::Sack(_) => {}
            }
        }
        Ok(offers)
    }
}
