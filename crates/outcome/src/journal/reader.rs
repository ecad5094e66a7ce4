//! Reads the records of a journal, all of them or by their positions.

use super::frame::{Frames, Packer, Preamble};
use super::{JournalError, Place, Record, Visit, io_error};
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The records of a journal that is not written at the time, each by its place.
#[derive(Debug)]
pub struct JournalReader {
    path: PathBuf,
    file: Mutex<File>,
    packer: Packer,
}

impl JournalReader {
    /// Opens a journal and visits its records, oldest first. A torn tail is skipped; the file is
    /// not changed. The header is the caller's to judge.
    ///
    /// # Errors
    /// [`JournalError::NotAJournal`] if the file is something else or its header
    /// is cut short, [`JournalError::Io`] if it cannot be read.
    pub fn open(
        path: &Path,
        visit: &mut Visit<'_>,
    ) -> Result<(JournalReader, String), JournalError> {
        let file = File::open(path).map_err(io_error(path, "open"))?;
        let size = file.metadata().map_err(io_error(path, "read"))?.len();
        let mut frames = Frames::new(BufReader::new(&file), size);
        let header = match frames.preamble().map_err(io_error(path, "read"))? {
            Preamble::Header(header) => String::from_utf8_lossy(&header).into_owned(),
            Preamble::Torn(_) | Preamble::Foreign => {
                return Err(JournalError::NotAJournal {
                    path: path.to_path_buf(),
                });
            }
        };
        frames.records(visit).map_err(io_error(path, "read"))?;
        let packer = frames.into_packer();
        let reader = JournalReader {
            path: path.to_path_buf(),
            file: Mutex::new(file),
            packer,
        };
        Ok((reader, header))
    }

    /// The header of a journal.
    ///
    /// # Errors
    /// As [`open`](JournalReader::open).
    pub fn header(path: &Path) -> Result<String, JournalError> {
        let file = File::open(path).map_err(io_error(path, "open"))?;
        let size = file.metadata().map_err(io_error(path, "read"))?.len();
        match Frames::new(BufReader::new(&file), size).preamble() {
            Ok(Preamble::Header(header)) => Ok(String::from_utf8_lossy(&header).into_owned()),
            Ok(Preamble::Torn(_) | Preamble::Foreign) => Err(JournalError::NotAJournal {
                path: path.to_path_buf(),
            }),
            Err(source) => Err(io_error(path, "read")(source)),
        }
    }

    pub(super) fn of(path: &Path, packer: Packer) -> Result<JournalReader, JournalError> {
        Ok(JournalReader {
            path: path.to_path_buf(),
            file: Mutex::new(File::open(path).map_err(io_error(path, "open"))?),
            packer,
        })
    }

    /// The record at a place.
    ///
    /// # Errors
    /// [`JournalError::Io`] if it cannot be read or is not a record.
    pub fn read(&self, place: Place) -> Result<Record, JournalError> {
        let mut content = vec![0; place.length as usize];
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let read = file
            .seek(SeekFrom::Start(place.offset))
            .and_then(|_| file.read_exact(&mut content));
        drop(file);
        read.map_err(io_error(&self.path, "read"))?;
        let damaged = || io::Error::new(io::ErrorKind::InvalidData, "the record is damaged");
        let record = self.packer.record(&content).ok_or_else(damaged);
        record.map_err(io_error(&self.path, "read"))
    }

    /// Path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}
