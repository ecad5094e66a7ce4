//! What code in scripts may know of the connection: names of `struct tcp_info`, and constants.

use crate::assertion::Value;
use crate::connection::Connection;
use bentpipe_tcp::{CongestionState, ConnectionState};
use bentpipe_units::{Duration, Time};

/// Constants of the kernel's headers.
const CONSTANTS: [(&str, i64); 22] = [
    ("TCP_CA_Open", 0),
    ("TCP_CA_Disorder", 1),
    ("TCP_CA_CWR", 2),
    ("TCP_CA_Recovery", 3),
    ("TCP_CA_Loss", 4),
    ("TCP_ESTABLISHED", 1),
    ("TCP_SYN_SENT", 2),
    ("TCP_SYN_RECV", 3),
    ("TCP_FIN_WAIT1", 4),
    ("TCP_FIN_WAIT2", 5),
    ("TCP_TIME_WAIT", 6),
    ("TCP_CLOSE", 7),
    ("TCP_CLOSE_WAIT", 8),
    ("TCP_LAST_ACK", 9),
    ("TCP_LISTEN", 10),
    ("TCP_CLOSING", 11),
    ("TCPI_OPT_TIMESTAMPS", 1),
    ("TCPI_OPT_SACK", 2),
    ("TCPI_OPT_WSCALE", 4),
    ("TCPI_OPT_ECN", 8),
    ("TCPI_OPT_ECN_SEEN", 16),
    ("TCPI_OPT_SYN_DATA", 32),
];

/// The kernel's threshold before one is set.
const INFINITE_THRESHOLD: i64 = 0x7fff_ffff;

/// The value of `name` at `now`, or what is missing for it.
pub(super) fn value(
    name: &str,
    connection: Option<&Connection>,
    now: Time,
) -> Result<Value, String> {
    if let Some((_, value)) = CONSTANTS.iter().find(|(known, _)| *known == name) {
        return Ok(Value::Integer(*value));
    }
    if !name.starts_with("tcpi_") {
        return Err(format!("the Python name `{name}`"));
    }
    let Some(connection) = connection else {
        return Err(format!("`{name}` without a connection"));
    };
    let endpoint = &connection.endpoint;
    let snapshot = endpoint.snapshot();
    let us = |time: Duration| i64::try_from(time.as_micros()).unwrap_or(i64::MAX);
    let count = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
    let number = match name {
        "tcpi_snd_cwnd" => snapshot.cwnd.clamp(1.0, 1e15) as i64,
        "tcpi_snd_ssthresh" if snapshot.ssthresh < INFINITE_THRESHOLD as f64 => {
            snapshot.ssthresh as i64
        }
        "tcpi_snd_ssthresh" => INFINITE_THRESHOLD,
        "tcpi_ca_state" => match snapshot.congestion_state {
            CongestionState::Open => 0,
            CongestionState::Disorder => 1,
            CongestionState::Cwr => 2,
            CongestionState::Recovery => 3,
            CongestionState::Loss => 4,
        },
        "tcpi_state" => state(connection.state()),
        "tcpi_retrans" => i64::from(snapshot.retransmitted),
        "tcpi_lost" => i64::from(snapshot.lost),
        "tcpi_sacked" => i64::from(snapshot.sacked),
        "tcpi_reordering" => i64::from(snapshot.reordering),
        "tcpi_unacked" => {
            let flight = i64::try_from(snapshot.flight).unwrap_or(i64::MAX);
            flight + i64::from(snapshot.sacked) + i64::from(snapshot.lost)
                - i64::from(snapshot.retransmitted)
        }
        "tcpi_total_retrans" => count(endpoint.counters().retransmissions),
        "tcpi_rtt" => us(endpoint.rtt().smoothed()),
        "tcpi_rto" => us(endpoint.rtt().rto()),
        "tcpi_min_rtt" => us(endpoint.rtt().smallest()),
        "tcpi_snd_mss" => i64::from(connection.wire.mss),
        "tcpi_advmss" => {
            let stamps = if connection.wire.timestamps { 12 } else { 0 };
            i64::from(connection.wire.announced_mss) - stamps
        }
        "tcpi_bytes_acked" => count(endpoint.acknowledged().get()),
        "tcpi_last_data_recv" => us(now.since(connection.data_received_at)) / 1_000,
        "tcpi_options" => {
            let wire = &connection.wire;
            i64::from(wire.timestamps)
                | i64::from(wire.sack) << 1
                | i64::from(wire.shifts.is_some()) << 2
                | i64::from(wire.ecn) << 3
        }
        _ => return Err(format!("`{name}` of `struct tcp_info`")),
    };
    Ok(Value::Integer(number))
}

fn state(state: ConnectionState) -> i64 {
    match state {
        ConnectionState::Established => 1,
        ConnectionState::SynSent => 2,
        ConnectionState::SynReceived => 3,
        ConnectionState::FinWait1 => 4,
        ConnectionState::FinWait2 => 5,
        ConnectionState::TimeWait => 6,
        ConnectionState::Closed | ConnectionState::Reset => 7,
        ConnectionState::CloseWait => 8,
        ConnectionState::LastAck => 9,
        ConnectionState::Listen => 10,
        ConnectionState::Closing => 11,
    }
}
