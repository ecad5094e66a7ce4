//! Holds `bentpipe compare capacity` against a scan over all numbers of users.
//!
//! ```sh
//! cargo run --release -p advice --bin capacity -- [RUNS] [FIRST] [QUESTIONS]
//! ```
//!
//! For each question it asks how many users the link carries with cubic and with another
//! setting. Then it runs every number of users from the fewest to four tenths more than the answer,
//! RUNS times (200) with other seeds, takes the statistic over all values of all runs, and looks for
//! the number that parts those that meet the target from those that do not with the fewest
//! exceptions. The bar: the answer is within 10%, or one user, of it for each. Prints a table as
//! CSV on stdout and a summary on stderr. Exit status: 0 met, 1 not, 2 could not run.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program: its results go to stdout"
)]

use bentpipe::compare::{Answer, Comparison, Measure, Question, Statistic, Target};
use bentpipe::prelude::*;
use rayon::prelude::*;
use std::process::ExitCode;

/// The answer may be this much off.
const BAR: f64 = 0.10;

/// Seed of the first run of the scan: far from those of the answers.
const SEED: u64 = 1_000_000;

/// Targets and links: options of `bentpipe compare`.
const QUESTIONS: [(&str, &str); 20] = [
    ("p95 page < 5 s", "rate=10Mbit/s size=500kB traffic=web"),
    (
        "p95 page < 8 s",
        "rate=5Mbit/s size=300kB traffic=web loss=0",
    ),
    ("median page < 3 s", "rate=5Mbit/s size=300kB traffic=web"),
    (
        "mean page < 4 s",
        "rate=10Mbit/s size=500kB traffic=web rtt=270ms",
    ),
    (
        "p90 page < 6 s",
        "rate=20Mbit/s size=1MB traffic=web queue=0.5BDP",
    ),
    (
        "p95 page < 3 s",
        "rate=5Mbit/s size=200kB traffic=web rtt=60ms",
    ),
    ("p95 object < 2 s", "rate=5Mbit/s size=300kB traffic=web"),
    (
        "mean object < 1.5 s",
        "rate=5Mbit/s size=300kB traffic=web loss=1%",
    ),
    ("mean download < 6 s", "rate=5Mbit/s size=500kB loss=0"),
    ("mean download < 20 s", "rate=10Mbit/s size=2MB"),
    ("p90 download < 15 s", "rate=10Mbit/s size=1MB rtt=270ms"),
    (
        "median download < 10 s",
        "rate=4Mbit/s size=500kB queue=2BDP",
    ),
    ("p95 download < 12 s", "rate=10Mbit/s size=1MB loss=0.01%"),
    ("mean download < 8 s", "rate=20Mbit/s size=2MB rtt=40ms"),
    ("p5 rate > 300 kbit/s", "rate=10Mbit/s size=1MB"),
    ("mean rate > 800 kbit/s", "rate=10Mbit/s size=1MB"),
    ("p10 rate > 200 kbit/s", "rate=5Mbit/s size=500kB loss=1%"),
    ("p95 wait < 300 ms", "rate=5Mbit/s size=300kB traffic=web"),
    (
        "p95 page < 6 s",
        "rate=10Mbit/s size=500kB traffic=web pep=split",
    ),
    (
        "p95 page < 6 s",
        "rate=10Mbit/s size=500kB traffic=web background=20%",
    ),
];

/// The settings that are compared.
const SETTINGS: &str = "transport=cubic,cubic + IW 32";

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let mut number = |otherwise: usize| match arguments.next() {
        None => Some(otherwise),
        Some(text) => text.parse().ok(),
    };
    let (Some(runs), Some(first), Some(count)) = (number(200), number(0), number(20)) else {
        eprintln!("usage: capacity [RUNS] [FIRST] [QUESTIONS]: three numbers");
        return ExitCode::from(2);
    };
    println!("question,until,link,transport,users,least,most,scan,off,within");
    let (mut asked, mut within, mut worst) = (0, 0, 0.0_f64);
    for (i, (until, link)) in QUESTIONS.iter().enumerate().skip(first).take(count) {
        match held(until, link, runs) {
            Ok(rows) => {
                for row in rows {
                    asked += 1;
                    within += usize::from(row.is_within());
                    worst = worst.max(row.off().abs());
                    println!("{i},{until},{link},{}", row.text());
                }
            }
            Err(error) => {
                eprintln!("capacity: {until}, {link}: {error}");
                return ExitCode::from(2);
            }
        }
    }
    eprintln!(
        "{asked} answers: {within} within {:.0}% or one user of the scan (bar: all), the worst off by \
         {:.1}%",
        100.0 * BAR,
        100.0 * worst
    );
    ExitCode::from(u8::from(within < asked))
}

/// An answer and what the scan says.
struct Held {
    transport: String,
    users: u32,
    interval: [u32; 2],
    scan: u32,
}

impl Held {
    fn off(&self) -> f64 {
        f64::from(self.users) / f64::from(self.scan.max(1)) - 1.0
    }

    fn is_within(&self) -> bool {
        self.off().abs() <= BAR || self.users.abs_diff(self.scan) <= 1
    }

    fn text(&self) -> String {
        let [least, most] = self.interval;
        format!(
            "{},{},{least},{most},{},{:.3},{}",
            self.transport,
            self.users,
            self.scan,
            self.off(),
            self.is_within()
        )
    }
}

type Failure = Box<dyn std::error::Error>;

fn held(until: &str, link: &str, runs: usize) -> Result<Vec<Held>, Failure> {
    let target: Target = until.parse()?;
    let options: Vec<(&str, &str)> = link
        .split(' ')
        .chain([SETTINGS])
        .filter_map(|option| option.split_once('='))
        .collect();
    let question = Comparison::from(Question::read(&options)?);
    let found = question.capacity(target)?;
    let mut held = Vec::new();
    for row in &found.rows {
        let users = row.users.ok_or("the number of users was not found")?;
        let name = found.answer.rows[row.row].name.clone();
        let most = users + users * 2 / 5 + 2;
        let met: Result<Vec<bool>, bentpipe::Error> = (1..=most)
            .map(|n| met(&question.clone().users(n), &name, target, runs))
            .collect();
        held.push(Held {
            transport: name,
            users,
            interval: row.interval.unwrap_or([users; 2]),
            scan: parted(&met?),
        });
    }
    Ok(held)
}

/// The number of users that parts those that meet the target from those that do not, with the
/// fewest exceptions.
fn parted(met: &[bool]) -> u32 {
    let exceptions = |last: usize| {
        let before = met[..last].iter().filter(|met| !**met).count();
        before + met[last..].iter().filter(|met| **met).count()
    };
    (0..=met.len())
        .min_by_key(|last| exceptions(*last))
        .unwrap_or(0) as u32
}

/// Whether the target is met by all values of all runs together.
fn met(
    question: &Comparison,
    name: &str,
    target: Target,
    runs: usize,
) -> Result<bool, bentpipe::Error> {
    let answer = question.clone().runs(1).run()?;
    let row = answer.rows.iter().find(|row| row.name == name);
    let Some(row) = row else { return Ok(false) };
    let values: Result<Vec<Vec<f64>>, bentpipe::Error> = (0..runs as u64)
        .into_par_iter()
        .map(|run| {
            let options = bentpipe::sim::Options {
                seed: SEED + run,
                ..Default::default()
            };
            let outcome = answer.replay(row, 0, &options)?;
            Ok(values(&answer, &outcome, target.measure))
        })
        .collect();
    let mut values = values?.concat();
    values.sort_by(f64::total_cmp);
    let of_all = match target.measure {
        // A run has one, its 95th percentile.
        Measure::Wait => Statistic::Mean,
        _ => target.statistic,
    };
    let statistic = match of_all {
        Statistic::Mean => values.iter().sum::<f64>() / values.len() as f64,
        // The smallest that is not exceeded by so many.
        Statistic::Percentile(p) => {
            let at = (values.len() as f64 * p / 100.0).ceil() as usize;
            values[at.saturating_sub(1).min(values.len() - 1)]
        }
    };
    Ok(match target.measure {
        Measure::Rate => statistic > target.limit,
        _ => statistic < target.limit,
    })
}

/// What a run shows, read from the outcome and not by the code that is tested.
fn values(answer: &Answer, outcome: &bentpipe::outcome::Outcome, measure: Measure) -> Vec<f64> {
    let mut found = Vec::new();
    for flow in &outcome.flows {
        let is_object = flow.name.ends_with("-objects");
        if flow.name == "background" {
            continue;
        }
        match measure {
            Measure::Page | Measure::Object if is_object == (measure == Measure::Object) => {
                found.extend(flow.page_times.iter().map(|time| time.as_secs()));
            }
            Measure::Page | Measure::Object => {}
            Measure::Download => {
                found.push(flow.transfer_time.map_or(f64::INFINITY, Duration::as_secs));
            }
            Measure::Rate => {
                let bits = answer.sizes[0].as_f64() * 8.0;
                found.push(flow.transfer_time.map_or(0.0, |time| bits / time.as_secs()));
            }
            _ => {}
        }
    }
    if measure == Measure::Wait {
        found.extend(
            outcome
                .links
                .first()
                .map(|link| link.p95_queueing_delay.as_secs()),
        );
    }
    found
}
