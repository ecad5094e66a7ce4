//! Axes: values at a path, or points that set several.

use super::{Section, is_name, settings};
use crate::study::{Axis, Point, Setting};
use crate::unit::quantity;
use bentpipe_document::Diagnostic;
use std::ops::Range;

/// Words that arguments of metrics use.
const TAKEN: [&str; 6] = ["flow", "link", "of", "from", "to", "at"];

pub(super) fn read(top: &Section<'_>) -> Vec<Axis> {
    let mut axes: Vec<Axis> = Vec::new();
    for section in top.tables("axis") {
        let name = section.required_text("name");
        let points = if section.has("points") {
            listed(&section)
        } else {
            values(&section)
        };
        section.finish();
        let Some(name) = name else { continue };
        if points.is_empty() {
            let span = ["values", "points"].into_iter().find(|k| section.has(k));
            let span = span.map_or(section.span.clone(), |k| section.span_of(k));
            section.error(
                Diagnostic::at(span, format!("axis `{}` has no values", name.value))
                    .help("give `path` and `values = [...]`, or `points = [{ label, set }]`"),
            );
        }
        if !is_name(&name.value) || TAKEN.contains(&name.value.as_str()) {
            section.error(
                Diagnostic::at(
                    name.span.clone(),
                    format!("an axis cannot be named `{}`", name.value),
                )
                .label("expected letters, digits, `_` and `-`")
                .help("arguments of metrics have names of their own, such as `flow` and `at`"),
            );
        }
        if axes.iter().any(|a| a.name == name.value) {
            let message = format!("two axes are named `{}`", name.value);
            section.error(Diagnostic::at(name.span.clone(), message));
        }
        axes.push(Axis {
            name: name.value,
            points,
        });
    }
    axes
}

/// `path` and `values`, with optional `labels` and `aliases`.
fn values(section: &Section<'_>) -> Vec<Point> {
    let paths = section.texts("path");
    let values = section.values("values");
    let mut labels = section.texts("labels");
    let mut aliases = section.texts("aliases");
    if paths.is_empty() && section.has("values") {
        section.error(Diagnostic::at(
            section.span.clone(),
            "the axis has `values` but no `path`",
        ));
    }
    for (key, list) in [("labels", &mut labels), ("aliases", &mut aliases)] {
        if section.has(key) && list.len() != values.len() {
            section.error(Diagnostic::at(
                section.span_of(key),
                format!("{} {key} for {} values", list.len(), values.len()),
            ));
            list.clear();
        }
    }
    let mut points = Points {
        section,
        points: Vec::new(),
    };
    for (i, (toml, text, span)) in values.into_iter().enumerate() {
        let text = text.unwrap_or_else(|| toml.clone());
        let label = labels.get(i).map(|l| l.value.clone());
        let settings = paths.iter().map(|path| Setting {
            path: path.value.clone(),
            value: toml.clone(),
        });
        let point = Point {
            value: quantity(&text),
            label: label.unwrap_or(text),
            alias: aliases.get(i).map(|a| a.value.clone()),
            settings: settings.collect(),
        };
        let at = labels.get(i).map_or(span, |l| l.span.clone());
        points.push(point, at);
    }
    points.points
}

/// `points = [{ label, alias, value, set }]`.
fn listed(section: &Section<'_>) -> Vec<Point> {
    let mut points = Points {
        section,
        points: Vec::new(),
    };
    for entry in section.tables("points") {
        let label = entry.required_text("label");
        let alias = entry.text("alias").map(|t| t.value);
        let value = entry.text("value");
        let settings = settings(&entry, "set");
        entry.finish();
        if let Some(value) = &value
            && quantity(&value.value).is_none()
        {
            entry.error(
                Diagnostic::at(
                    value.span.clone(),
                    format!("`{}` is no quantity", value.value),
                )
                .label("expected a number with its unit, such as `1 MB`"),
            );
        }
        let Some(label) = label else { continue };
        let value = value
            .and_then(|v| quantity(&v.value))
            .or_else(|| quantity(&label.value));
        points.push(
            Point {
                label: label.value,
                alias,
                value,
                settings,
            },
            label.span,
        );
    }
    points.points
}

struct Points<'s, 'a> {
    section: &'s Section<'a>,
    points: Vec<Point>,
}

impl Points<'_, '_> {
    /// Adds a point; labels and aliases must tell points apart.
    fn push(&mut self, point: Point, at: Range<usize>) {
        let mut names = vec![point.label.as_str()];
        names.extend(point.alias.as_deref().filter(|a| *a != point.label));
        for name in names {
            let known = |p: &Point| p.label == name || p.alias.as_deref() == Some(name);
            if self.points.iter().any(known) {
                let message = format!("two points of the axis are named `{name}`");
                self.section.error(Diagnostic::at(at.clone(), message));
            }
        }
        if let Some(alias) = &point.alias
            && !is_name(alias)
        {
            let message = format!("`{alias}` cannot be an alias");
            let label = "an alias has letters, digits, `_` and `-` and begins with a letter";
            self.section.error(Diagnostic::at(at, message).label(label));
        }
        self.points.push(point);
    }
}
