//! Flows under IPsec: what a packet costs, and what a proxy may still see.
//!
//! Source: ESP is RFC 4303, with the sizes of AES-GCM (RFC 4106). RFC 3135,
//! section 4.1, on proxies and IPsec; J. Salamanca's thesis (2008, section 1.2.3),
//! which names two ways for both to coexist: hash values and sequence numbers by
//! which a proxy matches packets and acknowledgements (D. Demirel, F. Alagoz, M.
//! Caglayan, ISCN 2006), and a table at the proxy that maps flows and their
//! sequence numbers. We read the thesis, not those papers: this is our reading.
//!
//! ESP encrypts and authenticates all that follows the IP header. A proxy that
//! has neither hash nor table lets such packets pass, and the flow works end to
//! end, without help:
//!
//! | box | without | with a hash or a table |
//! |---|---|---|
//! | Snoop | lets pass | caches, repairs, suppresses duplicates: it needs to match packets only, and sends them again as they were |
//! | spoofing proxy | lets pass | lets pass: it cannot make an ACK that the sender's ESP accepts |
//! | ACK reconstruction | lets pass | lets pass, for the same reason |
//! | split PEP | does not split | does not split: neither end would accept its packets |
//! | ACK filter | filters nothing | filters nothing: a queue has no table |
//! | fair queueing | by security association | the same: its number (SPI) is in the clear |
//!
//! A Snoop that repeats a packet repeats its ESP sequence number; the receiver's
//! window against replays is taken to be wide enough.
//!
//! Bytes of a packet of n bytes at the IP layer: an IP header of 20, an ESP header
//! of 8, the initialisation vector, the encrypted part with 2 bytes of trailer
//! padded to the block, and the integrity check value. In transport mode the
//! encrypted part has n - 20 bytes, in tunnel mode n. A hash in the clear comes
//! on top.
//!
//! | parameter | default | unit |
//! |---|---|---|
//! | `mode` | tunnel | or transport |
//! | `iv` | 8 B | initialisation vector |
//! | `block` | 4 B | the encrypted part is padded to a multiple |
//! | `icv` | 16 B | integrity check value |
//! | `hash` | 0 B | identification in the clear; a table at the proxy costs nothing |
//!
//! Hosts lower their MSS so that the protected packet is no longer than the plain
//! one was.
//!
//! Examples: an ACK of 52 bytes takes 108 in a tunnel and 88 in transport mode. In
//! packets of 1500 bytes with timestamps, the MSS is 1394 and 1414.

use bentpipe_tcp::Packet;
use bentpipe_tcp::packet::priority;
use bentpipe_units::Bytes;

/// Which part of a packet ESP protects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub enum IpsecMode {
    /// The whole packet, behind another IP header.
    #[default]
    Tunnel,
    /// What follows its IP header.
    Transport,
}

impl IpsecMode {
    /// Both, with the names that scenarios use.
    pub const ALL: [(&'static str, IpsecMode); 2] = [
        ("tunnel", IpsecMode::Tunnel),
        ("transport", IpsecMode::Transport),
    ];
}

/// How a flow's packets are protected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Ipsec {
    /// Which part is protected.
    pub mode: IpsecMode,
    /// Initialisation vector of a packet.
    pub iv: Bytes,
    /// The encrypted part is padded to a multiple of this.
    pub block: Bytes,
    /// Integrity check value of a packet.
    pub icv: Bytes,
    /// Identification that a packet carries in the clear, for proxies.
    pub hash: Bytes,
}

impl Default for Ipsec {
    fn default() -> Ipsec {
        Ipsec {
            mode: IpsecMode::Tunnel,
            iv: Bytes::new(8),
            block: Bytes::new(4),
            icv: Bytes::new(16),
            hash: Bytes::ZERO,
        }
    }
}

/// Bytes of an IP header, and of an ESP header.
const IP: u64 = 20;
const ESP: u64 = 8;

impl Ipsec {
    /// Bytes of a packet that has `bytes` at the IP layer before it is protected.
    #[must_use]
    pub fn wire(&self, bytes: u64) -> u64 {
        let inner = match self.mode {
            IpsecMode::Tunnel => bytes,
            IpsecMode::Transport => bytes.saturating_sub(IP),
        };
        let padded = (inner + 2).next_multiple_of(self.block.get().max(1));
        IP + ESP + self.iv.get() + padded + self.icv.get() + self.hash.get()
    }

    /// The largest payload, at most `mss`, whose protected packet is no longer
    /// than one of `mss` and `header` bytes; at least a byte.
    #[must_use]
    pub fn mss(&self, mss: u32, header: u32) -> u32 {
        let room = u64::from(mss) + u64::from(header);
        let fits = |mss: &u32| self.wire(u64::from(*mss) + u64::from(header)) <= room;
        (1..=mss).rev().find(fits).unwrap_or(1)
    }

    /// Protects a packet that leaves its host.
    pub fn seal(&self, packet: &mut Packet) {
        let bytes = self.wire(u64::from(packet.bytes));
        packet.bytes = u16::try_from(bytes).unwrap_or(u16::MAX);
        packet.priority |= priority::SEALED;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRANSPORT: Ipsec = Ipsec {
        mode: IpsecMode::Transport,
        iv: Bytes::new(8),
        block: Bytes::new(4),
        icv: Bytes::new(16),
        hash: Bytes::ZERO,
    };

    #[test]
    fn the_worked_examples() {
        let tunnel = Ipsec::default();
        assert_eq!((tunnel.wire(52), TRANSPORT.wire(52)), (108, 88));
        assert_eq!(
            (tunnel.mss(1448, 52), TRANSPORT.mss(1448, 52)),
            (1394, 1414)
        );
        // AES-CBC with HMAC-SHA1-96: RFC 3602, RFC 2404.
        let cbc = Ipsec {
            iv: Bytes::new(16),
            block: Bytes::new(16),
            icv: Bytes::new(12),
            ..tunnel
        };
        assert_eq!(cbc.wire(40), 20 + 8 + 16 + 48 + 12);
        let hashed = Ipsec {
            hash: Bytes::new(8),
            ..tunnel
        };
        assert_eq!(hashed.wire(52), 116);
    }

    #[test]
    fn a_sealed_packet_is_as_long_and_marked() {
        let mut packet = Packet::new(1);
        packet.bytes = 1446;
        Ipsec::default().seal(&mut packet);
        assert_eq!(packet.bytes, 1500);
        assert!(packet.carries(priority::SEALED));
        packet.bytes = u16::MAX;
        Ipsec::default().seal(&mut packet);
        assert_eq!(packet.bytes, u16::MAX);
    }
}
