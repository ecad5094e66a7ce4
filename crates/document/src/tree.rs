//! The document as a tree in which every key and value knows its position.
//!
//! Tables are shared until they are changed, so that a document with one changed value costs only a
//! few small copies.

use crate::diagnostic::Diagnostic;
use crate::source::Place;
use bentpipe_units::{Bytes, Duration, Rate};
use std::sync::Arc;
use toml::de::{DeString, DeTable, DeValue};

/// Tables and arrays inside each other, at most. A study or scenario
/// needs five.
pub const DEPTH: usize = 16;

/// A value and its place.
#[derive(Clone, Debug)]
pub struct Item {
    /// The value.
    pub value: Value,
    /// Position in the text.
    pub place: Place,
}

/// A value of a TOML document.
#[derive(Clone, Debug)]
pub enum Value {
    /// A string value.
    Text(String),
    /// A whole number; `None` where the number does not fit.
    Integer(Option<i128>),
    /// A number with a point or an exponent.
    Float(f64),
    /// `true` or `false`.
    Boolean(bool),
    /// A date or a time of day, which no language here uses.
    Date,
    /// An array of values.
    List(Arc<Vec<Item>>),
    /// A table of keys and values.
    Table(Table),
}

/// A key with its value.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// Position of the key in the text.
    pub key_place: Place,
    /// The value.
    pub item: Item,
}

/// Entries in the order of the file.
#[derive(Clone, Debug, Default)]
pub struct Table {
    entries: Arc<Vec<Entry>>,
}

impl Value {
    /// Its name, with an article.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Text(_) => "a string",
            Value::Integer(_) => "a whole number",
            Value::Float(_) => "a number",
            Value::Boolean(_) => "a boolean",
            Value::Date => "a date",
            Value::List(_) => "an array",
            Value::Table(_) => "a table",
        }
    }

    /// Levels of lists and tables.
    #[must_use]
    pub fn depth(&self) -> usize {
        match self {
            Value::List(items) => 1 + items.iter().map(|i| i.value.depth()).max().unwrap_or(0),
            Value::Table(t) => 1 + t.iter().map(|e| e.item.value.depth()).max().unwrap_or(0),
            _ => 0,
        }
    }

    /// The value as TOML, for messages.
    #[must_use]
    pub fn to_toml(&self) -> String {
        let mut text = String::new();
        self.write(&mut text);
        text
    }

    fn write(&self, text: &mut String) {
        match self {
            Value::Text(s) => {
                text.push('"');
                s.chars().for_each(|c| crate::path::push_escaped(text, c));
                text.push('"');
            }
            Value::Integer(Some(n)) => text.push_str(&n.to_string()),
            Value::Integer(None) => text.push_str("a too large integer"),
            Value::Float(x) => text.push_str(&format!("{x:?}")),
            Value::Boolean(b) => text.push_str(if *b { "true" } else { "false" }),
            Value::Date => text.push_str("a date"),
            Value::List(items) => {
                text.push('[');
                for (i, item) in items.iter().enumerate() {
                    text.push_str(if i > 0 { ", " } else { "" });
                    item.value.write(text);
                }
                text.push(']');
            }
            Value::Table(table) => {
                text.push('{');
                for (i, entry) in table.iter().enumerate() {
                    text.push_str(if i > 0 { ", " } else { " " });
                    crate::path::push_key(text, &entry.key);
                    text.push_str(" = ");
                    entry.item.value.write(text);
                }
                text.push_str(" }");
            }
        }
    }
}

impl Table {
    /// All entries of the table.
    pub fn iter(&self) -> std::slice::Iter<'_, Entry> {
        self.entries.iter()
    }

    /// True if the table has no entries.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The entry of a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().find(|e| e.key == key)
    }

    /// The value of `key` to change, put there if it is missing.
    pub(crate) fn entry(&mut self, key: &str, missing: impl FnOnce() -> Entry) -> &mut Entry {
        let entries = Arc::make_mut(&mut self.entries);
        let index = match entries.iter().position(|e| e.key == key) {
            Some(index) => index,
            None => {
                entries.push(missing());
                entries.len() - 1
            }
        };
        &mut entries[index]
    }

    /// Adds a key without a place.
    pub(crate) fn push(&mut self, key: String, value: Value) {
        Arc::make_mut(&mut self.entries).push(Entry {
            key,
            key_place: Place::Whole,
            item: Item {
                value,
                place: Place::Whole,
            },
        });
    }

    /// Removes the entry of a key, if there is one.
    pub fn remove(&mut self, key: &str) {
        if self.get(key).is_some() {
            Arc::make_mut(&mut self.entries).retain(|e| e.key != key);
        }
    }

    /// A table of these.
    #[must_use]
    pub fn from_entries(entries: Vec<Entry>) -> Table {
        Table {
            entries: Arc::new(entries),
        }
    }
}

macro_rules! value_from {
    ($($type:ty => |$x:ident| $value:expr),* $(,)?) => {
        $(impl From<$type> for Value {
            fn from($x: $type) -> Value {
                $value
            }
        })*
    };
}

value_from! {
    &str => |text| Value::Text(text.to_string()),
    String => |text| Value::Text(text),
    bool => |flag| Value::Boolean(flag),
    f64 => |number| Value::Float(number),
    i32 => |number| Value::Integer(Some(number.into())),
    i64 => |number| Value::Integer(Some(number.into())),
    u64 => |number| Value::Integer(Some(number.into())),
    u32 => |number| Value::Integer(Some(number.into())),
    Duration => |time| Value::Text(time.to_string()),
    Rate => |rate| Value::Text(rate.to_string()),
    Bytes => |size| Value::Text(size.to_string()),
}

/// The tree of a parsed document.
pub(crate) fn from_toml(table: &DeTable<'_>, depth: usize) -> Result<Table, Box<Diagnostic>> {
    let mut entries = Vec::with_capacity(table.len());
    for (key, value) in table {
        entries.push(Entry {
            key: key.get_ref().to_string(),
            key_place: Place::file(key.span()),
            item: Item {
                value: value_from_toml(value, depth + 1)?,
                place: Place::file(value.span()),
            },
        });
    }
    entries.sort_by_key(|e| e.key_place.rank());
    Ok(Table::from_entries(entries))
}

/// The tree of a value.
fn value_from_toml(
    spanned: &toml::Spanned<DeValue<'_>>,
    depth: usize,
) -> Result<Value, Box<Diagnostic>> {
    if depth > DEPTH {
        let place = Place::file(spanned.span());
        let error = Diagnostic::new(place, "tables and arrays are nested too deeply");
        return Err(Box::new(error.label(format!("more than {DEPTH} levels"))));
    }
    Ok(match spanned.get_ref() {
        DeValue::Array(items) => {
            let mut list = Vec::with_capacity(items.len());
            for item in items {
                let value = value_from_toml(item, depth + 1)?;
                list.push(Item {
                    value,
                    place: Place::file(item.span()),
                });
            }
            Value::List(Arc::new(list))
        }
        DeValue::Table(table) => Value::Table(from_toml(table, depth)?),
        scalar => scalar_from_toml(scalar),
    })
}

/// The tree of a value that has no place. What is nested too deeply becomes
/// a date, which nothing accepts.
pub(crate) fn plain_from_toml(value: &DeValue<'_>, depth: usize) -> Value {
    let inner = |value: &toml::Spanned<DeValue<'_>>| Item {
        value: plain_from_toml(value.get_ref(), depth + 1),
        place: Place::Whole,
    };
    match value {
        _ if depth > DEPTH => Value::Date,
        DeValue::Array(items) => Value::List(Arc::new(items.iter().map(inner).collect())),
        DeValue::Table(table) => {
            let entry = |(key, value): (&toml::Spanned<DeString<'_>>, _)| Entry {
                key: key.get_ref().to_string(),
                key_place: Place::file(key.span()),
                item: inner(value),
            };
            let mut entries: Vec<Entry> = table.iter().map(entry).collect();
            entries.sort_by_key(|e| e.key_place.rank());
            Value::Table(Table::from_entries(entries))
        }
        scalar => scalar_from_toml(scalar),
    }
}

fn scalar_from_toml(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(s) => Value::Text(s.to_string()),
        DeValue::Integer(n) => Value::Integer(i128::from_str_radix(n.as_str(), n.radix()).ok()),
        DeValue::Float(x) => Value::Float(x.as_str().parse().unwrap_or(f64::NAN)),
        DeValue::Boolean(b) => Value::Boolean(*b),
        DeValue::Datetime(_) | DeValue::Array(_) | DeValue::Table(_) => Value::Date,
    }
}
