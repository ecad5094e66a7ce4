//! Columns of a study's runs in memory.

use crate::Problem;
use bentpipe::outcome::ColumnFile;
use rayon::prelude::*;
use std::collections::HashMap;

/// Different texts of a column, at most.
const MOST_NAMES: usize = 1 << 20;

/// The code of a cell that is in no group.
pub(super) const NONE: u32 = u32::MAX;

/// The cells of a column, a cell for each run.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Cells {
    /// Texts.
    Labels(Labels),
    /// Numbers; one that is missing is not a number.
    Numbers(Vec<f64>),
}

/// A column of texts: each text once, and its index for each run.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Labels {
    /// The index of each run's text.
    pub(super) codes: Vec<u32>,
    /// The texts, in the order in which they come; one that is missing is empty.
    pub(super) names: Vec<String>,
}

impl Cells {
    /// Bytes that they take.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Cells::Numbers(numbers) => numbers.len() * size_of::<f64>(),
            Cells::Labels(labels) => {
                let names = labels.names.iter().map(|name| name.len() + 24);
                labels.codes.len() * size_of::<u32>() + names.sum::<usize>()
            }
        }
    }

    /// The numbers; `None` of texts.
    pub(super) fn numbers(&self) -> Option<&[f64]> {
        match self {
            Cells::Numbers(numbers) => Some(numbers),
            Cells::Labels(_) => None,
        }
    }

    /// The texts; `None` of numbers.
    pub(super) fn labels(&self) -> Option<&Labels> {
        match self {
            Cells::Labels(labels) => Some(labels),
            Cells::Numbers(_) => None,
        }
    }
}

/// Builds a column of texts.
#[derive(Default)]
struct Names {
    labels: Labels,
    known: HashMap<String, u32>,
    /// The last text and its code: neighbours are often the same.
    last: Option<(String, u32)>,
    is_full: bool,
}

impl Names {
    fn put(&mut self, text: &str) {
        if let Some((last, code)) = &self.last
            && last == text
        {
            self.labels.codes.push(*code);
            return;
        }
        let code = self.code(text);
        self.labels.codes.push(code);
        self.last = Some((text.to_owned(), code));
    }

    fn code(&mut self, text: &str) -> u32 {
        if let Some(code) = self.known.get(text) {
            return *code;
        }
        if self.labels.names.len() >= MOST_NAMES {
            self.is_full = true;
            return NONE;
        }
        // There are fewer of them than the limit.
        let code = self.labels.names.len() as u32;
        self.labels.names.push(text.to_owned());
        self.known.insert(text.to_owned(), code);
        code
    }

    fn finish(self, column: &str) -> Result<Labels, Problem> {
        match self.is_full {
            false => Ok(self.labels),
            true => Err(Problem::limit(format!(
                "`{column}` has more than {MOST_NAMES} different texts"
            ))),
        }
    }
}

/// Reads a column of texts of these files, one after the other.
pub(super) fn texts(files: &[&ColumnFile], column: &str) -> Result<Labels, Problem> {
    let parts = files.par_iter().map(|file| {
        let mut names = Names::default();
        let read = file.texts(column, &mut |text| names.put(text.unwrap_or("")));
        read.map_err(|error| Problem::wrong(error.to_string()))?;
        names.finish(column)
    });
    let parts: Vec<Labels> = parts.collect::<Result<_, Problem>>()?;
    let mut all = Names::default();
    for part in parts {
        let codes: Vec<u32> = part.names.iter().map(|name| all.code(name)).collect();
        let codes = part.codes.iter().map(|code| codes[*code as usize]);
        all.labels.codes.extend(codes);
    }
    all.finish(column)
}

/// Reads a column of numbers of these files, one after the other.
pub(super) fn numbers(files: &[&ColumnFile], column: &str) -> Result<Vec<f64>, Problem> {
    let parts = files.par_iter().map(|file| {
        let mut cells = Vec::with_capacity(usize::try_from(file.rows()).unwrap_or(0));
        file.numbers(column, &mut |x| cells.push(x.unwrap_or(f64::NAN)))
            .map_err(|error| Problem::wrong(error.to_string()))?;
        Ok(cells)
    });
    let parts: Vec<Vec<f64>> = parts.collect::<Result<_, Problem>>()?;
    Ok(parts.concat())
}

/// The column that the folders of the files say: a label for the runs of each file.
pub(super) fn of_folders<'a>(files: impl IntoIterator<Item = (&'a str, u64)>) -> Labels {
    let mut names = Names::default();
    for (label, rows) in files {
        let code = names.code(label);
        let rows = usize::try_from(rows).unwrap_or(0);
        names.labels.codes.extend(std::iter::repeat_n(code, rows));
    }
    names.labels
}
