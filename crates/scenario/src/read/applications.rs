//! Applications of flows.

use crate::schema::flow::ApplicationTable;
use bentpipe_document::{Diagnostic, Form, Reported};
use bentpipe_tcp::Transport;
use bentpipe_traffic::Application;
use bentpipe_units::{Bytes, Duration};

/// Periods that are shorter on average would take more time to simulate than the packets in them.
const SHORTEST_PERIOD: Duration = Duration::from_micros(1);

/// Defaults of keys that a streamed video has no use for.
const USUAL_BUFFER: Duration = Duration::from_secs(30);
const USUAL_REQUEST: Bytes = Bytes::new(300);

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
                context,
                buffer,
                request,
                ..
            },
            Application::Video(video),
        ) if video.control.is_some() => {
            // The writer of scenarios writes the defaults.
            let buffer = buffer.as_ref().ok().filter(|b| b.value != USUAL_BUFFER);
            let request = request.as_ref().ok().filter(|r| r.value != USUAL_REQUEST);
            let place = buffer.map(|b| b.place).or(request.map(|r| r.place));
            let Some(place) = place else {
                return Ok(application);
            };
            let message = "a video with a rate control is streamed, and nothing is asked for";
            let error = Diagnostic::new(place, message).label("not used");
            Err(context.report(error.help("remove `buffer` and `request`, or `control`")))
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
