//! The round trip without queues.

use crate::History;
use crate::estimate::{Estimate, sorted};

/// Bytes of an acknowledgement at the IP layer, with timestamps.
const ACK: f64 = 52.0;

/// Bytes of a packet of the handshake.
const SYN: f64 = 60.0;

/// A way back that is slower than the way there by more than this is not expected.
const SLOWER: f64 = 5.0;

/// The smallest round trip, less the time that its packet takes to be transmitted at `rate`,
/// bit/s, seconds. What the acknowledgement takes on a way back of an unknown rate stays in it;
/// the lower end of the interval is without what it takes at a fifth of the rate.
pub(crate) fn base(history: &History, rate: Option<f64>) -> Option<Estimate> {
    let transmission = |bytes: f64| rate.map_or(0.0, |rate| 8.0 * bytes / rate);
    let sample = |(index, rtt): (usize, f64)| {
        let packet = history.acks[index].newest.checked_sub(1)?;
        Some(rtt - transmission(f64::from(history.sent[packet].bytes)))
    };
    let rtts = history.acks.iter().enumerate();
    let rtts = rtts.filter_map(|(index, ack)| Some((index, ack.rtt?)));
    let opening = history.handshake_rtt.map(|rtt| rtt - transmission(SYN));
    let all = sorted(
        rtts.filter_map(sample)
            .chain(opening)
            .filter(|rtt| *rtt > 0.0),
    );
    let smallest = *all.first()?;
    // Of few samples none may have met an empty queue; of many the fifth has, too.
    let fifth = all.get(4).copied().unwrap_or(smallest);
    Some(Estimate {
        value: smallest,
        low: (smallest - SLOWER * transmission(ACK)).max(0.0),
        high: fifth,
    })
}
