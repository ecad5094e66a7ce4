//! Flows and their routes.

use super::links::Links;
use super::nodes::Nodes;
use super::transports::Transports;
use super::{applications, routers};
use crate::incompatible::{Incompatibility, incompatibility, no_lookup};
use crate::model::{Flow, Handshake, Link, NodeId};
use crate::route::{self, NoRoute, SkyWays};
use crate::schema::LARGEST_COUNT;
use crate::schema::flow::FlowTable;
use bentpipe_document::{
    Context, Diagnostic, Item, Named, OneNamed, OptionalField, Place, Placed, Reported, form,
};
use bentpipe_middlebox::Ipsec;
use bentpipe_tcp::Transport;
use bentpipe_traffic::Application;
use bentpipe_units::{Duration, Time};
use std::sync::Arc;

/// Flows without their routes, and where each was written.
pub(super) struct Unrouted {
    flows: Vec<Flow>,
    places: Vec<Place>,
}

pub(super) fn read(
    top: &Context,
    tables: OptionalField<Named<FlowTable>>,
    nodes: &Nodes,
    transports: &Transports,
    duration: Option<Duration>,
) -> Result<Unrouted, Reported> {
    let mut read = Unrouted {
        flows: Vec::new(),
        places: Vec::new(),
    };
    let tables = tables?.map(|t| t.value).unwrap_or_default();
    if tables.names.is_empty() {
        let error = Diagnostic::new(top.at, "the scenario has no flows");
        let help = "write a table such as `[flow.download]` for each";
        return Err(top.report(error.help(help)));
    }
    for one in tables.tables {
        // Reported where it fails; the others are still read.
        let _ = flow(nodes, transports, duration, one, &mut read);
    }
    Ok(read)
}

/// Adds the flows of one table.
fn flow(
    nodes: &Nodes,
    transports: &Transports,
    duration: Option<Duration>,
    one: OneNamed<FlowTable>,
    read: &mut Unrouted,
) -> Result<(), Reported> {
    let table = one.table?;
    let context = &table.context;
    let end = |end: Result<Placed<Item>, Reported>| nodes.end(context, &end?.value);
    let (from, to) = (end(table.from), end(table.to));
    let given = table.transport?;
    let named = given.as_ref().map(|t| transports.find(context, &t.value));
    let named = named.transpose();
    let known = named.as_ref().ok().and_then(Option::as_ref);
    let application = table
        .application
        .and_then(|table| applications::read(&table.value, known));
    let transport = transport(context, given.as_ref(), named, application.as_ref().ok());
    let times = times(context, table.start, table.stop, table.spacing, duration);
    let (from, to) = (from?, to?);
    let pairs = from.pairs(&to, context)?;
    let (application, transport, times) = (application?, transport?, times?);
    let count = table.count?.map(|count| count.value);
    let handshake = table.handshake?;
    let dns = table.dns?;
    let subscriber = table.subscriber?;
    if let Some(empty) = subscriber.as_ref().filter(|it| it.value.is_empty()) {
        let error = Diagnostic::new(empty.place, "a subscriber without a name");
        return Err(context.report(error.label("expected a word")));
    }
    let subscriber = subscriber.map(|subscriber| subscriber.value);
    let ipsec = form::settle_or_none::<_, Ipsec, _>(&table.ipsec, &())?;
    if transport.as_ref().is_some_and(|t| t.quic.is_some()) {
        let unfit = match (handshake.value, &ipsec) {
            (Handshake::Skipped, _) => Some((
                handshake.place,
                "a QUIC connection does not exist before its handshake",
                "expected `counted` or `not-counted`",
            )),
            (_, Some(_)) => Some((
                context
                    .table
                    .get("ipsec")
                    .map_or(one.place, |entry| entry.key_place),
                "QUIC is encrypted from end to end",
                "IPsec is for flows of TCP",
            )),
            _ => None,
        };
        if let Some((place, message, label)) = unfit {
            return Err(context.report(Diagnostic::new(place, message).label(label)));
        }
    }
    let handshake = handshake.value;
    let transport = transport.map(|mut transport| {
        if let Some(ipsec) = &ipsec {
            transport.mss = ipsec.mss(transport.mss, transport.header_bytes());
        }
        Arc::new(transport)
    });
    let numbered = from.counted(&to) || count.is_some();
    let count = count.unwrap_or(1);
    let flows = pairs.len() as u64 * u64::from(count);
    if read.flows.len() as u64 + flows > LARGEST_COUNT {
        let message = format!("more than {LARGEST_COUNT} flows");
        let error = Diagnostic::new(one.place, message);
        return Err(context.report(error.label(format!("{flows} of them here"))));
    }
    let each = pairs
        .into_iter()
        .flat_map(|pair| (0..count).map(move |_| pair));
    for (i, (from, to)) in each.enumerate() {
        let flow = Flow {
            name: if numbered {
                format!("{}[{}]", one.name, i + 1)
            } else {
                one.name.clone()
            },
            from,
            to,
            transport: transport.clone(),
            application: application.clone(),
            start: times.start + times.spacing() * i as u64,
            stop: times.stop,
            handshake,
            dns: dns.value,
            subscriber: subscriber.clone(),
            forward: Vec::new(),
            reverse: Vec::new(),
            changes: Vec::new(),
            ipsec,
            split: None,
        };
        if let Some(why) = flow.dns.then(|| no_lookup(&flow)).flatten() {
            let error = Diagnostic::new(dns.place, why).label("not used");
            return Err(context.report(error.help("remove the key")));
        }
        read.flows.push(flow);
        read.places.push(one.place);
    }
    times.check_last(context, flows)
}

/// The transport, which datagrams do not have.
fn transport(
    context: &Context,
    given: Option<&Placed<Item>>,
    named: Result<Option<Transport>, Reported>,
    application: Option<&Application>,
) -> Result<Option<Transport>, Reported> {
    match (application, given) {
        (Some(application), Some(entry)) if !application.takes_transport() => {
            let message = format!("{} sends datagrams and has no transport", context.what);
            let error = Diagnostic::new(entry.key, message).label("not used");
            Err(context.report(error.help("remove the key")))
        }
        (Some(application), None) if application.needs_transport() => {
            let help = "write a transport by name, such as `transport = \"cubic\"`";
            Err(context.report(context.lacks("transport").help(help)))
        }
        (Some(application), Some(entry)) => {
            let transport = named?;
            let why = transport
                .as_ref()
                .and_then(|t| incompatibility(t, application));
            let report = |error: Diagnostic| Err(context.report(error));
            match why {
                None => Ok(transport),
                Some(Incompatibility::Pauses) => {
                    let message = "the ideal bound is that of a transfer without pauses";
                    let error = Diagnostic::new(entry.place, message);
                    let what = application.with_pauses().unwrap_or("it");
                    report(error.label(format!("does not carry {what}")))
                }
                Some(Incompatibility::BoundWithTls) => {
                    let message = "the ideal bound is that of a transfer without TLS";
                    let error = Diagnostic::new(entry.place, message).label("has `tls`");
                    report(error.help("leave `tls` out of the transport"))
                }
                Some(Incompatibility::OneConnection) => {
                    let message = "over QUIC all pages share a connection, each on its own stream";
                    let error = Diagnostic::new(entry.place, message);
                    let error = error.label("cannot open one for each page");
                    report(error.help(
                        "write `connection = \"persistent\"` in the application, or a transport \
                         of TCP",
                    ))
                }
                Some(Incompatibility::Datagrams) => {
                    let message = "datagrams need no TCP";
                    let error = Diagnostic::new(entry.place, message).label("not used");
                    report(error.help("remove the key, or write a transport of QUIC"))
                }
                Some(Incompatibility::DatagramSize { smallest, largest }) => {
                    let message = "a packet of QUIC carries no datagram of that size";
                    let error = Diagnostic::new(entry.place, message).label("this transport");
                    report(error.help(format!(
                        "`packet_size`, with the headers of IP and UDP around it, is from \
                         `{smallest} B` to `{largest} B`; a larger `mss` in the transport has room \
                         for more"
                    )))
                }
                Some(Incompatibility::Tls) => {
                    let message = "TLS precedes the data of one connection";
                    let error = Diagnostic::new(entry.place, message);
                    let error = error.label("cannot open one for each page");
                    report(error.help(
                        "write `connection = \"persistent\"` in the application, or a transport \
                         without `tls`",
                    ))
                }
                Some(Incompatibility::Objects) => {
                    let message = "pages of several objects share a connection";
                    let error = Diagnostic::new(entry.place, message);
                    let error = error.label("does not open one for each page");
                    report(error.help(
                        "write `connection = \"persistent\"` in the application, or leave \
                         `objects` out",
                    ))
                }
                Some(Incompatibility::Connections) => {
                    let message = "the agents of ns-2 know one connection";
                    let error = Diagnostic::new(entry.place, message);
                    let error = error.label("cannot open one for each page");
                    let help = "write `connection = \"persistent\"` in the application, or \
                                another `profile` in the transport";
                    report(error.help(help))
                }
            }
        }
        _ => named,
    }
}

struct Times {
    start: Time,
    stop: Option<Time>,
    spacing: Option<Placed<Duration>>,
    /// The end of the run, where it is known.
    end: Option<Time>,
}

fn times(
    context: &Context,
    start: OptionalField<Duration>,
    stop: OptionalField<Duration>,
    spacing: OptionalField<Duration>,
    duration: Option<Duration>,
) -> Result<Times, Reported> {
    let (given, stop) = (start?, stop?);
    let start = given.map_or(Duration::ZERO, |start| start.value);
    if let Some(stop) = stop.filter(|stop| stop.value <= start) {
        let message = format!("{} stops before it starts", context.what);
        let error = Diagnostic::new(stop.place, message);
        let error = error.label(format!("{}, but it starts at {start}", stop.value));
        return Err(context.report(error));
    }
    let end = duration.map(|d| Time::ZERO + d);
    if let (Some(end), Some(given)) = (end, given)
        && Time::ZERO + start >= end
    {
        let message = format!("{} never starts", context.what);
        let error = Diagnostic::new(given.place, message);
        let error = error.label(format!("the run ends at {}", end.since(Time::ZERO)));
        return Err(context.report(error));
    }
    Ok(Times {
        start: Time::ZERO + start,
        stop: stop.map(|stop| Time::ZERO + stop.value),
        spacing: spacing?,
        end,
    })
}

impl Unrouted {
    /// From which node to which each flow leads.
    pub(super) fn ends(&self) -> impl Iterator<Item = (NodeId, NodeId)> + '_ {
        self.flows.iter().map(|flow| (flow.from, flow.to))
    }
}

impl Times {
    /// Time between the starts of two flows of the table.
    fn spacing(&self) -> Duration {
        self.spacing.map_or(Duration::ZERO, |s| s.value)
    }

    /// Reports spacing that puts the last of `flows` behind its end.
    fn check_last(&self, context: &Context, flows: u64) -> Result<(), Reported> {
        let last = self.start + self.spacing() * flows.saturating_sub(1);
        let end = self.stop.into_iter().chain(self.end).min();
        match (end.filter(|end| last >= *end), self.spacing) {
            (Some(end), Some(spacing)) => {
                let message = format!("the last of {} never starts", context.what);
                let (last, end) = (last.since(Time::ZERO), end.since(Time::ZERO));
                let error = Diagnostic::new(spacing.place, message);
                let label = format!("it would start at {last}, but all end at {end}");
                Err(context.report(error.label(label)))
            }
            _ => Ok(()),
        }
    }
}

/// Reports flows whose senders wait for routers (XCP) that are not there.
fn check_routers(
    top: &Context,
    flows: Vec<Flow>,
    places: &[Place],
    links: &[Link],
) -> Result<Vec<Flow>, Reported> {
    let mut reported = None;
    let mut last = None;
    for (flow, place) in flows.iter().zip(places) {
        let Some(transport) = &flow.transport else {
            continue;
        };
        if !routers::lacking(transport, [&flow.forward, &flow.reverse], links)
            || last.replace(*place) == Some(*place)
        {
            continue;
        }
        let error = routers::lacks(&format!("flow `{}`", flow.name), transport, *place);
        reported = Some(top.report(error));
    }
    reported.map_or(Ok(flows), Err)
}

/// Gives each flow its links, and ways over constellations.
pub(super) fn route(
    top: &Context,
    unrouted: Unrouted,
    nodes: &Nodes,
    links: &Links,
    over_sky: &SkyWays,
) -> Result<Vec<Flow>, Reported> {
    let Unrouted { mut flows, places } = unrouted;
    if !links.complete {
        // A link that could not be read may be the one that is missing.
        return Ok(flows);
    }
    let links = &links.links;
    let Err(failed) = route::route(nodes.count(), links, over_sky, &mut flows) else {
        return check_routers(top, flows, &places, links);
    };
    let mut reported = None;
    let mut last = None;
    for (index, why) in failed {
        let (flow, place) = (&flows[index], places[index]);
        if last.replace(place) == Some(place) {
            continue; // another flow of the same table
        }
        let (from, to) = (nodes.name(flow.from), nodes.name(flow.to));
        let error = match why {
            NoRoute::Unconnected => {
                Diagnostic::new(place, format!("no path leads from `{from}` to `{to}`"))
                    .label("this flow cannot be carried")
                    .help("add links so that the two nodes are connected")
            }
            NoRoute::TooLong => Diagnostic::new(
                place,
                format!("the path from `{from}` to `{to}` is too long"),
            )
            .label(format!("more than {} links", route::LONGEST)),
            NoRoute::TooMuchWork => {
                Diagnostic::new(place, "the network is too large to compute its routes")
                    .help("use fewer nodes with several links, or fewer terminals in networks that have several")
            }
        };
        reported = Some(top.report(error));
    }
    reported.map_or(Ok(flows), Err)
}
