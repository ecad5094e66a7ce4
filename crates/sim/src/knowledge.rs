//! Senders that receive information about their path: who shares it, and its utilisation.
//!
//! These are the senders whose congestion control asks for it (Complete Knowledge, SaTPEP). Those
//! whose paths have the same bottleneck, the slowest link by payload, form a group. A group is
//! informed when one of its members starts or stops having data to send, and every round trip of
//! its shortest path. The traffic of others on the link and the length of queues are not known.

use crate::flow::{Ends, Running};
use crate::ideal;
use bentpipe_cc::{ParameterValue, PathHint};
use bentpipe_scenario::{Connection, Scenario};
use bentpipe_tcp::{Endpoint, Transport};
use bentpipe_units::{Duration, Rate, Time};

/// A sender of a group.
#[derive(Debug)]
struct Member {
    flow: usize,
    /// Which end of the flow; it sends the data of its leg.
    end: usize,
    weight: f64,
    rtt: Duration,
    active: bool,
    /// Bytes acknowledged when the use was measured last.
    acknowledged: u64,
}

/// Senders with the same bottleneck.
#[derive(Debug)]
struct Group {
    link: u32,
    capacity: Rate,
    members: Vec<Member>,
    measured_at: Time,
    utilisation: f64,
}

/// All groups of a run.
#[derive(Debug)]
pub(crate) struct Knowledge {
    groups: Vec<Group>,
    /// For each flow the groups that it has members in.
    of: Vec<Vec<usize>>,
}

impl Knowledge {
    /// `None` if no sender asks for it, which then costs nothing.
    pub(crate) fn new(scenario: &Scenario, flows: &mut [Running]) -> Option<Box<Knowledge>> {
        let mut groups: Vec<Group> = Vec::new();
        let mut of = vec![Vec::new(); flows.len()];
        for connection in scenario.connections() {
            let end = 2 * connection.leg;
            let Some(transport) = connection
                .transport
                .filter(|_| sender(&flows[connection.flow], end).is_some_and(Endpoint::wants_path))
            else {
                continue;
            };
            let Some((link, capacity)) = bottleneck(scenario, &connection, transport) else {
                continue;
            };
            let known = groups.iter().position(|g| g.link == link);
            let at = known.unwrap_or(groups.len());
            if known.is_none() {
                groups.push(Group {
                    link,
                    capacity,
                    members: Vec::new(),
                    measured_at: Time::ZERO,
                    utilisation: 0.0,
                });
            }
            groups[at].members.push(Member {
                flow: connection.flow,
                end,
                weight: weight(transport),
                rtt: ideal::round_trip_of(scenario, connection.forward, connection.reverse),
                active: false,
                acknowledged: 0,
            });
            if !of[connection.flow].contains(&at) {
                of[connection.flow].push(at);
            }
        }
        if groups.is_empty() {
            return None;
        }
        let mut knowledge = Box::new(Knowledge { groups, of });
        for group in &mut knowledge.groups {
            group.tell(flows);
        }
        Some(knowledge)
    }

    /// Something happened at `flow`.
    pub(crate) fn after(&mut self, now: Time, flow: usize, flows: &mut [Running]) {
        for &at in &self.of[flow] {
            self.groups[at].after(now, flow, flows);
        }
    }
}

impl Group {
    fn after(&mut self, now: Time, flow: usize, flows: &mut [Running]) {
        let mut changed = false;
        for member in self.members.iter_mut().filter(|m| m.flow == flow) {
            let sender = sender(&flows[flow], member.end);
            let active = sender.is_some_and(|s| s.unacknowledged().get() > 0);
            changed |= active != member.active;
            member.active = active;
        }
        let rtts = self.members.iter().map(|m| m.rtt);
        let period = rtts.min().unwrap_or(Duration::ZERO);
        if now.since(self.measured_at) >= period {
            self.measure(now, flows);
            changed = true;
        }
        if changed {
            self.tell(flows);
        }
    }

    /// How much of the capacity the members used since the last time.
    fn measure(&mut self, now: Time, flows: &[Running]) {
        let mut bytes = 0;
        for member in &mut self.members {
            let sender = sender(&flows[member.flow], member.end);
            let acknowledged = sender.map_or(0, |s| s.acknowledged().get());
            bytes += acknowledged - member.acknowledged;
            member.acknowledged = acknowledged;
        }
        let could = self.capacity.bps_f64() * now.since(self.measured_at).as_secs() / 8.0;
        if could > 0.0 {
            self.utilisation = bytes as f64 / could;
        }
        self.measured_at = now;
    }

    /// Tells every member. One that has nothing to send is told what it would
    /// get if it had.
    fn tell(&mut self, flows: &mut [Running]) {
        let active = self.members.iter().filter(|m| m.active);
        let (count, weights) = active.fold((0, 0.0), |(n, w), m| (n + 1, w + m.weight));
        for member in &self.members {
            let own = if member.active {
                (0, 0.0)
            } else {
                (1, member.weight)
            };
            let path = PathHint {
                capacity: self.capacity,
                share: member.weight / (weights + own.1),
                active: count + own.0,
                utilisation: self.utilisation,
                min_rtt: Some(member.rtt),
            };
            if let Some(sender) = sender_mut(&mut flows[member.flow], member.end) {
                sender.tell_path(&path);
            }
        }
    }
}

fn sender(flow: &Running, end: usize) -> Option<&Endpoint> {
    match &flow.ends {
        Ends::Tcp(ends) => ends.get(end),
        Ends::Split(chain) => Some(chain.end(end)),
        Ends::Datagrams { .. } | Ends::Stream(_) | Ends::Quic(_) | Ends::Ideal => None,
    }
}

fn sender_mut(flow: &mut Running, end: usize) -> Option<&mut Endpoint> {
    match &mut flow.ends {
        Ends::Tcp(ends) => ends.get_mut(end),
        Ends::Split(chain) => Some(chain.end_mut(end)),
        Ends::Datagrams { .. } | Ends::Stream(_) | Ends::Quic(_) | Ends::Ideal => None,
    }
}

/// The link of a way that carries least payload, and how much that is.
fn bottleneck(
    scenario: &Scenario,
    connection: &Connection<'_>,
    transport: &Transport,
) -> Option<(u32, Rate)> {
    let payload = |link: u32| ideal::payload_of_link(scenario, link, transport);
    let links = connection.forward.iter().map(|l| l.0);
    let slowest = links.min_by(|&a, &b| payload(a).total_cmp(&payload(b)))?;
    Some((slowest, Rate::from_bps_f64(payload(slowest))))
}

fn weight(transport: &Transport) -> f64 {
    match transport.parameters.get("weight") {
        Some(ParameterValue::Number(weight)) => *weight,
        _ => 1.0,
    }
}
