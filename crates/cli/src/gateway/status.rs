//! `bentpipe gateway status`: how a running gateway does.

use super::file::read;
use crate::args::gateway::GatewayStatus;
use crate::exit::{Failure, Status};
use crate::output::{Output, is_screen};
use bentpipe_gateway::config::control_folder;
use bentpipe_gateway::operate::client;
use bentpipe_units::{Bytes, Duration as Span, Rate};
use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How often the live view is drawn.
const EVERY: Duration = Duration::from_secs(1);

/// Prints the status, once or until Ctrl-C.
pub(super) fn main(args: &GatewayStatus, out: &mut Output) -> Result<Status, Failure> {
    let socket = socket(args.which.as_deref())?;
    let mut status = client::status(&socket)?;
    if args.json {
        out.json(&status)?;
        return Ok(Status::Done);
    }
    if args.once || !is_screen(&std::io::stdout()) {
        for line in lines(&status, None) {
            out.line(line)?;
        }
        return Ok(Status::Done);
    }
    let mut before = None;
    loop {
        let text = Output::text_of(out.line_width(), |page| {
            let mut lines = lines(&status, before.as_ref()).into_iter();
            lines.try_for_each(|line| page.line(line))
        })?;
        // Home, and what is below the last line is cleared.
        let text = text.replace('\n', "\u{1b}[K\n");
        write!(out.writer(), "\u{1b}[H{text}\u{1b}[J")?;
        out.flush()?;
        std::thread::sleep(EVERY);
        let next = client::status(&socket)?;
        before = Some(std::mem::replace(&mut status, next));
    }
}

/// The control socket that is meant: of a configuration, by name, or the only one.
pub(super) fn socket(which: Option<&Path>) -> Result<PathBuf, Failure> {
    match which {
        Some(path) if path.extension().is_some_and(|it| it == "toml") => {
            Ok(read(path)?.status.control)
        }
        Some(path) if path.extension().is_some_and(|it| it == "sock") => Ok(path.to_owned()),
        Some(name) => {
            let mut file = name.as_os_str().to_owned();
            file.push(".sock");
            Ok(control_folder().join(file))
        }
        None => match client::running().as_slice() {
            [one] => Ok(one.clone()),
            [] => Err(Failure::new(format!(
                "no gateway runs here (`{}` has no control socket)\n  if it runs as another user, \
                 use sudo, or name its configuration file",
                control_folder().display()
            ))),
            several => {
                let names: Vec<_> = several.iter().filter_map(|path| path.file_stem()).collect();
                let names: Vec<_> = names.iter().map(|name| name.to_string_lossy()).collect();
                Err(Failure::new(format!(
                    "which one? {} run here",
                    names.join(", ")
                )))
            }
        },
    }
}

fn lines(status: &Value, before: Option<&Value>) -> Vec<String> {
    let mut lines = vec![format!(
        "{} `{}`, {}, up {}, bentpipe {}, process {}",
        word(&status["role"]),
        word(&status["name"]),
        word(&status["state"]),
        seconds(&status["uptime_seconds"]),
        word(&status["version"]),
        status["pid"],
    )];
    lines.push(String::new());
    let rate = match status["rate_bits_per_second"].as_u64() {
        Some(rate) => Rate::from_bps(rate).to_string(),
        None => "measured".to_owned(),
    };
    let verified = match status["verified_bits_per_second"].as_u64() {
        Some(verified) => format!(", verified {}", brief(verified as f64, "bit/s")),
        None => String::new(),
    };
    let delivered = status["delivered_bits_per_second"].as_u64();
    lines.push(row(
        "link",
        &format!(
            "rate {rate}{verified}, now {}",
            delivered.map_or_else(String::new, |rate| brief(rate as f64, "bit/s")),
        ),
    ));
    let hubs = status["hubs"].as_array().filter(|hubs| hubs.len() > 1);
    for one in hubs.into_iter().flatten() {
        lines.push(row("hub", &hub(one)));
    }
    for one in status["associations"].as_array().into_iter().flatten() {
        lines.push(row("association", &association(one, &status["terminals"])));
    }
    if status["associations"].as_array().is_none_or(Vec::is_empty) && status["role"] != "single" {
        lines.push(row("association", "none: the other box does not answer"));
    }
    let count = |name: &str| status["counters"][name].as_u64().unwrap_or(0);
    let earlier = |name: &str| before.and_then(|it| it["counters"][name].as_u64());
    let speed = |name: &str| match earlier(name) {
        Some(earlier) => format!(
            ", now {}/s",
            brief((count(name) - earlier.min(count(name))) as f64, "B")
        ),
        None => String::new(),
    };
    lines.push(row(
        "connections",
        &format!(
            "{} now, {} taken, {} ended, {} bypassed, {} turned away{}",
            count("connections_active"),
            count("connections_opened"),
            count("connections_ended"),
            count("connections_bypassed"),
            count("connections_turned_away"),
            match status["new_connections"].as_str() {
                Some("direct") => "; new ones pass directly",
                Some("refused") => "; new ones are refused",
                _ => "",
            },
        ),
    ));
    if count("udp_flows") > 0 {
        lines.push(row(
            "UDP",
            &format!(
                "{} flows now, {} begun, {} datagrams to the link, {} from it, {} dropped",
                count("udp_flows_active"),
                count("udp_flows"),
                count("udp_to_satellite"),
                count("udp_from_satellite"),
                count("udp_dropped") + count("udp_too_long"),
            ),
        ));
    }
    let beside = count("beside_bits_per_second");
    if beside > 0 {
        lines.push(row("beside it", &brief(beside as f64, "bit/s")));
    }
    let cuts = status["cut"].as_object();
    let cuts = cuts
        .into_iter()
        .flatten()
        .filter(|(_, count)| count.as_u64() != Some(0));
    let cuts: Vec<String> = cuts.map(|(why, count)| format!("{count} {why}")).collect();
    if !cuts.is_empty() {
        lines.push(row("cut short", &cuts.join(", ")));
    }
    for (what, name) in [
        ("to link", "bytes_to_satellite"),
        ("from link", "bytes_from_satellite"),
    ] {
        lines.push(row(
            what,
            &format!("{}{}", Bytes::new(count(name)), speed(name)),
        ));
    }
    let size = |value: &Value| {
        value
            .as_u64()
            .map_or_else(|| "?".to_owned(), |n| brief(n as f64, "B"))
    };
    lines.push(row(
        "process",
        &format!(
            "{} resident, {} held for connections, {} descriptors",
            size(&status["memory_resident_bytes"]),
            brief(count("memory_held") as f64, "B"),
            status["descriptors"],
        ),
    ));
    let bad = status["findings"].as_array().into_iter().flatten();
    for it in bad.filter(|it| it["severity"] != "ok") {
        lines.push(String::new());
        lines.push(row(
            word(&it["severity"]),
            &format!("{}: {}", word(&it["what"]), word(&it["found"])),
        ));
        lines.push(row("", &format!("-> {}", word(&it["remedy"]))));
    }
    lines
}

/// One of several hubs of a terminal.
fn hub(one: &Value) -> String {
    let over = one["wan"].as_str();
    let mut text = format!(
        "{}{} {} for {}",
        word(&one["hub"]),
        over.map_or_else(String::new, |wan| format!(" over {wan}")),
        word(&one["state"]),
        seconds(&one["since_seconds"])
    );
    if one["used"] == true {
        text.push_str(", takes new connections");
    }
    if let Some(reason) = one["reason"].as_str() {
        text.push_str(&format!(": {reason}"));
    }
    text
}

fn association(one: &Value, terminals: &Value) -> String {
    let peer = word(&one["peer"]);
    let mut terminals = terminals.as_array().into_iter().flatten();
    let terminal = terminals.find(|it| it["terminal"] == peer);
    let called = terminal.and_then(|it| it["name"].as_str());
    let to = format!(
        "{} at {}",
        called.unwrap_or_else(|| peer.get(..12).unwrap_or(peer)),
        word(&one["address"])
    );
    let since = seconds(&one["since_seconds"]);
    if one["over"] == "tls" {
        return format!("{to}, TLS over TCP since {since}: UDP does not pass");
    }
    let lost = match one["lost"].as_str() {
        Some("to") => "; nothing that this box sends arrives there",
        Some(_) => "; nothing arrives from it",
        None => "",
    };
    let count = |name: &str| one[name].as_u64().unwrap_or(0);
    let rtt = one["rtt_seconds"].as_f64().unwrap_or(0.0);
    let sent = count("packets_sent").max(1);
    format!(
        "{to}, since {since}, round trip {:.0} ms, window {}, {:.2}% lost and sent again, packets of {} B{lost}",
        1e3 * rtt,
        brief(count("window_bytes") as f64, "B"),
        100.0 * count("packets_lost") as f64 / sent as f64,
        count("mtu_bytes"),
    )
}

fn row(what: &str, text: &str) -> String {
    format!("  {what:12} {text}")
}

fn word(value: &Value) -> &str {
    value.as_str().unwrap_or("?")
}

fn seconds(value: &Value) -> String {
    Span::from_secs(value.as_u64().unwrap_or(0)).to_string()
}

/// A number with three digits and its unit.
fn brief(value: f64, unit: &str) -> String {
    let (scaled, prefix) = match value {
        v if v >= 1e9 => (v / 1e9, "G"),
        v if v >= 1e6 => (v / 1e6, "M"),
        v if v >= 1e3 => (v / 1e3, "k"),
        v => (v, ""),
    };
    let digits = match scaled {
        s if s >= 100.0 || prefix.is_empty() => 0,
        s if s >= 10.0 => 1,
        _ => 2,
    };
    format!("{scaled:.digits$} {prefix}{unit}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_view_says_what_matters() {
        let status = json!({
            "role": "terminal", "name": "ship", "state": "running", "uptime_seconds": 90,
            "version": "1.2.3", "pid": 7, "rate_bits_per_second": 2_000_000,
            "verified_bits_per_second": 1_950_000, "delivered_bits_per_second": 1_930_000,
            "hubs": [
                { "hub": "one:4433", "state": "down", "since_seconds": 7, "used": false, "reason": "gone" },
                { "hub": "two:4433", "wan": "5g", "state": "up", "since_seconds": 80, "used": true, "reason": null },
            ],
            "associations": [{
                "peer": "bpk1-abcdefghijkl", "address": "192.0.2.7:4433", "over": "quic",
                "since_seconds": 80, "rtt_seconds": 0.5512, "window_bytes": 140_000,
                "packets_sent": 1000, "packets_lost": 10, "mtu_bytes": 1452,
            }, { "peer": "bpk1-other", "address": "192.0.2.8:4433", "over": "tls", "since_seconds": 3 }],
            "terminals": [{ "terminal": "bpk1-other", "name": "ferry", "weight": 300 }],
            "counters": { "connections_active": 3, "bytes_to_satellite": 5000,
                "udp_flows": 9, "udp_flows_active": 4, "udp_dropped": 2, "beside_bits_per_second": 1_200_000 },
            "cut": { "refused": 2, "reset": 0 },
            "memory_resident_bytes": 12_300_000, "descriptors": 20,
            "findings": [{ "what": "MTU", "severity": "warning", "found": "x", "remedy": "y" }],
        });
        let before = json!({ "counters": { "bytes_to_satellite": 1000 } });
        let text = lines(&status, Some(&before)).join("\n");
        for part in [
            "terminal `ship`, running",
            "rate 2 Mbit/s, verified 1.95 Mbit/s, now 1.93 Mbit/s",
            "one:4433 down for 7 s: gone",
            "two:4433 over 5g up for 80 s, takes new connections",
            "bpk1-abcdefg at 192.0.2.7:4433",
            "ferry at 192.0.2.8:4433",
            "round trip 551 ms, window 140 kB, 1.00% lost",
            "3 now",
            "4 flows now, 9 begun, 0 datagrams to the link, 0 from it, 2 dropped",
            "1.20 Mbit/s",
            "2 refused",
            "now 4.00 kB/s",
            "12.3 MB resident",
            "MTU: x",
            "-> y",
        ] {
            assert!(text.contains(part), "{part} is not in\n{text}");
        }
        assert!(!text.contains("0 reset"));
    }
}
