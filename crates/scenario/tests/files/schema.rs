//! The declared language: its defaults, its examples, and its reference.

use bentpipe_cc::own::{Definition, OwnControl};
use bentpipe_cc::{Ack, CongestionControl, Window};
use bentpipe_document::schema::{Presence, Section};
use bentpipe_document::{Parsed, Table, Value, reference};
use bentpipe_link::{
    BecnSettings, CoDelSettings, FuzzySettings, Limit, QueueSettings, XcpSettings,
};
use bentpipe_middlebox::{
    ReconstructionSettings, Settings, SnoopSettings, SpoofSettings, split::SplitSettings,
};
use bentpipe_scenario::{Document, Limits, Scenario, schema};
use bentpipe_traffic::{Application, WebSettings};
use bentpipe_units::Duration;

/// The scenario that every example adds to.
const BASE: &str = r#"
duration = "60 s"
[node.server]
[node.gateway]
[node.client]
[link.lan]
between = ["server", "gateway"]
rate = "10 Mbit/s"
one_way_delay = "1 ms"
[link.satellite]
between = ["gateway", "client"]
rate = "2 Mbit/s"
round_trip_delay = "511 ms"
[flow.download]
from = "server"
to = "client"
transport = "cubic"
application = { kind = "transfer", size = "3 MB" }
"#;

/// Files that examples name.
const FILES: [(&str, &str); 3] = [
    (
        "iss.tle",
        include_str!("../../../../fuzz/seeds/elements/iss.tle"),
    ),
    ("cell.trace", "0\n5\n10\n20\n"),
    ("cell.delay", "25\n25.5\n31\n"),
];

/// The keys of `over` in `table`: tables are merged, but for those with a
/// `kind`, which replace what was there.
fn merge(table: &Table, over: &Table) -> Table {
    let mut entries: Vec<_> = table.iter().cloned().collect();
    for entry in over.iter() {
        let known = entries.iter_mut().find(|e| e.key == entry.key);
        let Some(known) = known else {
            entries.push(entry.clone());
            continue;
        };
        let merged = match (&known.item.value, &entry.item.value) {
            (Value::Table(a), Value::Table(b)) if b.get("kind").is_none() => {
                Value::Table(merge(a, b))
            }
            (_, other) => other.clone(),
        };
        known.item.value = merged;
    }
    Table::from_entries(entries)
}

/// A congestion control that does nothing.
#[derive(Debug)]
struct Still;

impl CongestionControl for Still {
    fn name(&self) -> &str {
        "still"
    }
    fn on_ack(&mut self, _: &Ack, _: &mut Window) {}
}

fn with_example(example: &str) -> Scenario {
    let base = Parsed::new("base.toml", BASE).unwrap();
    let example = Parsed::new("example.toml", example).unwrap_or_else(|e| panic!("{e}"));
    let merged = merge(&base.table, &example.table);
    let mut text = String::new();
    for entry in merged.iter() {
        text += &format!("{} = {}\n", entry.key, entry.item.value.to_toml());
    }
    let mut document = Document::parse("example.toml", &text).unwrap_or_else(|e| panic!("{e}"));
    for (name, content) in FILES {
        document.give_file(name, content);
    }
    for (name, file) in document.wanted_controls() {
        let own = OwnControl::new(Definition::new(name.as_str(), "of a test"), |_| {
            Ok(Box::new(Still))
        });
        document.give_control(&name, &file, own.map_err(|e| e.to_string()));
    }
    document
        .validate()
        .unwrap_or_else(|e| panic!("{}", e.render(false)))
}

/// `link.NAME.channel` and its kind.
fn title(section: &Section) -> String {
    match section.kind {
        Some(kind) => format!("{} of kind {kind}", section.path),
        None => section.path.to_string(),
    }
}

#[test]
fn the_example_of_every_table_is_a_scenario() {
    for section in schema().all() {
        if section.example.is_empty() {
            // A table of an array is shown with what it stands in.
            assert!(section.path.ends_with("points") || section.path.ends_with("fade.coding"));
            continue;
        }
        let scenario = with_example(section.example);
        assert!(!scenario.flows.is_empty(), "{}", title(section));
    }
}

#[test]
fn no_parameter_is_named_like_a_key_of_a_transport() {
    let all = schema().all();
    let section = all.iter().find(|s| s.path == "transport.NAME").unwrap();
    for described in bentpipe_cc::list() {
        for parameter in described.parameters {
            assert!(section.key(parameter.name).is_none(), "{}", parameter.name);
        }
    }
}

#[test]
fn the_schema_describes_every_key_once() {
    let all = schema().all();
    for section in &all {
        assert!(!section.meaning.is_empty(), "{}", title(section));
        for (i, key) in section.keys.iter().enumerate() {
            assert!(!key.meaning.is_empty() && !key.kind.to_string().is_empty());
            let again = section.keys[i + 1..].iter().any(|k| k.name == key.name);
            assert!(!again, "{} of {}", key.name, section.path);
        }
    }
    assert!(all.iter().any(|s| s.kind == Some("gilbert-elliott")));
    let limits = all.iter().find(|s| s.path == "limits").unwrap();
    let packets = limits.key("packets").unwrap();
    assert_eq!(packets.presence, Presence::Default("20_000_000"));
}

#[test]
fn the_defaults_of_the_schema_are_those_of_the_code() {
    assert_eq!(with_example("limits = {}").limits, Limits::default());
    let application = |kind: &str| {
        let text = format!("flow.download.application = {kind}");
        with_example(&text).flows[0].application.clone()
    };
    assert_eq!(
        application("\"web\""),
        Application::Web(WebSettings::default())
    );
    let queue = |kind: &str| {
        let text = format!("link.satellite.queue = {{ kind = {kind}, limit = \"9 packets\" }}");
        with_example(&text).links[2].settings.queue.clone()
    };
    let limit = Limit::Packets(9);
    assert_eq!(
        queue("\"codel\""),
        QueueSettings::CoDel(CoDelSettings::new(limit))
    );
    assert_eq!(
        queue("\"xcp\""),
        QueueSettings::Xcp(XcpSettings::new(limit))
    );
    let fuzzy = FuzzySettings::new(limit);
    assert_eq!(queue("\"fuzzy\""), QueueSettings::Fuzzy(fuzzy));
    let becn = BecnSettings {
        fuzzy,
        severe: 0.1,
        quiet: Duration::from_millis(600),
    };
    assert_eq!(queue("\"becn\""), QueueSettings::Becn(becn));
    let middlebox = |kind: &str| {
        let place = "node = \"gateway\", toward = \"satellite\"";
        with_example(&format!("middlebox.x = {{ kind = \"{kind}\", {place} }}"))
    };
    let settings = |kind: &str| middlebox(kind).middleboxes[0].settings.clone();
    assert_eq!(settings("snoop"), Settings::Snoop(SnoopSettings::default()));
    assert_eq!(settings("spoof"), Settings::Spoof(SpoofSettings::default()));
    assert_eq!(
        settings("ack-reconstruction"),
        Settings::Reconstruction(ReconstructionSettings::default())
    );
    assert_eq!(
        middlebox("split").peps[0].settings,
        SplitSettings::default()
    );
}

/// `UPDATE_DOCS=1 cargo test -p bentpipe-scenario --test files schema` writes the page again.
#[test]
fn the_reference_is_that_of_the_schema() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/scenario.md");
    let page = bentpipe_scenario::reference();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(path, &page).unwrap();
    }
    let written = std::fs::read_to_string(path).unwrap_or_default();
    let same = written == page;
    assert!(
        same,
        "docs/scenario.md is not what the schema says: \
         `UPDATE_DOCS=1 cargo test -p bentpipe-scenario --test files schema` writes it"
    );
}

#[test]
fn the_json_schema_names_every_table() {
    let json = reference::json_schema(schema(), "Scenario").to_string();
    for section in schema().all() {
        if let Some(kind) = section.kind {
            assert!(json.contains(&format!("\"const\":\"{kind}\"")), "{kind}");
        }
        for key in &section.keys {
            assert!(json.contains(&format!("\"{}\":", key.name)), "{}", key.name);
        }
    }
}
