//! Opening of connections: SYN, SYN-ACK, and their loss or delay.

use super::{Connection, Endpoint, is_empty};
use crate::linux::wheel;
use crate::packet::{Packet, Transmit, echoed_at, flags, timestamp};
use crate::rtt::RttEstimator;
use bentpipe_units::Time;

/// Bytes of a SYN at the IP layer: 40 and 20 of options (MSS, SACK permitted,
/// timestamps, window scale).
const SYN_BYTES: u16 = 60;

/// The same of a one-way agent of ns-2, which negotiates nothing.
pub(crate) const SYN_BYTES_OF_NS2: u16 = 40;

/// The SYNs that were sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Handshake {
    /// When the next one is due.
    pub(super) deadline: Time,
    /// When the last one was sent, and how many were.
    sent_at: Time,
    sent: u32,
    /// When the first one was sent.
    first_at: Time,
    /// Linux 6: when the one was sent whose timestamp its answer echoes.
    answered: Option<Time>,
    /// How many of them a timeout sent.
    pub(super) timeouts: u32,
    /// The timestamp of what arrived before the SYN.
    pub(super) echo: Option<u32>,
}

impl Default for Handshake {
    fn default() -> Handshake {
        Handshake {
            deadline: Time::MAX,
            sent_at: Time::ZERO,
            sent: 0,
            first_at: Time::ZERO,
            answered: None,
            timeouts: 0,
            echo: None,
        }
    }
}

impl Endpoint {
    pub(super) fn send_syn<T: Transmit>(&mut self, now: Time, out: &mut T) {
        let mut packet = Packet::new(self.peer);
        packet.flags = flags::SYN;
        let opens = self.connection == Connection::SynSent;
        packet.bytes = if opens && self.sender.opens_with_a_segment() {
            self.sender.core.full_packet()
        } else if self.one_way {
            SYN_BYTES_OF_NS2
        } else {
            SYN_BYTES
        };
        packet.timestamp = timestamp(now);
        // Else both ends have buffers of the same size.
        if let Some(window) = self.receiver.window_by_hand() {
            packet.window = window;
        }
        if !opens {
            self.receiver.acknowledge(&mut packet);
            if self.one_way {
                packet.bytes += self.option_bytes(&packet) as u16;
            }
        }
        let handshake = self.handshake.get_or_insert_default();
        handshake.sent += 1;
        handshake.sent_at = now;
        if handshake.sent == 1 {
            handshake.first_at = now;
        }
        if opens && self.sender.owns_syn() {
            self.sender.syn_sent(now);
        } else if opens || !self.one_way {
            // A sink of ns-2 has no timer for its answer.
            let due = now + self.handshake_rtt().rto();
            let due = if self.receiver.is_linux() {
                wheel::expiry(self.sender.core.options.kernel().tick, now, due)
            } else {
                due
            };
            self.handshake.get_or_insert_default().deadline = due;
        }
        out.transmit(packet);
    }

    pub(super) fn on_handshake<T: Transmit>(&mut self, now: Time, packet: &Packet, out: &mut T) {
        match (
            self.connection,
            packet.has(flags::SYN),
            packet.has(flags::ACK),
        ) {
            (Connection::Closed | Connection::SynReceived, true, false) => {
                // The SYN is the segment that the last ACK left off at; Linux
                // echoes the first one that arrived in whatever answers it.
                let is_first = self.connection == Connection::Closed;
                if self.one_way || (is_first && self.receiver.is_linux()) {
                    self.receiver.set_timestamp(packet.timestamp);
                }
                self.connection = Connection::SynReceived;
                // Without a window both ends have buffers of the same size.
                if packet.window > 0 {
                    self.learn_window(packet);
                }
                self.send_syn(now, out);
            }
            (Connection::SynSent, true, true) => {
                self.learn_window(packet);
                if self.timestamps && self.receiver.is_linux() {
                    self.sender.core.headers.echo = packet.timestamp;
                    // RFC 7323, section 3.2: the ACK of the answer echoes its timestamp.
                    self.receiver.set_timestamp(packet.timestamp);
                    let handshake = self.handshake.get_or_insert_default();
                    handshake.answered = Some(echoed_at(now, packet));
                }
                self.establish(now);
                if self.sender.owns_syn() {
                    return self.sender.on_ack(now, packet, out);
                }
                // ns-2 has two steps; the first data is the third.
                if !self.one_way || !self.sender.core.has_data() {
                    self.send_ack(now, out);
                }
                self.sender.send(now, out);
            }
            (Connection::SynReceived, false, true) => {
                // The third packet's window is the one that the next may repeat. Data
                // carries none.
                if is_empty(packet) {
                    self.learn_window(packet);
                }
                self.establish(now);
                self.sender.send(now, out);
            }
            // The answer was lost, and data have arrived since.
            (Connection::Established, true, false) if self.one_way => self.send_syn(now, out),
            // The SYN-ACK came again: our ACK of it was lost.
            (Connection::Established, true, true) => self.send_ack(now, out),
            _ => {}
        }
    }

    /// The estimator of the handshake, which has no sample yet.
    fn handshake_rtt(&self) -> RttEstimator {
        let core = &self.sender.core;
        let timeouts = self.handshake.as_ref().map_or(0, |h| h.timeouts);
        core.rtt.unsampled(core.rules, timeouts)
    }

    /// A window of zero is one, too: nothing may leave.
    fn learn_window(&mut self, packet: &Packet) {
        self.sender.core.snd.window = u64::from(packet.window);
    }

    pub(super) fn establish(&mut self, now: Time) {
        let opened = self.connection == Connection::SynSent;
        self.connection = Connection::Established;
        let handshake = match &mut self.handshake {
            Some(handshake) => {
                handshake.deadline = Time::MAX;
                **handshake
            }
            None => Handshake::default(),
        };
        if opened && self.sender.owns_syn() {
            return self.sender.established(None);
        }
        let Handshake { sent, sent_at, .. } = handshake;
        let sent_at = (sent == 1).then_some(sent_at);
        if let Some(sent_at) = sent_at.or(handshake.answered) {
            let cwnd = self.sender.core.window.cwnd;
            self.sender.core.rtt.sample(sent_at, now, cwnd);
            let rtt = &self.sender.core.rtt;
            self.receiver.set_round_trip(now, rtt.fine(), rtt.rto());
            self.sender.established(Some(now.since(sent_at)));
        } else {
            self.sender.established(None);
        }
        if sent > 1 {
            self.handshake_was_lost(&handshake);
        }
        // A sink of ns-2 may have to answer the SYN again.
        if !self.one_way {
            self.handshake = None;
        }
    }

    /// More than one SYN was sent. Linux 6 takes that for a sign of congestion
    /// from the third on, unless the timestamp in the answer is the first one's; and
    /// a timestamp gives it a round trip, so that its timeout stays.
    fn handshake_was_lost(&mut self, handshake: &Handshake) {
        if !self.receiver.is_linux() {
            return self.sender.handshake_was_lost(self.handshake_rtt());
        }
        let first = timestamp(handshake.first_at);
        let was_late = handshake.answered.map(timestamp) == Some(first);
        if handshake.sent > 2 && !was_late {
            self.sender.core.window.cwnd = 1.0;
        }
        if handshake.answered.is_none() {
            self.sender.core.rtt.handshake_was_lost();
        }
    }
}
