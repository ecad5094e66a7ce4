//! Westwood, Westwood+ and their combination with Hoe's estimate.

use crate::wire::{Wire, a_loss, a_timeout, an_exit, classic, close};
use bentpipe_cc::slots::{Accounting, Cut, Filter, PlusFilter, Westwood, WestwoodPlus};
use bentpipe_cc::{
    Classic, CongestionControl as _, Controller, Hoe, HoeForm, HostRules, Parameters, Reaction,
    build,
};
use bentpipe_units::Duration;

fn westwood(filter: Filter) -> Classic {
    let reaction = Reaction::from(Westwood::new(filter, Accounting::DupAck));
    Classic {
        reaction,
        ..classic("westwood")
    }
}

fn tustin(tau_ms: u64) -> Filter {
    Filter::Tustin {
        tau: Duration::from_millis(tau_ms),
        zero_samples: 2.0,
    }
}

fn bandwidth(wire: &Wire) -> f64 {
    wire.controller
        .bandwidth_estimate()
        .map_or(0.0, |rate| rate.bps_f64())
}

/// A connection whose ACKs have long shown one segment of 1500 bytes per `gap`.
fn settled(classic: Classic, gap: Duration) -> Wire {
    let mut wire = Wire::new(classic, 10.0, 700.0);
    for _ in 0..20_000 {
        wire.ack(gap);
    }
    wire
}

#[test]
fn type_1_rises_to_a_constant_rate() {
    let mut wire = Wire::new(westwood(Filter::TYPE_1), 10.0, 10.0);
    wire.next.mss = 125;
    // The first ACK only starts the clock; then 1000 kbit/s.
    wire.ack(Duration::from_millis(1));
    for want in [47.6, 138.3, 220.3, 294.5, 361.6] {
        wire.ack(Duration::from_millis(1));
        close(bandwidth(&wire) / 1000.0, want, 0.06);
    }
}

/// The first estimates of a filter of the registry at 1000 kbit/s.
fn first_estimates(filter: &str) -> Vec<f64> {
    let parameters = Parameters::new().with("filter", filter);
    let mut wire = Wire::new(build("westwood", &parameters).unwrap(), 10.0, 10.0);
    wire.ack(Duration::ZERO);
    (0..3)
        .map(|_| {
            wire.ack(Duration::from_millis(12));
            bandwidth(&wire) / 1e3
        })
        .collect()
}

#[test]
fn types_0_and_2_rise_to_a_constant_rate() {
    // .9 and .1; then .93548 and .03225 on the last two samples.
    for (filter, expected) in [
        ("type-0", [100.0, 190.0, 271.0]),
        ("type-2", [32.25, 94.669, 153.061]),
    ] {
        for (got, want) in first_estimates(filter).iter().zip(expected) {
            close(*got, want, 1e-2);
        }
    }
}

#[test]
fn tustin_coefficients() {
    let mut wire = Wire::new(westwood(tustin(500)), 10.0, 10.0);
    wire.acks(2);
    let sample = 1e7;
    close(bandwidth(&wire) / sample, 0.001_198_56, 1e-7);
    wire.acks(1);
    let want = 0.997_603 * 0.001_198_56 + 2.0 * 0.001_198_56;
    close(bandwidth(&wire) / sample, want, 2e-7);
}

#[test]
fn on_a_host_like_the_agents_recovery_ends_with_its_own_window() {
    let rules = HostRules {
        exact_halves: true,
        ..HostRules::default()
    };
    for mut classic in [classic("westwood"), classic("westwood+")] {
        classic.apply_host_rules(rules);
        let mut wire = settled(classic, Duration::from_micros(1300));
        wire.window.cwnd = 700.0;
        wire.controller.on_loss(&a_loss(700.0), &mut wire.window);
        // 12 kbit each 1.3 ms x 0.6 s = 461.5 segments; Westwood+ divides by
        // the time to the ACK that ends its interval.
        let ssthresh = wire.window.ssthresh;
        assert!((450.0..=461.0).contains(&ssthresh), "{ssthresh}");
        assert_eq!(ssthresh, ssthresh.floor());
        assert_eq!(wire.window.cwnd, ssthresh);
        // Partial ACKs have deflated it.
        wire.window.cwnd = 3.0;
        let exit = an_exit(300.0, false);
        wire.controller.on_recovery_exit(&exit, &mut wire.window);
        assert_eq!(wire.window.cwnd, 3.0);
        let exit = an_exit(30.0, true);
        wire.controller.on_recovery_exit(&exit, &mut wire.window);
        assert_eq!(wire.window.cwnd, 31.0);
    }
}

#[test]
fn a_long_silence_brings_the_estimate_down() {
    let mut wire = settled(classic("westwood"), Duration::from_micros(1200));
    wire.ack(Duration::from_secs(3600));
    assert!(bandwidth(&wire) < 10.0);
    wire.controller.on_loss(&a_loss(100.0), &mut wire.window);
    assert_eq!(wire.window.ssthresh, 2.0);
}

#[test]
fn the_cut_is_bandwidth_times_smallest_rtt() {
    let mut wire = settled(classic("westwood"), Duration::from_micros(1200));
    wire.window.cwnd = 700.0;
    wire.controller.on_loss(&a_loss(700.0), &mut wire.window);
    close(wire.window.ssthresh, 500.0, 0.01);
    assert_eq!(wire.window.cwnd, wire.window.ssthresh);

    wire.window.cwnd = 300.0;
    wire.controller.on_loss(&a_loss(300.0), &mut wire.window);
    assert_eq!(wire.window.cwnd, 300.0, "a window that fits is not cut");
    wire.controller
        .on_recovery_exit(&an_exit(300.0, false), &mut wire.window);
    assert_eq!(wire.window.cwnd, 300.0, "nor raised when recovery ends");

    wire.controller
        .on_timeout(&a_timeout(300.0), &mut wire.window);
    close(wire.window.ssthresh, 500.0, 0.01);
    assert_eq!(wire.window.cwnd, 1.0);
}

#[test]
fn without_a_sample_the_flight_is_halved() {
    for classic in [classic("westwood"), classic("westwood+")] {
        let mut wire = Wire::new(classic, 30.0, f64::INFINITY);
        wire.controller.on_loss(&a_loss(30.0), &mut wire.window);
        assert_eq!(wire.window.ssthresh, 15.0);
    }
}

#[test]
fn duplicates_are_not_counted_again_by_the_cumulative_ack() {
    // Three duplicates, then an ACK for four segments: four arrivals in all.
    let mut wire = Wire::new(westwood(tustin(500)), 10.0, 10.0);
    let mut plain = Wire::new(westwood(tustin(500)), 10.0, 10.0);
    wire.acks(1);
    plain.acks(5);
    for _ in 0..3 {
        wire.next.duplicate = true;
        wire.next.acked = 0.0;
        wire.acks(1);
    }
    wire.next.duplicate = false;
    wire.next.acked = 4.0;
    wire.acks(1);
    assert_eq!(bandwidth(&wire), bandwidth(&plain));
}

#[test]
fn acks_at_one_instant_are_one_sample() {
    let mut wire = Wire::new(westwood(tustin(500)), 10.0, 10.0);
    wire.acks(1);
    wire.ack(Duration::ZERO);
    wire.ack(Duration::ZERO);
    wire.acks(1);
    // The two and the one after them within one gap.
    close(bandwidth(&wire) / 3e7, 0.001_198_56, 1e-7);
}

/// A connection over 600 ms that gets `per_round` segments acknowledged in
/// every round, for `rounds` rounds.
fn paced(classic: impl Into<Controller>, per_round: u64, rounds: u64) -> Wire {
    let mut wire = Wire::new(classic, 10.0, 700.0);
    for _ in 0..per_round * rounds {
        wire.ack(Duration::from_millis(600) / per_round);
    }
    wire
}

#[test]
fn westwood_plus_settles_at_the_rate() {
    for filter in [
        PlusFilter::Tustin,
        PlusFilter::Exponential,
        PlusFilter::Linux {
            tick_rate: 100.0,
            from_zero: false,
        },
    ] {
        let reaction = Reaction::from(WestwoodPlus::new(
            filter,
            Cut::AtLoss,
            Accounting::DupAck,
            true,
        ));
        let classic = Classic {
            reaction,
            ..classic("westwood+")
        };
        let mut wire = paced(classic, 500, 200);
        close(bandwidth(&wire), 1e7, 2e4);
        wire.window.cwnd = 700.0;
        wire.controller.on_loss(&a_loss(700.0), &mut wire.window);
        close(wire.window.cwnd, 500.0, 1.0);
    }
}

#[test]
fn westwood_plus_of_linux_cuts_when_recovery_ends() {
    let filter = PlusFilter::Linux {
        tick_rate: 100.0,
        from_zero: false,
    };
    let reaction = Reaction::from(WestwoodPlus::new(
        filter,
        Cut::Linux,
        Accounting::DupAck,
        false,
    ));
    let mut wire = paced(
        Classic {
            reaction,
            ..classic("westwood+")
        },
        500,
        200,
    );
    wire.window.cwnd = 700.0;
    wire.controller.on_loss(&a_loss(700.0), &mut wire.window);
    assert_eq!((wire.window.cwnd, wire.window.ssthresh), (350.0, 350.0));
    wire.controller
        .on_recovery_exit(&an_exit(400.0, false), &mut wire.window);
    close(wire.window.cwnd, 500.0, 1.0);
    assert_eq!(wire.window.cwnd, wire.window.ssthresh);
}

#[test]
fn westwood_plus_takes_no_sample_of_less_than_50_ms() {
    let mut wire = Wire::new(classic("westwood+"), 10.0, 700.0);
    wire.next.rtt = Some(Duration::from_millis(5));
    // The first interval begins a round trip before the first ACK: at 50 ms it has lasted 45.
    for _ in 0..5 {
        wire.ack(Duration::from_millis(10));
    }
    close(bandwidth(&wire), 0.0, 0.0);
    wire.ack(Duration::from_millis(10));
    assert!(bandwidth(&wire) > 0.0);
}

#[test]
fn westwood_plus_ignores_what_the_application_did_not_send() {
    let mut wire = paced(classic("westwood+"), 500, 200);
    wire.next.cwnd_limited = false;
    for _ in 0..100 {
        wire.ack(Duration::from_millis(600));
    }
    close(bandwidth(&wire), 1e7, 2e4);
}

#[test]
fn westwood_with_hoe_and_the_recovery_fix() {
    // Caini & Firrincieli 2006, sec. IV.C: 10 Mbit/s, 600 ms, 1500 bytes.
    let with_hoe = classic("westwood").with_hoe(Hoe::new(HoeForm::Ns2, true));
    let mut wire = Wire::new(with_hoe, 1.0, f64::INFINITY);
    wire.acks(3);
    assert_eq!(wire.window.ssthresh, 500.0);

    // 9 Mbit/s: one segment per 1.3333 ms.
    let mut wire = settled(classic("westwood"), Duration::from_nanos(1_333_333));
    wire.window.cwnd = 700.0;
    wire.controller.on_loss(&a_loss(700.0), &mut wire.window);
    close(wire.window.ssthresh, 450.0, 0.01);
    close(wire.window.cwnd, 450.0, 0.01);
    wire.controller
        .on_recovery_exit(&an_exit(300.0, true), &mut wire.window);
    assert_eq!(wire.window.cwnd, 301.0);
}

#[test]
fn a_host_like_the_agents_times_the_first_segment_of_a_round() {
    for agent in [false, true] {
        let mut classic = classic("westwood+");
        classic.apply_host_rules(HostRules {
            exact_halves: agent,
            ..HostRules::default()
        });
        let mut wire = Wire::new(classic, 10.0, 10.0);
        wire.next.round_start = true;
        wire.acks(1);
        let before = bandwidth(&wire);
        // 600 ms later comes an ACK that has met a queue of 300 ms.
        wire.next.round_start = false;
        wire.next.rtt = Some(Duration::from_millis(900));
        wire.ack(Duration::from_millis(600));
        assert_eq!(bandwidth(&wire) != before, agent);
    }
}
