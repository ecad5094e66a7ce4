//! Settings of a medium, as in a scenario.

use bentpipe_units::{Bytes, Duration, Rate};

/// A channel that several terminals share, and the rule by which they do.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct MediumSettings {
    /// Rate of the channel.
    pub rate: Rate,
    /// One-way delay of the whole hop: from a terminal over the satellite to
    /// the hub.
    pub one_way_delay: Duration,
    /// The access rule and its parameters.
    pub access: AccessSettings,
}

/// Who may send when.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub enum AccessSettings {
    /// Fixed TDMA: every slot has its owner.
    Tdma {
        /// Frame length and slots per frame.
        frame: FrameSettings,
    },
    /// TDMA whose slots are allocated on demand, in proportion.
    Dama {
        /// Frame and slots. The minislots, one for each terminal, carry the
        /// requests.
        frame: FrameSettings,
        /// Where the allocator is: on the ground or on board.
        scheduler: Scheduler,
    },
    /// Combined free and demand assignment.
    CfDama {
        /// Frame length and slots per frame.
        frame: FrameSettings,
        /// Where the allocator is: on the ground or on board.
        scheduler: Scheduler,
        /// How terminals send requests.
        requests: Requests,
    },
    /// Whoever has something sends it.
    Aloha(AlohaSettings),
}

/// How time is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct FrameSettings {
    /// Length of a frame.
    pub length: Duration,
    /// Data slots in it.
    pub slots: u32,
    /// Bytes of a slot that carry no data: guard time, preamble, header.
    pub overhead: Bytes,
    /// Bytes of a minislot, where the rule has any. They come first in a
    /// frame; the data slots share what is left.
    pub minislot: Bytes,
}

/// Where the one sits that assigns the slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub enum Scheduler {
    /// At the hub: a request takes the whole hop, and so does the answer.
    Ground,
    /// On the satellite, this far from the terminals.
    OnBoard {
        /// One-way delay between a terminal and the satellite.
        to_satellite: Duration,
    },
}

/// How requests for slots reach the scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub enum Requests {
    /// Every terminal has its own minislot in every frame.
    Preassigned,
    /// A request rides on a packet in a data slot: a terminal with none can
    /// only wait for a free one.
    Piggyback,
    /// Whoever has a request picks one of the frame's minislots; two in one
    /// destroy each other.
    Random {
        /// Minislots in a frame, at least 1.
        minislots: u32,
    },
}

/// Settings of pure and slotted ALOHA.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct AlohaSettings {
    /// Slot length; `None` for unslotted ALOHA. A packet longer than a slot
    /// takes several in a row.
    pub slot: Option<Duration>,
    /// A terminal that has not heard its packet so long after it was sent
    /// takes it for destroyed; at least the one-way delay.
    pub timeout: Duration,
    /// Mean of the exponential pause before a packet is sent again.
    pub mean_backoff: Duration,
    /// How often a packet is sent again before it is given up.
    pub retransmissions: u32,
    /// How much later than the nearest terminal the farthest one hears its own
    /// packet; each has its own part of it. Without it terminals that always
    /// have something to send would keep step for ever.
    pub spread: Duration,
}

impl AccessSettings {
    /// The rule's name, as scenarios write it.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            AccessSettings::Tdma { .. } => "tdma",
            AccessSettings::Dama { .. } => "dama",
            AccessSettings::CfDama { .. } => "cf-dama",
            AccessSettings::Aloha(AlohaSettings { slot: None, .. }) => "aloha",
            AccessSettings::Aloha(_) => "slotted-aloha",
        }
    }
}

impl AlohaSettings {
    /// The defaults of ns-2's `Mac/Sat/UnslottedAloha`: 270 ms, 1 s, 3 times.
    /// There the spread comes from the terminals' places.
    pub const NS2: AlohaSettings = AlohaSettings {
        slot: None,
        timeout: Duration::from_millis(270),
        mean_backoff: Duration::from_secs(1),
        retransmissions: 3,
        spread: Duration::from_millis(2),
    };
}

impl MediumSettings {
    /// Frame and slots, where the rule has any.
    #[must_use]
    pub fn frame(&self) -> Option<&FrameSettings> {
        match &self.access {
            AccessSettings::Tdma { frame }
            | AccessSettings::Dama { frame, .. }
            | AccessSettings::CfDama { frame, .. } => Some(frame),
            AccessSettings::Aloha(_) => None,
        }
    }

    /// Minislots in a frame that `terminals` share.
    #[must_use]
    pub fn minislots(&self, terminals: usize) -> u64 {
        match &self.access {
            AccessSettings::Dama { .. }
            | AccessSettings::CfDama {
                requests: Requests::Preassigned,
                ..
            } => terminals as u64,
            AccessSettings::CfDama {
                requests: Requests::Random { minislots },
                ..
            } => u64::from(*minislots),
            _ => 0,
        }
    }

    /// Time that the minislots of a frame take.
    #[must_use]
    pub fn control(&self, terminals: usize) -> Duration {
        let Some(frame) = self.frame() else {
            return Duration::ZERO;
        };
        let bytes = self.minislots(terminals) * frame.minislot.get();
        self.rate.transmission_time(Bytes::new(bytes))
    }

    /// Bytes on the wire that a terminal can send in a slot of a frame with
    /// `terminals`; zero where minislots and overhead leave none, and for
    /// ALOHA.
    #[must_use]
    pub fn slot_payload(&self, terminals: usize) -> Bytes {
        let Some(frame) = self.frame() else {
            return Bytes::ZERO;
        };
        let left = frame.length.saturating_sub(self.control(terminals));
        let bytes = self.rate.bytes_in(left / u64::from(frame.slots.max(1)));
        Bytes::new(bytes.get().saturating_sub(frame.overhead.get()))
    }
}
