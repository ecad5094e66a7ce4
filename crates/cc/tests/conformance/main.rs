//! The C that runs in the kernel against the Rust of the same algorithm, step by
//! step: the same acknowledgements, losses and timeouts to both, and after each
//! the windows compared.
//!
//! Both see what the Rust's window would have sent; a window in whole segments
//! (the C) is held against the whole part of the Rust's.

//!
//! What is found goes into `differences.txt`.

mod cases;
mod conditions;
mod pair;
mod path;

use cases::Case;
use conditions::Conditions;
use path::Path;
use std::fmt::Write as _;

/// Acknowledgements of each stream.
const ACKS: u64 = 100_000;

const GEO: Conditions = Conditions {
    name: "geo",
    spacing: 1_200,
    rtt: 600_000,
    rtt_steps: 0,
    queue: 500,
    loss: 0,
    ack_every: 1,
    receive_window: 4_000,
    burst: 0,
    spurious: 0,
    outage_every: 0,
};

/// The streams: what a window meets.
const STREAMS: [Conditions; 8] = [
    GEO,
    Conditions {
        name: "geo, delayed ACKs, small queue",
        spacing: 6_000,
        rtt: 511_000,
        queue: 40,
        ack_every: 2,
        ..GEO
    },
    Conditions {
        name: "geo, losses of 0.1%",
        loss: 1_000,
        ..GEO
    },
    Conditions {
        name: "geo, losses of 1%, delayed ACKs",
        loss: 10_000,
        ack_every: 2,
        ..GEO
    },
    Conditions {
        name: "leo, moving RTT, losses of 0.5%",
        rtt: 20_000,
        rtt_steps: 40_000,
        queue: 50,
        loss: 5_000,
        ..GEO
    },
    Conditions {
        name: "bursts of an application",
        rtt: 100_000,
        burst: 300,
        loss: 500,
        ..GEO
    },
    Conditions {
        name: "outages and losses of 5%",
        rtt: 200_000,
        loss: 50_000,
        spurious: 3,
        outage_every: 1_000,
        ..GEO
    },
    Conditions {
        name: "large windows",
        spacing: 12,
        rtt: 100_000,
        queue: 4_000,
        loss: 20,
        receive_window: 1 << 20,
        ..GEO
    },
];

/// Runs all streams: a line of the table, and what went wrong.
fn run(case: &Case) -> (String, String) {
    let mut line = format!("{:<58}", case.name());
    let mut complaints = String::new();
    let mut ssthresh: f64 = 0.0;
    let mut events = [0; 3];
    for conditions in STREAMS {
        let mut pair = case.pair();
        let mut path = Path::new(conditions, &mut pair);
        path.run(ACKS);
        let found = pair.differences;
        let _ = write!(line, " {:>2}", found.cwnd);
        ssthresh = ssthresh.max(found.ssthresh);
        events[0] += found.losses;
        events[1] += found.timeouts;
        events[2] += found.undone;
        if let Some(first) = pair.first_difference() {
            let _ = writeln!(complaints, "{}, {}: {first}", case.name(), conditions.name);
        }
    }
    let [losses, timeouts, undone] = events;
    let _ = writeln!(line, " {ssthresh:>8} {losses:>8} {timeouts:>8} {undone:>6}");
    (line, complaints)
}

/// Runs all cases, on two threads.
fn run_all(cases: &[Case]) -> (String, String) {
    let (first, second) = cases.split_at(cases.len() / 2);
    let all = |cases: &[Case]| cases.iter().map(run).collect::<Vec<_>>();
    let mut results = std::thread::scope(|scope| {
        let other = scope.spawn(|| all(second));
        let mut results = all(first);
        results.extend(other.join().unwrap());
        results
    })
    .into_iter();
    results
        .by_ref()
        .fold(Default::default(), |(table, wrong), (line, complaints)| {
            (table + &line, wrong + &complaints)
        })
}

#[test]
fn the_c_and_the_rust_are_at_most_a_segment_apart() {
    let mut table = format!("{ACKS} ACKs of each stream: largest difference of cwnd in segments\n");
    for (i, conditions) in STREAMS.iter().enumerate() {
        let _ = writeln!(table, "  {}: {}", i + 1, conditions.name);
    }
    let _ = writeln!(
        table,
        "{:<58}  1  2  3  4  5  6  7  8 ssthresh   losses timeouts undone",
        ""
    );
    let (lines, complaints) = run_all(&cases::all());
    assert!(
        complaints.is_empty(),
        "more than a segment apart:\n{complaints}"
    );
    table += &lines;
    assert!(
        table == include_str!("differences.txt"),
        "the differences are now:\n{table}"
    );
}
