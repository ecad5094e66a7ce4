//! The page of a paper.

use super::claims::{Sorted, bar, list, sum};
use super::{fewer_runs, tables};
use crate::study::Results;
use crate::study::chart;
use bentpipe_report::escape;
use bentpipe_report::html::Page;
use bentpipe_study::FigureData;
use std::fmt::Write;

pub(super) fn page(one: &Results) -> Page {
    let (paper, made) = (&one.paper, &one.made);
    let claims = Sorted::new(&made.claims);
    let mut page = super::page(&paper.title)
        .markup("<p class=\"back\"><a href=\"index.html\">All papers</a></p>")
        .paragraph(&paper.citation)
        .paragraph(&format!(
            "Simulated by bentpipe {} from the studies of the paper, which `bentpipe reproduce {}` \
             runs again. The same version gives the same numbers.",
            env!("CARGO_PKG_VERSION"),
            paper.slug
        ));
    if let Some(runs) = fewer_runs(one) {
        page = page.markup(&format!(
            "<p class=\"changed\">Made with at most {runs} runs per cell, fewer than the studies ask \
             for: numbers are less certain than those recorded, and verdicts may differ.</p>"
        ));
    }
    page = page.markup(&contents(one));
    if !claims.own.is_empty() {
        page = page
            .heading("Claims of the paper")
            .paragraph(&sum(&claims.own, "of the paper"))
            .markup(&bar(&claims.own))
            .markup(&list(&claims.own));
    }
    if !made.tables.is_empty() {
        page = page.heading("Tables");
        if made.tables.iter().any(|(_, table)| table.has_published()) {
            page = page.markup(&tables::legend());
        }
        for (_, table) in &made.tables {
            page = page.markup(&tables::table(table));
        }
    }
    if !made.figures.is_empty() {
        page = page.heading("Figures");
        for (_, figure) in &made.figures {
            page = page.markup(&drawn(figure));
        }
    }
    if !claims.added.is_empty() {
        page = page
            .heading("Claims of this reproduction")
            .paragraph(
                "These are not the paper's: they say why a setting was chosen, or hold a claim of the \
                 paper under another reading. They do not count in the totals of the paper.",
            )
            .paragraph(&sum(&claims.added, "of this reproduction"))
            .markup(&list(&claims.added));
    }
    page
}

/// Links to the tables and figures.
fn contents(one: &Results) -> String {
    let mut html = String::from("<nav class=\"items\" aria-label=\"Tables and figures\"><p>");
    let tables = one.made.tables.iter().map(|(_, t)| (&t.slug, &t.title));
    let figures = one.made.figures.iter().map(|(_, f)| (&f.slug, &f.title));
    for (slug, title) in tables.chain(figures) {
        let _ = write!(
            html,
            "<a href=\"#{0}\" title=\"{1}\">{0}</a> ",
            escape(slug),
            escape(title)
        );
    }
    html + "</p></nav>"
}

/// What stands below a figure of a paper.
pub(super) fn caption(figure: &FigureData) -> String {
    const DRAWN: &str = "The paper gives its curves as a drawing only, without numbers that could \
                         stand here: the curves are ours.";
    let mut points = figure.curves.iter().flat_map(|curve| &curve.points);
    let in_table = points.any(|point| point.published.is_some());
    let source = match (in_table, figure.published.is_empty()) {
        (true, _) => "Hollow marks are numbers that the paper prints.".to_owned(),
        (false, true) => DRAWN.to_owned(),
        (false, false) => {
            format!("{DRAWN} Hollow marks and dashed lines are numbers that it prints elsewhere.")
        }
    };
    let notes = figure.notes.iter().map(String::as_str);
    let all: Vec<&str> = notes.chain([source.as_str()]).collect();
    all.join(" ")
}

fn drawn(figure: &FigureData) -> String {
    format!(
        "<section class=\"item\" id=\"{0}\">\n<h3>{0}: {1}</h3>\n<figure>\n{2}\n<figcaption>{3}</figcaption>\n\
         </figure>\n</section>",
        escape(&figure.slug),
        escape(&figure.title),
        chart(figure).to_svg().trim(),
        escape(&caption(figure))
    )
}
