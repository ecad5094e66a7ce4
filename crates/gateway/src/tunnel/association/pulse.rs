//! When a box sends heartbeats, and when the link counts as gone, as a function of what the box saw
//! and of the time: nothing here reads a clock.
//!
//! Progress is the age of the newest packet that the other box has acknowledged, not the time since
//! an acknowledgement came. After an outage the first acknowledgement may be of a packet that had
//! arrived before it: it covers nothing of what was lost, and QUIC takes a round trip from it that is
//! as long as the outage (RFC 9002, section 5.3, subtracts no more than `max_ack_delay`).
//! Retransmission timers that follow that round trip then fire seconds too late, so that the
//! heartbeats must not follow it too.

use std::time::{Duration, Instant};

/// Longest time between two looks.
pub(super) const TICK: Duration = Duration::from_millis(200);
/// Shortest time between two looks.
const SHORTEST: Duration = Duration::from_millis(5);
/// Time without a packet, in addition to two round trips, after which heartbeats begin.
pub(super) const BEAT: Duration = Duration::from_secs(1);
/// Time between heartbeats that are not acknowledged, and the time beyond a round trip after which
/// what is in flight counts as lost.
const AGAIN: Duration = Duration::from_millis(500);

/// Datagrams in the time between two heartbeats beyond which data flows.
const FEW: u64 = 8;
/// Time beyond two round trips after which the answer to the first heartbeat, which left after one and
/// [`AGAIN`], is late.
const LATE: Duration = Duration::from_millis(600);

/// What a box sees of an association.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    /// Time of the look.
    pub(super) now: Instant,
    /// Datagrams received so far.
    pub(super) received: u64,
    /// When the newest packet that is acknowledged was sent.
    pub(super) acknowledged: Option<Instant>,
    /// Bytes that are not acknowledged.
    pub(super) in_flight: u64,
    /// Round trip, without those that outages made long.
    pub(super) rtt: Duration,
}

/// A direction in which nothing passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lost {
    /// Nothing arrives from the other box.
    FromOther,
    /// The other box is heard, and acknowledges nothing of what is sent to it.
    ToOther,
}

impl Lost {
    /// The word of the status: what does not pass.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Lost::FromOther => "from",
            Lost::ToOther => "to",
        }
    }

    /// What is so, in words; `other` is what the other box is called.
    pub(super) fn words(self, other: &str) -> String {
        match self {
            Lost::FromOther => format!("nothing arrives from the {other}"),
            Lost::ToOther => {
                format!("the {other} is heard, and nothing that this box sends arrives there")
            }
        }
    }
}

/// What to do after a look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Verdict {
    /// A heartbeat is due.
    pub(super) beat: bool,
    /// Heartbeats have gone unanswered.
    pub(super) lost: Option<Lost>,
    /// The first of them has.
    pub(super) late: bool,
    /// Time until the next look.
    pub(super) wait: Duration,
}

/// What a box remembers from one look to the next.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pulse {
    received: u64,
    /// Last look at which something had arrived.
    heard: Instant,
    /// When the newest packet that is acknowledged was sent; while nothing is in flight, now.
    progress: Instant,
    /// When that was acknowledged.
    advanced: Instant,
    /// When data was last seen to flow from the other box.
    flowed: Instant,
    /// Start of a time in which datagrams are counted, and how many had been received by then.
    counted: (Instant, u64),
    beaten: Option<Instant>,
    /// Nothing had arrived for so long at the last look that heartbeats were lost.
    quiet: bool,
}

impl Pulse {
    pub(super) fn new(now: Instant, received: u64) -> Pulse {
        Pulse {
            received,
            heard: now,
            progress: now,
            advanced: now,
            flowed: now,
            counted: (now, received),
            beaten: None,
            quiet: false,
        }
    }

    /// Looks at the association.
    pub(super) fn look(&mut self, seen: Seen) -> Verdict {
        let Seen { now, rtt, .. } = seen;
        let hears = seen.received != self.received;
        if hears {
            self.received = seen.received;
            self.heard = now;
        }
        if seen.in_flight == 0 {
            (self.progress, self.advanced) = (now, now);
        } else if let Some(sent) = seen.acknowledged
            && sent > self.progress
        {
            (self.progress, self.advanced) = (sent, now);
        }
        if seen.received > self.counted.1 + FEW {
            self.flowed = now;
        }
        if seen.received > self.counted.1 + FEW || now >= self.counted.0 + AGAIN {
            self.counted = (now, seen.received);
        }
        let patience = 2 * rtt + BEAT;
        let overdue = rtt + AGAIN;
        let silence = now.saturating_duration_since(self.heard);
        let age = now.saturating_duration_since(self.progress);
        // What this box has in flight may be lost although the other one is heard: when the link has
        // gone in one direction, and when it has just come back.
        let stuck = age >= overdue;
        let calls = stuck || silence >= patience;
        let due = self.beaten.map_or(now, |beaten| beaten + AGAIN);
        let beat = (calls && now >= due) || (stuck && hears && self.quiet);
        self.quiet = silence >= overdue;
        if beat {
            self.beaten = Some(now);
        }
        let next = match (calls, seen.in_flight) {
            _ if beat => now + AGAIN,
            (true, _) => due,
            (false, 0) => self.heard + patience,
            (false, _) => (self.heard + patience).min(self.progress + overdue),
        };
        // Where the queue of either direction has become long, acknowledgements are old and rare, and
        // data goes on flowing. A box that gets none of this one's soon has a full window.
        let since = |at: Instant| now.saturating_duration_since(at);
        let stands = since(self.advanced) >= overdue && since(self.flowed) >= rtt;
        let lost = match (stands && age >= patience, silence >= overdue) {
            (true, true) => Some(Lost::FromOther),
            (true, false) => Some(Lost::ToOther),
            (false, _) => (silence > 2 * patience).then_some(Lost::FromOther),
        };
        let late = stands && age >= 2 * rtt + LATE;
        let wait = next.saturating_duration_since(now).clamp(SHORTEST, TICK);
        Verdict {
            beat,
            lost,
            late,
            wait,
        }
    }
}

#[cfg(test)]
mod tests;
