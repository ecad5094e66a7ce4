//! An A/A test: CUBIC under two names, the second with other seeds, on links as operators
//! have them. It should not be told apart from itself in more than 5% of the questions.

use crate::links;
use crate::side_by_side::side_by_side;
use bentpipe::Error;
use bentpipe::compare::{Answer, Certainty, Pep, Runner};
use bentpipe::outcome::Outcome;
use bentpipe::scenario::Scenario;
use bentpipe::sim::Options;
use bentpipe::units::Duration;
use std::process::ExitCode;
use std::sync::Arc;

/// The default with the initial window that it has anyway.
const TWIN: &str = "cubic + IW 10";

/// Seeds of its runs lie so far from those of the default.
const APART: u64 = 1_000_000_000;

/// Told apart in at most so many of the questions.
const MOST: f64 = 0.05;

/// What each question may take, `--time`.
const TIME: Duration = Duration::from_secs(1);

/// The simulator, with other seeds for the twin.
#[derive(Debug)]
struct OtherSeeds;

impl Runner for OtherSeeds {
    fn run(&self, scenario: &Scenario, options: &Options) -> Result<Outcome, Error> {
        let flow = scenario.flows.first();
        let legs = flow
            .and_then(|flow| flow.split.as_ref())
            .map(|split| &split.legs);
        let behind = legs.into_iter().flatten().map(|leg| &leg.transport);
        let own = flow.and_then(|flow| flow.transport.as_deref());
        let is_twin = own.into_iter().chain(behind).any(|t| t.name == TWIN);
        let mut options = options.clone();
        if is_twin {
            options.seed = options.seed.wrapping_add(APART);
        }
        let of = |source| Error::Run {
            of: scenario.name.clone(),
            source,
        };
        bentpipe::sim::run(scenario, &options).map_err(of)
    }
}

/// What became of one question.
struct Told {
    number: u64,
    text: String,
    answer: Answer,
}

impl Told {
    /// A clear verdict takes the twin for something else: to be recommended, or faster and
    /// to be refused.
    fn is_apart(&self) -> bool {
        let verdict = &self.answer.verdict;
        let is_clear = verdict.certainty == Certainty::Clear;
        is_clear && (!self.answer.is_kept() || !verdict.rejected.is_empty())
    }
}

/// Asks so many questions from a number on; a line for each on stdout.
pub(crate) fn run(questions: u64, first: u64) -> ExitCode {
    let numbers: Vec<u64> = (first..first + questions).collect();
    let told = side_by_side(&numbers, |number| {
        let question = links::question(number);
        let comparison = question
            .comparison
            .peps([Pep::None])
            .transports(["cubic", TWIN]);
        let comparison = comparison
            .time(TIME)
            .threads(1)
            .runner(Arc::new(OtherSeeds));
        let answer = comparison
            .run()
            .map_err(|e| format!("{}: {e}", question.text))?;
        Ok(Told {
            number,
            text: question.text,
            answer,
        })
    });
    match told {
        Ok(told) => report(&told),
        Err(error) => {
            eprintln!("advice: {error}");
            ExitCode::from(2)
        }
    }
}

fn report(told: &[Told]) -> ExitCode {
    println!("link,certainty,apart,runs,what");
    for t in told {
        println!(
            "{},{},{},{},\"{}\"",
            t.number,
            t.answer.verdict.certainty.name(),
            t.is_apart(),
            t.answer.most_runs(),
            t.text
        );
    }
    let of = |certainty| {
        told.iter()
            .filter(|t| t.answer.verdict.certainty == certainty)
            .count()
    };
    let apart = told.iter().filter(|t| t.is_apart()).count();
    eprintln!(
        "{} questions: one transport under two names is told apart in {apart} (bar {:.0}%); {} \
         clear, {} borderline, {} open",
        told.len(),
        100.0 * MOST,
        of(Certainty::Clear),
        of(Certainty::Borderline),
        of(Certainty::Open),
    );
    ExitCode::from(u8::from(apart as f64 > MOST * told.len() as f64))
}
