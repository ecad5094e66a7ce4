//! One run of a study again: the scenario that ran, and the command that runs it.

use super::dataset::Dataset;
use super::{found, plan};
use crate::Problem;
use crate::app::App;
use crate::scenario::with_value;
use bentpipe::Study;
use bentpipe_report::text::shell_word;
use bentpipe_study::{Runner as _, Setting, Simulator, settings};
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::Path;

/// Which run.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Question {
    /// Its number in the study.
    run: u64,
}

/// The command, and the scenario as text; both are null where the study's file is not in
/// the folder that was opened. `note` says what there is to know.
///
/// # Errors
/// If the study's file is wrong.
pub(super) fn again(app: &App, dataset: &Dataset, question: &Question) -> Result<Value, Problem> {
    let name = dataset.name();
    let Some((file, study)) = file_of(app, name)? else {
        return Ok(json!({
            "command": null,
            "text": null,
            "note": format!(
                "The file of the study `{name}` is not in the folder that was opened: open a \
                 folder that holds both the file and the results to run it again."
            ),
        }));
    };
    let spec = study.spec();
    let replications = u64::from(spec.replications.max(1));
    let cell = usize::try_from(question.run / replications).unwrap_or(usize::MAX);
    if cell >= spec.cells() {
        return Ok(json!({
            "command": null,
            "text": null,
            "note": "The study's file has changed since: it has no such run.",
        }));
    }
    let seed = spec.seed.wrapping_add(question.run % replications);
    let set = settings(spec, cell);
    let scenario = spec.scenario.as_deref().unwrap_or("");
    let above = Path::new(&file).parent().unwrap_or(Path::new(""));
    let path = above.join(scenario).display().to_string();
    let mut command = format!("bentpipe run {}", shell_word(&path));
    for Setting { path, value } in &set {
        command += &format!(" --set {}", shell_word(&format!("{path}={}", plain(value))));
    }
    command += &format!(" --seed {seed}");
    Ok(json!({
        "command": command,
        "text": text(&study, &set, seed),
        "name": format!("{name}-{}", question.run),
        "note": note(dataset, &study, &set, question.run)?,
    }))
}

/// The file of the study of that name in the opened folder, and the study.
pub(super) fn file_of(app: &App, name: &str) -> Result<Option<(String, Study)>, Problem> {
    for file in found::files(app)? {
        // A file that cannot be read is not the one that is sought.
        let Ok(text) = app.files()?.text(&file) else {
            continue;
        };
        // Most files are of other studies: only one that may be it is read as a whole.
        if name.is_empty() || !text.contains(name) {
            continue;
        }
        let path = app.files()?.resolve(&file)?;
        if let Ok(study) = Study::parse(&path, &text)
            && study.spec().name == name
        {
            return Ok(Some((file, study)));
        }
    }
    Ok(None)
}

/// The scenario with everything that the study sets; `None` where its text has no place
/// for a value.
fn text(study: &Study, set: &[Setting], seed: u64) -> Option<String> {
    let loaded = study.studies().get(&study.spec().name)?;
    let (_, scenario) = loaded.scenario.as_ref()?;
    let mut text = scenario.clone();
    for Setting { path, value } in set {
        let path: Vec<String> = path.split('.').map(str::to_owned).collect();
        text = with_value(&text, path, value).ok()?;
    }
    with_value(&text, vec!["seed".to_owned()], &seed.to_string()).ok()
}

/// Whether it is the same run, and what differs.
fn note(dataset: &Dataset, study: &Study, set: &[Setting], run: u64) -> Result<String, Problem> {
    let spec = study.spec();
    let mut notes: Vec<String> = Vec::new();
    // A check of a study with programs would load them.
    let is_plain = plan::without_programs(study).is_ok();
    let loaded = study.studies().get(&spec.name).filter(|_| is_plain);
    let simulator = loaded.and_then(|loaded| Simulator::of_study(loaded).ok());
    let now = simulator.and_then(|simulator| simulator.check(set).ok());
    let then = dataset.scenario_hash(run)?;
    if now.is_some() && then.is_some() && now != then {
        notes.push(
            "The study's file or its scenario has changed since these results were made: this \
             is not quite the run in the table."
                .to_owned(),
        );
    }
    if spec.start_jitter > bentpipe::units::Duration::ZERO {
        notes.push(format!(
            "The study shifts the starts of flows by up to {} in each run, which this does not.",
            spec.start_jitter
        ));
    }
    Ok(notes.join(" "))
}

/// A TOML value as the command takes it: a text without its quotes.
fn plain(value: &str) -> String {
    let inner = value.strip_prefix('"').and_then(|v| v.strip_suffix('"'));
    match inner {
        Some(inner) if !inner.contains(['"', '\\']) => inner.to_owned(),
        _ => value.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{plain, shell_word};

    #[test]
    fn values_are_words_of_a_shell() {
        assert_eq!(plain("\"2 Mbit/s\""), "2 Mbit/s");
        assert_eq!(plain("[1, \"a\"]"), "[1, \"a\"]");
        assert_eq!(shell_word("a.b=2 Mbit/s"), "'a.b=2 Mbit/s'");
        assert_eq!(shell_word("seed=1"), "seed=1");
        assert_eq!(shell_word("it's"), "'it'\\''s'");
    }
}
