//! Losses by hop.
//!
//! Nothing is counted per hop: what a flow sends is counted once, at the start of its path, and
//! losses are rare. The packets that crossed a link are those sent minus those lost before it or
//! still in flight, which [`snapshot`](crate::snapshot) works out when asked.

use bentpipe_link::Verdict;
use bentpipe_link::forward::Count;
use bentpipe_units::Time;

/// Packets lost at one hop of a path, and those that changed paths there.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Losses {
    pub(crate) queue: Count,
    pub(crate) channel: Count,
    pub(crate) outage: Count,
    /// Those that came here on another path and take this hop.
    pub(crate) joined: Count,
    /// Those that came here and go on by another path.
    pub(crate) diverted: Count,
}

/// A loss that a link has decided on and that has not happened yet: the packet
/// was offered ahead of time, or waits for its transmission.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pending {
    /// Index of the hop.
    pub(crate) hop: u32,
    pub(crate) bytes: u32,
    pub(crate) verdict: Verdict,
    /// When the packet enters the link.
    pub(crate) enters: Time,
    /// When it is lost: on entry by a queue, at the end of its transmission by
    /// a channel, at the beginning of an outage.
    pub(crate) happens: Time,
    /// Where an outage loses it: when its transmission ends.
    pub(crate) sent: Time,
}

/// The losses of a run. Hops are those of all paths, flattened.
#[derive(Clone, Debug)]
pub(crate) struct Ledger {
    /// For each hop, where in `losses` its own are; at most hops it is 0, where there are none.
    places: Vec<u32>,
    losses: Vec<Losses>,
    /// Losses that lie in the future, unordered.
    pub(crate) pending: Vec<Pending>,
    /// Number of pending losses at which those that have happened are counted.
    crowd: usize,
}

/// The least number of pending losses that are searched.
const CROWD: usize = 64;

impl Ledger {
    pub(crate) fn new(hops: usize) -> Ledger {
        Ledger {
            places: vec![0; hops],
            losses: vec![Losses::default()],
            pending: Vec::new(),
            crowd: CROWD,
        }
    }

    /// Notes a loss that is known at `now`.
    pub(crate) fn lose(&mut self, now: Time, loss: Pending) {
        if loss.happens <= now {
            self.count(loss);
            return;
        }
        if self.pending.len() >= self.crowd {
            self.settle(now);
            self.crowd = (2 * self.pending.len()).max(CROWD);
        }
        self.pending.push(loss);
    }

    /// Counts the losses that have happened by `now`.
    pub(crate) fn settle(&mut self, now: Time) {
        let mut pending = std::mem::take(&mut self.pending);
        pending.retain(|loss| {
            let waits = loss.happens > now;
            if !waits {
                self.count(*loss);
            }
            waits
        });
        self.pending = pending;
    }

    /// A packet leaves its path before hop `from` and continues at hop `to`.
    pub(crate) fn divert(&mut self, from: u32, to: u32, bytes: u32) {
        self.at(from).diverted.add(bytes);
        self.at(to).joined.add(bytes);
    }

    /// Adds what was lost in another part of the network, where the same hops are.
    pub(crate) fn add(&mut self, other: &Ledger) {
        for hop in 0..other.places.len() {
            if other.places[hop] > 0 {
                let (losses, more) = (self.at(hop as u32), other.of(hop));
                losses.queue = losses.queue.plus(more.queue);
                losses.channel = losses.channel.plus(more.channel);
                losses.outage = losses.outage.plus(more.outage);
                losses.joined = losses.joined.plus(more.joined);
                losses.diverted = losses.diverted.plus(more.diverted);
            }
        }
        self.pending.extend_from_slice(&other.pending);
    }

    /// What was lost at `hop`.
    pub(crate) fn of(&self, hop: usize) -> Losses {
        self.losses[self.places[hop] as usize]
    }

    fn at(&mut self, hop: u32) -> &mut Losses {
        let place = &mut self.places[hop as usize];
        if *place == 0 {
            *place = self.losses.len() as u32;
            self.losses.push(Losses::default());
        }
        &mut self.losses[*place as usize]
    }

    fn count(&mut self, loss: Pending) {
        let losses = self.at(loss.hop);
        match loss.verdict {
            Verdict::ChannelLoss => losses.channel.add(loss.bytes),
            Verdict::OutageLoss => losses.outage.add(loss.bytes),
            _ => losses.queue.add(loss.bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_counts_when_it_happens() {
        let mut ledger = Ledger::new(3);
        let at = Time::from_nanos;
        let loss = |hop, verdict, happens| Pending {
            hop,
            bytes: 1500,
            verdict,
            enters: at(0),
            happens: at(happens),
            sent: at(happens),
        };
        for i in 0..1000 {
            ledger.lose(at(i), loss(1, Verdict::ChannelLoss, i + 10));
        }
        ledger.lose(at(1000), loss(2, Verdict::QueueDrop, 1000));
        assert!(ledger.pending.len() < 2 * CROWD, "{}", ledger.pending.len());
        ledger.settle(at(1000));
        // Those of 0 to 990 have happened.
        assert_eq!(ledger.of(1).channel.packets, 991);
        assert_eq!(ledger.pending.len(), 9);
        let one = Count {
            packets: 1,
            bytes: 1500,
        };
        assert_eq!(ledger.of(2).queue, one);
    }
}
