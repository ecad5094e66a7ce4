//! The columns of the legs of split flows.

use crate::LegOutcome;
use crate::columns::Field;
use crate::rows::Fields;
use crate::value::Kind::{Integer, Number, Text};
use crate::value::{Value, seconds};
use bentpipe_units::Duration;

pub(crate) static LEG: [Field<LegOutcome>; 20] = [
    Field::new("flow", Text, "name of the flow", |o, l| {
        o.flows
            .get(l.flow)
            .map_or(Value::Missing, |f| f.name.as_str().into())
    }),
    Field::new(
        "leg",
        Integer,
        "which leg of it, from its sender on",
        |_, l| (l.leg as u64).into(),
    ),
    Field::new("leg_nodes", Text, "its ends, `A > B`", |_, l| {
        l.nodes.as_str().into()
    }),
    Field::new("transport", Text, "its transport", |_, l| {
        l.transport.as_str().into()
    }),
    Field::new(
        "acknowledged_after_s",
        Number,
        "time from the start to the last byte acknowledged to its sender",
        |_, l| l.acknowledged_after.map(seconds).into(),
    ),
    Field::new(
        "delivered_bytes",
        Integer,
        "payload delivered in order at its end",
        |_, l| l.delivered.into(),
    ),
    Field::new(
        "acknowledged_bytes",
        Integer,
        "payload acknowledged to its sender",
        |_, l| l.acknowledged.into(),
    ),
    Field::new(
        "sent_bytes",
        Integer,
        "payload sent, retransmissions included",
        |_, l| l.sent.into(),
    ),
    Field::new("packets_sent", Integer, "data packets sent", |_, l| {
        l.packets_sent.into()
    }),
    Field::new(
        "retransmissions",
        Integer,
        "data packets sent again",
        |_, l| l.retransmissions.into(),
    ),
    Field::new(
        "spurious_retransmissions",
        Integer,
        "data packets sent again that had arrived already",
        |_, l| l.spurious_retransmissions.into(),
    ),
    Field::new("timeouts", Integer, "retransmission timeouts", |_, l| {
        l.timeouts.into()
    }),
    Field::new(
        "recoveries",
        Integer,
        "times that fast recovery began",
        |_, l| l.recoveries.into(),
    ),
    Field::new(
        "reductions",
        Integer,
        "times that the congestion window was reduced",
        |_, l| l.reductions.into(),
    ),
    Field::new("min_rtt_ns", Integer, "smallest RTT sample", |_, l| {
        l.min_rtt.into()
    }),
    Field::new("mean_rtt_ns", Integer, "mean of the RTT samples", |_, l| {
        l.mean_rtt.into()
    }),
    Field::new(
        "max_cwnd_segments",
        Number,
        "largest congestion window",
        |_, l| l.max_cwnd.into(),
    ),
    Field::new(
        "max_held_bytes",
        Integer,
        "most bytes in the relay before it, those not acknowledged included",
        |_, l| l.max_held.into(),
    ),
    Field::new(
        "mean_held_bytes",
        Integer,
        "the same on the mean over time, from the first byte on",
        |_, l| l.mean_held.into(),
    ),
    Field::new(
        "max_waiting_bytes",
        Integer,
        "most bytes that had arrived and waited for room in that relay",
        |_, l| l.max_waiting.into(),
    ),
];

impl Fields<'_> {
    /// A leg of flow number `flow`.
    pub(crate) fn leg(&self, flow: usize) -> Result<LegOutcome, String> {
        Ok(LegOutcome {
            flow,
            leg: self.count("leg")? as usize,
            nodes: self.text("leg_nodes")?,
            transport: self.text("transport")?,
            acknowledged_after: self
                .maybe_number("acknowledged_after_s")?
                .map(Duration::from_secs_f64),
            delivered: self.bytes("delivered_bytes")?,
            acknowledged: self.bytes("acknowledged_bytes")?,
            sent: self.bytes("sent_bytes")?,
            packets_sent: self.count("packets_sent")?,
            retransmissions: self.count("retransmissions")?,
            spurious_retransmissions: self.count("spurious_retransmissions")?,
            timeouts: self.count("timeouts")?,
            recoveries: self.count("recoveries")?,
            reductions: self.count("reductions")?,
            min_rtt: self.maybe_duration("min_rtt_ns")?,
            mean_rtt: self.maybe_duration("mean_rtt_ns")?,
            max_cwnd: self.number("max_cwnd_segments")?,
            max_held: self.bytes("max_held_bytes")?,
            mean_held: self.bytes("mean_held_bytes")?,
            max_waiting: self.bytes("max_waiting_bytes")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Outcome;
    use crate::model::samples::outcome;
    use bentpipe_units::Bytes;

    #[test]
    fn legs_read_back() {
        let mut written = outcome();
        written.series.clear();
        written.legs = (0..2)
            .map(|leg| LegOutcome {
                flow: 1,
                leg,
                nodes: "server > gateway".into(),
                transport: "hybla".into(),
                acknowledged_after: (leg == 0).then_some(Duration::from_millis(1500)),
                min_rtt: Some(Duration::from_millis(500)),
                max_cwnd: 1.5,
                max_held: Bytes::new(1000),
                ..LegOutcome::default()
            })
            .collect();
        let text = serde_json::to_string(&written).unwrap();
        let read: Outcome = serde_json::from_str(&text).unwrap();
        assert_eq!(read, written);
    }
}
