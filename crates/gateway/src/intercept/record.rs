//! The record of the objects that a gateway has made in the kernel, to clean up after a kill.

use super::system::Error;
use serde::{Deserialize, Serialize};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// The objects made. They are recorded before they are made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    /// Table of nftables, family inet.
    pub(super) table: String,
    /// Mark of the routing rule, and number of the routing table.
    pub(super) mark: u32,
    /// The network namespace that it was made in.
    pub(super) namespace: Option<String>,
}

impl Record {
    /// The file of the record. Gateways of one name may run in several network
    /// namespaces, so its name has the number of the namespace.
    pub(super) fn path(&self, folder: &Path) -> PathBuf {
        let table = &self.table;
        // As the kernel writes it: `net:[4026531840]`.
        let digits = |name: &String| {
            name.chars()
                .filter(char::is_ascii_digit)
                .collect::<String>()
        };
        folder.join(match self.namespace.as_ref().map(digits) {
            Some(number) => format!("{table}.{number}.rules.json"),
            None => format!("{table}.rules.json"),
        })
    }

    /// Writes it: whole, or not at all.
    pub(super) fn write(&self, folder: &Path) -> Result<(), Error> {
        let path = self.path(folder);
        let wrong = |error| Error::Record {
            path: path.clone(),
            error,
        };
        fs::create_dir_all(folder).map_err(wrong)?;
        let text = serde_json::to_string_pretty(self).map_err(|error| wrong(error.into()))?;
        let new = path.with_extension("new");
        let written = || -> io::Result<()> {
            // Never follow a symbolic link that another user may have put there.
            drop(fs::remove_file(&new));
            let mut file = OpenOptions::new().write(true).create_new(true).open(&new)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            fs::rename(&new, &path)?;
            File::open(folder)?.sync_all()
        };
        written().map_err(wrong)
    }

    /// The records in a folder, each with its file. What is no record is skipped.
    pub(super) fn all(folder: &Path) -> Result<Vec<(PathBuf, Record)>, Error> {
        let wrong = |error| Error::Record {
            path: folder.into(),
            error,
        };
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(wrong(error)),
        };
        let mut found = Vec::new();
        for entry in entries {
            let path = entry.map_err(wrong)?.path();
            if path.to_string_lossy().ends_with(".rules.json")
                && let Some(record) = Record::read(&path)
            {
                found.push((path, record));
            }
        }
        found.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(found)
    }

    /// The record in a file; `None` where it is none. Its words become arguments
    /// of programs, so they are checked.
    pub(super) fn read(path: &Path) -> Option<Record> {
        let text = fs::read_to_string(path).ok()?;
        let record: Record = serde_json::from_str(&text).ok()?;
        let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
        let good = record.table.starts_with("bentpipe_") && record.table.bytes().all(plain);
        good.then_some(record)
    }
}
