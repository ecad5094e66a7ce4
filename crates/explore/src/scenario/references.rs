//! What the values of a text refer to, by the declaration of the language: which links a
//! node has, which flows a transport.

use bentpipe_document::schema::{Kind, Kinds, Presence, Section};
use bentpipe_document::{Item, Table, Value};
use std::ops::Range;

/// A value that names something of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reference {
    /// What it names: `node`, `link`, `transport`.
    pub(super) what: &'static str,
    /// The name, without an index.
    pub(super) name: String,
    /// The index behind it, such as `[3]`; may be empty.
    pub(super) index: String,
    /// Bytes of the string, with its quotes.
    pub(super) at: Range<usize>,
    /// The key that it is the value of.
    pub(super) path: Vec<String>,
    /// Whether the table is wrong without that key.
    pub(super) is_required: bool,
}

/// All references of a text.
pub(super) fn references(table: &Table) -> Vec<Reference> {
    let mut found = Vec::new();
    of_table(
        bentpipe::scenario::schema(),
        table,
        &mut Vec::new(),
        &mut found,
    );
    found
}

fn of_table(
    section: &'static Section,
    table: &Table,
    path: &mut Vec<String>,
    found: &mut Vec<Reference>,
) {
    for entry in table.iter() {
        let Some(key) = section.key(&entry.key) else {
            continue;
        };
        path.push(entry.key.clone());
        let is_required = key.presence == Presence::Required;
        of_value(&key.kind, &entry.item, path, is_required, found);
        path.pop();
    }
}

fn of_value(
    kind: &Kind,
    item: &Item,
    path: &mut Vec<String>,
    is_required: bool,
    found: &mut Vec<Reference>,
) {
    match (kind, &item.value) {
        (Kind::Name(what) | Kind::Names(what), Value::Text(text)) => {
            found.extend(reference(what, text, item, path, is_required));
        }
        (Kind::Names(what), Value::List(items)) => {
            for item in items.iter() {
                if let Value::Text(text) = &item.value {
                    found.extend(reference(what, text, item, path, is_required));
                }
            }
        }
        (Kind::Nodes(_), Value::List(items)) => {
            for item in items.iter() {
                if let Value::Text(text) = &item.value {
                    found.extend(reference("node", text, item, path, is_required));
                }
            }
        }
        (Kind::Table(section), Value::Table(table)) => of_table(section(), table, path, found),
        (Kind::Kinds(kinds) | Kind::Either(_, _, kinds), Value::Table(table)) => {
            if let Some(section) = chosen(kinds(), table) {
                of_table(section, table, path, found);
            }
        }
        (Kind::Named(section), Value::Table(tables)) => {
            each(tables, path, |table, path| {
                of_table(section(), table, path, found)
            });
        }
        (Kind::NamedKinds(kinds), Value::Table(tables)) => each(tables, path, |table, path| {
            if let Some(section) = chosen(kinds(), table) {
                of_table(section, table, path, found);
            }
        }),
        _ => {}
    }
}

fn each(tables: &Table, path: &mut Vec<String>, mut then: impl FnMut(&Table, &mut Vec<String>)) {
    for entry in tables.iter() {
        if let Value::Table(table) = &entry.item.value {
            path.push(entry.key.clone());
            then(table, path);
            path.pop();
        }
    }
}

/// The declaration that a table's `kind` chooses.
fn chosen(kinds: &'static Kinds, table: &Table) -> Option<&'static Section> {
    let Value::Text(kind) = &table.get("kind")?.item.value else {
        return None;
    };
    let mut sections = kinds.sections.iter();
    sections.find(|section| section.kind == Some(kind.as_str()))
}

fn reference(
    what: &'static str,
    text: &str,
    item: &Item,
    path: &[String],
    is_required: bool,
) -> Option<Reference> {
    let (name, index) = text.find('[').map_or((text, ""), |at| text.split_at(at));
    Some(Reference {
        what,
        name: name.to_owned(),
        index: index.to_owned(),
        at: item.place.span()?,
        path: path.to_vec(),
        is_required,
    })
}
