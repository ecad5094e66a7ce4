//! Pages that quote results: `README.md` beside `papers/`, and that of each
//! paper.
//!
//! What stands between `<!-- results: WHAT -->` and `<!-- end -->` is made of the
//! results, in a line or as a block of lines. On the page of a paper WHAT is
//!
//! - `tally`: how many of its claims have which verdict, strict first, then under each reading;
//! - `claims`: its claims, their verdicts and the reasons;
//! - `readings`: the verdicts under each reading of what the paper leaves open;
//! - `table SLUG`: a table, with the published numbers where there are any;
//! - or a number, as [`quoted`](bentpipe_study::Reproduction::quoted) has it;
//!
//! and on the page above `papers`, an overview.

use super::Results;
use bentpipe_study::{ClaimResult, TableCell, TableData, Verdict, fill, of_the_paper};
use std::fmt::Write;

const BEGIN: &str = "<!-- results: ";
const CLOSE: &str = " -->";
const END: &str = "<!-- end -->";

/// The page of a paper with everything between its marks made again.
///
/// # Errors
/// If a mark asks for what is not there, or is not closed.
pub fn of_paper(one: &Results, page: &str) -> Result<String, String> {
    renewed(page, &|what| quoted(one, what))
}

/// The page above the papers, made again in the same way.
///
/// # Errors
/// As those of [`of_paper`].
pub fn overview(results: &[Results], page: &str) -> Result<String, String> {
    renewed(page, &|what| match what {
        "papers" => Ok(papers(results)),
        _ => Err(format!("`{what}` is not an overview of papers")),
    })
}

/// The page with everything between its marks made again.
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

fn quoted(one: &Results, what: &str) -> Result<String, String> {
    match what.split_once(' ') {
        None if what == "tally" => Ok(tallies(&one.made.claims)),
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

/// `mostly (2 of 3)`.
pub(super) fn verdict(verdict: Verdict, parts: &[Verdict]) -> String {
    if verdict.is_mixed() {
        let holding = parts.iter().filter(|v| **v == Verdict::Holds).count();
        format!("{} ({holding} of {})", verdict.name(), parts.len())
    } else {
        verdict.name().to_owned()
    }
}

pub(super) fn parts_of(claim: &ClaimResult) -> Vec<Verdict> {
    claim.parts.iter().map(|part| part.verdict).collect()
}

/// What the verdict on a claim rests on besides the source's words: `; by fit`.
pub(super) fn basis(claim: &ClaimResult) -> String {
    match claim.basis.as_str() {
        "" => String::new(),
        basis => format!("; {basis}"),
    }
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
            verdict(claim.verdict, &parts_of(claim)) + &basis(claim),
            why.join(" "),
        ]);
    }
    text
}

/// Claims down, readings across, and how many claims of the paper each reading
/// explains: a table for the claims of each set of readings.
fn readings(claims: &[ClaimResult]) -> String {
    let mut sets: Vec<Vec<&ClaimResult>> = Vec::new();
    for claim in claims.iter().filter(|c| !c.readings.is_empty()) {
        match sets.iter_mut().find(|set| names(set[0]) == names(claim)) {
            Some(set) => set.push(claim),
            None => sets.push(vec![claim]),
        }
    }
    let tables: Vec<String> = sets.iter().map(|set| table_of_readings(set)).collect();
    tables.join("\n")
}

/// The readings under which a claim was judged.
fn names(claim: &ClaimResult) -> Vec<&str> {
    claim.readings.iter().map(|r| r.reading.as_str()).collect()
}

fn table_of_readings(claims: &[&ClaimResult]) -> String {
    let names = names(claims[0]);
    let head: Vec<&str> = std::iter::once("claim")
        .chain(names.iter().copied())
        .collect();
    let mut text = heading(&head);
    for claim in claims {
        let verdicts = claim.readings.iter().map(|r| verdict(r.verdict, &r.parts));
        text += &line(std::iter::once(claim.id.clone()).chain(verdicts));
    }
    let own: Vec<&&ClaimResult> = claims.iter().filter(|c| of_the_paper(&c.id)).collect();
    let sums = (0..names.len()).map(|i| {
        let verdicts = own.iter().filter_map(|c| c.readings.get(i));
        counts(verdicts.map(|reading| reading.verdict))
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
        for (reading, verdicts) in other_readings(&one.made.claims) {
            let what = format!("the same, {reading}");
            text += &line([String::new(), what, counts(verdicts)]);
        }
    }
    text
}

/// The verdicts on a paper's claims: the main readings, then each of the others.
fn tallies(claims: &[ClaimResult]) -> String {
    let own: Vec<&ClaimResult> = claims.iter().filter(|c| of_the_paper(&c.id)).collect();
    let mut text = heading(&["reading", &format!("{} claims of the paper", own.len())]);
    text += &line(["strict".to_owned(), tally(&own)]);
    for (reading, verdicts) in other_readings(claims) {
        text += &line([reading, counts(verdicts)]);
    }
    text
}

/// `4 hold, 6 mostly, 3 hardly, 5 fail, 1 open`.
pub(crate) fn tally(claims: &[&ClaimResult]) -> String {
    counts(claims.iter().map(|claim| claim.verdict))
}

/// How many verdicts are which: `4 hold, 6 mostly, 3 hardly, 5 fail, 1 open`.
fn counts(verdicts: impl IntoIterator<Item = Verdict>) -> String {
    let verdicts: Vec<Verdict> = verdicts.into_iter().collect();
    let count = |verdict| verdicts.iter().filter(|v| **v == verdict).count();
    let words = [
        (Verdict::Holds, "hold"),
        (Verdict::Mostly, "mostly"),
        (Verdict::Hardly, "hardly"),
        (Verdict::Fails, "fail"),
        (Verdict::Open, "open"),
    ];
    let words = words.map(|(verdict, word)| (count(verdict), verdict, word));
    let shown = words.into_iter().filter(|(count, verdict, _)| {
        *count > 0 || matches!(verdict, Verdict::Holds | Verdict::Fails)
    });
    let shown = shown.map(|(count, _, word)| format!("{count} {word}"));
    shown.collect::<Vec<_>>().join(", ")
}

/// Name of a reading, and the verdicts under it.
type Reading = (String, Vec<Verdict>);

/// The verdicts on all claims of the paper under readings other than the main ones: for each point
/// of an axis of readings those of the claims that are judged there. What has no other reading
/// counts as it is.
fn other_readings(claims: &[ClaimResult]) -> Vec<Reading> {
    let own: Vec<&ClaimResult> = claims.iter().filter(|c| of_the_paper(&c.id)).collect();
    let mut names: Vec<&str> = Vec::new();
    for reading in own.iter().flat_map(|c| c.readings.iter().skip(1)) {
        if !names.contains(&reading.reading.as_str()) {
            names.push(&reading.reading);
        }
    }
    let at = |name: &str| -> Vec<Verdict> {
        let verdict = |claim: &&ClaimResult| {
            let there = claim.readings.iter().find(|r| r.reading == name);
            there.map_or(claim.verdict, |there| there.verdict)
        };
        own.iter().map(verdict).collect()
    };
    names.iter().map(|n| ((*n).to_owned(), at(n))).collect()
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
    fn tallies_name_every_verdict() {
        use Verdict::{Fails, Hardly, Holds, Mostly, Open};
        assert_eq!(counts([]), "0 hold, 0 fail");
        assert_eq!(
            counts([Holds, Mostly, Hardly, Hardly, Fails, Open]),
            "1 hold, 1 mostly, 2 hardly, 1 fail, 1 open"
        );
        assert_eq!(verdict(Mostly, &[Holds, Fails]), "mostly (1 of 2)");
        assert_eq!(verdict(Fails, &[Fails, Open]), "fails");
    }

    #[test]
    fn claims_of_a_paper_have_a_number() {
        assert!(of_the_paper("003-12"));
        assert!(!of_the_paper("003-12-reno") && !of_the_paper("future-1"));
        assert_eq!(title("marchese-2006"), "Marchese 2006");
        assert_eq!(line(["a|b", "c\nd"]), "| a\\|b | c d |\n");
    }
}
