//! The shares of links that several flows cross.

use super::tables::rtt;
use crate::groups::{self, Group};
use crate::measures::{Folded, Measures};
use crate::output::{Output, seconds};
use bentpipe_outcome::{FlowOutcome, Interval, Outcome, jain_index};
use bentpipe_report::table::Column;
use bentpipe_scenario::{LinkId, Scenario};
use bentpipe_units::{Rate, Time};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use std::io;

/// A link that is the slowest on the way of the data of some flow, and that
/// the data of others crosses as well.
#[derive(Debug, Serialize)]
pub struct Bottleneck<'a> {
    link: &'a str,
    rate_bps: u64,
    from_ns: u64,
    to_ns: u64,
    flows: Vec<Part<'a>>,
    /// It is of a part of the run.
    #[serde(skip)]
    is_part: bool,
    /// Unused share of the link.
    unused: Option<f64>,
    /// Jain's index of what the flows took of the link.
    jain_index_wire: Option<f64>,
    /// Jain's index of the flows' goodputs.
    jain_index_goodput: Option<f64>,
    /// Jain's index of the goodputs, each over the time of its own transfer, where all of
    /// them ended: over the whole time all have carried what they had to.
    #[serde(skip_serializing_if = "Option::is_none")]
    jain_index_transfers: Option<f64>,
}

/// What one flow got.
#[derive(Debug, Serialize)]
struct Part<'a> {
    /// Its place among the flows of the run.
    #[serde(skip)]
    number: usize,
    flow: &'a str,
    transport: &'a str,
    min_rtt_ns: Option<u64>,
    mean_rtt_ns: Option<u64>,
    goodput_bps: u64,
    payload_share: Option<f64>,
    wire_share: Option<f64>,
    queue_drops: u64,
    channel_losses: u64,
}

/// An outcome with the links that its flows share.
#[derive(Debug, Serialize)]
pub struct WithShares<'a> {
    /// The outcome.
    #[serde(flatten)]
    pub outcome: &'a Outcome,
    /// The shared bottlenecks, in the order of the scenario's links.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bottlenecks: Vec<Bottleneck<'a>>,
}

/// The shared bottlenecks of a run, in the order of the scenario's links.
pub(crate) fn bottlenecks<'a>(
    outcome: &'a Outcome,
    scenario: &Scenario,
    interval: &Interval<'_>,
) -> Vec<Bottleneck<'a>> {
    let slowest = |way: &[LinkId]| {
        let rate = |l: &&LinkId| scenario.links[l.0 as usize].settings.rate;
        way.iter().min_by_key(rate).map(|l| l.0 as usize)
    };
    let ways = || scenario.flows.iter().map(|flow| &flow.forward);
    let mut narrow = vec![false; outcome.links.len()];
    for link in ways().filter_map(|way| slowest(way)) {
        narrow[link] = true;
    }
    // The flows of each such link, with their crossings.
    let mut crossed: HashMap<usize, Vec<(usize, usize)>> = HashMap::new();
    for (flow, way) in ways().enumerate().take(outcome.flows.len()) {
        for link in way.iter().map(|link| link.0 as usize) {
            if narrow[link]
                && let Some(crossing) = outcome.crossing(flow, link)
            {
                let flows = crossed.entry(link).or_default();
                // A route that was given may cross a link twice.
                if flows.last() != Some(&(flow, crossing)) {
                    flows.push((flow, crossing));
                }
            }
        }
    }
    let transmitted = interval.transmitted();
    let is_part = interval.from() > Time::ZERO || interval.to() < outcome.ended_at;
    let mut found = Vec::new();
    for (link, l) in outcome.links.iter().enumerate() {
        let Some(flows) = crossed.remove(&link) else {
            continue;
        };
        if flows.len() < 2 {
            continue;
        }
        found.push(Bottleneck {
            link: &l.name,
            rate_bps: l.rate.bps(),
            from_ns: interval.from().as_nanos(),
            to_ns: interval.to().as_nanos(),
            is_part,
            unused: interval.unused_beside(transmitted[link], link),
            jain_index_wire: interval.jain_of_wire(flows.iter().map(|f| f.1)),
            jain_index_goodput: interval.jain_of_payload(flows.iter().map(|f| f.0)),
            jain_index_transfers: of_transfers(outcome, interval, &flows),
            flows: flows
                .into_iter()
                .map(|(flow, crossing)| {
                    part(&outcome.flows[flow], (flow, crossing, link), interval)
                })
                .collect(),
        });
    }
    found
}

/// Jain's index of the goodputs of transfers that began and ended in the interval; `None`
/// if one did not.
fn of_transfers(
    outcome: &Outcome,
    interval: &Interval<'_>,
    flows: &[(usize, usize)],
) -> Option<f64> {
    let goodput = |(flow, _): &(usize, usize)| {
        let flow = &outcome.flows[*flow];
        let ended_at = flow.started_at + flow.transfer_time?;
        let is_inside = flow.started_at >= interval.from() && ended_at <= interval.to();
        is_inside.then(|| outcome.goodput(flow).bps_f64())
    };
    let goodputs: Option<Vec<f64>> = flows.iter().map(goodput).collect();
    jain_index(goodputs?)
}

fn part<'a>(
    f: &'a FlowOutcome,
    (flow, crossing, link): (usize, usize, usize),
    interval: &Interval<'_>,
) -> Part<'a> {
    let counts = interval.crossing(crossing);
    Part {
        number: flow,
        flow: &f.name,
        transport: &f.transport,
        min_rtt_ns: f.min_rtt.map(|d| d.as_nanos()),
        mean_rtt_ns: f.mean_rtt.map(|d| d.as_nanos()),
        goodput_bps: interval.goodput(flow).bps(),
        payload_share: interval.payload_share(flow, link),
        wire_share: interval.wire_share(&counts, link),
        queue_drops: counts.queue_drops,
        channel_losses: counts.channel_losses,
    }
}

/// More shared links than these are put into one table, unless every row is asked for.
const TABLES: usize = 3;

/// Prints a table for each, or one of all where there are many.
pub(crate) fn print(
    bottlenecks: &[Bottleneck<'_>],
    groups: &[Group],
    out: &mut Output,
) -> io::Result<()> {
    if bottlenecks.len() > TABLES && out.rows() < usize::MAX {
        return overview(bottlenecks, out);
    }
    let numbered = groups.iter().enumerate();
    let members = numbered.flat_map(|(g, group)| group.members.iter().map(move |flow| (*flow, g)));
    let group_of: HashMap<usize, usize> = members.collect();
    for b in bottlenecks {
        one(b, (groups, &group_of), out)?;
    }
    if !bottlenecks.is_empty() {
        out.line("")?;
        let note = "wire: share of the link that the flow took, headers and retransmissions \
                    included. payload: share of its rate that arrived as payload. drops, lost: \
                    packets of the flow at this link.";
        let whole = match bottlenecks.iter().any(|b| b.is_part) {
            true => " The table of links is of the whole run.",
            false => "",
        };
        out.paragraph(0, &format!("{note}{whole}"))?;
    }
    Ok(())
}

/// Prints how fairly each of many links was shared.
fn overview(bottlenecks: &[Bottleneck<'_>], out: &mut Output) -> io::Result<()> {
    let share = |x: f64| percent(Some(x));
    let index = |x: f64| index(Some(x));
    let measures = Measures::new()
        .number(
            Column::number("flows"),
            |b: &Bottleneck<'_>| Some(b.flows.len() as f64),
            |x| format!("{x:.0}"),
        )
        .number(Column::number("unused"), |b| b.unused, share)
        .number(Column::number("Jain wire"), |b| b.jain_index_wire, index)
        .number(
            Column::number("Jain goodput"),
            |b| b.jain_index_goodput,
            index,
        );
    let items: Vec<(&str, &Bottleneck<'_>)> = bottlenecks.iter().map(|b| (b.link, b)).collect();
    let groups = groups::of_names(bottlenecks.iter().map(|b| b.link));
    let folded = measures.table("link", &items, &groups, out.rows(), false);
    out.line("")?;
    out.strong(format_args!(
        "{} links are shared by several flows",
        bottlenecks.len()
    ))?;
    out.line("")?;
    let note = "Jain: its index of what the flows took of the link, headers included, and of \
                their goodputs; 1 where all got the same. --all prints what each flow got.";
    out.folded(folded, note)
}

/// The groups of all flows, and the group of each flow.
type Groups<'a> = (&'a [Group], &'a HashMap<usize, usize>);

/// Prints what each flow got of a link.
fn one(b: &Bottleneck<'_>, groups: Groups<'_>, out: &mut Output) -> io::Result<()> {
    let time = |ns: u64| seconds(ns as f64 / 1e9);
    out.line("")?;
    out.strong(format_args!(
        "{}: {} shared by {} flows, {} to {}",
        b.link,
        Rate::from_bps(b.rate_bps),
        b.flows.len(),
        time(b.from_ns),
        time(b.to_ns),
    ))?;
    out.line("")?;
    out.folded(table(b, groups, out.rows()), "")?;
    out.line("")?;
    for line in by_transport(&b.flows) {
        out.line(line)?;
    }
    let unused = match b.is_part {
        true => format!(" in this time: {}", percent(b.unused)),
        false => format!(": {}", percent(b.unused)),
    };
    let text = match b.jain_index_transfers {
        // Over the whole time they carried what they had to, however fast.
        Some(transfers) => format!(
            "Unused{unused}. Jain's index: {transfers:.3} of the rates of the transfers, all of \
             which have ended; {} of the wire shares.",
            index(b.jain_index_wire),
        ),
        None => format!(
            "Unused{unused}. Jain's index: {} of the wire shares, {} of the goodputs.",
            index(b.jain_index_wire),
            index(b.jain_index_goodput),
        ),
    };
    out.paragraph(0, &text)
}

fn table(b: &Bottleneck<'_>, (groups, group_of): Groups<'_>, rows: usize) -> Folded {
    let ms = |ns: Option<u64>| ns.map(|ns| ns as f64 / 1e6);
    let share = |x: f64| percent(Some(x));
    let measures = Measures::new()
        .text(Column::text("transport").optional(1), |p: &Part<'_>| {
            p.transport.to_owned()
        })
        .parts(
            Column::number("RTT [ms]").optional(4),
            move |p| vec![ms(p.min_rtt_ns), ms(p.mean_rtt_ns)],
            rtt,
            false,
        )
        .amount(
            Column::number("Mbit/s"),
            |p| p.goodput_bps as f64 / 1e6,
            |x| format!("{x:.3}"),
        )
        .amount(
            Column::number("wire"),
            |p| p.wire_share.unwrap_or(0.0),
            share,
        )
        .amount(
            Column::number("payload").optional(5),
            |p| p.payload_share.unwrap_or(0.0),
            share,
        )
        .count(Column::number("drops").optional(2), |p| p.queue_drops)
        .count(Column::number("lost").optional(3), |p| p.channel_losses);
    let items: Vec<(&str, &Part<'_>)> = b.flows.iter().map(|p| (p.flow, p)).collect();
    // The groups of all flows, by places among those of this link.
    let mut places: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (place, part) in b.flows.iter().enumerate() {
        if let Some(group) = group_of.get(&part.number) {
            places.entry(*group).or_default().push(place);
        }
    }
    let here = places.into_iter().map(|(group, members)| Group {
        label: groups[group].label.clone(),
        members,
    });
    let here: Vec<Group> = here.collect();
    measures.table("flow", &items, &here, rows, false)
}

/// A line for each transport, where there are several and one carries more
/// than one flow.
fn by_transport(flows: &[Part<'_>]) -> Vec<String> {
    let mut names: Vec<&str> = Vec::new();
    for p in flows {
        if !names.contains(&p.transport) {
            names.push(p.transport);
        }
    }
    if names.len() < 2 || names.len() == flows.len() {
        return Vec::new();
    }
    names
        .into_iter()
        .map(|name| {
            let members = flows.iter().filter(|p| p.transport == name);
            let shares: Vec<f64> = members.filter_map(|p| p.wire_share).collect();
            let n = shares.len();
            let sum: f64 = shares.iter().sum();
            let flows = if n == 1 { "flow" } else { "flows" };
            let each = if n > 1 {
                format!(", {} each", percent(Some(sum / n as f64)))
            } else {
                String::new()
            };
            format!("{name}: {} for {n} {flows}{each}", percent(Some(sum)))
        })
        .collect()
}

fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "-".to_owned(), |x| format!("{:.1}%", 100.0 * x))
}

fn index(x: Option<f64>) -> String {
    x.map_or_else(|| "-".to_owned(), |x| format!("{x:.3}"))
}
