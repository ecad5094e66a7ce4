//! The table of metrics.

use super::{Metric, Of, Parameter, Source, series};
use crate::unit::{Unit, seconds};
use bentpipe_outcome::{FlowOutcome, LinkOutcome, Outcome};
use bentpipe_units::{Ratio, Time};

const fn flow(
    (name, alias): (&'static str, &'static str),
    unit: Unit,
    of: Of,
    about: &'static str,
    get: fn(&Outcome, &FlowOutcome) -> Option<f64>,
) -> Metric {
    Metric {
        name,
        alias,
        unit,
        about,
        source: Source::Flow(get, of),
    }
}

const fn run(
    name: &'static str,
    unit: Unit,
    about: &'static str,
    get: fn(&Outcome) -> Option<f64>,
) -> Metric {
    Metric {
        name,
        alias: "",
        unit,
        about,
        source: Source::Run(get),
    }
}

const fn link(
    (name, alias): (&'static str, &'static str),
    unit: Unit,
    of: Option<Of>,
    about: &'static str,
    get: fn(&Outcome, &LinkOutcome) -> f64,
) -> Metric {
    Metric {
        name,
        alias,
        unit,
        about,
        source: Source::Link(get, of),
    }
}

const fn time_series(
    name: &'static str,
    unit: Unit,
    parameters: &'static [Parameter],
    about: &'static str,
    get: series::Measure,
) -> Metric {
    Metric {
        name,
        alias: "",
        unit,
        about,
        source: Source::Series(get, parameters, Of::Mean),
    }
}

const fn seconds_at(name: &'static str, default: Option<f64>) -> Parameter {
    Parameter {
        name,
        unit: Unit::Seconds,
        default,
    }
}

const AT: &[Parameter] = &[seconds_at("at", None)];
const SPAN: &[Parameter] = &[seconds_at("from", Some(0.0)), seconds_at("to", None)];
const WINDOW: &[Parameter] = &[
    seconds_at("window", Some(1.0)),
    seconds_at("from", Some(0.0)),
    seconds_at("to", Some(f64::INFINITY)),
];
const RATE: &[Parameter] = &[
    Parameter {
        name: "rate",
        unit: Unit::BitRate,
        default: None,
    },
    seconds_at("window", Some(1.0)),
];
const SIZE: &[Parameter] = &[Parameter {
    name: "size",
    unit: Unit::Bytes,
    default: None,
}];

fn since_start(at: Option<Time>, f: &FlowOutcome) -> Option<f64> {
    Some(seconds(at?.since(f.started_at)))
}

/// Every metric, in the order in which documentation lists them.
pub static METRICS: &[Metric] = &[
    flow(
        ("transfer_time", "time"),
        Unit::Seconds,
        Of::Mean,
        "from the start to the last acknowledgement",
        |_, f| f.transfer_time.map(seconds),
    ),
    flow(
        ("goodput", "connection_throughput"),
        Unit::BitRate,
        Of::Mean,
        "payload delivered over the transfer time, mean over the flows",
        |o, f| Some(o.goodput(f).bps_f64()),
    ),
    flow(
        ("throughput", ""),
        Unit::BitRate,
        Of::Mean,
        "payload sent over the transfer time, retransmissions included, mean over the flows",
        |o, f| Some(f.throughput(o.ended_at).bps_f64()),
    ),
    flow(
        ("share", ""),
        Unit::Ratio,
        Of::Sum,
        "share of the goodput of all flows",
        |o, f| o.goodput_share(f).map(Ratio::get),
    ),
    flow(
        ("delivered", ""),
        Unit::Bytes,
        Of::Sum,
        "payload delivered in order",
        |_, f| Some(f.delivered.as_f64()),
    ),
    flow(
        ("completion", ""),
        Unit::Ratio,
        Of::Mean,
        "share of the payload offered that was delivered",
        |_, f| f.completion().map(Ratio::get),
    ),
    flow(
        ("first_delivery", ""),
        Unit::Seconds,
        Of::Mean,
        "from the start to the first payload delivered",
        |_, f| since_start(f.first_delivery_at, f),
    ),
    flow(
        ("last_delivery", ""),
        Unit::Seconds,
        Of::Mean,
        "from the start to the last payload delivered",
        |_, f| since_start(f.last_delivery_at, f),
    ),
    flow(
        ("packets_sent", ""),
        Unit::Count,
        Of::Sum,
        "data packets sent",
        |_, f| Some(f.packets_sent as f64),
    ),
    flow(
        ("retransmissions", ""),
        Unit::Count,
        Of::Sum,
        "data packets sent again",
        |_, f| Some(f.retransmissions as f64),
    ),
    flow(
        ("spurious_retransmissions", ""),
        Unit::Count,
        Of::Sum,
        "data packets sent again that had arrived already",
        |_, f| Some(f.spurious_retransmissions as f64),
    ),
    flow(
        ("retransmission_share", ""),
        Unit::Ratio,
        Of::Mean,
        "share of the data packets sent that were sent again",
        |_, f| Some(f.retransmission_share().get()),
    ),
    flow(
        ("timeouts", ""),
        Unit::Count,
        Of::Sum,
        "retransmission timeouts",
        |_, f| Some(f.timeouts as f64),
    ),
    flow(
        ("recoveries", ""),
        Unit::Count,
        Of::Sum,
        "times that fast recovery began",
        |_, f| Some(f.recoveries as f64),
    ),
    flow(
        ("acks_received", ""),
        Unit::Count,
        Of::Sum,
        "acknowledgements received by the sender",
        |_, f| Some(f.acks_received as f64),
    ),
    flow(
        ("drops", "queue_drops"),
        Unit::Count,
        Of::Sum,
        "packets of the flow that full queues dropped, both directions",
        |_, f| Some(f.queue_drops as f64),
    ),
    flow(
        ("channel_losses", ""),
        Unit::Count,
        Of::Sum,
        "packets of the flow that channels lost, both directions",
        |_, f| Some(f.channel_losses as f64),
    ),
    flow(
        ("min_rtt", ""),
        Unit::Seconds,
        Of::Mean,
        "smallest RTT sample",
        |_, f| f.min_rtt.map(seconds),
    ),
    flow(
        ("mean_rtt", ""),
        Unit::Seconds,
        Of::Mean,
        "mean of the RTT samples",
        |_, f| f.mean_rtt.map(seconds),
    ),
    flow(
        ("rtt_inflation", ""),
        Unit::Seconds,
        Of::Mean,
        "how far the mean RTT lies above the smallest",
        |_, f| f.rtt_inflation().map(seconds),
    ),
    flow(
        ("max_cwnd", ""),
        Unit::Segments,
        Of::Max,
        "largest congestion window",
        |_, f| Some(f.max_cwnd),
    ),
    run(
        "total_goodput",
        Unit::BitRate,
        "goodputs of all flows added up",
        |o| Some(o.total_goodput().bps_f64()),
    ),
    run(
        "jain",
        Unit::Ratio,
        "Jain's index over the goodputs of all flows",
        Outcome::jain_index,
    ),
    run(
        "longest_transfer_time",
        Unit::Seconds,
        "transfer time of the slowest flow",
        |o| o.longest_transfer_time().map(seconds),
    ),
    run(
        "unfinished",
        Unit::Count,
        "flows that did not finish",
        |o| Some(o.flows.iter().filter(|f| !f.is_finished()).count() as f64),
    ),
    run("ended_at", Unit::Seconds, "when the run ended", |o| {
        Some(seconds(o.ended_at.since(Time::ZERO)))
    }),
    run("events", Unit::Count, "events executed", |o| {
        Some(o.events as f64)
    }),
    run(
        "packet_hops",
        Unit::Count,
        "packets that finished crossing a link",
        |o| Some(o.packet_hops as f64),
    ),
    link(
        ("link_drops", ""),
        Unit::Count,
        Some(Of::Sum),
        "packets that the queue dropped",
        |_, l| l.queue_drops as f64,
    ),
    link(
        ("link_losses", ""),
        Unit::Count,
        Some(Of::Sum),
        "packets that the channel lost",
        |_, l| l.channel_losses as f64,
    ),
    link(
        ("drop_share", ""),
        Unit::Ratio,
        None,
        "share of the packets offered that the queue dropped",
        |_, l| l.queue_drop_share().get(),
    ),
    link(
        ("loss_share", ""),
        Unit::Ratio,
        None,
        "share of the packets transmitted that the channel lost",
        |_, l| l.channel_loss_share().get(),
    ),
    link(
        ("link_throughput", ""),
        Unit::BitRate,
        None,
        "bytes that left the link over the length of the run",
        |o, l| l.throughput(o.ended_at).bps_f64(),
    ),
    link(
        ("utilisation", ""),
        Unit::Ratio,
        None,
        "share of the time that the transmitter was busy",
        |_, l| l.utilisation,
    ),
    link(
        ("max_queue", ""),
        Unit::Count,
        Some(Of::Max),
        "most packets that waited at once",
        |_, l| l.max_queue_packets as f64,
    ),
    link(
        ("max_queue_bytes", ""),
        Unit::Bytes,
        Some(Of::Max),
        "most bytes that waited at once",
        |_, l| l.max_queue_bytes.as_f64(),
    ),
    link(
        ("mean_queueing_delay", ""),
        Unit::Seconds,
        None,
        "mean waiting time of packets in the queue",
        |_, l| seconds(l.mean_queueing_delay),
    ),
    link(
        ("p95_queueing_delay", ""),
        Unit::Seconds,
        None,
        "95th percentile of the waiting time that a packet at a random instant would meet",
        |_, l| seconds(l.p95_queueing_delay),
    ),
    time_series(
        "sent_rate",
        Unit::BitRate,
        SPAN,
        "payload sent from `from` to `to`",
        series::sent_rate,
    ),
    time_series(
        "received_rate",
        Unit::BitRate,
        SPAN,
        "payload delivered from `from` to `to`",
        series::received_rate,
    ),
    time_series(
        "peak_sent_rate",
        Unit::BitRate,
        WINDOW,
        "largest payload sent in any `window` between `from` and `to`",
        series::peak_sent_rate,
    ),
    time_series(
        "peak_received_rate",
        Unit::BitRate,
        WINDOW,
        "largest payload delivered in any `window` between `from` and `to`",
        series::peak_received_rate,
    ),
    time_series(
        "sent_by",
        Unit::Bytes,
        AT,
        "payload sent by `at`",
        series::sent_by,
    ),
    time_series(
        "received_by",
        Unit::Bytes,
        AT,
        "payload delivered by `at`",
        series::received_by,
    ),
    time_series(
        "cwnd_at",
        Unit::Segments,
        AT,
        "congestion window at `at`",
        series::cwnd_at,
    ),
    time_series(
        "flight_at",
        Unit::Segments,
        AT,
        "segments in flight at `at`",
        series::flight_at,
    ),
    time_series(
        "rtt_at",
        Unit::Seconds,
        AT,
        "last RTT sample at `at`",
        series::rtt_at,
    ),
    time_series(
        "retransmissions_by",
        Unit::Count,
        AT,
        "data packets sent again by `at`",
        series::retransmissions_by,
    ),
    time_series(
        "time_to_receive",
        Unit::Seconds,
        SIZE,
        "when `size` of payload had been delivered",
        series::time_to_receive,
    ),
    time_series(
        "time_to_rate",
        Unit::Seconds,
        RATE,
        "end of the first `window` in which payload was delivered at `rate`",
        series::time_to_rate,
    ),
];

/// The metric of that name or alias.
#[must_use]
pub fn metric(name: &str) -> Option<&'static Metric> {
    METRICS
        .iter()
        .find(|m| m.name == name || (!m.alias.is_empty() && m.alias == name))
}
