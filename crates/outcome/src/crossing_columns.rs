//! The columns of what flows do to links, and of marks.

use crate::columns::Field;
use crate::value::Kind::{Integer, Number, Text};
use crate::value::Value;
use crate::{FlowCounts, FlowLinkCounts, FlowLinkStats};

pub(crate) static CROSSING: [Field<FlowLinkStats>; 10] = [
    Field::new("flow", Text, "name of the flow", |o, c| {
        o.flows
            .get(c.flow)
            .map_or(Value::Missing, |f| f.name.as_str().into())
    }),
    Field::new("link", Text, "name of the link", |o, c| {
        o.links
            .get(c.link)
            .map_or(Value::Missing, |l| l.name.as_str().into())
    }),
    Field::new(
        "offered_packets",
        Integer,
        "its packets that were handed to the link",
        |_, c| c.counts.offered_packets.into(),
    ),
    Field::new(
        "transmitted_bytes",
        Integer,
        "bytes of those that were transmitted, headers and framing included",
        |_, c| c.counts.transmitted.into(),
    ),
    Field::new(
        "delivered_packets",
        Integer,
        "those that left the link at the far end",
        |_, c| c.counts.delivered_packets.into(),
    ),
    Field::new(
        "delivered_bytes",
        Integer,
        "bytes of those that left it, framing not counted",
        |_, c| c.counts.delivered.into(),
    ),
    Field::new(
        "queue_drops",
        Integer,
        "those that the queue dropped",
        |_, c| c.counts.queue_drops.into(),
    ),
    Field::new(
        "channel_losses",
        Integer,
        "those that the channel lost",
        |_, c| c.counts.channel_losses.into(),
    ),
    Field::new(
        "outage_losses",
        Integer,
        "those that were lost because the link was down or their route ended",
        |_, c| c.counts.outage_losses.into(),
    ),
    Field::new(
        "wire_share",
        Number,
        "transmitted_bytes over what the link could carry during the run",
        |o, c| o.whole().wire_share(&c.counts, c.link).into(),
    ),
];

/// A flow at a mark.
pub(crate) static FLOW_MARK: [Field<FlowCounts>; 10] = [
    Field::new("delivered_bytes", Integer, "", |_, f| f.delivered.into()),
    Field::new("sent_bytes", Integer, "", |_, f| f.sent.into()),
    Field::new("packets_sent", Integer, "", |_, f| f.packets_sent.into()),
    Field::new("retransmissions", Integer, "", |_, f| {
        f.retransmissions.into()
    }),
    Field::new("timeouts", Integer, "", |_, f| f.timeouts.into()),
    Field::new("reductions", Integer, "", |_, f| f.reductions.into()),
    Field::new("queue_drops", Integer, "", |_, f| f.queue_drops.into()),
    Field::new("channel_losses", Integer, "", |_, f| {
        f.channel_losses.into()
    }),
    Field::new("outage_losses", Integer, "", |_, f| f.outage_losses.into()),
    Field::new("no_route_losses", Integer, "", |_, f| {
        f.no_route_losses.into()
    }),
];

/// A crossing at a mark.
pub(crate) static CROSSING_MARK: [Field<FlowLinkCounts>; 7] = [
    Field::new("offered_packets", Integer, "", |_, c| {
        c.offered_packets.into()
    }),
    Field::new("transmitted_bytes", Integer, "", |_, c| {
        c.transmitted.into()
    }),
    Field::new("delivered_packets", Integer, "", |_, c| {
        c.delivered_packets.into()
    }),
    Field::new("delivered_bytes", Integer, "", |_, c| c.delivered.into()),
    Field::new("queue_drops", Integer, "", |_, c| c.queue_drops.into()),
    Field::new("channel_losses", Integer, "", |_, c| {
        c.channel_losses.into()
    }),
    Field::new("outage_losses", Integer, "", |_, c| c.outage_losses.into()),
];
