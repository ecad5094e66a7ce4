use super::*;
use bentpipe_units::{Bytes, Rate};
use proptest::prelude::*;

const MS: u64 = 1_000_000;

/// A packet of 1000 bytes every 8 ms of on-time.
fn on_off(on: Period, off: Period) -> Application {
    Application::OnOff {
        on,
        off,
        rate: Rate::from_mbps(1),
        packet_size: Bytes::new(1000),
    }
}

fn constant(ms: u64) -> Period {
    Period::Constant(Duration::from_millis(ms))
}

/// When packets leave before `end`, from a start at 0.
fn packets(application: &Application, seed: u64, name: &str, end: Time) -> Vec<Time> {
    let mut source = Source::new(application, seed, name).unwrap();
    source.start(Time::ZERO);
    let mut times = Vec::new();
    while source.next() < end {
        let now = source.next();
        if source.sends(now) {
            times.push(now);
        }
    }
    times
}

fn in_ms(times: &[Time]) -> Vec<u64> {
    times.iter().map(|t| t.as_nanos() / MS).collect()
}

#[test]
fn a_constant_rate_never_pauses() {
    let application = Application::ConstantRate {
        rate: Rate::from_mbps(5),
        packet_size: Bytes::new(1500),
        control: None,
        deadline: None,
    };
    let times = packets(&application, 1, "f", Time::from_nanos(50_000 * MS));
    // One every 2.4 ms.
    assert_eq!(times.len(), 20_834);
    assert_eq!(times[20_833], Time::from_nanos(20_833 * 2_400_000));
}

#[test]
fn a_square_wave_carries_the_rest_of_a_packet_time() {
    // 20 ms on: packets at 0, 8 and 16 ms; the fourth needs 4 ms more, in the
    // next period, which begins at 100 ms.
    let times = packets(
        &on_off(constant(20), constant(80)),
        1,
        "f",
        Time::from_nanos(300 * MS),
    );
    assert_eq!(in_ms(&times), [0, 8, 16, 104, 112, 200, 208, 216]);
}

#[test]
fn a_period_shorter_than_a_packet_may_have_none() {
    let times = packets(
        &on_off(constant(3), constant(7)),
        1,
        "f",
        Time::from_nanos(60 * MS),
    );
    // On-time of 8 ms has passed at 22 ms, of 16 ms at 51 ms.
    assert_eq!(in_ms(&times), [0, 22, 51]);
}

#[test]
fn without_off_periods_it_is_a_constant_rate() {
    let times = packets(
        &on_off(constant(5), constant(0)),
        1,
        "f",
        Time::from_nanos(40 * MS),
    );
    assert_eq!(in_ms(&times), [0, 8, 16, 24, 32]);
}

#[test]
fn the_mean_rate_is_the_rate_times_the_share_of_on_time() {
    let mean = Duration::from_millis(500);
    let tail = 2.5; // with a finite variance, so that means settle
    for (on, off) in [
        (Period::Exponential { mean }, Period::Exponential { mean }),
        (Period::Pareto { mean, shape: tail }, constant(500)),
        (constant(500), Period::Pareto { mean, shape: tail }),
    ] {
        let end = Time::from_nanos(20_000_000 * MS);
        let sent = packets(&on_off(on, off), 3, "f", end).len() as f64;
        let expected = 0.5 * 20_000_000.0 / 8.0;
        assert!(
            (sent / expected - 1.0).abs() < 0.02,
            "{on:?} {off:?} {sent}"
        );
    }
}

#[test]
fn flows_and_kinds_of_periods_have_streams_of_their_own() {
    let mean = Duration::from_millis(50);
    let (random, end) = (Period::Exponential { mean }, Time::from_nanos(1000 * MS));
    let both = on_off(random, random);
    assert_eq!(packets(&both, 1, "a", end), packets(&both, 1, "a", end));
    assert_ne!(packets(&both, 1, "a", end), packets(&both, 1, "b", end));
    assert_ne!(packets(&both, 1, "a", end), packets(&both, 2, "a", end));
    // Constant off-periods leave the on-periods as they are: the first burst
    // is the same.
    let first = |a: &Application| {
        let times = packets(a, 1, "a", end);
        let gap = times
            .windows(2)
            .position(|w| w[1].since(w[0]) > Duration::from_millis(8));
        gap.map(|i| times[..=i].to_vec())
    };
    assert_eq!(first(&both), first(&on_off(random, constant(50))));
}

proptest! {
    /// On-time between packets is exactly the packet time.
    #[test]
    fn packets_leave_every_packet_time_of_on_time(
        on in 1u64..40, off in 0u64..40, end in 1u64..2_000,
    ) {
        let times = packets(
            &on_off(constant(on), constant(off)), 1, "f", Time::from_nanos(end * MS),
        );
        let expected = (0..).map(|k: u64| {
            let on_time = 8 * k;
            on_time / on * (on + off) + on_time % on
        });
        let expected: Vec<u64> = expected.take_while(|t| *t < end).collect();
        prop_assert_eq!(in_ms(&times), expected);
    }
}
