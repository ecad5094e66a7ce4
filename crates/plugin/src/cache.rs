//! The cache of compiled libraries: each under the hash of its sources, written atomically.

use crate::LoadError;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// The folder: `BENTPIPE_CACHE`, or `bentpipe` in the user's cache folder. Without
/// a home it is one that no other process uses, since a library from a folder that
/// others can write to is not to be trusted.
fn folder() -> PathBuf {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty());
    if let Some(folder) = set("BENTPIPE_CACHE") {
        return PathBuf::from(folder);
    }
    let home = || Some(PathBuf::from(set("HOME")?).join(".cache"));
    match set("XDG_CACHE_HOME").map(PathBuf::from).or_else(home) {
        Some(cache) => cache.join("bentpipe"),
        None => env::temp_dir().join(format!("bentpipe-{}", std::process::id())),
    }
}

/// Whether the cache has a file of that name.
pub(crate) fn has(name: &str) -> bool {
    folder().join("controls").join(name).is_file()
}

/// A file of that name in the cache; `make` writes it where it is missing.
/// Processes that do so at the same time do not disturb each other.
pub(crate) fn file(
    name: &str,
    make: impl FnOnce(&Path) -> Result<(), LoadError>,
) -> Result<PathBuf, LoadError> {
    static TURN: AtomicU32 = AtomicU32::new(0);
    let folder = folder().join("controls");
    let path = folder.join(name);
    if path.is_file() {
        return Ok(path);
    }
    fs::create_dir_all(&folder).map_err(|e| LoadError::cache(&folder, &e))?;
    let turn = TURN.fetch_add(1, Ordering::Relaxed);
    let new = folder.join(format!("new-{}-{turn}-{name}", std::process::id()));
    let made = make(&new).and_then(|()| {
        let renamed = fs::rename(&new, &path);
        renamed.map_err(|e| LoadError::cache(&path, &e))
    });
    if made.is_err() {
        // What is left of it is of no use.
        let _ = fs::remove_file(&new);
    }
    made.map(|()| path)
}

/// A folder in the cache with these files.
pub(crate) fn files(name: &str, files: &[(&str, &str)]) -> Result<PathBuf, LoadError> {
    let folder = folder().join("controls").join(name);
    fs::create_dir_all(&folder).map_err(|e| LoadError::cache(&folder, &e))?;
    for (file, text) in files {
        let path = folder.join(file);
        if fs::read_to_string(&path).is_ok_and(|have| have == *text) {
            continue;
        }
        let new = folder.join(format!("new-{}-{file}", std::process::id()));
        let written = fs::write(&new, text).and_then(|()| fs::rename(&new, &path));
        written.map_err(|e| LoadError::cache(&path, &e))?;
    }
    Ok(folder)
}
