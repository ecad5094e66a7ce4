//! One direction between two nodes.

use crate::channel::Channel;
use crate::delays::DelayHistogram;
use crate::queue::Queue;
use crate::{Limit, LinkSettings, QueueSettings};
use bentpipe_units::{Bytes, Duration, Rate, Time};
use std::collections::VecDeque;

/// What became of a packet that was offered to a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It will arrive at the far end.
    Accepted,
    /// The queue had no room.
    QueueDrop,
    /// It will be transmitted and destroyed on the way; it never arrives.
    ChannelLoss,
}

/// What queue, transmitter and channel decided over a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// It arrives at the far end then.
    Arrives(Time),
    /// It never does.
    Refused(Verdict),
}

/// What a link has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Packets offered.
    pub offered: u64,
    /// Packets that the queue dropped.
    pub queue_drops: u64,
    /// Packets that the channel destroyed.
    pub channel_losses: u64,
    /// Bytes of the packets that will arrive, framing not counted.
    pub accepted_bytes: u64,
    /// Bytes of the packets that the channel destroyed, framing not counted.
    pub lost_bytes: u64,
    /// Sum of the queueing delays of all packets transmitted.
    pub queueing: Duration,
    /// Most packets that waited at once.
    pub max_packets: u64,
    /// Most bytes that waited at once.
    pub max_bytes: u64,
}

/// A packet on its way.
#[derive(Clone, Copy, Debug)]
struct Carried<P> {
    arrival: Time,
    packet: P,
}

/// A link that carries packets of type `P` (a handle, or a whole packet).
#[derive(Clone, Debug)]
pub struct Link<P> {
    rate: Rate,
    propagation: Duration,
    framing: u32,
    next_free: Time,
    /// Transmission times of the last two packet sizes: traffic is nearly all
    /// full packets or bare ACKs, and a division costs more than a look.
    recent: [(u32, Duration); 2],
    carried: VecDeque<Carried<P>>,
    queue: Queue,
    /// Boxed, so that the many links that lose nothing stay small.
    channel: Option<Box<Channel>>,
    counters: Counters,
    delays: Option<Box<DelayHistogram>>,
}

impl<P: Copy> Link<P> {
    /// The link called `name` in the run with seed `seed`.
    #[must_use]
    pub fn new(settings: &LinkSettings, seed: u64, name: &str) -> Link<P> {
        Link {
            rate: settings.rate,
            propagation: settings.one_way_delay,
            framing: u32::try_from(settings.framing.get()).unwrap_or(u32::MAX),
            next_free: Time::ZERO,
            recent: [(u32::MAX, Duration::ZERO); 2],
            carried: VecDeque::new(),
            queue: Queue::new(&settings.queue),
            channel: Channel::new(&settings.channel, seed, name).map(Box::new),
            counters: Counters::default(),
            delays: None,
        }
    }

    /// Keeps the distribution of the queueing delay over time from here on.
    pub fn record_delays(&mut self, settings: &LinkSettings) {
        let QueueSettings::DropTail { limit } = settings.queue;
        let bytes = match limit {
            Limit::Packets(n) => Bytes::new((u64::from(n) + 1).saturating_mul(1500)),
            Limit::Bytes(n) => n + Bytes::new(1500),
        };
        // An unbounded queue would make every bin a second wide.
        let longest = self
            .rate
            .transmission_time(bytes)
            .min(Duration::from_secs(60));
        self.delays = Some(Box::new(DelayHistogram::new(longest)));
    }

    fn transmission_time(&mut self, bytes: u32) -> Duration {
        if self.recent[0].0 == bytes {
            return self.recent[0].1;
        }
        if self.recent[1].0 != bytes {
            let wire = u64::from(bytes) + u64::from(self.framing);
            self.recent[1] = (bytes, self.rate.transmission_time(Bytes::new(wire)));
        }
        self.recent.swap(0, 1);
        self.recent[0].1
    }

    /// Offers a packet of `bytes` (at the IP layer) at `now`. Calls must not
    /// go back in time.
    pub fn offer(&mut self, now: Time, packet: P, bytes: u32) -> Verdict {
        match self.admit(now, bytes) {
            Admission::Arrives(at) => {
                self.carry(at, packet);
                Verdict::Accepted
            }
            Admission::Refused(verdict) => verdict,
        }
    }

    /// The first half of [`Link::offer`]: queue, transmitter and channel
    /// decide over a packet of `bytes` without taking it. Whoever calls this
    /// sees to it that the packet is at the far end when it arrives.
    #[inline]
    pub fn admit(&mut self, now: Time, bytes: u32) -> Admission {
        self.counters.offered += 1;
        let waits = self.next_free > now;
        if waits {
            self.queue.advance(now);
            if !self.queue.admits(bytes) {
                self.counters.queue_drops += 1;
                return Admission::Refused(Verdict::QueueDrop);
            }
            self.queue.push(self.next_free, bytes);
            self.counters.max_packets = self.counters.max_packets.max(self.queue.packets() as u64);
            self.counters.max_bytes = self.counters.max_bytes.max(self.queue.bytes());
            self.counters.queueing += self.next_free.since(now);
        }
        let start = if waits { self.next_free } else { now };
        let transmission = self.transmission_time(bytes);
        self.next_free = start + transmission;
        if let Some(delays) = &mut self.delays {
            delays.record(now, self.next_free.since(now));
        }
        let wire = bytes.saturating_add(self.framing);
        if self.channel.as_mut().is_some_and(|c| c.loses(wire)) {
            self.counters.channel_losses += 1;
            self.counters.lost_bytes += u64::from(bytes);
            return Admission::Refused(Verdict::ChannelLoss);
        }
        self.counters.accepted_bytes += u64::from(bytes);
        Admission::Arrives(self.next_free + self.propagation)
    }

    /// The second half of [`Link::offer`]: takes a packet that was admitted
    /// and arrives at `arrival`. True if it is the only one under way.
    #[inline]
    pub fn carry(&mut self, arrival: Time, packet: P) -> bool {
        let only = self.carried.is_empty();
        self.carried.push_back(Carried { arrival, packet });
        only
    }

    /// When the packet at the head arrives at the far end.
    #[must_use]
    #[inline]
    pub fn next_arrival(&self) -> Option<Time> {
        self.carried.front().map(|c| c.arrival)
    }

    /// Takes the packet at the head off the link; its arrival is due.
    #[inline]
    pub fn deliver(&mut self) -> Option<P> {
        self.carried.pop_front().map(|c| c.packet)
    }

    /// Packets that have left at the far end, or that were admitted and not
    /// carried.
    #[must_use]
    pub fn delivered(&self) -> u64 {
        let c = &self.counters;
        c.offered - c.queue_drops - c.channel_losses - self.carried.len() as u64
    }

    /// Packets that have not arrived yet and when they will, the next first.
    pub fn under_way(&self) -> impl Iterator<Item = (Time, &P)> {
        self.carried.iter().map(|c| (c.arrival, &c.packet))
    }

    /// Packets in the queue, in transmission or in propagation that will
    /// arrive.
    #[must_use]
    #[inline]
    pub fn in_flight(&self) -> usize {
        self.carried.len()
    }

    /// Packets that wait at `now`.
    pub fn waiting(&mut self, now: Time) -> usize {
        self.queue.advance(now);
        self.queue.packets()
    }

    /// What the link has done so far.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Closes the record of delays at `now`, the end of the run, and returns
    /// the delay at `quantile` (0 to 1) of time; zero if none was recorded.
    pub fn queueing_delay_quantile(&mut self, now: Time, quantile: f64) -> Duration {
        let backlog = self.next_free.since(now);
        match &mut self.delays {
            Some(delays) => {
                delays.record(now, backlog);
                delays.quantile(quantile)
            }
            None => Duration::ZERO,
        }
    }

    /// Share of the time up to `now` that the transmitter was busy.
    #[must_use]
    pub fn utilisation(&self, now: Time) -> f64 {
        let c = &self.counters;
        let framing = (c.offered - c.queue_drops) * u64::from(self.framing);
        let given = Bytes::new(c.accepted_bytes + c.lost_bytes + framing);
        let busy = self
            .rate
            .transmission_time(given)
            .saturating_sub(self.next_free.since(now));
        if now == Time::ZERO {
            0.0
        } else {
            (busy.as_secs() / now.as_secs()).min(1.0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ChannelSettings;
    use bentpipe_units::Ratio;
    use proptest::prelude::*;

    fn settings(packets: u32) -> LinkSettings {
        LinkSettings {
            rate: Rate::from_mbps(2),
            one_way_delay: Duration::from_nanos(255_500_000),
            queue: QueueSettings::DropTail {
                limit: Limit::Packets(packets),
            },
            channel: ChannelSettings::Perfect,
            framing: Bytes::ZERO,
        }
    }

    #[test]
    fn a_packet_arrives_after_transmission_and_propagation() {
        let mut link = Link::new(&settings(10), 1, "l");
        assert_eq!(link.offer(Time::ZERO, 7, 1500), Verdict::Accepted);
        assert_eq!(link.next_arrival(), Some(Time::from_nanos(261_500_000)));
        assert_eq!(link.deliver(), Some(7));
        assert_eq!(link.next_arrival(), None);
    }

    #[test]
    fn the_packet_in_transmission_does_not_wait() {
        let mut link = Link::new(&settings(2), 1, "l");
        let verdicts: Vec<Verdict> = (0..4).map(|i| link.offer(Time::ZERO, i, 1500)).collect();
        assert_eq!(verdicts[..3], [Verdict::Accepted; 3]);
        assert_eq!(verdicts[3], Verdict::QueueDrop);
        // 6 ms later the first has left and the second is in transmission.
        let later = Time::from_nanos(6_000_000);
        assert_eq!(link.waiting(later), 1);
        assert_eq!(link.offer(later, 4, 1500), Verdict::Accepted);
    }

    #[test]
    fn framing_takes_time_but_is_no_payload() {
        let mut s = settings(2);
        s.framing = Bytes::new(500);
        let mut link = Link::new(&s, 1, "l");
        link.offer(Time::ZERO, 0, 1500);
        assert_eq!(
            link.next_arrival(),
            Some(Time::from_nanos(8_000_000 + 255_500_000))
        );
        assert_eq!(link.counters().accepted_bytes, 1500);
        assert_eq!(link.delivered(), 0);
        link.deliver();
        assert_eq!(link.delivered(), 1);
    }

    #[test]
    fn lost_packets_take_the_transmitter_but_do_not_arrive() {
        let mut s = settings(2);
        s.channel = ChannelSettings::Uniform {
            packet_error_rate: Ratio::ONE,
        };
        let mut link = Link::new(&s, 1, "l");
        assert_eq!(link.offer(Time::ZERO, 0, 1500), Verdict::ChannelLoss);
        assert_eq!(link.next_arrival(), None);
        assert_eq!(link.waiting(Time::ZERO), 0);
        link.offer(Time::ZERO, 1, 1500);
        assert_eq!(link.waiting(Time::ZERO), 1);
    }

    /// The obvious model: a list of waiting packets, served one by one.
    fn reference(arrivals: &[(u64, u32)], limit: usize) -> Vec<Option<u64>> {
        let mut departures: Vec<(u64, u64)> = Vec::new(); // (start, end)
        arrivals
            .iter()
            .map(|&(at, bytes)| {
                let waiting = departures.iter().filter(|(start, _)| *start > at).count();
                let free = departures.last().map_or(0, |d| d.1);
                if free > at && waiting >= limit {
                    return None;
                }
                let start = free.max(at);
                let end = start + u64::from(bytes) * 4_000;
                departures.push((start, end));
                Some(end + 255_500_000)
            })
            .collect()
    }

    proptest! {
        #[test]
        fn arrivals_and_drops_are_those_of_the_obvious_model(
            gaps in proptest::collection::vec((0u64..9_000_000, 40u32..1500), 1..200),
            limit in 0u32..6,
        ) {
            let mut at = 0;
            let arrivals: Vec<(u64, u32)> =
                gaps.iter().map(|&(gap, bytes)| { at += gap; (at, bytes) }).collect();
            let expected = reference(&arrivals, limit as usize);
            let mut link = Link::new(&settings(limit), 1, "l");
            let mut got = Vec::new();
            for (i, &(at, bytes)) in arrivals.iter().enumerate() {
                let v = link.offer(Time::from_nanos(at), i, bytes);
                got.push((v == Verdict::Accepted).then_some(()));
            }
            let mut arrivals_got = vec![None; arrivals.len()];
            while let Some(t) = link.next_arrival() {
                let i = link.deliver().unwrap();
                arrivals_got[i] = Some(t.as_nanos());
            }
            prop_assert_eq!(arrivals_got, expected);
        }
    }
}
