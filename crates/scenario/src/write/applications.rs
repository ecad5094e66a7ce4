//! What flows carry.

use super::text::{name_of, quoted, rate, size, time};
use bentpipe_traffic::{Application, PageConnection, Period};

/// The application as an inline table.
pub(super) fn inline(application: &Application) -> String {
    let (kind, keys) = keys(application);
    let keys = keys
        .into_iter()
        .map(|(name, value)| format!(", {name} = {value}"));
    format!("{{ kind = {}{} }}", quoted(kind), keys.collect::<String>())
}

/// The kind of an application, and its keys.
fn keys(application: &Application) -> (&'static str, Vec<(&'static str, String)>) {
    let text = |value: String| quoted(&value);
    match application {
        Application::Transfer { size: bytes } => ("transfer", vec![("size", text(size(*bytes)))]),
        Application::Persistent => ("persistent", Vec::new()),
        Application::RequestResponse {
            request,
            response,
            count,
            think_time,
        } => (
            "request-response",
            vec![
                ("request", text(size(*request))),
                ("response", text(size(*response))),
                ("count", count.to_string()),
                ("think_time", text(time(*think_time))),
            ],
        ),
        Application::ConstantRate {
            rate: bps,
            packet_size,
        } => (
            "constant-rate",
            vec![
                ("rate", text(rate(*bps))),
                ("packet_size", text(size(*packet_size))),
            ],
        ),
        Application::OnOff {
            on,
            off,
            rate: bps,
            packet_size,
        } => (
            "on-off",
            vec![
                ("on", period(on)),
                ("off", period(off)),
                ("rate", text(rate(*bps))),
                ("packet_size", text(size(*packet_size))),
            ],
        ),
        Application::Web(web) => {
            let connection = name_of(&PageConnection::ALL, &web.connection);
            let mut keys = vec![
                ("mean", text(size(web.mean))),
                ("deviation", text(size(web.deviation))),
                ("largest", text(size(web.largest))),
                ("reading", text(time(web.reading))),
                ("request", text(size(web.request))),
                ("connection", quoted(connection)),
            ];
            keys.extend(web.count.map(|count| ("count", count.to_string())));
            ("web", keys)
        }
        Application::Video(video) => (
            "video",
            vec![
                ("segment", text(time(video.segment))),
                ("bitrate", text(rate(video.bitrate))),
                ("startup", text(time(video.startup))),
                ("buffer", text(time(video.buffer))),
                ("length", text(time(video.length))),
                ("request", text(size(video.request))),
            ],
        ),
    }
}

fn period(period: &Period) -> String {
    match period {
        Period::Constant(length) => quoted(&time(*length)),
        Period::Exponential { mean } => {
            format!(
                "{{ kind = \"exponential\", mean = {} }}",
                quoted(&time(*mean))
            )
        }
        Period::Pareto { mean, shape } => {
            let mean = quoted(&time(*mean));
            format!("{{ kind = \"pareto\", mean = {mean}, shape = {shape} }}")
        }
    }
}
