//! The task of the rules.

use crate::config::{Config, Intercept, Prefix, Role, Udp};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

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
    /// Nets that are left alone whatever the file says: that of the other box.
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
        let other = config
            .tunnel
            .as_ref()
            .filter(|_| config.role == Role::Terminal)
            .map(|tunnel| tunnel.address.ip().to_canonical());
        let except_interfaces = match (&config.link.interfaces[..], other) {
            ([], Some(other)) => super::system::interface_to(other).into_iter().collect(),
            (named, _) => named.to_vec(),
        };
        Some(Plan {
            name: config.name.clone(),
            mark: intercept.mark,
            intercept: Some(intercept).filter(|_| config.role != Role::Hub),
            udp: Some(config.udp.clone()).filter(|udp| !udp.passes()),
            except: other.and_then(single).into_iter().collect(),
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
