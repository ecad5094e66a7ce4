//! What this box may connect to on behalf of the other.

use super::net::{Nets, Ports, Prefix};
use super::read;
use bentpipe_document::Reported;
use std::net::IpAddr;

/// What this box may connect to on behalf of the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Nets that are allowed, also where they are refused by default.
    pub allow: Nets,
    /// Nets that are refused. See [`Policy::allows`] for an address in both.
    pub deny: Nets,
    /// Ports that are refused.
    pub deny_ports: Ports,
}

impl Default for Policy {
    fn default() -> Policy {
        read::of_defaults(read)
    }
}

impl Policy {
    /// Whether the nets of the file allow an address: the narrowest that has it decides, so that a
    /// refusal inside of what is allowed holds, and an exception to it; of two of the same length
    /// the refusal. `None` where no net has it.
    #[must_use]
    pub fn allows(&self, address: IpAddr) -> Option<bool> {
        let narrowest = |nets: &Nets| {
            let with = nets.0.iter().filter(|net| net.contains(address));
            with.map(Prefix::length).max()
        };
        match (narrowest(&self.allow), narrowest(&self.deny)) {
            (None, None) => None,
            (allow, deny) => Some(allow > deny),
        }
    }
}

bentpipe_document::table! {
    /// what this box may connect to on behalf of the other one: of the nets in `allow` and `deny` that have the address of a server the narrowest decides, and `deny` of two that are equal; without one, its own addresses and all loopback, link-local, multicast and metadata addresses are refused, at a hub also private and shared ones (RFC 1918, RFC 6598, unique-local)
    pub(super) PolicyTable at "policy", called "the policy of",
        example "[policy]\nallow = [\"10.0.0.0/8\"]\ndeny = [\"10.20.0.0/16\"]";
    /// nets that are allowed, except narrower ones in `deny`
    allow: Nets, or "none";
    /// nets that are refused, except narrower ones in `allow`
    deny: Nets, or "none";
    /// ports that are refused
    deny_ports: Ports, or "none";
}

/// The section.
pub(super) fn read(table: PolicyTable) -> Result<Policy, Reported> {
    Ok(Policy {
        allow: read::or_default(table.allow)?,
        deny: read::or_default(table.deny)?,
        deny_ports: read::or_default(table.deny_ports)?,
    })
}
