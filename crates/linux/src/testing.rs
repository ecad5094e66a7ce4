//! What the live tests share.

use std::time::{Duration, Instant};

/// True if namespaces and TUN devices can be made here; says so in a line if
/// not.
pub(crate) fn may(test: &str) -> bool {
    let root = rustix::process::geteuid().is_root();
    let tun = std::path::Path::new("/dev/net/tun").exists();
    if !root || !tun {
        let wants = if root { "/dev/net/tun" } else { "root" };
        #[allow(clippy::print_stderr, reason = "a skipped test says so")]
        {
            eprintln!("skipped: {test} needs {wants}");
        }
    }
    root && tun
}

/// A name for a namespace that no other process takes.
pub(crate) fn name(what: &str) -> String {
    format!("bp-test-{}-{what}", std::process::id())
}

/// Waits until `ready`, ten seconds at most.
pub(crate) fn wait(ready: impl Fn() -> bool) -> bool {
    let end = Instant::now() + Duration::from_secs(10);
    while !ready() {
        if Instant::now() > end {
            return false;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    true
}
