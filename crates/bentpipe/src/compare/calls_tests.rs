//! Calls and uploads beside downloads.

use super::{Comparison, Mix, Traffic};
use bentpipe_units::{Bytes, Duration, Rate};

/// A download fills a long queue before a slow link, and a call waits in it; a short one
/// does not make it late, and neither does a queue that gives each flow its turn.
#[test]
fn a_call_misses_its_deadline_behind_a_long_queue() {
    let mix: Mix = "download 50%,call 50%".parse().unwrap();
    let queues = ["2 s", "20 packets", "fq-codel"];
    let queues = queues.map(|queue| queue.parse::<super::Queue>().unwrap());
    let answer = Comparison::new()
        .rate(Rate::from_mbps(2))
        .rtt(Duration::from_millis(60))
        .loss(super::Loss::NONE)
        .queues(queues)
        .traffic(Traffic::Mix(mix))
        .size(Bytes::new(3_000_000))
        .transports(["cubic"])
        .runs(1)
        .run()
        .unwrap();
    let missed: Vec<f64> = answer
        .rows
        .iter()
        .map(|row| {
            row.cells[0]
                .users_mean(|user| user.call_missed_share)
                .unwrap()
        })
        .collect();
    assert!(missed[0] > 0.3, "{missed:?}");
    assert!(missed[1] < 0.1 && missed[2] < 0.1, "{missed:?}");
    assert!(answer.rows.iter().all(|row| row.cells[0].unfinished() == 0));
}

#[test]
fn an_upload_takes_the_way_back() {
    let mix: Mix = "download 50%,upload 50%".parse().unwrap();
    let question = |back: u64| {
        let answer = Comparison::new()
            .rate(Rate::from_mbps(10))
            .return_rate(Rate::from_mbps(back))
            .loss(super::Loss::NONE)
            .traffic(Traffic::Mix(mix))
            .size(Bytes::new(1_000_000))
            .transports(["cubic"])
            .runs(1)
            .run()
            .unwrap();
        let time = answer.rows[0].cells[0].time_of(super::Activity::Upload);
        time.unwrap().mean
    };
    let (slow, fast) = (question(1), question(5));
    // 2 MB over 1 Mbit/s take 16 s.
    assert!(slow > 16.0 && fast < slow / 2.0, "{slow} {fast}");
}
