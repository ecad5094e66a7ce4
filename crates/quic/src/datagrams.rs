//! Unreliable datagrams in a connection (RFC 9221), numbered by their first bytes.

use bytes::{Bytes, BytesMut};
use quinn_proto::Connection;
use std::collections::VecDeque;

/// The least payload, bytes: its number.
pub const SMALLEST_DATAGRAM: u64 = 8;

/// What is around the payload in a packet of its own, bytes, at most: a byte of flags, a connection
/// id of 8, a packet number of 4, the tag of the encryption of 16 (RFC 9000, section 17.3.1), and the
/// header of the frame of up to 9 (RFC 9221, section 4).
const AROUND: u64 = 1 + 8 + 4 + 16 + 9;

/// The largest payload, bytes, of a datagram in packets with `mtu` bytes of UDP payload.
#[must_use]
pub const fn largest_datagram(mtu: u32) -> u64 {
    (mtu as u64).saturating_sub(AROUND)
}

/// The datagrams of an end.
#[derive(Debug, Default)]
pub(crate) struct Datagrams {
    /// How many were to be sent.
    sent: u64,
    /// The numbers of those that have arrived and were not looked at yet.
    arrived: VecDeque<u64>,
}

impl Datagrams {
    /// Sends one of `bytes`. Where the connection has no room, the oldest that wait are dropped.
    pub(crate) fn send(&mut self, connection: &mut Connection, bytes: u64) {
        let number = self.sent;
        self.sent += 1;
        let mut payload = BytesMut::zeroed(bytes.max(SMALLEST_DATAGRAM) as usize);
        payload[..SMALLEST_DATAGRAM as usize].copy_from_slice(&number.to_be_bytes());
        // It is lost where the connection is closed or the path has become too narrow.
        let _ = connection.datagrams().send(payload.freeze(), true);
    }

    /// Reads what has arrived; returns its bytes.
    pub(crate) fn read(&mut self, connection: &mut Connection) -> u64 {
        let mut bytes = 0;
        while let Some(payload) = connection.datagrams().recv() {
            bytes += payload.len() as u64;
            self.arrived.extend(number(&payload));
        }
        bytes
    }

    /// The number of one that has arrived, each once and in the order in which they arrived.
    pub(crate) fn take(&mut self) -> Option<u64> {
        self.arrived.pop_front()
    }

    /// True once something was to be sent.
    pub(crate) const fn has_begun(&self) -> bool {
        self.sent > 0
    }
}

fn number(payload: &Bytes) -> Option<u64> {
    let first = payload.get(..SMALLEST_DATAGRAM as usize)?;
    Some(u64::from_be_bytes(first.try_into().ok()?))
}
