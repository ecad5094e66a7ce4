//! Places by the beginning of a name, or by a point on the map.

use crate::Problem;
use axum::Json;
use bentpipe::orbit::{City, Distance, Place, complete, near};
use serde::Deserialize;
use serde_json::{Value, json};

/// Places of an answer, at most.
const MOST: usize = 12;

/// What is looked for.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Wanted {
    /// A name that is being typed.
    Text {
        /// Its beginning.
        text: String,
    },
    /// A point on the map.
    Point {
        /// Degrees north.
        latitude: f64,
        /// Degrees east.
        longitude: f64,
        /// How far a place may be from it.
        within_km: f64,
    },
}

/// `{"places": [{"text", "latitude", "longitude", "people"}]}`: `text` names the place in
/// any question. Of a point: the largest place near it, or the point itself in degrees.
pub(super) async fn places(Json(wanted): Json<Wanted>) -> Result<Json<Value>, Problem> {
    let found: Vec<Value> = match wanted {
        Wanted::Text { text } if text.len() > 200 => {
            return Err(Problem::wrong(
                "a name of a place is at most 200 bytes long",
            ));
        }
        Wanted::Text { text } => complete(&text, MOST).iter().map(document).collect(),
        Wanted::Point {
            latitude,
            longitude,
            within_km,
        } => {
            let round = |degrees: f64| (degrees * 100.0).round() / 100.0;
            let place = Place::new(round(latitude), round(longitude));
            let place = place.map_err(|e| Problem::wrong(e.to_string()))?;
            let within = Distance::from_km(within_km.clamp(0.0, 2_000.0));
            let point = || {
                json!({
                    "text": place.to_string(),
                    "latitude": place.latitude(),
                    "longitude": place.longitude(),
                })
            };
            let found = near(place, within);
            vec![found.as_ref().map_or_else(point, document)]
        }
    };
    Ok(Json(json!({ "places": found })))
}

fn document((text, city): &(String, City)) -> Value {
    json!({
        "text": text,
        "latitude": city.place.latitude(),
        "longitude": city.place.longitude(),
        "people": city.people,
        "country": city.country,
    })
}
