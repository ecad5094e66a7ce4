//! Where the tables and values of a text stand, by their paths.

use bentpipe_document::{Parsed, Place, Table, Value};
use serde_json::{Value as Json, json};
use std::collections::HashMap;
use std::ops::Range;

/// Entries that are listed, at most.
const MOST_ENTRIES: usize = 20_000;

/// How an entry is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// A table below its header: `[link.satellite]`.
    Header,
    /// A table in braces.
    Inline,
    /// A table that stands nowhere itself: of dotted keys, or above other headers.
    Implicit,
    /// An array.
    List,
    /// A single value.
    Scalar,
}

/// A key and its value.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    /// The keys that lead to it; of an item of an array its number.
    pub(super) path: Vec<String>,
    pub(super) form: Form,
    /// Bytes of the key; of a table those in the first header that names it.
    pub(super) key: Range<usize>,
    /// Bytes of the value; of a table with a header those of the header.
    pub(super) value: Range<usize>,
    /// The value without quotes, of a single one.
    pub(super) text: Option<String>,
}

/// All entries of a text, in its order.
#[derive(Clone, Debug, Default)]
pub(super) struct Places {
    pub(super) entries: Vec<Entry>,
    /// Numbers of entries by their paths, joined.
    by_path: HashMap<String, usize>,
    /// Of each header, in order, where it begins and where its last value ends.
    bodies: Vec<(usize, usize)>,
}

/// A path as one text.
fn joined<S: AsRef<str>>(path: &[S]) -> String {
    let keys: Vec<&str> = path.iter().map(AsRef::as_ref).collect();
    keys.join("\0")
}

impl Places {
    pub(super) fn of(parsed: &Parsed) -> Places {
        let mut places = Places::default();
        let text = &parsed.origin.source.text;
        places.collect(&parsed.table, &mut Vec::new(), text);
        places.index();
        places
    }

    /// Finds what is looked up later.
    fn index(&mut self) {
        for (number, entry) in self.entries.iter().enumerate() {
            self.by_path.entry(joined(&entry.path)).or_insert(number);
        }
        let headers = self.entries.iter().filter(|e| e.form == Form::Header);
        self.bodies = headers.map(|e| (e.value.start, e.value.end)).collect();
        self.bodies.sort_unstable();
        for entry in &self.entries {
            if matches!(entry.form, Form::Header | Form::Implicit) {
                continue;
            }
            let after = self
                .bodies
                .partition_point(|(start, _)| *start <= entry.value.start);
            if let Some((_, end)) = after.checked_sub(1).and_then(|at| self.bodies.get_mut(at)) {
                *end = (*end).max(entry.value.end);
            }
        }
    }

    fn collect(&mut self, table: &Table, path: &mut Vec<String>, text: &str) {
        for entry in table.iter() {
            path.push(entry.key.clone());
            self.add(
                &entry.item.value,
                entry.key_place,
                entry.item.place,
                path,
                text,
            );
            path.pop();
        }
    }

    fn add(&mut self, value: &Value, key: Place, at: Place, path: &mut Vec<String>, text: &str) {
        let (Some(key), Some(span)) = (key.span(), at.span()) else {
            return;
        };
        if self.entries.len() >= MOST_ENTRIES {
            return;
        }
        let form = match value {
            Value::Table(_) => match text.as_bytes().get(span.start) {
                Some(b'[') => Form::Header,
                Some(b'{') => Form::Inline,
                _ => Form::Implicit,
            },
            Value::List(_) => Form::List,
            _ => Form::Scalar,
        };
        let shown = match value {
            Value::Text(text) => Some(text.clone()),
            Value::Table(_) | Value::List(_) => None,
            other => Some(other.to_toml()),
        };
        self.entries.push(Entry {
            path: path.clone(),
            form,
            key,
            value: span,
            text: shown,
        });
        match value {
            Value::Table(table) => self.collect(table, path, text),
            Value::List(items) => {
                for (number, item) in items.iter().enumerate() {
                    path.push(number.to_string());
                    self.add(&item.value, item.place, item.place, path, text);
                    path.pop();
                }
            }
            _ => {}
        }
    }

    /// The entry at a path.
    pub(super) fn get<S: AsRef<str>>(&self, path: &[S]) -> Option<&Entry> {
        self.entries.get(*self.by_path.get(&joined(path))?)
    }

    /// The entries at a path and below it.
    pub(super) fn below<'a>(&'a self, path: &'a [String]) -> impl Iterator<Item = &'a Entry> {
        self.entries
            .iter()
            .filter(move |entry| entry.path.starts_with(path))
    }

    /// The bytes of a table with a header: from the header to the end of the line of its
    /// last value.
    pub(super) fn body(&self, header: &Entry, text: &str) -> Range<usize> {
        let start = header.value.start;
        let at = self.bodies.partition_point(|(begin, _)| *begin < start);
        let end = self
            .bodies
            .get(at)
            .map_or(header.value.end, |(_, end)| *end);
        start..line_end(text, end)
    }

    /// For the page: `[{path, form, key: [from, to], value: [from, to], body, text}]`, in
    /// bytes of the text.
    pub(super) fn document(&self, text: &str) -> Json {
        let entries = self.entries.iter().map(|entry| {
            let range = |range: &Range<usize>| json!([range.start, range.end]);
            let form = match entry.form {
                Form::Header => "header",
                Form::Inline => "inline",
                Form::Implicit => "implicit",
                Form::List => "list",
                Form::Scalar => "value",
            };
            let body = (entry.form == Form::Header && entry.path.len() <= 2)
                .then(|| range(&self.body(entry, text)));
            json!({
                "path": entry.path, "form": form, "key": range(&entry.key),
                "value": range(&entry.value), "body": body, "text": entry.text,
            })
        });
        entries.collect()
    }
}

/// Where the line ends that byte `at` is in, without its line break.
pub(super) fn line_end(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    let end = rest.find('\n').map_or(text.len(), |n| at + n);
    match text.get(at..end).is_some_and(|line| line.ends_with('\r')) {
        true => end - 1,
        false => end,
    }
}

/// Where the line begins that byte `at` is in.
pub(super) fn line_start(text: &str, at: usize) -> usize {
    let before = text.get(..at).unwrap_or_default();
    before.rfind('\n').map_or(0, |n| n + 1)
}
