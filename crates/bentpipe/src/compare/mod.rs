//! Which transport for a link? One download with each of them, a ranking and a
//! recommendation.
//!
//! [`Comparison`] describes the link, the download and the transports;
//! [`Comparison::run`] simulates the downloads and returns a [`Ranking`].
//! Every scenario is built by the checked
//! [`ScenarioBuilder`](crate::scenario::ScenarioBuilder).
//!
//! ```
//! use bentpipe::prelude::*;
//!
//! let ranking = Comparison::new()
//!     .rate(Rate::from_mbps(2))
//!     .rtt(Duration::from_millis(511))
//!     .loss(Ratio::ZERO)
//!     .size(Bytes::new(300_000))
//!     .transports(["cubic", "hybla", "as-of-2000"])
//!     .run()?;
//! let best = ranking.recommended().expect("a download ended");
//! assert_ne!(best.name, "as-of-2000");
//! # Ok::<(), bentpipe::Error>(())
//! ```

mod advice;
mod entries;
mod gateway;
mod lineup;
mod measure;
mod orbit;
mod path;
mod words;

pub use advice::{Recommendation, Risk};
pub use bentpipe_scenario::QueueLength;
pub use lineup::{Availability, Candidate, DEFAULT, IDEAL};
pub use measure::{Sharing, TransportResult};
pub use orbit::{Orbit, OrbitPath};
pub use path::{GIVEN_UP, NetworkPath, Pep};

use crate::Error;
use crate::own::OwnControl;
use bentpipe_cc::CongestionControl;
use bentpipe_sim::Options;
use bentpipe_units::{Bytes, Duration, Rate, Ratio};

/// Runs of a lossy link unless [`Comparison::runs`] says otherwise.
const RUNS: u32 = 50;

/// Runs of two downloads side by side, at most.
const SHARING_RUNS: usize = 20;

/// Round trip to the gateway of a proxy, by default.
const SERVER_RTT: Duration = Duration::from_millis(50);

/// Compares transports; see [`Comparison`].
///
/// # Errors
/// As [`Comparison::run`].
pub fn compare(comparison: &Comparison) -> Result<Ranking, Error> {
    comparison.run()
}

/// What is compared: a link, a download and transports.
///
/// The defaults are those of `bentpipe compare`: 10 MB over 10 Mbit/s with a
/// round trip of 600 ms, 0.1% loss and a queue of one bandwidth-delay product.
#[derive(Clone, Debug)]
pub struct Comparison {
    rate: Rate,
    return_rate: Option<Rate>,
    rtt: Duration,
    size: Bytes,
    loss: Ratio,
    queue: QueueLength,
    pep: Pep,
    server_rtt: Option<Duration>,
    orbit: Option<Orbit>,
    transports: Vec<String>,
    own: Vec<Candidate>,
    runs: Option<u32>,
    seed: u64,
    threads: usize,
}

impl Default for Comparison {
    fn default() -> Comparison {
        Comparison {
            rate: Rate::from_mbps(10),
            return_rate: None,
            rtt: Duration::from_millis(600),
            size: Bytes::new(10_000_000),
            loss: Ratio::new(0.001).unwrap_or(Ratio::ZERO),
            queue: QueueLength::Bdp(1.0),
            pep: Pep::None,
            server_rtt: None,
            orbit: None,
            transports: Vec::new(),
            own: Vec::new(),
            runs: None,
            seed: 1,
            threads: 0,
        }
    }
}

impl Comparison {
    /// The default comparison.
    #[must_use]
    pub fn new() -> Comparison {
        Comparison::default()
    }

    /// Rate of the satellite link towards the receiver.
    #[must_use]
    pub fn rate(mut self, rate: Rate) -> Self {
        self.rate = rate;
        self
    }

    /// Rate of the way back; a fifth of the rate unless it is set.
    #[must_use]
    pub fn return_rate(mut self, rate: Rate) -> Self {
        self.return_rate = Some(rate);
        self
    }

    /// Round-trip propagation time, without queueing.
    #[must_use]
    pub fn rtt(mut self, rtt: Duration) -> Self {
        self.rtt = rtt;
        self
    }

    /// Size of the download.
    #[must_use]
    pub fn size(mut self, size: Bytes) -> Self {
        self.size = size;
        self
    }

    /// Share of packets that the channel loses, each independently.
    #[must_use]
    pub fn loss(mut self, loss: Ratio) -> Self {
        self.loss = loss;
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
    pub fn pep(mut self, pep: Pep) -> Self {
        self.pep = pep;
        self
    }

    /// Round trip between server and gateway; 50 ms with a proxy unless it is
    /// set, and no gateway without either. With a gateway the downloads begin
    /// with their SYN.
    #[must_use]
    pub fn server_rtt(mut self, rtt: Duration) -> Self {
        self.server_rtt = Some(rtt);
        self
    }

    /// The satellites that the link goes over. They replace the round-trip
    /// time.
    #[must_use]
    pub fn orbit(mut self, orbit: Orbit) -> Self {
        self.orbit = Some(orbit);
        self
    }

    /// The transports to compare, by name; `all` stands for every one. Without
    /// this call it is a selection. The default of Linux is always among them.
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
    /// for each download. Around it is the TCP of the catalogue's `sack` with
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
    /// let ranking = Comparison::new()
    ///     .loss(Ratio::ZERO)
    ///     .size(Bytes::new(300_000))
    ///     .transports(["cubic"])
    ///     .own("greedy", || Box::new(Greedy))
    ///     .run()?;
    /// let greedy = ranking.result("greedy").expect("it was compared");
    /// assert!(greedy.times.is_some());
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

    /// Downloads per transport; 50 unless it is set, or 1 without losses.
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

    /// Downloads simulated at the same time; one per core unless it is set. The
    /// results do not depend on it.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// The path that these settings describe.
    ///
    /// # Errors
    /// [`Error::Setting`] if they describe none.
    pub fn path(&self) -> Result<NetworkPath, Error> {
        let return_rate = self
            .return_rate
            .unwrap_or_else(|| Rate::from_bps((self.rate.bps() / 5).max(1)));
        let mut path = NetworkPath {
            rate: self.rate,
            return_rate,
            rtt: self.rtt,
            size: self.size,
            loss: self.loss,
            queue: self.queue,
            server_rtt: self
                .server_rtt
                .or((self.pep != Pep::None).then_some(SERVER_RTT)),
            pep: self.pep,
            orbit: None,
        };
        path.check()?;
        if let Some(orbit) = &self.orbit {
            let over = orbit.path([self.rate, return_rate], self.size)?;
            path.rtt = over.rtt[1];
            path.orbit = Some(over);
        }
        Ok(path)
    }

    /// The transports that are compared over `path`.
    ///
    /// # Errors
    /// [`Error::UnknownTransport`] for a name that does not exist.
    pub fn candidates(&self, path: &NetworkPath) -> Result<Vec<Candidate>, Error> {
        if !self.own.is_empty() && path.pep == Pep::Split {
            return Err(Error::setting(
                "pep",
                "split: a congestion control of your own cannot run from a proxy on",
            ));
        }
        let mut chosen = if self.transports.is_empty() {
            lineup::selection(path)
        } else {
            lineup::named(&self.transports, path)?
        };
        if !chosen.iter().any(|c| c.name == DEFAULT) {
            chosen.extend(entries::all(path).into_iter().filter(|c| c.name == DEFAULT));
        }
        for own in &self.own {
            if chosen.iter().any(|c| c.name == own.name) {
                let name = &own.name;
                let why = format!("has two transports named `{name}`");
                return Err(Error::setting("transport", why));
            }
            chosen.push(entries::over(own.clone(), path));
        }
        Ok(chosen)
    }

    /// Simulates the downloads and ranks the transports.
    ///
    /// # Errors
    /// If the settings describe no path, a transport is unknown, or a run hits
    /// a bound.
    pub fn run(&self) -> Result<Ranking, Error> {
        self.run_with(&|_, _| {})
    }

    /// The same; `progress` is called after each download with the number of
    /// downloads done and of all downloads.
    ///
    /// # Errors
    /// As [`run`](Comparison::run).
    pub fn run_with(&self, progress: &(dyn Fn(usize, usize) + Sync)) -> Result<Ranking, Error> {
        let path = self.path()?;
        let candidates = self.candidates(&path)?;
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(self.threads)
            .build()
            .map_err(|e| Error::Threads(e.to_string()))?;
        pool.install(|| self.rank(path, candidates, progress))
    }

    fn rank(
        &self,
        path: NetworkPath,
        candidates: Vec<Candidate>,
        progress: &(dyn Fn(usize, usize) + Sync),
    ) -> Result<Ranking, Error> {
        let runs = self
            .runs
            .unwrap_or(if path.loss.get() > 0.0 { RUNS } else { 1 });
        let seeds: Vec<u64> = (0..u64::from(runs))
            .map(|i| self.seed.wrapping_add(i))
            .collect();
        let bound = path.scenario(&[&entries::ideal()])?;
        let ideal = bentpipe_sim::ideal::transfer_time(&bound, &bound.flows[0], path.size, 1);
        let mut results = measure::downloads(&path, &candidates, &seeds, ideal, progress)?;
        results.sort_by(advice::by_time);
        let recommendation = advice::recommend(&results, DEFAULT, path.loss.get());
        let mut ranking = Ranking {
            path,
            seeds,
            ideal,
            candidates,
            results,
            recommendation,
            sharing: None,
            risks: Vec::new(),
        };
        ranking.weigh()?;
        Ok(ranking)
    }
}

/// What a comparison found.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Ranking {
    /// The path that the downloads crossed.
    pub path: NetworkPath,
    /// Seeds of the runs.
    pub seeds: Vec<u64>,
    /// Transfer time of the analytic bound.
    pub ideal: Duration,
    /// The transports that were compared, in the order of the line-up.
    pub candidates: Vec<Candidate>,
    /// What each of them did, the fastest first.
    pub results: Vec<TransportResult>,
    /// What the results recommend; `None` if nothing that can be recommended
    /// ended a download.
    pub recommendation: Option<Recommendation>,
    /// A download of the default beside the recommended transport.
    pub sharing: Option<Sharing>,
    /// What speaks against the recommended transport, the weightiest first.
    pub risks: Vec<Risk>,
}

impl Ranking {
    /// The recommended transport.
    #[must_use]
    pub fn recommended(&self) -> Option<&TransportResult> {
        self.results.get(self.recommendation.as_ref()?.pick)
    }

    /// What the transport of that name did.
    #[must_use]
    pub fn result(&self, name: &str) -> Option<&TransportResult> {
        self.results.iter().find(|r| r.name == name)
    }

    /// The candidate of that name.
    #[must_use]
    pub fn candidate(&self, name: &str) -> Option<&Candidate> {
        self.candidates.iter().find(|c| c.name == name)
    }

    /// Runs one download of a candidate again, such as to record its series.
    ///
    /// # Errors
    /// If the run hits a bound.
    pub fn replay(
        &self,
        candidate: &Candidate,
        options: &Options,
    ) -> Result<bentpipe_outcome::Outcome, Error> {
        measure::one(&self.path, &[candidate], options)
    }

    /// Looks for what speaks against the recommended transport.
    fn weigh(&mut self) -> Result<(), Error> {
        let Some(found) = &self.recommendation else {
            return Ok(());
        };
        let pick = &self.results[found.pick];
        let default = found.default.filter(|d| *d != found.pick);
        let default = default.map(|d| &self.results[d]);
        if let (Some(_), Some(candidate)) = (default, self.candidate(&pick.name)) {
            let seeds = &self.seeds[..self.seeds.len().min(SHARING_RUNS)];
            let usual = entries::default_candidate();
            self.sharing = measure::sharing(&self.path, &usual, candidate, seeds)?;
        }
        self.risks = advice::risks(pick, default, self.sharing.as_ref(), self.path.loss.get());
        Ok(())
    }
}
