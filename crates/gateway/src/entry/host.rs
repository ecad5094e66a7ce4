//! The destination that a client names in a request.

use crate::Destination;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};

/// Longest host name (RFC 1035, section 2.3.4).
const LONGEST: usize = 253;

/// The destination with this host and port; an address written as a name is an
/// address. `None` where the host is neither, or the port is zero.
pub(super) fn destination(host: &str, port: u16) -> Option<Destination> {
    if port == 0 {
        return None;
    }
    if let Ok(address) = host.parse::<IpAddr>() {
        return Some(SocketAddr::new(address, port).into());
    }
    let host = host.to_owned();
    is_name(&host).then_some(Destination::Name { host, port })
}

/// Host and port as CONNECT writes them (RFC 9112, section 3.2.3): `name:443`,
/// `192.0.2.1:443` or `[2001:db8::1]:443`.
pub(super) fn authority(text: &str) -> Option<Destination> {
    let (host, port) = text.rsplit_once(':')?;
    if !port.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let port: u16 = port.parse().ok().filter(|port| *port > 0)?;
    match host.strip_prefix('[').map(|host| host.strip_suffix(']')) {
        Some(inside) => {
            let address: Ipv6Addr = inside?.parse().ok()?;
            Some(SocketAddr::new(address.into(), port).into())
        }
        // Without brackets, the last colon could be a part of the address.
        None if host.contains(':') => None,
        None => destination(host, port),
    }
}

/// True for what may be a host name: labels of 1 to 63 letters, digits, hyphens
/// and underscores. Nothing else reaches a resolver, a log or a terminal.
fn is_name(host: &str) -> bool {
    let dotless = host.strip_suffix('.').unwrap_or(host);
    dotless.len() <= LONGEST
        && dotless.split('.').all(|label| {
            (1..=63).contains(&label.len())
                && label
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_addresses_are_told_apart() {
        let shown = |text| authority(text).map(|d| d.to_string());
        for text in ["a.example:443", "192.0.2.1:80", "[2001:db8::1]:8443", "x:1"] {
            assert_eq!(shown(text).as_deref(), Some(text));
        }
        assert!(matches!(
            authority("192.0.2.1:80"),
            Some(Destination::Address(_))
        ));
        for text in [
            "",
            "a",
            "a:",
            "a:0",
            "a:65536",
            "a:+1",
            ":80",
            "2001:db8::1:80",
            "[::1]",
            "[::1:80",
            "[a]:80",
            "a b:80",
            "a..b:80",
            "a\u{0}:80",
            "é.example:80",
            "[192.0.2.1]:80",
        ] {
            assert_eq!(shown(text), None, "{text:?}");
        }
        let long = "a".repeat(64);
        assert_eq!(destination(&long, 1), None);
        assert_eq!(destination(&["abc"; 70].join("."), 1), None);
        assert!(destination("example.net.", 1).is_some());
        assert_eq!(destination(".", 1), None);
    }
}
