//! Outcomes for this crate's tests.

use super::*;
use proptest::prelude::*;

/// A finished transfer of 3 MB in 12.5 s.
pub(crate) fn flow(name: &str) -> FlowOutcome {
    FlowOutcome {
        name: name.to_owned(),
        transport: "newreno".to_owned(),
        started_at: Time::ZERO,
        transfer_time: Some(Duration::from_millis(12_500)),
        offered: Some(Bytes::new(3_000_000)),
        delivered: Bytes::new(3_000_000),
        acknowledged: Bytes::new(3_000_000),
        first_delivery_at: Some(Time::from_nanos(800_000_000)),
        last_delivery_at: Some(Time::from_nanos(12_244_500_000)),
        packets_sent: 2000,
        retransmissions: 0,
        spurious_retransmissions: 0,
        timeouts: 0,
        recoveries: 0,
        acks_received: 1000,
        queue_drops: 0,
        channel_losses: 0,
        min_rtt: Some(Duration::from_millis(511)),
        mean_rtt: Some(Duration::from_nanos(600_500_000)),
        max_cwnd: 44.25,
    }
}

/// A link that was busy.
pub(crate) fn link(name: &str) -> LinkOutcome {
    LinkOutcome {
        name: name.to_owned(),
        offered_packets: 2100,
        delivered_packets: 2000,
        delivered_bytes: Bytes::new(3_080_000),
        queue_drops: 60,
        early_drops: 50,
        marks: 7,
        channel_losses: 40,
        utilisation: 0.9375,
        mean_queue_packets: 5.5,
        max_queue_packets: 60,
        max_queue_bytes: Bytes::new(90_000),
        mean_queueing_delay: Duration::from_millis(12),
        p95_queueing_delay: Duration::from_millis(40),
    }
}

/// A run of two flows, one unfinished, over two links, with series.
pub(crate) fn outcome() -> Outcome {
    let mut second = flow("b, \"quoted\"");
    second.transfer_time = None;
    second.offered = None;
    second.first_delivery_at = None;
    second.min_rtt = None;
    second.mean_rtt = None;
    let sample = SenderSample {
        at: Time::from_nanos(5),
        cwnd: 2.5,
        ssthresh: f64::INFINITY,
        flight: 2.0,
        rtt: Duration::ZERO,
        retransmissions: 0,
        spurious_retransmissions: 0,
        phase: "slow_start",
    };
    Outcome {
        scenario: "geo".to_owned(),
        seed: u64::MAX,
        ended_at: Time::from_nanos(60_000_000_000),
        events: 123_456,
        packet_hops: 6000,
        flows: vec![flow("a"), second],
        links: vec![link("forward"), link("return")],
        series: vec![FlowSeries {
            flow: "a".to_owned(),
            sender: vec![
                sample,
                SenderSample {
                    at: Time::from_nanos(600_000_000),
                    ssthresh: 20.0,
                    rtt: Duration::from_millis(511),
                    phase: "recovery",
                    ..sample
                },
            ],
            delivered: vec![(Time::from_nanos(300_000_000), Bytes::new(1448))],
            sent: vec![(Time::from_nanos(5), Bytes::new(1448))],
        }],
    }
}

fn instant() -> impl Strategy<Value = Time> {
    any::<u64>().prop_map(Time::from_nanos)
}

fn span() -> impl Strategy<Value = Duration> {
    (0..1_u64 << 51).prop_map(Duration::from_nanos)
}

fn size() -> impl Strategy<Value = Bytes> {
    any::<u64>().prop_map(Bytes::new)
}

/// Names as people may write them: commas, quotes, line ends, all of Unicode.
pub(crate) fn name() -> impl Strategy<Value = String> {
    proptest::string::string_regex("[a-z,\"\n\r\t ;'é𝄞\u{0}-]{1,12}").expect("a valid pattern")
}

prop_compose! {
    /// Any flow at all.
    pub(crate) fn any_flow()(
        (name, transport) in (name(), name()),
        (started_at, transfer_time) in (instant(), proptest::option::of(span())),
        (offered, delivered, acknowledged) in (proptest::option::of(size()), size(), size()),
        first_delivery_at in proptest::option::of(instant()),
        last_delivery_at in proptest::option::of(instant()),
        counts in any::<[u64; 8]>(),
        min_rtt in proptest::option::of(span()),
        mean_rtt in proptest::option::of(span()),
        max_cwnd in 0.0..1e9,
    ) -> FlowOutcome {
        FlowOutcome {
            name, transport, started_at, transfer_time, offered, delivered, acknowledged,
            first_delivery_at, last_delivery_at,
            packets_sent: counts[0],
            retransmissions: counts[1],
            spurious_retransmissions: counts[2],
            timeouts: counts[3],
            recoveries: counts[4],
            acks_received: counts[5],
            queue_drops: counts[6],
            channel_losses: counts[7],
            min_rtt, mean_rtt, max_cwnd,
        }
    }
}

prop_compose! {
    /// Any outcome at all, without series.
    pub(crate) fn any_outcome()(
        scenario in name(),
        (seed, events, packet_hops, ended_at) in (any::<u64>(), any::<u64>(), any::<u64>(), instant()),
        flows in proptest::collection::vec(any_flow(), 1..4),
        (counts, utilisation, mean) in (any::<[u64; 9]>(), 0.0..=1.0, 0.0..1e9),
    ) -> Outcome {
        let link = LinkOutcome {
            offered_packets: counts[0],
            delivered_packets: counts[1],
            delivered_bytes: Bytes::new(counts[2]),
            queue_drops: counts[3],
            channel_losses: counts[4],
            utilisation,
            max_queue_packets: counts[5],
            max_queue_bytes: Bytes::new(counts[6]),
            early_drops: counts[7],
            marks: counts[8],
            mean_queue_packets: mean,
            ..link("forward")
        };
        Outcome { scenario, seed, events, packet_hops, ended_at, flows, links: vec![link], series: Vec::new() }
    }
}
