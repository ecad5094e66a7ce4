//! A journal in memory, to be sent from one process to another.

use super::frame::{Frames, Packer, Preamble, preamble};
use super::{JournalError, Visit};
use serde::Serialize;
use std::path::Path;

/// The bytes of a journal, without a file.
#[derive(Clone, Debug, Default)]
pub struct JournalBuffer {
    bytes: Vec<u8>,
    frame: Vec<u8>,
    packer: Packer,
}

impl JournalBuffer {
    /// Begins a journal.
    ///
    /// # Errors
    /// [`JournalError::TooLong`] for a header of 4 GiB or more.
    pub fn new(header: &str) -> Result<JournalBuffer, JournalError> {
        Ok(JournalBuffer {
            bytes: preamble(header, Path::new(""))?,
            ..JournalBuffer::default()
        })
    }

    /// Appends a record.
    ///
    /// # Errors
    /// If the value has no JSON form or is too long.
    pub fn append<T: Serialize + ?Sized>(
        &mut self,
        key: &str,
        value: &T,
    ) -> Result<(), JournalError> {
        let path = Path::new("").to_path_buf();
        let value = serde_json::to_vec(value).map_err(|source| JournalError::Encode {
            path: path.clone(),
            key: key.to_owned(),
            source,
        })?;
        let packed = self.packer.pack(key, &value, &mut self.frame);
        packed.ok_or_else(|| JournalError::TooLong {
            path,
            key: key.to_owned(),
        })?;
        self.packer.packed(&value);
        self.bytes.extend_from_slice(&self.frame);
        Ok(())
    }

    /// The bytes.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Reads the bytes of a journal: visits its records and returns its header.
    ///
    /// # Errors
    /// [`JournalError::NotAJournal`] if they are something else or not whole.
    pub fn read(bytes: &[u8], visit: &mut Visit<'_>) -> Result<String, JournalError> {
        let size = bytes.len() as u64;
        let mut frames = Frames::new(bytes, size);
        let broken = || JournalError::NotAJournal {
            path: Path::new("(in memory)").to_path_buf(),
        };
        let Ok(Preamble::Header(header)) = frames.preamble() else {
            return Err(broken());
        };
        match frames.records(visit) {
            Ok(end) if end == size => Ok(String::from_utf8_lossy(&header).into_owned()),
            _ => Err(broken()),
        }
    }
}
