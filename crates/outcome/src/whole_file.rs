//! Files that are complete or absent: written under a temporary name, synced and renamed.

use crate::Error;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

const SUFFIX: &str = ".part";

/// A file that appears under its name only when it is complete.
///
/// Data is written to a hidden file next to it (`.runs.csv.<n>.part`);
/// [`commit`](WholeFile::commit) brings it to the disk, renames it and brings the folder to the
/// disk. Dropped without a commit, it leaves nothing, and an older file of the name stays as it
/// was.
#[derive(Debug)]
pub struct WholeFile {
    path: PathBuf,
    temporary: PathBuf,
    file: BufWriter<File>,
    committed: bool,
}

/// Tells apart the temporary files of one process.
static COUNT: AtomicU64 = AtomicU64::new(0);

impl WholeFile {
    /// Starts to write the file `path`. Its folder must exist.
    ///
    /// # Errors
    /// If `path` names no file or the folder cannot be written.
    pub fn create(path: &Path) -> Result<WholeFile, Error> {
        let name = path.file_name().ok_or_else(|| Error::Io {
            path: path.to_path_buf(),
            action: "create",
            source: io::Error::new(io::ErrorKind::InvalidInput, "it names no file"),
        })?;
        loop {
            let n = COUNT.fetch_add(1, Ordering::Relaxed);
            let temporary = path.with_file_name(temporary_name(name, n));
            match OpenOptions::new()
                .write(true)
                .create_new(true)
                .open(&temporary)
            {
                Ok(file) => {
                    // The lock tells a writer at work from a leftover.
                    let _ = file.try_lock();
                    return Ok(WholeFile {
                        path: path.to_path_buf(),
                        temporary,
                        file: BufWriter::with_capacity(1 << 16, file),
                        committed: false,
                    });
                }
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
                Err(e) => return Err(Error::io(path, "create")(e)),
            }
        }
    }

    /// The name that the file will have.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Brings the content to the disk and gives the file its name, in the
    /// place of an older one if there is one.
    ///
    /// # Errors
    /// If the disk is full or fails; then the file is absent, or the older one
    /// is still there.
    pub fn commit(mut self) -> Result<(), Error> {
        self.file.flush().map_err(Error::io(&self.path, "write"))?;
        self.file
            .get_ref()
            .sync_all()
            .map_err(Error::io(&self.path, "sync"))?;
        fs::rename(&self.temporary, &self.path).map_err(Error::io(&self.path, "name"))?;
        self.committed = true;
        sync_folder(&self.path).map_err(Error::io(&self.path, "sync the folder of"))
    }
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for WholeFile {
    fn drop(&mut self) {
        if !self.committed {
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

/// Writes `content` as the file `path`, whole or not at all.
///
/// # Errors
/// As [`WholeFile::create`] and [`WholeFile::commit`].
pub fn write_whole(path: &Path, content: &[u8]) -> Result<(), Error> {
    let mut file = WholeFile::create(path)?;
    file.write_all(content).map_err(Error::io(path, "write"))?;
    file.commit()
}

/// Removes the temporary files that killed processes left in `folder`; those
/// of a writer still at work are kept. Returns how many were removed.
///
/// # Errors
/// If the folder cannot be read or a leftover cannot be removed.
pub fn remove_leftovers(folder: &Path) -> Result<usize, Error> {
    let mut removed = 0;
    for entry in fs::read_dir(folder).map_err(Error::io(folder, "read"))? {
        let entry = entry.map_err(Error::io(folder, "read"))?;
        let path = entry.path();
        if !is_temporary(&entry.file_name()) || !path.is_file() {
            continue;
        }
        // Its writer may be done with it at any moment.
        match remove_unless_locked(&path) {
            Ok(true) => removed += 1,
            Ok(false) => {}
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            Err(e) => return Err(Error::io(&path, "remove")(e)),
        }
    }
    Ok(removed)
}

/// Removes a file that no writer holds; true if it did.
fn remove_unless_locked(path: &Path) -> io::Result<bool> {
    let file = File::open(path)?;
    if matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
        return Ok(false);
    }
    fs::remove_file(path).map(|()| true)
}

/// `.runs.csv.4711-3.part`
fn temporary_name(name: &OsStr, n: u64) -> OsString {
    let mut temporary = OsString::from(".");
    temporary.push(name);
    temporary.push(format!(".{}-{n}{SUFFIX}", process::id()));
    temporary
}

fn is_temporary(name: &OsStr) -> bool {
    let Some(stem) = name
        .to_str()
        .and_then(|n| n.strip_prefix('.')?.strip_suffix(SUFFIX))
    else {
        return false;
    };
    let Some((_, numbers)) = stem.rsplit_once('.') else {
        return false;
    };
    numbers
        .split_once('-')
        .is_some_and(|(process, n)| process.parse::<u32>().is_ok() && n.parse::<u64>().is_ok())
}

/// Makes `folder` and those above it that are missing, and brings their entries to the disk:
/// without that a loss of power may take a folder with all the files that were synced in
/// it.
///
/// # Errors
/// If one cannot be made, or the disk fails.
pub fn make_folders(folder: &Path) -> io::Result<()> {
    let new = missing(folder);
    fs::create_dir_all(folder)?;
    new.iter().try_for_each(|made| sync_folder(made))
}

/// Those of `folder` and the folders above it that are not there, the uppermost first.
fn missing(folder: &Path) -> Vec<PathBuf> {
    let all = folder
        .ancestors()
        .filter(|path| !path.as_os_str().is_empty());
    let mut missing: Vec<PathBuf> = all
        .take_while(|path| !path.exists())
        .map(Path::to_path_buf)
        .collect();
    missing.reverse();
    missing
}

/// Brings the folder that holds `path` to the disk, where the system can: what was made,
/// named or removed in it survives a loss of power.
///
/// # Errors
/// If the folder cannot be opened or the disk fails.
pub fn sync_folder(path: &Path) -> io::Result<()> {
    if cfg!(unix) {
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty());
        File::open(folder.unwrap_or(Path::new(".")))?.sync_all()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_absent_until_it_is_committed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("runs.csv");
        let mut file = WholeFile::create(&path).unwrap();
        file.write_all(b"half").unwrap();
        file.flush().unwrap();
        assert!(!path.exists());
        drop(file);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);

        write_whole(&path, b"old").unwrap();
        let mut file = WholeFile::create(&path).unwrap();
        file.write_all(b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"old");
        file.commit().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn leftovers_go_and_files_at_work_stay() {
        let folder = tempfile::tempdir().unwrap();
        let at_work = WholeFile::create(&folder.path().join("a.csv")).unwrap();
        fs::write(folder.path().join(".b.csv.77-0.part"), b"torn").unwrap();
        fs::write(folder.path().join(".mine.part"), b"not ours").unwrap();
        assert_eq!(remove_leftovers(folder.path()).unwrap(), 1);
        assert!(folder.path().join(".mine.part").exists());
        at_work.commit().unwrap();
        assert!(folder.path().join("a.csv").exists());
    }

    #[test]
    fn new_folders_are_known_from_those_that_were_there() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        assert_eq!(missing(&at("a/b/c")), [at("a"), at("a/b"), at("a/b/c")]);
        make_folders(&at("a/b/c")).unwrap();
        assert!(missing(&at("a/b/c")).is_empty());
        assert_eq!(missing(&at("a/d")), [at("a/d")]);
        make_folders(&at("a/b/c")).unwrap();
        // One that is named from here has nothing above it.
        assert_eq!(
            missing(Path::new("no-such-folder")),
            [Path::new("no-such-folder")]
        );
        fs::write(at("file"), "").unwrap();
        assert!(make_folders(&at("file/below")).is_err());
    }

    #[test]
    fn errors_name_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let e = WholeFile::create(&folder.path().join("no/such.csv")).unwrap_err();
        assert!(e.to_string().contains("such.csv: cannot create: "), "{e}");
        assert!(WholeFile::create(Path::new("..")).is_err());
    }
}
