//! A congestion control on trial in a process of its own.
//!
//! C that divides by zero or follows a wild pointer ends the process that it is in, and
//! nothing stops a loop that never ends. In a process of its own that is a message.

use super::battery::Battery;
use super::child::{self, Call, Report};
use crate::exit::Failure;
use bentpipe_plugin::Tried;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use std::{env, fs, io, thread};

/// How long a call may take, unless told otherwise, seconds.
pub(crate) const PATIENCE: u32 = 20;
/// The same of loading, which includes the compiler's time.
const PATIENCE_AT_FIRST: u32 = 900;
/// Between two looks at the process.
const LOOK: Duration = Duration::from_millis(20);

/// How a control ended its process.
#[derive(Clone, Debug)]
pub(super) struct Crash {
    /// Signal, where one ended it; its name, where it has one.
    signal: Option<(i32, Option<&'static str>)>,
    call: Call,
    /// In words, from the name of the file on.
    pub(super) text: String,
}

impl Crash {
    pub(super) fn json(&self) -> Value {
        let made = self.call.made.as_ref();
        let case = self.call.case.and_then(child::case);
        json!({
            "message": self.text,
            "signal": self.signal.map(|(number, _)| number),
            "signal_name": self.signal.and_then(|(_, name)| name),
            "call": made.map(|(_, call, _)| call),
            "at_ns": made.map(|(_, _, at)| at.as_nanos()),
            "link": case.map(|case| case.link),
            "hosts": case.map(|case| case.hosts),
        })
    }
}

/// How a trial ended.
pub(super) enum Ended {
    Reported(Report),
    Crashed(Crash),
}

/// Tries the control in `file`, as `--cc` takes it. No call may take longer than
/// `patience` seconds.
pub(super) fn run(file: &str, battery: Battery, patience: u32) -> Result<Ended, Failure> {
    let folder = Folder::create().map_err(|e| Failure::new(format!("cannot try {file}: {e}")))?;
    let mut command = program();
    command.args(["cc", "check", "--", file]);
    command.env(child::FOLDER, &folder.0);
    if battery == Battery::Short {
        command.env(child::SHORT, "1");
    }
    // What the control prints is talk.
    command.stdin(Stdio::piped()).stdout(talk());
    let mut process = command
        .spawn()
        .map_err(|e| Failure::new(format!("cannot run the program itself to try {file}: {e}")))?;
    let ended = wait(&mut process, &folder.0, patience);
    let status = ended.map_err(|e| Failure::new(format!("cannot wait for the trial: {e}")))?;
    if status.is_some_and(|status| status.success())
        && let Some(report) = Report::read(&folder.0)
    {
        return Ok(Ended::Reported(report));
    }
    let call = Call::read(&folder.0);
    Ok(Ended::Crashed(crash(file, call, status, patience)))
}

/// Before the first use of a control in this process.
pub(crate) fn before_first_use(name: Option<&str>, path: &Path) -> Result<Tried, String> {
    // What is no text cannot be an argument; where nothing can be tried, nothing is
    // found, and what loads the control says why.
    let Some(path) = path.to_str() else {
        return Ok(Tried::NotYet);
    };
    let file = match name {
        Some(name) => format!("{name}={path}"),
        // Not to be taken for a name.
        None if path.contains('=') && !path.contains(['/', '\\']) => format!("./{path}"),
        None => path.to_owned(),
    };
    match run(&file, Battery::Short, PATIENCE) {
        Ok(Ended::Reported(Report::Ran { .. })) => Ok(Tried::Ran),
        Ok(Ended::Reported(Report::Refused { .. })) | Err(_) => Ok(Tried::NotYet),
        Ok(Ended::Crashed(crash)) => Err(format!(
            "{}. Try it again with `bentpipe cc check {path}`",
            crash.text
        )),
    }
}

/// This program: the file of it, or what Python says (`BENTPIPE_PROGRAM`, a list as JSON).
fn program() -> Command {
    let carried = env::var("BENTPIPE_PROGRAM").ok();
    let words: Option<Vec<String>> = carried.and_then(|text| serde_json::from_str(&text).ok());
    if let Some((program, arguments)) = words.as_deref().and_then(<[String]>::split_first) {
        let mut command = Command::new(program);
        command.args(arguments);
        return command;
    }
    Command::new(env::current_exe().unwrap_or_else(|_| "bentpipe".into()))
}

#[cfg(unix)]
fn talk() -> Stdio {
    Stdio::from(io::stderr())
}

#[cfg(not(unix))]
fn talk() -> Stdio {
    Stdio::null()
}

/// Waits for the end of the process; `None` if it made no progress and was killed.
fn wait(process: &mut Child, folder: &Path, patience: u32) -> io::Result<Option<ExitStatus>> {
    let (mut last, mut looks) = (Call::default(), 0);
    loop {
        if let Some(status) = process.try_wait()? {
            return Ok(Some(status));
        }
        thread::sleep(LOOK);
        let call = Call::read(folder);
        if call != last {
            (last, looks) = (call, 0);
            continue;
        }
        // Looks, not a clock: this process and the other may have been stopped together.
        looks += 1;
        let longest = if last.case.is_some() || last.made.is_some() {
            patience
        } else {
            PATIENCE_AT_FIRST
        };
        if Duration::from_secs(longest.into()) <= LOOK * looks {
            process.kill()?;
            process.wait()?;
            return Ok(None);
        }
    }
}

fn crash(file: &str, call: Call, status: Option<ExitStatus>, patience: u32) -> Crash {
    let signal = status.and_then(signal_of);
    let name = signal.and_then(|number| known(number).map(|(name, _)| name));
    let (how, advice) = match (status, signal) {
        (None, _) => (
            format!("had not returned after {patience} s"),
            "a loop that never ends",
        ),
        (Some(_), Some(number)) => {
            let named = name.map_or(String::new(), |name| format!(", {name}"));
            let advice = known(number).map_or("what raises that signal", |(_, advice)| advice);
            (format!("crashed (signal {number}{named})"), advice)
        }
        (Some(status), None) => (
            match status.code() {
                Some(code) => format!("ended the process with status {code:#x}"),
                None => "ended the process".to_owned(),
            },
            "a call of exit or abort, a division by zero, an address that is none",
        ),
    };
    let text = format!("{file} {how} {}: look for {advice}", place(file, &call));
    Crash {
        signal: signal.map(|number| (number, name)),
        call,
        text,
    }
}

/// Where a control was.
fn place(file: &str, call: &Call) -> String {
    let case = call.case.and_then(child::case);
    let during = case.map_or(String::new(), |case| {
        format!(
            "in the trial download over `{}` between hosts `{}`",
            case.link, case.hosts
        )
    });
    match &call.made {
        Some((_, made, at)) => {
            let hooks = if file.ends_with(".c") {
                hooks(made)
            } else {
                ""
            };
            let hooks = match hooks {
                "" => String::new(),
                hooks => format!(" (hooks {hooks})"),
            };
            format!("in `{made}`{hooks} at {:.3} s {during}", at.as_secs())
        }
        None if case.is_some() => format!("outside of its calls, {during}"),
        None => "while it was loaded".to_owned(),
    }
}

/// The hooks of a C file that a call makes.
fn hooks(call: &str) -> &'static str {
    match call {
        "on_established" => "`init`, `min_tso_segs`",
        "on_sample" => "`init`, `pkts_acked`, `in_ack_event`, `set_state`, `min_tso_segs`",
        "on_ack" => "`cong_avoid`, `min_tso_segs`",
        "on_control" => "`cong_control`, `min_tso_segs`",
        "on_loss" | "on_timeout" => "`ssthresh`, `set_state`, `cwnd_event`, `min_tso_segs`",
        "on_recovery_exit" => "`set_state`, `cwnd_event`, `min_tso_segs`",
        "on_spurious" => "`undo_cwnd`, `set_state`, `min_tso_segs`",
        "after_idle" | "on_transmission_start" | "on_restart" => "`cwnd_event`, `min_tso_segs`",
        _ => "",
    }
}

#[cfg(unix)]
fn signal_of(status: ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}

#[cfg(not(unix))]
fn signal_of(_: ExitStatus) -> Option<i32> {
    None
}

/// The name of a signal, and what to look for.
fn known(signal: i32) -> Option<(&'static str, &'static str)> {
    const POINTER: &str = "a pointer that is null or wild, an index beyond the end of an array, recursion without end";
    let bus = if cfg!(target_os = "linux") { 7 } else { 10 };
    Some(match signal {
        4 => (
            "SIGILL",
            "a trap, such as __builtin_trap or code that the compiler ruled out",
        ),
        5 => ("SIGTRAP", "a trap, such as __builtin_trap"),
        6 => (
            "SIGABRT",
            "a failed assert, abort, or recursion without end",
        ),
        8 => (
            "SIGFPE",
            "a division by zero, also of a remainder (check every divisor)",
        ),
        9 => (
            "SIGKILL",
            "memory that grows without end, unless somebody killed the process",
        ),
        11 => ("SIGSEGV", POINTER),
        number if number == bus => ("SIGBUS", POINTER),
        _ => return None,
    })
}

/// A folder of this trial alone, which goes with it.
struct Folder(PathBuf);

impl Folder {
    fn create() -> io::Result<Folder> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        loop {
            let n = COUNT.fetch_add(1, Ordering::Relaxed);
            let name = format!("bentpipe-trial-{}-{n}", std::process::id());
            let path = env::temp_dir().join(name);
            match fs::create_dir(&path) {
                Ok(()) => return Ok(Folder(path)),
                // Of a process of that number that was killed.
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists && n < 1000 => {}
                Err(e) => return Err(e),
            }
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
