//! Transports: by name if the catalogue has them, otherwise with every setting.

use super::{WriteError, transports_of};
use crate::model::Scenario;
use crate::schema::transport::{PacingTable, PollingTable};
use bentpipe_cc::ParameterValue;
use bentpipe_document::form::{Form, word_of};
use bentpipe_document::value::check_name;
use bentpipe_document::{Table, Value};
use bentpipe_tcp::{
    Buffers, Ciphers, CongestionControlChoice, HostProfile, Opener, Protocol, QuicSettings,
    Recovery, Resumption, Transport, find_transport,
};
use bentpipe_units::{Bytes, Duration, Rate};
use std::sync::Arc;

/// The transports of a scenario, each with its name in the file.
#[derive(Debug)]
pub(super) struct Transports(Vec<Named>);

#[derive(Debug)]
struct Named {
    name: String,
    /// The catalogue has exactly this transport under its name.
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
            flow.transport.as_mut().map(Arc::make_mut).map(rename);
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
    pub(super) fn write(&self, top: &mut Table) -> Result<(), WriteError> {
        for named in self.0.iter().filter(|named| !named.is_known) {
            let table = settings(&named.transport)?;
            top.put_in("transport", &named.name, Value::Table(table));
        }
        Ok(())
    }
}

/// A name of letters, digits and dashes: `cubic + IW 32` is `cubic-iw-32`.
fn plain(name: &str) -> String {
    if check_name(name).is_ok() {
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

fn settings(t: &Transport) -> Result<Table, WriteError> {
    let mut table = Table::default();
    match &t.congestion_control {
        CongestionControlChoice::Named(name) => table.put("congestion_control", name.as_str()),
        CongestionControlChoice::Slots {
            start,
            avoidance,
            reaction,
        } => {
            table.put("start", start.as_str());
            table.put("avoidance", avoidance.as_str());
            table.put("reaction", reaction.as_str());
        }
        CongestionControlChoice::Ideal => table.put("base", "ideal"),
        CongestionControlChoice::Own(own) => {
            let name = own.name();
            return Err(WriteError::new(format!(
                "`{name}` is a program's own control"
            )));
        }
    }
    for (name, value) in t.parameters.iter() {
        table.put(name, parameter(value));
    }
    if let Some(quic) = &t.quic {
        put_quic(&mut table, t, quic);
        return Ok(table);
    }
    if !HostProfile::ALL
        .iter()
        .any(|(_, known)| *known == t.profile)
    {
        return Err(WriteError::new(format!("the host profile of `{}`", t.name)));
    }
    table.put("profile", word_of(&HostProfile::ALL, &t.profile));
    if Recovery::ALL.iter().any(|(_, known)| *known == t.recovery) {
        table.put("recovery", word_of(&Recovery::ALL, &t.recovery));
    }
    table.put_as::<Bytes, _>("mss", &Bytes::new(u64::from(t.mss)));
    put_start(&mut table, t);
    if t.kernel.send_memory.is_some() {
        table.put("buffers", word_of(&Buffers::ALL, &Buffers::STOCK));
    } else {
        table.put_as::<Bytes, _>("send_buffer", &t.send_buffer.min(LARGEST_BUFFER));
    }
    table.put_as::<Bytes, _>("receive_buffer", &t.receive_buffer.min(LARGEST_BUFFER));
    let mut delayed_ack = Table::default();
    delayed_ack.put("count", t.delayed_ack.count);
    delayed_ack.put_as::<Duration, _>("timer", &t.delayed_ack.timer);
    delayed_ack.put("quick_acks", t.delayed_ack.quick_acks);
    table.put("delayed_ack", Value::Table(delayed_ack));
    table.put("timestamps", t.timestamps);
    table.put("limited_transmit", t.limited_transmit);
    table.put("recovery_fix", t.recovery_fix);
    table.put("undo", t.undo);
    table.put("pacing", PacingTable::written(&t.pacing));
    table.put("ecn", t.ecn);
    if let Some(rto) = &t.minimum_rto {
        table.put_as::<Duration, _>("minimum_rto", rto);
    }
    if t.kernel.single_segments {
        table.put("offload", false);
    }
    if let Some(resumption) = &t.tls {
        table.put("tls", true);
        if *resumption != Resumption::None {
            table.put("resumption", word_of(&Resumption::ALL, resumption));
        }
    }
    if !t.polling.is_default() {
        table.put("polling", PollingTable::written(&t.polling));
    }
    Ok(table)
}

/// Window and slow start threshold at the start.
fn put_start(table: &mut Table, t: &Transport) {
    table.put("initial_window", t.initial_window);
    let unlimited = || Value::from("unlimited");
    let ssthresh = t.initial_ssthresh.map_or_else(unlimited, Value::from);
    table.put("initial_ssthresh", ssthresh);
}

/// What a transport of QUIC has besides its congestion control.
fn put_quic(table: &mut Table, t: &Transport, quic: &QuicSettings) {
    table.put("protocol", word_of(&Protocol::ALL, &Protocol::Quic));
    if quic.resumption != Resumption::None {
        table.put("resumption", word_of(&Resumption::ALL, &quic.resumption));
    }
    if quic.ciphers != Ciphers::None {
        table.put("ciphers", word_of(&Ciphers::ALL, &quic.ciphers));
    }
    if let Some(mtu) = quic.mtu {
        table.put_as::<Bytes, _>("mss", &Bytes::new(u64::from(mtu)));
    }
    put_start(table, t);
    table.put_as::<Bytes, _>("send_buffer", &t.send_buffer.min(LARGEST_BUFFER));
    table.put_as::<Bytes, _>("receive_buffer", &t.receive_buffer.min(LARGEST_BUFFER));
    if let Some((count, timer)) = &quic.acks {
        let mut delayed_ack = Table::default();
        delayed_ack.put("count", *count);
        delayed_ack.put_as::<Duration, _>("timer", timer);
        table.put("delayed_ack", Value::Table(delayed_ack));
    }
    if let Some(pacing) = &quic.pacing {
        table.put("pacing", PacingTable::written(pacing));
    }
    table.put("ecn", t.ecn);
    if let Some(window) = &quic.initial_receive_window {
        table.put_as::<Bytes, _>("initial_receive_window", window);
    }
    if quic.opener != Opener::default() {
        table.put("opener", word_of(&Opener::ALL, &quic.opener));
    }
    if !quic.batches {
        table.put("offload", false);
    }
}

/// The largest buffer that a file can have, which no run fills.
const LARGEST_BUFFER: Bytes = Bytes::new(1_000_000_000_000_000_000);

fn parameter(value: &ParameterValue) -> Value {
    match value {
        ParameterValue::Number(x) => (*x).into(),
        ParameterValue::Text(text) => text.to_string().into(),
        ParameterValue::Numbers(list) => Value::list(list.iter().map(|x| (*x).into())),
        ParameterValue::Flag(flag) => (*flag).into(),
        ParameterValue::Duration(time) => <Duration as Form<_>>::written(time),
        ParameterValue::Rate(rate) => <Rate as Form<_>>::written(rate),
    }
}
