//! `bentpipe reproduce`: published results against ours.

use crate::args;
use crate::exit::{Failure, Status, talk};
use crate::output::Output;
use crate::outputs;
use crate::study::{How, draw, execute};
use bentpipe::study::reproduce_on;
use bentpipe::{Reproduction, papers};
use bentpipe_outcome::write_whole;
use bentpipe_present::study::{self as shown, Results, pages, report};
use bentpipe_study::{Item, ItemKind, Paper, ReportRow, Selection};
use std::path::{Path, PathBuf};

/// Runs the papers' studies and judges them.
pub(crate) fn main(args: &args::Reproduce, out: &mut Output) -> Result<Status, Failure> {
    let folder = papers::folder()?;
    let chosen = match &args.paper {
        Some(name) => vec![papers::named(&folder, name)?],
        None => papers::all(&folder)?,
    };
    if args.list {
        match args.json {
            true => out.json(&shown::papers(&chosen))?,
            false => shown::print_papers(&chosen, out)?,
        }
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
        for (name, page) in report::pages(&results) {
            let path = folder.join(name);
            write_whole(&path, page.to_html().as_bytes())
                .map_err(|e| Failure::new(e.to_string()))?;
        }
        talk(format_args!(
            "wrote {}",
            folder.join(report::INDEX).display()
        ));
    }
    if args.brief {
        shown::sum(&results, out)?;
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
    let selection = papers::select(paper, args.item.as_deref())?;
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
        shown::changes(&paper.slug, &made, out)?;
    } else if !args.json {
        out.strong(format_args!("{}: {}", paper.slug, paper.title))?;
        out.paragraph(0, &paper.citation)?;
        out.line("")?;
        shown::print(&made, out)?;
        if !draws && matches!(selection, Selection::Item(_)) {
            shown::print_figures(&made, out)?;
        }
    }
    if let Some(results) = &results {
        let figures = draw(&made, results)?;
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
    let stale = renew(results, overview.as_deref(), write)?;
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

/// The pages of these papers that are, or were, of other results, renewed if `write` is
/// true. The overview is one of them where it is given.
fn renew(
    results: &[Results],
    overview: Option<&Path>,
    write: bool,
) -> Result<Vec<PathBuf>, Failure> {
    let mut stale = Vec::new();
    let mut page = |file: PathBuf, new: &dyn Fn(&str) -> Result<String, String>| {
        let Ok(text) = std::fs::read_to_string(&file) else {
            return Ok(());
        };
        let new = new(&text).map_err(|why| Failure::new(format!("{}: {why}", file.display())))?;
        if new != text {
            if write {
                std::fs::write(&file, &new).map_err(|e| Failure::file("write", &file, e))?;
            }
            stale.push(file);
        }
        Ok::<(), Failure>(())
    };
    for one in results {
        let file = one.paper.folder.join("README.md");
        page(file, &|text| pages::of_paper(one, text))?;
    }
    if let Some(file) = overview {
        page(file.to_path_buf(), &|text| pages::overview(results, text))?;
    }
    Ok(stale)
}
