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
        sent: Bytes::new(3_000_000),
        packets_sent: 2000,
        retransmissions: 0,
        spurious_retransmissions: 0,
        probes_sent: 0,
        timeouts: 0,
        recoveries: 0,
        reductions: 0,
        acks_received: 1000,
        queue_drops: 0,
        channel_losses: 0,
        outage_losses: 0,
        no_route_losses: 0,
        pages: None,
        min_rtt: Some(Duration::from_millis(511)),
        mean_rtt: Some(Duration::from_nanos(600_500_000)),
        max_cwnd: 44.25,
    }
}

/// A link that was busy.
pub(crate) fn link(name: &str) -> LinkOutcome {
    LinkOutcome {
        name: name.to_owned(),
        rate: Rate::from_mbps(2),
        offered_packets: 2100,
        delivered_packets: 2000,
        delivered_bytes: Bytes::new(3_080_000),
        queue_drops: 60,
        early_drops: 50,
        marks: 7,
        channel_losses: 40,
        outage_losses: 0,
        collisions: 3,
        requests: 20,
        free_slots: 30,
        demand_slots: 25,
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
        middleboxes: vec![crate::MiddleboxOutcome {
            name: "cache".to_owned(),
            kind: "snoop".to_owned(),
            seen_packets: 900,
            cached_packets: 600,
            local_retransmissions: 7,
            suppressed_acks: 21,
            ..Default::default()
        }],
        crossings: vec![FlowLinkStats {
            flow: 0,
            link: 1,
            counts: FlowLinkCounts {
                offered_packets: 1000,
                transmitted: Bytes::new(52_000),
                delivered_packets: 1000,
                delivered: Bytes::new(52_000),
                queue_drops: 0,
                channel_losses: 0,
                outage_losses: 0,
            },
        }],
        legs: Vec::new(),
        checkpoints: Vec::new(),
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
            held: Vec::new(),
        }],
    }
}

/// Ten seconds of two flows over one link of 1 Mbit/s, marked at 4 s.
pub(crate) fn shared() -> Outcome {
    let counts = |kilobytes: u64| FlowLinkCounts {
        transmitted: Bytes::new(kilobytes * 1000),
        ..FlowLinkCounts::default()
    };
    let crossing = |flow, kilobytes| FlowLinkStats {
        flow,
        link: 0,
        counts: counts(kilobytes),
    };
    let unfinished = |name: &str, delivered, retransmissions| FlowOutcome {
        transfer_time: None,
        delivered: Bytes::new(delivered),
        retransmissions,
        ..flow(name)
    };
    let marked = FlowCounts {
        delivered: Bytes::new(90_000),
        retransmissions: 1,
        ..FlowCounts::default()
    };
    Outcome {
        ended_at: Time::from_nanos(10_000_000_000),
        flows: vec![unfinished("a", 540_000, 3), unfinished("b", 135_000, 3)],
        links: vec![LinkOutcome {
            rate: Rate::from_mbps(1),
            ..link("shared")
        }],
        middleboxes: Vec::new(),
        crossings: vec![crossing(0, 600), crossing(1, 150)],
        legs: Vec::new(),
        checkpoints: vec![Checkpoint {
            at: Time::from_nanos(4_000_000_000),
            flows: vec![marked; 2],
            crossings: vec![counts(100); 2],
        }],
        ..outcome()
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
        (counts, sent) in (any::<[u64; 12]>(), size()),
        min_rtt in proptest::option::of(span()),
        mean_rtt in proptest::option::of(span()),
        max_cwnd in 0.0..1e9,
    ) -> FlowOutcome {
        FlowOutcome {
            name, transport, started_at, transfer_time, offered, delivered, acknowledged,
            first_delivery_at, last_delivery_at,
            sent,
            packets_sent: counts[0],
            retransmissions: counts[1],
            spurious_retransmissions: counts[2],
            probes_sent: counts[11],
            timeouts: counts[3],
            recoveries: counts[4],
            acks_received: counts[5],
            queue_drops: counts[6],
            channel_losses: counts[7],
            reductions: counts[8],
            outage_losses: counts[9],
            no_route_losses: counts[10],
            pages: (counts[0] % 2 == 1).then_some(crate::PageOutcome {
                completed: counts[1],
                mean_time: min_rtt,
                p95_time: mean_rtt,
            }),
            min_rtt, mean_rtt, max_cwnd,
        }
    }
}

prop_compose! {
    fn any_flow_counts()(n in any::<[u64; 10]>()) -> FlowCounts {
        FlowCounts {
            delivered: Bytes::new(n[0]),
            sent: Bytes::new(n[1]),
            packets_sent: n[2],
            retransmissions: n[3],
            timeouts: n[4],
            reductions: n[5],
            queue_drops: n[6],
            channel_losses: n[7],
            outage_losses: n[8],
            no_route_losses: n[9],
        }
    }
}

prop_compose! {
    fn any_crossing_counts()(n in any::<[u64; 7]>()) -> FlowLinkCounts {
        FlowLinkCounts {
            offered_packets: n[0],
            transmitted: Bytes::new(n[1]),
            delivered_packets: n[2],
            delivered: Bytes::new(n[3]),
            queue_drops: n[4],
            channel_losses: n[5],
            outage_losses: n[6],
        }
    }
}

prop_compose! {
    fn any_mark()(
        at in instant(),
        flows in proptest::collection::vec(any_flow_counts(), 0..3),
        crossings in proptest::collection::vec(any_crossing_counts(), 0..3),
    ) -> Checkpoint {
        Checkpoint { at, flows, crossings }
    }
}

prop_compose! {
    /// Any outcome at all, without series.
    pub(crate) fn any_outcome()(
        scenario in name(),
        (seed, events, packet_hops, ended_at) in (any::<u64>(), any::<u64>(), any::<u64>(), instant()),
        flows in proptest::collection::vec(any_flow(), 1..4),
        (counts, utilisation, mean) in (any::<[u64; 11]>(), 0.0..=1.0, 0.0..1e9),
        crossing in proptest::option::of(any_crossing_counts()),
        checkpoints in proptest::collection::vec(any_mark(), 0..2),
    ) -> Outcome {
        // Flows of the same name cannot be told apart by it.
        let mut flows = flows;
        for (i, flow) in flows.iter_mut().enumerate() {
            flow.name.push_str(&i.to_string());
        }
        let crossings = crossing.map(|counts| FlowLinkStats { flow: 0, link: 0, counts });
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
            rate: Rate::from_bps(counts[9]),
            outage_losses: counts[10],
            ..link("forward")
        };
        Outcome { scenario, seed, events, packet_hops, ended_at, flows, links: vec![link], middleboxes: Vec::new(),
            crossings: crossings.into_iter().collect(), legs: Vec::new(), checkpoints, series: Vec::new() }
    }
}
