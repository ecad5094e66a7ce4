//! Where a terminal's hubs are: addresses and names, in order of preference.

use super::net::each;
use super::read::PORT;
use bentpipe_document::reading::{Given, Read};
use bentpipe_document::schema::Kind;
use bentpipe_document::tree::{Item, Value};
use bentpipe_document::{Problem, Reported};
use std::fmt;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::str::FromStr;

/// The host of a hub.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Host {
    Address(IpAddr),
    Name(String),
}

/// Where a hub is: an address or a name of the DNS, and a port.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct HubAddress {
    host: Host,
    port: u16,
}

impl HubAddress {
    /// The address where it is written as one; a name has to be resolved.
    #[must_use]
    pub fn address(&self) -> Option<SocketAddr> {
        match &self.host {
            Host::Address(address) => Some(SocketAddr::new(*address, self.port)),
            Host::Name(_) => None,
        }
    }

    /// The name to resolve, if it is one.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        match &self.host {
            Host::Name(name) => Some(name),
            Host::Address(_) => None,
        }
    }

    /// The same host, at another port.
    #[must_use]
    pub fn at_port(&self, port: u16) -> HubAddress {
        HubAddress {
            host: self.host.clone(),
            port,
        }
    }

    /// Whether both are at the same host, by the same name.
    #[must_use]
    pub fn is_beside(&self, other: &HubAddress) -> bool {
        self.host == other.host
    }

    /// The UDP port, and that of TCP for the fallback.
    #[must_use]
    pub const fn port(&self) -> u16 {
        self.port
    }
}

impl From<SocketAddr> for HubAddress {
    fn from(address: SocketAddr) -> HubAddress {
        HubAddress {
            host: Host::Address(address.ip()),
            port: address.port(),
        }
    }
}

impl fmt::Display for HubAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.host {
            Host::Address(address) => SocketAddr::new(*address, self.port).fmt(f),
            Host::Name(name) => write!(f, "{name}:{}", self.port),
        }
    }
}

/// What an entry looks like.
const HUB: &str = "an address or a name, and a port unless it is 4433, such as `203.0.113.7:4433`, \
                   `[2001:db8::7]:4433` or `hub.example:4433`";

/// What the whole looks like.
const HUBS: &str = "an address or a name, and a port, such as `203.0.113.7:4433`, `[2001:db8::7]:4433` \
                    or `hub.example:4433`, or an array of them in order of preference";

impl FromStr for HubAddress {
    type Err = Problem;

    fn from_str(text: &str) -> Result<HubAddress, Problem> {
        let wrong = || Problem::new(format!("`{text}` is no address of a hub"), HUB);
        if let Ok(address) = text.parse::<SocketAddr>() {
            return Ok(address.into());
        }
        let bare = text.trim_start_matches('[').trim_end_matches(']');
        if let Ok(address) = bare.parse::<IpAddr>() {
            return Ok(SocketAddr::new(address, PORT).into());
        }
        let (host, port) = match text.split_once(':') {
            Some((host, port)) => (host, port.parse().map_err(|_| wrong())?),
            None => (text, PORT),
        };
        if port == 0 {
            return Err(wrong());
        }
        if host.is_empty() && text.starts_with(':') {
            // All addresses of this machine.
            return Ok(SocketAddr::new(Ipv6Addr::UNSPECIFIED.into(), port).into());
        }
        if !is_name(host) {
            return Err(wrong());
        }
        Ok(HubAddress {
            host: Host::Name(host.to_ascii_lowercase()),
            port,
        })
    }
}

/// True for a host name (RFC 1123, section 2.1). One whose last label is a number is a slip of the
/// pen in an address.
fn is_name(name: &str) -> bool {
    let bare = name.strip_suffix('.').unwrap_or(name);
    let is_label = |label: &str| {
        let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
        (1..=63).contains(&label.len())
            && label.bytes().all(plain)
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    let is_number = |label: &str| label.bytes().all(|b| b.is_ascii_digit());
    bare.len() <= 253
        && bare.split('.').all(is_label)
        && bare.rsplit('.').next().is_some_and(|last| !is_number(last))
}

/// The addresses of the file, in its order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct HubAddresses(pub(super) Vec<HubAddress>);

impl Read for HubAddresses {
    const KIND: Kind = Kind::Form(HUBS);

    fn read(given: Given<'_>, _: &Kind) -> Result<HubAddresses, Reported> {
        let hub = |item: &Item| match &item.value {
            Value::Text(text) => text.parse(),
            other => Err(Problem::new(other.kind(), HUB)),
        };
        each(given, hub).map(HubAddresses)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_names_are_read_and_printed() {
        for (text, shown) in [
            ("203.0.113.7:4433", "203.0.113.7:4433"),
            ("203.0.113.7", "203.0.113.7:4433"),
            ("[2001:db8::7]:443", "[2001:db8::7]:443"),
            ("2001:db8::7", "[2001:db8::7]:4433"),
            ("[2001:db8::7]", "[2001:db8::7]:4433"),
            ("Hub1.Example", "hub1.example:4433"),
            ("hub1.example:9000", "hub1.example:9000"),
            ("teleport", "teleport:4433"),
            (":9000", "[::]:9000"),
        ] {
            let read: HubAddress = text.parse().unwrap();
            assert_eq!(read.to_string(), shown);
            assert_eq!(shown.parse::<HubAddress>().unwrap(), read);
            assert_eq!(read.name().is_some(), read.address().is_none());
        }
    }

    #[test]
    fn what_is_neither_is_refused() {
        for text in [
            "",
            ":",
            "203.0.113",
            "203.0.113.256:4433",
            "hub.example:0",
            "hub.example:99999",
            "hub.example:x",
            "a b",
            "-hub.example",
            "hub..example",
            "http://hub.example",
        ] {
            assert!(text.parse::<HubAddress>().is_err(), "{text}");
        }
    }
}
