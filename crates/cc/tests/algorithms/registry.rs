//! Names, parameters and the messages about wrong ones.

use bentpipe_cc::slots::Fixed;
use bentpipe_cc::{
    Controller, DefaultValue, ParameterValue, Parameters, Range, SlotKind, Start, build,
    build_slots, find, list, slots,
};
use bentpipe_units::Duration;

#[test]
fn a_parameter_reaches_its_slot() {
    let built = build("fixed-window", &Parameters::new().with("window", 7.0)).unwrap();
    assert!(
        matches!(built, Controller::Classic(c) if c.start == Start::Fixed(Fixed { window: 7.0 }))
    );
}

#[test]
fn every_description_is_complete_and_its_defaults_are_in_range() {
    for described in list() {
        for text in [described.summary, described.source, described.open] {
            assert!(!text.is_empty(), "{}", described.name);
        }
        let known = |kind, name| slots(kind).iter().any(|slot| slot.name == name);
        if let Some(named) = described.slots {
            assert!(known(SlotKind::Start, named.start));
            assert!(known(SlotKind::Avoidance, named.avoidance));
            assert!(known(SlotKind::Reaction, named.reaction));
        }
        for parameter in described.parameters {
            let default = match parameter.default {
                DefaultValue::Number(x) => ParameterValue::Number(x),
                DefaultValue::Text(text) => text.into(),
                DefaultValue::Numbers(list) => list.to_vec().into(),
                DefaultValue::Flag(flag) => flag.into(),
                DefaultValue::Duration(time) => time.into(),
            };
            let given = Parameters::new().with(parameter.name, default);
            let built = build(described.name, &given).unwrap();
            let plain = build(described.name, &Parameters::new()).unwrap();
            assert_eq!(
                format!("{built:?}"),
                format!("{plain:?}"),
                "{}",
                parameter.name
            );
        }
    }
}

#[test]
fn every_word_of_every_parameter_builds_something_else() {
    for described in list() {
        for parameter in described.parameters {
            let Range::OneOf(words) = parameter.range else {
                continue;
            };
            let built = |word: &str| {
                let mut given = Parameters::new().with(parameter.name, word);
                if parameter.name == "tie" {
                    given.set("rule", "B");
                }
                format!("{:?}", build(described.name, &given).unwrap())
            };
            let forms: std::collections::BTreeSet<_> = words.iter().map(|w| built(w)).collect();
            assert_eq!(
                forms.len(),
                words.len(),
                "{} {}",
                described.name,
                parameter.name
            );
        }
    }
}

#[test]
fn all_slots_combine() {
    for start in slots(SlotKind::Start) {
        for avoidance in slots(SlotKind::Avoidance) {
            for reaction in slots(SlotKind::Reaction) {
                let none = Parameters::new();
                let classic =
                    build_slots(start.name, avoidance.name, reaction.name, &none).unwrap();
                let name = format!("{}/{}/{}", start.name, avoidance.name, reaction.name);
                assert_eq!(classic.name, name);
            }
        }
    }
}

#[test]
fn a_combination_takes_the_parameters_of_its_slots() {
    let given = Parameters::new()
        .with("thresholds", vec![10.0, 20.0])
        .with("slopes", vec![3.0, 1.0])
        .with("tau", "1 s")
        .with("hoe", "round");
    let classic = build_slots("mtsi", "reno", "westwood", &given).unwrap();
    assert!(classic.hoe.is_some());
    let error = build_slots("mtsi", "reno", "halve", &given).unwrap_err();
    assert!(
        error.to_string().contains("has no parameter `tau`"),
        "{error}"
    );
}

#[test]
fn a_time_may_still_be_text() {
    let text = build("hybla", &Parameters::new().with("rtt0", "50 ms")).unwrap();
    let time = build(
        "hybla",
        &Parameters::new().with("rtt0", Duration::from_millis(50)),
    )
    .unwrap();
    assert_eq!(format!("{text:?}"), format!("{time:?}"));
}

#[track_caller]
fn message(name: &str, parameter: &str, value: impl Into<ParameterValue>) -> String {
    build(name, &Parameters::new().with(parameter, value))
        .unwrap_err()
        .to_string()
}

#[test]
fn messages_say_what_was_expected_and_offer_the_nearest_name() {
    let unknown = build("hibla", &Parameters::new()).unwrap_err().to_string();
    let begins =
        "unknown congestion control `hibla` (did you mean `hybla`?); there are `newreno`, `const`";
    assert!(unknown.starts_with(begins), "{unknown}");
    for described in list() {
        assert!(unknown.contains(described.name), "{unknown}");
    }
    assert_eq!(
        message("fixed-window", "windw", 3.0),
        "`fixed-window` has no parameter `windw` (did you mean `window`?); it has `window`"
    );
    assert_eq!(
        message("const", "k", 0.5),
        "parameter `k` of `const` is 0.5: expected a number from 1 to 1000000"
    );
    assert_eq!(
        message("mtsi", "rule", "C"),
        "parameter `rule` of `mtsi` is `C`: expected one of `A`, `B`"
    );
    assert_eq!(
        message("mtsi", "slopes", vec![4.0, 2.0]),
        "parameter `slopes` of `mtsi` is [4, 2]: expected as many slopes as thresholds (3)"
    );
    assert_eq!(
        message("mtsi", "thresholds", vec![20.0, 10.0, 40.0]),
        "parameter `thresholds` of `mtsi` is [20, 10, 40]: expected thresholds that ascend"
    );
    assert_eq!(
        message("hybla", "rtt0", 25.0),
        "parameter `rtt0` of `hybla` is 25: expected a time with its unit, from 1 us to 60 s"
    );
    assert_eq!(
        build_slots("standard", "cubik", "halve", &Parameters::new())
            .unwrap_err()
            .to_string(),
        "unknown congestion avoidance `cubik` (did you mean `cubic`?); there are `reno`, \
         `hybla`, `cubic`, `highspeed`, `scalable`, `hold`"
    );
}

#[test]
fn not_a_number_is_refused_everywhere() {
    for described in list() {
        for parameter in described.parameters {
            for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
                let given = Parameters::new().with(parameter.name, value);
                assert!(build(described.name, &given).is_err());
                let given = Parameters::new().with(parameter.name, vec![value]);
                assert!(build(described.name, &given).is_err());
            }
        }
    }
    assert!(find("nothing").is_none());
}
