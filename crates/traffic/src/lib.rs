//! Applications as generators without I/O.

mod deadline;
mod dns;
mod exchange;
mod period;
mod source;
mod stream;
mod video;
mod web;

pub use deadline::{Deadline, DeadlineReport};
pub use dns::{DNS_ANSWER, DNS_QUERY, DNS_TIMEOUT, Lookup};
pub use exchange::{Exchange, FRAME, Fixed, Next, USUAL_URGENCY, interleaved};
pub use period::Period;
pub use source::Source;
pub use stream::{
    Feedback, RateControl, STREAM_ANSWER, STREAM_HEADERS, StreamPacket, StreamPacketKind,
    StreamPlayback, StreamReceiver, StreamSender, StreamSettings, VIDEO_PACKET,
};
pub use video::{Video, VideoReport, VideoSettings};
pub use web::{Objects, PageConnection, Pages, PagesReport, WebSettings};

use bentpipe_units::{Bytes, Duration, Rate, Time};
use std::fmt;

/// What a flow carries. `from` below is the flow's first node.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub enum Application {
    /// One file of `size` bytes from `from` to `to`; the flow ends when its
    /// last acknowledgement arrives.
    Transfer {
        /// Bytes of the file.
        size: Bytes,
    },
    /// Data without end, until the run's duration.
    Persistent,
    /// `to` asks, `from` answers, `count` times, over one connection.
    RequestResponse {
        /// Bytes of each request, sent by `to`.
        request: Bytes,
        /// Bytes of each response, sent by `from`.
        response: Bytes,
        /// Number of exchanges.
        count: u32,
        /// Pause between a complete response and the next request.
        think_time: Duration,
    },
    /// Datagrams at a constant bit rate: of UDP, or of QUIC (RFC 9221).
    ConstantRate {
        /// Rate of packets on the wire at the IP layer; with a rate control the
        /// most that it sends.
        rate: Rate,
        /// Size of each packet at the IP layer.
        packet_size: Bytes,
        /// What keeps the rate below, as the path demands.
        #[serde(skip_serializing_if = "Option::is_none")]
        control: Option<RateControl>,
        /// A packet that takes longer is late, where that is to be known.
        #[serde(skip_serializing_if = "Option::is_none")]
        deadline: Option<Duration>,
    },
    /// A constant bit rate in on-periods and nothing in the off-periods
    /// between them, beginning with an on-period. Without a transport these
    /// are datagrams; with one, writes to its send buffer.
    OnOff {
        /// Length of the on-periods.
        on: Period,
        /// Length of the off-periods.
        off: Period,
        /// Rate in on-periods: of packets at the IP layer, or of the payload
        /// that is written to a transport.
        rate: Rate,
        /// Size of each packet at the IP layer, or of each write.
        packet_size: Bytes,
    },
    /// `to` reads pages: it asks for one, `from` sends it, `to` reads and asks
    /// for the next.
    Web(WebSettings),
    /// `to` watches a video, of which it asks for one segment after the other; with a
    /// rate control `from` streams it in real time.
    Video(VideoSettings),
}

impl Application {
    /// True for datagrams, which only QUIC carries of all transports.
    #[must_use]
    pub const fn sends_datagrams(&self) -> bool {
        matches!(self, Application::ConstantRate { control: None, .. })
    }

    /// True for applications that run over TCP or QUIC only.
    #[must_use]
    pub const fn needs_transport(&self) -> bool {
        match self {
            Application::ConstantRate { .. } | Application::OnOff { .. } => false,
            Application::Video(video) => video.control.is_none(),
            _ => true,
        }
    }

    /// True for applications that can run over TCP or QUIC.
    #[must_use]
    pub const fn takes_transport(&self) -> bool {
        match self {
            Application::ConstantRate { control, .. } => control.is_none(),
            Application::Video(video) => video.control.is_none(),
            _ => true,
        }
    }

    /// True for applications in which `to` asks, and therefore opens the
    /// connection; see [`Requester`].
    #[must_use]
    pub const fn asks(&self) -> bool {
        match self {
            Application::RequestResponse { .. } | Application::Web(_) => true,
            Application::Video(video) => video.control.is_none(),
            _ => false,
        }
    }

    /// The rate control of a real-time stream; `None` for everything else.
    #[must_use]
    pub const fn rate_control(&self) -> Option<&RateControl> {
        match self {
            Application::ConstantRate { control, .. } => control.as_ref(),
            Application::Video(video) => video.control.as_ref(),
            _ => None,
        }
    }

    /// True for applications that begin a connection for each exchange.
    #[must_use]
    pub fn reopens(&self) -> bool {
        matches!(self, Application::Web(web) if web.connection == PageConnection::Page)
    }

    /// True for pages of several objects.
    #[must_use]
    pub fn has_objects(&self) -> bool {
        matches!(self, Application::Web(web) if web.objects.is_some())
    }

    /// What an application with pauses carries, which is no transfer in one go;
    /// `None` for the others.
    #[must_use]
    pub const fn with_pauses(&self) -> Option<&'static str> {
        match self {
            Application::OnOff { .. } => Some("on-off traffic"),
            Application::Web(_) => Some("pages"),
            Application::Video(_) => Some("video"),
            Application::Transfer { .. }
            | Application::Persistent
            | Application::RequestResponse { .. }
            | Application::ConstantRate { .. } => None,
        }
    }

    /// Payload bytes that `from` sends in all; `None` where that is not known
    /// before the end.
    #[must_use]
    pub fn offered(&self) -> Option<Bytes> {
        match self {
            Application::Transfer { size } => Some(*size),
            Application::Video(video) if video.control.is_none() => Some(video.size()),
            Application::RequestResponse {
                response, count, ..
            } => Some(Bytes::new(response.get().saturating_mul(u64::from(*count)))),
            Application::Persistent
            | Application::ConstantRate { .. }
            | Application::OnOff { .. }
            | Application::Video(_)
            | Application::Web(_) => None,
        }
    }
}

impl fmt::Display for Application {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Application::Transfer { size } => write!(f, "{size}"),
            Application::Persistent => f.write_str("data without end"),
            Application::RequestResponse {
                response, count, ..
            } => write!(f, "{count} responses of {response}"),
            Application::ConstantRate {
                rate, packet_size, ..
            } => {
                write!(f, "{rate} in packets of {packet_size}")
            }
            Application::OnOff { on, off, rate, .. } => {
                write!(f, "{rate} for {on}, then a pause of {off}")
            }
            Application::Web(web) => write!(f, "{web}"),
            Application::Video(video) => write!(f, "{video}"),
        }
    }
}

/// The mean, and the smallest that is not exceeded by 95% of them; `None` of none.
fn mean_and_p95(times: &[Duration]) -> (Option<Duration>, Option<Duration>) {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    let count = sorted.len();
    let sum = sorted.iter().fold(Duration::ZERO, |sum, time| sum + *time);
    let p95 = (count * 95).div_ceil(100).checked_sub(1);
    (
        (count > 0).then(|| sum / count as u64),
        p95.and_then(|at| sorted.get(at).copied()),
    )
}

/// The side that asks. Its owner calls [`Requester::request`] at the start of
/// the flow, sends what that returns, calls [`Requester::arrived`] when a
/// response has arrived in whole, and asks again at the time that it returns.
#[derive(Clone, Debug)]
pub enum Requester {
    /// Exchanges of one size.
    Fixed(Fixed),
    /// A reader of pages.
    Pages(Box<Pages>),
    /// A viewer of video.
    Video(Box<Video>),
}

/// What the side that asks has experienced, beyond what connections count.
#[derive(Clone, Debug, PartialEq)]
pub enum ClientReport {
    /// The application reports nothing beyond its connections.
    None,
    /// The pages of a reader.
    Pages(PagesReport),
    /// The playback of a viewer.
    Video(VideoReport),
    /// Packets with a deadline.
    Deadline(DeadlineReport),
}

impl Requester {
    /// The side that asks of the flow called `name` in the run with seed
    /// `seed`; `None` for applications that do not ask.
    #[must_use]
    pub fn new(application: &Application, seed: u64, name: &str) -> Option<Requester> {
        match application {
            Application::RequestResponse {
                request,
                response,
                count,
                think_time,
            } => Some(Requester::Fixed(Fixed {
                exchange: Exchange::new(*request, *response),
                left: *count,
                think_time: *think_time,
            })),
            Application::Web(settings) => {
                let pages = Pages::new(settings, seed, name);
                Some(Requester::Pages(Box::new(pages)))
            }
            Application::Video(settings) if settings.control.is_none() => {
                Some(Requester::Video(Box::new(Video::new(settings))))
            }
            Application::Video(_)
            | Application::Transfer { .. }
            | Application::Persistent
            | Application::ConstantRate { .. }
            | Application::OnOff { .. } => None,
        }
    }

    /// What is asked for at `now`, all at once.
    pub fn request(&mut self, now: Time) -> Vec<Exchange> {
        match self {
            Requester::Fixed(fixed) => vec![fixed.exchange],
            Requester::Pages(pages) => pages.request(now),
            Requester::Video(video) => vec![video.request(now)],
        }
    }

    /// The response to the exchange at this place of what was last asked for has arrived in whole at
    /// `now`. Returns what follows once all of them have.
    pub fn arrived(&mut self, now: Time, place: usize) -> Option<Next> {
        match self {
            Requester::Fixed(fixed) => Some(fixed.arrived(now)),
            Requester::Pages(pages) => pages.arrived(now, place),
            Requester::Video(video) => Some(video.arrived(now)),
        }
    }

    /// What has been experienced by `now`.
    #[must_use]
    pub fn report(&self, now: Time) -> ClientReport {
        match self {
            Requester::Fixed(_) => ClientReport::None,
            Requester::Pages(pages) => ClientReport::Pages(pages.report()),
            Requester::Video(video) => ClientReport::Video(video.report(now)),
        }
    }
}
