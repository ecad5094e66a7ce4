//! What this process has made that would outlive it, in a file that the next
//! start reads: `/run/bentpipe/PID`. Its first line is the time at which the
//! process started, so that a number that was used again is not taken for it.
//!
//! A sweeper takes a record of a dead process by giving it its own name,
//! `PID.by.SWEEPER.START.N`, so that two do not work on the same one. What it
//! cannot remove stays in `PID.START`, with the time at which the dead process
//! had started.

use super::{Identity, remove};
use crate::port;
use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

const FOLDER: &str = "/run/bentpipe";

/// Part of the name of a record that a sweeper has taken.
const TAKEN: &str = ".by.";

/// Something that a killed process leaves behind.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Leftover {
    /// A network namespace.
    Namespace {
        /// Name of the namespace.
        name: String,
        /// Which it is, since others may take the name.
        identity: Identity,
    },
    /// A feature of a network interface that was switched off.
    Feature {
        /// Name of the interface.
        interface: String,
        /// What `ethtool` calls the feature.
        feature: String,
        /// The network namespace of the interface.
        namespace: Identity,
    },
}

impl Leftover {
    fn line(&self) -> String {
        match self {
            Leftover::Namespace { name, identity } => format!("namespace {name} {identity}\n"),
            Leftover::Feature {
                interface,
                feature,
                namespace,
            } => format!("feature {interface} {feature} {namespace}\n"),
        }
    }

    fn read(line: &str) -> Option<Leftover> {
        let words: Vec<&str> = line.split_whitespace().collect();
        match *words.as_slice() {
            ["namespace", name, identity] => Some(Leftover::Namespace {
                name: name.to_owned(),
                identity: Identity::read(identity)?,
            }),
            ["feature", interface, feature, namespace] => Some(Leftover::Feature {
                interface: interface.to_owned(),
                feature: feature.to_owned(),
                namespace: Identity::read(namespace)?,
            }),
            _ => None,
        }
    }

    /// Removes it, and says if it was there.
    fn clear(&self) -> io::Result<bool> {
        match self {
            Leftover::Namespace { name, identity } => remove(name, *identity),
            Leftover::Feature {
                interface,
                feature,
                namespace,
            } => {
                if Identity::of_this_thread()? != *namespace {
                    let why = "the interface is in another network namespace";
                    return Err(io::Error::other(why));
                }
                port::switch_on(interface, feature)
            }
        }
    }
}

impl fmt::Display for Leftover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Leftover::Namespace { name, .. } => write!(f, "network namespace `{name}`"),
            Leftover::Feature {
                interface, feature, ..
            } => write!(f, "`{feature}` of interface `{interface}`, which was off"),
        }
    }
}

/// Existing objects; every change rewrites the file.
static MADE: Mutex<BTreeSet<Leftover>> = Mutex::new(BTreeSet::new());

/// Writes down what is about to be made.
pub(crate) fn note(what: &Leftover) -> io::Result<()> {
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    made.insert(what.clone());
    write(&made)
}

/// Removes `what` from the record, since it no longer exists.
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
    // Whole or absent.
    let draft = Path::new(FOLDER).join(format!("{pid}.new"));
    fs::write(&draft, text(start, made))?;
    fs::rename(draft, path)
}

fn text<'a>(start: u64, entries: impl IntoIterator<Item = &'a Leftover>) -> String {
    let mut text = format!("{start}\n");
    text.extend(entries.into_iter().map(Leftover::line));
    text
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

/// Removes what killed processes left behind, and returns what that was. What cannot be removed
/// remains for the next time.
pub fn sweep() -> Vec<Leftover> {
    let mut removed = Vec::new();
    for file in dead() {
        // Another process may have been faster, or only its owner may take it.
        if let Some(taken) = take(&file) {
            sweep_record(&taken, &mut removed);
        }
    }
    removed
}

/// Gives a record a name of this sweeper's.
fn take(file: &Path) -> Option<PathBuf> {
    static TAKINGS: AtomicU32 = AtomicU32::new(0);
    let name = file.file_name()?.to_str()?;
    let base = name.split_once(TAKEN).map_or(name, |(base, _)| base);
    let pid = std::process::id();
    let (start, number) = (started(pid)?, TAKINGS.fetch_add(1, Ordering::Relaxed));
    let taken = file.with_file_name(format!("{base}{TAKEN}{pid}.{start}.{number}"));
    fs::rename(file, &taken).ok()?;
    Some(taken)
}

/// Removes what a record that was taken names, and the record, or what of it
/// could not be removed stays.
fn sweep_record(taken: &Path, removed: &mut Vec<Leftover>) {
    let Ok(noted) = fs::read_to_string(taken) else {
        // It stays with this sweeper's name, until that has ended.
        return;
    };
    let start = noted.lines().next().and_then(|line| line.parse().ok());
    let mut failed = Vec::new();
    for what in noted.lines().skip(1).filter_map(Leftover::read) {
        match what.clear() {
            Ok(true) => removed.push(what),
            Ok(false) => {}
            Err(_) => failed.push(what),
        }
    }
    let pid = taken.file_name().and_then(|name| name.to_str());
    let pid = pid.and_then(|name| name.split('.').next());
    let (Some(start), Some(pid), false) = (start, pid, failed.is_empty()) else {
        let _ = fs::remove_file(taken);
        return;
    };
    // Not under the number alone, which may be another process's by now.
    let kept = taken.with_file_name(format!("{pid}.{start}"));
    if fs::write(taken, text(start, &failed)).is_ok() {
        let _ = fs::rename(taken, kept);
    }
}

/// The files of processes that are no more.
fn dead() -> Vec<PathBuf> {
    let Ok(files) = fs::read_dir(FOLDER) else {
        return Vec::new();
    };
    let paths = files.filter_map(|file| Some(file.ok()?.path()));
    paths
        .filter(|path| is_dead(path).unwrap_or(false))
        .collect()
}

/// True if the process of a record no longer exists; `None` if it is not ours.
fn is_dead(path: &Path) -> Option<bool> {
    let name = path.file_name()?.to_str()?;
    if let Some((_, sweeper)) = name.split_once(TAKEN) {
        let mut words = sweeper.split('.');
        let pid = words.next()?.parse().ok()?;
        let start = words.next()?.parse().ok()?;
        return Some(started(pid) != Some(start));
    }
    let pid = name.split('.').next()?.parse().ok()?;
    let noted = fs::read_to_string(path).unwrap_or_default();
    let noted = noted.lines().next().and_then(|line| line.parse().ok());
    Some(match noted {
        Some(noted) => started(pid) != Some(noted),
        None => started(pid).is_none(),
    })
}
