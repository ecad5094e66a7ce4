//! What the datagrams of a QUIC connection carry, and which packets its sender finds lost.
//!
//! Datagrams are read as they are sent ([`bentpipe_quic::wire`]). Which packets the sender finds lost it
//! does not tell, only how many; both thresholds of RFC 9002, section 6.1, take the oldest of those
//! that are outstanding before the newest that was acknowledged in their space, so these are known.

use bentpipe_outcome::SenderSample;
use bentpipe_quic::wire::{self, Frame, PacketKind, WirePacket};
use bentpipe_units::Time;
use std::collections::{BTreeMap, HashMap};

/// A packet is found lost when one that was sent so many later is acknowledged (RFC 9002, section
/// 6.1.1); quinn's default as well.
const REORDERING: u64 = 3;
/// Spaces of packet numbers.
const SPACES: usize = 3;
/// Longer packets of nothing but padding probe for a larger MTU (RFC 8899).
const PROBE: u32 = 1200;

/// Something that happens at the sender of the data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Happening {
    /// It sends a datagram with these packets.
    Sent(Vec<WirePacket>),
    /// A datagram with these packets arrives.
    Received(Vec<WirePacket>),
    /// It finds a packet lost.
    Lost {
        kind: PacketKind,
        number: u64,
        /// By the packets that were acknowledged after it, or else by time.
        by_order: bool,
    },
    /// Its packets may have so many bytes.
    Fits(u32),
}

/// The datagrams of a connection as its sender sees them.
#[derive(Clone, Debug, Default)]
pub struct Datagrams {
    /// Bytes of a full packet at first.
    pub(super) fits: u32,
    /// What happens, in order.
    pub(super) happenings: Vec<(Time, Happening)>,
    /// The datagram that leaves next.
    next: Option<Vec<WirePacket>>,
    /// Those on their way to the sender, by the bytes that were sent before them.
    coming: HashMap<u64, Vec<WirePacket>>,
}

impl Datagrams {
    /// None yet, of a connection whose packets may have so many bytes at first.
    pub(super) fn new(fits: u32) -> Datagrams {
        Datagrams {
            fits,
            ..Datagrams::default()
        }
    }

    /// A datagram is about to be sent, after so many bytes of others.
    pub(super) fn carries(&mut self, by_sender: bool, before: u64, datagram: &[u8]) {
        let packets = wire::read(datagram);
        match by_sender {
            true => self.next = Some(packets),
            false => _ = self.coming.insert(before, packets),
        }
    }

    /// The datagram leaves the sender; frames are kept where they are `wanted`.
    pub(super) fn sent(&mut self, now: Time, wanted: bool) {
        let Some(mut packets) = self.next.take() else {
            return;
        };
        strip(&mut packets, wanted);
        self.happenings.push((now, Happening::Sent(packets)));
    }

    /// A datagram that was sent after so many bytes of others arrives at the sender.
    pub(super) fn received(&mut self, now: Time, before: u64, wanted: bool) {
        let Some(mut packets) = self.coming.remove(&before) else {
            return;
        };
        strip(&mut packets, wanted);
        self.happenings.push((now, Happening::Received(packets)));
    }

    /// What happens between two times, with what the sender finds lost, of whose number `samples` tell
    /// from the start on.
    pub(super) fn finish(self, samples: &[SenderSample], [from, to]: [Time; 2]) -> Datagrams {
        let mut state = State {
            fits: self.fits,
            ..State::default()
        };
        let mut all: Vec<(Time, Happening)> = Vec::with_capacity(self.happenings.len());
        let mut found = 0;
        let mut counts = samples.iter().map(|s| (s.at, s.retransmissions)).peekable();
        let mut happenings = self.happenings.into_iter().peekable();
        loop {
            // A sample is the state after its instant.
            let next = happenings.peek().map_or(Time::MAX, |(at, _)| *at);
            while let Some((at, count)) = counts.next_if(|(at, _)| *at < next) {
                let lost = state.find(count.saturating_sub(found));
                found = found.max(count);
                let place = place_of_losses(&all, at);
                all.splice(place..place, lost.into_iter().map(|lost| (at, lost)));
            }
            let Some((at, happening)) = happenings.next() else {
                break;
            };
            let fits = state.take(&happening);
            all.push((at, happening));
            all.extend(fits.map(|bytes| (at, Happening::Fits(bytes))));
        }
        // How long packets may be when the time begins.
        let earlier = all
            .iter()
            .rev()
            .find_map(|(at, happening)| match happening {
                Happening::Fits(bytes) if *at < from => Some(*bytes),
                _ => None,
            });
        all.retain(|(at, _)| (from..=to).contains(at));
        Datagrams {
            fits: earlier.unwrap_or(self.fits),
            happenings: all,
            ..Datagrams::default()
        }
    }

    /// The sender opens the connection.
    pub(super) fn sender_opens(&self) -> bool {
        let first = self
            .happenings
            .iter()
            .find_map(|(_, happening)| match happening {
                Happening::Sent(_) => Some(true),
                Happening::Received(_) => Some(false),
                _ => None,
            });
        first.unwrap_or(false)
    }
}

/// Leaves of the frames what tells which packets have arrived, unless all are `wanted`.
fn strip(packets: &mut [WirePacket], wanted: bool) {
    let tells = |frame: &Frame| matches!(frame, Frame::Ack { .. } | Frame::HandshakeDone);
    if !wanted {
        for packet in packets {
            packet.frames.retain(tells);
        }
    }
}

/// Where losses that are found at `at` stand: behind the acknowledgement that arrives then, or else
/// before what is sent for the timer.
fn place_of_losses(all: &[(Time, Happening)], at: Time) -> usize {
    let first = all.partition_point(|(other, _)| *other < at);
    let arrival = |(_, happening): &(Time, Happening)| {
        matches!(happening, Happening::Received(_) | Happening::Fits(_))
    };
    all[first..]
        .iter()
        .rposition(arrival)
        .map_or(first, |place| first + place + 1)
}

/// A packet that was sent and is neither acknowledged nor found lost.
#[derive(Clone, Copy, Debug)]
struct Outstanding {
    kind: PacketKind,
    length: u32,
    is_probe: bool,
}

/// What the sender knows of its packets.
#[derive(Debug, Default)]
struct State {
    outstanding: [BTreeMap<u64, Outstanding>; SPACES],
    acknowledged: [Option<u64>; SPACES],
    /// It opens the connection; `None` before anything happens.
    opens: Option<bool>,
    /// The longest packet that has arrived, or may be sent at first.
    fits: u32,
}

impl State {
    /// Takes what happens; the length that packets may have from now on, where that is new.
    fn take(&mut self, happening: &Happening) -> Option<u32> {
        let (packets, is_sent) = match happening {
            Happening::Sent(packets) => (packets, true),
            Happening::Received(packets) => (packets, false),
            _ => return None,
        };
        let opens = *self.opens.get_or_insert(is_sent);
        let before = self.fits;
        for packet in packets {
            // RFC 9001, section 4.9: keys that are no longer needed, and all that they sealed.
            if packet.kind == PacketKind::Handshake && is_sent == opens {
                self.outstanding[PacketKind::Initial.space()].clear();
            }
            if packet.frames.contains(&Frame::HandshakeDone) {
                self.outstanding[PacketKind::Handshake.space()].clear();
            }
            match is_sent {
                true => self.send(packet),
                false => self.acknowledge(packet),
            }
        }
        (self.fits > before).then_some(self.fits)
    }

    fn send(&mut self, packet: &WirePacket) {
        let pads =
            |frame: &Frame| matches!(frame, Frame::Padding(_) | Frame::Ping | Frame::ImmediateAck);
        let is_probe = packet.length > PROBE && packet.frames.iter().all(pads);
        let sent = Outstanding {
            kind: packet.kind,
            length: packet.length,
            is_probe,
        };
        self.outstanding[packet.kind.space()].insert(packet.number, sent);
    }

    fn acknowledge(&mut self, packet: &WirePacket) {
        let space = packet.kind.space();
        for frame in &packet.frames {
            let Frame::Ack { ranges, .. } = frame else {
                continue;
            };
            for [first, last] in ranges {
                self.acknowledged[space] = self.acknowledged[space].max(Some(*last));
                let outstanding = &mut self.outstanding[space];
                let inside: Vec<u64> = outstanding.range(*first..=*last).map(|(n, _)| *n).collect();
                for number in inside {
                    let sent = outstanding.remove(&number);
                    self.fits = self.fits.max(sent.map_or(0, |sent| sent.length));
                }
            }
        }
    }

    /// Takes out the `count` packets that are found lost now.
    fn find(&mut self, count: u64) -> Vec<Happening> {
        let mut lost = Vec::new();
        for space in 0..SPACES {
            let Some(newest) = self.acknowledged[space] else {
                continue;
            };
            while (lost.len() as u64) < count {
                let Some(entry) = self.outstanding[space].first_entry() else {
                    break;
                };
                if *entry.key() > newest {
                    break;
                }
                let (number, sent) = entry.remove_entry();
                // Probes for a larger MTU count as no losses (RFC 8899, section 3).
                if !sent.is_probe {
                    lost.push(Happening::Lost {
                        kind: sent.kind,
                        number,
                        by_order: newest >= number + REORDERING,
                    });
                }
            }
        }
        lost
    }
}

#[cfg(test)]
mod tests;
