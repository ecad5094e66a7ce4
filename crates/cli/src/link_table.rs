//! What links did, as a table for people, simulated or live.

use crate::output::digits3;
use bentpipe_outcome::LinkOutcome;
use bentpipe_report::table::{Column, Table};
use bentpipe_units::Duration;

/// How a table says what links carried.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Carried {
    /// The bytes.
    Bytes,
    /// The packets, and the rate over a run of that length.
    #[cfg_attr(
        not(all(feature = "linux", target_os = "linux")),
        expect(dead_code, reason = "the emulator's report needs Linux")
    )]
    Packets(Duration),
}

/// A row for each link.
pub(crate) fn link_table(links: &[LinkOutcome], carried: Carried) -> Table {
    let (first, note) = match carried {
        Carried::Bytes => (
            vec![Column::number("delivered")],
            "early: of the drops. queue: packets. wait: mean of them; p95: what one at any \
             instant would wait.",
        ),
        Carried::Packets(_) => (
            vec![
                Column::number("packets").optional(4),
                Column::number("Mbit/s"),
            ],
            "packets: delivered. Mbit/s: over the whole run. early: of the drops. lost: by the \
             channel or in outages.",
        ),
    };
    let rest = [
        Column::number("used"),
        Column::number("drops"),
        Column::number("early").optional(6),
        Column::number("marks").optional(5),
        Column::number("lost"),
        Column::number("queue mean").optional(3),
        Column::number("max").optional(2),
        Column::number("wait [ms]"),
        Column::number("p95").optional(1),
    ];
    let columns = [Column::text("link")].into_iter().chain(first).chain(rest);
    let mut table = Table::new(columns);
    let ms = |d: Duration| digits3(d.as_secs() * 1e3);
    for l in links {
        let first = match carried {
            Carried::Bytes => vec![bytes(l.delivered_bytes.get())],
            Carried::Packets(length) => {
                let bits = 8.0 * l.delivered_bytes.as_f64();
                vec![
                    l.delivered_packets.to_string(),
                    digits3(bits / length.as_secs() / 1e6),
                ]
            }
        };
        let rest = [
            format!("{:.1}%", 100.0 * l.utilisation),
            l.queue_drops.to_string(),
            l.early_drops.to_string(),
            l.marks.to_string(),
            (l.channel_losses + l.outage_losses).to_string(),
            digits3(l.mean_queue_packets),
            l.max_queue_packets.to_string(),
            ms(l.mean_queueing_delay),
            ms(l.p95_queueing_delay),
        ];
        table.row([l.name.clone()].into_iter().chain(first).chain(rest));
    }
    table.note(note)
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
