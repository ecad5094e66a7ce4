//! From a question to an answer: which runs are made, and how many.
//!
//! Few runs of everything come first; then the leaders run beside users of the
//! default, which shows what they do to others; then those that can still be
//! recommended run on until the decision is clear or the budget is spent. All
//! rows have the same seeds, so that they can be compared run by run. How many
//! runs there are depends on results alone, never on time.

use super::answer::{Answer, Row};
use super::cell::Cell;
use super::course::Course;
use super::crowd::Crowd;
use super::day;
use super::lineup::{Candidate, DEFAULT, Hosts, IDEAL, Lineup};
use super::linux;
use super::path::{NetworkPath, PACKET};
use super::pep::Pep;
use super::question::Comparison;
use super::result::RunResult;
use super::traffic::{self, Traffic};
use super::verdict::{self, Verdict};
use crate::Error;
use bentpipe_tcp::find_transport;
use bentpipe_units::{Bytes, Duration};
use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Data packets that all runs together may send over the link, about: a second
/// or two on two cores.
pub(super) const BUDGET: f64 = 10e6;

/// Parts of the budget for the first runs of everything, and for those beside
/// users of the default.
const SCREENING: f64 = 0.35;
const SHARING: f64 = 0.25;

/// Fewest and most runs of everything, of leaders beside others, and of those
/// that decide.
const SCREENED: [f64; 2] = [4.0, 16.0];
const SHARED: [f64; 2] = [4.0, 20.0];
const DECIDING: usize = 400;

/// Rows that get all of the first runs.
const HOPEFUL: usize = 12;

/// Leaders that run beside users of the default; where no more rows are
/// compared, all do.
const LEADERS: usize = 6;

/// Spread of the starts of readers and viewers.
const SPREAD: Duration = Duration::from_secs(10);

/// The answer to a question.
pub(super) fn answer(
    question: &Comparison,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<Answer, Error> {
    question.check()?;
    let path = question.path()?;
    question.check_path(&path)?;
    let mut answer = prepared(question, path)?;
    let over = question
        .over
        .map(|over| day::steps(&answer, over, question.runs));
    if let Some(steps) = over {
        let course = answer.path.course.take();
        answer.path.course = course.map(|course| course.at_steps(steps as u64));
    }
    answer.is_random = is_random(question, &answer);
    let runs = Runs {
        fixed: over.or(question.runs.map(|n| n as usize)),
        is_random: answer.is_random,
        progress,
        done: AtomicUsize::new(0),
        total: AtomicUsize::new(0),
    };
    runs.all(&mut answer)?;
    answer.verdict = verdict::of(&answer);
    answer.steady = day::steady(&answer)?;
    Ok(answer)
}

/// True if another seed gives another result.
fn is_random(question: &Comparison, answer: &Answer) -> bool {
    let draws = matches!(answer.traffic, Traffic::Web | Traffic::Mixed);
    !answer.path.loss.is_none()
        || answer.path.course.as_ref().is_some_and(Course::changes)
        || answer.users > 1
        || answer.beside.is_some()
        || question.background.is_some_and(|b| b.bursty)
        || draws
}

/// An answer without runs.
fn prepared(question: &Comparison, path: NetworkPath) -> Result<Answer, Error> {
    let users = question.user_count();
    let least = question.traffic.least_users();
    let users_shared = users.max(2 * least);
    let lineup = Lineup::new(question.hosts, &path, users);
    let mut candidates = match question.transports.is_empty() {
        true => lineup.selection()?,
        false => lineup.named(&question.transports)?,
    };
    if !candidates.iter().any(|c| c.name == DEFAULT) {
        candidates.insert(0, lineup.default());
    }
    for own in &question.own {
        if candidates.iter().any(|c| c.name == own.name) {
            let why = format!("has two transports named `{}`", own.name);
            return Err(Error::setting("transport", why));
        }
        candidates.push(super::entries::over(own.clone(), &path));
    }
    let other = match &question.beside {
        Some(name) => one(&lineup, name)?,
        None => lineup.default(),
    };
    let server = lineup.default().transport;
    if question.peps.contains(&Pep::Gateway) {
        candidates.push(between_proxies(&path));
    }
    let sizes = question.all_sizes();
    let rows = rows(&question.peps, &candidates, &sizes);
    let beside = question.beside.is_some();
    let mut answer = Answer {
        hosts: question.hosts,
        traffic: question.traffic,
        users: if beside { users_shared } else { users },
        beside: question.beside.as_ref().map(|_| other.name.clone()),
        users_shared,
        background: question.background,
        stagger: Duration::ZERO,
        stagger_shared: Duration::ZERO,
        bitrate: traffic::bitrate(path.rate, users_shared),
        ideal: Vec::new(),
        seed: question.seed,
        over: question.over,
        steady: Vec::new(),
        rows,
        verdict: Verdict::default(),
        candidates,
        sizes,
        path,
        other,
        server,
        runner: question.runner.clone(),
        stop: question.stop.clone(),
        is_random: false,
    };
    let spread = |users| question.stagger.unwrap_or_else(|| spread(&answer, users));
    (answer.stagger, answer.stagger_shared) = (spread(answer.users), spread(users_shared));
    if answer.traffic == Traffic::Download {
        let ideal = (0..answer.sizes.len()).map(|size| ideal(&answer, size));
        answer.ideal = ideal.collect::<Result<_, _>>()?;
    }
    Ok(answer)
}

/// What others run.
fn one(lineup: &Lineup<'_>, name: &str) -> Result<Candidate, Error> {
    let mut found = lineup
        .named(&[name.to_owned()])
        .map_err(|error| match error {
            Error::Setting { why, .. } => Error::setting("beside", why),
            other => other,
        })?;
    match found.len() {
        1 => Ok(found.remove(0)),
        _ => Err(Error::setting("beside", "takes the name of one transport")),
    }
}

/// What runs between the two proxies at the ends of the link: a sender that is
/// given the rate of the link and shares it.
fn between_proxies(path: &NetworkPath) -> Candidate {
    let transport = find_transport("complete-knowledge").map(|named| named.transport());
    let mut candidate = Lineup::new(Hosts::Linux, path, 1).default();
    if let Some(transport) = transport {
        candidate.transport = transport;
    }
    candidate.name = "its own".to_owned();
    candidate.setting = super::Setting::of("its own");
    candidate.about = "a sender that is given the link's rate and shares it".to_owned();
    candidate.availability = super::Availability::Absent;
    candidate.transport.receive_buffer =
        candidate.transport.receive_buffer.max(linux::STOCK_WINDOW);
    candidate
}

fn rows(peps: &[Pep], candidates: &[Candidate], sizes: &[Bytes]) -> Vec<Row> {
    let mut rows = Vec::new();
    for pep in peps {
        for (index, candidate) in candidates.iter().enumerate() {
            let between = candidate.name == "its own";
            if between != (*pep == Pep::Gateway) {
                continue;
            }
            let cell = |size: &Bytes| Cell {
                size: *size,
                ..Cell::default()
            };
            rows.push(Row {
                pep: *pep,
                candidate: index,
                name: candidate.name.clone(),
                availability: candidate.availability,
                cells: sizes.iter().map(cell).collect(),
            });
        }
    }
    rows
}

/// How far starts are spread unless it is said: half of what the link needs for
/// all downloads.
fn spread(answer: &Answer, users: u32) -> Duration {
    match (users, answer.traffic) {
        (0 | 1, _) => Duration::ZERO,
        (_, Traffic::Download) => {
            let size = answer.sizes.first().copied().unwrap_or_default();
            answer.path.rate.transmission_time(size) * u64::from(users) / 2
        }
        _ => SPREAD,
    }
}

/// The time of a download at the full rate of the link, shared by all.
fn ideal(answer: &Answer, size: usize) -> Result<Duration, Error> {
    let bound = find_transport(IDEAL).map(|named| named.transport());
    let mut candidate = answer.other.clone();
    if let Some(bound) = bound {
        candidate.transport = bound;
    }
    let crowd = Crowd {
        work: answer.work(size),
        pep: Pep::None,
        users: vec![&candidate],
        default: &answer.server,
        background: None,
        stagger: Duration::ZERO,
        runner: None,
    };
    let (scenario, _) = crowd.scenario(&answer.path)?;
    let size = answer.sizes[size];
    let users = answer.users as usize;
    Ok(bentpipe_sim::ideal::transfer_time(
        &scenario,
        &scenario.flows[0],
        size,
        users,
    ))
}

/// The runs of a comparison.
struct Runs<'a> {
    /// So many, whatever they show.
    fixed: Option<usize>,
    is_random: bool,
    progress: &'a (dyn Fn(usize, usize) + Sync),
    done: AtomicUsize,
    total: AtomicUsize,
}

impl Runs<'_> {
    fn all(&self, answer: &mut Answer) -> Result<(), Error> {
        let every: Vec<usize> = (0..answer.rows.len()).collect();
        let price: f64 = every.iter().map(|row| cost(answer, *row, false)).sum();
        let screened = match (self.fixed, self.is_random) {
            (Some(n), _) => n,
            (None, false) => 1,
            (None, true) => within(SCREENED, SCREENING * BUDGET / price),
        };
        if self.fixed.is_some() || screened < 2 {
            self.extend(answer, &every, screened, false)?;
        } else {
            // The hopeless are not seen again.
            self.extend(answer, &every, screened.div_ceil(2), false)?;
            let hopeful = verdict::leaders(answer, HOPEFUL);
            self.extend(answer, &hopeful, screened, false)?;
        }
        if answer.beside.is_none() {
            let leaders = verdict::leaders(answer, LEADERS);
            let price: f64 = leaders.iter().map(|row| cost(answer, *row, true)).sum();
            let shared = within(SHARED, SHARING * BUDGET / price);
            let shared = self.fixed.map_or(shared, |n| n.min(SHARED[1] as usize));
            self.extend(answer, &leaders, shared, true)?;
        }
        if self.fixed.is_some() || !self.is_random {
            return Ok(());
        }
        let mut left = (1.0 - SCREENING - SHARING) * BUDGET;
        loop {
            let contenders = verdict::undecided(answer);
            let has = contenders
                .iter()
                .map(|row| answer.rows[*row].cells[0].runs.len());
            let Some(has) = has.max().filter(|has| *has < DECIDING) else {
                return Ok(());
            };
            let price: f64 = contenders.iter().map(|row| cost(answer, *row, false)).sum();
            let more = ((left / price) as usize).min(has).min(DECIDING - has);
            if more < 2 {
                return Ok(());
            }
            self.extend(answer, &contenders, has + more, false)?;
            left -= price * more as f64;
        }
    }

    /// Runs these rows until they have so many runs.
    fn extend(
        &self,
        answer: &mut Answer,
        rows: &[usize],
        runs: usize,
        shared: bool,
    ) -> Result<(), Error> {
        let mut jobs: Vec<(usize, usize, u64)> = Vec::new();
        for row in rows {
            for (size, cell) in answer.rows[*row].cells.iter().enumerate() {
                let has = if shared {
                    cell.shared.len()
                } else {
                    cell.runs.len()
                };
                let seeds = (has..runs).map(|i| answer.seed.wrapping_add(i as u64));
                jobs.extend(seeds.map(|seed| (*row, size, seed)));
            }
        }
        self.total.fetch_add(jobs.len(), Ordering::Relaxed);
        let results: Vec<RunResult> = jobs
            .par_iter()
            .map(|(row, size, seed)| {
                let result = answer.one(
                    &answer.rows[*row],
                    *size,
                    shared || answer.beside.is_some(),
                    *seed,
                );
                let done = 1 + self.done.fetch_add(1, Ordering::Relaxed);
                (self.progress)(done, self.total.load(Ordering::Relaxed));
                result
            })
            .collect::<Result<_, _>>()?;
        for ((row, size, _), result) in jobs.into_iter().zip(results) {
            let cell = &mut answer.rows[row].cells[size];
            match shared {
                true => cell.shared.push(result),
                false => cell.runs.push(result),
            }
        }
        Ok(())
    }
}

/// Data packets of a run of each size, about, each leg counted.
pub(super) fn cost(answer: &Answer, row: usize, shared: bool) -> f64 {
    let users = if shared {
        answer.users_shared
    } else {
        answer.users
    };
    let legs = match answer.rows[row].pep {
        Pep::None | Pep::Snoop => 1.0,
        Pep::Split => 2.0,
        Pep::Gateway => 3.0,
    };
    let bytes = |size: usize| {
        let work = answer.work(size);
        (0..users)
            .map(|user| work.volume(user).as_f64())
            .sum::<f64>()
    };
    let all: f64 = (0..answer.sizes.len()).map(bytes).sum();
    let background = answer.background.map_or(0.0, |b| {
        let rate = b.rate(answer.path.rate).bps_f64();
        all * rate / (answer.path.rate.bps_f64() - rate).max(1.0)
    });
    // A short run has its fixed costs.
    (legs * (all + background) / PACKET as f64).max(200.0)
}

fn within([least, most]: [f64; 2], x: f64) -> usize {
    x.clamp(least, most) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use bentpipe_units::Rate;

    #[test]
    fn starts_are_spread_over_half_of_what_the_downloads_need() {
        let question = Comparison::new().users(20).rate(Rate::from_mbps(50));
        let path = question.path().unwrap();
        let answer = prepared(&question, path).unwrap();
        assert_eq!(answer.stagger, Duration::from_secs(16));
        assert_eq!(answer.sizes, [Bytes::new(10_000_000)]);
        // 200 MB over 50 Mbit/s, headers included, and a round trip or two.
        assert!((33.0..35.0).contains(&answer.ideal[0].as_secs()));
    }

    #[test]
    fn nothing_is_random_for_one_user_without_losses() {
        let random = |question: Comparison| {
            let answer = prepared(&question, question.path().unwrap()).unwrap();
            is_random(&question, &answer)
        };
        let quiet = || Comparison::new().loss(super::super::Loss::NONE);
        assert!(!random(quiet()));
        assert!(random(Comparison::new()));
        assert!(random(quiet().users(2)));
        assert!(random(quiet().traffic(Traffic::Web)));
        assert!(random(quiet().beside("cubic")));
        assert!(random(quiet().background("10% in bursts".parse().unwrap())));
    }
}
