//! What becomes of the UDP of clients: calls, games, DNS, VPNs, and QUIC.

use super::net::Ports;
use super::read;
use super::role::Role;
use bentpipe_document::schema::{SPAN, integer};
use bentpipe_document::{Diagnostic, OptionalField, Place, Placed, Reported};
use bentpipe_units::{Duration as Span, Ratio};
use std::time::Duration;

/// What becomes of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// The association carries it, in its subscriber's part of the link.
    Carry,
    /// It passes beside the gateway.
    Pass,
    /// It is refused, by an error of ICMP that the client understands.
    Block,
}

/// What becomes of some datagrams.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UdpRule {
    /// What becomes of them.
    pub action: Action,
    /// Ports of servers; empty: all.
    pub ports: Ports,
    /// Bytes of payload that they have at least.
    pub smallest: u16,
    /// Bytes of payload that they have at most.
    pub largest: u16,
}

/// What becomes of the UDP of clients.
#[derive(Clone, Debug, PartialEq)]
pub struct Udp {
    /// What becomes of datagrams that no rule is about.
    pub action: Action,
    /// The first that fits holds.
    pub rules: Vec<UdpRule>,
    /// What UDP has of a subscriber's part of the link where its TCP wants the rest.
    pub share: Ratio,
    /// Ports of servers whose datagrams are dropped, not divided, where they are longer than the
    /// association's path carries.
    pub whole: Ports,
    /// How long a flow is kept without a datagram.
    pub idle: Duration,
    /// Flows at a time; beyond that, the one that was silent longest is forgotten.
    pub flows: usize,
}

impl Udp {
    /// What becomes of a datagram with so many bytes of payload to this port.
    #[must_use]
    pub fn action(&self, port: u16, payload: usize) -> Action {
        let fits = |rule: &&UdpRule| {
            (rule.ports.0.is_empty() || rule.ports.contains(port))
                && (usize::from(rule.smallest)..=rule.largest.into()).contains(&payload)
        };
        let rule = self.rules.iter().find(fits);
        rule.map_or(self.action, |rule| rule.action)
    }

    /// Whether anything is carried.
    #[must_use]
    pub fn carries(&self) -> bool {
        self.actions().any(|action| action == Action::Carry)
    }

    /// Whether all of it passes beside the gateway.
    #[must_use]
    pub fn passes(&self) -> bool {
        self.actions().all(|action| action == Action::Pass)
    }

    fn actions(&self) -> impl Iterator<Item = Action> {
        let of_rules = self.rules.iter().map(|rule| rule.action);
        std::iter::once(self.action).chain(of_rules)
    }
}

bentpipe_document::table! {
    /// UDP: calls, DNS and QUIC. A terminal with this section carries what UDP the clients of `[intercept]` send through the association, as datagrams whose own congestion control is left alone, under the same turns as TCP; without it, UDP passes beside the gateway. That of SOCKS5 (UDP ASSOCIATE) is carried in any case, unless it is blocked here: it cannot pass beside. A hub carries what its terminals do
    pub(super) UdpTable at "udp", called "the UDP of",
        example "[udp]\n\n[[udp.rule]]\naction = \"pass\"\nports = [53]\n\n[[udp.rule]]\naction = \"block\"\nports = [443]";
    /// what becomes of datagrams that no rule is about: the association carries them, they pass beside the gateway, or they are refused, so that clients of QUIC turn to TCP
    action: Action { "carry" => Action::Carry, "pass" => Action::Pass, "block" => Action::Block }, default "carry";
    /// what becomes of flows that begin with some datagrams; of several rules that fit, the first
    rule: Vec<RuleTable>, or "`action` for all";
    /// the part of a subscriber's share of the link that its UDP has where its TCP wants the rest, and the other way around
    share: Ratio, default "60%";
    /// ports of servers that find out themselves how long a datagram may be, so that longer ones are dropped; to others they go in parts
    whole: Ports, or "443, of QUIC";
    /// how long a flow, from one address and port to another, is remembered without a datagram
    idle: Span [SPAN], default "2 min";
    /// flows that this box knows at a time, and at most a quarter of the files that it may open; beyond that, the one of the same terminal that was silent longest is forgotten
    flows: u64 [integer(1, 1_000_000)], default 4096;
}

bentpipe_document::table! {
    /// what becomes of some datagrams
    pub(super) RuleTable at "udp.rule", called "a rule for the UDP of";
    /// what becomes of them
    action: Action { "carry" => Action::Carry, "pass" => Action::Pass, "block" => Action::Block }, required;
    /// ports of their servers
    ports: Ports, or "all";
    /// bytes of payload that they have at least
    smallest: u64 [integer(0, 65_507)], default 0;
    /// bytes of payload that they have at most
    largest: u64 [integer(0, 65_507)], default 65_507;
}

/// The section.
pub(super) fn read(
    role: Placed<Role>,
    has_entrance: bool,
    section: OptionalField<UdpTable>,
) -> Result<Udp, Reported> {
    let Some(section) = section? else {
        let defaults = read::of_defaults(|table| values(Role::Terminal, table));
        let action = match role.value {
            Role::Hub => Action::Carry,
            Role::Terminal | Role::Single => Action::Pass,
        };
        return Ok(Udp { action, ..defaults });
    };
    let (place, table) = (section.key, section.value);
    let wrong = match role.value {
        Role::Single => Some(("one box carries no UDP", "there is no tunnel to carry it")),
        Role::Terminal if !has_entrance => Some((
            "no UDP can reach this terminal",
            "it needs `[intercept]`, which takes what this machine forwards, or `[socks]`",
        )),
        Role::Terminal | Role::Hub => None,
    };
    if let Some((what, why)) = wrong {
        let error = Diagnostic::new(place, what).label(why);
        let context = table.context.clone();
        return Err(context.report(error.related(role.place, "this role")));
    }
    values(role.value, table)
}

fn values(role: Role, table: UdpTable) -> Result<Udp, Reported> {
    let context = table.context.clone();
    let passes_at_hub = |action: &Placed<Action>| role == Role::Hub && action.value == Action::Pass;
    let refuse = |place: Place| {
        let error = Diagnostic::new(place, "UDP cannot pass beside a hub")
            .label("expected `carry` or `block`: a hub has what its terminals carry");
        context.report(error)
    };
    let action = table.action?;
    if passes_at_hub(&action) {
        return Err(refuse(action.place));
    }
    let share = table.share?;
    if !(0.01..=0.99).contains(&share.value.get()) {
        let error = Diagnostic::new(share.place, "one side would have nothing")
            .label("expected a share between 1% and 99%");
        return Err(context.report(error));
    }
    let whole = table.whole?;
    let mut rules = Vec::new();
    for rule in table.rule?.map_or_else(Vec::new, |rules| rules.value) {
        let context = rule.context.clone();
        let action = rule.action?;
        if passes_at_hub(&action) {
            return Err(refuse(action.place));
        }
        let (smallest, largest) = (rule.smallest?, rule.largest?);
        if smallest.value > largest.value {
            let error = Diagnostic::new(smallest.place, "no datagram has such a length")
                .label("more than `largest`");
            return Err(context.report(error));
        }
        // Both are bounded by their kinds.
        let bytes = |bytes: u64| u16::try_from(bytes).unwrap_or(u16::MAX);
        rules.push(UdpRule {
            action: action.value,
            ports: read::or_default(rule.ports)?,
            smallest: bytes(smallest.value),
            largest: bytes(largest.value),
        });
    }
    Ok(Udp {
        action: action.value,
        rules,
        share: share.value,
        whole: whole.map_or_else(|| Ports(vec![443..=443]), |whole| whole.value),
        idle: read::time(table.idle?.value),
        flows: usize::try_from(table.flows?.value).unwrap_or(usize::MAX),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, config_from_str};

    const SHIP: &str = "role = \"terminal\"\n[tunnel]\naddress = \"192.0.2.7\"\npeers = [\"k\"]\n\
                        [intercept]\n";
    const HUB: &str = "role = \"hub\"\n[tunnel]\npeers = [\"k\"]\n";

    fn config(text: &str) -> Config {
        config_from_str(text).unwrap_or_else(|errors| panic!("{errors}"))
    }

    #[test]
    fn udp_passes_a_terminal_without_the_section_and_a_hub_carries_it() {
        assert_eq!(config(SHIP).udp.action, Action::Pass);
        assert!(!config(SHIP).udp.carries());
        assert!(config(HUB).udp.carries());
        let udp = config(&format!("{SHIP}[udp]\n")).udp;
        assert_eq!(udp.action, Action::Carry);
        assert_eq!((udp.share, udp.flows), (Ratio::new(0.6).unwrap(), 4096));
        assert!(udp.whole.contains(443) && !udp.whole.contains(53));
    }

    #[test]
    fn the_first_rule_that_fits_holds() {
        let udp = config(&format!(
            "{SHIP}[udp]\n[[udp.rule]]\naction = \"pass\"\nports = [53]\nlargest = 512\n\
             [[udp.rule]]\naction = \"block\"\nports = [\"50-60\", 443]\n"
        ))
        .udp;
        assert_eq!(udp.action(53, 512), Action::Pass);
        assert_eq!(udp.action(53, 513), Action::Block);
        assert_eq!(udp.action(443, 0), Action::Block);
        assert_eq!(udp.action(444, 0), Action::Carry);
    }

    #[test]
    fn what_cannot_be_is_refused_at_its_place() {
        let single = "role = \"single\"\n[intercept]\n";
        let connect = SHIP.replace("intercept", "connect");
        let socks = SHIP.replace("intercept", "socks");
        let blocks = config(&format!("{socks}[udp]\naction = \"block\"\n")).udp;
        assert_eq!(blocks.action(53, 100), Action::Block);
        for (text, keys, why) in [
            (single, "", "one box carries no UDP"),
            (&connect, "", "no UDP can reach this terminal"),
            (HUB, "action = \"pass\"\n", "UDP cannot pass beside a hub"),
            (
                HUB,
                "[[udp.rule]]\naction = \"pass\"\n",
                "UDP cannot pass beside a hub",
            ),
            (SHIP, "share = \"100%\"\n", "one side would have nothing"),
            (
                SHIP,
                "[[udp.rule]]\naction = \"pass\"\nsmallest = 9\nlargest = 8\n",
                "no datagram has such a length",
            ),
        ] {
            let errors = config_from_str(&format!("{text}[udp]\n{keys}")).unwrap_err();
            assert!(errors.to_string().contains(why), "{errors}");
        }
    }
}
