//! A link against its definition.

use super::*;
use crate::testing::Link;
use crate::{ChannelSettings, Limit, LinkSettings, QueueSettings};
use bentpipe_units::{Bytes, Rate, Ratio};
use proptest::prelude::*;

fn settings(packets: u32) -> LinkSettings {
    LinkSettings::new(
        Rate::from_mbps(2),
        Duration::from_nanos(255_500_000),
        QueueSettings::drop_tail(Limit::Packets(packets)),
    )
}

#[test]
fn a_packet_arrives_after_transmission_and_propagation() {
    let mut link = Link::new(&settings(10), 1, "l");
    assert_eq!(
        link.offer(Time::ZERO, 7, PacketMeta::plain(1500)),
        Verdict::Accepted
    );
    assert_eq!(link.next_arrival(), Some(Time::from_nanos(261_500_000)));
    assert_eq!(link.deliver(Time::MAX), Some(7));
    assert_eq!(link.next_arrival(), None);
}

#[test]
fn the_packet_in_transmission_does_not_wait() {
    let mut link = Link::new(&settings(2), 1, "l");
    let verdicts: Vec<Verdict> = (0..4)
        .map(|i| link.offer(Time::ZERO, i, PacketMeta::plain(1500)))
        .collect();
    assert_eq!(verdicts[..3], [Verdict::Accepted; 3]);
    assert_eq!(verdicts[3], Verdict::QueueDrop);
    // 6 ms later the first has left and the second is in transmission.
    let later = Time::from_nanos(6_000_000);
    assert_eq!(link.waiting(later), 1);
    assert_eq!(
        link.offer(later, 4, PacketMeta::plain(1500)),
        Verdict::Accepted
    );
}

#[test]
fn framing_takes_time_but_is_no_payload() {
    let mut s = settings(2);
    s.framing = Bytes::new(500);
    let mut link = Link::new(&s, 1, "l");
    link.offer(Time::ZERO, 0, PacketMeta::plain(1500));
    assert_eq!(
        link.next_arrival(),
        Some(Time::from_nanos(8_000_000 + 255_500_000))
    );
    assert_eq!(link.counters().accepted_bytes, 1500);
    assert_eq!(link.delivered(), 0);
    link.deliver(Time::MAX);
    assert_eq!(link.delivered(), 1);
}

#[test]
fn a_preamble_delays_every_packet_and_counts_as_use() {
    let mut s = settings(2);
    s.preamble = Duration::from_millis(2);
    let mut link = Link::new(&s, 1, "l");
    // 2 ms, and 6 ms for 1500 bytes.
    for (packet, ms) in [(0, 8), (1, 16)] {
        link.offer(Time::ZERO, packet, PacketMeta::plain(1500));
        assert_eq!(link.free_at(), Time::from_nanos(ms * 1_000_000));
    }
    let first = Time::from_nanos(8_000_000 + 255_500_000);
    assert_eq!(link.next_arrival(), Some(first));
    assert_eq!(link.counters().accepted_bytes, 3000);
    let half = link.utilisation(Time::from_nanos(32_000_000));
    assert!((half - 0.5).abs() < 1e-9, "{half}");
    assert_eq!(s.payload_rate(1500.0, 0.0), 1_500_000.0);
    assert_eq!(
        s.time_at(s.rate, Bytes::new(1500)),
        Duration::from_millis(8)
    );
    assert!(s.segment_limit().is_none());
}

#[test]
fn lost_packets_take_the_transmitter_but_do_not_arrive() {
    let mut s = settings(2);
    s.channel = ChannelSettings::Uniform {
        packet_error_rate: Ratio::ONE,
    };
    let mut link = Link::new(&s, 1, "l");
    assert_eq!(
        link.offer(Time::ZERO, 0, PacketMeta::plain(1500)),
        Verdict::ChannelLoss
    );
    assert_eq!(link.next_arrival(), None);
    assert_eq!(link.waiting(Time::ZERO), 0);
    link.offer(Time::ZERO, 1, PacketMeta::plain(1500));
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
            let v = link.offer(Time::from_nanos(at), i, PacketMeta::plain(bytes));
            got.push((v == Verdict::Accepted).then_some(()));
        }
        let mut arrivals_got = vec![None; arrivals.len()];
        while let Some(t) = link.next_arrival() {
            let i = link.deliver(Time::MAX).unwrap();
            arrivals_got[i] = Some(t.as_nanos());
        }
        prop_assert_eq!(arrivals_got, expected);
    }
}
