//! Our endpoint against the agents of ns-2.35, event by event.
//!
//! Each file in `ns2/` is what `ns ns2/trace.tcl` printed: its settings, and a
//! line for every instant at which the agent sent or moved its window. The
//! endpoint must send the same segments at the same times with the same cwnd
//! and ssthresh.

use crate::pipe::{Fate, MSS, Pipe, plain};
use bentpipe_cc::Parameters;
use bentpipe_tcp::packet::flags;
use bentpipe_tcp::{CongestionControlChoice, DelayedAck, HostProfile, Packet, Recovery, Transport};
use bentpipe_units::{Bytes, Duration, Time};
use std::fmt::Write;
use std::path::Path;

#[derive(Clone)]
struct Trace {
    settings: Vec<(String, String)>,
    /// Instants: seconds, segments, cwnd, ssthresh.
    lines: Vec<(f64, String, f64, f64)>,
}

impl Trace {
    fn read(text: &str) -> Trace {
        let (head, body) = text.split_once("---\n").unwrap();
        let settings = head
            .lines()
            .map(|l| {
                let (name, value) = l.split_once(' ').unwrap_or((l, ""));
                (name.to_owned(), value.to_owned())
            })
            .collect();
        // TCP/Linux talks on the same channel.
        let lines = body
            .lines()
            .filter(|l| l.starts_with(|c: char| c.is_ascii_digit()) && !l.starts_with("0x"))
            .map(|l| {
                let f: Vec<&str> = l.split(' ').collect();
                let number = |i: usize| f[i].parse::<f64>().unwrap();
                (number(0), f[1].to_owned(), number(2), number(3))
            })
            .collect();
        Trace { settings, lines }
    }

    fn get(&self, name: &str) -> &str {
        self.settings
            .iter()
            .find(|(n, _)| n == name)
            .map_or("", |(_, v)| v)
    }

    fn number(&self, name: &str) -> f64 {
        self.get(name).parse().unwrap()
    }

    fn transport(&self) -> Transport {
        let agent = self.get("agent");
        // Hybla's module replaces the clamp of window_ by 65535.
        let unclamped = agent == "Linux/hybla";
        let window = if unclamped {
            1 << 30
        } else {
            self.number("window") as u64 * u64::from(MSS)
        };
        let module = agent.strip_prefix("Linux/");
        let control = match (agent, module) {
            (_, Some(module)) => format!("{module}-linux"),
            ("Vegas", _) => "vegas".to_owned(),
            ("Westwood" | "WestwoodNR", _) => "westwood-nr".to_owned(),
            ("WestwoodBari", _) => "westwood-bari".to_owned(),
            _ => "newreno".to_owned(),
        };
        let recovery = match agent {
            "Tahoe" => Recovery::Tahoe,
            "Reno" | "Westwood" => Recovery::Reno,
            "Newreno" | "Vegas" | "WestwoodNR" | "WestwoodBari" => Recovery::NewReno,
            _ => Recovery::Sack,
        };
        let parameters = match self.get("filter") {
            "" => Parameters::new(),
            filter => Parameters::new()
                .with("filter", format!("type-{filter}"))
                .with(
                    "newreno",
                    if self.get("newreno") == "1" {
                        "2003"
                    } else {
                        "2002"
                    },
                ),
        };
        Transport {
            parameters,
            profile: if module.is_some() {
                HostProfile::Ns2Linux
            } else {
                HostProfile::Ns2
            },
            congestion_control: CongestionControlChoice::Named(control),
            recovery,
            initial_window: 2.0,
            initial_ssthresh: unclamped.then(|| self.number("window")),
            send_buffer: Bytes::new(window),
            receive_buffer: Bytes::new(window),
            delayed_ack: DelayedAck {
                count: if self.get("delack") == "1" { 2 } else { 1 },
                timer: Duration::from_millis(100),
                quick_acks: 0,
            },
            timestamps: self.get("timestamps") == "1",
            limited_transmit: true,
            ..plain()
        }
    }

    /// What our endpoint does, in the form of the lines.
    fn ours(&self) -> Vec<(f64, String, f64, f64)> {
        let drops: Vec<u64> = self
            .get("drops")
            .split_whitespace()
            .map(|d| d.parse().unwrap())
            .collect();
        let mut ordinal = 0u64;
        let mut pipe = Pipe::closed(&self.transport(), move |to, _| {
            if to != 1 {
                return Fate::Deliver;
            }
            ordinal += 1;
            if drops.contains(&(ordinal - 1)) {
                Fate::Drop
            } else {
                Fate::Deliver
            }
        });
        pipe.byte_time = Duration::from_secs_f64(8e-6 / self.number("rate"));
        pipe.one_way = Duration::from_secs_f64(self.number("delay"));
        // Drop-tail with limit_ 50 drops when 49 wait.
        pipe.limit = Some(self.number("limit") as usize - 1);
        // TCP/Linux reads the time of the simulation, the others their clock.
        let boot = if self.get("agent").starts_with("Linux/") {
            0.0
        } else {
            self.number("boot")
        };
        let start = Time::ZERO + Duration::from_secs_f64(1.0 + boot);
        pipe.now = start;
        pipe.packets_seen = Some(Vec::new());
        pipe.connect();
        let packets = self.number("packets") as u64;
        pipe.write(if packets > 0 { packets } else { 1 << 20 });
        let end = start + Duration::from_secs_f64(self.number("duration"));
        let mut lines = Vec::new();
        let mut before = (1.0, pipe.ssthresh());
        let owns_syn = self.get("agent").starts_with("Linux/");
        loop {
            let now = pipe.now;
            let sent = std::mem::take(pipe.packets_seen.as_mut().unwrap());
            // The window of a connection that is not open is not ours to tell.
            let after = if owns_syn || pipe.ends[0].is_open() {
                (pipe.cwnd(), pipe.ssthresh())
            } else {
                before
            };
            if !sent.is_empty() || before != after {
                let numbers: Vec<String> = sent.iter().map(segment).collect();
                let text = if numbers.is_empty() {
                    "-".to_owned()
                } else {
                    numbers.join(",")
                };
                lines.push((now.since(start).as_secs(), text, after.0, after.1));
            }
            before = after;
            if !pipe.step(end) {
                return lines;
            }
        }
    }
}

/// The number of a packet as ns-2 counts: the SYN is 0.
fn segment(packet: &Packet) -> String {
    if packet.has(flags::SYN) {
        return "0".to_owned();
    }
    (packet.sequence / u64::from(MSS) + 1).to_string()
}

/// The first difference, if there is one.
fn difference(trace: &Trace) -> Option<String> {
    let mut trace = trace.clone();
    let mut ours = trace.ours();
    // TCP/Linux reports as cwnd what its rate halving allows, and changes of
    // that between two packets.
    let halves_rate = trace.get("agent").starts_with("Linux/");
    if halves_rate {
        trace.lines.retain(|line| line.1 != "-");
        ours.retain(|line| line.1 != "-");
    }
    for (i, theirs) in trace.lines.iter().enumerate() {
        let same = ours.get(i).is_some_and(|o| {
            (o.0 - theirs.0).abs() < 5e-5
                && o.1 == theirs.1
                && (o.1.split(',').next() == Some("0")
                    || (((o.2 - theirs.2).abs() < 6e-4 || halves_rate) && o.3.floor() == theirs.3))
        });
        if !same {
            let mut text = String::new();
            for line in &trace.lines[i.saturating_sub(6)..i] {
                let _ = writeln!(text, "         {line:?}");
            }
            let rest = |lines: &[(f64, String, f64, f64)]| {
                lines
                    .iter()
                    .skip(i)
                    .take(4)
                    .fold(String::new(), |mut t, l| {
                        let _ = writeln!(t, "         {l:?}");
                        t
                    })
            };
            let _ = write!(text, "ns-2:\n{}ours:\n{}", rest(&trace.lines), rest(&ours));
            return Some(text);
        }
    }
    (ours.len() != trace.lines.len())
        .then(|| format!("{} more lines", ours.len() - trace.lines.len()))
}

#[test]
fn every_trace() {
    let folder = std::env::var("NS2_TRACES").unwrap_or_else(|_| {
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/endpoint/ns2")
            .display()
            .to_string()
    });
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|f| f.unwrap().path())
        .filter(|p| p.extension().is_some_and(|e| e == "trace"))
        .collect();
    files.sort();
    assert!(!files.is_empty());
    let mut failures = Vec::new();
    for file in &files {
        let trace = Trace::read(&std::fs::read_to_string(file).unwrap());
        if let Some(text) = difference(&trace) {
            failures.push(format!("{}:\n{text}", file.display()));
        }
    }
    assert!(
        failures.is_empty(),
        "{} of {} differ:\n{}",
        failures.len(),
        files.len(),
        failures.join("\n")
    );
}
