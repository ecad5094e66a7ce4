//! The plan of an emulation: the hosts among the nodes of a scenario, their pairs and addresses,
//! and the unsupported features.

use bentpipe_scenario::{Connection, Flow, LinkId, NodeId, Offload, RouteChange, Scenario};
use bentpipe_traffic::Application;
use bentpipe_units::Bytes;
use std::collections::{BTreeSet, HashSet};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The most pairs for which there are addresses.
pub(super) const MOST_PAIRS: usize = 65_535;

/// Hosts that all reach each other at most: their pairs grow with the square.
const MOST_HOSTS: usize = 32;

/// Pairs of hosts that have addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Pairs {
    /// One for each flow, in their order: pair `f` is flow `f`. Of a flow that boxes
    /// split it is the part between its `from` and the first box, and a pair for
    /// each further part follows after those of all flows, as
    /// [`Scenario::connections`] has them.
    Flows,
    /// One for each two hosts: the ends of flows, and nodes with one
    /// neighbour. Their path is that of the first flow between them, or else the
    /// shortest. Where the flows' routes change with time, or with more than 32
    /// hosts, only those between which flows run.
    #[default]
    Hosts,
}

/// Two hosts that talk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The flow's name, or that of the two nodes.
    pub name: String,
    /// Its `from` and its `to` end.
    pub ends: [NodeId; 2],
    /// The nodes that have its addresses: the ends, or those of the flow of which this
    /// is the first part.
    pub hosts: [NodeId; 2],
    /// Links from `from` to `to`; empty: no path.
    pub forward: Vec<LinkId>,
    /// Links from `to` to `from`.
    pub reverse: Vec<LinkId>,
    /// Other paths later on, in order of time.
    pub changes: Vec<RouteChange>,
}

/// What IPv6 addresses begin with: fd00:62:70::/96.
const PREFIX: [u8; 12] = [0xfd, 0, 0, 0x62, 0, 0x70, 0, 0, 0, 0, 0, 0];

/// The IPv4 address of an end of pair `pair`: 10.H.L.1 of `from` (end 0) and
/// 10.H.L.2 of `to` (end 1), with H.L the number of the pair plus one.
#[must_use]
pub fn ipv4(pair: usize, end: usize) -> Ipv4Addr {
    let [_, _, high, low] = (pair as u32 + 1).to_be_bytes();
    Ipv4Addr::new(10, high, low, end as u8 + 1)
}

/// The IPv6 address of an end of pair `pair`: fd00:62:70::N:1 and
/// fd00:62:70::N:2, with N the number of the pair plus one.
#[must_use]
pub fn ipv6(pair: usize, end: usize) -> Ipv6Addr {
    let number = pair as u16 + 1;
    Ipv6Addr::new(0xfd00, 0x62, 0x70, 0, 0, 0, number, end as u16 + 1)
}

/// The endpoint that has this address: twice the number of its pair, and one
/// more at the `to` end.
#[inline]
pub(super) fn endpoint_of(address: &[u8]) -> Option<u32> {
    let (number, end) = match address {
        &[10, high, low, end] => ([high, low], end),
        [first @ .., high, low, 0, end] if first == PREFIX => ([*high, *low], *end),
        _ => return None,
    };
    let pair = u32::from(u16::from_be_bytes(number)).checked_sub(1)?;
    matches!(end, 1 | 2).then(|| 2 * pair + u32::from(end - 1))
}

/// Both addresses of an end of a pair.
#[must_use]
pub fn addresses(pair: usize, end: usize) -> [IpAddr; 2] {
    [ipv4(pair, end).into(), ipv6(pair, end).into()]
}

/// The pairs of `scenario`.
pub(super) fn pairs(scenario: &Scenario, which: Pairs) -> Vec<Pair> {
    let of_flow = |flow: &Flow| Pair {
        name: flow.name.clone(),
        ends: [flow.from, flow.to],
        hosts: [flow.from, flow.to],
        forward: flow.forward.clone(),
        reverse: flow.reverse.clone(),
        changes: flow.changes.clone(),
    };
    if which == Pairs::Flows {
        return scenario
            .connections()
            .map(|c| of_part(scenario, &c))
            .collect();
    }
    let name = |node: NodeId| &scenario.nodes[node.0 as usize].name;
    let key = |a: NodeId, b: NodeId| (a.min(b), a.max(b));
    let mut known = HashSet::new();
    let mut pairs = Vec::new();
    for flow in &scenario.flows {
        if known.insert(key(flow.from, flow.to)) {
            pairs.push(Pair {
                name: format!("{} - {}", name(flow.from), name(flow.to)),
                ..of_flow(flow)
            });
        }
    }
    let hosts = hosts(scenario);
    if hosts.len() > MOST_HOSTS || scenario.flows.iter().any(|f| !f.changes.is_empty()) {
        return pairs;
    }
    for &a in &hosts {
        for &b in hosts.range(a..).skip(1) {
            if known.contains(&key(a, b)) {
                continue;
            }
            if let Some((forward, reverse)) = scenario.shortest_ways(a, b) {
                pairs.push(Pair {
                    name: format!("{} - {}", name(a), name(b)),
                    ends: [a, b],
                    hosts: [a, b],
                    forward,
                    reverse,
                    changes: Vec::new(),
                });
            }
        }
    }
    pairs
}

/// The pair of a part of a flow.
fn of_part(scenario: &Scenario, part: &Connection<'_>) -> Pair {
    let flow = &scenario.flows[part.flow];
    let first = part.leg == 0;
    Pair {
        name: match part.leg {
            0 => flow.name.clone(),
            Connection::LOOKUP => format!("{}, its look-up", flow.name),
            leg => format!("{}, part {}", flow.name, leg + 1),
        },
        ends: part.nodes,
        hosts: if first {
            [flow.from, flow.to]
        } else {
            part.nodes
        },
        forward: part.forward.to_vec(),
        reverse: part.reverse.to_vec(),
        changes: part.changes.to_vec(),
    }
}

/// For what is sent at an end of a part of a flow to the address of the flow's end beyond it: the
/// pair and its end there, by which it continues. Each entry names the sending end, the endpoint
/// that is addressed, and the endpoint of the part.
pub(super) fn detours(scenario: &Scenario) -> Vec<(u32, u32, u32)> {
    let mut detours = Vec::new();
    for (pair, part) in (0u32..).zip(scenario.connections()) {
        let flow = part.flow as u32;
        let is_split = scenario.flows[part.flow].split.is_some() && part.leg != Connection::LOOKUP;
        if is_split {
            for end in [0, 1] {
                let (to, addressed) = (2 * pair + end, 2 * flow + end);
                detours.push((to ^ 1, addressed, to));
            }
        }
    }
    detours
}

/// The ends of flows, and the nodes with one neighbour.
fn hosts(scenario: &Scenario) -> BTreeSet<NodeId> {
    let mut neighbours = vec![BTreeSet::new(); scenario.nodes.len()];
    for link in &scenario.links {
        neighbours[link.from.0 as usize].insert(link.to);
        neighbours[link.to.0 as usize].insert(link.from);
    }
    let leaves = (0..).map(NodeId).zip(&neighbours);
    let leaves = leaves.filter_map(|(node, n)| (n.len() == 1).then_some(node));
    let ends = scenario.flows.iter().flat_map(|f| [f.from, f.to]);
    leaves.chain(ends).collect()
}

/// The longest packet of IP.
const LONGEST: Bytes = Bytes::new(u16::MAX as u64);

/// The length of the packets of a flow of datagrams, with their headers; `None`
/// for other flows.
pub(super) fn datagram(flow: &Flow) -> Option<Bytes> {
    match flow.application {
        Application::ConstantRate { packet_size, .. } | Application::OnOff { packet_size, .. }
            if flow.transport.is_none() =>
        {
            Some(packet_size)
        }
        _ => None,
    }
}

/// What in `scenario` cannot be done live, a sentence each; nothing where all
/// of it can.
#[must_use]
pub fn refusals(scenario: &Scenario) -> Vec<String> {
    let mut why = Vec::new();
    for link in &scenario.links {
        let name = &link.name;
        if let Some(reason) = link.settings.queue.simulated_only() {
            why.push(format!("link `{name}` {reason}"));
        }
        if link.reports_corruption {
            why.push(format!(
                "link `{name}` reports corruption, which no Linux host listens to"
            ));
        }
        if link.offload == Offload::Whole {
            why.push(format!(
                "link `{name}` carries super-segments whole, and the links of the emulator carry \
                 packets of the wire"
            ));
        }
    }
    for flow in &scenario.flows {
        if let Some(bytes) = datagram(flow).filter(|bytes| *bytes > LONGEST) {
            why.push(format!(
                "flow `{}` sends packets of {bytes}, and those of IP have {LONGEST} at most",
                flow.name
            ));
        }
    }
    for middlebox in &scenario.middleboxes {
        why.push(format!(
            "middlebox `{}` ({}) is simulated only",
            middlebox.name,
            middlebox.settings.kind()
        ));
    }
    for pep in &scenario.peps {
        why.push(format!(
            "middlebox `{}` splits connections, which is simulated only",
            pep.name
        ));
    }
    why
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_its_endpoint() {
        for (pair, end) in [(0, 0), (0, 1), (255, 0), (65_534, 1)] {
            let endpoint = Some((2 * pair + end) as u32);
            assert_eq!(endpoint_of(&ipv4(pair, end).octets()), endpoint);
            assert_eq!(endpoint_of(&ipv6(pair, end).octets()), endpoint);
        }
        assert_eq!(ipv4(0, 0).to_string(), "10.0.1.1");
        assert_eq!(ipv6(0, 1).to_string(), "fd00:62:70::1:2");
        assert_eq!(ipv4(999, 1).to_string(), "10.3.232.2");
        for other in ["10.0.0.1", "10.0.1.3", "11.0.1.1"] {
            let address: Ipv4Addr = other.parse().unwrap();
            assert_eq!(endpoint_of(&address.octets()), None, "{other}");
        }
        let other: Ipv6Addr = "fe80::1:2".parse().unwrap();
        assert_eq!(endpoint_of(&other.octets()), None);
    }
}
