//! What the settings of a question do on unseen seeds, made as it is asked for and kept
//! in a file, so that another version of the advice is held against the same runs.

use bentpipe::compare::{Activity, Answer, Row, RunResult};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Seeds that no answer is made of begin here.
const UNSEEN: u64 = 1_000_000;

/// What one run says of the users who have the setting.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(crate) struct Own {
    /// Their mean time, seconds; `None` if one did not end.
    pub(crate) time_s: Option<f64>,
    /// Packets sent again / packets sent.
    pub(crate) resent: f64,
}

/// The runs of one setting.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct Found {
    /// Every user has the setting.
    pub(crate) own: Vec<Own>,
    /// Half of the users have the default: their mean time, seconds.
    pub(crate) others: Vec<Option<f64>>,
}

/// The runs of every setting that was asked for.
pub(crate) struct Truth<'a> {
    answer: &'a Answer,
    file: Option<PathBuf>,
    kept: BTreeMap<String, Found>,
    grew: bool,
}

impl<'a> Truth<'a> {
    /// With what `file` keeps of it.
    pub(crate) fn of(answer: &'a Answer, file: Option<&Path>) -> Result<Truth<'a>, String> {
        let mut kept = BTreeMap::new();
        if let Some(file) = file.filter(|file| file.exists()) {
            let wrong = |e: &dyn std::fmt::Display| format!("{}: {e}", file.display());
            let text = std::fs::read_to_string(file).map_err(|e| wrong(&e))?;
            kept = serde_json::from_str(&text).map_err(|e| wrong(&e))?;
        }
        Ok(Truth {
            answer,
            file: file.map(Path::to_path_buf),
            kept,
            grew: false,
        })
    }

    /// Writes what was run.
    pub(crate) fn keep(&self) -> Result<(), String> {
        let Some(file) = self.file.as_ref().filter(|_| self.grew) else {
            return Ok(());
        };
        let wrong = |e: &dyn std::fmt::Display| format!("{}: {e}", file.display());
        let text = serde_json::to_string(&self.kept).map_err(|e| wrong(&e))?;
        // Whole or not at all: the next call reads it.
        let part = file.with_extension("part");
        std::fs::write(&part, text).map_err(|e| wrong(&e))?;
        std::fs::rename(&part, file).map_err(|e| wrong(&e))
    }

    /// The first `runs` runs of a row, or more.
    pub(crate) fn own(&mut self, row: usize, runs: usize) -> Result<&[Own], String> {
        let answer = self.answer;
        let row = &answer.rows[row];
        let found = self.kept.entry(name(row)).or_default();
        if found.own.len() < runs {
            let seeds = seeds(found.own.len(), runs);
            let new = answer.rerun(row, 0, &seeds).map_err(|e| e.to_string())?;
            found.own.extend(new.iter().map(|run| Own {
                time_s: run.time_s(Activity::Download),
                resent: run.resent_share,
            }));
            self.grew = true;
        }
        Ok(&found.own)
    }

    /// The same of the other users in runs that are shared with them.
    pub(crate) fn others(&mut self, row: usize, runs: usize) -> Result<&[Option<f64>], String> {
        let answer = self.answer;
        let row = &answer.rows[row];
        let found = self.kept.entry(name(row)).or_default();
        if found.others.len() < runs {
            let seeds = seeds(found.others.len(), runs);
            let new = answer.rerun_shared(row, 0, &seeds);
            let new = new.map_err(|e| e.to_string())?;
            let time = |run: &RunResult| run.others_time_s(Activity::Download);
            found.others.extend(new.iter().map(time));
            self.grew = true;
        }
        Ok(&found.others)
    }
}

fn seeds(has: usize, wants: usize) -> Vec<u64> {
    (has..wants).map(|run| UNSEEN + run as u64).collect()
}

/// A row in words.
pub(crate) fn name(row: &Row) -> String {
    match row.pep {
        bentpipe::compare::Pep::None => row.name.clone(),
        pep => format!("{} behind {}", row.name, pep.name()),
    }
}
