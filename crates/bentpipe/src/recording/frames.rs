//! Frames of QUIC as qlog has them (draft-ietf-quic-qlog-quic-events, section 5.14 of -01).

use bentpipe_quic::wire::{Frame, PacketKind};
use serde_json::{Value, json};

/// The type of a packet in qlog.
pub(super) const fn packet_type(kind: PacketKind) -> &'static str {
    match kind {
        PacketKind::Initial => "initial",
        PacketKind::Handshake => "handshake",
        PacketKind::ZeroRtt => "0RTT",
        PacketKind::OneRtt => "1RTT",
    }
}

const fn stream_type(bidirectional: bool) -> &'static str {
    match bidirectional {
        true => "bidirectional",
        false => "unidirectional",
    }
}

/// Frames in their order.
pub(super) fn frames(of: &[Frame]) -> Value {
    of.iter().map(frame).collect()
}

fn frame(frame: &Frame) -> Value {
    match frame {
        Frame::Padding(length) => json!({ "frame_type": "padding", "payload_length": length }),
        Frame::Ping => json!({ "frame_type": "ping" }),
        Frame::Ack { delay, ranges, ecn } => {
            // qlog has the ranges in ascending order, and milliseconds.
            let ranges: Vec<&[u64; 2]> = ranges.iter().rev().collect();
            let mut ack = json!({
                "frame_type": "ack",
                "ack_delay": *delay as f64 / 1e3,
                "acked_ranges": ranges,
            });
            if let Some([ect0, ect1, ce]) = ecn {
                ack["ect0"] = (*ect0).into();
                ack["ect1"] = (*ect1).into();
                ack["ce"] = (*ce).into();
            }
            ack
        }
        Frame::ResetStream {
            stream,
            error,
            final_size,
        } => json!({
            "frame_type": "reset_stream",
            "stream_id": stream,
            "error_code": error,
            "final_size": final_size,
        }),
        Frame::StopSending { stream, error } => json!({
            "frame_type": "stop_sending",
            "stream_id": stream,
            "error_code": error,
        }),
        Frame::Crypto { offset, length } => json!({
            "frame_type": "crypto",
            "offset": offset,
            "length": length,
        }),
        Frame::NewToken => json!({ "frame_type": "new_token", "token": {} }),
        Frame::Stream {
            stream,
            offset,
            length,
            fin,
        } => json!({
            "frame_type": "stream",
            "stream_id": stream,
            "offset": offset,
            "length": length,
            "fin": fin,
        }),
        Frame::MaxData(maximum) => json!({ "frame_type": "max_data", "maximum": maximum }),
        Frame::MaxStreamData { stream, maximum } => json!({
            "frame_type": "max_stream_data",
            "stream_id": stream,
            "maximum": maximum,
        }),
        Frame::MaxStreams {
            bidirectional,
            maximum,
        } => json!({
            "frame_type": "max_streams",
            "stream_type": stream_type(*bidirectional),
            "maximum": maximum,
        }),
        Frame::DataBlocked(limit) => json!({ "frame_type": "data_blocked", "limit": limit }),
        Frame::StreamDataBlocked { stream, limit } => json!({
            "frame_type": "stream_data_blocked",
            "stream_id": stream,
            "limit": limit,
        }),
        Frame::StreamsBlocked {
            bidirectional,
            limit,
        } => json!({
            "frame_type": "streams_blocked",
            "stream_type": stream_type(*bidirectional),
            "limit": limit,
        }),
        Frame::NewConnectionId {
            sequence,
            retire_prior_to,
            length,
        } => json!({
            "frame_type": "new_connection_id",
            "sequence_number": sequence,
            "retire_prior_to": retire_prior_to,
            "connection_id_length": length,
            // The schema asks for one; it says nothing here.
            "connection_id": "",
        }),
        Frame::RetireConnectionId(sequence) => json!({
            "frame_type": "retire_connection_id",
            "sequence_number": sequence,
        }),
        Frame::PathChallenge => json!({ "frame_type": "path_challenge" }),
        Frame::PathResponse => json!({ "frame_type": "path_response" }),
        Frame::ConnectionClose {
            error,
            by_application,
        } => json!({
            "frame_type": "connection_close",
            "error_space": match by_application {
                true => "application",
                false => "transport",
            },
            "error_code": error,
        }),
        Frame::HandshakeDone => json!({ "frame_type": "handshake_done" }),
        Frame::Datagram { length } => json!({ "frame_type": "datagram", "length": length }),
        // The mapping has no names for these.
        Frame::AckFrequency { .. } => unknown(0xaf),
        Frame::ImmediateAck => unknown(0x1f),
        Frame::Unknown(kind) => unknown(*kind),
        _ => unknown(0),
    }
}

fn unknown(kind: u64) -> Value {
    json!({ "frame_type": "unknown", "frame_type_value": kind })
}
