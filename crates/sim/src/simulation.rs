//! The loop that wires the floors below: pops events, moves packets, wakes
//! endpoints and applications.

use crate::collect;
use crate::connections::Connections;
use crate::flow::{Ends, Recorder, Running};
use crate::knowledge::Knowledge;
use crate::network::Network;
use crate::observer::{Observer, Unobserved};
use crate::queue::{Class, Event};
use crate::reports::Reports;
use crate::split::Chain;
use crate::{Options, RunError};
use bentpipe_cc::Controller;
use bentpipe_outcome::{Checkpoint, Outcome};
use bentpipe_random::Stream;
use bentpipe_scenario::{Flow, Limits, Pep, Scenario};
use bentpipe_tcp::{CongestionControlChoice, Endpoint, Transport};
use bentpipe_traffic::{Application, PageConnection};
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
    /// What some senders are told about their paths.
    knowledge: Option<Box<Knowledge>>,
    /// When counts are to be noted, the next last.
    to_note: Vec<Time>,
    checkpoints: Vec<Checkpoint>,
    progress: Option<Progress<'a>>,
}

/// Called with the simulated time every some thousand events.
struct Progress<'a>(Box<dyn FnMut(Time) + 'a>);

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
        for (index, flow) in scenario.flows.iter().enumerate() {
            let ends = match &flow.transport {
                None => Ends::Datagrams {
                    sent: 0,
                    sent_bytes: 0,
                    arrived_bytes: 0,
                },
                Some(t) if t.congestion_control == CongestionControlChoice::Ideal => Ends::Ideal,
                Some(_) if flow.split.is_some() && opens_anew(flow) => {
                    return Err(RunError::Transport {
                        flow: flow.name.clone(),
                        reason: "a connection for each page cannot pass a split PEP; \
                                 let one connection carry all pages"
                            .to_owned(),
                    });
                }
                Some(_) if flow.split.is_some() => {
                    Ends::Split(chain(flow, index, &connections, controller(flow), options)?)
                }
                Some(t) => {
                    let custom = controller(flow);
                    if custom.is_some() && opens_anew(flow) {
                        return Err(RunError::Transport {
                            flow: flow.name.clone(),
                            reason: "a connection for each page needs a congestion control that \
                                     can be built again"
                                .to_owned(),
                        });
                    }
                    ends(flow, t, index as u32, custom, options.seed)?
                }
            };
            let mut running = Running::new(flow, ends, options.start_jitter, options.seed);
            running.reports = Reports::of(scenario, flow, &running.ends);
            running.series = options.series.map(|i| Recorder::new(&flow.name, i));
            flows.push(running);
        }
        let mut to_note = options.checkpoints.clone();
        to_note.sort_unstable_by(|a, b| b.cmp(a));
        to_note.dedup();
        Ok(Simulation {
            scenario,
            options,
            flows,
            knowledge: None,
            to_note,
            checkpoints: Vec::new(),
            progress: None,
        })
    }

    /// Calls `report` with the simulated time every some thousand events.
    pub fn on_progress(&mut self, report: impl FnMut(Time) + 'a) {
        self.progress = Some(Progress(Box::new(report)));
    }

    /// Runs to the end and returns what the run yielded.
    ///
    /// # Errors
    /// When a bound of the scenario is hit.
    pub fn run<O: Observer>(mut self, observer: &mut O) -> Result<Outcome, RunError> {
        let mut net = Network::new(
            self.scenario,
            self.options.seed,
            self.options.queueing_delays,
            observer,
        );
        let mut wakes = Wakes {
            timers: vec![[Time::MAX; 2]; net.connections.endpoints()],
            calls: self.flows.iter().map(|f| f.starts_at).collect(),
        };
        for (f, flow) in self.flows.iter().enumerate() {
            if !matches!(flow.ends, Ends::Ideal) {
                let component = f as u32;
                net.around.events.push(Event {
                    at: flow.starts_at,
                    class: Class::Application,
                    component,
                });
            }
        }
        self.knowledge = Knowledge::new(self.scenario, &mut self.flows);
        let events = self.execute(&mut net, &mut wakes)?;
        Ok(collect::outcome(
            self.scenario,
            self.options,
            self.flows,
            net,
            events,
            self.checkpoints,
        ))
    }

    fn execute<O: Observer>(
        &mut self,
        net: &mut Network<'_, O>,
        wakes: &mut Wakes,
    ) -> Result<u64, RunError> {
        let end = Time::ZERO + self.scenario.duration;
        let limits = self.scenario.limits;
        let mut events = 0u64;
        let mut going = self.flows.iter().filter(|f| !f.has_ended()).count();
        let mut next_checkpoint = self.to_note.last().copied().unwrap_or(Time::MAX);
        while let Some(event) = net.around.events.pop() {
            if event.at > end {
                break;
            }
            if event.at > next_checkpoint {
                next_checkpoint = self.note(event.at, net);
            }
            net.now = event.at;
            events += 1;
            if events.is_multiple_of(1 << 12) {
                check(&limits, events, net)?;
                if let Some(progress) = &mut self.progress {
                    (progress.0)(event.at);
                }
            }
            let (index, sides) = match event.class {
                Class::Middlebox => {
                    net.wake_box(event.component);
                    continue;
                }
                Class::Arrival => match net.arrive(event.component) {
                    None => continue,
                    Some(handle) => {
                        let mut packet = net.take(handle);
                        if let Some(corruption) = &mut net.around.corruption {
                            corruption.tell(event.at, &mut packet);
                        }
                        if O::ACTIVE {
                            net.observer.received(event.at, packet.destination, &packet);
                        }
                        let (index, side) = net.connections.owner(packet.destination);
                        let flow = &mut self.flows[index];
                        let went = !flow.has_ended();
                        flow.hear_queue(event.at, net);
                        flow.on_packet(event.at, side, &packet, net);
                        going -= usize::from(went && flow.has_ended());
                        (index, side..side + 1)
                    }
                },
                Class::Route => {
                    net.change_routes();
                    continue;
                }
                Class::Timer => {
                    let endpoint = event.component as usize;
                    let [next, later] = wakes.timers[endpoint];
                    if next != event.at {
                        continue; // An earlier deadline has taken its place.
                    }
                    wakes.timers[endpoint] = [later, Time::MAX];
                    let (index, side) = net.connections.owner(event.component);
                    let flow = &mut self.flows[index];
                    if flow.deadline(side) <= event.at {
                        flow.hear_queue(event.at, net);
                        flow.on_deadline(event.at, side, net);
                    }
                    (index, side..side + 1)
                }
                Class::Application => {
                    if wakes.calls[event.component as usize] != event.at {
                        continue;
                    }
                    wakes.calls[event.component as usize] = Time::MAX;
                    let flow = &mut self.flows[event.component as usize];
                    let went = !flow.has_ended();
                    flow.hear_queue(event.at, net);
                    flow.on_call(event.at, 2 * event.component + 1, net);
                    going -= usize::from(went && flow.has_ended());
                    (event.component as usize, 0..2)
                }
            };
            if going == 0 {
                return check(&limits, events, net).map(|()| events);
            }
            if let Some(knowledge) = &mut self.knowledge {
                knowledge.after(event.at, index, &mut self.flows);
            }
            self.rearm(index, sides, event.at, net, wakes);
        }
        // Somebody would have gone on: the run lasts as long as it may.
        self.note(end, net);
        net.now = end;
        check(&limits, events, net).map(|()| events)
    }

    /// Notes all counts at the checkpoints before `until`; returns the next mark.
    #[cold]
    fn note<O: Observer>(&mut self, until: Time, net: &mut Network<'_, O>) -> Time {
        while let Some(at) = self.to_note.pop_if(|at| *at < until) {
            net.now = at;
            let mark = collect::mark(self.scenario, &self.flows, net);
            self.checkpoints.push(mark);
        }
        self.to_note.last().copied().unwrap_or(Time::MAX)
    }

    /// Puts the next deadlines of the flow's `sides` into the event queue. A timer that moved
    /// later stays where it is queued: it is looked at again when it fires.
    fn rearm<O: Observer>(
        &self,
        index: usize,
        sides: core::ops::Range<usize>,
        now: Time,
        net: &mut Network<'_, O>,
        wakes: &mut Wakes,
    ) {
        let flow = &self.flows[index];
        // What happens at one end of a relay moves the other, too.
        let sides = match flow.sides() {
            2 => sides,
            all => 0..all,
        };
        for side in sides {
            let endpoint = net.connections.endpoint(index, side);
            let at = flow.deadline(side);
            let [next, _] = wakes.timers[endpoint];
            if at < next {
                wakes.timers[endpoint] = [at, next];
                net.around.events.push(Event {
                    at: at.max(now),
                    class: Class::Timer,
                    component: endpoint as u32,
                });
            }
        }
        let at = flow.next_call();
        if at < wakes.calls[index] {
            wakes.calls[index] = at;
            net.around.events.push(Event {
                at,
                class: Class::Application,
                component: index as u32,
            });
        }
    }
}

/// The pending timers of every endpoint, the next and one later, and the next
/// call of every flow's application. A paced sender arms short timers before
/// its retransmission timer again and again: remembering the displaced one
/// spares queueing it anew each time.
#[derive(Debug)]
struct Wakes {
    timers: Vec<[Time; 2]>,
    calls: Vec<Time>,
}

fn check<O: Observer>(limits: &Limits, events: u64, net: &Network<'_, O>) -> Result<(), RunError> {
    if events > limits.events {
        return Err(RunError::TooManyEvents {
            limit: limits.events,
        });
    }
    if net.is_over_limit() {
        return Err(RunError::TooManyPackets {
            limit: limits.packets,
            at: net.now,
        });
    }
    Ok(())
}

/// True if the flow's ends begin one connection after the other.
fn opens_anew(flow: &Flow) -> bool {
    matches!(&flow.application, Application::Web(web) if web.connection == PageConnection::Page)
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
