//! The heartbeat: a DATAGRAM (RFC 9221) each half second while nothing arrives.
//!
//! It keeps an idle association alive, and it makes an association recover within a second of the
//! link's return: the interval of QUIC's own probes doubles each time (RFC 9002, section 6.2), to
//! minutes after a long outage.

use super::opening;
use bytes::Bytes;
use quinn::{Connection, ConnectionError, ConnectionStats};
use std::time::{Duration, Instant};

/// How often the association is looked at.
const TICK: Duration = Duration::from_millis(200);
/// Time without a packet, in addition to two round trips, after which heartbeats begin.
const BEAT: Duration = Duration::from_secs(1);
/// Time between heartbeats that are not acknowledged.
const AGAIN: Duration = Duration::from_millis(500);
/// The heartbeat's payload.
const PAYLOAD: &[u8] = &[0];
/// The content of a stream that says that UDP to the other box may be throttled.
const THROTTLED: &[u8; 1] = &[1];

/// Result of a check of the association.
#[derive(Clone, Debug)]
pub(super) struct Beat {
    /// Smoothed RTT of the association.
    pub(super) rtt: Duration,
    /// True where heartbeats have gone unanswered.
    pub(super) outage: bool,
    /// True where the other box suspects that UDP to this one is throttled.
    pub(super) warned: bool,
    /// Counters of the association's packets.
    pub(super) stats: ConnectionStats,
}

/// Lets the other box know that UDP to it may be throttled, by its own stream:
/// a DATAGRAM would be lost where most packets are.
pub(super) fn warn(connection: &Connection) {
    let connection = connection.clone();
    tokio::spawn(async move {
        let mut stream = connection.open_uni().await?;
        // Before all data.
        let _ = stream.set_priority(i32::MAX);
        let _ = stream.write(THROTTLED).await;
        let _ = stream.finish();
        let _ = stream.stopped().await;
        Ok::<(), ConnectionError>(())
    });
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
    let mut warned = false;
    let mut moved = (0, Instant::now());
    let mut silent = false;
    loop {
        tokio::select! {
            error = connection.closed() => return error,
            // Heartbeats of the other box have done their work on arrival.
            Ok(_) = connection.read_datagram() => continue,
            Ok(mut stream) = connection.accept_uni() => {
                let mut payload = [0; 1];
                let read = tokio::time::timeout(BEAT, stream.read_exact(&mut payload)).await;
                warned |= matches!(read, Ok(Ok(()))) && payload == *THROTTLED;
                continue;
            }
            _ = ticks.tick() => {}
        }
        let now = Instant::now();
        let (stats, rtt) = (connection.stats(), connection.rtt());
        let received = stats.udp_rx.datagrams;
        let hears = received != heard.0;
        if hears {
            heard = (received, now);
        }
        let (acknowledged, in_flight) = opening::progress(connection);
        if acknowledged != moved.0 || in_flight == 0 {
            moved = (acknowledged, now);
        }
        let patience = 2 * rtt + BEAT;
        let silence = now - heard.1;
        // What this box has in flight may be lost although the other one is heard:
        // when the link has gone in one direction, and when it has just come back.
        let stuck = now - moved.1 > patience;
        let due = beaten.is_none_or(|beaten| now - beaten >= AGAIN);
        if (due && (silence > patience || stuck)) || (stuck && hears && silent) {
            beaten = Some(now);
            opening::open(connection);
            // An error means that the association is lost, as the next turn finds.
            let _ = connection.send_datagram(Bytes::from_static(PAYLOAD));
        }
        silent = silence > patience;
        report(Beat {
            rtt,
            outage: silence > 2 * patience,
            warned: std::mem::take(&mut warned),
            stats,
        });
    }
}
