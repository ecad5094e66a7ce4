//! Reassembly and acknowledgement rules.

use super::quickack::QuickAck;
use super::*;
use bentpipe_units::Duration;
use proptest::prelude::*;

const MSS: u64 = 1000;

fn data(i: u64) -> Packet {
    Packet {
        sequence: i * MSS,
        payload: MSS as u16,
        timestamp: i as u32,
        ..Packet::new(0)
    }
}

fn receiver(count: u32, quick_acks: u32) -> Receiver {
    let delayed = DelayedAck {
        count,
        timer: Duration::from_millis(40),
        quick_acks,
    };
    Receiver::new(delayed, true, true, 65_535)
}

fn ack(r: &mut Receiver) -> (u64, Vec<(u64, u64)>) {
    let mut p = Packet::new(0);
    r.acknowledge(&mut p);
    let blocks = p.sack[..p.sack_count as usize]
        .iter()
        .map(|b| {
            let absolute =
                |x: u32| p.acknowledgement.wrapping_add_signed(i64::from(x as i32)) / MSS;
            (absolute(b.start), absolute(b.end))
        })
        .collect();
    (p.acknowledgement / MSS, blocks)
}

#[test]
fn every_second_segment_is_acknowledged_at_once_the_first_ones_sooner() {
    let mut r = receiver(2, 1);
    let mut answers = Vec::new();
    for i in 0..6 {
        let a = r.on_data(Time::ZERO, &data(i));
        if a == Answer::Now {
            ack(&mut r);
        }
        answers.push(a);
    }
    use Answer::{Later, Now};
    assert_eq!(answers, [Now, Later, Now, Later, Now, Later]);
    assert_eq!(r.deadline, Time::from_nanos(40_000_000));
}

#[test]
fn a_gap_is_reported_most_recent_island_first() {
    let mut r = receiver(2, 0);
    r.on_data(Time::ZERO, &data(0));
    for i in [2, 4, 6, 8] {
        assert_eq!(r.on_data(Time::ZERO, &data(i)), Answer::Now);
    }
    assert_eq!(ack(&mut r), (1, vec![(8, 9), (6, 7), (4, 5)]));
    // Filling 3 joins the islands 2 and 4: that one is the most recent now.
    r.on_data(Time::ZERO, &data(3));
    assert_eq!(ack(&mut r), (1, vec![(2, 5), (8, 9), (6, 7)]));
    r.on_data(Time::ZERO, &data(1));
    assert_eq!(ack(&mut r), (5, vec![(8, 9), (6, 7)]));
}

#[test]
fn a_duplicate_is_reported_below_the_acknowledgement() {
    let mut r = receiver(1, 0);
    r.on_data(Time::ZERO, &data(0));
    r.on_data(Time::ZERO, &data(1));
    ack(&mut r);
    assert_eq!(r.on_data(Time::ZERO, &data(0)), Answer::Now);
    assert_eq!(ack(&mut r), (2, vec![(0, 1)]));
    assert_eq!(ack(&mut r), (2, vec![]));
    assert_eq!(r.duplicates, 1);
}

#[test]
fn a_delayed_ack_echoes_its_first_segment() {
    let mut r = receiver(2, 0);
    r.on_data(Time::ZERO, &data(0));
    r.on_data(Time::ZERO, &data(1));
    let mut p = Packet::new(0);
    r.acknowledge(&mut p);
    assert_eq!(p.timestamp_echo, 0);
    r.on_data(Time::ZERO, &data(2));
    r.on_data(Time::ZERO, &data(3));
    r.acknowledge(&mut p);
    assert_eq!(p.timestamp_echo, 2);
}

proptest! {
    #[test]
    fn any_order_is_reassembled(order in proptest::collection::vec(0u64..30, 1..200)) {
        let mut r = receiver(1, 0);
        let mut seen = [false; 31];
        for i in order {
            r.on_data(Time::ZERO, &data(i));
            seen[i as usize] = true;
            let (next, blocks) = ack(&mut r);
            let expected = seen.iter().position(|s| !s).unwrap() as u64;
            prop_assert_eq!(next, expected);
            for (s, e) in blocks {
                // Whole islands, all of whose segments have arrived.
                prop_assert!((s..e).all(|k| seen[k as usize]));
                // A duplicate may be part of an island; the island follows.
                if s > next && (s, e) != (i, i + 1) {
                    prop_assert!(!seen[s as usize - 1] && !seen[e as usize]);
                }
            }
        }
    }
}

fn linux(quick_acks: u32) -> Receiver {
    let rule = DelayedAck {
        count: 2,
        timer: Duration::from_millis(200),
        quick_acks,
    };
    let mut quickack = QuickAck::new(rule, 65_535, MSS as u32);
    let round_trip = Duration::from_millis(100);
    quickack.set_round_trip(Time::ZERO, round_trip, round_trip * 2);
    let mut r = receiver(2, quick_acks);
    r.set_quickack(quickack);
    r
}

/// Linux 6, as captured on 6.18 after an outage: the answer to a copy of something
/// that was acknowledged long ago echoes what the last ACK did, so that the sender
/// measures the outage as a round trip.
#[test]
fn a_copy_of_what_was_acknowledged_brings_no_timestamp() {
    let echo_after = |mut r: Receiver| {
        for i in 1..=4 {
            r.on_data(Time::ZERO, &data(i - 1));
            r.acknowledge(&mut Packet::new(0));
        }
        let copy = Packet {
            timestamp: 99,
            ..data(1)
        };
        assert_eq!(r.on_data(Time::ZERO, &copy), Answer::Now);
        let mut answer = Packet::new(0);
        r.acknowledge(&mut answer);
        answer.timestamp_echo
    };
    assert_eq!(echo_after(linux(16)), 3);
    assert_eq!(echo_after(receiver(2, 0)), 99);
}

/// Linux 6: what lies above a gap waits for an ACK, but not for longer than until a
/// third block would push another out of an ACK's first two places.
#[test]
fn a_third_block_sends_the_ack_that_waits() {
    let mut r = linux(0);
    assert_eq!(r.on_data(Time::ZERO, &data(0)), Answer::Later);
    for i in [2, 3, 4] {
        assert_eq!(r.on_data(Time::ZERO, &data(i)), Answer::Now, "{i}");
        ack(&mut r);
    }
    // They wait now, as long as the blocks are two.
    for i in [5, 7, 8] {
        assert_eq!(r.on_data(Time::ZERO, &data(i)), Answer::Later, "{i}");
    }
    assert_eq!(r.on_data(Time::ZERO, &data(10)), Answer::Before);
    assert_eq!(ack(&mut r), (1, vec![(7, 9), (2, 6)]));
    // It is reported with what comes next, and no timer runs for it.
    assert_eq!(r.on_data(Time::ZERO, &data(10)), Answer::Later);
    assert_eq!(r.deadline, Time::MAX);
    // Nor is it one that waits: so the next one of a block of its own sends no ACK.
    assert_eq!(r.on_data(Time::ZERO, &data(12)), Answer::Later);
    assert!(r.deadline < Time::MAX);
    assert_eq!(r.on_data(Time::ZERO, &data(14)), Answer::Before);
    assert_eq!(ack(&mut r), (1, vec![(12, 13), (10, 11), (7, 9)]));
}

/// RFC 8257, section 3.2, figure 1: what came before a change is acknowledged with
/// its own state, and the change at once.
#[test]
fn each_change_between_marked_and_unmarked_is_reported() {
    let mut r = receiver(2, 0);
    r.set_echoes_changes();
    let marked = |i| Packet {
        ecn: ecn::MARKED,
        ..data(i)
    };
    let echo = |r: &mut Receiver| {
        let mut p = Packet::new(0);
        r.acknowledge(&mut p);
        (p.acknowledgement / MSS, p.has(flags::ECE))
    };
    assert_eq!(r.on_data(Time::ZERO, &data(0)), Answer::Later);
    assert_eq!(r.on_data(Time::ZERO, &marked(1)), Answer::Before);
    assert_eq!(echo(&mut r), (1, false));
    assert_eq!(r.on_data(Time::ZERO, &marked(1)), Answer::Now);
    assert_eq!(echo(&mut r), (2, true));
    // Packets of the same kind are acknowledged by twos.
    assert_eq!(r.on_data(Time::ZERO, &marked(2)), Answer::Later);
    assert_eq!(r.on_data(Time::ZERO, &marked(3)), Answer::Now);
    assert_eq!(echo(&mut r), (4, true));
    // No word from the sender ends the echo: an unmarked packet does.
    assert_eq!(r.on_data(Time::ZERO, &data(4)), Answer::Now);
    assert_eq!(echo(&mut r), (5, false));
}
