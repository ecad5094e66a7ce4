//! The results of a run, in the simulator or on Linux: per-flow and per-link results and time
//! series.

use crate::record;
use crate::record::{Metric, Part};
use crate::share::share_of_total;
use bentpipe_link::forward::InFlight;
use bentpipe_link::medium::AccessCounters;
use bentpipe_link::{Link, PacketPool};
use bentpipe_traffic::ClientReport;
use bentpipe_units::{Bytes, Duration, Rate, Ratio, Time};

/// The result of one run of one scenario with one seed.
#[derive(Clone, Debug, PartialEq, Default)]
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
    /// What each flow did to each link on its path: by flow, then along its
    /// path forth and back. Flows that are computed, not simulated, have none.
    pub crossings: Vec<FlowLinkStats>,
    /// The legs of the flows that split-connection PEPs split: by flow, then
    /// from its sender on.
    pub legs: Vec<LegOutcome>,
    /// What had been counted at the times that were asked for, in their order;
    /// times after the end of the run have no entry.
    pub checkpoints: Vec<Checkpoint>,
    /// Time series, where they were asked for.
    pub series: Vec<FlowSeries>,
}

record! {
    /// Which run of which study a row is of.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct RunKey {
        /// Name of the study; empty in results of `bentpipe run`.
        label study: String = String::new();
        /// Number of the run in its study, from 0: its cell, counted in the order
        /// of the axes with the last one fastest, times the study's replications,
        /// plus the replication.
        label run: u64 = 0;
    }
}

record! {
    /// What every row of a table says of its run.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct RunInfo {
        /// Name of the scenario.
        label scenario: String;
        /// Seed of the run.
        label seed: u64;
        /// When the run ended.
        label ended_at: Time as "ended_at_ns";
        /// Events executed.
        gauge events: u64;
        /// Packets that finished crossing a link.
        gauge packet_hops: u64;
        /// Fairness of the goodputs of the run's flows: Jain's index.
        derived jain_index: Option<f64> = |run, _| run.jain_index;
    }
}

record! {
    /// What one flow did. The sender's counts of a split flow, from what was sent
    /// to the acknowledgements received, are sums over its legs; its RTTs and window
    /// are those of its first leg.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct FlowOutcome counters FlowCounts {
        /// Name of the flow.
        label name: String as "flow";
        /// Name of its transport; `udp` for datagrams.
        label transport: String;
        /// When it started.
        label started_at: Time as "started_at_ns";
        /// From the start (by the scenario's handshake rule) to the last
        /// acknowledgement received; empty if it did not finish. Of a split flow,
        /// whose acknowledgements come from a PEP: until its receiver has
        /// everything.
        gauge transfer_time: Option<Duration> as "transfer_time_s" => mean transfer_time / time;
        /// Payload delivered over the transfer time, or over start to end of the run.
        derived goodput_bps: Rate = |run, flow| run.goodput(flow);
        /// Payload sent over the same time, retransmissions included.
        derived throughput_bps: Rate = |run, flow| flow.throughput(run.ended_at);
        /// Share of the run's goodput.
        derived goodput_share: Option<Ratio> =
            |run, flow| share_of_total(run.goodput(flow), run.total_goodput);
        /// Payload bytes that the application was to send; empty without end.
        label offered: Option<Bytes> as "offered_bytes";
        /// Payload bytes delivered in order to the receiving application.
        counter delivered: Bytes as "delivered_bytes" => sum delivered;
        /// Payload bytes acknowledged to the sender.
        gauge acknowledged: Bytes as "acknowledged_bytes";
        /// When the first payload was delivered.
        gauge first_delivery_at: Option<Time> as "first_delivery_at_ns";
        /// When the last payload was delivered.
        gauge last_delivery_at: Option<Time> as "last_delivery_at_ns";
        /// Payload bytes sent, retransmissions included.
        counter sent: Bytes as "sent_bytes";
        /// Data packets sent, retransmissions included.
        counter packets_sent: u64 => sum packets_sent;
        /// Data packets sent again.
        counter retransmissions: u64 => sum retransmissions;
        /// Payload bytes sent again.
        counter retransmitted: Bytes as "retransmitted_bytes" = Bytes::ZERO => sum retransmitted_bytes;
        /// Data packets sent again that had arrived already.
        gauge spurious_retransmissions: u64 => sum spurious_retransmissions;
        /// Share of the data packets sent that were sent again.
        derived retransmission_share: Ratio = |_, flow| flow.retransmission_share();
        /// Low-priority probes sent (TCP-Peach), not among the data packets.
        gauge probes_sent: u64 => sum probes_sent;
        /// Retransmission timeouts.
        counter timeouts: u64 => sum timeouts;
        /// Times that fast recovery began.
        gauge recoveries: u64 => sum recoveries;
        /// Times that a loss, an ECN echo or a timeout made the congestion window
        /// smaller, without those that were undone. They end a congestion epoch.
        counter reductions: u64 => sum reductions;
        /// Acknowledgements received by the sender.
        gauge acks_received: u64 => sum acks_received;
        /// Packets of the flow that full queues dropped, both directions.
        counter queue_drops: u64 => sum drops / queue_drops;
        /// Packets of the flow that channels lost, both directions.
        counter channel_losses: u64 => sum channel_losses;
        /// Packets of the flow that were lost because a link was down or their
        /// route ended, both directions.
        counter outage_losses: u64 = 0 => sum outage_losses;
        /// Packets of the flow that were sent while there was no route, both
        /// directions.
        counter no_route_losses: u64 = 0 => sum no_route_losses;
        /// What a reader of pages has seen; `None` for other applications.
        part pages: Option<PageOutcome>;
        /// The time of each page of a reader, in the order in which they were read. No file
        /// of results has them.
        hidden page_times: Vec<Duration>;
        /// What a viewer of video has experienced; `None` for other applications.
        part video: Option<VideoOutcome>;
        /// What a receiver of packets with a deadline has had; `None` for other applications.
        part deadline: Option<DeadlineOutcome>;
        /// Smallest RTT sample.
        gauge min_rtt: Option<Duration> as "min_rtt_ns" => mean min_rtt;
        /// Mean of the RTT samples.
        gauge mean_rtt: Option<Duration> as "mean_rtt_ns" => mean mean_rtt;
        /// Largest congestion window.
        gauge max_cwnd: f64 as "max_cwnd_segments" => max max_cwnd;
        /// Share of the payload offered that was delivered; empty without end.
        derived completion: Option<Ratio> = |_, flow| flow.completion();
    }
}

impl FlowOutcome {
    /// Experience of the application: its metrics and their values.
    #[must_use]
    pub fn experience(&self) -> Vec<(Metric, Option<f64>)> {
        [
            measured(&self.pages),
            measured(&self.video),
            measured(&self.deadline),
        ]
        .concat()
    }

    /// Sets what the application of the flow has reported.
    pub fn set_report(&mut self, report: ClientReport) {
        match report {
            ClientReport::None => {}
            ClientReport::Pages(pages) => {
                self.pages = Some(PageOutcome {
                    completed: pages.completed,
                    mean_time: pages.mean_time,
                    p95_time: pages.p95_time,
                    mean_render_time: pages.mean_render_time,
                    p95_render_time: pages.p95_render_time,
                });
                self.page_times = pages.times;
            }
            ClientReport::Deadline(packets) => {
                self.deadline = Some(DeadlineOutcome {
                    due: packets.due,
                    missed: packets.missed,
                    mean_delay: packets.mean_delay,
                    p95_delay: packets.p95_delay,
                });
            }
            ClientReport::Video(video) => {
                self.video = Some(VideoOutcome {
                    segments: video.segments,
                    startup_delay: video.startup_delay,
                    stalls: video.stalls,
                    stall_time: video.stall_time,
                });
            }
        }
    }
}

/// The metrics of a part, if there is one.
fn measured<T: Part>(part: &Option<T>) -> Vec<(Metric, Option<f64>)> {
    let metrics = part.iter().flat_map(|_| T::metrics());
    let value = |metric: Metric| {
        let value = part.metric(metric.name);
        (metric, value)
    };
    metrics.map(value).collect()
}

record! {
    /// The pages of one reader. The time of a page counts from the request (its
    /// handshake included, where there is one) to the last byte.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct PageOutcome {
        /// Pages that a reader got in whole.
        gauge completed: u64 as "pages" => sum pages;
        /// Mean time from the request for a page to its last byte.
        gauge mean_time: Option<Duration> as "mean_page_time_ns" => mean page_time;
        /// Time that 95% of a reader's pages did not exceed.
        gauge p95_time: Option<Duration> as "p95_page_time_ns" => mean p95_page_time;
        /// Mean time until all had arrived without which a browser draws nothing, for pages of
        /// several objects.
        gauge mean_render_time: Option<Duration> as "mean_render_time_ns" => mean render_time;
        /// Time that 95% of these did not exceed.
        gauge p95_render_time: Option<Duration> as "p95_render_time_ns" => mean p95_render_time;
    }
}

record! {
    /// The packets of a flow that are of use until a deadline.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct DeadlineOutcome {
        /// Packets whose deadline was over when the run ended.
        gauge due: u64 as "packets_due" => sum packets_due;
        /// Those of them that were lost or late.
        gauge missed: u64 as "packets_missed" => sum packets_missed;
        /// Mean time that the packets took which arrived.
        gauge mean_delay: Option<Duration> as "mean_packet_delay_ns" => mean packet_delay;
        /// Time that 95% of these did not exceed.
        gauge p95_delay: Option<Duration> as "p95_packet_delay_ns" => mean p95_packet_delay;
    }
}

record! {
    /// The playback of one viewer of video.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct VideoOutcome {
        /// Segments of video that arrived in whole.
        gauge segments: u64 as "video_segments" => sum video_segments;
        /// Time from the first request to the beginning of the playback.
        gauge startup_delay: Option<Duration> as "startup_delay_ns" => mean startup_delay;
        /// Times that the playback stopped because the buffer was empty.
        gauge stalls: u64 => sum stalls;
        /// Time that the playback stood still in all.
        gauge stall_time: Duration as "stall_time_ns" => mean stall_time;
    }
}

record! {
    /// What one link did.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct LinkOutcome {
        /// Name of the link.
        label name: String as "link";
        /// Rate of the link.
        label rate: Rate as "rate_bps" => one link_rate;
        /// Packets handed to it.
        gauge offered_packets: u64;
        /// Packets that left it at the far end.
        gauge delivered_packets: u64;
        /// Bytes that left it at the far end, framing not counted.
        gauge delivered_bytes: Bytes;
        /// Bytes that left it over the length of the run.
        derived throughput_bps: Rate = |run, link| link.throughput(run.ended_at);
        /// Packets that the queue dropped, early and forced.
        gauge queue_drops: u64 => sum link_drops;
        /// Those of them that were dropped early, to signal congestion.
        gauge early_drops: u64;
        /// Packets that its queue marked (ECN) instead of dropping them.
        gauge marks: u64;
        /// Packets that the channel lost.
        gauge channel_losses: u64 => sum link_losses;
        /// Packets that were lost because the link was down or its route ended.
        gauge outage_losses: u64 = 0 => sum link_outage_losses;
        /// Packets that were on it when the run ended: they waited, were in transmission or
        /// propagated. With those delivered, dropped and lost they are those handed to it.
        gauge in_flight_packets: u64 = 0 => sum link_in_flight;
        /// Transmissions of the link that met others on its medium, and requests
        /// for slots that did. Zero where it shares no medium, as the next three.
        gauge collisions: u64 = 0 => sum collisions;
        /// Requests of the link for slots of its medium.
        gauge requests: u64 = 0 => sum requests;
        /// Slots of its medium that the link used and had not asked for.
        gauge free_slots: u64 = 0 => sum free_slots;
        /// Slots of its medium that the link was given on request.
        gauge demand_slots: u64 = 0 => sum demand_slots;
        /// Share of the time that the transmitter was busy.
        gauge utilisation: f64 => one utilisation;
        /// Packets that waited, on average over the time of the run.
        gauge mean_queue_packets: f64;
        /// Most packets that waited at once.
        gauge max_queue_packets: u64 => max max_queue;
        /// Most bytes that waited at once.
        gauge max_queue_bytes: Bytes => max max_queue_bytes;
        /// Mean waiting time of packets in the queue, and for a medium.
        gauge mean_queueing_delay: Duration as "mean_queueing_delay_ns"
            => mean mean_queueing_delay;
        /// 95th percentile of the waiting time that a packet arriving at a random
        /// instant of the run would have met.
        gauge p95_queueing_delay: Duration as "p95_queueing_delay_ns" => one p95_queueing_delay;
    }
}

impl LinkOutcome {
    /// What `link`, of that name and rate, with its packets in `pool`, has done by `end`, with what
    /// it did on its medium. It closes the link's record of delays.
    pub fn of(
        (name, rate): (&str, Rate),
        link: &mut Link<InFlight>,
        pool: &PacketPool<InFlight>,
        access: &AccessCounters,
        end: Time,
    ) -> LinkOutcome {
        let c = link.counters();
        let (mut on_it, mut under_way) = (0, 0);
        for (_, packet) in link.under_way(pool) {
            on_it += 1;
            under_way += u64::from(packet.bytes());
        }
        let transmitted = (c.offered - c.queue_drops).max(1);
        on_it += link.pending_losses().count() + link.waiting_packets().count();
        LinkOutcome {
            name: name.to_owned(),
            rate,
            offered_packets: c.offered,
            delivered_packets: link.delivered(pool),
            delivered_bytes: Bytes::new(c.accepted_bytes - under_way),
            queue_drops: c.queue_drops,
            early_drops: c.early_drops,
            marks: c.marks,
            channel_losses: c.channel_losses,
            outage_losses: c.outage_losses,
            in_flight_packets: on_it as u64,
            collisions: access.collisions + access.request_collisions,
            requests: access.requests,
            free_slots: access.free_slots,
            demand_slots: access.demand_slots,
            utilisation: link.utilisation(end),
            mean_queue_packets: link.mean_waiting(end),
            max_queue_packets: c.max_packets,
            max_queue_bytes: Bytes::new(c.max_bytes),
            mean_queueing_delay: c.queueing / transmitted,
            p95_queueing_delay: link.queueing_delay_quantile(end, 0.95),
        }
    }
}

record! {
    /// What one middlebox did.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct MiddleboxOutcome {
        /// Name of the box.
        label name: String as "middlebox";
        /// What it is, by the name of a scenario.
        label kind: String as "middlebox_kind";
        /// Packets that came to it.
        gauge seen_packets: u64;
        /// Data packets that it put into its cache.
        gauge cached_packets: u64;
        /// Data packets that it did not cache: the cache was full, or the queue behind.
        gauge overflow_packets: u64;
        /// Packets that it sent again.
        gauge local_retransmissions: u64;
        /// Times that its own timer made it send a packet again.
        gauge local_timeouts: u64;
        /// Acknowledgements that ended at it.
        gauge suppressed_acks: u64;
        /// Acknowledgements that it sent itself.
        gauge own_acks: u64;
    }
}

record! {
    /// What one flow did to one link on its path, data and acknowledgements
    /// alike. What was offered and is neither delivered nor lost waits, is in
    /// transmission or propagates.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct FlowLinkStats counters FlowLinkCounts {
        /// Index of the flow in [`Outcome::flows`].
        flow flow: usize;
        /// Index of the link in [`Outcome::links`].
        link link: usize;
        /// Packets of the flow that were handed to the link.
        counter offered_packets: u64;
        /// Bytes of those whose transmission has ended, lost by the channel or
        /// not: payload, headers and the link's framing.
        counter transmitted: Bytes as "transmitted_bytes";
        /// Packets that left the link at the far end.
        counter delivered_packets: u64;
        /// Bytes that left the link at the far end, framing not counted.
        counter delivered: Bytes as "delivered_bytes";
        /// Packets that the queue dropped.
        counter queue_drops: u64 => sum drops;
        /// Packets that the channel lost.
        counter channel_losses: u64 => sum channel_losses;
        /// Packets that were lost because the link was down or its route ended.
        counter outage_losses: u64 = 0 => sum outage_losses;
        /// Bytes transmitted over what the link could carry during the run.
        derived wire_share: Option<f64> =
            |run, stats| run.whole().wire_share(&stats.counts(), stats.link);
    }
}

record! {
    /// What one leg of a split flow did. Data go from the flow's sender to its
    /// receiver; what goes the other way, such as requests, is not counted.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct LegOutcome {
        /// Index of the flow in [`Outcome::flows`].
        flow flow: usize;
        /// Which leg of it: 0 begins at its sender.
        label leg: usize;
        /// Its ends, `A > B`.
        label nodes: String as "leg_nodes";
        /// Name of its transport.
        label transport: String;
        /// Time from the start, by the scenario's handshake rule, to the
        /// acknowledgement of the last byte; `None` if that did not come. For leg
        /// 0 it is when the sender believes the transfer complete; the flow's
        /// [`FlowOutcome::transfer_time`] is when the receiver has it.
        gauge acknowledged_after: Option<Duration> as "acknowledged_after_s";
        /// Payload bytes delivered in order at its end.
        gauge delivered: Bytes as "delivered_bytes";
        /// Payload bytes acknowledged to its sender.
        gauge acknowledged: Bytes as "acknowledged_bytes";
        /// Payload bytes sent, retransmissions included.
        gauge sent: Bytes as "sent_bytes";
        /// Data packets sent, retransmissions included.
        gauge packets_sent: u64;
        /// Data packets sent again.
        gauge retransmissions: u64;
        /// Data packets sent again that had arrived already.
        gauge spurious_retransmissions: u64;
        /// Retransmission timeouts.
        gauge timeouts: u64;
        /// Times that fast recovery began.
        gauge recoveries: u64;
        /// Times that the congestion window was reduced.
        gauge reductions: u64;
        /// Smallest RTT sample.
        gauge min_rtt: Option<Duration> as "min_rtt_ns";
        /// Mean of the RTT samples.
        gauge mean_rtt: Option<Duration> as "mean_rtt_ns";
        /// Largest congestion window.
        gauge max_cwnd: f64 as "max_cwnd_segments";
        /// Most bytes in the relay before this leg, those that the leg had not
        /// acknowledged included; zero for leg 0.
        gauge max_buffered: Bytes as "max_held_bytes";
        /// The same on average over time, from the first byte on.
        gauge mean_buffered: Bytes as "mean_held_bytes";
        /// Most bytes that had arrived at that relay and waited for room in it.
        gauge max_waiting: Bytes as "max_waiting_bytes";
    }
}

/// What had been counted by a time of the run, everything at that instant
/// included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// The time.
    pub at: Time,
    /// One entry per flow.
    pub flows: Vec<FlowCounts>,
    /// One entry per element of [`Outcome::crossings`].
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
    /// The time.
    pub at: Time,
    /// Congestion window in segments.
    pub cwnd: f64,
    /// Slow start threshold, segments; infinite until set.
    pub ssthresh: f64,
    /// Segments sent and not yet acknowledged or lost.
    pub flight: f64,
    /// Last RTT sample; zero before one.
    pub rtt: Duration,
    /// Retransmissions since the start of the flow.
    pub retransmissions: u64,
    /// Spurious retransmissions so far.
    pub spurious_retransmissions: u64,
    /// Phase, by the names of qlog.
    pub phase: &'static str,
}

#[cfg(test)]
#[path = "samples.rs"]
pub(crate) mod samples;
