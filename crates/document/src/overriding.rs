//! Values that are set from outside a file.

use crate::source::Place;
use crate::tree::{Entry, Item, Table, Value};
use bentpipe_units::{Bytes, Duration, Rate};
use std::fmt;
use std::sync::Arc;
use toml::de::DeValue;

/// A value to set in a document.
///
/// ```
/// use bentpipe_document::Override;
///
/// assert_eq!(Override::from("2 Mbit/s").to_string(), "2 Mbit/s");
/// assert_eq!(Override::parse("2 Mbit/s").to_toml(), "\"2 Mbit/s\"");
/// assert_eq!(Override::parse("[10, 20, 30]").to_toml(), "[10, 20, 30]");
/// ```
#[derive(Clone, Debug)]
pub struct Override(Value);

impl Override {
    /// Reads a value as a command line gives it: TOML, or else plain text, so
    /// that `2 Mbit/s` needs no quotes of its own.
    #[must_use]
    pub fn parse(text: &str) -> Override {
        let bare = || Override(Value::Text(text.trim().to_string()));
        // A value on one line cannot be deep enough to be a danger, but
        // whether it is short is for this function to say.
        if text.len() > 4096 || text.matches('.').count() > 512 {
            return bare();
        }
        DeValue::parse(text.trim()).map_or_else(|_| bare(), |v| Override::from(v.get_ref()))
    }

    /// The text, where the value is one.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match &self.0 {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The number, where the value is one.
    #[must_use]
    pub fn as_number(&self) -> Option<f64> {
        match &self.0 {
            Value::Integer(n) => n.map(|n| n as f64),
            Value::Float(x) => Some(*x),
            _ => None,
        }
    }

    /// The value as TOML, with quotes around text.
    #[must_use]
    pub fn to_toml(&self) -> String {
        self.0.to_toml()
    }

    /// Levels of lists and tables.
    pub(crate) fn depth(&self) -> usize {
        self.0.depth()
    }

    /// The value, all of whose parts are at `place`.
    pub(crate) fn placed(&self, place: Place) -> Value {
        placed(&self.0, place)
    }
}

fn placed(value: &Value, place: Place) -> Value {
    let item = |item: &Item| Item {
        value: placed(&item.value, place),
        place,
    };
    match value {
        Value::List(items) => Value::List(Arc::new(items.iter().map(item).collect())),
        Value::Table(table) => {
            let entry = |entry: &Entry| Entry {
                key: entry.key.clone(),
                key_place: place,
                item: item(&entry.item),
            };
            Value::Table(Table::from_entries(table.iter().map(entry).collect()))
        }
        other => other.clone(),
    }
}

impl fmt::Display for Override {
    /// Text without quotes, anything else as TOML.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Value::Text(text) => f.write_str(text),
            other => f.write_str(&other.to_toml()),
        }
    }
}

impl PartialEq for Override {
    fn eq(&self, other: &Override) -> bool {
        self.to_toml() == other.to_toml()
    }
}

impl From<&DeValue<'_>> for Override {
    fn from(value: &DeValue<'_>) -> Override {
        Override(crate::tree::plain_from_toml(value, 0))
    }
}

macro_rules! override_from {
    ($($type:ty),*) => {
        $(impl From<$type> for Override {
            fn from(value: $type) -> Override {
                Override(Value::from(value))
            }
        })*
    };
}

override_from!(
    &str, String, bool, f64, i64, u64, u32, Duration, Rate, Bytes
);

impl<T: Into<Override>> From<Vec<T>> for Override {
    fn from(values: Vec<T>) -> Override {
        let item = |value: T| Item {
            value: value.into().0,
            place: Place::Whole,
        };
        Override(Value::List(Arc::new(
            values.into_iter().map(item).collect(),
        )))
    }
}
