//! The scenario of a row as a file.

use bentpipe::Error;
use bentpipe::compare::Answer;

/// A scenario file that `bentpipe run` runs, and whose outcome is that of the row's run of
/// median time: with its seed, and with the start that it drew for each user. `row` and
/// `size` are indices into [`Answer::rows`] and [`Answer::sizes`].
///
/// # Errors
/// If there is no such row or size, or if no file can say what it runs, such as a
/// congestion control of a program.
pub fn text(answer: &Answer, row: usize, size: usize) -> Result<String, Error> {
    let missing = || Error::Row("there is no such row or size in the answer".to_owned());
    let row = answer.rows.get(row).ok_or_else(missing)?;
    let cell = row.cells.get(size).ok_or_else(missing)?;
    let seed = cell.median_run().map_or(answer.seed, |run| run.seed);
    let scenario = answer.standalone(row, size, seed)?;
    let text = scenario.to_toml();
    let text = text.map_err(|error| Error::Row(format!("{}: {error}", answer.row_name(row))))?;
    let runs = match cell.runs.len() {
        0 | 1 => "the run".to_owned(),
        n => format!("the run of median time of {n}"),
    };
    Ok(format!(
        "# {} with proxy {}: {runs} of a comparison.\n\
         # The same file has the same outcome: bentpipe run FILE\n{text}",
        row.name,
        row.pep.name(),
    ))
}
