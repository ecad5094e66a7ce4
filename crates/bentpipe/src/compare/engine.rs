//! From a question to an answer without runs, and through the [scheduler](super::scheduler) to
//! the verdict.

use super::answer::{Answer, Row};
use super::candidate::{Availability, Candidate, DEFAULT, Hosts, IDEAL};
use super::cell::Cell;
use super::comparison::Comparison;
use super::cost;
use super::crowd::Crowd;
use super::day;
use super::decide::decide;
use super::lineup::Lineup;
use super::linux;
use super::path::NetworkPath;
use super::pep::Pep;
use super::profile::LinkProfile;
use super::question::Question;
use super::queue::Queue;
use super::robust::robustness;
use super::scheduler::RunScheduler;
use super::setting::Setting;
use super::traffic::{self, Activity, PAGES, Traffic};
use super::verdict::Verdict;
use super::watch::{Counted, Watch};
use crate::Error;
use bentpipe_tcp::find_transport;
use bentpipe_units::{Bytes, Duration};

/// Spread of the starts of readers and viewers.
const SPREAD: Duration = Duration::from_secs(10);

/// How long an answer is looked for, unless it is set.
const TIME: Duration = Duration::from_secs(5);

impl Comparison {
    /// Simulates the users with each setting and decides.
    ///
    /// # Errors
    /// If the settings describe no path, a transport is unknown, or a run hits
    /// a bound.
    pub fn run(&self) -> Result<Answer, Error> {
        self.run_with(&|_, _| {})
    }

    /// The same; `progress` is called after each run with the number of runs
    /// done and of all runs as far as they are known by then.
    ///
    /// # Errors
    /// As [`run`](Comparison::run).
    pub fn run_with(&self, progress: &(dyn Fn(usize, usize) + Sync)) -> Result<Answer, Error> {
        self.run_watched(&Counted(progress))
    }

    /// The same; `watch` sees runs as they end, and the verdict as it stands.
    ///
    /// # Errors
    /// As [`run`](Comparison::run).
    pub fn run_watched(&self, watch: &dyn Watch) -> Result<Answer, Error> {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(self.threads)
            .build()
            .map_err(|e| Error::Threads(e.to_string()))?;
        pool.install(|| answer(self, watch))
    }
}

/// The answer to a question before its first run: every row, and the link.
pub(super) fn unrun(comparison: &Comparison) -> Result<Answer, Error> {
    comparison.check()?;
    let path = comparison.path()?;
    comparison.check_path(&path)?;
    prepared(comparison, path)
}

/// The answer to a question.
fn answer(comparison: &Comparison, watch: &dyn Watch) -> Result<Answer, Error> {
    let mut answer = unrun(comparison)?;
    let question = &comparison.question;
    let over = question
        .over
        .map(|over| day::steps(&answer, over, question.runs));
    if let Some(steps) = over {
        let profile = answer.path.profile.take();
        answer.path.profile = profile.map(|profile| profile.at_steps(steps as u64, question.seed));
    }
    answer.is_random = is_random(question, &answer);
    let fixed = over.or(question.runs.map(|n| n as usize));
    answer.is_fixed = fixed.is_some();
    if !answer.is_fixed {
        answer.budget = budget(question);
        cost::shorten(&mut answer);
    }
    answer.verdict = decide(&answer);
    watch.begins(&answer);
    RunScheduler::new(fixed, watch).run(&mut answer)?;
    answer.verdict = decide(&answer);
    answer.change_costs = day::change_costs(&answer)?;
    if question.robust {
        answer.robustness = robustness(comparison, &answer, watch)?;
    }
    Ok(answer)
}

/// Packets that the runs of a question may take over links, about.
pub(super) fn budget(question: &Question) -> f64 {
    question.time.unwrap_or(TIME).as_secs() * cost::PACE
}

/// True if another seed gives another result.
pub(super) fn is_random(question: &Question, answer: &Answer) -> bool {
    let draws = answer.traffic.activities().contains(&Activity::Web);
    !answer.path.loss.is_none()
        || answer.path.jitter.is_some()
        || answer
            .path
            .profile
            .as_ref()
            .is_some_and(LinkProfile::starts_differ)
        || answer.users > 1
        || answer.beside.is_some()
        || question.background.is_some_and(|b| b.bursty)
        || draws
}

/// An answer without runs.
pub(super) fn prepared(comparison: &Comparison, path: NetworkPath) -> Result<Answer, Error> {
    let question = &comparison.question;
    let users = question.user_count();
    let least = question.traffic.least_users();
    let terminals = question.terminals;
    let users_shared = users.max(2 * least);
    let queues = question.queues(path.queue);
    // Buffers hold what the longest of the queues does.
    let longest = queues.iter().map(|queue| path.with_queue(*queue));
    let longest = longest.max_by_key(NetworkPath::standing_bytes);
    let widest = longest.unwrap_or_else(|| path.clone());
    let lineup = Lineup::new(question.hosts, &widest, users);
    let mut candidates = match question.transport.is_empty() {
        true => lineup.selection(queues.len())?,
        false => lineup.named(&question.transport)?,
    };
    if !candidates.iter().any(|c| c.name == DEFAULT) {
        candidates.insert(0, lineup.default());
    }
    let current = current(comparison)?;
    if let Some(name) = &current
        && !candidates.iter().any(|c| c.name == *name)
    {
        candidates.insert(1, one(&lineup, name)?);
    }
    for own in &comparison.own {
        if candidates.iter().any(|c| c.name == own.name) {
            let why = format!("has two transports named `{}`", own.name);
            return Err(Error::setting("transport", why));
        }
        candidates.push(super::entries::over(own.clone(), &widest));
    }
    let other = match &question.beside {
        Some(name) => one(&lineup, name)?,
        None => lineup.default(),
    };
    let server = lineup.default().transport;
    if question.pep.contains(&Pep::Gateway) {
        candidates.push(between_proxies(&path, terminals));
    }
    let sizes = question.sizes();
    let rows = rows(&question.peps(), &queues, &candidates, &sizes);
    let beside = question.beside.is_some();
    let mut answer = Answer {
        hosts: question.hosts,
        traffic: question.traffic,
        users: if beside { users_shared } else { users },
        terminals,
        beside: question.beside.as_ref().map(|_| other.name.clone()),
        users_shared,
        background: question.background,
        stagger: Duration::ZERO,
        stagger_shared: Duration::ZERO,
        bitrate: traffic::bitrate(path.rate, users_shared),
        ideal: Vec::new(),
        seed: question.seed,
        current,
        over: question.over,
        change_costs: Vec::new(),
        robustness: None,
        rows,
        verdict: Verdict::default(),
        candidates,
        queues,
        sizes,
        path,
        other,
        server,
        runner: comparison.runner.clone(),
        stop: comparison.stop.clone(),
        limits: comparison.limits,
        pages: PAGES,
        page_objects: question.page_objects,
        dns: question.dns,
        is_loss_assumed: question.loss.is_none(),
        is_random: false,
        is_fixed: false,
        budget: f64::INFINITY,
    };
    let spread = |users| question.stagger.unwrap_or_else(|| spread(&answer, users));
    (answer.stagger, answer.stagger_shared) = (spread(answer.users), spread(users_shared));
    if answer.traffic == Traffic::Download {
        let ideal = (0..answer.sizes.len()).map(|size| ideal(&answer, size));
        answer.ideal = ideal.collect::<Result<_, _>>()?;
    }
    Ok(answer)
}

/// What the sender of the capture runs, where the question has one and it is known.
fn current(comparison: &Comparison) -> Result<Option<String>, Error> {
    let fitted = comparison.fitted()?;
    let is_linux = comparison.question.hosts == Hosts::Linux;
    Ok(fitted
        .and_then(|fit| fit.control.clone())
        .filter(|_| is_linux))
}

/// What others run.
fn one(lineup: &Lineup<'_>, name: &str) -> Result<Candidate, Error> {
    let mut found = lineup
        .named(&[name.to_owned()])
        .map_err(|error| match error {
            Error::Question(mut error) => {
                error.option = Some("beside");
                error.into()
            }
            other => other,
        })?;
    match found.len() {
        1 => Ok(found.remove(0)),
        _ => Err(Error::setting("beside", "takes the name of one transport")),
    }
}

/// What runs between the two proxies at the ends of the link: a sender that is
/// given the rate of the link and shares it.
fn between_proxies(path: &NetworkPath, terminals: u32) -> Candidate {
    let transport = find_transport("complete-knowledge").map(|named| named.transport());
    let mut candidate = Lineup::new(Hosts::Linux, path, 1).default();
    if let Some(transport) = transport {
        candidate.transport = transport;
    }
    candidate.name = "its own".to_owned();
    candidate.setting = Setting::of("its own");
    candidate.about = "a sender that is given the link's rate and shares it".to_owned();
    candidate.availability = Availability::Gateway;
    candidate.transport.receive_buffer =
        candidate.transport.receive_buffer.max(linux::STOCK_WINDOW);
    candidate.preset = vec![
        format!(
            "bentpipe gateway new --hub ADDRESS --rate '{}' --return-rate '{}' --rtt '{}'",
            path.rate, path.return_rate, path.rtt
        ),
        "bentpipe gateway hub.toml             # on the Internet's side".to_owned(),
        match terminals {
            1 => "sudo bentpipe gateway terminal.toml   # on the users' side".to_owned(),
            _ => "sudo bentpipe gateway terminal.toml   # at each terminal, with a key of its own \
                  that hub.toml has in `peers`"
                .to_owned(),
        },
    ];
    candidate
}

/// Every setting behind every proxy before the queue of today, then before the others.
fn rows(peps: &[Pep], queues: &[Queue], candidates: &[Candidate], sizes: &[Bytes]) -> Vec<Row> {
    let mut rows = Vec::new();
    for pep in peps {
        for (place, queue) in queues.iter().enumerate() {
            // What knows the link's rate leaves nothing to queue before it.
            if *pep == Pep::Gateway && place > 0 {
                continue;
            }
            let fitting = candidates
                .iter()
                .enumerate()
                .filter(|(_, candidate)| (candidate.name == "its own") == (*pep == Pep::Gateway));
            rows.extend(fitting.map(|(index, candidate)| {
                let cell = |size: &Bytes| Cell {
                    size: *size,
                    ..Cell::default()
                };
                let changed = match place {
                    0 => Availability::Default,
                    _ => Availability::Setting,
                };
                Row {
                    pep: *pep,
                    candidate: index,
                    queue: place,
                    name: match place {
                        0 => candidate.name.clone(),
                        _ => format!("{} with {queue}", candidate.name),
                    },
                    availability: candidate.availability.max(changed),
                    cells: sizes.iter().map(cell).collect(),
                }
            }));
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
        terminals: 1,
        default: &answer.server,
        background: None,
        stagger: Duration::ZERO,
        runner: None,
        limits: answer.limits,
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
            is_random(&question.question, &answer)
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
