//! RED, whose defaults are those of a preset.

use crate::queue_length::{LinkContext, QueueLength, QueueLimit};
use crate::schema::queue::{AdaptiveRedKeys, RedKeys};
use bentpipe_document::form::{Form, plain};
use bentpipe_document::{Diagnostic, Reported, Table, Value};
use bentpipe_link::{AdaptiveSettings, RedMode, RedPreset, RedSettings};
use bentpipe_units::{Bytes, Duration, Ratio};

impl Form<RedSettings, LinkContext<'_>> for RedKeys {
    fn settle(&self, link: &LinkContext<'_>) -> Result<RedSettings, Reported> {
        red(self, None, link)
    }

    fn written(model: &RedSettings) -> Value {
        let RedSettings {
            limit,
            mode,
            mean_packet,
            minimum,
            maximum,
            weight,
            max_p,
            gentle,
            wait,
            ecn,
            mark_below,
            target_delay,
            adaptive,
        } = model;
        // What stands in no key is automatic, as `bottom` is in ns-2.35 alone.
        let preset = match adaptive {
            Some(AdaptiveSettings { bottom: None, .. }) => RedPreset::Ns235,
            _ => RedPreset::Ns2002,
        };
        let mode = match mode {
            RedMode::Packets => "packets",
            RedMode::Bytes => "bytes",
        };
        let mut table = Table::default();
        table.put("limit", QueueLimit::written(limit));
        table.put(
            "preset",
            bentpipe_document::form::word_of(&RedPreset::ALL, &preset),
        );
        table.put("mode", mode);
        table.put_as::<Bytes, _>("mean_packet", mean_packet);
        for (key, packets) in [("minimum", minimum), ("maximum", maximum)] {
            if let Some(packets) = packets {
                table.put(key, QueueLength::Packets(*packets).to_string());
            }
        }
        if let Some(weight) = weight {
            table.put("weight", *weight);
        }
        table.put_as::<Ratio, _>("max_p", max_p);
        table.put("gentle", *gentle);
        table.put("wait", *wait);
        table.put("ecn", *ecn);
        let mark_below = mark_below.map_or_else(|| Value::from("unlimited"), Value::from);
        table.put("mark_below", mark_below);
        table.put_as::<Duration, _>("target_delay", target_delay);
        Value::Table(table)
    }
}

impl Form<RedSettings, LinkContext<'_>> for AdaptiveRedKeys {
    fn settle(&self, link: &LinkContext<'_>) -> Result<RedSettings, Reported> {
        red(&self.red, Some(self), link)
    }

    fn written(model: &RedSettings) -> Value {
        let mut table = Table::default();
        table.put_all(&RedKeys::written(model));
        if let Some(adaptive) = model.adaptive {
            let AdaptiveSettings {
                interval,
                alpha,
                beta,
                bottom,
                top,
            } = adaptive;
            table.put_as::<Duration, _>("interval", &interval);
            table.put("alpha", alpha);
            table.put("beta", beta);
            if let Some(bottom) = bottom {
                table.put("bottom", bottom);
            }
            table.put("top", top);
        }
        Value::Table(table)
    }
}

fn red(
    keys: &RedKeys,
    adaptive: Option<&AdaptiveRedKeys>,
    link: &LinkContext<'_>,
) -> Result<RedSettings, Reported> {
    let preset = keys.preset?.value;
    let mut settings = RedSettings::preset(preset, keys.limit?.value.settle(link)?);
    if let Some(keys) = adaptive {
        settings = settings.adaptive(preset);
        if let Some(adaptive) = &mut settings.adaptive {
            set(&mut adaptive.interval, plain(&keys.interval)?);
            set(&mut adaptive.alpha, plain(&keys.alpha)?);
            set(&mut adaptive.beta, plain(&keys.beta)?);
            set(
                &mut adaptive.bottom,
                plain(&keys.bottom)?.map(|p| Some(p.get())),
            );
            set(&mut adaptive.top, plain(&keys.top)?.map(Ratio::get));
        }
    }
    let s = &mut settings;
    set(&mut s.mode, plain(&keys.mode)?);
    set(&mut s.mean_packet, plain(&keys.mean_packet)?);
    set(&mut s.weight, plain(&keys.weight)?.map(Some));
    set(&mut s.max_p, plain(&keys.max_p)?);
    set(&mut s.gentle, plain(&keys.gentle)?);
    set(&mut s.wait, plain(&keys.wait)?);
    set(&mut s.ecn, plain(&keys.ecn)?);
    let mark_below = plain(&keys.mark_below)?;
    set(
        &mut s.mark_below,
        mark_below.map(|p| p.is_finite().then_some(p)),
    );
    set(&mut s.target_delay, plain(&keys.target_delay)?);
    let mean = s.mean_packet.as_f64();
    for (to, length) in [
        (&mut s.minimum, &keys.minimum),
        (&mut s.maximum, &keys.maximum),
    ] {
        let length = plain(length)?.map(|length| link.length(length, mean));
        set(to, length.transpose()?.map(Some));
    }
    let (low, high) = settings.thresholds(link.base.rate);
    if low >= high {
        let message = format!(
            "the maximum threshold of link `{}` is not above its minimum",
            link.name
        );
        let error = Diagnostic::new(link.place, message)
            .label(format!("minimum {low} packets, maximum {high}"))
            .help("packets here are of `mean_packet`");
        return Err(link.context.report(error));
    }
    Ok(settings)
}

/// Takes a value that was written.
fn set<T>(to: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *to = value;
    }
}
