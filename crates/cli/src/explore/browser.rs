//! Opens the address in the user's browser, where there is a desktop.

use super::state::State;
use std::io::{self, IsTerminal as _};
use std::process::{Command, Stdio};

/// Opens `address`. False where nobody sits before this machine's screen.
///
/// Everybody on the machine can read the arguments of a process, so the browser is given a
/// file that leads to the address, which has the token in it, and that only the user can
/// read.
pub(crate) fn open(address: &str, state: Option<&State>) -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let is_remote = is_set("SSH_CONNECTION");
    let has_screen = cfg!(target_os = "macos") || is_set("DISPLAY") || is_set("WAYLAND_DISPLAY");
    if is_remote || !has_screen || !io::stderr().is_terminal() {
        return false;
    }
    let page = format!(
        "<!doctype html><meta charset=\"utf-8\"><title>bentpipe explorer</title>\
         <meta http-equiv=\"refresh\" content=\"0;url={address}\">"
    );
    let Some(Ok(file)) = state.map(|state| state.write("explore.html", &page)) else {
        return false;
    };
    let program = if cfg!(target_os = "macos") {
        "open"
    } else {
        "xdg-open"
    };
    let mut command = Command::new(program);
    command.arg(file);
    for set in [Command::stdin, Command::stdout, Command::stderr] {
        set(&mut command, Stdio::null());
    }
    let Ok(mut child) = command.spawn() else {
        return false;
    };
    // It ends at once, or with the browser: nothing waits for it.
    std::thread::spawn(move || child.wait());
    true
}
