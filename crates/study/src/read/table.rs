//! Tables, what their cells show, and the bars that they are held to.

use super::{Section, expression, home, parsed_expression};
use crate::expr::{Scope, number};
use crate::paper::Catalogue;
use crate::study::{Bar, KnownMiss, Labels, Limits, Shown, Study, TableSpec, ValueSpec};
use crate::unit::Unit;
use bentpipe_document::names::list;
use bentpipe_document::{Diagnostic, Errors};
use bentpipe_units::Ratio;
use std::collections::BTreeMap;
use std::ops::Range;

pub(super) fn read(section: &Section<'_>) -> Option<TableSpec> {
    let slug = section.slug("slug");
    let title = section.text("title").map_or_else(String::new, |t| t.value);
    let from = section.text("from").map(|t| t.value);
    let names = |key: &str| {
        section
            .texts(key)
            .into_iter()
            .map(|t| t.value)
            .collect::<Vec<_>>()
    };
    let (rows, columns) = (names("rows"), names("columns"));
    let transposed = section.flag("transposed");
    let (at, only) = selection(section);
    let unit = section.text("unit").map(|t| t.value);
    let decimals = section.integer("decimals", 0..=12).map_or(2, |n| n as u32);
    let values = values(section, unit.as_ref(), decimals);
    let reference = section.text("reference").map(|t| t.value);
    let bar = section.table("bar").map(|s| bar(&s));
    let known = section.tables("known");
    let known = known.iter().filter_map(known_miss).collect();
    let notes = section.table("notes").map_or_else(BTreeMap::new, |notes| {
        let keys = notes.keys().into_iter();
        let notes = keys.filter_map(|key| Some((key.clone(), notes.text(&key)?.value)));
        notes.collect()
    });
    section.finish();
    if rows.is_empty() && columns.is_empty() && values.len() < 2 {
        let message = "the table has neither `rows` nor `columns`";
        section.error(Diagnostic::at(section.span.clone(), message));
    }
    if values.is_empty() {
        return None;
    }
    Some(TableSpec {
        slug,
        title,
        from,
        rows,
        columns,
        transposed,
        at,
        only,
        values,
        reference,
        bar,
        known,
        notes,
        span: section.span.clone(),
    })
}

/// `metric = "..."`, or `metrics = [{ label, metric, unit, decimals }]`.
fn values(section: &Section<'_>, unit: Option<&String>, decimals: u32) -> Vec<ValueSpec> {
    if !section.has("metrics") {
        return one_value(section, "metric", unit, decimals)
            .into_iter()
            .collect();
    }
    let mut values = Vec::new();
    for entry in section.tables("metrics") {
        let label = entry.required_text("label").map(|t| t.value);
        let own_unit = entry.text("unit").map(|t| t.value);
        let decimals = entry
            .integer("decimals", 0..=12)
            .map_or(decimals, |n| n as u32);
        let value = one_value(&entry, "metric", own_unit.as_ref().or(unit), decimals);
        entry.finish();
        values.extend(value.map(|v| ValueSpec { label, ..v }));
    }
    values
}

/// A metric to show; reports if it is missing.
pub(super) fn one_value(
    section: &Section<'_>,
    key: &str,
    unit: Option<&String>,
    decimals: u32,
) -> Option<ValueSpec> {
    let expression = if section.has(key) {
        parsed_expression(section, section.text(key)?)
    } else {
        expression(section, key)
    };
    Some(ValueSpec {
        label: None,
        expression: expression?,
        unit: unit.cloned(),
        decimals,
    })
}

/// `at = { axis = "point" }` and `only = { axis = ["point", ...] }`.
pub(super) fn selection(section: &Section<'_>) -> (Labels, Shown) {
    let at = section.table("at").map_or_else(Vec::new, |table| {
        let keys = table.keys().into_iter();
        keys.filter_map(|key| Some((key.clone(), table.text(&key)?.value)))
            .collect()
    });
    let only = section.table("only").map_or_else(Vec::new, |table| {
        let points = |key: &str| table.texts(key).into_iter().map(|t| t.value).collect();
        table
            .keys()
            .into_iter()
            .map(|key| (key.clone(), points(&key)))
            .collect()
    });
    (at, only)
}

fn bar(section: &Section<'_>) -> Bar {
    let limits = limits(section);
    let per_column = section
        .table("per_column")
        .map_or_else(BTreeMap::new, |columns| {
            let entry = |key: String| {
                let section = columns.table(&key)?;
                let limits = self::limits(&section);
                section.finish();
                Some((key, limits))
            };
            columns.keys().into_iter().filter_map(entry).collect()
        });
    section.finish();
    Bar { limits, per_column }
}

/// `[[table.known]]`: row, column, worst, reason.
fn known_miss(section: &Section<'_>) -> Option<KnownMiss> {
    let (row, column) = (
        section.required_text("row"),
        section.required_text("column"),
    );
    let worst = section.required_text("worst").and_then(|text| {
        // A relative error can be above 100%, unlike a ratio.
        let percent = text.value.trim_end().strip_suffix('%');
        let percent = percent.and_then(|number| number.trim().parse::<f64>().ok());
        let worst = percent.filter(|p| p.is_finite() && *p >= 0.0);
        if worst.is_none() {
            let message = "`worst` says how far off the cell may be, such as `50%`";
            section.error(Diagnostic::at(text.span.clone(), message));
        }
        worst.map(|p| p / 100.0)
    });
    let reason = section.required_text("reason");
    section.finish();
    Some(KnownMiss {
        row: row?.value,
        column: column?.value,
        worst: worst?,
        reason: reason?.value,
    })
}

fn limits(section: &Section<'_>) -> Limits {
    Limits {
        mean: section.parsed::<Ratio>("mean").map(Ratio::get),
        median: section.parsed::<Ratio>("median").map(Ratio::get),
        worst: section.parsed::<Ratio>("worst").map(Ratio::get),
        mean_difference: section.number("mean_difference"),
        worst_difference: section.number("worst_difference"),
        spread: spread(section),
        exact_digits: section.flag("exact_digits"),
        missed: section.text("missed").map_or_else(String::new, |t| t.value),
    }
}

/// The limit of the spread, which the best constant must not meet.
fn spread(section: &Section<'_>) -> Option<f64> {
    let spread = section.parsed::<Ratio>("spread").map(Ratio::get)?;
    if spread >= 1.0 {
        let message = "a constant has a spread of 100%, so that the bar must be below";
        section.error(Diagnostic::at(section.span_of("spread"), message));
    }
    Some(spread)
}

pub(super) fn check(study: &Study, studies: &dyn Catalogue, errors: &Errors) {
    for table in &study.tables {
        let Some(home) = home(study, table.from.as_deref(), studies, &table.span, errors) else {
            continue;
        };
        let shown: Vec<&String> = table.rows.iter().chain(&table.columns).collect();
        let axes = Axes {
            home,
            span: &table.span,
            errors,
        };
        if !axes.check(&shown, &table.at, &table.only) {
            continue;
        }
        let fixed: Vec<&str> = axes.fixed(&shown, &table.at);
        for value in &table.values {
            check_value(value, home, studies, &fixed, errors);
        }
        check_bar(table, home, errors);
        check_known(table, home, errors);
    }
}

/// Every known miss is a cell of the table.
fn check_known(table: &TableSpec, home: &Study, errors: &Errors) {
    let (rows, columns) = crate::table::labels(table, home);
    for known in &table.known {
        let places = [
            ("row", &known.row, &rows),
            ("column", &known.column, &columns),
        ];
        for (kind, name, labels) in places.into_iter().filter(|(_, name, l)| !l.contains(name)) {
            let message = format!("a known miss names an unknown {kind} `{name}`");
            errors.report(
                Diagnostic::at(table.span.clone(), message)
                    .suggest_from(name, labels.iter().map(String::as_str)),
            );
        }
    }
}

/// Every name of the bar is that of a column.
fn check_bar(table: &TableSpec, home: &Study, errors: &Errors) {
    let Some(bar) = &table.bar else { return };
    if table.columns.is_empty() && table.values.len() < 2 {
        return;
    }
    let mut known: Vec<&str> = table
        .values
        .iter()
        .filter_map(|v| v.label.as_deref())
        .collect();
    for axis in table.columns.iter().filter_map(|name| home.axis(name)) {
        known.extend(axis.points.iter().map(|p| p.label.as_str()));
    }
    for name in bar.per_column.keys() {
        let parts: Vec<&str> = name.split(crate::table::COLUMN_JOIN).collect();
        if !known.contains(&name.as_str()) && !parts.iter().all(|part| known.contains(part)) {
            errors.report(
                Diagnostic::at(
                    table.span.clone(),
                    format!("the bar names an unknown column `{name}`"),
                )
                .label(format!("columns are {}", list(known.iter().copied())))
                .suggest_from(name, known.iter().copied()),
            );
        }
    }
}

/// A metric resolves where some axes are fixed, and is in a unit that fits.
pub(super) fn check_value(
    value: &ValueSpec,
    home: &Study,
    studies: &dyn Catalogue,
    fixed: &[&str],
    errors: &Errors,
) {
    let text = &value.expression;
    let scope = Scope::new(home, studies, &text.text).with_bound(fixed.iter().copied());
    match (number(&text.expr, &scope), &value.unit) {
        (Err(fault), _) => {
            let mut error = text.fault(fault);
            if error.message().ends_with("is not fixed here") {
                error =
                    error.help_instead("show the axis, or fix it with `at = { AXIS = \"point\" }`");
            }
            errors.report(error);
        }
        (Ok((_, Some(measure))), Some(unit)) if measure.factor(unit).is_none() => {
            let names: Vec<&str> = Unit::names(measure).collect();
            errors.report(
                Diagnostic::at(
                    text.place.span.clone(),
                    format!("{} cannot be shown in `{unit}`", measure.article()),
                )
                .label(format!(
                    "possible units are {}",
                    list(names.iter().copied())
                ))
                .suggest_from(unit, names.iter().copied()),
            );
        }
        _ => {}
    }
}

/// The axes that an item names.
pub(super) struct Axes<'a> {
    pub(super) home: &'a Study,
    pub(super) span: &'a Range<usize>,
    pub(super) errors: &'a Errors,
}

impl Axes<'_> {
    /// True if every name is one of an axis and every label one of a point.
    pub(super) fn check(
        &self,
        shown: &[&String],
        at: &[(String, String)],
        only: &[(String, Vec<String>)],
    ) -> bool {
        let mut good = true;
        for (i, name) in shown.iter().enumerate() {
            good &= self.axis(name).is_some();
            if shown[..i].contains(name) || at.iter().any(|(a, _)| a == *name) {
                self.error(format!("axis `{name}` is used twice"));
                good = false;
            }
        }
        let points = at
            .iter()
            .map(|(axis, point)| (axis, std::slice::from_ref(point)));
        for (name, points) in points.chain(only.iter().map(|(axis, points)| (axis, &points[..]))) {
            let Some(axis) = self.axis(name) else {
                good = false;
                continue;
            };
            for point in points.iter().filter(|p| axis.point(p).is_none()) {
                self.errors.report(
                    Diagnostic::at(
                        self.span.clone(),
                        format!("axis `{name}` has no point `{point}`"),
                    )
                    .suggest_from(point, axis.names()),
                );
                good = false;
            }
        }
        good
    }

    fn error(&self, message: String) {
        self.errors
            .report(Diagnostic::at(self.span.clone(), message));
    }

    fn axis(&self, name: &str) -> Option<&crate::study::Axis> {
        let found = self.home.axis(name);
        if found.is_none() {
            let known = || self.home.axes.iter().map(|a| a.name.as_str());
            self.errors.report(
                Diagnostic::at(self.span.clone(), format!("unknown axis `{name}`"))
                    .label(format!(
                        "axes of `{}` are {}",
                        self.home.name,
                        list(known())
                    ))
                    .suggest_from(name, known()),
            );
        }
        found
    }

    /// The axes that are fixed in a cell.
    pub(super) fn fixed<'s>(
        &self,
        shown: &[&'s String],
        at: &'s [(String, String)],
    ) -> Vec<&'s str> {
        let shown = shown.iter().map(|s| s.as_str());
        shown
            .chain(at.iter().map(|(axis, _)| axis.as_str()))
            .collect()
    }
}
