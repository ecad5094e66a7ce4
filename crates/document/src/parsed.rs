//! The text of a document, parsed but not yet checked, in which single values
//! can be set.

use crate::diagnostic::{Diagnostic, Diagnostics, Errors};
use crate::source::{Origin, Part, Place, SetBy, Setting};
use crate::tree::{self, DEPTH, Entry, Item, Table, Value};
use crate::{Override, path};
use std::sync::Arc;
use toml::de::DeTable;
use toml_parser::lexer::TokenKind;

/// Bytes of a file, at most.
const LARGEST_FILE: usize = 16 << 20;

/// A parsed document. Cheap to copy and to change: what is not changed is
/// shared.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// The table of the whole document.
    pub table: Table,
    /// The texts that its places refer to.
    pub origin: Origin,
}

/// Abbreviations that a language allows besides plain paths, when a value is set.
#[derive(Clone, Copy, Debug)]
pub struct SetRules {
    /// Keys of which one takes the place of the other.
    pub twins: &'static [(&'static str, &'static str)],
    /// A value that abbreviates a table, as that table.
    pub short_form: fn(&Entry) -> Option<Table>,
}

impl Parsed {
    /// Parses a text. `file_name` is for messages only.
    ///
    /// # Errors
    /// When the text is not TOML, is larger than 16 MiB or too deeply nested.
    pub fn new(file_name: &str, text: &str) -> Result<Parsed, Diagnostics> {
        let origin = Origin::file(file_name, text);
        let text = &origin.source.text;
        if text.len() > LARGEST_FILE {
            let message = format!("the file is larger than {} MiB", LARGEST_FILE >> 20);
            return Err(Diagnostics::single(&origin, Diagnostic::whole(message)));
        }
        if let Err(error) = check_keys(text) {
            return Err(Diagnostics::single(&origin, *error));
        }
        let (parsed, wrong) = DeTable::parse_recoverable(text);
        let errors = Errors::new(origin.clone());
        for error in &wrong {
            let place = error.span().map_or(Place::Whole, Place::file);
            errors.report_with(|| {
                let (message, expected) = match error.message().split_once(", expected ") {
                    Some((message, expected)) => (message, format!("expected {expected}")),
                    None => (error.message(), String::new()),
                };
                match (message, place.span()) {
                    ("duplicate key", Some(span)) => {
                        let key = text.get(span).unwrap_or("a key");
                        let message = format!("`{key}` is given twice");
                        Diagnostic::new(place, message).label("here for the second time")
                    }
                    _ => Diagnostic::new(place, format!("not TOML: {message}")).label(expected),
                }
            });
        }
        if !errors.is_empty() {
            return Err(errors.take());
        }
        match tree::from_toml(parsed.get_ref(), 0) {
            Ok(table) => Ok(Parsed { table, origin }),
            Err(error) => Err(Diagnostics::single(&origin, *error)),
        }
    }

    /// Parses the bytes of a file, which must be UTF-8.
    ///
    /// # Errors
    /// When the bytes are not UTF-8, and as [`Parsed::new`].
    pub fn from_bytes(file_name: &str, bytes: &[u8]) -> Result<Parsed, Diagnostics> {
        let error = match std::str::from_utf8(bytes) {
            Ok(text) => return Parsed::new(file_name, text),
            Err(error) => error,
        };
        let good = bytes.get(..error.valid_up_to()).unwrap_or_default();
        let text = String::from_utf8_lossy(good);
        let end = text.len();
        let error = Diagnostic::at(end..end, "the file is not UTF-8").label("from here on");
        Err(Diagnostics::single(&Origin::file(file_name, &text), error))
    }

    /// Sets the value at a dotted path; a key that the file leaves out is
    /// added. `check` may refuse a path, of which it gets the keys.
    ///
    /// # Errors
    /// When the path leads nowhere.
    pub fn set(
        &mut self,
        by: SetBy,
        path: &str,
        value: &Override,
        rules: SetRules,
        check: impl FnOnce(&Table, &[String], Place) -> Result<(), Box<Diagnostic>>,
    ) -> Result<(), Diagnostics> {
        let mut settings = Vec::clone(&self.origin.settings);
        let index = u32::try_from(settings.len()).unwrap_or(u32::MAX);
        settings.push(Setting {
            by,
            path: path.trim().to_string(),
            value: value.to_toml(),
        });
        let origin = Origin {
            source: Arc::clone(&self.origin.source),
            settings: Arc::new(settings),
            files: Arc::clone(&self.origin.files),
        };
        let place = |part| Place::Setting { index, part };
        let (key, at) = (place(Part::Key), place(Part::Value));
        let fail = |error: Diagnostic| Diagnostics::single(&origin, error);
        let keys =
            path::split(path).map_err(|why| fail(Diagnostic::new(key, "not a path").label(why)))?;
        if keys.len() + value.depth() > DEPTH {
            let message = "the path or the value is nested too deeply";
            return Err(fail(Diagnostic::new(key, message)));
        }
        check(&self.table, &keys, key).map_err(|e| fail(*e))?;
        let item = Item {
            value: value.placed(at),
            place: at,
        };
        put(&mut self.table, &keys, item, key, rules).map_err(|e| fail(*e))?;
        self.origin = origin;
        Ok(())
    }
}

/// Puts `item` where `keys` lead, with the tables on the way.
fn put(
    table: &mut Table,
    keys: &[String],
    item: Item,
    place: Place,
    rules: SetRules,
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
        for (one, other) in rules.twins {
            if key == one {
                table.remove(other);
            } else if key == other {
                table.remove(one);
            }
        }
        let entry = table.entry(key, missing);
        entry.item = item;
        entry.key_place = place;
        return Ok(());
    }
    let entry = table.entry(key, missing);
    if let Some(table) = (rules.short_form)(entry) {
        entry.item.value = Value::Table(table);
    }
    match &mut entry.item.value {
        Value::Table(inner) => put(inner, rest, item, place, rules),
        other => {
            let message = format!("`{key}` is {} and has no key `{}`", other.kind(), rest[0]);
            let error = Diagnostic::new(place, message);
            Err(Box::new(error.label(format!("set `{key}` itself"))))
        }
    }
}

/// Refuses keys with more dots than a document needs: each opens a table in a
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
