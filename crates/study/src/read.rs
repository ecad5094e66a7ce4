//! Reads study files: TOML to a checked [`Study`].

mod axis;
mod claim;
mod figure;
mod replications;
mod section;
mod table;

pub(crate) use section::Section;

use crate::expr::{Scope, number, parse};
use crate::metric::metric;
use crate::paper::{Catalogue, Unknown};
use crate::stats::Central;
use crate::study::{DerivedMetric, Expression, ExpressionPlace, Setting, Study};
use bentpipe_document::{Diagnostic, Diagnostics, Errors, Origin, Parsed, Table};
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
        let errors = Errors::new(parsed.origin.clone());
        if let Some(error) = not_a_study(&parsed.table) {
            return Err(Diagnostics::single(&parsed.origin, error));
        }
        let study = read(&Section::top(&parsed, &errors), &parsed.origin);
        if errors.is_empty() {
            study.check_with(&Unknown, &errors);
        }
        errors.finish(Ok(study))
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

/// The study that a table, figure or claim is about; `None` if it is not known
/// yet, or wrong and reported.
fn home<'a>(
    study: &'a Study,
    from: Option<&str>,
    studies: &'a dyn Catalogue,
    span: &std::ops::Range<usize>,
    errors: &Errors,
) -> Option<&'a Study> {
    let Some(name) = from else { return Some(study) };
    if name == study.name {
        return Some(study);
    }
    let found = studies.study(name);
    if found.is_none() && studies.is_complete() {
        errors.report(
            Diagnostic::at(
                span.clone(),
                format!("`from` names an unknown study `{name}`"),
            )
            .suggest_from(name, studies.names()),
        );
    }
    found
}

impl Expression {
    /// An error of the expression at its place in the file.
    pub(crate) fn fault(&self, fault: crate::expr::Fault) -> Diagnostic {
        self.place.fault(fault)
    }
}

impl ExpressionPlace {
    fn fault(&self, mut fault: crate::expr::Fault) -> Diagnostic {
        fault.span = match self.start {
            Some(start) => start + fault.span.start..start + fault.span.end,
            None => self.span.clone(),
        };
        Diagnostic::from(fault)
    }
}

fn read(top: &Section<'_>, origin: &Origin) -> Study {
    let scenario = top.text("scenario").map(|t| t.value);
    let axes = axis::read(top);
    let precision;
    let study = Study {
        name: top.slug("name"),
        title: top.text("title").map_or_else(String::new, |t| t.value),
        description: top
            .text("description")
            .map_or_else(String::new, |t| t.value),
        paper: top.text("paper").map(|t| t.value),
        scenario,
        controls: controls(top),
        settings: settings(top, "set"),
        seed: top.integer("seed", 0..=u64::MAX / 2).unwrap_or(1),
        replications: {
            let (runs, until) = replications::read(top);
            precision = until;
            runs
        },
        precision,
        central: Central::Mean,
        start_jitter: top.parsed("start_jitter").unwrap_or(Duration::ZERO),
        series: top.parsed("series"),
        marks: marks(top),
        axes,
        metrics: top
            .tables("metric")
            .iter()
            .filter_map(|s| derived(s))
            .collect(),
        tables: top.tables("table").iter().filter_map(table::read).collect(),
        figures: top
            .tables("figure")
            .iter()
            .filter_map(figure::read)
            .collect(),
        claims: top.tables("claim").iter().filter_map(claim::read).collect(),
        origin: origin.clone(),
    };
    top.finish();
    whole(top, &study);
    study
}

/// `[control.NAME]` with its `file`.
fn controls(top: &Section<'_>) -> Vec<(String, String)> {
    let Some(tables) = top.table("control") else {
        return Vec::new();
    };
    let named = tables.keys().into_iter().filter_map(|name| {
        let control = tables.table(&name)?;
        let file = control.required_text("file");
        control.finish();
        Some((name, file?.value))
    });
    named.collect()
}

/// Times of the run, in their order.
fn marks(top: &Section<'_>) -> Vec<Time> {
    let mut marks: Vec<Time> = top
        .parsed_list::<Duration>("marks")
        .into_iter()
        .map(|at| Time::ZERO + at)
        .collect();
    marks.sort_unstable();
    marks.dedup();
    if marks.len() > MARKS {
        let message = format!("more than {MARKS} marks");
        let error = Diagnostic::at(top.span_of("marks"), message);
        top.error(error.help("time series record a run as it goes: `series = \"100 ms\"`"));
    }
    marks
}

/// What needs the study as a whole.
fn whole(top: &Section<'_>, study: &Study) {
    if study.scenario.is_none() && !study.axes.is_empty() {
        top.error(Diagnostic::whole("the study has axes but no `scenario`"));
    }
    if study
        .series
        .is_some_and(|interval| interval < Duration::from_micros(100))
    {
        top.error(
            Diagnostic::at(
                top.span_of("series"),
                "the interval of time series is too short",
            )
            .label("expected 100 us at least"),
        );
    }
    let cells = study
        .axes
        .iter()
        .try_fold(1usize, |n, a| n.checked_mul(a.points.len()));
    if cells.is_none_or(|n| n > CELLS) {
        top.error(Diagnostic::whole(format!(
            "the study has more than {CELLS} cells"
        )));
    }
    let items = study.tables.iter().map(|t| (&t.slug, &t.span));
    let items = items.chain(study.figures.iter().map(|f| (&f.slug, &f.span)));
    let mut seen: Vec<&String> = Vec::new();
    for (slug, span) in items {
        if seen.contains(&slug) {
            let message = format!("two tables or figures are named `{slug}`");
            top.error(Diagnostic::at(span.clone(), message));
        }
        seen.push(slug);
    }
    for (i, claim) in study.claims.iter().enumerate() {
        if study.claims[..i].iter().any(|other| other.id == claim.id) {
            let first = claim.parts.first();
            let span = first.map_or(0..0, |part| part.check.place.span.clone());
            top.error(Diagnostic::at(
                span,
                format!("two claims are named `{}`", claim.id),
            ));
        }
    }
}

fn derived(section: &Section<'_>) -> Option<DerivedMetric> {
    let name = section.required_text("name");
    let expression = expression(section, "expression");
    let unit = section.text("unit").map_or_else(String::new, |t| t.value);
    section.finish();
    let name = name?;
    if metric(&name.value).is_some() {
        let message = format!("`{}` is a built-in metric", name.value);
        section.error(Diagnostic::at(name.span.clone(), message));
    }
    if !is_name(&name.value) {
        section.error(
            Diagnostic::at(name.span.clone(), "this cannot be the name of a metric")
                .label("expected letters, digits and `_`"),
        );
    }
    Some(DerivedMetric {
        name: name.value,
        expression: expression?,
        unit,
    })
}

/// True for what expressions can call by its bare name.
pub(crate) fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && !text.ends_with('-')
        && text
            .chars()
            .all(|c| c.is_alphanumeric() || c == '_' || c == '-')
}

/// Reads an expression; reports if it is missing or cannot be parsed.
pub(crate) fn expression(section: &Section<'_>, key: &str) -> Option<Expression> {
    parsed_expression(section, section.required_text(key)?)
}

fn parsed_expression(section: &Section<'_>, text: section::Text) -> Option<Expression> {
    let place = ExpressionPlace {
        start: section.start_of(&text),
        span: text.span,
    };
    match parse(&text.value) {
        Ok(expr) => Some(Expression {
            text: text.value,
            expr,
            place,
        }),
        Err(fault) => {
            section.error(place.fault(fault));
            None
        }
    }
}

/// A table of paths and values, `{ "link.satellite.rate" = "2 Mbit/s" }`.
fn settings(section: &Section<'_>, key: &str) -> Vec<Setting> {
    let Some(table) = section.table(key) else {
        return Vec::new();
    };
    table
        .entries()
        .map(|(path, value)| Setting { path, value })
        .collect()
}

#[cfg(test)]
mod tests;
