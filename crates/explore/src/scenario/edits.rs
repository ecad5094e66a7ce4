//! An edit of the network as changes of its text: comments and the rest of the text stay.

use super::places::{Entry, Form, Places, line_end, line_start};
use super::references::{Reference, references};
use bentpipe_document::{Parsed, Value, key_text};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::ops::Range;

/// An edit. Paths are keys, as `["link", "satellite", "rate"]`; values are TOML.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "edit", rename_all = "snake_case")]
pub(super) enum Edit {
    /// Sets a value, or removes its key where there is no value.
    Set {
        path: Vec<String>,
        value: Option<String>,
    },
    /// Adds a table such as `[link.satellite]` with these keys.
    Add {
        group: String,
        name: String,
        keys: Vec<(String, String)>,
    },
    /// Gives a table another name, and changes what refers to it.
    Rename {
        group: String,
        name: String,
        to: String,
    },
    /// Removes a table, and what is nothing without it.
    Remove { group: String, name: String },
}

/// Bytes to replace, and by what.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Splice {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) insert: String,
}

impl Splice {
    fn new(range: Range<usize>, insert: impl Into<String>) -> Splice {
        Splice {
            from: range.start,
            to: range.end,
            insert: insert.into(),
        }
    }
}

/// A text that is TOML, and what stands where.
struct Read {
    parsed: Parsed,
    places: Places,
}

impl Read {
    fn new(text: &str) -> Result<Read, String> {
        let parsed = Parsed::new("scenario.toml", text)
            .map_err(|errors| format!("the text is not TOML: {errors}"))?;
        let places = Places::of(&parsed);
        Ok(Read { parsed, places })
    }

    fn text(&self) -> &str {
        &self.parsed.origin.source.text
    }
}

/// What an edit replaces, in the order of the text.
///
/// # Errors
/// Why it cannot be done.
pub(super) fn splices(text: &str, edit: &Edit) -> Result<Vec<Splice>, String> {
    let read = Read::new(text)?;
    let mut splices = match edit {
        Edit::Set { path, value } => set(&read, path, value.as_deref())?,
        Edit::Add { group, name, keys } => vec![add(&read, group, name, keys)?],
        Edit::Rename { group, name, to } => rename(&read, group, name, to)?,
        Edit::Remove { group, name } => remove(&read, group, name)?,
    };
    splices.sort_by_key(|splice| (splice.from, splice.to));
    let overlap = splices.windows(2).any(|pair| pair[0].to > pair[1].from);
    if overlap || Read::new(&apply(text, &splices)).is_err() {
        return Err("this part of the text cannot be edited here; edit it in the text".to_owned());
    }
    Ok(splices)
}

/// The text with the splices made; they are in order and do not overlap.
pub(super) fn apply(text: &str, splices: &[Splice]) -> String {
    let (mut made, mut at) = (String::with_capacity(text.len()), 0);
    for splice in splices {
        made.push_str(text.get(at..splice.from).unwrap_or_default());
        made.push_str(&splice.insert);
        at = splice.to;
    }
    made.push_str(text.get(at..).unwrap_or_default());
    made
}

/// Sets or removes a value.
fn set(read: &Read, path: &[String], value: Option<&str>) -> Result<Vec<Splice>, String> {
    let Some((key, above)) = path.split_last() else {
        return Err("an edit needs a path".to_owned());
    };
    let text = read.text();
    let Some(value) = value else {
        return Ok(match read.places.get(path) {
            Some(entry) => removal(read, entry),
            None => Vec::new(),
        });
    };
    check_value(value)?;
    match read.places.get(path) {
        Some(entry) if entry.form != Form::Header && entry.form != Form::Implicit => {
            Ok(vec![Splice::new(entry.value.clone(), value)])
        }
        Some(entry) => {
            let mut splices = removal(read, entry);
            splices.push(insertion(read, above, key, value)?);
            Ok(splices)
        }
        // A single value stands in the place of the table: `channel = "perfect"`.
        None if read
            .places
            .get(above)
            .is_some_and(|e| e.form == Form::Scalar) =>
        {
            let old = read.places.get(above).map_or(0..0, |e| e.value.clone());
            let kind = text.get(old.clone()).unwrap_or_default();
            let table = match key.as_str() {
                "kind" => format!("{{ kind = {value} }}"),
                key => format!("{{ kind = {kind}, {} = {value} }}", key_text(key)),
            };
            Ok(vec![Splice::new(old, table)])
        }
        None => Ok(vec![insertion(read, above, key, value)?]),
    }
}

/// Refuses what is not a single value of TOML.
fn check_value(value: &str) -> Result<(), String> {
    let parsed = Parsed::new("value", &format!("value = {value}"));
    match parsed.is_ok_and(|parsed| parsed.table.iter().count() == 1) {
        true => Ok(()),
        false => Err(format!("`{value}` is not a value of TOML")),
    }
}

/// Puts a new key into the table at `above`, which is made if it is not there.
fn insertion(read: &Read, above: &[String], key: &str, value: &str) -> Result<Splice, String> {
    let text = read.text();
    let line = format!("{} = {value}", key_text(key));
    if above.is_empty() {
        let first = read
            .places
            .entries
            .iter()
            .filter(|e| e.form == Form::Header);
        let first = first.map(|e| e.value.start).min().unwrap_or(text.len());
        let own = read.places.entries.iter().filter(|e| e.value.start < first);
        let end = own.map(|e| line_end(text, e.value.end)).max();
        return Ok(match end {
            Some(end) => Splice::new(end..end, format!("\n{line}")),
            None => Splice::new(0..0, format!("{line}\n")),
        });
    }
    match read.places.get(above) {
        Some(table) if table.form == Form::Header => {
            let end = read.places.body(table, text).end;
            Ok(Splice::new(end..end, format!("\n{line}")))
        }
        Some(table) if table.form == Form::Inline => {
            let inside = text.get(table.value.clone()).unwrap_or_default();
            let inside = inside.strip_suffix('}').unwrap_or(inside).trim_end();
            let end = table.value.start + inside.len();
            let is_empty = inside.trim() == "{";
            let line = if is_empty {
                format!(" {line}")
            } else {
                format!(", {line}")
            };
            // The blank before the brace.
            let close = match text.as_bytes().get(end) {
                Some(b'}') => " ",
                _ => "",
            };
            Ok(Splice::new(end..end, format!("{line}{close}")))
        }
        Some(table) if table.form == Form::Implicit && is_dotted(read, table) => {
            let keys: Vec<String> = above.iter().map(|key| key_text(key)).collect();
            Err(format!(
                "`{}` is written with dotted keys; edit it in the text",
                keys.join(".")
            ))
        }
        Some(table) if table.form != Form::Implicit => {
            Err(format!("`{}` is not a table", above.join(".")))
        }
        _ => Ok(new_table(
            read,
            above,
            &[(key.to_owned(), value.to_owned())],
        )),
    }
}

/// Whether an implicit table has values of its own, by dotted keys.
fn is_dotted(read: &Read, table: &Entry) -> bool {
    let length = table.path.len();
    let mut below = read.places.below(&table.path);
    below.any(|e| e.path.len() == length + 1 && !matches!(e.form, Form::Header | Form::Implicit))
}

/// A new table with its header: behind what belongs to the same table or group, else at
/// the end.
fn new_table(read: &Read, path: &[String], keys: &[(String, String)]) -> Splice {
    let text = read.text();
    let ends = (1..=path.len().min(2)).rev().find_map(|length| {
        let last = read.places.below(&path[..length]);
        let last = last
            .filter(|e| e.form == Form::Header)
            .max_by_key(|e| e.value.start)?;
        Some((last, read.places.body(last, text)))
    });
    let header: Vec<String> = path.iter().map(|key| key_text(key)).collect();
    let mut table = format!("[{}]", header.join("."));
    for (key, value) in keys {
        table += &format!("\n{} = {value}", key_text(key));
    }
    match ends {
        Some((last, body)) => {
            // Nodes that are headers alone stand without blank lines.
            let is_dense = keys.is_empty() && line_end(text, last.value.end) == body.end;
            let gap = if is_dense { "\n" } else { "\n\n" };
            Splice::new(body.end..body.end, format!("{gap}{table}"))
        }
        None => {
            let end = text.trim_end().len();
            let gap = if end == 0 { "" } else { "\n\n" };
            Splice::new(end..text.len(), format!("{gap}{table}\n"))
        }
    }
}

/// Adds a table with a name.
fn add(read: &Read, group: &str, name: &str, keys: &[(String, String)]) -> Result<Splice, String> {
    let path = [group.to_owned(), name.to_owned()];
    free(read, group, name)?;
    for (_, value) in keys {
        check_value(value)?;
    }
    Ok(new_table(read, &path, keys))
}

/// Refuses a name that is taken or cannot be one.
fn free(read: &Read, group: &str, name: &str) -> Result<(), String> {
    bentpipe_document::value::check_name(name).map_err(|why| format!("`{name}`: {why}"))?;
    match read.places.get(&[group, name]) {
        Some(_) => Err(format!("there is a {group} `{name}` already")),
        None => Ok(()),
    }
}

/// Renames a table and what refers to it.
fn rename(read: &Read, group: &str, name: &str, to: &str) -> Result<Vec<Splice>, String> {
    if name == to {
        return Ok(Vec::new());
    }
    let path = [group.to_owned(), name.to_owned()];
    if read.places.get(&path).is_none() {
        return Err(format!("there is no {group} `{name}`"));
    }
    free(read, group, to)?;
    let mut keys: BTreeSet<(usize, usize)> = BTreeSet::new();
    for entry in read.places.below(&path) {
        if entry.form == Form::Header {
            let key = second_key(read.text(), &entry.value);
            keys.extend(key.map(|key| (key.start, key.end)));
        } else if entry.path.len() == 2 {
            keys.insert((entry.key.start, entry.key.end));
        }
    }
    let keys = keys.into_iter();
    let mut splices: Vec<Splice> = keys
        .map(|(start, end)| Splice::new(start..end, key_text(to)))
        .collect();
    for found in references(&read.parsed.table) {
        if found.what == group && found.name == name {
            let new = Value::from(format!("{to}{}", found.index)).to_toml();
            splices.push(Splice::new(found.at, new));
        }
    }
    let made = Read::new(&apply_sorted(read.text(), &splices))?;
    if made.places.get(&path).is_some() {
        return Err(format!(
            "`{name}` is written with dotted keys; rename it in the text"
        ));
    }
    Ok(splices)
}

fn apply_sorted(text: &str, splices: &[Splice]) -> String {
    let mut sorted = splices.to_vec();
    sorted.sort_by_key(|splice| splice.from);
    apply(text, &sorted)
}

/// The second key of a header such as `[link.satellite.reverse]`.
fn second_key(text: &str, header: &Range<usize>) -> Option<Range<usize>> {
    let mut quote = None;
    let mut keys: Vec<Range<usize>> = Vec::new();
    let mut start = None;
    for (i, c) in text.get(header.clone())?.char_indices() {
        let at = header.start + i;
        match quote {
            Some(q) => {
                if c == q {
                    quote = None;
                }
                continue;
            }
            None if c == '"' || c == '\'' => quote = Some(c),
            None if matches!(c, '.' | ']' | '[') || c.is_whitespace() => {
                keys.extend(start.take().map(|start| start..at));
                continue;
            }
            None => {}
        }
        start.get_or_insert(at);
    }
    keys.into_iter().nth(1)
}

/// Removes a table, the tables that are nothing without it, and keys that name it.
fn remove(read: &Read, group: &str, name: &str) -> Result<Vec<Splice>, String> {
    let root = [group.to_owned(), name.to_owned()];
    if read.places.get(&root).is_none() {
        return Err(format!("there is no {group} `{name}`"));
    }
    let all: Vec<Reference> = references(&read.parsed.table);
    let mut gone: BTreeSet<[String; 2]> = BTreeSet::from([root]);
    loop {
        let named = all
            .iter()
            .filter(|r| r.is_required && gone.contains(&[r.what.to_owned(), r.name.clone()]));
        let more: Vec<[String; 2]> = named.filter_map(table_of).collect();
        let before = gone.len();
        gone.extend(more);
        if gone.len() == before {
            break;
        }
    }
    let mut splices: Vec<Splice> = Vec::new();
    for table in &gone {
        splices.extend(
            read.places
                .get(table)
                .map(|e| removal(read, e))
                .into_iter()
                .flatten(),
        );
    }
    for reference in &all {
        let names_it = gone.contains(&[reference.what.to_owned(), reference.name.clone()]);
        if names_it && table_of(reference).is_none_or(|table| !gone.contains(&table)) {
            let entry = read.places.get(&reference.path);
            splices.extend(entry.map(|e| removal(read, e)).into_iter().flatten());
        }
    }
    splices.sort_by_key(|splice| (splice.from, splice.to));
    splices.dedup();
    Ok(splices)
}

/// The table with a name that a reference stands in.
fn table_of(reference: &Reference) -> Option<[String; 2]> {
    match reference.path.as_slice() {
        [group, name, ..] => Some([group.clone(), name.clone()]),
        _ => None,
    }
}

/// What removes an entry, with the tables below it.
fn removal(read: &Read, entry: &Entry) -> Vec<Splice> {
    let text = read.text();
    match entry.form {
        Form::Header | Form::Implicit => {
            let below = read.places.below(&entry.path);
            let headers = below.filter(|e| e.form == Form::Header);
            headers
                .map(|e| {
                    let body = read.places.body(e, text);
                    Splice::new(
                        whole_lines(text, comments_above(text, body.start)..body.end),
                        "",
                    )
                })
                .collect()
        }
        _ => match within_braces(read, entry) {
            Some(range) => vec![Splice::new(range, "")],
            None => {
                let start = line_start(text, entry.key.start);
                let end = line_end(text, entry.value.end);
                let end = after_break(text, end);
                vec![Splice::new(start..end, "")]
            }
        },
    }
}

/// The bytes of an entry of a table in braces, with one comma; `None` for others.
fn within_braces(read: &Read, entry: &Entry) -> Option<Range<usize>> {
    let above = entry.path.split_last()?.1;
    let table = read.places.get(above).filter(|t| t.form == Form::Inline)?;
    let text = read.text();
    let before = text.get(table.value.start..entry.key.start)?;
    let kept = before.trim_end();
    if kept.ends_with(',') {
        return Some(table.value.start + kept.len() - 1..entry.value.end);
    }
    let after = text.get(entry.value.end..table.value.end)?;
    let comma = after.trim_start().starts_with(',');
    let skipped = after.len() - after.trim_start().len();
    let end = entry.value.end + if comma { skipped + 1 } else { 0 };
    let blanks = text.get(end..)?.len() - text.get(end..)?.trim_start().len();
    Some(entry.key.start..end + if comma { blanks } else { 0 })
}

/// Where the comments begin that stand directly above a line.
fn comments_above(text: &str, at: usize) -> usize {
    let mut start = line_start(text, at);
    while start > 0 {
        let above = line_start(text, start - 1);
        if !text
            .get(above..start)
            .unwrap_or_default()
            .trim_start()
            .starts_with('#')
        {
            break;
        }
        start = above;
    }
    // The comment that opens the file is about the file.
    if start == 0 {
        line_start(text, at)
    } else {
        start
    }
}

/// Lines with their breaks, and one blank line behind or before them.
fn whole_lines(text: &str, range: Range<usize>) -> Range<usize> {
    let end = after_break(text, range.end);
    let next = after_break(text, line_end(text, end));
    let is_blank = |from: usize, to: usize| text.get(from..to).is_some_and(|l| l.trim().is_empty());
    let before = line_start(text, range.start.saturating_sub(1));
    let blank_before = range.start == 0 || is_blank(before, range.start);
    match blank_before && next > end && is_blank(end, next) {
        true => range.start..next,
        false => range.start..end,
    }
}

/// Behind the line break at `at`.
fn after_break(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    let length = if rest.starts_with("\r\n") {
        2
    } else {
        usize::from(rest.starts_with('\n'))
    };
    at + length
}

#[cfg(test)]
#[path = "edits_tests.rs"]
mod tests;
