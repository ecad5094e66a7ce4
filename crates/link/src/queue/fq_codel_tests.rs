//! FQ-CoDel against worked examples and the properties of a fair queue.

use super::*;
use crate::counters::Tally;
use crate::queue::ManagedQueue;
use crate::{QueueSettings, Verdict};
use bentpipe_units::{Duration, Rate};
use proptest::prelude::*;

/// A packet: its flow, and its number there.
type Packet = (u32, usize);

fn settings(limit: Limit, quantum: u64) -> FqCoDelSettings {
    FqCoDelSettings {
        quantum: Bytes::new(quantum),
        ..FqCoDelSettings::new(limit)
    }
}

fn queue(settings: FqCoDelSettings) -> ManagedQueue<Packet> {
    let link = QueueContext {
        rate: Rate::from_mbps(1),
        one_way_delay: Duration::ZERO,
        framing: Bytes::ZERO,
        seed: 1,
        name: "l",
    };
    ManagedQueue::new(&QueueSettings::FqCoDel(settings), &link)
}

fn give(queue: &mut ManagedQueue<Packet>, ms: u64, packet: Packet, bytes: u32) -> Tally {
    let mut counters = Tally::default();
    let meta = PacketMeta {
        flow: packet.0,
        ecn_capable: packet.1.is_multiple_of(2),
        ..PacketMeta::plain(bytes)
    };
    let now = Time::ZERO + Duration::from_millis(ms);
    queue.enqueue(now, (None, false), packet, meta, &mut counters);
    counters
}

fn take(queue: &mut ManagedQueue<Packet>, ms: u64) -> Option<Packet> {
    let now = Time::ZERO + Duration::from_millis(ms);
    let waiter = queue.dequeue(now, &mut Tally::default());
    waiter.map(|w| w.packet)
}

#[test]
fn flows_take_turns_by_bytes() {
    let mut queue = queue(settings(Limit::Packets(100), 1500));
    for n in 0..3 {
        give(&mut queue, 0, (1, n), 1500);
    }
    for n in 0..12 {
        give(&mut queue, 0, (2, n), 300);
    }
    let order: Vec<u32> = std::iter::from_fn(|| take(&mut queue, 0))
        .map(|p| p.0)
        .collect();
    assert_eq!(order, [1, 2, 2, 2, 2, 2, 1, 2, 2, 2, 2, 2, 1, 2, 2]);
}

#[test]
fn a_packet_of_a_sparse_flow_goes_first() {
    let mut queue = queue(settings(Limit::Packets(100), 1514));
    for n in 0..10 {
        give(&mut queue, 0, (1, n), 1500);
    }
    assert_eq!(take(&mut queue, 0), Some((1, 0)));
    assert_eq!(take(&mut queue, 0), Some((1, 1)));
    give(&mut queue, 0, (2, 0), 100);
    assert_eq!(take(&mut queue, 0), Some((2, 0)));
    // It is an old flow now, though it was empty for a moment: it waits for its
    // turn behind the other.
    assert_eq!(take(&mut queue, 0), Some((1, 2)));
    give(&mut queue, 0, (2, 1), 100);
    assert_eq!(take(&mut queue, 0), Some((2, 1)));
}

#[test]
fn the_longest_queue_makes_room_at_its_head() {
    let mut queue = queue(settings(Limit::Packets(4), 1514));
    give(&mut queue, 0, (1, 0), 1500);
    for n in 0..3 {
        give(&mut queue, 0, (2, n), 400);
    }
    // 1500 bytes of one flow against 1200 of the other.
    let counters = give(&mut queue, 0, (2, 3), 200);
    assert_eq!((counters.queue_drops, counters.rare().early_drops), (1, 0));
    assert_eq!(queue.poll(), Some(((1, 0), Verdict::QueueDrop)));
    give(&mut queue, 0, (3, 0), 1300);
    assert_eq!(queue.poll(), Some(((2, 0), Verdict::QueueDrop)));
    assert_eq!(queue.backlog(), (4, 400 + 400 + 200 + 1300));
    let left: Vec<Packet> = std::iter::from_fn(|| take(&mut queue, 0)).collect();
    assert_eq!(left, [(2, 1), (2, 2), (2, 3), (3, 0)]);
}

#[test]
fn a_flow_with_a_standing_queue_is_marked_or_dropped_and_another_is_not() {
    let mut queue = queue(settings(Limit::Packets(10_000), 1514));
    for n in 0..1000 {
        give(&mut queue, 0, (1, n), 1500);
    }
    let mut sparse = 0;
    for ms in (1..=400).step_by(2) {
        give(&mut queue, ms, (2, ms as usize), 100);
        // The transmitter takes one packet a millisecond.
        for now in [ms, ms + 1] {
            sparse += usize::from(take(&mut queue, now).is_some_and(|p| p.0 == 2));
        }
    }
    assert_eq!(sparse, 200);
    let verdicts: Vec<(Packet, Verdict)> = std::iter::from_fn(|| queue.poll()).collect();
    assert!(verdicts.len() > 3, "{verdicts:?}");
    for ((flow, number), verdict) in verdicts {
        assert_eq!(flow, 1);
        let capable = number.is_multiple_of(2);
        let expected = if capable {
            Verdict::Marked
        } else {
            Verdict::QueueDrop
        };
        assert_eq!(verdict, expected, "packet {number}");
    }
}

proptest! {
    #[test]
    fn no_packet_is_lost_twice_and_no_flow_starves(
        // None: the transmitter takes one.
        steps in proptest::collection::vec(
            proptest::option::weighted(0.6, (0u32..6, 40u32..1500)), 1..400),
        limit in 1u64..30,
        in_bytes in any::<bool>(),
        quantum in 300u64..3000,
        flows in prop_oneof![Just(1u32), Just(3), Just(1024)],
    ) {
        let limit = if in_bytes { Limit::Bytes(Bytes::new(1000 * limit)) } else { Limit::Packets(limit as u32) };
        let mut queue = queue(FqCoDelSettings { flows, ..settings(limit, quantum) });
        let mut inside: Vec<Packet> = Vec::new();
        for (n, step) in steps.into_iter().enumerate() {
            match step {
                Some((flow, bytes)) => {
                    give(&mut queue, n as u64, (flow, n), bytes);
                    inside.push((flow, n));
                }
                None => {
                    let taken = take(&mut queue, n as u64);
                    prop_assert!(taken.is_some() || queue.packets() == 0);
                    // Each flow keeps its order.
                    if let Some(packet) = taken {
                        let gone = inside.iter().position(|p| *p == packet);
                        prop_assert!(gone.is_some());
                        inside.remove(gone.unwrap());
                    }
                }
            }
            while let Some((packet, verdict)) = queue.poll() {
                if verdict == Verdict::QueueDrop {
                    let gone = inside.iter().position(|p| *p == packet);
                    prop_assert!(gone.is_some());
                    inside.remove(gone.unwrap());
                }
            }
            let (packets, bytes) = queue.backlog();
            prop_assert_eq!(packets, inside.len() as u64);
            match limit {
                Limit::Packets(n) => prop_assert!(packets <= u64::from(n)),
                Limit::Bytes(n) => prop_assert!(bytes <= n.get()),
            }
            let mut waiting: Vec<Packet> = queue.waiting().copied().collect();
            waiting.sort_unstable();
            let mut expected = inside.clone();
            expected.sort_unstable();
            prop_assert_eq!(waiting, expected);
            prop_assert_eq!(queue.head().is_some(), packets > 0);
        }
    }

    #[test]
    fn flows_that_always_wait_get_equal_shares(
        sizes in proptest::collection::vec(40u32..1500, 2..6), quantum in 300u64..3000,
    ) {
        let mut queue = queue(settings(Limit::Packets(100_000), quantum));
        let mut sent = vec![0u64; sizes.len()];
        for (flow, bytes) in sizes.iter().enumerate() {
            for n in 0..200_000 / bytes {
                give(&mut queue, 0, (flow as u32, n as usize), *bytes);
            }
        }
        while sent.iter().all(|bytes| *bytes < 150_000) {
            let (flow, _) = take(&mut queue, 0).unwrap();
            sent[flow as usize] += u64::from(sizes[flow as usize]);
            let (least, most) = (sent.iter().min().unwrap(), sent.iter().max().unwrap());
            prop_assert!(most - least <= 2 * quantum + 2 * 1500, "{sent:?}");
        }
    }
}
