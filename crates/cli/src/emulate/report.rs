//! What a run of the emulator did, as tables and as JSON.

use crate::exit::Failure;
use crate::output::Output;
use bentpipe_linux::emulator::{Count, Pair, Priority, Report};
use bentpipe_outcome::Outcome;
use bentpipe_present::outcome::{Carried, print_links};
use bentpipe_report::table::{Column, Table};
use bentpipe_report::text::digits3;
use bentpipe_units::{Duration, Time};
use serde_json::{Value, json};

/// The report as JSON; links as `bentpipe run --json` has them.
pub(super) fn json(name: &str, report: &Report) -> Value {
    let seconds = report.elapsed.as_secs();
    let outcome = Outcome {
        ended_at: Time::ZERO + report.elapsed,
        links: report.links.clone(),
        ..Outcome::default()
    };
    // No map of an outcome has a key that is not text.
    let links = serde_json::to_value(&outcome).map(|outcome| outcome["links"].clone());
    let count = |c: Count| json!({ "packets": c.packets, "bytes": c.bytes });
    let pairs = report.pairs.iter().map(|p| {
        json!({
            "pair": p.name,
            "forward": { "sent": count(p.sent[0]), "arrived": count(p.arrived[0]) },
            "reverse": { "sent": count(p.sent[1]), "arrived": count(p.arrived[1]) },
            "no_route_losses": p.no_route,
        })
    });
    let late = &report.lateness;
    let lateness = (late.packets > 0).then(|| {
        json!({
            "mean": late.mean.as_secs(),
            "p50": late.p50.as_secs(),
            "p99": late.p99.as_secs(),
            "p99.9": late.p999.as_secs(),
            "max": late.max.as_secs(),
        })
    });
    json!({
        "scenario": name,
        "seed": report.seed,
        "elapsed_s": seconds,
        "kept_up": report.kept_up(),
        "verdict": report.verdict(),
        "gso": report.gso,
        "priority": priority(report.priority),
        "packets_read": report.read,
        "packets_written": report.written,
        "packets_under_way": report.under_way,
        "unmatched_packets": report.unmatched,
        "model_drops": report.model_drops(),
        "machine_drops": {
            "ring": report.machine.ring,
            "write": report.machine.write,
            "memory": report.machine.memory,
        },
        "lateness_s": lateness,
        "cpu_s": report.cpu.as_secs(),
        "cpu_per_packet_s": report.cpu_per_packet().map(Duration::as_secs),
        "links": links.unwrap_or_default(),
        "pairs": pairs.collect::<Vec<_>>(),
    })
}

fn priority(priority: Priority) -> String {
    match priority {
        Priority::RealTime => "real time (SCHED_FIFO)".to_owned(),
        Priority::Nice(nice) => format!("nice {nice}"),
        Priority::Ordinary => "ordinary".to_owned(),
    }
}

/// The report for people.
pub(super) fn print(report: &Report, pairs: &[Pair], out: &mut Output) -> Result<(), Failure> {
    print_links(&report.links, Carried::Packets(report.elapsed), out)?;
    out.line("")?;
    out.table(&hosts(report, pairs))?;
    out.line("")?;
    let machine = &report.machine;
    let late = &report.lateness;
    out.paragraph(
        0,
        &format!(
            "{:.1} s: {} packets read, {} written, {} under way at the end. The model dropped {}. \
             The machine dropped {}: {} before they were read (ring full), {} when written, {} for \
             want of memory.",
            report.elapsed.as_secs(),
            report.read,
            report.written,
            report.under_way,
            report.model_drops(),
            machine.total(),
            machine.ring,
            machine.write,
            machine.memory
        ),
    )?;
    out.paragraph(
        0,
        &format!(
            "{}Processor: {}{}; priority: {}.",
            match late.packets {
                0 => String::new(),
                _ => format!(
                    "Late by: half of them up to {}, 99% up to {}, 99.9% up to {}, the latest {}. ",
                    us(late.p50),
                    us(late.p99),
                    us(late.p999),
                    us(late.max)
                ),
            },
            report
                .cpu_per_packet()
                .map_or_else(String::new, |each| format!(
                    "{} us a packet, ",
                    digits3(each.as_secs() * 1e6)
                )),
            match report.elapsed.is_zero() {
                true => format!("{} us", digits3(report.cpu.as_secs() * 1e6)),
                false => format!(
                    "{:.1}% of a core",
                    100.0 * report.cpu.as_secs() / report.elapsed.as_secs()
                ),
            },
            priority(report.priority)
        ),
    )?;
    if report.gso {
        out.paragraph(
            0,
            "Segments of up to 64 kB passed whole (GSO): losses came in bursts of up to 45 packets, \
             and hosts sent fewer acknowledgements than over a real link.",
        )?;
    }
    Ok(out.strong_paragraph(&report.verdict())?)
}

fn us(time: Duration) -> String {
    match time.as_secs() * 1e6 {
        us if us < 10_000.0 => format!("{} us", digits3(us)),
        us => format!("{} ms", digits3(us / 1e3)),
    }
}

fn hosts(report: &Report, pairs: &[Pair]) -> Table {
    let mut table = Table::new([
        Column::text("hosts"),
        Column::number("sent >"),
        Column::number("arrived"),
        Column::number("sent <"),
        Column::number("arrived"),
        Column::number("no route").optional(1),
    ]);
    for (p, _) in report.pairs.iter().zip(pairs) {
        let [there, back] = [0, 1].map(|way: usize| [p.sent[way], p.arrived[way]]);
        let [a, b] = there.map(|c| c.packets.to_string());
        let [c, d] = back.map(|c| c.packets.to_string());
        table.row([p.name.clone(), a, b, c, d, p.no_route.to_string()]);
    }
    table.note("Packets from the first to the second (>) and back (<).")
}
