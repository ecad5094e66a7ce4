//! The Westwood agents of ns-2: each filter, and what the releases do.

use crate::wire::{Wire, a_loss, a_timeout, close};
use bentpipe_cc::slots::{AgentFilter, FilterState};
use bentpipe_cc::{Parameters, build};
use bentpipe_units::{Duration, Time};

const TAU: Duration = Duration::from_secs(1);
const RTT: Duration = Duration::from_millis(600);

fn agent(name: &str, parameters: &Parameters) -> Wire {
    Wire::new(build(name, parameters).unwrap(), 10.0, 700.0)
}

fn bandwidth(wire: &Wire) -> f64 {
    wire.controller
        .bandwidth_estimate()
        .map_or(0.0, |rate| rate.bps_f64())
}

/// The estimates of a filter that gets three samples of 1000 kbit/s, each `gap`
/// after the one before, in kbit/s.
fn rise(filter: FilterState, gap: f64, rtt: Duration, queue: Duration) -> [f64; 3] {
    let mut filter = filter;
    [(); 3].map(|()| {
        filter.take(gap, 1e6 * gap, rtt, queue);
        filter.estimate() / 1e3
    })
}

fn first(filter: AgentFilter, gap: f64) -> [f64; 3] {
    // Nothing is shorter than a nanosecond: types per round trip sample every ACK.
    let rtt = Duration::from_nanos(1);
    rise(FilterState::new(filter, TAU, 0.9), gap, rtt, Duration::ZERO)
}

fn agree(got: [f64; 3], want: [f64; 3]) {
    for (got, want) in got.iter().zip(want) {
        close(*got, want, 2e-3);
    }
}

#[test]
fn filters_with_fixed_weights() {
    agree(first(AgentFilter::Type0, 0.012), [100.0, 190.0, 271.0]);
    agree(first(AgentFilter::Type1, 0.012), [47.6, 138.264, 220.287]);
    agree(first(AgentFilter::Type2, 0.012), [32.25, 94.669, 153.061]);
    agree(first(AgentFilter::Type5, 0.6), [100.0, 190.0, 271.0]);
    // The mean of 0 and 1000 at first.
    agree(first(AgentFilter::Type6, 0.6), [50.0, 145.0, 230.5]);
}

#[test]
fn filters_by_time() {
    // exp(-0.012) and exp(-0.6) stay.
    agree(first(AgentFilter::Type8, 0.012), [11.928, 23.714, 35.360]);
    agree(first(AgentFilter::Type9, 0.6), [451.188, 698.806, 834.701]);
    // Type 10 takes the sample before again while no queue stands: zero.
    agree(first(AgentFilter::Type10, 0.6), [0.0; 3]);
    let filter = FilterState::new(AgentFilter::Type10, TAU, 0.9);
    let got = rise(
        filter,
        0.6,
        Duration::from_nanos(1),
        Duration::from_millis(1),
    );
    agree(got, [451.188, 698.806, 834.701]);
}

#[test]
fn tustin_of_type_3() {
    // 2 tau = 2 s, 12 ms: 1.988 / 2.012 stays, 0.012 / 2.012 of each sample comes in.
    agree(first(AgentFilter::Type3, 0.012), [5.964, 17.822, 29.537]);
    let settled = || {
        let mut filter = FilterState::new(AgentFilter::Type3, TAU, 0.9);
        for _ in 0..20_000 {
            filter.take(0.0012, 12_000.0, RTT, Duration::ZERO);
        }
        filter
    };
    // 1 s of silence is two halves of tau: nothing would be left, so one sample of
    // zero (3/5, 1/5) and one segment over 0.5 s.
    let mut filter = settled();
    filter.take(1.0, 12_000.0, RTT, Duration::ZERO);
    close(
        filter.estimate(),
        0.6 * (0.6 * 1e7 + 0.2 * 1e7) + 0.2 * 24_000.0,
        10.0,
    );
    // 1.3 s: two of zero, then one segment over 0.3 s.
    let mut filter = settled();
    filter.take(1.3, 12_000.0, RTT, Duration::ZERO);
    let zeros = 0.6 * (0.6 * 1e7 + 0.2 * 1e7);
    close(
        filter.estimate(),
        (1.7 * zeros + 0.3 * 40_000.0) / 2.3,
        10.0,
    );
    // 0.505 s: less than 10 ms would be left, so none of zero and all of 0.5 s.
    let mut filter = settled();
    filter.take(0.505, 12_000.0, RTT, Duration::ZERO);
    close(filter.estimate(), 0.6 * 1e7 + 0.2 * (1e7 + 24_000.0), 10.0);
}

#[test]
fn tustin_in_steps_of_a_quarter_of_tau() {
    // A round of 0.6 s: two steps of 0.25 s and 0.1 s. From 0 to 1000:
    // 1000 / 9; 7/9 of that and 2000 / 9; 1.9 / 2.1 of that and 200 / 2.1.
    close(first(AgentFilter::Type4, 0.6)[0], 374.486, 2e-3);
    // Interpolated: steps at 0 and 416.667, then the sample itself.
    close(first(AgentFilter::Type7, 0.6)[0], 179.012, 2e-3);
    let square = FilterState::new(AgentFilter::Type7, TAU, 0.9).with_interpolation(2.0);
    let got = rise(square, 0.6, Duration::from_nanos(1), Duration::ZERO);
    // The second step at 1000 x (0.25 / 0.6)^2 = 173.611.
    close(got[0], (1.9 * 2.0 / 9.0 * 173.611 + 200.0) / 2.1, 2e-3);
}

#[test]
fn filters_per_round_wait_for_more_than_a_round_trip() {
    let mut filter = FilterState::new(AgentFilter::Type5, TAU, 0.9);
    for _ in 0..6 {
        filter.take(0.1, 1e5, RTT, Duration::ZERO);
    }
    assert_eq!(filter.estimate(), 0.0, "0.6 s do not exceed 0.6 s");
    filter.take(0.1, 1e5, RTT, Duration::ZERO);
    close(filter.estimate(), 1e5, 1.0);
}

/// The estimate after an ACK and three duplicates, each 12 ms after the one
/// before, and then an ACK for `last` segments.
fn after_duplicates(name: &str, last: f64) -> (Wire, f64) {
    let mut wire = agent(name, &Parameters::new().with("filter", "type-0"));
    wire.next.now = Time::ZERO + RTT;
    let gap = Duration::from_millis(12);
    wire.ack(gap);
    wire.next.duplicate = true;
    wire.next.acked = 0.0;
    for _ in 0..3 {
        wire.ack(gap);
    }
    let before = bandwidth(&wire);
    wire.next.duplicate = false;
    wire.next.acked = last;
    wire.ack(gap);
    // .9 stays, .1 x 1 Mbit/s per segment counted comes in.
    let counted = (bandwidth(&wire) - 0.9 * before) / 1e5;
    (wire, counted)
}

#[test]
fn duplicates_are_remembered_and_no_ack_counts_more_than_two() {
    for name in ["westwood-nr", "westwood-bari"] {
        // Four segments, three of them counted as duplicates.
        close(after_duplicates(name, 4.0).1, 1.0, 1e-4);
        // Nine, six of them new: two.
        close(after_duplicates(name, 9.0).1, 2.0, 1e-4);
    }
}

#[test]
fn an_ack_forgets_one_duplicate_less_at_ucla() {
    // Two segments, three duplicates remembered: one counts, and UCLA remembers
    // two more, Bari one. Three segments then are one more than that, or two.
    for (name, counted) in [("westwood-nr", 1.0), ("westwood-bari", 2.0)] {
        let (mut wire, first) = after_duplicates(name, 2.0);
        close(first, 1.0, 1e-4);
        let before = bandwidth(&wire);
        wire.next.acked = 3.0;
        wire.ack(Duration::from_millis(12));
        close((bandwidth(&wire) - 0.9 * before) / 1e5, counted, 1e-4);
    }
}

/// A connection whose estimate has settled at a segment per 1.3 ms.
fn settled(name: &str) -> Wire {
    let mut wire = agent(name, &Parameters::new().with("filter", "type-1"));
    wire.next.now = Time::ZERO + RTT;
    for _ in 0..2_000 {
        wire.ack(Duration::from_micros(1300));
    }
    wire.window.cwnd = 700.0;
    wire
}

#[test]
fn a_loss_cuts_to_the_product_in_whole_segments() {
    // 600 ms / 1.3 ms x (.9047 + .0952 = .9999: the weights miss 1 by 1e-4, the
    // settled estimate is .0952 / .0953 of the rate): 461.05.
    let product = 600.0 / 1.3 * 0.0952 / 0.0953;
    let mut ucla = settled("westwood-nr");
    ucla.controller.on_loss(&a_loss(700.0), &mut ucla.window);
    assert_eq!((ucla.window.ssthresh, ucla.window.cwnd), (461.0, 461.0));
    let mut bari = settled("westwood-bari");
    bari.controller.on_loss(&a_loss(700.0), &mut bari.window);
    assert_eq!(bari.window.ssthresh, 461.0);
    close(bari.window.cwnd, product, 1e-3);
    // A window that fits stays.
    bari.window.cwnd = 300.0;
    bari.controller.on_loss(&a_loss(300.0), &mut bari.window);
    assert_eq!(bari.window.cwnd, 300.0);
}

#[test]
fn ucla_divides_by_a_at_a_timeout_and_starts_from_one() {
    let mut wire = settled("westwood-nr");
    // Above ssthresh: a = 1.
    wire.controller
        .on_timeout(&a_timeout(700.0), &mut wire.window);
    assert_eq!((wire.window.ssthresh, wire.window.cwnd), (461.0, 1.0));
    // In slow start a is 2, 3, 4 and 4: 230.5, 153.7, 115.3, 115.3.
    for want in [230.0, 153.0, 115.0, 115.0] {
        wire.controller
            .on_timeout(&a_timeout(1.0), &mut wire.window);
        assert_eq!((wire.window.ssthresh, wire.window.cwnd), (want, 1.0));
    }
    // A loss in slow start adds a quarter, and does not divide.
    let mut wire = settled("westwood-nr");
    wire.window.ssthresh = 800.0;
    wire.controller.on_loss(&a_loss(700.0), &mut wire.window);
    assert_eq!(wire.window.ssthresh, 461.0);
    wire.window.cwnd = 1.0;
    wire.controller
        .on_timeout(&a_timeout(1.0), &mut wire.window);
    assert_eq!(wire.window.ssthresh, (461.05_f64 / 2.25).floor());
}

#[test]
fn bari_restarts_from_two() {
    let mut wire = settled("westwood-bari");
    for _ in 0..3 {
        wire.controller
            .on_timeout(&a_timeout(700.0), &mut wire.window);
        assert_eq!((wire.window.ssthresh, wire.window.cwnd), (461.0, 2.0));
    }
}

#[test]
fn the_smallest_round_trip_is_in_ticks_of_10_ms() {
    // 25 ms that do not begin on a tick: two ticks or three, the smaller counts.
    let mut wire = agent("westwood-nr", &Parameters::new().with("filter", "type-0"));
    let rtt = Duration::from_millis(25);
    wire.next.now = Time::ZERO + rtt;
    wire.next.rtt = Some(rtt);
    wire.next.min_rtt = rtt;
    wire.next.round_start = true;
    for _ in 0..500 {
        wire.ack(Duration::from_millis(1));
    }
    wire.window.cwnd = 700.0;
    wire.controller.on_loss(&a_loss(700.0), &mut wire.window);
    // 1 segment per ms x 20 ms.
    assert_eq!(wire.window.ssthresh, 19.0);
    close(bandwidth(&wire), 12e6, 1.0);
}

#[test]
fn a_number_that_stands_still_counts_every_ack_of_a_recovery_twice() {
    for (last_ack, counted) in [("follows", 1.0), ("frozen", 2.0)] {
        let given = Parameters::new()
            .with("filter", "type-0")
            .with("last_ack", last_ack);
        let mut wire = agent("westwood-nr", &given);
        wire.next.now = Time::ZERO + RTT;
        let gap = Duration::from_millis(12);
        wire.ack(gap);
        // A partial ACK for five segments, none of them remembered: two. The
        // duplicate after it is five beyond the number that stands still.
        wire.next.in_recovery = true;
        wire.next.acked = 5.0;
        wire.ack(gap);
        let before = bandwidth(&wire);
        wire.next.duplicate = true;
        wire.next.acked = 0.0;
        wire.ack(gap);
        close((bandwidth(&wire) - 0.9 * before) / 1e5, counted, 1e-4);
    }
}
