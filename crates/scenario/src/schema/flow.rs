//! Flows and applications.

use super::LARGEST_COUNT;
use crate::model::Handshake;
use bentpipe_document::form::{Form, settle};
use bentpipe_document::reading::{DeclaredKinds, Given, Read};
use bentpipe_document::schema::{HEADER, Kind, SPAN, integer, number};
use bentpipe_document::{Item, Reported, Table, Value, kinds, table};
use bentpipe_middlebox::{Ipsec, IpsecMode};
use bentpipe_traffic::{
    self as traffic, Application, Objects, PageConnection, RateControl, VideoSettings, WebSettings,
};
use bentpipe_units::{Bytes, Duration, Rate};

table! {
    /// an application over a transport between two nodes
    pub(crate) FlowTable at "flow.NAME", named "flow",
        example "[flow.upload]\nfrom = \"client\"\nto = \"server\"\ntransport = \"hybla\"\n\
                 application = { kind = \"transfer\", size = \"10 MB\" }\nstart = \"5 s\"";
    /// the side that sends the data; counted nodes pair up one to one, or fan in or out
    from: Item [Kind::Name("node")], required;
    /// the side that receives the data
    to: Item [Kind::Name("node")], required;
    /// what carries it: one of `bentpipe transports`, or one of the scenario's own
    transport: Item [Kind::Name("transport")],
        or "required, but for constant-rate, which may have one of QUIC, on-off, which may have one, and whatever has a `control`, which has none";
    /// what it carries
    application: ApplicationTable, required;
    /// when it starts
    start: Duration, or "0 s";
    /// when its application stops offering data
    stop: Duration [SPAN], or "never";
    /// parallel flows for each pair of nodes, NAME[1] to NAME[count]
    count: u32 [integer(1, LARGEST_COUNT)], or "1";
    /// time between the starts of the flows that this table makes
    spacing: Duration, or "0 s";
    /// whether a SYN exchange comes first, and counts in the transfer time
    handshake: Handshake {
        "counted" => Handshake::Counted,
        "not-counted" => Handshake::NotCounted,
        "skipped" => Handshake::Skipped,
    }, default "counted";
    /// the side that opens the connection looks the other's name up before: a query and an answer over
    /// UDP, to a resolver beside it; the time counts
    dns: bool, default false;
    /// whose it is where the boxes of a gateway share a link among subscribers: any word
    subscriber: String, or "that of its `to` node: flows to one node are one subscriber's";
    /// IPsec between its ends: proxies see little of it, and split none of it
    ipsec: IpsecTable, or "none";
}

table! {
    /// IPsec between the ends of a flow: ESP with the sizes of AES-GCM; the MSS is lowered so that
    /// packets grow no longer
    pub(crate) IpsecTable at "flow.NAME.ipsec", called "`ipsec` of",
        example "[flow.download.ipsec]\nmode = \"transport\"";
    /// tunnel: the whole packet behind another IP header; transport: what follows its IP header
    mode: IpsecMode { all IpsecMode::ALL }, default "tunnel";
    /// initialisation vector of a packet
    iv: Bytes [HEADER], default "8 B";
    /// the encrypted part and its trailer of 2 bytes are padded to a multiple of this
    block: Bytes [Kind::Size { min: 1, max: 64 }], default "4 B";
    /// integrity check value of a packet
    icv: Bytes [HEADER], default "16 B";
    /// identification that a packet carries in the clear, for proxies
    hash: Bytes [HEADER], default "0 B";
    => [()] Ipsec { mode, iv, block, icv, hash }
}

/// A size of a packet at the IP layer.
const IP_PACKET: Kind = Kind::Size {
    min: 20,
    max: 65_535,
};

kinds! {
    /// what a flow carries
    pub(crate) ApplicationTable at "flow.NAME.application", called "application",
        makes Application, at usual_packet: Bytes;
    /// one file; the flow ends when its last acknowledgement arrives
    Transfer "transfer",
        example "[flow.download]\napplication = { kind = \"transfer\", size = \"3 MB\" }"
    {
        /// bytes of the file
        size: Bytes, required;
    } => { Application::Transfer { size } }
    /// data without end
    Persistent "persistent", example "[flow.download]\napplication = \"persistent\"" {} => {
        Application::Persistent
    }
    /// `to` asks, `from` answers, over one connection
    RequestResponse "request-response",
        example "[flow.download.application]\nkind = \"request-response\"\nrequest = \"300 B\"\n\
                 response = \"20 kB\"\ncount = 10\nthink_time = \"1 s\""
    {
        /// bytes of each request
        request: Bytes, required;
        /// bytes of each response
        response: Bytes, required;
        /// how many exchanges
        count: u32 [integer(1, 1_000_000_000)], default 1;
        /// pause between a complete response and the next request
        think_time: Duration, default "0 s";
    } => { Application::RequestResponse { request, response, count, think_time } }
    /// datagrams at a constant bit rate: of UDP, without a transport, or with one of QUIC
    ConstantRate "constant-rate",
        example "[flow.voice]\nfrom = \"server\"\nto = \"client\"\n\
                 application = { kind = \"constant-rate\", rate = \"64 kbit/s\", packet_size = \"200 B\" }"
    {
        /// rate of packets at the IP layer; with a rate control the most that it sends
        rate: Rate, required;
        /// size of each packet at the IP layer
        packet_size: Bytes [IP_PACKET], default "1500 B";
        /// what keeps it below that rate, as the path demands
        control: RateControlTable, or "none: it sends at that rate";
        /// packets that take longer are late: what a call can wait
        deadline: Duration [SPAN], or "nobody counts late packets";
    } => { Application::ConstantRate { rate, packet_size, control, deadline } }
    /// a constant bit rate in on-periods, nothing in off-periods: datagrams, or writes to a
    /// transport
    OnOff "on-off",
        example "[flow.download.application]\nkind = \"on-off\"\nrate = \"500 kbit/s\"\n\
                 on = { kind = \"pareto\", mean = \"500 ms\" }\noff = \"500 ms\""
    {
        /// length of the on-periods
        on: Period<true>, required;
        /// length of the off-periods
        off: Period<false>, required;
        /// rate in on-periods: of packets at the IP layer, or of payload over a transport
        rate: Rate, required;
        /// size of each packet at the IP layer, or of each write to a transport
        packet_size: Bytes [IP_PACKET], or "1500 B; over a transport, its MSS";
    } => {
        let packet_size = packet_size.unwrap_or(*usual_packet);
        Application::OnOff { on, off, rate, packet_size }
    } <= {
        Application::OnOff { on, off, rate, packet_size }
 }
    /// `to` reads pages: asks for one, `from` sends it, `to` reads and asks for the next
    Web "web", example "[flow.download.application]\nkind = \"web\"\nreading = \"5 s\"\ncount = 20"
    {
        /// mean size of a page, log-normal, before it is truncated
        mean: Bytes, default "2 MB";
        /// standard deviation of that
        deviation: Bytes, or "the mean";
        /// largest page: a larger one is drawn again
        largest: Bytes, or "five times the mean";
        /// mean of the exponential pause between a page and the next request
        reading: Duration, default "8 s";
        /// bytes of each request
        request: Bytes, default "400 B";
        /// a connection for each page, or one for all
        connection: PageConnection { all PageConnection::ALL }, default "persistent";
        /// the objects of a page: the reader asks for the document, and when it is there for all
        /// that it names at once; over TCP as over HTTP/2, over QUIC as over HTTP/3
        objects: ObjectsTable, or "a page is one object";
        /// how many pages
        count: u32 [integer(1, 1_000_000_000)], or "without end";
    } => {
        let usual = WebSettings::of_mean(mean);
        let deviation = deviation.unwrap_or(usual.deviation);
        let largest = largest.unwrap_or(usual.largest);
        Application::Web(WebSettings {
            mean, deviation, largest, reading, request, connection, objects, count,
        })
    } <= {
        Application::Web(WebSettings {
            mean, deviation, largest, reading, request, connection, objects, count,
        })
 }
    /// `to` watches a video of constant quality, of which it asks for one segment after the other
    Video "video",
        example "[flow.download.application]\nkind = \"video\"\nbitrate = \"5 Mbit/s\"\nlength = \"60 s\""
    {
        /// playing time of a segment
        segment: Duration [SPAN], default "4 s";
        /// rate of the video
        bitrate: Rate, required;
        /// video that is buffered before playback begins, and before it goes on after a stall
        startup: Duration, or "one segment";
        /// most video ahead of the playback, the segment under way included
        buffer: Duration [SPAN], default "30 s";
        /// playing time of the video
        length: Duration [SPAN], required;
        /// bytes of each request
        request: Bytes, default "300 B";
        /// `from` streams the video in real time over datagrams, without a transport, at the rate
        /// that this allows: layered coding, of which nothing is sent again; `bitrate` is the most,
        /// playback begins `startup` after the first packet and does not wait
        control: RateControlTable, or "none: `to` asks over a transport";
    } => {
        let startup = startup.unwrap_or(segment);
        Application::Video(VideoSettings {
            segment, bitrate, startup, buffer, length, request, control,
        })
    } <= {
        Application::Video(VideoSettings {
            segment, bitrate, startup, buffer, length, request, control,
        })
 }
}

table! {
    /// the objects of a page
    pub(crate) ObjectsTable at "flow.NAME.application.objects", called "`objects` of",
        example "[flow.download.application]\nkind = \"web\"\nobjects = { count = 70, priorities = false }";
    /// how many, the document included
    count: u32 [integer(2, 10_000)], default 70;
    /// bytes of the document; at most half of the page
    document: Bytes, default "30 kB";
    /// part of the other objects without which a browser draws nothing, such as style sheets
    blocking: f64 [number(0.0, 1.0)], default 0.2;
    /// the server sends what drawing waits for first (RFC 9218); else all objects take turns
    priorities: bool, default true;
    => [Bytes] Objects { count, document, blocking, priorities }
}

kinds! {
    /// the rate control of a real-time stream: datagrams that the receiver answers, of which nothing
    /// is sent again
    pub(crate) RateControlTable at "flow.NAME.application.control", called "rate control",
        makes RateControl, at usual_packet: Bytes;
    /// RCS: dummies of low priority find the rate and restore it after errors; needs queues
    /// `priority-drop`
    Rcs "rcs",
        example "[flow.camera]\nfrom = \"server\"\nto = \"client\"\n\
                 application = { kind = \"constant-rate\", rate = \"2 Mbit/s\", control = \"rcs\" }"
    {
        /// no more dummies in a round trip than this
        dummies: u32 [integer(1, 1_000_000)], default 1000;
        /// round trips of silence after which it starts over
        give_up: u32 [integer(1, 1_000_000)], default 8;
    } => { RateControl::Rcs { dummies, give_up } }
    /// additive increase and halving alone, without dummies
    Aimd "aimd",
        example "[flow.camera]\nfrom = \"server\"\nto = \"client\"\n\
                 application = { kind = \"video\", bitrate = \"2 Mbit/s\", length = \"60 s\", control = \"aimd\" }" {} => { RateControl::Aimd }
}

kinds! {
    /// the length of a random period
    pub(crate) PeriodKinds at "flow.NAME.application.PERIOD", called "period";
    /// lengths without memory
    Exponential "exponential",
        example "[flow.download.application]\nkind = \"on-off\"\nrate = \"500 kbit/s\"\n\
                 on = \"1 s\"\noff = { kind = \"exponential\", mean = \"2 s\" }"
    {
        /// mean length
        mean: Duration [SPAN], required;
    }
    /// most lengths short, a few very long
    Pareto "pareto",
        example "[flow.download.application]\nkind = \"on-off\"\nrate = \"500 kbit/s\"\n\
                 on = { kind = \"pareto\", mean = \"2 s\", shape = 1.2 }\noff = \"1 s\""
    {
        /// mean length
        mean: Duration [SPAN], required;
        /// exponent of the tail; the variance is infinite up to 2
        shape: f64 [number(1.01, 100.0)], default 1.5;
    }
}

/// A length that is always the same, above zero for on-periods, or a random
/// one.
#[derive(Clone, Debug)]
pub(crate) enum Period<const ON: bool> {
    Constant(Duration),
    Random(PeriodKinds),
}

impl<const ON: bool> Read for Period<ON> {
    const KIND: Kind = Kind::Either(
        "a time such as `50 s`, or a table such as `{ kind = \"exponential\", mean = \"1 s\" }`",
        &Kind::Duration { zero: !ON },
        PeriodKinds::kinds,
    );

    fn read(given: Given<'_>, _: &Kind) -> Result<Period<ON>, Reported> {
        match given.entry.item.value {
            Value::Table(_) => given.kinds().map(Period::Random),
            _ => given
                .scalar(&Kind::Duration { zero: !ON })
                .map(Period::Constant),
        }
    }
}

impl<const ON: bool> Form<traffic::Period, Bytes> for Period<ON> {
    fn settle(&self, at: &Bytes) -> Result<traffic::Period, Reported> {
        Ok(match self {
            Period::Constant(length) => traffic::Period::Constant(*length),
            Period::Random(PeriodKinds::Exponential { context: _, mean }) => {
                let mean = settle(mean, at)?;
                traffic::Period::Exponential { mean }
            }
            Period::Random(PeriodKinds::Pareto {
                context: _,
                mean,
                shape,
            }) => {
                let (mean, shape) = (settle(mean, at)?, settle(shape, at)?);
                traffic::Period::Pareto { mean, shape }
            }
        })
    }

    fn written(model: &traffic::Period) -> Value {
        let mut table = Table::default();
        match model {
            traffic::Period::Constant(length) => return <Duration as Form<_>>::written(length),
            traffic::Period::Exponential { mean } => {
                table.put("kind", "exponential");
                table.put_as::<Duration, _>("mean", mean);
            }
            traffic::Period::Pareto { mean, shape } => {
                table.put("kind", "pareto");
                table.put_as::<Duration, _>("mean", mean);
                table.put("shape", *shape);
            }
        }
        Value::Table(table)
    }
}
