//! Nets and ports, as sections of the configuration name them.

use bentpipe_document::reading::{Given, Read};
use bentpipe_document::schema::Kind;
use bentpipe_document::tree::{Item, Value};
use bentpipe_document::{Problem, Reported};
use std::fmt;
use std::net::IpAddr;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// An IP prefix, such as `10.0.0.0/8` or `2001:db8::/32`. Bits beyond its length
/// are zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Prefix {
    address: IpAddr,
    length: u8,
}

impl Prefix {
    /// The net of `address` with this many leading bits; `None` where the length
    /// is more than the address has.
    #[must_use]
    pub fn new(address: IpAddr, length: u8) -> Option<Prefix> {
        let masked = match address {
            IpAddr::V4(v4) if length <= 32 => {
                let mask = u32::MAX.checked_shl(32 - u32::from(length)).unwrap_or(0);
                IpAddr::V4((v4.to_bits() & mask).into())
            }
            IpAddr::V6(v6) if length <= 128 => {
                let mask = u128::MAX.checked_shl(128 - u32::from(length)).unwrap_or(0);
                IpAddr::V6((v6.to_bits() & mask).into())
            }
            _ => return None,
        };
        Some(Prefix {
            address: masked,
            length,
        })
    }

    /// The first address.
    #[must_use]
    pub const fn address(&self) -> IpAddr {
        self.address
    }

    /// Leading bits that all of its addresses share.
    #[must_use]
    pub const fn length(&self) -> u8 {
        self.length
    }

    /// True for IPv4.
    #[must_use]
    pub const fn is_ipv4(&self) -> bool {
        self.address.is_ipv4()
    }

    /// True if `address` is in it. An IPv4 address in IPv6 form counts as IPv4.
    #[must_use]
    pub fn contains(&self, address: IpAddr) -> bool {
        Prefix::new(address.to_canonical(), self.length)
            .is_some_and(|net| net.address == self.address)
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.length)
    }
}

/// What a prefix looks like.
const PREFIX: &str = "a net such as `10.0.0.0/8` or `2001:db8::/32`, or an address";

impl FromStr for Prefix {
    type Err = Problem;

    /// A net, or a single address. Bits set beyond the length are an error: they
    /// are a slip of the pen more often than not.
    fn from_str(text: &str) -> Result<Prefix, Problem> {
        let wrong = || Problem::new(format!("`{text}` is not a net"), PREFIX);
        let (address, length) = match text.split_once('/') {
            Some((address, length)) => (address, Some(length)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_| wrong())?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        let length = match length {
            Some(length) => length.parse().map_err(|_| wrong())?,
            None => most,
        };
        let net = Prefix::new(address, length).ok_or_else(wrong)?;
        if net.address != address {
            let found = format!("`{text}` has bits beyond its length");
            return Err(Problem::new(found, PREFIX).suggest(Some(net.to_string())));
        }
        Ok(net)
    }
}

/// Nets, in the order of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Nets(pub Vec<Prefix>);

impl Nets {
    /// True if one of them has the address.
    #[must_use]
    pub fn contains(&self, address: IpAddr) -> bool {
        self.0.iter().any(|net| net.contains(address))
    }
}

impl fmt::Display for Nets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        listed(f, &self.0)
    }
}

impl Read for Nets {
    const KIND: Kind = Kind::Names("net");

    fn read(given: Given<'_>, _: &Kind) -> Result<Nets, Reported> {
        let net = |item: &Item| match &item.value {
            Value::Text(text) => text.parse(),
            other => Err(Problem::new(other.kind(), PREFIX)),
        };
        each(given, net).map(Nets)
    }
}

/// Ports, single ones and ranges, in the order of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ports(pub Vec<RangeInclusive<u16>>);

impl Ports {
    /// True if the port is one of them.
    #[must_use]
    pub fn contains(&self, port: u16) -> bool {
        self.0.iter().any(|range| range.contains(&port))
    }
}

/// What ports look like.
const PORTS: &str = "a port such as `22`, a range such as `\"6000-6063\"`, or an array of them";

impl fmt::Display for Ports {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts = self
            .0
            .iter()
            .map(|range| match (range.start(), range.end()) {
                (first, last) if first == last => first.to_string(),
                (first, last) => format!("{first}-{last}"),
            });
        listed(f, &texts.collect::<Vec<_>>())
    }
}

impl Read for Ports {
    const KIND: Kind = Kind::Form(PORTS);

    fn read(given: Given<'_>, _: &Kind) -> Result<Ports, Reported> {
        each(given, ports).map(Ports)
    }
}

fn ports(item: &Item) -> Result<RangeInclusive<u16>, Problem> {
    let wrong = || Problem::new(format!("{} is no port", item.value.to_toml()), PORTS);
    let port = |text: &str| text.trim().parse::<u16>().ok().filter(|port| *port > 0);
    let (first, last) = match &item.value {
        Value::Integer(Some(n)) => {
            let n = u16::try_from(*n).ok().filter(|n| *n > 0);
            (n, n)
        }
        Value::Text(text) => match text.split_once('-') {
            Some((first, last)) => (port(first), port(last)),
            None => (port(text), port(text)),
        },
        _ => (None, None),
    };
    match (first, last) {
        (Some(first), Some(last)) if first <= last => Ok(first..=last),
        _ => Err(wrong()),
    }
}

/// Names of network interfaces, in the order of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Interfaces(pub(super) Vec<String>);

/// What the name of an interface looks like.
pub const INTERFACE: &str = "1 to 15 letters, digits and `.`, `_`, `-`, `+`, `@`, `:`";

/// True if an interface may have the name. The kernel allows more characters than
/// [`INTERFACE`] says, but these names become words of rules and commands.
pub fn is_interface(name: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"._-+@:".contains(&b);
    (1..=15).contains(&name.len())
        && name.bytes().all(plain)
        && !name.starts_with('-')
        && !matches!(name, "." | "..")
}

impl Read for Interfaces {
    const KIND: Kind = Kind::Names("network interface");

    fn read(given: Given<'_>, _: &Kind) -> Result<Interfaces, Reported> {
        let name = |item: &Item| {
            let Value::Text(name) = &item.value else {
                return Err(Problem::new(item.value.kind(), INTERFACE));
            };
            if is_interface(name) {
                return Ok(name.clone());
            }
            let found = format!("{} is no name of an interface", item.value.to_toml());
            Err(Problem::new(found, INTERFACE))
        };
        each(given, name).map(Interfaces)
    }
}

/// Reads one value or an array of them; each that is wrong is reported at its
/// place.
pub(super) fn each<T>(
    given: Given<'_>,
    read: impl Fn(&Item) -> Result<T, Problem>,
) -> Result<Vec<T>, Reported> {
    let item = &given.entry.item;
    let items = match &item.value {
        Value::List(items) => items.as_slice(),
        _ => std::slice::from_ref(item),
    };
    let mut wrong = None;
    let mut found = Vec::with_capacity(items.len());
    for item in items {
        match read(item) {
            Ok(value) => found.push(value),
            Err(problem) => {
                wrong = Some(given.report(problem.at(item.place, &given.entry.key)));
            }
        }
    }
    match wrong {
        Some(reported) => Err(reported),
        None => Ok(found),
    }
}

fn listed(f: &mut fmt::Formatter<'_>, items: &[impl fmt::Display]) -> fmt::Result {
    for (i, item) in items.iter().enumerate() {
        write!(f, "{}{item}", if i > 0 { ", " } else { "" })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_net_has_its_addresses_and_no_others() {
        let net: Prefix = "10.1.0.0/16".parse().unwrap();
        assert!(net.contains("10.1.255.255".parse().unwrap()));
        assert!(!net.contains("10.2.0.0".parse().unwrap()));
        assert!(!net.contains("::1".parse().unwrap()));
        assert!(net.contains("::ffff:10.1.2.3".parse().unwrap()));
        let all: Prefix = "::/0".parse().unwrap();
        assert!(all.contains("2001:db8::1".parse().unwrap()));
        assert!(!all.contains("10.0.0.1".parse().unwrap()));
        let one: Prefix = "192.0.2.1".parse().unwrap();
        assert_eq!(one.to_string(), "192.0.2.1/32");
    }

    #[test]
    fn what_is_no_net_says_what_is() {
        let slip = "10.1.0.0/8".parse::<Prefix>().unwrap_err();
        assert_eq!(slip.nearest.as_deref(), Some("10.0.0.0/8"));
        for text in [
            "",
            "10.0.0.0/33",
            "10.0.0/8",
            "::/129",
            "example.net",
            "1.2.3.4/x",
        ] {
            assert!(text.parse::<Prefix>().is_err(), "{text}");
        }
    }
}
