//! The frames of a journal: their checksums, and how values are stored.
//!
//! The runs of a study are alike: the same keys, many equal numbers. So the first long value of a
//! journal is stored uncompressed, and each later one is compressed (LZ4) with the first as its
//! dictionary, which reduces it to a tenth of its size and keeps it readable on its own.

use super::{JournalError, Place, Record, Visit};
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

pub(super) const MAGIC: &[u8] = b"bentpipe journal 1\n";

/// Length and checksum before the content of a frame.
const FRAME: u64 = 8;

/// Of a frame cut short no more than this is read: headers are short.
const SHORT: u64 = 1 << 16;

/// A value from so many bytes on is worth compressing.
const LONG: usize = 256;

/// How far back LZ4 refers.
const WINDOW: usize = 1 << 16;

/// The longest value.
const LONGEST: usize = 1 << 30;

/// The first byte of a compressed value. JSON begins with none such.
const COMPRESSED: u8 = 1;

/// Stores values, and reads them.
#[derive(Clone, Debug, Default)]
pub(super) struct Packer {
    /// The first long value.
    dictionary: Option<Arc<[u8]>>,
}

impl Packer {
    /// Makes the frame of a record; `None` if it is too long.
    pub(super) fn pack(&self, key: &str, value: &[u8], frame: &mut Vec<u8>) -> Option<()> {
        if value.len() > LONGEST {
            return None;
        }
        frame.clear();
        frame.extend_from_slice(&[0; FRAME as usize]);
        frame.extend_from_slice(&u32::try_from(key.len()).ok()?.to_le_bytes());
        frame.extend_from_slice(key.as_bytes());
        match &self.dictionary {
            Some(dictionary) if value.len() >= LONG => {
                frame.push(COMPRESSED);
                let packed = lz4_flex::block::compress_prepend_size_with_dict(value, dictionary);
                frame.extend_from_slice(&packed);
            }
            _ => frame.extend_from_slice(value),
        }
        seal(frame)
    }

    /// The record with this value has been stored.
    pub(super) fn packed(&mut self, value: &[u8]) {
        if self.dictionary.is_none() && value.len() >= LONG {
            self.dictionary = Some(value[..value.len().min(WINDOW)].into());
        }
    }

    /// The record that is the content of a frame; `None` if it is none.
    pub(super) fn record(&self, content: &[u8]) -> Option<Record> {
        let (length, rest) = content.split_first_chunk::<4>()?;
        let (key, value) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        let value = match value.split_first() {
            Some((&COMPRESSED, packed)) => {
                let (size, _) = packed.split_first_chunk::<4>()?;
                if u32::from_le_bytes(*size) as usize > LONGEST {
                    return None;
                }
                let dictionary = self.dictionary.as_ref()?;
                let value =
                    lz4_flex::block::decompress_size_prepended_with_dict(packed, dictionary);
                value.ok()?
            }
            _ => value.to_vec(),
        };
        Some(Record {
            key: String::from_utf8(key.to_vec()).ok()?,
            value: String::from_utf8(value).ok()?,
        })
    }
}

/// Where the content of a frame is that begins at `start`.
pub(super) fn place(start: u64, frame: &[u8]) -> Place {
    let length = frame.len().saturating_sub(FRAME as usize);
    Place {
        offset: start + FRAME,
        length: u32::try_from(length).unwrap_or(u32::MAX),
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
pub(super) fn preamble(header: &str, path: &Path) -> Result<Vec<u8>, JournalError> {
    let mut frame = vec![0; FRAME as usize];
    frame.extend_from_slice(header.as_bytes());
    seal(&mut frame).ok_or_else(|| JournalError::TooLong {
        path: path.to_path_buf(),
        key: "header".into(),
    })?;
    Ok([MAGIC, &frame].concat())
}

pub(super) enum Preamble {
    /// A whole header.
    Header(Vec<u8>),
    /// The file ends before the header does; this is all of it.
    Torn(Vec<u8>),
    /// Something else.
    Foreign,
}

/// Reads frames from the start of a file of known size.
pub(super) struct Frames<R> {
    file: R,
    at: u64,
    size: u64,
    packer: Packer,
}

impl<R: Read> Frames<R> {
    pub(super) fn new(file: R, size: u64) -> Frames<R> {
        Frames {
            file,
            at: 0,
            size,
            packer: Packer::default(),
        }
    }

    pub(super) fn preamble(&mut self) -> io::Result<Preamble> {
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

    /// Visits the records, and returns where they end.
    pub(super) fn records(&mut self, visit: &mut Visit<'_>) -> io::Result<u64> {
        let mut good = self.at;
        while let Frame::Whole(content) = self.frame()? {
            let Some(record) = self.packer.record(&content) else {
                break;
            };
            self.packer.packed(record.value.as_bytes());
            let place = Place {
                offset: good + FRAME,
                length: u32::try_from(content.len()).unwrap_or(u32::MAX),
            };
            visit(&record, place);
            good = self.at;
        }
        Ok(good)
    }

    /// The packer that reads and stores further records.
    pub(super) fn into_packer(self) -> Packer {
        self.packer
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
    /// The file ends within the frame; its data, up to [`SHORT`] bytes.
    Short(Vec<u8>),
    /// The checksum is wrong.
    Wrong,
}
