//! The heartbeat: a DATAGRAM (RFC 9221) each second while nothing arrives.
//!
//! It keeps an idle association alive, and it makes an association recover within
//! a second of the link's return: QUIC's own probes are twice as far apart each
//! time (RFC 9002, section 6.2), minutes apart after a long outage.

use super::opening;
use bytes::Bytes;
use quinn::{Connection, ConnectionError};
use std::time::{Duration, Instant};

/// How often the association is looked at.
const TICK: Duration = Duration::from_millis(200);
/// Time between heartbeats.
const BEAT: Duration = Duration::from_secs(1);
/// The heartbeat's payload.
const PAYLOAD: &[u8] = &[0];

/// What a look at the association finds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Beat {
    /// Smoothed round trip.
    pub(super) rtt: Duration,
    /// True where heartbeats have gone unanswered.
    pub(super) outage: bool,
}

/// Keeps the heartbeat until the association is lost, and returns why it was.
pub(super) async fn keep(
    connection: &Connection,
    mut report: impl FnMut(Beat) + Send,
) -> ConnectionError {
    let mut ticks = tokio::time::interval(TICK);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut heard = (connection.stats().udp_rx.datagrams, Instant::now());
    let mut beaten: Option<Instant> = None;
    loop {
        tokio::select! {
            error = connection.closed() => return error,
            // Heartbeats of the other box have done their work on arrival.
            Ok(_) = connection.read_datagram() => continue,
            _ = ticks.tick() => {}
        }
        let now = Instant::now();
        let (received, rtt) = (connection.stats().udp_rx.datagrams, connection.rtt());
        if received != heard.0 {
            heard = (received, now);
        }
        let patience = 2 * rtt + BEAT;
        let silence = now - heard.1;
        if silence > patience && beaten.is_none_or(|beaten| now - beaten >= BEAT) {
            beaten = Some(now);
            opening::open(connection);
            // An error means that the association is lost, as the next turn finds.
            let _ = connection.send_datagram(Bytes::from_static(PAYLOAD));
        }
        report(Beat {
            rtt,
            outage: silence > 2 * patience,
        });
    }
}
