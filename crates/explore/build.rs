//! Puts the page that npm built into the library, compressed.
//!
//! Without it the library builds as well, and the server answers with how to build
//! the page: what needs no browser then needs no npm.

use std::env;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

fn main() {
    let page = Path::new("web/dist");
    // What cargo watches has to be there, or it would build this again each time.
    let watched = if page.is_dir() { "web/dist" } else { "web" };
    println!("cargo::rerun-if-changed={watched}");
    println!("cargo::rerun-if-changed=build.rs");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let mut files = Vec::new();
    collect(page, page, &mut files);
    files.sort();
    let mut table = Vec::new();
    writeln!(table, "&[").expect("memory can be written");
    for (number, (name, content)) in files.iter().enumerate() {
        let compressed = out.join(format!("{number}.deflate"));
        // Deflate at its best level; the server adds the header of gzip.
        let bytes = miniz_oxide::deflate::compress_to_vec(content, 9);
        fs::write(&compressed, bytes).expect("OUT_DIR can be written");
        writeln!(
            table,
            "File {{ name: {name:?}, length: {}, crc: {}, deflated: include_bytes!({:?}) }},",
            content.len(),
            crc32(content),
            compressed.display().to_string()
        )
        .expect("memory can be written");
    }
    writeln!(table, "]").expect("memory can be written");
    fs::write(out.join("files.rs"), table).expect("OUT_DIR can be written");
    examples(&out);
}

/// The ready-made scenarios, each with its name and its text. A published package holds
/// them in itself; in the repository a link leads to them, which Windows may not follow.
fn examples(out: &Path) {
    let own = Path::new("scenarios");
    let folder = if own.is_dir() {
        own
    } else {
        Path::new("../../scenarios")
    };
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut files = Vec::new();
    collect(folder, folder, &mut files);
    files.sort();
    let mut table = String::from("&[");
    for (name, content) in &files {
        let (Some(name), Ok(text)) = (name.strip_suffix(".toml"), str::from_utf8(content)) else {
            continue;
        };
        table += &format!("({name:?}, {text:?}),");
    }
    table += "]";
    fs::write(out.join("examples.rs"), table).expect("OUT_DIR can be written");
}

/// The files below a folder, each by its path with slashes.
fn collect(root: &Path, folder: &Path, files: &mut Vec<(String, Vec<u8>)>) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(root, &path, files);
        } else if let (Ok(name), Ok(content)) = (path.strip_prefix(root), fs::read(&path)) {
            files.push((name.to_string_lossy().replace('\\', "/"), content));
        }
    }
}

/// The checksum of gzip (RFC 1952, section 8).
fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = !0u32;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg());
        }
    }
    !crc
}
