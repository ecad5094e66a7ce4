//! The heartbeat: a DATAGRAM (RFC 9221) each half second while nothing arrives.
//!
//! It keeps an idle association alive, and it makes an association recover within half a second and a
//! round trip of the link's return: the interval of QUIC's own probes doubles each time (RFC 9002,
//! section 6.2), to minutes after a long outage. [`Pulse`] decides when one leaves.

use super::opening;
use super::pulse::{BEAT, Lost, Pulse, Seen};
use super::split::WHOLE;
use bytes::Bytes;
use quinn::{Connection, ConnectionError, ConnectionStats};
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

/// The heartbeat's payload.
const PAYLOAD: &[u8] = &[0];

/// What a box has to say, as the content of a stream of its own. A box of an earlier version reads
/// those that it does not know, and ignores them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Notice {
    /// UDP to the other box may be throttled.
    Throttled = 1,
    /// This box is about to stop, and takes no new connections.
    Drains = 2,
    /// The part of the rate that the other box is to send at: see [`send_part`].
    Part = 3,
    /// This box reads repairs, and has restored so many packets: see [`send_restored`].
    Restored = 4,
    /// Another process of the hub has taken over: new connections go over a new association, which
    /// leads there. This one goes on with those that are open, and takes new ones until then. The
    /// terminal says the same when it opens no more.
    HandedOver = 5,
}

/// Most bytes of a notice.
const MOST_NOTICE: usize = 16;

/// Result of a check of the association.
#[derive(Clone, Debug)]
pub(super) struct Beat {
    /// Smoothed RTT of the association, without those that outages made long.
    pub(super) rtt: Duration,
    /// Where heartbeats have gone unanswered, the direction that is lost.
    pub(super) lost: Option<Lost>,
    /// The answer to a heartbeat is late, so that a direction may be lost.
    pub(super) late: bool,
    /// True where the other box suspects that UDP to this one is throttled.
    pub(super) warned: bool,
    /// True once the other box has said that it is about to stop.
    pub(super) drains: bool,
    /// True once the other box has said that new connections go to another process of the hub.
    pub(super) handed_over: bool,
    /// The part of the rate at which the other box wants this one to send, in thousandths.
    pub(super) part: u16,
    /// Packets of this box that the other one has restored; `None` where it does not read repairs.
    pub(super) restored: Option<u32>,
    /// Counters of the association's packets.
    pub(super) stats: ConnectionStats,
}

/// Sends a notice, and returns when the other box has it. It has its own stream: a DATAGRAM would be
/// lost where most packets are.
///
/// # Errors
/// The association is lost.
pub(super) async fn send(connection: &Connection, notice: Notice) -> Result<(), ConnectionError> {
    write(connection, &[notice as u8]).await
}

/// Tells the other box at which part of its rate it is to send, in thousandths.
///
/// # Errors
/// The association is lost.
pub(super) async fn send_part(connection: &Connection, part: u16) -> Result<(), ConnectionError> {
    let [high, low] = part.to_be_bytes();
    write(connection, &[Notice::Part as u8, high, low]).await
}

/// Tells the other box how many of its packets were restored here, so that it may send repairs.
///
/// # Errors
/// The association is lost.
pub(super) async fn send_restored(
    connection: &Connection,
    packets: u32,
) -> Result<(), ConnectionError> {
    let mut notice = vec![Notice::Restored as u8];
    notice.extend(packets.to_be_bytes());
    write(connection, &notice).await
}

async fn write(connection: &Connection, notice: &[u8]) -> Result<(), ConnectionError> {
    let mut stream = connection.open_uni().await?;
    // Before all data.
    let _ = stream.set_priority(i32::MAX);
    let _ = stream.write(notice).await;
    let _ = stream.finish();
    let _ = stream.stopped().await;
    Ok(())
}

/// How often the association is looked at while datagrams of clients arrive, which are many.
const LOOK: Duration = Duration::from_millis(10);

/// Keeps the heartbeat until the association is lost, and returns why it was. `take` gets the datagrams
/// of clients, which the same queue of QUIC brings.
pub(super) async fn keep(
    connection: &Connection,
    mut take: impl FnMut(Bytes) + Send,
    mut report: impl FnMut(Beat) + Send,
) -> ConnectionError {
    let mut pulse = Pulse::new(Instant::now(), connection.stats().udp_rx.datagrams);
    let (mut looked, mut look) = (Instant::now(), Instant::now());
    let mut notices = JoinSet::new();
    let (mut warned, mut drains, mut handed_over) = (false, false, false);
    let (mut part, mut restored) = (WHOLE, None);
    loop {
        tokio::select! {
            error = connection.closed() => return error,
            // What waits for the link's return can go on as soon as the other box is heard.
            Ok(datagram) = connection.read_datagram() => {
                if datagram != PAYLOAD {
                    take(datagram);
                    if looked.elapsed() < LOOK {
                        continue;
                    }
                }
            }
            Ok(mut stream) = connection.accept_uni() => {
                // Datagrams do not wait for it.
                notices.spawn(async move {
                    tokio::time::timeout(BEAT, stream.read_to_end(MOST_NOTICE)).await
                });
                continue;
            }
            Some(read) = notices.join_next(), if !notices.is_empty() => {
                if let Ok(Ok(Ok(notice))) = read {
                    warned |= notice[..] == [Notice::Throttled as u8];
                    drains |= notice[..] == [Notice::Drains as u8];
                    handed_over |= notice[..] == [Notice::HandedOver as u8];
                    if let [kind, high, low] = notice[..] && kind == Notice::Part as u8 {
                        part = u16::from_be_bytes([high, low]).clamp(1, WHOLE);
                    }
                    if let [kind, a, b, c, d] = notice[..] && kind == Notice::Restored as u8 {
                        // Notices may overtake each other.
                        restored = restored.max(Some(u32::from_be_bytes([a, b, c, d])));
                    }
                }
            }
            () = tokio::time::sleep_until(look.into()) => {}
        }
        looked = Instant::now();
        let stats = connection.stats();
        let (acknowledged, in_flight) = opening::progress(connection);
        let rtt = acknowledged.rtt.unwrap_or_else(|| connection.rtt());
        let verdict = pulse.look(Seen {
            now: Instant::now(),
            received: stats.udp_rx.datagrams,
            acknowledged: acknowledged.newest,
            in_flight,
            rtt,
        });
        if verdict.beat {
            opening::open(connection);
            // An error means that the association is lost, as the next turn finds.
            let _ = connection.send_datagram(Bytes::from_static(PAYLOAD));
        }
        look = looked + verdict.wait;
        report(Beat {
            rtt,
            lost: verdict.lost,
            late: verdict.late,
            warned: std::mem::take(&mut warned),
            drains,
            handed_over,
            part,
            restored,
            stats,
        });
    }
}
