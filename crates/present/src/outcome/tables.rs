//! What a run did, as tables for people.

use super::links::{self, Carried, bytes};
use super::shares::{self, WithShares};
use crate::groups::{self, Group};
use crate::measures::Measures;
use crate::output::{Output, seconds};
use crate::scenario::counts;
use bentpipe_outcome::{FlowOutcome, Metric, Outcome, Unit};
use bentpipe_report::table::{Column, Table};
use bentpipe_scenario::Scenario;
use bentpipe_units::Duration;
use std::io;

/// Prints what was run, how long and where: in the simulator, or on that `kernel`.
pub fn title(
    outcome: &Outcome,
    kernel: Option<&str>,
    scenario: &Scenario,
    out: &mut Output,
) -> io::Result<()> {
    let ended = seconds(outcome.ended_at.as_secs());
    let (name, seed) = (&outcome.scenario, outcome.seed);
    match kernel {
        None => out.line(format_args!(
            "{name}, seed {seed}: {ended} simulated, {} events",
            outcome.events
        ))?,
        Some(kernel) => out.line(format_args!("{name}, seed {seed}: {ended} on {kernel}"))?,
    }
    if !scenario.description.is_empty() {
        out.paragraph(0, &scenario.description)?;
    }
    for note in counts::notes(scenario) {
        out.paragraph(0, &note)?;
    }
    out.line("")
}

/// The flows of an outcome in groups: those of one declaration, and those that carry the
/// same over the same transport.
fn groups_of(scenario: &Scenario, outcome: &Outcome) -> Vec<Group> {
    let kind = |i: usize| {
        let transport = outcome.flows.get(i).map_or("", |f| f.transport.as_str());
        match scenario.flows.get(i) {
            Some(flow) => format!("{transport}, {}", flow.application),
            None => transport.to_owned(),
        }
    };
    groups::of_flows(outcome.flows.iter().map(|f| f.name.as_str()), kind)
}

/// Prints what `bentpipe run` prints of a run, on that `kernel` or in the simulator.
pub fn print(
    whole: &WithShares<'_>,
    kernel: Option<&str>,
    scenario: &Scenario,
    out: &mut Output,
) -> io::Result<()> {
    let outcome = whole.outcome;
    title(outcome, kernel, scenario, out)?;
    let groups = groups_of(scenario, outcome);
    let items: Vec<(&str, &FlowOutcome)> =
        outcome.flows.iter().map(|f| (f.name.as_str(), f)).collect();
    let folded = flows(outcome).table("flow", &items, &groups, out.rows(), true);
    out.folded(folded, flows_note(outcome))?;
    applications(outcome, &groups, out)?;
    if !outcome.legs.is_empty() {
        out.line("")?;
        out.long_table(legs(outcome))?;
    }
    shares::print(&whole.bottlenecks, &groups, out)?;
    out.line("")?;
    links::print(&outcome.links, Carried::Bytes, out)?;
    if !outcome.middleboxes.is_empty() {
        out.line("")?;
        out.long_table(middleboxes(outcome))?;
    }
    if let Some(table) = media(outcome, scenario) {
        out.line("")?;
        out.table(&table)?;
    }
    let unfinished = outcome
        .flows
        .iter()
        .filter(|f| f.offered.is_some() && !f.is_finished())
        .count();
    if unfinished > 0 {
        out.line("")?;
        out.paragraph(
            0,
            &format!(
                "{unfinished} of {} flows did not end within the duration of {}.",
                outcome.flows.len(),
                scenario.duration
            ),
        )?;
    }
    Ok(())
}

fn flows<'a>(outcome: &'a Outcome) -> Measures<'a, FlowOutcome> {
    let lost = |f: &FlowOutcome| {
        let parts = [f.queue_drops, f.channel_losses, outages(f)];
        parts.map(|n| Some(n as f64)).to_vec()
    };
    Measures::new()
        .text(Column::text("transport").optional(1), |f: &FlowOutcome| {
            f.transport.clone()
        })
        .number(
            Column::number("time [s]"),
            |f| f.transfer_time.map(|t| t.as_secs()),
            |x| format!("{x:.3}"),
        )
        .amount(Column::number("delivered"), |f| f.delivered.as_f64(), size)
        .amount(
            Column::number("Mbit/s"),
            |f| outcome.goodput(f).bps_f64() / 1e6,
            |x| format!("{x:.3}"),
        )
        .count(Column::number("packets").optional(4), |f| f.packets_sent)
        .count(Column::number("resent"), |f| f.retransmissions)
        .count(Column::number("RTOs").optional(2), |f| f.timeouts)
        .parts(
            Column::number("RTT [ms]"),
            |f| [f.min_rtt, f.mean_rtt].map(|d| d.map(ms)).to_vec(),
            rtt,
            false,
        )
        .parts(
            Column::number("drops + lost").optional(3),
            lost,
            losses,
            true,
        )
}

/// What the columns of the table of flows mean.
fn flows_note(outcome: &Outcome) -> &'static str {
    match outcome.flows.iter().any(|f| outages(f) > 0) {
        true => {
            "RTT: smallest and mean. drops + lost: packets that queues dropped + lost on \
             channels. A third number: lost in outages and handovers, or without a route."
        }
        false => {
            "RTT: smallest and mean. drops + lost: packets that queues dropped + lost on channels."
        }
    }
}

fn ms(d: Duration) -> f64 {
    d.as_secs() * 1e3
}

fn size(x: f64) -> String {
    bytes(x as u64)
}

/// The smallest and the mean RTT, milliseconds.
pub(crate) fn rtt(parts: &[Option<f64>]) -> String {
    match parts {
        [Some(min), Some(mean)] => format!("{min:.0}-{mean:.0}"),
        _ => String::new(),
    }
}

/// Packets lost while a link was down, with a route that ended, or without one.
fn outages(f: &FlowOutcome) -> u64 {
    f.outage_losses + f.no_route_losses
}

/// Packets lost in queues, on channels and in outages.
fn losses(parts: &[Option<f64>]) -> String {
    let count = |i: usize| parts.get(i).copied().flatten().unwrap_or(0.0);
    match count(2) {
        0.0 => format!("{:.0}+{:.0}", count(0), count(1)),
        n => format!("{:.0}+{:.0}+{n:.0}", count(0), count(1)),
    }
}

/// The legs of the flows that PEPs split.
fn legs(outcome: &Outcome) -> Table {
    let mut table = Table::new([
        Column::text("flow"),
        Column::text("leg"),
        Column::text("transport").optional(5),
        Column::number("acked [s]"),
        Column::number("delivered"),
        Column::number("packets").optional(8),
        Column::number("resent").optional(2),
        Column::number("RTOs").optional(6),
        Column::number("RTT [ms]").optional(4),
        Column::number("relay mean").optional(1),
        Column::number("max").optional(3),
        Column::number("waited").optional(7),
    ]);
    for l in &outcome.legs {
        let held = |n: u64| if l.leg == 0 { String::new() } else { bytes(n) };
        let flow = outcome.flows.get(l.flow).filter(|_| l.leg == 0);
        table.row([
            flow.map_or_else(String::new, |f| f.name.clone()),
            l.nodes.clone(),
            l.transport.clone(),
            l.acknowledged_after
                .map_or_else(|| "-".to_owned(), |t| format!("{:.3}", t.as_secs())),
            bytes(l.delivered.get()),
            l.packets_sent.to_string(),
            l.retransmissions.to_string(),
            l.timeouts.to_string(),
            rtt(&[l.min_rtt, l.mean_rtt].map(|d| d.map(ms))),
            held(l.mean_buffered.get()),
            held(l.max_buffered.get()),
            held(l.max_waiting.get()),
        ]);
    }
    table.note(
        "acked: when the leg's sender had all acknowledged; the time above is when the receiver has \
         all. relay: bytes in the PEP before the leg, unacknowledged ones included; waited: had \
         arrived and found no room in it.",
    )
}

/// What applications have experienced, such as the times of pages: the metrics
/// that their records declare. Printed where there are any.
fn applications(outcome: &Outcome, groups: &[Group], out: &mut Output) -> io::Result<()> {
    type Experience = Vec<(Metric, Option<f64>)>;
    let all: Vec<(&str, Experience)> = outcome
        .flows
        .iter()
        .map(|f| (f.name.as_str(), f.experience()))
        .collect();
    let mut metrics: Vec<&Metric> = Vec::new();
    for (metric, _) in all.iter().flat_map(|(_, all)| all) {
        if metrics.iter().all(|known| known.name != metric.name) {
            metrics.push(metric);
        }
    }
    if metrics.is_empty() {
        return Ok(());
    }
    let mut measures = Measures::new();
    for (rank, metric) in metrics.iter().enumerate() {
        let seconds = matches!(metric.unit, Unit::Seconds);
        let heading = match seconds {
            true => format!("{} [s]", metric.name),
            false => metric.name.to_owned(),
        };
        let name = metric.name;
        measures = measures.number(
            Column::number(heading).optional(rank.min(200) as u8),
            move |all: &Experience| all.iter().find(|(m, _)| m.name == name)?.1,
            move |x| match (seconds, x.fract() == 0.0) {
                (true, _) => format!("{x:.3}"),
                (false, true) => format!("{x:.0}"),
                (false, false) => format!("{x:.2}"),
            },
        );
    }
    let has_any = |i: &usize| !all[*i].1.is_empty();
    // The groups of those that have any, by their places in the shorter list.
    let kept: Vec<usize> = (0..all.len()).filter(has_any).collect();
    let place = |i: &usize| kept.binary_search(i).ok();
    let groups = groups.iter().map(|group| Group {
        label: group.label.clone(),
        members: group.members.iter().filter_map(place).collect(),
    });
    let groups: Vec<Group> = groups.filter(|group| !group.members.is_empty()).collect();
    let items: Vec<(&str, &Experience)> = kept.iter().map(|i| (all[*i].0, &all[*i].1)).collect();
    let notes: Vec<String> = metrics
        .iter()
        .map(|metric| format!("{}: {}.", metric.name, metric.about))
        .collect();
    let folded = measures.table("flow", &items, &groups, out.rows(), true);
    out.line("")?;
    out.folded(folded, &notes.join(" "))
}

fn middleboxes(outcome: &Outcome) -> Table {
    let mut table = Table::new([
        Column::text("middlebox"),
        Column::text("kind"),
        Column::number("seen"),
        Column::number("cached").optional(2),
        Column::number("overflow").optional(3),
        Column::number("resent"),
        Column::number("timeouts").optional(4),
        Column::number("ACKs kept").optional(1),
        Column::number("own ACKs").optional(5),
    ]);
    for m in &outcome.middleboxes {
        table.row([
            m.name.clone(),
            m.kind.clone(),
            m.seen_packets.to_string(),
            m.cached_packets.to_string(),
            m.overflow_packets.to_string(),
            m.local_retransmissions.to_string(),
            m.local_timeouts.to_string(),
            m.suppressed_acks.to_string(),
            m.own_acks.to_string(),
        ]);
    }
    table.note("overflow: data not cached. timeouts: of the resent. ACKs kept: from the sender.")
}

/// What the terminals of each medium did, together; nothing where there is
/// none.
fn media(outcome: &Outcome, scenario: &Scenario) -> Option<Table> {
    let mut table = Table::new([
        Column::text("medium"),
        Column::text("access").optional(1),
        Column::number("terminals").optional(2),
        Column::number("delivered"),
        Column::number("used"),
        Column::number("free slots").optional(4),
        Column::number("on demand").optional(5),
        Column::number("requests").optional(3),
        Column::number("collisions"),
    ]);
    let mut any = false;
    for (i, medium) in scenario.media.iter().enumerate() {
        let id = bentpipe_scenario::MediumId(i as u32);
        let links: Vec<_> = scenario
            .terminals(id)
            .filter_map(|link| outcome.links.get(link.0 as usize))
            .collect();
        if links.is_empty() {
            continue;
        }
        any = true;
        let sum = |of: fn(&bentpipe_outcome::LinkOutcome) -> u64| -> u64 {
            links.iter().map(|link| of(link)).sum()
        };
        table.row([
            medium.name.clone(),
            medium.settings.access.name().to_owned(),
            links.len().to_string(),
            bytes(sum(|l| l.delivered_bytes.get())),
            format!(
                "{:.1}%",
                100.0 * links.iter().map(|l| l.utilisation).sum::<f64>()
            ),
            sum(|l| l.free_slots).to_string(),
            sum(|l| l.demand_slots).to_string(),
            sum(|l| l.requests).to_string(),
            sum(|l| l.collisions).to_string(),
        ]);
    }
    any.then_some(table)
}
