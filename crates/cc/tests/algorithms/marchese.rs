//! The F functions of Marchese 2001 and 2006, worked by hand from IW = 6.

use crate::wire::{Wire, a_loss, a_timeout, an_exit, classic, classic_with};
use bentpipe_cc::slots::{Linear, LinearTest, Mtsi, MtsiRule, Scope, Tie};
use bentpipe_cc::{Classic, Start};

const OPEN: f64 = f64::INFINITY;
const SLOPES: [f64; 3] = [4.0, 2.0, 1.0];

fn from_six(start: Start, acks: usize) -> Vec<f64> {
    Wire::new(
        Classic {
            start,
            ..classic("newreno")
        },
        6.0,
        OPEN,
    )
    .cwnds(acks)
}

#[test]
fn const_triples_or_quintuples_every_round() {
    assert_eq!(
        Wire::new(classic_with("const", "k", 2.0), 6.0, OPEN).rounds(4),
        [6.0, 18.0, 54.0, 162.0]
    );
    assert_eq!(
        Wire::new(classic_with("const", "k", 4.0), 6.0, OPEN).rounds(3),
        [6.0, 30.0, 150.0]
    );
    for (k, cwnd) in [(2.0, 30.0), (4.0, 54.0)] {
        assert_eq!(
            Wire::new(classic_with("const", "k", k), 6.0, OPEN).cwnds(12)[11],
            cwnd
        );
    }
}

#[test]
fn linear_with_the_test_on_cwnd() {
    let linear = |threshold| from_six(Start::Linear(Linear::new(threshold)), 12);
    assert_eq!(
        linear(10.0),
        [
            7.0, 9.0, 12.0, 13.0, 14.0, 15.0, 16.0, 17.0, 18.0, 19.0, 20.0, 21.0
        ]
    );
    assert_eq!(
        linear(20.0),
        [
            7.0, 9.0, 12.0, 16.0, 21.0, 22.0, 23.0, 24.0, 25.0, 26.0, 27.0, 28.0
        ]
    );
    assert_eq!(
        linear(50.0),
        [
            7.0, 9.0, 12.0, 16.0, 21.0, 27.0, 34.0, 42.0, 51.0, 52.0, 53.0, 54.0
        ]
    );
}

#[test]
fn linear_with_the_test_on_the_number_of_acks() {
    let mut linear = Linear::new(10.0);
    linear.test = LinearTest::AckCount;
    assert_eq!(
        from_six(Start::Linear(linear), 12),
        [
            7.0, 9.0, 12.0, 16.0, 21.0, 27.0, 34.0, 42.0, 51.0, 61.0, 62.0, 63.0
        ]
    );
}

fn mtsi(thresholds: &[f64], rule: MtsiRule, tie: Tie, acks: usize) -> Vec<f64> {
    from_six(
        Start::from(Mtsi::new(thresholds, &SLOPES).with_rule(rule, tie)),
        acks,
    )
}

#[test]
fn mtsi_20_30_40() {
    let mtsi = |rule, tie| mtsi(&[20.0, 30.0, 40.0], rule, tie, 12);
    assert_eq!(
        mtsi(MtsiRule::A, Tie::Lt),
        [
            10.0, 18.0, 30.0, 43.0, 44.0, 45.0, 46.0, 47.0, 48.0, 49.0, 50.0, 51.0
        ]
    );
    assert_eq!(
        mtsi(MtsiRule::B, Tie::Le),
        [
            10.0, 18.0, 30.0, 38.0, 43.0, 44.0, 45.0, 46.0, 47.0, 48.0, 49.0, 50.0
        ]
    );
    assert_eq!(
        mtsi(MtsiRule::B, Tie::Lt),
        [
            10.0, 18.0, 30.0, 34.0, 39.0, 45.0, 46.0, 47.0, 48.0, 49.0, 50.0, 51.0
        ]
    );
}

#[test]
fn mtsi_10_20_30() {
    let mtsi = |rule, tie, acks| mtsi(&[10.0, 20.0, 30.0], rule, tie, acks);
    let then = |head: &[f64], last: f64| {
        let mut all = head.to_vec();
        while all[all.len() - 1] < last {
            all.push(all[all.len() - 1] + 1.0);
        }
        all
    };
    let a = then(&[10.0, 16.0, 24.0, 33.0, 34.0], 41.0);
    assert_eq!(mtsi(MtsiRule::A, Tie::Lt, a.len()), a);
    let b = then(&[10.0, 18.0, 24.0, 28.0, 33.0, 34.0], 40.0);
    assert_eq!(mtsi(MtsiRule::B, Tie::Le, b.len()), b);
    let b = then(&[10.0, 14.0, 20.0, 24.0, 29.0, 35.0, 36.0], 41.0);
    assert_eq!(mtsi(MtsiRule::B, Tie::Lt, b.len()), b);
}

#[test]
fn mtsi_50_100_150() {
    let mtsi = |rule, tie, acks| mtsi(&[50.0, 100.0, 150.0], rule, tie, acks);
    assert_eq!(
        mtsi(MtsiRule::A, Tie::Lt, 10),
        [
            10.0, 18.0, 30.0, 46.0, 66.0, 88.0, 112.0, 137.0, 163.0, 164.0
        ]
    );
    assert_eq!(
        mtsi(MtsiRule::B, Tie::Le, 14),
        [
            10.0, 18.0, 30.0, 46.0, 66.0, 78.0, 92.0, 108.0, 117.0, 127.0, 138.0, 150.0, 163.0,
            164.0
        ]
    );
}

#[test]
fn mtsi_with_f0_of_one() {
    let mtsi = Mtsi::new(&[20.0, 30.0, 40.0], &SLOPES).with_f0(1.0);
    let cwnds = from_six(Start::from(mtsi), 12);
    assert_eq!(cwnds[..5], [11.0, 20.0, 31.0, 43.0, 44.0]);
    assert_eq!(cwnds[11], 51.0);
}

#[test]
fn one_round_of_mtsi_is_worth_almost_three() {
    let mut wire = Wire::new(classic("mtsi"), 6.0, OPEN);
    assert_eq!(wire.rounds(4), [6.0, 45.0, 90.0, 180.0]);
}

#[test]
fn with_delayed_acks_the_first_round_gives_four_steps() {
    // ACKs for 1, 2, 2 and 1 segments: F counts ACKs.
    let thresholds = [20.0, 30.0, 40.0];
    for (rule, tie, cwnd) in [
        (MtsiRule::A, Tie::Lt, 43.0),
        (MtsiRule::B, Tie::Le, 38.0),
        (MtsiRule::B, Tie::Lt, 34.0),
    ] {
        let start = Start::from(Mtsi::new(&thresholds, &SLOPES).with_rule(rule, tie));
        let mut wire = Wire::new(
            Classic {
                start,
                ..classic("newreno")
            },
            6.0,
            OPEN,
        );
        for acked in [1.0, 2.0, 2.0, 1.0] {
            wire.next.acked = acked;
            wire.acks(1);
        }
        assert_eq!(wire.window.cwnd, cwnd);
    }
}

#[test]
fn a_timeout_starts_f_again_under_rule_a_and_not_under_rule_b() {
    for (rule, step) in [(MtsiRule::A, 4.0), (MtsiRule::B, 4.0 * 4.0)] {
        let mtsi = Mtsi::new(&[20.0, 30.0, 40.0], &SLOPES).with_rule(rule, Tie::Lt);
        let start = Start::from(mtsi);
        let mut wire = Wire::new(
            Classic {
                start,
                ..classic("newreno")
            },
            6.0,
            OPEN,
        );
        wire.acks(3);
        wire.controller
            .on_timeout(&a_timeout(30.0), &mut wire.window);
        assert_eq!(wire.cwnds(1), [1.0 + step]);
    }
}

#[test]
fn an_unused_window_does_not_advance_f() {
    let mut wire = Wire::new(classic("mtsi"), 6.0, OPEN);
    wire.next.cwnd_limited = false;
    wire.acks(5);
    wire.next.cwnd_limited = true;
    assert_eq!(wire.cwnds(3), [10.0, 18.0, 30.0]);
}

/// Five ACKs that leave the window unused, then three in slow start: N is 6, 7
/// and 8 then, and F = 4 N below 20, 2 N below 30, N below 40.
#[test]
fn all_acks_of_the_connection_count() {
    let after_idling = |start: Start| {
        let controller = Classic {
            start,
            ..classic("newreno")
        };
        let mut wire = Wire::new(controller, 6.0, OPEN);
        wire.next.cwnd_limited = false;
        assert_eq!(wire.cwnds(5), [6.0; 5], "an unused window does not grow");
        wire.next.cwnd_limited = true;
        wire.cwnds(3)
    };
    let mtsi = Mtsi::new(&[20.0, 30.0, 40.0], &SLOPES).with_rule(MtsiRule::B, Tie::Lt);
    assert_eq!(after_idling(mtsi.into()), [30.0, 37.0, 45.0]);
    let mut linear = Linear::new(10.0);
    linear.test = LinearTest::AckCount;
    assert_eq!(after_idling(linear.into()), [12.0, 19.0, 27.0]);
}

/// The first ACKs after a recovery from flight 24: ssthresh is 12.
fn after_recovery(scope: Scope) -> Vec<f64> {
    let mtsi = Mtsi::new(&[20.0, 30.0, 40.0], &SLOPES).with_scope(scope);
    let start = Start::from(mtsi);
    let mut wire = Wire::new(
        Classic {
            start,
            ..classic("newreno")
        },
        6.0,
        OPEN,
    );
    wire.acks(6);
    wire.controller.on_loss(&a_loss(24.0), &mut wire.window);
    wire.controller
        .on_recovery_exit(&an_exit(12.0, false), &mut wire.window);
    wire.cwnds(3)
}

#[test]
fn the_scope_says_whether_f_acts_after_a_loss() {
    // F was 1 above the last threshold and grows by 4 below the first.
    let strict = after_recovery(Scope::Strict);
    assert!(strict[2] < 12.3, "congestion avoidance: {strict:?}");
    let equality = after_recovery(Scope::Linux22Equality);
    assert_eq!(equality[0], 17.0);
    assert!(equality[2] < 17.2, "one step only: {equality:?}");
    assert_eq!(after_recovery(Scope::BelowThreshold), [17.0, 26.0, 37.0]);
}
