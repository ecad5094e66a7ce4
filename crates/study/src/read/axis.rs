//! Axes: values at a path, or points that set several.

use super::lists::once;
use crate::expr::is_name;
use crate::schema::{AxisKeys, PointKeys, given};
use crate::study::{Axis, Point, Setting};
use crate::unit::quantity;
use bentpipe_document::{
    Context, Diagnostic, Item, Many, Map, OptionalField, Place, Placed, Reported, Value,
};

/// Words that arguments of metrics use.
const TAKEN: [&str; 6] = ["flow", "link", "of", "from", "to", "at"];

pub(super) fn read(
    top: &Context,
    axes: OptionalField<Vec<AxisKeys>>,
) -> Result<Vec<Axis>, Reported> {
    let axes = given(axes)?.unwrap_or_default();
    let names = axes.iter().filter_map(|axis| axis.name.as_ref().ok());
    once(top, "axes", names.map(|name| (&*name.value, name.place)));
    let axes: Vec<_> = axes.into_iter().map(axis).collect();
    axes.into_iter().collect()
}

fn axis(mut keys: AxisKeys) -> Result<Axis, Reported> {
    let context = keys.context.clone();
    let listed = std::mem::replace(&mut keys.points, Ok(None))?;
    let name = keys.name.clone();
    if let Ok(name) = &name
        && (!is_name(&name.value) || TAKEN.contains(&name.value.as_str()))
    {
        let message = format!("an axis cannot be named `{}`", name.value);
        context.report(
            Diagnostic::new(name.place, message)
                .label("expected letters, digits, `_` and `-`")
                .help("arguments of metrics have names of their own, such as `flow` and `at`"),
        );
    }
    let place = keys.values.as_ref().ok().and_then(|v| v.as_ref());
    let place = place.map_or(context.at, |values| values.place);
    let points = match listed {
        Some(points) => {
            for key in ["path", "values", "labels", "aliases"] {
                if let Some(entry) = context.table.get(key) {
                    let message = format!("the axis has `points`, which take the place of `{key}`");
                    context.report(Diagnostic::new(entry.key_place, message));
                }
            }
            points.value.into_iter().map(listed_point).collect()
        }
        None => values(keys)?.into_iter().map(Ok).collect::<Vec<_>>(),
    };
    let points: Vec<(Point, Place)> = points.into_iter().collect::<Result<_, _>>()?;
    let name = name?.value;
    if points.is_empty() {
        context.report(
            Diagnostic::new(place, format!("axis `{name}` has no values"))
                .help("give `path` and `values = [...]`, or `points = [{ label, set }]`"),
        );
    }
    tell_apart(&context, &points);
    Ok(Axis {
        name,
        points: points.into_iter().map(|(point, _)| point).collect(),
    })
}

/// `path` and `values`, with optional `labels` and `aliases`.
fn values(keys: AxisKeys) -> Result<Vec<(Point, Place)>, Reported> {
    let context = &keys.context;
    let paths = given(keys.path)?.unwrap_or_default().values();
    let values = given(keys.values)?.map_or_else(Vec::new, |values| values.0);
    if paths.is_empty() && context.has("values") {
        let message = "the axis has `values` but no `path`";
        context.report(Diagnostic::new(context.at, message));
    }
    let names = |key: &str, list: OptionalField<Many<String>>| {
        let Some(list) = list? else {
            return Ok(Vec::new());
        };
        let found = list.value.0.len();
        if found != values.len() {
            let message = format!("{found} {key} for {} values", values.len());
            context.report(Diagnostic::new(list.place, message));
            return Ok(Vec::new());
        }
        Ok(list.value.0)
    };
    let labels: Vec<Placed<String>> = names("labels", keys.labels)?;
    let aliases = names("aliases", keys.aliases)?;
    let points = values.iter().enumerate().map(|(i, value)| {
        let toml = source(context, &value.value);
        let text = match &value.value.value {
            Value::Text(text) => text.clone(),
            _ => toml.clone(),
        };
        let label = labels.get(i);
        let settings = paths.iter().map(|path| Setting {
            path: path.clone(),
            value: toml.clone(),
        });
        let point = Point {
            value: quantity(&text),
            settings: settings.collect(),
            label: label.map_or(text, |label| label.value.clone()),
            alias: aliases.get(i).map(|alias| alias.value.clone()),
        };
        (point, label.map_or(value.place, |label| label.place))
    });
    Ok(points.collect())
}

/// One of `points = [{ label, alias, value, set }]`.
fn listed_point(keys: PointKeys) -> Result<(Point, Place), Reported> {
    let label = keys.label?;
    let value = given(keys.value)?.map(|value| value.0);
    let point = Point {
        value: value.or_else(|| quantity(&label.value)),
        label: label.value,
        alias: given(keys.alias)?,
        settings: settings(&keys.context, keys.set)?,
    };
    Ok((point, label.place))
}

/// Labels and aliases must tell points apart.
fn tell_apart(context: &Context, points: &[(Point, Place)]) {
    for (i, (point, place)) in points.iter().enumerate() {
        let alias = point.alias.as_deref();
        let names = [
            Some(point.label.as_str()),
            alias.filter(|a| *a != point.label),
        ];
        for name in names.into_iter().flatten() {
            let known = |p: &Point| p.label == name || p.alias.as_deref() == Some(name);
            if points[..i].iter().any(|(other, _)| known(other)) {
                let message = format!("two points of the axis are named `{name}`");
                context.report(Diagnostic::new(*place, message));
            }
        }
        if let Some(alias) = alias.filter(|alias| !is_name(alias)) {
            let message = format!("`{alias}` cannot be an alias");
            let label = "an alias has letters, digits, `_` and `-` and begins with a letter";
            context.report(Diagnostic::new(*place, message).label(label));
        }
    }
}

/// A table of paths and values, `{ "link.satellite.rate" = "2 Mbit/s" }`.
pub(super) fn settings(
    context: &Context,
    set: OptionalField<Map<Item>>,
) -> Result<Vec<Setting>, Reported> {
    let set = given(set)?.unwrap_or_default();
    let setting = |(path, item)| Setting {
        path,
        value: source(context, &item),
    };
    Ok(set.values().map(setting).collect())
}

/// A value as it is written in the file.
fn source(context: &Context, item: &Item) -> String {
    let text = &context.errors.origin().source.text;
    let written = item.place.span().and_then(|span| text.get(span));
    written.unwrap_or_default().to_owned()
}
