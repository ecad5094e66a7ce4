//! Holes, and what an ACK says of them.

use super::*;
use proptest::prelude::*;

const MSS: u32 = 1000;

fn at(ms: u64) -> Time {
    Time::ZERO + Duration::from_millis(ms)
}

fn holes() -> Holes {
    let mut holes = Holes::new(MSS);
    holes.set_round_trip(Duration::from_millis(600));
    holes
}

/// Segments that arrive, one a millisecond.
fn take(holes: &mut Holes, ms: u64, segments: impl IntoIterator<Item = u64>) {
    for (i, segment) in segments.into_iter().enumerate() {
        let bytes = (1000 * segment, 1000 * segment + 1000);
        holes.take(at(ms + i as u64), bytes, 0);
    }
}

fn told(holes: &mut Holes, acknowledgement: u64) -> Vec<(u64, u64)> {
    let mut packet = Packet::new(0);
    holes.write(acknowledgement, &mut packet);
    let snack = packet.snack();
    let above = snack.into_iter().flat_map(|s| s.holes(MSS));
    above
        .map(|(a, b)| ((acknowledgement + a) / 1000, (acknowledgement + b) / 1000))
        .collect()
}

#[test]
fn a_hole_is_told_once_and_again_after_a_round_trip() {
    let mut holes = holes();
    take(&mut holes, 0, [0, 1, 2, 3, 4, 5, 6]);
    assert_eq!(told(&mut holes, 7000), []);
    take(&mut holes, 10, [9]);
    assert_eq!(told(&mut holes, 7000), [(7, 9)]);
    take(&mut holes, 11, [10, 11]);
    assert_eq!(told(&mut holes, 7000), [], "not on every ACK");
    // 1.25 round trips after 10 ms.
    assert_eq!(holes.due(), at(760));
    take(&mut holes, 759, [12]);
    assert_eq!(told(&mut holes, 7000), []);
    take(&mut holes, 760, [13]);
    assert_eq!(told(&mut holes, 7000), [(7, 9)]);
    take(&mut holes, 800, [7]);
    holes.set_now(at(1510));
    assert_eq!(told(&mut holes, 8000), [(8, 9)], "what is left of it");
    take(&mut holes, 1600, [8]);
    assert!(!holes.is_due(at(100_000)));
    assert_eq!(holes.due(), Time::MAX);
}

#[test]
fn the_first_hole_is_relative_to_the_acknowledgement() {
    // Bytes 5000 to 6999 were told of before; 7000 to 8999 are seen missing now.
    let mut holes = holes();
    take(&mut holes, 0, [0, 1, 2, 3, 4]);
    holes.take(at(5), (6500, 7000), 0);
    told(&mut holes, 5000);
    holes.take(at(6), (9000, 10_000), 0);
    let mut packet = Packet::new(0);
    holes.write(5000, &mut packet);
    let snack = packet.snack().unwrap();
    assert_eq!((snack.offset, snack.size, snack.vector), (2, 2, 0));
}

#[test]
fn one_ack_tells_of_several_holes() {
    let mut holes = holes();
    take(&mut holes, 0, [0, 2, 4, 5, 8, 9]);
    assert_eq!(told(&mut holes, 1000), [(1, 2), (3, 4), (6, 7), (7, 8)]);
    assert_eq!(told(&mut holes, 1000), [], "all of them were told");
}

#[test]
fn acks_are_delayed_by_half_a_round_trip() {
    assert_eq!(holes().longest_delay(), Duration::from_millis(300));
    let mut unknown = Holes::new(MSS);
    unknown.set_round_trip(Duration::ZERO);
    assert_eq!(unknown.longest_delay(), Duration::from_millis(500));
}

/// Segments that arrive and what links told with them; true if the ACK says
/// that the holes it names were corrupted.
fn says(holes: &mut Holes, ms: u64, segment: u64, reports: u32) -> Option<bool> {
    holes.take(at(ms), (1000 * segment, 1000 * segment + 1000), reports);
    let mut packet = Packet::new(0);
    holes.write(1000, &mut packet);
    packet.snack().map(|_| packet.names_corruption())
}

#[test]
fn a_hole_is_corruption_where_links_tell_of_as_many_packets() {
    let mut holes = holes();
    assert_eq!(says(&mut holes, 0, 0, 0), None);
    assert_eq!(says(&mut holes, 1, 2, 1), Some(true));
    assert_eq!(says(&mut holes, 2, 4, 0), Some(false), "no report left");
    assert_eq!(says(&mut holes, 3, 7, 1), Some(false), "two lost, one told");
    assert_eq!(says(&mut holes, 4, 10, 2), Some(true));
    // A report waits for its hole, for at most a round trip.
    assert_eq!(says(&mut holes, 5, 11, 1), None);
    assert_eq!(says(&mut holes, 6, 13, 0), Some(true));
    assert_eq!(says(&mut holes, 7, 14, 1), None);
    assert_eq!(says(&mut holes, 700, 16, 0), Some(false));
}

#[test]
fn one_dropped_segment_among_the_corrupted_is_congestion() {
    let mut holes = holes();
    holes.take(at(0), (0, 1000), 0);
    holes.take(at(1), (2000, 3000), 1);
    // Seen before an ACK went: one SNACK names both.
    assert_eq!(says(&mut holes, 2, 4, 0), Some(false));
}

proptest! {
    /// What is missing below the highest is what the holes are, and each is
    /// told within a round trip and a half.
    #[test]
    fn holes_are_what_is_missing(segments in proptest::collection::vec(0u64..80, 1..200)) {
        let mut holes = holes();
        let mut arrived = std::collections::BTreeSet::new();
        for (i, segment) in segments.into_iter().enumerate() {
            take(&mut holes, i as u64, [segment]);
            arrived.insert(segment);
            let highest = *arrived.last().unwrap();
            let missing: Vec<u64> = (0..highest).filter(|s| !arrived.contains(s)).collect();
            let kept: Vec<u64> = holes
                .holes
                .iter()
                .flat_map(|h| h.start / 1000..h.end / 1000)
                .collect();
            prop_assert_eq!(&kept, &missing);
            let next = (0..).find(|s| !arrived.contains(s)).unwrap();
            for (from, to) in told(&mut holes, 1000 * next) {
                prop_assert!((from..to).all(|s| missing.contains(&s)));
            }
        }
        let next = (0..).find(|s| !arrived.contains(s)).unwrap();
        let mut all = std::collections::BTreeSet::new();
        for now in 1000..1080 {
            holes.set_now(at(now));
            all.extend(told(&mut holes, 1000 * next).into_iter().flat_map(|(a, b)| a..b));
        }
        let highest = *arrived.last().unwrap();
        prop_assert!((0..highest).all(|s| arrived.contains(&s) || all.contains(&s)));
    }
}
