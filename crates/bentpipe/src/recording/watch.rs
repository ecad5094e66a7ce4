//! The observer of a recorded run.

use super::LINK;
use super::packets::Packets;
use super::waits::Waits;
use bentpipe_scenario::{LinkId, Scenario};
use bentpipe_sim::{LossCause, LostPacket, Observer};
use bentpipe_tcp::Packet;
use bentpipe_tcp::packet::flags;
use bentpipe_units::{Bytes, Duration, Time};

/// Data that were lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub struct Loss {
    /// When.
    pub at: Time,
    /// Why.
    pub cause: LossCause,
    /// The first byte of the payload, as an offset in the stream.
    pub sequence: u64,
    /// Bytes of payload.
    pub bytes: u32,
}

/// Data that were sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub struct Resent {
    /// When.
    pub at: Time,
    /// The first byte of the payload, as an offset in the stream.
    pub sequence: u64,
}

/// Sees one connection, the link and its queue.
#[derive(Debug)]
pub(super) struct Watch {
    /// The ends of the connection that is watched.
    sender: u32,
    receiver: u32,
    /// By endpoint, whether what arrives there has crossed the link.
    crosses: Vec<bool>,
    spacing: Duration,
    /// One past the last byte that was sent.
    highest: u64,
    /// Times and sizes of packets that the link had to carry.
    load: Vec<(Time, u32)>,
    pub(super) first_data_at: Option<Time>,
    pub(super) losses: Vec<Loss>,
    pub(super) lost_acks: Vec<Time>,
    pub(super) lost_openings: Vec<Time>,
    pub(super) resent: Vec<Resent>,
    pub(super) timeouts: Vec<Time>,
    pub(super) waits: Waits,
    pub(super) queue: Vec<(Time, u64)>,
    pub(super) packets: Packets,
}

impl Watch {
    /// Watches that connection of `scenario`; looks at the queue about every
    /// `spacing`.
    pub(super) fn new(scenario: &Scenario, connection: Option<u32>, spacing: Duration) -> Watch {
        let crosses = |links: &[LinkId]| links.contains(&LinkId(LINK));
        let ends = scenario
            .connections()
            .flat_map(|c| [crosses(c.reverse), crosses(c.forward)]);
        let (sender, receiver) = match connection {
            Some(number) => (2 * number, 2 * number + 1),
            None => (u32::MAX, u32::MAX),
        };
        let watched = connection.and_then(|n| scenario.connections().nth(n as usize));
        let transport = watched.and_then(|c| c.transport);
        let mut packets = Packets::default();
        packets.is_quic = transport.is_some_and(|t| t.quic.is_some());
        Watch {
            sender,
            receiver,
            crosses: ends.collect(),
            // A tenth of the samples of the sender are enough to see a queue.
            spacing: (spacing * 10).max(Duration::from_micros(100)),
            highest: 0,
            load: Vec::new(),
            first_data_at: None,
            losses: Vec::new(),
            lost_acks: Vec::new(),
            lost_openings: Vec::new(),
            resent: Vec::new(),
            timeouts: Vec::new(),
            waits: Waits::default(),
            queue: Vec::new(),
            packets,
        }
    }

    /// What the link had carried by each time, of packets with `framing`.
    pub(super) fn carried(&self, framing: Option<Bytes>) -> Vec<(Time, u64)> {
        let framing = framing.map_or(0, Bytes::get);
        let mut load = self.load.clone();
        load.sort_by_key(|(at, _)| *at);
        let mut total = 0;
        let sum = load.into_iter().map(|(at, bytes)| {
            total += u64::from(bytes) + framing;
            (at, total)
        });
        sum.collect()
    }
}

/// Data, and no probe whose payload is thrown away.
fn is_data(packet: &Packet) -> bool {
    packet.payload > 0 && !packet.has(flags::PROBE)
}

impl Observer for Watch {
    fn sent(&mut self, now: Time, endpoint: u32, packet: &Packet) {
        if endpoint == self.sender && is_data(packet) {
            self.first_data_at.get_or_insert(now);
            if packet.sequence < self.highest {
                self.resent.push(Resent {
                    at: now,
                    sequence: packet.sequence,
                });
            }
            let end = packet.sequence + u64::from(packet.payload);
            self.highest = self.highest.max(end);
            self.waits.sent(now, end, packet.payload);
        }
        if endpoint == self.sender || endpoint == self.receiver {
            self.packets.sent(now, endpoint == self.sender, packet);
        }
    }

    fn received(&mut self, now: Time, endpoint: u32, packet: &Packet) {
        if self.crosses.get(endpoint as usize) == Some(&true) {
            self.load.push((now, u32::from(packet.bytes)));
        }
        if endpoint == self.sender && packet.has(flags::ACK) && !packet.has(flags::SYN) {
            self.waits.acknowledged(now, packet);
        }
        if endpoint == self.sender || endpoint == self.receiver {
            self.packets
                .received(now, endpoint == self.receiver, packet);
        }
    }

    fn lost(&mut self, loss: &LostPacket) {
        let packet = &loss.packet;
        let is_here = packet.destination == self.sender || packet.destination == self.receiver;
        if loss.link == Some(LINK) && matches!(loss.cause, LossCause::Channel) {
            self.load.push((loss.at, u32::from(packet.bytes)));
        }
        if !is_here {
            return;
        }
        let opens = packet.has(flags::SYN) || (self.packets.is_quic && packet.has(flags::PROBE));
        if opens {
            self.lost_openings.push(loss.at);
        } else if packet.destination == self.sender {
            self.lost_acks.push(loss.at);
        } else if is_data(packet) {
            self.losses.push(Loss {
                at: loss.at,
                cause: loss.cause,
                sequence: packet.sequence,
                bytes: u32::from(packet.payload),
            });
        }
        self.packets.lost(loss, packet.destination == self.receiver);
    }

    fn timed_out(&mut self, now: Time, endpoint: u32) {
        if endpoint == self.sender {
            self.timeouts.push(now);
            self.waits.timed_out(now);
            self.packets.timed_out(now);
        }
    }

    fn queue_interval(&self) -> Option<Duration> {
        Some(self.spacing)
    }

    fn queue(&mut self, now: Time, link: u32, packets: u64) {
        if link == LINK {
            self.queue.push((now, packets));
        }
    }
}
