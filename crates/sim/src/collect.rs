//! From a finished run to its outcome.

use crate::flow::{Ends, Here, Running};
use crate::network::Network;
use crate::snapshot::LinkSnapshot;
use crate::{Options, ideal};
use bentpipe_link::forward::InFlight;
use bentpipe_link::{DelayHistogram, Link};
use bentpipe_outcome::{
    Checkpoint, FlowCounts, FlowOutcome, FlowSeries, LegOutcome, LinkOutcome, MiddleboxOutcome,
    Outcome,
};
use bentpipe_scenario::{Flow, Scenario};
use bentpipe_tcp::Endpoint;
use bentpipe_units::{Bytes, Duration, Time};

/// Of what the means and quantiles of an outcome were taken.
#[derive(Debug, Default)]
pub(crate) struct Sums {
    /// By flow, the sum of its RTT samples and how many they are; `None` without TCP.
    pub(crate) rtts: Vec<Option<(Duration, u64)>>,
    /// By link.
    pub(crate) links: Vec<LinkSums>,
}

/// What the means and quantiles of a link were taken of.
#[derive(Debug)]
pub(crate) struct LinkSums {
    /// Sum of the waiting times of the packets that it transmitted.
    pub(crate) waited: Duration,
    /// How many these are.
    pub(crate) transmitted: u64,
    /// How long it takes to transmit them.
    pub(crate) work: Duration,
    /// How long after the end of the run it does so.
    pub(crate) ahead: Duration,
    /// The distribution of its queueing delay, where that was kept.
    pub(crate) delays: Option<DelayHistogram>,
}

impl LinkSums {
    pub(crate) fn of(link: &mut Link<InFlight>, now: Time) -> LinkSums {
        let counters = link.counters();
        LinkSums {
            waited: counters.queueing,
            transmitted: counters.offered - counters.queue_drops,
            work: link.work(),
            ahead: link.free_at().since(now),
            delays: link.delays(now),
        }
    }
}

/// The sum of the RTT samples of each flow, and how many they are.
pub(crate) fn rtts(flows: &[Running]) -> Vec<Option<(Duration, u64)>> {
    let of = |running: &Running| match &running.ends {
        Ends::Tcp(ends) => Some(ends[0].rtt().sum()),
        _ => None,
    };
    flows.iter().map(of).collect()
}

/// What one flow has yielded, without its losses.
#[derive(Debug)]
pub(crate) struct Yield {
    here: Here,
    outcome: FlowOutcome,
    legs: Vec<LegOutcome>,
    series: Vec<FlowSeries>,
}

impl Yield {
    /// What flow number `index` has yielded by `ended_at`.
    pub(crate) fn of(scenario: &Scenario, index: usize, running: Running, ended_at: Time) -> Yield {
        let flow = &scenario.flows[index];
        let mut of_flow = Yield {
            here: running.here(),
            outcome: match &running.ends {
                Ends::Ideal => ideal_flow(scenario, flow, &running),
                _ => simulated_flow(flow, &running, ended_at),
            },
            legs: Vec::new(),
            series: Vec::new(),
        };
        if let (Ends::Split(chain), Some(split)) = (&running.ends, flow.split.as_deref()) {
            let from = running.counts_from();
            let legs = chain.outcomes(scenario, (index, split), from, ended_at);
            of_flow.legs.extend(legs);
        }
        let series = &mut of_flow.series;
        if let Some(recorder) = running.series {
            series.push(if matches!(running.ends, Ends::Ideal) {
                ideal_series(scenario, flow)
            } else {
                recorder.series
            });
        }
        if let Ends::Split(chain) = running.ends {
            series.extend(chain.series.into_iter().map(|r| r.series));
        }
        of_flow
    }

    /// What the two parts of a network know together in which the flow's ends are.
    pub(crate) fn join(self, other: Yield) -> Yield {
        let (mut from, to) = match self.here {
            Here::To => (other, self),
            Here::Both | Here::From => (self, other),
        };
        let (whole, to) = (&mut from.outcome, &to.outcome);
        whole.delivered = to.delivered;
        whole.first_delivery_at = to.first_delivery_at;
        whole.last_delivery_at = to.last_delivery_at;
        whole.spurious_retransmissions = to.spurious_retransmissions;
        from
    }
}

/// What the flows have yielded and `net` add up to at the end of the run.
pub(crate) fn outcome<const WATCHED: bool>(
    scenario: &Scenario,
    options: &Options,
    flows: impl Iterator<Item = Yield>,
    mut net: Network<'_, WATCHED>,
    events: u64,
    checkpoints: Vec<Checkpoint>,
) -> Outcome {
    let ended_at = net.now;
    net.catch_up();
    // Grows into what the flows leave: room for all at once would be in addition to them.
    let mut outcomes = Vec::new();
    let mut series = Vec::new();
    let mut legs = Vec::new();
    for (i, of_flow) in flows.enumerate() {
        let mut o = of_flow.outcome;
        let losses = net.losses_of(i);
        o.queue_drops = losses.queue.packets;
        o.channel_losses = losses.channel.packets;
        o.outage_losses = losses.outage.packets;
        o.no_route_losses = net.unroutable(i);
        outcomes.push(o);
        legs.extend(of_flow.legs);
        series.extend(of_flow.series);
    }
    // The endpoints are gone by now: with many flows their memory serves this.
    let snapshot = net.snapshot(scenario);
    let crossings = net.crossings(scenario, &snapshot);
    let links = link_outcomes(scenario, &mut net, &snapshot);
    let middleboxes = middlebox_outcomes(scenario, &net);
    Outcome {
        scenario: scenario.name.clone(),
        seed: options.seed,
        ended_at,
        events,
        packet_hops: links.iter().map(|l| l.delivered_packets).sum(),
        flows: outcomes,
        links,
        middleboxes,
        crossings,
        legs,
        checkpoints,
        series,
    }
}

/// What the links have done by now, which are gone then.
fn link_outcomes<const WATCHED: bool>(
    scenario: &Scenario,
    net: &mut Network<'_, WATCHED>,
    snapshot: &LinkSnapshot,
) -> Vec<LinkOutcome> {
    let ended_at = net.now;
    let (pool, media) = (&net.forward.pool, &net.forward.media);
    // The outcomes take the place of the links, which are larger.
    let links = std::mem::take(&mut net.forward.links);
    links
        .into_iter()
        .zip(&scenario.links)
        .zip(&snapshot.links)
        .zip(0..)
        .map(|(((mut link, settings), early), index)| {
            let of = (settings.name.as_str(), settings.settings.rate);
            let access = media.access(index);
            let mut outcome = LinkOutcome::of(of, &mut link, pool, &access, ended_at);
            // What is decided ahead of time has not happened yet.
            outcome.offered_packets -= early.offered;
            outcome.delivered_packets -= early.delivered.packets;
            let ahead = Bytes::new(early.delivered.bytes);
            outcome.delivered_bytes = outcome.delivered_bytes - ahead;
            outcome.queue_drops -= early.queue_drops;
            outcome.channel_losses -= early.channel_losses;
            outcome.outage_losses -= early.outage_losses;
            // Nor is what was offered ahead of time on the next link yet.
            outcome.in_flight_packets = early.on_it;
            outcome
        })
        .collect()
}

/// What the middleboxes have done by now.
fn middlebox_outcomes<const WATCHED: bool>(
    scenario: &Scenario,
    net: &Network<'_, WATCHED>,
) -> Vec<MiddleboxOutcome> {
    let middleboxes = scenario.middleboxes.iter().zip(net.boxes.counters());
    middleboxes
        .map(|(m, c)| MiddleboxOutcome {
            name: m.name.clone(),
            kind: m.settings.kind().to_owned(),
            seen_packets: c.seen,
            cached_packets: c.cached,
            overflow_packets: c.overflow,
            local_retransmissions: c.local_retransmissions,
            local_timeouts: c.timeouts,
            suppressed_acks: c.suppressed,
            own_acks: c.acknowledged,
        })
        .collect()
}

/// What the ends of the flows and `net`, with `snapshot` on its links, add up to by now.
pub(crate) fn mark<const WATCHED: bool>(
    scenario: &Scenario,
    counts: impl Iterator<Item = FlowCounts>,
    net: &Network<'_, WATCHED>,
    snapshot: &LinkSnapshot,
) -> Checkpoint {
    let each = counts.zip(&scenario.flows).enumerate();
    Checkpoint {
        at: net.now,
        flows: each
            .map(|(i, (counts, flow))| {
                let losses = net.losses_of(i);
                FlowCounts {
                    queue_drops: losses.queue.packets,
                    channel_losses: losses.channel.packets,
                    outage_losses: losses.outage.packets,
                    no_route_losses: net.unroutable(i),
                    ..if ideal::is_ideal(flow) {
                        ideal_counts(scenario, flow, net.now)
                    } else {
                        counts
                    }
                }
            })
            .collect(),
        crossings: net
            .crossings(scenario, snapshot)
            .into_iter()
            .map(|c| c.counts())
            .collect(),
    }
}

/// How many flows share their ideal bound.
fn sharing(scenario: &Scenario) -> usize {
    let flows = scenario.flows.iter();
    flows.filter(|flow| ideal::is_ideal(flow)).count()
}

/// What is known of a flow whatever its ends are, with what they have counted.
fn begun(flow: &Flow, running: &Running, counts: FlowCounts, now: Time) -> FlowOutcome {
    let mut outcome = FlowOutcome {
        name: flow.name.clone(),
        transport: flow
            .transport
            .as_ref()
            .map_or_else(|| "udp".to_owned(), |t| t.name.clone()),
        started_at: running.counts_from(),
        offered: running.offered(),
        first_delivery_at: running.first_delivery_at,
        last_delivery_at: running.last_delivery_at,
        ..counts.into()
    };
    outcome.set_report(running.report(now));
    outcome
}

/// What a sender has counted.
fn sender_counts(sender: &Endpoint) -> FlowCounts {
    let c = sender.counters();
    FlowCounts {
        sent: Bytes::new(c.payload),
        packets_sent: c.packets,
        retransmissions: c.retransmissions,
        retransmitted: Bytes::new(c.retransmitted),
        timeouts: c.timeouts,
        reductions: c.reductions,
        ..FlowCounts::default()
    }
}

/// What the ends of a simulated flow have counted.
pub(crate) fn counts(running: &Running) -> FlowCounts {
    match &running.ends {
        Ends::Tcp(ends) => FlowCounts {
            delivered: ends[1].delivered(),
            ..sender_counts(&ends[0])
        },
        Ends::Split(chain) => {
            let mut sum = FlowCounts {
                delivered: chain.delivered(),
                ..FlowCounts::default()
            };
            for sender in chain.senders() {
                sum.add(&sender_counts(sender));
            }
            sum
        }
        Ends::Datagrams {
            sent,
            sent_bytes,
            arrived_bytes,
        } => FlowCounts {
            delivered: Bytes::new(*arrived_bytes),
            sent: Bytes::new(*sent_bytes),
            packets_sent: *sent,
            ..FlowCounts::default()
        },
        Ends::Stream(stream) => FlowCounts {
            delivered: Bytes::new(stream.arrived_bytes),
            sent: Bytes::new(stream.sent_bytes()),
            packets_sent: stream.sender.data_sent(),
            reductions: stream.sender.reductions(),
            ..FlowCounts::default()
        },
        Ends::Quic(quic) => quic.counts(),
        Ends::Ideal => FlowCounts::default(),
    }
}

fn simulated_flow(flow: &Flow, running: &Running, now: Time) -> FlowOutcome {
    let mut o = FlowOutcome {
        transfer_time: running
            .completed_at
            .map(|at| at.since(running.counts_from())),
        ..begun(flow, running, counts(running), now)
    };
    if let Ends::Tcp(ends) = &running.ends {
        let c = ends[0].counters();
        o.acknowledged = ends[0].acknowledged();
        o.spurious_retransmissions = ends[1].duplicates_received();
        o.probes_sent = c.probes;
        o.recoveries = c.recoveries;
        o.acks_received = c.acks;
        let rtt = ends[0].rtt();
        o.min_rtt = rtt.smallest_ever();
        o.mean_rtt = rtt.mean();
        o.max_cwnd = ends[0].max_cwnd();
    }
    if let Ends::Stream(stream) = &running.ends {
        o.probes_sent = stream.sender.dummies_sent();
        o.acks_received = stream.sender.answers();
        if let Some((smallest, mean)) = stream.sender.round_trips() {
            (o.min_rtt, o.mean_rtt) = (Some(smallest), Some(mean));
        }
    }
    if let Ends::Quic(quic) = &running.ends {
        quic.describe(&mut o);
    }
    if let Ends::Split(chain) = &running.ends {
        o.acknowledged = chain.server.acknowledged();
        for (leg, sender) in chain.senders().enumerate() {
            let c = sender.counters();
            o.spurious_retransmissions += chain.end(2 * leg + 1).duplicates_received();
            o.probes_sent += c.probes;
            o.recoveries += c.recoveries;
            o.acks_received += c.acks;
        }
        let rtt = chain.server.rtt();
        o.min_rtt = (rtt.smallest() != Duration::MAX).then(|| rtt.smallest());
        o.mean_rtt = rtt.mean();
        o.max_cwnd = chain.server.max_cwnd();
    }
    o
}

fn ideal_flow(scenario: &Scenario, flow: &Flow, running: &Running) -> FlowOutcome {
    let sharing = sharing(scenario);
    let mut o = begun(flow, running, FlowCounts::default(), Time::ZERO);
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
    o.sent = o.delivered;
    o
}

/// What the bound has delivered by `now`, on its straight line.
fn ideal_counts(scenario: &Scenario, flow: &Flow, now: Time) -> FlowCounts {
    let rate = ideal::payload_rate(scenario, flow) / sharing(scenario).max(1) as f64;
    let begins = flow.start + ideal::round_trip(scenario, flow) / 2;
    let bytes = rate * now.since(begins).as_secs() / 8.0;
    let all = match flow.application {
        bentpipe_traffic::Application::Transfer { size } => size,
        _ => Bytes::MAX,
    };
    let delivered = Bytes::new(bytes as u64).min(all);
    FlowCounts {
        delivered,
        sent: delivered,
        ..FlowCounts::default()
    }
}

/// A straight line from half a round trip after the start to all delivered.
fn ideal_series(scenario: &Scenario, flow: &Flow) -> FlowSeries {
    let sharing = sharing(scenario);
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
