//! The sources of a control and their hash.

use crate::LoadError;
use bentpipe_bpf::HEADERS;
use bentpipe_units::Fnv128;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Files of a crate that are read, at most.
const MOST_FILES: usize = 2_000;

/// The sources of a control.
#[derive(Clone, Debug)]
pub(crate) struct Sources {
    /// Of everything that decides what the control does.
    pub(crate) hash: String,
    /// The text of a C file; empty for the others.
    pub(crate) text: String,
}

/// Separates the parts, so that moving a byte from one to the next is a change.
fn part(hash: &mut Fnv128, bytes: &[u8]) {
    hash.update(&(bytes.len() as u64).to_le_bytes());
    hash.update(bytes);
}

fn finished(hash: &Fnv128) -> String {
    format!("{:032x}", hash.value())
}

/// A C file, the files that it includes from its folder, and the headers of this version.
pub(crate) fn of_c(path: &Path) -> Result<Sources, LoadError> {
    let mut hash = Fnv128::default();
    part(&mut hash, b"c");
    for (name, text) in HEADERS {
        part(&mut hash, name.as_bytes());
        part(&mut hash, text.as_bytes());
    }
    let text = text_of(path)?;
    part(&mut hash, text.as_bytes());
    let mut seen = BTreeSet::new();
    let mut waiting = included(path, &text);
    while let Some(file) = waiting.pop() {
        if !seen.insert(file.clone()) {
            continue;
        }
        let text = text_of(&file)?;
        part(&mut hash, text.as_bytes());
        waiting.extend(included(&file, &text));
    }
    Ok(Sources {
        hash: finished(&hash),
        text,
    })
}

/// Files in the same folder that `text` includes in quotes.
fn included(of: &Path, text: &str) -> Vec<PathBuf> {
    let folder = of.parent().unwrap_or(Path::new(""));
    let names = text.lines().filter_map(|line| {
        let rest = line.trim_start().strip_prefix('#')?.trim_start();
        let rest = rest.strip_prefix("include")?.trim_start();
        rest.strip_prefix('"')?.split('"').next()
    });
    let mut files: Vec<PathBuf> = names.map(|name| folder.join(name)).collect();
    files.retain(|file| file.is_file());
    // The last is taken first.
    files.reverse();
    files
}

/// The manifest, the lock file and the sources of a crate.
pub(crate) fn of_crate(folder: &Path) -> Result<Sources, LoadError> {
    let mut hash = Fnv128::default();
    part(&mut hash, b"crate");
    let mut files = Vec::new();
    for name in ["Cargo.toml", "Cargo.lock", "build.rs"] {
        files.extend(Some(folder.join(name)).filter(|file| file.is_file()));
    }
    collect(&folder.join("src"), &mut files)?;
    for file in files {
        let name = file.strip_prefix(folder).unwrap_or(&file);
        part(&mut hash, name.to_string_lossy().as_bytes());
        part(&mut hash, &bytes_of(&file)?);
    }
    Ok(Sources {
        hash: finished(&hash),
        text: String::new(),
    })
}

/// The files below `folder`, in the order of their names.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), LoadError> {
    let read = |e: std::io::Error| LoadError::read(folder, &e);
    let mut entries = Vec::new();
    for entry in fs::read_dir(folder).map_err(read)? {
        entries.push(entry.map_err(read)?.path());
    }
    entries.sort();
    for path in entries {
        if path.is_dir() {
            collect(&path, files)?;
        } else if files.len() < MOST_FILES {
            files.push(path);
        }
    }
    Ok(())
}

/// A shared library.
pub(crate) fn of_file(path: &Path) -> Result<Sources, LoadError> {
    let mut hash = Fnv128::default();
    part(&mut hash, b"library");
    part(&mut hash, &bytes_of(path)?);
    Ok(Sources {
        hash: finished(&hash),
        text: String::new(),
    })
}

fn bytes_of(path: &Path) -> Result<Vec<u8>, LoadError> {
    fs::read(path).map_err(|e| LoadError::read(path, &e))
}

fn text_of(path: &Path) -> Result<String, LoadError> {
    let text = fs::read_to_string(path);
    text.map_err(|e| LoadError::read(path, &e))
}
