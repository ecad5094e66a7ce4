//! Applications of flows.

use crate::schema::flow::{ApplicationTable, Period as PeriodTable, PeriodKinds};
use bentpipe_document::{Diagnostic, Reported};
use bentpipe_tcp::Transport;
use bentpipe_traffic::{Application, Period, VideoSettings, WebSettings};
use bentpipe_units::{Bytes, Duration};

/// Periods that are shorter on the mean would take more time to simulate than
/// the packets in them.
const SHORTEST_PERIOD: Duration = Duration::from_micros(1);

/// The application of a flow that runs over `transport`.
pub(super) fn read(
    table: ApplicationTable,
    transport: Option<&Transport>,
) -> Result<Application, Reported> {
    Ok(match table {
        ApplicationTable::Transfer { size, .. } => Application::Transfer { size: size?.value },
        ApplicationTable::Persistent { .. } => Application::Persistent,
        ApplicationTable::RequestResponse {
            request,
            response,
            count,
            think_time,
            ..
        } => Application::RequestResponse {
            request: request?.value,
            response: response?.value,
            count: count?.value,
            think_time: think_time?.value,
        },
        ApplicationTable::ConstantRate {
            rate, packet_size, ..
        } => Application::ConstantRate {
            rate: rate?.value,
            packet_size: packet_size?.value,
        },
        ApplicationTable::OnOff {
            context,
            on,
            off,
            rate,
            packet_size,
        } => {
            let usual = Bytes::new(transport.map_or(1500, |t| u64::from(t.mss)));
            let (on, off) = (on?, period(off?.value)?);
            let place = on.place;
            let on = period(on.value)?;
            if on.mean() < SHORTEST_PERIOD {
                let error = Diagnostic::new(place, "the on-periods are too short");
                let label = format!("expected {SHORTEST_PERIOD} at least");
                return Err(context.report(error.label(label)));
            }
            Application::OnOff {
                on,
                off,
                rate: rate?.value,
                packet_size: packet_size?.map_or(usual, |size| size.value),
            }
        }
        ApplicationTable::Web {
            mean,
            deviation,
            largest,
            reading,
            request,
            connection,
            count,
            ..
        } => Application::Web(WebSettings {
            mean: mean?.value,
            deviation: deviation?.value,
            largest: largest?.value,
            reading: reading?.value,
            request: request?.value,
            connection: connection?.value,
            count: count?.map(|count| count.value),
        }),
        ApplicationTable::Video {
            context,
            segment,
            bitrate,
            startup,
            buffer,
            length,
            request,
        } => {
            let (segment, buffer) = (segment?.value, buffer?);
            let startup = startup?.map_or(segment, |startup| startup.value);
            let least = segment.max(startup);
            if buffer.value < least {
                let error = Diagnostic::new(buffer.place, "the buffer is too small");
                let label = format!("expected {least} at least: a segment, and `startup`");
                return Err(context.report(error.label(label)));
            }
            Application::Video(VideoSettings {
                segment,
                bitrate: bitrate?.value,
                startup,
                buffer: buffer.value,
                length: length?.value,
                request: request?.value,
            })
        }
    })
}

/// `"50 s"`, or a table with a kind.
fn period<const ON: bool>(table: PeriodTable<ON>) -> Result<Period, Reported> {
    Ok(match table {
        PeriodTable::Constant(length) => Period::Constant(length),
        PeriodTable::Random(PeriodKinds::Exponential { mean, .. }) => {
            Period::Exponential { mean: mean?.value }
        }
        PeriodTable::Random(PeriodKinds::Pareto { mean, shape, .. }) => Period::Pareto {
            mean: mean?.value,
            shape: shape?.value,
        },
    })
}
