//! What two scenarios set otherwise.

use super::SettingChange;
use super::flat::{self, Flat, joined};
use bentpipe_document::{Parsed, Table, Value, key_text};
use bentpipe_scenario::Scenario;
use bentpipe_units::{Bytes, Duration, Rate, Ratio};

/// Tables of which one scenario has none are one difference, with as many of their keys as
/// fit.
const SHOWN: usize = 60;

/// What differs, with the defaults of both resolved. Scenarios that only their files can
/// say, with counted nodes, media, constellations or traces, are compared as those are
/// written, and by what they amount to where that is the same. Where only one is such a scenario,
/// what the other says beyond it are defaults, and no difference.
pub(super) fn settings(before: &Scenario, after: &Scenario) -> Vec<SettingChange> {
    let resolved = |scenario: &Scenario| {
        scenario
            .to_resolved_toml()
            .ok()
            .and_then(|text| table(&text))
    };
    let forms = (resolved(before), resolved(after));
    if let (Some(a), Some(b)) = &forms {
        return of_tables(a, b);
    }
    let is_same = Scenario {
        name: before.name.clone(),
        description: before.description.clone(),
        ..after.clone()
    } == *before;
    let written = |scenario: &Scenario| scenario.to_toml().ok().and_then(|text| table(&text));
    let of_files = match (written(before), written(after)) {
        (Some(a), Some(b)) if !is_same => of_tables(&a, &b),
        _ => Vec::new(),
    };
    let of_files = match forms {
        (Some(_), None) => of_forms(of_files, |change| &change.after, before, after),
        (None, Some(_)) => of_forms(of_files, |change| &change.before, before, after),
        _ => of_files,
    };
    match of_files.is_empty() {
        false => of_files,
        true => of_models(before, after),
    }
}

/// The differences less those of form, where one side has its defaults resolved and `written` is
/// what a change has of the other.
fn of_forms(
    changes: Vec<SettingChange>,
    written: fn(&SettingChange) -> &Option<String>,
    before: &Scenario,
    after: &Scenario,
) -> Vec<SettingChange> {
    let transports = |scenario: &Scenario| {
        let all = scenario.flows.iter().filter_map(|f| f.transport.as_deref());
        let named = all.map(|t| (t.name.clone(), serde_json::to_string(t).unwrap_or_default()));
        named.collect::<std::collections::BTreeMap<_, _>>()
    };
    let same_transports = transports(before) == transports(after);
    let is_real = |change: &SettingChange| {
        let is_same = match (&change.before, &change.after) {
            (Some(a), Some(b)) => means_the_same(a, b),
            _ => false,
        };
        let is_base = same_transports && change.path.starts_with("transport.");
        written(change).is_some() && !is_same && !is_base
    };
    changes.into_iter().filter(is_real).collect()
}

/// True if two values are one in two forms: `0.001` and `0.1%`, `{ kind = "perfect" }` and
/// `perfect`.
fn means_the_same(a: &str, b: &str) -> bool {
    fn equal<T: std::str::FromStr + PartialEq>(a: &str, b: &str) -> bool {
        matches!((a.parse::<T>(), b.parse::<T>()), (Ok(a), Ok(b)) if a == b)
    }
    let bare = |text: &str| {
        let kind = text.strip_prefix("{ kind = \"");
        let kind = kind.and_then(|rest| rest.strip_suffix("\" }"));
        kind.unwrap_or(text).to_owned()
    };
    let (a, b) = (&bare(a), &bare(b));
    a == b
        || equal::<f64>(a, b)
        || equal::<Ratio>(a, b)
        || equal::<Rate>(a, b)
        || equal::<Duration>(a, b)
        || equal::<Bytes>(a, b)
}

fn table(text: &str) -> Option<Table> {
    Parsed::new("scenario.toml", text)
        .ok()
        .map(|parsed| parsed.table)
}

fn of_models(before: &Scenario, after: &Scenario) -> Vec<SettingChange> {
    let model = |scenario: &Scenario| {
        let value = serde_json::to_value(scenario).unwrap_or_default();
        flat::of_json(&value)
    };
    changes(&model(before), &model(after))
}

fn of_tables(before: &Table, after: &Table) -> Vec<SettingChange> {
    let (mut a, mut b) = (Flat::new(), Flat::new());
    both("", before, after, &mut a, &mut b);
    changes(&a, &b)
}

fn changes(before: &Flat, after: &Flat) -> Vec<SettingChange> {
    let changed = flat::changed(before, after).into_iter();
    let mut changes: Vec<SettingChange> = changed
        .map(|(path, before, after)| SettingChange {
            path,
            before,
            after,
        })
        .collect();
    // What changes no result comes last.
    changes.sort_by_key(|change| ["name", "description"].contains(&change.path.as_str()));
    changes
}

/// The leaves of two tables: tables of both are followed, those of one are a leaf.
fn both(path: &str, before: &Table, after: &Table, a: &mut Flat, b: &mut Flat) {
    let of = |table: &Table, key: &str| -> Option<Value> {
        let entry = table.iter().find(|entry| entry.key == key);
        entry.map(|entry| entry.item.value.clone())
    };
    for entry in before.iter() {
        let path = joined(path, &key_text(&entry.key));
        match (&entry.item.value, of(after, &entry.key)) {
            (Value::Table(inner), Some(Value::Table(other))) => both(&path, inner, &other, a, b),
            (value, other) => {
                a.push((path.clone(), shown(value)));
                if let Some(other) = other {
                    b.push((path, shown(&other)));
                }
            }
        }
    }
    for entry in after
        .iter()
        .filter(|entry| of(before, &entry.key).is_none())
    {
        b.push((
            joined(path, &key_text(&entry.key)),
            shown(&entry.item.value),
        ));
    }
}

/// A value as TOML: texts, such as quantities, without quotes, long ones cut.
fn shown(value: &Value) -> String {
    let text = match value {
        Value::Text(text) => text.clone(),
        other => other.to_toml(),
    };
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) if matches!(value, Value::Table(_)) => format!("{} ... }}", &text[..end]),
        _ => text,
    }
}
