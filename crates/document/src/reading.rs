//! Reads tables by their declarations.
//!
//! An invalid part is reported and the rest is still read, so that one pass finds as many errors as
//! possible: each key of a table is a separate [`Result`].

use crate::diagnostic::{Diagnostic, Errors, Reported};
use crate::names::{alternatives, quoted};
use crate::schema::{Key, Kind, Kinds, Section};
use crate::source::Place;
use crate::tree::{Entry, Item, Table, Value};
use crate::value::Scalar;
use bentpipe_units::nearest;

/// A value and its position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placed<T> {
    /// The value.
    pub value: T,
    /// Position in the text.
    pub place: Place,
    /// The place of its key.
    pub key: Place,
}

/// A key that must be there or has a default.
pub type Field<T> = Result<Placed<T>, Reported>;

/// A key that may be left out.
pub type OptionalField<T> = Result<Option<Placed<T>>, Reported>;

/// A table that is being read, for messages about it.
#[derive(Clone, Debug)]
pub struct Context {
    /// Where errors go.
    pub errors: Errors,
    /// The table itself.
    pub table: Table,
    /// Where a missing key is reported.
    pub at: Place,
    /// Name of the described object in messages: ``link `satellite` ``.
    pub what: String,
    section: &'static Section,
}

/// The value of a key of some table.
#[derive(Clone, Copy, Debug)]
pub struct Given<'a> {
    /// The key with its value.
    pub entry: &'a Entry,
    /// The table that contains it.
    pub of: &'a Context,
}

/// A type as which the value of a key can be read.
pub trait Read: Sized {
    /// Default kind of the value, unless the declaration restricts it.
    const KIND: Kind;

    /// Reads the value and reports what is wrong with it.
    ///
    /// # Errors
    /// When it was wrong.
    fn read(given: Given<'_>, kind: &Kind) -> Result<Self, Reported>;
}

/// A table that was declared with [`table!`](crate::table).
pub trait Declared: Sized {
    /// Its declaration.
    fn section() -> &'static Section;

    /// Reads its keys. Those that it does not know were reported.
    fn from_context(context: Context) -> Self;
}

/// Tables that were declared with [`kinds!`](crate::kinds).
pub trait DeclaredKinds: Sized {
    /// Their declaration.
    fn kinds() -> &'static Kinds;

    /// Reads the keys of the kind with this number.
    fn from_context(kind: usize, context: Context) -> Self;
}

impl<T> Placed<T> {
    /// A different value at the same position.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Placed<U> {
        Placed {
            value: change(self.value),
            place: self.place,
            key: self.key,
        }
    }
}

impl Context {
    /// The table of a whole document.
    #[must_use]
    pub fn top<T: Declared>(table: &Table, errors: &Errors, what: &str) -> Context {
        Context::new(errors, T::section(), table, Place::Whole, what.to_string())
    }

    fn new(
        errors: &Errors,
        section: &'static Section,
        table: &Table,
        at: Place,
        what: String,
    ) -> Context {
        let context = Context {
            errors: errors.clone(),
            table: table.clone(),
            at,
            what,
            section,
        };
        if !section.open {
            context.check_keys(&[], |_| None);
        }
        context
    }

    /// Reports an error, which is about this table.
    pub fn report(&self, error: Diagnostic) -> Reported {
        self.errors.report(error.about(self.topic()))
    }

    /// Topic under which this table is documented.
    fn topic(&self) -> &'static str {
        self.section.topic()
    }

    /// Reports every key that neither the declaration nor `others` know. `hint`
    /// may say more about one.
    pub fn check_keys(&self, others: &[&str], hint: impl Fn(&str) -> Option<String>) {
        let others = || {
            let kind = self.section.kind.is_some().then_some("kind");
            others.iter().copied().chain(kind)
        };
        let names = || self.section.keys.iter().map(|k| k.name).chain(others());
        for entry in self.table.iter() {
            if self.section.key(&entry.key).is_some() || others().any(|k| k == entry.key) {
                continue;
            }
            self.errors.report_with(|| {
                let message = format!("{} has no key `{}`", self.what, entry.key);
                let found = Diagnostic::new(entry.key_place, message).about(self.topic());
                if let Some(name) = nearest(&entry.key, names()) {
                    let help = format!("did you mean `{name}`?");
                    return found.label("unknown key").help(help);
                }
                if names().next().is_none() {
                    return found.label("no key is expected here");
                }
                let mut known: Vec<&str> = names().filter(|n| !self.has(n)).collect();
                if known.is_empty() {
                    known = names().collect();
                }
                let found = match hint(&entry.key) {
                    Some(help) => found.help(help),
                    None => found,
                };
                let help = format!("known keys are {}", quoted(known));
                found.label("unknown key").help(help)
            });
        }
    }

    /// True if the key is written.
    #[must_use]
    pub fn has(&self, key: &str) -> bool {
        self.table.get(key).is_some()
    }

    /// The declaration of one of its keys.
    fn key(&self, name: &str) -> &'static Key {
        let key = self.section.key(name);
        key.unwrap_or_else(|| unreachable!("{name} is declared with the reader of this table"))
    }

    /// The value of a key that may be left out.
    ///
    /// # Errors
    /// When it is wrong.
    pub fn optional<T: Read>(&self, name: &'static str) -> OptionalField<T> {
        match self.table.get(name) {
            Some(entry) => self.read(entry).map(Some),
            None => Ok(None),
        }
    }

    /// The value of a key that must be there.
    ///
    /// # Errors
    /// When it is missing or wrong.
    pub fn required<T: Read>(&self, name: &'static str) -> Field<T> {
        let value = self.optional(name)?;
        value.ok_or_else(|| self.missing(name))
    }

    /// The value of a key, or `default` if it is omitted.
    ///
    /// # Errors
    /// When it is wrong.
    pub fn or_default<T: Read>(&self, name: &'static str, default: impl Into<Value>) -> Field<T> {
        match self.table.get(name) {
            Some(entry) => self.read(entry),
            None => self.read(&self.unwritten(name, default.into())),
        }
    }

    fn unwritten(&self, name: &str, value: Value) -> Entry {
        Entry {
            key: name.to_string(),
            key_place: self.at,
            item: Item {
                value,
                place: self.at,
            },
        }
    }

    fn read<T: Read>(&self, entry: &Entry) -> Field<T> {
        let given = Given { entry, of: self };
        let value = T::read(given, &self.key(&entry.key).kind)?;
        Ok(Placed {
            value,
            place: entry.item.place,
            key: entry.key_place,
        })
    }

    /// One of these words, each with a value.
    ///
    /// # Errors
    /// When it is another.
    pub fn word<T: Copy>(&self, name: &'static str, words: &[(&str, T)]) -> OptionalField<T> {
        let Some(text) = self.optional::<String>(name)? else {
            return Ok(None);
        };
        let found = words.iter().find(|(word, _)| *word == text.value);
        match found {
            Some((_, value)) => Ok(Some(text.map(|_| *value))),
            None => Err(self.unknown(name, &text, words.iter().map(|(word, _)| *word))),
        }
    }

    /// As [`Context::word`], with what holds where it is left out.
    ///
    /// # Errors
    /// When it is another.
    pub fn word_or<T: Copy>(
        &self,
        name: &'static str,
        words: &[(&str, T)],
        default: &'static str,
    ) -> Field<T> {
        if let Some(word) = self.word(name, words)? {
            return Ok(word);
        }
        let found = words.iter().find(|(word, _)| *word == default);
        let (_, value) = found.unwrap_or_else(|| unreachable!("{default} is one of the words"));
        Ok(Placed {
            value: *value,
            place: self.at,
            key: self.at,
        })
    }

    /// Reports a name that is none of those that are known.
    pub fn unknown<'n>(
        &self,
        what: &str,
        name: &Placed<String>,
        known: impl Iterator<Item = &'n str> + Clone,
    ) -> Reported {
        self.errors.report_with(|| {
            let error = Diagnostic::new(name.place, format!("unknown {what} `{}`", name.value));
            let error = error.about(self.topic());
            let error = error.label(format!("expected {}", alternatives(known.clone())));
            error.suggest_from(&name.value, known)
        })
    }

    /// Reports a key that must be there and is not. Where it is misspelt, that was reported.
    pub fn missing(&self, name: &'static str) -> Reported {
        if self.is_misspelt(name) {
            return self.errors.already();
        }
        let key = self.key(name);
        self.report(
            self.lacks(name)
                .help(format!("`{name}`: {}", key.meaning))
                .help(format!("expected {}", key.kind)),
        )
    }

    /// True if an unknown key of this table was reported as a misspelling of `name`.
    fn is_misspelt(&self, name: &str) -> bool {
        let names = || {
            let kind = self.section.kind.is_some().then_some("kind");
            self.section.keys.iter().map(|k| k.name).chain(kind)
        };
        let is_unknown = |key: &str| names().all(|known| known != key);
        !self.section.open
            && self
                .table
                .iter()
                .any(|entry| is_unknown(&entry.key) && nearest(&entry.key, names()) == Some(name))
    }

    /// The value of a key that must be there after all.
    ///
    /// # Errors
    /// When it is missing.
    pub fn need<T>(&self, name: &'static str, value: Option<Placed<T>>) -> Field<T> {
        value.ok_or_else(|| self.missing(name))
    }

    /// The error that this table lacks something.
    #[must_use]
    pub fn lacks(&self, name: &str) -> Diagnostic {
        let error = Diagnostic::new(self.at, format!("{} has no `{name}`", self.what));
        if self.at == Place::Whole {
            error
        } else {
            error.label("missing here")
        }
    }

    /// The same table as one of another declaration, whose keys this one
    /// shares.
    #[must_use]
    pub fn shared(&self) -> Context {
        self.clone()
    }
}

impl<'a> Given<'a> {
    /// Reports an error about the table that contains the key.
    pub fn report(&self, error: Diagnostic) -> Reported {
        self.of.report(error)
    }

    /// The value as a single one.
    ///
    /// # Errors
    /// When it is wrong.
    pub fn scalar<T: Scalar>(&self, kind: &Kind) -> Result<T, Reported> {
        let item = &self.entry.item;
        T::read(&item.value, kind)
            .map_err(|problem| self.report(problem.at(item.place, &self.entry.key)))
    }

    /// The value as a table.
    pub(crate) fn table(&self) -> Result<&'a Table, Reported> {
        match &self.entry.item.value {
            Value::Table(table) => Ok(table),
            other => {
                let message = format!("`{}` is {}", self.entry.key, other.kind());
                let error = Diagnostic::new(self.entry.item.place, message);
                Err(self.report(error.label("expected a table")))
            }
        }
    }

    /// The value as a table of this declaration.
    ///
    /// # Errors
    /// When it is none.
    pub fn declared<T: Declared>(&self) -> Result<T, Reported> {
        let section = T::section();
        let what = match section.named {
            true => format!("{} `{}`", section.called, self.entry.key),
            false => format!("{} {}", section.called, self.of.what),
        };
        let (table, at) = (self.table()?, self.entry.key_place);
        let errors = &self.of.errors;
        Ok(T::from_context(Context::new(
            errors, section, table, at, what,
        )))
    }

    /// The value as an array of tables of this declaration.
    ///
    /// # Errors
    /// When it is none, or empty.
    pub fn array<T: Declared>(&self, kind: &Kind) -> Result<Vec<T>, Reported> {
        let wrong = |place: Place, found: String| {
            let problem = crate::Problem::new(found, kind);
            Err(self.report(problem.at(place, &self.entry.key)))
        };
        let Value::List(items) = &self.entry.item.value else {
            let found = format!("expected an array, found {}", self.entry.item.value.kind());
            return wrong(self.entry.item.place, found);
        };
        if items.is_empty() {
            return wrong(self.entry.item.place, "an empty array".to_owned());
        }
        let section = T::section();
        let mut found = Vec::with_capacity(items.len());
        for item in items.iter() {
            let Value::Table(table) = &item.value else {
                let message = format!("expected a table, found {}", item.value.kind());
                return wrong(item.place, message);
            };
            let what = format!("{} {}", section.called, self.of.what);
            let context = Context::new(&self.of.errors, section, table, item.place, what);
            found.push(T::from_context(context));
        }
        Ok(found)
    }

    /// The value as a table with a `kind`, or the kind alone.
    ///
    /// # Errors
    /// When there is no such kind.
    pub fn kinds<T: DeclaredKinds>(&self) -> Result<T, Reported> {
        let (entry, kinds) = (self.entry, T::kinds());
        let called = kinds.called;
        let topic = kinds.topic();
        let names = || kinds.sections.iter().filter_map(|s| s.kind);
        let number = |kind: &str, place: Place| {
            names().position(|name| name == kind).ok_or_else(|| {
                let error = Diagnostic::new(place, format!("unknown {called} `{kind}`"));
                let error = error.label(format!("expected {}", alternatives(names())));
                self.report(error.suggest_from(kind, names()).about(topic))
            })
        };
        let empty = Table::default();
        let (number, table) = match &entry.item.value {
            Value::Text(kind) => (number(kind, entry.item.place)?, &empty),
            Value::Table(table) => match table.get("kind").map(|kind| &kind.item) {
                Some(Item {
                    value: Value::Text(kind),
                    place,
                }) => (number(kind, *place)?, table),
                Some(kind) => {
                    let message = format!("`kind` is {}", kind.value.kind());
                    let error = Diagnostic::new(kind.place, message)
                        .label(format!("expected {}", alternatives(names())));
                    return Err(self.report(error.about(topic)));
                }
                None => {
                    let message = format!("the {called} of {} has no `kind`", self.of.what);
                    let error = Diagnostic::new(entry.key_place, message)
                        .label(format!("`kind` is {}", alternatives(names())));
                    return Err(self.report(error.about(topic)));
                }
            },
            other => {
                let message = format!("`{}` is {}", entry.key, other.kind());
                let error = Diagnostic::new(entry.item.place, message).label(format!(
                    "expected a table whose `kind` is {}",
                    alternatives(names())
                ));
                return Err(self.report(error.about(topic)));
            }
        };
        let section = &kinds.sections[number];
        let at = if table.is_empty() {
            entry.item.place
        } else {
            entry.key_place
        };
        let what = format!("{called} `{}`", section.kind.unwrap_or(""));
        let context = Context::new(&self.of.errors, section, table, at, what);
        Ok(T::from_context(number, context))
    }
}

macro_rules! scalars {
    ($($type:ty),*) => {
        $(impl Read for $type {
            const KIND: Kind = <$type as Scalar>::KIND;

            fn read(given: Given<'_>, kind: &Kind) -> Result<$type, Reported> {
                given.scalar(kind)
            }
        })*
    };
}

scalars!(
    String,
    Vec<String>,
    bool,
    u32,
    u64,
    f64,
    bentpipe_units::Duration,
    bentpipe_units::Rate,
    bentpipe_units::Bytes,
    bentpipe_units::Ratio
);

impl<T: Declared> Read for Vec<T> {
    const KIND: Kind = Kind::Tables(T::section);

    fn read(given: Given<'_>, kind: &Kind) -> Result<Vec<T>, Reported> {
        given.array(kind)
    }
}

/// Any value: whoever needs it looks at it.
impl Read for Item {
    const KIND: Kind = Kind::Text;

    fn read(given: Given<'_>, _: &Kind) -> Result<Item, Reported> {
        Ok(given.entry.item.clone())
    }
}
