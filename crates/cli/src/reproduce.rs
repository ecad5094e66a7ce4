//! `bentpipe reproduce`: published results against ours.

use crate::args;
use crate::exit::{Failure, Status, did_you_mean, talk};
use crate::items;
use crate::output::Output;
use crate::outputs;
use crate::pages::{self, Results};
use crate::report;
use crate::study::{How, execute};
use bentpipe::Reproduction;
use bentpipe::study::reproduce_on;
use bentpipe_study::{Item, ItemKind, Paper, ReportRow, Selection, papers};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Runs the papers' studies and judges them.
pub(crate) fn main(args: &args::Reproduce, out: &mut Output) -> Result<Status, Failure> {
    let folder = folder()?;
    let chosen = chosen(&folder, args.paper.as_deref())?;
    if args.list {
        list(&chosen, args.json, out)?;
        return Ok(Status::Done);
    }
    check_report(args, &chosen)?;
    let mut rows: Vec<ReportRow> = Vec::new();
    let mut worse = false;
    let mut how = How::new(&args.place, None, args.fresh)?;
    let mut results = Vec::new();
    for mut paper in chosen {
        let made = reproduce(args, &mut how, &mut paper, out)?;
        worse |= made.report.regression;
        if args.json {
            rows.extend(made.report.rows.iter().cloned());
        }
        results.push(Results { paper, made });
    }
    if args.json {
        out.json(&rows)?;
    }
    for remark in how.remarks() {
        talk(remark);
    }
    if worse {
        talk("something is not as recorded: a value outside its bar, or a changed verdict");
    }
    worse |= renew_pages(args, &folder, &results)?;
    if let Some(folder) = &args.report {
        let index = report::write(folder, &results)?;
        talk(format_args!("wrote {}", index.display()));
    }
    if args.brief {
        items::sum(&results, out)?;
    }
    Ok(if worse { Status::Worse } else { Status::Done })
}

/// Runs what was asked for of a paper, prints it and draws its figures.
fn reproduce(
    args: &args::Reproduce,
    how: &mut How,
    paper: &mut Paper,
    out: &mut Output,
) -> Result<Reproduction, Failure> {
    let selection = selection(paper, args.item.as_deref())?;
    let results = args.out.as_ref().map(|out| out.join(&paper.slug));
    how.results.clone_from(&results);
    if let Some(results) = &results {
        outputs::check_results(&paper.studies, results)?;
    }
    how.adapt(&mut paper.studies, &args.place.only)?;
    let prints = !args.json && !args.brief;
    let draws = args.out.is_some() || args.report.is_some();
    let has_figures = || paper.items().iter().any(|i| is_figure(i, &selection));
    if prints && !draws && has_figures() {
        talk(match selection {
            Selection::Item(_) => "--out DIR or --report DIR draws it; here are its numbers",
            _ => "--out DIR or --report DIR draws the figures",
        });
    }
    let made = execute(how, &|runner, options| {
        reproduce_on(paper, &selection, runner, options)
    })?;
    if args.brief {
        items::changes(&paper.slug, &made, out)?;
    } else if !args.json {
        out.strong(format_args!("{}: {}", paper.slug, paper.title))?;
        out.paragraph(0, &paper.citation)?;
        out.line("")?;
        items::print(&made, out)?;
        if !draws && matches!(selection, Selection::Item(_)) {
            items::figures(&made, out)?;
        }
    }
    if let Some(results) = &results {
        let figures = items::draw(&made, results)?;
        talk(format_args!(
            "{} pictures and all results are in {}",
            figures.len(),
            results.display()
        ));
    }
    Ok(made)
}

/// True for a figure that was asked for.
fn is_figure(item: &Item, selection: &Selection) -> bool {
    let is_chosen = match selection {
        Selection::All => true,
        Selection::Item(slug) => *slug == item.slug,
        Selection::Study(study) => *study == item.study,
        Selection::Claim(_) => false,
    };
    item.kind == ItemKind::Figure && is_chosen
}

/// Finds out before the work whether the pages of a report can be written.
fn check_report(args: &args::Reproduce, papers: &[Paper]) -> Result<(), Failure> {
    let Some(folder) = &args.report else {
        return Ok(());
    };
    let inputs: Vec<PathBuf> = papers.iter().flat_map(|p| p.studies.inputs()).collect();
    let names = report::file_names(papers.iter().map(|p| p.slug.as_str()));
    outputs::check_folder(&inputs, folder, &names)
}

/// Renews or compares the pages that quote results; true if one is stale.
fn renew_pages(
    args: &args::Reproduce,
    folder: &Path,
    results: &[Results],
) -> Result<bool, Failure> {
    let Some(pages) = args.pages else {
        return Ok(false);
    };
    let overview = folder.parent().map(|above| above.join("README.md"));
    let overview = overview.filter(|_| args.paper.is_none());
    let write = pages == args::Pages::Write;
    let stale = pages::renew(results, overview.as_deref(), write)?;
    for page in &stale {
        let page = page.display();
        talk(match write {
            true => format!("wrote {page}"),
            false => {
                format!("{page} quotes other results; `bentpipe reproduce --pages write` renews it")
            }
        });
    }
    Ok(!write && !stale.is_empty())
}

/// Where the papers are that came with this program.
static CARRIED: OnceLock<PathBuf> = OnceLock::new();

/// Says where the papers are that came with this program.
pub(crate) fn papers_are_in(folder: PathBuf) {
    // The first call counts.
    let _ = CARRIED.set(folder);
}

/// The papers as JSON.
pub(crate) fn listed_json() -> Result<Value, Failure> {
    let papers = chosen(&folder()?, None)?;
    Ok(papers.iter().map(listed).collect())
}

/// The paper of that name, and what `item` names of it.
pub(crate) fn find(name: &str, item: Option<&str>) -> Result<(Paper, Selection), Failure> {
    let found = chosen(&folder()?, Some(name))?;
    let missing = || Failure::new(format!("there is no paper `{name}`"));
    let paper = found.into_iter().next().ok_or_else(missing)?;
    let selection = selection(&paper, item)?;
    Ok((paper, selection))
}

/// The folder of papers: in the current folder or one above it, where they came
/// with this program, or where it was built.
fn folder() -> Result<PathBuf, Failure> {
    let built = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../papers");
    let here = std::env::current_dir().unwrap_or_default();
    let candidates = here
        .ancestors()
        .map(|dir| dir.join("papers"))
        .chain(CARRIED.get().cloned())
        .chain([built]);
    candidates
        .into_iter()
        .find(|dir| holds_papers(dir))
        .ok_or_else(|| {
            Failure::new(
                "there is no folder `papers` with papers in it, here or above\n  \
             Run this in a checkout of bentpipe: the papers' studies are part of it.",
            )
        })
}

fn holds_papers(dir: &Path) -> bool {
    std::fs::read_dir(dir).is_ok_and(|entries| {
        entries
            .filter_map(Result::ok)
            .any(|entry| entry.path().join("paper.toml").is_file())
    })
}

/// The paper of that name, or all.
fn chosen(folder: &Path, name: Option<&str>) -> Result<Vec<Paper>, Failure> {
    let found = papers(folder).map_err(bentpipe::Error::from)?;
    let mut chosen = Vec::new();
    let names: Vec<String> = found.iter().map(|(slug, _)| slug.clone()).collect();
    for (slug, paper) in found {
        if name.is_none_or(|name| name == slug) {
            chosen.push(paper.map_err(bentpipe::Error::from)?);
        }
    }
    match name {
        Some(name) if chosen.is_empty() => {
            let hint = did_you_mean(name, names.iter().map(String::as_str));
            Err(Failure::new(format!(
                "there is no paper `{name}`{hint}\n  known: {}",
                names.join(", ")
            )))
        }
        _ => Ok(chosen),
    }
}

/// What `item` names: a table or figure, a claim, or a study.
fn selection(paper: &Paper, item: Option<&str>) -> Result<Selection, Failure> {
    let Some(name) = item else {
        return Ok(Selection::All);
    };
    let items = paper.items();
    let claims = paper.claims();
    if items.iter().any(|i| i.slug == name) {
        return Ok(Selection::Item(name.to_owned()));
    }
    if claims.iter().any(|(id, _)| *id == name) {
        return Ok(Selection::Claim(name.to_owned()));
    }
    if paper.studies.get(name).is_some() {
        return Ok(Selection::Study(name.to_owned()));
    }
    let known = items
        .iter()
        .map(|i| i.slug.as_str())
        .chain(claims.iter().map(|(id, _)| *id))
        .chain(paper.studies.iter().map(|s| s.study.name.as_str()));
    let hint = did_you_mean(name, known);
    Err(Failure::new(format!(
        "{} has no table, figure, claim or study `{name}`{hint}\n  \
         `bentpipe reproduce {0} --list` lists them",
        paper.slug
    )))
}

fn list(papers: &[Paper], as_json: bool, out: &mut Output) -> Result<(), Failure> {
    if as_json {
        return out.json(&papers.iter().map(listed).collect::<Vec<_>>());
    }
    for (i, paper) in papers.iter().enumerate() {
        if i > 0 {
            out.line("")?;
        }
        out.strong(format_args!("{}: {}", paper.slug, paper.title))?;
        out.paragraph(2, &paper.citation)?;
        let items = paper.items();
        let width = items.iter().map(|i| i.slug.len()).max().unwrap_or(0);
        for item in &items {
            let published = if item.has_reference {
                ""
            } else {
                " (no published numbers)"
            };
            out.entry(2, &item.slug, width, &format!("{}{published}", item.title))?;
        }
        let claims = paper.claims();
        let width = claims.iter().map(|(id, _)| id.len()).max().unwrap_or(0);
        for (id, statement) in &claims {
            out.entry(2, id, width, &format!("claim: {statement}"))?;
        }
    }
    Ok(())
}

fn listed(paper: &Paper) -> Value {
    let items: Vec<Value> = paper
        .items()
        .iter()
        .map(|item| {
            json!({
                "item": item.slug,
                "title": item.title,
                "kind": match item.kind {
                    ItemKind::Table => "table",
                    ItemKind::Figure => "figure",
                },
                "study": item.study,
                "has_published_numbers": item.has_reference,
            })
        })
        .collect();
    let claims: Vec<Value> = paper
        .claims()
        .iter()
        .map(|(id, claim)| json!({ "id": id, "claim": claim }))
        .collect();
    json!({
        "paper": paper.slug,
        "title": paper.title,
        "authors": paper.authors,
        "year": paper.year,
        "citation": paper.citation,
        "items": items,
        "claims": claims,
    })
}
