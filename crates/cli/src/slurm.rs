//! `bentpipe study --slurm`: an array job with a task per shard, and a job behind it that
//! merges them.

use crate::args;
use crate::exit::{Failure, Status, talk};
use crate::output::Output;
use crate::progress::short;
use crate::shards::{Part, SLURM, SLURM_ARRAY, command, quoted};
use bentpipe_outcome::write_whole;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Command;

/// The script that merges.
const MERGE: &str = "merge.sh";

/// How long a shard takes where the user does not say how many there are, seconds of one
/// core.
const SHARD: f64 = 600.0;

/// Shards, unless the user says more: as large an array as Slurm takes by default.
const MOST: usize = 1000;

/// Times that missing shards are submitted again.
const RETRIES: u32 = 2;

/// Writes, prints and submits the scripts.
pub(crate) fn main(
    part: &Part,
    slurm: &args::Slurm,
    threads: Option<u16>,
    out: &mut Output,
) -> Result<Status, Failure> {
    let scripts = Scripts::new(part, slurm, threads)?;
    part.note(scripts.shards)?;
    let folder = part.folder().join(SLURM);
    fs::create_dir_all(&folder).map_err(|e| Failure::file("create", &folder, e))?;
    let (array, merge) = (folder.join(SLURM_ARRAY), folder.join(MERGE));
    for (path, text) in [(&array, &scripts.array), (&merge, &scripts.merge)] {
        write_whole(path, text.as_bytes()).map_err(|e| Failure::new(e.to_string()))?;
        out.strong(path.display())?;
        out.line("")?;
        // Not broken to the width of a terminal: it may be pasted.
        writeln!(out.writer(), "{text}")?;
    }
    out.flush()?;
    let campaign = &part.campaign;
    talk(format_args!(
        "{} runs in {}, about {} of one core each",
        campaign.runs(),
        match scripts.shards {
            1 => "one shard".to_owned(),
            n => format!("{n} shards"),
        },
        short(campaign.seconds() / scripts.shards as f64)
    ));
    if slurm.dry_run {
        talk(format_args!(
            "nothing was submitted; to do it: job=$(sbatch --parsable {0}) && sbatch \
             --dependency=afterany:${{job%%;*}} {1}",
            quoted(&array),
            quoted(&merge)
        ));
        return Ok(Status::Done);
    }
    let job = sbatch(&array, &[])?;
    let behind = format!("--dependency=afterany:{job}");
    let last = sbatch(&merge, &[behind])?;
    talk(format_args!(
        "submitted: job {job} runs the shards, job {last} merges them; `squeue -j {job},{last}` \
         says how far they are, and the logs are in {}",
        folder.display()
    ));
    Ok(Status::Done)
}

/// Submits a script, and returns the number of its job.
fn sbatch(script: &Path, options: &[String]) -> Result<String, Failure> {
    let mut command = Command::new("sbatch");
    command.arg("--parsable").args(options).arg(script);
    let output = command.output().map_err(|e| {
        Failure::new(format!(
            "cannot run sbatch: {e}\n  submit from a machine of the cluster; the scripts are in {}",
            script.parent().unwrap_or(script).display()
        ))
    })?;
    let said = String::from_utf8_lossy(&output.stdout);
    let job = said.trim().split(';').next().unwrap_or("").to_owned();
    if output.status.success() && !job.is_empty() {
        return Ok(job);
    }
    let why = String::from_utf8_lossy(&output.stderr);
    Err(Failure::new(format!(
        "sbatch did not take {}: {}",
        script.display(),
        why.trim()
    )))
}

/// What a shell calls this program by: `BENTPIPE_COMMAND`, where another program such as
/// Python's interpreter carries the command, or the file of the program.
fn program() -> Result<String, Failure> {
    if let Ok(command) = std::env::var("BENTPIPE_COMMAND") {
        return Ok(command);
    }
    let file = std::env::current_exe();
    let file = file.map_err(|e| Failure::new(format!("cannot find the program itself: {e}")))?;
    Ok(quoted(&file))
}

/// The scripts of a study.
struct Scripts {
    shards: usize,
    array: String,
    merge: String,
}

impl Scripts {
    fn new(part: &Part, slurm: &args::Slurm, threads: Option<u16>) -> Result<Scripts, Failure> {
        let campaign = &part.campaign;
        let shards = match slurm.tasks {
            Some(n) => n as usize,
            None => campaign.tasks_of(SHARD).len().min(MOST),
        };
        let (program, cores) = (program()?, threads.unwrap_or(1));
        let longest = campaign
            .tasks(shards)
            .iter()
            .map(|t| t.seconds)
            .fold(0.0, f64::max);
        let time = slurm
            .time
            .clone()
            .unwrap_or_else(|| limit(longest / f64::from(cores)));
        let folder = part.folder().join(SLURM);
        let name = campaign.name();
        let mut common = String::new();
        if let Some(partition) = &slurm.partition {
            common.push_str(&format!("#SBATCH --partition={partition}\n"));
        }
        for option in &slurm.sbatch {
            common.push_str(&format!("#SBATCH {option}\n"));
        }
        let log = |what: &str| quoted(&folder.join(what));
        let shard = format!("\"$SLURM_ARRAY_TASK_ID/{shards}\"");
        let run = command(part, &program, &shard, Some(cores));
        let array = format!(
            "#!/bin/sh\n\
             #SBATCH --job-name={name}\n\
             #SBATCH --array=1-{shards}\n\
             #SBATCH --ntasks=1\n\
             #SBATCH --cpus-per-task={cores}\n\
             #SBATCH --time={time}\n\
             #SBATCH --requeue\n\
             #SBATCH --open-mode=append\n\
             #SBATCH --output={}\n\
             {common}\
             # A shard that was lost with its node goes on where it stopped.\n\
             exec {run}\n",
            log("shard-%a.log")
        );
        let (results, script) = (quoted(&part.folder()), quoted(&folder.join(SLURM_ARRAY)));
        let (itself, merge_time) = (
            quoted(&folder.join(MERGE)),
            limit(campaign.runs() as f64 * 4e-4),
        );
        let merge = format!(
            "#!/bin/sh\n\
             #SBATCH --job-name={name}-merge\n\
             #SBATCH --ntasks=1\n\
             #SBATCH --cpus-per-task=1\n\
             #SBATCH --time={merge_time}\n\
             #SBATCH --requeue\n\
             #SBATCH --open-mode=append\n\
             #SBATCH --output={}\n\
             {common}\
             # Shards that failed are submitted again, {RETRIES} times; then the merge names them.\n\
             try=${{BENTPIPE_TRY:-0}}\n\
             missing=$({program} study merge {results} --missing) || exit\n\
             if [ -n \"$missing\" ] && [ \"$try\" -lt {RETRIES} ]; then\n  \
               job=$(sbatch --parsable --array=\"$missing\" {script}) &&\n    \
                 sbatch --dependency=\"afterany:${{job%%;*}}\" \\\n      \
                   --export=\"ALL,BENTPIPE_TRY=$((try + 1))\" {itself} && exit 0\n\
             fi\n\
             exec {program} study merge {results}\n",
            log("merge.log")
        );
        Ok(Scripts {
            shards,
            array,
            merge,
        })
    }
}

/// The time limit for work that is estimated at so many seconds: what is killed for a bad
/// estimate costs more than what is idle.
fn limit(seconds: f64) -> String {
    let minutes = ((4.0 * seconds / 60.0).ceil() as u64).max(10);
    format!("{:02}:{:02}:00", minutes / 60, minutes % 60)
}

#[cfg(test)]
mod tests {
    use super::limit;

    #[test]
    fn limits_are_generous_and_never_tiny() {
        assert_eq!(limit(1.0), "00:10:00");
        assert_eq!(limit(3600.0), "04:00:00");
    }
}
