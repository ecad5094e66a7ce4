//! What this process has made that would outlive it, in a file that the next
//! start reads: `/run/bentpipe/PID`. Its first line is the time at which the
//! process started, so that a number that was used again is not taken for it.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

const FOLDER: &str = "/run/bentpipe";

/// Something that a killed process leaves behind.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Leftover {
    /// A network namespace, by its name.
    Namespace(String),
    /// A feature of a network interface that was switched off, by the names of
    /// both.
    Feature(String, String),
}

impl Leftover {
    fn line(&self) -> String {
        match self {
            Leftover::Namespace(name) => format!("namespace {name}\n"),
            Leftover::Feature(interface, feature) => format!("feature {interface} {feature}\n"),
        }
    }

    fn read(line: &str) -> Option<Leftover> {
        let words: Vec<&str> = line.split_whitespace().collect();
        match *words.as_slice() {
            ["namespace", name] => Some(Leftover::Namespace(name.to_owned())),
            ["feature", interface, feature] => {
                Some(Leftover::Feature(interface.to_owned(), feature.to_owned()))
            }
            _ => None,
        }
    }
}

impl fmt::Display for Leftover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Leftover::Namespace(name) => write!(f, "network namespace `{name}`"),
            Leftover::Feature(interface, feature) => {
                write!(f, "`{feature}` of interface `{interface}`, which was off")
            }
        }
    }
}

/// What is there now; whoever changes it writes the file.
static MADE: Mutex<BTreeSet<Leftover>> = Mutex::new(BTreeSet::new());

/// Writes down what is about to be made.
pub(crate) fn note(what: &Leftover) -> io::Result<()> {
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    made.insert(what.clone());
    write(&made)
}

/// It is gone.
pub(crate) fn forget(what: &Leftover) {
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    made.remove(what);
    // A line too many is harmless: what it names is not there.
    let _ = write(&made);
}

fn write(made: &BTreeSet<Leftover>) -> io::Result<()> {
    let pid = std::process::id();
    let path = Path::new(FOLDER).join(pid.to_string());
    if made.is_empty() {
        return fs::remove_file(path);
    }
    fs::create_dir_all(FOLDER)?;
    let start = started(pid).ok_or_else(|| io::Error::from(ErrorKind::NotFound))?;
    let mut text = format!("{start}\n");
    text.extend(made.iter().map(Leftover::line));
    // Whole or absent.
    let draft = Path::new(FOLDER).join(format!("{pid}.new"));
    fs::write(&draft, text)?;
    fs::rename(draft, path)
}

/// When a process started, in ticks since the machine did; `None` if there is
/// none of that number.
fn started(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name, in parentheses, may hold anything.
    let after = &stat[stat.rfind(')')? + 1..];
    // The state of a zombie: it has left everything behind.
    let mut fields = after.split_whitespace();
    match fields.next()? {
        "Z" | "X" => None,
        // Field 22 of proc_pid_stat(5); the state is field 3.
        _ => fields.nth(18)?.parse().ok(),
    }
}

/// Removes what processes left behind that ended without removing it, and
/// says what that was. What cannot be removed stays for the next time.
pub fn sweep() -> Vec<Leftover> {
    let mut removed = Vec::new();
    for file in dead() {
        let text = fs::read_to_string(&file).unwrap_or_default();
        for what in text.lines().skip(1).filter_map(Leftover::read) {
            match &what {
                Leftover::Namespace(name) => super::remove(name),
                Leftover::Feature(interface, feature) => crate::port::switch_on(interface, feature),
            }
            removed.push(what);
        }
        let _ = fs::remove_file(file);
    }
    removed
}

/// The files of processes that are no more.
fn dead() -> Vec<PathBuf> {
    let Ok(files) = fs::read_dir(FOLDER) else {
        return Vec::new();
    };
    let paths = files.filter_map(|file| Some(file.ok()?.path()));
    paths
        .filter(|path| {
            let name = path.file_name().and_then(|name| name.to_str());
            let pid = name.and_then(|name| name.trim_end_matches(".new").parse::<u32>().ok());
            let noted = fs::read_to_string(path).unwrap_or_default();
            let noted = noted.lines().next().and_then(|line| line.parse().ok());
            match (pid, noted) {
                // Not by us.
                (None, _) => false,
                (Some(pid), Some(noted)) => started(pid) != Some(noted),
                (Some(pid), None) => started(pid).is_none(),
            }
        })
        .collect()
}
