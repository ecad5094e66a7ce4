//! Gives QUIC the datagrams whose turn it is.

use super::parts;
use crate::operate::SharedState;
use crate::tunnel::sharing::{Datagram, Gate};
use quinn::{Connection, SendDatagramError};
use std::sync::Arc;

/// Gives QUIC what leaves through `gate`, until the association is lost.
pub(crate) async fn leave(connection: Connection, gate: Arc<Gate>, state: Arc<SharedState>) {
    let counters = &state.counters;
    let mut number = 0_u16;
    loop {
        let Datagram {
            bytes,
            divisible,
            member,
        } = gate.leaving().await;
        counters.udp_dropped.add(gate.take_dropped());
        let length = bytes.len() as u64;
        let most = connection.max_datagram_size().unwrap_or(0);
        let parts = match bytes.len() <= most {
            true => vec![bytes],
            false => {
                number = number.wrapping_add(1);
                let divided = divisible.then(|| parts::divide(&bytes, number, most));
                let Some(parts) = divided.flatten() else {
                    counters.udp_too_long.increment();
                    continue;
                };
                parts
            }
        };
        for part in parts {
            match connection.send_datagram_wait(part).await {
                Ok(()) => {}
                // The path has turned out to carry less since.
                Err(SendDatagramError::TooLarge) => counters.udp_too_long.increment(),
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
