//! The rules as an nftables script, which replaces earlier rules in one transaction.

use super::plan::{Passing, Plan};
use crate::config::{Intercept, Nets, Ports, Prefix};
use std::fmt::Write as _;

/// Nets that are left alone whatever the file says: they stay on a link.
const STAY: &str = "    ip daddr { 0.0.0.0/8, 127.0.0.0/8, 169.254.0.0/16, 224.0.0.0/3 } return
    ip6 daddr { ::/127, fe80::/10, ff00::/8 } return
";

/// The counter of connections that went to the gateway.
pub(super) const TAKEN: &str = "taken";

/// The counter of connections that were kept from it.
pub(super) const PASSED: &str = "passed";

/// The script that creates or replaces the rules.
pub(super) fn install(plan: &Plan, passing: Passing) -> String {
    let (table, mark) = (plan.table(), plan.mark);
    let mut text = remove(&table);
    let way_in = match &plan.intercept {
        Some(intercept) => arriving(plan, intercept),
        None => String::new(),
    };
    // Packets of sockets with another host's address: of accepted connections, and of those made
    // from a client's address. A new connection is none of them: its addresses may still be those
    // of a socket in TIME-WAIT. Errors of ICMP about their packets are for the sockets as well:
    // they carry the path's MTU.
    let _ = write!(
        text,
        "table inet {table} {{
  counter {TAKEN} {{ }}
  counter {PASSED} {{ }}
  chain prerouting {{
    type filter hook prerouting priority mangle; policy accept;
    tcp flags & (syn | ack) != syn socket transparent 1 meta mark set {mark} accept
    meta l4proto {{ icmp, icmpv6 }} socket transparent 1 meta mark set {mark} accept
{way_in}  }}
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
            verdict(plan, intercept, passing)
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
    format!("    {at} tcp flags & (fin | syn | rst | ack) == syn jump arriving\n")
}

/// The rules that leave connections alone.
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
    let ports = |ports: &Ports| {
        let ranges: Vec<String> = ports
            .0
            .iter()
            .map(|range| match (range.start(), range.end()) {
                (first, last) if first == last => first.to_string(),
                (first, last) => format!("{first}-{last}"),
            })
            .collect();
        ranges.join(", ")
    };
    if !intercept.except_ports.0.is_empty() {
        let except = ports(&intercept.except_ports);
        let _ = writeln!(text, "    tcp dport {{ {except} }} return");
    }
    if !intercept.ports.0.is_empty() {
        let only = ports(&intercept.ports);
        let _ = writeln!(text, "    tcp dport != {{ {only} }} return");
    }
    text
}

/// What becomes of the rest. The statement `tproxy` ends its rule where no socket
/// listens, so that a gateway that is gone lets connections pass.
fn verdict(plan: &Plan, intercept: &Intercept, passing: Passing) -> String {
    let (port, mark) = (intercept.port, plan.mark);
    match passing {
        Passing::Direct => format!("    counter name {PASSED}\n"),
        Passing::Refused => {
            format!("    counter name {PASSED} meta l4proto tcp reject with tcp reset\n")
        }
        Passing::Gateway => [("ipv4", "ip to 127.0.0.1"), ("ipv6", "ip6 to [::1]")]
            .into_iter()
            .filter(|(family, _)| plan.ipv6 || *family == "ipv4")
            .map(|(family, to)| {
                format!(
                    "    meta nfproto {family} meta l4proto tcp tproxy {to}:{port} \
                     meta mark set {mark} counter name {TAKEN} accept\n"
                )
            })
            .collect(),
    }
}
