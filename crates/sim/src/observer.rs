//! Observers of a run, such as captures: packets at the endpoints, losses, timeouts,
//! queues.

use bentpipe_tcp::{Packet, Snapshot};
use bentpipe_units::{Duration, Time};

/// Sees every packet at the endpoints, and what becomes of those that do not arrive.
/// Endpoint `2 c` is the `from` side of connection `c`, endpoint `2 c + 1` its `to`
/// side; connections are those of
/// [`Scenario::connections`](bentpipe_scenario::Scenario::connections), of which the
/// first are the flows in their order. What an observer does changes no result.
pub trait Observer {
    /// False lets the simulator leave every call out.
    fn is_active(&self) -> bool {
        true
    }

    /// `endpoint` is about to send `packet`, which stands for a datagram of QUIC with these bytes.
    /// In its direction no other has its [`Packet::sequence`].
    fn carries(&mut self, endpoint: u32, packet: &Packet, datagram: &[u8]) {
        let _ = (endpoint, packet, datagram);
    }

    /// `endpoint` sends `packet`.
    fn sent(&mut self, now: Time, endpoint: u32, packet: &Packet);

    /// `packet` arrives at `endpoint`.
    fn received(&mut self, now: Time, endpoint: u32, packet: &Packet);

    /// True where [`Observer::sender`] is to be called.
    fn sees_senders(&self) -> bool {
        false
    }

    /// The sender at `endpoint` of a TCP connection is in this state when the packet arrives that
    /// [`Observer::received`] is called with next.
    fn sender(&mut self, endpoint: u32, state: &Snapshot) {
        let _ = (endpoint, state);
    }

    /// A packet is lost. Calls come when links decide, which may be before
    /// [`LostPacket::at`].
    fn lost(&mut self, loss: &LostPacket) {
        let _ = loss;
    }

    /// The retransmission timer of the sender at `endpoint` has expired.
    fn timed_out(&mut self, now: Time, endpoint: u32) {
        let _ = (now, endpoint);
    }

    /// Time between two looks at the queues: [`Observer::queue`]. `None`: never.
    fn queue_interval(&self) -> Option<Duration> {
        None
    }

    /// So many packets wait before link `link` (an index into the scenario's) at
    /// `now`. Links whose transmitter takes packets from an active queue count as of
    /// their last event.
    fn queue(&mut self, now: Time, link: u32, packets: u64) {
        let _ = (now, link, packets);
    }
}

/// A packet that does not arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LostPacket {
    /// When: a queue drops it on entry, a channel destroys it at the end of its
    /// transmission, an outage at its beginning.
    pub at: Time,
    /// Where: an index into the scenario's links; `None` without a route.
    pub link: Option<u32>,
    /// Reason of the loss.
    pub cause: LossCause,
    /// The packet, as its sender sent it; its `destination` is the endpoint that it
    /// does not reach.
    pub packet: Packet,
}

/// Why a packet is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum LossCause {
    /// The queue was full.
    QueueFull,
    /// The queue dropped it before it was full (RED, CoDel, a filter of ACKs).
    Aqm,
    /// The channel destroyed it.
    Channel,
    /// The link was down.
    Outage,
    /// There was no route when it was sent.
    NoRoute,
}

impl LossCause {
    /// Every cause with its name in JSON.
    pub const ALL: [(&'static str, LossCause); 5] = [
        ("queue_full", LossCause::QueueFull),
        ("aqm", LossCause::Aqm),
        ("channel", LossCause::Channel),
        ("outage", LossCause::Outage),
        ("no_route", LossCause::NoRoute),
    ];

    /// Its name in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        let found = LossCause::ALL.iter().find(|(_, cause)| *cause == self);
        found.map_or("", |(name, _)| name)
    }
}

/// Ignores everything: the default of a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unobserved;

impl Observer for Unobserved {
    fn is_active(&self) -> bool {
        false
    }

    fn sent(&mut self, _: Time, _: u32, _: &Packet) {}
    fn received(&mut self, _: Time, _: u32, _: &Packet) {}
}
