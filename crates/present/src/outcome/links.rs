//! What links did, as a table for people, simulated or live.

use crate::groups;
use crate::measures::Measures;
use crate::output::{Output, digits3};
use bentpipe_outcome::LinkOutcome;
use bentpipe_report::table::Column;
use bentpipe_units::Duration;
use std::io;

/// How a table says what links carried.
#[derive(Clone, Copy, Debug)]
pub enum Carried {
    /// The bytes.
    Bytes,
    /// The packets, and the rate over a run of that length.
    Packets(Duration),
}

/// Prints a row for each link, or for each group of many.
pub fn print(links: &[LinkOutcome], carried: Carried, out: &mut Output) -> io::Result<()> {
    let note = match carried {
        Carried::Bytes => {
            "early: of the drops. queue: packets. wait: mean of them; p95: what one at any \
             instant would wait."
        }
        Carried::Packets(_) => {
            "packets: delivered. Mbit/s: over the whole run. early: of the drops. lost: by the \
             channel or in outages."
        }
    };
    let items: Vec<(&str, &LinkOutcome)> = links.iter().map(|l| (l.name.as_str(), l)).collect();
    let groups = groups::of_names(links.iter().map(|l| l.name.as_str()));
    let folded = measures(carried).table("link", &items, &groups, out.rows(), false);
    out.folded(folded, note)
}

fn measures(carried: Carried) -> Measures<'static, LinkOutcome> {
    let ms = |d: Duration| Some(d.as_secs() * 1e3);
    let all = Measures::new();
    let all = match carried {
        Carried::Bytes => all.amount(
            Column::number("delivered"),
            |l: &LinkOutcome| l.delivered_bytes.as_f64(),
            |x| bytes(x as u64),
        ),
        Carried::Packets(length) => {
            let rate =
                move |l: &LinkOutcome| 8.0 * l.delivered_bytes.as_f64() / length.as_secs() / 1e6;
            all.count(Column::number("packets").optional(4), |l: &LinkOutcome| {
                l.delivered_packets
            })
            .amount(Column::number("Mbit/s"), rate, digits3)
        }
    };
    all.number(
        Column::number("used"),
        |l| Some(l.utilisation),
        |x| format!("{:.1}%", 100.0 * x),
    )
    .count(Column::number("drops"), |l| l.queue_drops)
    .count(Column::number("early").optional(6), |l| l.early_drops)
    .count(Column::number("marks").optional(5), |l| l.marks)
    .count(Column::number("lost"), |l| {
        l.channel_losses + l.outage_losses
    })
    .number(
        Column::number("queue mean").optional(3),
        |l| Some(l.mean_queue_packets),
        digits3,
    )
    .number(
        Column::number("max").optional(2),
        |l| Some(l.max_queue_packets as f64),
        |x| format!("{x:.0}"),
    )
    .number(
        Column::number("wait [ms]"),
        move |l| ms(l.mean_queueing_delay),
        digits3,
    )
    .number(
        Column::number("p95").optional(1),
        move |l| ms(l.p95_queueing_delay),
        digits3,
    )
}

/// `12.3 MB`.
pub(crate) fn bytes(n: u64) -> String {
    match n {
        0..10_000 => format!("{n} B"),
        10_000..1_000_000 => format!("{:.1} kB", n as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.2} MB", n as f64 / 1e6),
        _ => format!("{:.2} GB", n as f64 / 1e9),
    }
}
