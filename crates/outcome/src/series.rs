//! Time series as rows of a table.

use crate::record;
use crate::value::seconds;
use crate::{FlowSeries, SenderSample};
use bentpipe_units::{Bytes, Duration, Time};

record! {
    /// A row of the table of time series. What samples of one kind hold stays
    /// empty in those of another.
    pub(crate) struct SampleRow {
        /// What was sampled.
        hidden sample: Option<Sample>;
        /// What was sampled: sender, delivered, sent or held.
        derived sample: String = |_, row| row.sample.map_or("", Sample::name).to_owned();
        /// The time.
        label at: Time as "at_ns";
        /// The same time in seconds.
        derived time_s: f64 = |_, row| seconds(row.at.since(Time::ZERO));
        /// Congestion window.
        derived cwnd_segments: Option<f64> = |_, row| row.sender().map(|s| s.cwnd);
        /// Slow start threshold; inf until set.
        derived ssthresh_segments: Option<f64> = |_, row| row.sender().map(|s| s.ssthresh);
        /// Segments in flight.
        derived flight_segments: Option<f64> = |_, row| row.sender().map(|s| s.flight);
        /// Last RTT sample; empty before one.
        derived rtt_ns: Option<Duration> =
            |_, row| row.sender().map(|s| s.rtt).filter(|rtt| !rtt.is_zero());
        /// Retransmissions so far.
        derived retransmissions: Option<u64> = |_, row| row.sender().map(|s| s.retransmissions);
        /// Spurious retransmissions so far.
        derived spurious_retransmissions: Option<u64> =
            |_, row| row.sender().map(|s| s.spurious_retransmissions);
        /// Phase of the congestion control, by the names of qlog.
        derived phase: Option<String> = |_, row| row.sender().map(|s| s.phase.to_owned());
        /// Payload delivered in order so far.
        derived delivered_bytes: Option<Bytes> = |_, row| match row.sample {
            Some(Sample::Delivered(bytes)) => Some(bytes),
            _ => None,
        };
        /// Payload sent so far, retransmissions included.
        derived sent_bytes: Option<Bytes> = |_, row| match row.sample {
            Some(Sample::Sent(bytes)) => Some(bytes),
            _ => None,
        };
        /// Bytes in the relay of a PEP, those not acknowledged included.
        derived held_bytes: Option<Bytes> = |_, row| match row.sample {
            Some(Sample::Held(bytes)) => Some(bytes),
            _ => None,
        };
    }
}

/// Content of a sample.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Sample {
    /// The state of the sender.
    Sender(SenderSample),
    /// Payload delivered so far.
    Delivered(Bytes),
    /// Payload sent so far.
    Sent(Bytes),
    /// Bytes in a relay.
    Held(Bytes),
}

impl Sample {
    fn name(self) -> &'static str {
        match self {
            Sample::Sender(_) => "sender",
            Sample::Delivered(_) => "delivered",
            Sample::Sent(_) => "sent",
            Sample::Held(_) => "held",
        }
    }
}

impl SampleRow {
    fn sender(&self) -> Option<&SenderSample> {
        match &self.sample {
            Some(Sample::Sender(sample)) => Some(sample),
            _ => None,
        }
    }
}

impl FlowSeries {
    /// The samples of each kind, with the name of the kind.
    pub(crate) fn by_kind(&self) -> [(&'static str, Vec<SampleRow>); 4] {
        let row = |at, sample| SampleRow {
            at,
            sample: Some(sample),
        };
        let counts = |samples: &[(Time, Bytes)], of: fn(Bytes) -> Sample| {
            let samples = samples.iter();
            samples.map(|&(at, bytes)| row(at, of(bytes))).collect()
        };
        let sender = self.sender.iter();
        [
            (
                "sender",
                sender.map(|s| row(s.at, Sample::Sender(*s))).collect(),
            ),
            ("delivered", counts(&self.delivered, Sample::Delivered)),
            ("sent", counts(&self.sent, Sample::Sent)),
            ("held", counts(&self.held, Sample::Held)),
        ]
    }

    /// All samples in the order of time; at one time the sender's state comes
    /// first, then what was delivered, what was sent and what a relay held.
    pub(crate) fn by_time(&self) -> Vec<SampleRow> {
        let mut all: Vec<SampleRow> = self.by_kind().into_iter().flat_map(|kind| kind.1).collect();
        all.sort_by_key(|row| row.at);
        all
    }
}
