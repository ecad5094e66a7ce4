//! Forward error correction of a link.

use crate::schema::protection::CodingTable;
use bentpipe_document::{Context, Diagnostic, Placed, Reported};
use bentpipe_link::Coding;
use bentpipe_units::Ratio;

/// The code of `coding`; none where there is none. `channel` is the key that
/// says otherwise what is lost.
pub(super) fn coding<T>(
    table: Placed<CodingTable>,
    channel: Option<&Placed<T>>,
    context: &Context,
) -> Result<Option<Coding>, Reported> {
    let coding = match table.value {
        CodingTable::Uncoded { .. } => return Ok(None),
        CodingTable::Marchese { .. } => Coding::marchese(),
        CodingTable::Given {
            code_rate,
            bit_error_rate,
            ..
        } => Coding::Given {
            code_rate: code_rate?.value,
            bit_error_rate: bit_error_rate?.value,
        },
        CodingTable::Block {
            n,
            k,
            t,
            raw_bit_error_rate,
            ..
        } => Coding::Block {
            n: n?.value,
            k: k?.value,
            t: t?.value,
            raw_bit_error_rate: raw_bit_error_rate?.value,
        },
        CodingTable::Points {
            code_rate,
            raw_bit_error_rate,
            points,
            ..
        } => {
            let point = |point: crate::schema::protection::PointTable| {
                Ok((point.raw?.value, point.decoded?.value))
            };
            let points: Result<Vec<(Ratio, Ratio)>, Reported> =
                points?.value.into_iter().map(point).collect();
            Coding::Table {
                code_rate: code_rate?.value,
                points: points?,
                raw_bit_error_rate: raw_bit_error_rate?.value,
            }
        }
    };
    if let Some(channel) = channel {
        let error = Diagnostic::new(channel.key, "the losses are given twice");
        let error = error.label("a channel");
        let error = error.related(table.key, "and what a code leaves of its errors");
        return Err(context.report(error.help(
            "keep one of the two: a coding says what the bit error rate of the channel is",
        )));
    }
    if let Err(why) = coding.bit_error_rate() {
        let error = Diagnostic::new(table.place, "the coding cannot be");
        return Err(context.report(error.label(why.to_string())));
    }
    Ok(Some(coding))
}
