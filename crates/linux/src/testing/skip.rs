//! Whether live tests can run here.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// True if namespaces and TUN devices can be made here; says so in a line if
/// not.
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

/// Says on stderr (and not to the test harness, which hides it) what `test`
/// needs.
pub(crate) fn skip(test: &str, wants: &str) {
    let _ = writeln!(std::io::stderr(), "skipped: {test} needs {wants}");
}
