//! `bentpipe study --shard` and `bentpipe study merge`: a study in parts.

use crate::args;
use crate::exit::{Failure, Status, talk};
use crate::live;
use crate::load;
use crate::output::Output;
use crate::progress::Progress;
use crate::study;
use bentpipe::{Campaign, Study, Task};
use bentpipe_outcome::write_whole;
use bentpipe_report::text::shell_word;
use bentpipe_study::{ExecuteError, ReproduceError};
use serde::{Deserialize, Serialize};
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// The folder of shards in that of a study's results.
const FOLDER: &str = "shards";

/// What merging needs to know of the command that ran the shards: a file beside them.
const FILE: &str = "campaign.json";

/// The folder of Slurm's scripts and logs in that of a study's results.
pub(crate) const SLURM: &str = "slurm";

/// The script of a shard in it.
pub(crate) const SLURM_ARRAY: &str = "shards.sh";

/// What was run, as that file has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Manifest {
    /// The study.
    study: PathBuf,
    /// The points of axes that were chosen.
    only: Vec<String>,
    /// Replications, where fewer were asked for.
    runs: Option<u32>,
    /// What the shards are of.
    fingerprint: String,
    /// How many shards there are, by the last command that ran one.
    shards: usize,
}

/// A study that is run in parts.
pub(crate) struct Part {
    pub(crate) campaign: Campaign,
    /// Its file.
    pub(crate) file: PathBuf,
    /// The folder of results.
    pub(crate) results: PathBuf,
    pub(crate) only: Vec<String>,
    pub(crate) runs: Option<u32>,
}

impl Part {
    /// Plans `study`, of which the points are chosen already.
    pub(crate) fn new(
        file: &Path,
        study: &Study,
        place: &args::Where,
        results: &Path,
    ) -> Result<Part, Failure> {
        if !load::name(file).eq(file) {
            return Err(Failure::new(
                "shards read the study again and again: it must be a file, not a pipe",
            ));
        }
        let campaign = study.campaign(place.runs)?;
        let absolute =
            |path: &Path| std::path::absolute(path).map_err(|e| Failure::file("find", path, e));
        Ok(Part {
            campaign,
            file: absolute(file)?,
            results: absolute(results)?,
            only: place.only.clone(),
            runs: place.runs,
        })
    }

    /// Notes for merging what is run, in `n` shards.
    pub(crate) fn note(&self, n: usize) -> Result<(), Failure> {
        let folder = self.folder().join(FOLDER);
        fs::create_dir_all(&folder).map_err(|e| Failure::file("create", &folder, e))?;
        let manifest = Manifest {
            study: self.file.clone(),
            only: self.only.clone(),
            runs: self.runs,
            fingerprint: self.campaign.fingerprint().to_owned(),
            shards: n,
        };
        let path = folder.join(FILE);
        if read_manifest(&path).is_ok_and(|known| known == manifest) {
            return Ok(());
        }
        let json =
            serde_json::to_vec_pretty(&manifest).map_err(|e| Failure::file("write", &path, e))?;
        write_whole(&path, &json).map_err(|e| Failure::new(e.to_string()))
    }

    /// The folder of the study's results.
    pub(crate) fn folder(&self) -> PathBuf {
        self.results.join(self.campaign.name())
    }

    /// Runs shard `k` of `n`.
    pub(crate) fn run(
        &self,
        (k, n): (usize, usize),
        threads: Option<u16>,
    ) -> Result<Status, Failure> {
        self.note(n)?;
        let task = self.campaign.tasks(n).swap_remove(k - 1);
        let bar = Progress::of_runs(&format!("{} {task}", self.campaign.name()));
        let watch = |at: &bentpipe::Progress| {
            bar.runs(at);
            ControlFlow::Continue(())
        };
        let threads = threads.map_or(0, usize::from);
        let ran = self
            .campaign
            .run_shard(&task, &self.results, threads, &watch);
        drop(bar);
        ran.map_err(|error| match error {
            ReproduceError::Execute(changed @ ExecuteError::Changed { .. }) => {
                Failure::new(format!(
                    "{changed}\n  remove the file to run the shard again, or choose another --out"
                ))
            }
            other => bentpipe::Error::from(other).into(),
        })?;
        talk(format_args!(
            "shard {task} of `{}` is complete ({} runs); after all {n}: bentpipe study merge {}",
            self.campaign.name(),
            task.runs.len(),
            quoted(&self.results)
        ));
        Ok(Status::Done)
    }
}

fn read_manifest(path: &Path) -> Result<Manifest, Failure> {
    let bytes = fs::read(path).map_err(|e| Failure::file("read", path, e))?;
    serde_json::from_slice(&bytes).map_err(|e| Failure::file("read", path, e))
}

/// The folder of a study's results with shards, in `dir` or `dir` itself.
fn find(dir: &Path) -> Result<PathBuf, Failure> {
    let has_shards = |folder: &Path| folder.join(FOLDER).join(FILE).is_file();
    if has_shards(dir) {
        return Ok(dir.to_path_buf());
    }
    let entries = fs::read_dir(dir).map_err(|e| Failure::file("read", dir, e))?;
    let folders = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut found: Vec<PathBuf> = folders.filter(|folder| has_shards(folder)).collect();
    found.sort();
    match found.as_slice() {
        [one] => Ok(one.clone()),
        [] => Err(Failure::new(format!(
            "there are no shards in `{0}`\n  bentpipe study FILE --shard 1/4 --out {0} runs the \
             first of four",
            dir.display()
        ))),
        several => {
            let names: Vec<String> = several.iter().map(|f| f.display().to_string()).collect();
            Err(Failure::new(format!(
                "`{}` has the shards of several studies; name one of {}",
                dir.display(),
                names.join(", ")
            )))
        }
    }
}

/// `bentpipe study merge`.
pub(crate) fn merge(args: &args::Merge, out: &mut Output) -> Result<Status, Failure> {
    let folder = find(&args.dir)?;
    let manifest = read_manifest(&folder.join(FOLDER).join(FILE))?;
    let file = args.study.clone().unwrap_or(manifest.study);
    let mut study = study::load(&file)?;
    live::keep(study.studies_mut(), &manifest.only)?;
    let campaign = study.campaign(manifest.runs)?;
    if campaign.fingerprint() != manifest.fingerprint {
        return Err(Failure::new(format!(
            "the shards in `{}` are of another version of `{}`, of what it names or of bentpipe\n  \
             bentpipe study {} --shard K/N with another --out runs the study as it is now",
            folder.display(),
            file.display(),
            quoted(&file),
        )));
    }
    let results = match folder.file_name().is_some_and(|n| n == campaign.name()) {
        true => parent(&folder),
        false => {
            return Err(Failure::new(format!(
                "`{}` is not the folder of `{}`",
                folder.display(),
                campaign.name()
            )));
        }
    };
    let collector = campaign.collector(&results, false);
    let collector = collector.map_err(bentpipe::Error::from)?;
    let tasks = campaign.tasks(manifest.shards);
    let missing: Vec<&Task> = tasks.iter().filter(|t| !collector.is_done(t)).collect();
    if args.missing {
        let indices: Vec<usize> = missing.iter().map(|t| t.index).collect();
        out.line(ranges(&indices))?;
        return Ok(Status::Done);
    }
    if !missing.is_empty() {
        let progress = collector.progress();
        let part = Part {
            campaign: campaign.clone(),
            file,
            results,
            only: manifest.only,
            runs: manifest.runs,
        };
        return Err(incomplete(&part, &missing, &tasks, &progress));
    }
    let made = collector.finish().map_err(bentpipe::Error::from)?;
    study::present(&study, &made, &results, args.json, out)
}

fn parent(folder: &Path) -> PathBuf {
    match folder.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_path_buf(),
        _ => folder.join(".."),
    }
}

/// Which shards are missing, and what to run.
fn incomplete(
    part: &Part,
    missing: &[&Task],
    tasks: &[Task],
    progress: &bentpipe::Progress,
) -> Failure {
    let indices: Vec<usize> = missing.iter().map(|t| t.index).collect();
    let n = tasks.len();
    let numbers = ranges(&indices);
    let which = match indices.as_slice() {
        [_] => format!("shard {numbers} of {n} is"),
        several => format!("{} of {n} shards are", several.len()),
    };
    let names = match indices.len() {
        1 => String::new(),
        _ => format!(": {numbers}"),
    };
    let mut text = format!(
        "{which} missing or not complete{names} ({} of {} runs are there)\n  each goes on where it \
         stopped: {}",
        progress.done,
        progress.total,
        command(part, "bentpipe", &format!("{}/{n}", indices[0]), None)
    );
    let script = part.folder().join(SLURM).join(SLURM_ARRAY);
    if script.is_file() {
        text.push_str(&format!(
            "\n  or on Slurm: sbatch --array={numbers} {}",
            quoted(&script)
        ));
    }
    Failure::new(text)
}

/// The command that runs a shard, for a shell.
pub(crate) fn command(part: &Part, program: &str, shard: &str, threads: Option<u16>) -> String {
    let mut command = format!(
        "{program} study {} --out {} --shard {shard}",
        quoted(&part.file),
        quoted(&part.results)
    );
    for only in &part.only {
        command.push_str(&format!(" --only {}", quoted(Path::new(only))));
    }
    if let Some(runs) = part.runs {
        command.push_str(&format!(" --runs {runs}"));
    }
    if let Some(threads) = threads {
        command.push_str(&format!(" --threads {threads}"));
    }
    command
}

/// A path as one word of a shell.
pub(crate) fn quoted(path: &Path) -> String {
    shell_word(&path.display().to_string())
}

/// `3,17-18`, as Slurm has the tasks of an array.
pub(crate) fn ranges(indices: &[usize]) -> String {
    let mut spans: Vec<(usize, usize)> = Vec::new();
    for index in indices {
        match spans.last_mut() {
            Some((_, last)) if *last + 1 == *index => *last = *index,
            _ => spans.push((*index, *index)),
        }
    }
    let texts = spans.iter().map(|(first, last)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    });
    texts.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_shards_are_as_slurm_has_them() {
        assert_eq!(ranges(&[3, 17, 18, 19, 40]), "3,17-19,40");
        assert_eq!(ranges(&[]), "");
    }

    #[test]
    fn paths_are_one_word_of_a_shell() {
        assert_eq!(quoted(Path::new("/a/b-1.toml")), "/a/b-1.toml");
        assert_eq!(quoted(Path::new("it's here")), "'it'\\''s here'");
    }
}
