//! Errors of loading congestion controls into the kernel: the finding, and the remedy.

use super::name::LONGEST_NAME;
use super::status::Holder;
use std::path::PathBuf;

/// How many lines of the verifier's log a message shows: its verdict is at the
/// end.
const LINES_SHOWN: usize = 24;

/// Why a congestion control could not be loaded, found or removed.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KernelError {
    /// The crate was built without the feature `kernel`.
    #[error(
        "this build has no kernel congestion controls\n  \
         build it with `make`, or with `cargo build --release --features kernel` (needs clang, \
         libelf and zlib)"
    )]
    NotBuilt,
    /// Not root, and not the capabilities.
    #[error(
        "kernel congestion controls need root (missing here: {missing})\n  run the command with \
         sudo"
    )]
    NotPermitted {
        /// The capabilities that this process has not.
        missing: String,
    },
    /// The kernel has no type information.
    #[error(
        "this kernel has no BTF (/sys/kernel/btf/vmlinux is missing), by which congestion \
         controls find their way in its structures\n  use a kernel with CONFIG_DEBUG_INFO_BTF=y: \
         those of Debian 13, Ubuntu 24.04, Fedora 39 and their successors have it"
    )]
    NoBtf,
    /// Too old a kernel.
    #[error(
        "Linux {found} is too old for kernel congestion controls\n  use 6.4 or newer, the first \
         whose controls go away with their loader"
    )]
    OldKernel {
        /// The release that runs.
        found: String,
    },
    /// The kernel is new enough, and was built without it.
    #[error(
        "this kernel cannot take congestion controls from user space: {missing}\n  use a kernel \
         with CONFIG_BPF_SYSCALL, CONFIG_BPF_JIT and CONFIG_DEBUG_INFO_BTF"
    )]
    Unsupported {
        /// The missing item.
        missing: String,
    },
    /// The JIT compiler is off.
    #[error(
        "the kernel's BPF compiler is off, and congestion controls need it\n  turn it on with \
         `sysctl net.core.bpf_jit_enable=1`"
    )]
    JitOff,
    /// Not a name for a congestion control.
    #[error(
        "`{name}` cannot be the name of a kernel congestion control: {reason}\n  such as \
         `bp_hybla_2`, up to {LONGEST_NAME} characters"
    )]
    BadName {
        /// Name of the control.
        name: String,
        /// Description of the error.
        reason: String,
    },
    /// The name is taken.
    #[error("{}", taken(name, holder.as_ref()))]
    Taken {
        /// Name of the control.
        name: String,
        /// Who holds it, if it is one of ours.
        holder: Option<Holder>,
    },
    /// The verifier does not let a program in.
    #[error("{}", rejected(program, log))]
    Rejected {
        /// The program, as its source calls it.
        program: String,
        /// The verifier's own words, all of them.
        log: String,
    },
    /// An object that is not what the loader expects.
    #[error("`{object}` is not an object of a congestion control: {reason}")]
    BadObject {
        /// File name of the object.
        object: String,
        /// Description of the defect.
        reason: String,
    },
    /// Nothing of ours has that name.
    #[error(
        "no congestion control of bentpipe is loaded as `{name}`{}",
        loaded(names)
    )]
    NotLoaded {
        /// Name of the control.
        name: String,
        /// Names of the loaded controls.
        names: Vec<String>,
    },
    /// It lives in a process, which alone can let it go.
    #[error(
        "`{name}` belongs to the process {pid} ({command}) and goes away with it\n  end that \
         process to unload it"
    )]
    Held {
        /// Name of the control.
        name: String,
        /// Number of the process.
        pid: u32,
        /// Command line of the process that holds it.
        command: String,
    },
    /// New sockets get it unless they choose.
    #[error(
        "`{name}` is the default of new sockets here, and would stay so\n  choose another first: \
         `sysctl net.ipv4.tcp_congestion_control={other}`"
    )]
    Default {
        /// Name of the control.
        name: String,
        /// One of Linux's own that could take its place.
        other: String,
    },
    /// It is not ours to remove.
    #[error(
        "`{name}` is kept by something that cannot be seen from here: a process in another \
         container, or a pin that bentpipe has not made\n  look for it with `bpftool link`"
    )]
    Elsewhere {
        /// Name of the control.
        name: String,
    },
    /// The file system that keeps congestion controls loaded.
    #[error("cannot {doing} {}: {reason}", path.display())]
    Pin {
        /// `mount`, `create`, `pin to`, `remove`.
        doing: &'static str,
        /// Path in the BPF file system.
        path: PathBuf,
        /// Message of the system.
        reason: String,
    },
    /// Anything else that the kernel or libbpf refuses.
    #[error("cannot {doing}: {reason}{}", after(log))]
    System {
        /// The operation that failed.
        doing: String,
        /// Message of the system.
        reason: String,
        /// Message of libbpf; may be empty.
        log: String,
    },
}

fn taken(name: &str, holder: Option<&Holder>) -> String {
    match holder {
        Some(Holder::Pin { .. }) => format!(
            "`{name}` is loaded already\n  `bentpipe kernel unload {name}` removes it; \
             `--as OTHER_NAME` loads another one beside it"
        ),
        Some(Holder::Process { pid, command }) => format!(
            "`{name}` is loaded already, by the process {pid} ({command})\n  load another one \
             beside it with `--as OTHER_NAME`"
        ),
        Some(Holder::Elsewhere) => format!(
            "`{name}` is loaded already, by something that cannot be seen from here\n  load \
             another one beside it with `--as OTHER_NAME`"
        ),
        Some(Holder::Nobody) | None => format!(
            "the kernel has a congestion control `{name}` already, and bentpipe did not load \
             it\n  choose another name with `--as OTHER_NAME`"
        ),
    }
}

fn rejected(program: &str, log: &str) -> String {
    let lines: Vec<&str> = log.lines().collect();
    let from = lines.len().saturating_sub(LINES_SHOWN);
    let mut text = format!("the kernel's verifier rejects the program `{program}`; it says:");
    if from > 0 {
        text.push_str(&format!("\n  | ({from} lines before)"));
    }
    for line in &lines[from..] {
        text.push_str("\n  | ");
        text.push_str(line);
    }
    text
}

fn loaded(names: &[String]) -> String {
    if names.is_empty() {
        "\n  none is loaded".to_owned()
    } else {
        format!("\n  loaded: {}", names.join(", "))
    }
}

fn after(log: &str) -> String {
    log.lines().map(|line| format!("\n  | {line}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rejection_shows_the_end_of_the_verifiers_log() {
        let log: String = (1..=30).map(|i| format!("line {i}\n")).collect();
        let text = KernelError::Rejected {
            program: "hybla_init".to_owned(),
            log,
        }
        .to_string();
        assert!(text.starts_with("the kernel's verifier rejects the program `hybla_init`"));
        assert!(text.contains("(6 lines before)"), "{text}");
        assert!(!text.contains("| line 6\n") && text.contains("| line 7\n"));
        assert!(text.ends_with("| line 30"));
    }

    #[test]
    fn a_taken_name_says_by_whom() {
        let taken = |holder| {
            KernelError::Taken {
                name: "bp_a".to_owned(),
                holder,
            }
            .to_string()
        };
        assert!(taken(None).contains("bentpipe did not load it"));
        let process = Holder::Process {
            pid: 7,
            command: "bentpipe".to_owned(),
        };
        assert!(taken(Some(process)).contains("process 7 (bentpipe)"));
        let pin = Holder::Pin {
            path: "/sys/fs/bpf/bentpipe/bp_a".into(),
        };
        assert!(taken(Some(pin)).contains("bentpipe kernel unload bp_a"));
    }
}
