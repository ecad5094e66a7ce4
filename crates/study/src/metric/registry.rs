//! The table of metrics: those that the records of an outcome declare
//! ([`bentpipe_outcome::Part`]), and those that are computed from them.
//!
//! An entry of the latter has the form `source name / alias: Unit [how several are taken together,
//! what it takes] "what it says" = how it is computed;`.

use super::series::{count_at, peak, rate, rtt_at, time_to_rate, time_to_receive};
use super::{Aggregation, LinkArg, Metric, MetricArgs, Parameter, Source};
use crate::unit::{Unit, seconds};
use bentpipe_outcome::{
    FlowCounts, FlowLinkCounts, FlowOutcome, LinkOutcome, Metric as Declared, Outcome, Part,
};
use bentpipe_units::{Duration, Ratio, Time};
use std::sync::LazyLock;

macro_rules! metrics {
    ($($source:ident $name:ident $(/ $alias:ident)?: $unit:ident [$($takes:tt)*] $about:literal
        = $get:expr;)*) => {
        [$({
            let (args, source) = source!($source [$($takes)*] $get);
            Metric {
                name: stringify!($name),
                alias: concat!($(stringify!($alias))?),
                unit: Unit::$unit,
                about: $about.to_owned(),
                args,
                source,
            }
        }),*]
    };
}

macro_rules! source {
    (flow [$of:ident $($takes:ident)*] $get:expr) => {
        (NONE.flow(Aggregation::$of)$(.$takes())*, Source::Flow($get))
    };
    (run [] $get:expr) => { (NONE, Source::Run($get)) };
    (link [] $get:expr) => { (NONE.needs_link(), Source::Link($get)) };
    (link_in [] $get:expr) => { (NONE.needs_link().interval(), Source::LinkIn($get)) };
    (fairness [] $get:expr) => {
        (MetricArgs { flow: true, link: LinkArg::May, ..NONE }.interval(), $get)
    };
    (series [$parameters:ident] $get:expr) => {
        (
            MetricArgs { parameters: $parameters, ..NONE.flow(Aggregation::Mean) },
            Source::Series($get),
        )
    };
}

const NONE: MetricArgs = MetricArgs {
    flow: false,
    link: LinkArg::Never,
    of: None,
    interval: false,
    parameters: &[],
};

impl MetricArgs {
    const fn flow(mut self, of: Aggregation) -> MetricArgs {
        (self.flow, self.of) = (true, Some(of));
        self
    }

    const fn interval(mut self) -> MetricArgs {
        self.interval = true;
        self
    }

    const fn needs_link(mut self) -> MetricArgs {
        self.link = LinkArg::Must;
        self
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
    let of = declared.together.unwrap_or(Aggregation::Mean);
    let args = MetricArgs {
        link: match is_among(FlowLinkCounts::metrics()) {
            true => LinkArg::May,
            false => LinkArg::Never,
        },
        interval: is_among(FlowCounts::metrics()),
        ..NONE.flow(of)
    };
    metric_of(
        declared,
        args,
        Source::Flow(|case, name| case.declared(name)),
    )
}

/// A metric that the record of links declares.
fn of_link(declared: Declared) -> Metric {
    let of = declared.together;
    let link = match of {
        Some(_) => LinkArg::May,
        None => LinkArg::Must,
    };
    let get = Source::Link(|_, link, name| link.metric(name));
    metric_of(declared, MetricArgs { of, link, ..NONE }, get)
}

fn metric_of(declared: Declared, args: MetricArgs, source: Source) -> Metric {
    Metric {
        name: declared.name,
        alias: declared.alias,
        unit: declared.unit,
        about: declared.about,
        args,
        source,
    }
}

/// The metrics that are computed.
fn computed() -> impl Iterator<Item = Metric> {
    metrics! {
        flow goodput / connection_throughput: BitRate [Mean interval]
            "payload delivered over the transfer time, or over the interval; mean over the flows"
            = |c, _| Some(c.goodput());
        flow throughput: BitRate [Mean interval]
            "payload sent over the same time, retransmissions included; mean over the flows"
            = |c, _| Some(c.throughput());
        flow share: Ratio [Sum interval]
            "share of the goodput of all flows"
            = |c, _| c.share();
        flow wire_share: Ratio [Sum needs_link interval]
            "share of the link that the flow took: bytes transmitted, headers and framing included, \
             over rate x time"
            = |c, _| c.wire_share();
        flow payload_share: Ratio [Sum needs_link interval]
            "share of the link's rate that became payload delivered by the flow"
            = |c, _| c.payload_share();
        flow completion: Ratio [Mean]
            "share of the payload offered that was delivered"
            = |c, _| c.flow().completion().map(Ratio::get);
        flow first_delivery: Seconds [Mean]
            "from the start to the first payload delivered"
            = |c, _| since_start(c.flow().first_delivery_at, c.flow());
        flow last_delivery: Seconds [Mean]
            "from the start to the last payload delivered"
            = |c, _| since_start(c.flow().last_delivery_at, c.flow());
        flow retransmission_share: Ratio [Mean interval]
            "share of the data packets sent that were sent again"
            = |c, _| Some(c.retransmission_share());
        flow congestion_epoch: Seconds [Mean interval]
            "mean time between reductions of the window: the time that goodput is taken over, by \
             their number"
            = |c, _| Some(c.congestion_epoch());
        flow rtt_inflation: Seconds [Mean]
            "how far the mean RTT lies above the smallest"
            = |c, _| or_none(c.flow().rtt_inflation());
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
            = |_, l, _| Some(l.queue_drop_share().get());
        link loss_share: Ratio []
            "share of the packets transmitted that the channel lost"
            = |_, l, _| Some(l.channel_loss_share().get());
        link link_throughput: BitRate []
            "bytes that left the link over the length of the run"
            = |o, l, _| Some(l.throughput(o.ended_at).bps_f64());
        link p95_backlog: Bytes []
            "95th percentile over time of the bytes that wait or are in transmission, framing included"
            = |_, l, _| Some(l.rate.bytes_in(l.p95_queueing_delay).as_f64());
        series sent_rate: BitRate [SPAN]
            "payload sent from `from` to `to`"
            = |s, p| rate(&s.sent, p.nanos(0), p.nanos(1));
        series received_rate: BitRate [SPAN]
            "payload delivered from `from` to `to`"
            = |s, p| rate(&s.delivered, p.nanos(0), p.nanos(1));
        series peak_sent_rate: BitRate [WINDOW]
            "largest payload sent in any `window` between `from` and `to`"
            = |s, p| peak(&s.sent, p.nanos(0), p.nanos(1), p.nanos(2));
        series peak_received_rate: BitRate [WINDOW]
            "largest payload delivered in any `window` between `from` and `to`"
            = |s, p| peak(&s.delivered, p.nanos(0), p.nanos(1), p.nanos(2));
        series sent_by: Bytes [AT]
            "payload sent by `at`"
            = |s, p| Some(count_at(&s.sent, p.nanos(0)) as f64);
        series received_by: Bytes [AT]
            "payload delivered by `at`"
            = |s, p| Some(count_at(&s.delivered, p.nanos(0)) as f64);
        series cwnd_at: Segments [AT]
            "congestion window at `at`"
            = |s, p| Some(s.sender_at(p.nanos(0))?.cwnd);
        series flight_at: Segments [AT]
            "segments in flight at `at`"
            = |s, p| Some(s.sender_at(p.nanos(0))?.flight);
        series rtt_at: Seconds [AT]
            "last RTT sample at `at`"
            = |s, p| rtt_at(s, p.nanos(0));
        series retransmissions_by: Count [AT]
            "data packets sent again by `at`"
            = |s, p| Some(s.sender_at(p.nanos(0)).map_or(0.0, |x| x.retransmissions as f64));
        series time_to_receive: Seconds [SIZE]
            "when `size` of payload had been delivered"
            = |s, p| time_to_receive(s, p.get(0));
        series time_to_rate: Seconds [RATE]
            "end of the first `window` that begins at `after` or later in which payload was delivered \
             at `rate`"
            = |s, p| time_to_rate(s, p.get(0), p.nanos(1), p.nanos(2));
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
