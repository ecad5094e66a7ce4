//! The table of metrics: those that the records of an outcome declare
//! ([`bentpipe_outcome::Part`]), and those that are computed from them.
//!
//! An entry of the latter reads `source name / alias: Unit [how several are taken together,
//! what it takes] "what it says" = how it is computed;`.

use super::{AtLink, Metric, Of, Parameter, Source, Takes, series};
use crate::unit::{Unit, seconds};
use bentpipe_outcome::{
    FlowCounts, FlowLinkCounts, FlowOutcome, LinkOutcome, Metric as Declared, Outcome, Part,
};
use bentpipe_units::{Duration, Ratio, Time};
use std::sync::LazyLock;

macro_rules! metrics {
    ($($source:ident $name:ident $(/ $alias:ident)?: $unit:ident [$($takes:tt)*] $about:literal
        = $get:expr;)*) => {
        [$(Metric {
            name: stringify!($name),
            alias: concat!($(stringify!($alias))?),
            unit: Unit::$unit,
            about: $about.to_owned(),
            source: source!($source [$($takes)*] $get),
        }),*]
    };
}

macro_rules! source {
    (flow [$of:ident $($takes:ident)*] $get:expr) => {
        Source::Flow($get, Of::$of, FLOW$(.$takes())*)
    };
    (run [] $get:expr) => { Source::Run($get) };
    (link [] $get:expr) => { Source::Link($get) };
    (link_in [] $get:expr) => { Source::LinkIn($get) };
    (fairness [] $get:expr) => { $get };
    (series [$parameters:ident] $get:expr) => { Source::Series($get, $parameters, Of::Mean) };
}

const FLOW: Takes = Takes {
    link: AtLink::Never,
    interval: false,
};

impl Takes {
    const fn interval(self) -> Takes {
        Takes {
            interval: true,
            ..self
        }
    }

    const fn needs_link(self) -> Takes {
        Takes {
            link: AtLink::Must,
            ..self
        }
    }
}

const fn parameter(name: &'static str, unit: Unit, default: Option<f64>) -> Parameter {
    Parameter {
        name,
        unit,
        default,
    }
}

const fn seconds_at(name: &'static str, default: Option<f64>) -> Parameter {
    parameter(name, Unit::Seconds, default)
}

const AT: &[Parameter] = &[seconds_at("at", None)];
const SPAN: &[Parameter] = &[seconds_at("from", Some(0.0)), seconds_at("to", None)];
const WINDOW: &[Parameter] = &[
    seconds_at("window", Some(1.0)),
    seconds_at("from", Some(0.0)),
    seconds_at("to", Some(f64::INFINITY)),
];
const RATE: &[Parameter] = &[
    parameter("rate", Unit::BitRate, None),
    seconds_at("window", Some(1.0)),
    seconds_at("after", Some(0.0)),
];
const SIZE: &[Parameter] = &[parameter("size", Unit::Bytes, None)];

fn since_start(at: Option<Time>, f: &FlowOutcome) -> Option<f64> {
    Some(seconds(at?.since(f.started_at)))
}

fn or_none(x: Option<Duration>) -> Option<f64> {
    x.map(seconds)
}

/// Every metric, in the order in which documentation lists them.
pub static METRICS: LazyLock<Vec<Metric>> = LazyLock::new(|| {
    let of_flows = FlowOutcome::metrics().into_iter().map(of_flow);
    let of_links = LinkOutcome::metrics().into_iter().map(of_link);
    of_flows.chain(computed()).chain(of_links).collect()
});

/// A metric that the record of flows declares. It takes an interval where it is
/// noted at checkpoints, and a link where flows have the same metric there.
fn of_flow(declared: Declared) -> Metric {
    let is_among = |metrics: Vec<Declared>| metrics.iter().any(|m| m.name == declared.name);
    let takes = Takes {
        link: if is_among(FlowLinkCounts::metrics()) {
            AtLink::May
        } else {
            AtLink::Never
        },
        interval: is_among(FlowCounts::metrics()),
    };
    let of = Of::new(declared.together).unwrap_or(Of::Mean);
    metric_of(declared, Source::DeclaredOfFlow(of, takes))
}

/// A metric that the record of links declares.
fn of_link(declared: Declared) -> Metric {
    let of = Of::new(declared.together);
    metric_of(declared, Source::DeclaredOfLink(of))
}

fn metric_of(declared: Declared, source: Source) -> Metric {
    Metric {
        name: declared.name,
        alias: declared.alias,
        unit: Unit::of(declared.quantity),
        about: declared.about,
        source,
    }
}

/// The metrics that are computed.
fn computed() -> impl Iterator<Item = Metric> {
    metrics! {
        flow goodput / connection_throughput: BitRate [Mean interval]
            "payload delivered over the transfer time, or over the interval; mean over the flows"
            = |c| Some(c.goodput());
        flow throughput: BitRate [Mean interval]
            "payload sent over the same time, retransmissions included; mean over the flows"
            = |c| Some(c.throughput());
        flow share: Ratio [Sum interval]
            "share of the goodput of all flows"
            = |c| c.share();
        flow wire_share: Ratio [Sum needs_link interval]
            "share of the link that the flow took: bytes transmitted, headers and framing included, \
             over rate x time"
            = |c| c.wire_share();
        flow payload_share: Ratio [Sum needs_link interval]
            "share of the link's rate that became payload delivered by the flow"
            = |c| c.payload_share();
        flow completion: Ratio [Mean]
            "share of the payload offered that was delivered"
            = |c| c.flow().completion().map(Ratio::get);
        flow first_delivery: Seconds [Mean]
            "from the start to the first payload delivered"
            = |c| since_start(c.flow().first_delivery_at, c.flow());
        flow last_delivery: Seconds [Mean]
            "from the start to the last payload delivered"
            = |c| since_start(c.flow().last_delivery_at, c.flow());
        flow retransmission_share: Ratio [Mean interval]
            "share of the data packets sent that were sent again"
            = |c| Some(c.retransmission_share());
        flow congestion_epoch: Seconds [Mean interval]
            "mean time between reductions of the window: the time that goodput is taken over, by \
             their number"
            = |c| Some(c.congestion_epoch());
        flow rtt_inflation: Seconds [Mean]
            "how far the mean RTT lies above the smallest"
            = |c| or_none(c.flow().rtt_inflation());
        run total_goodput: BitRate []
            "goodputs of all flows added up"
            = |o| Some(o.total_goodput().bps_f64());
        fairness jain: Ratio []
            "Jain's index over the goodputs of the flows, or over what they took of the link"
            = Source::Fairness;
        run longest_transfer_time: Seconds []
            "transfer time of the slowest flow"
            = |o| or_none(o.longest_transfer_time());
        run unfinished: Count []
            "flows that did not finish"
            = |o| Some(unfinished(o));
        run ended_at: Seconds []
            "when the run ended"
            = |o| Some(seconds(o.ended_at.since(Time::ZERO)));
        run events: Count []
            "events executed"
            = |o| Some(o.events as f64);
        run packet_hops: Count []
            "packets that finished crossing a link"
            = |o| Some(o.packet_hops as f64);
        link_in unused: Ratio []
            "share of the link that nobody took: one less all wire shares"
            = |interval, link| interval.unused(link);
        link drop_share: Ratio []
            "share of the packets offered that the queue dropped"
            = |_, l| l.queue_drop_share().get();
        link loss_share: Ratio []
            "share of the packets transmitted that the channel lost"
            = |_, l| l.channel_loss_share().get();
        link link_throughput: BitRate []
            "bytes that left the link over the length of the run"
            = |o, l| l.throughput(o.ended_at).bps_f64();
        link p95_backlog: Bytes []
            "95th percentile over time of the bytes that wait or are in transmission, framing included"
            = |_, l| l.rate.bytes_in(l.p95_queueing_delay).as_f64();
        series sent_rate: BitRate [SPAN]
            "payload sent from `from` to `to`"
            = series::sent_rate;
        series received_rate: BitRate [SPAN]
            "payload delivered from `from` to `to`"
            = series::received_rate;
        series peak_sent_rate: BitRate [WINDOW]
            "largest payload sent in any `window` between `from` and `to`"
            = series::peak_sent_rate;
        series peak_received_rate: BitRate [WINDOW]
            "largest payload delivered in any `window` between `from` and `to`"
            = series::peak_received_rate;
        series sent_by: Bytes [AT]
            "payload sent by `at`"
            = series::sent_by;
        series received_by: Bytes [AT]
            "payload delivered by `at`"
            = series::received_by;
        series cwnd_at: Segments [AT]
            "congestion window at `at`"
            = series::cwnd_at;
        series flight_at: Segments [AT]
            "segments in flight at `at`"
            = series::flight_at;
        series rtt_at: Seconds [AT]
            "last RTT sample at `at`"
            = series::rtt_at;
        series retransmissions_by: Count [AT]
            "data packets sent again by `at`"
            = series::retransmissions_by;
        series time_to_receive: Seconds [SIZE]
            "when `size` of payload had been delivered"
            = series::time_to_receive;
        series time_to_rate: Seconds [RATE]
            "end of the first `window` that begins at `after` or later in which payload was delivered \
             at `rate`"
            = series::time_to_rate;
    }
    .into_iter()
}

fn unfinished(o: &Outcome) -> f64 {
    o.flows.iter().filter(|f| !f.is_finished()).count() as f64
}

/// The metric of that name or alias.
#[must_use]
pub fn metric(name: &str) -> Option<&'static Metric> {
    METRICS
        .iter()
        .find(|m| m.name == name || (!m.alias.is_empty() && m.alias == name))
}
