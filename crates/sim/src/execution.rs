//! A run in progress: takes events in their order, moves packets, runs endpoints and applications.

mod ties;
mod turns;
mod windows;

pub(crate) use ties::Ties;
pub(crate) use windows::{Counted, Label, Progressed, Standing};

use crate::arena::Handle;
use crate::collect;
use crate::collect::{LinkSums, Sums, Yield};
use crate::connections::LOOKUP;
use crate::flow::{Ends, Running};
use crate::network::Network;
use crate::queue::{Class, Event};
use crate::simulation::Progress;
use crate::{Options, RunError};
use bentpipe_outcome::{Checkpoint, Outcome};
use bentpipe_scenario::Scenario;
use bentpipe_tcp::packet::priority;
use bentpipe_units::{Duration, Time};

/// Events between two looks at the limits of the run.
const BETWEEN_CHECKS: u64 = 1 << 12;

/// A run in progress.
pub(crate) struct Execution<'a, const WATCHED: bool> {
    scenario: &'a Scenario,
    options: &'a Options,
    flows: Vec<Running>,
    net: Network<'a, WATCHED>,
    ties: Ties,
    /// What happens at a flow concerns others: there is a tie.
    concerns_others: bool,
    /// For each endpoint the times of its next event in the queue and of one later. A paced sender
    /// arms short timers before its retransmission timer again and again: remembering the displaced
    /// one avoids queueing it again each time.
    timers: Vec<[Time; 2]>,
    /// For each flow the time of its application's next event in the queue.
    calls: Vec<Time>,
    /// Decisive flows that have not ended, without which the run is over.
    going: usize,
    /// The flow that ended last, and its ends at which that happened, once the run is over.
    last: Option<(usize, core::ops::Range<usize>)>,
    /// Flows with a congestion control that is a user's own.
    own: Vec<usize>,
    /// The flows, the first, whose end is that of the run.
    decisive: usize,
    events: u64,
    /// Times of the checkpoints that are to come, the next last.
    to_note: Vec<Time>,
    checkpoints: Vec<Checkpoint>,
    /// When the observer sees the queues next, and how long after the last time.
    look: Option<(Time, Duration)>,
    pub(crate) progress: Option<Progress<'a>>,
}

impl<'a, const WATCHED: bool> Execution<'a, WATCHED> {
    pub(crate) fn new(
        scenario: &'a Scenario,
        options: &'a Options,
        flows: Vec<Running>,
        ties: Ties,
        mut net: Network<'a, WATCHED>,
    ) -> Execution<'a, WATCHED> {
        for (endpoint, sender) in ties.tunnels.iter().flat_map(|tunnels| tunnels.carried()) {
            net.gates.lead_to(endpoint, sender);
        }
        for (component, flow) in (0..).zip(&flows) {
            if !flow.has_ended() {
                net.driver.events.push(Event {
                    at: flow.starts_at,
                    class: Class::Application,
                    component,
                });
            }
        }
        let all = flows.len();
        let decisive = options.foreground.map_or(all, |n| n.min(all));
        let mut to_note = options.checkpoints.clone();
        to_note.sort_unstable_by(|a, b| b.cmp(a));
        to_note.dedup();
        Execution {
            scenario,
            options,
            timers: vec![[Time::MAX; 2]; net.connections.endpoints()],
            calls: flows.iter().map(|f| f.starts_at).collect(),
            going: flows[..decisive].iter().filter(|f| !f.has_ended()).count(),
            last: None,
            decisive,
            own: (0..all)
                .filter(|i| flows[*i].ends.has_own_control())
                .collect(),
            concerns_others: ties.is_any(),
            ties,
            events: 0,
            to_note,
            checkpoints: Vec::new(),
            look: None,
            progress: None,
            flows,
            net,
        }
    }

    /// Runs to the end and returns what the run yielded, with its sums where they are asked for.
    // One caller of `execute`, so that all that a packet meets is one function: a call in its place
    // costs 3% of the speed.
    pub(crate) fn run(mut self, sums: Option<&mut Sums>) -> Result<Outcome, RunError> {
        self.execute()?;
        if let Some(sums) = sums {
            *sums = self.sums();
        }
        if let Some((_, lost)) = self.lost_connection() {
            return Err(lost);
        }
        let (scenario, ended_at) = (self.scenario, self.net.now);
        let flows = self.flows.into_iter().enumerate();
        Ok(collect::outcome(
            scenario,
            self.options,
            flows.map(|(index, running)| Yield::of(scenario, index, running, ended_at)),
            self.net,
            self.events,
            self.checkpoints,
        ))
    }

    /// What the outcome does not say.
    #[cold]
    fn sums(&mut self) -> Sums {
        self.net.catch_up();
        let now = self.net.now;
        let links = self.net.forward.links.iter_mut();
        Sums {
            links: links.map(|link| LinkSums::of(link, now)).collect(),
            rtts: collect::rtts(&self.flows),
        }
    }

    /// Runs events until all flows have finished or the run's time is over.
    fn execute(&mut self) -> Result<(), RunError> {
        let end = Time::ZERO + self.scenario.duration;
        if WATCHED {
            let interval = self.net.observer.queue_interval();
            self.look = interval.map(|every| (Time::ZERO, every.max(Duration::from_nanos(1))));
        }
        let mut pause = end.min(self.next_pause());
        while let Some(event) = self.net.driver.events.pop() {
            if event.at > pause {
                if event.at > end {
                    break;
                }
                self.note(event.at);
                if WATCHED {
                    self.show_queues(event.at);
                }
                pause = end.min(self.next_pause());
            }
            self.net.now = event.at;
            self.events += 1;
            if self.events.is_multiple_of(BETWEEN_CHECKS) {
                self.check()?;
                if let Some(progress) = &mut self.progress {
                    (progress.0)(event.at);
                }
            }
            // By far the most.
            let is_over = if event.class == Class::Arrival {
                let arrived = self.net.arrive(event.component);
                arrived.is_some_and(|handle| self.receive(event.at, handle))
            } else {
                self.wake(event)
            };
            if is_over {
                return self.check();
            }
        }
        // A flow would have gone on: the run lasts as long as it may.
        self.note(end);
        self.net.now = end;
        self.check()
    }

    /// Something other than an arrival is due; true if that ends the run.
    #[inline(never)]
    fn wake(&mut self, event: Event) -> bool {
        match event.class {
            Class::Timer => return self.on_timer(event.at, event.component),
            Class::Application => return self.on_call(event.at, event.component),
            Class::Route => self.net.change_routes(),
            Class::Middlebox => self.net.wake_box(event.component),
            Class::Notice => return self.notify(event.at),
            Class::Turn => return self.take_turn(event.at, event.component as usize),
            // Not delivered here: see `execute`.
            Class::Arrival => {}
        }
        false
    }

    /// Sends the notifications of congestion that queues have made; true if that
    /// ends the run.
    fn notify(&mut self, now: Time) -> bool {
        let mut is_over = false;
        while let Some(notice) = self.net.next_notice() {
            if let Some(handle) = self.net.send_notice(notice) {
                is_over |= self.receive(now, handle);
            }
        }
        is_over
    }

    /// An endpoint takes a packet that has arrived; true if that ends the run.
    #[inline(always)]
    fn receive(&mut self, now: Time, handle: Handle) -> bool {
        let mut packet = self.net.take(handle);
        if let Some(corruption) = &mut self.net.driver.corruption {
            corruption.report(now, &mut packet);
        }
        // A notification is no packet of TCP, and a repair is none of its connection.
        let (index, side) = self.net.connections.owner(packet.destination);
        if WATCHED && !packet.carries(priority::BACKWARD | priority::REPAIR) {
            let ends = &self.flows[index].ends;
            if let Ends::Tcp(ends) = ends
                && let Some(end) = ends.get(side)
                && self.net.observer.sees_senders()
            {
                let state = end.snapshot();
                self.net.observer.sender(packet.destination, &state);
            }
            self.net.observer.received(now, packet.destination, &packet);
        }
        if self.concerns_others {
            if side >= LOOKUP
                && let Some(sharing) = &self.ties.sharing
            {
                // The answer starts the flow.
                sharing.before(now, index, &mut self.flows);
            } else if self.ties.tunnels.is_some() && side < LOOKUP {
                return self.receive_beside_tunnel(now, (index, side), &packet);
            }
        }
        let flow = &mut self.flows[index];
        if !flow.reports.is_empty() {
            flow.hear_queue(now, &mut self.net);
        }
        if flow.on_packet(now, side, &packet, &mut self.net) || self.concerns_others {
            return self.settle(now, index, side..side + 1);
        }
        let deadline = flow.deadline(side);
        self.arm(now, packet.destination as usize, deadline);
        false
    }

    /// A timer of an endpoint may be due; true if that ends the run.
    fn on_timer(&mut self, now: Time, component: u32) -> bool {
        let endpoint = component as usize;
        let [next, later] = self.timers[endpoint];
        if next != now {
            return false; // An earlier deadline has taken its place.
        }
        self.timers[endpoint] = [later, Time::MAX];
        let (index, side) = self.net.connections.owner(component);
        let flow = &mut self.flows[index];
        let mut deadline = flow.deadline(side);
        let mut concerns = self.concerns_others;
        if deadline <= now {
            if !flow.reports.is_empty() {
                flow.hear_queue(now, &mut self.net);
            }
            let before = if WATCHED { flow.timeouts(side) } else { 0 };
            concerns |= flow.on_deadline(now, side, &mut self.net);
            if WATCHED && flow.timeouts(side) > before {
                self.net.observer.timed_out(now, component);
            }
            deadline = flow.deadline(side);
        }
        if concerns {
            return self.settle(now, index, side..side + 1);
        }
        self.arm(now, endpoint, deadline);
        false
    }

    /// An application may start, stop or send; true if that ends the run.
    fn on_call(&mut self, now: Time, component: u32) -> bool {
        let index = component as usize;
        if self.calls[index] != now {
            return false;
        }
        self.calls[index] = Time::MAX;
        if let Some(sharing) = &self.ties.sharing {
            sharing.before(now, index, &mut self.flows);
        }
        let flow = &mut self.flows[index];
        flow.hear_queue(now, &mut self.net);
        flow.on_call(now, 2 * component + 1, &mut self.net);
        self.settle(now, index, 0..2)
    }

    /// Follows up on what has happened at these ends of a flow: its end, what
    /// senders are told of their paths, timers and the application's next call.
    /// True if the run need not wait for any flow.
    #[inline(never)]
    fn settle(&mut self, now: Time, index: usize, sides: core::ops::Range<usize>) -> bool {
        let ended = self.flows[index].has_newly_ended() && index < self.decisive;
        self.going -= usize::from(ended);
        if self.going == 0 {
            self.last = Some((index, sides));
            return true;
        }
        self.follow_up(now, index, sides);
        false
    }

    /// What follows at these ends of a flow, unless the run is over.
    #[inline(always)]
    fn follow_up(&mut self, now: Time, index: usize, sides: core::ops::Range<usize>) {
        if let Some(knowledge) = &mut self.ties.knowledge {
            knowledge.after(now, index, &mut self.flows);
        }
        if let Some(sharing) = &mut self.ties.sharing {
            sharing.after(now, index, &mut self.flows);
        }
        if let Some(tunnels) = &mut self.ties.tunnels {
            let events = &mut self.net.driver.events;
            tunnels.after(self.scenario, now, index, &mut self.flows, |sender, at| {
                events.push(Event {
                    at,
                    class: Class::Turn,
                    component: sender as u32,
                });
            });
        }
        // What happens at one end of a relay moves the other, too, and a look-up starts both.
        let sides = match self.flows[index].sides() {
            2 if sides.start < LOOKUP => sides,
            all => 0..all,
        };
        for side in sides {
            let endpoint = self.net.connections.endpoint(index, side);
            self.arm(now, endpoint, self.flows[index].deadline(side));
        }
        let at = self.flows[index].next_call();
        if at < self.calls[index] {
            self.calls[index] = at;
            self.net.driver.events.push(Event {
                at,
                class: Class::Application,
                component: index as u32,
            });
        }
    }

    /// Puts the deadline of an endpoint into the event queue, unless an event is
    /// there before it: when that comes up, the deadline is read again. So a
    /// timer that moves later costs nothing.
    #[inline]
    fn arm(&mut self, now: Time, endpoint: usize, deadline: Time) {
        let [next, _] = self.timers[endpoint];
        if deadline < next {
            self.timers[endpoint] = [deadline, next];
            self.net.driver.events.push(Event {
                at: deadline.max(now),
                class: Class::Timer,
                component: endpoint as u32,
            });
        }
    }

    /// When something is to be noted or shown next.
    fn next_pause(&self) -> Time {
        let checkpoint = self.to_note.last().copied().unwrap_or(Time::MAX);
        let look = self.look.map_or(Time::MAX, |(at, _)| at);
        checkpoint.min(look)
    }

    /// Shows the observer the queues at all times before `until` at which it wants
    /// to see them; nothing has happened since the first of them.
    #[cold]
    fn show_queues(&mut self, until: Time) {
        while let Some((at, every)) = self.look.filter(|(at, _)| *at < until) {
            self.net.show_queues(at);
            self.look = Some((at + every, every));
        }
    }

    /// Notes all counts at the checkpoints before `until`.
    #[cold]
    fn note(&mut self, until: Time) {
        while let Some(at) = self.to_note.pop_if(|at| *at < until) {
            self.net.now = at;
            let snapshot = self.net.snapshot(self.scenario);
            let counts = self.flows.iter().map(collect::counts);
            let checkpoint = collect::mark(self.scenario, counts, &self.net, &snapshot);
            self.checkpoints.push(checkpoint);
        }
    }

    /// The first flow with a connection that one of its ends has given up: it would look as if it
    /// were slow.
    #[inline(never)]
    fn lost_connection(&self) -> Option<(usize, RunError)> {
        let flows = self.flows.iter().enumerate();
        let mut lost = flows.filter_map(|(index, running)| match &running.ends {
            // What happens to a connection whose flow is over is of no concern.
            Ends::Quic(quic) if !running.has_ended() => Some((index, quic.error()?)),
            _ => None,
        });
        let (index, reason) = lost.next()?;
        let lost = RunError::ConnectionLost {
            flow: self.scenario.flows[index].name.clone(),
            reason: reason.to_owned(),
        };
        Some((index, lost))
    }

    /// Checks the run's limits, and the congestion controls that may fail.
    fn check(&self) -> Result<(), RunError> {
        let faults = self.own.iter().filter_map(|index| {
            let fault = self.flows[*index].ends.fault()?;
            Some((fault.at, *index, fault))
        });
        if let Some((_, index, fault)) = faults.min_by_key(|(at, index, _)| (*at, *index)) {
            return Err(RunError::Control {
                flow: self.scenario.flows[index].name.clone(),
                fault: Box::new(fault),
            });
        }
        let limits = self.scenario.limits;
        if self.events > limits.events {
            return Err(RunError::TooManyEvents {
                limit: limits.events,
            });
        }
        if self.net.is_over_limit() {
            return Err(RunError::TooManyPackets {
                limit: limits.packets,
                at: self.net.now,
            });
        }
        if self.options.stop.is_stopped() {
            return Err(RunError::Stopped);
        }
        Ok(())
    }
}
