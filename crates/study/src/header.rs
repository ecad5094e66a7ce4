//! The header of a journal: what its results depend on.

use crate::plan::hash;
use crate::runner::Runner;
use crate::study::Study;

/// The sources that this build was made of: a hash, or `release` for the packages of
/// this version.
const BUILD: &str = env!("BENTPIPE_BUILD");

/// What a journal belongs to: everything that outcomes depend on, beside what
/// the key of a run says. A line each, which begins with its name. Of the build that
/// wrote it the sources count, not its cargo features, which change no result.
pub(crate) fn header(study: &Study, runner: &dyn Runner) -> String {
    let series = study.series.map(|interval| interval.to_string());
    let checkpoints = study.marks.iter().map(|at| at.as_nanos().to_string());
    let skips = if study.skip_steady {
        "\nskip_steady true"
    } else {
        ""
    };
    format!(
        "bentpipe {}\nbuild {BUILD}\nstudy {}\nscenario {}\nstart_jitter {}\nseries {}\nmarks {}{skips}",
        env!("CARGO_PKG_VERSION"),
        study.name,
        hash(&runner.identity()),
        study.start_jitter,
        series.as_deref().unwrap_or("none"),
        checkpoints.collect::<Vec<_>>().join(" "),
    )
}

/// What differs between the header of a journal and the one that is asked for,
/// in words.
pub(crate) fn differences(found: &str, expected: &str) -> String {
    let value = |header: &str, name: &str| {
        let mut lines = header.lines().filter_map(|line| line.split_once(' '));
        lines.find(|(n, _)| *n == name).map(|(_, v)| v.to_owned())
    };
    let mut changed = Vec::new();
    for (name, words) in [
        ("bentpipe", "the version of bentpipe"),
        (
            "build",
            "the build of bentpipe (its sources, at the same version)",
        ),
        ("study", "the name of the study"),
        ("scenario", "the scenario or a file that it names"),
        ("start_jitter", "`start_jitter`"),
        ("skip_steady", "`skip_steady`"),
        ("series", "`series`"),
        ("marks", "`marks`"),
        (
            "file",
            "the study file, or which points and replications of it are run,",
        ),
    ] {
        let (was, is) = (value(found, name), value(expected, name));
        match (was, is) {
            (Some(was), Some(is)) if was == is => {}
            // Only shards say it, or studies that skip.
            (None, None) => {}
            // One of an earlier program says more in its first line.
            (Some(was), Some(is)) if name == "bentpipe" && !was.contains(' ') => {
                changed.push(format!("{words} (it was {was}, now {is})"));
            }
            _ => changed.push(words.to_owned()),
        }
        // What another program says of the rest need not mean the same.
        if matches!(name, "bentpipe" | "build") && !changed.is_empty() {
            break;
        }
    }
    changed.join(", ")
}

#[cfg(test)]
#[path = "../sources.rs"]
mod sources;

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::{Path, PathBuf};

    #[test]
    fn the_build_is_known_by_its_sources() {
        let own = Path::new(env!("CARGO_MANIFEST_DIR"));
        let files = sources::files(own);
        if files.is_empty() {
            assert_eq!(BUILD, "release", "this is a package");
            return;
        }
        for expected in ["sim/src/simulation.rs", "bpf/native.c", "Cargo.lock"] {
            assert!(
                files.iter().any(|file| file.ends_with(expected)),
                "{expected}"
            );
        }
        assert_eq!(sources::fingerprint(own, &files).unwrap(), BUILD);
    }

    #[test]
    fn any_change_of_a_source_is_another_build_and_ends_of_lines_are_none() {
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join("study");
        assert!(sources::files(&own).is_empty(), "not in the repository");
        fs::create_dir(&own).unwrap();
        let write = |name: &str, text: &str| {
            let path = own.join(name);
            fs::write(&path, text).unwrap();
            path
        };
        let of = |files: &[PathBuf]| sources::fingerprint(&own, files).unwrap();
        let all = [write("a.rs", "one\ntwo\n"), write("b.rs", "")];
        let first = of(&all);
        assert_eq!(first, of(&all));
        write("a.rs", "one\r\ntwo\r\n");
        assert_eq!(first, of(&all));
        write("a.rs", "one\ntwo \n");
        assert_ne!(first, of(&all));
        // Text that moves from a file to the next is a change.
        write("a.rs", "one\n");
        write("b.rs", "two\n");
        assert_ne!(first, of(&all));
        assert_ne!(of(&all), of(&all[..1]));
    }

    #[test]
    fn a_journal_of_another_build_is_told_from_one_of_another_version() {
        let of = |version: &str, build: &str| {
            format!("bentpipe {version}{build}\nstudy s\nscenario 1\nstart_jitter true")
        };
        let now = of("0.1.0", "\nbuild 11");
        let build = "the build of bentpipe (its sources, at the same version)";
        assert_eq!(differences(&of("0.1.0", "\nbuild 12"), &now), build);
        // Before builds were told apart.
        assert_eq!(differences(&of("0.1.0", ""), &now), build);
        let older = differences(&of("0.0.9", "\nbuild 12"), &now);
        assert_eq!(older, "the version of bentpipe (it was 0.0.9, now 0.1.0)");
        assert_eq!(differences(&now, &now), "");
    }
}
