//! A link that was fitted to a capture.

use crate::output::{Output, digits3};
use bentpipe::fit::record::FitRecord;
use bentpipe::fit::{Fit, shown_share};
use bentpipe_report::table::{Cell, Column, Table, Tone};
use bentpipe_units::{Duration, Rate};
use std::io;

/// Scores that are shown.
const SCORES: usize = 3;

/// The fit as JSON, with units in the names of its keys.
#[must_use]
pub fn document(fit: &Fit) -> serde_json::Value {
    // Keys are texts, and numbers are finite or null.
    serde_json::to_value(FitRecord::of(fit)).unwrap_or_default()
}

/// Prints the fit: a table of what was estimated, and what there is to know.
///
/// # Errors
/// Of the writer.
pub fn print(fit: &Fit, out: &mut Output) -> io::Result<()> {
    out.paragraph(
        0,
        &format!(
            "{} > {}, connection {} of {} in the capture: {} in {} data packets over {} s, {} of \
             them sent again.",
            fit.from,
            fit.to,
            fit.flow,
            fit.flows,
            fit.payload,
            fit.packets,
            digits3(fit.duration.as_secs()),
            fit.resent,
        ),
    )?;
    out.line("")?;
    out.table(&table(fit))?;
    for note in &fit.notes {
        out.point(&format!("Of the capture: {note}."))?;
    }
    Ok(())
}

/// The fit as text, in lines of `width` characters.
///
/// # Errors
/// Of the writer.
pub fn text(fit: &Fit, width: usize) -> io::Result<String> {
    Output::text_of(width, |out| print(fit, out))
}

fn table(fit: &Fit) -> Table {
    let mut table = Table::new([
        Column::text("what"),
        Column::text("estimate"),
        Column::text("95% interval"),
        Column::text("evidence").optional(1),
    ]);
    let mut row = |what: &str, value: String, interval: String, evidence: String| {
        table.row([
            Cell::new(what),
            Cell::new(value).tone(Tone::Strong),
            Cell::new(interval),
            Cell::new(evidence),
        ]);
    };
    let link = &fit.link;
    let at_least = |bound: bool, value: String| match bound {
        true => format!("at least {value}"),
        false => value,
    };
    let interval = |bound: bool, text: String| match bound {
        true => "no upper end".to_owned(),
        false => text,
    };
    let rate: Rate = fit.rate();
    row(
        "rate",
        at_least(link.rate.is_bound(), rate.to_string()),
        interval(link.rate.is_bound(), fit.rate_interval()),
        match link.rate.is_bound() {
            true => "the most in a round trip; never busy for long".to_owned(),
            false => "spacing of arrivals while packets waited".to_owned(),
        },
    );
    row(
        "base RTT",
        fit.rtt().to_string(),
        fit.rtt_interval(),
        "shortest, less the transmission of its packet".to_owned(),
    );
    let losses = &link.losses;
    row(
        "loss",
        shown_share(losses.channel.share.value),
        format!(
            "{} to {}",
            shown_share(losses.channel.share.low),
            shown_share(losses.channel.share.high)
        ),
        format!(
            "{} of {} packets, besides {} that the queue dropped",
            losses.channel.count, losses.channel.of, losses.dropped
        ),
    );
    if let Some(burst) = &losses.burst {
        row(
            "in bursts of",
            format!("{} packets", digits3(burst.value)),
            format!("{} to {}", digits3(burst.low), digits3(burst.high)),
            "losses in a row".to_owned(),
        );
    }
    let bdp = link.queue.value / link.bdp().max(1.0);
    let wait = Duration::from_millis((1e3 * link.longest_wait) as u64);
    row(
        "queue",
        at_least(link.queue.is_bound(), fit.queue_bytes().to_string()),
        interval(link.queue.is_bound(), fit.queue_interval()),
        match link.queue.is_bound() {
            true => format!("longest wait {wait} ({} BDP); no drop", digits3(bdp)),
            false => format!("waits of {wait} at its drops ({} BDP)", digits3(bdp)),
        },
    );
    let nearest = fit.scores.iter().take(SCORES);
    let nearest = nearest.map(|s| format!("{} {}", s.control, digits3(s.distance)));
    let nearest: Vec<String> = nearest.collect();
    row(
        "control",
        fit.control.clone().unwrap_or_else(|| "unknown".to_owned()),
        String::new(),
        match (&fit.doubt, nearest.is_empty()) {
            (Some(doubt), true) => doubt.clone(),
            (Some(doubt), false) => format!("{doubt} (distances: {})", nearest.join(", ")),
            (None, _) => format!("distance to its course: {}", nearest.join(", ")),
        },
    );
    table
}
