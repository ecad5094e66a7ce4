//! The scoreboard against worked examples and against the obvious model.

use super::*;
use proptest::prelude::*;

const MSS: u64 = 1000;

fn board(n: u64) -> Scoreboard {
    let mut b = Scoreboard::default();
    for i in 0..n {
        b.push(i * MSS, MSS as u16, Time::from_nanos(i));
    }
    b
}

/// Segments are numbered from 1 as in the worked example.
fn sack(b: &mut Scoreboard, first: u64, last: u64) {
    b.sack((first - 1) * MSS, last * MSS);
}

#[test]
fn worked_example_of_three_losses_in_twenty() {
    // Segments 1..20 out; 1, 5 and 9 lost; all others selectively
    // acknowledged: the pipe is 0, after retransmitting 1 it is 1.
    let mut b = board(20);
    sack(&mut b, 2, 4);
    sack(&mut b, 6, 8);
    sack(&mut b, 10, 20);
    b.find_lost(LossRule::ThreeAbove);
    assert_eq!(b.flight(), 0);
    let hole = b.next_lost().unwrap();
    assert_eq!(hole.start, 0);
    b.resent(hole.index, Time::from_nanos(99));
    assert_eq!(b.flight(), 1);
    // cwnd 10: nine more may go: 5, 9, then new segments.
    for expected in [4 * MSS, 8 * MSS] {
        let hole = b.next_lost().unwrap();
        assert_eq!(hole.start, expected);
        b.resent(hole.index, Time::from_nanos(99));
    }
    assert_eq!(b.next_lost(), None);
    assert_eq!(b.flight(), 3);
}

#[test]
fn three_segments_above_make_a_hole_lost_two_do_not() {
    let mut b = board(10);
    sack(&mut b, 2, 3);
    assert_eq!(b.find_lost(LossRule::ThreeAbove), 0);
    sack(&mut b, 5, 5);
    assert_eq!(b.find_lost(LossRule::ThreeAbove), 1);
    assert_eq!(b.next_lost().map(|h| h.start), Some(0));
    // 4 has only one sacked segment above it.
    assert_eq!(b.lost, 1);
}

#[test]
fn forward_acknowledgement_finds_holes_by_distance() {
    let mut b = board(10);
    sack(&mut b, 4, 4);
    // The highest is number 4: only 1 lies three below it.
    assert_eq!(b.find_lost(LossRule::Forward), 1);
    sack(&mut b, 6, 6);
    assert_eq!(b.find_lost(LossRule::Forward), 2);
}

#[test]
fn a_timeout_loses_everything_unsacked() {
    let mut b = board(10);
    sack(&mut b, 3, 4);
    b.lose_all(false);
    assert_eq!(b.flight(), 0);
    assert_eq!(b.next_lost().map(|h| h.start), Some(0));
    b.lose_all(true);
    assert_eq!(b.lost, 10);
}

#[test]
fn an_undone_timeout_keeps_what_is_under_way() {
    let mut b = board(4);
    b.lose_all(false);
    let hole = b.next_lost().unwrap();
    b.resent(hole.index, Time::from_nanos(9));
    b.unlose_all();
    assert_eq!(b.flight(), 4);
    assert_eq!(b.next_lost(), None);
}

#[test]
fn a_retransmission_is_lost_when_three_segments_after_it_arrived() {
    let mut b = board(10);
    sack(&mut b, 2, 10);
    b.find_lost(LossRule::ThreeAbove);
    let hole = b.next_lost().unwrap();
    b.resent(hole.index, Time::from_nanos(1));
    b.watch(hole.index);
    for number in 10..13 {
        b.push(number * MSS, MSS as u16, Time::from_nanos(2));
    }
    sack(&mut b, 11, 12);
    assert_eq!(b.lose_again(), None);
    sack(&mut b, 13, 13);
    assert_eq!(b.lose_again(), Some(()));
    assert_eq!(b.lose_again(), None);
    assert_eq!((b.flight(), b.next_lost()), (0, Some(hole)));
}

/// A naive model of the scoreboard.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Plain {
    sacked: bool,
    lost: bool,
    /// Segments that there were when it was sent again.
    again: Option<usize>,
}

fn plain_find_lost(model: &mut [Plain], una: usize, rule: LossRule) {
    let highest = model.iter().rposition(|s| s.sacked);
    for i in una..model.len() {
        let above = model[i + 1..].iter().filter(|s| s.sacked).count();
        let is_lost = match rule {
            LossRule::ThreeAbove => above >= 3,
            LossRule::Forward => highest.is_some_and(|h| h >= i + 3),
        };
        if !model[i].sacked && is_lost {
            model[i].lost = true;
        }
    }
}

/// One past the highest selectively acknowledged segment, ever.
fn plain_lose_again(model: &mut [Plain], una: usize, forward: usize) -> usize {
    let mut lost = 0;
    for s in &mut model[una..] {
        if s.again.is_some_and(|next| forward >= next + 3) {
            s.again = None;
            lost += 1;
        }
    }
    lost
}

#[derive(Clone, Debug)]
enum Step {
    Push(u8),
    Sack(u16, u8),
    Acknowledge(u16),
    FindLost,
    Resend,
    LoseAgain,
    LoseHead,
    LoseAll,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (1u8..12).prop_map(Step::Push),
        (any::<u16>(), 1u8..9).prop_map(|(at, n)| Step::Sack(at, n)),
        (any::<u16>(), 1u8..9).prop_map(|(at, n)| Step::Sack(at, n)),
        any::<u16>().prop_map(Step::Acknowledge),
        Just(Step::FindLost),
        Just(Step::Resend),
        Just(Step::Resend),
        Just(Step::LoseAgain),
        Just(Step::LoseHead),
        Just(Step::LoseAll),
    ]
}

proptest! {
    #[test]
    fn counts_are_those_of_the_obvious_model(
        steps in proptest::collection::vec(step(), 1..120),
        forward in any::<bool>(),
    ) {
        let rule = if forward { LossRule::Forward } else { LossRule::ThreeAbove };
        let mut b = Scoreboard::default();
        let mut model: Vec<Plain> = Vec::new();
        let mut una = 0usize;
        let mut forward_now = 0usize;
        for s in steps {
            let out = model.len() - una;
            match s {
                Step::Push(n) => for _ in 0..n {
                    b.push(model.len() as u64 * MSS, MSS as u16, Time::ZERO);
                    model.push(Plain { sacked: false, lost: false, again: None });
                },
                Step::Sack(at, n) if out > 1 => {
                    // Never the first: that would be a cumulative ACK.
                    let first = una + 1 + at as usize % (out - 1);
                    let last = (first + n as usize).min(model.len());
                    b.sack(first as u64 * MSS, last as u64 * MSS);
                    for s in &mut model[first..last] {
                        *s = Plain { sacked: true, lost: false, again: None };
                    }
                    forward_now = forward_now.max(last);
                }
                Step::Acknowledge(n) if out > 0 => {
                    una += n as usize % (out + 1);
                    b.acknowledge(una as u64 * MSS);
                    forward_now = forward_now.max(una);
                }
                Step::LoseAgain => {
                    let expected = plain_lose_again(&mut model, una, forward_now);
                    prop_assert_eq!(std::iter::from_fn(|| b.lose_again()).count(), expected);
                }
                Step::FindLost => {
                    b.find_lost(rule);
                    plain_find_lost(&mut model, una, rule);
                }
                Step::Resend => {
                    let hole = b.next_lost();
                    let expected = model[una..].iter().position(|s| s.lost && s.again.is_none());
                    prop_assert_eq!(hole.map(|h| h.index), expected);
                    if let Some(h) = hole {
                        b.resent(h.index, Time::ZERO);
                        b.watch(h.index);
                        model[una + h.index].again = Some(model.len());
                    }
                }
                Step::LoseHead if out > 0 => {
                    b.lose_head();
                    if !model[una].sacked { model[una].lost = true; }
                }
                Step::LoseAll => {
                    b.lose_all(false);
                    for s in &mut model[una..] {
                        s.lost = !s.sacked;
                        s.again = None;
                    }
                }
                _ => {}
            }
            let count = |f: fn(&Plain) -> bool| model[una..].iter().filter(|s| f(s)).count();
            prop_assert_eq!(b.outstanding(), model.len() - una);
            prop_assert_eq!(b.sacked() as usize, count(|s| s.sacked));
            prop_assert_eq!(b.lost as usize, count(|s| s.lost));
            prop_assert_eq!(b.retransmitted as usize, count(|s| s.again.is_some()));
        }
    }
}
