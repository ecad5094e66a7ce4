//! Builds the crate of a control with cargo.

use crate::LoadError;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

const HELP: &str = "install Rust (https://rustup.rs), or load the shared library that cargo made \
                    elsewhere";

/// Builds the crate in `folder` and gives its shared library.
pub(crate) fn build(folder: &Path) -> Result<PathBuf, LoadError> {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(&program)
        .args(["build", "--release", "--quiet", "--lib"])
        .arg("--message-format=json-render-diagnostics")
        .arg("--manifest-path")
        .arg(folder.join("Cargo.toml"))
        // The crate is built as if by hand, whatever has started this process.
        .env_remove("RUSTFLAGS")
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .env_remove("CARGO_TARGET_DIR")
        .output()
        .map_err(|e| LoadError::NoCompiler {
            program: program.to_string_lossy().into_owned(),
            purpose: "builds crates",
            reason: e.to_string(),
            help: HELP,
        })?;
    if !output.status.success() {
        return Err(LoadError::Compile {
            path: folder.to_owned(),
            program: program.to_string_lossy().into_owned(),
            said: String::from_utf8_lossy(&output.stderr)
                .trim_end()
                .to_owned(),
        });
    }
    let messages = String::from_utf8_lossy(&output.stdout);
    let library = messages.lines().rev().find_map(shared_library);
    library.ok_or_else(|| LoadError::Library {
        path: folder.to_owned(),
        reason: "it builds no shared library: expected `crate-type = [\"cdylib\"]` under [lib] in \
                 Cargo.toml"
            .to_owned(),
    })
}

/// The shared library that a message of cargo is about.
fn shared_library(message: &str) -> Option<PathBuf> {
    let message: Value = serde_json::from_str(message).ok()?;
    let files = message.get("filenames")?.as_array()?;
    let mut files = files
        .iter()
        .filter_map(|file| Some(PathBuf::from(file.as_str()?)));
    files.find(|file| {
        let end = file.extension().and_then(|end| end.to_str());
        matches!(end, Some("so" | "dylib" | "dll"))
    })
}
