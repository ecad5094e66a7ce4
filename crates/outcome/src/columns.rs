//! The columns of the tables: one definition for CSV, Parquet and JSON. Those
//! of crossings are in `crossing_columns.rs`.

use crate::crossing_columns::CROSSING;
use crate::leg_columns::LEG;
use crate::metrics::share_of_total;
use crate::middlebox_columns::MIDDLEBOX;
use crate::value::{Kind, Value, seconds};
use crate::{FlowOutcome, LinkOutcome, Outcome, SenderSample};
use bentpipe_units::{Bytes, Rate, Time};
use std::ops::Deref;

/// One of the tables of results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableKind {
    /// One row per run and flow.
    Runs,
    /// One row per run and link.
    Links,
    /// One row per run, flow and link on the flow's way.
    Crossings,
    /// One row per run and middlebox.
    Middleboxes,
    /// One row per run and leg of a split flow.
    Legs,
    /// One row per sample of a time series.
    Series,
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name, with the unit.
    pub name: String,
    /// What its cells hold.
    pub kind: Kind,
    /// What it says, in one line.
    pub about: String,
}

/// The columns of a table, in order, without a study's axes.
#[must_use]
pub fn columns(table: TableKind) -> Vec<Column> {
    match table {
        TableKind::Runs => described(&RUN).chain(described(&FLOW)).collect(),
        TableKind::Links => described(&RUN).chain(described(&LINK)).collect(),
        TableKind::Crossings => described(&RUN).chain(described(&CROSSING)).collect(),
        TableKind::Middleboxes => described(&RUN).chain(described(&MIDDLEBOX)).collect(),
        TableKind::Legs => described(&RUN).chain(described(&LEG)).collect(),
        TableKind::Series => described(&RUN[..2])
            .chain([FLOW_NAME.column()])
            .chain(described(&SAMPLE))
            .collect(),
    }
}

/// An outcome with what all its rows share, so that a run of many flows takes
/// no time that grows with their square.
pub(crate) struct Run<'a> {
    outcome: &'a Outcome,
    total_goodput: Rate,
    jain_index: Option<f64>,
}

impl Run<'_> {
    pub(crate) fn of(outcome: &Outcome) -> Run<'_> {
        Run {
            outcome,
            total_goodput: outcome.total_goodput(),
            jain_index: outcome.jain_index(),
        }
    }
}

impl Deref for Run<'_> {
    type Target = Outcome;
    fn deref(&self) -> &Outcome {
        self.outcome
    }
}

/// How a column is filled from a run and one part of it.
pub(crate) struct Field<T: 'static> {
    pub(crate) name: &'static str,
    kind: Kind,
    about: &'static str,
    get: fn(&Run<'_>, &T) -> Value,
}

impl<T> Field<T> {
    pub(crate) const fn new(
        name: &'static str,
        kind: Kind,
        about: &'static str,
        get: fn(&Run<'_>, &T) -> Value,
    ) -> Field<T> {
        Field {
            name,
            kind,
            about,
            get,
        }
    }

    fn column(&self) -> Column {
        Column {
            name: self.name.to_owned(),
            kind: self.kind,
            about: self.about.to_owned(),
        }
    }

    pub(crate) fn get(&self, run: &Run<'_>, part: &T) -> Value {
        (self.get)(run, part)
    }
}

fn described<T>(fields: &'static [Field<T>]) -> impl Iterator<Item = Column> {
    fields.iter().map(Field::column)
}

/// One sample of a time series.
pub(crate) struct SampleRow {
    pub(crate) at: Time,
    pub(crate) sample: Sample,
}

/// What a sample says.
pub(crate) enum Sample {
    Sender(SenderSample),
    Delivered(Bytes),
    Sent(Bytes),
    /// Bytes in a relay.
    Held(Bytes),
}

use Kind::{Integer, Number, Text};

/// What every row says of its run; the first two stand in every table.
pub(crate) static RUN: [Field<()>; 6] = [
    Field::new("scenario", Text, "name of the scenario", |o, _| {
        o.scenario.as_str().into()
    }),
    Field::new("seed", Integer, "seed of the run", |o, _| o.seed.into()),
    Field::new("ended_at_ns", Integer, "when the run ended", |o, _| {
        o.ended_at.into()
    }),
    Field::new("events", Integer, "events executed", |o, _| o.events.into()),
    Field::new(
        "packet_hops",
        Integer,
        "packets that finished crossing a link",
        |o, _| o.packet_hops.into(),
    ),
    Field::new(
        "jain_index",
        Number,
        "Jain's index over the goodputs of the run's flows",
        |o, _| o.jain_index.into(),
    ),
];

static FLOW_NAME: Field<FlowOutcome> = Field::new("flow", Text, "name of the flow", |_, f| {
    f.name.as_str().into()
});

pub(crate) static FLOW: [Field<FlowOutcome>; 33] = [
    Field::new("flow", Text, "name of the flow", |_, f| {
        f.name.as_str().into()
    }),
    Field::new(
        "transport",
        Text,
        "its transport; udp for datagrams",
        |_, f| f.transport.as_str().into(),
    ),
    Field::new("started_at_ns", Integer, "when it started", |_, f| {
        f.started_at.into()
    }),
    Field::new(
        "transfer_time_s",
        Number,
        "from the start to the last acknowledgement; empty if it did not finish",
        |_, f| f.transfer_time.map(seconds).into(),
    ),
    Field::new(
        "goodput_bps",
        Integer,
        "payload delivered over the transfer time, or over start to end of the run",
        |o, f| o.goodput(f).into(),
    ),
    Field::new(
        "throughput_bps",
        Integer,
        "payload sent over the same time, retransmissions included",
        |o, f| f.throughput(o.ended_at).into(),
    ),
    Field::new(
        "goodput_share",
        Number,
        "its share of the run's goodput",
        |o, f| share_of_total(o.goodput(f), o.total_goodput).into(),
    ),
    Field::new(
        "offered_bytes",
        Integer,
        "payload to send; empty without end",
        |_, f| f.offered.into(),
    ),
    Field::new(
        "delivered_bytes",
        Integer,
        "payload delivered in order",
        |_, f| f.delivered.into(),
    ),
    Field::new(
        "acknowledged_bytes",
        Integer,
        "payload acknowledged to the sender",
        |_, f| f.acknowledged.into(),
    ),
    Field::new(
        "first_delivery_at_ns",
        Integer,
        "when the first payload was delivered",
        |_, f| f.first_delivery_at.into(),
    ),
    Field::new(
        "last_delivery_at_ns",
        Integer,
        "when the last payload was delivered",
        |_, f| f.last_delivery_at.into(),
    ),
    Field::new(
        "sent_bytes",
        Integer,
        "payload sent, retransmissions included",
        |_, f| f.sent.into(),
    ),
    Field::new(
        "packets_sent",
        Integer,
        "data packets sent, retransmissions included",
        |_, f| f.packets_sent.into(),
    ),
    Field::new(
        "retransmissions",
        Integer,
        "data packets sent again",
        |_, f| f.retransmissions.into(),
    ),
    Field::new(
        "spurious_retransmissions",
        Integer,
        "data packets sent again that had arrived already",
        |_, f| f.spurious_retransmissions.into(),
    ),
    Field::new(
        "retransmission_share",
        Number,
        "retransmissions / packets_sent",
        |_, f| f.retransmission_share().into(),
    ),
    Field::new(
        "probes_sent",
        Integer,
        "low-priority probes sent, not among the data packets",
        |_, f| f.probes_sent.into(),
    ),
    Field::new("timeouts", Integer, "retransmission timeouts", |_, f| {
        f.timeouts.into()
    }),
    Field::new(
        "recoveries",
        Integer,
        "times that fast recovery began",
        |_, f| f.recoveries.into(),
    ),
    Field::new(
        "reductions",
        Integer,
        "times that a loss, an ECN echo or a timeout reduced the congestion window",
        |_, f| f.reductions.into(),
    ),
    Field::new(
        "acks_received",
        Integer,
        "acknowledgements received by the sender",
        |_, f| f.acks_received.into(),
    ),
    Field::new(
        "queue_drops",
        Integer,
        "its packets dropped by full queues, both ways",
        |_, f| f.queue_drops.into(),
    ),
    Field::new(
        "channel_losses",
        Integer,
        "its packets lost by channels, both ways",
        |_, f| f.channel_losses.into(),
    ),
    Field::new(
        "outage_losses",
        Integer,
        "its packets lost because a link was down or their route ended, both ways",
        |_, f| f.outage_losses.into(),
    ),
    Field::new(
        "no_route_losses",
        Integer,
        "its packets sent while there was no route, both ways",
        |_, f| f.no_route_losses.into(),
    ),
    Field::new(
        "pages",
        Integer,
        "pages that a reader got in whole",
        |_, f| f.pages.map_or(Value::Missing, |p| p.completed.into()),
    ),
    Field::new(
        "mean_page_time_ns",
        Integer,
        "mean time from the request for a page to its last byte",
        |_, f| f.pages.and_then(|p| p.mean_time).into(),
    ),
    Field::new(
        "p95_page_time_ns",
        Integer,
        "the time that 95% of the pages did not exceed",
        |_, f| f.pages.and_then(|p| p.p95_time).into(),
    ),
    Field::new("min_rtt_ns", Integer, "smallest RTT sample", |_, f| {
        f.min_rtt.into()
    }),
    Field::new("mean_rtt_ns", Integer, "mean of the RTT samples", |_, f| {
        f.mean_rtt.into()
    }),
    Field::new(
        "max_cwnd_segments",
        Number,
        "largest congestion window",
        |_, f| f.max_cwnd.into(),
    ),
    Field::new(
        "completion",
        Number,
        "delivered / offered payload; empty without end",
        |_, f| f.completion().into(),
    ),
];

pub(crate) static LINK: [Field<LinkOutcome>; 21] = [
    Field::new("link", Text, "name of the link", |_, l| {
        l.name.as_str().into()
    }),
    Field::new("rate_bps", Integer, "its rate", |_, l| l.rate.into()),
    Field::new(
        "offered_packets",
        Integer,
        "packets handed to it",
        |_, l| l.offered_packets.into(),
    ),
    Field::new(
        "delivered_packets",
        Integer,
        "packets that left it at the far end",
        |_, l| l.delivered_packets.into(),
    ),
    Field::new(
        "delivered_bytes",
        Integer,
        "bytes that left it, framing not counted",
        |_, l| l.delivered_bytes.into(),
    ),
    Field::new(
        "throughput_bps",
        Integer,
        "delivered_bytes over the length of the run",
        |o, l| l.throughput(o.ended_at).into(),
    ),
    Field::new(
        "queue_drops",
        Integer,
        "packets that its queue dropped, early and forced",
        |_, l| l.queue_drops.into(),
    ),
    Field::new(
        "early_drops",
        Integer,
        "those that it dropped early, to signal congestion",
        |_, l| l.early_drops.into(),
    ),
    Field::new(
        "marks",
        Integer,
        "packets that its queue marked (ECN)",
        |_, l| l.marks.into(),
    ),
    Field::new(
        "channel_losses",
        Integer,
        "packets that its channel lost",
        |_, l| l.channel_losses.into(),
    ),
    Field::new(
        "outage_losses",
        Integer,
        "packets that were lost because it was down or its route ended",
        |_, l| l.outage_losses.into(),
    ),
    Field::new(
        "collisions",
        Integer,
        "transmissions that met another one on the medium that it shares, and requests for slots that did",
        |_, l| l.collisions.into(),
    ),
    Field::new(
        "requests",
        Integer,
        "requests for slots of the medium that it shares",
        |_, l| l.requests.into(),
    ),
    Field::new(
        "free_slots",
        Integer,
        "slots of the medium that it used and had not asked for",
        |_, l| l.free_slots.into(),
    ),
    Field::new(
        "demand_slots",
        Integer,
        "slots of the medium that it was given on request",
        |_, l| l.demand_slots.into(),
    ),
    Field::new(
        "utilisation",
        Number,
        "share of the run that its transmitter was busy",
        |_, l| l.utilisation.into(),
    ),
    Field::new(
        "mean_queue_packets",
        Number,
        "packets that waited, mean over time",
        |_, l| l.mean_queue_packets.into(),
    ),
    Field::new(
        "max_queue_packets",
        Integer,
        "most packets that waited at once",
        |_, l| l.max_queue_packets.into(),
    ),
    Field::new(
        "max_queue_bytes",
        Integer,
        "most bytes that waited at once",
        |_, l| l.max_queue_bytes.into(),
    ),
    Field::new(
        "mean_queueing_delay_ns",
        Integer,
        "mean waiting time of packets",
        |_, l| l.mean_queueing_delay.into(),
    ),
    Field::new(
        "p95_queueing_delay_ns",
        Integer,
        "95th percentile over time of the waiting time that an arrival would meet",
        |_, l| l.p95_queueing_delay.into(),
    ),
];

/// What the samples of one kind hold stays empty in those of another.
fn sender(row: &SampleRow, get: impl FnOnce(&SenderSample) -> Value) -> Value {
    match &row.sample {
        Sample::Sender(s) => get(s),
        Sample::Delivered(_) | Sample::Sent(_) | Sample::Held(_) => Value::Missing,
    }
}

pub(crate) static SAMPLE: [Field<SampleRow>; 12] = [
    Field::new(
        "sample",
        Text,
        "what was sampled: sender, delivered, sent or held",
        |_, r| {
            let name = match r.sample {
                Sample::Sender(_) => "sender",
                Sample::Delivered(_) => "delivered",
                Sample::Sent(_) => "sent",
                Sample::Held(_) => "held",
            };
            name.into()
        },
    ),
    Field::new("at_ns", Integer, "when", |_, r| r.at.into()),
    Field::new("cwnd_segments", Number, "congestion window", |_, r| {
        sender(r, |s| s.cwnd.into())
    }),
    Field::new(
        "ssthresh_segments",
        Number,
        "slow start threshold; inf until set",
        |_, r| sender(r, |s| s.ssthresh.into()),
    ),
    Field::new("flight_segments", Number, "segments in flight", |_, r| {
        sender(r, |s| s.flight.into())
    }),
    Field::new(
        "rtt_ns",
        Integer,
        "last RTT sample; empty before one",
        |_, r| sender(r, |s| (!s.rtt.is_zero()).then_some(s.rtt).into()),
    ),
    Field::new(
        "retransmissions",
        Integer,
        "retransmissions so far",
        |_, r| sender(r, |s| s.retransmissions.into()),
    ),
    Field::new(
        "spurious_retransmissions",
        Integer,
        "spurious retransmissions so far",
        |_, r| sender(r, |s| s.spurious_retransmissions.into()),
    ),
    Field::new(
        "phase",
        Text,
        "phase of the congestion control, by the names of qlog",
        |_, r| sender(r, |s| s.phase.into()),
    ),
    Field::new(
        "delivered_bytes",
        Integer,
        "payload delivered in order so far",
        |_, r| {
            if let Sample::Delivered(n) = r.sample {
                n.into()
            } else {
                Value::Missing
            }
        },
    ),
    Field::new(
        "sent_bytes",
        Integer,
        "payload sent so far, retransmissions included",
        |_, r| {
            if let Sample::Sent(n) = r.sample {
                n.into()
            } else {
                Value::Missing
            }
        },
    ),
    Field::new(
        "held_bytes",
        Integer,
        "bytes in the relay of a PEP, those not acknowledged included",
        |_, r| {
            if let Sample::Held(n) = r.sample {
                n.into()
            } else {
                Value::Missing
            }
        },
    ),
];

/// What the cells of a column of any table hold; `None` for a study's axes.
pub(crate) fn kind_of(name: &str) -> Option<Kind> {
    fn find<T>(fields: &[Field<T>], name: &str) -> Option<Kind> {
        fields.iter().find(|f| f.name == name).map(|f| f.kind)
    }
    find(&RUN, name)
        .or_else(|| find(&FLOW, name))
        .or_else(|| find(&LINK, name))
        .or_else(|| find(&CROSSING, name))
        .or_else(|| find(&MIDDLEBOX, name))
        .or_else(|| find(&LEG, name))
        .or_else(|| find(&SAMPLE, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_means_one_kind_in_every_table_and_occurs_once_in_each() {
        use TableKind::{Crossings, Legs, Links, Middleboxes, Runs, Series};
        for table in [Runs, Links, Crossings, Middleboxes, Legs, Series] {
            let columns = columns(table);
            for (i, c) in columns.iter().enumerate() {
                assert_eq!(kind_of(&c.name), Some(c.kind), "{}", c.name);
                assert!(
                    columns[..i].iter().all(|d| d.name != c.name),
                    "{} twice",
                    c.name
                );
            }
        }
    }
}
