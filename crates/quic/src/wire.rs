//! Datagrams read as packets with their frames, for logs of a connection.
//!
//! The session without ciphers leaves the bytes as they are and writes a packet's whole number into
//! its tag ([`crate::session`]), so that whoever has a datagram can read it: headers of RFC 9000,
//! section 17, frames of section 19, of RFC 9221 and of draft-ietf-quic-ack-frequency.

mod frame;
mod reader;

pub use frame::Frame;

use crate::seeds::ID_LENGTH;
use crate::session::{TAG, number_in};
use reader::Reader;

/// What kind of packet it is (RFC 9000, section 17).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PacketKind {
    /// The first flight of the handshake.
    Initial,
    /// The rest of the handshake.
    Handshake,
    /// Data of a client that has a ticket, before the handshake is complete.
    ZeroRtt,
    /// Everything after the handshake.
    OneRtt,
}

impl PacketKind {
    /// Its space of packet numbers (RFC 9000, section 12.3), from zero on.
    #[must_use]
    pub const fn space(self) -> usize {
        match self {
            PacketKind::Initial => 0,
            PacketKind::Handshake => 1,
            PacketKind::ZeroRtt | PacketKind::OneRtt => 2,
        }
    }
}

/// A packet of QUIC.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WirePacket {
    /// What kind it is.
    pub kind: PacketKind,
    /// Its number in its space.
    pub number: u64,
    /// Bytes of it, with header and tag.
    pub length: u32,
    /// Bytes of its frames.
    pub payload: u32,
    /// What it carries.
    pub frames: Vec<Frame>,
}

impl WirePacket {
    /// The other end has to acknowledge it (RFC 9002, section 2).
    #[must_use]
    pub fn asks_for_ack(&self) -> bool {
        self.frames.iter().any(Frame::asks_for_ack)
    }
}

/// The packets of a datagram as the session without ciphers leaves them, up to the first that
/// cannot be read.
#[must_use]
pub fn read(datagram: &[u8]) -> Vec<WirePacket> {
    let mut packets = Vec::new();
    let mut rest = datagram;
    while let Some((packet, after)) = packet(rest) {
        packets.push(packet);
        rest = after;
    }
    packets
}

/// The first packet, and what follows it.
fn packet(datagram: &[u8]) -> Option<(WirePacket, &[u8])> {
    let mut reader = Reader(datagram);
    let first = reader.byte()?;
    // RFC 9000, section 17: form, fixed bit, type, and in the last two bits the length of the number.
    // The fixed bit may be any (RFC 9287).
    let (kind, length) = match first & 0x80 {
        0 => {
            reader.bytes(ID_LENGTH as u64)?;
            (PacketKind::OneRtt, reader.0.len() as u64)
        }
        _ => {
            reader.bytes(4)?;
            for _ in 0..2 {
                let id = reader.byte()?;
                reader.bytes(u64::from(id))?;
            }
            let kind = match first >> 4 & 3 {
                0 => PacketKind::Initial,
                1 => PacketKind::ZeroRtt,
                2 => PacketKind::Handshake,
                // Retry, which has neither number nor frames, and which no server here sends.
                _ => return None,
            };
            if kind == PacketKind::Initial {
                let token = reader.varint()?;
                reader.bytes(token)?;
            }
            (kind, reader.varint()?)
        }
    };
    let sealed = reader.bytes(length)?;
    let (protected, tag) = sealed.split_last_chunk::<TAG>()?;
    let number_bytes = usize::from(first & 3) + 1;
    let frames = protected.get(number_bytes..)?;
    let packet = WirePacket {
        kind,
        number: number_in(tag),
        length: u32::try_from(datagram.len() - reader.0.len()).ok()?,
        payload: u32::try_from(frames.len()).ok()?,
        frames: frame::read_all(frames),
    };
    Some((packet, reader.0))
}

#[cfg(test)]
mod tests;
