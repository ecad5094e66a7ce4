//! Timelines against their definition.

use super::*;
use proptest::prelude::*;

const MS: u64 = 1_000_000;

pub(crate) fn piece(from_ms: u64, bps: u64, delay_ms: u64) -> Piece {
    Piece {
        from: Time::from_nanos(from_ms * MS),
        rate: Rate::from_bps(bps),
        one_way_delay: Duration::from_millis(delay_ms),
        sloped: false,
        loss: Loss::Channel,
        up: true,
        route: 0,
        jitter: None,
    }
}

pub(crate) fn at(ms: u64) -> Time {
    Time::from_nanos(ms * MS)
}

fn finish(line: &Timeline, start: Time, bytes: u64) -> Time {
    line.finish(&mut line.span(Time::ZERO), start, bytes)
}

#[test]
fn a_transmission_ends_when_the_integral_of_the_rate_says() {
    // 8000 bits: 2 ms at 1 Mbit/s are 2000, nothing for 5 ms, 3 ms at
    // 2 Mbit/s are 6000.
    let pieces = vec![
        piece(0, 1_000_000, 0),
        piece(2, 0, 0),
        piece(7, 2_000_000, 0),
    ];
    let line = Timeline::new(pieces).unwrap();
    assert_eq!(finish(&line, Time::ZERO, 1000), at(10));
    assert_eq!(finish(&line, at(4), 250), at(8));
    // Repeated after 8 ms: 2000 + 2000 bits a period.
    let line = line.repeating(Duration::from_millis(8)).unwrap();
    assert_eq!(finish(&line, Time::ZERO, 500), at(8));
    assert_eq!(finish(&line, Time::ZERO, 1000), at(16));
    assert_eq!(
        finish(&line, Time::ZERO, 1001),
        Time::from_nanos(16_008_000)
    );
    assert_eq!(finish(&line, Time::ZERO, 500_000_250), at(8_000_002));
}

#[test]
fn a_link_that_stops_never_finishes() {
    let line = Timeline::new(vec![piece(0, 8_000, 0), piece(1, 0, 0)]).unwrap();
    assert_eq!(finish(&line, Time::ZERO, 1), at(1));
    assert_eq!(finish(&line, Time::ZERO, 2), Time::MAX);
    let never = Timeline::new(vec![piece(0, 0, 0)]).unwrap();
    let never = never.repeating(Duration::from_millis(3)).unwrap();
    assert_eq!(finish(&never, at(5), 1), Time::MAX);
    assert_eq!(never.resume(&mut never.span(at(5)), at(5)), Time::MAX);
}

#[test]
fn the_delay_goes_in_steps_or_in_straight_lines() {
    let sloped = |from, delay| Piece {
        sloped: true,
        ..piece(from, 1, delay)
    };
    let line = Timeline::new(vec![sloped(0, 10), piece(10, 1, 20), sloped(20, 40)]).unwrap();
    let delay = |line: &Timeline, ms| line.at(at(ms)).one_way_delay;
    for (ms, expected) in [
        (0, 10),
        (5, 15),
        (9, 19),
        (10, 20),
        (19, 20),
        (20, 40),
        (99, 40),
    ] {
        assert_eq!(delay(&line, ms), Duration::from_millis(expected), "{ms}");
    }
    // Repeating, the last goes to the first.
    let line = line.repeating(Duration::from_millis(50)).unwrap();
    assert_eq!(delay(&line, 35), Duration::from_millis(25));
    assert_eq!(delay(&line, 50), Duration::from_millis(10));
    assert_eq!(delay(&line, 155), Duration::from_millis(15));
    assert_eq!(line.next_change(at(155)), Some(at(160)));
}

#[test]
fn pieces_out_of_order_are_refused() {
    let new = |pieces: &[Piece]| Timeline::new(pieces.to_vec()).map(|_| ());
    assert_eq!(new(&[]), Err(TimelineError::Empty));
    assert_eq!(new(&[piece(1, 1, 1)]), Err(TimelineError::LateStart));
    let twice = [piece(0, 1, 1), piece(3, 1, 1), piece(3, 1, 1)];
    assert_eq!(new(&twice), Err(TimelineError::NotIncreasing(2)));
    let line = Timeline::new(twice[..2].to_vec()).unwrap();
    let short = line.repeating(Duration::from_millis(3));
    assert_eq!(short, Err(TimelineError::ShortPeriod));
}

pub(crate) fn any_timeline() -> impl Strategy<Value = Timeline> {
    let piece = (1u64..40, 0u64..4, 0u64..40, any::<bool>(), 0u32..8, 0u32..3);
    let rules = (any::<bool>(), any::<bool>(), any::<bool>());
    (proptest::collection::vec(piece, 1..12), rules).prop_map(|(list, (waits, lost, repeats))| {
        let mut from = 0;
        let mut pieces = Vec::new();
        for (length, rate, delay, sloped, state, route) in list {
            pieces.push(Piece {
                sloped,
                up: state > 0,
                route,
                loss: match state {
                    1 => Loss::Packets(Ratio::new(0.3).unwrap()),
                    2 => Loss::Bits(Ratio::new(1e-5).unwrap()),
                    _ => Loss::Channel,
                },
                ..self::piece(from, rate * 1_500_000, delay)
            });
            from += length;
        }
        let mut line = Timeline::new(pieces).unwrap();
        if waits {
            line = line.when_down(WhenDown::Waits);
        }
        if lost {
            line = line.in_flight(InFlightPolicy::Lost);
        }
        if repeats {
            line = line.repeating(Duration::from_millis(from)).unwrap();
        }
        line
    })
}

proptest! {
    #[test]
    fn the_end_is_where_the_sum_over_microseconds_ends(
        line in any_timeline(), start in 0u64..400_000, bytes in 0u64..20_000,
    ) {
        // Rates are whole bits a microsecond, and pieces whole milliseconds.
        let us = |t: u64| Time::from_nanos(t * 1000);
        let end = finish(&line, us(start), bytes);
        let mut left = 8.0 * bytes as f64;
        let mut now = start;
        while left > 0.0 && now < start + 1_000_000 {
            let state = line.at(us(now));
            if state.up || line.rules().0 == WhenDown::Lost {
                left -= state.rate.bps_f64() * 1e-6;
            }
            now += 1;
        }
        if left <= 1e-6 {
            let apart = us(now).as_nanos().abs_diff(end.as_nanos());
            prop_assert!(apart <= 1000 || bytes == 0, "{now} us, {end:?}");
        } else {
            prop_assert!(end >= us(now));
        }
    }

    #[test]
    fn looking_from_anywhere_sees_the_same(
        line in any_timeline(), from in 0u64..1_000, to in 0u64..1_000,
    ) {
        let mut span = line.span(at(from));
        line.seek(&mut span, at(to));
        prop_assert_eq!(span, line.span(at(to)));
        let (a, b) = (at(from.min(to)), at(from.max(to)));
        let here = line.sending(line.span(a), a, b);
        let resumed = line.resume(&mut span, a).min(b);
        prop_assert!(here <= b.since(resumed));
        prop_assert_eq!(here.is_zero(), resumed == b);
    }
}
