//! `bentpipe gateway check`: what a configuration means, in words, and whether its keys are there.

use super::doctor::{is_broken, print};
use super::file::read;
use crate::args::gateway::GatewayCheck;
use crate::exit::{Failure, Status};
use crate::output::Output;
use bentpipe_gateway::config::{
    Action, Answer, Bind, Config, Intercept, Link, Listener, Ports, RateSource, Role, Terminal,
    Udp, Wan, WhenDown,
};
use bentpipe_gateway::operate::{Finding, Severity, check};
use bentpipe_units::{Bytes, Duration as Span};
use serde_json::json;
use std::time::Duration;

/// Reads and explains.
pub(super) fn main(args: &GatewayCheck, out: &mut Output) -> Result<Status, Failure> {
    let config = read(&args.file)?;
    let words = words(&config);
    let mut findings = check::files(&config);
    findings.retain(|it| it.severity != Severity::Good);
    let status = match is_broken(&findings) {
        true => Status::Worse,
        false => Status::Done,
    };
    if args.json {
        out.json(&json!({
            "file": args.file,
            "name": config.name,
            "role": config.role.word(),
            "means": words.iter().map(|(what, text)| json!({ "what": what, "text": text }))
                .collect::<Vec<_>>(),
            "findings": findings.iter().map(Finding::json).collect::<Vec<_>>(),
        }))?;
        return Ok(status);
    }
    for (what, text) in &words {
        out.entry(2, what, 13, text)?;
    }
    print(&findings, out)?;
    Ok(status)
}

/// What the configuration means, point by point.
fn words(config: &Config) -> Vec<(&'static str, String)> {
    let mut words = vec![("role", role(config)), ("link", link(&config.link))];
    for wan in &config.wans {
        words.push(("WAN", another(wan)));
    }
    if let Some(tunnel) = &config.tunnel {
        let reaches = match (config.role, &tunnel.hubs[..]) {
            (Role::Hub, _) => format!("listens at {}", tunnel.listen),
            (_, [one]) => format!("reaches its hub at {one}"),
            (_, several) => {
                let hubs: Vec<String> = several.iter().map(ToString::to_string).collect();
                format!(
                    "reaches its hubs at {}, of which the first that answers takes new connections, \
                     and again when it has answered for {}",
                    hubs.join(", "),
                    span(tunnel.return_after)
                )
            }
        };
        let down = match (tunnel.when_down, &config.intercept) {
            (_, None) => "",
            (WhenDown::Open, _) => "; new ones pass directly while the other box does not answer",
            (WhenDown::Closed, _) => "; new ones are refused while the other box does not answer",
        };
        words.push((
            "tunnel",
            format!(
                "{reaches} (UDP, and TCP where UDP does not pass); {} known by key; an outage of up \
                 to {} keeps connections{down}",
                match tunnel.peers.len() {
                    1 => "1 other box is".to_owned(),
                    n => format!("{n} other boxes are"),
                },
                span(tunnel.outage),
            ),
        ));
        words.push(("key", tunnel.key.display().to_string()));
    }
    if let Some(intercept) = &config.intercept {
        words.push(("interception", interception(intercept, config)));
    }
    if config.intercept.is_some() && config.role == Role::Terminal {
        words.push(("UDP", udp(&config.udp)));
    }
    if let Some(socks) = &config.socks {
        words.push(("SOCKS5", listener(socks)));
    }
    if let Some(connect) = &config.connect {
        words.push(("HTTP CONNECT", listener(connect)));
    }
    words.push(("policy", policy(config)));
    if config.tunnel.is_some() {
        words.push(("sharing", sharing(config)));
    }
    for it in &config.terminals {
        words.push(("terminal", terminal(it)));
    }
    words.push((
        "limits",
        format!(
            "{} connections, {} of payload{}; a stop lets connections finish for {}",
            config.limits.connections,
            Bytes::new(config.limits.memory),
            for_sending(config),
            span(config.limits.drain)
        ),
    ));
    let metrics = match config.status.metrics {
        Some(address) => format!("; metrics at http://{address}/metrics"),
        None => String::new(),
    };
    let control = config.status.control.display();
    words.push(("status", format!("control socket {control}{metrics}")));
    words
}

/// The part of the memory that may wait for the satellite, between two boxes.
fn for_sending(config: &Config) -> String {
    match config.tunnel {
        Some(_) => format!(
            ", {} of it for sending at the configured rate",
            Bytes::new(config.held_for_sending())
        ),
        None => String::new(),
    }
}

fn role(config: &Config) -> String {
    let name = &config.name;
    match config.role {
        Role::Single => format!("`{name}` is one box: kernel TCP on both of its sides"),
        Role::Terminal => {
            format!("`{name}` is a terminal: on the users' side, with a hub beyond the satellite")
        }
        Role::Hub => format!("`{name}` is a hub: on the Internet's side, for terminals"),
    }
}

/// A WAN besides the link.
fn another(wan: &Wan) -> String {
    let leaves = match &wan.link.bind {
        Some(Bind::Interface(name)) => format!(" by {name}"),
        Some(Bind::Address(address)) => format!(" from {address}"),
        None => String::new(),
    };
    format!(
        "`{}`, port {} of the hub{leaves}: {}; connections are bonded over all WANs",
        wan.name,
        wan.port,
        link(&wan.link)
    )
}

/// What a terminal of a hub gets.
fn terminal(it: &Terminal) -> String {
    let called = it.name.as_ref().map(|name| format!("`{name}`, "));
    let cap = it.cap.map(|cap| format!("; at most {cap} over each WAN"));
    format!(
        "{}{}: weight {} beside others that want more{}",
        called.unwrap_or_default(),
        it.key.get(..12).unwrap_or(&it.key),
        it.weight,
        cap.unwrap_or_default(),
    )
}

/// What becomes of intercepted UDP.
fn udp(udp: &Udp) -> String {
    let becomes = |action| match action {
        Action::Carry => "is carried",
        Action::Pass => "passes beside the gateway",
        Action::Block => "is refused",
    };
    let rules = udp.rules.iter().map(|rule| {
        let ports = match rule.ports.0.is_empty() {
            true => "all".to_owned(),
            false => of_ports(&rule.ports),
        };
        let bytes = match (rule.smallest, rule.largest) {
            (0, 65_507) => String::new(),
            (smallest, largest) => format!(" with {smallest} to {largest} bytes"),
        };
        format!("{ports}{bytes} {}; ", becomes(rule.action))
    });
    let rules: String = rules.collect();
    let rest = if udp.rules.is_empty() {
        "all"
    } else {
        "the rest"
    };
    format!("{rules}{rest} {}", becomes(udp.action))
}

fn link(link: &Link) -> String {
    let rate = match &link.rate {
        RateSource::Fixed(rate) => format!("sends at up to {rate}"),
        RateSource::File { path, first } => {
            format!(
                "sends at the rate that `{}` holds, {first} until it can be read",
                path.display()
            )
        }
        RateSource::Measured => "sends at a rate that is measured".to_owned(),
    };
    let product = match link.configured() {
        Some(_) => format!(", {} under way", Bytes::new(link.product())),
        None => String::new(),
    };
    format!(
        "{rate}, round trip {}{product}; transport `{}`",
        span(link.rtt),
        link.transport
    )
}

fn interception(intercept: &Intercept, config: &Config) -> String {
    let at = match (
        intercept.interfaces.as_slice(),
        config.link.interfaces.as_slice(),
    ) {
        ([], []) => "at every interface".to_owned(),
        ([], link) => format!("at every interface but {}", link.join(", ")),
        (some, _) => format!("at {}", some.join(", ")),
    };
    let mut text = format!("takes TCP connections that arrive {at}");
    let mut add = |what: &str, listed: String| {
        if !listed.is_empty() {
            text.push_str(&format!(", {what} {listed}"));
        }
    };
    add("from", intercept.from.to_string());
    add("to", intercept.to.to_string());
    add("to port", intercept.ports.to_string());
    let except = [
        intercept.except.to_string(),
        of_ports(&intercept.except_ports),
    ];
    let except: Vec<String> = except.into_iter().filter(|it| !it.is_empty()).collect();
    add("except", except.join(" and "));
    text + match intercept.keep_source {
        true => "; servers see the client's address",
        false => "; servers see the address of the box that connects",
    }
}

fn of_ports(ports: &Ports) -> String {
    match ports.0.is_empty() {
        true => String::new(),
        false => format!("port {ports}"),
    }
}

fn listener(listener: &Listener) -> String {
    let answer = match listener.answer {
        Answer::Early => "clients may send at once, and a refusal is a reset",
        Answer::Confirmed => "clients may send when the server has answered",
    };
    format!("listens at {}; {answer}", listener.listen)
}

fn policy(config: &Config) -> String {
    let policy = &config.policy;
    let mut text = match config.role {
        Role::Hub => "no private, loopback, link-local, multicast or metadata addresses",
        Role::Single | Role::Terminal => "no loopback, link-local, multicast or metadata addresses",
    }
    .to_owned();
    text.push_str(", nor this box's own");
    if !policy.allow.0.is_empty() {
        text.push_str(&format!("; allowed {}", policy.allow));
    }
    if !policy.deny.0.is_empty() {
        text.push_str(&format!("; denied {}", policy.deny));
    }
    if !policy.allow.0.is_empty() && !policy.deny.0.is_empty() {
        text.push_str(" (the narrowest net decides)");
    }
    if !policy.deny_ports.0.is_empty() {
        text.push_str(&format!("; no port {}", policy.deny_ports));
    }
    text
}

/// Who shares the link, and what holds for whom.
fn sharing(config: &Config) -> String {
    let subscribers = &config.subscribers;
    let mut text = format!(
        "by client, each an address of IPv4 (/{}) or a net of IPv6 (/{}), its connections second",
        subscribers.ipv4_prefix, subscribers.ipv6_prefix
    );
    for plan in &subscribers.plans {
        text.push_str(&format!(
            "; `{}` ({}): weight {}",
            plan.name, plan.nets, plan.weight
        ));
        if plan.together {
            text.push_str(" for each net");
        }
        if let Some(cap) = plan.cap {
            text.push_str(&format!(", at most {cap}"));
        }
        if let Some(quota) = plan.quota {
            let (bytes, period) = (Bytes::new(quota.bytes), span(quota.period));
            text.push_str(&format!(", {bytes} in {period} and then {}", quota.then));
        }
    }
    match subscribers.classes.len() {
        0 => {}
        1 => text.push_str("; one class of connections"),
        count => text.push_str(&format!("; {count} classes of connections")),
    }
    text
}

fn span(time: Duration) -> Span {
    Span::from_nanos(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))
}
