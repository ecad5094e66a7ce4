//! Holds the advice of `bentpipe compare` against runs that it has not seen.
//!
//! ```sh
//! cargo run --release -p advice -- [LINKS] [FIRST]
//! ```
//!
//! For each of 200 random links it asks, and runs every setting again with 24 other
//! seeds. The bars: on 95% of the links the recommended setting is within 5% of the
//! best that may be recommended, and on none do others lose more than the words
//! say. Prints a table as CSV on stdout and a summary on stderr. Exit status: 0 met, 1
//! not, 2 could not run.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program: its results go to stdout"
)]

mod judge;
mod links;

use judge::Judged;
use rayon::prelude::*;
use std::process::ExitCode;

/// Runs of every setting that no answer is made of.
const RUNS: u64 = 24;

/// The recommended setting may be this much slower than the best.
const BEHIND: f64 = 0.05;

/// On so many of the links.
const SHARE: f64 = 0.95;

/// Others may lose this much more than is said: the sampling of both.
const MARGIN: f64 = 0.05;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let mut number = |otherwise: u64| match arguments.next() {
        None => Some(otherwise),
        Some(text) => text.parse().ok(),
    };
    let (Some(links), Some(first)) = (number(200), number(0)) else {
        eprintln!("usage: advice [LINKS] [FIRST], two numbers");
        return ExitCode::from(2);
    };
    let numbers: Vec<u64> = (first..first + links).collect();
    let judged: Result<Vec<Judged>, String> = numbers
        .par_iter()
        .with_max_len(1)
        .map(|number| {
            let question = links::question(*number);
            judge::judge(&question, RUNS).map_err(|e| format!("{}: {e}", question.text))
        })
        .collect();
    match judged {
        Ok(judged) => report(&judged),
        Err(error) => {
            eprintln!("advice: {error}");
            ExitCode::from(2)
        }
    }
}

fn report(judged: &[Judged]) -> ExitCode {
    println!(
        "link,recommended,best,behind,behind_ci95,behind_any,harm_said,harm_found,harm_ci95,\
         certainty,what"
    );
    for j in judged {
        let (found, ci) = match j.found {
            Some((found, ci)) => (format!("{found:.4}"), format!("{ci:.4}")),
            None => Default::default(),
        };
        println!(
            "{},{},{},{:.4},{:.4},{:.4},{:.4},{found},{ci},{},\"{}\"",
            j.number,
            j.pick,
            j.best,
            j.behind,
            j.behind_ci,
            j.behind_any,
            j.said,
            j.certainty,
            j.text
        );
    }
    let share = |f: &dyn Fn(&Judged) -> bool| {
        judged.iter().filter(|j| f(j)).count() as f64 / judged.len().max(1) as f64
    };
    let close = share(&|j| j.behind <= BEHIND);
    let any = share(&|j| j.behind_any <= BEHIND);
    let hidden: Vec<&Judged> = judged.iter().filter(|j| j.hides_harm(MARGIN)).collect();
    eprintln!(
        "{} links: within {:.0}% of the best that may be recommended on {:.1}% (bar {:.0}%), of \
         the best whatever it costs others on {:.1}%; others lose more than is said on {} (bar 0)",
        judged.len(),
        100.0 * BEHIND,
        100.0 * close,
        100.0 * SHARE,
        100.0 * any,
        hidden.len(),
    );
    for j in judged.iter().filter(|j| j.behind > BEHIND) {
        eprintln!(
            "  {:+.1}% ±{:.1}% {} where {} is best ({}): link {}, {}",
            100.0 * j.behind,
            100.0 * j.behind_ci,
            j.pick,
            j.best,
            j.certainty,
            j.number,
            j.text
        );
    }
    for j in &hidden {
        let (found, ci) = j.found.unwrap_or_default();
        eprintln!(
            "  others lose {:.0}% ±{:.0}% beside {}, said {:.0}%: link {}, {}",
            100.0 * found,
            100.0 * ci,
            j.pick,
            100.0 * j.said,
            j.number,
            j.text
        );
    }
    ExitCode::from(u8::from(close < SHARE || !hidden.is_empty()))
}
