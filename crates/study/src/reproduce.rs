//! Runs studies and computes the requested tables, figures, claims, and a report.

use crate::catalogue::Catalogue;
use crate::claim::{self, ClaimResult};
use crate::collection::{Collection, LoadedStudy, studies_of};
use crate::error::ReproduceError;
use crate::execute::{ExecuteOptions, execute, recorded};
use crate::expr::{Scope, Use, World, formula, number, uses, uses_of};
use crate::figure::{self, FigureData};
use crate::quote;
use crate::report::{ReproduceReport, report};
use crate::results::StudyResults;
use crate::runner::{Runner, Watch};
use crate::study::{FigureSpec, Mentions, TableSpec};
use crate::table::{self, TableData};
use crate::{folder, store};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::PathBuf;

/// Selection of items to reproduce.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum Selection {
    /// All items.
    #[default]
    All,
    /// One table or figure.
    Item(String),
    /// One claim.
    Claim(String),
    /// Everything of one study.
    Study(String),
}

/// Makes the runner of a study.
pub type MakeRunner<'a> = dyn Fn(&LoadedStudy) -> Result<Box<dyn Runner>, String> + 'a;

/// Options of a reproduction.
pub struct ReproduceOptions<'a> {
    /// Runs at a time; zero is as many as there are cores.
    pub threads: usize,
    /// Runs per cell instead of each study's own number, where that is more.
    pub runs: Option<u32>,
    /// Folder for the results of each study; `None` keeps them in memory.
    pub results: Option<PathBuf>,
    /// Forget results that are there.
    pub fresh: bool,
    /// Run nothing: results that are missing are an error.
    pub collect: bool,
    /// Told how far it is.
    pub watch: &'a Watch<'a>,
}

impl Default for ReproduceOptions<'_> {
    fn default() -> Self {
        ReproduceOptions {
            threads: 0,
            runs: None,
            results: None,
            fresh: false,
            collect: false,
            watch: &|_| ControlFlow::Continue(()),
        }
    }
}

/// Everything that came out.
#[derive(Clone, Debug)]
pub struct Reproduction {
    /// The report: cells and claims.
    pub report: ReproduceReport,
    /// The tables, each with its study.
    pub tables: Vec<(String, TableData)>,
    /// The figures, each with its study.
    pub figures: Vec<(String, FigureData)>,
    /// The claims.
    pub claims: Vec<ClaimResult>,
    /// The results of the studies that ran.
    pub results: BTreeMap<String, StudyResults>,
    /// What the folder of results holds, where that is more than was asked for:
    /// results of earlier runs stay when only some points, or fewer
    /// replications, are run.
    pub kept: Option<Box<Reproduction>>,
}

impl World for BTreeMap<String, StudyResults> {
    fn results(&self, study: &str) -> Option<&StudyResults> {
        self.get(study)
    }
}

impl Reproduction {
    /// The number of `{quoted}` in a text about these studies:
    ///
    /// - `mean TABLE`, `median TABLE`, `worst TABLE` and `spread TABLE` are the
    ///   errors of a table, `mean TABLE | COLUMN` those of a column with a bar
    ///   of its own, and `cells TABLE` is how many were compared;
    /// - `STUDY: EXPRESSION; UNIT; DIGITS` is any number of a study, where
    ///   unit and digits after the point may be left out.
    ///
    /// # Errors
    /// If there is no such number.
    pub fn quoted(&self, studies: &Collection, quoted: &str) -> Result<String, String> {
        if let Some((study, expression)) = quoted.split_once(": ") {
            let home = studies.study(study.trim());
            let home = home.ok_or_else(|| format!("there is no study `{study}`"))?;
            return quote::value(expression, home, &[], studies, &self.results);
        }
        let (what, table) = quoted.trim().split_once(' ').unwrap_or(("", quoted));
        let (slug, column) = match table.split_once('|') {
            Some((slug, column)) => (slug.trim(), Some(column.trim())),
            None => (table.trim(), None),
        };
        let mut tables = self.tables.iter().map(|(_, table)| table);
        let table = tables.find(|table| table.slug == slug);
        let errors = table.and_then(|t| t.errors.iter().find(|e| e.column.as_deref() == column));
        let errors = errors.ok_or_else(|| format!("no table `{slug}` has such errors"))?;
        let number = match what {
            "cells" => return Ok(errors.cells.to_string()),
            "mean" => errors.mean,
            "median" => errors.median,
            "worst" => errors.worst,
            "spread" => errors.spread,
            _ => return Err(format!("`{what}` is not a number of a table")),
        };
        let number = number.ok_or_else(|| "nothing was compared".to_owned())?;
        Ok(format!("{:.1}%", 100.0 * number))
    }
}

/// The selected items, with the study of each.
#[derive(Default)]
struct Wanted<'a> {
    tables: Vec<(&'a LoadedStudy, &'a TableSpec)>,
    figures: Vec<(&'a LoadedStudy, &'a FigureSpec)>,
    claims: Vec<(&'a LoadedStudy, &'a crate::study::ClaimSpec)>,
    /// Studies to run, whoever needs them.
    studies: BTreeSet<String>,
}

impl<'a> Wanted<'a> {
    fn new(studies: &'a Collection, selection: &Selection) -> Result<Wanted<'a>, ReproduceError> {
        let mut wanted = Wanted::default();
        let (item, claim) = match selection {
            Selection::Item(slug) => (Some(slug), None),
            Selection::Claim(id) => (None, Some(id)),
            Selection::All | Selection::Study(_) => (None, None),
        };
        for loaded in studies.iter() {
            let study = &*loaded.study;
            match selection {
                Selection::Study(name) if *name != study.name => continue,
                Selection::All | Selection::Study(_) => {
                    wanted.studies.insert(study.name.clone());
                }
                Selection::Item(_) | Selection::Claim(_) => {}
            }
            let items = claim.is_none();
            let chosen = |slug: &String| items && item.is_none_or(|wanted| wanted == slug);
            wanted.tables.extend(
                study
                    .tables
                    .iter()
                    .filter(|t| chosen(&t.slug))
                    .map(|t| (loaded, t)),
            );
            wanted.figures.extend(
                study
                    .figures
                    .iter()
                    .filter(|f| chosen(&f.slug))
                    .map(|f| (loaded, f)),
            );
            let claims = study
                .claims
                .iter()
                .filter(|c| item.is_none() && claim.is_none_or(|wanted| *wanted == c.id));
            wanted.claims.extend(claims.map(|c| (loaded, c)));
        }
        wanted.needs();
        let nothing = wanted.tables.is_empty()
            && wanted.figures.is_empty()
            && wanted.claims.is_empty()
            && wanted.studies.is_empty();
        if nothing && *selection != Selection::All {
            return Err(unknown(studies, selection));
        }
        Ok(wanted)
    }

    /// What tables and figures name, each with the study that has it.
    fn shown(&self) -> impl Iterator<Item = (&'a LoadedStudy, Mentions<'a>)> {
        let tables = self.tables.iter().map(|(study, t)| (*study, t.mentions()));
        let figures = self.figures.iter();
        tables.chain(figures.map(|(study, f)| (*study, f.mentions())))
    }

    fn needs(&mut self) {
        let claims = self.claims.iter().map(|(study, c)| (*study, c.mentions()));
        let mut needed = BTreeSet::new();
        for (loaded, (from, expressions)) in self.shown().chain(claims) {
            needed.insert(from.unwrap_or(&loaded.study.name).to_owned());
            needed.extend(expressions.iter().flat_map(|e| studies_of(&e.expr)));
        }
        self.studies.extend(needed);
    }
}

fn unknown(studies: &Collection, selection: &Selection) -> ReproduceError {
    let all = || studies.iter().map(|s| &*s.study);
    let (kind, name, known): (_, _, Vec<&str>) = match selection {
        Selection::Claim(id) => {
            let ids = all().flat_map(|s| s.claims.iter().map(|c| c.id.as_str()));
            ("claim", id.as_str(), ids.collect())
        }
        Selection::Study(name) => ("study", name.as_str(), studies.names()),
        Selection::Item(slug) => {
            let tables = all().flat_map(|s| s.tables.iter().map(|t| t.slug.as_str()));
            let figures = all().flat_map(|s| s.figures.iter().map(|f| f.slug.as_str()));
            (
                "table or figure",
                slug.as_str(),
                tables.chain(figures).collect(),
            )
        }
        Selection::All => ("item", "", Vec::new()),
    };
    let near = bentpipe_units::nearest(name, known);
    let hint = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
    ReproduceError::Unknown {
        kind,
        name: name.to_owned(),
        hint,
    }
}

/// The studies with runs that a selection needs.
///
/// # Errors
/// If there is no such item, claim or study.
pub fn needed<'a>(
    studies: &'a Collection,
    selection: &Selection,
) -> Result<Vec<&'a LoadedStudy>, ReproduceError> {
    let wanted = Wanted::new(studies, selection)?;
    Ok(studies.runs_of(&wanted.studies))
}

/// Computes a selection over existing results, without running anything: missing results stay
/// missing, and the published numbers are shown alone.
///
/// # Errors
/// If there is no such item, claim or study.
pub fn judged(
    studies: &Collection,
    paper: &str,
    selection: &Selection,
    results: BTreeMap<String, StudyResults>,
) -> Result<Reproduction, ReproduceError> {
    let wanted = Wanted::new(studies, selection)?;
    Ok(compute(studies, paper, &wanted, results))
}

/// Runs what is needed for a selection and computes it.
///
/// # Errors
/// If there is no such item, a scenario is wrong, or a study cannot be run to
/// its end. Runs that fail do not stop the rest: they are missing cells.
pub fn reproduce(
    studies: &Collection,
    paper: &str,
    selection: &Selection,
    runner: &MakeRunner<'_>,
    options: &ReproduceOptions<'_>,
) -> Result<Reproduction, ReproduceError> {
    let wanted = Wanted::new(studies, selection)?;
    let (mut results, mut kept) = (BTreeMap::new(), BTreeMap::new());
    for loaded in studies.runs_of(&wanted.studies) {
        let study = &loaded.study;
        let folder = match &options.results {
            Some(results) => Some(folder::create(&results.join(&study.name))?),
            None => None,
        };
        let runner = runner(loaded).map_err(ReproduceError::Scenario)?;
        let execution = ExecuteOptions {
            threads: options.threads,
            replications: options.runs.map(|n| n.min(study.replications)),
            journal: folder.as_ref().map(|f| f.join(store::JOURNAL)),
            fresh: options.fresh,
            collect: options.collect,
            watch: options.watch,
        };
        let found = execute(study, &*runner, &execution)?;
        if let Some(folder) = &folder {
            let whole = loaded.whole.as_ref().unwrap_or(study);
            found.expect(asked(&wanted, studies, &study.name));
            if loaded.whole.is_some() || options.runs.is_some() {
                let all = recorded(whole, &*runner, &folder.join(store::JOURNAL))?;
                store::write_runs(folder, &all, &runner.identity())?;
                kept.insert(study.name.clone(), all);
            } else {
                store::write_runs(folder, &found, &runner.identity())?;
            }
        }
        results.insert(study.name.clone(), found);
    }
    let more = |(name, all): (&String, &StudyResults)| {
        let found = results.get(name).map(StudyResults::total);
        found.is_none_or(|found| all.total() > found)
    };
    let more = kept.iter().any(more);
    let mut made = compute(studies, paper, &wanted, results);
    if more {
        let whole = studies.whole();
        let wanted = Wanted::new(&whole, selection)?;
        let mut all = made.results.clone();
        all.extend(kept);
        made.kept = Some(Box::new(compute(&whole, paper, &wanted, all)));
    }
    if let Some(results) = &options.results {
        let claims = matches!(selection, Selection::All | Selection::Study(_));
        store::write_items(results, made.kept.as_deref().unwrap_or(&made), claims)?;
    }
    Ok(made)
}

/// The metrics that tables, figures and claims ask of the runs of a study.
fn asked(wanted: &Wanted<'_>, studies: &Collection, study: &str) -> Vec<Use> {
    let mut found = Vec::new();
    for (loaded, (from, expressions)) in wanted.shown() {
        let Some(home) = studies.home(loaded, from) else {
            continue;
        };
        for e in expressions {
            let bound = home.axes.iter().map(|a| a.name.as_str());
            let scope = Scope::new(home, studies, &e.text).with_bound(bound);
            if let Ok((number, _)) = number(&e.expr, &scope) {
                uses(&number, &home.name, &mut found);
            }
        }
    }
    for (loaded, claim) in &wanted.claims {
        let Some(home) = studies.home(loaded, claim.from.as_deref()) else {
            continue;
        };
        for part in &claim.parts {
            let scope = Scope::new(home, studies, &part.check.text).with_bound(claim.bound());
            if let Ok(formula) = formula(&part.check.expr, &scope) {
                uses_of(&formula, &home.name, &mut found);
            }
        }
    }
    let of_study = found.into_iter().filter(|(name, _)| name == study);
    of_study.map(|(_, used)| used).collect()
}

fn compute(
    studies: &Collection,
    paper: &str,
    wanted: &Wanted<'_>,
    results: BTreeMap<String, StudyResults>,
) -> Reproduction {
    let mut tables = Vec::new();
    for (loaded, spec) in &wanted.tables {
        let Some(home) = studies.home(loaded, spec.from.as_deref()) else {
            continue;
        };
        let reference = loaded.references.get(&spec.slug);
        let table = table::compute(spec, home, reference, studies, &results);
        tables.push((loaded.study.name.clone(), table));
    }
    let mut figures = Vec::new();
    for (loaded, spec) in &wanted.figures {
        let Some(home) = studies.home(loaded, spec.from.as_deref()) else {
            continue;
        };
        let sources = figure::Sources {
            home,
            reference: loaded.references.get(&spec.slug),
            studies,
            world: &results,
        };
        figures.push((loaded.study.name.clone(), figure::compute(spec, &sources)));
    }
    let mut claims = Vec::new();
    for (loaded, spec) in &wanted.claims {
        let Some(home) = studies.home(loaded, spec.from.as_deref()) else {
            continue;
        };
        let parts = spec.parts.iter();
        let mut used: BTreeSet<String> = parts
            .flat_map(|part| studies_of(&part.check.expr))
            .collect();
        used.insert(home.name.clone());
        let used = used.iter().filter_map(|name| results.get(name));
        let runs = used
            .filter(|r| r.are_fewer())
            .map(StudyResults::replications);
        let fewer = runs.min();
        claims.push(claim::check(
            &loaded.study.name,
            spec,
            home,
            studies,
            &results,
            fewer,
        ));
    }
    let report = report(paper, &tables, &claims);
    Reproduction {
        report,
        tables,
        figures,
        claims,
        results,
        kept: None,
    }
}
