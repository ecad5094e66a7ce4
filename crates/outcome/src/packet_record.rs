//! What happened to one packet, as a row of a table.

use crate::record;

record! {
    /// What happened to a packet of a flow, or to the retransmission timer of its sender.
    #[derive(Clone, Debug, PartialEq)]
    #[non_exhaustive]
    pub struct PacketRecord document {
        /// Name of the flow; behind a split-connection proxy `FLOW/PROXY`.
        label flow: String;
        /// When.
        counter at_ns: u64;
        /// The same in seconds.
        gauge time_s: f64;
        /// What happened. At the sender of the data: `sent`, `resent` (data sent again), `probe`
        /// (without data of the stream), `acknowledged` (an acknowledgement of more data
        /// arrives), `repeated` (one that acknowledges no more in order), `timeout`. At the
        /// receiver: `received` (data in order), `ahead` (of a gap), `duplicate`,
        /// `acknowledges` (it sends an acknowledgement). On the path: `lost`, `lost_ack`. At
        /// either end: `control` and `control_arrived` (the handshake and the close).
        label event: &'static str;
        /// Where: at the `sender` of the data, at the `receiver`, or on the `path`.
        label place: &'static str;
        /// First byte of the payload, as an offset in the stream; empty without payload.
        counter sequence_bytes: Option<u64>;
        /// Payload; zero of acknowledgements.
        counter payload_bytes: u32;
        /// Size at the IP layer; zero of a timeout.
        counter ip_bytes: u32;
        /// The next byte that the receiver expects: of acknowledgements what they say, of
        /// everything else what the sender has been told.
        counter acknowledgement_bytes: u64;
        /// Ranges that an acknowledgement reports beyond it, such as `2896-4344 5792-7240`:
        /// first byte, and one past the last.
        label sack: String;
        /// The receive window that an acknowledgement grants; empty of everything else.
        counter window_bytes: Option<u64>;
        /// The bytes that an acknowledgement newly covers in order, or that are missing before
        /// data that arrive ahead.
        counter gap_bytes: u64;
        /// What made the sender send at this instant: `ack`, `timeout`, `opened` or `timer`
        /// (pacing, loss recovery or the application); empty of everything else.
        label trigger: Option<&'static str>;
        /// Why it was lost: `queue_full`, `aqm`, `channel`, `outage` or `no_route`; empty
        /// otherwise.
        label cause: Option<&'static str>;
        /// The link that lost it; empty otherwise.
        label link: Option<String>;
        /// Congestion window of the sender after the instant.
        gauge cwnd_segments: f64;
        /// Slow start threshold of the sender after the instant; empty until set.
        gauge ssthresh_segments: Option<f64>;
        /// Segments in flight after the instant.
        gauge flight_segments: f64;
        /// Phase of the congestion control after the instant, by the names of qlog.
        label phase: &'static str;
    }
}

impl PacketRecord {
    /// A record of these values; the fields are public for everything else.
    #[must_use]
    pub fn new(flow: String, at_ns: u64, event: &'static str, place: &'static str) -> PacketRecord {
        PacketRecord {
            flow,
            at_ns,
            time_s: at_ns as f64 / 1e9,
            event,
            place,
            sequence_bytes: None,
            payload_bytes: 0,
            ip_bytes: 0,
            acknowledgement_bytes: 0,
            sack: String::new(),
            window_bytes: None,
            gap_bytes: 0,
            trigger: None,
            cause: None,
            link: None,
            cwnd_segments: 0.0,
            ssthresh_segments: None,
            flight_segments: 0.0,
            phase: "",
        }
    }
}
