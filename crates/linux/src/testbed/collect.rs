//! From a finished run to its outcome, and what each field is measured by.
//!
//! | field | from |
//! |---|---|
//! | transfer time, deliveries, packets, retransmissions, ACKs, RTTs | packets at the hosts' devices (see [`tracker`](super::tracker)) |
//! | links, crossings | the emulator's links |
//! | drops and losses of flows | the emulator |
//! | timeouts, recoveries, reductions, largest window, the sender's series | TCP_INFO of the sender's socket (see [`gauges`](super::gauges)) |
//! | of flows over QUIC all of that but drops | their endpoints (see [`quic`](super::quic)) |
//! | pages | the clock of the side that asks |
//! | events | nothing: zero |

use super::Options;
use super::gauges::Watched;
use super::ledger::{FlowLedger, Ledger};
use super::quic::Seen;
use crate::emulator::Report;
use bentpipe_outcome::{Checkpoint, FlowCounts, FlowLinkStats, FlowOutcome, FlowSeries, Outcome};
use bentpipe_scenario::{Flow, Handshake, LinkId, Scenario};
use bentpipe_traffic::ClientReport;
use bentpipe_units::{Bytes, Time};

/// Observations of a flow besides its packets.
#[derive(Debug)]
pub(crate) struct Noted {
    pub(crate) watched: Watched,
    pub(crate) report: ClientReport,
    /// When the side that asks had the last response.
    pub(crate) last_response_at: Option<Time>,
    /// Of a flow over QUIC.
    pub(crate) quic: Option<Seen>,
}

/// What it all adds up to.
pub(crate) fn outcome(
    scenario: &Scenario,
    options: &Options,
    starts: &[Time],
    mut ledger: Ledger,
    noted: Vec<Noted>,
    report: &Report,
) -> Outcome {
    let ended_at = Time::ZERO + report.elapsed;
    let flow_of: Vec<usize> = scenario.connections().map(|part| part.flow).collect();
    ledger.note_until(ended_at, true);
    let gauges = ledger.gauges.clone();
    let checkpoints = ledger.checkpoints.into_iter().zip(&report.checkpoints);
    let checkpoints = checkpoints.map(|((at, flows), (_, counted))| Checkpoint {
        at,
        flows,
        crossings: crossings(scenario, counted, &flow_of)
            .iter()
            .map(FlowLinkStats::counts)
            .collect(),
    });
    let checkpoints = checkpoints.collect();
    let crossings = crossings(scenario, &report.crossings, &flow_of);
    let mut flows = Vec::with_capacity(scenario.flows.len());
    let mut all_series = Vec::new();
    let each = scenario
        .flows
        .iter()
        .zip(ledger.flows)
        .zip(noted)
        .zip(starts);
    for (((flow, seen), mut noted), start) in each {
        let mut outcome = of_flow(flow, *start, &seen, &noted);
        if let Some(deadline) = gauges[flows.len()].deadline() {
            outcome.set_report(ClientReport::Deadline(deadline.report(ended_at)));
        }
        flows.push(outcome);
        let delivered = match &mut noted.quic {
            Some(quic) => quic.take_course(),
            None => seen.delivered,
        };
        if options.series.is_some() {
            all_series.push(FlowSeries {
                flow: flow.name.clone(),
                sender: noted.watched.samples,
                delivered,
                sent: seen.sent,
                held: Vec::new(),
            });
        }
    }
    Outcome {
        scenario: scenario.name.clone(),
        seed: options.seed,
        ended_at,
        events: 0,
        packet_hops: report.links.iter().map(|l| l.delivered_packets).sum(),
        flows,
        links: report.links.clone(),
        middleboxes: Vec::new(),
        crossings,
        legs: Vec::new(),
        checkpoints,
        series: all_series,
    }
}

fn of_flow(flow: &Flow, start: Time, seen: &FlowLedger, noted: &Noted) -> FlowOutcome {
    let tracker = &seen.tracker;
    let data_at = match &noted.quic {
        Some(quic) => quic.connected_at,
        None => tracker.first_data_at,
    };
    let counts_from = match flow.handshake {
        // The look-up of a name precedes the connection.
        Handshake::Counted if flow.dns => Some(start),
        Handshake::Counted => seen.opened_at(),
        Handshake::NotCounted | Handshake::Skipped => data_at,
    };
    // Datagrams have no handshake.
    let counts_from = match flow.transport {
        Some(_) => counts_from.unwrap_or(start),
        None => start,
    };
    let [first_delivery_at, last_delivery_at] = seen.delivery();
    // What was stopped is acknowledged, too.
    let whole = noted
        .quic
        .as_ref()
        .filter(|quic| quic.has_all_of(&flow.application));
    let acknowledged_at = whole.and_then(|quic| quic.acknowledged_at);
    let completed_at = match &noted.quic {
        Some(_) => acknowledged_at.or(noted.last_response_at),
        None => seen.completed_at.or(noted.last_response_at),
    };
    let counts = FlowCounts {
        timeouts: noted.watched.timeouts(),
        reductions: noted.watched.reductions(),
        ..seen.counts()
    };
    let counts = match &noted.quic {
        Some(quic) => quic.counts(counts),
        None => counts,
    };
    let mut outcome = FlowOutcome {
        name: flow.name.clone(),
        transport: flow
            .transport
            .as_ref()
            .map_or_else(|| "udp".to_owned(), |t| t.name.clone()),
        started_at: counts_from,
        transfer_time: completed_at.map(|at| at.since(counts_from)),
        offered: flow.application.offered(),
        acknowledged: Bytes::new(tracker.acknowledged()),
        first_delivery_at,
        last_delivery_at,
        spurious_retransmissions: tracker.spurious,
        recoveries: noted.watched.recoveries,
        acks_received: tracker.acks,
        min_rtt: tracker.min_rtt(),
        mean_rtt: tracker.mean_rtt(),
        max_cwnd: f64::from(noted.watched.max_cwnd),
        ..counts.into()
    };
    if let Some(quic) = &noted.quic {
        super::quic::describe(quic, &mut outcome);
    }
    outcome.set_report(noted.report.clone());
    outcome
}

/// Every crossing by flow and then along its way forth and back, as a
/// simulation has them. `flow_of` has the flow of each pair that was counted.
fn crossings(
    scenario: &Scenario,
    counted: &[FlowLinkStats],
    flow_of: &[usize],
) -> Vec<FlowLinkStats> {
    let mut all: Vec<FlowLinkStats> = Vec::new();
    for (flow, f) in scenario.flows.iter().enumerate() {
        let first = all.len();
        let forth = f.changes.iter().flat_map(|c| &c.forward);
        let back = f.changes.iter().flat_map(|c| &c.reverse);
        let way = f.forward.iter().chain(forth).chain(&f.reverse).chain(back);
        for &LinkId(link) in way {
            let link = link as usize;
            if all[first..].iter().any(|known| known.link == link) {
                continue;
            }
            let is_part = |pair: usize| flow_of.get(pair) == Some(&flow);
            let found = counted.iter().find(|c| is_part(c.flow) && c.link == link);
            all.push(FlowLinkStats {
                flow,
                link,
                ..found.copied().unwrap_or_default()
            });
        }
    }
    all
}
