//! What packets of a capture echo as TCP timestamps.

use bentpipe_tcp::Packet;
use bentpipe_tcp::packet::{flags, priority};
use std::collections::VecDeque;

/// What an endpoint echoes: the last timestamp that it has received (RFC 7323, TS.Recent).
/// Simulated packets say it only where a receiver goes by it; real ones always do.
#[derive(Clone, Default)]
pub(super) struct Echoes {
    recent: Option<u32>,
    /// By the timestamp of a packet that it has sent, what that echoes, for the tap where
    /// the packet arrives.
    sent: VecDeque<(u32, u32)>,
}

/// Packets that arrive later than this after they were sent, in microseconds of their
/// timestamps, are not looked up.
const LATEST: u32 = 60_000_000;

impl Echoes {
    /// A packet with this timestamp has arrived.
    pub(super) fn received(&mut self, timestamp: u32) {
        // One that was overtaken has an older one.
        let is_newer = |recent: u32| timestamp.wrapping_sub(recent) < 1 << 31;
        if self.recent.is_none_or(is_newer) {
            self.recent = Some(timestamp);
        }
    }

    /// What a packet echoes that is sent now; kept for its arrival.
    pub(super) fn sending(&mut self, packet: &Packet) -> u32 {
        let echo = match says_echo(packet) {
            true => packet.timestamp_echo,
            false if packet.has(flags::ACK) => self.recent.unwrap_or(0),
            false => 0,
        };
        if self
            .sent
            .back()
            .is_none_or(|(last, _)| *last != packet.timestamp)
        {
            self.sent.push_back((packet.timestamp, echo));
        }
        echo
    }

    /// What a packet echoes that was sent with this timestamp.
    pub(super) fn of(&mut self, timestamp: u32) -> Option<u32> {
        let is_late = |(sent, _): &(u32, u32)| {
            let age = timestamp.wrapping_sub(*sent);
            age > LATEST && age < 1 << 31
        };
        while self.sent.front().is_some_and(is_late) {
            self.sent.pop_front();
        }
        let first = self.sent.front()?.0;
        let place = |sent: u32| sent.wrapping_sub(first);
        let found = self
            .sent
            .binary_search_by_key(&place(timestamp), |(sent, _)| place(*sent));
        found.ok().map(|i| self.sent[i].1)
    }
}

/// True if the packet itself says what it echoes: the field has other uses.
pub(super) fn says_echo(packet: &Packet) -> bool {
    packet.timestamp_echo != 0 && !packet.carries(priority::CORRUPTION)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_echo_the_last_timestamp_that_their_sender_has_received() {
        let mut echoes = Echoes::default();
        let mut data = Packet::new(1);
        data.timestamp = u32::MAX - 5;
        // A SYN echoes nothing.
        assert_eq!(echoes.sending(&data), 0);
        echoes.received(u32::MAX - 2);
        data.flags = flags::ACK;
        data.timestamp = u32::MAX;
        assert_eq!(echoes.sending(&data), u32::MAX - 2);
        // Timestamps wrap; what was overtaken does not count.
        echoes.received(3);
        echoes.received(u32::MAX - 1);
        data.timestamp = 9;
        assert_eq!(echoes.sending(&data), 3);
        // What a Linux host says itself stays.
        data.timestamp = 12;
        data.timestamp_echo = 2;
        assert_eq!(echoes.sending(&data), 2);
        let found = [u32::MAX, 9, 12, 10].map(|timestamp| echoes.of(timestamp));
        assert_eq!(found, [Some(u32::MAX - 2), Some(3), Some(2), None]);
        // A minute later the first are forgotten.
        assert_eq!(echoes.of(LATEST + 11), None);
        assert_eq!(echoes.sent.len(), 1);
    }
}
