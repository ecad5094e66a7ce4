//! The JSON of an outcome: the names and units of the tables' columns, in
//! their order.

use crate::columns::{FLOW, Field, LINK, RUN, Run, SAMPLE, Sample, SampleRow};
use crate::crossing_columns::{CROSSING, CROSSING_MARK, FLOW_MARK};
use crate::leg_columns::LEG;
use crate::middlebox_columns::MIDDLEBOX;
use crate::rows::Fields;
use crate::{Checkpoint, FlowLinkStats, FlowOutcome, FlowSeries, LinkOutcome, Outcome, Value};
use bentpipe_units::Bytes;
use serde::de::Error as _;
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value as Json};
use std::collections::HashMap;

impl Serialize for Value {
    /// JSON has no infinity: it becomes null, as what is missing does.
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::Text(text) => to.serialize_str(text),
            Value::Integer(n) => to.serialize_u64(*n),
            Value::Number(x) if x.is_finite() => to.serialize_f64(*x),
            Value::Number(_) | Value::Missing => to.serialize_none(),
        }
    }
}

impl Serialize for Outcome {
    /// Writes the run, then `flows`, `links` and, where there are any,
    /// `middleboxes`, `crossings`, `legs`, `marks` and `series`.
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let run = &Run::of(self);
        let mut map = to.serialize_map(None)?;
        for field in &RUN {
            map.serialize_entry(field.name, &field.get(run, &()))?;
        }
        map.serialize_entry("total_goodput_bps", &self.total_goodput().bps())?;
        map.serialize_entry(
            "flows",
            &Parts {
                run,
                parts: &self.flows,
                fields: &FLOW,
            },
        )?;
        map.serialize_entry(
            "links",
            &Parts {
                run,
                parts: &self.links,
                fields: &LINK,
            },
        )?;
        if !self.middleboxes.is_empty() {
            let (parts, fields) = (&self.middleboxes, &MIDDLEBOX);
            map.serialize_entry("middleboxes", &Parts { run, parts, fields })?;
        }
        if !self.crossings.is_empty() {
            map.serialize_entry(
                "crossings",
                &Parts {
                    run,
                    parts: &self.crossings,
                    fields: &CROSSING,
                },
            )?;
        }
        if !self.legs.is_empty() {
            map.serialize_entry(
                "legs",
                &Parts {
                    run,
                    parts: &self.legs,
                    fields: &LEG,
                },
            )?;
        }
        if !self.checkpoints.is_empty() {
            let checkpoints: Vec<_> = self
                .checkpoints
                .iter()
                .map(|mark| MarkParts { run, mark })
                .collect();
            map.serialize_entry("marks", &checkpoints)?;
        }
        if !self.series.is_empty() {
            let series: Vec<_> = self
                .series
                .iter()
                .map(|series| Series { run, series })
                .collect();
            map.serialize_entry("series", &series)?;
        }
        map.end()
    }
}

/// A list of objects with the same fields.
struct Parts<'a, T: 'static> {
    run: &'a Run<'a>,
    parts: &'a [T],
    fields: &'static [Field<T>],
}

impl<T> Serialize for Parts<'_, T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut list = to.serialize_seq(Some(self.parts.len()))?;
        for part in self.parts {
            list.serialize_element(&Part {
                run: self.run,
                part,
                fields: self.fields,
                skip_missing: false,
            })?;
        }
        list.end()
    }
}

struct Part<'a, T: 'static> {
    run: &'a Run<'a>,
    part: &'a T,
    fields: &'static [Field<T>],
    skip_missing: bool,
}

impl<T> Serialize for Part<'_, T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        for field in self.fields {
            let value = field.get(self.run, self.part);
            if !(self.skip_missing && value.is_missing()) {
                map.serialize_entry(field.name, &value)?;
            }
        }
        map.end()
    }
}

/// A mark: its time, then its flows and crossings in the outcome's order.
struct MarkParts<'a> {
    run: &'a Run<'a>,
    mark: &'a Checkpoint,
}

impl Serialize for MarkParts<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let (run, mark) = (self.run, self.mark);
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("at_ns", &mark.at.as_nanos())?;
        let (parts, fields) = (&mark.flows, &FLOW_MARK);
        map.serialize_entry("flows", &Parts { run, parts, fields })?;
        let (parts, fields) = (&mark.crossings, &CROSSING_MARK);
        map.serialize_entry("crossings", &Parts { run, parts, fields })?;
        map.end()
    }
}

struct Series<'a> {
    run: &'a Run<'a>,
    series: &'a FlowSeries,
}

impl Serialize for Series<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let sender = self.series.sender.iter();
        let sender = sender.map(|s| SampleRow {
            at: s.at,
            sample: Sample::Sender(*s),
        });
        let delivered = rows(&self.series.delivered, Sample::Delivered);
        let sent = rows(&self.series.sent, Sample::Sent);
        let held = rows(&self.series.held, Sample::Held);
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("flow", &self.series.flow)?;
        for (name, rows) in [
            ("sender", sender.collect()),
            ("delivered", delivered),
            ("sent", sent),
            ("held", held),
        ] {
            if name == "held" && rows.is_empty() {
                continue;
            }
            let parts: Vec<_> = rows.iter().map(|row| self.part(row)).collect();
            map.serialize_entry(name, &parts)?;
        }
        map.end()
    }
}

fn rows(samples: &[(bentpipe_units::Time, Bytes)], sample: fn(Bytes) -> Sample) -> Vec<SampleRow> {
    samples
        .iter()
        .map(|&(at, n)| SampleRow {
            at,
            sample: sample(n),
        })
        .collect()
}

impl<'a> Series<'a> {
    /// All fields but the first, which names the list that the sample is in.
    fn part(&self, row: &'a SampleRow) -> Part<'a, SampleRow>
    where
        Self: 'a,
    {
        Part {
            run: self.run,
            part: row,
            fields: &SAMPLE[1..],
            skip_missing: true,
        }
    }
}

impl<'de> Deserialize<'de> for Outcome {
    /// Reads what `Serialize` wrote, but for the series: they are for drawing,
    /// and long. Derived metrics are not read but computed again.
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Outcome, D::Error> {
        let map = Map::<String, Json>::deserialize(from)?;
        let get = |name: &str| value(map.get(name));
        let run = Fields(&get);
        let outcome = || -> Result<Outcome, String> {
            let flows = parts(&map, "flows", |f| f.flow())?;
            let links = parts(&map, "links", |f| f.link())?;
            let names = Names::of(&flows, &links);
            Ok(Outcome {
                scenario: run.text("scenario")?,
                seed: run.count("seed")?,
                ended_at: run.time("ended_at_ns")?,
                events: run.count("events")?,
                packet_hops: run.count("packet_hops")?,
                middleboxes: some_parts(&map, "middleboxes", |f| f.middlebox())?,
                crossings: some_parts(&map, "crossings", |f| names.crossing(f))?,
                legs: some_parts(&map, "legs", |f| f.leg(names.flow(f)?))?,
                checkpoints: checkpoints(&map)?,
                flows,
                links,
                series: Vec::new(),
            })
        };
        outcome().map_err(D::Error::custom)
    }
}

fn parts<T>(
    map: &Map<String, Json>,
    name: &str,
    read: impl Fn(&Fields<'_>) -> Result<T, String>,
) -> Result<Vec<T>, String> {
    let list = map.get(name).and_then(Json::as_array);
    let list = list.ok_or_else(|| format!("`{name}` is not a list"))?;
    list.iter()
        .enumerate()
        .map(|(i, part)| {
            let get = |field: &str| value(part.get(field));
            read(&Fields(&get)).map_err(|e| format!("{name}[{i}]: {e}"))
        })
        .collect()
}

/// The same for a list that is left out where it is empty.
fn some_parts<T>(
    map: &Map<String, Json>,
    name: &str,
    read: impl Fn(&Fields<'_>) -> Result<T, String>,
) -> Result<Vec<T>, String> {
    match map.get(name) {
        None => Ok(Vec::new()),
        Some(_) => parts(map, name, read),
    }
}

fn checkpoints(map: &Map<String, Json>) -> Result<Vec<Checkpoint>, String> {
    let Some(list) = map.get("marks") else {
        return Ok(Vec::new());
    };
    let list = list.as_array().ok_or("`marks` is not a list")?;
    list.iter()
        .enumerate()
        .map(|(i, mark)| {
            let mark = mark.as_object().ok_or(format!("marks[{i}] is no object"))?;
            let read = || -> Result<Checkpoint, String> {
                Ok(Checkpoint {
                    at: Fields(&|name| value(mark.get(name))).time("at_ns")?,
                    flows: parts(mark, "flows", |f| f.flow_counts())?,
                    crossings: parts(mark, "crossings", |f| f.crossing())?,
                })
            };
            read().map_err(|e| format!("marks[{i}]: {e}"))
        })
        .collect()
}

/// Where each flow and link stands.
struct Names {
    flows: HashMap<String, usize>,
    links: HashMap<String, usize>,
}

impl Names {
    fn of(flows: &[FlowOutcome], links: &[LinkOutcome]) -> Names {
        let places = |names: &mut dyn Iterator<Item = &String>| {
            let names = names.enumerate().map(|(i, name)| (name.clone(), i));
            names.collect()
        };
        Names {
            flows: places(&mut flows.iter().map(|f| &f.name)),
            links: places(&mut links.iter().map(|l| &l.name)),
        }
    }

    fn crossing(&self, fields: &Fields<'_>) -> Result<FlowLinkStats, String> {
        Ok(FlowLinkStats {
            flow: self.flow(fields)?,
            link: place(fields, "link", &self.links)?,
            counts: fields.crossing()?,
        })
    }

    fn flow(&self, fields: &Fields<'_>) -> Result<usize, String> {
        place(fields, "flow", &self.flows)
    }
}

/// Where the flow or link stands that `fields` name.
fn place(fields: &Fields<'_>, what: &str, known: &HashMap<String, usize>) -> Result<usize, String> {
    let name = fields.text(what)?;
    let place = known.get(&name).copied();
    place.ok_or_else(|| format!("`{what}` names no {what} of the run: `{name}`"))
}

/// A JSON value as a cell. What no cell can hold becomes text, which no
/// number accepts.
fn value(json: Option<&Json>) -> Value {
    match json {
        None | Some(Json::Null) => Value::Missing,
        Some(Json::String(text)) => Value::from(text.as_str()),
        Some(Json::Number(n)) => match (n.as_u64(), n.as_f64()) {
            (Some(n), _) => Value::Integer(n),
            (None, Some(x)) => Value::Number(x),
            (None, None) => Value::Missing,
        },
        Some(other) => Value::Text(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::samples::{any_outcome, outcome};
    use proptest::prelude::*;

    #[test]
    fn json_has_the_names_of_the_columns_in_their_order() {
        let text = serde_json::to_string(&outcome()).unwrap();
        assert!(text.starts_with(
            "{\"scenario\":\"geo\",\"seed\":18446744073709551615,\"ended_at_ns\":60000000000,"
        ));
        assert!(
            text.contains("\"transfer_time_s\":12.5,\"goodput_bps\":1920000,"),
            "{text}"
        );
        assert!(text.contains("{\"at_ns\":5,\"cwnd_segments\":2.5,\"ssthresh_segments\":null,"));
        assert!(
            text.ends_with("\"sent\":[{\"at_ns\":5,\"sent_bytes\":1448}]}]}"),
            "{text}"
        );
    }

    #[test]
    fn bad_json_is_an_error_that_names_the_field() {
        let good = serde_json::to_value(outcome()).unwrap();
        let mut bad = good.clone();
        bad["flows"][1]["timeouts"] = "many".into();
        let e = serde_json::from_value::<Outcome>(bad).unwrap_err();
        assert_eq!(e.to_string(), "flows[1]: `timeouts` is not a whole number");
        let mut bad = good.clone();
        bad["links"] = Json::Null;
        assert!(serde_json::from_value::<Outcome>(bad).is_err());
        let mut bad = good;
        bad["seed"] = Json::from(-1);
        assert!(serde_json::from_value::<Outcome>(bad).is_err());
    }

    proptest! {
        #[test]
        fn an_outcome_reads_back_bit_for_bit(outcome in any_outcome()) {
            let text = serde_json::to_string(&outcome).unwrap();
            prop_assert_eq!(serde_json::from_str::<Outcome>(&text).unwrap(), outcome);
        }
    }
}
