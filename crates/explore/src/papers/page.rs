//! A paper as the page gets it: what is printed, and ours where it has been run.

use crate::Problem;
use bentpipe::{Paper, Reproduction, Selection};
use bentpipe_study::{
    Collection, FigureData, ItemKind, LoadedStudy, Plan, ReproduceError, StudyResults, TableData,
    Verdict, fill, judged, needed, of_the_paper, shade,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Points of a figure's curves that are sent as numbers, at most.
const MOST_POINTS: usize = 4000;

/// What came out of a selection of a paper, with these results.
///
/// # Errors
/// If there is no such item.
pub(super) fn document(
    paper: &Paper,
    selection: &Selection,
    results: BTreeMap<String, StudyResults>,
) -> Result<Value, Problem> {
    let made = judged(&paper.studies, &paper.slug, selection, results).map_err(wrong)?;
    let page = Page { paper, made: &made };
    let tables = made
        .tables
        .iter()
        .map(|(study, data)| page.table(study, data));
    let claims = made.claims.iter().map(|claim| {
        let need = page.need(&Selection::Claim(claim.id.clone()));
        json!({ "claim": claim, "need": need, "is_of_paper": of_the_paper(&claim.id) })
    });
    Ok(json!({
        "tables": tables.collect::<Vec<_>>(),
        "figures": page.figures(),
        "claims": claims.collect::<Vec<_>>(),
        "highlights": page.highlights(),
    }))
}

/// What does not change: who wrote it, and what there is in it.
pub(super) fn head(paper: &Paper) -> Value {
    let items = paper.items();
    let items = items.iter().map(|item| {
        json!({
            "slug": item.slug,
            "title": item.title,
            "kind": match item.kind {
                ItemKind::Table => "table",
                ItemKind::Figure => "figure",
            },
            "study": item.study,
            "has_printed": item.has_reference,
        })
    });
    let claims = paper.studies.iter().flat_map(|of| &of.study.claims);
    let (own, added): (Vec<_>, Vec<_>) = claims.partition(|claim| of_the_paper(&claim.id));
    let on_record = Verdict::ALL.map(|(name, verdict)| {
        let count = own.iter().filter(|c| c.recorded() == Some(verdict)).count();
        json!({ "verdict": name, "count": count })
    });
    json!({
        "paper": paper.slug,
        "title": paper.title,
        "authors": paper.authors,
        "year": paper.year,
        "citation": paper.citation,
        "items": items.collect::<Vec<_>>(),
        "claims": own.len(),
        "added_claims": added.len(),
        "on_record": on_record,
    })
}

/// An error of the asker.
pub(super) fn wrong(error: ReproduceError) -> Problem {
    Problem::wrong(error.to_string())
}

/// How many runs a study has, or would have with at most `most` of each cell.
pub(super) fn runs(loaded: &LoadedStudy, most: Option<u32>) -> usize {
    let most = most.map(|most| most.min(loaded.study.replications));
    Plan::new(&loaded.study, most).len()
}

struct Page<'a> {
    paper: &'a Paper,
    made: &'a Reproduction,
}

impl Page<'_> {
    /// What an item needs: the runs of its studies, and whether they are all there.
    fn need(&self, selection: &Selection) -> Value {
        let studies = needed(&self.paper.studies, selection).unwrap_or_default();
        let is_there = |of: &LoadedStudy| self.made.results.contains_key(&of.study.name);
        let missing = studies.iter().filter(|of| !is_there(of));
        let fewer = studies.iter().any(|of| {
            let results = self.made.results.get(&of.study.name);
            results.is_some_and(StudyResults::are_fewer)
        });
        json!({
            "runs": studies.iter().map(|of| runs(of, None)).sum::<usize>(),
            "missing": missing.map(|of| runs(of, None)).sum::<usize>(),
            "is_there": studies.iter().all(|of| is_there(of)),
            "is_fewer": fewer,
        })
    }

    fn table(&self, study: &str, table: &TableData) -> Value {
        let cells = table.cells.iter().map(|row| {
            let shades = row.iter().map(|cell| cell.relative_error.map(shade));
            shades.collect::<Vec<_>>()
        });
        let home = self.paper.studies.get(study);
        let spec = home.and_then(|of| of.study.tables.iter().find(|t| t.slug == table.slug));
        let column_axes = spec.map_or(&[][..], |spec| &spec.columns);
        json!({
            "study": study,
            "table": table,
            "shades": cells.collect::<Vec<_>>(),
            "has_printed": table.has_published(),
            "unit": table.unit(),
            "column_axes": column_axes,
            "readings": readings(&self.paper.studies),
            "need": self.need(&Selection::Item(table.slug.clone())),
        })
    }

    /// The figures: drawn as the command draws them, where their runs are there.
    fn figures(&self) -> Vec<Value> {
        let drawn = bentpipe_present::study::figures(self.made);
        let of = |study: &String, data: &FigureData| {
            let need = self.need(&Selection::Item(data.slug.clone()));
            let mut charts = drawn.iter();
            let chart = charts.find(|(of, slug, _)| of == study && *slug == data.slug);
            let has_points = data.curves.iter().any(|curve| !curve.points.is_empty());
            let points: usize = data.curves.iter().map(|curve| curve.points.len()).sum();
            let svg = chart
                .filter(|_| has_points)
                .map(|(_, _, chart)| chart.to_svg());
            json!({
                "study": study,
                "slug": data.slug,
                "title": data.title,
                "svg": svg,
                "data": Some(data).filter(|_| points <= MOST_POINTS),
                "need": need,
            })
        };
        let figures = self.made.figures.iter();
        figures.map(|(study, data)| of(study, data)).collect()
    }

    /// What was reproduced best and worst, as far as its numbers are there.
    fn highlights(&self) -> Vec<Value> {
        let highlights = self.paper.highlights.iter();
        let filled = highlights.map(|highlight| {
            let mut is_missing = false;
            let result = fill(&highlight.result, &mut |quoted| {
                let value = self.made.quoted(&self.paper.studies, quoted);
                is_missing |= value.is_err();
                value
            });
            json!({ "what": highlight.what, "result": Some(result).filter(|_| !is_missing) })
        });
        filled.collect()
    }
}

/// The axes whose points are readings of what a paper leaves open: those that claims are
/// judged along.
fn readings(studies: &Collection) -> Vec<&str> {
    let claims = studies.iter().flat_map(|of| &of.study.claims);
    let mut axes: Vec<&str> = claims
        .filter_map(|claim| claim.readings.as_deref())
        .collect();
    axes.push("reading");
    axes.sort_unstable();
    axes.dedup();
    axes
}
