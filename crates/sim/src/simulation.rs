//! Sets up a run: the endpoints of every flow, by its transport.

use crate::collect::Sums;
use crate::connections::Connections;
use crate::execution::{Execution, Ties};
use crate::flow::{Ends, Running};
use crate::lookup::Lookup;
use crate::network::Network;
use crate::observer::{Observer, Unobserved};
use crate::parts::{self, Division, OneThread, Threads};
use crate::quic::QuicFlow;
use crate::recorder::Recorder;
use crate::reports::Reports;
use crate::split::Chain;
use crate::steady::{self, NoSkip, Steady, Unskipped};
use crate::stream::MediaStream;
use crate::surround::with_run_scope;
use crate::{Options, RunError};
use bentpipe_cc::Controller;
use bentpipe_outcome::Outcome;
use bentpipe_random::Stream;
use bentpipe_scenario::{Flow, LinkId, Offload, Pep, Scenario};
use bentpipe_tcp::{CongestionControlChoice, Endpoint, HostProfile, Transport};
use bentpipe_units::Time;

/// Runs `scenario` and returns what it yielded.
///
/// # Errors
/// When a bound of the scenario is hit or a transport cannot be built.
pub fn run(scenario: &Scenario, options: &Options) -> Result<Outcome, RunError> {
    Simulation::new(scenario, options)?.run(&mut Unobserved)
}

/// A run that is about to begin.
#[derive(Debug)]
pub struct Simulation<'a> {
    scenario: &'a Scenario,
    options: &'a Options,
    flows: Vec<Running>,
    progress: Option<Progress<'a>>,
    /// On how many threads at most, `None` for those that pay, and who is told of it.
    threads: Option<(Option<usize>, Told<'a, Threads>)>,
    /// Who is told of a steady state.
    steady: Option<Told<'a, Steady>>,
}

/// Told how a run takes place.
pub(crate) struct Told<'a, T>(Box<dyn FnOnce(&T) + 'a>);

impl<T> std::fmt::Debug for Told<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Told")
    }
}

/// Called with the simulated time every some thousand events.
pub(crate) struct Progress<'a>(pub(crate) Box<dyn FnMut(Time) + 'a>);

impl std::fmt::Debug for Progress<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Progress")
    }
}

impl<'a> Simulation<'a> {
    /// Sets the endpoints of `scenario` up.
    ///
    /// # Errors
    /// When a transport cannot be built.
    pub fn new(scenario: &'a Scenario, options: &'a Options) -> Result<Simulation<'a>, RunError> {
        Simulation::with(scenario, options, |_| None)
    }

    /// The same, with a user's own congestion control for the flows that
    /// `controller` returns one for.
    ///
    /// # Errors
    /// When a transport cannot be built.
    pub fn with(
        scenario: &'a Scenario,
        options: &'a Options,
        mut controller: impl FnMut(&Flow) -> Option<Controller>,
    ) -> Result<Simulation<'a>, RunError> {
        let mut flows = Vec::with_capacity(scenario.flows.len());
        let connections = Connections::new(scenario);
        for index in 0..scenario.flows.len() {
            flows.push(running(
                scenario,
                options,
                &connections,
                index,
                &mut controller,
            )?);
        }
        Ok(Simulation {
            scenario,
            options,
            flows,
            progress: None,
            threads: None,
            steady: None,
        })
    }

    /// Calls `report` with the simulated time every some thousand events.
    pub fn on_progress(&mut self, report: impl FnMut(Time) + 'a) {
        self.progress = Some(Progress(Box::new(report)));
    }

    /// Runs on up to `threads` threads where the network can be divided, with the same outcome to
    /// the bit. Calls `told` with how many there are, and if there is one, why.
    pub fn on_threads(&mut self, threads: usize, told: impl FnOnce(&Threads) + 'a) {
        self.threads = Some((Some(threads), Told(Box::new(told))));
    }

    /// Runs on all cores where the network can be divided and is large enough that this pays, with
    /// the same outcome to the bit: not where an estimate of its time on one core is below a second,
    /// or where parts of the network would meet too often. Calls `told` as
    /// [`Simulation::on_threads`] does.
    pub fn on_cores(&mut self, told: impl FnOnce(&Threads) + 'a) {
        self.threads = Some((None, Told(Box::new(told))));
    }

    /// Calls `told` with what became of [`Options::skip_steady`].
    pub fn on_steady(&mut self, told: impl FnOnce(&Steady) + 'a) {
        self.steady = Some(Told(Box::new(told)));
    }

    /// Runs to the end and returns what the run yielded.
    ///
    /// # Errors
    /// When a bound of the scenario is hit.
    pub fn run(mut self, observer: &'a mut dyn Observer) -> Result<Outcome, RunError> {
        if self.options.skip_steady
            && let Some(outcome) = self.skip(observer.is_active())?
        {
            return Ok(outcome);
        }
        let threads = self.threads.take();
        if observer.is_active() {
            if let Some((_, told)) = threads {
                told.0(&Threads::One(OneThread::Observed));
            }
            return self.execute::<true>(observer, None);
        }
        if let Some((threads, told)) = threads {
            let (scenario, options, flows) = (self.scenario, self.options, &self.flows);
            let division = match threads {
                Some(threads) => parts::divide(scenario, options, flows, threads),
                None => parts::divide_by_itself(scenario, options, flows),
            };
            told.0(&Threads::of(&division));
            if let Ok(division) = division {
                return self.execute_parts(&division, observer);
            }
        }
        self.execute::<false>(observer, None)
    }

    /// What the run yields if what repeats is skipped; `None` where it has to be simulated.
    fn skip(&mut self, observed: bool) -> Result<Option<Outcome>, RunError> {
        let skipped = match observed {
            true => Err(NoSkip::Recorded.into()),
            false => steady::skip(self.scenario, self.options, &self.flows),
        };
        let (outcome, what) = match skipped {
            Ok((outcome, what)) => (Some(outcome), what),
            Err(Unskipped::Refused(why)) => (None, Steady::Refused(why)),
            Err(Unskipped::Failed(error)) => return Err(error),
        };
        if let Some(told) = self.steady.take() {
            told.0(&what);
        }
        Ok(outcome)
    }

    /// Runs to the end, and returns what the outcome does not say, too.
    pub(crate) fn run_with_sums(
        self,
        observer: &'a mut dyn Observer,
    ) -> Result<(Outcome, Sums), RunError> {
        let mut sums = Sums::default();
        let outcome = self.execute::<false>(observer, Some(&mut sums))?;
        Ok((outcome, sums))
    }

    /// Runs the parts of the network side by side.
    fn execute_parts(
        mut self,
        division: &Division,
        observer: &'a mut dyn Observer,
    ) -> Result<Outcome, RunError> {
        // Each part sets its own up.
        self.flows.clear();
        let (scenario, options) = (self.scenario, self.options);
        let parts = parts::run(scenario, options, division, self.progress.as_mut());
        parts.unwrap_or_else(|_| {
            // One thread finds out what could not be decided.
            let mut again = Simulation::new(scenario, options)?;
            again.progress = self.progress;
            again.execute::<false>(observer, None)
        })
    }

    // Not generic over the observer: all that a packet meets would be compiled again in the crate
    // of each, and optimised as little as that crate is.
    fn execute<const WATCHED: bool>(
        self,
        observer: &'a mut dyn Observer,
        sums: Option<&mut Sums>,
    ) -> Result<Outcome, RunError> {
        let (scenario, options, mut flows) = (self.scenario, self.options, self.flows);
        let delays = options.queueing_delays;
        let net = Network::<WATCHED>::new(scenario, options.seed, delays, observer);
        let ties = Ties::new(scenario, &mut flows);
        let mut execution = Execution::new(scenario, options, flows, ties, net);
        execution.progress = self.progress;
        with_run_scope(scenario, || execution.run(sums))
    }
}

/// Flow number `index` of a scenario, about to begin.
pub(crate) fn running(
    scenario: &Scenario,
    options: &Options,
    connections: &Connections,
    index: usize,
    controller: &mut dyn FnMut(&Flow) -> Option<Controller>,
) -> Result<Running, RunError> {
    let flow = &scenario.flows[index];
    let ends = match flow.transport.as_deref() {
        None => match MediaStream::new(&flow.application, options.start_of(flow)) {
            Some(stream) => Ends::Stream(stream),
            None => Ends::Datagrams {
                sent: 0,
                sent_bytes: 0,
                arrived_bytes: 0,
            },
        },
        Some(t) if t.congestion_control == CongestionControlChoice::Ideal => Ends::Ideal,
        Some(_) if flow.split.is_some() && flow.application.reopens() => {
            return Err(RunError::Transport {
                flow: flow.name.clone(),
                reason: "a connection for each page cannot pass a split PEP; \
                         let one connection carry all pages"
                    .to_owned(),
            });
        }
        Some(_) if flow.split.is_some() => {
            Ends::Split(chain(flow, index, connections, controller(flow), options)?)
        }
        Some(t) if t.quic.is_some() => {
            let custom = controller(flow);
            Ends::Quic(QuicFlow::new(flow, t, index as u32, custom, options.seed)?)
        }
        Some(t) => {
            let custom = controller(flow);
            if custom.is_some() && flow.application.reopens() {
                return Err(RunError::Transport {
                    flow: flow.name.clone(),
                    reason: "a connection for each page needs a congestion control that \
                             can be built again"
                        .to_owned(),
                });
            }
            let mut ends = ends(flow, t, index as u32, custom, options.seed)?;
            if let Some((from, to)) = ends.pair()
                && is_whole(scenario, flow)
            {
                from.send_whole();
                to.send_whole();
            }
            ends
        }
    };
    let mut running = Running::new(flow, ends, options.start_of(flow), options.seed);
    running.reports = Reports::of(scenario, flow, &running.ends);
    let recorder = |interval| Box::new(Recorder::new(&flow.name, interval));
    running.series = options.series.map(recorder);
    let start = options.start_of(flow);
    running.lookup = connections
        .lookup(index)
        .map(|connection| Lookup::new(flow, connection, start));
    Ok(running)
}

/// True where super-segments stay whole all the way: every link of every route carries them so, and
/// no middlebox looks at packets.
fn is_whole(scenario: &Scenario, flow: &Flow) -> bool {
    let offers = flow
        .transport
        .as_ref()
        .is_some_and(|t| t.profile == HostProfile::Linux && !t.kernel.single_segments);
    let whole = |id: &LinkId| {
        let link = scenario.links.get(id.0 as usize);
        link.is_some_and(|link| link.offload == Offload::Whole)
    };
    let later = flow.changes.iter();
    offers
        && flow.ipsec.is_none()
        && scenario.middleboxes.is_empty()
        && flow.forward.iter().chain(&flow.reverse).all(whole)
        && later
            .flat_map(|change| change.forward.iter().chain(&change.reverse))
            .all(whole)
}

#[cold]
fn chain(
    flow: &Flow,
    index: usize,
    connections: &Connections,
    custom: Option<Controller>,
    options: &Options,
) -> Result<Box<Chain>, RunError> {
    let missing = || RunError::Transport {
        flow: flow.name.clone(),
        reason: "it is not split".to_owned(),
    };
    let split = flow.split.as_ref().ok_or_else(missing)?;
    let mut chain = Chain::new(flow, split, index, connections, custom, options.seed)?;
    if let Some(interval) = options.series {
        let name = |pep: &Pep| format!("{}/{}", flow.name, pep.name);
        let recorder = |pep| Recorder::new(&name(pep), interval);
        chain.series = split.peps.iter().map(recorder).collect();
    }
    Ok(Box::new(chain))
}

fn ends(
    flow: &Flow,
    transport: &Transport,
    index: u32,
    custom: Option<Controller>,
    seed: u64,
) -> Result<Ends, RunError> {
    let build = || {
        transport.controller().map_err(|e| RunError::Transport {
            flow: flow.name.clone(),
            reason: e.to_string(),
        })
    };
    let mut sending = match custom {
        Some(controller) => controller,
        None => build()?,
    };
    let mut answering = build()?;
    let mut stream = Stream::new(seed, &format!("congestion control {}", flow.name));
    sending.seed(stream.bits());
    answering.seed(stream.bits());
    let from = Endpoint::new(transport, sending, 2 * index + 1);
    let to = Endpoint::new(transport, answering, 2 * index);
    Ok(Ends::Tcp(Box::new([from, to])))
}
