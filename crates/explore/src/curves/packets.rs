//! The packets of one connection, one by one, with words.
//!
//! ```text
//! {mss_bytes, acknowledged_before, sent_before, cut_at, rtt_s, previous_loss_s, next_loss_s,
//!  steps: [{t, kind, seq, bytes, ack, sack: [[from, to]], window, cwnd, flight, phase,
//!           cause?, title, text}]}
//! ```
//!
//! `seq`, `ack` and `sack` are offsets in the stream, in bytes; `cwnd` and `flight` are of
//! the sender after the instant, in segments. `previous_loss_s` and `next_loss_s` are the
//! times of the nearest losses, retransmissions or timeouts before and after the steps.

use bentpipe::recording::{Phase, Recording, Step, StepKind, Trigger};
use bentpipe::sim::LossCause;
use bentpipe::units::Time;
use serde_json::{Value, json};

/// The packets as JSON.
pub(super) fn document(recording: &Recording, [from, to]: [Time; 2]) -> Value {
    let packets = &recording.packets;
    let mss = u64::from(recording.mss);
    let before = losses(recording).filter(|at| *at < from).max();
    // Steps are noted up to `to`, and up to the one that was too many.
    let is_after = |at: &Time| match packets.cut_at {
        Some(cut) => *at >= cut,
        None => *at > to,
    };
    let after = losses(recording).filter(is_after).min();
    let steps: Vec<Value> = packets.steps.iter().map(|step| shown(step, mss)).collect();
    json!({
        "mss_bytes": mss,
        "rtt_s": recording.rtt.as_secs(),
        "acknowledged_before": packets.acknowledged_before,
        "sent_before": packets.sent_before,
        "cut_at": packets.cut_at.map(Time::as_secs),
        "previous_loss_s": before.map(Time::as_secs),
        "next_loss_s": after.map(Time::as_secs),
        "steps": steps,
    })
}

/// When something was lost or sent again, or a timer expired, in no order.
fn losses(recording: &Recording) -> impl Iterator<Item = Time> + '_ {
    let lost = recording.losses.iter().map(|loss| loss.at);
    let resent = recording.resent.iter().map(|resent| resent.at);
    let others = [
        &recording.lost_acks,
        &recording.lost_openings,
        &recording.timeouts,
    ];
    lost.chain(resent)
        .chain(others.into_iter().flatten().copied())
}

fn shown(step: &Step, mss: u64) -> Value {
    let (title, text) = words(step, mss);
    let mut shown = json!({
        "t": step.at.as_secs(),
        "kind": step.kind.name(),
        "seq": step.sequence,
        "bytes": step.bytes,
        "ack": step.acknowledgement,
        "sack": step.sack,
        "window": step.window,
        "cwnd": step.cwnd,
        "flight": step.flight,
        "phase": Phase::of(step.phase).title,
        "title": title,
        "text": text,
    });
    if let StepKind::Lost(cause) | StepKind::LostAck(cause) = step.kind {
        shown["cause"] = cause.name().into();
    }
    shown
}

/// A step as a title and sentences.
fn words(step: &Step, mss: u64) -> (String, String) {
    let segment = format!("segment {}", step.sequence / mss + 1);
    let bytes = format!("{} bytes from byte {} on", step.bytes, step.sequence);
    let (title, text) = match step.kind {
        StepKind::Sent => (
            format!("Sender sends {segment}"),
            format!("{bytes}. {}", sent_for(step)),
        ),
        StepKind::Resent => (
            format!("Sender sends {segment} again"),
            format!("{bytes}. {}", resent_for(step)),
        ),
        StepKind::Probe => (
            "Sender sends a probe".to_owned(),
            "Its payload is not data of the stream.".to_owned(),
        ),
        StepKind::Control => (
            "A packet of the handshake or the close is sent".to_owned(),
            "It carries no data.".to_owned(),
        ),
        StepKind::ControlArrived => (
            "A packet of the handshake or the close arrives".to_owned(),
            "It carries no data.".to_owned(),
        ),
        StepKind::Received => (
            format!("Receiver gets {segment}"),
            format!("{bytes}, in order: the application can have it."),
        ),
        StepKind::Ahead => (
            format!("Receiver gets {segment} ahead of a gap"),
            format!(
                "{bytes}. It waits: {} bytes before it are missing or came out of order.",
                step.gap
            ),
        ),
        StepKind::Duplicate => (
            format!("Receiver gets {segment} a second time"),
            format!("{bytes}. All of it had arrived before: it was sent again for nothing."),
        ),
        StepKind::Acknowledges => (
            format!("Receiver acknowledges up to byte {}", step.acknowledgement),
            acknowledgement(step),
        ),
        StepKind::Acknowledged => (
            format!("Sender gets the ACK of byte {}", step.acknowledgement),
            format!(
                "It covers {} bytes more. {}",
                step.gap,
                acknowledgement(step)
            ),
        ),
        StepKind::Repeated => (
            format!("Sender gets an ACK of byte {} again", step.acknowledgement),
            format!("It covers nothing more in order. {}", acknowledgement(step)),
        ),
        StepKind::Lost(cause) => (
            format!("{} is lost", capital(&segment)),
            format!("{bytes}: {}", lost_by(cause)),
        ),
        StepKind::LostAck(cause) => (
            format!("An ACK of byte {} is lost", step.acknowledgement),
            capital(&lost_by(cause)),
        ),
        StepKind::Timeout => (
            "The retransmission timer expires".to_owned(),
            "No ACK of new data came in time: the sender takes what is in flight for lost."
                .to_owned(),
        ),
    };
    (title, capital(&text))
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(char::to_uppercase);
    first.into_iter().flatten().chain(letters).collect()
}

fn sent_for(step: &Step) -> &'static str {
    match step.trigger {
        Trigger::Ack => "New data, for which the ACK that has just arrived leaves room.",
        Trigger::Timeout => "New data after a timeout.",
        Trigger::Opened => "New data: the connection has just been opened.",
        _ => {
            "New data, at a time that pacing, a timer or the application sets: no ACK has arrived at this instant."
        }
    }
}

fn resent_for(step: &Step) -> &'static str {
    match step.trigger {
        Trigger::Ack => "The ACK that has just arrived shows that it is missing.",
        Trigger::Timeout => "The retransmission timer has expired.",
        _ => "A timer of loss recovery or pacing is due: no ACK has arrived at this instant.",
    }
}

fn acknowledgement(step: &Step) -> String {
    let ranges: Vec<String> = step
        .sack
        .iter()
        .map(|(from, to)| match *to <= step.acknowledgement {
            true => format!("{from} to {to} for a second time"),
            false => format!("{from} to {to}"),
        })
        .collect();
    let sack = match ranges.len() {
        0 => String::new(),
        _ => format!("SACK: bytes {}. ", ranges.join(", ")),
    };
    format!("{sack}The receive window is {} bytes.", step.window)
}

fn lost_by(cause: LossCause) -> String {
    match cause {
        LossCause::QueueFull => "the queue before a link was full.",
        LossCause::Aqm => "the queue dropped it before it was full.",
        LossCause::Channel => "the channel destroyed it.",
        LossCause::Outage => "the link was down.",
        LossCause::NoRoute => "there was no route.",
        _ => "on its way.",
    }
    .to_owned()
}
