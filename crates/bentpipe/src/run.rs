//! Runs of one scenario.

use crate::Error;
use bentpipe_cc::{CongestionControl, Controller};
use bentpipe_outcome::Outcome;
use bentpipe_scenario::{Flow, Scenario};
use bentpipe_sim::{Observer, Options, Simulation, Steady, Stop, Threads, Unobserved};
use bentpipe_units::{Duration, Time};
use std::fmt;

/// Builds the congestion control of a flow, or leaves the flow its own.
type ForFlow<'a> = dyn FnMut(&Flow) -> Option<Box<dyn CongestionControl>> + 'a;

/// Is told how a run takes place.
type Told<'a, T> = dyn FnOnce(&T) + 'a;

/// Runs `scenario` with its own seed and returns the outcome.
///
/// ```
/// use bentpipe::prelude::*;
///
/// let mut network = Scenario::builder("geo");
/// let server = network.node("server");
/// let client = network.node("client");
/// network.link("satellite", server, client, LinkSettings::new(
///     Rate::from_mbps(2),
///     Duration::from_micros(255_500),
///     QueueSettings::drop_tail(Limit::Packets(100)),
/// ));
/// let file = Application::Transfer { size: Bytes::new(3_000_000) };
/// network
///     .flow("download", server, client, file)
///     .transport(bentpipe::transport("hybla"));
/// let outcome = bentpipe::run(&network.build()?)?;
/// let time = outcome.flows[0].transfer_time.expect("the download ended");
/// assert!(time > Duration::from_secs(12));
/// # Ok::<(), bentpipe::Error>(())
/// ```
///
/// # Errors
/// [`Error::Run`] if the run hits a bound of the scenario or a transport
/// cannot be built.
pub fn run(scenario: &Scenario) -> Result<Outcome, Error> {
    Run::new(scenario).execute()
}

/// A run with options.
///
/// ```
/// use bentpipe::prelude::*;
///
/// let scenario = bentpipe::parse(bentpipe::template())?;
/// let outcome = Run::new(&scenario)
///     .seed(7)
///     .series(Duration::from_millis(100))
///     .checkpoints([Time::ZERO + Duration::from_secs(5)])
///     .execute()?;
/// assert_eq!(outcome.seed, 7);
/// assert!(!outcome.series[0].sender.is_empty());
/// # Ok::<(), bentpipe::Error>(())
/// ```
pub struct Run<'a> {
    scenario: &'a Scenario,
    options: Options,
    own: Option<Box<ForFlow<'a>>>,
    progress: Option<Box<dyn FnMut(Time) + 'a>>,
    threads: Option<(Option<usize>, Box<Told<'a, Threads>>)>,
    steady: Option<Box<Told<'a, Steady>>>,
}

impl fmt::Debug for Run<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run")
            .field("scenario", &self.scenario.name)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

impl<'a> Run<'a> {
    /// A run of `scenario` with its own seed that records no series.
    #[must_use]
    pub fn new(scenario: &'a Scenario) -> Run<'a> {
        Run {
            scenario,
            options: Options {
                seed: scenario.seed,
                ..Options::default()
            },
            own: None,
            progress: None,
            threads: None,
            steady: None,
        }
    }

    /// Replaces all options at once.
    #[must_use]
    pub fn options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }

    /// Seed of every random process of the run.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.options.seed = seed;
        self
    }

    /// Records time series with at most one sample per flow and `interval`;
    /// with an interval of zero, every change.
    #[must_use]
    pub fn series(mut self, interval: Duration) -> Self {
        self.options.series = Some(interval);
        self
    }

    /// Times at which all counters are noted, for rates and shares over a part
    /// of the run ([`Outcome::interval`]).
    #[must_use]
    pub fn checkpoints(mut self, at: impl IntoIterator<Item = Time>) -> Self {
        self.options.checkpoints = at.into_iter().collect();
        self
    }

    /// Shifts the start of each flow by a seeded amount in [0, `jitter`), so
    /// that replications of a loss-free run differ.
    #[must_use]
    pub fn start_jitter(mut self, jitter: Duration) -> Self {
        self.options.start_jitter = jitter;
        self
    }

    /// Lets another thread stop the run, which then fails with
    /// [`RunError::Stopped`](bentpipe_sim::RunError::Stopped).
    #[must_use]
    pub fn stop(mut self, stop: Stop) -> Self {
        self.options.stop = stop;
        self
    }

    /// Gives flows a congestion control of your own: `build` is called once for
    /// each flow with a transport, and returns `None` for those that keep
    /// theirs.
    ///
    /// ```
    /// use bentpipe::cc::{Ack, CongestionControl, Window};
    /// use bentpipe::prelude::*;
    ///
    /// /// A window that never changes.
    /// #[derive(Debug)]
    /// struct Fixed(f64);
    ///
    /// impl CongestionControl for Fixed {
    ///     fn name(&self) -> &str {
    ///         "fixed"
    ///     }
    ///     fn on_ack(&mut self, _: &Ack, window: &mut Window) {
    ///         window.cwnd = self.0;
    ///     }
    /// }
    ///
    /// let scenario = bentpipe::parse(bentpipe::template())?;
    /// let outcome = Run::new(&scenario)
    ///     .congestion_control(|_| Some(Box::new(Fixed(40.0))))
    ///     .execute()?;
    /// assert_eq!(outcome.flows[0].max_cwnd, 40.0);
    /// # Ok::<(), bentpipe::Error>(())
    /// ```
    #[must_use]
    pub fn congestion_control(
        mut self,
        build: impl FnMut(&Flow) -> Option<Box<dyn CongestionControl>> + 'a,
    ) -> Self {
        self.own = Some(Box::new(build));
        self
    }

    /// Calls `report` with the simulated time every some thousand events.
    #[must_use]
    pub fn on_progress(mut self, report: impl FnMut(Time) + 'a) -> Self {
        self.progress = Some(Box::new(report));
        self
    }

    /// Runs on up to `threads` threads where the network can be divided, with the same outcome to
    /// the bit, and calls `told` with how many there are.
    ///
    /// ```
    /// use bentpipe::prelude::*;
    /// use bentpipe::sim::Threads;
    ///
    /// let scenario = bentpipe::parse(bentpipe::template())?;
    /// let mut told = None;
    /// let run = Run::new(&scenario).threads(2, |threads| told = Some(*threads));
    /// assert_eq!(run.execute()?, bentpipe::run(&scenario)?);
    /// assert!(matches!(told, Some(Threads::Many { threads: 2, .. })));
    /// # Ok::<(), bentpipe::Error>(())
    /// ```
    #[must_use]
    pub fn threads(mut self, threads: usize, told: impl FnOnce(&Threads) + 'a) -> Self {
        self.threads = Some((Some(threads), Box::new(told)));
        self
    }

    /// Runs on all cores where the network can be divided and is so large that this pays, with the
    /// same outcome to the bit, and calls `told` with how many threads there are. A run that is
    /// estimated to take less than a second stays on one, and so does one of whose network the parts
    /// would meet too often.
    #[must_use]
    pub fn cores(mut self, told: impl FnOnce(&Threads) + 'a) -> Self {
        self.threads = Some((None, Box::new(told)));
        self
    }

    /// Simulates until the packets of the run repeat exactly and counts the rest of it in such
    /// periods, where nothing else is to happen: a long persistent flow without losses takes a
    /// fraction of the time. Calls `told` with what was skipped, or with why the run was simulated to
    /// its end. The figures of the outcome are those of the whole run up to 0.1%.
    ///
    /// ```
    /// use bentpipe::prelude::*;
    /// use bentpipe::sim::Steady;
    ///
    /// let mut network = Scenario::builder("an hour");
    /// let server = network.node("server");
    /// let client = network.node("client");
    /// network.link("satellite", server, client, LinkSettings::new(
    ///     Rate::from_mbps(2),
    ///     Duration::from_millis(250),
    ///     QueueSettings::drop_tail(Limit::Packets(1000)),
    /// ));
    /// network
    ///     .flow("feed", server, client, Application::Persistent)
    ///     .transport(bentpipe::transport("fixed-window"));
    /// let scenario = network.duration(Duration::from_secs(3600)).build()?;
    /// let mut told = None;
    /// let skipped = Run::new(&scenario)
    ///     .skip_steady(|steady| told = Some(steady.clone()))
    ///     .execute()?;
    /// assert!(matches!(told, Some(Steady::Skipped { .. })));
    /// assert_eq!(skipped.flows[0].delivered, bentpipe::run(&scenario)?.flows[0].delivered);
    /// # Ok::<(), bentpipe::Error>(())
    /// ```
    #[must_use]
    pub fn skip_steady(mut self, told: impl FnOnce(&Steady) + 'a) -> Self {
        self.options.skip_steady = true;
        self.steady = Some(Box::new(told));
        self
    }

    /// Runs and returns the outcome.
    ///
    /// # Errors
    /// As [`run`].
    pub fn execute(self) -> Result<Outcome, Error> {
        self.observe(&mut Unobserved)
    }

    /// Runs with an observer of the packets at the endpoints, such as a
    /// capture.
    ///
    /// # Errors
    /// As [`run`].
    pub fn observe(mut self, observer: &mut dyn Observer) -> Result<Outcome, Error> {
        let mut simulation = Simulation::with(self.scenario, &self.options, |flow| {
            let own = self.own.as_mut()?(flow)?;
            Some(Controller::from(own))
        })?;
        if let Some(report) = self.progress.take() {
            simulation.on_progress(report);
        }
        if let Some((threads, told)) = self.threads.take() {
            match threads {
                Some(threads) => simulation.on_threads(threads, told),
                None => simulation.on_cores(told),
            }
        }
        if let Some(told) = self.steady.take() {
            simulation.on_steady(told);
        }
        Ok(simulation.run(observer)?)
    }
}
