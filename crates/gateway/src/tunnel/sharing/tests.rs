use super::*;
use crate::config::{Prefix, WEIGHT};
use crate::tunnel::shaper::Shaper;
use std::time::Duration;
use tokio::time::timeout;

const NORMAL: usize = 3;

fn subscriber(number: u8) -> Subscriber {
    Subscriber::new(Prefix::new([10, 0, 0, number].into(), 32))
}

/// The gate of a link of 20 Mbit/s: QUIC may have 198 kB to send, in turns of 25 kB.
fn gate() -> Arc<Gate> {
    let knowledge = Knowledge::new(Some(Rate::from_mbps(20)), Duration::from_millis(600));
    let peer = Shaper::new(None).peer(([192, 0, 2, 1], 1).into());
    Gate::new(&knowledge, &peer, Ratio::new(0.5).unwrap())
}

/// Bytes of turns that are given at once.
async fn given(gate: &Arc<Gate>) -> u64 {
    let mut all = 0;
    while let Ok(mut grant) = timeout(
        Duration::from_millis(1),
        gate.turn(subscriber(1), WEIGHT, NORMAL, usize::MAX),
    )
    .await
    {
        all += grant.bytes();
        grant.spend(grant.bytes());
    }
    all as u64
}

#[tokio::test(start_paused = true)]
async fn turns_are_given_while_quic_has_little_to_send() {
    let gate = gate();
    let (ahead, turn) = gate.limits();
    assert_eq!((ahead, turn), (198_000, 24_750));
    let first = given(&gate).await;
    assert!((ahead..ahead + turn).contains(&first), "{first}");
    // The headers of 60 kB are taken for 2.4 kB.
    gate.sent(60_000, false);
    let more = given(&gate).await;
    assert!((57_600 - turn..57_600 + turn).contains(&more), "{more}");
    // What is lost is to be sent again.
    gate.lost(60_000);
    gate.sent(60_000, false);
    assert_eq!(given(&gate).await, 0);
    gate.acknowledged(false, true, None);
    assert!(given(&gate).await >= ahead);
}

/// A machine that is late brings several acknowledgements at once, before QUIC is asked again: it had
/// nothing to send, and has been given something since.
#[tokio::test(start_paused = true)]
async fn what_quic_was_given_since_it_was_asked_is_still_to_be_sent() {
    let gate = gate();
    let (ahead, turn) = gate.limits();
    let first = given(&gate).await;
    for _ in 0..10 {
        gate.acknowledged(false, true, None);
        assert_eq!(given(&gate).await, 0);
    }
    // Turns count that have not been used yet.
    gate.sent(2 * first, false);
    let mut turns = Vec::new();
    for _ in 0..2 {
        turns.push(gate.turn(subscriber(2), WEIGHT, NORMAL, usize::MAX).await);
    }
    gate.acknowledged(false, true, None);
    let held: usize = turns.iter().map(Grant::bytes).sum();
    let more = given(&gate).await;
    assert!(more + held as u64 <= ahead + turn, "{more}");
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_is_not_used_is_given_back() {
    let gate = gate();
    let (ahead, _) = gate.limits();
    given(&gate).await;
    gate.sent(20_000, false);
    let grant = gate.turn(subscriber(2), WEIGHT, NORMAL, 100_000).await;
    let left = gate.lock().backlog;
    drop(grant);
    assert!(gate.lock().backlog < left && gate.lock().backlog < ahead);
}

#[tokio::test(start_paused = true)]
async fn who_waits_goes_on_when_the_sum_was_wrong_or_the_association_is_lost() {
    let gate = gate();
    gate.charge(subscriber(1), WEIGHT, 1 << 30);
    // The window is full: what is acknowledged will let packets leave.
    gate.acknowledged(true, false, None);
    let waits = gate.turn(subscriber(1), WEIGHT, NORMAL, 1);
    assert!(timeout(Duration::from_secs(10), waits).await.is_err());
    gate.acknowledged(false, false, None);
    gate.lock().moved = Instant::now() - 2 * QUIET;
    let waits = gate.turn(subscriber(1), WEIGHT, NORMAL, 1);
    assert!(timeout(Duration::from_secs(10), waits).await.is_ok());
    gate.charge(subscriber(1), WEIGHT, 1 << 30);
    gate.acknowledged(true, false, None);
    let waiting = tokio::spawn({
        let gate = Arc::clone(&gate);
        async move { drop(gate.turn(subscriber(1), WEIGHT, NORMAL, 1).await) }
    });
    tokio::task::yield_now().await;
    gate.close();
    timeout(Duration::from_secs(10), waiting)
        .await
        .unwrap()
        .unwrap();
}
