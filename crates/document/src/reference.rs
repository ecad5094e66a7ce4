//! The reference of a language: as text, as a page of Markdown, and as JSON Schema.

use crate::schema::{Key, Kind, Kinds, Presence, Section};
use serde_json::{Map, Value, json};
use std::fmt::Write;

/// A part of the language that one asks for by a word.
#[derive(Clone, Debug)]
pub struct Topic {
    /// The word, such as `queue`.
    pub name: &'static str,
    /// Its tables.
    pub sections: Vec<&'static Section>,
}

/// The parts of a language, in the order of its tables.
#[must_use]
pub fn topics(top: &'static Section) -> Vec<Topic> {
    let mut topics: Vec<Topic> = Vec::new();
    for section in top.all() {
        let name = section.topic();
        match topics.iter_mut().find(|topic| topic.name == name) {
            Some(topic) => topic.sections.push(section),
            None => topics.push(Topic {
                name,
                sections: vec![section],
            }),
        }
    }
    topics
}

/// `[link.NAME.channel] kind = "uniform"`.
#[must_use]
pub fn heading(section: &Section) -> String {
    let path = bracketed(section).unwrap_or_else(|| TOP.to_string());
    match section.kind {
        Some(kind) => format!("{path} kind = \"{kind}\""),
        None => path,
    }
}

/// What stands over the table of a whole file.
const TOP: &str = "The top of the file";

/// The header of a table as TOML has it.
fn bracketed(section: &Section) -> Option<String> {
    match section.path {
        "" => None,
        path if section.array => Some(format!("[[{path}]]")),
        path => Some(format!("[{path}]")),
    }
}

/// `required`, `default 1 s`, `otherwise ...`.
#[must_use]
pub fn presence(key: &Key) -> String {
    match key.presence {
        Presence::Required => "required".to_string(),
        Presence::Default(value) => format!("default {value}"),
        Presence::Otherwise(words) => format!("otherwise {words}"),
    }
}

/// Every table with its keys and an example, as Markdown.
#[must_use]
pub fn markdown(top: &'static Section) -> String {
    let mut page = String::new();
    let mut last = None;
    for section in top.all() {
        let title = bracketed(section).map_or(TOP.to_string(), |path| format!("`{path}`"));
        if last != Some(section.path) {
            let _ = writeln!(page, "## {title}\n");
        }
        last = Some(section.path);
        if let Some(kind) = section.kind {
            let _ = writeln!(page, "### `kind = \"{kind}\"`\n");
        }
        let _ = writeln!(page, "{}.\n", capitalised(section.meaning));
        if !section.keys.is_empty() {
            page.push_str("| key | value | if left out | meaning |\n|---|---|---|---|\n");
        }
        for key in &section.keys {
            let otherwise = match key.presence {
                Presence::Required => "**required**".to_string(),
                Presence::Default(value) => format!("`{value}`"),
                Presence::Otherwise(words) => words.to_string(),
            };
            let kind = key.kind.to_string();
            let cells = [&*kind, &*otherwise, key.meaning].map(|cell| cell.replace('|', "\\|"));
            let [kind, otherwise, meaning] = cells;
            let _ = writeln!(
                page,
                "| `{}` | {kind} | {otherwise} | {meaning} |",
                key.name
            );
        }
        if !section.example.is_empty() {
            let _ = write!(page, "\n```toml\n{}\n```\n", section.example);
        }
        page.push('\n');
    }
    page.truncate(page.trim_end().len());
    page.push('\n');
    page
}

fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    match chars.next() {
        Some(first) => first.to_uppercase().chain(chars).collect(),
        None => String::new(),
    }
}

/// The language as a JSON Schema (draft 7), by which editors complete and
/// check TOML.
#[must_use]
pub fn json_schema(top: &'static Section, title: &str) -> Value {
    let mut definitions = Map::new();
    let mut schema = table(top, &mut definitions);
    if let Some(schema) = schema.as_object_mut() {
        schema.insert(
            "$schema".into(),
            "http://json-schema.org/draft-07/schema#".into(),
        );
        schema.insert("title".into(), title.into());
        schema.insert("definitions".into(), definitions.into());
    }
    schema
}

/// The schema of a table.
fn table(section: &'static Section, definitions: &mut Map<String, Value>) -> Value {
    let mut properties = Map::new();
    let mut required: Vec<&str> = Vec::new();
    if let Some(kind) = section.kind {
        properties.insert("kind".into(), json!({ "const": kind }));
        required.push("kind");
    }
    for key in &section.keys {
        let mut value = value(&key.kind, definitions);
        if let Some(value) = value.as_object_mut() {
            let text = format!("{} ({})", key.meaning, presence(key));
            // Next to a reference, draft 7 ignores all other keys.
            if let Some(reference) = value.remove("$ref") {
                value.insert("allOf".into(), json!([{ "$ref": reference }]));
            }
            value.insert("description".into(), text.into());
        }
        properties.insert(key.name.into(), value);
        if key.presence == Presence::Required {
            required.push(key.name);
        }
    }
    json!({
        "type": "object",
        "description": section.meaning,
        "properties": properties,
        "required": required,
        "additionalProperties": section.open,
    })
}

/// A reference to the schema of a table, which is added if it is new.
fn reference(section: &'static Section, definitions: &mut Map<String, Value>) -> Value {
    define(section.path, definitions, |definitions| {
        table(section, definitions)
    })
}

/// A reference to the schema of tables that `kind` chooses from. The kind alone abbreviates a table
/// without other required keys.
fn kinds(kinds: &'static Kinds, definitions: &mut Map<String, Value>) -> Value {
    define(kinds.path, definitions, |definitions| {
        let bare = kinds.sections.iter().filter(|s| {
            let needs = |key: &Key| key.presence == Presence::Required;
            !s.keys.iter().any(needs)
        });
        let words: Vec<&str> = bare.filter_map(|s| s.kind).collect();
        let tables = kinds.sections.iter().map(|s| table(s, definitions));
        let mut choices: Vec<Value> = tables.collect();
        if !words.is_empty() {
            choices.push(json!({ "enum": words }));
        }
        json!({ "description": kinds.meaning, "anyOf": choices })
    })
}

fn define(
    name: &'static str,
    definitions: &mut Map<String, Value>,
    schema: impl FnOnce(&mut Map<String, Value>) -> Value,
) -> Value {
    if !definitions.contains_key(name) {
        definitions.insert(name.into(), Value::Null);
        let schema = schema(definitions);
        definitions.insert(name.into(), schema);
    }
    json!({ "$ref": format!("#/definitions/{name}") })
}

/// The schema of a value.
fn value(kind: &Kind, definitions: &mut Map<String, Value>) -> Value {
    // A quantity or number that a study or the command sets may be a string.
    let quantity = |what: &str| json!({ "type": "string", "title": what });
    let named = |inner: Value| json!({ "type": "object", "additionalProperties": inner });
    let array = |inner: Value| json!({ "type": "array", "items": inner });
    match kind {
        Kind::Text | Kind::File | Kind::Name(_) => json!({ "type": "string" }),
        Kind::Form(_) | Kind::Duration { .. } | Kind::Rate | Kind::Size { .. } => {
            quantity(&kind.to_string())
        }
        Kind::Nodes(n) => json!({
            "type": "array", "items": { "type": "string" }, "minItems": n, "maxItems": n,
        }),
        Kind::Names(_) => json!({
            "anyOf": [
                { "type": "string" },
                { "type": "array", "items": { "type": "string" } },
            ],
        }),
        Kind::Ratio => json!({
            "anyOf": [
                { "type": "number", "minimum": 0, "maximum": 1 },
                { "type": "string", "pattern": "%\\s*$" },
            ],
        }),
        Kind::Integer { min, max } => json!({
            "type": "integer", "minimum": min, "maximum": max,
        }),
        Kind::Number {
            min: f64::MIN,
            max: f64::MAX,
        } => json!({ "type": "number" }),
        Kind::Number { min, max: f64::MAX } => json!({ "type": "number", "minimum": min }),
        Kind::Number { min, max } => json!({ "type": "number", "minimum": min, "maximum": max }),
        Kind::NumberOrUnlimited { min, max } => json!({
            "anyOf": [
                { "type": "number", "minimum": min, "maximum": max },
                { "const": "unlimited" },
            ],
        }),
        Kind::Boolean => json!({ "type": "boolean" }),
        Kind::OneOf(words) => json!({ "enum": words }),
        Kind::Table(section) => reference(section(), definitions),
        Kind::Tables(section) => json!({
            "type": "array", "items": reference(section(), definitions), "minItems": 1,
        }),
        Kind::Named(section) => named(reference(section(), definitions)),
        Kind::NamedKinds(all) => named(kinds(all(), definitions)),
        Kind::Kinds(all) => kinds(all(), definitions),
        Kind::Either(_, first, all) => json!({
            "anyOf": [value(first, definitions), kinds(all(), definitions)],
        }),
        Kind::Any => json!({}),
        Kind::List(kind) => array(value(kind, definitions)),
        Kind::Many(kind) => {
            let one = value(kind, definitions);
            json!({ "anyOf": [one.clone(), array(one)] })
        }
        Kind::Map(kind) => named(value(kind, definitions)),
        Kind::AnyOf(kinds) => {
            let choices = kinds.iter().map(|kind| value(kind, definitions));
            json!({ "anyOf": choices.collect::<Vec<_>>() })
        }
    }
}
