//! Tables as the text of a file.

use crate::path::push_key;
use crate::tree::{Table, Value};

/// A longer value gets a table or lines of its own.
const WIDTH: usize = 100;

impl Table {
    /// The text of a file: single values before the tables, in their order.
    #[must_use]
    pub fn to_document(&self) -> String {
        let mut text = String::new();
        write(self, "", &mut text);
        text
    }
}

/// Writes a table whose path is `path`; empty for the top.
fn write(table: &Table, path: &str, text: &mut String) {
    let stands_alone = |value: &Value| match value {
        // `[link.satellite]`, and what is too long for a line.
        Value::Table(_) => !path.contains('.') || value.to_toml().len() > WIDTH,
        _ => false,
    };
    let is_inner = |entry: &&crate::Entry| stands_alone(&entry.item.value);
    let mut is_first = true;
    for entry in table.iter().filter(|entry| !is_inner(entry)) {
        if is_first && !path.is_empty() {
            head(path, text);
        }
        is_first = false;
        push_key(text, &entry.key);
        text.push_str(" = ");
        push_value(&entry.item.value, text);
        text.push('\n');
    }
    if table.is_empty() {
        head(path, text);
    }
    for entry in table.iter().filter(is_inner) {
        let mut inner = path.to_owned();
        if !path.is_empty() {
            inner.push('.');
        }
        push_key(&mut inner, &entry.key);
        if let Value::Table(table) = &entry.item.value {
            write(table, &inner, text);
        }
    }
}

fn head(path: &str, text: &mut String) {
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(&format!("[{path}]\n"));
}

/// A value, a long array with a line for each item.
fn push_value(value: &Value, text: &mut String) {
    let in_line = value.to_toml();
    match value {
        Value::List(items) if in_line.len() > WIDTH => {
            text.push_str("[\n");
            for item in items.iter() {
                text.push_str("  ");
                text.push_str(&item.value.to_toml());
                text.push_str(",\n");
            }
            text.push(']');
        }
        _ => text.push_str(&in_line),
    }
}
