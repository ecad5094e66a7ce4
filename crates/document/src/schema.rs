//! The schema of a language: tables, their keys, and the permitted values.

use crate::tree::{Table, Value};
use std::collections::HashSet;
use std::fmt;

/// A table and its keys.
#[derive(Clone, Debug)]
pub struct Section {
    /// Its path, such as `link.NAME.channel`; empty for the top.
    pub path: &'static str,
    /// The value of `kind` that these keys belong to, where there are several.
    pub kind: Option<&'static str>,
    /// Name in messages, such as `link` or `the trace of`.
    pub called: &'static str,
    /// True if messages add its name to that, not the name of the table that contains it.
    pub named: bool,
    /// True if it has keys that are known to its reader only.
    pub open: bool,
    /// True if it is an element of an array, `[[axis]]`.
    pub array: bool,
    /// Description.
    pub meaning: &'static str,
    /// TOML that shows it, and that can be merged into a scenario.
    pub example: &'static str,
    /// Its keys. `kind` is not among them.
    pub keys: Vec<Key>,
}

/// The tables that `kind` chooses from.
#[derive(Clone, Debug)]
pub struct Kinds {
    /// Its path, such as `link.NAME.channel`.
    pub path: &'static str,
    /// Name in messages, such as `channel`.
    pub called: &'static str,
    /// Description.
    pub meaning: &'static str,
    /// One table for each kind.
    pub sections: Vec<Section>,
}

/// A key of a table.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Name, as written in a file.
    pub name: &'static str,
    /// Permitted values.
    pub kind: Kind,
    /// Default value.
    pub presence: Presence,
    /// One-line description.
    pub meaning: &'static str,
}

/// Whether a key must be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// The key is mandatory.
    Required,
    /// It need not; this value, in TOML, holds instead.
    Default(&'static str),
    /// It need not; this, in words, holds instead.
    Otherwise(&'static str),
}

/// Permitted values of a key.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// A quoted string.
    Text,
    /// A string in a form of its own: what a message says is expected.
    Form(&'static str),
    /// The name of something that the document or the program knows: what.
    Name(&'static str),
    /// The name of a file, seen from the document's folder.
    File,
    /// Names of nodes, this many.
    Nodes(usize),
    /// One name or several of something that the document knows: what.
    Names(&'static str),
    /// A time with a unit.
    Duration {
        /// Whether it may be zero.
        zero: bool,
    },
    /// A rate above zero.
    Rate,
    /// A size with a unit.
    Size {
        /// Smallest permitted value, bytes.
        min: u64,
        /// Largest permitted value, bytes.
        max: u64,
    },
    /// A probability or share.
    Ratio,
    /// A whole number.
    Integer {
        /// Smallest permitted value.
        min: u64,
        /// Largest permitted value.
        max: u64,
    },
    /// A number.
    Number {
        /// Smallest permitted value.
        min: f64,
        /// Largest permitted value.
        max: f64,
    },
    /// A number or the word `unlimited`.
    NumberOrUnlimited {
        /// Smallest permitted value.
        min: f64,
        /// Largest permitted value.
        max: f64,
    },
    /// `true` or `false`.
    Boolean,
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// A table.
    Table(fn() -> &'static Section),
    /// An array of tables.
    Tables(fn() -> &'static Section),
    /// Tables by name.
    Named(fn() -> &'static Section),
    /// Tables by name, each with a `kind`.
    NamedKinds(fn() -> &'static Kinds),
    /// A table with a `kind`, or the name of a kind alone if it needs no more
    /// keys.
    Kinds(fn() -> &'static Kinds),
    /// A value of the first form, which a message describes, or a table with a
    /// `kind`.
    Either(&'static str, &'static Kind, fn() -> &'static Kinds),
    /// Whatever TOML has.
    Any,
    /// An array of such values.
    List(&'static Kind),
    /// Such a value, or an array of them.
    Many(&'static Kind),
    /// Such values by name.
    Map(&'static Kind),
    /// A value of one of these kinds.
    AnyOf(&'static [Kind]),
}

/// A size of at least a byte and less than an exabyte.
pub const SIZE: Kind = Kind::Size {
    min: 1,
    max: 1_000_000_000_000_000_000,
};

/// A size that fits the header of a packet.
pub const PACKET: Kind = Kind::Size {
    min: 1,
    max: 65_535,
};

/// Bytes of a packet that may also be none.
pub const HEADER: Kind = Kind::Size {
    min: 0,
    max: 65_535,
};

/// A time above zero.
pub const SPAN: Kind = Kind::Duration { zero: false };

/// A number from 0 to 1 that is not a share.
pub const FACTOR: Kind = Kind::Number { min: 0.0, max: 1.0 };

/// A whole number in a range.
#[must_use]
pub const fn integer(min: u64, max: u64) -> Kind {
    Kind::Integer { min, max }
}

/// A number in a range.
#[must_use]
pub const fn number(min: f64, max: f64) -> Kind {
    Kind::Number { min, max }
}

/// The part of a language that the table at `path` belongs to: `link.NAME.queue` to the queue,
/// `table.bar` to the table. The top has none.
fn topic(path: &'static str) -> Option<&'static str> {
    let is_placeholder = |word: &str| word.chars().all(|c| c.is_ascii_uppercase());
    let mut words = path.split('.').filter(|word| !word.is_empty());
    let first = words.next()?;
    match (words.next(), words.next()) {
        (Some(name), Some(inner)) if is_placeholder(name) => Some(inner),
        _ => Some(first),
    }
}

impl Kinds {
    /// The part of the language that they belong to, such as `channel`.
    #[must_use]
    pub fn topic(&self) -> &'static str {
        topic(self.path).unwrap_or(self.called)
    }
}

impl Section {
    /// The part of the language that it belongs to, such as `queue`; of the top, what it
    /// describes, such as `scenario`.
    #[must_use]
    pub fn topic(&self) -> &'static str {
        topic(self.path).unwrap_or(self.called.trim_start_matches("the "))
    }

    /// The key of that name.
    #[must_use]
    pub fn key(&self, name: &str) -> Option<&Key> {
        self.keys.iter().find(|k| k.name == name)
    }

    /// This table and all below it, in the order of their keys.
    #[must_use]
    pub fn all(&'static self) -> Vec<&'static Section> {
        let (mut found, mut seen) = (Vec::new(), HashSet::new());
        self.collect(&mut found, &mut seen);
        found
    }

    /// The files that `table` names by its declared keys, each once.
    #[must_use]
    pub fn files(&'static self, table: &Table) -> Vec<String> {
        let mut files = Vec::new();
        self.collect_files(table, &mut files);
        files
    }

    fn collect_files(&'static self, table: &Table, files: &mut Vec<String>) {
        for entry in table.iter() {
            let Some(key) = self.key(&entry.key) else {
                continue;
            };
            match (key.kind, &entry.item.value) {
                (Kind::File, Value::Text(name)) if !files.contains(name) => {
                    files.push(name.clone());
                }
                (kind, Value::Table(table)) => kind.collect_files(table, files),
                _ => {}
            }
        }
    }

    fn collect(
        &'static self,
        found: &mut Vec<&'static Section>,
        seen: &mut HashSet<(&'static str, Option<&'static str>)>,
    ) {
        if !seen.insert((self.path, self.kind)) {
            return;
        }
        found.push(self);
        for key in &self.keys {
            for section in key.kind.sections() {
                section.collect(found, seen);
            }
        }
    }
}

impl Kind {
    /// The tables that a value of this kind may be.
    #[must_use]
    pub fn sections(&self) -> Vec<&'static Section> {
        match self {
            Kind::Table(section) | Kind::Tables(section) | Kind::Named(section) => vec![section()],
            Kind::NamedKinds(kinds) | Kind::Kinds(kinds) | Kind::Either(_, _, kinds) => {
                kinds().sections.iter().collect()
            }
            Kind::List(kind) | Kind::Many(kind) | Kind::Map(kind) => kind.sections(),
            Kind::AnyOf(kinds) => kinds.iter().flat_map(Kind::sections).collect(),
            _ => Vec::new(),
        }
    }
}

impl Kind {
    /// The files that a table of this kind names.
    fn collect_files(&self, table: &Table, files: &mut Vec<String>) {
        let chosen = |kinds: &'static Kinds, table: &Table| {
            let kind = table.get("kind").map(|kind| &kind.item.value);
            kinds.sections.iter().find(|s| match (s.kind, kind) {
                (Some(name), Some(Value::Text(kind))) => name == kind,
                _ => false,
            })
        };
        let inner = table.iter().filter_map(|entry| match &entry.item.value {
            Value::Table(table) => Some(table),
            _ => None,
        });
        match self {
            Kind::Table(section) => section().collect_files(table, files),
            Kind::Named(section) => inner.for_each(|t| section().collect_files(t, files)),
            Kind::Kinds(kinds) | Kind::Either(_, _, kinds) => {
                if let Some(section) = chosen(kinds(), table) {
                    section.collect_files(table, files);
                }
            }
            Kind::NamedKinds(kinds) => inner.for_each(|table| {
                if let Some(section) = chosen(kinds(), table) {
                    section.collect_files(table, files);
                }
            }),
            _ => {}
        }
    }
}

impl fmt::Display for Presence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Presence::Required => "required",
            Presence::Default(text) | Presence::Otherwise(text) => text,
        })
    }
}

impl fmt::Display for Kind {
    /// The expected value, in the words of a message.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Text => f.write_str("a string, in quotes"),
            Kind::File => f.write_str("the name of a file, in quotes"),
            Kind::Name(what) => write!(f, "the name of a {what}, in quotes"),
            Kind::Names(what) => {
                write!(f, "the name of a {what}, in quotes, or an array of names")
            }
            Kind::Nodes(n) => write!(f, "an array with the names of {n} nodes"),
            Kind::Duration { zero: true } => {
                f.write_str("a time with its unit, such as `255.5 ms`, `2 s` or `0 s`")
            }
            Kind::Duration { zero: false } => {
                f.write_str("a time above zero with its unit, such as `300 s` or `255.5 ms`")
            }
            Kind::Rate => f.write_str("a rate above zero with its unit, such as `2 Mbit/s`"),
            Kind::Size { min: 0, .. } => {
                f.write_str("a size with its unit, such as `320 kB` or `0 B`")
            }
            Kind::Size { min: 1, .. } => {
                f.write_str("a size above zero with its unit, such as `3 MB` or `320 kB`")
            }
            Kind::Size { min, max } => write!(f, "a size from `{min} B` to `{max} B`"),
            Kind::Ratio => f.write_str("a ratio from 0 to 1, such as `0.01` or \"1%\""),
            Kind::Integer { min, max: u64::MAX } => write!(f, "a whole number, at least {min}"),
            Kind::Integer { min, max } => write!(f, "a whole number from {min} to {max}"),
            Kind::Number {
                min: f64::MIN,
                max: f64::MAX,
            } => f.write_str("a number"),
            Kind::Number { min, max: f64::MAX } => write!(f, "a number, at least {min}"),
            Kind::Number { min, max } => write!(f, "a number from {min} to {max}"),
            Kind::NumberOrUnlimited { min, max } => {
                write!(f, "a number from {min} to {max}, or \"unlimited\"")
            }
            Kind::Boolean => f.write_str("`true` or `false`, without quotes"),
            Kind::OneOf(words) => {
                f.write_str("one of ")?;
                for (i, word) in words.iter().enumerate() {
                    write!(f, "{}\"{word}\"", if i == 0 { "" } else { ", " })?;
                }
                Ok(())
            }
            Kind::Table(_) | Kind::Named(_) | Kind::NamedKinds(_) => f.write_str("a table"),
            Kind::Tables(_) => f.write_str("an array of tables, such as `[{ ... }, { ... }]`"),
            Kind::Kinds(_) => f.write_str("a table such as `{ kind = \"...\" }`"),
            Kind::Form(expected) | Kind::Either(expected, ..) => f.write_str(expected),
            Kind::Any => f.write_str("a value"),
            Kind::List(kind) => write!(f, "an array, each element {kind}"),
            Kind::Many(kind) => write!(f, "{kind}, or an array of them"),
            Kind::Map(kind) => write!(f, "a table, under each name {kind}"),
            Kind::AnyOf(kinds) => {
                for (i, kind) in kinds.iter().enumerate() {
                    write!(f, "{}{kind}", if i == 0 { "" } else { ", or " })?;
                }
                Ok(())
            }
        }
    }
}
