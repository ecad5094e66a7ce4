//! Tests of what is sent.

use super::super::incoming::Incoming;
use super::*;
use proptest::prelude::*;

fn times(now: Instant) -> Times {
    Times {
        now,
        delay: Duration::from_millis(30),
        patience: Duration::from_millis(400),
    }
}

fn bytes(length: usize) -> Bytes {
    (0..length).map(|at| at as u8).collect::<Vec<_>>().into()
}

fn whole(length: usize) -> Outgoing {
    let mut outgoing = Outgoing::new(1 << 20);
    outgoing.push(bytes(length), Bytes::new());
    outgoing
}

#[test]
fn a_subflow_takes_what_is_left_to_it() {
    let now = Instant::now();
    let mut outgoing = whole(100);
    assert!(!outgoing.has(1, 100, false));
    assert_eq!(outgoing.take(1, 100, false, 9, times(now)), None);
    let (offset, part) = outgoing.take(1, 60, false, 30, times(now)).unwrap();
    assert_eq!((offset, part), (60, bytes(100).slice(60..90)));
    // The faster one goes around it.
    let (offset, part) = outgoing.take(0, 0, false, 80, times(now)).unwrap();
    assert_eq!((offset, part.len()), (0, 60));
    let (offset, part) = outgoing.take(0, 0, false, 80, times(now)).unwrap();
    assert_eq!((offset, part.len(), outgoing.waiting()), (90, 10, 0));
    assert!(!outgoing.has(0, 0, true));
}

#[test]
fn what_is_overdue_goes_over_another_subflow() {
    let now = Instant::now();
    let later = now + Duration::from_millis(400);
    let mut outgoing = whole(100);
    outgoing.take(0, 0, false, 100, times(now)).unwrap();
    assert_eq!(outgoing.next_overdue(), Some(later));
    assert!(outgoing.expire(now).is_empty());
    assert_eq!(outgoing.expire(later), [(0, now)]);
    assert_eq!(outgoing.waiting(), 100);
    assert!(!outgoing.has(0, 0, false) && outgoing.has(0, 0, true));
    assert!(outgoing.has(1, 0, false));
    // One that is gone delivers nothing more.
    outgoing.take(1, 0, false, 50, times(later)).unwrap();
    outgoing.lose(1);
    assert!(outgoing.has(0, 0, false) && outgoing.waiting() == 100);
}

#[test]
fn an_idle_subflow_repeats_what_it_would_deliver_sooner() {
    let now = Instant::now();
    let mut outgoing = whole(100);
    let slow = Times {
        delay: Duration::from_millis(300),
        ..times(now)
    };
    outgoing.take(1, 40, false, 60, slow).unwrap();
    outgoing.take(0, 0, false, 40, times(now)).unwrap();
    assert!(outgoing.has_again(0, now, Duration::from_millis(30)));
    assert!(!outgoing.has_again(1, now, Duration::from_millis(300)));
    let (offset, part) = outgoing.take_again(0, 50, times(now)).unwrap();
    assert_eq!((offset, part.len()), (40, 50));
    let (offset, _) = outgoing.take_again(0, 50, times(now)).unwrap();
    assert_eq!(offset, 90);
    // Once is enough.
    assert_eq!(outgoing.take_again(0, 50, times(now)), None);
    // Too late for it.
    let mut outgoing = whole(10);
    outgoing.take(1, 0, true, 10, slow).unwrap();
    let late = now + Duration::from_millis(280);
    assert_eq!(outgoing.take_again(0, 50, times(late)), None);
}

#[test]
fn the_end_is_said_last_and_again_where_it_is_lost() {
    let now = Instant::now();
    let mut outgoing = whole(10);
    outgoing.finish();
    assert_eq!(outgoing.take_end(0, times(now)), None);
    outgoing.take(0, 0, false, 10, times(now)).unwrap();
    assert_eq!(outgoing.take_end(0, times(now)), Some(10));
    assert!(!outgoing.has_end());
    outgoing.lose(0);
    assert!(!outgoing.has_end());
    outgoing.take(1, 0, false, 10, times(now)).unwrap();
    assert_eq!(outgoing.take_end(1, times(now)), Some(10));
    let ack = |next| Acknowledgement {
        next,
        limit: 0,
        ranges: Vec::new(),
    };
    assert!(outgoing.acknowledge(&ack(10)) && !outgoing.is_complete());
    assert!(outgoing.acknowledge(&ack(11)) && outgoing.is_complete());
    assert!(!outgoing.acknowledge(&ack(12)));
    assert_eq!(outgoing.next_overdue(), None);
}

#[test]
fn no_more_is_sent_than_the_other_box_takes() {
    let now = Instant::now();
    let mut outgoing = Outgoing::new(30);
    outgoing.push(bytes(100), Bytes::new());
    assert_eq!(
        outgoing.take(0, 0, false, 80, times(now)).unwrap().1.len(),
        30
    );
    assert!(!outgoing.has(0, 0, true));
    let ack = Acknowledgement {
        next: 0,
        limit: 50,
        ranges: vec![(10, 20)],
    };
    assert!(outgoing.acknowledge(&ack));
    assert_eq!(
        outgoing.take(0, 0, false, 80, times(now)).unwrap().1.len(),
        20
    );
}

/// What the boxes do, in whatever order.
#[derive(Clone, Debug)]
enum Step {
    Push(usize),
    Send {
        by: usize,
        skip: u64,
        most: usize,
    },
    Again {
        by: usize,
        most: usize,
    },
    /// One of what is under way arrives, or is lost.
    Arrive(usize),
    Drop(usize),
    Acknowledge,
    Expire,
    Lose(usize),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (1..300usize).prop_map(Step::Push),
        (0..2usize, 0..100u64, 1..120usize).prop_map(|(by, skip, most)| Step::Send {
            by,
            skip,
            most
        }),
        (0..2usize, 1..120usize).prop_map(|(by, most)| Step::Again { by, most }),
        any::<usize>().prop_map(Step::Arrive),
        any::<usize>().prop_map(Step::Drop),
        Just(Step::Acknowledge),
        Just(Step::Expire),
        (0..2usize).prop_map(Step::Lose),
    ]
}

proptest! {
    /// Whatever is lost, delayed or repeated, all arrives in order at the end.
    #[test]
    fn all_arrives_whatever_becomes_of_its_parts(steps in proptest::collection::vec(step(), 1..120)) {
        let begin = Instant::now();
        let mut now = begin;
        let mut outgoing = Outgoing::new(700);
        let mut incoming = Incoming::new(700);
        let (mut pushed, mut out) = (Vec::new(), Vec::new());
        let mut under_way: Vec<(u64, Bytes)> = Vec::new();
        let slow = |now| Times { delay: Duration::from_millis(300), ..times(now) };
        for step in steps {
            match step {
                Step::Push(length) => {
                    let more: Vec<u8> = (0..length).map(|at| (pushed.len() + at) as u8).collect();
                    pushed.extend_from_slice(&more);
                    outgoing.push(more.into(), Bytes::new());
                }
                Step::Send { by, skip, most } => {
                    let has = outgoing.has(by, skip, false);
                    let taken = outgoing.take(by, skip, false, most, slow(now));
                    prop_assert_eq!(has, taken.is_some());
                    under_way.extend(taken);
                }
                Step::Again { by, most } => {
                    let has = outgoing.has_again(by, now, times(now).delay);
                    let taken = outgoing.take_again(by, most, times(now));
                    prop_assert_eq!(has, taken.is_some());
                    under_way.extend(taken);
                }
                Step::Arrive(at) if !under_way.is_empty() => {
                    let (offset, part) = under_way.swap_remove(at % under_way.len());
                    prop_assert!(incoming.insert(offset, part).is_ok());
                }
                Step::Drop(at) if !under_way.is_empty() => {
                    under_way.swap_remove(at % under_way.len());
                }
                Step::Acknowledge => {
                    while let Some(part) = incoming.take(50) {
                        out.extend_from_slice(&part);
                    }
                    incoming.allow(700);
                    prop_assert!(outgoing.acknowledge(&incoming.acknowledgement()));
                }
                Step::Expire => {
                    now += Duration::from_millis(200);
                    outgoing.expire(now);
                }
                Step::Lose(by) => outgoing.lose(by),
                Step::Arrive(_) | Step::Drop(_) => {}
            }
            let waits = outgoing.pieces.iter().filter(|it| matches!(it.state, State::Waits { .. }));
            let waits: usize = waits.map(|it| it.bytes.len()).sum();
            prop_assert_eq!(waits as u64, outgoing.waiting());
        }
        // One subflow that works is enough.
        outgoing.finish();
        for _ in 0..10_000 {
            now += Duration::from_secs(1);
            outgoing.expire(now);
            while let Some((offset, part)) = outgoing.take(0, 0, true, 100, times(now)) {
                prop_assert!(incoming.insert(offset, part).is_ok());
            }
            if let Some(end) = outgoing.take_end(0, times(now)) {
                prop_assert!(incoming.end_at(end).is_ok());
            }
            while let Some(part) = incoming.take(999) {
                out.extend_from_slice(&part);
            }
            incoming.allow(700);
            prop_assert!(outgoing.acknowledge(&incoming.acknowledgement()));
            if outgoing.is_complete() {
                break;
            }
        }
        prop_assert!(outgoing.is_complete() && incoming.is_taken());
        prop_assert!(out == pushed);
    }
}
