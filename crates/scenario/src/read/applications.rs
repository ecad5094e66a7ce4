//! Applications of flows.

use super::Fields;
use crate::diagnostic::{Diagnostic, Reported};
use crate::schema::{self, Kind};
use crate::tree::{Entry, Value};
use bentpipe_tcp::Transport;
use bentpipe_traffic::{Application, PageConnection, Period, WebSettings};
use bentpipe_units::{Bytes, Duration};

/// Periods that are shorter on the mean would take more time to simulate than
/// the packets in them.
const SHORTEST_PERIOD: Duration = Duration::from_micros(1);

/// The application of a flow that runs over `transport`.
pub(super) fn read(
    fields: &Fields<'_>,
    entry: &Entry,
    transport: Option<&Transport>,
) -> Result<Application, Reported> {
    let kind = fields.kind(entry, &schema::APPLICATIONS, "application")?;
    match kind.section.kind {
        Some("transfer") => Ok(Application::Transfer {
            size: kind.required("size")?,
        }),
        Some("request-response") => {
            let (request, response) = (kind.required("request"), kind.required("response"));
            let (count, think_time) = (kind.optional("count"), kind.optional("think_time"));
            Ok(Application::RequestResponse {
                request: request?,
                response: response?,
                count: count?.unwrap_or(1),
                think_time: think_time?.unwrap_or(Duration::ZERO),
            })
        }
        Some("constant-rate") => {
            let (rate, packet_size) = (kind.required("rate"), kind.optional("packet_size"));
            Ok(Application::ConstantRate {
                rate: rate?,
                packet_size: packet_size?.unwrap_or(Bytes::new(1500)),
            })
        }
        Some("on-off") => {
            let (on, off) = (period(&kind, "on"), period(&kind, "off"));
            let (rate, packet_size) = (kind.required("rate"), kind.optional("packet_size"));
            let usual = Bytes::new(transport.map_or(1500, |t| u64::from(t.mss)));
            let (on, off) = (on?, off?);
            if on.mean() < SHORTEST_PERIOD {
                let place = kind.entry("on").map_or(kind.at, |e| e.item.place);
                let error = Diagnostic::new(place, "the on-periods are too short");
                let label = format!("expected {SHORTEST_PERIOD} at least");
                return Err(fields.errors.report(error.label(label)));
            }
            Ok(Application::OnOff {
                on,
                off,
                rate: rate?,
                packet_size: packet_size?.unwrap_or(usual),
            })
        }
        Some("web") => web(&kind).map(Application::Web),
        _ => Ok(Application::Persistent),
    }
}

fn web(kind: &Fields<'_>) -> Result<WebSettings, Reported> {
    let (mean, deviation) = (kind.optional("mean"), kind.optional("deviation"));
    let (largest, reading) = (kind.optional("largest"), kind.optional("reading"));
    let (request, count) = (kind.optional("request"), kind.optional("count"));
    let connection = kind.optional_word("connection");
    let usual = WebSettings::default();
    let connection = connection?.and_then(|word| {
        let mut all = PageConnection::ALL.into_iter();
        all.find(|(name, _)| *name == word)
    });
    Ok(WebSettings {
        mean: mean?.unwrap_or(usual.mean),
        deviation: deviation?.unwrap_or(usual.deviation),
        largest: largest?.unwrap_or(usual.largest),
        reading: reading?.unwrap_or(usual.reading),
        request: request?.unwrap_or(usual.request),
        connection: connection.map_or(usual.connection, |(_, connection)| connection),
        count: count?.or(usual.count),
    })
}

/// `"50 s"`, or a table with a kind.
fn period(fields: &Fields<'_>, name: &str) -> Result<Period, Reported> {
    let Some(entry) = fields.entry(name) else {
        return Err(fields.missing(name));
    };
    let Value::Table(_) = entry.item.value else {
        let key = schema::Key {
            name: if name == "on" { "on" } else { "off" },
            kind: Kind::Duration { zero: name != "on" },
            ..schema::PERIODS[0].keys[0]
        };
        return Ok(Period::Constant(fields.read(&entry.item, &key)?));
    };
    let kind = fields.kind(entry, &schema::PERIODS, "period")?;
    let mean = kind.required("mean");
    if kind.section.kind == Some("pareto") {
        let shape = kind.optional("shape")?.unwrap_or(1.5);
        return Ok(Period::Pareto { mean: mean?, shape });
    }
    Ok(Period::Exponential { mean: mean? })
}
