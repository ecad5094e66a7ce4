//! Paths that are another every so often.

use crate::schema::slots::SlotsTable;
use bentpipe_document::{Context, Diagnostic, Each, Form, OptionalField, Reported, Table, Value};
use bentpipe_link::slots::presets::{PRESETS, preset};
use bentpipe_link::{JitterSettings, SlotSettings};
use bentpipe_units::{Duration, Ratio};
use std::sync::Arc;

/// What a table describes, and the jitter of the way forth that goes with it.
pub(super) fn read(table: SlotsTable) -> Result<(SlotSettings, Option<JitterSettings>), Reported> {
    let context = &table.context;
    let preset = table.preset?.and_then(|place| preset(PRESETS[place.value]));
    let (base, jitter) = match preset {
        Some(preset) => (preset.slots, Some(preset.jitter)),
        None => (SlotSettings::steady(), None),
    };
    let plain = |given: OptionalField<Duration>, other: Duration| {
        given.map(|given| given.map_or(other, |given| given.value))
    };
    let slots = SlotSettings {
        every: plain(table.every, base.every)?,
        offset: plain(table.offset, base.offset)?,
        delay: list(context, "delay", table.delay)?.unwrap_or(base.delay),
        stays: table.stays?.map_or(base.stays, |given| given.value),
        wander: plain(table.wander, base.wander)?,
        rate: list(context, "rate", table.rate)?.unwrap_or(base.rate),
        loss: list(context, "loss", table.loss)?.map_or(base.loss, |given: Arc<[Ratio]>| {
            given.iter().map(|share| share.get()).collect()
        }),
        interruption: list(context, "interruption", table.interruption)?
            .unwrap_or(base.interruption),
    };
    Ok((slots, jitter))
}

/// Ascending values; none takes away what a preset has.
fn list<T: Copy + PartialOrd>(
    context: &Context,
    key: &'static str,
    given: OptionalField<Each<T>>,
) -> Result<Option<Arc<[T]>>, Reported> {
    let Some(given) = given? else {
        return Ok(None);
    };
    let values = &given.value.0;
    if let Some(pair) = values.windows(2).find(|pair| pair[0].value > pair[1].value) {
        let error = Diagnostic::new(pair[1].place, format!("`{key}` does not ascend"));
        return Err(context.report(error.label("less than the one before")));
    }
    Ok(Some(values.iter().map(|one| one.value).collect()))
}

/// The slots as a file has them.
pub(crate) fn written(model: &SlotSettings) -> Value {
    let SlotSettings {
        every,
        offset,
        delay,
        stays,
        wander,
        rate,
        loss,
        interruption,
    } = model;
    let mut table = Table::default();
    let times = |list: &[Duration]| Value::list(list.iter().map(<Duration as Form<_>>::written));
    let numbers = |list: &[f64]| Value::list(list.iter().map(|value| (*value).into()));
    table.put_as::<Duration, Duration>("every", every);
    table.put_as::<Duration, Duration>("offset", offset);
    table.put("delay", times(delay));
    table.put_as::<Ratio, Ratio>("stays", stays);
    table.put_as::<Duration, Duration>("wander", wander);
    table.put("rate", numbers(rate));
    table.put("loss", numbers(loss));
    table.put("interruption", times(interruption));
    Value::Table(table)
}
