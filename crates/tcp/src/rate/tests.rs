use super::*;
use proptest::prelude::*;

const MSS: u32 = 1000;
const NO_RTT: Duration = Duration::MAX;

fn at(ms: u64) -> Time {
    Time::ZERO + Duration::from_millis(ms)
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// Sends `n` segments at `now` on top of `flight`.
fn send(sampler: &mut RateSampler, now: Time, flight: usize, n: usize) {
    for i in 0..n {
        sampler.sent(now, flight + i, flight + i);
    }
}

#[test]
fn a_window_a_round_trip() {
    // Four segments at once over 100 ms, delivered 10 ms apart.
    let mut sampler = RateSampler::default();
    send(&mut sampler, at(0), 0, 4);
    for i in 1..=4u64 {
        sampler.acknowledged(true);
        let sample = sampler.sample(at(100 + 10 * i), NO_RTT, MSS).unwrap();
        // The first interval begins with the sending.
        assert_eq!(sample.interval, ms(100 + 10 * i));
        assert_eq!(sample.delivered, i as f64);
        assert_eq!(sample.prior_delivered, 0.0);
        assert_eq!(sample.rtt, Some(ms(100 + 10 * i)));
        assert_eq!(sample.prior_flight, (i - 1) as f64);
    }
    // A segment that is sent with the last ACK is measured from it.
    sampler.sent(at(140), 0, 1);
    sampler.acknowledged(true);
    let sample = sampler.sample(at(290), NO_RTT, MSS).unwrap();
    assert_eq!((sample.delivered, sample.interval), (1.0, ms(150)));
    assert_eq!(sample.prior_delivered, 4.0);
    assert_eq!(sample.rate, Rate::of(Bytes::new(1000), ms(150)));
}

#[test]
fn acks_that_come_together_show_the_sending_rate() {
    // Ten segments, 10 ms apart; all ACKs at 200 ms, and ten more sent then.
    let mut sampler = RateSampler::default();
    for i in 0..10 {
        sampler.sent(at(10 * i), i as usize, i as usize);
    }
    for _ in 0..10 {
        sampler.acknowledged(true);
    }
    let sample = sampler.sample(at(200), NO_RTT, MSS).unwrap();
    // Acknowledged 10 in 200 ms.
    assert_eq!((sample.delivered, sample.interval), (10.0, ms(200)));
    for i in 0..10 {
        sampler.sent(at(200 + 10 * i), i as usize, i as usize + 1);
    }
    for _ in 0..10 {
        sampler.acknowledged(true);
    }
    // 10 segments were sent over 200 ms: since the last one delivered by then
    // left at 90 ms, and until 290 ms. The ACKs alone would show 10 in 120 ms.
    let sample = sampler.sample(at(320), NO_RTT, MSS).unwrap();
    assert_eq!((sample.delivered, sample.interval), (10.0, ms(200)));
}

#[test]
fn the_application_limits_what_is_sent_until_the_bubble_is_gone() {
    let mut sampler = RateSampler::default();
    send(&mut sampler, at(0), 0, 3);
    sampler.limit(3);
    // Sent before the application ran dry, then two after it.
    send(&mut sampler, at(50), 3, 2);
    let limited = |sampler: &mut RateSampler, now| {
        sampler.acknowledged(true);
        sampler.sample(at(now), NO_RTT, MSS).unwrap().app_limited
    };
    assert_eq!(
        [100, 101, 102].map(|t| limited(&mut sampler, t)),
        [false; 3]
    );
    assert!(sampler.is_limited());
    assert!(limited(&mut sampler, 150));
    // One beyond the bubble has arrived.
    assert!(!sampler.is_limited());
    sampler.sent(at(150), 1, 1);
    assert!(limited(&mut sampler, 151));
    assert!(!limited(&mut sampler, 250));
}

#[test]
fn an_interval_below_the_smallest_rtt_is_no_sample() {
    let mut sampler = RateSampler::default();
    sampler.sent(at(0), 0, 0);
    sampler.acknowledged(true);
    assert_eq!(sampler.sample(at(10), ms(100), MSS), None);
    // It counts as delivered nevertheless.
    sampler.sent(at(100), 0, 0);
    sampler.acknowledged(true);
    let sample = sampler.sample(at(200), ms(100), MSS).unwrap();
    assert_eq!((sample.delivered, sample.total_delivered), (1.0, 2.0));
}

#[test]
fn a_timestamp_clock_of_a_microsecond_does_not_refuse_the_first_sample() {
    let mut sampler = RateSampler::default();
    let sent = Time::from_nanos(1_999);
    sampler.sent(sent, 0, 0);
    sampler.acknowledged(true);
    // By timestamps the RTT is 600 ms and 999 ns.
    let min_rtt = ms(600) + Duration::from_nanos(999);
    let sample = sampler.sample(sent + ms(600), min_rtt, MSS).unwrap();
    assert_eq!(sample.interval, ms(600));
}

#[test]
fn what_was_sent_again_gives_a_rate_but_no_rtt() {
    let mut sampler = RateSampler::default();
    send(&mut sampler, at(0), 0, 4);
    sampler.sacked(1);
    assert_eq!(sampler.sample(at(100), NO_RTT, MSS).unwrap().delivered, 1.0);
    sampler.resent(0, at(100), 2);
    for newly in [true, false] {
        sampler.acknowledged(newly);
    }
    let sample = sampler.sample(at(200), NO_RTT, MSS).unwrap();
    assert_eq!((sample.delivered, sample.interval), (1.0, ms(100)));
    assert_eq!((sample.rtt, sample.prior_flight), (None, 2.0));
    assert_eq!(
        sampler.sample(at(201), NO_RTT, MSS),
        None,
        "nothing arrived"
    );
}

#[test]
fn duplicates_are_delivered_but_give_no_sample() {
    let mut sampler = RateSampler::default();
    send(&mut sampler, at(0), 0, 2);
    sampler.acknowledged(true);
    assert!(sampler.sample(at(100), NO_RTT, MSS).is_some());
    sampler.duplicated(at(150), 3);
    assert_eq!(sampler.sample(at(150), NO_RTT, MSS), None);
    // What leaves now is measured from the duplicates on: their delivery was the last.
    sampler.sent(at(150), 1, 1);
    for _ in 0..2 {
        sampler.acknowledged(true);
    }
    let sample = sampler.sample(at(250), NO_RTT, MSS).unwrap();
    assert_eq!((sample.prior_delivered, sample.total_delivered), (4.0, 6.0));
    assert_eq!((sample.delivered, sample.interval), (2.0, ms(150)));
}

/// What the definition says, from the whole history: no state is carried.
#[derive(Default)]
struct History {
    /// Of each transmission: segment, time, and whether it found the network
    /// empty.
    sent: Vec<(usize, Time, bool)>,
    /// Of each ACK: time, and the transmissions that it delivered.
    acks: Vec<(Time, Vec<usize>)>,
}

impl History {
    fn newest(&self, of: &[usize]) -> usize {
        *of.iter().max_by_key(|i| (self.sent[**i].1, **i)).unwrap()
    }

    /// The sample of the last ACK: delivered, interval.
    fn sample(&self) -> (u64, Duration) {
        let (now, arrived) = self.acks.last().unwrap();
        let newest = self.newest(arrived);
        let sent_at = self.sent[newest].1;
        // What had been delivered when it was sent. Within an instant ACKs come
        // before what they let go.
        let before: Vec<_> = self.acks.iter().filter(|a| a.0 <= sent_at).collect();
        let before = &before[..before.len().min(self.acks.len() - 1)];
        let delivered: usize = self.acks[before.len()..].iter().map(|a| a.1.len()).sum();
        // Since when: the last delivery, or when the network was empty last.
        let empty = self.sent[..=newest].iter().rev().find(|s| s.2);
        let empty_at = empty.map(|s| s.1);
        let delivered_at = before.last().map(|a| a.0);
        let from = delivered_at.max(empty_at).unwrap();
        // When the newest delivered by then was sent.
        let first = before.last().map(|a| self.sent[self.newest(&a.1)].1);
        let first = if empty_at >= delivered_at {
            empty_at
        } else {
            first
        };
        let sending = sent_at.since(first.unwrap());
        (delivered as u64, sending.max(now.since(from)))
    }
}

proptest! {
    /// A sender on a FIFO path with losses, selective acknowledgements and
    /// retransmissions, against the definition.
    #[test]
    fn samples_are_what_the_definition_says(
        steps in prop::collection::vec((0u64..20, 0u32..10, any::<prop::sample::Index>()), 1..300),
    ) {
        let mut sampler = RateSampler::default();
        let mut history = History::default();
        // Outstanding segments: the last transmission, and whether it is sacked.
        let mut ring: VecDeque<(usize, bool)> = VecDeque::new();
        let mut now = Time::ZERO;
        let mut number = 0;
        for (gap, what, which) in steps {
            // Never two things at once: instants are ordered by the transport.
            now += ms(gap) + Duration::from_nanos(1);
            let transmission = history.sent.len();
            match what {
                0..=4 => {
                    let empty = ring.is_empty();
                    sampler.sent(now, ring.len(), ring.len());
                    history.sent.push((number, now, empty));
                    ring.push_back((transmission, false));
                    number += 1;
                }
                5 if !ring.is_empty() => {
                    let i = which.index(ring.len());
                    if !ring[i].1 {
                        sampler.resent(i, now, ring.len());
                        history.sent.push((history.sent[ring[i].0].0, now, false));
                        ring[i].0 = transmission;
                    }
                }
                6..=7 if !ring.is_empty() => {
                    let i = which.index(ring.len());
                    if !std::mem::replace(&mut ring[i].1, true) {
                        sampler.sacked(i);
                        history.acks.push((now, vec![ring[i].0]));
                        let sample = sampler.sample(now, NO_RTT, MSS).unwrap();
                        let (delivered, interval) = history.sample();
                        prop_assert_eq!(sample.delivered, delivered as f64);
                        prop_assert_eq!(sample.interval, interval);
                    }
                }
                8.. if !ring.is_empty() => {
                    let mut arrived = Vec::new();
                    for (transmission, sacked) in ring.drain(..=which.index(ring.len())) {
                        sampler.acknowledged(!sacked);
                        if !sacked {
                            arrived.push(transmission);
                        }
                    }
                    let got = sampler.sample(now, NO_RTT, MSS);
                    prop_assert_eq!(got.is_some(), !arrived.is_empty());
                    if let Some(sample) = got {
                        history.acks.push((now, arrived));
                        let (delivered, interval) = history.sample();
                        prop_assert_eq!(sample.delivered, delivered as f64);
                        prop_assert_eq!(sample.interval, interval);
                    }
                }
                _ => {}
            }
        }
    }

    /// However it sends: on a FIFO whose ACKs are not compressed no sample
    /// exceeds the bottleneck.
    #[test]
    fn no_sample_exceeds_the_bottleneck(
        sends in prop::collection::vec((0u64..50, 1usize..20), 1..60),
        service in 1u64..20,
        per_ack in 1usize..4,
    ) {
        let service = ms(service);
        let mut sampler = RateSampler::default();
        // Arrivals of ACKs that are on their way.
        let mut due: VecDeque<Time> = VecDeque::new();
        let mut free = Time::ZERO;
        let mut now = Time::ZERO;
        let take = |sampler: &mut RateSampler, due: &mut VecDeque<Time>, until: Time| {
            while due.len() >= per_ack && due[per_ack - 1] <= until {
                let last = due[per_ack - 1];
                for _ in 0..per_ack {
                    due.pop_front();
                    sampler.acknowledged(true);
                }
                let sample = sampler.sample(last, NO_RTT, MSS).unwrap();
                let most = sample.interval.as_nanos() as f64 / service.as_nanos() as f64;
                prop_assert!(sample.delivered <= most + 1e-9, "{:?}", sample);
            }
            Ok(())
        };
        for (gap, n) in sends {
            now += ms(gap);
            take(&mut sampler, &mut due, now)?;
            for _ in 0..n {
                sampler.sent(now, due.len(), due.len());
                free = free.max(now) + service;
                due.push_back(free + ms(100));
            }
        }
        take(&mut sampler, &mut due, Time::MAX)?;
    }
}
