//! Outcomes for this crate's tests.

use super::*;
use crate::fields::Fields;
use crate::record::Part;
use crate::value::{Kind, Value};
use proptest::prelude::*;
use std::collections::HashMap;

/// A finished transfer of 3 MB in 12.5 s.
pub(crate) fn flow(name: &str) -> FlowOutcome {
    FlowOutcome {
        name: name.to_owned(),
        transport: "newreno".to_owned(),
        transfer_time: Some(Duration::from_millis(12_500)),
        offered: Some(Bytes::new(3_000_000)),
        delivered: Bytes::new(3_000_000),
        acknowledged: Bytes::new(3_000_000),
        first_delivery_at: Some(Time::from_nanos(800_000_000)),
        last_delivery_at: Some(Time::from_nanos(12_244_500_000)),
        sent: Bytes::new(3_000_000),
        packets_sent: 2000,
        acks_received: 1000,
        min_rtt: Some(Duration::from_millis(511)),
        mean_rtt: Some(Duration::from_nanos(600_500_000)),
        max_cwnd: 44.25,
        ..FlowOutcome::default()
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
        in_flight_packets: 0,
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
            offered_packets: 1000,
            transmitted: Bytes::new(52_000),
            delivered_packets: 1000,
            delivered: Bytes::new(52_000),
            ..FlowLinkStats::default()
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
        ..counts(kilobytes).into()
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

/// Names as people may write them: commas, quotes, line ends, all of Unicode.
pub(crate) fn name() -> impl Strategy<Value = String> {
    proptest::string::string_regex("[a-z,\"\n\r\t ;'é𝄞\u{0}-]{1,12}").expect("a valid pattern")
}

/// Any record at all: what its columns read from any cells of their kinds.
pub(crate) fn any_part<T: Part + std::fmt::Debug>() -> impl Strategy<Value = T> {
    let cell = (any::<u64>(), 0.0..1e9_f64, name(), any::<bool>());
    proptest::collection::vec(cell, 48).prop_map(|cells| {
        let mut row: HashMap<&str, (Kind, Value)> = HashMap::new();
        T::each_column(&mut |declared| {
            let (whole, number, text, missing) = &cells[row.len() % cells.len()];
            let cell = match declared.kind {
                // What must not be missing is not: it is read again below.
                _ if *missing => Value::Missing,
                Kind::Text => Value::Text(text.clone()),
                Kind::Integer => Value::Integer(*whole),
                // Seconds come back to the nanosecond up to 26 days.
                Kind::Number => Value::Number((*number % 2e6 * 1e3_f64).round() / 1e3),
                Kind::Flag => Value::Flag(*missing),
            };
            row.insert(declared.column, (declared.kind, cell));
        });
        loop {
            let get = |name: &str| row.get(name).map_or(Value::Missing, |cell| cell.1.clone());
            match T::read(&Fields::new(&get)) {
                Ok(part) => return part,
                Err(what) => {
                    let name = what.split('`').nth(1).expect("the error names the column");
                    let (kind, cell) = row.get_mut(name).expect("the column is declared");
                    *cell = match kind {
                        Kind::Integer => Value::Integer(7),
                        _ => Value::Number(0.5),
                    };
                }
            }
        }
    })
}

prop_compose! {
    fn any_checkpoint()(
        at in any::<u64>().prop_map(Time::from_nanos),
        flows in proptest::collection::vec(any_part(), 0..3),
        crossings in proptest::collection::vec(any_part(), 0..3),
    ) -> Checkpoint {
        Checkpoint { at, flows, crossings }
    }
}

prop_compose! {
    /// Any outcome at all, without series.
    pub(crate) fn any_outcome()(
        scenario in name(),
        (seed, events, packet_hops, ended_at) in any::<(u64, u64, u64, u64)>(),
        flows in proptest::collection::vec(any_part::<FlowOutcome>(), 1..4),
        links in proptest::collection::vec(any_part::<LinkOutcome>(), 1..3),
        middleboxes in proptest::collection::vec(any_part(), 0..2),
        crossings in proptest::collection::vec(any_part(), 0..2),
        legs in proptest::collection::vec(any_part(), 0..2),
        checkpoints in proptest::collection::vec(any_checkpoint(), 0..2),
    ) -> Outcome {
        // Flows and links of the same name cannot be told apart by it.
        let (mut flows, mut links) = (flows, links);
        for (i, flow) in flows.iter_mut().enumerate() {
            flow.name.push_str(&i.to_string());
        }
        for (i, link) in links.iter_mut().enumerate() {
            link.name.push_str(&i.to_string());
        }
        Outcome {
            scenario, seed, events, packet_hops, flows, links, middleboxes, crossings, legs, checkpoints,
            ended_at: Time::from_nanos(ended_at),
            series: Vec::new(),
        }
    }
}
