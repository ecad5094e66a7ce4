//! Questions to begin with: links that people have, each by its name.

use crate::app::App;
use axum::routing::get;
use axum::{Json, Router};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

pub(crate) fn routes() -> Router<App> {
    Router::new().route("/api/link/presets", get(answer))
}

/// `{"presets": [{"name", "about", "options": {name: value}}]}`.
async fn answer() -> Json<Value> {
    Json(json!({ "presets": all() }))
}

/// A question by its name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Preset {
    /// What people call it.
    name: &'static str,
    /// What it is, in a sentence.
    about: &'static str,
    /// The options of `bentpipe compare`; what is not there has its default.
    options: BTreeMap<&'static str, &'static str>,
}

/// A name, a sentence, and options.
type Row = (
    &'static str,
    &'static str,
    &'static [(&'static str, &'static str)],
);

const PRESETS: &[Row] = &[
    (
        "GEO broadband",
        "One user of a broadband terminal under a geostationary satellite: all defaults.",
        &[],
    ),
    (
        "GEO by cities",
        "The same by geometry: a server in London, users in Nairobi, the satellite midway.",
        &[("orbit", "geo"), ("from", "London"), ("to", "Nairobi")],
    ),
    (
        "VSAT branch",
        "Five users of a small terminal read pages, with a thin way back.",
        &[
            ("rate", "6 Mbit/s"),
            ("return-rate", "512 kbit/s"),
            ("rtt", "560 ms"),
            ("users", "5"),
            ("traffic", "web"),
        ],
    ),
    (
        "Ka-band gateway",
        "Twenty users behind one carrier of 100 Mbit/s, with and without a split-connection proxy.",
        &[
            ("rate", "100 Mbit/s"),
            ("loss", "0.01%"),
            ("users", "20"),
            ("pep", "none,split"),
        ],
    ),
    (
        "Ship",
        "A crew that downloads, browses and watches over a link that loses packets in bursts.",
        &[
            ("rate", "8 Mbit/s"),
            ("return-rate", "1 Mbit/s"),
            ("loss", "1% in bursts of 20 packets"),
            ("users", "6"),
            ("traffic", "mixed"),
        ],
    ),
    (
        "Deep fade",
        "Rain: one packet in twenty is lost, eight in a row.",
        &[
            ("rate", "2 Mbit/s"),
            ("loss", "5% in bursts of 8 packets"),
            ("size", "1 MB"),
        ],
    ),
    (
        "Iridium",
        "Across the Arctic by laser links, at the rate of a terminal.",
        &[
            ("orbit", "iridium"),
            ("from", "Anchorage"),
            ("to", "Oslo"),
            ("size", "100 kB"),
        ],
    ),
    (
        "Starlink",
        "The first shell with laser links, between two cities, with its handovers.",
        &[
            ("orbit", "starlink"),
            ("from", "London"),
            ("to", "Nairobi"),
            ("rate", "50 Mbit/s"),
        ],
    ),
    (
        "LEO as one number",
        "A low orbit without its changes: 50 ms, 100 Mbit/s.",
        &[("rate", "100 Mbit/s"), ("rtt", "50 ms")],
    ),
    (
        "Moon",
        "Light needs 2.6 s there and back.",
        &[("rate", "5 Mbit/s"), ("rtt", "2.6 s"), ("loss", "0.01%")],
    ),
];

/// All of them, the usual one first.
fn all() -> Vec<Preset> {
    let rows = PRESETS.iter();
    rows.map(|(name, about, options)| Preset {
        name,
        about,
        options: options.iter().copied().collect(),
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_differ_and_so_do_questions() {
        let all = all();
        let names: BTreeSet<_> = all.iter().map(|preset| preset.name).collect();
        let questions: BTreeSet<_> = all.iter().map(|preset| &preset.options).collect();
        assert_eq!(names.len(), all.len());
        assert_eq!(questions.len(), all.len());
    }

    #[test]
    fn orbits_have_both_places_and_no_round_trip_time() {
        for preset in all() {
            let has = |name: &str| preset.options.contains_key(name);
            assert_eq!(has("orbit"), has("from") && has("to"), "{}", preset.name);
            assert!(!(has("orbit") && has("rtt")), "{}", preset.name);
        }
    }
}
