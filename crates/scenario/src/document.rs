//! A scenario's text, parsed but not yet checked, in which single values can
//! be set: how a study varies it.

use crate::model::{Kept, Scenario};
use crate::read;
use crate::space::ExpandedConstellations;
use bentpipe_cc::OwnControl;
use bentpipe_document::{
    Diagnostic, Diagnostics, Entry, Errors, Item, Override, Parsed, Place, SetBy, SetRules, Table,
    Value,
};
use bentpipe_tcp::{find_transport, transports};
use std::collections::BTreeMap;
use std::sync::Arc;

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
    parsed: Parsed,
    controls: Arc<GivenControls>,
}

/// Congestion controls that a document was given, or why they cannot be loaded, by
/// the name and the file that it writes.
pub(crate) type GivenControls = BTreeMap<(String, String), Result<OwnControl, String>>;

/// One of the two delays takes the place of the other.
const RULES: SetRules = SetRules {
    twins: &[("one_way_delay", "round_trip_delay")],
    short_form,
};

impl Document {
    /// Parses the text of a scenario. `file_name` is for messages only.
    ///
    /// # Errors
    /// When the text is not TOML.
    pub fn parse(file_name: &str, text: &str) -> Result<Document, Diagnostics> {
        Parsed::new(file_name, text).map(Document::of)
    }

    /// Parses the bytes of a file, which must be UTF-8.
    ///
    /// # Errors
    /// When the bytes are not UTF-8 or the text is not TOML.
    pub fn parse_bytes(file_name: &str, bytes: &[u8]) -> Result<Document, Diagnostics> {
        Parsed::from_bytes(file_name, bytes).map(Document::of)
    }

    fn of(parsed: Parsed) -> Document {
        Document {
            parsed,
            controls: Arc::default(),
        }
    }

    /// The name of the file, as given.
    #[must_use]
    pub fn file_name(&self) -> &str {
        &self.parsed.origin.source.name
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
        self.set_by(SetBy::Axis, path, value)
    }

    /// As [`Document::set`]; messages say where the value was given.
    ///
    /// # Errors
    /// When the path leads nowhere.
    pub fn set_by(&mut self, by: SetBy, path: &str, value: &Override) -> Result<(), Diagnostics> {
        self.parsed.set(by, path, value, RULES, check_path)
    }

    /// The files that the scenario names, such as those of orbital elements,
    /// and that it has not been given yet. Names are as written: relative ones
    /// are seen from the scenario's folder.
    #[must_use]
    pub fn wanted_files(&self) -> Vec<String> {
        let mut files = crate::schema().files(&self.parsed.table);
        files.retain(|name| !self.parsed.origin.files.contains_key(name));
        files
    }

    /// Gives the text of a file that the scenario names. Reading it is the
    /// caller's: this crate opens no files.
    pub fn give_file(&mut self, name: &str, text: impl Into<String>) {
        Arc::make_mut(&mut self.parsed.origin.files).insert(name.to_owned(), text.into());
    }

    /// The users' congestion controls that the scenario names and that it has not been given yet:
    /// the name of each, and its file as written.
    #[must_use]
    pub fn wanted_controls(&self) -> Vec<(String, String)> {
        let mut wanted = Vec::new();
        let Some(Value::Table(tables)) = self.parsed.table.get("control").map(|e| &e.item.value)
        else {
            return wanted;
        };
        for entry in tables.iter() {
            let Value::Table(control) = &entry.item.value else {
                continue;
            };
            if let Some(Value::Text(file)) = control.get("file").map(|e| &e.item.value) {
                wanted.push((entry.key.clone(), file.clone()));
            }
        }
        wanted.retain(|key| !self.controls.contains_key(key));
        wanted
    }

    /// Gives a congestion control that the scenario names, or says why it cannot be
    /// loaded. Loading it is the caller's: this crate opens no files.
    pub fn give_control(&mut self, name: &str, file: &str, control: Result<OwnControl, String>) {
        let key = (name.to_owned(), file.to_owned());
        Arc::make_mut(&mut self.controls).insert(key, control);
    }

    /// Checks everything, computes the routes and gives the scenario.
    ///
    /// # Errors
    /// With everything that is wrong, as far as one pass can find it.
    pub fn validate(&self) -> Result<Scenario, Diagnostics> {
        self.survey().map(|(scenario, _)| scenario)
    }

    /// As [`Document::validate`]; and the constellations behind the links and routes of the
    /// scenario, to draw them.
    ///
    /// # Errors
    /// As [`Document::validate`].
    pub fn survey(&self) -> Result<(Scenario, ExpandedConstellations), Diagnostics> {
        let errors = Errors::new(self.parsed.origin.clone());
        let file = self.file_name().rsplit(['/', '\\']).next().unwrap_or("");
        let name = file.strip_suffix(".toml").unwrap_or(file);
        let scenario = read::scenario(&self.parsed.table, name, &self.controls, &errors);
        let (mut scenario, space) = errors.finish(scenario)?;
        scenario.kept = Kept(Some(Arc::new(self.clone())));
        Ok((scenario, space))
    }

    /// The document as a text, with `name` where it has none of its own.
    pub(crate) fn to_toml(&self, name: &str) -> String {
        let mut table = self.parsed.table.clone();
        if table.get("name").is_none() {
            table.put("name", name);
        }
        table.to_document()
    }

    /// Another text with the files and congestion controls that this document was given.
    pub(crate) fn reread(&self, text: &str) -> Result<Document, Diagnostics> {
        let mut document = Document::parse(self.file_name(), text)?;
        document.parsed.origin.files = self.parsed.origin.files.clone();
        document.controls = self.controls.clone();
        Ok(document)
    }
}

/// Says early, and with the nearest name, that there is no such node, link
/// or flow to set something of.
fn check_path(table: &Table, keys: &[String], place: Place) -> Result<(), Box<Diagnostic>> {
    let [group, name, _, ..] = keys else {
        return Ok(());
    };
    let tables = match table.get(group).map(|e| &e.item.value) {
        Some(Value::Table(tables)) => tables.clone(),
        _ => Table::default(),
    };
    let is_own = || match table.get("control").map(|e| &e.item.value) {
        Some(Value::Table(controls)) => controls.get(name).is_some(),
        _ => false,
    };
    let known = match group.as_str() {
        "node" | "link" | "flow" | "medium" | "constellation" => tables.get(name).is_some(),
        "transport" => tables.get(name).is_some() || find_transport(name).is_some() || is_own(),
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
    Err(Box::new(error.suggest_from(name, names)))
}

/// `channel = "perfect"` and `queue = "100 packets"` expanded to tables, so that a key of them can
/// be set.
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
