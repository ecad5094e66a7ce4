//! Checks the requirements for loading a congestion control into the kernel, without changing
//! anything.

use super::KernelError;
use crate::release;
use std::fs;
use std::path::Path;

/// The kernel's own type information.
pub(super) const BTF: &str = "/sys/kernel/btf/vmlinux";

/// The structure that `struct_ops` of congestion controls are written into.
const OPS: &[u8] = b"\0bpf_struct_ops_tcp_congestion_ops\0";

/// The capabilities, with their numbers in `capabilities(7)`.
const CAPABILITIES: [(&str, u32); 3] =
    [("CAP_BPF", 39), ("CAP_PERFMON", 38), ("CAP_NET_ADMIN", 12)];

#[cfg(feature = "kernel")]
/// The one that looking at what is loaded takes.
const LOOKING: [(&str, u32); 1] = [("CAP_SYS_ADMIN", 21)];

/// One thing that is needed.
#[derive(Clone, Debug)]
pub struct Requirement {
    /// Name of the requirement.
    pub name: &'static str,
    /// Whether it is there.
    pub met: bool,
    /// What this machine has.
    pub found: String,
    /// Why it is missing and what to do, if it is missing.
    pub obstacle: Option<KernelError>,
}

/// Everything that is needed.
#[derive(Clone, Debug)]
pub struct Available {
    /// In the order in which one would see to them.
    pub requirements: Vec<Requirement>,
}

impl Available {
    /// The first requirement that is not met, as an error.
    ///
    /// # Errors
    ///
    /// What is missing, and what to do about it.
    pub fn ready(&self) -> Result<(), KernelError> {
        match self.requirements.iter().find_map(|r| r.obstacle.clone()) {
            Some(obstacle) => Err(obstacle),
            None => Ok(()),
        }
    }
}

/// Looks at this process, this kernel and this build.
#[must_use]
pub fn available() -> Available {
    Available {
        requirements: vec![built(), version(), btf(), operations(), jit(), permission()],
    }
}

fn requirement(
    name: &'static str,
    found: impl Into<String>,
    obstacle: Option<KernelError>,
) -> Requirement {
    Requirement {
        name,
        met: obstacle.is_none(),
        found: found.into(),
        obstacle,
    }
}

fn built() -> Requirement {
    if cfg!(feature = "kernel") {
        requirement("feature kernel", "in this build", None)
    } else {
        requirement(
            "feature kernel",
            "not in this build",
            Some(KernelError::NotBuilt),
        )
    }
}

/// 6.4 has links of struct_ops maps for TCP (6.3 and older leave what a killed
/// loader has registered).
fn version() -> Requirement {
    let release = release::of_this_machine();
    let old = !release::at_least(&release, (6, 4));
    let obstacle = old.then(|| KernelError::OldKernel {
        found: release.clone(),
    });
    requirement("Linux 6.4", release, obstacle)
}

fn btf() -> Requirement {
    if Path::new(BTF).exists() {
        requirement("BTF", BTF, None)
    } else {
        requirement("BTF", "none", Some(KernelError::NoBtf))
    }
}

/// Whether the BTF knows congestion controls written in BPF: their wrapping
/// structure is named there.
fn operations() -> Requirement {
    const NAME: &str = "struct_ops of TCP";
    let there = fs::read(BTF).is_ok_and(|btf| contains(&btf, OPS));
    if there {
        return requirement(NAME, "bpf_struct_ops_tcp_congestion_ops", None);
    }
    let missing = "its BTF has no struct_ops for tcp_congestion_ops".to_owned();
    requirement(
        NAME,
        "not in the BTF",
        Some(KernelError::Unsupported { missing }),
    )
}

/// The kernel calls struct_ops through compiled trampolines. A kernel that can
/// do nothing else (CONFIG_BPF_JIT_ALWAYS_ON) says 1, too.
fn jit() -> Requirement {
    match read("/proc/sys/net/core/bpf_jit_enable").as_str() {
        "0" => requirement("BPF compiler", "off", Some(KernelError::JitOff)),
        // Other network namespaces than the first do not have the file.
        "" => requirement("BPF compiler", "cannot be seen from this namespace", None),
        _ => requirement("BPF compiler", "on", None),
    }
}

fn permission() -> Requirement {
    let missing = missing_capabilities(&read("/proc/self/status"), &CAPABILITIES);
    if missing.is_empty() {
        requirement("permission", "root or its capabilities", None)
    } else {
        let missing = missing.join(", ");
        requirement(
            "permission",
            format!("without {missing}"),
            Some(KernelError::NotPermitted { missing }),
        )
    }
}

/// Permissions that this process lacks to list loaded controls.
#[cfg(feature = "kernel")]
pub(super) fn missing_to_look() -> Vec<&'static str> {
    missing_capabilities(&read("/proc/self/status"), &LOOKING)
}

/// The needed capabilities that a process with this `/proc/PID/status` lacks.
fn missing_capabilities(status: &str, needed: &[(&'static str, u32)]) -> Vec<&'static str> {
    let effective = status
        .lines()
        .find_map(|line| line.strip_prefix("CapEff:"))
        .and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok())
        .unwrap_or(0);
    needed
        .iter()
        .filter(|(_, bit)| effective >> bit & 1 == 0)
        .map(|&(name, _)| name)
        .collect()
}

fn contains(hay: &[u8], needle: &[u8]) -> bool {
    hay.windows(needle.len()).any(|window| window == needle)
}

/// A file of the kernel, trimmed; empty if there is none.
fn read(path: &str) -> String {
    fs::read_to_string(path)
        .map(|text| text.trim().to_owned())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capabilities_are_read_bit_by_bit() {
        assert!(
            missing_capabilities("Name:\tx\nCapEff:\t000001ffffffffff\n", &CAPABILITIES).is_empty()
        );
        assert_eq!(missing_capabilities("", &CAPABILITIES).len(), 3);
        // CAP_NET_ADMIN alone.
        assert_eq!(
            missing_capabilities("CapEff:\t0000000000001000\n", &CAPABILITIES),
            ["CAP_BPF", "CAP_PERFMON"]
        );
    }

    #[test]
    fn what_is_missing_is_an_error_with_a_remedy() {
        for requirement in available().requirements {
            assert_eq!(requirement.met, requirement.obstacle.is_none());
            assert!(!requirement.name.is_empty() && !requirement.found.is_empty());
        }
    }
}
