//! How a link protects itself: forward error correction and retransmission.

use super::Fields;
use super::timelines::tables;
use crate::diagnostic::{Diagnostic, Reported};
use crate::schema;
use crate::tree::Entry;
use bentpipe_link::{ArqScheme, ArqSettings, Coding};
use bentpipe_units::Ratio;

/// Reads `arq`; `Some(None)`: it is switched off.
pub(super) fn arq(fields: &Fields<'_>) -> Result<Option<Option<ArqSettings>>, Reported> {
    let Some(entry) = fields.entry("arq") else {
        return Ok(None);
    };
    let kind = fields.kind(entry, &schema::ARQS, "ARQ")?;
    let scheme = match kind.section.kind {
        Some("selective-repeat") => ArqScheme::SelectiveRepeat,
        Some("go-back-n") => ArqScheme::GoBackN,
        _ => return Ok(Some(None)),
    };
    let (window, timeout) = (kind.optional("window"), kind.optional("timeout"));
    let transmissions = kind.optional("transmissions");
    let in_order = match scheme {
        ArqScheme::SelectiveRepeat => kind.optional("in_order"),
        ArqScheme::GoBackN => Ok(None),
    };
    Ok(Some(Some(ArqSettings {
        scheme,
        window: window?.unwrap_or(u32::MAX),
        timeout: timeout?,
        transmissions: transmissions?.unwrap_or(8),
        in_order: in_order?.unwrap_or(true),
    })))
}

/// Reads `coding`; `Some(None)`: there is none.
pub(super) fn coding(fields: &Fields<'_>) -> Result<Option<Option<Coding>>, Reported> {
    let Some(entry) = fields.entry("coding") else {
        return Ok(None);
    };
    let kind = fields.kind(entry, &schema::CODINGS, "coding")?;
    let coding = match kind.section.kind {
        Some("marchese") => Coding::marchese(),
        Some("given") => {
            let (code_rate, after) = (kind.required("code_rate"), kind.required("bit_error_rate"));
            Coding::Given {
                code_rate: code_rate?,
                bit_error_rate: after?,
            }
        }
        Some("block") => {
            let (n, k, t) = (kind.required("n"), kind.required("k"), kind.required("t"));
            Coding::Block {
                n: n?,
                k: k?,
                t: t?,
                raw_bit_error_rate: kind.required("raw_bit_error_rate")?,
            }
        }
        Some("table") => {
            let (code_rate, raw) = (
                kind.required("code_rate"),
                kind.required("raw_bit_error_rate"),
            );
            Coding::Table {
                code_rate: code_rate?,
                points: points(&kind)?,
                raw_bit_error_rate: raw?,
            }
        }
        _ => return Ok(Some(None)),
    };
    if let Some(channel) = fields.entry("channel") {
        let error = Diagnostic::new(channel.key_place, "the losses are given twice");
        let error = error.label("a channel");
        let error = error.related(entry.key_place, "and what a code leaves of its errors");
        return Err(fields.errors.report(error.help(
            "keep one of the two: a coding says what the bit error rate of the channel is",
        )));
    }
    if let Err(why) = coding.bit_error_rate() {
        return Err(wrong(fields, entry, &why.to_string()));
    }
    Ok(Some(Some(coding)))
}

fn wrong(fields: &Fields<'_>, entry: &Entry, why: &str) -> Reported {
    let error = Diagnostic::new(entry.item.place, "the coding cannot be");
    fields.errors.report(error.label(why))
}

fn points(kind: &Fields<'_>) -> Result<Vec<(Ratio, Ratio)>, Reported> {
    let Some(entry) = kind.entry("points") else {
        return Err(kind.missing("points"));
    };
    let mut points = Vec::new();
    for point in tables(kind, entry, &schema::POINTS, "a point")? {
        let (raw, decoded) = (point.required("raw"), point.required("decoded"));
        points.push((raw?, decoded?));
    }
    Ok(points)
}
