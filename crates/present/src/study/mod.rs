//! Tables, figures and claims of studies: text, pictures and pages.

mod charts;
mod figures;
pub mod pages;
mod papers;
pub mod report;
mod spec;
mod tables;

pub use charts::chart;
pub use figures::print as print_figures;
pub use papers::{document as papers, print as print_papers};
pub use spec::{document, print as print_spec};

use crate::output::Output;
use bentpipe_report::plot::Chart;
use bentpipe_study::{
    ClaimResult, Paper, PartResult, Reproduction, StudyResults, TableCell, TableData, Verdict,
    of_the_paper,
};
use std::io;

/// A paper with what came out.
#[derive(Debug)]
pub struct Results {
    /// The paper.
    pub paper: Paper,
    /// What came out of its studies.
    pub made: Reproduction,
}

/// What `bentpipe study` and `bentpipe reproduce` print of their results, in lines of
/// `width` characters.
///
/// # Errors
/// If it cannot be printed.
pub fn text(made: &Reproduction, width: usize) -> io::Result<String> {
    Output::text_of(width, |out| print(made, out))
}

/// The figures, each with its study and its name.
#[must_use]
pub fn figures(made: &Reproduction) -> Vec<(String, String, Chart)> {
    let figures = made.figures.iter();
    figures
        .map(|(study, figure)| (study.clone(), figure.slug.clone(), chart(figure)))
        .collect()
}

/// Prints what came out: tables, claims, and what could not be computed.
pub fn print(made: &Reproduction, out: &mut Output) -> io::Result<()> {
    for (_, table) in &made.tables {
        out.strong(format_args!("{}: {}", table.slug, table.title))?;
        out.line("")?;
        tables::print(table, out)?;
        out.line("")?;
    }
    for (_, figure) in &made.figures {
        for note in &figure.notes {
            out.line(format_args!("{}: {note}", figure.slug))?;
        }
    }
    if !made.claims.is_empty() {
        claims(&made.claims, out)?;
    }
    for results in made.results.values() {
        replications(results, out)?;
    }
    let failures: usize = made
        .results
        .values()
        .map(bentpipe_study::StudyResults::failures)
        .sum();
    if failures > 0 {
        out.line(format_args!(
            "{failures} runs failed; failures.csv beside the results says why"
        ))?;
    }
    Ok(())
}

/// How many runs the cells took of a study in which that follows from the results.
fn replications(results: &StudyResults, out: &mut Output) -> io::Result<()> {
    let Some(precision) = &results.study().precision else {
        return Ok(());
    };
    let cells: Vec<_> = (0..results.cells())
        .filter_map(|cell| Some((cell, results.reached(cell)?)))
        .collect();
    let runs = cells.iter().map(|(_, reached)| reached.runs);
    let (Some(fewest), Some(most)) = (runs.clone().min(), runs.max()) else {
        return Ok(());
    };
    let (until, of) = (100.0 * precision.until, &precision.of.text);
    out.line(format_args!(
        "runs of a cell: {fewest} to {most}, until the 95% interval of the mean of {of} was within \
         {until}% of it; replications.csv beside the results has all cells"
    ))?;
    let short: Vec<_> = cells.iter().filter(|(_, r)| !r.enough).collect();
    for (cell, reached) in short.iter().take(FEW) {
        let at = results.labels(*cell).join(", ");
        let stands = match reached.share {
            Some(share) => format!("{:.1}%", 100.0 * share),
            None => "no interval: a run has no such number, or their mean is 0".to_owned(),
        };
        out.line(format_args!(
            "- not reached at {at}: {stands} after {} runs",
            reached.runs
        ))?;
    }
    if short.len() > FEW {
        out.line(format_args!("- nor at {} more", short.len() - FEW))?;
    }
    Ok(())
}

/// Cells that are named one by one, at most.
const FEW: usize = 5;

/// Verdicts on claims, with what shows them.
fn claims(claims: &[ClaimResult], out: &mut Output) -> io::Result<()> {
    out.strong("Claims")?;
    out.line("")?;
    let width = claims
        .iter()
        .map(|c| c.id.chars().count())
        .max()
        .unwrap_or(0);
    for claim in claims {
        let changed = match claim.regression {
            true => changed(claim.recorded, claim.verdict),
            false => String::new(),
        };
        let verdict = pages::verdict(claim.verdict, &pages::parts_of(claim)) + &pages::basis(claim);
        out.line(format_args!("{:width$}  {verdict:7}{changed}", claim.id))?;
        out.paragraph(width + 2, &claim.claim)?;
        for part in &claim.parts {
            parts(part, width + 2, out)?;
        }
        if !claim.evidence.is_empty() && claim.parts.is_empty() {
            out.paragraph(width + 2, &format!("Shown by: {}", claim.evidence))?;
        }
        if !claim.reason.is_empty() {
            out.paragraph(width + 2, &format!("Reason: {}", claim.reason))?;
        }
    }
    out.line("")?;
    for line in totals(claims) {
        out.line(line)?;
    }
    out.line("")
}

/// How many claims have which verdict: those of the paper, which its page and the
/// overview of all papers count as well, and those that this project adds. A study of
/// no paper has claims of one kind.
fn totals(claims: &[ClaimResult]) -> Vec<String> {
    let (own, added): (Vec<_>, Vec<_>) = claims.iter().partition(|c| of_the_paper(&c.id));
    let changed = claims.iter().filter(|c| c.regression).count();
    let line = |whose: &str, claims: &[&ClaimResult]| {
        let noun = if claims.len() == 1 { "claim" } else { "claims" };
        format!("{} {noun}{whose}: {}", claims.len(), pages::tally(claims))
    };
    if own.is_empty() {
        return [line("", &added)]
            .into_iter()
            .chain(not_recorded(changed))
            .collect();
    }
    let groups = [(" of the paper", own), (" of this project", added)];
    let groups = groups.iter().filter(|(_, claims)| !claims.is_empty());
    let lines = groups.map(|(whose, claims)| line(whose, claims));
    lines.chain(not_recorded(changed)).collect()
}

fn not_recorded(changed: usize) -> Option<String> {
    (changed > 0).then(|| format!("{changed} not as recorded"))
}

/// Prints what is not as recorded, a line each.
pub fn changes(paper: &str, made: &Reproduction, out: &mut Output) -> io::Result<()> {
    for (_, table) in &made.tables {
        let at = format!("{paper} {}", table.slug);
        for cell in table.cells.iter().flatten().filter(|cell| cell.changed) {
            let number = |x: Option<f64>| decimal(x, cell.decimals);
            out.line(format_args!(
                "{at}: {}, {}: {} beside {}: {}",
                cell.row,
                cell.column,
                number(cell.ours),
                number(cell.published),
                cell.verdict.name()
            ))?;
        }
        for summary in table.errors.iter().filter(|summary| summary.changed) {
            out.line(format_args!("{at}: {}", tables::errors(summary)))?;
        }
    }
    for claim in made.claims.iter().filter(|claim| claim.regression) {
        let text = changed(claim.recorded, claim.verdict);
        let verdict = claim.verdict.name();
        out.line(format_args!("{paper} {}: {verdict}{text}", claim.id))?;
        out.paragraph(2, &format!("Shown by: {}", claim.evidence))?;
        for part in &claim.parts {
            parts(part, 2, out)?;
        }
    }
    Ok(())
}

/// Prints what was judged in a line.
pub fn sum(results: &[Results], out: &mut Output) -> io::Result<()> {
    let claims = results.iter().flat_map(|r| &r.made.claims);
    let claims: Vec<&ClaimResult> = claims.collect();
    let own = claims.iter().filter(|c| of_the_paper(&c.id));
    let own: Vec<&ClaimResult> = own.copied().collect();
    let tables = results.iter().flat_map(|r| &r.made.tables);
    let tables: Vec<&TableData> = tables.map(|(_, table)| table).collect();
    let cells: Vec<&TableCell> = tables
        .iter()
        .flat_map(|t| t.cells.iter().flatten())
        .collect();
    let judged = cells.iter().filter(|c| c.published.is_some()).count();
    let different = cells.iter().filter(|c| c.changed).count()
        + tables
            .iter()
            .flat_map(|t| &t.errors)
            .filter(|e| e.changed)
            .count()
        + claims.iter().filter(|c| c.regression).count();
    let runs = results.iter().flat_map(|r| r.made.results.values());
    let runs: usize = runs.map(bentpipe_study::StudyResults::total).sum();
    out.line(format_args!(
        "{} papers, {runs} runs: {} claims of theirs ({}), {} of ours, {judged} published numbers; {different} not as recorded",
        results.len(),
        own.len(),
        pages::tally(&own),
        claims.len() - own.len(),
    ))
}

/// A statement of a claim, with what the results say of it.
fn parts(part: &PartResult, indent: usize, out: &mut Output) -> io::Result<()> {
    let changed = changed(part.recorded, part.verdict);
    let head = format!("- {}: {}{changed}", part.verdict.name(), part.claim);
    out.paragraph(indent, &head)?;
    out.paragraph(indent + 2, &format!("Shown by: {}", part.evidence))
}

/// What to say of a verdict that is not the recorded one.
fn changed(recorded: Option<Verdict>, verdict: Verdict) -> String {
    match recorded {
        Some(recorded) if recorded != verdict => {
            format!("  CHANGED: recorded as {}", recorded.name())
        }
        _ => String::new(),
    }
}

/// A number with so many digits; nothing where there is none.
pub(crate) fn decimal(x: Option<f64>, decimals: u32) -> String {
    x.map_or_else(String::new, |x| format!("{x:.*}", decimals as usize))
}

/// `+1.2%`.
pub(crate) fn percent(error: f64) -> String {
    format!("{:+.1}%", 100.0 * error)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(id: &str, verdict: Verdict) -> ClaimResult {
        ClaimResult {
            study: String::new(),
            id: id.to_owned(),
            claim: String::new(),
            verdict,
            recorded: Some(verdict),
            evidence: String::new(),
            reason: String::new(),
            basis: String::new(),
            parts: Vec::new(),
            readings: Vec::new(),
            regression: false,
        }
    }

    #[test]
    fn totals_tell_the_papers_claims_from_ours_as_the_pages_do() {
        let claims = [
            claim("000-1", Verdict::Holds),
            claim("000-2", Verdict::Fails),
            claim("000-2-strict", Verdict::Fails),
            claim("buffer-1", Verdict::Holds),
        ];
        assert_eq!(
            totals(&claims),
            [
                "2 claims of the paper: 1 hold, 1 fail",
                "2 claims of this project: 1 hold, 1 fail"
            ]
        );
        let own: Vec<&ClaimResult> = claims[..2].iter().collect();
        assert_eq!(totals(&claims[3..]), ["1 claim: 1 hold, 0 fail"]);
        assert!(totals(&claims)[0].ends_with(&pages::tally(&own)));
        assert_eq!(
            totals(&claims[..1]),
            ["1 claim of the paper: 1 hold, 0 fail"]
        );
    }
}
