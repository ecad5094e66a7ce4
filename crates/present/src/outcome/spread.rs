//! What several runs of a scenario did, each with another seed: means with the interval
//! of Student's t, as a study has them.

use bentpipe_outcome::{FlowOutcome, Outcome};
use bentpipe_report::table::{Column, Table};
use bentpipe_study::stats::Summary;

/// What is summed up of a flow: its name, its digits, and where it is.
type Quantity = (
    &'static str,
    usize,
    fn(&Outcome, &FlowOutcome) -> Option<f64>,
);

const QUANTITIES: [Quantity; 5] = [
    ("time [s]", 3, |_, f| f.transfer_time.map(|t| t.as_secs())),
    ("Mbit/s", 3, |o, f| Some(o.goodput(f).bps_f64() / 1e6)),
    ("resent", 1, |_, f| Some(f.retransmissions as f64)),
    ("mean RTT [ms]", 1, |_, f| {
        f.mean_rtt.map(|rtt| rtt.as_secs() * 1e3)
    }),
    ("lost", 1, |_, f| {
        Some((f.queue_drops + f.channel_losses + f.outage_losses) as f64)
    }),
];

/// Flows that are listed, at most.
const MOST_FLOWS: usize = 100;

/// Mean, interval, least and most of what each flow did in `outcomes`, which are runs of
/// the same scenario.
pub fn table(outcomes: &[Outcome]) -> Table {
    let mut table = Table::new([
        Column::text("flow"),
        Column::text(""),
        Column::number("runs"),
        Column::number("mean"),
        Column::number("95% interval"),
        Column::number("least"),
        Column::number("most"),
    ]);
    let flows = outcomes.first().map_or(&[][..], |first| &first.flows);
    for (i, flow) in flows.iter().enumerate().take(MOST_FLOWS) {
        let mut name = flow.name.clone();
        for (what, digits, of) in QUANTITIES {
            let values = outcomes
                .iter()
                .filter_map(|outcome| of(outcome, outcome.flows.get(i)?));
            let Some(all) = Summary::of(&values.collect::<Vec<f64>>()) else {
                continue;
            };
            let number = |x: f64| format!("{x:.digits$}");
            let interval = all.ci95.map_or_else(String::new, |half| {
                format!("{} to {}", number(all.mean - half), number(all.mean + half))
            });
            table.row([
                std::mem::take(&mut name),
                what.to_owned(),
                all.n.to_string(),
                number(all.mean),
                interval,
                number(all.min),
                number(all.max),
            ]);
        }
    }
    if flows.len() > MOST_FLOWS {
        table.row([format!("... {} more flows", flows.len() - MOST_FLOWS)]);
    }
    table.note(
        "Each run has another seed. The interval is that of the mean, by Student's t. runs: those \
         in which there is a value; a transfer that did not end has no time. lost: by queues, \
         channels and outages.",
    )
}
