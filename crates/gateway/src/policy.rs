//! Destinations to which this box may connect on behalf of others.
//!
//! The box at the other end of the tunnel and the users of a SOCKS or CONNECT listener request
//! connections that leave from this box. Without limits they could reach destinations that only
//! this box may reach: services on its loopback interface, neighbours on its links, the metadata
//! service of its cloud.

use crate::config;
use crate::{CloseReason, Destination};
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs as _};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;
use tokio::time::timeout;

/// Names that are resolved at once. The rest waits.
const LOOKUPS: usize = 64;

/// How long a name may take to resolve, with its wait.
const LOOKUP: Duration = Duration::from_secs(10);

/// Addresses of a name that are of use.
const ADDRESSES: usize = 8;

/// For how long the addresses of this machine are taken as known.
const OWN_AGE: Duration = Duration::from_secs(1);

/// Nets of IPv4 that are refused unless they are allowed, with their lengths.
const V4: &[(Ipv4Addr, u8)] = &[
    // This host on this network (RFC 1122, section 3.2.1.3): Linux connects it to
    // itself.
    (Ipv4Addr::UNSPECIFIED, 8),
    // Loopback.
    (Ipv4Addr::new(127, 0, 0, 0), 8),
    // Link-local (RFC 3927), with the metadata address of most clouds.
    (Ipv4Addr::new(169, 254, 0, 0), 16),
    // IETF protocol assignments (RFC 6890), with Oracle's metadata address.
    (Ipv4Addr::new(192, 0, 0, 0), 24),
    // Metadata of Alibaba and of Azure.
    (Ipv4Addr::new(100, 100, 100, 200), 32),
    (Ipv4Addr::new(168, 63, 129, 16), 32),
    // Multicast, and what is reserved, with broadcast.
    (Ipv4Addr::new(224, 0, 0, 0), 4),
    (Ipv4Addr::new(240, 0, 0, 0), 4),
];

/// Nets of IPv6 that are refused unless they are allowed, with their lengths.
const V6: &[(Ipv6Addr, u8)] = &[
    // Unspecified, loopback, and IPv4-compatible addresses (RFC 4291).
    (Ipv6Addr::UNSPECIFIED, 96),
    // Discarded (RFC 6666).
    (Ipv6Addr::new(0x100, 0, 0, 0, 0, 0, 0, 0), 64),
    // Metadata of Amazon and of Google.
    (Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254), 128),
    (Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254), 128),
    // Link-local, what was once site-local, and multicast.
    (Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 0), 10),
    (Ipv6Addr::new(0xfec0, 0, 0, 0, 0, 0, 0, 0), 10),
    (Ipv6Addr::new(0xff00, 0, 0, 0, 0, 0, 0, 0), 8),
];

/// Nets of IPv4 in which a site keeps what the Internet does not reach. A hub, which connects from
/// inside of a site on behalf of others, refuses them as well.
const PRIVATE_V4: &[(Ipv4Addr, u8)] = &[
    // Private (RFC 1918).
    (Ipv4Addr::new(10, 0, 0, 0), 8),
    (Ipv4Addr::new(172, 16, 0, 0), 12),
    (Ipv4Addr::new(192, 168, 0, 0), 16),
    // Shared between a provider and its customers (RFC 6598).
    (Ipv4Addr::new(100, 64, 0, 0), 10),
];

/// The same of IPv6: unique-local (RFC 4193).
const PRIVATE_V6: &[(Ipv6Addr, u8)] = &[(Ipv6Addr::new(0xfc00, 0, 0, 0, 0, 0, 0, 0), 7)];

/// The addresses of this machine, and when they were read.
type Own = (Option<Instant>, Vec<IpAddr>);

/// Destinations to which this box may connect on behalf of others.
#[derive(Clone)]
pub struct Policy {
    rules: Arc<config::Policy>,
    /// Private nets are refused unless they are allowed.
    keeps_private: bool,
    own: Arc<Mutex<Own>>,
    lookups: Arc<Semaphore>,
}

impl fmt::Debug for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Policy").field(&self.rules).finish()
    }
}

impl Policy {
    /// The policy of a box in this role.
    #[must_use]
    pub fn new(rules: config::Policy, role: config::Role) -> Policy {
        Policy {
            rules: Arc::new(rules),
            keeps_private: role == config::Role::Hub,
            own: Arc::default(),
            lookups: Arc::new(Semaphore::new(LOOKUPS)),
        }
    }

    /// The policy with other rules, such as after a reload. What is known about
    /// this machine is shared.
    #[must_use]
    pub fn under(&self, rules: &config::Policy) -> Policy {
        if *self.rules == *rules {
            return self.clone();
        }
        Policy {
            rules: Arc::new(rules.clone()),
            ..self.clone()
        }
    }

    /// True if a connection may be made from this address of a client: from none
    /// of this machine's own, nor from one that no client has.
    #[must_use]
    pub fn admits_client(&self, client: SocketAddr) -> bool {
        let address = client.ip().to_canonical();
        !is_in(address, V4, V6) && !self.own().contains(&address)
    }

    /// The address from which a hub connects for a client: the client's, if it is to be kept and is one
    /// that a client may have, otherwise the box's own (`None`). Without `[intercept]`, nothing brings a
    /// server's packets for a client's address to this box.
    #[must_use]
    pub fn source(
        &self,
        client: Option<SocketAddr>,
        intercept: Option<&config::Intercept>,
    ) -> Option<SocketAddr> {
        let keeps = |client: &SocketAddr| {
            intercept.is_some_and(|intercept| {
                let clients = &intercept.from;
                intercept.keep_source
                    && (clients.0.is_empty() || clients.contains(client.ip()))
                    && self.admits_client(*client)
            })
        };
        client.filter(keeps)
    }

    /// Checks one address. Connect to what this returns, which is `address` in its
    /// plain form.
    ///
    /// # Errors
    /// [`CloseReason::Forbidden`].
    pub fn check(&self, address: SocketAddr) -> Result<SocketAddr, CloseReason> {
        let plain = SocketAddr::new(address.ip().to_canonical(), address.port());
        if plain.port() == 0 || self.rules.deny_ports.contains(plain.port()) {
            return Err(CloseReason::Forbidden);
        }
        let own = self.own();
        if forms(plain.ip()).all(|form| self.allows(form, &own)) {
            Ok(plain)
        } else {
            Err(CloseReason::Forbidden)
        }
    }

    /// The addresses to connect to for a destination, one after the other until
    /// one answers. Connect to these and no others: a name that is resolved a
    /// second time may have other addresses.
    ///
    /// # Errors
    /// [`CloseReason::Forbidden`] where none is allowed, [`CloseReason::NoSuchName`],
    /// [`CloseReason::TimedOut`].
    pub async fn resolve(&self, destination: &Destination) -> Result<Vec<SocketAddr>, CloseReason> {
        let (host, port) = match destination {
            Destination::Address(address) => return Ok(vec![self.check(*address)?]),
            Destination::Name { host, port } => (host.clone(), *port),
        };
        if port == 0 || self.rules.deny_ports.contains(port) {
            return Err(CloseReason::Forbidden);
        }
        let found = timeout(LOOKUP, self.look_up(host, port)).await;
        let found = found.map_err(|_| CloseReason::TimedOut)??;
        if found.is_empty() {
            return Err(CloseReason::NoSuchName);
        }
        let allowed = found.into_iter().filter_map(|at| self.check(at).ok());
        let allowed: Vec<SocketAddr> = allowed.take(ADDRESSES).collect();
        if allowed.is_empty() {
            return Err(CloseReason::Forbidden);
        }
        Ok(allowed)
    }

    async fn look_up(&self, host: String, port: u16) -> Result<Vec<SocketAddr>, CloseReason> {
        let permit = Arc::clone(&self.lookups).acquire_owned().await;
        let permit = permit.map_err(|_| CloseReason::Failed)?;
        let found = tokio::task::spawn_blocking(move || {
            // The C library's resolver cannot be stopped; its slot is taken until it returns, even
            // if the client has gone.
            let _permit = permit;
            (host.as_str(), port).to_socket_addrs().map(Vec::from_iter)
        });
        let found = found.await.map_err(|_| CloseReason::Failed)?;
        found.map_err(|_| CloseReason::NoSuchName)
    }

    fn allows(&self, address: IpAddr, own: &[IpAddr]) -> bool {
        let by_default = || {
            let private = self.keeps_private && is_in(address, PRIVATE_V4, PRIVATE_V6);
            !private && !is_in(address, V4, V6) && !own.contains(&address)
        };
        self.rules.allows(address).unwrap_or_else(by_default)
    }

    /// The addresses of this machine.
    fn own(&self) -> Vec<IpAddr> {
        let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        if own.0.is_none_or(|read| read.elapsed() > OWN_AGE) {
            // An error is for lack of memory or descriptors; the last answer holds.
            if let Ok(found) = nix::ifaddrs::getifaddrs() {
                let addresses = found.filter_map(|interface| ip(&interface.address?));
                *own = (Some(Instant::now()), addresses.collect());
            }
        }
        own.1.clone()
    }
}

fn ip(address: &nix::sys::socket::SockaddrStorage) -> Option<IpAddr> {
    let v4 = address.as_sockaddr_in().map(|a| IpAddr::V4(a.ip()));
    v4.or_else(|| address.as_sockaddr_in6().map(|a| IpAddr::V6(a.ip())))
}

/// True if the address is in one of these nets.
fn is_in(address: IpAddr, v4: &[(Ipv4Addr, u8)], v6: &[(Ipv6Addr, u8)]) -> bool {
    let inside = |net: IpAddr, length| {
        config::Prefix::new(address, length).is_some_and(|prefix| prefix.address() == net)
    };
    match address {
        IpAddr::V4(_) => v4.iter().any(|&(net, length)| inside(net.into(), length)),
        IpAddr::V6(_) => v6.iter().any(|&(net, length)| inside(net.into(), length)),
    }
}

/// An address, and the IPv4 addresses that packets to it may reach through a
/// translator or a tunnel. Each has to be allowed.
fn forms(address: IpAddr) -> impl Iterator<Item = IpAddr> {
    let inner = match address {
        IpAddr::V4(_) => [None; 2],
        IpAddr::V6(v6) => carried(v6),
    };
    std::iter::once(address).chain(inner.into_iter().flatten().map(IpAddr::V4))
}

fn carried(v6: Ipv6Addr) -> [Option<Ipv4Addr>; 2] {
    let bits = v6.to_bits();
    // The 32 bits that begin this many bits from the left.
    let from = |first: u32| Ipv4Addr::from_bits((bits << first >> 96) as u32);
    match v6.segments() {
        // IPv4-mapped and IPv4-compatible (RFC 4291, section 2.5.5).
        [0, 0, 0, 0, 0, 0 | 0xffff, ..] => [Some(from(96)), None],
        // NAT64 (RFC 6052).
        [0x64, 0xff9b, 0, 0, 0, 0, ..] => [Some(from(96)), None],
        // Local NAT64 (RFC 8215): the prefix may have 48 bits, where the address
        // goes around bits 64 to 71, or 96 bits.
        [0x64, 0xff9b, 1, ..] => {
            let around = (bits >> 64 & 0xffff) << 16 | bits >> 40 & 0xffff;
            [Some(Ipv4Addr::from_bits(around as u32)), Some(from(96))]
        }
        // 6to4 (RFC 3056, section 2).
        [0x2002, ..] => [Some(from(16)), None],
        // Teredo (RFC 4380, section 4): the server, and the client with its bits
        // turned over.
        [0x2001, 0, ..] => [
            Some(from(32)),
            Some(Ipv4Addr::from_bits(!from(96).to_bits())),
        ],
        // ISATAP (RFC 5214, section 6.1).
        [_, _, _, _, 0 | 0x200, 0x5efe, ..] => [Some(from(96)), None],
        _ => [None; 2],
    }
}

#[cfg(test)]
mod tests;
