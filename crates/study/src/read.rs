//! Reads study files: TOML to a checked [`Study`].

mod axis;
mod claim;
mod figure;
mod lists;
mod replications;
mod shown;
mod table;

use self::lists::{each, once};
use crate::catalogue::{Catalogue, Unknown};
use crate::expr::{Scope, is_name, number};
use crate::metric::metric;
use crate::schema::{MetricKeys, StudyKeys, given};
use crate::stats::Central;
use crate::study::{DerivedMetric, Study};
use bentpipe_document::reading::Declared;
use bentpipe_document::{Context, Diagnostic, Diagnostics, Errors, Parsed, Place, Reported, Table};
use bentpipe_units::{Duration, Time};

/// Cells of a study, at most.
const CELLS: usize = 100_000;

/// Marks of a study, at most: each costs a look at every flow and link.
const MARKS: usize = 1000;

impl Study {
    /// Reads a study. `file` is its name, for messages.
    ///
    /// # Errors
    /// Everything that is wrong with it. What it says of other studies is
    /// checked when they are [known](crate::Paper::load).
    pub fn parse(file: &str, text: &str) -> Result<Study, Diagnostics> {
        let parsed = Parsed::new(file, text)?;
        if let Some(error) = not_a_study(&parsed.table) {
            return Err(Diagnostics::single(&parsed.origin, error));
        }
        let errors = Errors::new(parsed.origin.clone());
        let top = Context::top::<StudyKeys>(&parsed.table, &errors, "the study");
        let study = read(StudyKeys::from_context(top));
        if let Ok(study) = &study
            && errors.is_empty()
        {
            study.check_with(&Unknown, &errors);
        }
        errors.finish(study)
    }

    /// Checks what it says of other studies, now that they are known.
    pub(crate) fn check(&self, studies: &dyn Catalogue) -> Result<(), Diagnostics> {
        let errors = Errors::new(self.origin.clone());
        self.check_with(studies, &errors);
        errors.finish(Ok(()))
    }

    fn check_with(&self, studies: &dyn Catalogue, errors: &Errors) {
        for (i, derived) in self.metrics.iter().enumerate() {
            // Its axes are fixed where it is used.
            let mut scope = Scope::new(self, studies, &derived.expression.text)
                .with_bound(self.axes.iter().map(|a| a.name.as_str()));
            scope.metrics = i;
            if let Err(fault) = number(&derived.expression.expr, &scope) {
                errors.report(derived.expression.fault(fault));
            }
        }
        crate::precision::check(self, studies, errors);
        table::check(self, studies, errors);
        figure::check(self, studies, errors);
        for claim in &self.claims {
            claim::check(claim, self, studies, errors);
        }
    }
}

/// What to say of a file that is something else: one message, not one for each
/// key.
fn not_a_study(table: &Table) -> Option<Diagnostic> {
    if table.get("name").is_some() && table.get("title").is_some() {
        return None;
    }
    let keys = ["node", "link", "flow", "constellation"];
    let entry = keys.iter().find_map(|key| table.get(key))?;
    let error = Diagnostic::new(entry.key_place, "this is a scenario, not a study");
    let error = error.label(format!("`{}` belongs to scenarios", entry.key));
    Some(error.help("`bentpipe run FILE` runs it; a study names it with `scenario = \"FILE\"`"))
}

fn read(keys: StudyKeys) -> Result<Study, Reported> {
    let top = &keys.context;
    let figures = keys.figure.map(|f| f.map(|f| f.value.0));
    let figures = figures.and_then(|figures| {
        let figures = figures.unwrap_or_default().into_iter();
        let read: Vec<_> = figures.map(|figure| figure::read(figure.value)).collect();
        read.into_iter().collect()
    });
    let axes = axis::read(top, keys.axis);
    let metrics = each(keys.metric, derived);
    let tables = each(keys.table, table::read);
    let claims = each(keys.claim, claim::read);
    let runs = keys
        .replications
        .and_then(|runs| replications::read(runs.value));
    let controls = given(keys.control).and_then(|controls| {
        let controls = controls.unwrap_or_default().tables.into_iter();
        controls
            .map(|control| Ok((control.name, control.table?.file?.value)))
            .collect()
    });
    if let Ok(Some(series)) = &keys.series
        && series.value < Duration::from_micros(100)
    {
        let error = Diagnostic::new(series.place, "the interval of time series is too short");
        top.report(error.label("expected 100 us at least"));
    }
    if let Ok(Some(marks)) = &keys.marks
        && marks.value.0.len() > MARKS
    {
        let error = Diagnostic::new(marks.place, format!("more than {MARKS} marks"));
        top.report(error.help("time series record a run as it goes: `series = \"100 ms\"`"));
    }
    let (replications, precision) = runs?;
    let study = Study {
        name: keys.name?.value.0,
        title: given(keys.title)?.unwrap_or_default(),
        description: given(keys.description)?.unwrap_or_default(),
        paper: given(keys.paper)?,
        scenario: given(keys.scenario)?,
        controls: controls?,
        settings: axis::settings(top, keys.set)?,
        seed: keys.seed?.value,
        replications,
        precision,
        central: Central::Mean,
        start_jitter: keys.start_jitter?.value,
        skip_steady: keys.skip_steady?.value,
        series: given(keys.series)?,
        marks: marks(given(keys.marks)?.unwrap_or_default().values()),
        axes: axes?,
        metrics: metrics?,
        tables: tables?,
        figures: figures?,
        claims: claims?,
        origin: top.errors.origin().clone(),
    };
    whole(top, &study);
    Ok(study)
}

/// Times of the run, in their order.
fn marks(times: Vec<Duration>) -> Vec<Time> {
    let mut marks: Vec<Time> = times.into_iter().map(|at| Time::ZERO + at).collect();
    marks.sort_unstable();
    marks.dedup();
    marks
}

/// Checks that need the study as a whole.
fn whole(top: &Context, study: &Study) {
    if study.scenario.is_none() && !study.axes.is_empty() {
        top.report(Diagnostic::whole("the study has axes but no `scenario`"));
    }
    let mut axes = study.axes.iter();
    let cells = axes.try_fold(1usize, |n, a| n.checked_mul(a.points.len()));
    if cells.is_none_or(|n| n > CELLS) {
        let message = format!("the study has more than {CELLS} cells");
        top.report(Diagnostic::whole(message));
    }
    let items = study.tables.iter().map(|t| (&*t.slug, t.place));
    let items = items.chain(study.figures.iter().map(|f| (&*f.slug, f.place)));
    once(top, "tables or figures", items);
    let claims = study.claims.iter().map(|claim| {
        let first = claim.parts.first();
        let place = first.map_or(Place::Whole, |part| part.check.place.string);
        (&*claim.id, place)
    });
    once(top, "claims", claims);
}

fn derived(keys: MetricKeys) -> Result<DerivedMetric, Reported> {
    let name = keys.name?;
    if metric(&name.value).is_some() {
        let message = format!("`{}` is a built-in metric", name.value);
        keys.context.report(Diagnostic::new(name.place, message));
    }
    if !is_name(&name.value) {
        let error = Diagnostic::new(name.place, "this cannot be the name of a metric");
        keys.context
            .report(error.label("expected letters, digits and `_`"));
    }
    Ok(DerivedMetric {
        name: name.value,
        expression: keys.expression?.value,
        unit: given(keys.unit)?.unwrap_or_default(),
    })
}

#[cfg(test)]
mod tests;
