//! Simulated and measured, side by side.

use crate::groups;
use crate::output::Output;
use bentpipe_outcome::{FlowOutcome, Outcome};
use bentpipe_report::table::{Column, Table};
use bentpipe_scenario::Scenario;
use bentpipe_tcp::{CongestionControlChoice, Transport};
use std::io;

/// What is compared of a flow: its name, its digits, and where it is.
type Quantity = (
    &'static str,
    usize,
    fn(&Outcome, &FlowOutcome) -> Option<f64>,
);

const QUANTITIES: [Quantity; 5] = [
    ("time [s]", 3, |_, f| f.transfer_time.map(|t| t.as_secs())),
    ("Mbit/s", 3, |o, f| Some(o.goodput(f).bps_f64() / 1e6)),
    ("packets", 0, |_, f| Some(f.packets_sent as f64)),
    ("resent", 0, |_, f| Some(f.retransmissions as f64)),
    ("dropped", 0, |_, f| {
        Some((f.queue_drops + f.channel_losses + f.outage_losses) as f64)
    }),
];

/// Prints what flows did in the simulator, with the transports of `twin`, and on a machine,
/// where each of them `ran` what is said of it.
///
/// # Errors
/// If the writer fails.
pub fn print(
    twin: &Scenario,
    simulated: &Outcome,
    measured: &Outcome,
    ran: &[String],
    out: &mut Output,
) -> io::Result<()> {
    let mut table = Table::new([
        Column::text("flow"),
        Column::text(""),
        Column::number("simulated"),
        Column::number("measured"),
        Column::number("difference"),
    ]);
    let flows = simulated.flows.iter().zip(&measured.flows);
    for (i, (ours, theirs)) in flows.enumerate() {
        if i > 0 {
            table.rule();
        }
        for (j, (name, digits, of)) in QUANTITIES.into_iter().enumerate() {
            let (a, b) = (of(simulated, ours), of(measured, theirs));
            if a.is_none() && b.is_none() {
                continue;
            }
            let number =
                |x: Option<f64>| x.map_or_else(|| "-".to_owned(), |x| format!("{x:.digits$}"));
            table.row([
                if j == 0 {
                    ours.name.clone()
                } else {
                    String::new()
                },
                name.to_owned(),
                number(a),
                number(b),
                difference(a, b),
            ]);
        }
    }
    out.long_table(table)?;
    out.line("")?;
    let names = || twin.flows.iter().map(|f| f.name.as_str());
    let groups = groups::of_names(names());
    for group in &groups {
        let first = group.members.first().copied().unwrap_or(0);
        let (Some(flow), Some(ran)) = (twin.flows.get(first), ran.get(first)) else {
            continue;
        };
        let simulated = flow
            .transport
            .as_deref()
            .map_or_else(|| "udp".to_owned(), described);
        let width = group.label.len() + 1;
        out.entry(
            0,
            &format!("{}:", group.label),
            width,
            &format!("simulated {simulated}"),
        )?;
        out.entry(0, "", width, &format!("measured {ran}"))?;
    }
    Ok(())
}

/// A transport in words: its congestion control with parameters, and its host.
fn described(transport: &Transport) -> String {
    let mut text = match &transport.congestion_control {
        CongestionControlChoice::Named(name) => name.clone(),
        CongestionControlChoice::Own(control) => control.name().to_owned(),
        CongestionControlChoice::Slots { .. } => "slots".to_owned(),
        CongestionControlChoice::Ideal => "the bound".to_owned(),
    };
    for (name, value) in transport.parameters.iter() {
        text.push_str(&format!(" {name}={value}"));
    }
    let window = transport.initial_window;
    match transport.quic {
        Some(_) => format!("{text} over QUIC, initial window {window}"),
        None => {
            let profile = transport.profile.name();
            format!("{text}, initial window {window}, on `{profile}`")
        }
    }
}

/// Measured against simulated: in percent, or as a number where that was zero.
fn difference(simulated: Option<f64>, measured: Option<f64>) -> String {
    match (simulated, measured) {
        (Some(a), Some(b)) if a == b => "0".to_owned(),
        (Some(a), Some(b)) if a != 0.0 => format!("{:+.1}%", 100.0 * (b - a) / a),
        (Some(a), Some(b)) => format!("{:+.0}", b - a),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::difference;

    #[test]
    fn differences_are_relative_where_they_can_be() {
        for (a, b, text) in [
            (Some(2.0), Some(2.1), "+5.0%"),
            (Some(0.0), Some(3.0), "+3"),
            (Some(4.0), Some(4.0), "0"),
            (None, Some(1.0), ""),
        ] {
            assert_eq!(difference(a, b), text);
        }
    }
}
