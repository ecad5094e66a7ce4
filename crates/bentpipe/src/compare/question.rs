//! What is asked: the link, the users, what is compared.

use super::background::Background;
use super::course::Course;
use super::crowd::Runner;
use super::lineup::{Candidate, Hosts};
use super::loss::Loss;
use super::orbit::{self, Orbit};
use super::path::NetworkPath;
use super::pep::Pep;
use super::trace::{self, Trace};
use super::traffic::Traffic;
use super::watch::{Counted, Watch};
use super::{Answer, entries};
use crate::Error;
use crate::own::OwnControl;
use bentpipe_cc::CongestionControl;
use bentpipe_scenario::{Limits, QueueLength};
use bentpipe_sim::Stop;
use bentpipe_units::{Bytes, Duration, Rate, Ratio};
use std::sync::Arc;

/// Round trip to the gateway of a proxy, by default.
const SERVER_RTT: Duration = Duration::from_millis(50);

/// Rate and round-trip time of a broadband terminal under a geostationary
/// satellite, where nothing else is said.
const RATE: Rate = Rate::from_mbps(10);
const RTT: Duration = Duration::from_millis(600);

/// What is compared: a link, its users and what their servers may run.
///
/// The defaults are those of `bentpipe compare`: one user who downloads 10 MB
/// over 10 Mbit/s with a round trip of 600 ms, 0.1% loss and a queue of one
/// bandwidth-delay product, and servers with Linux.
#[derive(Clone, Debug)]
pub struct Comparison {
    pub(super) rate: Option<Rate>,
    pub(super) return_rate: Option<Rate>,
    pub(super) rtt: Option<Duration>,
    pub(super) sizes: Vec<Bytes>,
    pub(super) loss: Option<Loss>,
    pub(super) queue: QueueLength,
    pub(super) peps: Vec<Pep>,
    pub(super) server_rtt: Option<Duration>,
    pub(super) orbit: Option<Orbit>,
    pub(super) trace: Option<Trace>,
    pub(super) over: Option<Duration>,
    pub(super) hosts: Hosts,
    pub(super) users: Option<u32>,
    pub(super) traffic: Traffic,
    pub(super) beside: Option<String>,
    pub(super) background: Option<Background>,
    pub(super) stagger: Option<Duration>,
    pub(super) transports: Vec<String>,
    pub(super) own: Vec<Candidate>,
    pub(super) runs: Option<u32>,
    pub(super) seed: u64,
    pub(super) threads: usize,
    pub(super) runner: Option<Arc<dyn Runner>>,
    pub(super) stop: Stop,
    pub(super) limits: Limits,
}

impl Default for Comparison {
    fn default() -> Comparison {
        Comparison {
            rate: None,
            return_rate: None,
            rtt: None,
            sizes: Vec::new(),
            loss: None,
            queue: QueueLength::Bdp(1.0),
            peps: vec![Pep::None],
            server_rtt: None,
            orbit: None,
            trace: None,
            over: None,
            hosts: Hosts::Linux,
            users: None,
            traffic: Traffic::Download,
            beside: None,
            background: None,
            stagger: None,
            transports: Vec::new(),
            own: Vec::new(),
            runs: None,
            seed: 1,
            threads: 0,
            runner: None,
            stop: Stop::default(),
            limits: Limits::default(),
        }
    }
}

impl Comparison {
    /// The default comparison.
    #[must_use]
    pub fn new() -> Comparison {
        Comparison::default()
    }

    /// Rate of the satellite link towards the users; that of a terminal of the
    /// constellation, where it has one, unless it is set. Not for a trace.
    #[must_use]
    pub fn rate(mut self, rate: Rate) -> Self {
        self.rate = Some(rate);
        self
    }

    /// Rate of the way back; a fifth of the rate unless it is set.
    #[must_use]
    pub fn return_rate(mut self, rate: Rate) -> Self {
        self.return_rate = Some(rate);
        self
    }

    /// Round-trip propagation time, without queueing. Not for an orbit, nor for
    /// a trace that has delays.
    #[must_use]
    pub fn rtt(mut self, rtt: Duration) -> Self {
        self.rtt = Some(rtt);
        self
    }

    /// Size of a download, or mean size of a page.
    #[must_use]
    pub fn size(self, size: Bytes) -> Self {
        self.sizes([size])
    }

    /// Several sizes: the advice may change with the size. Videos have none.
    #[must_use]
    pub fn sizes(mut self, sizes: impl IntoIterator<Item = Bytes>) -> Self {
        self.sizes = sizes.into_iter().collect();
        self.sizes.sort_unstable();
        self.sizes.dedup();
        self
    }

    /// What the channel loses; with a trace nothing unless it is set.
    #[must_use]
    pub fn loss(mut self, loss: impl Into<Loss>) -> Self {
        self.loss = Some(loss.into());
        self
    }

    /// Length of the queue before the link.
    #[must_use]
    pub fn queue(mut self, queue: QueueLength) -> Self {
        self.queue = queue;
        self
    }

    /// The proxy at the gateway before the link. With one, the server is
    /// [`server_rtt`](Comparison::server_rtt) away from the gateway.
    #[must_use]
    pub fn pep(self, pep: Pep) -> Self {
        self.peps([pep])
    }

    /// Several proxies to compare, each with each transport.
    #[must_use]
    pub fn peps(mut self, peps: impl IntoIterator<Item = Pep>) -> Self {
        self.peps.clear();
        for pep in peps {
            if !self.peps.contains(&pep) {
                self.peps.push(pep);
            }
        }
        self
    }

    /// Round trip between server and gateway; 50 ms where there is a proxy
    /// unless it is set, and no gateway without either.
    #[must_use]
    pub fn server_rtt(mut self, rtt: Duration) -> Self {
        self.server_rtt = Some(rtt);
        self
    }

    /// The satellites that the link goes over. They replace the round-trip
    /// time. Runs begin at different times of an hour.
    #[must_use]
    pub fn orbit(mut self, orbit: Orbit) -> Self {
        self.orbit = Some(orbit);
        self
    }

    /// A trace of the link. It replaces the rate, and delay and loss where it
    /// has them. Runs begin at different times of it.
    #[must_use]
    pub fn trace(mut self, trace: Trace) -> Self {
        self.trace = Some(trace);
        self
    }

    /// Runs begin at even distances within this time of the orbit or the trace,
    /// such as each half hour of a day: see [`Answer::day`].
    #[must_use]
    pub fn over(mut self, time: Duration) -> Self {
        self.over = Some(time);
        self
    }

    /// The hosts whose TCP is compared.
    #[must_use]
    pub fn hosts(mut self, hosts: Hosts) -> Self {
        self.hosts = hosts;
        self
    }

    /// Users that share the link; one unless it is set, three with mixed
    /// traffic.
    #[must_use]
    pub fn users(mut self, users: u32) -> Self {
        self.users = Some(users);
        self
    }

    /// What the users do.
    #[must_use]
    pub fn traffic(mut self, traffic: Traffic) -> Self {
        self.traffic = traffic;
        self
    }

    /// What others run: half of the users have it, and the compared setting is
    /// that of the other half. Without this call all users have the compared
    /// setting, and what it does to users of the default is measured apart.
    #[must_use]
    pub fn beside(mut self, setting: impl Into<String>) -> Self {
        self.beside = Some(setting.into());
        self
    }

    /// Traffic on the link that no transport controls.
    #[must_use]
    pub fn background(mut self, background: Background) -> Self {
        self.background = Some(background);
        self
    }

    /// The time over which the users' starts are spread at random. Unless it is
    /// set, half of what the link needs to carry all downloads; 10 s for pages
    /// and videos.
    #[must_use]
    pub fn stagger(mut self, time: Duration) -> Self {
        self.stagger = Some(time);
        self
    }

    /// The settings to compare, as they are typed, such as `cubic + IW 32`
    /// ([`Setting`](super::Setting)); `all` stands for every name. Without this
    /// call it is a selection. The default of Linux is always among them.
    #[must_use]
    pub fn transports<I>(mut self, names: I) -> Self
    where
        I: IntoIterator,
        I::Item: Into<String>,
    {
        self.transports = names.into_iter().map(Into::into).collect();
        self
    }

    /// Compares a congestion control of your own as well, which `make` builds
    /// for each connection. Around it is the TCP of the catalogue's `sack` with
    /// open windows.
    ///
    /// ```
    /// use bentpipe::cc::{Ack, CongestionControl, Window};
    /// use bentpipe::prelude::*;
    ///
    /// /// Two segments more for each that is acknowledged, whatever happens.
    /// #[derive(Debug)]
    /// struct Greedy;
    ///
    /// impl CongestionControl for Greedy {
    ///     fn name(&self) -> &str {
    ///         "greedy"
    ///     }
    ///     fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
    ///         window.cwnd += 2.0 * ack.acked;
    ///     }
    /// }
    ///
    /// let answer = Comparison::new()
    ///     .loss(Ratio::ZERO)
    ///     .size(Bytes::new(300_000))
    ///     .transports(["cubic"])
    ///     .own("greedy", || Box::new(Greedy))
    ///     .run()?;
    /// let greedy = answer.result("greedy").expect("it was compared");
    /// assert!(greedy.time().is_some());
    /// # Ok::<(), bentpipe::Error>(())
    /// ```
    #[must_use]
    pub fn own(
        mut self,
        name: impl Into<String>,
        make: impl Fn() -> Box<dyn CongestionControl> + Send + Sync + 'static,
    ) -> Self {
        self.own
            .push(entries::own(name.into(), OwnControl::new(make)));
        self
    }

    /// Runs of each setting. Unless it is set, as many as the decision needs
    /// and a budget allows, and one where nothing is random.
    #[must_use]
    pub fn runs(mut self, runs: u32) -> Self {
        self.runs = Some(runs);
        self
    }

    /// Seed of the first run; the others count up from it.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Runs simulated at the same time; one per core unless it is set. The
    /// results do not depend on it.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// Runs the scenarios by something else than the simulator. Congestion
    /// controls of the program are the simulator's alone.
    #[must_use]
    pub fn runner(mut self, runner: Arc<dyn Runner>) -> Self {
        self.runner = Some(runner);
        self
    }

    /// Lets another thread stop the comparison, which then fails.
    #[must_use]
    pub fn stop(mut self, stop: Stop) -> Self {
        self.stop = stop;
        self
    }

    /// What each run may use at most; a run that hits a limit ends the comparison with
    /// an error.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The path that these settings describe.
    ///
    /// # Errors
    /// [`Error::Setting`] if they describe none.
    pub fn path(&self) -> Result<NetworkPath, Error> {
        let fifth = |rate: Rate| Rate::from_bps((rate.bps() / 5).max(1));
        let (course, rates) = self.course()?;
        let rate = rates.map_or(self.rate.unwrap_or(RATE), |rates| rates[0]);
        let back = rates.map_or(fifth(rate), |rates| rates[1]);
        let usual = match self.trace {
            Some(_) => Loss::NONE,
            None => Loss::independent(Ratio::new(0.001).unwrap_or(Ratio::ZERO)),
        };
        let proxied = self.peps.iter().any(|pep| *pep != Pep::None);
        let path = NetworkPath {
            rate,
            return_rate: self.return_rate.unwrap_or(back),
            rtt: match &course {
                Some(course) => course.rtt[1],
                None => self.rtt.unwrap_or(RTT),
            },
            loss: self.loss.unwrap_or(usual),
            queue: self.queue,
            server_rtt: self.server_rtt.or(proxied.then_some(SERVER_RTT)),
            course,
        };
        path.check()?;
        Ok(path)
    }

    /// How the link changes with time, if it does, and its rates there and back.
    fn course(&self) -> Result<(Option<Course>, Option<[Rate; 2]>), Error> {
        if let Some(over) = self.over {
            let why = match (&self.orbit, &self.trace) {
                (None, None) => Some("needs an orbit or a trace: nothing else changes over time"),
                _ if over < Duration::from_secs(1) => Some("must be at least a second"),
                _ if over > orbit::LONGEST => Some("must be at most a week"),
                _ => None,
            };
            if let Some(why) = why {
                return Err(Error::setting("over", why));
            }
        }
        match (&self.orbit, &self.trace) {
            (None, None) => Ok((None, None)),
            (Some(_), Some(_)) => {
                let why = "is not for an orbit: give one of the two";
                Err(Error::setting("trace", why))
            }
            (Some(orbit), None) => {
                if self.rtt.is_some() {
                    let why = "is not for an orbit, which has its own";
                    return Err(Error::setting("rtt", why));
                }
                let largest = self.all_sizes().into_iter().max().unwrap_or_default();
                let users = u64::from(self.user_count());
                let rest = orbit::Rest {
                    rate: self.rate,
                    return_rate: self.return_rate,
                    volume: Bytes::new(largest.get().saturating_mul(users)),
                    over: self.over,
                };
                let (course, rates) = orbit.course(RATE, rest)?;
                Ok((Some(course), Some(rates)))
            }
            (None, Some(trace)) => {
                if self.rate.is_some() {
                    let why = "is not for a trace, which has its own";
                    return Err(Error::setting("rate", why));
                }
                let rest = trace::Rest {
                    rtt: self.rtt,
                    return_rate: self.return_rate,
                    over: self.over,
                };
                let course = trace.course(rest)?;
                if course.has_losses && self.loss.is_some() {
                    let why = format!("is not for {}, which says what is lost", course.name);
                    return Err(Error::setting("loss", why));
                }
                let rate = course.rate;
                let back = Rate::from_bps((rate.bps() / 5).max(1));
                Ok((Some(course), Some([rate, back])))
            }
        }
    }

    /// The sizes, by default one that suits the traffic.
    pub(super) fn all_sizes(&self) -> Vec<Bytes> {
        match self.sizes.is_empty() {
            true => vec![self.traffic.default_size()],
            false => self.sizes.clone(),
        }
    }

    /// Users, by default as few as the traffic needs.
    pub(super) fn user_count(&self) -> u32 {
        self.users.unwrap_or(self.traffic.least_users())
    }

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
        pool.install(|| super::engine::answer(self, watch))
    }
}
