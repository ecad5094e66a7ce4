//! The page that leads to those of the papers.

use super::claims::{Sorted, bar, sum};
use super::{fewer_runs, without_links};
use crate::study::Results;
use bentpipe_report::escape;
use bentpipe_report::html::Page;
use bentpipe_study::{TableData, fill};
use std::fmt::Write;

pub(super) fn page(results: &[Results]) -> Page {
    let sorted: Vec<Sorted<'_>> = results
        .iter()
        .map(|r| Sorted::new(&r.made.claims))
        .collect();
    let own: Vec<_> = sorted.iter().flat_map(|s| s.own.iter().copied()).collect();
    let added: Vec<_> = sorted
        .iter()
        .flat_map(|s| s.added.iter().copied())
        .collect();
    let runs = results.iter().flat_map(|r| r.made.results.values());
    let runs: usize = runs.map(bentpipe_study::StudyResults::total).sum();
    let papers = match results.len() {
        1 => "one paper".to_owned(),
        n => format!("{n} papers"),
    };
    let mut page = super::page("Published results beside ours").paragraph(&format!(
        "What {papers} on TCP over satellite printed, and what bentpipe {} yields in {runs} simulated \
         runs. Tables stand beside the print, cell by cell; every claim has a verdict with the numbers \
         that decide it; what a paper leaves open is read in more than one way, side by side.",
        env!("CARGO_PKG_VERSION")
    ));
    if !own.is_empty() {
        page = page.paragraph(&format!("{}.", sum(&own, "of the papers")));
        page = page.markup(&bar(&own)).markup(KEY);
    }
    if !added.is_empty() {
        page = page.paragraph(&format!(
            "{}. They say why a setting was chosen, or hold a claim under another reading, and are not \
             counted above.",
            sum(&added, "of this project")
        ));
    }
    if results.iter().any(|one| fewer_runs(one).is_some()) {
        page = page.markup(
            "<p class=\"changed\">Some studies ran with fewer runs per cell than they ask for; the pages \
             say which.</p>",
        );
    }
    for (one, claims) in results.iter().zip(&sorted) {
        page = page.markup(&card(one, claims));
    }
    page
}

/// What the colours of a tally mean.
const KEY: &str = "<p class=\"key\"><span class=\"badge holds\">holds</span> as claimed \
    <span class=\"badge mostly\">mostly</span> half of its statements or more hold \
    <span class=\"badge hardly\">hardly</span> less than half, but one at least \
    <span class=\"badge fails\">fails</span> none \
    <span class=\"badge open\">open</span> the intervals do not decide it</p>";

fn card(one: &Results, claims: &Sorted<'_>) -> String {
    let (paper, made) = (&one.paper, &one.made);
    let mut html = format!(
        "<section class=\"card\">\n<h2><a href=\"{0}.html\">{1}</a></h2>\n<p class=\"note\">{2}, {3}</p>\n",
        escape(&paper.slug),
        escape(&paper.title),
        escape(&paper.authors.join(", ")),
        paper.year
    );
    if !claims.own.is_empty() {
        let _ = writeln!(html, "{}", bar(&claims.own));
        let _ = writeln!(
            html,
            "<p>{}.</p>",
            escape(&sum(&claims.own, "of the paper"))
        );
    }
    let tables = made.tables.iter().map(|(_, table)| table);
    let beside: Vec<&TableData> = tables.filter(|table| table.has_published()).collect();
    let cells = beside.iter().flat_map(|t| t.cells.iter().flatten());
    let cells = cells.filter(|cell| cell.published.is_some()).count();
    let _ = writeln!(
        html,
        "<p>{} tables beside the print, {cells} printed numbers; {} figures.</p>",
        beside.len(),
        made.figures.len()
    );
    let mut lines = String::new();
    for highlight in &paper.highlights {
        let mut missing = false;
        let result = fill(&highlight.result, &mut |quoted| {
            let value = made.quoted(&paper.studies, quoted);
            missing |= value.is_err();
            value
        });
        // Of a part of the paper only some numbers are there.
        if !missing {
            let _ = writeln!(
                lines,
                "<li>{}: {}</li>",
                escape(&without_links(&highlight.what)),
                escape(&without_links(&result))
            );
        }
    }
    if !lines.is_empty() {
        let _ = writeln!(html, "<ul>\n{lines}</ul>");
    }
    html + "</section>\n"
}
