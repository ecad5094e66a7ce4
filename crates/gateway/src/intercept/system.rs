//! The programs `nft` and `ip`, and what the kernel says about its network.

use std::io::{self, Write as _};
use std::net::IpAddr;
use std::process::{Command, Stdio};

/// Where programs for the network are, if they are not in the search path, as in
/// that of a user.
const FOLDERS: [&str; 3] = ["/usr/sbin", "/sbin", "/usr/local/sbin"];

/// Why the rules cannot be made or removed. Each message gives the remedy.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A program is not installed.
    #[error("`{program}` is not installed: install the package {package}")]
    NoProgram {
        /// Name of the program.
        program: &'static str,
        /// The Debian package that has it.
        package: &'static str,
    },
    /// The process may not change the network.
    #[error(
        "interception needs CAP_NET_ADMIN: run as root, or through the systemd unit, which grants it"
    )]
    NotPermitted,
    /// The kernel lacks TPROXY or one of its companions.
    #[error(
        "this kernel has no {what} for nftables: load the modules nft_tproxy, nft_socket and \
         nft_fib_inet, or use a kernel that has them; without them, SOCKS and CONNECT work"
    )]
    NoKernel {
        /// The missing feature.
        what: &'static str,
    },
    /// A program failed otherwise.
    #[error("`{program}` failed: {said}")]
    Failed {
        /// The program with its arguments.
        program: String,
        /// Standard error of the program.
        said: String,
    },
    /// The record of what was made cannot be kept or read.
    #[error("{path}: {error}")]
    Record {
        /// The file or folder.
        path: std::path::PathBuf,
        /// Error of the system.
        error: io::Error,
    },
}

/// Runs `nft -f -` with this script, all or nothing.
pub(super) fn nft(script: &str) -> Result<(), Error> {
    run("nft", "nftables", &["-f", "-"], script).map(drop)
}

/// Checks this script against the kernel without applying it.
pub(super) fn nft_check(script: &str) -> Result<(), Error> {
    run("nft", "nftables", &["--check", "-f", "-"], script).map(drop)
}

/// The JSON that `nft` prints for these arguments.
pub(super) fn nft_json(arguments: &[&str]) -> Result<serde_json::Value, Error> {
    let arguments = [&["--json"], arguments].concat();
    let text = run("nft", "nftables", &arguments, "")?;
    serde_json::from_str(&text).map_err(|error| Error::Failed {
        program: format!("nft {}", arguments.join(" ")),
        said: error.to_string(),
    })
}

/// Runs `ip` with these arguments.
pub(super) fn ip(arguments: &[&str]) -> Result<String, Error> {
    run("ip", "iproute2", arguments, "")
}

/// Runs a program with this input. Returns what it prints.
fn run(
    program: &'static str,
    package: &'static str,
    arguments: &[&str],
    input: &str,
) -> Result<String, Error> {
    let missing = || Error::NoProgram { program, package };
    let failed = |said: &str| failure(program, arguments, said);
    let path = find(program).ok_or_else(missing)?;
    let mut child = Command::new(path)
        .args(arguments)
        // Messages are looked at below.
        .env("LC_ALL", "C")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| failed(&error.to_string()))?;
    if let Some(mut stdin) = child.stdin.take() {
        // A program that ends before it has read all says why by itself.
        let _ = stdin.write_all(input.as_bytes());
    }
    let ended = child
        .wait_with_output()
        .map_err(|error| failed(&error.to_string()))?;
    if ended.status.success() {
        return Ok(String::from_utf8_lossy(&ended.stdout).into_owned());
    }
    Err(failed(&String::from_utf8_lossy(&ended.stderr)))
}

/// The error that the message of a program indicates.
fn failure(program: &str, arguments: &[&str], said: &str) -> Error {
    if said.contains("Operation not permitted") || said.contains("you must be root") {
        return Error::NotPermitted;
    }
    // nft points at the statement which the kernel does not have.
    let lacks = said.contains("No such file or directory") || said.contains("not supported");
    let rule = said
        .lines()
        .find(|line| line.contains("meta") || line.contains("tcp"));
    if lacks && program == "nft" {
        for (word, what) in [
            ("tproxy", "TPROXY"),
            ("socket", "socket match"),
            ("fib", "fib match"),
        ] {
            if rule.is_some_and(|rule| rule.contains(word)) {
                return Error::NoKernel { what };
            }
        }
    }
    let lines: Vec<&str> = said.lines().take(4).map(str::trim).collect();
    Error::Failed {
        program: format!("{program} {}", arguments.join(" ")),
        said: lines.join("; "),
    }
}

fn find(program: &str) -> Option<std::path::PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(FOLDERS.map(Into::into));
    folders
        .map(|folder| folder.join(program))
        .find(|file| file.is_file())
}

/// True if this machine, or this network namespace, has IPv6.
pub(super) fn has_ipv6() -> bool {
    let has_addresses = std::fs::read_to_string("/proc/thread-self/net/if_inet6");
    has_addresses.is_ok_and(|text| !text.is_empty())
}

/// The interface through which packets to `address` leave.
pub(super) fn interface_to(address: IpAddr) -> Option<String> {
    let text = ip(&["-o", "route", "get", &address.to_string()]).ok()?;
    let mut words = text.split_whitespace().skip_while(|word| *word != "dev");
    words.nth(1).map(str::to_owned)
}

/// An identity of the network namespace that this process is in.
pub(super) fn namespace() -> Option<String> {
    let link = std::fs::read_link("/proc/thread-self/ns/net").ok()?;
    Some(link.to_string_lossy().into_owned())
}
