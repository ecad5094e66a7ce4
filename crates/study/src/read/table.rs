//! Tables, the content of their cells, and their tolerances.

use super::lists::each;
use super::shown::{Axes, check_value, home, selection};
use crate::catalogue::Catalogue;
use crate::reference::COLUMN_JOIN;
use crate::schema::{
    BarKeys, KnownKeys, LimitKeys, Percent, RecordedKeys, TableKeys, ValueKeys, given,
};
use crate::study::{Banded, Bar, KnownMiss, Limits, Recorded, Study, TableSpec, ValueSpec};
use bentpipe_document::names::list;
use bentpipe_document::{Diagnostic, Errors, OptionalField, Reported};
use bentpipe_units::Ratio;

pub(super) fn read(keys: TableKeys) -> Result<TableSpec, Reported> {
    let context = keys.context;
    let (unit, decimals) = (given(keys.unit)?, keys.decimals?.value);
    let values = match (given(keys.metric)?, given(keys.metrics)?) {
        (Some(expression), None) => vec![ValueSpec {
            label: None,
            expression,
            unit,
            decimals,
        }],
        (None, Some(several)) => {
            let several = several.into_iter();
            let several = several.map(|keys| value(keys, unit.as_ref(), decimals));
            several.collect::<Result<_, _>>()?
        }
        (None, None) => return Err(context.missing("metric")),
        (Some(_), Some(_)) => {
            let message = "the table has both `metric` and `metrics`";
            return Err(context.report(Diagnostic::new(context.at, message)));
        }
    };
    let rows = given(keys.rows)?.unwrap_or_default().values();
    let columns = given(keys.columns)?.unwrap_or_default().values();
    if rows.is_empty() && columns.is_empty() && values.len() < 2 {
        let message = "the table has neither `rows` nor `columns`";
        context.report(Diagnostic::new(context.at, message));
    }
    let (at, only) = selection(keys.at, keys.only)?;
    Ok(TableSpec {
        slug: keys.slug?.value.0,
        title: given(keys.title)?.unwrap_or_default(),
        from: given(keys.from)?,
        rows,
        columns,
        transposed: keys.transposed?.value,
        at,
        only,
        values,
        reference: given(keys.reference)?,
        bar: given(keys.bar)?.map(bar).transpose()?,
        known: each(keys.known, known_miss)?,
        notes: given(keys.notes)?.unwrap_or_default().values().collect(),
        place: context.at,
    })
}

/// One of `metrics = [{ label, metric, unit, decimals }]`.
fn value(keys: ValueKeys, unit: Option<&String>, decimals: u32) -> Result<ValueSpec, Reported> {
    Ok(ValueSpec {
        label: Some(keys.label?.value),
        expression: keys.metric?.value,
        unit: given(keys.unit)?.or_else(|| unit.cloned()),
        decimals: given(keys.decimals)?.unwrap_or(decimals),
    })
}

fn bar(keys: BarKeys) -> Result<Bar, Reported> {
    let per_column = given(keys.per_column)?.unwrap_or_default().values();
    let per_column = per_column.map(|(label, keys)| Ok((label, limits(keys)?)));
    let (limits, per_column) = (limits(keys.limits), per_column.collect::<Result<_, _>>());
    Ok(Bar {
        limits: limits?,
        per_column: per_column?,
    })
}

fn known_miss(keys: KnownKeys) -> Result<KnownMiss, Reported> {
    Ok(KnownMiss {
        row: keys.row?.value,
        column: keys.column?.value,
        worst: keys.worst?.value.0,
        best: given(keys.best)?.map_or(0.0, |best| best.0),
        reason: keys.reason?.value,
    })
}

fn limits(keys: LimitKeys) -> Result<Limits, Reported> {
    let share = |key: OptionalField<Ratio>| Ok(given(key)?.map(Ratio::get));
    if let Ok(Some(spread)) = &keys.spread
        && spread.value.get() >= 1.0
    {
        let message = "a constant has a spread of 100%, so that the bar must be below";
        keys.context.report(Diagnostic::new(spread.place, message));
    }
    let recorded = given(keys.recorded)?.map(recorded).transpose()?;
    let missed = given(keys.missed)?.unwrap_or_default();
    if !missed.is_empty() && recorded.is_none() {
        let message = "a bar that is missed needs `recorded`, or no change would be seen";
        let place = keys
            .context
            .table
            .get("missed")
            .map(|entry| entry.item.place);
        if let Some(place) = place {
            keys.context.report(Diagnostic::new(place, message));
        }
    }
    Ok(Limits {
        mean: share(keys.mean)?,
        median: share(keys.median)?,
        worst: share(keys.worst)?,
        mean_difference: given(keys.mean_difference)?,
        worst_difference: given(keys.worst_difference)?,
        spread: share(keys.spread)?,
        exact_digits: keys.exact_digits?.value,
        recorded,
        missed,
    })
}

fn recorded(keys: RecordedKeys) -> Result<Recorded, Reported> {
    let common = given(keys.band)?;
    let banded = |value: OptionalField<Percent>, own: OptionalField<Percent>, name: &str| {
        let Some(value) = value? else {
            return Ok(None);
        };
        let Some(band) = given(own)?.or(common) else {
            let message = format!("`{name}` has no band; give `band`, or `{name}_band`");
            return Err(keys.context.report(Diagnostic::new(value.place, message)));
        };
        Ok(Some(Banded {
            value: value.value.0,
            band: band.0,
        }))
    };
    Ok(Recorded {
        mean: banded(keys.mean, keys.mean_band, "mean")?,
        worst: banded(keys.worst, keys.worst_band, "worst")?,
        spread: banded(keys.spread, keys.spread_band, "spread")?,
    })
}

pub(super) fn check(study: &Study, studies: &dyn Catalogue, errors: &Errors) {
    for table in &study.tables {
        let Some(home) = home(study, table.from.as_deref(), studies, table.place, errors) else {
            continue;
        };
        let shown: Vec<&String> = table.rows.iter().chain(&table.columns).collect();
        let axes = Axes {
            home,
            place: table.place,
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
                Diagnostic::new(table.place, message)
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
        let parts: Vec<&str> = name.split(COLUMN_JOIN).collect();
        if !known.contains(&name.as_str()) && !parts.iter().all(|part| known.contains(part)) {
            errors.report(
                Diagnostic::new(
                    table.place,
                    format!("the bar names an unknown column `{name}`"),
                )
                .label(format!("columns are {}", list(known.iter().copied())))
                .suggest_from(name, known.iter().copied()),
            );
        }
    }
}
