//! `bentpipe run`: one scenario, once.

use crate::args::{self, On};
use crate::capture::Tap;
use crate::curves::{self, Curve};
use crate::exit::{Failure, Status, talk};
use crate::live::{self, Facts, Machine, Ran, Wanted};
use crate::load;
use crate::output::{Output, digits3, picture_kind, seconds};
use crate::shares::{self, WithShares};
use bentpipe_outcome::{FlowOutcome, Outcome, Provenance, TableKind, TableWriter, write_whole};
use bentpipe_report::table::{Column, Table};
use bentpipe_scenario::Scenario;
use bentpipe_sim::{Observer, Options, Simulation, Unobserved, ideal};
use bentpipe_units::{Duration, Time};
use serde_json::json;
use std::path::Path;

/// Samples of a flow's time series at most.
const SAMPLES: u64 = 50_000;

/// Runs and says what came out.
pub(crate) fn main(args: &args::Run, out: &mut Output) -> Result<Status, Failure> {
    if let Some(file) = &args.plot {
        picture_kind(file)?;
    }
    // Before any thread is started: it takes the signals.
    let machine = match args.on {
        On::Sim => None,
        On::Linux | On::Both => Some(Machine::new()?),
    };
    let scenario = &load::scenario(&args.scenario, &args.set)?;
    let seed = args.seed.unwrap_or(scenario.seed);
    let (from, to) = interval_of_shares(args, scenario)?;
    let series = args.series || args.plot.is_some();
    let options = Options {
        seed,
        series: series.then(|| interval(scenario)),
        marks: [from, to]
            .into_iter()
            .filter(|at| *at != Time::MAX)
            .collect(),
        ..Options::default()
    };
    let whole = |kept| whole(kept, scenario, (from, to));
    let kept = |outcome: Outcome| match args.series {
        true => outcome,
        false => outcome.without_series(),
    };
    let hash = scenario.hash().to_string();
    let Some(machine) = machine else {
        let outcome = execute(args, scenario, &options)?;
        if let Some(file) = &args.plot {
            draw(&[("", &outcome)], scenario, file)?;
        }
        let outcome = kept(outcome);
        let whole = whole(&outcome)?;
        if let Some(folder) = &args.out {
            write(&whole, None, &hash, folder)?;
        }
        if args.json {
            out.json(&whole)?;
        } else {
            print(&whole, None, scenario, out)?;
        }
        return Ok(Status::Done);
    };
    possible(args, &machine, scenario)?;
    let twin = (args.on == On::Both).then(|| machine.twin(scenario));
    let simulated = match &twin {
        Some(twin) => Some(simulate(args, twin, &options, &mut Unobserved)?),
        None => None,
    };
    let ran = measure(args, &machine, scenario, &options)?;
    if let Some(file) = &args.plot {
        let outcomes: Vec<_> = simulated
            .iter()
            .map(|outcome| (" simulated", outcome))
            .chain([(if twin.is_some() { " measured" } else { "" }, &ran.outcome)])
            .collect();
        draw(&outcomes, scenario, file)?;
    }
    let (measured, facts) = (kept(ran.outcome), ran.facts);
    let measured = whole(&measured)?;
    let simulated = simulated.map(kept);
    let simulated = simulated.as_ref().map(whole).transpose()?;
    if let Some(folder) = &args.out {
        match &simulated {
            Some(simulated) => {
                write(simulated, None, &hash, &folder.join("simulated"))?;
                write(&measured, Some(&facts), &hash, &folder.join("measured"))?;
            }
            None => write(&measured, Some(&facts), &hash, folder)?,
        }
    }
    match (&simulated, &twin) {
        (Some(simulated), _) if args.json => out.json(&json!({
            "simulated": simulated,
            "measured": measured,
            "linux": facts,
        }))?,
        _ if args.json => out.json(&json!({ "measured": measured, "linux": facts }))?,
        (Some(simulated), Some(twin)) => {
            title(measured.outcome, Some(&facts), scenario, out)?;
            live::print_both(twin, simulated.outcome, measured.outcome, &facts, out)?;
            remarks(&facts, out)?;
        }
        _ => {
            print(&measured, Some(&facts), scenario, out)?;
            remarks(&facts, out)?;
        }
    }
    if args.json && !facts.kept_up {
        talk(&facts.verdict);
    }
    Ok(match facts.kept_up {
        true => Status::Done,
        false => Status::Worse,
    })
}

/// Says what of a scenario this machine cannot do, before anything is run.
fn possible(args: &args::Run, machine: &Machine, scenario: &Scenario) -> Result<(), Failure> {
    let refused = machine.refusals(scenario);
    if refused.is_empty() {
        return Ok(());
    }
    Err(Failure::new(format!(
        "{}: cannot run on Linux:\n  {}",
        args.scenario.display(),
        refused.join("\n  ")
    )))
}

/// An outcome with the links that its flows share in an interval.
fn whole<'a>(
    outcome: &'a Outcome,
    scenario: &Scenario,
    (from, to): (Time, Time),
) -> Result<WithShares<'a>, Failure> {
    let span = outcome
        .span(from, to)
        .map_err(|e| Failure::new(e.to_string()))?;
    Ok(WithShares {
        outcome,
        bottlenecks: shares::bottlenecks(outcome, scenario, &span),
    })
}

/// Runs a scenario on this machine.
fn measure(
    args: &args::Run,
    machine: &Machine,
    scenario: &Scenario,
    options: &Options,
) -> Result<Ran, Failure> {
    talk(format_args!(
        "running on {} for up to {}",
        machine.kernel(),
        scenario.duration
    ));
    let wanted = Wanted {
        seed: options.seed,
        series: options.series,
        marks: options.marks.clone(),
        start_jitter: Duration::ZERO,
        pcap: args.pcap.clone().map(|file| (file, args.pcap_at)),
    };
    let ran = machine
        .run(scenario, wanted)
        .map_err(|e| Failure::new(format!("{}: {e}", args.scenario.display())))?;
    if let Some(file) = &args.pcap {
        talk(format_args!("captured {}", file.display()));
    }
    Ok(ran)
}

/// What there is to say of a run on a machine.
fn remarks(facts: &Facts, out: &mut Output) -> Result<(), Failure> {
    out.line("")?;
    out.paragraph(0, &format!("The emulator {}.", facts.verdict))?;
    for note in &facts.notes {
        out.point(note)?;
    }
    Ok(())
}

/// The part of the run that shares of links are taken over.
fn interval_of_shares(args: &args::Run, scenario: &Scenario) -> Result<(Time, Time), Failure> {
    let from = Time::ZERO + args.from.unwrap_or(Duration::ZERO);
    let to = args.to.map_or(Time::MAX, |to| Time::ZERO + to);
    let end = (Time::ZERO + scenario.duration).min(to);
    if from >= end {
        let end = end.since(Time::ZERO);
        let from = from.since(Time::ZERO);
        return Err(Failure::new(format!(
            "nothing lies between --from {from} and {end}"
        )));
    }
    Ok((from, to))
}

fn round_trips(scenario: &Scenario) -> impl Iterator<Item = Duration> {
    scenario
        .flows
        .iter()
        .map(|flow| ideal::round_trip(scenario, flow))
}

/// Interval of the time series: fifty samples a round trip, where that is not
/// too many.
fn interval(scenario: &Scenario) -> Duration {
    let shortest = round_trips(scenario).min().unwrap_or(Duration::ZERO);
    (shortest / 50).max(scenario.duration / SAMPLES)
}

/// Simulates, with somebody who looks at the packets.
fn simulate<O: Observer>(
    args: &args::Run,
    scenario: &Scenario,
    options: &Options,
    observer: &mut O,
) -> Result<Outcome, Failure> {
    let failed =
        |e: bentpipe_sim::RunError| Failure::new(format!("{}: {e}", args.scenario.display()));
    let simulation = Simulation::new(scenario, options).map_err(failed)?;
    simulation.run(observer).map_err(failed)
}

fn execute(args: &args::Run, scenario: &Scenario, options: &Options) -> Result<Outcome, Failure> {
    let Some(file) = &args.pcap else {
        return simulate(args, scenario, options, &mut Unobserved);
    };
    let mut tap = Tap::create(file, scenario, options.seed, args.pcap_at)?;
    let outcome = simulate(args, scenario, options, &mut tap)?;
    tap.finish()?;
    talk(format_args!("captured {}", file.display()));
    Ok(outcome)
}

/// Draws the series of outcomes, each with what its curves are called beside the
/// flow.
fn draw(outcomes: &[(&str, &Outcome)], scenario: &Scenario, file: &Path) -> Result<(), Failure> {
    let Some((_, first)) = outcomes.first() else {
        return Ok(());
    };
    let all = outcomes
        .iter()
        .flat_map(|(of, outcome)| outcome.series.iter().map(move |series| (of, series)));
    let curves: Vec<Curve> = all
        .map(|(of, series)| Curve {
            name: format!("{}{of}", series.flow),
            series: series.clone(),
        })
        .collect();
    // Rates are means over about a round trip of the longest path.
    let round_trip = round_trips(scenario)
        .max()
        .unwrap_or(Duration::from_millis(100));
    let note = format!("seed {}", first.seed);
    curves::draw(
        &first.scenario,
        &note,
        &curves,
        round_trip,
        curves::Ends::default(),
        file,
    )?;
    talk(format_args!("drew {}", file.display()));
    Ok(())
}

/// The tables as CSV and Parquet, and the outcome as JSON.
fn write(
    whole: &WithShares<'_>,
    facts: Option<&Facts>,
    hash: &str,
    folder: &Path,
) -> Result<(), Failure> {
    let outcome = whole.outcome;
    let failed = |e: bentpipe_outcome::Error| Failure::new(e.to_string());
    std::fs::create_dir_all(folder).map_err(|e| Failure::file("create", folder, e))?;
    let mut provenance = Provenance::new(&outcome.scenario, hash, &[outcome.seed]);
    if let Some(facts) = facts {
        provenance = provenance
            .with("ran on", &facts.kernel)
            .with("emulator", &facts.verdict);
    }
    let mut tables = vec![
        (TableKind::Runs, "runs"),
        (TableKind::Links, "links"),
        (TableKind::Crossings, "crossings"),
    ];
    if !outcome.middleboxes.is_empty() {
        tables.push((TableKind::Middleboxes, "middleboxes"));
    }
    if !outcome.legs.is_empty() {
        tables.push((TableKind::Legs, "legs"));
    }
    if !outcome.series.is_empty() {
        tables.push((TableKind::Series, "series"));
    }
    const NO_AXES: [&str; 0] = [];
    for (kind, name) in tables {
        for ending in ["csv", "parquet"] {
            let path = folder.join(format!("{name}.{ending}"));
            let mut table =
                TableWriter::create(&path, kind, &NO_AXES, &provenance).map_err(failed)?;
            table.push(outcome, &NO_AXES).map_err(failed)?;
            table.finish().map_err(failed)?;
        }
    }
    let mut json = serde_json::to_vec_pretty(whole)
        .map_err(|e| Failure::new(format!("cannot write the outcome: {e}")))?;
    json.push(b'\n');
    write_whole(&folder.join("outcome.json"), &json).map_err(failed)?;
    talk(format_args!("wrote {}", folder.display()));
    Ok(())
}

/// What was run, how long and where.
fn title(
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

fn print(
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
            held(l.mean_held.get()),
            held(l.max_held.get()),
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
