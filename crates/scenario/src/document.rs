//! A scenario's text, parsed but not yet checked, in which single values can
//! be set: how a study varies it.

use crate::diagnostic::{Diagnostic, Diagnostics, Errors, single};
use crate::model::Scenario;
use crate::source::{Axis, Origin, Part, Place, Source};
use crate::space::Space;
use crate::tree::{self, DEPTH, Entry, Item, Table, Value};
use crate::{Override, path, read};
use bentpipe_cc::nearest;
use bentpipe_tcp::{find_transport, transports};
use std::collections::BTreeMap;
use std::sync::Arc;
use toml::de::DeTable;
use toml_parser::lexer::TokenKind;

/// Bytes of a file, at most.
const LARGEST_FILE: usize = 16 << 20;

/// A parsed scenario. Cheap to copy and to change: what is not changed is
/// shared.
///
/// ```
/// use bentpipe_scenario::{Document, template};
///
/// let document = Document::parse("mine.toml", template())?;
/// for rate in ["1 Mbit/s", "2 Mbit/s", "10 Mbit/s"] {
///     let scenario = document.with("link.satellite.rate", &rate.into())?.validate()?;
///     assert_eq!(scenario.flows.len(), 1);
/// }
/// # Ok::<(), bentpipe_scenario::Diagnostics>(())
/// ```
#[derive(Clone, Debug)]
pub struct Document {
    table: Table,
    origin: Origin,
    files: Files,
}

/// Texts of files that a scenario names, by the names that it gives them.
pub(crate) type Files = Arc<BTreeMap<String, String>>;

impl Document {
    /// Parses the text of a scenario. `file_name` is for messages only.
    ///
    /// # Errors
    /// When the text is not TOML.
    pub fn parse(file_name: &str, text: &str) -> Result<Document, Diagnostics> {
        let source = Source {
            name: file_name.to_string(),
            text: text.to_string(),
        };
        let origin = Origin {
            source: Arc::new(source),
            axes: Arc::new(Vec::new()),
        };
        let text = &origin.source.text;
        if text.len() > LARGEST_FILE {
            let message = format!("the file is larger than {} MiB", LARGEST_FILE >> 20);
            return Err(single(&origin, Diagnostic::new(Place::Whole, message)));
        }
        if let Err(error) = check_keys(text) {
            return Err(single(&origin, *error));
        }
        let (parsed, wrong) = DeTable::parse_recoverable(text);
        let errors = Errors::new(origin.clone(), Files::default());
        for error in &wrong {
            let place = error.span().map_or(Place::Whole, Place::file);
            let (message, expected) = match error.message().split_once(", expected ") {
                Some((message, expected)) => (message, format!("expected {expected}")),
                None => (error.message(), String::new()),
            };
            errors.report(match (message, place) {
                ("duplicate key", Place::File { start, end }) => {
                    let key = text.get(start as usize..end as usize).unwrap_or("a key");
                    let message = format!("`{key}` is given twice");
                    Diagnostic::new(place, message).label("here for the second time")
                }
                _ => Diagnostic::new(place, format!("not TOML: {message}")).label(expected),
            });
        }
        if !errors.is_empty() {
            let nothing = Err(errors.already());
            return errors.finish(nothing);
        }
        match tree::from_toml(parsed.get_ref(), 0) {
            Ok(table) => Ok(Document {
                table,
                origin,
                files: Files::default(),
            }),
            Err(error) => Err(single(&origin, *error)),
        }
    }

    /// Parses the bytes of a file, which must be UTF-8.
    ///
    /// # Errors
    /// When the bytes are not UTF-8 or the text is not TOML.
    pub fn parse_bytes(file_name: &str, bytes: &[u8]) -> Result<Document, Diagnostics> {
        let error = match std::str::from_utf8(bytes) {
            Ok(text) => return Document::parse(file_name, text),
            Err(error) => error,
        };
        let good = bytes.get(..error.valid_up_to()).unwrap_or_default();
        let text = String::from_utf8_lossy(good).into_owned();
        let end = text.len();
        let source = Arc::new(Source {
            name: file_name.to_string(),
            text,
        });
        let origin = Origin {
            source,
            axes: Arc::new(Vec::new()),
        };
        let place = Place::file(end..end);
        Err(single(
            &origin,
            Diagnostic::new(place, "the file is not UTF-8").label("from here on"),
        ))
    }

    /// The name of the file, as given.
    #[must_use]
    pub fn file_name(&self) -> &str {
        &self.origin.source.name
    }

    /// A copy in which the value at a dotted path, such as
    /// `link.satellite.rate`, is another one. See [`Document::set`].
    ///
    /// # Errors
    /// When the path leads nowhere.
    pub fn with(&self, path: &str, value: &Override) -> Result<Document, Diagnostics> {
        let mut document = self.clone();
        document.set(path, value)?;
        Ok(document)
    }

    /// Sets the value at a dotted path, such as `link.satellite.rate`,
    /// `transport."westwood+".filter` or `duration`.
    ///
    /// A key that the file leaves out is added; nodes, links and flows must be
    /// there. Whether the key exists and takes the value is found by
    /// [`Document::validate`], whose errors then name the path and the value.
    /// One of `one_way_delay` and `round_trip_delay` takes the place of the
    /// other.
    ///
    /// # Errors
    /// When the path leads nowhere.
    pub fn set(&mut self, path: &str, value: &Override) -> Result<(), Diagnostics> {
        let mut axes = Vec::clone(&self.origin.axes);
        let index = u32::try_from(axes.len()).unwrap_or(u32::MAX);
        axes.push(Axis {
            path: path.trim().to_string(),
            value: value.to_toml(),
        });
        let origin = Origin {
            source: Arc::clone(&self.origin.source),
            axes: Arc::new(axes),
        };
        let key = Place::Axis {
            index,
            part: Part::Key,
        };
        let at = Place::Axis {
            index,
            part: Part::Value,
        };
        let fail = |error: Diagnostic| single(&origin, error);
        let keys =
            path::split(path).map_err(|why| fail(Diagnostic::new(key, "not a path").label(why)))?;
        if keys.len() + value.depth() > DEPTH {
            return Err(fail(Diagnostic::new(
                key,
                "the path or the value is nested too deeply",
            )));
        }
        self.check_path(&keys, key).map_err(|e| fail(*e))?;
        let item = Item {
            value: value.placed(at),
            place: at,
        };
        put(&mut self.table, &keys, item, key).map_err(|e| fail(*e))?;
        self.origin = origin;
        Ok(())
    }

    /// Says early, and with the nearest name, that there is no such node, link
    /// or flow to set something of.
    fn check_path(&self, keys: &[String], place: Place) -> Result<(), Box<Diagnostic>> {
        let [group, name, _, ..] = keys else {
            return Ok(());
        };
        let tables = match self.table.get(group).map(|e| &e.item.value) {
            Some(Value::Table(tables)) => tables.clone(),
            _ => Table::default(),
        };
        let known = match group.as_str() {
            "node" | "link" | "flow" | "medium" | "constellation" => tables.get(name).is_some(),
            "transport" => tables.get(name).is_some() || find_transport(name).is_some(),
            _ => true,
        };
        if known {
            return Ok(());
        }
        let named = transports()
            .map(|t| t.name)
            .filter(|_| group == "transport");
        let names = tables.iter().map(|e| e.key.as_str()).chain(named);
        let error = Diagnostic::new(place, format!("unknown {group} `{name}`"));
        let error = error.label(format!("the scenario has no such {group}"));
        Err(Box::new(error.suggest(nearest(name, names))))
    }

    /// The files that the scenario names, such as those of orbital elements,
    /// and that it has not been given yet. Names are as written: relative ones
    /// are seen from the scenario's folder.
    #[must_use]
    pub fn wanted_files(&self) -> Vec<String> {
        let mut wanted = Vec::new();
        let mut want = |table: &Table, keys: &[&str]| {
            for key in keys {
                if let Some(Value::Text(name)) = table.get(key).map(|e| &e.item.value)
                    && !self.files.contains_key(name)
                    && !wanted.contains(name)
                {
                    wanted.push(name.clone());
                }
            }
        };
        for constellation in tables(&self.table, "constellation") {
            want(constellation, &["file", "links"]);
        }
        for link in tables(&self.table, "link") {
            for direction in [Some(link), table(link, "reverse")].into_iter().flatten() {
                if let Some(trace) = table(direction, "trace") {
                    want(trace, &["file"]);
                }
            }
        }
        wanted
    }

    /// Gives the text of a file that the scenario names. Reading it is the
    /// caller's: this crate opens no files.
    pub fn give_file(&mut self, name: &str, text: impl Into<String>) {
        Arc::make_mut(&mut self.files).insert(name.to_owned(), text.into());
    }

    /// Checks everything, computes the routes and gives the scenario.
    ///
    /// # Errors
    /// With everything that is wrong, as far as one pass can find it.
    pub fn validate(&self) -> Result<Scenario, Diagnostics> {
        self.survey().map(|(scenario, _)| scenario)
    }

    /// As [`Document::validate`]; and the constellations that stand behind the
    /// links and routes of the scenario, to draw them.
    ///
    /// # Errors
    /// As [`Document::validate`].
    pub fn survey(&self) -> Result<(Scenario, Space), Diagnostics> {
        let errors = Errors::new(self.origin.clone(), self.files.clone());
        let file = self.file_name().rsplit(['/', '\\']).next().unwrap_or("");
        let name = file.strip_suffix(".toml").unwrap_or(file);
        let scenario = read::scenario(&self.table, name, &errors);
        errors.finish(scenario)
    }
}

/// The table at `key`, if there is one.
fn table<'a>(outer: &'a Table, key: &str) -> Option<&'a Table> {
    match &outer.get(key)?.item.value {
        Value::Table(table) => Some(table),
        _ => None,
    }
}

/// The tables in the table at `key`.
fn tables<'a>(outer: &'a Table, key: &str) -> impl Iterator<Item = &'a Table> {
    let inner = table(outer, key).into_iter().flat_map(Table::iter);
    inner.filter_map(|entry| match &entry.item.value {
        Value::Table(table) => Some(table),
        _ => None,
    })
}

/// Puts `item` where `keys` lead, with the tables on the way.
fn put(
    table: &mut Table,
    keys: &[String],
    item: Item,
    place: Place,
) -> Result<(), Box<Diagnostic>> {
    let Some((key, rest)) = keys.split_first() else {
        return Ok(());
    };
    let missing = || Entry {
        key: key.clone(),
        key_place: place,
        item: Item {
            value: Value::Table(Table::default()),
            place,
        },
    };
    if rest.is_empty() {
        match key.as_str() {
            "one_way_delay" => table.remove("round_trip_delay"),
            "round_trip_delay" => table.remove("one_way_delay"),
            _ => {}
        }
        let entry = table.entry(key, missing);
        entry.item = item;
        entry.key_place = place;
        return Ok(());
    }
    let entry = table.entry(key, missing);
    if let Some(table) = short_form(entry) {
        entry.item.value = Value::Table(table);
    }
    match &mut entry.item.value {
        Value::Table(inner) => put(inner, rest, item, place),
        other => {
            let message = format!("`{key}` is {} and has no key `{}`", other.kind(), rest[0]);
            let error = Diagnostic::new(place, message);
            Err(Box::new(error.label(format!("set `{key}` itself"))))
        }
    }
}

/// `channel = "perfect"` and `queue = "100 packets"` as the tables that they
/// stand for, so that a key of them can be set.
fn short_form(entry: &Entry) -> Option<Table> {
    let Value::Text(text) = &entry.item.value else {
        return None;
    };
    let place = entry.item.place;
    let key = |key: &str, text: &str| Entry {
        key: key.to_string(),
        key_place: place,
        item: Item {
            value: Value::Text(text.to_string()),
            place,
        },
    };
    match entry.key.as_str() {
        "queue" if text.contains(|c: char| c.is_ascii_digit()) => Some(Table::from_entries(vec![
            key("kind", "drop-tail"),
            key("limit", text),
        ])),
        "queue" | "channel" | "application" | "pacing" => {
            Some(Table::from_entries(vec![key("kind", text)]))
        }
        _ => None,
    }
}

/// Refuses keys with more dots than a scenario needs: each opens a table in a
/// table, and a thousand in a row would exhaust the stack.
fn check_keys(text: &str) -> Result<(), Box<Diagnostic>> {
    let mut dots = 0;
    for token in toml_parser::Source::new(text).lex() {
        match token.kind() {
            TokenKind::Dot => dots += 1,
            TokenKind::Atom
            | TokenKind::Whitespace
            | TokenKind::BasicString
            | TokenKind::LiteralString => {}
            _ => dots = 0,
        }
        if dots > DEPTH {
            let place = Place::file(token.span().start()..token.span().end());
            let error = Diagnostic::new(place, "tables and arrays are nested too deeply");
            return Err(Box::new(error.label(format!("more than {DEPTH} levels"))));
        }
    }
    Ok(())
}
