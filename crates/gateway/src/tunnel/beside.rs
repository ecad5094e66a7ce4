//! What else leaves through the interface to the satellite: traffic that does not pass through the
//! tunnel, which the shaper cannot see and would trample. It is counted, shown, and left room for, as far
//! as the configuration allows (`link.beside`).

use super::known::Knowledge;
use crate::config::Link;
use crate::operate::SharedState;
use bentpipe_units::{Rate, Ratio};
use std::path::PathBuf;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

/// How often the interfaces are read.
const LOOK: Duration = Duration::from_millis(100);
/// How much of a change counts at once where there is more than before, and where there is less: room is
/// made at once, and taken back when it has not been needed for a second.
const RISE: f64 = 0.5;
const FALL: f64 = 0.1;
/// Part of the rate below which nothing is said to be there: headers are counted differently.
const NOISE: f64 = 0.01;
/// What the interfaces may be behind, bytes: packets in queues of the kernel.
const MOST_AHEAD: u64 = 1 << 20;
/// Header of Ethernet, which interfaces count and the link's rate does not.
const ETHERNET: u64 = 14;

/// Bytes that interfaces and this box have sent, so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sent {
    /// IP packets of all, through the interfaces.
    all: u64,
    /// Those of the tunnel.
    own: u64,
}

/// The rate of what is not the tunnel's.
#[derive(Debug)]
struct Others {
    last: Sent,
    at: Instant,
    bytes_per_second: f64,
    /// Bytes that this box has counted and the interfaces had not sent yet.
    ahead: u64,
}

impl Others {
    const fn new(at: Instant, last: Sent) -> Others {
        Others {
            last,
            at,
            bytes_per_second: 0.0,
            ahead: 0,
        }
    }

    fn look(&mut self, now: Instant, sent: Sent) -> f64 {
        let seconds = now.saturating_duration_since(self.at).as_secs_f64();
        if seconds > 0.0 {
            let all = sent.all.saturating_sub(self.last.all);
            let own = sent.own.saturating_sub(self.last.own);
            let owed = own + self.ahead;
            self.ahead = owed.saturating_sub(all).min(MOST_AHEAD);
            let now = all.saturating_sub(owed) as f64 / seconds;
            let part = if now > self.bytes_per_second {
                RISE
            } else {
                FALL
            };
            self.bytes_per_second += part * (now - self.bytes_per_second);
        }
        (self.last, self.at) = (sent, now);
        self.bytes_per_second
    }
}

/// What is left to others of `rate`, where they send so many bytes a second and may have `most` of it.
fn left(rate: Rate, bytes_per_second: f64, most: Ratio) -> Rate {
    let others = bytes_per_second * 8.0;
    match others < NOISE * rate.bps_f64() {
        true => Rate::ZERO,
        false => Rate::from_bps_f64(others.min(most.get() * rate.bps_f64())),
    }
}

/// Bytes of IP packets that these interfaces have sent.
fn sent(interfaces: &[String]) -> Option<u64> {
    let mut all = 0;
    for interface in interfaces {
        let folder = PathBuf::from("/sys/class/net")
            .join(interface)
            .join("statistics");
        let read = |name: &str| {
            let text = std::fs::read_to_string(folder.join(name)).ok()?;
            text.trim().parse::<u64>().ok()
        };
        let headers = ETHERNET * read("tx_packets")?;
        all += read("tx_bytes")?.saturating_sub(headers);
    }
    Some(all)
}

/// Looks at `interfaces` until `knowledge` is gone.
async fn watch(
    knowledge: Weak<Knowledge>,
    state: Weak<SharedState>,
    interfaces: Vec<String>,
    most: Ratio,
) {
    let mut others: Option<Others> = None;
    let mut ticks = tokio::time::interval(LOOK);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let Some(knowledge) = knowledge.upgrade() else {
            return;
        };
        let own = knowledge.sent_bytes();
        let Some(all) = sent(&interfaces) else {
            // It went away, and may come back.
            others = None;
            knowledge.note_beside(Rate::ZERO);
            continue;
        };
        let (now, sent) = (Instant::now(), Sent { all, own });
        let others = others.get_or_insert_with(|| Others::new(now, sent));
        let bytes_per_second = others.look(now, sent);
        if let Some(state) = state.upgrade() {
            let shown = Rate::from_bps_f64(bytes_per_second * 8.0);
            state.counters.beside_bits_per_second.set(shown.bps());
        }
        if let Some(rate) = knowledge.told() {
            knowledge.note_beside(left(rate, bytes_per_second, most));
        }
    }
}

/// Starts to look at the interfaces of `link`, until `knowledge` is gone; at none, where none is known.
pub(super) fn start(knowledge: &Arc<Knowledge>, state: &Arc<SharedState>, link: &Link) {
    if link.interfaces.is_empty() {
        return;
    }
    tokio::spawn(watch(
        Arc::downgrade(knowledge),
        Arc::downgrade(state),
        link.interfaces.clone(),
        link.beside,
    ));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rate that is found after each tenth of a second of others at these rates, in Mbit/s, beside
    /// 10 Mbit/s of the tunnel.
    fn found(rates: &[f64]) -> Vec<f64> {
        let begin = Instant::now();
        let mut others = Others::new(begin, Sent::default());
        let mut sent = Sent::default();
        let tenth = |mbps: f64| (mbps * 1e6 / 80.0) as u64;
        (1..)
            .zip(rates)
            .map(|(at, rate)| {
                sent.own += tenth(10.0);
                sent.all += tenth(10.0) + tenth(*rate);
                others.look(begin + at * LOOK, sent) * 8e-6
            })
            .collect()
    }

    #[test]
    fn room_is_made_at_once_and_taken_back_slowly() {
        let rates = [&[0.0; 5][..], &[8.0; 10], &[0.0; 30]].concat();
        let found = found(&rates);
        assert_eq!(found[4], 0.0);
        assert!(found[7] > 6.9, "{found:?}");
        assert!((found[14] - 8.0).abs() < 0.1, "{found:?}");
        assert!(found[17] > 5.0 && found[44] < 0.4, "{found:?}");
    }

    /// What was counted and leaves a moment later is not another's.
    #[test]
    fn a_late_interface_is_no_traffic_of_others() {
        let begin = Instant::now();
        let mut others = Others::new(begin, Sent::default());
        for at in 1..100_u32 {
            let own = u64::from(at) * 100_000;
            let late = if at % 2 == 0 { 0 } else { 20_000 };
            let found = others.look(
                begin + at * LOOK,
                Sent {
                    all: own - late,
                    own,
                },
            );
            assert_eq!(found, 0.0, "{at}");
        }
    }

    #[test]
    fn the_tunnel_keeps_its_part() {
        let rate = Rate::from_mbps(20);
        let half = Ratio::new(0.5).unwrap();
        assert_eq!(left(rate, 1e6, half), Rate::from_mbps(8));
        assert_eq!(left(rate, 9e6, half), Rate::from_mbps(10));
        assert_eq!(left(rate, 20_000.0, half), Rate::ZERO);
        assert_eq!(left(rate, 9e6, Ratio::ZERO), Rate::ZERO);
    }
}
