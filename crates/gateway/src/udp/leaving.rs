//! Gives QUIC the datagrams whose turn it is.

use super::parts;
use crate::operate::SharedState;
use crate::tunnel::sharing::{Datagram, Gate};
use quinn::{Connection, SendDatagramError};
use std::sync::Arc;
use std::time::Duration;

/// How often drops are counted while nothing leaves.
const COUNTED: Duration = Duration::from_secs(1);

/// Gives QUIC what leaves through `gate`, until the association is lost.
pub(crate) async fn leave(connection: Connection, gate: Arc<Gate>, state: Arc<SharedState>) {
    let counters = &state.counters;
    let mut number = 0_u16;
    loop {
        let leaving = tokio::time::timeout(COUNTED, gate.leaving()).await;
        counters.udp_dropped.add(gate.take_dropped());
        let Ok(Datagram {
            bytes,
            divisible,
            member,
        }) = leaving
        else {
            continue;
        };
        let length = bytes.len() as u64;
        let most = connection.max_datagram_size().unwrap_or(0);
        let parts = match bytes.len() <= most {
            true => vec![bytes],
            false => {
                number = number.wrapping_add(1);
                let divided = divisible.then(|| parts::divide(&bytes, number, most));
                let Some(parts) = divided.flatten() else {
                    counters.udp_too_long.increment();
                    gate.unsent(length);
                    continue;
                };
                parts
            }
        };
        for part in parts {
            let bytes = part.len() as u64;
            match connection.send_datagram_wait(part).await {
                Ok(()) => {}
                // The path has turned out to carry less since.
                Err(SendDatagramError::TooLarge) => {
                    counters.udp_too_long.increment();
                    gate.unsent(bytes);
                }
                Err(_) => return,
            }
        }
        if let Some(member) = member {
            member.sent(length);
            counters.bytes_udp_to_satellite.add(length);
            counters.udp_to_satellite.increment();
        }
    }
}
