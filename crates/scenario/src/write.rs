//! Writes a scenario as the text of a file, from the model.
//!
//! What a file says in a few words, such as a queue in bandwidth-delay products or
//! a transport by its base, stands here with its values. What the model does not know,
//! such as the constellation behind a link, a scenario that was read has from its
//! document. The text is read again before it is handed out, so that it is the same
//! scenario or none; only transports may have another name, where theirs cannot stand in
//! a file.

mod links;
mod transports;

use crate::Document;
use crate::model::{
    Handshake, Limits, LinkDownPolicy, LinkId, Middlebox, NodeId, Scenario, SplitPep,
};
use crate::schema::flow::{ApplicationTable, IpsecTable};
use crate::schema::middlebox::{ReconstructionKeys, SnoopKeys, SpoofKeys};
use crate::schema::network::LimitsTable;
use bentpipe_document::form::{Form, word_of};
use bentpipe_document::value::check_name;
use bentpipe_document::{Table, Value};
use bentpipe_middlebox::Settings;
use bentpipe_middlebox::split::{
    Accept, Alone, Discovery, Failure, KnownRate, Pool, ProxyControl, SplitSettings, Symptom,
    Tunnel,
};
use bentpipe_tcp::Transport;
use bentpipe_units::{Bytes, Duration, Time};
use transports::Transports;

/// Why a scenario cannot be written as a file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this scenario cannot be written as a file: {0}")]
pub struct WriteError(String);

impl WriteError {
    fn new(what: impl Into<String>) -> WriteError {
        WriteError(what.into())
    }
}

impl Scenario {
    /// The text of a file that describes this scenario.
    ///
    /// It says every value, so that it stays the same scenario when a default changes. A
    /// scenario that was read and that the model alone cannot say so (counted nodes, media,
    /// constellations, traces) is written as its document has it; the files that it names
    /// then belong to it.
    ///
    /// ```
    /// use bentpipe_scenario::{Document, template};
    ///
    /// let scenario = Document::parse("mine.toml", template())?.validate()?;
    /// let text = scenario.to_toml()?;
    /// assert_eq!(Document::parse("same.toml", &text)?.validate()?, scenario);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// For what has no form in a file, which the error names: routes and counted names of a
    /// program, media, traces, congestion controls of a program.
    pub fn to_toml(&self) -> Result<String, WriteError> {
        let why = match self.of_model() {
            Ok(text) => return Ok(text),
            Err(why) => why,
        };
        let Some(document) = &self.kept.0 else {
            return Err(why);
        };
        let text = document.to_toml(&self.name);
        let read = document.reread(&text).and_then(|file| file.validate());
        // It may have been changed since it was read.
        match read.is_ok_and(|read| read == *self) {
            true => Ok(text),
            false => Err(why),
        }
    }

    /// The same from the model alone: every default is resolved, whatever the file that the
    /// scenario was read from has in few words.
    ///
    /// # Errors
    /// As [`to_toml`](Scenario::to_toml), and for what only a document can say: counted
    /// nodes, media, constellations, traces.
    pub fn to_resolved_toml(&self) -> Result<String, WriteError> {
        self.of_model()
    }

    fn of_model(&self) -> Result<String, WriteError> {
        let transports = Transports::of(self)?;
        let text = written(self, &transports)?.to_document();
        let parsed = Document::parse("scenario.toml", &text).and_then(|file| file.validate());
        let parsed = parsed.map_err(|errors| {
            let first = errors
                .errors
                .first()
                .map(|error| error.message().to_owned());
            WriteError::new(first.unwrap_or_default())
        })?;
        match difference(&transports.renamed(self), &parsed) {
            None => Ok(text),
            Some(what) => Err(WriteError::new(format!("{what} would be others"))),
        }
    }
}

/// The difference, if there is one.
fn difference(a: &Scenario, b: &Scenario) -> Option<&'static str> {
    let parts = [
        ("its nodes", a.nodes == b.nodes),
        ("its links", a.links == b.links),
        ("its media", a.media == b.media),
        ("its middleboxes", a.middleboxes == b.middleboxes),
        ("its proxies", a.peps == b.peps),
        ("its flows", a.flows == b.flows),
        ("its name, duration, seed or limits", a == b),
    ];
    let differs = parts.iter().find(|(_, is_same)| !is_same);
    differs.map(|(what, _)| *what)
}

fn written(scenario: &Scenario, transports: &Transports) -> Result<Table, WriteError> {
    let Scenario {
        name,
        description,
        duration,
        seed,
        nodes,
        links: _,
        media,
        flows: _,
        stranded,
        middleboxes,
        peps,
        limits,
        kept: _,
    } = scenario;
    let mut top = Table::default();
    top.put("name", name.as_str());
    if !description.is_empty() {
        top.put("description", description.as_str());
    }
    top.put_as::<Duration, _>("duration", duration);
    top.put("seed", *seed);
    if *stranded != LinkDownPolicy::default() {
        top.put("stranded", "rerouted");
    }
    if *limits != Limits::default() {
        top.put("limits", LimitsTable::written(limits));
    }
    for node in nodes {
        top.put_in(
            "node",
            plain(&node.name, "node")?,
            Value::Table(Table::default()),
        );
    }
    if let Some(medium) = media.first() {
        return Err(WriteError::new(format!("medium `{}`", medium.name)));
    }
    links::write(&mut top, scenario)?;
    transports.write(&mut top)?;
    for of in middleboxes {
        let table = middlebox(scenario, of)?;
        top.put_in(
            "middlebox",
            plain(&of.name, "middlebox")?,
            Value::Table(table),
        );
    }
    for of in peps {
        let table = pep(scenario, transports, of)?;
        top.put_in(
            "middlebox",
            plain(&of.name, "middlebox")?,
            Value::Table(table),
        );
    }
    flows(&mut top, scenario, transports)?;
    Ok(top)
}

/// A name that is valid in a file.
fn plain<'n>(name: &'n str, what: &str) -> Result<&'n str, WriteError> {
    match check_name(name) {
        Ok(()) => Ok(name),
        Err(_) => Err(WriteError::new(format!(
            "{what} `{name}` is one of several"
        ))),
    }
}

/// A time of the run as the time since its start.
fn put_time(table: &mut Table, key: &str, time: Time) {
    table.put_as::<Duration, _>(key, &time.since(Time::ZERO));
}

fn flows(top: &mut Table, scenario: &Scenario, transports: &Transports) -> Result<(), WriteError> {
    for flow in &scenario.flows {
        let mut table = Table::default();
        table.put("from", node(scenario, flow.from));
        table.put("to", node(scenario, flow.to));
        if let Some(transport) = &flow.transport {
            table.put("transport", transports.name(transport));
        }
        table.put("application", ApplicationTable::written(&flow.application));
        if flow.start != Time::ZERO {
            put_time(&mut table, "start", flow.start);
        }
        if let Some(stop) = flow.stop {
            put_time(&mut table, "stop", stop);
        }
        match flow.handshake {
            Handshake::Counted => {}
            Handshake::NotCounted => table.put("handshake", "not-counted"),
            Handshake::Skipped => table.put("handshake", "skipped"),
        }
        if flow.dns {
            table.put("dns", true);
        }
        if let Some(subscriber) = &flow.subscriber {
            table.put("subscriber", subscriber.clone());
        }
        if let Some(ipsec) = &flow.ipsec {
            table.put("ipsec", IpsecTable::written(ipsec));
        }
        top.put_in("flow", plain(&flow.name, "flow")?, Value::Table(table));
    }
    Ok(())
}

fn node(scenario: &Scenario, id: NodeId) -> &str {
    let node = scenario.nodes.get(id.0 as usize);
    node.map_or("", |node| node.name.as_str())
}

/// The name of the link of a file's table that the links of a box are of.
fn toward<'s>(scenario: &'s Scenario, name: &str, links: &[LinkId]) -> Result<&'s str, WriteError> {
    let link = match links {
        [link] => scenario.links.get(link.0 as usize),
        _ => None,
    };
    let link = link.ok_or_else(|| WriteError::new(format!("the links of `{name}`")))?;
    Ok(link.name.strip_suffix(".reverse").unwrap_or(&link.name))
}

fn middlebox(scenario: &Scenario, of: &Middlebox) -> Result<Table, WriteError> {
    let mut table = Table::default();
    table.put("kind", of.settings.kind());
    table.put("node", node(scenario, of.node));
    table.put("toward", toward(scenario, &of.name, &of.toward)?);
    table.put_all(&match &of.settings {
        Settings::Snoop(settings) => SnoopKeys::written(settings),
        Settings::Spoof(settings) => SpoofKeys::written(settings),
        Settings::Reconstruction(settings) => ReconstructionKeys::written(settings),
    });
    Ok(table)
}

fn pep(scenario: &Scenario, transports: &Transports, pep: &SplitPep) -> Result<Table, WriteError> {
    let mut table = Table::default();
    table.put("kind", "split");
    table.put("node", node(scenario, pep.node));
    if !pep.toward.is_empty() {
        table.put("toward", toward(scenario, &pep.name, &pep.toward)?);
    }
    let SplitSettings {
        buffer,
        receive_buffer,
        accept,
        pool,
        transport,
        flows,
        discovery,
        alone,
        confirms,
        tunnel,
        rate,
        proxy_control,
        backlog,
        failure,
    } = &pep.settings;
    if let Some(transport) = transport {
        table.put("transport", transports.name(transport));
    }
    table.put("proxy_control", word_of(&ProxyControl::ALL, proxy_control));
    match proxy_control {
        ProxyControl::Window => {
            table.put_as::<Bytes, _>("buffer", buffer);
            if let Some(size) = receive_buffer {
                table.put_as::<Bytes, _>("receive_buffer", size);
            }
            table.put("pool", word_of(&Pool::ALL, pool));
        }
        ProxyControl::Grants => {
            if let Some(size) = backlog {
                table.put_as::<Bytes, _>("backlog", size);
            }
        }
    }
    table.put("accept", word_of(&Accept::ALL, accept));
    table.put("tunnel", word_of(&Tunnel::ALL, tunnel));
    if *rate != KnownRate::Reported {
        table.put("rate", word_of(&KnownRate::ALL, rate));
    }
    table.put("discovery", word_of(&Discovery::ALL, discovery));
    table.put("alone", word_of(&Alone::ALL, alone));
    if let Some(bytes) = confirms {
        table.put_as::<Bytes, _>("confirms", bytes);
    }
    if let Some(Failure {
        at,
        recovers,
        symptom,
        gives_up,
    }) = failure
    {
        put_time(&mut table, "fails_at", *at);
        if let Some(recovers) = recovers {
            put_time(&mut table, "recovers_at", *recovers);
        }
        table.put("failure", word_of(&Symptom::ALL, symptom));
        table.put_as::<Duration, _>("gives_up", gives_up);
    }
    if !flows.is_empty() {
        table.put_as::<Vec<String>, _>("flows", flows);
    }
    Ok(table)
}

/// The transports of flows and proxies.
fn transports_of(scenario: &Scenario) -> impl Iterator<Item = &Transport> {
    let flows = scenario
        .flows
        .iter()
        .filter_map(|flow| flow.transport.as_deref());
    let peps = scenario.peps.iter();
    flows.chain(peps.filter_map(|pep| pep.settings.transport.as_ref()))
}

#[cfg(test)]
#[path = "write_tests.rs"]
mod tests;
