//! Folders of results: made, cleared of what killed writers left, and files removed.

use crate::error::StoreError;
use bentpipe_outcome::{make_folders, remove_leftovers};
use std::io;
use std::path::{Path, PathBuf};

/// Makes the folder of a study, and clears what killed writers left in it.
pub(crate) fn create(folder: &Path) -> Result<PathBuf, StoreError> {
    make(folder)?;
    remove_leftovers(folder)?;
    Ok(folder.to_path_buf())
}

pub(crate) fn make(folder: &Path) -> Result<(), StoreError> {
    make_folders(folder).map_err(|source| StoreError::Folder {
        path: folder.to_path_buf(),
        action: "make the folder",
        source,
    })
}

pub(crate) fn remove(path: &Path) -> Result<(), StoreError> {
    match std::fs::remove_file(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(StoreError::Folder {
            path: path.to_path_buf(),
            action: "remove",
            source: e,
        }),
        _ => Ok(()),
    }
}
