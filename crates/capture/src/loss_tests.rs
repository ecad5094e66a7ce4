//! Tests of losses.

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

/// Transmissions of which those with these numbers are lost.
fn known(of: usize, lost: &[usize]) -> Vec<Known> {
    let one = |number| Known {
        number,
        lost: lost.contains(&number),
        wait: 0.0,
    };
    (0..of).map(one).collect()
}

#[test]
fn losses_in_a_row_are_bursts_and_single_ones_are_not() {
    let single: Vec<usize> = (0..50).map(|n| 97 * n + 5).collect();
    let all = known(5000, &single);
    assert_eq!(bursts(&all.iter().collect::<Vec<_>>()), (None, 1.0));
    let fours: Vec<usize> = (0..20)
        .flat_map(|n| (0..4).map(move |i| 241 * n + i))
        .collect();
    let all = known(5000, &fours);
    let (burst, effect) = bursts(&all.iter().collect::<Vec<_>>());
    let burst = burst.unwrap();
    assert!(
        (burst.value - 4.0).abs() < 1e-9 && (effect - 7.0).abs() < 1e-9,
        "{burst:?}"
    );
    assert!(burst.low < 3.5 && burst.high > 4.5, "{burst:?}");
}
