//! The examination of a gateway that runs, by its status.

use super::{error, good, warning};
use crate::config::{Config, LINK, Role};
use crate::operate::Finding;
use bentpipe_units::{Duration as Span, Rate};
use serde_json::Value;
use std::time::Duration;

/// Seconds as a message shows them.
fn span(seconds: f64) -> Span {
    Span::from_micros((seconds * 1e6) as u64)
}

/// Examines a gateway that runs, by its status.
#[must_use]
pub fn running(config: &Config, status: &Value) -> Vec<Finding> {
    let mut findings = Vec::new();
    if config.tunnel.is_some() {
        let empty = Vec::new();
        let associations = status["associations"].as_array().unwrap_or(&empty);
        findings.extend(far_end(config, status, associations));
        for one in associations {
            findings.extend(association(config, one));
        }
    }
    findings.extend(delivered(config, status));
    findings.extend(verified(status));
    if config.intercept.is_some() {
        let counters = &status["counters"];
        let taken = ["connections_opened", "udp_flows"].map(|name| counters[name].as_u64());
        let uptime = status["uptime_seconds"].as_u64().unwrap_or(0);
        if taken.iter().all(|count| *count == Some(0)) && uptime > 60 {
            findings.push(warning(
                "interception",
                "no connection has been intercepted since the start",
                "do the users' packets pass this machine (their route, `ip route`), and do the \
                 rules match them (`bentpipe gateway rules FILE print`)?",
            ));
        }
    }
    findings
}

fn far_end(config: &Config, status: &Value, associations: &[Value]) -> Vec<Finding> {
    let Some(tunnel) = &config.tunnel else {
        return Vec::new();
    };
    if config.role == Role::Hub {
        let up = associations.len();
        let all = tunnel.peers.len();
        return vec![match up {
            0 => warning(
                "far end",
                "no terminal is connected",
                format!(
                    "does UDP port {} of this machine pass the firewall, and has the terminal this \
                     box's key?",
                    tunnel.listen.port()
                ),
            ),
            _ => good("far end", format!("{up} of {all} terminals are connected")),
        }];
    }
    let remedy = "does it run, does its firewall let UDP and TCP of this port pass, and has it this \
                  box's key among its peers (`bentpipe gateway keys` prints it)?";
    let named: Vec<String> = tunnel.hubs.iter().map(ToString::to_string).collect();
    if associations.is_empty() {
        let found = match &named[..] {
            [one] => format!("the hub at {one} does not answer"),
            all => format!("no hub answers, of {}", all.join(", ")),
        };
        return vec![error("far end", found, remedy)];
    }
    let empty = Vec::new();
    match status["hubs"].as_array().unwrap_or(&empty) {
        several if several.len() > 1 => several.iter().map(|hub| one_of(hub, remedy)).collect(),
        _ => vec![good(
            "far end",
            format!("the hub at {} answers", named.join(", ")),
        )],
    }
}

/// One of several hubs.
fn one_of(hub: &Value, remedy: &str) -> Finding {
    let hub_name = hub["hub"].as_str().unwrap_or("?");
    let name = match hub["wan"].as_str() {
        Some(wan) => format!("{hub_name} over {wan}"),
        None => hub_name.to_owned(),
    };
    let used = match hub["used"].as_bool() {
        Some(true) => ", and takes new connections",
        _ => "",
    };
    let state = hub["state"].as_str().unwrap_or("?");
    match state {
        "up" => good("far end", format!("the hub at {name} answers{used}")),
        "fallback" => good(
            "far end",
            format!("the hub at {name} answers over TLS{used}"),
        ),
        // What it is for: the association says so as well.
        "draining" | "outage" => warning(
            "far end",
            format!("the hub at {name}: {state}{used}"),
            "connections go on over another WAN, or new ones go to the next hub, where there is one",
        ),
        _ => warning(
            "far end",
            match hub["reason"].as_str() {
                Some(reason) => format!("the hub at {name} is not there: {reason}"),
                None => format!("the hub at {name} does not answer"),
            },
            remedy,
        ),
    }
}

fn association(config: &Config, one: &Value) -> Vec<Finding> {
    let mut findings = Vec::new();
    let peer = one["peer"].as_str().unwrap_or("the other box");
    if one["over"] == "tls" {
        findings.push(warning(
            "transport",
            format!("{peer} is reached by TLS over TCP, because UDP does not pass"),
            "let UDP of the tunnel's port pass; the gateway returns to it by itself",
        ));
        return findings;
    }
    findings.extend(lost(config, one, peer));
    if one["draining"] == true {
        findings.push(warning(
            "far end",
            format!("{peer} is about to stop, and takes no new connections"),
            "start it again; until then they go to another hub, pass directly or are refused \
             ([tunnel] when_down)",
        ));
    }
    let wan = one["wan"].as_str();
    let configured = config.link_of(wan).rtt.as_secs_f64();
    if let Some(rtt) = one["rtt_seconds"].as_f64() {
        let text = format!("round trip {} (configured {})", span(rtt), span(configured));
        if rtt > 1.5 * configured || rtt < 0.5 * configured {
            findings.push(warning(
                "round trip",
                text,
                match wan {
                    Some(wan) if wan != LINK => {
                        format!("correct the rtt of `[[wan]]` {wan:?}: it sizes buffers")
                    }
                    _ => "correct [link] rtt: it sizes buffers".to_owned(),
                },
            ));
        } else {
            findings.push(good("round trip", text));
        }
    }
    if let Some(mtu) = one["mtu_bytes"].as_u64().filter(|mtu| *mtu < 1250) {
        findings.push(warning(
            "MTU",
            format!("the path takes packets of {mtu} bytes only"),
            "a tunnel below this one may be the reason; each packet carries less",
        ));
    }
    let count = |name: &str| one[name].as_u64().unwrap_or(0);
    let (sent, lost) = (count("packets_sent"), count("packets_lost"));
    if sent > 10_000 && lost * 50 > sent {
        findings.push(warning(
            "loss",
            format!("{lost} of {sent} packets were lost"),
            "if the modem drops them, the configured rate is above that of the link: lower [link] \
             rate",
        ));
    }
    findings
}

/// The direction in which nothing passes. The other box shows the same from its side.
fn lost(config: &Config, one: &Value, peer: &str) -> Option<Finding> {
    let (found, sender) = match (one["lost"].as_str()?, config.role) {
        ("to", _) => (
            format!("{peer} is heard, and nothing that this box sends arrives there"),
            "this box",
        ),
        (_, Role::Hub) => (format!("nothing arrives from {peer}"), "the terminal"),
        (_, _) => (format!("nothing arrives from {peer}"), "the hub"),
    };
    Some(error(
        "outage",
        found,
        format!(
            "the link is out, or UDP of the tunnel's port that {sender} sends is dropped on the way: a \
             firewall, the provider, or the modem's send direction"
        ),
    ))
}

fn delivered(config: &Config, status: &Value) -> Option<Finding> {
    let configured = status["rate_bits_per_second"].as_u64()?;
    let delivered = status["delivered_bits_per_second"].as_u64()?;
    let share = 100 * delivered / configured.max(1);
    // What all WANs deliver is not a part of one.
    let measured = config.link.configured().is_none() || !config.wans.is_empty();
    (!measured && share > 0).then(|| good("rate", format!("{share}% of the link is in use")))
}

/// What is found where the link delivers less than it is said to.
fn verified(status: &Value) -> Option<Finding> {
    let rate = status["rate_bits_per_second"].as_u64()?;
    let verified = status["verified_bits_per_second"].as_u64()?;
    let less = verified * 100 < rate * 85;
    less.then(|| {
        warning(
            "rate",
            format!(
                "the link delivers {} of {}",
                Rate::from_bps(verified),
                Rate::from_bps(rate)
            ),
            "the sender follows it, and tries for more; if it stays so, lower [link] rate, or let the \
             modem tell its rate ([link] rate_file)",
        )
    })
}

/// How often a running gateway is examined; the other box has this long to answer
/// after the start.
pub const EVERY: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operate::Severity;
    use crate::operate::check::tests::{find, ship};
    use serde_json::json;

    #[test]
    fn a_silent_hub_and_a_wrong_round_trip_are_found() {
        let config = ship();
        let silent = running(&config, &json!({ "associations": [] }));
        assert_eq!(find(&silent, "far end").severity, Severity::Error);
        let status = json!({ "associations": [{
            "peer": "bpk1", "over": "quic", "rtt_seconds": 0.02,
            "mtu_bytes": 1200, "packets_sent": 20_000, "packets_lost": 1000,
        }]});
        let wrong = running(&config, &status);
        assert_eq!(find(&wrong, "far end").severity, Severity::Good);
        let rtt = find(&wrong, "round trip");
        assert_eq!(rtt.severity, Severity::Warning);
        assert_eq!(rtt.found, "round trip 20 ms (configured 550 ms)");
        assert_eq!(find(&wrong, "loss").severity, Severity::Warning);
        assert_eq!(find(&wrong, "MTU").severity, Severity::Warning);
    }

    #[test]
    fn each_of_several_hubs_is_shown() {
        let hub = |hub, state, used| json!({ "hub": hub, "state": state, "used": used });
        let mut status = json!({
            "associations": [{ "peer": "bpk1", "over": "quic" }],
            "hubs": [hub("one:4433", "down", false), hub("two:4433", "up", true)],
        });
        let findings = running(&ship(), &status);
        let far: Vec<_> = findings.iter().filter(|it| it.what == "far end").collect();
        assert_eq!(far[0].severity, Severity::Warning);
        assert_eq!(far[0].found, "the hub at one:4433 does not answer");
        assert_eq!(far[1].severity, Severity::Good);
        assert_eq!(
            far[1].found,
            "the hub at two:4433 answers, and takes new connections"
        );
        status["hubs"][0]["reason"] = json!("its name is not resolved");
        let found = running(&ship(), &status)[0].found.clone();
        assert_eq!(
            found,
            "the hub at one:4433 is not there: its name is not resolved"
        );
    }

    #[test]
    fn a_link_that_delivers_less_is_found() {
        let status = |verified: u64| json!({ "rate_bits_per_second": 20_000_000, "verified_bits_per_second": verified });
        let found = running(&ship(), &status(2_000_000));
        let less = find(&found, "rate");
        assert_eq!(less.severity, Severity::Warning);
        assert_eq!(less.found, "the link delivers 2 Mbit/s of 20 Mbit/s");
        let enough = running(&ship(), &status(19_000_000));
        assert!(enough.iter().all(|it| it.what != "rate"));
    }

    #[test]
    fn the_direction_that_is_lost_is_named() {
        let config = ship();
        let status =
            |lost| json!({ "associations": [{ "peer": "bpk1", "over": "quic", "lost": lost }] });
        let outage = |lost| find(&running(&config, &status(lost)), "outage").clone();
        let to = outage(json!("to"));
        assert_eq!(to.severity, Severity::Error);
        assert!(to.found.contains("nothing that this box sends arrives"));
        assert!(to.remedy.contains("that this box sends"));
        let from = outage(json!("from"));
        assert_eq!(from.found, "nothing arrives from bpk1");
        assert!(from.remedy.contains("that the hub sends"));
        let none = running(&config, &status(json!(null)));
        assert!(none.iter().all(|it| it.what != "outage"));
    }
}
