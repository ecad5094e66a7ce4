//! Transports: by name where the catalogue has them, with every setting elsewhere.

use super::text::{Text, is_name, quoted, rate, time};
use super::{WriteError, transports_of};
use crate::model::Scenario;
use bentpipe_cc::ParameterValue;
use bentpipe_tcp::{
    CongestionControlChoice, HostProfile, Pacing, Recovery, Transport, find_transport,
};
use bentpipe_units::Bytes;

/// The transports of a scenario, each with its name in the file.
#[derive(Debug)]
pub(super) struct Transports(Vec<Named>);

#[derive(Debug)]
struct Named {
    name: String,
    /// It stands in the catalogue under this name as it is.
    is_known: bool,
    transport: Transport,
}

/// The transport of the catalogue of that name.
fn known(name: &str) -> Option<Transport> {
    find_transport(name).map(|named| named.transport())
}

impl Transports {
    /// Finds names for all of them.
    pub(super) fn of(scenario: &Scenario) -> Result<Transports, WriteError> {
        let mut found: Vec<Named> = Vec::new();
        for transport in transports_of(scenario) {
            if found.iter().any(|named| named.transport == *transport) {
                continue;
            }
            if let CongestionControlChoice::Own(own) = &transport.congestion_control {
                let name = own.name();
                return Err(WriteError::new(format!(
                    "`{name}` is a program's own control"
                )));
            }
            let is_known = known(&transport.name).is_some_and(|known| known == *transport);
            let mut name = match is_known {
                true => transport.name.clone(),
                false => plain(&transport.name),
            };
            // What has the name of another would refine that one.
            let is_taken = |name: &str, found: &[Named]| {
                let is_other = known(name).is_some() && !is_known;
                is_other || found.iter().any(|named| named.name == *name)
            };
            while is_taken(&name, &found) {
                name += "-here";
            }
            found.push(Named {
                name,
                is_known,
                transport: transport.clone(),
            });
        }
        Ok(Transports(found))
    }

    /// The name of a transport in the file.
    pub(super) fn name(&self, transport: &Transport) -> &str {
        let found = self.0.iter().find(|named| named.transport == *transport);
        found.map_or("", |named| &named.name)
    }

    /// The scenario with the transports called as in the file, and buffers no larger
    /// than one can have there.
    pub(super) fn renamed(&self, scenario: &Scenario) -> Scenario {
        let mut scenario = scenario.clone();
        let rename = |transport: &mut Transport| {
            let name = self.name(transport).to_owned();
            // Those between boxes of the gateway have none.
            if !name.is_empty() {
                transport.name = name;
                for buffer in [&mut transport.send_buffer, &mut transport.receive_buffer] {
                    *buffer = (*buffer).min(LARGEST_BUFFER);
                }
            }
        };
        for flow in &mut scenario.flows {
            flow.transport.as_mut().map(rename);
            let Some(split) = &mut flow.split else {
                continue;
            };
            for leg in split.legs.iter_mut().chain(&mut split.bypass) {
                rename(&mut leg.transport);
            }
            for pep in &mut split.peps {
                pep.settings.transport.as_mut().map(rename);
            }
        }
        for pep in &mut scenario.peps {
            pep.settings.transport.as_mut().map(rename);
        }
        scenario
    }

    /// Writes those that are not in the catalogue.
    pub(super) fn write(&self, text: &mut Text) -> Result<(), WriteError> {
        for named in self.0.iter().filter(|named| !named.is_known) {
            text.table(&["transport", &named.name]);
            settings(text, &named.transport)?;
        }
        Ok(())
    }
}

/// A name of letters, digits and dashes: `cubic + IW 32` is `cubic-iw-32`.
fn plain(name: &str) -> String {
    if is_name(name) {
        return name.to_owned();
    }
    let words = name.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let words: Vec<String> = words
        .filter(|word| !word.is_empty())
        .map(str::to_ascii_lowercase)
        .collect();
    match words.is_empty() {
        true => "transport".to_owned(),
        false => words.join("-"),
    }
}

fn settings(text: &mut Text, t: &Transport) -> Result<(), WriteError> {
    match &t.congestion_control {
        CongestionControlChoice::Named(name) => text.key("congestion_control", quoted(name)),
        CongestionControlChoice::Slots {
            start,
            avoidance,
            reaction,
        } => {
            text.key("start", quoted(start));
            text.key("avoidance", quoted(avoidance));
            text.key("reaction", quoted(reaction));
        }
        CongestionControlChoice::Ideal => text.key("base", quoted("ideal")),
        CongestionControlChoice::Own(own) => {
            let name = own.name();
            return Err(WriteError::new(format!(
                "`{name}` is a program's own control"
            )));
        }
    }
    for (name, value) in t.parameters.iter() {
        text.key(name, parameter(value));
    }
    let profile = HostProfile::ALL
        .iter()
        .find(|(_, profile)| *profile == t.profile);
    let profile = profile
        .map(|(name, _)| *name)
        .ok_or_else(|| WriteError::new(format!("the host profile of `{}`", t.name)))?;
    text.key("profile", quoted(profile));
    let recovery = Recovery::ALL.iter().find(|(_, known)| *known == t.recovery);
    if let Some((name, _)) = recovery {
        text.key("recovery", quoted(name));
    }
    text.size("mss", Bytes::new(u64::from(t.mss)));
    text.key("initial_window", t.initial_window);
    match t.initial_ssthresh {
        Some(segments) => text.key("initial_ssthresh", segments),
        None => text.key("initial_ssthresh", quoted("unlimited")),
    }
    text.size("send_buffer", t.send_buffer.min(LARGEST_BUFFER));
    text.size("receive_buffer", t.receive_buffer.min(LARGEST_BUFFER));
    text.key(
        "delayed_ack",
        format!(
            "{{ count = {}, timer = {}, quick_acks = {} }}",
            t.delayed_ack.count,
            quoted(&time(t.delayed_ack.timer)),
            t.delayed_ack.quick_acks
        ),
    );
    text.key("timestamps", t.timestamps);
    text.key("limited_transmit", t.limited_transmit);
    text.key("recovery_fix", t.recovery_fix);
    text.key("undo", t.undo);
    text.key(
        "pacing",
        match t.pacing {
            Pacing::Off => quoted("off"),
            Pacing::Window {
                gain,
                initial_burst,
            } => format!("{{ kind = \"window\", gain = {gain}, initial_burst = {initial_burst} }}"),
        },
    );
    text.key("ecn", t.ecn);
    if let Some(rto) = t.minimum_rto {
        text.time("minimum_rto", rto);
    }
    if !t.polling.is_default() {
        let segments = t.polling.segments.map(|n| format!(", segments = {n}"));
        text.key(
            "polling",
            format!(
                "{{ per_round_trip = {}, timeout = {}{} }}",
                t.polling.per_round_trip,
                t.polling.timeout,
                segments.unwrap_or_default()
            ),
        );
    }
    Ok(())
}

/// The largest buffer that a file can have, which no run fills.
const LARGEST_BUFFER: Bytes = Bytes::new(1_000_000_000_000_000_000);

fn parameter(value: &ParameterValue) -> String {
    match value {
        ParameterValue::Number(x) => x.to_string(),
        ParameterValue::Text(text) => quoted(text),
        ParameterValue::Numbers(list) => {
            let list: Vec<String> = list.iter().map(f64::to_string).collect();
            format!("[{}]", list.join(", "))
        }
        ParameterValue::Flag(flag) => flag.to_string(),
        ParameterValue::Duration(duration) => quoted(&time(*duration)),
        ParameterValue::Rate(value) => quoted(&rate(*value)),
    }
}
