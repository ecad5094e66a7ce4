//! The table of metrics.
//!
//! An entry reads `source name / alias: Unit [how several are taken together,
//! what it takes] "what it says" = how it is computed;`.

use super::{AtLink, Metric, Of, Parameter, Source, Takes, series};
use crate::unit::{Unit, seconds};
use bentpipe_outcome::{FlowOutcome, Outcome};
use bentpipe_units::{Duration, Ratio, Time};

macro_rules! metrics {
    ($($source:ident $name:ident $(/ $alias:ident)?: $unit:ident [$($takes:tt)*] $about:literal
        = $get:expr;)*) => {
        &[$(Metric {
            name: stringify!($name),
            alias: concat!($(stringify!($alias))?),
            unit: Unit::$unit,
            about: $about,
            source: source!($source [$($takes)*] $get),
        }),*]
    };
}

macro_rules! source {
    (flow [$of:ident $($takes:ident)*] $get:expr) => {
        Source::Flow($get, Of::$of, FLOW$(.$takes())*)
    };
    (run [] $get:expr) => { Source::Run($get) };
    (link [$of:ident] $get:expr) => { Source::Link($get, Some(Of::$of)) };
    (link [] $get:expr) => { Source::Link($get, None) };
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

    const fn link(self) -> Takes {
        Takes {
            link: AtLink::May,
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
pub static METRICS: &[Metric] = metrics! {
    flow transfer_time / time: Seconds [Mean]
        "from the start to the last acknowledgement"
        = |c| or_none(c.flow().transfer_time);
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
    flow delivered: Bytes [Sum interval]
        "payload delivered in order"
        = |c| Some(c.counts().delivered.as_f64());
    flow completion: Ratio [Mean]
        "share of the payload offered that was delivered"
        = |c| c.flow().completion().map(Ratio::get);
    flow first_delivery: Seconds [Mean]
        "from the start to the first payload delivered"
        = |c| since_start(c.flow().first_delivery_at, c.flow());
    flow last_delivery: Seconds [Mean]
        "from the start to the last payload delivered"
        = |c| since_start(c.flow().last_delivery_at, c.flow());
    flow packets_sent: Count [Sum interval]
        "data packets sent"
        = |c| Some(c.counts().packets_sent as f64);
    flow retransmissions: Count [Sum interval]
        "data packets sent again"
        = |c| Some(c.counts().retransmissions as f64);
    flow spurious_retransmissions: Count [Sum]
        "data packets sent again that had arrived already"
        = |c| Some(c.flow().spurious_retransmissions as f64);
    flow retransmission_share: Ratio [Mean interval]
        "share of the data packets sent that were sent again"
        = |c| Some(c.retransmission_share());
    flow probes_sent: Count [Sum]
        "low-priority probes sent, not among the data packets"
        = |c| Some(c.flow().probes_sent as f64);
    flow timeouts: Count [Sum interval]
        "retransmission timeouts"
        = |c| Some(c.counts().timeouts as f64);
    flow pages: Count [Sum]
        "pages that readers got in whole"
        = |c| c.flow().pages.map(|p| p.completed as f64);
    flow page_time: Seconds [Mean]
        "mean time from the request for a page to its last byte"
        = |c| c.flow().pages?.mean_time.map(Duration::as_secs);
    flow p95_page_time: Seconds [Mean]
        "the time that 95% of a reader's pages did not exceed"
        = |c| c.flow().pages?.p95_time.map(Duration::as_secs);
    flow recoveries: Count [Sum]
        "times that fast recovery began"
        = |c| Some(c.flow().recoveries as f64);
    flow reductions: Count [Sum interval]
        "times that a loss, an ECN echo or a timeout reduced the congestion window"
        = |c| Some(c.counts().reductions as f64);
    flow congestion_epoch: Seconds [Mean interval]
        "mean time between reductions of the window: the time that goodput is taken over, by \
         their number"
        = |c| Some(c.congestion_epoch());
    flow acks_received: Count [Sum]
        "acknowledgements received by the sender"
        = |c| Some(c.flow().acks_received as f64);
    flow drops / queue_drops: Count [Sum link interval]
        "packets of the flow that full queues dropped, both directions, or that the link's did"
        = |c| Some(c.queue_drops());
    flow channel_losses: Count [Sum link interval]
        "packets of the flow that channels lost, both directions, or that the link's did"
        = |c| Some(c.channel_losses());
    flow outage_losses: Count [Sum link interval]
        "packets of the flow that were lost because a link was down or their route ended, both \
         directions, or on the link"
        = |c| Some(c.outage_losses());
    flow no_route_losses: Count [Sum interval]
        "packets of the flow that were sent while there was no route, both directions"
        = |c| Some(c.counts().no_route_losses as f64);
    flow min_rtt: Seconds [Mean]
        "smallest RTT sample"
        = |c| or_none(c.flow().min_rtt);
    flow mean_rtt: Seconds [Mean]
        "mean of the RTT samples"
        = |c| or_none(c.flow().mean_rtt);
    flow rtt_inflation: Seconds [Mean]
        "how far the mean RTT lies above the smallest"
        = |c| or_none(c.flow().rtt_inflation());
    flow max_cwnd: Segments [Max]
        "largest congestion window"
        = |c| Some(c.flow().max_cwnd);
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
    link link_rate: BitRate []
        "rate of the link"
        = |_, l| l.rate.bps_f64();
    link link_drops: Count [Sum]
        "packets that the queue dropped"
        = |_, l| l.queue_drops as f64;
    link link_losses: Count [Sum]
        "packets that the channel lost"
        = |_, l| l.channel_losses as f64;
    link link_outage_losses: Count [Sum]
        "packets that were lost because the link was down or its route ended"
        = |_, l| l.outage_losses as f64;
    link collisions: Count [Sum]
        "transmissions of the link that met others on its medium, and requests that did"
        = |_, l| l.collisions as f64;
    link requests: Count [Sum]
        "requests of the link for slots of its medium"
        = |_, l| l.requests as f64;
    link free_slots: Count [Sum]
        "slots of its medium that the link used and had not asked for"
        = |_, l| l.free_slots as f64;
    link demand_slots: Count [Sum]
        "slots of its medium that the link was given on request"
        = |_, l| l.demand_slots as f64;
    link drop_share: Ratio []
        "share of the packets offered that the queue dropped"
        = |_, l| l.queue_drop_share().get();
    link loss_share: Ratio []
        "share of the packets transmitted that the channel lost"
        = |_, l| l.channel_loss_share().get();
    link link_throughput: BitRate []
        "bytes that left the link over the length of the run"
        = |o, l| l.throughput(o.ended_at).bps_f64();
    link utilisation: Ratio []
        "share of the time that the transmitter was busy"
        = |_, l| l.utilisation;
    link max_queue: Count [Max]
        "most packets that waited at once"
        = |_, l| l.max_queue_packets as f64;
    link max_queue_bytes: Bytes [Max]
        "most bytes that waited at once"
        = |_, l| l.max_queue_bytes.as_f64();
    link mean_queueing_delay: Seconds [Mean]
        "mean waiting time of packets in the queue, and for a medium"
        = |_, l| seconds(l.mean_queueing_delay);
    link p95_queueing_delay: Seconds []
        "95th percentile of the waiting time that a packet at a random instant would meet"
        = |_, l| seconds(l.p95_queueing_delay);
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
};

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
