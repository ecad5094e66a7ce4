//! A scenario as the text of a file: the way back from the model.
//!
//! What a file says in a few words, such as a queue in bandwidth-delay products or
//! a transport by its base, stands here with its values. The text is read again
//! before it is handed out, so that it is the same scenario or none; only transports
//! may have another name, where theirs cannot stand in a file.

mod applications;
mod links;
mod text;
mod transports;

use crate::Document;
use crate::model::{Handshake, Limits, LinkDownPolicy, LinkId, Middlebox, Scenario, SplitPep};
use bentpipe_middlebox::split::{Alone, Discovery, SplitSettings, Symptom, Tunnel};
use bentpipe_middlebox::{Settings, SnoopSettings};
use bentpipe_tcp::Transport;
use bentpipe_units::Time;
use text::{Text, name_of, quoted};
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
    /// For what has no form in a file or none here yet, which the error names: counted
    /// nodes, links and flows, media, constellations, traces, some queues, congestion
    /// controls of a program.
    pub fn to_toml(&self) -> Result<String, WriteError> {
        let transports = Transports::of(self)?;
        let text = written(self, &transports)?;
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

/// What differs, if something does.
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

fn written(scenario: &Scenario, transports: &Transports) -> Result<String, WriteError> {
    let mut text = Text::default();
    text.key("name", quoted(&scenario.name));
    if !scenario.description.is_empty() {
        text.key("description", quoted(&scenario.description));
    }
    text.time("duration", scenario.duration);
    text.key("seed", scenario.seed);
    if scenario.stranded != LinkDownPolicy::default() {
        text.key("stranded", quoted("rerouted"));
    }
    limits(&mut text, &scenario.limits);
    for node in &scenario.nodes {
        text.table(&["node", plain(&node.name, "node")?]);
    }
    if let Some(medium) = scenario.media.first() {
        return Err(WriteError::new(format!("medium `{}`", medium.name)));
    }
    links::write(&mut text, scenario)?;
    transports.write(&mut text)?;
    for middlebox in &scenario.middleboxes {
        write_box(&mut text, scenario, middlebox)?;
    }
    for pep in &scenario.peps {
        write_pep(&mut text, scenario, transports, pep)?;
    }
    flows(&mut text, scenario, transports)?;
    Ok(text.finish())
}

/// A name that can stand in a file.
fn plain<'n>(name: &'n str, what: &str) -> Result<&'n str, WriteError> {
    match text::is_name(name) {
        true => Ok(name),
        false => Err(WriteError::new(format!(
            "{what} `{name}` is one of several"
        ))),
    }
}

fn limits(text: &mut Text, limits: &Limits) {
    let usual = Limits::default();
    if *limits == usual {
        return;
    }
    text.table(&["limits"]);
    text.key("events", limits.events);
    text.key("packets", limits.packets);
}

fn flows(text: &mut Text, scenario: &Scenario, transports: &Transports) -> Result<(), WriteError> {
    for flow in &scenario.flows {
        text.table(&["flow", plain(&flow.name, "flow")?]);
        text.key("from", quoted(node(scenario, flow.from.0)));
        text.key("to", quoted(node(scenario, flow.to.0)));
        if let Some(transport) = &flow.transport {
            text.key("transport", quoted(transports.name(transport)));
        }
        text.key("application", applications::inline(&flow.application));
        if flow.start != Time::ZERO {
            text.time("start", flow.start.since(Time::ZERO));
        }
        if let Some(stop) = flow.stop {
            text.time("stop", stop.since(Time::ZERO));
        }
        match flow.handshake {
            Handshake::Counted => {}
            Handshake::NotCounted => text.key("handshake", quoted("not-counted")),
            Handshake::Skipped => text.key("handshake", quoted("skipped")),
        }
        if flow.ipsec.is_some() {
            return Err(WriteError::new(format!("IPsec of flow `{}`", flow.name)));
        }
    }
    Ok(())
}

fn node(scenario: &Scenario, index: u32) -> &str {
    let node = scenario.nodes.get(index as usize);
    node.map_or("", |node| node.name.as_str())
}

/// The name of the link of a file's table that these links are of.
fn link<'s>(scenario: &'s Scenario, links: &[LinkId]) -> Option<&'s str> {
    let [link] = links else { return None };
    let link = scenario.links.get(link.0 as usize)?;
    Some(link.name.strip_suffix(".reverse").unwrap_or(&link.name))
}

fn write_box(text: &mut Text, scenario: &Scenario, of: &Middlebox) -> Result<(), WriteError> {
    let Settings::Snoop(snoop) = &of.settings else {
        return Err(WriteError::new(format!("middlebox `{}`", of.name)));
    };
    text.table(&["middlebox", plain(&of.name, "middlebox")?]);
    text.key("kind", quoted("snoop"));
    text.key("node", quoted(node(scenario, of.node.0)));
    let toward = link(scenario, &of.toward);
    let toward = toward.ok_or_else(|| WriteError::new(format!("the links of `{}`", of.name)))?;
    text.key("toward", quoted(toward));
    let SnoopSettings {
        cache,
        threshold,
        tick,
        srtt,
        rttvar,
        gain,
        retransmissions,
        variant,
        identifies_ipsec,
    } = snoop;
    text.key("cache", cache);
    text.key("threshold", threshold);
    text.time("tick", *tick);
    text.time("srtt", *srtt);
    text.time("rttvar", *rttvar);
    text.key("gain", gain);
    text.key("retransmissions", retransmissions);
    text.key(
        "variant",
        quoted(name_of(&bentpipe_middlebox::SnoopVariant::ALL, variant)),
    );
    text.key("identifies_ipsec", identifies_ipsec);
    Ok(())
}

fn write_pep(
    text: &mut Text,
    scenario: &Scenario,
    transports: &Transports,
    pep: &SplitPep,
) -> Result<(), WriteError> {
    text.table(&["middlebox", plain(&pep.name, "middlebox")?]);
    text.key("kind", quoted("split"));
    text.key("node", quoted(node(scenario, pep.node.0)));
    if !pep.toward.is_empty() {
        let toward = link(scenario, &pep.toward);
        let several = || WriteError::new(format!("the links of `{}`", pep.name));
        text.key("toward", quoted(toward.ok_or_else(several)?));
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
        failure,
    } = &pep.settings;
    if let Some(transport) = transport {
        text.key("transport", quoted(transports.name(transport)));
    }
    text.size("buffer", *buffer);
    if let Some(size) = receive_buffer {
        text.size("receive_buffer", *size);
    }
    text.key(
        "accept",
        quoted(name_of(&bentpipe_middlebox::split::Accept::ALL, accept)),
    );
    text.key(
        "pool",
        quoted(name_of(&bentpipe_middlebox::split::Pool::ALL, pool)),
    );
    text.key("tunnel", quoted(name_of(&Tunnel::ALL, tunnel)));
    text.key("discovery", quoted(name_of(&Discovery::ALL, discovery)));
    text.key("alone", quoted(name_of(&Alone::ALL, alone)));
    if let Some(bytes) = confirms {
        text.size("confirms", *bytes);
    }
    if let Some(failure) = failure {
        text.time("fails_at", failure.at.since(Time::ZERO));
        if let Some(recovers) = failure.recovers {
            text.time("recovers_at", recovers.since(Time::ZERO));
        }
        text.key("failure", quoted(name_of(&Symptom::ALL, &failure.symptom)));
        text.time("gives_up", failure.gives_up);
    }
    if !flows.is_empty() {
        let flows: Vec<String> = flows.iter().map(|flow| quoted(flow)).collect();
        text.key("flows", format!("[{}]", flows.join(", ")));
    }
    Ok(())
}

/// The transports of flows and proxies.
fn transports_of(scenario: &Scenario) -> impl Iterator<Item = &Transport> {
    let flows = scenario
        .flows
        .iter()
        .filter_map(|flow| flow.transport.as_ref());
    let peps = scenario.peps.iter();
    flows.chain(peps.filter_map(|pep| pep.settings.transport.as_ref()))
}

#[cfg(test)]
#[path = "write_tests.rs"]
mod tests;
