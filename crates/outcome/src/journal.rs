//! An append-only record of finished runs, so that a killed study resumes where it stopped.
//!
//! The file starts with a magic line and is followed by frames: the length of the content (32 bits,
//! little-endian), the CRC-32 of length and content, and the content. The first frame holds the
//! header, each other the length of a key (32 bits), the key and the value as JSON, compressed if
//! it is long. A truncated frame or one with a wrong checksum ends the journal: opening the file
//! truncates it there. Its content does not depend on the time of day.

mod buffer;
mod frame;
mod keeper;
mod reader;

pub use buffer::JournalBuffer;
pub use reader::JournalReader;

use crate::whole_file::sync_folder;
use frame::{Frames, Packer, Preamble, preamble};
use keeper::Keeper;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Records after which the file is brought to the disk, unless told otherwise.
const BATCH: u32 = 64;

/// Why a journal could not be opened or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// The journal belongs to something else: another scenario, seed or version.
    /// [`Journal::restart`] starts from scratch.
    #[error("{}: the journal is of `{found}`, not of `{expected}`", path.display())]
    Header {
        /// Path of the file.
        path: PathBuf,
        /// The header that was asked for.
        expected: String,
        /// The header in the file.
        found: String,
    },
    /// The file is no journal, or its header is damaged. It is left alone.
    #[error("{}: not a journal of this version", path.display())]
    NotAJournal {
        /// Path of the file.
        path: PathBuf,
    },
    /// Another process writes it.
    #[error("{}: the journal is in use by another process", path.display())]
    InUse {
        /// Path of the file.
        path: PathBuf,
    },
    /// The value cannot be written as JSON.
    #[error("{}: the record `{key}` cannot be written: {source}", path.display())]
    Encode {
        /// Path of the file.
        path: PathBuf,
        /// Key of the record.
        key: String,
        /// Why.
        source: serde_json::Error,
    },
    /// The value is not what the caller expects.
    #[error("the record `{key}` cannot be read: {source}")]
    Decode {
        /// Key of the record.
        key: String,
        /// Why.
        source: serde_json::Error,
    },
    /// The record has 4 GiB or more.
    #[error("{}: the record `{key}` is too long", path.display())]
    TooLong {
        /// Path of the file.
        path: PathBuf,
        /// Key of the record.
        key: String,
    },
    /// The file system said no.
    #[error("{}: cannot {action}: {source}", path.display())]
    Io {
        /// Path of the file.
        path: PathBuf,
        /// The operation that failed.
        action: &'static str,
        /// Error of the system.
        source: io::Error,
    },
}

/// A record of a journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Identifies the record, such as a run's hash.
    pub key: String,
    /// The value as JSON.
    pub value: String,
}

impl Record {
    /// The value as what was [appended](Journal::append).
    ///
    /// # Errors
    /// If it is of another type.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, JournalError> {
        serde_json::from_str(&self.value).map_err(|source| JournalError::Decode {
            key: self.key.clone(),
            source,
        })
    }
}

/// Where a journal has a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Bytes of the file before its content.
    pub offset: u64,
    /// Bytes of its content.
    pub length: u32,
}

/// Called for each record of a journal, oldest first.
pub type Visit<'a> = dyn FnMut(&Record, Place) + 'a;

/// An append-only file of records.
///
/// Each record goes to the system at once, so that a killed process loses
/// nothing, and to the disk every 64 records
/// ([`set_batch`](Journal::set_batch)) or on [`sync`](Journal::sync), so that
/// a machine that loses power loses no more than a batch. With
/// [`keep_synced`](Journal::keep_synced) it loses no more than what was appended in
/// the last moments, however long it takes to fill a batch. One process at a time
/// may hold it.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
    /// Length of what is known to be good.
    length: u64,
    cut: u64,
    batch: u32,
    unsynced: u32,
    frame: Vec<u8>,
    packer: Packer,
    keeper: Option<Keeper>,
}

impl Journal {
    /// Opens the journal at `path`, or begins it if there is none, and returns the records that it
    /// holds, oldest first. A key that was appended twice occurs twice; the later one counts.
    /// `header` identifies what the records belong to: hashes and versions.
    ///
    /// # Errors
    /// [`JournalError::Header`] if the journal has another header,
    /// [`JournalError::NotAJournal`] if the file is something else (neither
    /// changes the file), [`JournalError::InUse`] if another process holds it,
    /// [`JournalError::Io`] if it cannot be read or written.
    pub fn open(path: &Path, header: &str) -> Result<(Journal, Vec<Record>), JournalError> {
        let mut records = Vec::new();
        let journal = Journal::open_with(path, header, &mut |record, _| {
            records.push(record.clone());
        })?;
        Ok((journal, records))
    }

    /// As [`open`](Journal::open), but passes the records to `visit`, one at a
    /// time: memory does not grow with the journal.
    ///
    /// # Errors
    /// As [`open`](Journal::open).
    pub fn open_with(
        path: &Path,
        header: &str,
        visit: &mut Visit<'_>,
    ) -> Result<Journal, JournalError> {
        let mut journal = Journal::lock(path)?;
        let size = journal
            .file
            .metadata()
            .map_err(io_error(path, "read"))?
            .len();
        let mut reader = Frames::new(BufReader::new(&journal.file), size);
        let preamble = preamble(header, path)?;
        match reader.preamble().map_err(io_error(path, "read"))? {
            Preamble::Header(found) if found == header.as_bytes() => {
                let good = reader.records(visit).map_err(io_error(path, "read"))?;
                let packer = reader.into_packer();
                journal.packer = packer;
                journal.cut_to(good, size)?;
            }
            Preamble::Header(found) => {
                return Err(JournalError::Header {
                    path: path.to_path_buf(),
                    expected: header.to_owned(),
                    found: String::from_utf8_lossy(&found).into_owned(),
                });
            }
            // New, or killed while it began: there is nothing in it yet.
            Preamble::Torn(start) if preamble.starts_with(&start) => {
                journal.begin(&preamble)?;
            }
            Preamble::Torn(_) | Preamble::Foreign => {
                return Err(JournalError::NotAJournal {
                    path: path.to_path_buf(),
                });
            }
        }
        Ok(journal)
    }

    /// Restarts the journal and discards its content, whatever the file was.
    ///
    /// # Errors
    /// [`JournalError::InUse`] if another process holds it,
    /// [`JournalError::Io`] if it cannot be written.
    pub fn restart(path: &Path, header: &str) -> Result<Journal, JournalError> {
        let mut journal = Journal::lock(path)?;
        let preamble = preamble(header, path)?;
        journal.begin(&preamble)?;
        Ok(journal)
    }

    fn lock(path: &Path) -> Result<Journal, JournalError> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(io_error(path, "open"))?;
        // A process that has just been killed, or a child between fork and
        // exec, may hold the lock for some milliseconds more.
        const TRIES: u32 = 50;
        for tries in 1.. {
            match file.try_lock() {
                // Some file systems have no locks; that is no reason to stop.
                Ok(()) | Err(TryLockError::Error(_)) => break,
                Err(TryLockError::WouldBlock) if tries < TRIES => {
                    std::thread::sleep(std::time::Duration::from_millis(20));
                }
                Err(TryLockError::WouldBlock) => {
                    return Err(JournalError::InUse {
                        path: path.to_path_buf(),
                    });
                }
            }
        }
        Ok(Journal {
            path: path.to_path_buf(),
            file,
            length: 0,
            cut: 0,
            batch: BATCH,
            unsynced: 0,
            frame: Vec::new(),
            packer: Packer::default(),
            keeper: None,
        })
    }

    fn begin(&mut self, preamble: &[u8]) -> Result<(), JournalError> {
        self.file
            .set_len(0)
            .map_err(io_error(&self.path, "empty"))?;
        self.file
            .seek(SeekFrom::Start(0))
            .map_err(io_error(&self.path, "write"))?;
        self.file
            .write_all(preamble)
            .map_err(io_error(&self.path, "write"))?;
        self.length = preamble.len() as u64;
        self.sync()?;
        sync_folder(&self.path).map_err(io_error(&self.path, "sync the folder of"))
    }

    fn cut_to(&mut self, good: u64, size: u64) -> Result<(), JournalError> {
        if good < size {
            self.file
                .set_len(good)
                .map_err(io_error(&self.path, "cut"))?;
            self.file.sync_all().map_err(io_error(&self.path, "sync"))?;
        }
        self.file
            .seek(SeekFrom::Start(good))
            .map_err(io_error(&self.path, "read"))?;
        self.length = good;
        self.cut = size - good;
        Ok(())
    }

    /// Appends a record, and returns where it is.
    ///
    /// # Errors
    /// If the value has no JSON form or the disk is full or fails; then the
    /// journal holds what it held before.
    pub fn append<T: Serialize + ?Sized>(
        &mut self,
        key: &str,
        value: &T,
    ) -> Result<Place, JournalError> {
        let value = serde_json::to_vec(value).map_err(|source| JournalError::Encode {
            path: self.path.clone(),
            key: key.to_owned(),
            source,
        })?;
        self.append_json(key, &value)
    }

    /// Appends a record whose value is JSON already.
    ///
    /// # Errors
    /// As [`append`](Journal::append).
    pub fn append_json(&mut self, key: &str, value: &[u8]) -> Result<Place, JournalError> {
        let too_long = || JournalError::TooLong {
            path: self.path.clone(),
            key: key.to_owned(),
        };
        let mut frame = std::mem::take(&mut self.frame);
        let packed = self.packer.pack(key, value, &mut frame);
        packed.ok_or_else(too_long)?;
        // Also after a failed append: data beyond the length is not ours.
        let written = self
            .file
            .seek(SeekFrom::Start(self.length))
            .and_then(|_| self.file.write_all(&frame));
        if let Err(source) = written {
            let _ = self.file.set_len(self.length);
            return Err(io_error(&self.path, "write")(source));
        }
        self.packer.packed(value);
        let place = frame::place(self.length, &frame);
        self.length += frame.len() as u64;
        self.frame = frame;
        self.unsynced += 1;
        if let Some(keeper) = &self.keeper {
            let failed = keeper.wrote(self.length);
            failed.map_err(io_error(&self.path, "sync"))?;
        }
        if self.unsynced >= self.batch {
            self.sync()?;
        }
        Ok(place)
    }

    /// Brings all records to the disk.
    ///
    /// # Errors
    /// If the disk fails.
    pub fn sync(&mut self) -> Result<(), JournalError> {
        self.file
            .sync_data()
            .map_err(io_error(&self.path, "sync"))?;
        self.unsynced = 0;
        if let Some(keeper) = &self.keeper {
            keeper.synced(self.length);
        }
        Ok(())
    }

    /// Has a thread bring what is appended from now on to the disk: what was appended
    /// is there after about `pause` and the time that the disk takes. A disk that fails is
    /// the error of the next append or sync.
    ///
    /// # Errors
    /// If the system gives no second handle of the file, or no thread.
    pub fn keep_synced(&mut self, pause: std::time::Duration) -> Result<(), JournalError> {
        if self.keeper.is_none() {
            let keeper = Keeper::new(&self.file, self.length, pause);
            self.keeper = Some(keeper.map_err(io_error(&self.path, "sync"))?);
        }
        Ok(())
    }

    /// Bytes of the file that are known to be on the disk, where it is
    /// [kept](Journal::keep_synced) there.
    #[must_use]
    pub fn kept(&self) -> Option<u64> {
        self.keeper.as_ref().map(Keeper::on_disk)
    }

    /// Brings the file to the disk after so many records from now on; 1 is
    /// after each.
    pub fn set_batch(&mut self, records: u32) {
        self.batch = records.max(1);
    }

    /// Bytes of a torn or damaged tail that were cut off when the journal was
    /// opened.
    #[must_use]
    pub fn cut(&self) -> u64 {
        self.cut
    }

    /// Path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Access by their places to the records that were there when the journal was
    /// opened.
    ///
    /// # Errors
    /// If the file cannot be opened again.
    pub fn reader(&self) -> Result<JournalReader, JournalError> {
        JournalReader::of(&self.path, self.packer.clone())
    }

    /// Ends writing and gives access to the records by their places.
    ///
    /// # Errors
    /// If the file cannot be synced or opened again.
    pub fn into_reader(mut self) -> Result<JournalReader, JournalError> {
        self.sync()?;
        let packer = std::mem::take(&mut self.packer);
        JournalReader::of(&self.path, packer)
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        // Its handle holds the lock of the file as well.
        self.keeper = None;
        if self.unsynced > 0 {
            let _ = self.sync();
        }
    }
}

fn io_error(path: &Path, action: &'static str) -> impl FnOnce(io::Error) -> JournalError {
    let path = path.to_path_buf();
    move |source| JournalError::Io {
        path,
        action,
        source,
    }
}

#[cfg(test)]
#[path = "journal_tests.rs"]
mod tests;
