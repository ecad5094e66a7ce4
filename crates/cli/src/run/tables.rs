//! What a run did, as tables for people.

use crate::exit::Failure;
use crate::link_table::{Carried, bytes, link_table};
use crate::live::Facts;
use crate::output::{Output, seconds};
use crate::shares::{self, WithShares};
use bentpipe_outcome::{FlowOutcome, Metric, Outcome, Quantity};
use bentpipe_report::table::{Column, Table};
use bentpipe_scenario::Scenario;
use bentpipe_units::Duration;

/// What was run, how long and where.
pub(crate) fn title(
    outcome: &Outcome,
    facts: Option<&Facts>,
    scenario: &Scenario,
    out: &mut Output,
) -> Result<(), Failure> {
    let ended = seconds(outcome.ended_at.as_secs());
    let (name, seed) = (&outcome.scenario, outcome.seed);
    match facts {
        None => out.line(format_args!(
            "{name}, seed {seed}: {ended} simulated, {} events",
            outcome.events
        ))?,
        Some(facts) => {
            let kernel = &facts.kernel;
            out.line(format_args!("{name}, seed {seed}: {ended} on {kernel}"))?;
        }
    }
    if !scenario.description.is_empty() {
        out.paragraph(0, &scenario.description)?;
    }
    out.line("")
}

/// Prints all of it.
pub(crate) fn print(
    whole: &WithShares<'_>,
    facts: Option<&Facts>,
    scenario: &Scenario,
    out: &mut Output,
) -> Result<(), Failure> {
    let outcome = whole.outcome;
    title(outcome, facts, scenario, out)?;
    out.long_table(flows(outcome))?;
    if let Some(table) = applications(outcome) {
        out.line("")?;
        out.long_table(table)?;
    }
    if !outcome.legs.is_empty() {
        out.line("")?;
        out.long_table(legs(outcome))?;
    }
    shares::print(&whole.bottlenecks, out)?;
    out.line("")?;
    out.long_table(link_table(&outcome.links, Carried::Bytes))?;
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

/// Flows from which on totals are shown.
const TOTALS: usize = 5;

fn flows(outcome: &Outcome) -> Table {
    let mut table = Table::new([
        Column::text("flow"),
        Column::text("transport").optional(1),
        Column::number("time [s]"),
        Column::number("delivered"),
        Column::number("Mbit/s"),
        Column::number("packets").optional(4),
        Column::number("resent"),
        Column::number("RTOs").optional(2),
        Column::number("RTT [ms]"),
        Column::number("lost q+ch").optional(3),
    ]);
    let mut groups: Vec<(&str, Vec<&FlowOutcome>)> = Vec::new();
    for f in &outcome.flows {
        table.row(flow_row(outcome, f));
        let name = f.name.split('[').next().unwrap_or("");
        match groups.iter_mut().find(|group| group.0 == name) {
            Some(group) => group.1.push(f),
            None => groups.push((name, vec![f])),
        }
    }
    if outcome.flows.len() >= TOTALS {
        if groups.len() > 1 {
            for (name, flows) in groups.iter().filter(|group| group.1.len() > 1) {
                table.total(sums(outcome, format!("sum of {name}"), flows));
            }
        }
        let all: Vec<&FlowOutcome> = outcome.flows.iter().collect();
        table.total(sums(outcome, "sum".to_owned(), &all));
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
        table.total(over(outcome, "mean", &mean));
        table.total(over(outcome, "least", &|values| {
            values.iter().copied().fold(f64::INFINITY, f64::min)
        }));
        table.total(over(outcome, "most", &|values| {
            values.iter().copied().fold(0.0, f64::max)
        }));
    }
    let note =
        "RTT: smallest and mean. lost q+ch: packets that a full queue dropped + lost on a channel.";
    if outcome.flows.iter().any(|f| outages(f) > 0) {
        return table.note(format!(
            "{note} A third number: lost in outages and handovers, or without a route."
        ));
    }
    table.note(note)
}

fn flow_row(outcome: &Outcome, f: &FlowOutcome) -> [String; 10] {
    [
        f.name.clone(),
        f.transport.clone(),
        f.transfer_time
            .map_or_else(|| "-".to_owned(), |t| format!("{:.3}", t.as_secs())),
        bytes(f.delivered.get()),
        format!("{:.3}", outcome.goodput(f).bps_f64() / 1e6),
        f.packets_sent.to_string(),
        f.retransmissions.to_string(),
        f.timeouts.to_string(),
        rtt(f.min_rtt, f.mean_rtt),
        lost(f.queue_drops, f.channel_losses, outages(f)),
    ]
}

/// The smallest and the mean RTT, milliseconds.
fn rtt(min: Option<Duration>, mean: Option<Duration>) -> String {
    match (min, mean) {
        (Some(min), Some(mean)) => {
            format!("{:.0}-{:.0}", min.as_secs() * 1e3, mean.as_secs() * 1e3)
        }
        _ => String::new(),
    }
}

/// The sums of some flows; of their times there is none.
fn sums(outcome: &Outcome, label: String, flows: &[&FlowOutcome]) -> Vec<String> {
    let sum = |get: fn(&FlowOutcome) -> u64| flows.iter().map(|f| get(f)).sum::<u64>();
    let goodput: f64 = flows.iter().map(|f| outcome.goodput(f).bps_f64()).sum();
    vec![
        label,
        format!("{} flows", flows.len()),
        String::new(),
        bytes(sum(|f| f.delivered.get())),
        format!("{:.3}", goodput / 1e6),
        sum(|f| f.packets_sent).to_string(),
        sum(|f| f.retransmissions).to_string(),
        sum(|f| f.timeouts).to_string(),
        String::new(),
        lost(
            sum(|f| f.queue_drops),
            sum(|f| f.channel_losses),
            sum(outages),
        ),
    ]
}

/// One number for all flows of what each has done; times are of those that
/// finished.
fn over(outcome: &Outcome, label: &str, one: &dyn Fn(&[f64]) -> f64) -> Vec<String> {
    let of = |get: &dyn Fn(&FlowOutcome) -> Option<f64>| -> Option<f64> {
        let values: Vec<f64> = outcome.flows.iter().filter_map(get).collect();
        (!values.is_empty()).then(|| one(&values))
    };
    let text = |x: Option<f64>, digits: usize| {
        x.map_or_else(|| "-".to_owned(), |x| format!("{x:.digits$}"))
    };
    let count = |get: fn(&FlowOutcome) -> u64| text(of(&|f| Some(get(f) as f64)), 0);
    let rtt =
        |get: fn(&FlowOutcome) -> Option<Duration>| of(&|f| get(f).map(|rtt| rtt.as_secs() * 1e3));
    let rtt = match (rtt(|f| f.min_rtt), rtt(|f| f.mean_rtt)) {
        (Some(min), Some(mean)) => format!("{min:.0}-{mean:.0}"),
        _ => String::new(),
    };
    vec![
        label.to_owned(),
        String::new(),
        text(of(&|f| f.transfer_time.map(|t| t.as_secs())), 3),
        of(&|f| Some(f.delivered.as_f64())).map_or_else(String::new, |n| bytes(n as u64)),
        text(of(&|f| Some(outcome.goodput(f).bps_f64() / 1e6)), 3),
        count(|f| f.packets_sent),
        count(|f| f.retransmissions),
        count(|f| f.timeouts),
        rtt,
    ]
}

/// Packets lost while a link was down, with a route that ended, or without one.
fn outages(f: &FlowOutcome) -> u64 {
    f.outage_losses + f.no_route_losses
}

fn lost(queue: u64, channel: u64, outages: u64) -> String {
    match outages {
        0 => format!("{queue}+{channel}"),
        n => format!("{queue}+{channel}+{n}"),
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
            rtt(l.min_rtt, l.mean_rtt),
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
/// that their records declare.
fn applications(outcome: &Outcome) -> Option<Table> {
    let flows = outcome.flows.iter().map(|f| (f, f.experience()));
    let flows: Vec<_> = flows.filter(|(_, all)| !all.is_empty()).collect();
    let mut metrics: Vec<&Metric> = Vec::new();
    for (metric, _) in flows.iter().flat_map(|(_, all)| all) {
        if metrics.iter().all(|known| known.name != metric.name) {
            metrics.push(metric);
        }
    }
    let heading = |metric: &&Metric| match metric.quantity {
        Quantity::Seconds => Column::number(format!("{} [s]", metric.name)),
        _ => Column::number(metric.name),
    };
    let columns = std::iter::once(Column::text("flow")).chain(metrics.iter().map(heading));
    let mut table = Table::new(columns);
    for (f, all) in &flows {
        let cell = |metric: &&Metric| {
            let found = all.iter().find(|(m, _)| m.name == metric.name);
            match found.and_then(|(m, value)| Some((m.quantity, (*value)?))) {
                None => "-".to_owned(),
                Some((Quantity::Seconds, x)) => format!("{x:.3}"),
                Some((_, x)) => x.to_string(),
            }
        };
        table.row(std::iter::once(f.name.clone()).chain(metrics.iter().map(cell)));
    }
    let notes: Vec<String> = metrics
        .iter()
        .map(|metric| format!("{}: {}.", metric.name, metric.about))
        .collect();
    (!flows.is_empty()).then(|| table.note(notes.join(" ")))
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
