//! An append-only record of finished runs, so that a study that was killed
//! goes on where it stopped.
//!
//! The file starts with a magic line and is followed by frames: the length of
//! the content (32 bits, little-endian), the CRC-32 of length and content, and
//! the content. The first frame holds the header, each other the length of a
//! key (32 bits), the key and the value as JSON. A frame that is cut short or
//! whose checksum is wrong ends the journal: it and what follows are cut off
//! when the file is opened. Nothing in it depends on the time of day.

use crate::whole_file::sync_folder;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

const MAGIC: &[u8] = b"bentpipe journal 1\n";

/// Length and checksum before the content of a frame.
const FRAME: u64 = 8;

/// Of a frame cut short no more than this is read: headers are short.
const SHORT: u64 = 1 << 16;

/// Records after which the file is brought to the disk, unless told otherwise.
const BATCH: u32 = 64;

/// Why a journal could not be opened or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// The journal belongs to something else: another scenario, seed or
    /// version. [`Journal::restart`] starts anew.
    #[error("{}: the journal is of `{found}`, not of `{expected}`", path.display())]
    Header {
        /// The file.
        path: PathBuf,
        /// The header that was asked for.
        expected: String,
        /// The header in the file.
        found: String,
    },
    /// The file is no journal, or its header is damaged. It is left alone.
    #[error("{}: not a journal of this version", path.display())]
    NotAJournal {
        /// The file.
        path: PathBuf,
    },
    /// Another process writes it.
    #[error("{}: the journal is in use by another process", path.display())]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// The value cannot be written as JSON.
    #[error("{}: the record `{key}` cannot be written: {source}", path.display())]
    Encode {
        /// The file.
        path: PathBuf,
        /// The record's key.
        key: String,
        /// Why.
        source: serde_json::Error,
    },
    /// The value is not what the caller expects.
    #[error("the record `{key}` cannot be read: {source}")]
    Decode {
        /// The record's key.
        key: String,
        /// Why.
        source: serde_json::Error,
    },
    /// The record has 4 GiB or more.
    #[error("{}: the record `{key}` is too long", path.display())]
    TooLong {
        /// The file.
        path: PathBuf,
        /// The record's key.
        key: String,
    },
    /// The file system said no.
    #[error("{}: cannot {action}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What was being done.
        action: &'static str,
        /// What the system answered.
        source: io::Error,
    },
}

/// A record of a journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// What the record is about, such as a run's hash.
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

/// An append-only file of records.
///
/// Each record goes to the system at once, so that a killed process loses
/// nothing, and to the disk every 64 records
/// ([`set_batch`](Journal::set_batch)) or on [`sync`](Journal::sync), so that
/// a machine that loses power loses no more than a batch. One process at a
/// time may hold it.
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
}

impl Journal {
    /// Opens the journal at `path`, or begins it if there is none, and returns
    /// the records that it holds, oldest first. A key that was appended twice
    /// is there twice; the later one is meant. `header` says what the records
    /// belong to: hashes and versions.
    ///
    /// # Errors
    /// [`JournalError::Header`] if the journal has another header,
    /// [`JournalError::NotAJournal`] if the file is something else (neither
    /// changes the file), [`JournalError::InUse`] if another process holds it,
    /// [`JournalError::Io`] if it cannot be read or written.
    pub fn open(path: &Path, header: &str) -> Result<(Journal, Vec<Record>), JournalError> {
        let mut journal = Journal::lock(path)?;
        let size = journal
            .file
            .metadata()
            .map_err(io_error(path, "read"))?
            .len();
        let mut reader = Frames {
            file: BufReader::new(&journal.file),
            at: 0,
            size,
        };
        let preamble = preamble(header, path)?;
        let records = match reader.preamble().map_err(io_error(path, "read"))? {
            Preamble::Header(found) if found == header.as_bytes() => {
                let (records, good) = reader.records().map_err(io_error(path, "read"))?;
                journal.cut_to(good, size)?;
                records
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
                Vec::new()
            }
            Preamble::Torn(_) | Preamble::Foreign => {
                return Err(JournalError::NotAJournal {
                    path: path.to_path_buf(),
                });
            }
        };
        Ok((journal, records))
    }

    /// Begins the journal anew and forgets what it held, whatever the file
    /// was.
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

    /// Appends a record.
    ///
    /// # Errors
    /// If the value has no JSON form or the disk is full or fails; then the
    /// journal holds what it held before.
    pub fn append<T: Serialize + ?Sized>(
        &mut self,
        key: &str,
        value: &T,
    ) -> Result<(), JournalError> {
        let too_long = || JournalError::TooLong {
            path: self.path.clone(),
            key: key.to_owned(),
        };
        let key_length = u32::try_from(key.len()).map_err(|_| too_long())?;
        let mut frame = std::mem::take(&mut self.frame);
        frame.clear();
        frame.extend_from_slice(&[0; FRAME as usize]);
        frame.extend_from_slice(&key_length.to_le_bytes());
        frame.extend_from_slice(key.as_bytes());
        serde_json::to_writer(&mut frame, value).map_err(|source| JournalError::Encode {
            path: self.path.clone(),
            key: key.to_owned(),
            source,
        })?;
        seal(&mut frame).ok_or_else(too_long)?;
        // Also after a failed append: what stands behind the length is not ours.
        let written = self
            .file
            .seek(SeekFrom::Start(self.length))
            .and_then(|_| self.file.write_all(&frame));
        if let Err(source) = written {
            let _ = self.file.set_len(self.length);
            return Err(io_error(&self.path, "write")(source));
        }
        self.length += frame.len() as u64;
        self.frame = frame;
        self.unsynced += 1;
        if self.unsynced >= self.batch {
            self.sync()
        } else {
            Ok(())
        }
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
        Ok(())
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

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
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

/// Fills in the length and the checksum of a frame; `None` if it is too long.
fn seal(frame: &mut [u8]) -> Option<()> {
    let length = u32::try_from(frame.len().checked_sub(FRAME as usize)?)
        .ok()?
        .to_le_bytes();
    let sum = checksum(length, &frame[FRAME as usize..]).to_le_bytes();
    frame[..4].copy_from_slice(&length);
    frame[4..8].copy_from_slice(&sum);
    Some(())
}

/// The length is summed too, or a tail of zeros would be a frame of nothing.
fn checksum(length: [u8; 4], content: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&length);
    hasher.update(content);
    hasher.finalize()
}

/// Magic and header: how a journal begins.
fn preamble(header: &str, path: &Path) -> Result<Vec<u8>, JournalError> {
    let mut frame = vec![0; FRAME as usize];
    frame.extend_from_slice(header.as_bytes());
    seal(&mut frame).ok_or_else(|| JournalError::TooLong {
        path: path.to_path_buf(),
        key: "header".into(),
    })?;
    Ok([MAGIC, &frame].concat())
}

enum Preamble {
    /// A whole header.
    Header(Vec<u8>),
    /// The file ends before the header does; this is all of it.
    Torn(Vec<u8>),
    /// Something else.
    Foreign,
}

/// Reads frames from the start of a file of known size.
struct Frames<'a> {
    file: BufReader<&'a File>,
    at: u64,
    size: u64,
}

impl Frames<'_> {
    fn preamble(&mut self) -> io::Result<Preamble> {
        let mut magic = Vec::new();
        self.file
            .by_ref()
            .take(MAGIC.len() as u64)
            .read_to_end(&mut magic)?;
        self.at = magic.len() as u64;
        if magic != MAGIC {
            let all = self.at == self.size;
            return Ok(if all {
                Preamble::Torn(magic)
            } else {
                Preamble::Foreign
            });
        }
        Ok(match self.frame()? {
            Frame::Whole(header) => Preamble::Header(header),
            Frame::Short(rest) => Preamble::Torn([magic, rest].concat()),
            Frame::Wrong => Preamble::Foreign,
        })
    }

    /// The records and where they end.
    fn records(&mut self) -> io::Result<(Vec<Record>, u64)> {
        let mut records = Vec::new();
        let mut good = self.at;
        while let Frame::Whole(content) = self.frame()? {
            let Some(record) = record(&content) else {
                break;
            };
            records.push(record);
            good = self.at;
        }
        Ok((records, good))
    }

    fn frame(&mut self) -> io::Result<Frame> {
        let rest = self.size.saturating_sub(self.at);
        let mut start = Vec::new();
        self.file.by_ref().take(FRAME).read_to_end(&mut start)?;
        let &[l0, l1, l2, l3, s0, s1, s2, s3] = start.as_slice() else {
            return Ok(Frame::Short(start));
        };
        let (length, sum) = ([l0, l1, l2, l3], [s0, s1, s2, s3]);
        let n = u32::from_le_bytes(length);
        if u64::from(n) > rest.saturating_sub(FRAME) {
            self.file.by_ref().take(SHORT).read_to_end(&mut start)?;
            return Ok(Frame::Short(start));
        }
        let mut content = vec![0; n as usize];
        self.file.read_exact(&mut content)?;
        if checksum(length, &content) != u32::from_le_bytes(sum) {
            return Ok(Frame::Wrong);
        }
        self.at += FRAME + u64::from(n);
        Ok(Frame::Whole(content))
    }
}

enum Frame {
    /// All of it, and the checksum is right.
    Whole(Vec<u8>),
    /// The file ends before it does; what there is, up to [`SHORT`] bytes.
    Short(Vec<u8>),
    /// The checksum is wrong.
    Wrong,
}

fn record(content: &[u8]) -> Option<Record> {
    let (length, rest) = content.split_first_chunk::<4>()?;
    let (key, value) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
    Some(Record {
        key: String::from_utf8(key.to_vec()).ok()?,
        value: String::from_utf8(value.to_vec()).ok()?,
    })
}

#[cfg(test)]
#[path = "journal_tests.rs"]
mod tests;
