//! Lines of TOML.

use bentpipe_units::{Bytes, Duration, Rate};
use std::fmt::{Display, Write as _};
use std::str::FromStr;

/// A text that grows line by line.
#[derive(Debug, Default)]
pub(super) struct Text(String);

impl Text {
    /// Begins a table, by the parts of its path.
    pub(super) fn table(&mut self, path: &[&str]) {
        let path: Vec<String> = path.iter().map(|part| key(part)).collect();
        if !self.0.is_empty() {
            self.0.push('\n');
        }
        let _ = writeln!(self.0, "[{}]", path.join("."));
    }

    /// A key, with a value as TOML has it.
    pub(super) fn key(&mut self, name: &str, value: impl Display) {
        let _ = writeln!(self.0, "{} = {value}", key(name));
    }

    pub(super) fn time(&mut self, name: &str, value: Duration) {
        self.key(name, quoted(&time(value)));
    }

    pub(super) fn rate(&mut self, name: &str, value: Rate) {
        self.key(name, quoted(&rate(value)));
    }

    pub(super) fn size(&mut self, name: &str, value: Bytes) {
        self.key(name, quoted(&size(value)));
    }

    pub(super) fn finish(self) -> String {
        self.0
    }
}

/// True for what can be the name of a table without more.
pub(super) fn is_name(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || "-_+".contains(c);
    !name.is_empty() && name.chars().all(fits)
}

/// A part of a path of keys.
fn key(name: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    match !name.is_empty() && name.chars().all(is_bare) {
        true => name.to_owned(),
        false => quoted(name),
    }
}

/// A basic string.
pub(super) fn quoted(text: &str) -> String {
    let mut found = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => {
                found.push('\\');
                found.push(c);
            }
            '\n' => found.push_str("\\n"),
            c if c.is_control() => {
                let _ = write!(found, "\\u{:04X}", u32::from(c));
            }
            c => found.push(c),
        }
    }
    found.push('"');
    found
}

/// A quantity as people write it, where that says all of it.
fn exact<T: Display + FromStr + PartialEq>(value: T, in_full: impl FnOnce(&T) -> String) -> String {
    let shown = value.to_string();
    match shown.parse::<T>() {
        Ok(read) if read == value => shown,
        _ => in_full(&value),
    }
}

pub(super) fn time(value: Duration) -> String {
    exact(value, |time| format!("{} ns", time.as_nanos()))
}

pub(super) fn rate(value: Rate) -> String {
    exact(value, |rate| format!("{} bit/s", rate.bps()))
}

pub(super) fn size(value: Bytes) -> String {
    exact(value, |size| format!("{} B", size.get()))
}

/// The name of one of several values.
pub(super) fn name_of<T: PartialEq, const N: usize>(
    all: &[(&'static str, T); N],
    value: &T,
) -> &'static str {
    let found = all.iter().find(|(_, known)| known == value);
    found.map_or("", |(name, _)| name)
}
