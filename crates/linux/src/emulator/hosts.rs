//! Hosts: nodes of a scenario with namespaces, devices, addresses and routes.

use super::device::{Device, Devices, What};
use super::plan::{Pair, addresses, detours};
use super::{EmulatorError, Options};
use crate::namespace::{self, Namespace};
use crate::tun::Tun;
use bentpipe_scenario::{LinkId, NodeId, Scenario};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// A host: a node of the scenario with its own namespace.
#[derive(Clone, Debug)]
pub struct Host {
    /// The node of the scenario.
    pub node: NodeId,
    /// Its name in the scenario.
    pub name: String,
    /// Its namespace. A box between the parts of flows is listed for each of its
    /// devices, of which it has one for each link.
    pub namespace: Arc<Namespace>,
    /// Its device in the namespace.
    pub interface: String,
    /// What it is an end of: numbers of pairs, and the end: 0 `from`, 1 `to`.
    /// [`addresses`] gives the addresses, and those of its peer at the other
    /// end.
    pub ends: Vec<(usize, usize)>,
    /// The ends of pairs whose packets come out of the device: the same, except for the parts of
    /// flows that boxes split.
    pub paths: Vec<(usize, usize)>,
}

/// Makes the hosts at the ends of `pairs`.
pub(super) fn make(
    scenario: &Scenario,
    pairs: &[Pair],
    options: &Options,
    mtu: u16,
) -> Result<(Vec<Host>, Devices), EmulatorError> {
    let plugs = plugs(scenario, pairs);
    let name = |node: &NodeId| scenario.nodes[node.0 as usize].name.as_str();
    for (given, _) in &options.namespaces {
        if !plugs.keys().any(|(node, _)| name(node) == given) {
            let names: Vec<&str> = plugs.keys().map(|(node, _)| name(node)).collect();
            return Err(EmulatorError::NoHost(given.clone(), names.join(", ")));
        }
    }
    let prefix = prefix();
    let mut hosts: Vec<Host> = Vec::new();
    let mut devices = Devices {
        all: Vec::new(),
        at: vec![0; 2 * pairs.len()],
        detours: BTreeMap::new(),
        what: match options.gso {
            true => What::Segments,
            false => What::Packets,
        },
    };
    for ((node, _), Plug { ends, paths }) in plugs {
        let name = name(&node).to_owned();
        let namespace = match hosts.iter().find(|host| host.node == node) {
            Some(host) => host.namespace.clone(),
            None => namespace_of(&prefix, &name, node, options, &hosts)?,
        };
        let tun = Tun::create(&namespace, options.ring)?;
        let interface = tun.name().to_owned();
        let off = "/proc/sys/net/ipv6/conf/all/disable_ipv6";
        let off = namespace.enter(|| std::fs::read_to_string(off))?;
        let ipv6 = off.is_ok_and(|off| off.trim() == "0");
        namespace.ip(&commands(&interface, &ends, mtu, ipv6))?;
        for &(pair, end) in &paths {
            devices.at[2 * pair + end] = devices.all.len() as u32;
        }
        let other = match ends.as_slice() {
            &[(pair, end)] => Some((2 * pair + 1 - end) as u32),
            _ => None,
        };
        devices.all.push(Device {
            joins_datagrams: tun.takes_datagram_segments(),
            fd: tun.into_fd(),
            other,
        });
        hosts.push(Host {
            node,
            name,
            namespace,
            interface,
            ends,
            paths,
        });
    }
    for (from, addressed, to) in detours(scenario) {
        if let Some(device) = devices.at.get(from as usize) {
            devices.detours.insert((*device, addressed), to);
        }
    }
    Ok((hosts, devices))
}

/// A device of a node: the ends of pairs that have their addresses there, and those
/// whose packets come out of it.
#[derive(Debug, Default)]
struct Plug {
    ends: Vec<(usize, usize)>,
    paths: Vec<(usize, usize)>,
}

/// The devices by node, and those of a box by the link that each represents.
fn plugs(scenario: &Scenario, pairs: &[Pair]) -> BTreeMap<(NodeId, Option<LinkId>), Plug> {
    let splits = |node: NodeId| {
        let legs = scenario.flows.iter().filter_map(|f| f.split.as_ref());
        let mut legs = legs.flat_map(|split| &split.legs[1..]);
        legs.any(|leg| leg.from == node)
    };
    let mut plugs: BTreeMap<(NodeId, Option<LinkId>), Plug> = BTreeMap::new();
    for (number, pair) in pairs.iter().enumerate() {
        for end in [0, 1] {
            let way = if end == 0 {
                &pair.reverse
            } else {
                &pair.forward
            };
            let plug = |node: NodeId| (node, way.last().copied().filter(|_| splits(node)));
            let path = plugs.entry(plug(pair.ends[end])).or_default();
            path.paths.push((number, end));
            let host = plugs.entry(plug(pair.hosts[end])).or_default();
            host.ends.push((number, end));
        }
    }
    plugs
}

/// What the names of an emulator's namespaces begin with: `bp-PID`, and a number
/// for all but the first of the process.
fn prefix() -> String {
    static EMULATORS: AtomicU32 = AtomicU32::new(0);
    let pid = std::process::id();
    match EMULATORS.fetch_add(1, Ordering::Relaxed) {
        0 => format!("bp-{pid}"),
        number => format!("bp-{pid}.{number}"),
    }
}

/// The namespace that was asked for, or one with its own name.
fn namespace_of(
    prefix: &str,
    host: &str,
    node: NodeId,
    options: &Options,
    hosts: &[Host],
) -> Result<Arc<Namespace>, EmulatorError> {
    let given = options.namespaces.iter().find(|(name, _)| name == host);
    let namespace = match given {
        Some((_, name)) => Namespace::open(name).or_else(|_| Namespace::create(name))?,
        None => {
            let name = format!("{prefix}-{}", namespace::plain(host));
            let taken = hosts.iter().any(|h| h.namespace.name() == name);
            // Two nodes whose names differ in what a namespace's cannot have.
            let name = if taken {
                format!("{name}-{}", node.0)
            } else {
                name
            };
            Namespace::create(&name)?
        }
    };
    Ok(Arc::new(namespace))
}

/// What `ip` is told of a host's device: its MTU, an address for each pair that it is an end of,
/// and a route to the other end. Nothing that makes the kernel send packets on its own.
fn commands(interface: &str, ends: &[(usize, usize)], mtu: u16, ipv6: bool) -> String {
    // Writing to a string does not fail.
    let mut text = format!("link set {interface} mtu {mtu} multicast off\n");
    if ipv6 {
        let _ = writeln!(text, "link set {interface} addrgenmode none");
    }
    let mut routes = String::new();
    for &(pair, end) in ends {
        let [own4, own6] = addresses(pair, end);
        let [peer4, peer6] = addresses(pair, 1 - end);
        let _ = writeln!(text, "address add {own4}/32 dev {interface}");
        let _ = writeln!(routes, "route add {peer4}/32 dev {interface} src {own4}");
        if ipv6 {
            let _ = writeln!(text, "address add {own6}/128 dev {interface} nodad");
            let _ = writeln!(routes, "route add {peer6}/128 dev {interface} src {own6}");
        }
    }
    let _ = writeln!(text, "link set {interface} up");
    text + &routes
}
