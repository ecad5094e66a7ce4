//! Middleboxes on nodes.

use super::links::Links;
use super::nodes::Nodes;
use super::routers;
use super::transports::Transports;
use crate::attach::{NotThere, attach};
use crate::model::{Flow, LinkId, Middlebox, NodeId, SplitPep};
use crate::schema::middlebox::{BoxKeys, MiddleboxTable, SplitKeys};
use bentpipe_document::form::plain;
use bentpipe_document::names::quoted;
use bentpipe_document::{
    Context, Diagnostic, Form, Item, NamedKinds, OptionalField, Place, Placed, Reported, Value,
};
use bentpipe_middlebox::Settings;
use bentpipe_middlebox::split::{
    Alone, Failure, KnownRate, ProxyControl, SplitSettings, Symptom, TUNNEL_BUFFER, Tunnel,
};
use bentpipe_tcp::{CongestionControlChoice, Transport};
use bentpipe_units::{Bytes, Duration, Time, nearest};

/// Names that middleboxes refer to.
struct Around<'a> {
    nodes: &'a Nodes,
    links: &'a Links,
    transports: &'a Transports,
}

pub(super) fn read(
    tables: OptionalField<NamedKinds<MiddleboxTable>>,
    nodes: &Nodes,
    links: &Links,
    transports: &Transports,
) -> Result<(Vec<Middlebox>, Vec<SplitPep>), Reported> {
    let (mut boxes, mut peps) = (Vec::new(), Vec::new());
    let around = Around {
        nodes,
        links,
        transports,
    };
    let mut result = Ok(());
    for one in tables?.map(|t| t.value.0).unwrap_or_default().tables {
        let read = one.table.and_then(|table| build(table, one.name, &around));
        // Reported where it failed; the others are still read.
        result = result.and(read.map(|built| match built {
            Built::Box(middlebox) => boxes.push(middlebox),
            Built::Pep(pep) => peps.push(*pep),
        }));
    }
    result.map(|()| (boxes, peps))
}

/// The value that a table yields.
enum Built {
    Box(Middlebox),
    Pep(Box<SplitPep>),
}

/// Splits the flows that pass a PEP.
pub(super) fn split(
    top: &Context,
    links: &Links,
    flows: &mut [Flow],
    peps: &[SplitPep],
) -> Result<(), Reported> {
    let place = |name: &str| match top.table.get("middlebox").map(|e| &e.item.value) {
        Some(Value::Table(tables)) => tables.get(name).map_or(Place::Whole, |e| e.key_place),
        _ => Place::Whole,
    };
    for pep in peps {
        let of = |flow: &Flow, name: &str| {
            let table = flow.name.split_once('[').map_or(&*flow.name, |(t, _)| t);
            table == name || flow.name == name
        };
        let unknown = |name: &&String| !flows.iter().any(|flow| of(flow, name));
        if let Some(name) = pep.settings.flows.iter().find(unknown) {
            let message = format!("middlebox `{}`: unknown flow `{name}`", pep.name);
            let error = Diagnostic::new(place(&pep.name), message).label("no flow has this name");
            let known = flows.iter().map(|flow| flow.name.as_str());
            return Err(top.report(error.suggest(nearest(name, known))));
        }
    }
    crate::split::split(&links.links, flows, peps).map_err(|failed| {
        let (pep, flow) = (&peps[failed.pep].name, &flows[failed.flow].name);
        let message = format!("middlebox `{pep}` cannot split flow `{flow}`");
        let error = Diagnostic::new(place(pep), message).label(failed.why.reason());
        let help = "name the flows that it is to split, such as `flows = [\"download\"]`";
        top.report(error.help(help))
    })?;
    let splits = |pep: &SplitPep| {
        let mut split = flows.iter().filter_map(|flow| flow.split.as_ref());
        split.any(|split| split.peps.iter().any(|p| p.name == pep.name))
    };
    // Reasons why a PEP passes a flow: IPsec, no other PEP, a failure.
    let lets_pass = |pep: &SplitPep| {
        let settings = &pep.settings;
        settings.failure.is_some()
            || settings.alone == Alone::EndToEnd
            || flows.iter().any(|flow| flow.ipsec.is_some())
    };
    // One at a link that no flow crosses waits for studies to move flows there.
    let crossed = |pep: &SplitPep| {
        let mut links = flows
            .iter()
            .flat_map(|f| f.forward.iter().chain(&f.reverse));
        pep.toward.is_empty() || links.any(|link| pep.toward.contains(link))
    };
    let is_idle = |pep: &&SplitPep| crossed(pep) && !splits(pep) && !lets_pass(pep);
    if let Some(idle) = peps.iter().find(is_idle) {
        let message = format!("middlebox `{}` splits no flow", idle.name);
        let error = Diagnostic::new(place(&idle.name), message)
            .label("no flow that it is to split passes its node")
            .help("put it on a node between the ends of a flow over TCP");
        return Err(top.report(error));
    }
    for flow in flows.iter() {
        let Some(split) = &flow.split else { continue };
        for (number, leg) in split.legs.iter().enumerate() {
            if !routers::lacking(&leg.transport, [&leg.forward, &leg.reverse], &links.links) {
                continue;
            }
            let pep = &split.peps[number.saturating_sub(1)].name;
            let who = format!("a leg of flow `{}`", flow.name);
            let error = routers::lacks(&who, &leg.transport, place(pep));
            return Err(top.report(error));
        }
    }
    Ok(())
}

fn build(table: MiddleboxTable, name: String, around: &Around<'_>) -> Result<Built, Reported> {
    let context = table.context().clone();
    let (place, settings) = match table {
        MiddleboxTable::Split { keys, .. } => {
            return split_pep(&context, name, keys, around).map(Built::Pep);
        }
        MiddleboxTable::Snoop { place, keys, .. } => (
            box_place(&context, place, around),
            keys.settle(&()).map(Settings::Snoop),
        ),
        MiddleboxTable::Spoof { place, keys, .. } => (
            box_place(&context, place, around),
            keys.settle(&()).map(Settings::Spoof),
        ),
        MiddleboxTable::AckReconstruction { place, keys, .. } => (
            box_place(&context, place, around),
            keys.settle(&()).map(Settings::Reconstruction),
        ),
    };
    let (node, toward, back) = place?;
    Ok(Built::Box(Middlebox {
        name,
        node,
        toward,
        back,
        settings: settings?,
    }))
}

/// A split-connection PEP.
fn split_pep(
    context: &Context,
    name: String,
    keys: SplitKeys,
    around: &Around<'_>,
) -> Result<Box<SplitPep>, Reported> {
    let place = pep_place(context, keys.node, keys.toward, around);
    let tunnel = keys.tunnel?;
    let transport = leg_transport(context, keys.transport, around)?;
    if tunnel.value == Tunnel::Gateway && transport.is_some() {
        let error = Diagnostic::new(tunnel.place, "a tunnel has a sender of its own");
        let label = "expected no `transport` beside it";
        return Err(context.report(error.label(label)));
    }
    let rate = keys.rate?;
    if rate.value == KnownRate::Verified && tunnel.value == Tunnel::None {
        let error = Diagnostic::new(rate.place, "only the sender of a tunnel verifies its rate");
        return Err(context.report(error.label("expected `tunnel = \"gateway\"` beside it")));
    }
    let proxy_control = keys.proxy_control?.value;
    let backlog = keys.backlog?;
    check_control(context, proxy_control, backlog.as_ref(), &tunnel)?;
    let buffer = keys.buffer?.map(|buffer| buffer.value);
    let settings = SplitSettings {
        transport,
        tunnel: tunnel.value,
        rate: rate.value,
        proxy_control,
        backlog: backlog.map(|backlog| backlog.value),
        buffer: buffer.unwrap_or_else(|| default_buffer(tunnel.value)),
        receive_buffer: plain(&keys.receive_buffer)?,
        accept: keys.accept?.value,
        pool: keys.pool?.value,
        flows: plain(&keys.flows)?.unwrap_or_default(),
        discovery: keys.discovery?.value,
        alone: keys.alone?.value,
        confirms: plain(&keys.confirms)?,
        failure: pep_failure(
            context,
            keys.fails_at,
            keys.recovers_at,
            keys.failure,
            keys.gives_up,
        )?,
    };
    let (node, toward) = place?;
    Ok(Box::new(SplitPep {
        name,
        node,
        toward,
        settings,
    }))
}

/// Refuses what has no effect beside the control between PEPs.
fn check_control(
    context: &Context,
    control: ProxyControl,
    backlog: Option<&Placed<Bytes>>,
    tunnel: &Placed<Tunnel>,
) -> Result<(), Reported> {
    let refuse = |place: Place, message: String, label: &str| {
        Err(context.report(Diagnostic::new(place, message).label(label)))
    };
    if control == ProxyControl::Window {
        return match backlog {
            Some(backlog) => refuse(
                backlog.place,
                "a `backlog` bounds what a PEP grants".to_owned(),
                "expected `proxy_control = \"grants\"` beside it",
            ),
            None => Ok(()),
        };
    }
    if tunnel.value != Tunnel::None {
        let message = "a tunnel has a sender of its own, which no PEP grants anything".to_owned();
        return refuse(tunnel.place, message, "expected no `tunnel` beside grants");
    }
    for key in ["buffer", "receive_buffer", "pool"] {
        if let Some(entry) = context.table.get(key) {
            let message = format!("`{key}` has no effect where PEPs grant");
            return refuse(entry.key_place, message, "expected `backlog` in its place");
        }
    }
    Ok(())
}

/// The place of a box that acts on one link: its node, the links that it acts on and their reverse
/// directions.
fn box_place(
    context: &Context,
    keys: BoxKeys,
    around: &Around<'_>,
) -> Result<(NodeId, Vec<LinkId>, Vec<LinkId>), Reported> {
    let node = node(context, keys.node, around.nodes)?;
    let (toward, back) = toward(context, &keys.toward?, around, node)?;
    Ok((node, toward, back))
}

/// The default relay buffer of a PEP: a stream of a tunnel should not limit a long, fast link.
fn default_buffer(tunnel: Tunnel) -> Bytes {
    match tunnel {
        Tunnel::None => SplitSettings::default().buffer,
        Tunnel::Gateway => TUNNEL_BUFFER,
    }
}

/// When and how a PEP fails.
fn pep_failure(
    context: &Context,
    fails_at: OptionalField<Duration>,
    recovers_at: OptionalField<Duration>,
    symptom: Result<Placed<Symptom>, Reported>,
    gives_up: Result<Placed<Duration>, Reported>,
) -> Result<Option<Failure>, Reported> {
    let recovers = recovers_at?;
    let Some(at) = fails_at? else {
        return match recovers {
            None => Ok(None),
            Some(recovers) => {
                let error = Diagnostic::new(recovers.place, "it recovers and never fails");
                Err(context.report(error.label("expected `fails_at` beside it")))
            }
        };
    };
    if let Some(recovers) = recovers.filter(|recovers| recovers.value <= at.value) {
        let error = Diagnostic::new(recovers.place, "it recovers before it fails");
        return Err(context.report(error.label("expected a later time than `fails_at`")));
    }
    Ok(Some(Failure {
        at: Time::ZERO + at.value,
        recovers: recovers.map(|recovers| Time::ZERO + recovers.value),
        symptom: symptom?.value,
        gives_up: gives_up?.value,
    }))
}

/// The node of a PEP, and the links on its side.
fn pep_place(
    context: &Context,
    at: Result<Placed<Item>, Reported>,
    link: OptionalField<String>,
    around: &Around<'_>,
) -> Result<(NodeId, Vec<LinkId>), Reported> {
    let node = node(context, at, around.nodes)?;
    match link? {
        Some(link) => Ok((node, toward(context, &link, around, node)?.0)),
        None => Ok((node, Vec::new())),
    }
}

/// The transport of a PEP's leg.
fn leg_transport(
    context: &Context,
    given: OptionalField<Item>,
    around: &Around<'_>,
) -> Result<Option<Transport>, Reported> {
    let Some(given) = given? else {
        return Ok(None);
    };
    let transport = around.transports.find(context, &given.value)?;
    if transport.congestion_control == CongestionControlChoice::Ideal {
        let error = Diagnostic::new(given.place, "the ideal bound is not that of a leg");
        let label = "expected a transport that sends";
        return Err(context.report(error.label(label)));
    }
    if transport.quic.is_some() || transport.tls.is_some() {
        let message = "what a PEP forwards is TCP: QUIC and TLS are from end to end";
        let error = Diagnostic::new(given.place, message);
        let label = "expected a transport of TCP without `tls`";
        return Err(context.report(error.label(label)));
    }
    Ok(Some(transport))
}

fn node(
    context: &Context,
    at: Result<Placed<Item>, Reported>,
    nodes: &Nodes,
) -> Result<NodeId, Reported> {
    let at = at?;
    let end = nodes.end(context, &at.value)?;
    end.single().ok_or_else(|| {
        let error = Diagnostic::new(at.place, "a middlebox stands on one node");
        let help = "name one of them, such as `NAME[1]`";
        context.report(error.label("several nodes").help(help))
    })
}

fn toward(
    context: &Context,
    link: &Placed<String>,
    around: &Around<'_>,
    node: NodeId,
) -> Result<(Vec<LinkId>, Vec<LinkId>), Reported> {
    let (links, nodes) = (around.links, around.nodes);
    let (name, place) = (&link.value, link.place);
    attach(&links.links, node, name).map_err(|why| {
        if !links.complete && why == NotThere::UnknownLink {
            // It may be one of those that could not be read.
            return context.errors.already();
        }
        let at = |leaves: &mut dyn FnMut(NodeId) -> bool| -> Vec<&str> {
            let forth = links.links.iter().filter(|l| !l.name.ends_with(".reverse"));
            let all = forth.filter(|l| leaves(l.from) || leaves(l.to));
            all.map(|l| l.name.as_str()).collect()
        };
        let error = match why {
            NotThere::UnknownLink => {
                let error = Diagnostic::new(place, format!("unknown link `{name}`"));
                let error = error.label("no link has this name");
                let known = at(&mut |_| true);
                match nearest(name, known.iter().copied()) {
                    Some(near) => error.help(format!("did you mean `{near}`?")),
                    None => error,
                }
            }
            NotThere::Elsewhere => {
                let message = format!("link `{name}` is not at node `{}`", nodes.name(node));
                let error = Diagnostic::new(place, message).label("expected a link of its node");
                let here = at(&mut |end| end == node);
                error.help(format!(
                    "links there are {}",
                    quoted(here.into_iter().take(10))
                ))
            }
        };
        context.report(error)
    })
}
