//! When Linux' receiver acknowledges, and its window, in worked examples.

use super::*;

fn rule(quick_acks: u32) -> DelayedAck {
    DelayedAck {
        count: 2,
        timer: Duration::from_millis(200),
        quick_acks,
    }
}

fn ms(ms: u64) -> Time {
    Time::from_nanos(ms * 1_000_000)
}

/// Feeds full segments 6 ms apart; how many arrive before each ACK.
fn segments_per_ack(ack: &mut QuickAck, segments: u64) -> Vec<u64> {
    let (mut waiting, mut deadline) = (0, Time::MAX);
    let mut counts = Vec::new();
    for i in 0..segments {
        waiting += 1448;
        let bytes = (1448 * (i + 1), waiting);
        match ack.on_segment(ms(6 * i), 1448, bytes, deadline, (false, 0)) {
            Decision::Now => {
                ack.on_ack(true);
                counts.push(waiting / 1448);
                (waiting, deadline) = (0, Time::MAX);
            }
            Decision::By(by) => deadline = by,
            Decision::Wait => {}
        }
    }
    counts
}

#[test]
fn the_first_sixteen_go_at_once() {
    let mut ack = QuickAck::new(rule(16), 65_535, 1448);
    let counts = segments_per_ack(&mut ack, 24);
    assert_eq!(counts[..16], [1; 16]);
    assert_eq!(counts[16..], [2; 4]);
}

#[test]
fn an_application_that_forbids_it_delays_from_the_start() {
    let mut ack = QuickAck::new(rule(0), 1_000_000, 1448);
    assert_eq!(segments_per_ack(&mut ack, 24), [2; 12]);
}

#[test]
fn a_single_segment_waits_40_ms_and_then_the_session_is_not_interactive() {
    let mut ack = QuickAck::new(rule(0), 65_535, 1448);
    let first = ack.on_segment(ms(0), 1448, (1448, 1448), Time::MAX, (false, 0));
    // A tick late, as the timer wheel has it.
    assert_eq!(first, Decision::By(ms(44)));
    ack.on_timer();
    ack.on_ack(true);
    let next = ack.on_segment(ms(500), 1448, (2896, 1448), Time::MAX, (false, 0));
    assert_eq!(next, Decision::Now);
    let after = ack.on_segment(ms(506), 1448, (4344, 1448), Time::MAX, (false, 0));
    assert!(matches!(after, Decision::By(_)), "{after:?}");
}

#[test]
fn the_window_opens_by_two_segments_each() {
    let mut ack = QuickAck::new(rule(16), 1_000_000, 1448);
    assert_eq!(ack.window, 65_535);
    ack.set_round_trip(ms(0), Duration::from_millis(500), Duration::from_secs(1));
    segments_per_ack(&mut ack, 3);
    assert_eq!(ack.window, 65_535 + 6 * 1448);
    segments_per_ack(&mut ack, 7);
    assert_eq!(ack.window, 81_920);
    let full = (false, 0);
    // Eleven segments, then twenty, as the initial window of ten brings them.
    ack.round_trip.on_echo(ms(511), 0, true);
    ack.on_segment(ms(511), 1448, (11 * 1448, 1448), Time::MAX, full);
    assert_eq!(ack.room, 81_920);
    ack.on_segment(ms(1022), 1448, (31 * 1448, 1448), Time::MAX, full);
    // 2 x 28,960 and twice 9/11 of that more.
    assert_eq!(ack.room, 57_920 + 2 * 47_389);
}

#[test]
fn what_waits_above_a_gap_takes_room_but_the_edge_stays() {
    let mut ack = QuickAck::new(rule(16), 65_535, 1448);
    assert_eq!(ack.advertise(10_000, 0), 65_535);
    assert_eq!(ack.advertise(10_000, 30_000), 65_535);
    assert_eq!(ack.advertise(20_000, 50_000), 55_535);
    assert_eq!(ack.advertise(70_000, 0), 65_535);
}

#[test]
fn what_lies_above_a_gap_is_acknowledged_at_once_and_then_in_bunches() {
    let mut ack = QuickAck::new(rule(0), 65_535, 1448);
    ack.set_round_trip(ms(0), Duration::from_millis(500), Duration::from_secs(1));
    for _ in 0..3 {
        assert_eq!(ack.on_gap(ms(1), (0, 1448), Time::MAX, 1448), Decision::Now);
    }
    let by = ack.on_gap(ms(1), (0, 1448), Time::MAX, 1448);
    assert_eq!(by, Decision::By(ms(2)));
    assert_eq!(ack.on_gap(ms(1), (0, 1448), ms(2), 1448), Decision::Wait);
}

/// Linux takes the time of the last segment in order for that of the last one.
#[test]
fn what_lies_above_a_gap_does_not_hide_a_pause() {
    let mut ack = QuickAck::new(rule(16), 65_535, 1448);
    ack.set_round_trip(
        ms(0),
        Duration::from_millis(100),
        Duration::from_millis(300),
    );
    segments_per_ack(&mut ack, 40);
    assert!(!ack.is_quick());
    for i in 0..400 {
        ack.on_gap(ms(240 + i), (40 * 1448, 1448), Time::MAX, 1448);
    }
    ack.on_segment(ms(640), 1448, (41 * 1448, 1448), Time::MAX, (true, 0));
    assert!(ack.is_quick());
}

/// `tcp_fin`.
#[test]
fn the_ack_of_a_fin_waits_unless_this_side_is_closed() {
    let mut ack = QuickAck::new(rule(16), 65_535, 1448);
    // Nothing but a FIN: within a tick.
    assert_eq!(ack.on_fin(ms(1), 0, 1, Time::MAX), Decision::By(ms(4)));
    let mut ack = QuickAck::new(rule(16), 65_535, 1448);
    ack.on_segment(ms(0), 1448, (1448, 1448), Time::MAX, (false, 0));
    ack.on_ack(true);
    assert_eq!(ack.on_fin(ms(1), 0, 1, Time::MAX), Decision::By(ms(44)));
    // With more than a segment unacknowledged there is no waiting.
    assert_eq!(ack.on_fin(ms(1), 1448, 1449, ms(44)), Decision::Now);
    ack.close();
    assert_eq!(ack.on_fin(ms(1), 0, 1, Time::MAX), Decision::Now);
}
