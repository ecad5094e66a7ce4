//! What a run yields, whoever ran it: per-flow and per-link results and time
//! series.

use bentpipe_units::{Bytes, Duration, Rate, Time};

/// The result of one run of one scenario with one seed.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Name of the scenario.
    pub scenario: String,
    /// Seed of the run.
    pub seed: u64,
    /// Simulated (or real) time at which the run ended.
    pub ended_at: Time,
    /// Events executed; zero where the host does not count them.
    pub events: u64,
    /// Packets that finished crossing a link, data and acknowledgements.
    pub packet_hops: u64,
    /// One entry per flow, in the scenario's order.
    pub flows: Vec<FlowOutcome>,
    /// One entry per link, in the scenario's order.
    pub links: Vec<LinkOutcome>,
    /// One entry per middlebox, in the scenario's order.
    pub middleboxes: Vec<MiddleboxOutcome>,
    /// What each flow did to each link on its way: by flow, then along its way
    /// forth and back. Flows that are computed, not simulated, have none.
    pub crossings: Vec<FlowLinkStats>,
    /// The legs of the flows that split-connection PEPs split: by flow, then
    /// from its sender on.
    pub legs: Vec<LegOutcome>,
    /// What had been counted at the times that were asked for, in their order;
    /// of those after the end there is none.
    pub checkpoints: Vec<Checkpoint>,
    /// Time series, where they were asked for.
    pub series: Vec<FlowSeries>,
}

/// What one flow did. The sender's counts of a split flow, from what was sent
/// to the acknowledgements received, are sums over its legs; its RTTs and window
/// are those of its first leg.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowOutcome {
    /// Name of the flow.
    pub name: String,
    /// Name of its transport; `udp` for datagrams.
    pub transport: String,
    /// When it started.
    pub started_at: Time,
    /// Time from the start (by the scenario's handshake rule) to the last
    /// acknowledgement received; `None` if it did not finish. Of a split flow,
    /// whose acknowledgements come from a PEP: until its receiver has
    /// everything.
    pub transfer_time: Option<Duration>,
    /// Payload bytes that the application was to send; `None` without end.
    pub offered: Option<Bytes>,
    /// Payload bytes delivered in order to the receiving application.
    pub delivered: Bytes,
    /// Payload bytes acknowledged to the sender.
    pub acknowledged: Bytes,
    /// When the first payload was delivered.
    pub first_delivery_at: Option<Time>,
    /// When the last payload was delivered.
    pub last_delivery_at: Option<Time>,
    /// Payload bytes sent, retransmissions included.
    pub sent: Bytes,
    /// Data packets sent, retransmissions included.
    pub packets_sent: u64,
    /// Data packets sent again.
    pub retransmissions: u64,
    /// Data packets sent again that had arrived already.
    pub spurious_retransmissions: u64,
    /// Low-priority probes sent (TCP-Peach); they are not among the data packets.
    pub probes_sent: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Times that fast recovery began.
    pub recoveries: u64,
    /// Times that a loss, an ECN echo or a timeout made the congestion window
    /// smaller; without those that were undone. They end a congestion epoch.
    pub reductions: u64,
    /// Acknowledgements received by the sender.
    pub acks_received: u64,
    /// Packets of this flow that a full queue dropped, both directions.
    pub queue_drops: u64,
    /// Packets of this flow that a channel lost, both directions.
    pub channel_losses: u64,
    /// Packets of this flow that were lost because a link was down or their
    /// route ended, both directions.
    pub outage_losses: u64,
    /// Packets of this flow that were sent while there was no route, both
    /// directions.
    pub no_route_losses: u64,
    /// What a reader of pages has seen; `None` for other applications.
    pub pages: Option<PageOutcome>,
    /// Smallest RTT sample.
    pub min_rtt: Option<Duration>,
    /// Mean of the RTT samples.
    pub mean_rtt: Option<Duration>,
    /// Largest congestion window, segments.
    pub max_cwnd: f64,
}

/// The pages of one reader. The time of a page counts from the request (its
/// handshake included, where there is one) to the last byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PageOutcome {
    /// Pages that arrived in whole.
    pub completed: u64,
    /// Their mean time.
    pub mean_time: Option<Duration>,
    /// The time that 95% of them did not exceed.
    pub p95_time: Option<Duration>,
}

/// What one link did.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkOutcome {
    /// Name of the link.
    pub name: String,
    /// Its rate.
    pub rate: Rate,
    /// Packets handed to it.
    pub offered_packets: u64,
    /// Packets that left it at the far end.
    pub delivered_packets: u64,
    /// Bytes that left it at the far end, framing not counted.
    pub delivered_bytes: Bytes,
    /// Packets that its queue dropped, early and forced.
    pub queue_drops: u64,
    /// Those of them that were dropped early, to signal congestion.
    pub early_drops: u64,
    /// Packets that its queue marked instead of dropping them.
    pub marks: u64,
    /// Packets that its channel lost.
    pub channel_losses: u64,
    /// Packets that were lost because it was down or its route ended.
    pub outage_losses: u64,
    /// Transmissions that met another one on the medium that the link shares,
    /// and requests for slots that did; zero where it shares none, as below.
    pub collisions: u64,
    /// Requests for slots of the medium.
    pub requests: u64,
    /// Slots of the medium that it used and had not asked for.
    pub free_slots: u64,
    /// Slots of the medium that it was given on request.
    pub demand_slots: u64,
    /// Share of the run's time that its transmitter was busy, 0 to 1.
    pub utilisation: f64,
    /// Packets that waited, on the mean over the time of the run.
    pub mean_queue_packets: f64,
    /// Most packets that waited at once.
    pub max_queue_packets: u64,
    /// Most bytes that waited at once.
    pub max_queue_bytes: Bytes,
    /// Mean waiting time of packets in the queue.
    pub mean_queueing_delay: Duration,
    /// 95th percentile of the waiting time that a packet arriving at a random
    /// instant of the run would have met: what others feel.
    pub p95_queueing_delay: Duration,
}

/// What one middlebox did.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct MiddleboxOutcome {
    /// Name of the box.
    pub name: String,
    /// What it is, by the name of a scenario.
    pub kind: String,
    /// Packets that came to it.
    pub seen_packets: u64,
    /// Data packets that it put into its cache.
    pub cached_packets: u64,
    /// Data packets that it did not: the cache was full, or the queue behind.
    pub overflow_packets: u64,
    /// Packets that it sent again.
    pub local_retransmissions: u64,
    /// Times that its own timer made it send a packet again.
    pub local_timeouts: u64,
    /// Acknowledgements that ended at it.
    pub suppressed_acks: u64,
    /// Acknowledgements that it sent itself.
    pub own_acks: u64,
}

/// What one flow did to one link on its way, data and acknowledgements alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowLinkStats {
    /// Index of the flow in [`Outcome::flows`].
    pub flow: usize,
    /// Index of the link in [`Outcome::links`].
    pub link: usize,
    /// What was counted.
    pub counts: FlowLinkCounts,
}

/// What one leg of a split flow did. Data go from the flow's sender to its
/// receiver; what goes the other way, such as requests, is not counted.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct LegOutcome {
    /// Index of the flow in [`Outcome::flows`].
    pub flow: usize,
    /// Which leg of it: 0 begins at its sender.
    pub leg: usize,
    /// Its ends, `A > B`.
    pub nodes: String,
    /// Name of its transport.
    pub transport: String,
    /// Time from the start, by the scenario's handshake rule, to the
    /// acknowledgement of the last byte; `None` if that did not come. For leg
    /// 0 it is when the sender believes the transfer complete; the flow's
    /// [`FlowOutcome::transfer_time`] is when the receiver has it.
    pub acknowledged_after: Option<Duration>,
    /// Payload bytes delivered in order at its end.
    pub delivered: Bytes,
    /// Payload bytes acknowledged to its sender.
    pub acknowledged: Bytes,
    /// Payload bytes sent, retransmissions included.
    pub sent: Bytes,
    /// Data packets sent, retransmissions included.
    pub packets_sent: u64,
    /// Data packets sent again.
    pub retransmissions: u64,
    /// Data packets sent again that had arrived already.
    pub spurious_retransmissions: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Times that fast recovery began.
    pub recoveries: u64,
    /// Times that the congestion window was reduced.
    pub reductions: u64,
    /// Smallest RTT sample.
    pub min_rtt: Option<Duration>,
    /// Mean of the RTT samples.
    pub mean_rtt: Option<Duration>,
    /// Largest congestion window, segments.
    pub max_cwnd: f64,
    /// Most bytes in the relay before this leg, those that the leg had not
    /// acknowledged included; zero for leg 0.
    pub max_held: Bytes,
    /// The same on the mean over time, from the first byte on.
    pub mean_held: Bytes,
    /// Most bytes that had arrived at that relay and waited for room in it.
    pub max_waiting: Bytes,
}

/// Packets of one flow at one link, by a time of the run. What was offered and
/// is neither delivered nor lost waits, is in transmission or propagates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowLinkCounts {
    /// Packets handed to the link.
    pub offered_packets: u64,
    /// Bytes of those whose transmission has ended, lost by the channel or
    /// not: payload, headers and the link's framing.
    pub transmitted: Bytes,
    /// Packets that left the link at the far end.
    pub delivered_packets: u64,
    /// Bytes that left the link at the far end, framing not counted.
    pub delivered: Bytes,
    /// Packets that the queue dropped.
    pub queue_drops: u64,
    /// Packets that the channel lost.
    pub channel_losses: u64,
    /// Packets that were lost because the link was down or its route ended.
    pub outage_losses: u64,
}

/// What a flow had done by a time of the run; the fields are those of
/// [`FlowOutcome`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowCounts {
    /// Payload bytes delivered in order.
    pub delivered: Bytes,
    /// Payload bytes sent, retransmissions included.
    pub sent: Bytes,
    /// Data packets sent, retransmissions included.
    pub packets_sent: u64,
    /// Data packets sent again.
    pub retransmissions: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Times that the congestion window was reduced.
    pub reductions: u64,
    /// Packets of the flow that a full queue dropped, both directions.
    pub queue_drops: u64,
    /// Packets of the flow that a channel lost, both directions.
    pub channel_losses: u64,
    /// Packets of the flow that were lost because a link was down or their
    /// route ended, both directions.
    pub outage_losses: u64,
    /// Packets of the flow that were sent while there was no route, both
    /// directions.
    pub no_route_losses: u64,
}

/// What had been counted by a time of the run, everything at that instant
/// included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// When.
    pub at: Time,
    /// One entry per flow.
    pub flows: Vec<FlowCounts>,
    /// One entry per crossing.
    pub crossings: Vec<FlowLinkCounts>,
}

/// Time series of one flow. Each kind is a list of samples; times do not
/// decrease.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct FlowSeries {
    /// Name of the flow.
    pub flow: String,
    /// The sender's state, one sample per change (thinned to the recorder's
    /// interval).
    pub sender: Vec<SenderSample>,
    /// Payload bytes delivered in order, cumulative.
    pub delivered: Vec<(Time, Bytes)>,
    /// Payload bytes sent (retransmissions included), cumulative.
    pub sent: Vec<(Time, Bytes)>,
    /// Bytes in the relay that this sender belongs to, those not acknowledged
    /// included; empty for a sender that is no PEP's.
    pub held: Vec<(Time, Bytes)>,
}

/// The sender's state at one time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SenderSample {
    /// When.
    pub at: Time,
    /// Congestion window, segments.
    pub cwnd: f64,
    /// Slow start threshold, segments; infinite until set.
    pub ssthresh: f64,
    /// Segments in flight.
    pub flight: f64,
    /// Last RTT sample; zero before one.
    pub rtt: Duration,
    /// Retransmissions so far.
    pub retransmissions: u64,
    /// Spurious retransmissions so far.
    pub spurious_retransmissions: u64,
    /// Phase, by the names of qlog.
    pub phase: &'static str,
}

#[cfg(test)]
#[path = "samples.rs"]
pub(crate) mod samples;
