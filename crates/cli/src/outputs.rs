//! Where a command may write: over nothing that it reads, and only where it can.
//! Checked before long work begins.

use crate::exit::Failure;
use bentpipe_outcome::WholeFile;
use bentpipe_study::Collection;
use std::fs;
use std::path::{Path, PathBuf};

/// Refuses `outputs` that are one of `inputs`, one file twice, no regular file,
/// or in a folder that cannot be written.
pub(crate) fn check<'a>(
    inputs: &[PathBuf],
    outputs: impl IntoIterator<Item = &'a Path>,
) -> Result<(), Failure> {
    let mut seen: Vec<&Path> = Vec::new();
    for output in outputs {
        spare(inputs, output)?;
        if seen.iter().any(|other| is_same(other, output)) {
            return Err(Failure::new(format!(
                "`{}` is to be written twice; give each output its own name",
                output.display()
            )));
        }
        if fs::metadata(output).is_ok_and(|meta| !meta.is_file()) {
            return Err(Failure::file("write", output, "it is not a regular file"));
        }
        // It takes the name only when it is complete, so this leaves nothing.
        WholeFile::create(output).map_err(|e| Failure::new(e.to_string()))?;
        seen.push(output);
    }
    Ok(())
}

/// Makes `folder` and refuses it if one of the files `names` in it is one of
/// `inputs`, or if it cannot be written.
pub(crate) fn check_folder(
    inputs: &[PathBuf],
    folder: &Path,
    names: &[String],
) -> Result<(), Failure> {
    fs::create_dir_all(folder).map_err(|e| Failure::file("create", folder, e))?;
    let files: Vec<PathBuf> = names.iter().map(|name| folder.join(name)).collect();
    check(inputs, files.iter().map(PathBuf::as_path))
}

/// Refuses a folder of `results` if a file of the studies is in the part of it
/// where theirs go.
pub(crate) fn check_results(studies: &Collection, results: &Path) -> Result<(), Failure> {
    let inputs = studies.inputs();
    for loaded in studies.iter() {
        let Ok(folder) = results.join(&loaded.study.name).canonicalize() else {
            continue;
        };
        let inside = |input: &&PathBuf| {
            let input = input.canonicalize();
            input.is_ok_and(|input| input.starts_with(&folder))
        };
        if let Some(input) = inputs.iter().find(inside) {
            return Err(Failure::new(format!(
                "results would go into `{}`, which holds `{}`; choose another --out",
                folder.display(),
                input.display()
            )));
        }
    }
    Ok(())
}

fn spare(inputs: &[PathBuf], output: &Path) -> Result<(), Failure> {
    match inputs.iter().find(|input| is_same(input, output)) {
        None => Ok(()),
        Some(input) => Err(Failure::new(format!(
            "`{}` would overwrite `{}`, which this command reads; choose another name",
            output.display(),
            input.display()
        ))),
    }
}

/// Whether two names are one file, also through links.
fn is_same(a: &Path, b: &Path) -> bool {
    if let (Ok(a), Ok(b)) = (fs::metadata(a), fs::metadata(b)) {
        return is_one(&a, &b);
    }
    let place = |path: &Path| {
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        Some((folder.canonicalize().ok()?, path.file_name()?.to_owned()))
    };
    a == b || place(a).is_some_and(|a| place(b) == Some(a))
}

#[cfg(unix)]
fn is_one(a: &fs::Metadata, b: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}

#[cfg(not(unix))]
fn is_one(a: &fs::Metadata, b: &fs::Metadata) -> bool {
    // Without numbers of files, one that was made and changed at once is it.
    a.len() == b.len()
        && a.created().ok() == b.created().ok()
        && a.modified().ok() == b.modified().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_is_known_by_any_of_its_names() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("in.toml"), "x").unwrap();
        let inputs = [at("in.toml")];
        check(&inputs, [at("out.svg").as_path()]).unwrap();
        assert!(!at("out.svg").exists());
        let mut names = vec![at("in.toml"), at("./in.toml")];
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(at("in.toml"), at("link.svg")).unwrap();
            fs::hard_link(at("in.toml"), at("hard.svg")).unwrap();
            names.extend([at("link.svg"), at("hard.svg")]);
        }
        for name in &names {
            assert!(check(&inputs, [name.as_path()]).is_err(), "{name:?}");
        }
        let twice = [at("a.svg"), at("./a.svg")];
        assert!(check(&inputs, twice.iter().map(PathBuf::as_path)).is_err());
        assert!(check(&inputs, [at("none/a.svg").as_path()]).is_err());
        assert!(check(&inputs, [folder.path()]).is_err());
    }
}
