//! Results for this crate's tests.

use crate::collection::LoadedStudy;
use crate::record::{RunData, RunResult};
use crate::results::StudyResults;
use crate::runs::Runs;
use crate::study::Study;
use bentpipe_outcome::{
    Checkpoint, DeadlineOutcome, FlowCounts, FlowLinkCounts, FlowOutcome, LinkOutcome, Outcome,
    PageOutcome, VideoOutcome,
};
use bentpipe_units::{Bytes, Duration, Rate, Time};
use std::sync::Arc;

/// A run of one flow `transfer` over one link `satellite` that took `seconds`.
pub(crate) fn outcome(seconds: f64) -> Outcome {
    let time = Duration::from_secs_f64(seconds);
    Outcome {
        scenario: "test".into(),
        seed: 1,
        ended_at: Time::ZERO + time,
        events: 100,
        packet_hops: 50,
        flows: vec![FlowOutcome {
            name: "transfer".into(),
            transport: "newreno".into(),
            transfer_time: Some(time),
            offered: Some(Bytes::new(1_000_000)),
            delivered: Bytes::new(1_000_000),
            acknowledged: Bytes::new(1_000_000),
            first_delivery_at: Some(Time::from_nanos(300_000_000)),
            last_delivery_at: Some(Time::ZERO + time),
            sent: Bytes::new(1_014_480),
            packets_sent: 700,
            retransmissions: 10,
            spurious_retransmissions: 1,
            timeouts: 2,
            recoveries: 3,
            reductions: 5,
            acks_received: 350,
            queue_drops: 3,
            channel_losses: 7,
            pages: Some(PageOutcome {
                completed: 3,
                mean_time: Some(Duration::from_secs(2)),
                p95_time: Some(Duration::from_secs(4)),
                mean_render_time: Some(Duration::from_secs(1)),
                p95_render_time: Some(Duration::from_secs(3)),
            }),
            video: Some(VideoOutcome {
                segments: 15,
                startup_delay: Some(Duration::from_secs(2)),
                stalls: 1,
                stall_time: Duration::from_secs(3),
            }),
            deadline: Some(DeadlineOutcome {
                due: 100,
                missed: 2,
                mean_delay: Some(Duration::from_millis(260)),
                p95_delay: Some(Duration::from_millis(280)),
            }),
            min_rtt: Some(Duration::from_millis(511)),
            mean_rtt: Some(Duration::from_millis(600)),
            max_cwnd: 42.5,
            ..FlowOutcome::default()
        }],
        links: vec![LinkOutcome {
            name: "satellite".into(),
            rate: Rate::from_mbps(2),
            offered_packets: 703,
            delivered_packets: 693,
            delivered_bytes: Bytes::new(1_050_000),
            queue_drops: 3,
            channel_losses: 7,
            utilisation: 0.75,
            mean_queue_packets: 2.0,
            max_queue_packets: 40,
            max_queue_bytes: Bytes::new(60_000),
            mean_queueing_delay: Duration::from_millis(12),
            p95_queueing_delay: Duration::from_millis(90),
            ..LinkOutcome::default()
        }],
        middleboxes: Vec::new(),
        legs: Vec::new(),
        crossings: vec![crossed(1_050_000, 3).into()],
        checkpoints: vec![Checkpoint {
            at: Time::from_nanos(4_000_000_000),
            flows: vec![FlowCounts {
                delivered: Bytes::new(250_000),
                sent: Bytes::new(260_000),
                packets_sent: 200,
                retransmissions: 8,
                timeouts: 1,
                reductions: 4,
                queue_drops: 2,
                channel_losses: 1,
                ..FlowCounts::default()
            }],
            crossings: vec![crossed(300_000, 2)],
        }],
        series: Vec::new(),
    }
}

fn crossed(transmitted: u64, queue_drops: u64) -> FlowLinkCounts {
    FlowLinkCounts {
        transmitted: Bytes::new(transmitted),
        queue_drops,
        ..FlowLinkCounts::default()
    }
}

pub(crate) fn run_data(outcome: Outcome) -> RunData {
    RunData::new(outcome)
}

/// The same with time series of flow `transfer`.
pub(crate) fn with_series(mut outcome: Outcome) -> Outcome {
    use bentpipe_outcome::{FlowSeries, SenderSample};
    let times = (0..100_u64).map(|i| Time::from_nanos(i * 100_000_000));
    let sample = |at| SenderSample {
        at,
        cwnd: 10.0,
        ssthresh: f64::INFINITY,
        flight: 8.0,
        rtt: Duration::from_millis(511),
        retransmissions: 1,
        spurious_retransmissions: 0,
        phase: "slow_start",
    };
    let steps = |scale: u64| {
        times
            .clone()
            .map(move |at| (at, Bytes::new(at.as_nanos() / scale)))
    };
    outcome.series = vec![FlowSeries {
        flow: "transfer".into(),
        sender: times.clone().map(sample).collect(),
        delivered: steps(10_000).collect(),
        sent: steps(9_000).collect(),
        ..FlowSeries::default()
    }];
    outcome
}

/// Results that a function of cell and replication makes up.
pub(crate) fn fake_results(
    study: &Arc<Study>,
    make: impl Fn(usize, usize) -> Result<Outcome, String>,
) -> StudyResults {
    let replications = study.replications as usize;
    let mut runs = Runs::in_memory(study.cells() * replications);
    for run in 0..study.cells() * replications {
        let result = match make(run / replications, run % replications) {
            Ok(outcome) => RunResult::Done(Box::new(RunData::new(outcome))),
            Err(why) => RunResult::Failed(why),
        };
        runs.put(run, Arc::new(result));
    }
    StudyResults::of_cells(study, runs)
}

/// The times that a paper prints, as if they were the only replication.
pub(crate) fn printed(loaded: &LoadedStudy) -> StudyResults {
    let mut study = (*loaded.study).clone();
    study.replications = 1;
    let study = Arc::new(study);
    let reference = &loaded.references[&study.name];
    let row = ["bandwidth", "file"].map(|name| study.axis(name).unwrap());
    let transports = study.axis("transport").unwrap();
    fake_results(&study, |cell, _| {
        let points = crate::plan::points(&study.axes, cell);
        let labels: Vec<&str> = row
            .iter()
            .zip(&points)
            .map(|(a, p)| a.points[*p].label.as_str())
            .collect();
        let column = &transports.points[points[2]].label;
        let found = reference.get(&labels.join(crate::reference::ROW_JOIN), column);
        Ok(outcome(found.ok_or("not printed")?.value))
    })
}
