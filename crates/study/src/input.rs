//! Reads files named by users, with a limit on their size.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// A file larger than this is no input, bytes.
pub const LARGEST: u64 = 16 << 20;

/// Maximum size of a file that a scenario names, such as a trace, bytes.
pub const LARGEST_BESIDE: u64 = 256 << 20;

/// Why a file cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("cannot read `{}`: {source}", path.display())]
pub struct InputError {
    /// Path of the file.
    pub path: PathBuf,
    /// Why.
    pub source: io::Error,
}

/// The content of the file, device or pipe at `path`, of at most [`LARGEST`]
/// bytes. Pipes are read to their end.
///
/// # Errors
/// If it cannot be read, is a folder or is too large.
pub fn bytes(path: &Path) -> Result<Vec<u8>, InputError> {
    bounded(path, LARGEST)
}

fn bounded(path: &Path, largest: u64) -> Result<Vec<u8>, InputError> {
    let read = || {
        let file = File::open(path)?;
        let meta = file.metadata()?;
        if meta.is_dir() {
            return Err(io::Error::other("it is a folder, not a file"));
        }
        if meta.is_file() && meta.len() > largest {
            return Err(too_large(largest));
        }
        up_to(file, largest)
    };
    read().map_err(|source| InputError {
        path: path.to_path_buf(),
        source,
    })
}

/// The content of `reader`, of at most [`LARGEST`] bytes.
///
/// # Errors
/// If it cannot be read or is too large.
pub fn from(reader: impl Read) -> io::Result<Vec<u8>> {
    up_to(reader, LARGEST)
}

fn up_to(reader: impl Read, largest: u64) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    reader.take(largest + 1).read_to_end(&mut content)?;
    if content.len() as u64 > largest {
        return Err(too_large(largest));
    }
    Ok(content)
}

/// The text of the file at `path`.
///
/// # Errors
/// As [`bytes`], or if it is not UTF-8.
pub fn text(path: &Path) -> Result<String, InputError> {
    utf8(path, bytes(path)?)
}

/// The text of a file that a scenario names, of at most [`LARGEST_BESIDE`] bytes: a trace, or
/// elements of satellites.
///
/// # Errors
/// As [`text`].
pub fn text_beside(path: &Path) -> Result<String, InputError> {
    utf8(path, bounded(path, LARGEST_BESIDE)?)
}

fn utf8(path: &Path, content: Vec<u8>) -> Result<String, InputError> {
    String::from_utf8(content).map_err(|_| InputError {
        path: path.to_path_buf(),
        source: io::Error::other("it is not UTF-8"),
    })
}

fn too_large(largest: u64) -> io::Error {
    io::Error::other(format!("it is larger than {} MiB", largest >> 20))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_never_ends_is_refused() {
        let error = from(io::repeat(b'a')).unwrap_err();
        assert_eq!(error.to_string(), "it is larger than 16 MiB");
        assert_eq!(from(&b"a"[..]).unwrap(), b"a");
    }

    #[cfg(unix)]
    #[test]
    fn devices_are_read_up_to_the_bound() {
        let error = bytes(Path::new("/dev/zero")).unwrap_err().to_string();
        assert_eq!(error, "cannot read `/dev/zero`: it is larger than 16 MiB");
        assert!(bytes(Path::new("/dev/null")).unwrap().is_empty());
        assert!(bytes(Path::new("/")).is_err());
    }
}
