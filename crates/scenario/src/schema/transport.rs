//! Transports.

use bentpipe_document::schema::{Kind, SIZE, integer, number};
use bentpipe_document::{Item, kinds, table};
use bentpipe_tcp::{
    Buffers, Ciphers, HostProfile, Opener, Pacing, Polling, Protocol, Recovery, Resumption,
};
use bentpipe_units::{Bytes, Duration};

/// A window, in segments.
const SEGMENTS: Kind = number(1.0, 1e9);

table! {
    /// a transport that refines another; parameters of its congestion control are keys too
    /// (`bentpipe transports NAME` lists them)
    pub(crate) TransportTable at "transport.NAME", open "transport",
        example "[transport.mine]\nbase = \"cubic\"\nprofile = \"linux\"\ninitial_window = 20\n\
                 [flow.download]\ntransport = \"mine\"";
    /// the transport that this one refines
    base: Item [Kind::Name("transport")], or "the named transport of the same name";
    /// what carries the data: QUIC is opened with a full handshake of one round trip, has a stream of
    /// its own for each page or segment that is asked for, all on one connection, and passes split
    /// PEPs and other middleboxes as it is. With it `mss` is the payload of UDP in a full packet (by
    /// default 1200 bytes, and what path MTU
    /// discovery finds), `pacing` that of quinn where it is left out (5/4 of the window in a round
    /// trip), `delayed_ack` what the sender asks of the receiver (ACK frequency), `offload` whether
    /// packets leave in batches of up to ten; `profile`, `recovery`, `timestamps`,
    /// `limited_transmit`, `recovery_fix`, `undo`, `minimum_rto`, `polling`, `buffers`, `tls` are TCP's
    protocol: Protocol { all Protocol::ALL }, or "the base's, or `tcp`";
    /// TLS 1.3 between TCP and the data: its handshake of a round trip more comes first, as long as
    /// QUIC's, from the end that opens the connection to the other and back
    tls: bool, or "the base's, or false";
    /// what the client of QUIC or TLS has of an earlier connection to the same server: `1-rtt` is a
    /// session ticket, with which the server sends no certificates; with `0-rtt` data leave in the
    /// first flight, too
    resumption: Resumption { all Resumption::ALL }, or "the base's, or none";
    /// with QUIC, the end that opens the connection: `to` asks for the data with the last packet of
    /// its handshake, as who downloads does, so that they leave after one and a half round trips. Of
    /// pages, video and requests it is always `to`
    opener: Opener { all Opener::ALL }, or "the base's, or `from`";
    /// with QUIC, what protects packets: `none` is a session of TLS's lengths without its ciphers,
    /// `tls` the real one (rustls, AES-128-GCM) with a fixed certificate, in builds with the feature
    /// `tls`. Times and lengths are the same, bytes differ from run to run
    ciphers: Ciphers { all Ciphers::ALL }, or "the base's, or none";
    /// the algorithm that moves the window; its parameters are keys beside this one
    congestion_control: String [Kind::Name("congestion control")], or "the base's; on `linux` the kernel's own of that name";
    /// another slow start: `standard`, `const`, `linear`, `mtsi`, `hybla`, `fixed`, `hystart++`
    /// (RFC 9406), `search` (SEARCH, draft-chung-ccwg-search; its keys are `window`, `threshold` and
    /// `rolls_back`) or `picoquic` (picoquic's initial slow start and pacing; its keys are
    /// `target_rtt`, `longest_rtt`, `probes_bandwidth` and `paces`)
    start: String [Kind::Name("slow start")], or "the base's";
    /// another congestion avoidance
    avoidance: String [Kind::Name("congestion avoidance")], or "the base's";
    /// another reaction to losses
    reaction: String [Kind::Name("reaction")], or "the base's";
    /// the host whose TCP is imitated
    profile: HostProfile { all HostProfile::ALL }, or "the base's";
    /// how losses are repaired
    recovery: Recovery { all Recovery::ALL }, or "the profile's on a host with one of its own (`linux`, `linux-2.4`, `linux-2.2`, `ns-2-linux`), the base's elsewhere";
    /// payload of a full packet
    mss: Bytes [Kind::Size { min: 1, max: 65_000 }], or "what fills a packet of 1500 B";
    /// initial window, segments
    initial_window: f64 [SEGMENTS], or "the base's, or the profile's";
    /// initial slow start threshold, segments
    initial_ssthresh: f64 [Kind::NumberOrUnlimited { min: 1.0, max: 1e9 }], or "unlimited";
    /// the buffers that are not given: `ample` ones of 16 MB, or on profile `linux` those of a host
    /// that nobody has tuned, with 4 MiB of memory for what is sent (`tcp_wmem`), which wakes the
    /// application at two thirds, and a receive window (from `tcp_rmem`) of at most 3 MiB
    /// (`stock-6.1`: Linux up to 6.5; `stock` is the same), 3.75 MiB (`stock-6.12`: from 6.6 to 6.15) or
    /// 20 MiB (`stock-6.18`: from 6.16 on)
    buffers: Buffers { all Buffers::ALL }, or "the base's, or `stock` on profile `linux` and `ample` on others";
    /// send buffer, in bytes of payload; `tcp_wmem` of Linux counts memory, which takes more
    send_buffer: Bytes [SIZE], or "by `buffers`";
    /// receive buffer; the profile says which part of it is advertised
    receive_buffer: Bytes [SIZE], or "by `buffers`";
    /// with QUIC, the receiver's limit at the start: it doubles whenever half of it has arrived,
    /// until it is the receive buffer
    initial_receive_window: Bytes [SIZE], or "the base's, or the receive buffer";
    /// when the receiver acknowledges
    delayed_ack: DelayedAckTable, or "the base's, or the profile's";
    /// timestamps option (RFC 7323): 12 bytes a packet
    timestamps: bool, or "the base's, or the profile's";
    /// new data on duplicate ACKs 1, 2 (RFC 3042)
    limited_transmit: bool, or "the base's, or the profile's";
    /// after recovery cwnd is at most flight + 1
    recovery_fix: bool, or "the base's, or the profile's";
    /// detect and undo spurious retransmissions
    undo: bool, or "the base's, or the profile's";
    /// how the sender spaces its packets
    pacing: PacingTable, or "the base's, or off";
    /// explicit congestion notification; takes effect where a queue marks, drop-tail does not
    ecn: bool, or "false";
    /// smallest retransmission timeout; above the profile's largest (60 s, or 120 s) it is that, too
    minimum_rto: Duration, or "the base's, or the profile's";
    /// segments leave in twos or more, as segmentation offload sends them (TSO, GSO), where all links
    /// of the way have `offload = "whole"`; on other ways they leave one by one
    offload: bool, or "the base's, or true on profile `linux` and with QUIC";
    /// how the sender polls, with recovery `stp`
    polling: PollingTable, or "the base's, or its defaults";
}

table! {
    /// how the sender polls its receiver, with recovery `stp`
    pub(crate) PollingTable at "transport.NAME.polling", called "`polling` of",
        example "[transport.mine]\nbase = \"stp\"\npolling = { per_round_trip = 2 }";
    /// polls in a round trip
    per_round_trip: f64 [number(0.01, 1000.0)], default 3;
    /// a poll follows this many data segments at the latest
    segments: u32 [integer(1, 1_000_000)], or "polls are timed alone";
    /// a retransmission timeout without a report sends everything again, as TCP's
    timeout: bool, default false;
    => [()] Polling { per_round_trip, segments, timeout }
}

table! {
    /// when the receiver acknowledges; what is left out is the base's or the profile's
    pub(crate) DelayedAckTable at "transport.NAME.delayed_ack", called "`delayed_ack` of",
        example "[transport.mine]\nbase = \"cubic\"\n\
                 delayed_ack = { count = 2, timer = \"40 ms\", quick_acks = 16 }";
    /// one ACK per this many full segments; 1 acknowledges every segment
    count: u32 [integer(1, 1_000_000)], or "the base's, or the profile's";
    /// at the latest after this time
    timer: Duration, or "the base's, or the profile's";
    /// segments at the start of a connection that are acknowledged at once
    quick_acks: u32 [integer(0, 1_000_000)], or "the base's, or the profile's";
}

kinds! {
    /// how the sender spaces its packets
    pub(crate) PacingTable at "transport.NAME.pacing", called "pacing",
        makes Pacing, at transport: ();
    /// packets leave as soon as the window allows
    Off "off", example "[transport.mine]\nbase = \"cubic\"\npacing = \"off\"" {} => {
        Pacing::Off
    }
    /// packets leave at gain x cwnd / smoothed RTT
    Window "window",
        example "[transport.mine]\nbase = \"hybla\"\npacing = { kind = \"window\", gain = 1.2 }"
    {
        /// factor on cwnd / RTT
        gain: f64 [number(0.01, 100.0)], default 1;
        /// segments that leave at once at the start, before an RTT is known
        initial_burst: u32 [integer(1, 1_000_000)], default 10;
    } => { Pacing::Window { gain, initial_burst } }
}
