//! The process that runs a congestion control on trial: this program once more, told so
//! by [`FOLDER`].
//!
//! It leaves what the trial came to in a file, since the control may print to stdout. Before
//! each call of the control it notes the call in another file, which stays when the
//! process dies.

use super::battery::{Battery, Case, Tried};
use crate::exit::Failure;
use bentpipe_units::Time;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// The variable that names the folder of the trial.
pub(super) const FOLDER: &str = "BENTPIPE_TRIAL_FOLDER";
/// The variable that is set where the battery is the short one.
pub(super) const SHORT: &str = "BENTPIPE_TRIAL_SHORT";

const NOTE: &str = "call";
const REPORT: &str = "report.json";

/// Bytes of a note, which every note overwrites whole.
const NOTE_LENGTH: usize = 160;

/// What a trial came to that got to its end.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Report {
    /// The control cannot be loaded, or a download not be run.
    Refused { text: String, rendered: bool },
    /// It ran.
    Ran {
        name: String,
        summary: String,
        fingerprint: String,
        cases: Vec<Tried>,
    },
}

impl Report {
    /// What the process left; `None` if it did not get that far.
    pub(super) fn read(folder: &Path) -> Option<Report> {
        serde_json::from_slice(&fs::read(folder.join(REPORT)).ok()?).ok()
    }
}

/// The last call before the end of a process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Call {
    /// Counts the notes: a control that makes progress makes new ones.
    pub(super) count: u64,
    /// The case, from 0; `None` while the control is loaded.
    pub(super) case: Option<usize>,
    /// The name of the control and of the call, and the time of the simulation;
    /// `None` outside of the control.
    pub(super) made: Option<(String, String, Time)>,
}

impl Call {
    /// What was noted last.
    pub(super) fn read(folder: &Path) -> Call {
        let text = fs::read_to_string(folder.join(NOTE)).unwrap_or_default();
        Call::parse(&text).unwrap_or_default()
    }

    fn parse(text: &str) -> Option<Call> {
        let mut words = text.split_whitespace();
        let count = words.next()?.parse().ok()?;
        let case = words.next()?.parse().ok();
        let made = match (words.next(), words.next(), words.next()) {
            (Some(control), Some(call), Some(at)) => {
                let at = Time::from_nanos(at.parse().ok()?);
                Some((control.to_owned(), call.to_owned(), at))
            }
            _ => None,
        };
        Some(Call { count, case, made })
    }

    fn text(&self) -> String {
        let case = self.case.map_or("-".to_owned(), |case| case.to_string());
        let made = self
            .made
            .as_ref()
            .map_or(String::new(), |(name, call, at)| {
                format!("{name} {call} {}", at.as_nanos())
            });
        format!("{} {case} {made}", self.count)
    }
}

/// Overwrites the note.
struct Notes {
    file: File,
    count: AtomicU64,
    case: AtomicU64,
}

impl Notes {
    fn create(folder: &Path) -> io::Result<Notes> {
        Ok(Notes {
            file: File::create(folder.join(NOTE))?,
            count: AtomicU64::new(0),
            case: AtomicU64::new(u64::MAX),
        })
    }

    fn note(&self, made: Option<(String, String, Time)>) {
        let case = self.case.load(Ordering::Relaxed);
        let call = Call {
            count: self.count.fetch_add(1, Ordering::Relaxed),
            case: usize::try_from(case).ok().filter(|_| case != u64::MAX),
            made,
        };
        let text = format!("{:NOTE_LENGTH$}", call.text());
        // A note that cannot be written costs the place in the message, no more.
        let _ = write_first(&self.file, text.as_bytes());
    }
}

#[cfg(unix)]
fn write_first(file: &File, bytes: &[u8]) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, 0)
}

#[cfg(not(unix))]
fn write_first(mut file: &File, bytes: &[u8]) -> io::Result<()> {
    use std::io::{Seek as _, Write as _};
    file.seek(io::SeekFrom::Start(0))?;
    file.write_all(bytes)
}

/// Runs the trial and leaves the report in `folder`.
pub(super) fn main(file: &str, folder: &Path, battery: Battery) -> Result<(), Failure> {
    end_with_the_parent();
    let report = match run(file, folder, battery) {
        Ok(report) => report,
        Err(Failure::ClosedPipe) => return Ok(()),
        Err(Failure::Message(text)) => Report::Refused {
            text,
            rendered: false,
        },
        Err(Failure::Rendered(text)) => Report::Refused {
            text,
            rendered: true,
        },
    };
    let json = serde_json::to_vec(&report).map_err(|e| Failure::new(e.to_string()))?;
    let path = folder.join(REPORT);
    fs::write(&path, json).map_err(|e| Failure::file("write", &path, e))
}

/// A control in an endless loop would stay for ever when the parent is killed. The
/// parent's end of stdin closes with it.
fn end_with_the_parent() {
    std::thread::spawn(|| {
        let mut bytes = [0; 64];
        while matches!(io::stdin().read(&mut bytes), Ok(n) if n > 0) {}
        std::process::exit(3);
    });
}

fn run(file: &str, folder: &Path, battery: Battery) -> Result<Report, Failure> {
    let notes = Notes::create(folder).map_err(|e| Failure::file("write", folder, e))?;
    let notes: &'static Notes = Box::leak(Box::new(notes));
    notes.note(None);
    bentpipe_cc::own::watch(|control, call, now| {
        notes.note(Some((control.to_owned(), call.to_owned(), now)));
    });
    let controls = bentpipe::register_files(&[file])?;
    let control = controls
        .first()
        .ok_or_else(|| Failure::new("there is no congestion control"))?;
    let mut cases = Vec::new();
    for (i, case) in Battery::cases().enumerate() {
        notes.case.store(i as u64, Ordering::Relaxed);
        notes.note(None);
        cases.push(battery.run(&case, control.name())?);
    }
    Ok(Report::Ran {
        name: control.name().to_owned(),
        summary: control.described().summary.to_owned(),
        fingerprint: control.fingerprint().to_owned(),
        cases,
    })
}

/// The case of that number.
pub(super) fn case(number: usize) -> Option<Case> {
    Battery::cases().nth(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_reads_back_and_a_torn_one_is_none() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(Call::read(folder.path()), Call::default());
        let notes = Notes::create(folder.path()).unwrap();
        let made = |call: &str| {
            let at = Time::from_nanos(1_500_000_000);
            Some(("mine".to_owned(), call.to_owned(), at))
        };
        notes.note(made("on_recovery_exit"));
        notes.case.store(2, Ordering::Relaxed);
        notes.note(made("on_ack"));
        let read = Call::read(folder.path());
        assert_eq!((read.count, read.case), (1, Some(2)));
        assert_eq!(read.made, made("on_ack"));
        assert_eq!(Call::parse("x y"), None);
    }
}
