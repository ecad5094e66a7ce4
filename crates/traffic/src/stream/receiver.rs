//! The receiving end of a stream.

use super::{StreamPacket, StreamPacketKind};
use bentpipe_units::Time;
use std::collections::BTreeSet;

/// A packet is lost when one so many numbers later has come.
const OVERTAKEN: u64 = 3;

/// What the receiver answers to a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Feedback {
    /// What it answers.
    pub kind: StreamPacketKind,
    /// When that was sent.
    pub sent_at: Time,
    /// Packets of data that are lost, in all.
    pub lost: u64,
    /// The last of them.
    pub last_lost: u64,
}

/// The receiving end of a stream: counts what is missing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StreamReceiver {
    /// One past the highest number that came.
    end: u64,
    /// Of all packets before this one it is known whether they are lost.
    judged: u64,
    /// What came of the others.
    early: BTreeSet<u64>,
    lost: u64,
    last_lost: u64,
}

impl StreamReceiver {
    /// A packet has come; returns the answer to send.
    pub fn on_packet(&mut self, packet: &StreamPacket) -> Feedback {
        if packet.kind == StreamPacketKind::Data && packet.number >= self.judged {
            self.early.insert(packet.number);
            self.end = self.end.max(packet.number + 1);
            while self.judged + OVERTAKEN < self.end {
                if !self.early.remove(&self.judged) {
                    self.lost += 1;
                    self.last_lost = self.judged;
                }
                self.judged += 1;
            }
        }
        Feedback {
            kind: packet.kind,
            sent_at: packet.sent_at,
            lost: self.lost,
            last_lost: self.last_lost,
        }
    }

    /// Packets of data that are lost.
    #[must_use]
    pub const fn lost(&self) -> u64 {
        self.lost
    }
}
