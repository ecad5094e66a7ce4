//! Advice on made-up results.

use super::*;

fn summary(times: &[f64]) -> Option<Summary> {
    Summary::of(times)
}

fn measured(name: &str, availability: Availability, times: &[f64]) -> TransportResult {
    TransportResult {
        name: name.to_owned(),
        about: String::new(),
        availability,
        switch: Vec::new(),
        times: summary(times),
        unfinished: 0,
        goodput_bps: 0.0,
        share_of_ideal: 0.0,
        resent_share: 0.0,
        timeouts_per_transfer: 0.0,
        queue_drops_per_transfer: 0.0,
        p95_queueing_delay_s: 0.0,
        max_cwnd: 0.0,
    }
}

fn names(results: &[TransportResult], places: &[usize]) -> Vec<String> {
    places.iter().map(|i| results[*i].name.clone()).collect()
}

#[test]
fn the_fastest_is_recommended_with_its_gain_over_the_default() {
    let results = [
        measured("usual", Availability::Default, &[40.0, 42.0, 38.0]),
        measured("new", Availability::Absent, &[10.0, 10.1, 9.9]),
        measured("module", Availability::Module, &[20.0, 20.2, 19.8]),
    ];
    let advice = recommend(&results, "usual", 0.0).unwrap();
    assert_eq!((advice.pick, advice.today), (1, Some(2)));
    assert!(advice.as_fast.is_empty());
    assert!((advice.speedup.unwrap() - 4.0).abs() < 1e-9);
}

#[test]
fn among_ties_the_one_nearest_to_use_is_preferred() {
    let results = [
        measured("new", Availability::Absent, &[10.0, 11.0, 9.0]),
        measured("module", Availability::Module, &[10.2, 11.2, 9.2]),
        measured("usual", Availability::Default, &[10.4, 11.4, 9.4]),
    ];
    let advice = recommend(&results, "usual", 0.0).unwrap();
    assert_eq!(results[advice.pick].name, "usual");
    assert_eq!(names(&results, &advice.as_fast), ["module", "new"]);
    assert_eq!((advice.speedup, advice.today), (None, None));
}

#[test]
fn a_difference_of_two_percent_is_a_tie_even_without_noise() {
    let mut results = [
        measured("new", Availability::Absent, &[10.0]),
        measured("usual", Availability::Default, &[10.19]),
    ];
    assert_eq!(recommend(&results, "usual", 0.0).unwrap().pick, 1);
    results[1] = measured("usual", Availability::Default, &[10.3]);
    assert_eq!(recommend(&results, "usual", 0.0).unwrap().pick, 0);
}

#[test]
fn what_is_of_the_past_or_a_bound_is_never_recommended() {
    let results = [
        measured("bound", Availability::Reference, &[1.0]),
        measured("usual", Availability::Default, &[9.0]),
    ];
    assert_eq!(recommend(&results, "usual", 0.0).unwrap().pick, 1);
    assert_eq!(recommend(&results[..1], "usual", 0.0), None);
}

#[test]
fn one_that_does_not_end_its_downloads_is_behind_all_that_do() {
    let mut results = [
        measured("usual", Availability::Default, &[90.0, 91.0]),
        measured("new", Availability::Absent, &[5.0]),
    ];
    results[1].unfinished = 1;
    let advice = recommend(&results, "usual", 0.0).unwrap();
    assert_eq!((advice.pick, advice.as_fast.len()), (0, 0));
    results[0].times = None;
    results[0].unfinished = 2;
    assert_eq!(recommend(&results, "usual", 0.0).unwrap().pick, 1);
    results[1].times = None;
    assert_eq!(recommend(&results, "usual", 0.0), None);
}

#[test]
fn a_gentler_one_is_named_if_it_costs_little() {
    let mut results = [
        measured("usual", Availability::Default, &[20.0]),
        measured("rude", Availability::Absent, &[10.0]),
        measured("polite", Availability::Absent, &[10.8]),
    ];
    results[1].p95_queueing_delay_s = 0.6;
    results[2].p95_queueing_delay_s = 0.1;
    assert_eq!(recommend(&results, "usual", 0.0).unwrap().gentler, Some(2));
    results[2] = measured("polite", Availability::Absent, &[11.2]);
    assert_eq!(recommend(&results, "usual", 0.0).unwrap().gentler, None);
}

#[test]
fn the_wasteful_are_not_recommended_while_there_is_another() {
    let mut results = [
        measured("usual", Availability::Default, &[20.0]),
        measured("flood", Availability::Module, &[10.0]),
        measured("new", Availability::Absent, &[11.0]),
    ];
    results[1].resent_share = 0.25;
    let advice = recommend(&results, "usual", 0.01).unwrap();
    assert_eq!(
        (advice.pick, advice.wasteful, advice.today),
        (2, Some(1), Some(0))
    );
    // On a channel that loses as much it has no choice.
    let advice = recommend(&results, "usual", 0.2).unwrap();
    assert_eq!((advice.pick, advice.wasteful), (1, None));
    // Without another it is what there is.
    assert_eq!(recommend(&results[1..2], "usual", 0.0).unwrap().pick, 0);
}

#[test]
fn risks_come_from_the_numbers() {
    let usual = measured("usual", Availability::Default, &[20.0, 21.0]);
    let mut pick = measured("new", Availability::Absent, &[10.0, 14.0]);
    assert_eq!(
        risks(&pick, Some(&usual), None, 0.01),
        [Risk::Spread {
            min: 10.0,
            max: 14.0
        }]
    );
    pick.times = summary(&[10.0, 10.0]);
    assert!(risks(&pick, Some(&usual), None, 0.01).is_empty());
    pick.p95_queueing_delay_s = 0.5;
    pick.resent_share = 0.04;
    pick.queue_drops_per_transfer = 30.0;
    pick.timeouts_per_transfer = 1.0;
    assert_eq!(
        risks(&pick, Some(&usual), None, 0.01),
        [
            Risk::Queueing {
                wait: 0.5,
                default: Some(0.0)
            },
            Risk::Resending {
                share: 0.04,
                default: Some(0.0)
            },
            Risk::Overflow {
                drops: 30.0,
                default: Some(0.0)
            },
            Risk::Timeouts { count: 1.0 },
        ]
    );
}

#[test]
fn unfairness_must_be_more_than_noise() {
    let pick = measured("new", Availability::Absent, &[10.0]);
    let certain = |x: f64| Summary {
        ci95: Some(0.1),
        ..summary(&[x]).unwrap()
    };
    let mut sharing = Sharing {
        beside_default: certain(20.0),
        beside_other: certain(30.0),
    };
    let found = risks(&pick, None, Some(&sharing), 0.0);
    assert_eq!(
        found,
        [Risk::Unfair {
            beside_itself: 20.0,
            beside_it: 30.0
        }]
    );
    sharing.beside_default.ci95 = Some(15.0);
    assert!(risks(&pick, None, Some(&sharing), 0.0).is_empty());
}

#[test]
fn something_slower_is_never_recommended() {
    let mut results = [
        measured("usual", Availability::Default, &[20.0, 20.2, 19.8]),
        measured("thrifty", Availability::Absent, &[70.0, 71.0, 69.0]),
        measured("module", Availability::Module, &[60.0, 61.0, 59.0]),
    ];
    // It repeats so much that it would not be recommended by itself.
    results[0].resent_share = 0.2;
    let advice = recommend(&results, "usual", 0.0).unwrap();
    assert_eq!((advice.pick, advice.speedup), (0, None));
    assert!(advice.as_fast.is_empty());
    // Nor to a slower one of Linux, where the best is not there yet.
    results[1].times = summary(&[10.0, 10.1, 9.9]);
    let advice = recommend(&results, "usual", 0.0).unwrap();
    assert_eq!((advice.pick, advice.today), (1, Some(0)));
}
