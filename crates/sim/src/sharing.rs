//! Connections of a host that share their windows (STCP; TCP control block
//! interdependence, RFC 9040).
//!
//! Those whose congestion control asks for it and that send from the same node to the same node
//! form a group. The window of the group is the sum of the windows of the members that have data to
//! send; if none has, the last sum. The sum is divided again when a member starts or stops having
//! data to send, and a member that is about to start gets its share before that. Members are
//! updated in the order of the flows.

use crate::flow::{Ends, Running};
use bentpipe_cc::SharedState;
use bentpipe_scenario::Scenario;
use bentpipe_tcp::Endpoint;
use bentpipe_units::{Duration, Time};

/// A sender of a group.
#[derive(Debug)]
struct Member {
    flow: usize,
    active: bool,
    /// Which of the connections of the flow it was when it was seen last.
    connection: u32,
}

/// Windows of several connections, segments.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Sum {
    cwnd: f64,
    ssthresh: f64,
}

/// Senders that share one window.
#[derive(Debug)]
struct Group {
    members: Vec<Member>,
    /// What the last members left, and when; `None` before one has sent.
    left: Option<(Sum, Time)>,
}

/// All groups of a run.
#[derive(Debug)]
pub(crate) struct Sharing {
    groups: Vec<Group>,
    /// For each flow its group.
    of: Vec<Option<usize>>,
}

impl Sharing {
    /// `None` if no senders share, which then costs nothing.
    pub(crate) fn new(scenario: &Scenario, flows: &[Running]) -> Option<Box<Sharing>> {
        let mut sharing = Sharing {
            groups: Vec::new(),
            of: vec![None; flows.len()],
        };
        let mut pairs = Vec::new();
        for (index, (flow, running)) in scenario.flows.iter().zip(flows).enumerate() {
            if !sender(running).is_some_and(Endpoint::shares_state) {
                continue;
            }
            let pair = (flow.from, flow.to);
            let known = pairs.iter().position(|p| *p == pair);
            let group = known.unwrap_or_else(|| {
                pairs.push(pair);
                sharing.groups.push(Group {
                    members: Vec::new(),
                    left: None,
                });
                pairs.len() - 1
            });
            sharing.groups[group].members.push(Member {
                flow: index,
                active: false,
                connection: 0,
            });
            sharing.of[index] = Some(group);
        }
        (!pairs.is_empty()).then(|| Box::new(sharing))
    }

    /// The application of `flow` is about to act: its sender, if it is idle, gets what
    /// it would have.
    pub(crate) fn before(&self, now: Time, flow: usize, flows: &mut [Running]) {
        if let Some(group) = self.of[flow] {
            self.groups[group].offer(now, flow, flows);
        }
    }

    /// Something happened at `flow`.
    pub(crate) fn after(&mut self, now: Time, flow: usize, flows: &mut [Running]) {
        if let Some(group) = self.of[flow] {
            self.groups[group].after(now, flow, flows);
        }
    }
}

impl Group {
    /// The members that have something to send, and the sum of their windows.
    fn sum(&self, flows: &[Running]) -> (u32, Sum) {
        let mut sum = Sum {
            cwnd: 0.0,
            ssthresh: 0.0,
        };
        let mut count = 0;
        for member in self.members.iter().filter(|m| m.active) {
            if let Some(sender) = sender(&flows[member.flow]) {
                let (cwnd, ssthresh) = sender.window();
                sum.cwnd += cwnd;
                sum.ssthresh += ssthresh;
                count += 1;
            }
        }
        (count, sum)
    }

    /// What an idle member would have if it began now.
    fn offer(&self, now: Time, flow: usize, flows: &mut [Running]) {
        if self.members.iter().any(|m| m.flow == flow && m.active) {
            return;
        }
        let (others, sum) = self.sum(flows);
        let (sum, age) = match self.left {
            _ if others > 0 => (sum, Duration::ZERO),
            Some((left, since)) => (left, now.since(since)),
            None => return,
        };
        let active = others + 1;
        let shared = part(sum, active, age);
        if let Some(sender) = sender_mut(&mut flows[flow]) {
            sender.share(&shared);
        }
    }

    fn after(&mut self, now: Time, flow: usize, flows: &mut [Running]) {
        let Some(at) = self.members.iter().position(|m| m.flow == flow) else {
            return;
        };
        let Some(sender) = sender(&flows[flow]) else {
            return;
        };
        let (connection, active) = (sender.reopened(), sender.unacknowledged().get() > 0);
        if self.members[at].connection != connection {
            // The new one has nothing of the old one yet.
            self.members[at].connection = connection;
            self.members[at].active = false;
            self.offer(now, flow, flows);
        }
        if self.members[at].active == active {
            return;
        }
        let (others, before) = self.sum(flows);
        self.members[at].active = active;
        if active {
            // What it has it was offered; the others give that up.
            if others > 0 {
                self.divide(before, flows);
            }
        } else {
            self.left = Some((before, now));
            self.divide(before, flows);
        }
    }

    /// Divides `sum` among the members that have something to send.
    fn divide(&self, sum: Sum, flows: &mut [Running]) {
        let active = self.members.iter().filter(|m| m.active);
        let shared = part(sum, active.clone().count() as u32, Duration::ZERO);
        for member in active {
            if let Some(sender) = sender_mut(&mut flows[member.flow]) {
                sender.share(&shared);
            }
        }
    }
}

/// The part of `sum` that one of `active` connections has.
fn part(sum: Sum, active: u32, age: Duration) -> SharedState {
    let count = f64::from(active.max(1));
    SharedState {
        cwnd: sum.cwnd / count,
        ssthresh: sum.ssthresh / count,
        active,
        age,
    }
}

/// The end of a flow that sends its data, where it is one connection.
fn sender(flow: &Running) -> Option<&Endpoint> {
    match &flow.ends {
        Ends::Tcp(ends) => Some(&ends[0]),
        Ends::Split(_) | Ends::Datagrams { .. } | Ends::Stream(_) | Ends::Quic(_) | Ends::Ideal => {
            None
        }
    }
}

fn sender_mut(flow: &mut Running) -> Option<&mut Endpoint> {
    match &mut flow.ends {
        Ends::Tcp(ends) => Some(&mut ends[0]),
        Ends::Split(_) | Ends::Datagrams { .. } | Ends::Stream(_) | Ends::Quic(_) | Ends::Ideal => {
            None
        }
    }
}
