//! Tests of losses: a queue of 10 packets, of 1 ms each.

use super::*;

/// A transmission that waited so many packets' time.
fn arrived(number: usize, packets: f64) -> Known {
    Known {
        number,
        lost: false,
        wait: 1e-3 * packets,
        around: 1e-3 * packets,
        took_time: None,
    }
}

/// A lost one.
fn lost(number: usize, packets: f64, took_time: Option<bool>) -> Known {
    Known {
        lost: true,
        took_time,
        ..arrived(number, packets)
    }
}

/// `of` transmissions, of which every tenth finds the queue full, with these in their places.
fn sorted_with(of: usize, losses: &[Known]) -> Losses {
    let wait = |number: usize| if number % 10 == 9 { 10.0 } else { 4.0 };
    let mut known: Vec<Known> = (0..of)
        .map(|number| arrived(number, wait(number)))
        .collect();
    for loss in losses {
        known[loss.number] = *loss;
    }
    sort(&Waits {
        known,
        longest: 10e-3,
        full: 8e-3,
    })
}

#[test]
fn a_loss_beside_a_short_queue_is_the_channels() {
    let losses: Vec<Known> = (1..=20).map(|n| lost(200 * n, 4.0, None)).collect();
    let found = sorted_with(5000, &losses);
    assert_eq!((found.channel.count, found.dropped), (20, 0));
    // With what the queue dropped the channel has nothing to do: 20 of 5000.
    assert_eq!(found.channel.of, 5000);
    assert!(found.channel.share.low > 0.0025 && found.channel.share.high < 0.0065);
}

#[test]
fn of_losses_with_a_full_queue_those_that_took_time_are_the_channels() {
    let took = (1..=10).map(|n| lost(200 * n + 9, 10.0, Some(true)));
    let dropped = (1..=30).map(|n| lost(100 * n + 59, 10.0, Some(false)));
    let found = sorted_with(5000, &took.chain(dropped).collect::<Vec<_>>());
    assert_eq!((found.channel.count, found.dropped), (10, 30));
    assert_eq!(found.channel.of, 4970);
    assert_eq!(found.lost_by_channel.len(), 10);
    assert_eq!(found.waits_at_drops.len(), 30);
}

/// The first window of 10 packets meets a queue for 5: four are dropped at the longest wait there
/// is, and the silence behind them tells nothing. The channel may well lose nothing.
#[test]
fn an_overflow_that_is_not_told_leaves_the_possibility_of_no_loss() {
    let losses: Vec<Known> = (6..10).map(|n| lost(n, 10.0, None)).collect();
    let found = sorted_with(7000, &losses);
    let share = found.channel.share;
    assert!(share.low == 0.0 && share.high < 0.006, "{share:?}");
    assert!((share.low..=share.high).contains(&share.value));
}

/// 300 drops with a full queue in 300 rows are no chance if there is no loss beside them.
#[test]
fn many_losses_with_a_full_queue_only_are_not_the_channels() {
    let losses: Vec<Known> = (0..300).map(|n| lost(20 * n + 9, 10.0, None)).collect();
    let found = sorted_with(10_000, &losses);
    assert_eq!((found.channel.count, found.dropped), (0, 300));
    let share = found.channel.share;
    assert!(share.low == 0.0 && share.high < 1e-3, "{share:?}");
}

/// A burst of 12 of the channel falls into a full queue. It is one event, and the other packets
/// are no evidence against one: the interval has the 12 of 5000.
#[test]
fn a_burst_into_a_full_queue_may_be_the_channels() {
    let drops = (0..10).map(|n| lost(100 * n + 9, 10.0, Some(false)));
    let burst = (4000..4012).map(|n| lost(n, 10.0, None));
    let losses: Vec<Known> = drops.chain(burst).collect();
    let share = sorted_with(5000, &losses).channel.share;
    assert!(share.low == 0.0 && share.high > 0.0024, "{share:?}");
}
