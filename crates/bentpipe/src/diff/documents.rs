//! What two answers or two outcomes differ in.

use super::flat::{self, Flat};
use super::{Difference, ResultChange, SettingChange};
use serde_json::Value;
use std::collections::BTreeMap;

/// Keys of an answer that say what was asked.
const ASKED: [&str; 12] = [
    "link",
    "hosts",
    "traffic",
    "users",
    "users_shared",
    "terminals",
    "beside",
    "background",
    "stagger_s",
    "sizes_bytes",
    "video_bitrate_bps",
    "seed",
];

/// Keys of a row that say how its hosts are set.
const SET: [&str; 6] = [
    "availability",
    "initial_window_segments",
    "receive_buffer_bytes",
    "mss_bytes",
    "ack_count",
    "host_profile",
];

/// Keys of a flow or link that say what it was to do.
const GIVEN: [&str; 3] = ["transport", "offered_bytes", "started_at_ns"];

/// Keys of an outcome that say which run it is.
const RUN: [&str; 2] = ["scenario", "seed"];

/// Keys of an outcome that no result stands in: the same numbers once more, or samples.
const LEFT_OUT: [&str; 3] = ["series", "marks", "crossings"];

pub(super) fn answers(before: &Value, after: &Value) -> Difference {
    let mut found = Difference {
        settings: settings("", before, after, &ASKED),
        ..Difference::default()
    };
    let rows = pairs(before, after, "rows", row_name);
    for (name, a, b) in &rows {
        present(&mut found, "row", name, *a, *b);
        let (Some(a), Some(b)) = (a, b) else { continue };
        found.settings.extend(settings(name, a, b, &SET));
        for (key, share, metric) in [
            ("gain", "share", "gain [share]"),
            ("others", "time_lost_share", "others lose [share]"),
        ] {
            let interval = |row: &Value| (number(row, &[key, share]), number(row, &[key, "ci95"]));
            found
                .results
                .extend(compared(name, metric, interval(a), interval(b)));
        }
        for (size, a, b) in pairs(a, b, "cells", cell_name) {
            let (Some(a), Some(b)) = (a, b) else { continue };
            let of_several = before.get("sizes_bytes").and_then(Value::as_array);
            let subject = match of_several.is_some_and(|sizes| sizes.len() > 1) {
                true => format!("{name}, {size}"),
                false => name.clone(),
            };
            found.results.extend(cells(&subject, a, b));
        }
    }
    found.results.extend(verdicts(before, after));
    found
}

/// The headline of the verdicts and how certain they are.
fn verdicts(before: &Value, after: &Value) -> Vec<ResultChange> {
    let headline = |answer: &Value| text(answer, &["verdict", "text"]);
    let certainty = |answer: &Value| text(answer, &["verdict", "certainty"]);
    let of = |metric: &str, a: Option<String>, b: Option<String>| {
        (a != b).then(|| ResultChange {
            subject: "verdict".to_owned(),
            metric: metric.to_owned(),
            before_text: a,
            after_text: b,
            ..ResultChange::default()
        })
    };
    let all = [
        of("headline", headline(before), headline(after)),
        of("certainty", certainty(before), certainty(after)),
    ];
    all.into_iter().flatten().collect()
}

/// The numbers of a row for one size.
fn cells(subject: &str, before: &Value, after: &Value) -> Vec<ResultChange> {
    let (Value::Object(a), Value::Object(b)) = (before, after) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for key in keys(a, b) {
        // The time of one activity is the time.
        if key == "size_bytes" || key == "times_s" && a.get(key).is_some_and(is_single) {
            continue;
        }
        let (a, b) = (a.get(key), b.get(key));
        let value = |value: Option<&Value>| -> (Option<f64>, Option<f64>) {
            let Some(value) = value else {
                return (None, None);
            };
            match value.as_f64() {
                Some(x) => (Some(x), None),
                None => (number(value, &["mean"]), number(value, &["ci95"])),
            }
        };
        match key {
            "times_s" => {
                for activity in both(a, b) {
                    let of = |times: Option<&Value>| value(times.and_then(|t| t.get(&activity)));
                    found.extend(compared(
                        subject,
                        &format!("time of {activity} [s]"),
                        of(a),
                        of(b),
                    ));
                }
            }
            key => found.extend(compared(subject, key, value(a), value(b))),
        }
    }
    found
}

fn is_single(times: &Value) -> bool {
    times.as_object().is_some_and(|times| times.len() <= 1)
}

pub(super) fn outcomes(before: &Value, after: &Value) -> Difference {
    let mut found = Difference {
        settings: settings("", before, after, &RUN),
        ..Difference::default()
    };
    found.results.extend(numbers("run", before, after, &RUN));
    for (list, one, key) in [
        ("flows", "flow", "flow"),
        ("links", "link", "link"),
        ("middleboxes", "middlebox", "middlebox"),
        ("legs", "leg", "leg"),
        ("bottlenecks", "bottleneck", "link"),
    ] {
        let name = |item: &Value| match list {
            "legs" => format!("{} {}", plain(item, "flow"), plain(item, "leg_nodes")),
            _ => plain(item, key),
        };
        for (name, a, b) in pairs(before, after, list, name) {
            present(&mut found, one, &name, a, b);
            let (Some(a), Some(b)) = (a, b) else { continue };
            let subject = format!("{one} {name}");
            found.settings.extend(settings(&subject, a, b, &GIVEN));
            found.results.extend(numbers(&subject, a, b, &GIVEN));
        }
    }
    found
}

/// The numbers of two objects, without those of keys that say what was given.
fn numbers(subject: &str, before: &Value, after: &Value, given: &[&str]) -> Vec<ResultChange> {
    let (Value::Object(a), Value::Object(b)) = (before, after) else {
        return Vec::new();
    };
    let result = |key: &str| {
        if given.contains(&key) || LEFT_OUT.contains(&key) {
            return None;
        }
        let value = |map: &serde_json::Map<String, Value>| map.get(key).and_then(Value::as_f64);
        compared(subject, key, (value(a), None), (value(b), None))
    };
    keys(a, b).into_iter().filter_map(result).collect()
}

/// Two numbers with their intervals; `None` if they are the same or there are none.
fn compared(
    subject: &str,
    metric: &str,
    (before, before_ci95): (Option<f64>, Option<f64>),
    (after, after_ci95): (Option<f64>, Option<f64>),
) -> Option<ResultChange> {
    if before == after {
        return None;
    }
    let change = before.zip(after).filter(|(before, _)| *before != 0.0);
    let beyond = before.zip(after).zip(before_ci95.zip(after_ci95));
    Some(ResultChange {
        subject: subject.to_owned(),
        metric: metric.to_owned(),
        before,
        after,
        before_ci95,
        after_ci95,
        change_share: change.map(|(before, after)| after / before - 1.0),
        // Half of the interval of a difference of two independent means.
        beyond_chance: beyond
            .map(|((before, after), (a, b))| (after - before) * (after - before) > a * a + b * b),
        ..ResultChange::default()
    })
}

/// Those of these keys that differ.
fn settings(subject: &str, before: &Value, after: &Value, keys: &[&str]) -> Vec<SettingChange> {
    let of = |value: &Value| -> Flat {
        let mut flat = Flat::new();
        for key in keys {
            if let Some(value) = value.get(key) {
                let leaves = flat::of_json(&serde_json::json!({ *key: value }));
                flat.extend(leaves);
            }
        }
        flat
    };
    let changed = flat::changed(&of(before), &of(after)).into_iter();
    changed
        .map(|(path, before, after)| SettingChange {
            path: match subject {
                "" => path,
                subject => format!("{subject}: {path}"),
            },
            before,
            after,
        })
        .collect()
}

/// Notes what only one side has.
fn present(found: &mut Difference, kind: &str, name: &str, a: Option<&Value>, b: Option<&Value>) {
    let side = |value: Option<&Value>| value.map(|_| "present".to_owned());
    if a.is_some() != b.is_some() {
        found.settings.push(SettingChange {
            path: format!("{kind} {name}"),
            before: side(a),
            after: side(b),
        });
    }
}

/// The things of two lists by their names: of the first list in their order, then those
/// that only the second has.
fn pairs<'a>(
    before: &'a Value,
    after: &'a Value,
    list: &str,
    name: impl Fn(&Value) -> String,
) -> Vec<(String, Option<&'a Value>, Option<&'a Value>)> {
    let of = |value: &'a Value| -> Vec<(String, &'a Value)> {
        let items = value.get(list).and_then(Value::as_array);
        let items = items.into_iter().flatten();
        let mut known: BTreeMap<String, usize> = BTreeMap::new();
        let named = items.map(|item| {
            let name = name(item);
            let times = known.entry(name.clone()).or_default();
            *times += 1;
            match *times {
                1 => (name, item),
                again => (format!("{name} ({again})"), item),
            }
        });
        named.collect()
    };
    let (a, b) = (of(before), of(after));
    let second: BTreeMap<&str, &Value> = b
        .iter()
        .map(|(name, item)| (name.as_str(), *item))
        .collect();
    let first: BTreeMap<&str, &Value> = a
        .iter()
        .map(|(name, item)| (name.as_str(), *item))
        .collect();
    let known = a.iter().map(|(name, item)| {
        (
            name.clone(),
            Some(*item),
            second.get(name.as_str()).copied(),
        )
    });
    let new = b
        .iter()
        .filter(|(name, _)| !first.contains_key(name.as_str()));
    let new = new.map(|(name, item)| (name.clone(), None, Some(*item)));
    known.chain(new).collect()
}

/// The keys of two objects, each once, in the order of the first.
fn keys<'a>(
    a: &'a serde_json::Map<String, Value>,
    b: &'a serde_json::Map<String, Value>,
) -> Vec<&'a str> {
    let new = b.keys().filter(|key| !a.contains_key(*key));
    a.keys().chain(new).map(String::as_str).collect()
}

/// The keys of two optional objects.
fn both(a: Option<&Value>, b: Option<&Value>) -> Vec<String> {
    let names = |value: Option<&Value>| -> Vec<String> {
        let object = value.and_then(Value::as_object);
        object
            .into_iter()
            .flat_map(|map| map.keys().cloned())
            .collect()
    };
    let mut all = names(a);
    all.extend(
        names(b)
            .into_iter()
            .filter(|name| a.is_none_or(|a| a.get(name).is_none())),
    );
    all
}

fn row_name(row: &Value) -> String {
    let transport = plain(row, "transport");
    match plain(row, "pep").as_str() {
        "" | "none" => transport,
        pep => format!("{pep} {transport}"),
    }
}

fn cell_name(cell: &Value) -> String {
    let bytes = cell.get("size_bytes").and_then(Value::as_u64);
    bytes.map_or_else(String::new, |bytes| {
        bentpipe_units::Bytes::new(bytes).to_string()
    })
}

/// A text of an object; empty if there is none.
fn plain(value: &Value, key: &str) -> String {
    text(value, &[key]).unwrap_or_default()
}

/// The text at a path; of a list its first.
fn text(value: &Value, path: &[&str]) -> Option<String> {
    let mut at = value;
    for key in path {
        at = at.get(key)?;
    }
    let at = at.as_array().and_then(|list| list.first()).unwrap_or(at);
    at.as_str().map(str::to_owned)
}

fn number(value: &Value, path: &[&str]) -> Option<f64> {
    let mut at = value;
    for key in path {
        at = at.get(key)?;
    }
    at.as_f64()
}
