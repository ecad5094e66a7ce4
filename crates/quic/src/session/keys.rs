//! Keys that leave the bytes as they are and take as many.

use bytes::BytesMut;
use quinn_proto::Side;
use quinn_proto::crypto::{CryptoError, HeaderKey, KeyPair, Keys, PacketKey};

/// Bytes of the tag behind each packet (RFC 9001, section 5.3).
pub(crate) const TAG: usize = 16;
/// Bytes of a packet that header protection samples (RFC 9001, section 5.4.2).
const SAMPLE: usize = 16;

/// The whole number of the packet that a tag is of.
pub(crate) fn number_in(tag: &[u8; TAG]) -> u64 {
    let number = tag.first_chunk().copied().unwrap_or_default();
    u64::from_le_bytes(number)
}

/// What a key protects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level {
    Initial,
    Handshake,
    /// 0-RTT packets.
    Early,
    /// 1-RTT packets after so many key updates.
    OneRtt(u32),
}

/// The keys of one side for a level.
pub(super) fn keys(level: Level, side: Side) -> Keys {
    Keys {
        header: KeyPair {
            local: Box::new(Header),
            remote: Box::new(Header),
        },
        packet: pair(level, side),
    }
}

/// The keys of packets' payload.
pub(super) fn pair(level: Level, side: Side) -> KeyPair<Box<dyn PacketKey>> {
    let other = match side {
        Side::Client => Side::Server,
        Side::Server => Side::Client,
    };
    KeyPair {
        local: Box::new(Key::new(level, side)),
        remote: Box::new(Key::new(level, other)),
    }
}

/// The keys of 0-RTT packets, which a client alone seals.
pub(super) fn early() -> (Box<dyn HeaderKey>, Box<dyn PacketKey>) {
    let key = Key::new(Level::Early, Side::Client);
    (Box::new(Header), Box::new(key))
}

#[derive(Debug)]
struct Header;

impl HeaderKey for Header {
    fn decrypt(&self, _: usize, _: &mut [u8]) {}
    fn encrypt(&self, _: usize, _: &mut [u8]) {}
    fn sample_size(&self) -> usize {
        SAMPLE
    }
}

/// The key of one sender and level.
#[derive(Debug)]
struct Key {
    name: u64,
}

impl Key {
    fn new(level: Level, sender: Side) -> Key {
        let level = match level {
            Level::Initial => 0,
            Level::Handshake => 1,
            Level::Early => 2,
            Level::OneRtt(updates) => 3 + u64::from(updates),
        };
        // Not zero, which bytes that nobody sealed would be.
        Key {
            name: 2 * level + u64::from(sender.is_server()) + 1,
        }
    }

    fn tag(&self, packet: u64) -> [u8; TAG] {
        let mut tag = [0; TAG];
        tag[..8].copy_from_slice(&packet.to_le_bytes());
        tag[8..].copy_from_slice(&self.name.to_le_bytes());
        tag
    }
}

impl PacketKey for Key {
    fn encrypt(&self, packet: u64, buf: &mut [u8], _: usize) {
        if let Some(tag) = buf.last_chunk_mut() {
            *tag = self.tag(packet);
        }
    }

    fn decrypt(&self, packet: u64, _: &[u8], payload: &mut BytesMut) -> Result<(), CryptoError> {
        match payload.last_chunk::<TAG>() {
            Some(tag) if *tag == self.tag(packet) => {
                payload.truncate(payload.len() - TAG);
                Ok(())
            }
            _ => Err(CryptoError),
        }
    }

    fn tag_len(&self) -> usize {
        TAG
    }

    /// AES-128-GCM's (RFC 9001, section 6.6).
    fn confidentiality_limit(&self) -> u64 {
        1 << 23
    }

    /// AES-128-GCM's (RFC 9001, section 6.6).
    fn integrity_limit(&self) -> u64 {
        1 << 52
    }
}
