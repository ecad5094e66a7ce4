//! Whether the advice holds beside the question: for other losses, queues and users.
//!
//! Each neighbouring question has the seeds of the question and is decided by the same
//! rule, but only between the recommended row, the baseline and the nearest rivals. It has
//! a part of the budget of the question ([`SHARE`]).

mod search;

use self::search::{Edge, Known, State};
use super::answer::{Answer, Row};
use super::comparison::Comparison;
use super::cost::missing;
use super::decide::decide;
use super::engine::{budget, is_random, prepared};
use super::loss::Loss;
use super::pep::Pep;
use super::question::MOST_USERS;
use super::queue::QueueDiscipline;
use super::race::Kind;
use super::scheduler::RunScheduler;
use super::sequential::FEWEST;
use super::verdict::{Certainty, Gain};
use super::watch::Watch;
use crate::Error;
use bentpipe_scenario::QueueLength;
use bentpipe_units::{Bytes, Duration, Ratio, math};

/// The part of the budget of the question that each neighbouring one has.
const SHARE: f64 = 1.0 / 3.0;

/// Rows that are run, the recommended one and the baseline among them.
const ROWS: usize = 5;

/// How far the search for a turn goes, in both directions.
const FAR: f64 = 10.0;

/// Where nothing is lost there is no half and no twice: the search goes from the first share
/// of losses, which changes next to nothing, to the second.
const FROM_NO_LOSS: [f64; 2] = [1e-5, 1e-2];

/// What is varied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub enum Dimension {
    /// What the channel loses.
    Loss,
    /// The length of the queue before the link.
    Queue,
    /// How many users there are.
    Users,
}

impl Dimension {
    /// All of them.
    pub const ALL: [Dimension; 3] = [Dimension::Loss, Dimension::Queue, Dimension::Users];

    /// Its name, also that of its option.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Dimension::Loss => "loss",
            Dimension::Queue => "queue",
            Dimension::Users => "users",
        }
    }
}

/// The advice for a neighbouring question.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub struct Neighbour {
    /// The value over the one that was asked; where nothing is lost, over 0.001%.
    pub factor: f64,
    /// The value as it is typed.
    pub value: String,
    /// The row that is recommended there, or leads, of the [answer](Answer); `None` if
    /// nothing ended.
    pub pick: Option<usize>,
    /// What that gains over the baseline there.
    pub gain: Option<Gain>,
    /// How sure it is.
    pub certainty: Certainty,
    /// True if the advice is shown to be the same there, or what was recommended as good as
    /// another; false if another is shown; `None` if the runs do not tell.
    pub holds: Option<bool>,
}

/// Where the advice turns in one direction.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub enum Turn {
    /// Nothing could be run.
    Unknown,
    /// It holds up to here, which is as far as was asked.
    Never(Neighbour),
    /// The last value at which it is shown to hold, `None` for the one that was asked, and the
    /// first at which another is shown.
    Between(Option<Neighbour>, Neighbour),
    /// The last value at which it is shown to hold, `None` for the one that was asked; the
    /// runs do not tell what holds beyond it.
    Open(Option<Neighbour>),
}

/// How the advice depends on one quantity.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub struct Sensitivity {
    /// What is varied.
    pub dimension: Dimension,
    /// The value that was asked, as it is typed.
    pub asked: String,
    /// For half of it, where there is one.
    pub half: Option<Neighbour>,
    /// For twice of it.
    pub twice: Option<Neighbour>,
    /// Towards smaller values.
    pub below: Turn,
    /// Towards larger values.
    pub above: Turn,
}

/// Whether the advice holds beside the question.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub struct Robustness {
    /// The rows that were run, indices into [`Answer::rows`].
    pub rows: Vec<usize>,
    /// One for each quantity.
    pub dimensions: Vec<Sensitivity>,
}

/// A value of a dimension.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Value {
    Loss(Loss),
    Queue(QueueLength),
    Users(u32),
}

impl Value {
    fn text(self) -> String {
        match self {
            Value::Loss(loss) => loss.to_string(),
            Value::Queue(length) => length.to_string(),
            Value::Users(users) => users.to_string(),
        }
    }

    /// The value that is `factor` times this one, as nearly as it can be typed; `None` if there
    /// is none.
    fn times(self, factor: f64, fewest: u32) -> Option<Value> {
        Some(match self {
            Value::Loss(loss) => {
                let share = two_digits(loss.share.get() * factor);
                let share = Ratio::new(share).filter(|share| share.get() <= 0.5)?;
                Value::Loss(Loss { share, ..loss })
            }
            Value::Queue(QueueLength::Bdp(x)) => {
                Value::Queue(QueueLength::Bdp(two_digits(x * factor)))
            }
            Value::Queue(QueueLength::Packets(n)) => {
                let n = math::floor(n * factor + 0.5);
                Value::Queue(QueueLength::Packets(Some(n).filter(|n| *n >= 1.0)?))
            }
            Value::Queue(QueueLength::Bytes(n)) => {
                let n = Bytes::new(two_digits(n.as_f64() * factor) as u64);
                Value::Queue(QueueLength::Bytes(Some(n).filter(|n| n.get() > 0)?))
            }
            Value::Queue(QueueLength::Time(time)) => {
                let time = Duration::from_secs_f64(two_digits(time.as_secs() * factor));
                Value::Queue(QueueLength::Time(
                    Some(time).filter(|time| !time.is_zero())?,
                ))
            }
            Value::Users(n) => {
                let n = math::floor(f64::from(n) * factor + 0.5) as u32;
                Value::Users(Some(n).filter(|n| (fewest..=MOST_USERS as u32).contains(n))?)
            }
        })
    }

    /// How many times `asked` it is.
    fn over(self, asked: Value) -> f64 {
        match (self, asked) {
            (Value::Loss(a), Value::Loss(b)) => a.share.get() / b.share.get(),
            (Value::Queue(QueueLength::Bdp(a)), Value::Queue(QueueLength::Bdp(b)))
            | (Value::Queue(QueueLength::Packets(a)), Value::Queue(QueueLength::Packets(b))) => {
                a / b
            }
            (Value::Queue(QueueLength::Bytes(a)), Value::Queue(QueueLength::Bytes(b))) => {
                a.as_f64() / b.as_f64()
            }
            (Value::Queue(QueueLength::Time(a)), Value::Queue(QueueLength::Time(b))) => {
                a.as_secs() / b.as_secs()
            }
            (Value::Users(a), Value::Users(b)) => f64::from(a) / f64::from(b),
            // Values of one dimension are of one kind.
            _ => 1.0,
        }
    }
}

/// A number with two significant digits.
fn two_digits(x: f64) -> f64 {
    format!("{x:.1e}").parse().unwrap_or(x)
}

/// Whether the advice of `answer` to `comparison` holds beside it; `None` without an advice.
pub(super) fn robustness(
    comparison: &Comparison,
    answer: &Answer,
    watch: &dyn Watch,
) -> Result<Option<Robustness>, Error> {
    let Some(pick) = answer.verdict.pick else {
        return Ok(None);
    };
    let mut asker = Asker {
        comparison,
        answer,
        pick,
        rows: rows(answer, pick),
        watch,
        runs: answer
            .rows
            .iter()
            .flat_map(|row| &row.cells)
            .map(|cell| cell.runs.len() + cell.shared.len())
            .sum(),
    };
    let mut dimensions = Vec::new();
    for dimension in Dimension::ALL {
        // The length of a queue is varied where it is the only one and its length is all of it.
        let has_length = answer.queues.len() == 1
            && answer.path.queue.discipline == QueueDiscipline::DropTail
            && answer.path.queue.length.is_some();
        let has_losses = answer.path.profile.as_ref().is_some_and(|p| p.has_losses);
        let is_varied = match dimension {
            Dimension::Loss => !has_losses,
            Dimension::Queue => has_length,
            Dimension::Users => true,
        };
        if is_varied {
            dimensions.push(asker.sensitivity(dimension)?);
        }
    }
    Ok(Some(Robustness {
        rows: asker.rows,
        dimensions,
    }))
}

/// What is worth a run: the recommended row, the baseline, what the verdict weighs against
/// it, and the fastest of the others that can be switched on.
fn rows(answer: &Answer, pick: usize) -> Vec<usize> {
    let verdict = &answer.verdict;
    let mut rows = vec![verdict.baseline];
    let gains = answer.gains();
    let gain = |row: usize| gains[row].map_or(f64::NEG_INFINITY, |gain| gain.share);
    let mut fastest: Vec<usize> = (0..answer.rows.len())
        .filter(|row| answer.rows[*row].is_deployable() && gain(*row).is_finite())
        .collect();
    fastest.sort_by(|a, b| gain(*b).total_cmp(&gain(*a)));
    let against = verdict.against.as_ref().map(|against| against.row);
    let rejected = verdict.rejected.iter().map(|(row, _)| *row);
    let rejected = rejected.filter(|row| answer.rows[*row].is_deployable());
    let wanted = [pick].into_iter().chain(against);
    let wanted = wanted.chain(verdict.as_good.iter().copied().take(1));
    for row in wanted.chain(rejected.take(1)).chain(fastest) {
        if rows.len() < ROWS && !rows.contains(&row) {
            rows.push(row);
        }
    }
    rows.sort_unstable();
    rows
}

/// Asks neighbouring questions.
struct Asker<'a> {
    comparison: &'a Comparison,
    answer: &'a Answer,
    pick: usize,
    rows: Vec<usize>,
    watch: &'a dyn Watch,
    /// Runs so far.
    runs: usize,
}

impl Asker<'_> {
    fn sensitivity(&mut self, dimension: Dimension) -> Result<Sensitivity, Error> {
        let asked = match dimension {
            Dimension::Loss => Value::Loss(self.answer.path.loss),
            Dimension::Queue => {
                let length = self.answer.path.queue.length;
                Value::Queue(length.unwrap_or(QueueLength::Bdp(1.0)))
            }
            Dimension::Users => Value::Users(self.answer.users),
        };
        if let Value::Loss(loss) = asked
            && loss.is_none()
        {
            let [from, to] = FROM_NO_LOSS;
            let least = Loss {
                share: Ratio::new(from).unwrap_or(Ratio::ZERO),
                ..loss
            };
            let (above, _) = self.turn(Value::Loss(least), [None, Some(to / from)])?;
            return Ok(Sensitivity {
                dimension,
                asked: asked.text(),
                half: None,
                twice: None,
                below: Turn::Unknown,
                above,
            });
        }
        let (below, half) = self.turn(asked, [Some(0.5), Some(1.0 / FAR)])?;
        let (above, twice) = self.turn(asked, [Some(2.0), Some(FAR)])?;
        Ok(Sensitivity {
            dimension,
            asked: asked.text(),
            half,
            twice,
            below,
            above,
        })
    }

    /// Where the advice turns between `asked` and the second of these factors, and what it is
    /// at the first.
    fn turn(
        &mut self,
        asked: Value,
        [near, far]: [Option<f64>; 2],
    ) -> Result<(Turn, Option<Neighbour>), Error> {
        let mut found: Vec<Neighbour> = Vec::new();
        let mut near_one = None;
        for factor in [near, far].into_iter().flatten() {
            if let Some(neighbour) = self.ask(asked, factor)? {
                if Some(factor) == near {
                    near_one = Some(neighbour.clone());
                }
                if found.iter().all(|other| other.value != neighbour.value) {
                    found.push(neighbour);
                }
            }
        }
        let distance = |neighbour: &Neighbour| math::ln(neighbour.factor).abs();
        let down = far.is_some_and(|far| far < 1.0);
        let mut known: Known = found.iter().map(|n| (distance(n), n.state())).collect();
        search::narrow(&mut known, |at| {
            let factor = math::exp(if down { -at } else { at });
            let neighbour = self.ask(asked, factor)?;
            Ok::<_, Error>(neighbour.map(|neighbour| {
                let answer = (distance(&neighbour), neighbour.state());
                found.push(neighbour);
                answer
            }))
        })?;
        let at = |wanted: f64| {
            let mut found = found.iter();
            found.find(|n| (distance(n) - wanted).abs() < 1e-9).cloned()
        };
        let farthest = found.iter().map(distance).fold(0.0, f64::max);
        let turn = match search::edge(&known) {
            Edge::Never => at(farthest).map_or(Turn::Unknown, Turn::Never),
            Edge::Open(held) => Turn::Open(at(held)),
            Edge::Between(held, turned) => match at(turned) {
                Some(turned) => Turn::Between(at(held), turned),
                None => Turn::Unknown,
            },
        };
        Ok((turn, near_one))
    }

    /// The advice for `factor` times what was asked; `None` if there is no such question, or
    /// it takes too long.
    fn ask(&mut self, asked: Value, factor: f64) -> Result<Option<Neighbour>, Error> {
        let answer = self.answer;
        let least = answer.traffic.least_users() * if answer.beside.is_some() { 2 } else { 1 };
        let fewest = least.max(answer.terminals);
        let value = asked.times(factor, fewest);
        let Some(value) = value.filter(|value| *value != asked) else {
            return Ok(None);
        };
        let mut comparison = self.comparison.clone();
        let question = &mut comparison.question;
        let mut path = answer.path.clone();
        match value {
            Value::Loss(loss) => path.loss = loss,
            Value::Queue(length) => {
                path.queue.length = Some(length);
                question.queue = vec![path.queue];
            }
            Value::Users(_) => {}
        }
        question.users = vec![match value {
            Value::Users(users) => users,
            Value::Loss(_) | Value::Queue(_) => answer.users,
        }];
        question.over = None;
        let mut names: Vec<String> = Vec::new();
        for row in self.rows.iter().map(|row| &answer.rows[*row]) {
            let name = &answer.candidates[row.candidate].name;
            let is_own = self.comparison.own.iter().any(|own| own.name == *name);
            if row.pep != Pep::Gateway && !is_own && !names.contains(name) {
                names.push(name.clone());
            }
        }
        question.transport = names;
        let mut found = prepared(&comparison, path)?;
        let name_in = |of: &Answer, row: &Row| of.candidates[row.candidate].name.clone();
        let key = |of: &Answer, row: &Row| (row.pep, row.queue, name_in(of, row));
        let rows = self.rows.iter().map(|row| key(answer, &answer.rows[*row]));
        let rows: Vec<(Pep, usize, String)> = rows.collect();
        let kept = found
            .rows
            .iter()
            .filter(|row| rows.contains(&key(&found, row)));
        found.rows = kept.cloned().collect();
        found.is_random = is_random(&comparison.question, &found);
        let fixed = comparison.question.runs.map(|runs| runs as usize);
        found.is_fixed = fixed.is_some();
        if !found.is_fixed {
            found.budget = SHARE * budget(&comparison.question);
        }
        found.verdict = decide(&found);
        found.pages = answer.pages;
        let every: Vec<(usize, Kind)> = (0..found.rows.len()).map(|row| (row, Kind::Own)).collect();
        if missing(&found, &every, FEWEST) > 2.0 * found.budget {
            return Ok(None);
        }
        let beyond = Beyond {
            watch: self.watch,
            before: self.runs,
        };
        RunScheduler::new(fixed, &beyond).run(&mut found)?;
        let cells = found.rows.iter().flat_map(|row| &row.cells);
        self.runs += cells
            .map(|cell| cell.runs.len() + cell.shared.len())
            .sum::<usize>();
        let verdict = decide(&found);
        let of_answer = |row: usize| {
            let wanted = key(&found, &found.rows[row]);
            let mut rows = answer.rows.iter();
            rows.position(|other| key(answer, other) == wanted)
        };
        let is_shown = matches!(verdict.certainty, Certainty::Clear | Certainty::Exact);
        let mut good = verdict
            .pick
            .into_iter()
            .chain(verdict.as_good.iter().copied());
        let is_same = good.any(|row| of_answer(row) == Some(self.pick));
        Ok(Some(Neighbour {
            factor: value.over(asked),
            value: value.text(),
            pick: verdict.pick.and_then(of_answer),
            gain: verdict.gain,
            certainty: verdict.certainty,
            holds: is_shown.then_some(is_same),
        }))
    }
}

impl Neighbour {
    const fn state(&self) -> State {
        match self.holds {
            Some(true) => State::Holds,
            Some(false) => State::Turned,
            None => State::Open,
        }
    }
}

/// Shows how far the runs are that come after those of the question.
struct Beyond<'a> {
    watch: &'a dyn Watch,
    before: usize,
}

impl Watch for Beyond<'_> {
    fn progress(&self, done: usize, total: usize) {
        self.watch.progress(self.before + done, self.before + total);
    }
}

#[cfg(test)]
mod tests;
