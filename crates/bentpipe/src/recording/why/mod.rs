//! Why a run took as long as it did: what the congestion control did in its phases,
//! in words. Every number is one of the recorded series.

mod difference;
mod explained;
mod facts;
mod spent;
mod text;

pub use difference::difference;
pub use explained::Explained;
pub use facts::{Facts, Range};
pub use spent::{Doing, Spent, TimeSpent};

use super::spans::{self, Phase, PhaseSpan};
use super::{Recording, text as shared};
use crate::compare::Answer;
use bentpipe_units::Time;

/// Acts that are told one by one; of more, what follows the third is one act.
const MOST_ACTS: usize = 7;

/// The acts at the beginning that are always told one by one.
const FIRST_ACTS: usize = 3;

/// What happened in a run, and why.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub struct Why {
    /// The run in a few sentences.
    pub summary: Vec<String>,
    /// What the sender did, act after act.
    pub acts: Vec<Act>,
}

/// A time in which the sender did one thing, or a few in turn.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub struct Act {
    /// What it did: `Slow start`.
    pub title: String,
    /// The names of its phases in outcomes, in the order in which they came.
    pub phases: Vec<&'static str>,
    /// Its beginning.
    pub from: Time,
    /// Its end.
    pub to: Time,
    /// What was measured in it.
    pub facts: Facts,
    /// What happened, in sentences.
    pub sentences: Vec<String>,
}

/// A part of the run before words are found for it.
#[derive(Clone, Debug)]
struct Part {
    /// The phases, each with how often it came.
    phases: Vec<(Phase, usize)>,
    from: Time,
    to: Time,
    /// Its samples.
    first: usize,
    last: usize,
    /// How it ends.
    end: End,
}

/// How a part of a run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// The download is complete.
    Complete,
    /// The recording ends.
    Cut,
    /// A phase follows that repairs losses.
    Repair,
    /// Another phase follows.
    Next,
}

impl Recording {
    /// What the sender did and why the run took as long as it did. `answer` is the one
    /// that the run was recorded of.
    #[must_use]
    pub fn why(&self, answer: &Answer) -> Why {
        let parts = self.parts();
        let mut acts: Vec<Act> = Vec::new();
        acts.extend(self.handshake());
        let mut told: Vec<&str> = Vec::new();
        for part in &parts {
            let facts = facts::of(self, answer, part);
            let before = part.first.checked_sub(1);
            let before = before.and_then(|i| self.series.sender.get(i));
            let sentences = text::PhaseNarrator {
                recording: self,
                answer,
                part,
                facts: &facts,
                before: before.map(|sample| sample.cwnd),
            }
            .sentences(&mut told);
            acts.push(Act {
                title: title(part),
                phases: part.phases.iter().map(|(phase, _)| phase.name).collect(),
                from: part.from,
                to: part.to,
                facts,
                sentences,
            });
        }
        Why {
            summary: text::summary(self, answer, &acts),
            acts,
        }
    }

    /// The time before the first data.
    fn handshake(&self) -> Option<Act> {
        let first = self.first_data_at?;
        (first > self.started_at && !self.series.sender.is_empty()).then(|| {
            let mut sentences =
                vec!["The connection is being opened: no data crosses the link yet.".to_owned()];
            sentences.extend(text::lost_openings(self, first));
            Act {
                title: "Handshake".to_owned(),
                phases: Vec::new(),
                from: self.started_at,
                to: first,
                facts: Facts::default(),
                sentences,
            }
        })
    }

    /// The run in parts, from its first data on.
    fn parts(&self) -> Vec<Part> {
        let begin = self.first_data_at.unwrap_or(self.started_at);
        let mut groups = spans::grouped(&self.phases());
        groups.retain(|span| span.to > begin);
        if let Some(first) = groups.first_mut() {
            first.from = first.from.max(begin);
            let samples = &self.series.sender[first.first..first.last];
            // The state when the first data go.
            let before = samples.partition_point(|s| s.at < begin);
            first.first += before.min(samples.len() - 1);
        }
        let end = match self.ended_at {
            Some(_) => End::Complete,
            None => End::Cut,
        };
        let alone = |span: &PhaseSpan| Part {
            phases: vec![(span.phase, 1)],
            from: span.from,
            to: span.to,
            first: span.first,
            last: span.last,
            end,
        };
        let many = groups.len() > MOST_ACTS;
        let kept = if many { FIRST_ACTS } else { groups.len() };
        let mut parts: Vec<Part> = groups[..kept].iter().map(alone).collect();
        if many {
            let rest = &groups[kept..];
            let mut part = alone(&rest[0]);
            part.phases.clear();
            for span in rest {
                part.to = span.to;
                part.last = span.last;
                let known = part
                    .phases
                    .iter_mut()
                    .find(|(p, _)| p.group == span.phase.group);
                match known {
                    Some((_, times)) => *times += 1,
                    None => part.phases.push((span.phase, 1)),
                }
            }
            parts.push(part);
        }
        for i in 1..parts.len() {
            let repairs = parts[i].phases[0].0.repairs();
            parts[i - 1].end = if repairs { End::Repair } else { End::Next };
        }
        parts
    }
}

fn title(part: &Part) -> String {
    match part.phases.as_slice() {
        [(only, _)] => only.title.to_owned(),
        [first, rest @ ..] => {
            let others: Vec<String> = rest.iter().map(|(p, _)| lower(p.title)).collect();
            format!("{} and {} in turn", first.0.title, shared::list(&others))
        }
        [] => String::new(),
    }
}

/// A title within a sentence: names of their own keep their capitals.
fn lower(title: &str) -> String {
    let mut letters = title.chars();
    let first = letters.next();
    match (first, letters.clone().any(char::is_uppercase)) {
        (Some(first), false) => first.to_lowercase().chain(letters).collect(),
        _ => title.to_owned(),
    }
}

#[cfg(test)]
mod tests;
