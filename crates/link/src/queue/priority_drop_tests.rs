//! Priority drop against a list that is searched.

use super::*;
use crate::counters::Tally;
use crate::queue::ManagedQueue;
use crate::{QueueSettings, Verdict};
use bentpipe_units::{Bytes, Duration, Rate};
use proptest::prelude::*;

fn queue(limit: Limit, low_limit: Option<Limit>) -> ManagedQueue<usize> {
    let link = QueueContext {
        rate: Rate::from_mbps(1),
        one_way_delay: Duration::ZERO,
        framing: Bytes::ZERO,
        seed: 1,
        name: "l",
    };
    let settings = PriorityDropSettings { limit, low_limit };
    ManagedQueue::new(&QueueSettings::PriorityDrop(settings), &link)
}

fn meta(bytes: u32, low_priority: bool) -> PacketMeta {
    PacketMeta {
        low_priority,
        ..PacketMeta::plain(bytes)
    }
}

fn give(queue: &mut ManagedQueue<usize>, packet: usize, meta: PacketMeta) -> bool {
    let counters = &mut Tally::default();
    queue.enqueue(Time::ZERO, (None, false), packet, meta, counters) == Decision::Accept
}

fn left(queue: &mut ManagedQueue<usize>) -> Vec<usize> {
    let counters = &mut Tally::default();
    std::iter::from_fn(|| queue.dequeue(Time::ZERO, counters).map(|w| w.packet)).collect()
}

#[test]
fn a_normal_packet_takes_the_place_of_the_last_low_one() {
    let mut queue = queue(Limit::Packets(4), None);
    for (packet, low) in [(0, true), (1, true), (2, false), (3, false)] {
        assert!(give(&mut queue, packet, meta(1000, low)));
    }
    assert!(!give(&mut queue, 4, meta(1000, true)), "full, and low");
    assert!(give(&mut queue, 5, meta(1000, false)));
    assert_eq!(queue.poll(), Some((1, Verdict::QueueDrop)));
    assert!(give(&mut queue, 6, meta(1000, false)));
    assert_eq!(queue.poll(), Some((0, Verdict::QueueDrop)));
    assert!(
        !give(&mut queue, 7, meta(1000, false)),
        "no low one is left"
    );
    assert_eq!(queue.poll(), None);
    assert_eq!(left(&mut queue), [2, 3, 5, 6]);
}

#[test]
fn low_packets_may_fill_only_a_part() {
    let mut queue = queue(Limit::Packets(4), Some(Limit::Packets(2)));
    assert!(give(&mut queue, 0, meta(1000, true)));
    assert!(give(&mut queue, 1, meta(1000, false)));
    assert!(!give(&mut queue, 2, meta(1000, true)));
    assert!(give(&mut queue, 3, meta(1000, false)));
    assert_eq!(left(&mut queue), [0, 1, 3]);
}

#[test]
fn in_bytes_as_many_go_as_are_needed_or_none() {
    let mut queue = queue(Limit::Bytes(Bytes::new(1000)), None);
    for (packet, low) in [(0, false), (1, true), (2, true), (3, true)] {
        assert!(give(&mut queue, packet, meta(250, low)));
    }
    assert!(!give(&mut queue, 4, meta(900, false)), "250 never go");
    assert_eq!(queue.poll(), None);
    assert!(give(&mut queue, 5, meta(400, false)));
    assert_eq!(queue.poll(), Some((3, Verdict::QueueDrop)));
    assert_eq!(queue.poll(), Some((2, Verdict::QueueDrop)));
    assert_eq!(left(&mut queue), [0, 1, 5]);
}

proptest! {
    #[test]
    fn the_queue_is_a_list_that_is_searched(
        // None: the transmitter takes one.
        steps in proptest::collection::vec(
            proptest::option::weighted(0.7, (40u32..1500, any::<bool>())), 1..200),
        limit in 1u64..8,
        low_share in 0.0..=1.0f64,
        in_bytes in any::<bool>(),
    ) {
        let of = |n: u64| if in_bytes { Limit::Bytes(Bytes::new(1000 * n)) } else { Limit::Packets(n as u32) };
        let low_limit = (limit as f64 * low_share) as u64;
        let mut queue = queue(of(limit), Some(of(low_limit)));
        let mut list: Vec<(usize, u32, bool)> = Vec::new();
        let size = |list: &[(usize, u32, bool)]| match in_bytes {
            true => list.iter().map(|p| u64::from(p.1)).sum::<u64>(),
            false => list.len() as u64,
        };
        let unit = if in_bytes { 1000 } else { 1 };
        for (i, step) in steps.into_iter().enumerate() {
            let Some((bytes, low)) = step else {
                let got = queue.dequeue(Time::ZERO, &mut Tally::default()).map(|w| w.packet);
                let expected = (!list.is_empty()).then(|| list.remove(0).0);
                prop_assert_eq!(got, expected);
                continue;
            };
            let more = if in_bytes { u64::from(bytes) } else { 1 };
            let mut without = list.clone();
            let mut gone = Vec::new();
            if !low {
                while size(&without) + more > limit * unit
                    && let Some(last) = without.iter().rposition(|p| p.2)
                {
                    gone.push(without.remove(last).0);
                }
            }
            let most = if low { low_limit.min(limit) } else { limit };
            let takes = size(&without) + more <= most * unit;
            prop_assert_eq!(give(&mut queue, i, meta(bytes, low)), takes);
            if takes {
                without.push((i, bytes, low));
                list = without;
                for packet in gone {
                    prop_assert_eq!(queue.poll(), Some((packet, Verdict::QueueDrop)));
                }
            }
            prop_assert_eq!(queue.poll(), None);
            prop_assert_eq!(queue.packets(), list.len() as u64);
            prop_assert_eq!(queue.backlog().1, list.iter().map(|p| u64::from(p.1)).sum::<u64>());
        }
        prop_assert_eq!(left(&mut queue), list.iter().map(|p| p.0).collect::<Vec<_>>());
    }
}
