//! The line on stderr that says how it goes.

use crate::output::is_screen;
use bentpipe_linux::emulator::Snapshot;
use bentpipe_report::text::digits3;
use bentpipe_scenario::Scenario;
use bentpipe_units::Time;
use std::io::{self, Write};

/// Links that the line has room for.
const LINKS: usize = 3;

/// A line that is written over, in a terminal.
pub(super) struct StatusLine {
    shown: bool,
    terminal: bool,
    before: Snapshot,
}

impl StatusLine {
    pub(super) fn new() -> StatusLine {
        StatusLine {
            shown: false,
            terminal: is_screen(&io::stderr()),
            before: Snapshot::default(),
        }
    }

    /// Shows what has happened since the last time.
    pub(super) fn show(&mut self, scenario: &Scenario, now: Snapshot) {
        if !self.terminal || now.at == self.before.at {
            return;
        }
        let line = line(scenario, &self.before, &now);
        let _ = write!(io::stderr().lock(), "\r\u{1b}[K{line}");
        self.shown = true;
        self.before = now;
    }

    /// Takes the line away.
    pub(super) fn clear(&mut self) {
        if std::mem::take(&mut self.shown) {
            let _ = write!(io::stderr().lock(), "\r\u{1b}[K");
        }
    }
}

/// The busiest links between two snapshots.
fn line(scenario: &Scenario, before: &Snapshot, now: &Snapshot) -> String {
    let seconds = now.at.since(before.at.max(Time::ZERO)).as_secs();
    let mut busy = Vec::new();
    for (index, (link, (counters, waiting))) in scenario.links.iter().zip(&now.links).enumerate() {
        let earlier = before.links.get(index).map(|l| l.0).unwrap_or_default();
        let bytes = counters.accepted_bytes - earlier.accepted_bytes;
        let lost = |c: bentpipe_link::Counters| c.queue_drops + c.channel_losses + c.outage_losses;
        let lost = lost(*counters) - lost(earlier);
        let rate = digits3(8.0 * bytes as f64 / seconds / 1e6);
        busy.push((
            bytes,
            format!("{} {rate} Mbit/s, {waiting} wait, {lost} lost", link.name),
        ));
    }
    busy.sort_by_key(|b| std::cmp::Reverse(b.0));
    busy.truncate(LINKS);
    let links: Vec<String> = busy.into_iter().map(|b| b.1).collect();
    let late = digits3(now.lateness.p99.as_secs() * 1e6);
    let failed = match now.failed {
        0 => String::new(),
        n => format!(" | MACHINE DROPPED {n}"),
    };
    format!(
        "{:.0} s | {} | late by {late} us (p99){failed}",
        now.at.as_secs(),
        links.join(" | ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use bentpipe_link::Counters;

    #[test]
    fn the_busiest_link_comes_first() {
        let cubic = bentpipe::transport("cubic").unwrap();
        let path = bentpipe::Comparison::new().path().unwrap();
        let scenario = path.link(&cubic).unwrap();
        let mut now = Snapshot {
            at: Time::from_nanos(2_000_000_000),
            links: vec![(Counters::default(), 0), (Counters::default(), 3)],
            failed: 2,
            ..Snapshot::default()
        };
        now.links[1].0.accepted_bytes = 250_000;
        now.links[1].0.queue_drops = 5;
        assert_eq!(
            line(&scenario, &Snapshot::default(), &now),
            "2 s | satellite.reverse 1.00 Mbit/s, 3 wait, 5 lost | satellite 0.00 Mbit/s, 0 wait, 0 lost | \
             late by 0.00 us (p99) | MACHINE DROPPED 2"
        );
    }
}
