//! Tests of shares and rows.

use super::*;

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 5e-4
}

/// Newcombe 1998, table I: 81 of 263 and 0 of 20, Wilson's score without a correction.
#[test]
fn intervals_are_those_of_wilson() {
    let found = wilson(81, 263, 1.0);
    assert!(
        close(found.low, 0.2553) && close(found.high, 0.3662),
        "{found:?}"
    );
    let none = wilson(0, 20, 1.0);
    assert!(none.low == 0.0 && close(none.high, 0.1611), "{none:?}");
    let wide = wilson(81, 263, 3.0);
    assert!(wide.high - wide.low > 1.6 * (found.high - found.low));
}

/// Packets of which those with these numbers are lost.
fn runs(of: usize, lost: &[usize]) -> Runs {
    Runs::of((0..of).map(|number| lost.contains(&number)))
}

#[test]
fn losses_in_a_row_are_bursts_and_single_ones_are_not() {
    let single: Vec<usize> = (0..50).map(|n| 97 * n + 5).collect();
    let all = runs(5000, &single);
    assert_eq!((all.lost, all.runs, all.of), (50, 50, 5000));
    assert_eq!(all.bursts(), None);
    assert_eq!(all.share(), wilson(50, 5000, 1.0));
    let fours: Vec<usize> = (0..20)
        .flat_map(|n| (0..4).map(move |i| 241 * n + i))
        .collect();
    let all = runs(5000, &fours);
    let burst = all.bursts().unwrap();
    assert!((burst.value - 4.0).abs() < 1e-9, "{burst:?}");
    assert!(burst.low < 3.5 && burst.high > 4.5, "{burst:?}");
    assert_eq!(all.share(), wilson(80, 5000, 7.0));
}

/// Too few to say that losses come in bursts, and yet they tell no more than one loss: were bursts
/// of 3 packets in 1 of 1000 packets, there would be none in 5% of captures of 9000.
#[test]
fn losses_of_one_row_tell_as_much_as_one() {
    let all = runs(9000, &[100, 101, 102]);
    assert_eq!(all.bursts(), None);
    let share = all.share();
    assert!(share.low < 1e-4 && share.high > 1e-3, "{share:?}");
    assert!(share.high > runs(9000, &[100, 4000, 8000]).share().high);
}

#[test]
fn more_losses_are_more_packets_that_reached_the_channel() {
    let all = runs(100, &[3]).with((4, 2));
    assert_eq!((all.lost, all.runs, all.of), (5, 3, 104));
}
