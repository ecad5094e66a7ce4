//! Flows and their routes.

use super::nodes::Nodes;
use super::transports::Transports;
use super::{Fields, applications, routers};
use crate::diagnostic::{Diagnostic, Reported};
use crate::fits::{Misfit, misfit};
use crate::model::{Flow, Handshake, Link};
use crate::route::{self, NoRoute};
use crate::schema::{self, LARGEST_COUNT};
use crate::source::Place;
use crate::tree::{Entry, Table};
use bentpipe_tcp::Transport;
use bentpipe_traffic::Application;
use bentpipe_units::{Duration, Time};

/// Flows without their routes, and where each was written.
pub(super) struct Unrouted {
    flows: Vec<Flow>,
    places: Vec<Place>,
}

pub(super) fn read(
    top: &Fields<'_>,
    nodes: &Nodes<'_>,
    transports: &Transports<'_>,
    duration: Option<Duration>,
) -> Result<Unrouted, Reported> {
    let mut read = Unrouted {
        flows: Vec::new(),
        places: Vec::new(),
    };
    let tables = top.tables("flow")?;
    if top.lacks_all("flow") {
        let error = Diagnostic::new(top.at, "the scenario has no flows");
        return Err(top
            .errors
            .report(error.help("write a table such as `[flow.download]` for each")));
    }
    for (entry, table) in tables {
        // Reported where it fails; the others are read all the same.
        let _ = flow(top, nodes, transports, duration, (entry, table), &mut read);
    }
    Ok(read)
}

/// Adds the flows of one table.
fn flow(
    top: &Fields<'_>,
    nodes: &Nodes<'_>,
    transports: &Transports<'_>,
    duration: Option<Duration>,
    (entry, table): (&Entry, &Table),
    read: &mut Unrouted,
) -> Result<(), Reported> {
    let what = format!("flow `{}`", entry.key);
    let fields = Fields::new(top.errors, &schema::FLOW, table, entry.key_place, what);
    fields.check_keys(&[]);
    let end = |key: &str| match fields.entry(key) {
        Some(entry) => nodes.end(&fields, &entry.item),
        None => Err(fields.missing(key)),
    };
    let (from, to) = (end("from"), end("to"));
    let named = fields
        .entry("transport")
        .map(|e| transports.find(&fields, &e.item))
        .transpose();
    let known = named.as_ref().ok().and_then(Option::as_ref);
    let application = match fields.entry("application") {
        Some(entry) => applications::read(&fields, entry, known),
        None => Err(fields.missing("application")),
    };
    let transport = transport(&fields, named, application.as_ref().ok());
    let times = times(&fields, duration);
    let count = fields.optional::<u32>("count");
    let handshake = handshake(&fields);
    let (from, to) = (from?, to?);
    let pairs = from.pairs(&to, &fields)?;
    let (application, transport, times) = (application?, transport?, times?);
    let (count, handshake) = (count?, handshake?);
    let numbered = from.counted(&to) || count.is_some();
    let count = count.unwrap_or(1);
    let flows = pairs.len() as u64 * u64::from(count);
    if read.flows.len() as u64 + flows > LARGEST_COUNT {
        let message = format!("more than {LARGEST_COUNT} flows");
        let error = Diagnostic::new(entry.key_place, message);
        return Err(top
            .errors
            .report(error.label(format!("{flows} of them here"))));
    }
    let each = pairs
        .into_iter()
        .flat_map(|pair| (0..count).map(move |_| pair));
    for (i, (from, to)) in each.enumerate() {
        read.flows.push(Flow {
            name: if numbered {
                format!("{}[{}]", entry.key, i + 1)
            } else {
                entry.key.clone()
            },
            from,
            to,
            transport: transport.clone(),
            application: application.clone(),
            start: times.start + times.spacing * i as u64,
            stop: times.stop,
            handshake,
            forward: Vec::new(),
            reverse: Vec::new(),
            changes: Vec::new(),
            split: None,
        });
        read.places.push(entry.key_place);
    }
    times.check_last(&fields, flows)
}

/// The transport, which datagrams do not have.
fn transport(
    fields: &Fields<'_>,
    named: Result<Option<Transport>, Reported>,
    application: Option<&Application>,
) -> Result<Option<Transport>, Reported> {
    match (application, fields.entry("transport")) {
        (Some(application), Some(entry)) if !application.takes_transport() => {
            let message = format!("{} sends datagrams and has no transport", fields.what);
            let error = Diagnostic::new(entry.key_place, message).label("not used");
            Err(fields.errors.report(error.help("remove the key")))
        }
        (Some(application), None) if application.needs_transport() => {
            let help = "write a transport by name, such as `transport = \"cubic\"`";
            Err(fields.errors.report(fields.lacks("transport").help(help)))
        }
        (Some(application), Some(entry)) => {
            let transport = named?;
            let why = transport.as_ref().and_then(|t| misfit(t, application));
            let report = |error: Diagnostic| Err(fields.errors.report(error));
            match why {
                None => Ok(transport),
                Some(Misfit::Pauses) => {
                    let message = "the ideal bound is that of a transfer without pauses";
                    let error = Diagnostic::new(entry.item.place, message);
                    let web = matches!(application, Application::Web(_));
                    let what = if web { "pages" } else { "on-off traffic" };
                    report(error.label(format!("does not carry {what}")))
                }
                Some(Misfit::Connections) => {
                    let message = "the agents of ns-2 know one connection";
                    let error = Diagnostic::new(entry.item.place, message);
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
    spacing: Duration,
    /// The end of the run, where it is known.
    end: Option<Time>,
}

fn times(fields: &Fields<'_>, duration: Option<Duration>) -> Result<Times, Reported> {
    let start = fields.optional::<Duration>("start");
    let stop = fields.optional::<Duration>("stop");
    let spacing = fields.optional::<Duration>("spacing");
    let (start, stop) = (start?.unwrap_or(Duration::ZERO), stop?);
    if let (Some(stop), Some(entry)) = (stop.filter(|s| *s <= start), fields.entry("stop")) {
        let message = format!("{} stops before it starts", fields.what);
        let error = Diagnostic::new(entry.item.place, message);
        let error = error.label(format!("{stop}, but it starts at {start}"));
        return Err(fields.errors.report(error));
    }
    let end = duration.map(|d| Time::ZERO + d);
    if let (Some(end), Some(entry)) = (end, fields.entry("start"))
        && Time::ZERO + start >= end
    {
        let message = format!("{} never starts", fields.what);
        let error = Diagnostic::new(entry.item.place, message);
        let error = error.label(format!("the run ends at {}", end.since(Time::ZERO)));
        return Err(fields.errors.report(error));
    }
    Ok(Times {
        start: Time::ZERO + start,
        stop: stop.map(|s| Time::ZERO + s),
        spacing: spacing?.unwrap_or(Duration::ZERO),
        end,
    })
}

impl Times {
    /// Reports spacing that puts the last of `flows` behind its end.
    fn check_last(&self, fields: &Fields<'_>, flows: u64) -> Result<(), Reported> {
        let last = self.start + self.spacing * flows.saturating_sub(1);
        let end = self.stop.into_iter().chain(self.end).min();
        match (end.filter(|end| last >= *end), fields.entry("spacing")) {
            (Some(end), Some(entry)) => {
                let message = format!("the last of {} never starts", fields.what);
                let (last, end) = (last.since(Time::ZERO), end.since(Time::ZERO));
                let error = Diagnostic::new(entry.item.place, message);
                let label = format!("it would start at {last}, but all end at {end}");
                Err(fields.errors.report(error.label(label)))
            }
            _ => Ok(()),
        }
    }
}

fn handshake(fields: &Fields<'_>) -> Result<Handshake, Reported> {
    let word = fields.optional_word("handshake")?;
    Ok(match word {
        Some("not-counted") => Handshake::NotCounted,
        Some("skipped") => Handshake::Skipped,
        _ => Handshake::Counted,
    })
}

/// Reports flows whose senders wait for routers (XCP) that are not there.
fn check_routers(
    top: &Fields<'_>,
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
        reported = Some(top.errors.report(error));
    }
    reported.map_or(Ok(flows), Err)
}

/// Gives each flow its links.
pub(super) fn route(
    top: &Fields<'_>,
    unrouted: Unrouted,
    nodes: &Nodes<'_>,
    links: &[Link],
    complete: bool,
) -> Result<Vec<Flow>, Reported> {
    let Unrouted { mut flows, places } = unrouted;
    if !complete {
        // A link that could not be read may be the one that is missing.
        return Ok(flows);
    }
    let Err(failed) = route::route(nodes.count(), links, &mut flows) else {
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
                    .help("use fewer nodes, or fewer nodes with several links")
            }
        };
        reported = Some(top.errors.report(error));
    }
    reported.map_or(Ok(flows), Err)
}
