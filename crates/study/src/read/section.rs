//! A table of a TOML document, read key by key; what nobody asks for is
//! reported with the nearest name.

use crate::diagnose::Diagnostic;
use crate::names::list;
use bentpipe_scenario::Document;
use std::cell::RefCell;
use std::ops::{Range, RangeInclusive};
use std::str::FromStr;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Where errors go, so that reading can go on.
#[derive(Default)]
pub(crate) struct Errors(RefCell<Vec<Diagnostic>>);

impl Errors {
    pub(crate) fn push(&self, error: Diagnostic) {
        self.0.borrow_mut().push(error);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.borrow().is_empty()
    }

    pub(crate) fn take(&self) -> Vec<Diagnostic> {
        self.0.take()
    }
}

/// Parses a document; reports if it is not TOML, or deeper or longer than a
/// scenario may be.
pub(crate) fn document<'t>(file: &str, text: &'t str, errors: &Errors) -> Option<DeTable<'t>> {
    if let Err(wrong) = Document::parse(file, text) {
        for e in &wrong.errors {
            let error = match e.span() {
                Some(span) => Diagnostic::at(span, e.message()),
                None => Diagnostic::whole(e.message()),
            };
            let error = e
                .advice()
                .iter()
                .fold(error, |error, help| error.help(help));
            errors.push(error.label(e.expected()));
        }
        return None;
    }
    match DeTable::parse(text) {
        Ok(table) => Some(table.into_inner()),
        Err(e) => {
            errors.push(Diagnostic::whole(e.message()));
            None
        }
    }
}

/// A string and where it stands, quotes included.
#[derive(Clone, Debug)]
pub(crate) struct Text {
    pub(crate) value: String,
    pub(crate) span: Range<usize>,
}

/// A table being read.
pub(crate) struct Section<'a> {
    table: &'a DeTable<'a>,
    pub(crate) span: Range<usize>,
    text: &'a str,
    errors: &'a Errors,
    asked: RefCell<Vec<String>>,
}

impl<'a> Section<'a> {
    pub(crate) fn new(
        table: &'a DeTable<'a>,
        span: Range<usize>,
        text: &'a str,
        errors: &'a Errors,
    ) -> Section<'a> {
        Section {
            table,
            span,
            text,
            errors,
            asked: RefCell::default(),
        }
    }

    pub(crate) fn error(&self, error: Diagnostic) {
        self.errors.push(error);
    }

    fn inner(&self, table: &'a DeTable<'a>, span: Range<usize>) -> Section<'a> {
        Section::new(table, span, self.text, self.errors)
    }

    /// The value of a key, which is then known.
    fn get(&self, key: &str) -> Option<&'a Spanned<DeValue<'a>>> {
        self.asked.borrow_mut().push(key.to_owned());
        self.table.get(key)
    }

    /// True if the key is there, whatever it is.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.table.get(key).is_some()
    }

    /// Where the value of a key stands; the section itself without it.
    pub(crate) fn span_of(&self, key: &str) -> Range<usize> {
        self.table.get(key).map_or(self.span.clone(), Spanned::span)
    }

    /// Reports every key that nobody asked for.
    pub(crate) fn finish(&self) {
        let asked = self.asked.borrow();
        for (key, _) in self.table {
            let name: &str = key.get_ref();
            if !asked.iter().any(|a| a == name) {
                let known = || asked.iter().map(String::as_str);
                self.error(
                    Diagnostic::at(key.span(), format!("unknown key `{name}`"))
                        .label(format!("known here: {}", list(known())))
                        .suggest(name, known()),
                );
            }
        }
    }

    fn expected(&self, value: &Spanned<DeValue<'_>>, key: &str, what: &str) {
        self.error(
            Diagnostic::at(
                value.span(),
                format!("`{key}` is {}", kind(value.get_ref())),
            )
            .label(format!("expected {what}")),
        );
    }

    fn missing(&self, key: &str) {
        let error = if self.span.is_empty() {
            Diagnostic::whole(format!("`{key}` is missing"))
        } else {
            Diagnostic::at(self.span.clone(), format!("`{key}` is missing"))
        };
        self.error(error);
    }

    pub(crate) fn text(&self, key: &str) -> Option<Text> {
        let value = self.get(key)?;
        match value.get_ref() {
            DeValue::String(s) => Some(Text {
                value: s.to_string(),
                span: value.span(),
            }),
            _ => {
                self.expected(value, key, "a string");
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
        let number = match value.get_ref() {
            DeValue::Integer(n) => i128::from_str_radix(n.as_str(), n.radix()).ok(),
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
                Diagnostic::at(value.span(), format!("`{key}` is out of range"))
                    .label(format!("expected a whole number from {low} to {high}")),
            );
        }
        number
    }

    pub(crate) fn number(&self, key: &str) -> Option<f64> {
        let value = self.get(key)?;
        let number = match value.get_ref() {
            DeValue::Integer(n) => n.as_str().replace('_', "").parse::<f64>().ok(),
            DeValue::Float(x) => x.as_str().replace('_', "").parse::<f64>().ok(),
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
        match value.get_ref() {
            DeValue::Boolean(b) => *b,
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

    fn parse<T>(&self, text: Text) -> Option<T>
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
        match value.get_ref() {
            DeValue::String(s) => vec![Text {
                value: s.to_string(),
                span: value.span(),
            }],
            DeValue::Array(items) => items
                .iter()
                .filter_map(|item| match item.get_ref() {
                    DeValue::String(s) => Some(Text {
                        value: s.to_string(),
                        span: item.span(),
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
        match value.get_ref() {
            DeValue::Table(table) => Some(self.inner(table, value.span())),
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
        let DeValue::Array(items) = value.get_ref() else {
            self.expected(value, key, &format!("an array of tables, `[[{key}]]`"));
            return Vec::new();
        };
        let mut sections = Vec::with_capacity(items.len());
        for item in items {
            match item.get_ref() {
                DeValue::Table(table) => sections.push(self.inner(table, item.span())),
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
        let DeValue::Array(items) = value.get_ref() else {
            self.expected(value, key, "an array");
            return Vec::new();
        };
        items
            .iter()
            .map(|item| {
                (
                    self.toml(item),
                    item.get_ref().as_str().map(str::to_owned),
                    item.span(),
                )
            })
            .collect()
    }

    /// Every key of the table with its value as TOML, in the order of the
    /// file. All keys are known then.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (String, String)> {
        let mut entries: Vec<_> = self.table.iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        entries
            .into_iter()
            .map(|(key, value)| {
                self.asked.borrow_mut().push(key.get_ref().to_string());
                (key.get_ref().to_string(), self.toml(value))
            })
            .collect::<Vec<_>>()
            .into_iter()
    }

    /// The keys of the table, in the order of the file.
    pub(crate) fn keys(&self) -> Vec<(String, Range<usize>)> {
        let mut keys: Vec<_> = self
            .table
            .iter()
            .map(|(k, _)| (k.get_ref().to_string(), k.span()))
            .collect();
        keys.sort_by_key(|(_, span)| span.start);
        keys
    }

    fn toml(&self, value: &Spanned<DeValue<'_>>) -> String {
        self.text.get(value.span()).unwrap_or("").to_owned()
    }

    /// Where the content of a string begins, if it stands there as it is.
    pub(crate) fn start_of(&self, text: &Text) -> Option<usize> {
        let raw = self.text.get(text.span.clone())?;
        let offset = raw.find(text.value.as_str())?;
        (raw.len() - offset - text.value.len() <= 3 && offset <= 4)
            .then_some(text.span.start + offset)
    }
}

fn kind(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "a boolean",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "an array",
        DeValue::Table(_) => "a table",
    }
}
