//! Holds the advice of `bentpipe compare` against runs that it has not seen.
//!
//! ```sh
//! cargo run --release -p advice -- [LINKS] [FIRST] [DIR]
//! cargo run --release -p advice -- same [QUESTIONS] [FIRST]
//! ```
//!
//! For each of 200 random links it asks, and runs the settings again with other
//! seeds: each 12 times, those that may be faster than the recommended one 48
//! times, and 192 times where it is open whether that is by 5%. DIR keeps these runs, for the same link and simulator only: another version of the advice is
//! then judged by the same runs at little cost. The bars: on 95% of the links the
//! recommended setting is within 5% of the best that may be recommended, and on
//! none do others lose more than the words say. Prints a table as CSV on stdout and
//! a summary on stderr. With `same` it compares one transport under two names, on 400 links. Exit status: 0 met, 1 not, 2 could not run.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program: its results go to stdout"
)]

mod judge;
mod links;
mod same;
mod side_by_side;
mod truth;

use judge::Judged;
use side_by_side::side_by_side;
use std::path::PathBuf;
use std::process::ExitCode;

/// The recommended setting may be this much slower than the best.
const BEHIND: f64 = 0.05;

/// On so many of the links.
const SHARE: f64 = 0.95;

/// Others may lose this much more than is said: the sampling of both.
const MARGIN: f64 = 0.05;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1).peekable();
    let is_same = arguments.next_if(|word| word == "same").is_some();
    let mut number = |otherwise: u64| match arguments.next() {
        None => Some(otherwise),
        Some(text) => text.parse().ok(),
    };
    let all = if is_same { 400 } else { 200 };
    let (Some(links), Some(first)) = (number(all), number(0)) else {
        eprintln!(
            "usage: advice [LINKS] [FIRST] [DIR]: two numbers and where to keep runs\n       advice \
             same [QUESTIONS] [FIRST]: one transport under two names"
        );
        return ExitCode::from(2);
    };
    if is_same {
        return same::run(links, first);
    }
    let directory = arguments.next().map(PathBuf::from);
    if let Some(directory) = &directory
        && let Err(error) = std::fs::create_dir_all(directory)
    {
        eprintln!("advice: {}: {error}", directory.display());
        return ExitCode::from(2);
    }
    let numbers: Vec<u64> = (first..first + links).collect();
    let judged = side_by_side(&numbers, |number| {
        let question = links::question(number);
        let file = directory.as_ref().map(|d| d.join(format!("{number}.json")));
        judge::judge(&question, file.as_deref()).map_err(|e| format!("{}: {e}", question.text))
    });
    match judged {
        Ok(judged) => report(&judged),
        Err(error) => {
            eprintln!("advice: {error}");
            ExitCode::from(2)
        }
    }
}

fn report(judged: &[Judged]) -> ExitCode {
    table(judged);
    let share = |f: &dyn Fn(&Judged) -> bool| {
        judged.iter().filter(|j| f(j)).count() as f64 / judged.len().max(1) as f64
    };
    let close = share(&|j| !j.misses(BEHIND));
    let proven = share(&|j| !j.misses_beyond_chance(BEHIND));
    let any = share(&|j| j.behind_any <= BEHIND);
    let hidden: Vec<&Judged> = judged.iter().filter(|j| j.hides_harm(MARGIN)).collect();
    eprintln!(
        "{} links: within {:.0}% of the best that may be recommended on {:.1}% (bar {:.0}%), not \
         further off beyond chance on {:.1}%; of the best whatever it costs others on {:.1}%; \
         others lose more than is said on {} (bar 0)",
        judged.len(),
        100.0 * BEHIND,
        100.0 * close,
        100.0 * SHARE,
        100.0 * proven,
        100.0 * any,
        hidden.len(),
    );
    for j in judged.iter().filter(|j| j.misses(BEHIND)) {
        eprintln!(
            "  {:+.1}% ±{:.1}% {} where {} is best ({}): link {}, {}\n      {}",
            100.0 * j.behind.mean,
            100.0 * j.behind.ci,
            j.pick,
            j.best,
            j.certainty,
            j.number,
            j.text,
            j.why
        );
    }
    for j in &hidden {
        let found = j.found.unwrap_or_default();
        eprintln!(
            "  others lose {:.0}% ±{:.0}% beside {}, said {:.0}%: link {}, {}",
            100.0 * found.mean,
            100.0 * found.ci,
            j.pick,
            100.0 * j.said,
            j.number,
            j.text
        );
    }
    ExitCode::from(u8::from(close < SHARE || !hidden.is_empty()))
}

/// A line for each link.
fn table(judged: &[Judged]) {
    println!(
        "link,recommended,best,behind,behind_ci95,best_harm,any,behind_any,harm_said,harm_found,\
         harm_ci95,certainty,runs,what"
    );
    let number = |x: Option<f64>| x.map_or(String::new(), |x| format!("{x:.4}"));
    for j in judged {
        println!(
            "{},{},{},{:.4},{:.4},{},{},{:.4},{:.4},{},{},{},{},\"{}\"",
            j.number,
            j.pick,
            j.best,
            j.behind.mean,
            j.behind.ci,
            number(j.best_harm.map(|h| h.mean)),
            j.any,
            j.behind_any,
            j.said,
            number(j.found.map(|h| h.mean)),
            number(j.found.map(|h| h.ci)),
            j.certainty,
            j.runs,
            j.text
        );
    }
}
