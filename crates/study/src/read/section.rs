//! A table of a TOML document, read key by key; what nobody asks for is
//! reported with the nearest name.

use bentpipe_document::names::list;
use bentpipe_document::{Diagnostic, Errors, Item, Parsed, Table, Value};
use std::cell::RefCell;
use std::ops::{Range, RangeInclusive};
use std::str::FromStr;

/// A string and where it stands, quotes included.
#[derive(Clone, Debug)]
pub(crate) struct Text {
    pub(crate) value: String,
    pub(crate) span: Range<usize>,
}

/// A table being read.
pub(crate) struct Section<'a> {
    table: &'a Table,
    pub(crate) span: Range<usize>,
    errors: &'a Errors,
    asked: RefCell<Vec<String>>,
}

impl<'a> Section<'a> {
    pub(crate) fn new(table: &'a Table, span: Range<usize>, errors: &'a Errors) -> Section<'a> {
        Section {
            table,
            span,
            errors,
            asked: RefCell::default(),
        }
    }

    /// The table of a whole document.
    pub(crate) fn top(parsed: &'a Parsed, errors: &'a Errors) -> Section<'a> {
        Section::new(&parsed.table, 0..0, errors)
    }

    pub(crate) fn error(&self, error: Diagnostic) {
        self.errors.report(error);
    }

    fn inner(&self, table: &'a Table, item: &Item) -> Section<'a> {
        Section::new(table, span(item), self.errors)
    }

    /// The value of a key, which is then known.
    fn get(&self, key: &str) -> Option<&'a Item> {
        self.asked.borrow_mut().push(key.to_owned());
        self.table.get(key).map(|entry| &entry.item)
    }

    /// True if the key is there, whatever it is.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.table.get(key).is_some()
    }

    /// True if the key is there and is a table.
    pub(crate) fn is_table(&self, key: &str) -> bool {
        let item = self.table.get(key).map(|entry| &entry.item.value);
        matches!(item, Some(Value::Table(_)))
    }

    /// Where the value of a key stands; the section itself without it.
    pub(crate) fn span_of(&self, key: &str) -> Range<usize> {
        self.table
            .get(key)
            .map_or(self.span.clone(), |entry| span(&entry.item))
    }

    /// Reports every key that nobody asked for.
    pub(crate) fn finish(&self) {
        let asked = self.asked.borrow();
        for entry in self.table.iter() {
            let name = &entry.key;
            if !asked.contains(name) {
                self.errors.report_with(|| {
                    let known = || asked.iter().map(String::as_str);
                    Diagnostic::new(entry.key_place, format!("unknown key `{name}`"))
                        .label(format!("known here: {}", list(known())))
                        .suggest_from(name, known())
                });
            }
        }
    }

    fn expected(&self, item: &Item, key: &str, what: &str) {
        self.error(
            Diagnostic::new(item.place, format!("`{key}` is {}", item.value.kind()))
                .label(format!("expected {what}")),
        );
    }

    pub(crate) fn missing(&self, key: &str) {
        let error = if self.span.is_empty() {
            Diagnostic::whole(format!("`{key}` is missing"))
        } else {
            Diagnostic::at(self.span.clone(), format!("`{key}` is missing"))
        };
        self.error(error);
    }

    pub(crate) fn text(&self, key: &str) -> Option<Text> {
        let value = self.get(key)?;
        match &value.value {
            Value::Text(s) => Some(Text {
                value: s.to_string(),
                span: span(value),
            }),
            _ => {
                self.expected(value, key, "a string");
                None
            }
        }
    }

    /// A string, or a number as text.
    pub(crate) fn word(&self, key: &str) -> Option<String> {
        let value = self.get(key)?;
        match &value.value {
            Value::Text(s) => Some(s.to_string()),
            Value::Integer(Some(n)) => Some(n.to_string()),
            Value::Float(x) => Some(x.to_string()),
            _ => {
                self.expected(value, key, "a string or a number");
                None
            }
        }
    }

    pub(crate) fn required_text(&self, key: &str) -> Option<Text> {
        if !self.has(key) {
            self.missing(key);
        }
        self.text(key)
    }

    /// A name that can be a file's: letters, digits, `-`, `_` and `.`.
    pub(crate) fn slug(&self, key: &str) -> String {
        let Some(text) = self.required_text(key) else {
            return String::new();
        };
        let good = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if text.value.is_empty() || text.value.starts_with('.') || !text.value.chars().all(good) {
            self.error(
                Diagnostic::at(text.span, format!("`{key}` cannot be the name of a file"))
                    .label("expected letters, digits, `-` and `_`"),
            );
        }
        text.value
    }

    pub(crate) fn integer(&self, key: &str, range: RangeInclusive<u64>) -> Option<u64> {
        let value = self.get(key)?;
        let number = match &value.value {
            Value::Integer(n) => *n,
            _ => {
                self.expected(value, key, "a whole number");
                return None;
            }
        };
        let number = number
            .and_then(|n| u64::try_from(n).ok())
            .filter(|n| range.contains(n));
        if number.is_none() {
            let (low, high) = (range.start(), range.end());
            self.error(
                Diagnostic::at(span(value), format!("`{key}` is out of range"))
                    .label(format!("expected a whole number from {low} to {high}")),
            );
        }
        number
    }

    pub(crate) fn number(&self, key: &str) -> Option<f64> {
        let value = self.get(key)?;
        let number = match &value.value {
            Value::Integer(n) => n.map(|n| n as f64),
            Value::Float(x) => Some(*x),
            _ => None,
        };
        let number = number.filter(|x| x.is_finite() && *x >= 0.0);
        if number.is_none() {
            self.expected(value, key, "a number, not negative");
        }
        number
    }

    pub(crate) fn flag(&self, key: &str) -> bool {
        let Some(value) = self.get(key) else {
            return false;
        };
        match &value.value {
            Value::Boolean(b) => *b,
            _ => {
                self.expected(value, key, "`true` or `false`");
                false
            }
        }
    }

    /// A string in a form of its own, such as `"40 ms"`.
    pub(crate) fn parsed<T>(&self, key: &str) -> Option<T>
    where
        T: FromStr<Err = bentpipe_units::ParseError>,
    {
        self.parse(self.text(key)?)
    }

    /// A list of such strings.
    pub(crate) fn parsed_list<T>(&self, key: &str) -> Vec<T>
    where
        T: FromStr<Err = bentpipe_units::ParseError>,
    {
        let texts = self.texts(key).into_iter();
        texts.filter_map(|text| self.parse(text)).collect()
    }

    pub(crate) fn parse<T>(&self, text: Text) -> Option<T>
    where
        T: FromStr<Err = bentpipe_units::ParseError>,
    {
        match text.value.parse() {
            Ok(value) => Some(value),
            Err(e) => {
                let label = format!("expected {}", e.expected);
                self.error(Diagnostic::at(text.span, e.found).label(label));
                None
            }
        }
    }

    /// A list of strings; a single string is a list of one.
    pub(crate) fn texts(&self, key: &str) -> Vec<Text> {
        let Some(value) = self.get(key) else {
            return Vec::new();
        };
        match &value.value {
            Value::Text(s) => vec![Text {
                value: s.to_string(),
                span: span(value),
            }],
            Value::List(items) => items
                .iter()
                .filter_map(|item| match &item.value {
                    Value::Text(s) => Some(Text {
                        value: s.to_string(),
                        span: span(item),
                    }),
                    _ => {
                        self.expected(item, key, "an array of strings");
                        None
                    }
                })
                .collect(),
            _ => {
                self.expected(value, key, "a string or an array of strings");
                Vec::new()
            }
        }
    }

    pub(crate) fn table(&self, key: &str) -> Option<Section<'a>> {
        let value = self.get(key)?;
        match &value.value {
            Value::Table(table) => Some(self.inner(table, value)),
            _ => {
                self.expected(value, key, "a table");
                None
            }
        }
    }

    /// An array of tables.
    pub(crate) fn tables(&self, key: &str) -> Vec<Section<'a>> {
        let Some(value) = self.get(key) else {
            return Vec::new();
        };
        let Value::List(items) = &value.value else {
            self.expected(value, key, &format!("an array of tables, `[[{key}]]`"));
            return Vec::new();
        };
        let mut sections = Vec::with_capacity(items.len());
        for item in items.iter() {
            match &item.value {
                Value::Table(table) => sections.push(self.inner(table, item)),
                _ => self.expected(item, key, "a table"),
            }
        }
        sections
    }

    /// Every value of an array as TOML, with its text where it is a string.
    pub(crate) fn values(&self, key: &str) -> Vec<(String, Option<String>, Range<usize>)> {
        let Some(value) = self.get(key) else {
            return Vec::new();
        };
        let Value::List(items) = &value.value else {
            self.expected(value, key, "an array");
            return Vec::new();
        };
        items
            .iter()
            .map(|item| {
                let text = match &item.value {
                    Value::Text(text) => Some(text.clone()),
                    _ => None,
                };
                (self.toml(item), text, span(item))
            })
            .collect()
    }

    /// Every key of the table with its value as TOML, in the order of the
    /// file. All keys are known then.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (String, String)> + '_ {
        self.table.iter().map(|entry| {
            self.asked.borrow_mut().push(entry.key.clone());
            (entry.key.clone(), self.toml(&entry.item))
        })
    }

    /// The keys of the table, in the order of the file.
    pub(crate) fn keys(&self) -> Vec<String> {
        self.table.iter().map(|entry| entry.key.clone()).collect()
    }

    /// The value as it stands in the file.
    fn toml(&self, item: &Item) -> String {
        self.text_at(&span(item)).unwrap_or("").to_owned()
    }

    fn text_at(&self, span: &Range<usize>) -> Option<&str> {
        self.errors.origin().source.text.get(span.clone())
    }

    /// Where the content of a string begins, if it stands there as it is.
    pub(crate) fn start_of(&self, text: &Text) -> Option<usize> {
        let raw = self.text_at(&text.span)?;
        let offset = raw.find(text.value.as_str())?;
        (raw.len() - offset - text.value.len() <= 3 && offset <= 4)
            .then_some(text.span.start + offset)
    }
}

fn span(item: &Item) -> Range<usize> {
    item.place.span().unwrap_or(0..0)
}
