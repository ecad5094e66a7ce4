//! Reads scenario files, with errors that point at the line.

use crate::exit::Failure;
use crate::output::stderr_colour;
use bentpipe_scenario::space::Space;
use bentpipe_scenario::{Diagnostics, Document, Override, Scenario, SetBy};
use std::path::Path;

/// A file larger than this is no scenario.
const LARGEST: u64 = 16 << 20;

/// The bytes of `path`, with an error for people.
pub(crate) fn bytes(path: &Path) -> Result<Vec<u8>, Failure> {
    let failed = |e: std::io::Error| Failure::file("read", path, e);
    let meta = std::fs::metadata(path).map_err(failed)?;
    if meta.is_dir() {
        return Err(Failure::new(format!(
            "`{}` is a folder, not a file",
            path.display()
        )));
    }
    if meta.len() > LARGEST {
        let mb = LARGEST >> 20;
        return Err(Failure::new(format!(
            "`{}` is larger than {mb} MiB",
            path.display()
        )));
    }
    std::fs::read(path).map_err(failed)
}

/// The scenario in `path`, with the values of `set` (`PATH=VALUE`) in place.
pub(crate) fn scenario(path: &Path, set: &[String]) -> Result<Scenario, Failure> {
    document(path, set)?.validate().map_err(rendered)
}

/// As [`scenario`], with the constellations behind it.
pub(crate) fn survey(path: &Path, set: &[String]) -> Result<(Scenario, Space), Failure> {
    document(path, set)?.survey().map_err(rendered)
}

fn document(path: &Path, set: &[String]) -> Result<Document, Failure> {
    let mut document =
        Document::parse_bytes(&path.display().to_string(), &bytes(path)?).map_err(rendered)?;
    for assignment in set {
        let (key, value) = assignment.split_once('=').ok_or_else(|| {
            Failure::new(format!(
                "--set `{assignment}` has no `=`; write it as link.satellite.rate='5 Mbit/s'"
            ))
        })?;
        document
            .set_by(SetBy::Option, key.trim(), &Override::parse(value))
            .map_err(rendered)?;
    }
    for name in document.wanted_files() {
        let file = path.parent().unwrap_or(Path::new("")).join(&name);
        document.give_file(&name, text(&file)?);
    }
    Ok(document)
}

/// The text of `path`.
pub(crate) fn text(path: &Path) -> Result<String, Failure> {
    String::from_utf8(bytes(path)?).map_err(|_| Failure::file("read", path, "it is not UTF-8"))
}

/// Diagnostics as the failure that shows them.
pub(crate) fn rendered(diagnostics: impl std::borrow::Borrow<Diagnostics>) -> Failure {
    Failure::Rendered(diagnostics.borrow().render(stderr_colour()))
}
