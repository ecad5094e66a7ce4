//! The header of a journal: what its results depend on.

use crate::plan::hash;
use crate::runner::Runner;
use crate::study::Study;

/// What a journal belongs to: everything that outcomes depend on, beside what
/// the key of a run says. A line each, which begins with its name. Not which
/// build of the program wrote it: its cargo features change no result.
pub(crate) fn header(study: &Study, runner: &dyn Runner) -> String {
    let series = study.series.map(|interval| interval.to_string());
    let checkpoints = study.marks.iter().map(|at| at.as_nanos().to_string());
    format!(
        "bentpipe {}\nstudy {}\nscenario {}\nstart_jitter {}\nseries {}\nmarks {}",
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
        ("study", "the name of the study"),
        ("scenario", "the scenario or a file that it names"),
        ("start_jitter", "`start_jitter`"),
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
            // Only shards say it.
            (None, None) => {}
            // One of an earlier program says more in its first line.
            (Some(was), Some(is)) if name == "bentpipe" && !was.contains(' ') => {
                changed.push(format!("{words} (it was {was}, now {is})"));
            }
            _ => changed.push(words.to_owned()),
        }
        if name == "bentpipe" && !changed.is_empty() {
            break;
        }
    }
    changed.join(", ")
}
