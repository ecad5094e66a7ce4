//! Packets of a run as files: a table, and qlog.
//!
//! qlog is a log of QUIC. How TCP stands in it, as its sender sees the connection:
//!
//! | TCP | qlog |
//! |---|---|
//! | the sender sends a packet | `transport:packet_sent`; packets are numbered as they are sent, so that data sent again have a new number, as in QUIC; the payload is a frame of stream 0 with its offset |
//! | data sent again | before that, `recovery:packet_lost` of the packet that carried them last |
//! | an acknowledgement arrives | `transport:packet_received` with an ACK frame of the packets that it newly covers, in order or by SACK |
//! | a retransmission timeout | `recovery:loss_timer_updated` with `expired` |
//! | the window, RTT, flight and threshold change | `recovery:metrics_updated` |
//! | the congestion control enters a phase | `recovery:congestion_state_updated` |
//!
//! Over QUIC the packets, their numbers and frames are the connection's own.
//!
//! What the receiver and the path see, such as where a packet was lost, is in the table.

use super::frames::{frames, packet_type};
use super::packets::{Step, StepKind, Trigger};
use super::quic::Happening;
use super::trace::PacketTrace;
use bentpipe_outcome::{
    Document as _, Error, PacketRecord, Provenance, QlogSettings, QlogWriter, RowWriter,
};
use bentpipe_sim::LossCause;
use bentpipe_units::{Bytes, Time};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

/// Writes the packets of some connections of a run, in the order of time: `.csv` or
/// `.parquet`, as the name of the file says. Columns are those of [`PacketRecord`].
///
/// # Errors
/// If the name says no format, or the file cannot be written.
pub fn write_packets(
    path: &Path,
    traces: &[PacketTrace],
    provenance: &Provenance,
) -> Result<(), Error> {
    let mut file = RowWriter::create(path, &[], PacketRecord::columns(), provenance)?;
    let mut next = vec![0; traces.len()];
    loop {
        let steps = traces.iter().zip(&next).enumerate();
        let first = steps
            .filter_map(|(i, (trace, next))| Some((trace.packets.steps.get(*next)?.at, i)))
            .min();
        let Some((_, i)) = first else { break };
        let step = &traces[i].packets.steps[next[i]];
        next[i] += 1;
        file.row(&record(&traces[i], step).cells())?;
    }
    file.finish()
}

/// A step as a row.
fn record(trace: &PacketTrace, step: &Step) -> PacketRecord {
    let ranges = step.sack.iter().map(|(from, to)| format!("{from}-{to}"));
    let sack: Vec<String> = ranges.collect();
    let is_ack = matches!(
        step.kind,
        StepKind::Acknowledges | StepKind::Acknowledged | StepKind::Repeated | StepKind::LostAck(_)
    );
    let is_sent = matches!(step.kind, StepKind::Sent | StepKind::Resent);
    let cause = match step.kind {
        StepKind::Lost(cause) | StepKind::LostAck(cause) => Some(LossCause::name(cause)),
        _ => None,
    };
    let link = step.link.and_then(|link| trace.links.get(link as usize));
    let mut record = PacketRecord::new(
        trace.flow.clone(),
        step.at.as_nanos(),
        step.kind.name(),
        step.place,
    );
    record.sequence_bytes = (step.bytes > 0).then_some(step.sequence);
    record.payload_bytes = step.bytes;
    record.ip_bytes = step.ip_bytes;
    record.acknowledgement_bytes = step.acknowledgement;
    record.sack = sack.join(" ");
    record.window_bytes = is_ack.then_some(step.window);
    record.gap_bytes = step.gap;
    record.trigger = is_sent.then(|| step.trigger.name());
    record.cause = cause;
    record.link = link.cloned();
    record.cwnd_segments = step.cwnd;
    record.ssthresh_segments = step.ssthresh.is_finite().then_some(step.ssthresh);
    record.flight_segments = step.flight;
    record.phase = step.phase;
    record
}

/// Writes one connection of a run as qlog 0.3 (draft-ietf-quic-qlog-main-schema) in JSON text
/// sequences, `.sqlog`, as qvis reads it.
///
/// # Errors
/// If it cannot be written.
pub fn write_qlog<W: Write>(to: W, trace: &PacketTrace, provenance: &Provenance) -> io::Result<W> {
    let settings = QlogSettings {
        title: provenance.to_line(),
        mss: Bytes::new(u64::from(trace.mss)),
        is_quic: trace.packets.is_quic,
        opens: trace.datagrams.sender_opens(),
    };
    let mut log = Log {
        to: QlogWriter::new(to, &trace.flow, &settings)?,
        sent: 0,
        received: 0,
        highest: 0,
        outstanding: BTreeMap::new(),
    };
    let mut samples = trace.sender.iter().peekable();
    if settings.is_quic {
        log.to.set_mss(Bytes::new(u64::from(trace.datagrams.fits)));
    }
    for (at, happening) in &trace.datagrams.happenings {
        while let Some(sample) = samples.next_if(|sample| sample.at < *at) {
            log.to.sample(sample)?;
        }
        over_quic(&mut log.to, *at, happening)?;
    }
    let steps = match settings.is_quic {
        true => &[][..],
        false => &trace.packets.steps[..],
    };
    for step in steps {
        // A sample is the state after its instant.
        while let Some(sample) = samples.next_if(|sample| sample.at < step.at) {
            log.to.sample(sample)?;
        }
        log.step(step)?;
    }
    for sample in samples {
        log.to.sample(sample)?;
    }
    log.to.finish()
}

/// What the sender has sent and not yet been told to have arrived.
struct Log<W> {
    to: QlogWriter<W>,
    /// Packets sent and received: their numbers.
    sent: u64,
    received: u64,
    /// The number of the last packet that was acknowledged.
    highest: u64,
    /// By the first byte of a segment: one past its last, and the number of the packet that
    /// carried it last.
    outstanding: BTreeMap<u64, (u64, u64)>,
}

impl<W: Write> Log<W> {
    fn step(&mut self, step: &Step) -> io::Result<()> {
        let at_sender = step.place == "sender";
        match step.kind {
            StepKind::Sent | StepKind::Resent => self.data(step),
            StepKind::Probe => self.packet(step, "1RTT", json!([{ "frame_type": "ping" }])),
            StepKind::Control if at_sender => self.packet(step, "initial", json!([])),
            StepKind::Acknowledged | StepKind::Repeated => self.acknowledgement(step),
            StepKind::ControlArrived if at_sender => self.arrival(step, "initial", json!([])),
            StepKind::Timeout => self.to.event(
                step.at,
                "recovery:loss_timer_updated",
                json!({ "timer_type": "pto", "event_type": "expired" }),
            ),
            _ => Ok(()),
        }
    }

    /// The sender sends data, perhaps again.
    fn data(&mut self, step: &Step) -> io::Result<()> {
        let (first, end) = (step.sequence, step.sequence + u64::from(step.bytes));
        let before: Vec<u64> = self
            .outstanding
            .range(first..end)
            .map(|(at, _)| *at)
            .collect();
        for at in before {
            let Some((_, number)) = self.outstanding.remove(&at) else {
                continue;
            };
            let trigger = match step.trigger {
                Trigger::Timeout => "pto_expired",
                Trigger::Ack => "reordering_threshold",
                _ => "time_threshold",
            };
            let lost = json!({ "header": header("1RTT", number), "trigger": trigger });
            self.to.event(step.at, "recovery:packet_lost", lost)?;
        }
        self.outstanding.insert(first, (end, self.sent));
        let frame = json!([{
            "frame_type": "stream",
            "stream_id": 0,
            "offset": step.sequence,
            "length": step.bytes,
        }]);
        self.packet(step, "1RTT", frame)
    }

    fn packet(&mut self, step: &Step, kind: &str, frames: Value) -> io::Result<()> {
        let mut data = json!({
            "header": header(kind, self.sent),
            "raw": { "length": step.ip_bytes, "payload_length": step.bytes },
            "frames": frames,
        });
        if step.kind == StepKind::Resent {
            data["trigger"] = match step.trigger {
                Trigger::Timeout => "retransmit_timeout".into(),
                _ => "retransmit_reordered".into(),
            };
        }
        self.sent += 1;
        self.to.event(step.at, "transport:packet_sent", data)
    }

    fn arrival(&mut self, step: &Step, kind: &str, frames: Value) -> io::Result<()> {
        let data = json!({
            "header": header(kind, self.received),
            "raw": { "length": step.ip_bytes, "payload_length": step.bytes },
            "frames": frames,
        });
        self.received += 1;
        self.to.event(step.at, "transport:packet_received", data)
    }

    /// An acknowledgement arrives: of what it covers, in order or beyond.
    fn acknowledgement(&mut self, step: &Step) -> io::Result<()> {
        let mut numbers = self.covered(0, step.acknowledgement);
        for (from, to) in &step.sack {
            numbers.extend(self.covered(*from, *to));
        }
        numbers.sort_unstable();
        if let Some(last) = numbers.last() {
            self.highest = self.highest.max(*last);
        }
        let ranges = match numbers.is_empty() {
            // It repeats what is known.
            true => vec![[self.highest; 2]],
            false => ranges(&numbers),
        };
        let frame = json!([{ "frame_type": "ack", "acked_ranges": ranges }]);
        self.arrival(step, "1RTT", frame)
    }

    /// Takes out the segments that lie in a range of bytes; the numbers of their packets.
    fn covered(&mut self, from: u64, to: u64) -> Vec<u64> {
        if from >= to {
            return Vec::new();
        }
        let inside = self.outstanding.range(from..to);
        let inside = inside.filter(|(_, (end, _))| *end <= to);
        let segments: Vec<(u64, u64)> = inside.map(|(at, (_, number))| (*at, *number)).collect();
        for (at, _) in &segments {
            self.outstanding.remove(at);
        }
        segments.into_iter().map(|(_, number)| number).collect()
    }
}

/// What happens at the sender of a QUIC connection.
fn over_quic<W: Write>(to: &mut QlogWriter<W>, at: Time, happening: &Happening) -> io::Result<()> {
    let (packets, name) = match happening {
        Happening::Sent(packets) => (packets, "transport:packet_sent"),
        Happening::Received(packets) => (packets, "transport:packet_received"),
        Happening::Lost {
            kind,
            number,
            by_order,
        } => {
            let trigger = match by_order {
                true => "reordering_threshold",
                false => "time_threshold",
            };
            let header = header(packet_type(*kind), *number);
            let lost = json!({ "header": header, "trigger": trigger });
            return to.event(at, "recovery:packet_lost", lost);
        }
        Happening::Fits(bytes) => {
            to.set_mss(Bytes::new(u64::from(*bytes)));
            return Ok(());
        }
    };
    for packet in packets {
        let data = json!({
            "header": header(packet_type(packet.kind), packet.number),
            "raw": { "length": packet.length, "payload_length": packet.payload },
            "frames": frames(&packet.frames),
            "is_coalesced": packets.len() > 1,
        });
        to.event(at, name, data)?;
    }
    Ok(())
}

fn header(kind: &str, number: u64) -> Value {
    json!({ "packet_type": kind, "packet_number": number })
}

/// Numbers in ascending order as ranges of those that follow each other.
fn ranges(numbers: &[u64]) -> Vec<[u64; 2]> {
    let mut ranges: Vec<[u64; 2]> = Vec::new();
    for number in numbers {
        match ranges.last_mut() {
            Some([_, last]) if *number <= *last + 1 => *last = *number,
            _ => ranges.push([*number; 2]),
        }
    }
    ranges
}

impl PacketTrace {
    /// What it takes to record it again.
    #[must_use]
    pub fn provenance(&self, scenario_hash: &str) -> Provenance {
        let [from, to] = self.between;
        let provenance = Provenance::new(&self.scenario, scenario_hash, &[self.seed]);
        let to = match to {
            Time::MAX => "the end".to_owned(),
            to => format!("{} s", to.as_secs()),
        };
        provenance.with("recorded", &format!("{} s to {to}", from.as_secs()))
    }
}
