//! Hosts of the RFCs: transports of the catalogue, refined to what a host has
//! today, had once, or could have.

use super::candidate::{Availability, Candidate, DEFAULT, IDEAL};
use super::linux::STOCK_WINDOW;
use super::path::NetworkPath;
use super::setting::Setting;
use crate::own::OwnControl;
use bentpipe_cc::Parameters;
use bentpipe_tcp::{Pacing, Transport, TransportSettings, find_transport, transports};
use bentpipe_units::{Bytes, Duration};

/// The transports of the catalogue that are of the past.
const PAST: [(&str, &str); 4] = [
    ("tahoe", "slow start after every loss (Jacobson 1988)"),
    (
        "reno",
        "fast recovery that ends with the first new ACK (RFC 2581)",
    ),
    ("newreno", "NewReno without SACK, IW 10 (RFC 6582)"),
    ("fack", "forward acknowledgement (Mathis & Mahdavi 1996)"),
];

/// Those of the papers on satellite links that need no settings.
const PROPOSED: [(&str, &str); 4] = [
    (
        "westwood",
        "cuts to the estimated bandwidth (Mascolo et al. 2001)",
    ),
    (
        "westwood+",
        "Westwood with a sample per RTT (Grieco & Mascolo 2004)",
    ),
    (
        "e-tcpw",
        "Westwood, SACK, Hoe's estimate (Caini & Firrincieli 2006)",
    ),
    (
        "hybla",
        "Hybla, paced, Hoe's estimate (Caini & Firrincieli 2006)",
    ),
];

/// `settings` with these parameters of the congestion control.
fn with(settings: &TransportSettings, parameters: Parameters) -> TransportSettings {
    TransportSettings {
        parameters,
        ..settings.clone()
    }
}

/// A transport of the catalogue, refined. The names asked for here exist: a
/// test builds them all.
fn refined(base: &str, name: &str, refine: TransportSettings) -> Transport {
    let below = find_transport(base).map_or_else(TransportSettings::default, |t| t.settings());
    refine.over(below).resolve(name)
}

/// Settings that only open or close the window.
fn window(bytes: Bytes) -> TransportSettings {
    TransportSettings {
        send_buffer: Some(Bytes::MAX),
        receive_buffer: Some(bytes),
        ..TransportSettings::default()
    }
}

/// Growth as Linux counts it: per segment acknowledged, not per ACK.
fn counts_segments(congestion_control: &str) -> Parameters {
    match congestion_control {
        "cubic" => Parameters::new().with("count", "segments"),
        // Linux has no limit L; no ACK covers this many segments.
        _ => Parameters::new()
            .with("growth", "per-segment")
            .with("byte_counting", 1e6),
    }
}

/// A congestion control as Linux has it.
fn as_in_linux(base: &str, name: &str, refine: TransportSettings) -> Transport {
    let settings = TransportSettings {
        parameters: counts_segments(base),
        ..refine
    };
    refined(base, name, settings)
}

/// Builds the list for one path.
struct Lineup {
    /// Receive window that does not bind on this path.
    open: Bytes,
    /// Commands that open the window where stock Linux' does not suffice.
    buffers: Vec<String>,
    /// One bandwidth-delay product, segments.
    bdp: u32,
    rtt: Duration,
    list: Vec<Candidate>,
}

/// Everything that has a name, in the order of the family tree: the entries of
/// this file, then whatever else the catalogue of transports holds.
pub(super) fn all(path: &NetworkPath) -> Vec<Candidate> {
    let mut lineup = usual(path);
    lineup.rest();
    lineup.list
}

/// The entries of this file.
pub(super) fn of_note(path: &NetworkPath) -> Vec<Candidate> {
    usual(path).list
}

fn usual(path: &NetworkPath) -> Lineup {
    let needed = Bytes::new(path.bdp().get().saturating_add(path.standing_bytes().get()));
    let (open, buffers) = if needed <= STOCK_WINDOW {
        (STOCK_WINDOW, Vec::new())
    } else {
        let bytes = needed.get().saturating_mul(2);
        let room = bytes.saturating_mul(2);
        let buffers = vec![
            format!("sysctl -w net.ipv4.tcp_rmem=\"4096 131072 {room}\"   # on the receiver"),
            format!("sysctl -w net.ipv4.tcp_wmem=\"4096 16384 {room}\"    # on the sender"),
        ];
        (Bytes::new(bytes), buffers)
    };
    let mut lineup = Lineup {
        open,
        buffers,
        bdp: path.bdp_segments(),
        rtt: path.rtt,
        list: Vec::new(),
    };
    lineup.past();
    lineup.in_linux();
    lineup.proposals();
    lineup
}

/// Commands that put the transport's congestion control into the kernel and
/// choose it; none for what bentpipe has no kernel control for.
fn into_the_kernel(transport: &Transport) -> Vec<String> {
    let control = transport.name.replace('+', "p").replace('-', "");
    let name = format!("bp_{}", control.trim_start_matches("bp_"));
    let Some(control) = bentpipe_bpf::find(&name) else {
        return Vec::new();
    };
    let window = transport.initial_window;
    let set = if (window - LINUX_WINDOW).abs() < 0.5 {
        String::new()
    } else {
        format!(" --set initial_window={window}")
    };
    vec![
        format!("bentpipe kernel load {}{set}", control.name),
        format!("sysctl -w net.ipv4.tcp_congestion_control={}", control.name),
    ]
}

/// Initial window of Linux, segments.
const LINUX_WINDOW: f64 = 10.0;

/// What a Linux host does unless told otherwise.
fn default_transport() -> Transport {
    as_in_linux(DEFAULT, DEFAULT, window(STOCK_WINDOW))
}

/// A candidate with a congestion control of the program.
pub(super) fn own(name: String, own: OwnControl) -> Candidate {
    Candidate {
        about: "a congestion control of this program".to_owned(),
        availability: Availability::Absent,
        transport: refined("sack", &name, TransportSettings::default()),
        setting: Setting::of(&name),
        name,
        own: Some(own),
        base: None,
        room: None,
        clamp: None,
        preset: Vec::new(),
    }
}

/// That candidate with windows that do not bind on `path`.
pub(super) fn over(candidate: Candidate, path: &NetworkPath) -> Candidate {
    let open = window(usual(path).open);
    Candidate {
        transport: refined("sack", &candidate.name, open),
        ..candidate
    }
}

impl Lineup {
    fn add(
        &mut self,
        availability: Availability,
        about: &str,
        switch: &[String],
        transport: Transport,
    ) {
        let mut switch = switch.to_vec();
        if matches!(availability, Availability::Module | Availability::Setting)
            && transport.receive_buffer == self.open
        {
            switch.extend(self.buffers.iter().cloned());
        }
        if availability == Availability::Absent && switch.is_empty() {
            switch = into_the_kernel(&transport);
        }
        self.list.push(Candidate {
            name: transport.name.clone(),
            setting: Setting::of(&transport.name),
            about: about.to_owned(),
            availability,
            transport,
            own: None,
            room: None,
            clamp: None,
            base: None,
            preset: switch,
        });
    }

    fn past(&mut self) {
        let old = TransportSettings {
            initial_window: Some(3.0),
            timestamps: Some(false),
            limited_transmit: Some(false),
            undo: Some(false),
            ..window(Bytes::new(65_535))
        };
        let about = "as shipped in 2000: NewReno, IW 3, window 64 kB, no SACK";
        let old = refined("newreno", "as-of-2000", old);
        self.add(Availability::Reference, about, &[], old);
        for (name, about) in PAST {
            let transport = refined(name, name, window(self.open));
            self.add(Availability::Reference, about, &[], transport);
        }
    }

    fn in_linux(&mut self) {
        use Availability::{Default, Module, Setting};
        let open = window(self.open);
        let iw32 = TransportSettings {
            initial_window: Some(32.0),
            ..open.clone()
        };
        let reno = linux("reno", None);
        let sack = as_in_linux("sack", "sack", open.clone());
        self.add(Module, "Reno with SACK, IW 10; in Linux: reno", &reno, sack);
        let switch = [&reno[..], &[initial_window(32)]].concat();
        let sack = as_in_linux("sack", "sack-iw32", iw32.clone());
        self.add(Module, "Reno with SACK, IW 32", &switch, sack);
        let about = "CUBIC, SACK, IW 10: what Linux does by itself";
        self.add(Default, about, &[], default_transport());
        if self.open != STOCK_WINDOW {
            let cubic = as_in_linux(DEFAULT, "cubic-buffers", open.clone());
            self.add(Setting, "CUBIC with buffers for this link", &[], cubic);
        }
        let about = "CUBIC, window clamped to one bandwidth-delay product";
        let switch = format!(
            "ip route change default via GATEWAY cwnd lock {}   # on the sender",
            self.bdp
        );
        let mut clamped = as_in_linux(DEFAULT, "cubic-1bdp", open.clone());
        clamped.receive_buffer = self.one_bdp(&clamped);
        self.add(Setting, about, &[switch], clamped);
        let cubic = as_in_linux(DEFAULT, "cubic-iw32", iw32);
        self.add(Setting, "CUBIC, IW 32", &[initial_window(32)], cubic);
        let parameters = counts_segments("westwood+")
            .with("filter", "linux")
            .with("cut", "linux");
        let about = "Westwood+ as in Linux, where it is called westwood";
        let westwood = refined("westwood+", "westwood-linux", with(&open, parameters));
        let switch = linux("westwood", Some("tcp_westwood"));
        self.add(Module, about, &switch, westwood);
        let switch = linux("bbr", Some("tcp_bbr"));
        let bbr = refined("bbr", "bbr", open.clone());
        self.add(Module, "BBR version 1, paced", &switch, bbr);
        let parameters = Parameters::new()
            .with("hoe", "off")
            .with("gate", "off")
            .with("count", "acks")
            .with("start_window", "rho")
            .with("doubling_limit", false);
        let hybla = TransportSettings {
            pacing: Some(Pacing::Off),
            ..with(&open, parameters)
        };
        let about = "Hybla as in Linux: no bandwidth estimate, no pacing";
        let switch = linux("hybla", Some("tcp_hybla"));
        let hybla = refined("hybla", "hybla-linux", hybla);
        self.add(Module, about, &switch, hybla);
    }

    fn proposals(&mut self) {
        let open = window(self.open);
        for (name, about) in PROPOSED {
            self.propose(about, refined(name, name, open.clone()));
        }
        let unpaced = TransportSettings {
            pacing: Some(Pacing::Off),
            ..open.clone()
        };
        let unpaced = refined("hybla", "hybla-unpaced", unpaced);
        self.propose("Hybla without packet spacing", unpaced);
        // What a connection before this one would have saved.
        let saved = Parameters::new()
            .with("saved_cwnd", f64::from(self.bdp))
            .with("saved_rtt", self.rtt);
        let about = "CUBIC that jumps to half of what this path carries (RFC 9959)";
        let resumed = refined("careful-resume", "careful-resume", with(&open, saved));
        self.propose(about, resumed);
        let about = "multi-threshold slow start 20-30-40, IW 6 (Marchese 2006)";
        self.propose(about, refined("mtsi", "mtsi", open.clone()));
        let mut clamped = refined("mtsi", "mtsi-1bdp", open.clone());
        clamped.receive_buffer = self.one_bdp(&clamped);
        self.propose("MTSI, window of one bandwidth-delay product", clamped);
        let published = refined("mtsi", "mtsi-320k", TransportSettings::default());
        self.propose("MTSI with the published buffers of 320 KiB", published);
        for k in [2.0, 4.0] {
            let about = format!("{k} segments per ACK in slow start, IW 6 (Marchese 2006)");
            let settings = with(&open, Parameters::new().with("k", k));
            self.propose(&about, refined("const", &format!("const-{k}"), settings));
        }
        for threshold in [20.0, 50.0] {
            let about = format!("slow start with linear F up to {threshold}, IW 6 (Marchese 2006)");
            let settings = with(&open, Parameters::new().with("threshold", threshold));
            let name = format!("linear-{threshold}");
            self.propose(&about, refined("linear", &name, settings));
        }
    }

    /// Adds what is not in stock Linux.
    fn propose(&mut self, about: &str, transport: Transport) {
        self.add(Availability::Absent, about, &[], transport);
    }

    /// What has a name and is not among these yet.
    fn rest(&mut self) {
        for named in transports() {
            // Those that take a number are there with the numbers of the papers.
            let apart =
                [IDEAL, "fixed-window", "const", "linear", "open-loop"].contains(&named.name);
            if apart || self.list.iter().any(|c| c.name == named.name) {
                continue;
            }
            let (availability, switch) = match named.name.strip_suffix("-linux") {
                Some(module) => (
                    Availability::Module,
                    linux(module, Some(&format!("tcp_{module}"))),
                ),
                None => (Availability::Absent, Vec::new()),
            };
            let transport = refined(named.name, named.name, window(self.open));
            // They need routers that no link has, or a knowledge of the link that
            // no host has: shown with them, not recommended.
            let knows = ["complete-knowledge", "satpep", "open-loop"].contains(&named.name);
            let availability = if knows || transport.is_explicit() {
                Availability::Reference
            } else {
                availability
            };
            self.add(availability, named.summary, &switch, transport);
        }
    }

    fn one_bdp(&self, transport: &Transport) -> Bytes {
        Bytes::new(u64::from(self.bdp) * u64::from(transport.mss))
    }
}

/// How a congestion control that comes with Linux is chosen.
fn linux(name: &str, module: Option<&str>) -> Vec<String> {
    let load = module.map_or_else(String::new, |m| format!("modprobe {m} && "));
    vec![
        format!("{load}sysctl -w net.ipv4.tcp_congestion_control={name}   # whole host"),
        format!(
            "setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, \"{name}\", {})   // one connection",
            name.len()
        ),
    ]
}

fn initial_window(segments: u32) -> String {
    format!("ip route change default via GATEWAY initcwnd {segments}   # on the sender")
}
