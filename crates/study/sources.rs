//! A fingerprint of the sources that results depend on, by which builds of one version are
//! told apart.
//!
//! In the repository it is a hash of the sources of all crates that take part in a run, of
//! the C of the kernel's congestion controls, and of `Cargo.lock`: the same on every
//! machine, with and without git, and another one after any change, committed or not. A
//! package from crates.io has none of its siblings beside it. There the versions say it
//! all: they are published once, and each names the others exactly.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The crates that decide what a run yields and how it is recorded.
const CRATES: [&str; 16] = [
    "bpf",
    "cc",
    "document",
    "link",
    "linux",
    "middlebox",
    "orbit",
    "outcome",
    "plugin",
    "random",
    "scenario",
    "sim",
    "study",
    "tcp",
    "traffic",
    "units",
];

/// The folders and files of the repository that count; none where `own`, the folder of this
/// crate, is not in it.
pub(crate) fn folders(own: &Path) -> Vec<PathBuf> {
    let Some(crates) = own.parent() else {
        return Vec::new();
    };
    let is_there = |name: &str| {
        let manifest = fs::read_to_string(crates.join(name).join("Cargo.toml"));
        manifest.is_ok_and(|text| text.contains(&format!("name = \"bentpipe-{name}\"")))
    };
    if !CRATES.into_iter().all(is_there) {
        return Vec::new();
    }
    let root = crates.join("..");
    let sources = CRATES.map(|name| crates.join(name).join("src"));
    let sources = sources.into_iter();
    sources
        .chain([root.join("bpf"), root.join("Cargo.lock")])
        .collect()
}

/// The files in them, in a fixed order.
pub(crate) fn files(own: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for folder in folders(own) {
        collect(&folder, &mut files);
    }
    files
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) {
    if path.is_file() {
        files.push(path.to_path_buf());
        return;
    }
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    let mut entries: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    entries.sort();
    for entry in entries {
        let name = entry
            .file_name()
            .map(|name| name.to_string_lossy().into_owned());
        // What editors leave is no source.
        if name.is_some_and(|name| !name.starts_with('.') && !name.ends_with('~')) {
            collect(&entry, files);
        }
    }
}

/// A hash of these files, of their names from the crates' folder on, and of their order, as 16
/// digits. Ends of lines do not count, since git may change them.
pub(crate) fn fingerprint(own: &Path, files: &[PathBuf]) -> io::Result<String> {
    let base = own.parent().unwrap_or(own);
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut add = |bytes: &[u8]| {
        for byte in bytes.iter().filter(|byte| **byte != b'\r') {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    };
    for file in files {
        let name = file.strip_prefix(base).unwrap_or(file);
        let parts = name.iter().map(|part| part.to_string_lossy());
        add(parts.collect::<Vec<_>>().join("/").as_bytes());
        add(b"\0");
        add(&fs::read(file)?);
        add(b"\0");
    }
    Ok(format!("{hash:016x}"))
}
