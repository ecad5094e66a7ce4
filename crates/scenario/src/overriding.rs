//! Values that are set from outside a file.

use crate::source::Place;
use crate::tree::{Entry, Item, Table, Value};
use bentpipe_units::{Bytes, Duration, Rate};
use std::fmt;
use std::sync::Arc;
use toml::de::DeValue;

/// A value to set in a [`Document`](crate::Document).
///
/// ```
/// use bentpipe_scenario::Override;
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

impl From<&str> for Override {
    fn from(text: &str) -> Override {
        Override(Value::Text(text.to_string()))
    }
}

impl From<String> for Override {
    fn from(text: String) -> Override {
        Override(Value::Text(text))
    }
}

impl From<bool> for Override {
    fn from(flag: bool) -> Override {
        Override(Value::Boolean(flag))
    }
}

impl From<f64> for Override {
    fn from(number: f64) -> Override {
        Override(Value::Float(number))
    }
}

impl From<i64> for Override {
    fn from(number: i64) -> Override {
        Override(Value::Integer(Some(number.into())))
    }
}

impl From<u64> for Override {
    fn from(number: u64) -> Override {
        Override(Value::Integer(Some(number.into())))
    }
}

impl From<u32> for Override {
    fn from(number: u32) -> Override {
        Override(Value::Integer(Some(number.into())))
    }
}

impl From<Duration> for Override {
    fn from(duration: Duration) -> Override {
        Override::from(duration.to_string())
    }
}

impl From<Rate> for Override {
    fn from(rate: Rate) -> Override {
        Override::from(rate.to_string())
    }
}

impl From<Bytes> for Override {
    fn from(bytes: Bytes) -> Override {
        Override::from(bytes.to_string())
    }
}

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
