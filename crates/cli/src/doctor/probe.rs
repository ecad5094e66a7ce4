//! The facts: kernel, permissions, devices, programs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const BUILDING: &str = "building kernel congestion controls";

/// One thing that was looked for.
pub(super) struct Finding {
    pub(super) name: &'static str,
    /// `None` where that cannot be told.
    pub(super) there: Option<bool>,
    /// What was found.
    pub(super) found: String,
    /// What it enables.
    pub(super) enables: &'static str,
}

/// Looks for everything.
pub(super) fn look() -> Vec<Finding> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut findings = vec![
        Finding {
            name: "cores",
            there: Some(true),
            found: cores.to_string(),
            enables: "that many runs at the same time",
        },
        kernel(),
        root(),
        Finding {
            name: "BTF",
            there: Some(Path::new("/sys/kernel/btf/vmlinux").exists()),
            found: "/sys/kernel/btf/vmlinux".to_owned(),
            enables: "kernel congestion controls through eBPF",
        },
        Finding {
            name: "TUN",
            there: Some(Path::new("/dev/net/tun").exists()),
            found: "/dev/net/tun".to_owned(),
            enables: "emulating a link for real TCP",
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
        (
            "ip",
            "addresses and routes in the namespaces of an emulation",
        ),
        ("tc", "looking at and changing qdiscs"),
        ("tshark", "reading captures of `bentpipe run --pcap`"),
        (
            "iperf3",
            "traffic of real TCP, through the emulator or to another host",
        ),
        ("curl", "downloads through the emulator"),
        ("ss", "looking at the windows of sockets"),
        ("ns", "holding ns-2 results against ours"),
        ("clang", BUILDING),
        ("llvm-strip", BUILDING),
    ] {
        let found = in_path(name);
        findings.push(Finding {
            name,
            there: Some(found.is_some()),
            found: found.map_or_else(|| "not in PATH".to_owned(), |p| p.display().to_string()),
            enables,
        });
    }
    findings.push(library("libelf", "libelf-dev", BUILDING));
    findings.push(library("zlib", "zlib1g-dev", BUILDING));
    findings
}

/// A file of the kernel, trimmed.
pub(super) fn read(path: &str) -> Option<String> {
    fs::read_to_string(path)
        .ok()
        .map(|text| text.trim().to_owned())
}

fn kernel() -> Finding {
    let release = read("/proc/sys/kernel/osrelease");
    Finding {
        name: "Linux",
        there: Some(release.is_some()),
        found: release.unwrap_or_else(|| std::env::consts::OS.to_owned()),
        enables: "everything but the simulator; kernel controls from 6.4 on",
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
        there: uid.map(|uid| uid == 0),
        found: uid.map_or_else(|| "cannot tell".to_owned(), |uid| format!("user {uid}")),
        enables: "namespaces, TUN devices and eBPF",
    }
}

fn controls() -> Finding {
    let available = read("/proc/sys/net/ipv4/tcp_available_congestion_control");
    let current = read("/proc/sys/net/ipv4/tcp_congestion_control");
    Finding {
        name: "TCP controls",
        there: available.as_ref().map(|_| true),
        found: match (available, current) {
            (Some(all), Some(now)) => format!("{}; in use: {now}", in_short(&all)),
            (Some(all), None) => in_short(&all),
            _ => "cannot tell".to_owned(),
        },
        enables: "what `sysctl net.ipv4.tcp_congestion_control` takes now",
    }
}

/// Names of controls; running test beds have many copies of ours.
fn in_short(all: &str) -> String {
    let (ours, others): (Vec<&str>, Vec<&str>) = all
        .split_whitespace()
        .partition(|name| name.starts_with("bp_"));
    match ours.len() {
        0..=3 => [others, ours].concat().join(" "),
        n => format!("{} and {n} of bentpipe", others.join(" ")),
    }
}

/// A library, as a build would find it.
fn library(name: &'static str, package: &str, enables: &'static str) -> Finding {
    let version = in_path("pkg-config").map(|tool| {
        let asked = Command::new(tool).args(["--modversion", name]).output();
        let asked = asked.ok().filter(|answer| answer.status.success());
        asked.map(|answer| String::from_utf8_lossy(&answer.stdout).trim().to_owned())
    });
    let (there, found) = match version {
        Some(Some(version)) => (Some(true), version),
        Some(None) => (
            Some(false),
            format!("pkg-config finds none; Debian: {package}"),
        ),
        None => (None, "cannot tell: no pkg-config in PATH".to_owned()),
    };
    Finding {
        name,
        there,
        found,
        enables,
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
            (Some(true), "built in")
        } else if has("modules.dep") {
            (Some(true), "can be loaded")
        } else if folder.join("modules.dep").exists() {
            (Some(false), "no such module here")
        } else {
            (None, "cannot tell: no list of modules here")
        })
    };
    let state = if loaded {
        Some((Some(true), "loaded"))
    } else {
        listed()
    };
    let (there, found) = state.unwrap_or((None, "cannot tell"));
    Finding {
        name,
        there,
        found: found.to_owned(),
        enables,
    }
}

/// The program of that name that a shell would run.
pub(super) fn in_path(name: &str) -> Option<PathBuf> {
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

#[cfg(test)]
mod tests {
    use super::in_short;

    #[test]
    fn copies_of_test_beds_are_counted_and_not_listed() {
        assert_eq!(in_short("reno bp_hybla cubic"), "reno cubic bp_hybla");
        assert_eq!(
            in_short("reno cubic bp_1_1 bp_1_2 bp_1_3 bp_1_4"),
            "reno cubic and 4 of bentpipe"
        );
    }
}
