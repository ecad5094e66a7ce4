//! Settings of a link, as in a scenario.

use crate::{QueueSettings, Timeline};
use bentpipe_units::{Bytes, Duration, Rate, Ratio};

/// One direction between two nodes: queue, transmitter, propagation, channel.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct LinkSettings {
    /// Rate of the transmitter.
    pub rate: Rate,
    /// One-way propagation delay, without queueing and transmission.
    pub one_way_delay: Duration,
    /// What waits for the transmitter. The packet in transmission does not
    /// count.
    pub queue: QueueSettings,
    /// The loss process behind the transmitter.
    pub channel: ChannelSettings,
    /// Bytes that the link's framing adds to every packet on the wire.
    pub framing: Bytes,
    /// Time that a burst's preamble takes on the wire before every packet.
    #[serde(skip_serializing_if = "is_zero")]
    pub preamble: Duration,
}

// What is hashed stays as it was before links had preambles.
#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_zero(time: &Duration) -> bool {
    time.is_zero()
}

impl LinkSettings {
    /// A link that loses nothing and adds nothing to packets.
    #[must_use]
    pub const fn new(rate: Rate, one_way_delay: Duration, queue: QueueSettings) -> LinkSettings {
        LinkSettings {
            rate,
            one_way_delay,
            queue,
            channel: ChannelSettings::Perfect,
            framing: Bytes::ZERO,
            preamble: Duration::ZERO,
        }
    }

    /// What this link has and cannot have together with `timeline` and ARQ, or where it shares a
    /// medium. A code goes with all of it, and ARQ with a timeline.
    #[must_use]
    pub fn conflict(
        &self,
        timeline: Option<&Timeline>,
        arq: bool,
        shares_medium: bool,
    ) -> Option<LinkConflict> {
        let is_router = matches!(
            self.queue,
            QueueSettings::Xcp(_) | QueueSettings::Bandwidth(_)
        );
        let has_opportunities = timeline.is_some_and(|line| line.opportunities().is_some());
        let has_preamble = !self.preamble.is_zero();
        let (medium, preamble) = (shares_medium, has_preamble);
        let conflicts = [
            (
                medium && timeline.is_some(),
                LinkConflict::MediumAndTimeline,
            ),
            (medium && arq, LinkConflict::MediumAndArq),
            (medium && is_router, LinkConflict::MediumAndRouter),
            (medium && preamble, LinkConflict::MediumAndPreamble),
            (
                has_opportunities && preamble,
                LinkConflict::OpportunitiesAndPreamble,
            ),
            (is_router && preamble, LinkConflict::RouterAndPreamble),
        ];
        let found = conflicts.iter().find(|(is, _)| *is);
        found.map(|(_, conflict)| *conflict)
    }

    /// The limit of the queue, where it may count a segment of several packets (GSO) as its bytes;
    /// `None` where the link treats packets one by one.
    pub fn segment_limit(&mut self) -> Option<&mut Limit> {
        let has_preamble = !self.preamble.is_zero();
        self.queue.segment_limit().filter(|_| !has_preamble)
    }

    /// Payload, bit/s, of packets that have `payload` bytes each behind `header`, losses not
    /// counted.
    #[must_use]
    pub fn payload_rate(&self, payload: f64, header: f64) -> f64 {
        let preamble = self.preamble.as_secs() * self.rate.bps_f64() / 8.0;
        let wire = payload + header + self.framing.as_f64() + preamble;
        self.rate.bps_f64() * payload / wire
    }

    /// The time that a packet of `bytes` takes at `rate` instead of the link's own.
    #[must_use]
    pub fn time_at(&self, rate: Rate, bytes: Bytes) -> Duration {
        self.preamble + rate.transmission_time(Bytes::new(bytes.get() + self.framing.get()))
    }
}

/// Two properties that one link cannot have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LinkConflict {
    /// A medium decides when packets go and how long they take.
    #[error("shares a medium and has a timeline of its own, but rate and delay are the medium's")]
    MediumAndTimeline,
    /// A medium supports neither retransmissions by a terminal nor a return path for their
    /// acknowledgements.
    #[error(
        "shares a medium and has ARQ, but the medium's frames carry no acknowledgements of \
         terminals"
    )]
    MediumAndArq,
    /// A router (XCP, BA-TCP) needs a rate that is the link's own.
    #[error(
        "shares a medium and has a queue with a router, but a router divides a rate that \
         is its own"
    )]
    MediumAndRouter,
    /// A medium's slots and frames have room for the preambles of bursts already.
    #[error("shares a medium and has a preamble, but the medium decides how long packets take")]
    MediumAndPreamble,
    /// A trace of opportunities says when packets are through.
    #[error(
        "follows a trace of delivery opportunities and has a preamble, but the trace decides how \
         long packets take"
    )]
    OpportunitiesAndPreamble,
    /// A router (XCP, BA-TCP) would give out the time of the preambles.
    #[error(
        "has a queue with a router and a preamble, but a router gives out a rate of which \
         preambles take no share"
    )]
    RouterAndPreamble,
}

impl LinkConflict {
    /// Remedy.
    #[must_use]
    pub fn advice(self) -> &'static str {
        match self {
            LinkConflict::MediumAndTimeline | LinkConflict::MediumAndArq => {
                "put a second link behind that of the medium"
            }
            LinkConflict::MediumAndRouter => "put the router on a second link",
            LinkConflict::MediumAndPreamble => {
                "leave it out, and count it in `overhead` of the medium or in its `slot`"
            }
            LinkConflict::OpportunitiesAndPreamble => {
                "leave it out: a trace that was measured has it in its times"
            }
            LinkConflict::RouterAndPreamble => {
                "leave it out, and take the share of preambles off the rate"
            }
        }
    }

    /// The key of a scenario that it is about.
    #[must_use]
    pub fn key(self) -> &'static str {
        match self {
            LinkConflict::MediumAndTimeline => "medium",
            LinkConflict::MediumAndArq => "arq",
            LinkConflict::MediumAndRouter => "queue",
            LinkConflict::MediumAndPreamble
            | LinkConflict::OpportunitiesAndPreamble
            | LinkConflict::RouterAndPreamble => "preamble",
        }
    }
}

/// How much a queue holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub enum Limit {
    /// Packets of any size.
    Packets(u32),
    /// Bytes of packets, framing not counted.
    Bytes(Bytes),
}

impl Limit {
    /// True if one packet of `more` bytes may join `packets` of `bytes` in all.
    #[inline]
    pub(crate) fn admits(self, packets: u64, bytes: u64, more: u32) -> bool {
        match self {
            Limit::Packets(n) => packets < u64::from(n),
            Limit::Bytes(n) => bytes.saturating_add(u64::from(more)) <= n.get(),
        }
    }
}

/// A loss process and its parameters.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub enum ChannelSettings {
    /// No losses.
    Perfect,
    /// Each packet is lost independently.
    Uniform {
        /// Probability that a packet is lost, independently of others.
        packet_error_rate: Ratio,
    },
    /// Each bit of a packet on the wire (framing included) is wrong
    /// independently; a packet with a wrong bit is lost.
    BitErrors {
        /// Bit error rate after any coding.
        bit_error_rate: Ratio,
    },
    /// Two states, good (no loss) and bad (every packet lost), one step per
    /// packet.
    GilbertElliott {
        /// Long-run share of packets lost.
        packet_error_rate: Ratio,
        /// Mean number of packets in a loss burst, at least 1, and at least
        /// p / (1 - p) for the share p to be reached.
        mean_burst: f64,
    },
    /// The same two states in time: bursts last, whether packets come or not. A
    /// packet is lost whose transmission ends in the bad state.
    Bursts {
        /// Long-run share of the time in the bad state.
        packet_error_rate: Ratio,
        /// Mean time in the bad state.
        mean_burst: Duration,
    },
}
