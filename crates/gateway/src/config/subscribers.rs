//! Who shares the link: clients by their networks.

use super::net::Prefix;
use bentpipe_document::Reported;
use bentpipe_document::schema::integer;
use std::net::IpAddr;

/// What of a client's address says whose it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subscribers {
    /// Leading bits of an IPv4 address.
    pub ipv4_prefix: u8,
    /// The same of IPv6.
    pub ipv6_prefix: u8,
}

impl Subscribers {
    /// The network that a client belongs to.
    #[must_use]
    pub fn net(&self, client: IpAddr) -> Option<Prefix> {
        let client = client.to_canonical();
        let length = if client.is_ipv4() {
            self.ipv4_prefix
        } else {
            self.ipv6_prefix
        };
        Prefix::new(client, length)
    }
}

impl Default for Subscribers {
    fn default() -> Subscribers {
        super::read::of_defaults(read)
    }
}

bentpipe_document::table! {
    /// who shares the link: subscribers get equal parts of it while they want more, and the connections of each share its part
    pub(super) SubscribersTable at "subscribers", called "the subscribers of",
        example "[subscribers]\nipv4_prefix = 24";
    /// leading bits of a client's IPv4 address that say which subscriber it is
    ipv4_prefix: u64 [integer(0, 32)], default 32;
    /// the same of IPv6, of which a host or a household has a whole net
    ipv6_prefix: u64 [integer(0, 128)], default 64;
}

/// The section.
pub(super) fn read(table: SubscribersTable) -> Result<Subscribers, Reported> {
    // Both are bounded by their kinds.
    let bits = |bits: u64| u8::try_from(bits).unwrap_or(u8::MAX);
    Ok(Subscribers {
        ipv4_prefix: bits(table.ipv4_prefix?.value),
        ipv6_prefix: bits(table.ipv6_prefix?.value),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::config_from_str;

    #[test]
    fn a_client_is_its_address_or_its_net() {
        let subscribers = Subscribers::default();
        let net = |text: &str| subscribers.net(text.parse().unwrap()).unwrap().to_string();
        assert_eq!(net("192.0.2.7"), "192.0.2.7/32");
        assert_eq!(net("::ffff:192.0.2.7"), "192.0.2.7/32");
        assert_eq!(net("2001:db8:1:2:3::4"), "2001:db8:1:2::/64");
    }

    #[test]
    fn prefixes_are_bounded() {
        let text = "role = \"terminal\"\n[tunnel]\naddress = \"192.0.2.7\"\npeers = [\"k\"]\n[socks]\n\
                    [subscribers]\nipv4_prefix = 24\n";
        let config = config_from_str(text).unwrap();
        assert_eq!(config.subscribers.ipv4_prefix, 24);
        assert!(config_from_str(&text.replace("24", "33")).is_err());
    }
}
