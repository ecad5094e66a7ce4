//! Applications of flows.

use crate::schema::flow::ApplicationTable;
use bentpipe_document::{Diagnostic, Form, Reported};
use bentpipe_tcp::Transport;
use bentpipe_traffic::Application;
use bentpipe_units::{Bytes, Duration};

/// Periods that are shorter on average would take more time to simulate than the packets in them.
const SHORTEST_PERIOD: Duration = Duration::from_micros(1);

/// The application of a flow that runs over `transport`.
pub(super) fn read(
    table: &ApplicationTable,
    transport: Option<&Transport>,
) -> Result<Application, Reported> {
    let usual = Bytes::new(transport.map_or(1500, |t| u64::from(t.mss)));
    let application = table.settle(&usual)?;
    match (table, &application) {
        (ApplicationTable::OnOff { context, on, .. }, Application::OnOff { on: length, .. })
            if length.mean() < SHORTEST_PERIOD =>
        {
            let place = on.as_ref().map_or(context.at, |on| on.place);
            let error = Diagnostic::new(place, "the on-periods are too short");
            let label = format!("expected {SHORTEST_PERIOD} at least");
            Err(context.report(error.label(label)))
        }
        (
            ApplicationTable::Video {
                context, buffer, ..
            },
            Application::Video(video),
        ) if video.buffer < video.segment.max(video.startup) => {
            let place = buffer.as_ref().map_or(context.at, |buffer| buffer.place);
            let least = video.segment.max(video.startup);
            let error = Diagnostic::new(place, "the buffer is too small");
            let label = format!("expected {least} at least: a segment, and `startup`");
            Err(context.report(error.label(label)))
        }
        _ => Ok(application),
    }
}
