//! The JSON of an outcome: the names and units of the tables' columns, in
//! their order.

use crate::fields::{Fields, Names};
use crate::record::Part;
use crate::run::Run;
use crate::series::SampleRow;
use crate::{Checkpoint, FlowOutcome, FlowSeries, LinkOutcome, Outcome, RunInfo, Value};
use serde::de::Error as _;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value as Json};

impl Serialize for Value {
    /// JSON has no infinity: it becomes null, as what is missing does.
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::Text(text) => to.serialize_str(text),
            Value::Integer(n) => to.serialize_u64(*n),
            Value::Number(x) if x.is_finite() => to.serialize_f64(*x),
            Value::Flag(is) => to.serialize_bool(*is),
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
        entries(&mut map, run, &run.info(), |_, _| true)?;
        map.serialize_entry("total_goodput_bps", &self.total_goodput().bps())?;
        map.serialize_entry("flows", &List(run, &self.flows))?;
        map.serialize_entry("links", &List(run, &self.links))?;
        if !self.middleboxes.is_empty() {
            map.serialize_entry("middleboxes", &List(run, &self.middleboxes))?;
        }
        if !self.crossings.is_empty() {
            map.serialize_entry("crossings", &List(run, &self.crossings))?;
        }
        if !self.legs.is_empty() {
            map.serialize_entry("legs", &List(run, &self.legs))?;
        }
        if !self.checkpoints.is_empty() {
            let checkpoints = self.checkpoints.iter().map(|c| AtCheckpoint(run, c));
            map.serialize_entry("marks", &checkpoints.collect::<Vec<_>>())?;
        }
        if !self.series.is_empty() {
            let series = self.series.iter().map(|s| Series(run, s));
            map.serialize_entry("series", &series.collect::<Vec<_>>())?;
        }
        map.end()
    }
}

/// Writes those columns of a part that `takes` accepts as entries of an object.
fn entries<M: SerializeMap>(
    map: &mut M,
    run: &Run<'_>,
    part: &impl Part,
    takes: impl Fn(&str, &Value) -> bool,
) -> Result<(), M::Error> {
    let mut result = Ok(());
    part.each_value(run, &mut |name, value| {
        if result.is_ok() && takes(name, &value) {
            result = map.serialize_entry(name, &value);
        }
    });
    result
}

/// An object for each part.
struct List<'a, T>(&'a Run<'a>, &'a [T]);

impl<T: Part> Serialize for List<'_, T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.1.iter().map(|part| Object(self.0, part)))
    }
}

struct Object<'a, T>(&'a Run<'a>, &'a T);

impl<T: Part> Serialize for Object<'_, T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        entries(&mut map, self.0, self.1, |_, _| true)?;
        map.end()
    }
}

/// A checkpoint: its time, then its flows and crossings in the outcome's order.
struct AtCheckpoint<'a>(&'a Run<'a>, &'a Checkpoint);

impl Serialize for AtCheckpoint<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let AtCheckpoint(run, checkpoint) = self;
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("at_ns", &checkpoint.at.as_nanos())?;
        map.serialize_entry("flows", &List(run, &checkpoint.flows))?;
        map.serialize_entry("crossings", &List(run, &checkpoint.crossings))?;
        map.end()
    }
}

/// The series of a flow: a list for each kind of sample.
struct Series<'a>(&'a Run<'a>, &'a FlowSeries);

impl Serialize for Series<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Series(run, series) = self;
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("flow", &series.flow)?;
        for (name, rows) in series.by_kind() {
            if name == "held" && rows.is_empty() {
                continue;
            }
            let rows = rows.iter().map(|row| SampleObject(run, row));
            map.serialize_entry(name, &rows.collect::<Vec<_>>())?;
        }
        map.end()
    }
}

/// A sample: what is missing is left out, the kind, which names the list, and
/// the time in seconds, which is there in nanoseconds.
struct SampleObject<'a>(&'a Run<'a>, &'a SampleRow);

impl Serialize for SampleObject<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        entries(&mut map, self.0, self.1, |name, value| {
            !["sample", "time_s"].contains(&name) && !value.is_missing()
        })?;
        map.end()
    }
}

impl<'de> Deserialize<'de> for Outcome {
    /// Reads what `Serialize` wrote, except the series: they are for drawing, and long. Derived
    /// metrics are not read but computed again.
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Outcome, D::Error> {
        let map = Map::<String, Json>::deserialize(from)?;
        let outcome = || -> Result<Outcome, String> {
            let run = RunInfo::read(&Fields::new(&|name| value(map.get(name))))?;
            let none = Names::default();
            let flows: Vec<FlowOutcome> = parts(&map, "flows", &none)?;
            let links: Vec<LinkOutcome> = parts(&map, "links", &none)?;
            let names = Names::new(flows.iter().map(|f| &f.name), links.iter().map(|l| &l.name));
            Ok(Outcome {
                scenario: run.scenario,
                seed: run.seed,
                ended_at: run.ended_at,
                events: run.events,
                packet_hops: run.packet_hops,
                middleboxes: some_parts(&map, "middleboxes", &names)?,
                crossings: some_parts(&map, "crossings", &names)?,
                legs: some_parts(&map, "legs", &names)?,
                checkpoints: checkpoints(&map)?,
                flows,
                links,
                series: Vec::new(),
            })
        };
        outcome().map_err(D::Error::custom)
    }
}

fn parts<T: Part>(map: &Map<String, Json>, name: &str, names: &Names) -> Result<Vec<T>, String> {
    let list = map.get(name).and_then(Json::as_array);
    let list = list.ok_or_else(|| format!("`{name}` is not a list"))?;
    let part = |(i, part): (usize, &Json)| {
        let get = |field: &str| value(part.get(field));
        T::read(&Fields::with(&get, names)).map_err(|e| format!("{name}[{i}]: {e}"))
    };
    list.iter().enumerate().map(part).collect()
}

/// The same for a list that is left out where it is empty.
fn some_parts<T: Part>(
    map: &Map<String, Json>,
    name: &str,
    names: &Names,
) -> Result<Vec<T>, String> {
    match map.get(name) {
        None => Ok(Vec::new()),
        Some(_) => parts(map, name, names),
    }
}

fn checkpoints(map: &Map<String, Json>) -> Result<Vec<Checkpoint>, String> {
    let Some(list) = map.get("marks") else {
        return Ok(Vec::new());
    };
    let list = list.as_array().ok_or("`marks` is not a list")?;
    let checkpoint = |(i, mark): (usize, &Json)| {
        let mark = mark.as_object().ok_or(format!("marks[{i}] is no object"))?;
        let names = Names::default();
        let read = || -> Result<Checkpoint, String> {
            Ok(Checkpoint {
                at: Fields::new(&|name| value(mark.get(name))).get("at_ns")?,
                flows: parts(mark, "flows", &names)?,
                crossings: parts(mark, "crossings", &names)?,
            })
        };
        read().map_err(|e| format!("marks[{i}]: {e}"))
    };
    list.iter().enumerate().map(checkpoint).collect()
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
