//! `bentpipe doctor`: what this machine can do. Looks, changes nothing, never
//! fails.

use crate::args;
use crate::exit::{Failure, Status};
use crate::output::Output;
use bentpipe_report::table::{Cell, Column, Table, Tone};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

/// One thing that was looked for.
struct Finding {
    name: &'static str,
    /// `None` where it does not matter.
    there: bool,
    /// What was found.
    found: String,
    /// What it enables.
    enables: &'static str,
}

/// Looks and says.
pub(crate) fn main(args: &args::Doctor, out: &mut Output) -> Result<Status, Failure> {
    let findings = look();
    if args.json {
        let list: Vec<Value> = findings
            .iter()
            .map(|f| {
                json!({
                    "name": f.name, "there": f.there, "found": f.found, "enables": f.enables,
                })
            })
            .collect();
        out.json(&json!({ "version": env!("CARGO_PKG_VERSION"), "findings": list }))?;
        return Ok(Status::Done);
    }
    let mut table = Table::new([
        Column::text("what"),
        Column::text(""),
        Column::text("found"),
        Column::text("enables"),
    ]);
    for f in &findings {
        let (word, tone) = if f.there {
            ("yes", Tone::Good)
        } else {
            ("no", Tone::Warn)
        };
        table.row([
            Cell::new(f.name),
            Cell::new(word).tone(tone),
            Cell::new(f.found.clone()),
            Cell::new(f.enables).tone(Tone::Faint),
        ]);
    }
    out.table(&table)?;
    out.line("")?;
    out.paragraph(
        0,
        "Simulating needs none of these. Emulation on real Linux and kernel congestion controls \
         are planned: what they will need is listed so that you can see early whether this \
         machine has it.",
    )?;
    Ok(Status::Done)
}

fn look() -> Vec<Finding> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut findings = vec![
        Finding {
            name: "cores",
            there: true,
            found: cores.to_string(),
            enables: "that many runs at the same time",
        },
        kernel(),
        root(),
        Finding {
            name: "BTF",
            there: Path::new("/sys/kernel/btf/vmlinux").exists(),
            found: "/sys/kernel/btf/vmlinux".to_owned(),
            enables: "kernel congestion controls through eBPF (planned)",
        },
        Finding {
            name: "TUN",
            there: Path::new("/dev/net/tun").exists(),
            found: "/dev/net/tun".to_owned(),
            enables: "emulating a link for real TCP (planned)",
        },
        controls(),
        module(
            "qdisc netem",
            "sch_netem",
            "delays and losses by tc, to check an emulation against",
        ),
        module(
            "qdisc fq",
            "sch_fq",
            "packet spacing by the kernel for other programs",
        ),
    ];
    for (name, enables) in [
        ("ip", "network namespaces for emulation (planned)"),
        ("tc", "looking at and changing qdiscs"),
        ("tshark", "reading captures of `bentpipe run --pcap`"),
        ("iperf3", "traffic of real TCP to compare with"),
        ("ns", "holding ns-2 results against ours"),
        ("clang", "building kernel congestion controls (planned)"),
    ] {
        let found = in_path(name);
        findings.push(Finding {
            name,
            there: found.is_some(),
            found: found.map_or_else(|| "not in PATH".to_owned(), |p| p.display().to_string()),
            enables,
        });
    }
    findings
}

/// A file of the kernel, trimmed.
fn read(path: &str) -> Option<String> {
    fs::read_to_string(path)
        .ok()
        .map(|text| text.trim().to_owned())
}

fn kernel() -> Finding {
    let release = read("/proc/sys/kernel/osrelease");
    Finding {
        name: "Linux",
        there: release.is_some(),
        found: release.unwrap_or_else(|| std::env::consts::OS.to_owned()),
        enables: "everything but the simulator, from 6.4 on (planned)",
    }
}

fn root() -> Finding {
    // The second field of `Uid:` is the effective user.
    let status = read("/proc/self/status").unwrap_or_default();
    let uid = status.lines().find_map(|line| {
        line.strip_prefix("Uid:")?
            .split_whitespace()
            .nth(1)?
            .parse::<u32>()
            .ok()
    });
    Finding {
        name: "root",
        there: uid == Some(0),
        found: uid.map_or_else(|| "unknown".to_owned(), |uid| format!("user {uid}")),
        enables: "namespaces, TUN devices and eBPF (planned)",
    }
}

fn controls() -> Finding {
    let available = read("/proc/sys/net/ipv4/tcp_available_congestion_control");
    let current = read("/proc/sys/net/ipv4/tcp_congestion_control");
    Finding {
        name: "TCP controls",
        there: available.is_some(),
        found: match (available, current) {
            (Some(all), Some(now)) => format!("{all} (in use: {now})"),
            (Some(all), None) => all,
            _ => "unknown".to_owned(),
        },
        enables: "what `sysctl net.ipv4.tcp_congestion_control` takes now",
    }
}

/// A kernel module that is loaded, built in or ready to load.
fn module(name: &'static str, module: &str, enables: &'static str) -> Finding {
    let loaded = Path::new("/sys/module").join(module).exists();
    let listed = || {
        let folder = PathBuf::from("/lib/modules").join(read("/proc/sys/kernel/osrelease")?);
        let has = |list: &str| {
            fs::read_to_string(folder.join(list))
                .is_ok_and(|text| text.contains(&format!("/{module}.ko")))
        };
        Some(if has("modules.builtin") {
            (true, "built in")
        } else if has("modules.dep") {
            (true, "can be loaded")
        } else if folder.join("modules.dep").exists() {
            (false, "no such module here")
        } else {
            (false, "cannot tell: no list of modules here")
        })
    };
    let state = if loaded {
        Some((true, "loaded"))
    } else {
        listed()
    };
    let (there, found) = state.unwrap_or((false, "cannot tell"));
    Finding {
        name,
        there,
        found: found.to_owned(),
        enables,
    }
}

/// The program of that name that a shell would run.
fn in_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|dir| dir.join(name))
        .find(|file| is_executable(file))
}

#[cfg(unix)]
fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(file).is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(file: &Path) -> bool {
    file.is_file()
}
