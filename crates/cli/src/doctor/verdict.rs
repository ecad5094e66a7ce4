//! What would work here, and if not: why, and what to do.

use super::probe::{in_path, read};
use std::fs::OpenOptions;

/// Whether one part of bentpipe would work.
pub(super) struct Verdict {
    pub(super) what: &'static str,
    /// What one does with it.
    pub(super) means: &'static str,
    /// Why it would not.
    pub(super) missing: Vec<Missing>,
}

/// What is not there.
#[derive(Clone)]
pub(super) struct Missing {
    pub(super) what: String,
    pub(super) remedy: String,
}

impl Verdict {
    pub(super) fn works(&self) -> bool {
        self.missing.is_empty()
    }
}

impl Missing {
    fn new(what: impl Into<String>, remedy: impl Into<String>) -> Missing {
        Missing {
            what: what.into(),
            remedy: remedy.into(),
        }
    }
}

/// Judges every part.
pub(super) fn judge() -> Vec<Verdict> {
    let emulator = emulator();
    // The test bed runs on the emulator; `bp_` controls need the last part.
    let testbed = emulator.clone();
    vec![
        Verdict {
            what: "simulator",
            means: "compare, run, study, reproduce",
            missing: Vec::new(),
        },
        Verdict {
            what: "emulator",
            means: "emulate: a link for the traffic of this machine",
            missing: emulator,
        },
        Verdict {
            what: "test bed",
            means: "run --on linux: a scenario on real sockets",
            missing: testbed,
        },
        Verdict {
            what: "kernel controls",
            means: "kernel load: congestion controls for real sockets",
            missing: controls(),
        },
    ]
}

/// What the build must have for everything that needs Linux.
fn built() -> Option<Missing> {
    if !cfg!(target_os = "linux") {
        return Some(Missing::new(
            "this is not Linux",
            "run it on Linux, in a virtual machine for instance",
        ));
    }
    (!cfg!(feature = "linux")).then(|| {
        Missing::new(
            "not in this build",
            "build with `make`, or `cargo build --release --features kernel`",
        )
    })
}

fn emulator() -> Vec<Missing> {
    let mut missing: Vec<Missing> = built().into_iter().collect();
    if !cfg!(target_os = "linux") {
        return missing;
    }
    let lacks = lacking(&[("CAP_NET_ADMIN", 12), ("CAP_SYS_ADMIN", 21)]);
    if !lacks.is_empty() {
        missing.push(Missing::new(
            format!(
                "no permission for network namespaces ({})",
                lacks.join(", ")
            ),
            "run it with sudo",
        ));
    }
    let tun = OpenOptions::new()
        .read(true)
        .write(true)
        .open("/dev/net/tun");
    if let Err(why) = tun {
        missing.push(Missing::new(
            format!("/dev/net/tun cannot be opened ({why})"),
            "`modprobe tun`; in a container start it with `--device /dev/net/tun`",
        ));
    }
    missing.extend(needs("ip", "apt-get install iproute2"));
    missing
}

fn needs(program: &str, remedy: &str) -> Option<Missing> {
    in_path(program)
        .is_none()
        .then(|| Missing::new(format!("no `{program}` in PATH"), remedy))
}

/// The capabilities that this process lacks, of those given with their bits.
fn lacking(capabilities: &[(&'static str, u32)]) -> Vec<&'static str> {
    let status = read("/proc/self/status").unwrap_or_default();
    let effective = status
        .lines()
        .find_map(|line| line.strip_prefix("CapEff:"))
        .and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok())
        .unwrap_or(0);
    capabilities
        .iter()
        .filter(|(_, bit)| effective >> bit & 1 == 0)
        .map(|&(name, _)| name)
        .collect()
}

/// The loader knows best what it needs.
#[cfg(all(feature = "linux", target_os = "linux"))]
fn controls() -> Vec<Missing> {
    let available = bentpipe_linux::kernel::available();
    available
        .requirements
        .into_iter()
        .filter_map(|r| r.obstacle)
        .map(|why| {
            let text = why.to_string();
            let (what, remedy) = text.split_once("\n  ").unwrap_or((&text, "none"));
            Missing::new(what, remedy)
        })
        .collect()
}

#[cfg(not(all(feature = "linux", target_os = "linux")))]
fn controls() -> Vec<Missing> {
    built().into_iter().collect()
}
