//! Real-time streams: datagrams whose rate a rate control allows, and nothing that is sent again.
//!
//! What RTP over UDP does with a rate control. The application has a target, the rate that it
//! would like to send at, and encodes its media so that it sends at the rate that the control
//! allows, up to the target: layered coding in steps so fine that any rate can be met. What is
//! lost stays lost. The receiver answers each packet, and its answers say how much of the
//! data it takes for lost: packets that three later ones have overtaken. An answer that is lost
//! does no harm, for the next one says the same.
//!
//! - [`RateControl`]: which control, with its settings; its file has the rules.
//! - [`StreamSender`] and [`StreamReceiver`]: the two ends, without I/O or a clock.
//!
//! Readings: before media goes, a packet of normal priority opens the stream, whose answer gives the
//! first round trip; it is sent again after 1 s, 2 s, 4 s ... 64 s. The round trip is smoothed as
//! RFC 6298 smoothes it.

mod control;
mod playback;
mod receiver;
mod sender;

pub use control::RateControl;
pub use playback::StreamPlayback;
pub use receiver::{Feedback, StreamReceiver};
pub use sender::{StreamPacket, StreamPacketKind, StreamSender};

use crate::Application;
use bentpipe_units::{Bytes, Duration};

/// Bytes of the IP and UDP headers of a packet of a stream.
pub const STREAM_HEADERS: u64 = 28;

/// Size at the IP layer of the packets of streamed video.
pub const VIDEO_PACKET: Bytes = Bytes::new(1500);

/// Size at the IP layer of an answer: the headers, and 16 bytes for what it answers, when that was
/// sent and how much is lost.
pub const STREAM_ANSWER: Bytes = Bytes::new(STREAM_HEADERS + 16);

/// A stream as its sender has it.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamSettings {
    /// Packets a second that the application would like to send.
    pub target: f64,
    /// Size of a packet at the IP layer.
    pub packet: Bytes,
    /// Which rate control allows how much of it.
    pub control: RateControl,
    /// How long the media lasts; `None` without end.
    pub length: Option<Duration>,
}

impl StreamSettings {
    /// The stream of an application; `None` where it has no rate control.
    #[must_use]
    pub fn of(application: &Application) -> Option<StreamSettings> {
        match application {
            Application::ConstantRate {
                rate,
                packet_size,
                control: Some(control),
                ..
            } => Some(StreamSettings {
                target: rate.bps_f64() / (8.0 * packet_size.as_f64()),
                packet: *packet_size,
                control: control.clone(),
                length: None,
            }),
            Application::Video(video) => video.control.as_ref().map(|control| StreamSettings {
                target: video.bitrate.bps_f64()
                    / (8.0 * (VIDEO_PACKET.get() - STREAM_HEADERS) as f64),
                packet: VIDEO_PACKET,
                control: control.clone(),
                length: Some(video.length),
            }),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
