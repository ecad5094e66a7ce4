//! The task of the rules.

use crate::config::{Bind, Config, HubAddress, Intercept, Prefix, Role, Udp};
use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs as _};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// Treatment of new connections that match the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Passing {
    /// They go to the gateway; where it does not listen, they pass directly.
    Gateway,
    /// Connections bypass the gateway.
    Direct,
    /// They are refused: connections with RST, UDP with an error of ICMP.
    Refused,
}

impl Passing {
    /// The word that the status has for it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Passing::Gateway => "gateway",
            Passing::Direct => "direct",
            Passing::Refused => "refused",
        }
    }
}

/// Treatment of what arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Treatment {
    /// Of new TCP connections.
    pub tcp: Passing,
    /// Of the UDP that the file says is to be carried.
    pub udp: Passing,
}

impl From<Passing> for Treatment {
    fn from(all: Passing) -> Treatment {
        Treatment { tcp: all, udp: all }
    }
}

/// The task of the rules of one gateway.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The name of the configuration.
    pub name: String,
    /// The rules for new connections; `None` at a hub, which only needs the return route to its
    /// sockets that connect from clients' addresses.
    pub intercept: Option<Intercept>,
    /// What becomes of UDP; `None` where it passes.
    pub udp: Option<Udp>,
    /// Mark of packets for the gateway's sockets, and number of the routing table.
    pub mark: u32,
    /// Nets that are left alone whatever the file says: those of the other boxes.
    pub except: Vec<Prefix>,
    /// Interfaces that are left alone where the file names none.
    pub except_interfaces: Vec<String>,
    /// True if this machine has IPv6.
    pub ipv6: bool,
}

impl Plan {
    /// The plan of a configuration; `None` where it needs no rules.
    #[must_use]
    pub fn of(config: &Config) -> Option<Plan> {
        let intercept = config.intercept.clone()?;
        let hubs = config.tunnel.as_ref().map(|tunnel| &tunnel.hubs[..]);
        let others = addresses(hubs.unwrap_or_default());
        let mut except_interfaces: Vec<String> = match (&config.link.interfaces[..], config.role) {
            ([], Role::Terminal) => {
                // Where no name is resolved yet: those of the route to the Internet.
                let any = IpAddr::from(SOMEWHERE);
                let towards = others.iter().chain(others.is_empty().then_some(&any));
                let names = towards.filter_map(|other| super::system::interface_to(*other));
                BTreeSet::from_iter(names).into_iter().collect()
            }
            (named, _) => named.to_vec(),
        };
        let links = std::iter::once(&config.link).chain(config.wans.iter().map(|wan| &wan.link));
        for link in links {
            if let Some(Bind::Interface(name)) = &link.bind
                && !except_interfaces.contains(name)
            {
                except_interfaces.push(name.clone());
            }
        }
        Some(Plan {
            name: config.name.clone(),
            mark: intercept.mark,
            intercept: Some(intercept).filter(|_| config.role != Role::Hub),
            udp: Some(config.udp.clone()).filter(|udp| !udp.passes()),
            except: others.into_iter().filter_map(single).collect(),
            except_interfaces,
            ipv6: super::system::has_ipv6(),
        })
    }

    /// Where the intercepting sockets listen: at loopback addresses, which only
    /// this machine reaches. Empty at a hub.
    #[must_use]
    pub fn listeners(&self) -> Vec<SocketAddr> {
        let Some(intercept) = &self.intercept else {
            return Vec::new();
        };
        let v4 = SocketAddr::new(Ipv4Addr::LOCALHOST.into(), intercept.port);
        let v6 = SocketAddr::new(Ipv6Addr::LOCALHOST.into(), intercept.port);
        std::iter::once(v4).chain(self.ipv6.then_some(v6)).collect()
    }

    /// The name of the table of nftables.
    #[must_use]
    pub fn table(&self) -> String {
        table(&self.name)
    }
}

/// An address of the Internet at which no host is (RFC 5737).
const SOMEWHERE: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);

/// Longest time for the names of hubs, all at once: the gateway starts without those that take longer.
const LOOKUP: Duration = Duration::from_secs(3);

/// The addresses of hubs, of names those that they have now.
fn addresses(hubs: &[HubAddress]) -> BTreeSet<IpAddr> {
    let (found, resolved) = mpsc::channel();
    let (named, fixed): (Vec<_>, Vec<_>) = hubs.iter().partition(|hub| hub.name().is_some());
    for hub in &named {
        let found = found.clone();
        let host = hub.name().unwrap_or_default().to_owned();
        let port = hub.port();
        // The C library's resolver cannot be stopped: a thread that is late ends by itself.
        std::thread::spawn(move || {
            let addresses = (host.as_str(), port).to_socket_addrs();
            let addresses = addresses.map(Vec::from_iter).unwrap_or_default();
            // Nobody waits any more where it was late.
            let _ = found.send(addresses);
        });
    }
    let mut all: Vec<SocketAddr> = fixed.iter().filter_map(|hub| hub.address()).collect();
    let until = Instant::now() + LOOKUP;
    for _ in &named {
        let left = until.saturating_duration_since(Instant::now());
        match resolved.recv_timeout(left) {
            Ok(addresses) if !addresses.is_empty() => all.extend(addresses),
            _ => tracing::warn!(
                "not all names of hubs are resolved: the rules of interception do without their addresses"
            ),
        }
    }
    let plain = |address: SocketAddr| address.ip().to_canonical();
    all.into_iter().map(plain).collect()
}

/// The net of one address.
fn single(address: IpAddr) -> Option<Prefix> {
    Prefix::new(address, if address.is_ipv4() { 32 } else { 128 })
}

/// The name of the table for a configuration of this name. nftables takes letters,
/// digits and underscores; the rest is replaced, and what two names would then
/// share is told apart by a sum.
pub(super) fn table(name: &str) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    let text: String = name
        .bytes()
        .take(64)
        .map(|b| if plain(b) { char::from(b) } else { '_' })
        .collect();
    if text == name {
        return format!("bentpipe_{text}");
    }
    // FNV-1a.
    let sum = name.bytes().fold(0x811c_9dc5_u32, |sum, b| {
        (sum ^ u32::from(b)).wrapping_mul(0x0100_0193)
    });
    format!("bentpipe_{text}_{sum:08x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_addresses_of_hubs_are_left_alone() {
        let hubs = ["localhost", "192.0.2.7:9000", "no-such-name.invalid"];
        let found = addresses(&hubs.map(|hub| hub.parse().unwrap()));
        assert!(found.contains(&"192.0.2.7".parse().unwrap()));
        assert!(found.iter().any(IpAddr::is_loopback), "{found:?}");
    }
}
