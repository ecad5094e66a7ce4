//! Rows read back as the model.

use crate::value::Value;
use crate::{FlowCounts, FlowLinkCounts, FlowOutcome, LinkOutcome, MiddleboxOutcome, PageOutcome};
use bentpipe_units::{Bytes, Duration, Rate, Time};

/// A row of the table `runs`: one flow of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunRow {
    /// The study's axes, (name, value).
    pub axes: Vec<(String, String)>,
    /// Name of the scenario.
    pub scenario: String,
    /// Seed of the run.
    pub seed: u64,
    /// When the run ended.
    pub ended_at: Time,
    /// Events executed.
    pub events: u64,
    /// Packets that finished crossing a link.
    pub packet_hops: u64,
    /// What the flow did.
    pub flow: FlowOutcome,
}

/// A row of the table `links`: one link of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkRow {
    /// The study's axes, (name, value).
    pub axes: Vec<(String, String)>,
    /// Name of the scenario.
    pub scenario: String,
    /// Seed of the run.
    pub seed: u64,
    /// When the run ended.
    pub ended_at: Time,
    /// What the link did.
    pub link: LinkOutcome,
}

/// A row of the table `crossings`: one flow at one link of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct CrossingRow {
    /// The study's axes, (name, value).
    pub axes: Vec<(String, String)>,
    /// Name of the scenario.
    pub scenario: String,
    /// Seed of the run.
    pub seed: u64,
    /// When the run ended.
    pub ended_at: Time,
    /// Name of the flow.
    pub flow: String,
    /// Name of the link.
    pub link: String,
    /// What was counted.
    pub counts: FlowLinkCounts,
}

/// A row of the table `middleboxes`: one box of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct MiddleboxRow {
    /// The study's axes, (name, value).
    pub axes: Vec<(String, String)>,
    /// Name of the scenario.
    pub scenario: String,
    /// Seed of the run.
    pub seed: u64,
    /// When the run ended.
    pub ended_at: Time,
    /// What the box did.
    pub middlebox: MiddleboxOutcome,
}

/// Takes the fields of a row or a JSON object by their names. The error says
/// which field is wrong and how.
pub(crate) struct Fields<'a>(pub(crate) &'a dyn Fn(&str) -> Value);

impl Fields<'_> {
    pub(crate) fn text(&self, name: &str) -> Result<String, String> {
        match (self.0)(name) {
            Value::Text(text) => Ok(text),
            Value::Missing => Ok(String::new()),
            _ => Err(format!("`{name}` is not text")),
        }
    }

    fn maybe_count(&self, name: &str) -> Result<Option<u64>, String> {
        match (self.0)(name) {
            Value::Integer(n) => Ok(Some(n)),
            Value::Missing => Ok(None),
            _ => Err(format!("`{name}` is not a whole number")),
        }
    }

    pub(crate) fn count(&self, name: &str) -> Result<u64, String> {
        self.maybe_count(name)?
            .ok_or_else(|| format!("`{name}` is missing"))
    }

    /// A count that results of older versions lack: there was none.
    fn count_or_none(&self, name: &str) -> Result<u64, String> {
        Ok(self.maybe_count(name)?.unwrap_or(0))
    }

    pub(crate) fn maybe_number(&self, name: &str) -> Result<Option<f64>, String> {
        match (self.0)(name) {
            Value::Integer(n) => Ok(Some(n as f64)),
            Value::Number(x) => Ok(Some(x)),
            Value::Missing => Ok(None),
            Value::Text(_) => Err(format!("`{name}` is not a number")),
        }
    }

    pub(crate) fn number(&self, name: &str) -> Result<f64, String> {
        self.maybe_number(name)?
            .ok_or_else(|| format!("`{name}` is missing"))
    }

    pub(crate) fn time(&self, name: &str) -> Result<Time, String> {
        self.count(name).map(Time::from_nanos)
    }

    fn maybe_time(&self, name: &str) -> Result<Option<Time>, String> {
        Ok(self.maybe_count(name)?.map(Time::from_nanos))
    }

    fn duration(&self, name: &str) -> Result<Duration, String> {
        self.count(name).map(Duration::from_nanos)
    }

    pub(crate) fn maybe_duration(&self, name: &str) -> Result<Option<Duration>, String> {
        Ok(self.maybe_count(name)?.map(Duration::from_nanos))
    }

    pub(crate) fn bytes(&self, name: &str) -> Result<Bytes, String> {
        self.count(name).map(Bytes::new)
    }

    /// A flow. A transfer time comes back to the nanosecond up to 26 days.
    pub(crate) fn flow(&self) -> Result<FlowOutcome, String> {
        Ok(FlowOutcome {
            name: self.text("flow")?,
            transport: self.text("transport")?,
            started_at: self.time("started_at_ns")?,
            transfer_time: self
                .maybe_number("transfer_time_s")?
                .map(Duration::from_secs_f64),
            offered: self.maybe_count("offered_bytes")?.map(Bytes::new),
            delivered: self.bytes("delivered_bytes")?,
            acknowledged: self.bytes("acknowledged_bytes")?,
            first_delivery_at: self.maybe_time("first_delivery_at_ns")?,
            last_delivery_at: self.maybe_time("last_delivery_at_ns")?,
            sent: self.bytes("sent_bytes")?,
            packets_sent: self.count("packets_sent")?,
            retransmissions: self.count("retransmissions")?,
            spurious_retransmissions: self.count("spurious_retransmissions")?,
            probes_sent: self.count("probes_sent")?,
            timeouts: self.count("timeouts")?,
            recoveries: self.count("recoveries")?,
            reductions: self.count("reductions")?,
            acks_received: self.count("acks_received")?,
            queue_drops: self.count("queue_drops")?,
            channel_losses: self.count("channel_losses")?,
            outage_losses: self.count_or_none("outage_losses")?,
            no_route_losses: self.count_or_none("no_route_losses")?,
            pages: self.pages()?,
            min_rtt: self.maybe_duration("min_rtt_ns")?,
            mean_rtt: self.maybe_duration("mean_rtt_ns")?,
            max_cwnd: self.number("max_cwnd_segments")?,
        })
    }

    fn pages(&self) -> Result<Option<PageOutcome>, String> {
        let (mean_time, p95_time) = (
            self.maybe_duration("mean_page_time_ns")?,
            self.maybe_duration("p95_page_time_ns")?,
        );
        Ok(self.maybe_count("pages")?.map(|completed| PageOutcome {
            completed,
            mean_time,
            p95_time,
        }))
    }

    pub(crate) fn link(&self) -> Result<LinkOutcome, String> {
        Ok(LinkOutcome {
            name: self.text("link")?,
            rate: Rate::from_bps(self.count("rate_bps")?),
            offered_packets: self.count("offered_packets")?,
            delivered_packets: self.count("delivered_packets")?,
            delivered_bytes: self.bytes("delivered_bytes")?,
            queue_drops: self.count("queue_drops")?,
            early_drops: self.count("early_drops")?,
            marks: self.count("marks")?,
            channel_losses: self.count("channel_losses")?,
            outage_losses: self.count_or_none("outage_losses")?,
            collisions: self.count_or_none("collisions")?,
            requests: self.count_or_none("requests")?,
            free_slots: self.count_or_none("free_slots")?,
            demand_slots: self.count_or_none("demand_slots")?,
            utilisation: self.number("utilisation")?,
            mean_queue_packets: self.number("mean_queue_packets")?,
            max_queue_packets: self.count("max_queue_packets")?,
            max_queue_bytes: self.bytes("max_queue_bytes")?,
            mean_queueing_delay: self.duration("mean_queueing_delay_ns")?,
            p95_queueing_delay: self.duration("p95_queueing_delay_ns")?,
        })
    }

    pub(crate) fn middlebox(&self) -> Result<MiddleboxOutcome, String> {
        Ok(MiddleboxOutcome {
            name: self.text("middlebox")?,
            kind: self.text("middlebox_kind")?,
            seen_packets: self.count("seen_packets")?,
            cached_packets: self.count("cached_packets")?,
            overflow_packets: self.count("overflow_packets")?,
            local_retransmissions: self.count("local_retransmissions")?,
            local_timeouts: self.count("local_timeouts")?,
            suppressed_acks: self.count("suppressed_acks")?,
            own_acks: self.count("own_acks")?,
        })
    }

    pub(crate) fn crossing(&self) -> Result<FlowLinkCounts, String> {
        Ok(FlowLinkCounts {
            offered_packets: self.count("offered_packets")?,
            transmitted: self.bytes("transmitted_bytes")?,
            delivered_packets: self.count("delivered_packets")?,
            delivered: self.bytes("delivered_bytes")?,
            queue_drops: self.count("queue_drops")?,
            channel_losses: self.count("channel_losses")?,
            outage_losses: self.count_or_none("outage_losses")?,
        })
    }

    pub(crate) fn flow_counts(&self) -> Result<FlowCounts, String> {
        Ok(FlowCounts {
            delivered: self.bytes("delivered_bytes")?,
            sent: self.bytes("sent_bytes")?,
            packets_sent: self.count("packets_sent")?,
            retransmissions: self.count("retransmissions")?,
            timeouts: self.count("timeouts")?,
            reductions: self.count("reductions")?,
            queue_drops: self.count("queue_drops")?,
            channel_losses: self.count("channel_losses")?,
            outage_losses: self.count_or_none("outage_losses")?,
            no_route_losses: self.count_or_none("no_route_losses")?,
        })
    }
}
