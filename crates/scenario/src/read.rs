//! From the tree of a document to the validated model.
//!
//! Each part reports what is wrong with it and goes on, so that one pass finds
//! as many errors as it can. A value that could not be read is
//! `Err(Reported)`: whoever needs it says nothing more.

mod applications;
mod constellations;
mod flows;
mod links;
mod media;
mod middleboxes;
mod nodes;
mod protection;
mod queues;
mod routers;
mod space;
mod timelines;
mod transports;
mod value;

use crate::diagnostic::{Diagnostic, Errors, Reported};
use crate::model::{Limits, Scenario, Stranded};
use crate::schema::{self, Key, Kind, Section};
use crate::source::Place;
use crate::space::{Hop, Space};
use crate::tree::{Entry, Item, Table, Value};
use bentpipe_cc::nearest;
use value::Read;

/// A table that is being read against its section.
struct Fields<'a> {
    errors: &'a Errors,
    section: &'static Section,
    table: &'a Table,
    /// Where a missing key is reported.
    at: Place,
    /// What the table describes, as messages call it.
    what: String,
}

impl<'a> Fields<'a> {
    fn new(
        errors: &'a Errors,
        section: &'static Section,
        table: &'a Table,
        at: Place,
        what: impl Into<String>,
    ) -> Fields<'a> {
        Fields {
            errors,
            section,
            table,
            at,
            what: what.into(),
        }
    }

    /// Reports every key that neither the section nor `others` know.
    fn check_keys(&self, others: &[&str]) {
        for entry in self.table.iter() {
            let known = self.section.key(&entry.key).is_some();
            if known || others.contains(&entry.key.as_str()) {
                continue;
            }
            let names = || {
                self.section
                    .keys
                    .iter()
                    .map(|k| k.name)
                    .chain(others.iter().copied())
            };
            let found = Diagnostic::new(
                entry.key_place,
                format!("{} has no key `{}`", self.what, entry.key),
            );
            let found = match nearest(&entry.key, names()) {
                Some(name) => found
                    .label("unknown key")
                    .help(format!("did you mean `{name}`?")),
                None if names().next().is_none() => found.label("no key is expected here"),
                None => {
                    let mut known: Vec<&str> = names().filter(|n| !self.has(n)).collect();
                    if known.is_empty() {
                        known = names().collect();
                    }
                    let help = format!("known keys are {}", quoted(known.into_iter()));
                    let found = match parameter_of(&entry.key) {
                        Some(help) if self.section == &schema::TRANSPORT => found.help(help),
                        _ => found,
                    };
                    found.label("unknown key").help(help)
                }
            };
            self.errors.report(found);
        }
    }

    fn has(&self, key: &str) -> bool {
        self.table.get(key).is_some()
    }

    fn entry(&self, key: &str) -> Option<&'a Entry> {
        self.table.get(key)
    }

    fn key(&self, name: &str) -> Option<&'static Key> {
        let key = self.section.key(name);
        debug_assert!(
            key.is_some(),
            "{name} is not in the schema of {}",
            self.section.path
        );
        key
    }

    /// The value of a key that may be left out.
    fn optional<T: Read>(&self, name: &str) -> Result<Option<T>, Reported> {
        match (self.entry(name), self.key(name)) {
            (Some(entry), Some(key)) => self.read(&entry.item, key).map(Some),
            _ => Ok(None),
        }
    }

    /// The value of a key that must be there.
    fn required<T: Read>(&self, name: &str) -> Result<T, Reported> {
        match self.optional(name)? {
            Some(value) => Ok(value),
            None => Err(self.missing(name)),
        }
    }

    /// One of the words that the schema allows, if the key is there.
    fn optional_word(&self, name: &str) -> Result<Option<&'static str>, Reported> {
        let Some(Key {
            kind: Kind::OneOf(words),
            ..
        }) = self.key(name)
        else {
            return Ok(None);
        };
        let word = self.optional_name(name, words.to_vec())?;
        Ok(word.and_then(|word| words.iter().copied().find(|w| *w == word)))
    }

    /// One of these names, if the key is there.
    fn optional_name(&self, name: &str, names: Vec<&str>) -> Result<Option<String>, Reported> {
        let Some(word) = self.optional::<String>(name)? else {
            return Ok(None);
        };
        if names.contains(&word.as_str()) {
            return Ok(Some(word));
        }
        let place = self.entry(name).map_or(self.at, |e| e.item.place);
        let what = match self.key(name).map(|k| k.kind) {
            Some(Kind::Name(what)) => what,
            _ => name,
        };
        let error = Diagnostic::new(place, format!("unknown {what} `{word}`"));
        let error = error.label(format!("expected {}", alternatives(names.iter().copied())));
        Err(self.errors.report(error.suggest(nearest(&word, names))))
    }

    fn read<T: Read>(&self, item: &Item, key: &Key) -> Result<T, Reported> {
        T::read(&item.value, &key.kind)
            .map_err(|problem| self.errors.report(problem.at(item.place, key.name)))
    }

    /// Reports a key that must be there and is not.
    fn missing(&self, name: &str) -> Reported {
        let error = self.lacks(name);
        self.errors.report(match self.key(name) {
            Some(key) => error
                .help(format!("`{name}`: {}", key.meaning))
                .help(format!("expected {}", key.kind)),
            None => error,
        })
    }

    /// The error that this table lacks something.
    fn lacks(&self, name: &str) -> Diagnostic {
        let error = Diagnostic::new(self.at, format!("{} has no `{name}`", self.what));
        if self.at == Place::Whole {
            error
        } else {
            error.label("missing here")
        }
    }

    /// The tables in the table of this key, such as all links.
    fn tables(&self, name: &str) -> Result<Vec<(&'a Entry, &'a Table)>, Reported> {
        let Some(entry) = self.entry(name) else {
            return Ok(Vec::new());
        };
        let tables = self.table_of(entry)?;
        let mut found = Vec::with_capacity(tables.iter().len());
        for entry in tables.iter() {
            if let Err(expected) = value::check_name(&entry.key) {
                let message = format!("`{}` cannot be the name of a {name}", entry.key);
                self.errors
                    .report(Diagnostic::new(entry.key_place, message).label(expected));
            } else if let Ok(table) = self.table_of(entry) {
                found.push((entry, table));
            }
        }
        Ok(found)
    }

    /// True where the file has a table of that name, good or bad: it is not
    /// unknown, and what is wrong with it was said.
    fn names(&self, group: &str, name: &str) -> bool {
        match self.entry(group).map(|e| &e.item.value) {
            Some(Value::Table(tables)) => tables.get(name).is_some(),
            _ => false,
        }
    }

    /// True where there is nothing of this group, not even something bad.
    fn lacks_all(&self, group: &str) -> bool {
        match self.entry(group).map(|e| &e.item.value) {
            Some(Value::Table(tables)) => tables.is_empty(),
            other => other.is_none(),
        }
    }

    fn table_of(&self, entry: &'a Entry) -> Result<&'a Table, Reported> {
        match &entry.item.value {
            Value::Table(table) => Ok(table),
            other => {
                let message = format!("`{}` is {}", entry.key, other.kind());
                Err(self
                    .errors
                    .report(Diagnostic::new(entry.item.place, message).label("expected a table")))
            }
        }
    }

    /// A table with a `kind`, or the kind alone. Gives the section of the kind
    /// among `kinds` and the fields to read it with.
    fn kind(
        &self,
        entry: &'a Entry,
        kinds: &'static [Section],
        what: &str,
    ) -> Result<Fields<'a>, Reported> {
        let names = || kinds.iter().filter_map(|s| s.kind);
        let section = |kind: &str, place: Place| {
            kinds.iter().find(|s| s.kind == Some(kind)).ok_or_else(|| {
                let error = Diagnostic::new(place, format!("unknown {what} `{kind}`"));
                let error = error.label(format!("expected {}", alternatives(names())));
                self.errors.report(error.suggest(nearest(kind, names())))
            })
        };
        static EMPTY: std::sync::LazyLock<Table> = std::sync::LazyLock::new(Table::default);
        let (section, table) = match &entry.item.value {
            Value::Text(kind) => (section(kind, entry.item.place)?, &*EMPTY),
            Value::Table(table) => match table.get("kind") {
                Some(Entry {
                    item:
                        Item {
                            value: Value::Text(kind),
                            place,
                        },
                    ..
                }) => (section(kind, *place)?, table),
                Some(kind) => {
                    let message = format!("`kind` is {}", kind.item.value.kind());
                    let error = Diagnostic::new(kind.item.place, message)
                        .label(format!("expected {}", alternatives(names())));
                    return Err(self.errors.report(error));
                }
                None => {
                    let message = format!("the {what} of {} has no `kind`", self.what);
                    let error = Diagnostic::new(entry.key_place, message)
                        .label(format!("`kind` is {}", alternatives(names())));
                    return Err(self.errors.report(error));
                }
            },
            other => {
                let message = format!("`{}` is {}", entry.key, other.kind());
                let error = Diagnostic::new(entry.item.place, message).label(format!(
                    "expected a table whose `kind` is {}",
                    alternatives(names())
                ));
                return Err(self.errors.report(error));
            }
        };
        let name = section.kind.unwrap_or("");
        let at = if table.is_empty() {
            entry.item.place
        } else {
            entry.key_place
        };
        let fields = Fields::new(self.errors, section, table, at, format!("{what} `{name}`"));
        fields.check_keys(&["kind"]);
        Ok(fields)
    }
}

/// Which congestion controls have a parameter of that name.
fn parameter_of(name: &str) -> Option<String> {
    let has = |d: &&bentpipe_cc::Described| d.parameters.iter().any(|p| p.name == name);
    let mut owners = bentpipe_cc::list().filter(has).map(|d| d.name).peekable();
    owners.peek()?;
    Some(format!("`{name}` is a parameter of {}", quoted(owners)))
}

/// `a`, `b` and `c`.
fn quoted<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.map(|n| format!("`{n}`")).collect();
    match names.split_last() {
        None => "none".to_string(),
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
    }
}

/// "a", "b" or "c".
fn alternatives<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.map(|n| format!("\"{n}\"")).collect();
    match names.split_last() {
        None => "nothing".to_string(),
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
    }
}

/// The scenario that a document describes, and its constellations.
pub(crate) fn scenario(
    table: &Table,
    default_name: &str,
    errors: &Errors,
) -> Result<(Scenario, Space), Reported> {
    if table.is_empty() {
        let error = Diagnostic::new(Place::Whole, "the scenario is empty")
            .help("a scenario has a `duration`, nodes, links and flows")
            .help("`bentpipe new` writes one to start from");
        return Err(errors.report(error));
    }
    let top = Fields::new(errors, &schema::TOP, table, Place::Whole, "the scenario");
    top.check_keys(&[]);
    let name = top.optional::<String>("name");
    let description = top.optional::<String>("description");
    let duration = top.required("duration");
    let seed = top.optional("seed");
    let stranded = top.optional_word("stranded");
    let limits = limits(&top);
    let seed_of_skies = seed.as_ref().ok().copied().flatten().unwrap_or(1);
    let skies = constellations::read(&top, errors, duration.ok(), seed_of_skies);
    let nodes = nodes::read(&top, &skies);
    let media = media::read(&top);
    let mut links = links::read(&top, &nodes, &media);
    media.check(&links.links);
    nodes::check_linked(&top, &nodes, &links);
    let spaces = space::join(&top, &skies, &nodes, &mut links);
    let transports = transports::read(&top);
    let flows = flows::read(&top, &nodes, &transports, duration.ok());
    let flows = flows::route(&top, flows?, &nodes, &links.links, links.complete);
    // A middlebox may stand at a link of a constellation, which is not there
    // yet.
    let early = skies
        .names
        .is_empty()
        .then(|| middleboxes::read(&top, &nodes, &links, &transports));
    let mut scenario = Scenario {
        name: name?.unwrap_or_else(|| default_name.to_string()),
        description: description?.unwrap_or_default(),
        duration: duration?,
        seed: seed?.unwrap_or(1),
        nodes: nodes.list(),
        links: std::mem::take(&mut links.links),
        media: media.into_media()?,
        flows: flows?,
        stranded: match stranded? {
            Some("rerouted") => Stranded::Rerouted,
            _ => Stranded::Stays,
        },
        middleboxes: Vec::new(),
        peps: Vec::new(),
        limits: limits?,
    };
    let mut space = Space::default();
    if early.is_none() {
        space = space::expand(&top, spaces?, &mut scenario)?;
    }
    if space.skies.is_empty() {
        let ways = scenario.flows.iter();
        let ways = ways.map(|flow| flow.forward.iter().copied().map(Hop::Link).collect());
        space.ways = ways.collect();
    }
    links.links = std::mem::take(&mut scenario.links);
    let boxes = early.unwrap_or_else(|| middleboxes::read(&top, &nodes, &links, &transports));
    (scenario.middleboxes, scenario.peps) = boxes?;
    middleboxes::split(&top, &links, &mut scenario.flows, &scenario.peps)?;
    scenario.links = links.links;
    Ok((scenario, space))
}

fn limits(top: &Fields<'_>) -> Result<Limits, Reported> {
    let Some(entry) = top.entry("limits") else {
        return Ok(Limits::default());
    };
    let table = top.table_of(entry)?;
    let fields = Fields::new(
        top.errors,
        &schema::LIMITS,
        table,
        entry.key_place,
        "`limits`",
    );
    fields.check_keys(&[]);
    let (events, packets) = (fields.optional("events"), fields.optional("packets"));
    let default = Limits::default();
    Ok(Limits {
        events: events?.unwrap_or(default.events),
        packets: packets?.unwrap_or(default.packets),
    })
}
