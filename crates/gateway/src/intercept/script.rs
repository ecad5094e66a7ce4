//! The rules as an nftables script, which replaces earlier rules in one transaction.

use super::plan::{Passing, Plan, Treatment};
use crate::config::{Action, Intercept, Nets, Ports, Prefix, Udp};
use std::fmt::Write as _;

/// Nets that are left alone whatever the file says: they stay on a link.
const STAY: &str = "    ip daddr { 0.0.0.0/8, 127.0.0.0/8, 169.254.0.0/16, 224.0.0.0/3 } return
    ip6 daddr { ::/127, fe80::/10, ff00::/8 } return
";

/// A statement that nothing reaches. Where the kernel has one of its kind, it puts the fragments of packets
/// together before the rules see them: later ones have no ports, and would pass a flow's socket.
const DEFRAGMENT: &str = "    meta l4proto udp meta length 0 tproxy to :1\n";

/// The counter of connections that went to the gateway.
pub(super) const TAKEN: &str = "taken";

/// The counter of connections that were kept from it.
pub(super) const PASSED: &str = "passed";

/// The script that creates or replaces the rules.
pub(super) fn install(plan: &Plan, treatment: Treatment) -> String {
    let (table, mark) = (plan.table(), plan.mark);
    let mut text = remove(&table);
    let way_in = match &plan.intercept {
        Some(intercept) => arriving(plan, intercept),
        None => String::new(),
    };
    // Packets of sockets with another host's address: of accepted connections, and of those made
    // from a client's address. A new connection is none of them: its addresses may still be those
    // of a socket in TIME-WAIT. Errors of ICMP about their packets are for the sockets as well:
    // they carry the path's MTU. While UDP passes, its flows do so even if they have a socket here.
    let carries_udp = plan.udp.as_ref().is_some_and(Udp::carries);
    let of_flows = match carries_udp && treatment.udp == Passing::Gateway {
        true => format!(
            "{DEFRAGMENT}    meta l4proto udp socket transparent 1 socket wildcard 0 \
             meta mark set {mark} accept\n"
        ),
        false => String::new(),
    };
    let _ = write!(
        text,
        "table inet {table} {{
  counter {TAKEN} {{ }}
  counter {PASSED} {{ }}
  chain prerouting {{
    type filter hook prerouting priority mangle; policy accept;
    tcp flags & (syn | ack) != syn socket transparent 1 meta mark set {mark} accept
    meta l4proto {{ icmp, icmpv6 }} socket transparent 1 meta mark set {mark} accept
{of_flows}{way_in}  }}
"
    );
    if let Some(intercept) = &plan.intercept {
        let _ = write!(
            text,
            "  chain arriving {{
    fib daddr type {{ local, broadcast, anycast, multicast }} return
{STAY}{}{}  }}
",
            choice(plan, intercept),
            tcp(plan, intercept, treatment.tcp) + &udp(plan, intercept, treatment.udp)
        );
    }
    text.push_str("}\n");
    text
}

/// The script that removes the rules, whether or not they are there.
pub(super) fn remove(table: &str) -> String {
    format!("add table inet {table}\ndelete table inet {table}\n")
}

/// The rule at which new connections turn off, by the interface where they arrive.
fn arriving(plan: &Plan, intercept: &Intercept) -> String {
    let names = |names: &[String]| {
        let quoted: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
        quoted.join(", ")
    };
    let at = if intercept.interfaces.is_empty() {
        let mut except = plan.except_interfaces.clone();
        except.push("lo".to_owned());
        format!("iifname != {{ {} }}", names(&except))
    } else {
        format!("iifname {{ {} }}", names(&intercept.interfaces))
    };
    let mut text = format!("    {at} tcp flags & (fin | syn | rst | ack) == syn jump arriving\n");
    if plan.udp.is_some() {
        let _ = writeln!(text, "    {at} meta l4proto udp jump arriving");
    }
    text
}

/// The rules that leave the hosts of some nets alone.
fn choice(plan: &Plan, intercept: &Intercept) -> String {
    let mut text = String::new();
    let except: Vec<Prefix> = intercept
        .except
        .0
        .iter()
        .chain(&plan.except)
        .copied()
        .collect();
    for (family, v4) in [("ip", true), ("ip6", false)] {
        let nets = |nets: &[Prefix]| {
            let of: Vec<String> = nets
                .iter()
                .filter(|net| net.is_ipv4() == v4)
                .map(Prefix::to_string)
                .collect();
            of.join(", ")
        };
        let except = nets(&except);
        if !except.is_empty() {
            let _ = writeln!(text, "    {family} saddr {{ {except} }} return");
            let _ = writeln!(text, "    {family} daddr {{ {except} }} return");
        }
        for (what, only) in [("saddr", &intercept.from), ("daddr", &intercept.to)] {
            let Nets(only) = only;
            let listed = nets(only);
            if !listed.is_empty() {
                let _ = writeln!(text, "    {family} {what} != {{ {listed} }} return");
            } else if !only.is_empty() {
                // The other family has nets, this one has none.
                let nfproto = if v4 { "ipv4" } else { "ipv6" };
                let _ = writeln!(text, "    meta nfproto {nfproto} return");
            }
        }
    }
    text
}

fn range<T: PartialEq + std::fmt::Display>(first: T, last: T) -> String {
    match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    }
}

fn listed(ports: &Ports) -> String {
    let ranges = ports.0.iter().map(|it| range(it.start(), it.end()));
    ranges.collect::<Vec<String>>().join(", ")
}

/// What becomes of TCP connections: some are left alone by their port.
fn tcp(plan: &Plan, intercept: &Intercept, passing: Passing) -> String {
    let mut text = String::new();
    if !intercept.except_ports.0.is_empty() {
        let except = listed(&intercept.except_ports);
        let _ = writeln!(text, "    tcp dport {{ {except} }} return");
    }
    if !intercept.ports.0.is_empty() {
        let only = listed(&intercept.ports);
        let _ = writeln!(text, "    tcp dport != {{ {only} }} return");
    }
    text.push_str(&match passing {
        Passing::Direct => format!("    meta l4proto tcp counter name {PASSED}\n"),
        Passing::Refused => {
            format!("    meta l4proto tcp counter name {PASSED} reject with tcp reset\n")
        }
        Passing::Gateway => {
            let counts = format!("counter name {TAKEN} ");
            to_socket(plan, intercept, "meta l4proto tcp", &counts)
        }
    });
    text
}

/// The rules that send what they match to the gateway's socket. The statement `tproxy` ends its rule
/// where no socket listens, so that a gateway that is gone lets everything pass.
fn to_socket(plan: &Plan, intercept: &Intercept, matches: &str, counts: &str) -> String {
    let (port, mark) = (intercept.port, plan.mark);
    let families = [("ipv4", "ip to 127.0.0.1"), ("ipv6", "ip6 to [::1]")].into_iter();
    families
        .filter(|(family, _)| plan.ipv6 || *family == "ipv4")
        .map(|(family, to)| {
            format!(
                "    meta nfproto {family} {matches} tproxy {to}:{port} \
                 meta mark set {mark} {counts}accept\n"
            )
        })
        .collect()
}

/// Bytes of the header of UDP, which its length counts.
const UDP_HEADER: u32 = 8;

/// What becomes of UDP, rule by rule.
fn udp(plan: &Plan, intercept: &Intercept, passing: Passing) -> String {
    let Some(udp) = &plan.udp else {
        return String::new();
    };
    let becomes = |action: Action, matches: &str| match (action, passing) {
        (Action::Carry, Passing::Gateway) => to_socket(plan, intercept, matches, ""),
        (Action::Pass, _) | (Action::Carry, Passing::Direct) => format!("    {matches} return\n"),
        (Action::Block, _) | (Action::Carry, Passing::Refused) => {
            format!("    {matches} reject with icmpx type port-unreachable\n")
        }
    };
    let mut text = String::new();
    for rule in &udp.rules {
        let mut matches = "meta l4proto udp".to_owned();
        if !rule.ports.0.is_empty() {
            let _ = write!(matches, " udp dport {{ {} }}", listed(&rule.ports));
        }
        let length = |payload: u16| u32::from(payload) + UDP_HEADER;
        let lengths = range(length(rule.smallest), length(rule.largest));
        let _ = write!(matches, " udp length {lengths}");
        text.push_str(&becomes(rule.action, &matches));
    }
    text + &becomes(udp.action, "meta l4proto udp")
}
