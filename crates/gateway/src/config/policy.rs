//! What this box may connect to on behalf of the other.

use super::net::{Nets, Ports};
use super::read;
use bentpipe_document::Reported;

/// What this box may connect to on behalf of the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Nets that are allowed although they are refused by default or by `deny`.
    pub allow: Nets,
    /// Nets that are refused.
    pub deny: Nets,
    /// Ports that are refused.
    pub deny_ports: Ports,
}

impl Default for Policy {
    fn default() -> Policy {
        read::of_defaults(read)
    }
}

bentpipe_document::table! {
    /// what this box may connect to on behalf of the other one; its own addresses and all loopback, link-local, multicast and metadata addresses are refused unless they are allowed here; private nets are reached unless they are denied
    pub(super) PolicyTable at "policy", called "the policy of",
        example "[policy]\ndeny = [\"10.0.0.0/8\"]\nallow = [\"10.20.0.0/16\"]";
    /// nets that are allowed although they would be refused
    allow: Nets, or "none";
    /// nets that are refused
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
