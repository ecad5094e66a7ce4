//! The self-check: whether the machine meets the needs of the configuration, and if not, the
//! remedy.
//!
//! [`machine`] examines this machine, and needs no running gateway. [`running`] examines a running
//! gateway by its status.

mod running;

pub use running::{EVERY, running};

use super::state::{Finding, Severity};
use crate::config::{Bind, Config, Role};
use crate::intercept::{self, Plan};
use crate::tunnel::keys::{Identity, PublicKey};
use bentpipe_units::Bytes;
use rustix::process::{Resource, getrlimit};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// Bytes that a UDP socket should be able to hold at least: a burst of some
/// milliseconds at gigabits per second.
const UDP_BUFFER: u64 = 2 << 20;

fn good(what: &'static str, found: impl Into<String>) -> Finding {
    Finding {
        what,
        severity: Severity::Good,
        found: found.into(),
        remedy: String::new(),
    }
}

fn warning(what: &'static str, found: impl Into<String>, remedy: impl Into<String>) -> Finding {
    Finding {
        what,
        severity: Severity::Warning,
        found: found.into(),
        remedy: remedy.into(),
    }
}

fn error(what: &'static str, found: impl Into<String>, remedy: impl Into<String>) -> Finding {
    Finding {
        severity: Severity::Error,
        ..warning(what, found, remedy)
    }
}

/// Examines this machine. Changes nothing.
#[must_use]
pub fn machine(config: &Config) -> Vec<Finding> {
    let mut findings = Vec::new();
    findings.extend(files(config));
    if config.intercept.is_some() {
        findings.extend(interception(config));
        findings.extend(forwarding(config));
    }
    findings.push(descriptors(config));
    match config.role {
        Role::Single => {
            findings.push(congestion_control(&config.link.transport));
            findings.push(tcp_buffers(config));
        }
        Role::Terminal | Role::Hub => findings.extend(udp_buffers()),
    }
    findings.extend(interfaces(config));
    findings
}

/// Examines the files that the configuration names, and the keys of the other boxes.
#[must_use]
pub fn files(config: &Config) -> Vec<Finding> {
    let listeners = config.socks.iter().chain(&config.connect);
    let users = listeners.filter_map(|listener| listener.users.as_deref());
    keys(config)
        .into_iter()
        .chain(users.filter_map(exposed))
        .collect()
}

/// Passwords that every user of this machine may read.
fn exposed(users: &Path) -> Option<Finding> {
    let mode = fs::metadata(users).ok()?.permissions().mode();
    let found = format!(
        "{} may be read by every user of this machine",
        users.display()
    );
    let remedy = format!("chmod o-rwx {}", users.display());
    (mode & 0o007 != 0).then(|| warning("users", found, remedy))
}

fn keys(config: &Config) -> Vec<Finding> {
    let Some(tunnel) = &config.tunnel else {
        return Vec::new();
    };
    let mut findings = Vec::new();
    let make = format!("make one: bentpipe gateway keys {}", tunnel.key.display());
    match Identity::read(&tunnel.key) {
        Ok(identity) => {
            let public = identity.public().to_string();
            if tunnel.peers.contains(&public) {
                findings.push(error(
                    "peers",
                    "this box's own key is among the peers",
                    "write the key that `bentpipe gateway keys` prints at the other box",
                ));
            }
            findings.push(good("key", public));
        }
        Err(why) if tunnel.key.exists() => findings.push(error(
            "key",
            why.to_string(),
            format!(
                "the file must belong to the user that runs the gateway, with mode 600; or {make}"
            ),
        )),
        Err(why) => findings.push(error("key", why.to_string(), make)),
    }
    for peer in &tunnel.peers {
        if let Err(why) = peer.parse::<PublicKey>() {
            findings.push(error(
                "peers",
                format!("`{peer}` is no key: {why}"),
                "write the key that `bentpipe gateway keys` prints at the other box",
            ));
        }
    }
    findings
}

/// Number of a capability (`capability.h`).
const NET_ADMIN: u32 = 12;
fn has_capability(number: u32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let set = line.and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok());
    set.is_some_and(|set| set & (1 << number) != 0)
}

fn interception(config: &Config) -> Option<Finding> {
    let plan = Plan::of(config)?;
    Some(match intercept::check(&plan) {
        Ok(()) => good("interception", "the rules can be made here"),
        Err(why) => error(
            "interception",
            why.to_string(),
            "run it with sudo or as the systemd service; [socks] and [connect] need no privileges",
        ),
    })
}

fn sysctl(name: &str) -> Option<String> {
    let path = format!("/proc/sys/{}", name.replace('.', "/"));
    Some(fs::read_to_string(path).ok()?.trim().to_owned())
}

fn number(name: &str) -> Option<u64> {
    sysctl(name)?.parse().ok()
}

fn forwarding(config: &Config) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (name, family) in [
        ("net.ipv4.ip_forward", "IPv4"),
        ("net.ipv6.conf.all.forwarding", "IPv6"),
    ] {
        match number(name) {
            Some(0) if family == "IPv4" => findings.push(error(
                "forwarding",
                "this machine does not forward IPv4, so that what is not intercepted (UDP, ICMP) \
                 ends here",
                format!("sysctl -w {name}=1"),
            )),
            Some(0) => findings.push(warning(
                "forwarding",
                "this machine does not forward IPv6",
                format!("sysctl -w {name}=1, if users have IPv6"),
            )),
            Some(_) => findings.push(good("forwarding", format!("{family} is forwarded"))),
            // The kernel has no such protocol.
            None => {}
        }
    }
    // A packet is checked by the larger of the two values (ip-sysctl).
    let all = number("net.ipv4.conf.all.rp_filter").unwrap_or(0);
    let strict: Vec<String> = names_of_interfaces()
        .into_iter()
        .filter(|name| name != "lo")
        .filter(|name| {
            // The name may have a dot, so that this is not the form of `sysctl`.
            let path = format!("/proc/sys/net/ipv4/conf/{name}/rp_filter");
            let own = fs::read_to_string(path).ok();
            let own = own.and_then(|text| text.trim().parse().ok());
            all.max(own.unwrap_or(0)) == 1
        })
        .collect();
    let keeps = config.intercept.as_ref().is_some_and(|it| it.keep_source);
    if !strict.is_empty() && keeps {
        findings.push(warning(
            "rp_filter",
            format!(
                "strict reverse-path filtering is on at {}",
                strict.join(", ")
            ),
            "answers may be dropped where routes are not symmetric: sysctl -w \
             net.ipv4.conf.all.rp_filter=2",
        ));
    }
    findings
}

/// Those of this network namespace; sysfs has those of the namespace that it was
/// mounted in.
fn names_of_interfaces() -> BTreeSet<String> {
    let Ok(interfaces) = nix::net::if_::if_nameindex() else {
        return BTreeSet::new();
    };
    let names = interfaces.iter();
    names
        .filter_map(|interface| Some(interface.name().to_str().ok()?.to_owned()))
        .collect()
}

fn interfaces(config: &Config) -> Vec<Finding> {
    let there = names_of_interfaces();
    let of_intercept = config.intercept.iter().flat_map(|it| &it.interfaces);
    let wans = config.wans.iter().map(|wan| &wan.link);
    let bound = std::iter::once(&config.link)
        .chain(wans)
        .filter_map(|link| match &link.bind {
            Some(Bind::Interface(name)) => Some(name),
            _ => None,
        });
    let named = of_intercept.chain(&config.link.interfaces).chain(bound);
    named
        .filter(|name| !there.contains(*name) && !there.is_empty())
        .map(|name| {
            let list: Vec<&str> = there.iter().map(String::as_str).collect();
            error(
                "interfaces",
                format!("there is no network interface `{name}`"),
                format!("this machine has {}", list.join(", ")),
            )
        })
        .collect()
}

fn descriptors(config: &Config) -> Finding {
    // A connection of one box has two sockets and up to two pipes; of two boxes one
    // socket.
    let each = if config.role == Role::Single { 6 } else { 1 };
    let needed = config.limits.connections as u64 * each + 100;
    let limit = getrlimit(Resource::Nofile);
    // The gateway raises the soft limit to the hard one when it starts.
    match limit.maximum {
        Some(most) if most < needed => warning(
            "descriptors",
            format!(
                "this process may open {most} files; {} connections need up to {needed}",
                config.limits.connections
            ),
            "raise it (LimitNOFILE= of the service, ulimit -n), or lower [limits] connections; \
             beyond it new intercepted connections pass directly, and others are refused",
        ),
        Some(most) => good("descriptors", format!("{most} files may be open")),
        None => good("descriptors", "any number of files may be open"),
    }
}

fn words(name: &str) -> Vec<String> {
    let text = sysctl(name).unwrap_or_default();
    text.split_whitespace().map(str::to_owned).collect()
}

fn congestion_control(name: &str) -> Finding {
    const WHAT: &str = "congestion control";
    let has = |list: &str| words(list).iter().any(|word| word == name);
    if !has("net.ipv4.tcp_available_congestion_control") {
        let remedy = match name.strip_prefix("bp_") {
            Some(bare) => format!("load it: bentpipe kernel load {bare}"),
            None => format!("load it: modprobe tcp_{name}"),
        };
        return error(WHAT, format!("the kernel has no `{name}`"), remedy);
    }
    if !has("net.ipv4.tcp_allowed_congestion_control") && !has_capability(NET_ADMIN) {
        return error(
            WHAT,
            format!("`{name}` is only for processes with CAP_NET_ADMIN"),
            format!(
                "allow it: sysctl -w net.ipv4.tcp_allowed_congestion_control=\"{} {name}\"",
                words("net.ipv4.tcp_allowed_congestion_control").join(" ")
            ),
        );
    }
    good(WHAT, format!("`{name}` can be used"))
}

fn tcp_buffers(config: &Config) -> Finding {
    // Half of the memory of a socket is bookkeeping.
    let needed = 2 * config.link.product();
    let third = |name: &str| words(name).get(2).and_then(|text| text.parse::<u64>().ok());
    let most = third("net.ipv4.tcp_wmem")
        .into_iter()
        .chain(third("net.ipv4.tcp_rmem"))
        .min()
        .unwrap_or(u64::MAX);
    if most < needed {
        return warning(
            "buffers",
            format!(
                "TCP sockets may hold {}; a connection that fills the link needs {}",
                Bytes::new(most),
                Bytes::new(needed)
            ),
            format!(
                "sysctl -w net.ipv4.tcp_wmem=\"4096 16384 {needed}\" \
                 net.ipv4.tcp_rmem=\"4096 131072 {needed}\""
            ),
        );
    }
    good(
        "buffers",
        "TCP sockets may hold what the link has under way",
    )
}

fn udp_buffers() -> Vec<Finding> {
    let names = ["net.core.rmem_max", "net.core.wmem_max"];
    let small = names.map(|name| (name, number(name).unwrap_or(u64::MAX)));
    if small.iter().all(|(_, size)| *size >= UDP_BUFFER) {
        return vec![good("buffers", "UDP sockets may hold a burst")];
    }
    let settings: Vec<String> = small
        .iter()
        .filter(|(_, size)| *size < UDP_BUFFER)
        .map(|(name, _)| format!("{name}={UDP_BUFFER}"))
        .collect();
    vec![warning(
        "buffers",
        format!(
            "UDP sockets may hold {}; above 100 Mbit/s a burst overflows that",
            Bytes::new(small[0].1.min(small[1].1))
        ),
        format!("sysctl -w {}", settings.join(" ")),
    )]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::config_from_str;

    pub(super) fn ship() -> Config {
        let text = "role = \"terminal\"\n[link]\nrate = \"2 Mbit/s\"\nrtt = \"550 ms\"\n\
                    [tunnel]\naddress = \"192.0.2.7\"\nkey = \"/nonexistent/k\"\npeers = [\"x\"]\n\
                    [intercept]\ninterfaces = [\"nosuch0\"]\n";
        config_from_str(text).unwrap()
    }

    pub(super) fn find<'a>(findings: &'a [Finding], what: &str) -> &'a Finding {
        findings.iter().find(|it| it.what == what).unwrap()
    }

    #[test]
    fn what_is_missing_is_found_with_its_remedy() {
        let findings = machine(&ship());
        let key = find(&findings, "key");
        assert_eq!(key.severity, Severity::Error);
        assert!(key.remedy.contains("bentpipe gateway keys /nonexistent/k"));
        assert!(find(&findings, "peers").found.contains("`x` is no key"));
        assert!(find(&findings, "interfaces").found.contains("`nosuch0`"));
    }

    #[test]
    fn a_control_that_the_kernel_lacks_says_how_to_load_it() {
        let finding = congestion_control("bp_nosuch");
        assert_eq!(finding.severity, Severity::Error);
        assert_eq!(finding.remedy, "load it: bentpipe kernel load nosuch");
    }
}
