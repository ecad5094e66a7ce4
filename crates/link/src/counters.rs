//! Counters of a link.

use crate::Verdict;
use bentpipe_units::Duration;

/// What a link counts: [`Counters`], in which what happens on few links takes room on those only.
/// Links are many.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) offered: u64,
    pub(crate) queue_drops: u64,
    pub(crate) accepted_bytes: u64,
    pub(crate) queueing: Duration,
    pub(crate) max_packets: u64,
    pub(crate) max_bytes: u64,
    rare: Option<Box<Rare>>,
}

/// The counters that stay at zero on most links.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rare {
    pub(crate) early_drops: u64,
    pub(crate) marks: u64,
    pub(crate) channel_losses: u64,
    pub(crate) outage_losses: u64,
    pub(crate) repeats: u64,
    pub(crate) lost_bytes: u64,
}

impl Tally {
    /// What is rare, to count it.
    pub(crate) fn rare_mut(&mut self) -> &mut Rare {
        self.rare.get_or_insert_default()
    }

    /// What is rare.
    pub(crate) fn rare(&self) -> Rare {
        self.rare.as_deref().copied().unwrap_or_default()
    }

    /// A packet of `bytes` is destroyed.
    pub(crate) fn lose(&mut self, verdict: Verdict, bytes: u32) {
        let rare = self.rare_mut();
        match verdict {
            Verdict::OutageLoss => rare.outage_losses += 1,
            _ => rare.channel_losses += 1,
        }
        rare.lost_bytes += u64::from(bytes);
    }

    /// All of them.
    pub(crate) fn counters(&self) -> Counters {
        let Rare {
            early_drops,
            marks,
            channel_losses,
            outage_losses,
            repeats,
            lost_bytes,
        } = self.rare();
        Counters {
            offered: self.offered,
            queue_drops: self.queue_drops,
            early_drops,
            marks,
            channel_losses,
            outage_losses,
            repeats,
            accepted_bytes: self.accepted_bytes,
            lost_bytes,
            queueing: self.queueing,
            max_packets: self.max_packets,
            max_bytes: self.max_bytes,
        }
    }
}

/// Counters of a link since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Packets offered to the link, dropped ones included.
    pub offered: u64,
    /// Packets that the queue dropped, early and forced.
    pub queue_drops: u64,
    /// Those of them that were dropped early, to signal congestion.
    pub early_drops: u64,
    /// Packets whose ECN field the queue marked, or whose sender it notified.
    pub marks: u64,
    /// Packets that the channel destroyed.
    pub channel_losses: u64,
    /// Packets that were lost because the link was down or its route ended.
    pub outage_losses: u64,
    /// Transmissions of packets that had been transmitted before.
    pub repeats: u64,
    /// Bytes of the packets that will arrive, framing not counted.
    pub accepted_bytes: u64,
    /// Bytes of the packets that the channel or an outage destroyed, framing
    /// not counted.
    pub lost_bytes: u64,
    /// Sum of the queueing delays of all packets transmitted.
    pub queueing: Duration,
    /// Most packets that waited at once.
    pub max_packets: u64,
    /// Most bytes that waited at once.
    pub max_bytes: u64,
}
