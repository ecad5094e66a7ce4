//! Pages that quote results: `README.md` beside `papers/`, and that of each
//! paper.
//!
//! What stands between `<!-- results: WHAT -->` and `<!-- end -->` is made of the
//! results, in a line or as a block of lines. On the page of a paper WHAT is
//!
//! - `claims`: its claims, their verdicts and the reasons;
//! - `readings`: the verdicts under each reading of what the paper leaves open;
//! - `table SLUG`: a table, with the published numbers where there are any;
//! - or a number, as [`Reproduction::quoted`] has it;
//!
//! and on the page above `papers`, an overview.

use crate::exit::Failure;
pub(crate) use bentpipe_study::of_the_paper;
use bentpipe_study::{ClaimResult, Paper, Reproduction, TableCell, TableData, Verdict, fill};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// A paper with what came out.
pub(crate) struct Results {
    pub(crate) paper: Paper,
    pub(crate) made: Reproduction,
}

const BEGIN: &str = "<!-- results: ";
const CLOSE: &str = " -->";
const END: &str = "<!-- end -->";

/// Renews the pages of these papers, or only compares them if `write` is false;
/// the pages that are, or were, not of these results. The overview is renewed
/// where it is given.
pub(crate) fn renew(
    results: &[Results],
    overview: Option<&Path>,
    write: bool,
) -> Result<Vec<PathBuf>, Failure> {
    let mut stale = Vec::new();
    let mut page = |file: &Path, what: &dyn Fn(&str) -> Result<String, String>| {
        let Ok(text) = std::fs::read_to_string(file) else {
            return Ok(());
        };
        let new = renewed(&text, what)
            .map_err(|why| Failure::new(format!("{}: {why}", file.display())))?;
        if new != text {
            if write {
                std::fs::write(file, &new).map_err(|e| Failure::file("write", file, e))?;
            }
            stale.push(file.to_path_buf());
        }
        Ok::<(), Failure>(())
    };
    for one in results {
        page(&one.paper.folder.join("README.md"), &|what| {
            of_paper(one, what)
        })?;
    }
    if let Some(file) = overview {
        page(file, &|what| match what {
            "papers" => Ok(papers(results)),
            _ => Err(format!("`{what}` is not an overview of papers")),
        })?;
    }
    Ok(stale)
}

/// The page with everything between its marks made anew.
fn renewed(page: &str, value: &dyn Fn(&str) -> Result<String, String>) -> Result<String, String> {
    let mut new = String::with_capacity(page.len());
    let mut rest = page;
    while let Some((before, after)) = rest.split_once(BEGIN) {
        let open = |after: &str| format!("`{BEGIN}{}` is not closed", first_line(after));
        let (what, after) = after.split_once(CLOSE).ok_or_else(|| open(after))?;
        let (old, after) = after.split_once(END).ok_or_else(|| open(what))?;
        let value = value(what)?;
        let block = old.contains('\n');
        let edge = if block { "\n" } else { "" };
        let value = value.trim_end();
        let _ = write!(new, "{before}{BEGIN}{what}{CLOSE}{edge}{value}{edge}{END}");
        rest = after;
    }
    new.push_str(rest);
    Ok(new)
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or("")
}

fn of_paper(one: &Results, what: &str) -> Result<String, String> {
    match what.split_once(' ') {
        None if what == "claims" => Ok(claims(&one.made.claims)),
        None if what == "readings" => Ok(readings(&one.made.claims)),
        Some(("table", slug)) => {
            let mut tables = one.made.tables.iter().map(|(_, table)| table);
            let table = tables.find(|table| table.slug == slug);
            Ok(grid(table.ok_or_else(|| format!("no table `{slug}`"))?))
        }
        _ => one.made.quoted(&one.paper.studies, what),
    }
}

/// A line of a Markdown table.
fn line<S: AsRef<str>>(cells: impl IntoIterator<Item = S>) -> String {
    let cells = cells.into_iter().map(|cell| {
        let one_line = cell
            .as_ref()
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        one_line.replace('|', "\\|")
    });
    format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
}

fn heading<S: AsRef<str>>(cells: &[S]) -> String {
    line(cells) + &line(cells.iter().map(|_| "---"))
}

/// `in part (2 of 3)`.
fn verdict(verdict: Verdict, parts: &[Verdict]) -> String {
    if verdict == Verdict::InPart {
        let holding = parts.iter().filter(|v| **v == Verdict::Holds).count();
        format!("in part ({holding} of {})", parts.len())
    } else {
        verdict.name().to_owned()
    }
}

fn parts_of(claim: &ClaimResult) -> Vec<Verdict> {
    claim.parts.iter().map(|part| part.verdict).collect()
}

fn claims(claims: &[ClaimResult]) -> String {
    let mut text = heading(&["claim", "verdict", "why"]);
    for claim in claims {
        let parts = claim.parts.iter();
        let mut why: Vec<String> = parts
            .map(|part| format!("*{}: {}.*", part.claim, part.verdict.name()))
            .collect();
        why.extend((!claim.reason.is_empty()).then(|| claim.reason.clone()));
        text += &line([
            format!("{} {}", claim.id, claim.claim),
            verdict(claim.verdict, &parts_of(claim)),
            why.join(" "),
        ]);
    }
    text
}

/// Claims down, readings across, and how many claims of the paper each reading
/// explains.
fn readings(claims: &[ClaimResult]) -> String {
    let read: Vec<&ClaimResult> = claims.iter().filter(|c| !c.readings.is_empty()).collect();
    let Some(first) = read.first() else {
        return String::new();
    };
    let names = first.readings.iter().map(|r| r.reading.as_str());
    let head: Vec<&str> = std::iter::once("claim").chain(names).collect();
    let mut text = heading(&head);
    for claim in &read {
        let verdicts = claim.readings.iter().map(|r| verdict(r.verdict, &r.parts));
        text += &line(std::iter::once(claim.id.clone()).chain(verdicts));
    }
    let own: Vec<&&ClaimResult> = read.iter().filter(|c| of_the_paper(&c.id)).collect();
    let sums = (0..first.readings.len()).map(|i| {
        let count = |verdict| {
            let verdicts = own.iter().filter_map(|c| c.readings.get(i));
            verdicts.filter(|r| r.verdict == verdict).count()
        };
        let (whole, part) = (count(Verdict::Holds), count(Verdict::InPart));
        format!("{whole} hold, {part} in part")
    });
    let name = format!("of {} claims of the paper", own.len());
    text + &line(std::iter::once(name).chain(sums))
}

/// A table as it is printed, and the published number in brackets.
fn grid(table: &TableData) -> String {
    let labels = table.columns.iter().map(|labels| labels.join(", "));
    let rows = table.row_axes.join(" / ");
    let head: Vec<String> = std::iter::once(rows).chain(labels).collect();
    let mut text = heading(&head);
    for (labels, row) in table.rows.iter().zip(&table.cells) {
        let name = labels.join(" / ");
        text += &line(std::iter::once(name).chain(row.iter().map(number)));
    }
    text
}

fn number(cell: &TableCell) -> String {
    let digits = |x: f64| format!("{x:.*}", cell.decimals as usize);
    match (cell.ours, cell.published) {
        (Some(ours), Some(published)) => format!("{} ({})", digits(ours), digits(published)),
        (Some(ours), None) => digits(ours),
        (None, _) => "-".to_owned(),
    }
}

/// The overview: a paper's highlights and the verdicts on its claims.
fn papers(results: &[Results]) -> String {
    let mut text = heading(&["paper", "what", "result"]);
    for one in results {
        let name = format!("[{}](papers/{}/)", title(&one.paper.slug), one.paper.slug);
        let mut name = Some(name);
        for highlight in &one.paper.highlights {
            let result = fill(&highlight.result, &mut |quoted| {
                one.made.quoted(&one.paper.studies, quoted)
            });
            text += &line([
                name.take().unwrap_or_default(),
                highlight.what.clone(),
                result,
            ]);
        }
        let own = one.made.claims.iter().filter(|c| of_the_paper(&c.id));
        let own: Vec<&ClaimResult> = own.collect();
        text += &line([
            name.take().unwrap_or_default(),
            format!("{} claims", own.len()),
            tally(&own),
        ]);
    }
    text
}

/// `4 hold, 9 hold in part (20 of 31 parts), 5 fail`.
pub(crate) fn tally(claims: &[&ClaimResult]) -> String {
    let with = |verdict| claims.iter().filter(move |c| c.verdict == verdict);
    let mut text = format!("{} hold", with(Verdict::Holds).count());
    let mixed: Vec<Verdict> = with(Verdict::InPart).flat_map(|c| parts_of(c)).collect();
    if !mixed.is_empty() {
        let holding = mixed.iter().filter(|v| **v == Verdict::Holds).count();
        let some = with(Verdict::InPart).count();
        let _ = write!(
            text,
            ", {some} hold in part ({holding} of {} parts)",
            mixed.len()
        );
    }
    let _ = write!(text, ", {} fail", with(Verdict::Fails).count());
    let open = with(Verdict::Open).count();
    if open > 0 {
        let _ = write!(text, ", {open} open");
    }
    text
}

/// `Marchese 2006` of `marchese-2006`.
fn title(slug: &str) -> String {
    let words = slug.split('-').map(|word| {
        let mut letters = word.chars();
        let first = letters.next().map(|c| c.to_uppercase().to_string());
        first.unwrap_or_default() + letters.as_str()
    });
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_between_the_marks_is_renewed() {
        let value = |what: &str| match what {
            "mean t" => Ok("1.2%".to_owned()),
            "table t" => Ok("| a |\n".to_owned()),
            other => Err(format!("no `{other}`")),
        };
        let page = "Error <!-- results: mean t -->9%<!-- end -->.\n\
                    <!-- results: table t -->\nold\n<!-- end -->\n";
        let new = renewed(page, &value).unwrap();
        let expected = "Error <!-- results: mean t -->1.2%<!-- end -->.\n\
                        <!-- results: table t -->\n| a |\n<!-- end -->\n";
        assert_eq!(new, expected);
        assert_eq!(renewed(&new, &value).unwrap(), new);
        let open = "<!-- results: mean t -->9%";
        assert!(renewed(open, &value).unwrap_err().contains("not closed"));
        assert!(renewed("<!-- results: x --><!-- end -->", &value).is_err());
    }

    #[test]
    fn claims_of_a_paper_have_a_number() {
        assert!(of_the_paper("003-12"));
        assert!(!of_the_paper("003-12-reno") && !of_the_paper("future-1"));
        assert_eq!(title("marchese-2006"), "Marchese 2006");
        assert_eq!(line(["a|b", "c\nd"]), "| a\\|b | c d |\n");
    }
}
