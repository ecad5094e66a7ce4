//! The language of scenarios as its declaration says it, for completion and hover help.

use crate::app::App;
use axum::Json;
use axum::extract::State;
use bentpipe::cc::{self, Parameter, SlotKind};
use bentpipe::tcp;
use bentpipe_document::Parsed;
use bentpipe_document::reference::presence;
use bentpipe_document::schema::{Key, Kind, Presence, Section};
use bentpipe_present::schema::QUANTITIES;
use serde_json::{Map, Value, json};

/// The scenarios of the repository: name and text.
const EXAMPLES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/examples.rs"));

/// Answers with `{sections, names, parameters, quantities}`:
///
/// - `sections`: every table: `{path, kind, called, named, open, topic, meaning, example,
///   values, keys}`; `path` is as `link.NAME.channel`, and `kind` tells tables of one path
///   apart; `values` are the keys of the example in TOML; a key is `{name, meaning, expected,
///   presence, required, default, value}`, and its `value` what it may be, see [`kind`];
/// - `names`: what names of the program stand for: `{transport: [{name, about}], ...}`;
/// - `parameters`: of each congestion control the keys that a transport with it takes:
///   `{mtsi: [{name, meaning, expected, presence}], ...}`;
/// - `quantities`: how times, rates and sizes are written.
pub(super) async fn answer() -> Json<Value> {
    let sections = bentpipe::scenario::schema().all().into_iter();
    let quantities = QUANTITIES.into_iter();
    let quantities = quantities.map(|(what, how)| json!({ "what": what, "how": how }));
    Json(json!({
        "sections": sections.map(section).collect::<Value>(),
        "names": names(),
        "parameters": parameters(),
        "quantities": quantities.collect::<Value>(),
    }))
}

fn section(section: &'static Section) -> Value {
    json!({
        "path": section.path,
        "kind": section.kind,
        "called": section.called,
        "named": section.named,
        "open": section.open,
        "topic": section.topic(),
        "meaning": section.meaning,
        "example": section.example,
        "values": values(section),
        "keys": section.keys.iter().map(key).collect::<Value>(),
    })
}

/// The keys that the example of a table gives this table, as TOML, in their order:
/// `[[name, value]]`.
fn values(section: &Section) -> Vec<(String, String)> {
    let Ok(parsed) = Parsed::new("example", section.example) else {
        return Vec::new();
    };
    let mut table = parsed.table;
    for part in section.path.split('.').filter(|part| !part.is_empty()) {
        let inner = match part.chars().all(|c| c.is_ascii_uppercase()) {
            true => table.iter().next(),
            false => table.get(part),
        };
        match inner.map(|entry| entry.item.value.clone()) {
            Some(bentpipe_document::Value::Table(inner)) => table = inner,
            _ => return Vec::new(),
        }
    }
    let entries = table.iter();
    entries
        .map(|entry| (entry.key.clone(), entry.item.value.to_toml()))
        .collect()
}

fn key(key: &Key) -> Value {
    json!({
        "name": key.name,
        "meaning": key.meaning,
        "expected": key.kind.to_string(),
        "presence": presence(key),
        "required": key.presence == Presence::Required,
        "default": match key.presence {
            Presence::Default(value) => Some(value),
            _ => None,
        },
        "value": kind(&key.kind),
    })
}

/// What a value may be: `{is, of?, words?, path?, first?}`. `is` is one of `text`, `file`,
/// `name` and `names` (of what: `of`), `nodes`, `duration`, `rate`, `size`, `ratio`,
/// `integer`, `number`, `boolean`, `words`; or `table`, `tables` (an array), `named` (tables
/// by name), `kinds` and `named-kinds` (tables of which each has a `kind`), at `path`; or
/// `either`: `first`, or tables with a `kind` at `path`.
fn kind(of: &Kind) -> Value {
    let plain = |is: &str| json!({ "is": is });
    match of {
        // The last five are in the files of studies only.
        Kind::Text
        | Kind::Form(_)
        | Kind::Any
        | Kind::List(_)
        | Kind::Many(_)
        | Kind::Map(_)
        | Kind::AnyOf(_) => plain("text"),
        Kind::File => plain("file"),
        Kind::Name(what) => json!({ "is": "name", "of": what }),
        Kind::Names(what) => json!({ "is": "names", "of": what }),
        Kind::Nodes(_) => plain("nodes"),
        Kind::Duration { .. } => plain("duration"),
        Kind::Rate => plain("rate"),
        Kind::Size { .. } => plain("size"),
        Kind::Ratio => plain("ratio"),
        Kind::Integer { .. } => plain("integer"),
        Kind::Number { .. } => plain("number"),
        Kind::NumberOrUnlimited { .. } => json!({ "is": "words", "words": ["unlimited"] }),
        Kind::Boolean => plain("boolean"),
        Kind::OneOf(words) => json!({ "is": "words", "words": words }),
        Kind::Table(section) => json!({ "is": "table", "path": section().path }),
        Kind::Tables(section) => json!({ "is": "tables", "path": section().path }),
        Kind::Named(section) => json!({ "is": "named", "path": section().path }),
        Kind::NamedKinds(kinds) => json!({ "is": "named-kinds", "path": kinds().path }),
        Kind::Kinds(kinds) => json!({ "is": "kinds", "path": kinds().path }),
        Kind::Either(_, first, kinds) => json!({
            "is": "either", "first": kind(first), "path": kinds().path,
        }),
    }
}

/// The names that the program knows, by what they are names of.
fn names() -> Value {
    let named = |name: &str, about: &str| json!({ "name": name, "about": about });
    let slots = |kind: SlotKind| -> Value {
        let slots = cc::slots(kind).iter();
        slots.map(|slot| named(slot.name, slot.summary)).collect()
    };
    json!({
        "transport": tcp::transports().map(|t| named(t.name, t.summary)).collect::<Value>(),
        "congestion control": cc::list().map(|c| named(c.name, c.summary)).collect::<Value>(),
        "slow start": slots(SlotKind::Start),
        "congestion avoidance": slots(SlotKind::Avoidance),
        "reaction": slots(SlotKind::Reaction),
    })
}

/// The parameters of each congestion control, by its name.
fn parameters() -> Map<String, Value> {
    let document = |p: &Parameter| {
        let expected = format!("{} {}", p.range, p.unit);
        json!({
            "name": p.name,
            "meaning": p.meaning,
            "expected": expected.trim_end(),
            "presence": format!("default {}", p.default),
        })
    };
    let controls = cc::list().filter(|control| !control.parameters.is_empty());
    let named = controls.map(|control| {
        let parameters = control.parameters.iter().map(document);
        (control.name.to_owned(), parameters.collect::<Value>())
    });
    named.collect()
}

/// Answers with `{lacking}`: what runs on this machine's own TCP need and do not have; `null`
/// where they can be asked for.
pub(super) async fn machine(State(app): State<App>) -> Json<Value> {
    Json(json!({ "lacking": (app.real_hosts.lacking)() }))
}

/// Answers with `{examples: [{name, about, text}]}`, the template among them.
pub(super) async fn examples() -> Json<Value> {
    let template = ("template", bentpipe::template());
    let all = std::iter::once(&template).chain(EXAMPLES);
    let examples = all.map(|(name, text)| {
        let parsed = Parsed::new(name, text).ok();
        let about = parsed.and_then(|parsed| {
            let value = &parsed.table.get("description")?.item.value;
            match value {
                bentpipe_document::Value::Text(about) => Some(about.clone()),
                _ => None,
            }
        });
        json!({ "name": name, "about": about.unwrap_or_default(), "text": text })
    });
    Json(json!({ "examples": examples.collect::<Value>() }))
}
