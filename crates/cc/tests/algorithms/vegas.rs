//! TCP Vegas: worked examples and the repair of losses.

use crate::wire::{Wire, a_loss, a_timeout, an_exit, close};
use bentpipe_cc::{Parameters, build};
use bentpipe_units::{Duration, Time};

const BASE: Duration = Duration::from_millis(600);

/// Vegas after a handshake whose SYN is a segment, base RTT 600 ms.
fn vegas(cwnd: f64, ssthresh: f64, parameters: &Parameters) -> Wire {
    let parameters = parameters.clone().with("syn_is_segment", true);
    let mut wire = Wire::new(build("vegas", &parameters).unwrap(), cwnd, ssthresh);
    wire.controller.on_established(Some(BASE), &mut wire.window);
    wire
}

/// One ACK for one segment with a window in full use.
fn full_ack(wire: &mut Wire) {
    wire.next.outstanding = wire.window.cwnd.floor() - 1.0;
    wire.ack(Duration::from_micros(1200));
}

/// What a round of 50 segments whose samples are all `rtt` makes of cwnd: after
/// the ACK that ends it, and after the round that follows.
fn after_a_round_at(milliseconds: u64, parameters: &Parameters) -> (f64, f64) {
    let mut wire = vegas(50.0, 2.0, parameters);
    wire.next.rtt = Some(Duration::from_millis(milliseconds));
    wire.next.outstanding = 49.0;
    // The first ACK ends the round of the handshake.
    wire.acks(50);
    wire.window.cwnd = 50.0;
    wire.acks(1);
    let decided = wire.window.cwnd;
    wire.acks(49);
    (decided, wire.window.cwnd)
}

#[test]
fn three_queues_of_the_specification() {
    // W = 50, base 600 ms: 612 ms is 0.98 segments in the queue, 630 ms 2.38,
    // 660 ms 4.55.
    let exact = Parameters::new().with("whole_diff", false);
    let (decided, after) = after_a_round_at(612, &exact);
    close(decided, 50.02, 1e-9);
    close(after, 51.0, 1e-9);
    assert_eq!(after_a_round_at(630, &exact), (50.0, 50.0));
    assert_eq!(after_a_round_at(660, &exact), (49.0, 49.0));
}

#[test]
fn ns2_rounds_the_queue_to_whole_segments() {
    // 0.98 becomes 1, which is not below alpha; 3.49 stays within beta.
    let ns2 = Parameters::new();
    assert_eq!(after_a_round_at(612, &ns2), (50.0, 50.0));
    assert_eq!(after_a_round_at(645, &ns2), (50.0, 50.0));
    assert_eq!(after_a_round_at(646, &ns2), (49.0, 49.0));
}

#[test]
fn slow_start_grows_every_other_round_and_leaves_by_gamma() {
    let mut wire = vegas(2.0, f64::INFINITY, &Parameters::new());
    wire.next.rtt = Some(BASE);
    let mut starts = Vec::new();
    for _ in 0..7 {
        starts.push(wire.window.cwnd);
        for _ in 0..wire.window.cwnd as usize {
            full_ack(&mut wire);
        }
    }
    assert_eq!(starts, [2.0, 4.0, 4.0, 8.0, 8.0, 16.0, 16.0]);
    // 32 segments at 640 ms: the queue holds 2, more than gamma. The round of
    // growth before it (16 -> 32) ended without a look.
    assert_eq!(wire.window.cwnd, 32.0);
    wire.next.rtt = Some(Duration::from_millis(640));
    for _ in 0..32 {
        full_ack(&mut wire);
    }
    full_ack(&mut wire);
    assert_eq!((wire.window.cwnd, wire.window.ssthresh), (28.0, 2.0));
}

#[test]
fn a_window_that_is_not_used_does_not_grow() {
    let mut wire = vegas(20.0, 2.0, &Parameters::new());
    wire.next.rtt = Some(BASE);
    // cwnd - (outstanding + 1) = 3.
    wire.next.outstanding = 16.0;
    assert_eq!(wire.cwnds(3), [20.0; 3]);
    wire.next.outstanding = 17.0;
    assert!(wire.cwnds(1)[0] > 20.0);
}

#[test]
fn a_round_of_one_segment_sets_the_base() {
    // The path became twice as long. A window of 50 takes that for a queue...
    let longer = Duration::from_millis(1200);
    let mut wire = vegas(50.0, 2.0, &Parameters::new());
    wire.next.rtt = Some(longer);
    wire.next.outstanding = 49.0;
    wire.acks(51);
    wire.window.cwnd = 50.0;
    wire.acks(50);
    assert_eq!(wire.window.cwnd, 49.0);
    // ...until a round of one segment shows that there is none.
    wire.next.outstanding = 0.0;
    wire.acks(100);
    wire.window.cwnd = 50.0;
    wire.next.outstanding = 49.0;
    wire.acks(51);
    assert!(wire.window.cwnd > 50.0);
}

/// The first unacknowledged segment was sent at `sent_at`, so many times.
fn head(wire: &mut Wire, sent_at: Time, transmissions: u32) {
    wire.next.head = Some(bentpipe_cc::Head {
        sent_at,
        transmissions,
    });
}

#[test]
fn an_overdue_segment_goes_again_on_the_first_duplicate() {
    let mut wire = vegas(20.0, 2.0, &Parameters::new());
    wire.next.rtt = Some(BASE);
    for _ in 0..200 {
        full_ack(&mut wire);
    }
    // The timer stands at 17/16 x 600 ms = 637.5 ms.
    wire.next.duplicate = true;
    wire.next.now = Time::from_nanos(10_000_000_000);
    let now = wire.next.now;
    let sent = |age_us: u64| Time::from_nanos(now.as_nanos() - age_us * 1000);
    head(&mut wire, sent(637_000), 1);
    wire.ack(Duration::ZERO);
    assert!(!wire.window.actions.retransmit_head);
    head(&mut wire, sent(638_000), 1);
    wire.ack(Duration::ZERO);
    assert!(wire.window.actions.retransmit_head);
    assert_eq!(wire.window.ssthresh, 2.0);
}

#[test]
fn a_first_loss_costs_a_quarter_a_second_half_and_an_old_one_nothing() {
    let mut wire = vegas(40.0, f64::INFINITY, &Parameters::new());
    let mut lose = |at: u64, sent_at: u64, transmissions, flight| {
        let mut loss = a_loss(flight);
        loss.now = Time::from_nanos(at * 1_000_000_000);
        head(
            &mut wire,
            Time::from_nanos(sent_at * 1_000_000_000),
            transmissions,
        );
        loss.head = wire.next.head;
        wire.controller.on_loss(&loss, &mut wire.window);
        let mut exit = an_exit(flight, false);
        exit.now = loss.now;
        wire.controller.on_recovery_exit(&exit, &mut wire.window);
        wire.window.cwnd
    };
    assert_eq!(lose(10, 9, 1, 40.0), 30.0);
    // Sent before that cut: nothing.
    assert_eq!(lose(11, 10, 1, 30.0), 30.0);
    // Sent after it, and not for the first time.
    assert_eq!(lose(12, 11, 2, 40.0), 20.0);
    // Three and less become two.
    assert_eq!(lose(20, 19, 1, 3.0), 2.0);
    assert_eq!(wire.window.ssthresh, 2.0);
}

#[test]
fn the_two_acks_after_a_retransmission_look_again_without_a_cut() {
    let mut wire = vegas(40.0, 2.0, &Parameters::new());
    wire.next.now = Time::from_nanos(10_000_000_000);
    let mut loss = a_loss(40.0);
    loss.now = wire.next.now;
    head(&mut wire, Time::from_nanos(8_000_000_000), 1);
    loss.head = wire.next.head;
    wire.controller.on_loss(&loss, &mut wire.window);
    assert_eq!(wire.window.cwnd, 30.0);
    // The next hole is as old: it goes at once, and a recovery that the
    // transport begins for it costs nothing.
    wire.next.rtt = None;
    wire.ack(Duration::from_millis(600));
    assert!(std::mem::take(&mut wire.window.actions).retransmit_head);
    head(&mut wire, Time::from_nanos(10_300_000_000), 1);
    loss.head = wire.next.head;
    wire.controller.on_loss(&loss, &mut wire.window);
    assert_eq!(wire.window.cwnd, 30.0);
    // A head that is not overdue ends the search.
    wire.ack(Duration::from_millis(1));
    assert!(!wire.window.actions.retransmit_head);
    head(&mut wire, Time::ZERO, 1);
    wire.ack(Duration::from_millis(1));
    assert!(!wire.window.actions.retransmit_head);
}

#[test]
fn a_lost_retransmission_of_recovery_halves() {
    let mut wire = vegas(40.0, 2.0, &Parameters::new());
    wire.next.now = Time::from_nanos(10_000_000_000);
    let mut loss = a_loss(40.0);
    loss.now = wire.next.now;
    wire.controller.on_loss(&loss, &mut wire.window);
    assert_eq!(wire.window.cwnd, 30.0);
    // A hole that was sent again one second after that cut is overdue.
    wire.next.duplicate = true;
    wire.next.in_recovery = true;
    head(&mut wire, Time::from_nanos(11_000_000_000), 2);
    wire.ack(Duration::from_secs(3));
    assert!(wire.window.actions.retransmit_head);
    assert_eq!(wire.window.cwnd, 15.0);
}

#[test]
fn a_timeout_restarts_from_two() {
    let mut wire = vegas(21.0, 2.0, &Parameters::new());
    wire.controller
        .on_timeout(&a_timeout(21.0), &mut wire.window);
    assert_eq!((wire.window.cwnd, wire.window.ssthresh), (2.0, 10.0));
}

#[test]
fn a_small_syn_does_not_set_the_base() {
    // A SYN is 1.2 ms faster than any segment. At 500 segments that is one of
    // them in the queue, and growth would end.
    let grown = |syn_is_segment: bool| {
        let parameters = Parameters::new().with("syn_is_segment", syn_is_segment);
        let mut wire = Wire::new(build("vegas", &parameters).unwrap(), 500.0, 2.0);
        wire.controller.on_established(Some(BASE), &mut wire.window);
        wire.next.rtt = Some(Duration::from_micros(601_200));
        wire.next.outstanding = 499.0;
        // The ACK after the first round of data decides.
        wire.acks(501);
        wire.window.cwnd = 500.0;
        wire.cwnds(1)[0]
    };
    assert_eq!(grown(true), 500.0);
    close(grown(false), 500.002, 1e-5);
}
