//! The runs of a study as its folder has them.

use super::column::{self, Cells};
use crate::Problem;
use crate::recent::Recent;
use bentpipe::outcome::{Column, ColumnFile, Kind, Provenance};
use rayon::prelude::*;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Files of a study, at most.
const MOST_FILES: usize = 20_000;

/// Folders within folders, at most.
const MOST_LEVELS: usize = 16;

/// Runs of a study, at most.
const MOST_RUNS: u64 = 20_000_000;

/// Bytes of columns that are held at the same time.
const MOST_BYTES: u64 = 768 << 20;

/// The columns that are held of all studies that are open, by the number of the study's
/// dataset and their name.
pub(super) type Columns = Recent<(u64, String), Arc<Cells>, MOST_BYTES>;

/// The runs of a study. Only the footers of its files are read at first; columns are
/// read when they are asked for.
#[derive(Debug)]
pub(super) struct Dataset {
    /// Different for each that is opened.
    id: u64,
    files: Vec<ResultFile>,
    runs: usize,
    /// The file, or the pattern of the files.
    path: PathBuf,
    columns: Vec<Column>,
    axes: Vec<Axis>,
    provenance: Option<Provenance>,
    memory: Columns,
}

/// A file with the labels that its folders say.
#[derive(Clone, Debug)]
struct ResultFile {
    file: ColumnFile,
    labels: Vec<(String, String)>,
}

/// An axis of the study.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    /// Its name in the study.
    pub(super) name: String,
    /// The column of its labels.
    pub(super) column: String,
    /// The column of its numbers, where it has any, and their unit.
    number: Option<(String, &'static str)>,
    /// The points that the runs have, in the order of the study.
    pub(super) points: Vec<String>,
    /// The number of each; `None` unless all have one.
    pub(super) numbers: Option<Vec<f64>>,
}

impl Axis {
    /// The unit of its numbers.
    pub(super) fn unit(&self) -> &'static str {
        self.number.as_ref().map_or("", |(_, unit)| unit)
    }
}

impl Dataset {
    /// Opens the results in `folder`.
    ///
    /// # Errors
    /// If there are none, or they cannot be read.
    pub(super) fn open(folder: &Path, memory: &Columns) -> Result<Dataset, Problem> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let mut paths = Vec::new();
        let mut path = folder.join("results/**/*.parquet");
        let single = folder.join("results.parquet");
        // A link might lead out of the folder that was opened.
        let is_file = |path: &Path| fs::symlink_metadata(path).is_ok_and(|of| of.is_file());
        if is_file(&single) {
            path.clone_from(&single);
            paths.push((single, Vec::new()));
        } else if fs::symlink_metadata(folder.join("results")).is_ok_and(|of| of.is_dir()) {
            parts(&folder.join("results"), &mut Vec::new(), &mut paths)?;
        }
        if paths.is_empty() {
            return Err(Problem::missing("there are no results of a study"));
        }
        let files = paths.into_par_iter().map(|(path, labels)| {
            let file = ColumnFile::open(&path).map_err(|e| Problem::wrong(e.to_string()))?;
            Ok(ResultFile { file, labels })
        });
        let mut files: Vec<ResultFile> = files.collect::<Result<_, Problem>>()?;
        // Folders are in the order of the alphabet, runs in that of the study.
        files.sort_by_cached_key(|part| part.file.least("run").unwrap_or(u64::MAX));
        let runs = files.iter().map(|part| part.file.rows());
        let runs = runs.fold(0, u64::saturating_add);
        if runs > MOST_RUNS {
            let message = format!("{runs} runs are more than the {MOST_RUNS} that fit");
            return Err(Problem::limit(message));
        }
        let first = &files[0];
        let columns = first.file.columns().to_vec();
        for part in &files {
            let is_other = |(a, b): (&Column, &Column)| a.name != b.name || a.kind != b.kind;
            let known = part.file.columns();
            if known.len() != columns.len() || known.iter().zip(&columns).any(is_other) {
                return Err(Problem::wrong(format!(
                    "{} has other columns than {}: they are of different studies",
                    part.file.path().display(),
                    first.file.path().display()
                )));
            }
        }
        let mut dataset = Dataset {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            axes: axes(&first.labels, &columns),
            provenance: first.file.provenance(),
            columns,
            files,
            // Not more than the limit.
            runs: runs as usize,
            path,
            memory: memory.clone(),
        };
        dataset.read_points()?;
        Ok(dataset)
    }

    /// Reads which points the runs have, and their numbers.
    fn read_points(&mut self) -> Result<(), Problem> {
        for i in 0..self.axes.len() {
            let cells = self.cells(&self.axes[i].column)?;
            let Some(labels) = cells.labels() else {
                continue;
            };
            self.axes[i].points.clone_from(&labels.names);
            let Some((column, _)) = &self.axes[i].number else {
                continue;
            };
            // One time only: they are not kept.
            let numbers = column::numbers(&self.column_files(), column)?;
            let mut found: Vec<Option<f64>> = vec![None; labels.names.len()];
            for (code, x) in labels.codes.iter().zip(&numbers) {
                if let Some(place) = found.get_mut(*code as usize)
                    && place.is_none()
                {
                    *place = Some(*x);
                }
            }
            let found = found.into_iter().map(|x| x.filter(|x| x.is_finite()));
            self.axes[i].numbers = found.collect();
        }
        Ok(())
    }

    fn column_files(&self) -> Vec<&ColumnFile> {
        self.files.iter().map(|part| &part.file).collect()
    }

    /// How many runs there are.
    pub(super) fn runs(&self) -> usize {
        self.runs
    }

    /// The axes, in the order of the study.
    pub(super) fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// The name of the study; empty if the files do not say.
    pub(super) fn name(&self) -> &str {
        let known = self.provenance.as_ref();
        known.map_or("", |known| known.scenario.as_str())
    }

    /// The hash of the scenario of a run, by its number; `None` without such a run.
    ///
    /// # Errors
    /// If the results cannot be read.
    pub(super) fn scenario_hash(&self, run: u64) -> Result<Option<String>, Problem> {
        let (runs, hashes) = (self.cells("run")?, self.cells("scenario_hash")?);
        let mut runs = runs.numbers().unwrap_or_default().iter();
        let place = runs.position(|number| *number == run as f64);
        Ok(place.and_then(|place| {
            let labels = hashes.labels()?;
            let code = labels.codes.get(place)?;
            labels.names.get(*code as usize).cloned()
        }))
    }

    /// The axis with that column of labels.
    pub(super) fn axis(&self, column: &str) -> Option<&Axis> {
        self.axes.iter().find(|axis| axis.column == column)
    }

    /// The column of that name, if it is in the files.
    pub(super) fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// The columns of numbers that a run has, without those of axes.
    pub(super) fn metrics(&self) -> impl Iterator<Item = &Column> {
        self.columns.iter().filter(|column| {
            column.kind != Kind::Text
                && !column.about.starts_with("axis ")
                && !["run", "seed"].contains(&column.name.as_str())
        })
    }

    /// The cells of a column.
    ///
    /// # Errors
    /// If there is no such column, or it cannot be read.
    pub(super) fn cells(&self, name: &str) -> Result<Arc<Cells>, Problem> {
        let key = (self.id, name.to_owned());
        if let Some(cells) = self.memory.used(&key) {
            return Ok(cells);
        }
        // Others may ask for what is held meanwhile.
        let cells = Arc::new(self.read(name)?);
        let bytes = cells.bytes() as u64;
        self.memory.put(key, Arc::clone(&cells), bytes);
        Ok(cells)
    }

    fn read(&self, name: &str) -> Result<Cells, Problem> {
        let files = self.column_files();
        if let Some(column) = self.column(name) {
            return Ok(match column.kind {
                Kind::Text | Kind::Flag => Cells::Labels(column::texts(&files, name)?),
                Kind::Integer | Kind::Number => Cells::Numbers(column::numbers(&files, name)?),
            });
        }
        let of_folder = |part: &ResultFile| {
            let mut labels = part.labels.iter();
            labels.find(|(column, _)| column == name).map(|_| ())
        };
        if self.files.iter().any(|part| of_folder(part).is_none()) {
            return Err(self.unknown(name));
        }
        let labels = self.files.iter().map(|part| {
            let mut labels = part.labels.iter();
            let label = labels.find(|(column, _)| column == name);
            (label.map_or("", |(_, label)| label), part.file.rows())
        });
        Ok(Cells::Labels(column::of_folders(labels)))
    }

    fn unknown(&self, name: &str) -> Problem {
        let columns = self.columns.iter().map(|column| column.name.as_str());
        let axes = self.axes.iter().map(|axis| axis.column.as_str());
        let near = bentpipe_units::nearest(name, columns.chain(axes));
        let near = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
        Problem::wrong(format!("the study has no column `{name}`{near}"))
    }

    /// What the page begins with.
    pub(super) fn document(&self) -> Value {
        let axes = self.axes.iter().map(|axis| {
            json!({
                "name": axis.name,
                "column": axis.column,
                "points": axis.points,
                "numbers": axis.numbers,
                "unit": axis.unit(),
            })
        });
        let metrics = self.metrics().map(
            |column| json!({ "name": column.name, "unit": column.unit, "about": column.about }),
        );
        let provenance = self.provenance.as_ref();
        json!({
            "name": self.name(),
            "version": provenance.map_or("", |known| known.version.as_str()),
            "runs": self.runs,
            "files": self.files.len(),
            "axes": axes.collect::<Vec<_>>(),
            "metrics": metrics.collect::<Vec<_>>(),
            "is_folder": !self.path.ends_with("results.parquet"),
            "path": self.path.display().to_string(),
            "figures": [],
            "file": null,
        })
    }
}

impl Drop for Dataset {
    fn drop(&mut self) {
        self.memory.forget(|(dataset, _)| *dataset == self.id);
    }
}

/// The axes of a study: those that the folders say come first.
fn axes(in_path: &[(String, String)], columns: &[Column]) -> Vec<Axis> {
    let of_files = columns.iter().filter(|column| column.kind == Kind::Text);
    let of_files = of_files.filter_map(|column| {
        let name = column.about.strip_prefix("axis ")?;
        Some((name.to_owned(), column.name.clone()))
    });
    let of_path = in_path.iter().map(|(column, _)| {
        let name = column.strip_prefix("axis_").unwrap_or(column);
        (name.to_owned(), column.clone())
    });
    let named = of_path.chain(of_files);
    let axis = |(name, column): (String, String)| {
        let number = columns.iter().find(|of| {
            let about = of.about.strip_prefix("axis ");
            let about = about.and_then(|about| about.strip_prefix(name.as_str()));
            of.kind != Kind::Text && about.is_some_and(|about| about.starts_with(": "))
        });
        Axis {
            number: number.map(|of| (of.name.clone(), of.unit)),
            name,
            column,
            points: Vec::new(),
            numbers: None,
        }
    };
    named.map(axis).collect()
}

/// A file and the labels of its folders.
type Found = (PathBuf, Vec<(String, String)>);

/// Finds the files of a table that is a folder.
fn parts(
    folder: &Path,
    labels: &mut Vec<(String, String)>,
    found: &mut Vec<Found>,
) -> Result<(), Problem> {
    if labels.len() > MOST_LEVELS {
        return Err(Problem::limit("the folders of the results are too deep"));
    }
    let Ok(entries) = fs::read_dir(folder) else {
        return Ok(());
    };
    for entry in entries.filter_map(Result::ok) {
        let name = entry.file_name().to_string_lossy().into_owned();
        // A link might lead out of the folder that was opened.
        let Ok(kind) = entry.file_type() else {
            continue;
        };
        if kind.is_file() && name.starts_with("part-") && name.ends_with(".parquet") {
            if found.len() >= MOST_FILES {
                let message = format!("the results have more than {MOST_FILES} files");
                return Err(Problem::limit(message));
            }
            found.push((entry.path(), labels.clone()));
        } else if kind.is_dir()
            && let Some((column, label)) = name.split_once('=')
        {
            labels.push((unescaped(column), unescaped(label)));
            parts(&entry.path(), labels, found)?;
            labels.pop();
        }
    }
    Ok(())
}

/// A name or a value as paths in the layout of Hive write it: `2%20Mbit%2Fs`.
fn unescaped(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let hex = after.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        let byte = hex.and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match (first, byte) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            _ => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::unescaped;

    #[test]
    fn folders_say_labels() {
        assert_eq!(unescaped("2%20Mbit%2Fs"), "2 Mbit/s");
        assert_eq!(unescaped("1%25"), "1%");
        assert_eq!(unescaped("50%"), "50%");
        assert_eq!(unescaped("%zz%4"), "%zz%4");
    }
}
