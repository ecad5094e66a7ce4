//! Whether live tests can run here.

pub(crate) use bentpipe_testing::skip;
use std::path::Path;
use std::process::{Command, Stdio};

/// True if namespaces and TUN devices can be made here; otherwise prints a line.
pub(crate) fn may(test: &str) -> bool {
    let ip = || {
        let asked = Command::new("ip").arg("-V").stdout(Stdio::null()).status();
        asked.is_ok_and(|status| status.success())
    };
    let wants = if !rustix::process::geteuid().is_root() {
        "root"
    } else if !Path::new("/dev/net/tun").exists() {
        "/dev/net/tun"
    } else if !ip() {
        "`ip` of iproute2"
    } else {
        return true;
    };
    skip(test, wants);
    false
}
