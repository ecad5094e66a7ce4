//! From a finished run to its outcome.

use crate::flow::{Ends, Running};
use crate::network::{Carried, Network};
use crate::observer::Observer;
use crate::{Options, ideal};
use bentpipe_outcome::{FlowOutcome, FlowSeries, LinkOutcome, Outcome};
use bentpipe_scenario::{Flow, Scenario};
use bentpipe_units::{Bytes, Duration, Time};

/// What `flows` and `net` add up to at the end of the run.
pub(crate) fn outcome<O: Observer>(
    scenario: &Scenario,
    options: &Options,
    flows: Vec<Running>,
    mut net: Network<'_, O>,
    events: u64,
) -> Outcome {
    let ended_at = net.now;
    net.finish(ended_at);
    let sharing = flows
        .iter()
        .filter(|f| matches!(f.ends, Ends::Ideal))
        .count();
    let mut outcomes = Vec::with_capacity(flows.len());
    let mut series = Vec::new();
    for (i, (running, flow)) in flows.into_iter().zip(&scenario.flows).enumerate() {
        let mut o = match &running.ends {
            Ends::Ideal => ideal_flow(scenario, flow, &running, sharing),
            _ => simulated_flow(flow, &running),
        };
        o.queue_drops = net.losses[i].queue;
        o.channel_losses = net.losses[i].channel;
        outcomes.push(o);
        if let Some(recorder) = running.series {
            series.push(if matches!(running.ends, Ends::Ideal) {
                ideal_series(scenario, flow, sharing)
            } else {
                recorder.series
            });
        }
    }
    // Packets that a link was offered ahead of time are still on the link
    // before it.
    let mut early = vec![(0u64, 0u64); net.links.len()];
    for (i, link) in net.links.iter().enumerate() {
        if let Some(leader) = net.ahead.leader(i) {
            let waits = |(at, p): &(Time, &Carried)| p.enters(*at) > ended_at;
            for (_, packet) in link.under_way().filter(waits) {
                early[leader].0 += 1;
                early[leader].1 += u64::from(packet.bytes);
            }
        }
    }
    let links = scenario
        .links
        .iter()
        .zip(&mut net.links)
        .zip(early)
        .map(|((settings, link), early)| {
            let c = *link.counters();
            let under_way = link
                .under_way()
                .map(|(_, p)| u64::from(p.bytes))
                .sum::<u64>()
                + early.1;
            let transmitted = (c.offered - c.queue_drops).max(1);
            LinkOutcome {
                name: settings.name.clone(),
                offered_packets: c.offered,
                delivered_packets: link.delivered() - early.0,
                delivered_bytes: Bytes::new(c.accepted_bytes - under_way),
                queue_drops: c.queue_drops,
                early_drops: c.early_drops,
                marks: c.marks,
                channel_losses: c.channel_losses,
                utilisation: link.utilisation(ended_at),
                mean_queue_packets: link.mean_waiting(ended_at),
                max_queue_packets: c.max_packets,
                max_queue_bytes: Bytes::new(c.max_bytes),
                mean_queueing_delay: c.queueing / transmitted,
                p95_queueing_delay: link.queueing_delay_quantile(ended_at, 0.95),
            }
        })
        .collect::<Vec<_>>();
    Outcome {
        scenario: scenario.name.clone(),
        seed: options.seed,
        ended_at,
        events,
        packet_hops: links.iter().map(|l| l.delivered_packets).sum(),
        flows: outcomes,
        links,
        series,
    }
}

fn empty(flow: &Flow, running: &Running) -> FlowOutcome {
    FlowOutcome {
        name: flow.name.clone(),
        transport: flow
            .transport
            .as_ref()
            .map_or_else(|| "udp".to_owned(), |t| t.name.clone()),
        started_at: running.counts_from(),
        transfer_time: None,
        offered: running.offered(),
        delivered: Bytes::ZERO,
        acknowledged: Bytes::ZERO,
        first_delivery_at: running.first_delivery_at,
        last_delivery_at: running.last_delivery_at,
        packets_sent: 0,
        retransmissions: 0,
        spurious_retransmissions: 0,
        timeouts: 0,
        recoveries: 0,
        acks_received: 0,
        queue_drops: 0,
        channel_losses: 0,
        min_rtt: None,
        mean_rtt: None,
        max_cwnd: 0.0,
    }
}

fn simulated_flow(flow: &Flow, running: &Running) -> FlowOutcome {
    let mut o = empty(flow, running);
    o.transfer_time = running
        .completed_at
        .map(|at| at.since(running.counts_from()));
    match &running.ends {
        Ends::Tcp(ends) => {
            let c = ends[0].counters();
            o.delivered = ends[1].delivered();
            o.acknowledged = ends[0].acknowledged();
            o.packets_sent = c.packets;
            o.retransmissions = c.retransmissions;
            o.spurious_retransmissions = ends[1].duplicates_received();
            o.timeouts = c.timeouts;
            o.recoveries = c.recoveries;
            o.acks_received = c.acks;
            let rtt = ends[0].rtt();
            o.min_rtt = (rtt.smallest() != Duration::MAX).then(|| rtt.smallest());
            o.mean_rtt = rtt.mean();
            o.max_cwnd = ends[0].max_cwnd();
        }
        Ends::Datagrams {
            sent,
            arrived_bytes,
        } => {
            o.packets_sent = *sent;
            o.delivered = Bytes::new(*arrived_bytes);
        }
        Ends::Ideal => {}
    }
    o
}

fn ideal_flow(scenario: &Scenario, flow: &Flow, running: &Running, sharing: usize) -> FlowOutcome {
    let mut o = empty(flow, running);
    o.min_rtt = Some(ideal::round_trip(scenario, flow));
    o.mean_rtt = o.min_rtt;
    if let Some(bytes) = o.offered {
        o.delivered = bytes;
        o.acknowledged = bytes;
        o.transfer_time = Some(ideal::transfer_time(scenario, flow, bytes, sharing));
    } else {
        let seconds = scenario.duration.as_secs() - flow.start.as_secs();
        let bits = ideal::payload_rate(scenario, flow) * seconds / sharing.max(1) as f64;
        o.delivered = Bytes::new((bits / 8.0) as u64);
        o.acknowledged = o.delivered;
    }
    o
}

/// A straight line from half a round trip after the start to all delivered.
fn ideal_series(scenario: &Scenario, flow: &Flow, sharing: usize) -> FlowSeries {
    let rtt = ideal::round_trip(scenario, flow);
    let bytes = match flow.application {
        bentpipe_traffic::Application::Transfer { size } => size,
        _ => Bytes::ZERO,
    };
    let begins: Time = flow.start + rtt / 2;
    let ends = flow.start + (ideal::transfer_time(scenario, flow, bytes, sharing) - rtt / 2);
    FlowSeries {
        flow: flow.name.clone(),
        delivered: vec![(begins, Bytes::ZERO), (ends, bytes)],
        ..FlowSeries::default()
    }
}
