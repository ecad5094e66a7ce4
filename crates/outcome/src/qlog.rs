//! qlog of a sender's state: window, flight and RTT as qvis draws them.
//!
//! draft-ietf-quic-qlog-main-schema and -quic-events as of qlog 0.3, in
//! the form of JSON text sequences (RFC 7464): a record separator before and a
//! line end after each record. qlog counts windows in bytes; segments are
//! turned into bytes with the MSS of the flow.

use crate::{FlowSeries, SenderSample};
use bentpipe_units::{Bytes, Segments, Time};
use serde::Serialize;
use std::io::{self, Write};

/// The description of the flow in a qlog, without the samples.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QlogSettings {
    /// Title, such as the line of a [`Provenance`](crate::Provenance).
    pub title: String,
    /// Maximum segment size of the flow.
    pub mss: Bytes,
    /// The flow runs over QUIC, and else over TCP.
    pub is_quic: bool,
    /// The sender of the data opens the connection: it is the client.
    pub opens: bool,
}

#[derive(Serialize)]
struct Head<'a> {
    qlog_version: &'static str,
    qlog_format: &'static str,
    title: &'a str,
    trace: Trace<'a>,
}

#[derive(Serialize)]
struct Trace<'a> {
    title: &'a str,
    vantage_point: VantagePoint<'a>,
    common_fields: CommonFields,
}

#[derive(Serialize)]
struct VantagePoint<'a> {
    name: &'a str,
    #[serde(rename = "type")]
    kind: &'static str,
}

#[derive(Serialize)]
struct CommonFields {
    time_format: &'static str,
    reference_time: u32,
    protocol_type: [&'static str; 1],
}

#[derive(Serialize)]
struct Event<D> {
    /// Milliseconds since the start of the run.
    time: f64,
    name: &'static str,
    data: D,
}

/// Only what changed is written, as qlog asks.
#[derive(Serialize, Default, PartialEq)]
struct Metrics {
    #[serde(skip_serializing_if = "Option::is_none")]
    congestion_window: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes_in_flight: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ssthresh: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    latest_rtt: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    smoothed_rtt: Option<f64>,
}

#[derive(Serialize)]
struct State {
    #[serde(skip_serializing_if = "Option::is_none")]
    old: Option<&'static str>,
    new: &'static str,
}

/// Writes one trace: a head, and then events in the order of time.
pub struct QlogWriter<W> {
    to: W,
    mss: Bytes,
    is_quic: bool,
    last: Metrics,
    phase: Option<&'static str>,
}

impl<W: Write> QlogWriter<W> {
    /// Writes the head of the trace of a flow.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn new(mut to: W, flow: &str, settings: &QlogSettings) -> io::Result<QlogWriter<W>> {
        let head = Head {
            qlog_version: "0.3",
            qlog_format: "JSON-SEQ",
            title: &settings.title,
            trace: Trace {
                title: flow,
                vantage_point: VantagePoint {
                    name: flow,
                    kind: match settings.opens {
                        true => "client",
                        false => "server",
                    },
                },
                common_fields: CommonFields {
                    time_format: "relative",
                    reference_time: 0,
                    protocol_type: [if settings.is_quic { "QUIC" } else { "TCP" }],
                },
            },
        };
        record(&mut to, &head)?;
        Ok(QlogWriter {
            to,
            mss: settings.mss,
            is_quic: settings.is_quic,
            last: Metrics::default(),
            phase: None,
        })
    }

    /// Writes an event; `name` has its category: `transport:packet_sent`.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn event(&mut self, at: Time, name: &'static str, data: impl Serialize) -> io::Result<()> {
        let time = milliseconds(at);
        record(&mut self.to, &Event { time, name, data })
    }

    /// Segments of the samples that follow have so many bytes.
    pub fn set_mss(&mut self, mss: Bytes) {
        self.mss = mss;
    }

    /// Writes what a sample of the sender's state changes: `recovery:congestion_state_updated`
    /// for the phase, `recovery:metrics_updated` for the numbers.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn sample(&mut self, sample: &SenderSample) -> io::Result<()> {
        if self.phase != Some(sample.phase) {
            let state = State {
                old: self.phase,
                new: sample.phase,
            };
            self.event(sample.at, "recovery:congestion_state_updated", state)?;
            self.phase = Some(sample.phase);
        }
        let now = metrics(sample, self.mss, self.is_quic);
        let changed = changes(&self.last, &now);
        if changed != Metrics::default() {
            self.event(sample.at, "recovery:metrics_updated", changed)?;
        }
        self.last = now;
        Ok(())
    }

    /// Hands everything over.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn finish(mut self) -> io::Result<W> {
        self.to.flush()?;
        Ok(self.to)
    }
}

/// Writes the sender's samples of a flow as qlog (`.sqlog`).
///
/// # Errors
/// If it cannot be written.
pub fn write_qlog<W: Write>(to: W, series: &FlowSeries, settings: &QlogSettings) -> io::Result<()> {
    let mut qlog = QlogWriter::new(to, &series.flow, settings)?;
    for sample in &series.sender {
        qlog.sample(sample)?;
    }
    qlog.finish().map(|_| ())
}

fn record<W: Write>(to: &mut W, value: &impl Serialize) -> io::Result<()> {
    to.write_all(b"\x1e")?;
    serde_json::to_writer(&mut *to, value)?;
    to.write_all(b"\n")
}

fn metrics(sample: &SenderSample, mss: Bytes, is_quic: bool) -> Metrics {
    // `as` saturates; halves are rounded up.
    let bytes = |segments: Segments| (segments * mss.as_f64() + 0.5) as u64;
    let rtt = (!sample.rtt.is_zero()).then(|| sample.rtt.as_nanos() as f64 / 1e6);
    Metrics {
        congestion_window: Some(bytes(sample.cwnd)),
        bytes_in_flight: Some(bytes(sample.flight)),
        ssthresh: sample.ssthresh.is_finite().then(|| bytes(sample.ssthresh)),
        latest_rtt: rtt.filter(|_| !is_quic),
        // An endpoint of QUIC tells the smoothed one.
        smoothed_rtt: rtt.filter(|_| is_quic),
    }
}

fn changes(last: &Metrics, now: &Metrics) -> Metrics {
    fn changed<T: PartialEq + Copy>(last: Option<T>, now: Option<T>) -> Option<T> {
        if last == now { None } else { now }
    }
    Metrics {
        congestion_window: changed(last.congestion_window, now.congestion_window),
        bytes_in_flight: changed(last.bytes_in_flight, now.bytes_in_flight),
        ssthresh: changed(last.ssthresh, now.ssthresh),
        latest_rtt: changed(last.latest_rtt, now.latest_rtt),
        smoothed_rtt: changed(last.smoothed_rtt, now.smoothed_rtt),
    }
}

fn milliseconds(at: Time) -> f64 {
    at.as_nanos() as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::samples::outcome;

    #[test]
    fn a_qlog_has_these_lines() {
        let settings = QlogSettings {
            title: "geo, seed 7".to_owned(),
            mss: Bytes::new(1448),
            is_quic: false,
            opens: false,
        };
        let mut bytes = Vec::new();
        write_qlog(&mut bytes, &outcome().series[0], &settings).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        assert_eq!(
            lines,
            [
                "\u{1e}{\"qlog_version\":\"0.3\",\"qlog_format\":\"JSON-SEQ\",\"title\":\"geo, seed 7\",\
                 \"trace\":{\"title\":\"a\",\"vantage_point\":{\"name\":\"a\",\"type\":\"server\"},\
                 \"common_fields\":{\"time_format\":\"relative\",\"reference_time\":0,\
                 \"protocol_type\":[\"TCP\"]}}}\n",
                "\u{1e}{\"time\":5e-6,\"name\":\"recovery:congestion_state_updated\",\
                 \"data\":{\"new\":\"slow_start\"}}\n",
                "\u{1e}{\"time\":5e-6,\"name\":\"recovery:metrics_updated\",\
                 \"data\":{\"congestion_window\":3620,\"bytes_in_flight\":2896}}\n",
                "\u{1e}{\"time\":600.0,\"name\":\"recovery:congestion_state_updated\",\
                 \"data\":{\"old\":\"slow_start\",\"new\":\"recovery\"}}\n",
                "\u{1e}{\"time\":600.0,\"name\":\"recovery:metrics_updated\",\
                 \"data\":{\"ssthresh\":28960,\"latest_rtt\":511.0}}\n",
            ]
        );
    }
}
