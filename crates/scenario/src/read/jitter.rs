//! Delays that vary from packet to packet.

use super::timelines::read_file;
use crate::schema::jitter::JitterTable;
use bentpipe_document::{Context, Diagnostic, Each, OptionalField, Reported, Table, Value};
use bentpipe_link::trace::{TraceError, distribution};
use bentpipe_link::{DelayDistribution, JitterSettings};
use bentpipe_units::{Duration, Ratio};
use std::sync::Arc;

/// The variation that a table describes; none where there is none.
pub(super) fn read(table: JitterTable) -> Result<Option<JitterSettings>, Reported> {
    let (draws, distribution) = match table {
        JitterTable::Steady { .. } => return Ok(None),
        JitterTable::Uniform { draws, spread, .. } => {
            let spread = spread?.value;
            (draws, DelayDistribution::Uniform { spread })
        }
        JitterTable::Normal {
            draws, deviation, ..
        } => {
            let deviation = deviation?.value;
            (draws, DelayDistribution::Normal { deviation })
        }
        JitterTable::Pareto {
            draws, deviation, ..
        } => {
            let deviation = deviation?.value;
            (draws, DelayDistribution::Pareto { deviation })
        }
        JitterTable::ParetoNormal {
            draws, deviation, ..
        } => {
            let deviation = deviation?.value;
            (draws, DelayDistribution::ParetoNormal { deviation })
        }
        JitterTable::Table {
            context,
            draws,
            deviation,
            file,
            values,
        } => {
            let values = list(&context, "values", (file, values), distribution::read_netem)?;
            let deviation = deviation?.value;
            (draws, DelayDistribution::Table { values, deviation })
        }
        JitterTable::Quantiles {
            context,
            draws,
            file,
            delays,
        } => {
            let delays = list(
                &context,
                "delays",
                (file, delays),
                distribution::read_delays,
            )?;
            (draws, DelayDistribution::Quantiles { delays })
        }
    };
    Ok(Some(JitterSettings {
        distribution,
        correlation: draws.correlation?.value,
        holds: draws.holds?.map_or(Duration::ZERO, |holds| holds.value),
    }))
}

/// The values of a file, or those that are written.
fn list<T: Copy + PartialOrd>(
    context: &Context,
    key: &'static str,
    (file, written): (OptionalField<String>, OptionalField<Each<T>>),
    read: impl FnOnce(&str) -> Result<Arc<[T]>, TraceError>,
) -> Result<Arc<[T]>, Reported> {
    let written = match (file?, written?) {
        (Some(file), None) => return read_file(context, &file, read),
        (Some(file), Some(written)) => {
            let error = Diagnostic::new(file.key, "the distribution is given twice");
            let error = error.label("a file").related(written.key, "and its values");
            return Err(context.report(error.help("keep one of the two")));
        }
        (None, written) => context.need(key, written)?,
    };
    let values = &written.value.0;
    let wrong = |place, message: String, label: &str| {
        Err(context.report(Diagnostic::new(place, message).label(label)))
    };
    if let Some(pair) = values.windows(2).find(|pair| pair[0].value > pair[1].value) {
        let message = format!("`{key}` do not ascend");
        return wrong(pair[1].place, message, "less than the one before");
    }
    match values.len() {
        0 | 1 => {
            let message = format!("{} of `{key}`", values.len());
            wrong(written.place, message, "expected at least two")
        }
        count if distribution::MOST_VALUES < count => {
            let message = format!("{count} of `{key}`");
            let label = format!("expected at most {}", distribution::MOST_VALUES);
            wrong(written.place, message, &label)
        }
        _ => Ok(values.iter().map(|one| one.value).collect()),
    }
}

/// The variation as a file has it.
pub(crate) fn written(model: Option<&JitterSettings>) -> Value {
    let mut table = Table::default();
    let Some(model) = model else {
        table.put("kind", "none");
        return Value::Table(table);
    };
    let JitterSettings {
        distribution,
        correlation,
        holds,
    } = model;
    let mut simple = |kind: &str, key: &str, time: &Duration| {
        table.put("kind", kind);
        table.put_as::<Duration, Duration>(key, time);
    };
    match distribution {
        DelayDistribution::Uniform { spread } => simple("uniform", "spread", spread),
        DelayDistribution::Normal { deviation } => simple("normal", "deviation", deviation),
        DelayDistribution::Pareto { deviation } => simple("pareto", "deviation", deviation),
        DelayDistribution::ParetoNormal { deviation } => {
            simple("pareto-normal", "deviation", deviation);
        }
        DelayDistribution::Table { values, deviation } => {
            simple("table", "deviation", deviation);
            table.put(
                "values",
                Value::list(values.iter().map(|value| (*value).into())),
            );
        }
        DelayDistribution::Quantiles { delays } => {
            table.put("kind", "quantiles");
            let delays = delays
                .iter()
                .map(<Duration as bentpipe_document::Form<_>>::written);
            table.put("delays", Value::list(delays));
        }
    }
    table.put_as::<Ratio, Ratio>("correlation", correlation);
    if !holds.is_zero() {
        table.put_as::<Duration, Duration>("holds", holds);
    }
    Value::Table(table)
}
