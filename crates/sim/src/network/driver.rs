//! The driver of the forwarding core in virtual time: the event queue, the
//! packets, and the losses.

use super::corruption::Corruption;
use super::notices::Notices;
use crate::arena::{Arena, Handle};
use crate::ledger::{Ledger, Pending};
use crate::parts::{Crossing, Outgoing};
use crate::queue::{Class, Event, EventQueue};
use bentpipe_link::forward::{Driver, InFlight, Loss, Paths};
use bentpipe_link::{Feedback, Link, PacketMeta, Stamp, Verdict, XcpHeader};
use bentpipe_middlebox::AckFilter;
use bentpipe_scenario::Scenario;
use bentpipe_tcp::Packet;
use bentpipe_tcp::packet::{ecn, priority};
use bentpipe_units::Time;

/// What the forwarding core drives its links with.
#[derive(Debug)]
pub(crate) struct SimDriver {
    pub(crate) events: EventQueue,
    pub(crate) packets: Arena,
    pub(crate) ledger: Ledger,
    ack_filter: AckFilter,
    /// Kept where links report to receivers what they destroyed.
    pub(crate) corruption: Option<Box<Corruption>>,
    /// Present where queues notify senders.
    pub(super) notices: Option<Box<Notices>>,
    /// Losses that the observer of the run has not seen yet; `None` without one.
    pub(super) watched: Option<Vec<Watched>>,
    /// Packets on their way to other parts of the network, where it has any.
    pub(crate) outgoing: Option<Box<Outgoing>>,
}

/// A loss for the observer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Watched {
    pub(super) at: Time,
    pub(super) link: u32,
    pub(super) verdict: Verdict,
    pub(super) packet: Packet,
}

impl SimDriver {
    pub(super) fn new(scenario: &Scenario, hops: usize, is_watched: bool) -> SimDriver {
        SimDriver {
            events: EventQueue::default(),
            packets: Arena::default(),
            ledger: Ledger::new(hops),
            ack_filter: AckFilter::default(),
            corruption: Corruption::new(scenario),
            notices: Notices::new(scenario),
            watched: is_watched.then(Vec::new),
            outgoing: None,
        }
    }

    fn packet(&mut self, packet: &InFlight) -> &mut Packet {
        self.packets.get_mut(Handle(packet.handle))
    }
}

/// What links must know about `packet`.
#[inline]
pub(super) fn meta(packet: &Packet) -> PacketMeta {
    PacketMeta {
        bytes: u32::from(packet.bytes),
        ecn_capable: packet.ecn != ecn::NOT_CAPABLE,
        low_priority: packet.priority & priority::LOW != 0,
        flow: packet.destination,
    }
}

impl Driver for SimDriver {
    #[inline]
    fn schedule(&mut self, at: Time, component: u32) {
        self.events.push(Event {
            at,
            class: Class::Arrival,
            component,
        });
    }

    fn mark(&mut self, packet: &InFlight) {
        self.packet(packet).ecn = ecn::MARKED;
    }

    fn notify(&mut self, now: Time, link: u32, packet: &InFlight) {
        let destination = self.packet(packet).destination ^ 1;
        if let Some(notices) = &mut self.notices {
            notices.add(link, destination);
            self.events.push(Event {
                at: now,
                class: Class::Notice,
                component: 0,
            });
        }
    }

    fn lose(&mut self, now: Time, loss: &Loss, _: &Paths) {
        let handle = Handle(loss.packet.handle);
        if let (Some(corruption), Verdict::ChannelLoss) = (&mut self.corruption, loss.verdict) {
            let packet = self.packets.get(handle);
            corruption.destroyed(loss.link, packet, now, loss.link_free_at);
        }
        let is_repair = self.packets.get(handle).carries(priority::REPAIR);
        if let Some(watched) = self.watched.as_mut().filter(|_| !is_repair) {
            watched.push(Watched {
                at: loss.at,
                link: loss.link,
                verdict: loss.verdict,
                packet: *self.packets.get(handle),
            });
        }
        self.packets.discard(handle);
        let pending = Pending {
            hop: loss.packet.hop(),
            bytes: loss.packet.bytes(),
            verdict: loss.verdict,
            enters: loss.enters,
            happens: loss.at,
            sent: loss.link_free_at,
        };
        self.ledger.lose(now, pending);
    }

    fn cross(&mut self, link: u32, sent: Time, at: Time, packet: &InFlight) {
        let header = self.packets.remove(Handle(packet.handle));
        if let Some(outgoing) = &mut self.outgoing {
            outgoing.put(Crossing {
                link,
                sent,
                at,
                packet: *packet,
                header,
            });
        }
    }

    fn divert(&mut self, packet: &InFlight, hop: u32) {
        self.ledger.divert(packet.hop(), hop, packet.bytes());
    }

    fn congestion_header(&mut self, packet: &InFlight) -> Option<XcpHeader> {
        let packet = self.packet(packet);
        if packet.bandwidth_header().is_some() {
            return Some(XcpHeader::default());
        }
        let header = packet.congestion_header()?;
        Some(XcpHeader {
            x: header.x,
            rtt: header.rtt,
            request: header.change,
        })
    }

    fn write_feedback(&mut self, packet: &InFlight, feedback: Feedback) {
        self.packet(packet).leave_change(feedback.change());
    }

    fn write_stamp(&mut self, packet: &InFlight, stamp: Stamp) {
        let packet = self.packet(packet);
        packet.stamp(stamp.share(), stamp.delay_us());
    }

    fn filter(&mut self, now: Time, link: &mut Link<InFlight>, new: &InFlight) {
        let SimDriver {
            packets,
            ack_filter,
            ..
        } = self;
        let get = |packet: &InFlight| packets.get(Handle(packet.handle));
        link.advance(now);
        if ack_filter.look(get(new), link.waiting_packets().map(get)) {
            link.drop_waiting(now, |waits| ack_filter.drops(get(new), get(waits)));
        }
    }
}
