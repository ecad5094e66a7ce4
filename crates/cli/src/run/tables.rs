//! What a run did, as tables for people.

use crate::exit::Failure;
use crate::live::Facts;
use crate::output::{Output, digits3, seconds};
use crate::shares::{self, WithShares};
use bentpipe_outcome::{FlowOutcome, Outcome};
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
    out.table(&flows(outcome))?;
    if outcome.flows.iter().any(|f| f.pages.is_some()) {
        out.line("")?;
        out.table(&pages(outcome))?;
    }
    if !outcome.legs.is_empty() {
        out.line("")?;
        out.table(&legs(outcome))?;
    }
    shares::print(&whole.bottlenecks, out)?;
    out.line("")?;
    out.table(&links(outcome))?;
    if !outcome.middleboxes.is_empty() {
        out.line("")?;
        out.table(&middleboxes(outcome))?;
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

fn flows(outcome: &Outcome) -> Table {
    let mut table = Table::new([
        Column::text("flow"),
        Column::text("transport"),
        Column::number("time [s]"),
        Column::number("delivered"),
        Column::number("Mbit/s"),
        Column::number("packets"),
        Column::number("resent"),
        Column::number("RTOs"),
        Column::number("RTT [ms]"),
        Column::number("lost q+ch"),
    ]);
    for f in &outcome.flows {
        let rtt = match (f.min_rtt, f.mean_rtt) {
            (Some(min), Some(mean)) => {
                format!("{:.0}-{:.0}", min.as_secs() * 1e3, mean.as_secs() * 1e3)
            }
            _ => String::new(),
        };
        table.row([
            f.name.clone(),
            f.transport.clone(),
            f.transfer_time
                .map_or_else(|| "-".to_owned(), |t| format!("{:.3}", t.as_secs())),
            bytes(f.delivered.get()),
            format!("{:.3}", outcome.goodput(f).bps_f64() / 1e6),
            f.packets_sent.to_string(),
            f.retransmissions.to_string(),
            f.timeouts.to_string(),
            rtt,
            lost(f),
        ]);
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

/// Packets lost while a link was down, with a route that ended, or without one.
fn outages(f: &FlowOutcome) -> u64 {
    f.outage_losses + f.no_route_losses
}

fn lost(f: &FlowOutcome) -> String {
    let lost = format!("{}+{}", f.queue_drops, f.channel_losses);
    match outages(f) {
        0 => lost,
        n => format!("{lost}+{n}"),
    }
}

/// The legs of the flows that PEPs split.
fn legs(outcome: &Outcome) -> Table {
    let mut table = Table::new([
        Column::text("flow"),
        Column::text("leg"),
        Column::text("transport"),
        Column::number("acked [s]"),
        Column::number("delivered"),
        Column::number("packets"),
        Column::number("resent"),
        Column::number("RTOs"),
        Column::number("RTT [ms]"),
        Column::number("relay mean"),
        Column::number("max"),
        Column::number("waited"),
    ]);
    for l in &outcome.legs {
        let rtt = match (l.min_rtt, l.mean_rtt) {
            (Some(min), Some(mean)) => {
                format!("{:.0}-{:.0}", min.as_secs() * 1e3, mean.as_secs() * 1e3)
            }
            _ => String::new(),
        };
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
            rtt,
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

fn links(outcome: &Outcome) -> Table {
    let mut table = Table::new([
        Column::text("link"),
        Column::number("delivered"),
        Column::number("used"),
        Column::number("drops"),
        Column::number("early"),
        Column::number("marks"),
        Column::number("lost"),
        Column::number("queue mean"),
        Column::number("max"),
        Column::number("wait [ms]"),
        Column::number("p95"),
    ]);
    for l in &outcome.links {
        let ms = |d: Duration| digits3(d.as_secs() * 1e3);
        table.row([
            l.name.clone(),
            bytes(l.delivered_bytes.get()),
            format!("{:.1}%", 100.0 * l.utilisation),
            l.queue_drops.to_string(),
            l.early_drops.to_string(),
            l.marks.to_string(),
            (l.channel_losses + l.outage_losses).to_string(),
            digits3(l.mean_queue_packets),
            l.max_queue_packets.to_string(),
            ms(l.mean_queueing_delay),
            ms(l.p95_queueing_delay),
        ]);
    }
    table.note(
        "early: of the drops. queue: packets. wait: mean of them; p95: what one at any instant would wait.",
    )
}

fn pages(outcome: &Outcome) -> Table {
    let mut table = Table::new([
        Column::text("reader"),
        Column::number("pages"),
        Column::number("time [s]"),
        Column::number("p95"),
    ]);
    let time = |d: Option<Duration>| d.map_or("-".to_owned(), |d| format!("{:.3}", d.as_secs()));
    for f in &outcome.flows {
        if let Some(pages) = f.pages {
            table.row([
                f.name.clone(),
                pages.completed.to_string(),
                time(pages.mean_time),
                time(pages.p95_time),
            ]);
        }
    }
    table.note("time: mean from a request to the last byte of its page; p95: of 95% of the pages.")
}

fn middleboxes(outcome: &Outcome) -> Table {
    let mut table = Table::new([
        Column::text("middlebox"),
        Column::text("kind"),
        Column::number("seen"),
        Column::number("cached"),
        Column::number("overflow"),
        Column::number("resent"),
        Column::number("timeouts"),
        Column::number("ACKs kept"),
        Column::number("own ACKs"),
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
        Column::text("access"),
        Column::number("terminals"),
        Column::number("delivered"),
        Column::number("used"),
        Column::number("free slots"),
        Column::number("on demand"),
        Column::number("requests"),
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

/// `12.3 MB`.
fn bytes(n: u64) -> String {
    match n {
        0..10_000 => format!("{n} B"),
        10_000..1_000_000 => format!("{:.1} kB", n as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.2} MB", n as f64 / 1e6),
        _ => format!("{:.2} GB", n as f64 / 1e9),
    }
}
