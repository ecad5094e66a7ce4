//! The tables of `bentpipe check`: links, flows, middleboxes.

use super::{channel, more_of, queue, way};
use crate::groups::{self, Group};
use crate::output::{Output, digits3, seconds};
use bentpipe_report::table::{Column, Table};
use bentpipe_scenario::space::ExpandedConstellations;
use bentpipe_scenario::{Flow, Link, LinkId, NodeId, Scenario};
use std::io;

/// Names that a cell lists at most.
const MOST_NAMES: usize = 40;

/// Prints all of them.
pub(super) fn print(
    scenario: &Scenario,
    space: &ExpandedConstellations,
    out: &mut Output,
) -> io::Result<()> {
    let all = out.rows() == usize::MAX;
    let of_space = |link: &&Link| space.skies.iter().any(|sky| is_of(&sky.name, &link.name));
    let shown = scenario.links.iter().filter(|link| all || !of_space(link));
    let shown: Vec<&Link> = shown.collect();
    let hidden = scenario.links.len() - shown.len();
    if !shown.is_empty() {
        out.line("")?;
        out.table(&links(scenario, &shown, out.rows()))?;
    }
    if hidden > 0 {
        out.line("")?;
        out.paragraph(
            0,
            &format!("The {hidden} links of constellations are not listed; --all prints each."),
        )?;
    }
    if !scenario.flows.is_empty() {
        out.line("")?;
        out.table(&flows(scenario, out.rows()))?;
    }
    if !scenario.middleboxes.is_empty() || !scenario.peps.is_empty() {
        out.line("")?;
        out.long_table(middleboxes(scenario))?;
    }
    Ok(())
}

/// Whether a link belongs to the constellation of that name.
fn is_of(constellation: &str, link: &str) -> bool {
    let rest = link.strip_prefix(constellation);
    rest.is_some_and(|rest| rest.starts_with(['.', '[']))
}

fn node(scenario: &Scenario, id: NodeId) -> &str {
    let node = scenario.nodes.get(id.0 as usize);
    node.map_or("?", |n| n.name.as_str())
}

/// The items in groups, where they are more than `rows`; else each by itself.
fn grouped<'a>(names: impl Iterator<Item = &'a str> + Clone, rows: usize) -> Vec<Group> {
    if names.clone().count() > rows {
        return groups::of_names(names);
    }
    let one = |(i, name): (usize, &str)| Group {
        label: name.to_owned(),
        members: vec![i],
    };
    names.enumerate().map(one).collect()
}

/// What a group has in common, or the least and the most of it.
fn range<T: Ord + Copy>(
    values: impl Iterator<Item = T> + Clone,
    print: impl Fn(T) -> String,
) -> String {
    match (values.clone().min(), values.max()) {
        (Some(low), Some(high)) if low < high => format!("{} to {}", print(low), print(high)),
        (Some(one), _) => print(one),
        (None, _) => String::new(),
    }
}

/// What all of a group have, or that they differ.
fn common(mut texts: impl Iterator<Item = String>) -> String {
    let first = texts.next().unwrap_or_default();
    match texts.all(|text| text == first) {
        true => first,
        false => format!("{first}, others differ"),
    }
}

fn links(scenario: &Scenario, links: &[&Link], rows: usize) -> Table {
    let mut table = Table::new([
        Column::text("link"),
        Column::text("from > to").optional(2),
        Column::number("rate"),
        Column::number("one way"),
        Column::prose("queue").optional(1),
        Column::prose("channel"),
    ]);
    let groups = grouped(links.iter().map(|l| l.name.as_str()), rows);
    for group in groups.iter().take(rows) {
        let members = || group.members.iter().map(|i| links[*i]);
        let end = |of: fn(&Link) -> NodeId| {
            let names: Vec<&str> = members().map(|l| node(scenario, of(l))).collect();
            groups::span(&names)
        };
        let rate = range(members().map(|l| l.settings.rate), |r| r.to_string());
        let medium = common(members().map(|l| match medium(scenario, l) {
            Some(name) => format!(" of `{name}`"),
            None => String::new(),
        }));
        table.row([
            group.label.clone(),
            format!("{} > {}", end(|l| l.from), end(|l| l.to)),
            format!("{rate}{medium}"),
            range(members().map(|l| l.settings.one_way_delay), |d| {
                d.to_string()
            }),
            common(members().map(|l| queue(&l.settings.queue))),
            common(members().map(|l| format!("{}{}", channel(&l.settings.channel), more_of(l)))),
        ]);
    }
    more(table, &groups, rows)
}

/// The table with a row that says how many groups it does not show.
fn more(mut table: Table, groups: &[Group], rows: usize) -> Table {
    if groups.len() > rows {
        let count = groups.iter().skip(rows).map(|group| group.members.len());
        table.row([format!("... {} more", count.sum::<usize>())]);
    }
    table
}

/// The medium that a link shares.
fn medium<'a>(scenario: &'a Scenario, link: &Link) -> Option<&'a str> {
    let medium = scenario.media.get(link.medium?.0 as usize)?;
    Some(&medium.name)
}

fn flows(scenario: &Scenario, rows: usize) -> Table {
    let mut table = Table::new([
        Column::text("flow"),
        Column::text("transport"),
        Column::prose("carries"),
        Column::number("RTT"),
        Column::number("BDP").optional(2),
        Column::number("ideal").optional(1),
        Column::prose("way").optional(3),
    ]);
    let names = scenario.flows.iter().map(|f| f.name.as_str());
    let groups = grouped(names, rows);
    for group in groups.iter().take(rows) {
        let members: Vec<&Flow> = group.members.iter().map(|i| &scenario.flows[*i]).collect();
        let ways: Vec<super::Way> = members.iter().map(|f| way(scenario, f)).collect();
        let spread = |values: Vec<f64>, print: &dyn Fn(f64) -> String| {
            let low = values.iter().copied().reduce(f64::min);
            let high = values.iter().copied().reduce(f64::max);
            match (low, high) {
                (Some(low), Some(high)) if print(low) != print(high) => {
                    format!("{} to {}", print(low), print(high))
                }
                (Some(one), _) => print(one),
                _ => String::new(),
            }
        };
        table.row([
            group.label.clone(),
            common(members.iter().map(|f| transport(f))),
            common(members.iter().map(|f| f.application.to_string())),
            spread(ways.iter().map(|w| w.round_trip).collect(), &seconds),
            spread(ways.iter().map(|w| w.bdp / 1e3).collect(), &|kb| {
                format!("{} kB", digits3(kb))
            }),
            spread(ways.iter().filter_map(|w| w.ideal).collect(), &seconds),
            path(scenario, &members),
        ]);
    }
    let table = more(table, &groups, rows);
    table.note("RTT: propagation both ways. BDP: slowest link x RTT. ideal: the bound, alone.")
}

fn transport(flow: &Flow) -> String {
    let transport = flow.transport.as_deref();
    transport.map_or("udp", |t| t.name.as_str()).to_owned()
}

/// The links that the flows of a group cross, of several with their indices left out.
fn path(scenario: &Scenario, flows: &[&Flow]) -> String {
    let names = |flow: &Flow| -> Vec<&str> {
        let links = flow.forward.iter().map(|id: &LinkId| id.0 as usize);
        let links = links.filter_map(|i| scenario.links.get(i));
        links.map(|l| l.name.as_str()).collect()
    };
    match flows {
        [one] => names(one).join(" "),
        several => common(several.iter().map(|flow| {
            let names = names(flow).into_iter().map(groups::without_index);
            names.collect::<Vec<_>>().join(" ")
        })),
    }
}

fn middleboxes(scenario: &Scenario) -> Table {
    let mut table = Table::new([
        Column::text("middlebox"),
        Column::text("kind"),
        Column::text("node"),
        Column::prose("toward").optional(1),
    ]);
    let boxes = scenario.middleboxes.iter();
    let boxes = boxes.map(|m| (&m.name, m.settings.kind(), m.node, &m.toward));
    let peps = scenario.peps.iter();
    let peps = peps.map(|p| (&p.name, "split", p.node, &p.toward));
    for (name, kind, node, toward) in boxes.chain(peps) {
        let toward = toward.iter().take(MOST_NAMES);
        let toward = toward.filter_map(|id| scenario.links.get(id.0 as usize));
        let node = scenario.nodes.get(node.0 as usize);
        table.row([
            name.clone(),
            kind.to_owned(),
            node.map_or("", |n| n.name.as_str()).to_owned(),
            toward
                .map(|l| l.name.as_str())
                .collect::<Vec<_>>()
                .join(" "),
        ]);
    }
    table
}
