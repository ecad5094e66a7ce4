//! Priority drop against a list that is searched.

use super::*;
use crate::ChannelSettings;
use bentpipe_units::{Bytes, Rate};
use proptest::prelude::*;

fn room(limit: Limit, low_limit: Option<Limit>) -> ManagedQueue<usize> {
    let settings = LinkSettings {
        rate: Rate::from_mbps(1),
        one_way_delay: Duration::ZERO,
        queue: QueueSettings::PriorityDrop { limit, low_limit },
        channel: ChannelSettings::Perfect,
        framing: Bytes::ZERO,
    };
    ManagedQueue::new(&settings, 1, "l")
}

fn offered(bytes: u32, low_priority: bool) -> PacketMeta {
    PacketMeta {
        low_priority,
        ..PacketMeta::plain(bytes)
    }
}

fn give(room: &mut ManagedQueue<usize>, packet: usize, offered: PacketMeta) -> bool {
    let counters = &mut Counters::default();
    room.offer(Time::ZERO, (None, false), packet, offered, counters) == Decision::Accept
}

fn left(room: &mut ManagedQueue<usize>) -> Vec<usize> {
    let counters = &mut Counters::default();
    std::iter::from_fn(|| room.next(Time::ZERO, counters).map(|w| w.packet)).collect()
}

#[test]
fn a_normal_packet_takes_the_place_of_the_last_low_one() {
    let mut room = room(Limit::Packets(4), None);
    for (packet, low) in [(0, true), (1, true), (2, false), (3, false)] {
        assert!(give(&mut room, packet, offered(1000, low)));
    }
    assert!(!give(&mut room, 4, offered(1000, true)), "full, and low");
    assert!(give(&mut room, 5, offered(1000, false)));
    assert_eq!(room.poll_verdict(), Some((1, Verdict::QueueDrop)));
    assert!(give(&mut room, 6, offered(1000, false)));
    assert_eq!(room.poll_verdict(), Some((0, Verdict::QueueDrop)));
    assert!(
        !give(&mut room, 7, offered(1000, false)),
        "no low one is left"
    );
    assert_eq!(room.poll_verdict(), None);
    assert_eq!(left(&mut room), [2, 3, 5, 6]);
}

#[test]
fn a_packet_can_be_thrown_out_wherever_it_waits() {
    let mut room = room(Limit::Packets(9), None);
    for packet in 0..6 {
        assert!(give(&mut room, packet, offered(100, packet == 0)));
    }
    let mut counters = Counters::default();
    room.drop_waiting(Time::ZERO, |p| [0, 1, 4].contains(p), &mut counters);
    assert_eq!((counters.queue_drops, counters.early_drops), (3, 3));
    assert_eq!((room.packets(), room.bytes()), (3, 300));
    for packet in [0, 1, 4] {
        assert_eq!(room.poll_verdict(), Some((packet, Verdict::QueueDrop)));
    }
    // None is thrown out twice, and places are not mixed up.
    room.drop_waiting(Time::ZERO, |p| *p == 4, &mut counters);
    assert_eq!(room.poll_verdict(), None);
    assert!(give(&mut room, 6, offered(100, true)));
    assert_eq!(left(&mut room), [2, 3, 5, 6]);
    assert_eq!((room.packets(), room.bytes()), (0, 0));
}

#[test]
fn low_packets_may_fill_only_a_part() {
    let mut room = room(Limit::Packets(4), Some(Limit::Packets(2)));
    assert!(give(&mut room, 0, offered(1000, true)));
    assert!(give(&mut room, 1, offered(1000, false)));
    assert!(!give(&mut room, 2, offered(1000, true)));
    assert!(give(&mut room, 3, offered(1000, false)));
    assert_eq!(left(&mut room), [0, 1, 3]);
}

#[test]
fn in_bytes_as_many_go_as_are_needed_or_none() {
    let mut room = room(Limit::Bytes(Bytes::new(1000)), None);
    for (packet, low) in [(0, false), (1, true), (2, true), (3, true)] {
        assert!(give(&mut room, packet, offered(250, low)));
    }
    assert!(!give(&mut room, 4, offered(900, false)), "250 never go");
    assert_eq!(room.poll_verdict(), None);
    assert!(give(&mut room, 5, offered(400, false)));
    assert_eq!(room.poll_verdict(), Some((3, Verdict::QueueDrop)));
    assert_eq!(room.poll_verdict(), Some((2, Verdict::QueueDrop)));
    assert_eq!(left(&mut room), [0, 1, 5]);
}

proptest! {
    #[test]
    fn the_room_is_a_list_that_is_searched(
        // None: the transmitter takes one.
        steps in proptest::collection::vec(
            proptest::option::weighted(0.7, (40u32..1500, any::<bool>())), 1..200),
        limit in 1u64..8,
        low_share in 0.0..=1.0f64,
        in_bytes in any::<bool>(),
    ) {
        let of = |n: u64| if in_bytes { Limit::Bytes(Bytes::new(1000 * n)) } else { Limit::Packets(n as u32) };
        let low_limit = (limit as f64 * low_share) as u64;
        let mut room = room(of(limit), Some(of(low_limit)));
        let mut list: Vec<(usize, u32, bool)> = Vec::new();
        let size = |list: &[(usize, u32, bool)]| match in_bytes {
            true => list.iter().map(|p| u64::from(p.1)).sum::<u64>(),
            false => list.len() as u64,
        };
        let unit = if in_bytes { 1000 } else { 1 };
        for (i, step) in steps.into_iter().enumerate() {
            let Some((bytes, low)) = step else {
                let got = room.next(Time::ZERO, &mut Counters::default()).map(|w| w.packet);
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
            prop_assert_eq!(give(&mut room, i, offered(bytes, low)), takes);
            if takes {
                without.push((i, bytes, low));
                list = without;
                for packet in gone {
                    prop_assert_eq!(room.poll_verdict(), Some((packet, Verdict::QueueDrop)));
                }
            }
            prop_assert_eq!(room.poll_verdict(), None);
            prop_assert_eq!(room.packets(), list.len() as u64);
            prop_assert_eq!(room.bytes(), list.iter().map(|p| u64::from(p.1)).sum::<u64>());
        }
        prop_assert_eq!(left(&mut room), list.iter().map(|p| p.0).collect::<Vec<_>>());
    }
}
