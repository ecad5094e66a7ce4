//! A question and what its answer is worked out with.

use super::candidate::Candidate;
use super::crowd::Runner;
use super::entries;
use super::fade::{ClearSky, Decibels};
use super::loss::Loss;
use super::orbit::{self, Orbit};
use super::path::NetworkPath;
use super::pep::Pep;
use super::profile::LinkProfile;
use super::question::Question;
use super::queue::Queue;
use super::trace::{self, Trace};
use crate::Error;
use crate::fit::{Fit, fit};
use crate::own::OwnControl;
use bentpipe_cc::CongestionControl;
use bentpipe_link::{DVB_S2, ModCod};
use bentpipe_scenario::Limits;
use bentpipe_sim::Stop;
use bentpipe_units::{Bytes, Duration, Rate, Ratio};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

/// Round trip to the gateway of a proxy, by default.
const SERVER_RTT: Duration = Duration::from_millis(50);

/// Rate and round-trip time of a broadband terminal under a geostationary
/// satellite, where nothing else is said.
const RATE: Rate = Rate::from_mbps(10);
const RTT: Duration = Duration::from_millis(600);

/// ModCod of a clear sky and its margin, where a fade is asked about and nothing else is said.
const MODCOD: ModCod = DVB_S2[18];
const MARGIN: Decibels = Decibels(1.0);

/// What is compared: a link, its users and what their servers may run.
///
/// A [`Question`], which setters change, and what a program adds to it: congestion
/// controls of its own, threads, limits. The defaults are those of `bentpipe compare`.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    pub(super) question: Question,
    /// The last trace that was set, with the interval of its delays.
    trace: Option<Trace>,
    /// The link of the capture that was set, once it is fitted.
    fitted: OnceLock<(PathBuf, Arc<Fit>)>,
    pub(super) own: Vec<Candidate>,
    pub(super) threads: usize,
    pub(super) runner: Option<Arc<dyn Runner>>,
    pub(super) stop: Stop,
    pub(super) limits: Limits,
}

impl From<Question> for Comparison {
    fn from(question: Question) -> Comparison {
        Comparison {
            question,
            ..Comparison::default()
        }
    }
}

/// What texts cannot say, or setters take in another form than the command line.
impl Comparison {
    /// The default comparison.
    #[must_use]
    pub fn new() -> Comparison {
        Comparison::default()
    }

    /// What is asked.
    #[must_use]
    pub fn question(&self) -> &Question {
        &self.question
    }

    /// Size of a download, or mean size of a page.
    #[must_use]
    pub fn size(self, size: Bytes) -> Self {
        self.sizes([size])
    }

    /// Several sizes: the advice may change with the size. Videos have none.
    #[must_use]
    pub fn sizes(mut self, sizes: impl IntoIterator<Item = Bytes>) -> Self {
        self.question.size = sizes.into_iter().collect();
        self
    }

    /// Users that share the link.
    #[must_use]
    pub fn users(mut self, users: u32) -> Self {
        self.question.users = vec![users];
        self
    }

    /// The question for each number of users, in order: an answer is for one of them.
    #[must_use]
    pub fn by_users(&self) -> Vec<Comparison> {
        let counts = self.question.user_counts().into_iter();
        match self.question.users.len() {
            0 | 1 => vec![self.clone()],
            _ => counts.map(|users| self.clone().users(users)).collect(),
        }
    }

    /// The queue before the link: a [`QueueLength`](super::QueueLength), or a discipline.
    #[must_use]
    pub fn queue(self, queue: impl Into<Queue>) -> Self {
        self.queues([queue])
    }

    /// Several queues to compare, each with each transport. The first is the one that the
    /// link has today.
    #[must_use]
    pub fn queues<I>(mut self, queues: I) -> Self
    where
        I: IntoIterator,
        I::Item: Into<Queue>,
    {
        self.question.queue = queues.into_iter().map(Into::into).collect();
        self
    }

    /// What the channel loses; over an orbit or a trace nothing unless it is set.
    #[must_use]
    pub fn loss(mut self, loss: impl Into<Loss>) -> Self {
        self.question.loss = Some(loss.into());
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
        self.question.pep = peps.into_iter().collect();
        self
    }

    /// The satellites that the link goes over. They replace the round-trip
    /// time. Runs begin at different times of an hour.
    #[must_use]
    pub fn orbit(mut self, orbit: Orbit) -> Self {
        self.question.orbit = Some(orbit.name);
        self.question.from = Some(orbit.from);
        self.question.to = Some(orbit.to);
        self.question.slot = orbit.slot;
        self
    }

    /// A trace of the link. It replaces the rate, and delay and loss where it
    /// has them. Runs begin at different times of it.
    #[must_use]
    pub fn trace(mut self, trace: Trace) -> Self {
        self.question.trace = trace.files().to_vec();
        self.trace = Some(trace);
        self
    }

    /// What others run: half of the users have it, and the compared setting is
    /// that of the other half. Without this call all users have the compared
    /// setting, and what it does to users of the default is measured apart.
    #[must_use]
    pub fn beside(mut self, setting: impl Into<String>) -> Self {
        self.question.beside = Some(setting.into());
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
        self.question.transport = names.into_iter().map(Into::into).collect();
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
    /// [`Error::Question`] if they describe none.
    pub fn path(&self) -> Result<NetworkPath, Error> {
        let fifth = |rate: Rate| Rate::from_bps((rate.bps() / 5).max(1));
        let question = &self.question;
        question.check()?;
        let (profile, rates) = self.profile()?;
        let fitted = self.fitted()?;
        let fitted = fitted.as_deref();
        let rate = question.rate.or_else(|| fitted.map(Fit::rate));
        let rate = rates.map_or(rate.unwrap_or(RATE), |rates| rates[0]);
        let back = rates.map_or(fifth(rate), |rates| rates[1]);
        let back = question.return_rate.unwrap_or(back);
        let rtt = match &profile {
            Some(profile) => profile.rtt[1],
            None => question.rtt.or_else(|| fitted.map(Fit::rtt)).unwrap_or(RTT),
        };
        // A path by its satellites or its trace loses what they say, and nothing beside.
        let is_loss_assumed = question.loss.is_none() && profile.is_none() && fitted.is_none();
        let profile = match question.fade {
            Some(fade) => Some(fade.profile(ClearSky {
                rates: [rate, back],
                rtt,
                modcod: question.modcod.unwrap_or(MODCOD),
                margin: question.margin.unwrap_or(MARGIN),
                coding: question.coding.unwrap_or_default(),
            })?),
            None => profile,
        };
        let usual = match is_loss_assumed {
            true => Loss::independent(Ratio::new(0.001).unwrap_or(Ratio::ZERO)),
            false => Loss::NONE,
        };
        let proxied = question.pep.iter().any(|pep| *pep != Pep::None);
        let path = NetworkPath {
            rate,
            return_rate: back,
            rtt,
            loss: question
                .loss
                .or_else(|| fitted.map(Fit::loss))
                .unwrap_or(usual),
            is_loss_assumed,
            jitter: question.jitter.clone(),
            queue: question
                .queue
                .first()
                .copied()
                .or_else(|| fitted.map(|fit| fit.queue().into()))
                .unwrap_or_default(),
            server_rtt: question.server_rtt.or(proxied.then_some(SERVER_RTT)),
            profile,
        };
        path.check()?;
        Ok(path)
    }

    /// What the capture of the question shows, if it has one; it is read once.
    ///
    /// # Errors
    /// [`Error::Capture`] if it cannot be fitted.
    pub fn fitted(&self) -> Result<Option<Arc<Fit>>, Error> {
        let Some(file) = &self.question.capture else {
            return Ok(None);
        };
        if let Some((of, found)) = self.fitted.get()
            && of == file
        {
            return Ok(Some(Arc::clone(found)));
        }
        let found = Arc::new(fit(file, None)?);
        // It stays as it is where another thread, or another file, was first.
        let _ = self.fitted.set((file.clone(), Arc::clone(&found)));
        Ok(Some(found))
    }

    /// How the link changes with time, if it does, and its rates there and back.
    fn profile(&self) -> Result<(Option<LinkProfile>, Option<[Rate; 2]>), Error> {
        let question = &self.question;
        let why = match question.over {
            Some(over) if over < Duration::from_secs(1) => Some("must be at least a second"),
            Some(over) if over > orbit::LONGEST => Some("must be at most a week"),
            _ => None,
        };
        if let Some(why) = why {
            return Err(Error::setting("over", why));
        }
        if let (Some(name), Some(from), Some(to)) = (&question.orbit, &question.from, &question.to)
        {
            let mut orbit = Orbit::new(name, from.clone(), to.clone());
            orbit.slot = question.slot;
            let largest = question.sizes().into_iter().max().unwrap_or_default();
            let users = u64::from(question.user_count());
            let rest = orbit::Rest {
                rate: question.rate,
                return_rate: question.return_rate,
                volume: Bytes::new(largest.get().saturating_mul(users)),
                over: question.over,
            };
            let (profile, rates) = orbit.profile(RATE, rest)?;
            return Ok((Some(profile), Some(rates)));
        }
        if question.trace.is_empty() {
            return Ok((None, None));
        }
        let rest = trace::Rest {
            rtt: question.rtt,
            return_rate: question.return_rate,
            over: question.over,
        };
        let profile = match &self.trace {
            Some(trace) => trace.profile(rest)?,
            None => Trace::new(&question.trace).profile(rest)?,
        };
        if profile.has_losses && question.loss.is_some() {
            let why = format!("is not for {}, which says what is lost", profile.name);
            return Err(Error::setting("loss", why));
        }
        let rate = profile.rate;
        let back = Rate::from_bps((rate.bps() / 5).max(1));
        Ok((Some(profile), Some([rate, back])))
    }

    /// Refuses what makes no sense, whatever the path is.
    pub(super) fn check(&self) -> Result<(), Error> {
        self.question.check()?;
        if self.question.user_counts().len() > 1 {
            let why = "has several numbers, of which an answer takes one";
            return Err(Error::setting("users", why));
        }
        if !self.own.is_empty() && self.question.pep.contains(&Pep::Split) {
            let why = "split: a congestion control of your own cannot run from a proxy on";
            return Err(Error::setting("pep", why));
        }
        if self.question.robust && self.runner.is_some() {
            let why = "needs many runs, which real hosts make in real time: ask the simulator";
            return Err(Error::setting("robust", why));
        }
        Ok(())
    }

    /// Refuses what makes no sense on this path.
    pub(super) fn check_path(&self, path: &NetworkPath) -> Result<(), Error> {
        let background = self.question.background;
        let load = background.map(|background| background.rate(path.rate));
        if let Some(load) = load.filter(|load| *load >= path.rate || load.bps() == 0) {
            let why = format!("of {load} must be above zero and below the rate of the link");
            return Err(Error::setting("background", why));
        }
        Ok(())
    }
}
