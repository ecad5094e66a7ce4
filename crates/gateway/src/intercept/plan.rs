//! The task of the rules.

use crate::config::{Config, HubAddress, Intercept, Prefix, Role};
use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs as _};

/// Treatment of new connections that match the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Passing {
    /// They go to the gateway; where it does not listen, they pass directly.
    Gateway,
    /// Connections bypass the gateway.
    Direct,
    /// They are refused with RST.
    Refused,
}

/// The task of the rules of one gateway.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The name of the configuration.
    pub name: String,
    /// The rules for new connections; `None` at a hub, which only needs the return route to its
    /// sockets that connect from clients' addresses.
    pub intercept: Option<Intercept>,
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
        let others: BTreeSet<IpAddr> = hubs.into_iter().flatten().flat_map(addresses).collect();
        let except_interfaces = match (&config.link.interfaces[..], config.role) {
            ([], Role::Terminal) => {
                // Where no name is resolved yet: those of the route to the Internet.
                let any = IpAddr::from(SOMEWHERE);
                let towards = others.iter().chain(others.is_empty().then_some(&any));
                let names = towards.filter_map(|other| super::system::interface_to(*other));
                BTreeSet::from_iter(names).into_iter().collect()
            }
            (named, _) => named.to_vec(),
        };
        Some(Plan {
            name: config.name.clone(),
            mark: intercept.mark,
            intercept: Some(intercept).filter(|_| config.role != Role::Hub),
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

/// The addresses of a hub, those that its name has now.
fn addresses(hub: &HubAddress) -> Vec<IpAddr> {
    let found = match (hub.address(), hub.name()) {
        (None, Some(name)) => (name, hub.port()).to_socket_addrs().map(Vec::from_iter),
        (address, _) => Ok(address.into_iter().collect()),
    };
    if let Err(error) = &found {
        tracing::warn!(%hub, %error, "the hub's name is not resolved; the rules of interception do without");
    }
    let found = found.unwrap_or_default().into_iter();
    found.map(|address| address.ip().to_canonical()).collect()
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
