//! The receiving half of Linux 6: when it acknowledges, and the window that it
//! advertises.
//!
//! Source: RFC 1122, section 4.2.3.2, RFC 5681, section 4.2, RFC 9293, section
//! 3.8.6.2.2; the rest is Linux's own:
//!
//! - **Quick ACKs.** The first 16 segments (half the window, if that is less) are
//!   acknowledged at once, and so is what arrives after a duplicate, after a gap
//!   of more than a retransmission timeout, and while the window is being opened.
//! - **Delayed ACKs.** Else an ACK waits for more than a full segment, and no longer
//!   than a time that follows the gaps between segments: 40 ms at least, 200 ms
//!   or the smoothed RTT at most, twice as long when the timer had to send the
//!   ACK. A segment shorter than a full one is the end of what the application
//!   wrote, and its ACK goes when it is read, which here is at once.
//! - **Interactive sessions.** An application that sets `TCP_QUICKACK` to 0 after every read gets
//!   neither: it is taken for an interactive one until the timer or a duplicate ends that.
//!   `quick_acks = 0` models such an application, `ack_count = 1` one that sets it to 1.
//!   `quick_acks` from 1 to 15 models one that makes the kernel acknowledge like an old one: it
//!   sets it to 0 once it has read so many segments, after every read from then on and whenever the
//!   timer has run.
//! - **FIN.** Its ACK waits like one of data in an interactive session; on a side that is closed
//!   already it goes at once.
//! - **Gaps.** A segment above a gap is acknowledged at once. From the fourth in
//!   a row on, ACKs wait for 5% of the RTT, at most 1 ms, or for 44 segments; and no
//!   longer than until a segment arrives whose report would push another SACK
//!   block out of the first two places: then the ACK of what came before it goes, and the
//!   segment itself waits for that of a later one.
//! - **Window.** It opens from 64 kB by two segments with every one that arrives,
//!   up to what the buffer has room for. The buffer begins with 80 kB and is tuned
//!   once a round trip: when more arrived in it than in any before, to twice as
//!   much, and more by how much faster that is; the transport's receive buffer
//!   is the largest. How long a round trip takes is what `round_trip` says. What waits above a gap
//!   takes room, but the right edge never moves back: so a window can hold a
//!   sender back while a loss is repaired. ACKs are quick while it opens.
//!   (`tcp_rcv_space_adjust` of 6.16 and later. Up to 6.15 the buffer has 16 segments more, also in
//!   the 6.12 of `fidelity/linux/hard.py`: with these, three of its corners without timestamps are
//!   5 to 11% from that kernel, and without them none, for a reason that is open. That it
//!   grows by what waits above a gap, too, is left out.)
//!
//! Left out: the flag PUSH, which has the last segment of a burst acknowledged
//! when it is read unless the session is interactive.

mod round_trip;

use crate::linux::wheel::expiry;
use crate::options::{DelayedAck, KernelSettings};
use crate::packet::Packet;
use bentpipe_units::{Duration, Time};
use round_trip::RoundTrip;

/// Segments that the kernel acknowledges at once by itself.
const QUICK: u32 = 16;

/// The shortest delay of an ACK.
const LEAST: Duration = Duration::from_millis(40);

/// Duplicates above a gap that are acknowledged at once.
const GAP_QUICK: u32 = 3;

/// Segments above a gap that wait for one ACK at most, and for how long.
const GAP_SEGMENTS: u32 = 44;
const GAP_DELAY: Duration = Duration::from_millis(1);

/// The window that a connection begins with.
const FIRST_WINDOW: u32 = 65_535;

/// The room that the buffer begins with: 128 kB less the overhead of packets
/// of 1500 bytes.
const FIRST_ROOM: u32 = 81_920;

/// Segments below this size do not open the window.
const SMALL: u32 = 128;

/// State of the receiver.
#[derive(Clone, Debug)]
pub(crate) struct QuickAck {
    /// The rule as the transport gives it.
    rule: DelayedAck,
    /// Granularity of the timer.
    tick: Duration,
    /// The first byte of the connection.
    first: u64,
    /// Segments that are still acknowledged at once.
    quick: u32,
    /// The session is taken for interactive.
    interactive: bool,
    /// The delay of the next ACK; `None` before the first segment.
    delay: Option<Duration>,
    received_at: Time,
    smoothed: Duration,
    timeout: Duration,
    /// The largest segment so far.
    full: u32,
    /// ACKs for segments above the gap at `gap` so far, and segments that wait
    /// for one.
    gap: u64,
    gap_acks: u32,
    gap_waiting: u32,
    /// The segment that comes now has had its ACK, in which it was not yet.
    crowded: bool,
    /// The window, its right edge, and the most that it opens to.
    window: u32,
    edge: u64,
    /// Windows are multiples of this: the window scale expresses no other.
    step: u64,
    /// Bytes that the application had no time to read before the next ACK.
    unread: u32,
    room: u32,
    largest: u32,
    mss: u32,
    /// The round trip began when this many bytes had arrived, and at this time;
    /// the most that arrived in one.
    round_from: u64,
    round_at: Time,
    most: u64,
    /// What it takes for a round trip.
    round_trip: RoundTrip,
    /// This side has closed the connection.
    closed: bool,
}

/// Action for a received segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    /// An ACK goes at once.
    Now,
    /// Not later than this.
    By(Time),
    /// A timer that runs is right.
    Wait,
}

impl QuickAck {
    pub(crate) fn new(rule: DelayedAck, largest: u32, mss: u32) -> QuickAck {
        QuickAck {
            rule,
            tick: KernelSettings::DEFAULT.tick,
            first: 0,
            quick: 0,
            interactive: rule.quick_acks == 0,
            delay: None,
            received_at: Time::ZERO,
            smoothed: Duration::ZERO,
            timeout: Duration::from_secs(1),
            full: 0,
            gap: 0,
            gap_acks: 0,
            gap_waiting: 0,
            crowded: false,
            window: largest.min(FIRST_WINDOW),
            edge: u64::from(largest.min(FIRST_WINDOW)),
            step: 1 << largest.max(1).ilog2().saturating_sub(15).min(14),
            unread: 0,
            room: largest.min(FIRST_ROOM),
            largest,
            mss,
            round_from: 0,
            round_at: Time::ZERO,
            most: 10 * u64::from(mss),
            round_trip: RoundTrip::default(),
            closed: false,
        }
    }

    /// The kernel's clock ticks every `tick`.
    pub(crate) fn set_tick(&mut self, tick: Duration) {
        self.tick = tick;
    }

    /// The largest window.
    pub(crate) fn largest(&self) -> u32 {
        self.largest
    }

    /// The first byte of the connection has this number.
    pub(crate) fn start_at(&mut self, first: u64) {
        self.first = first;
        self.edge += first;
        self.round_from = first;
    }

    /// The handshake gave a round trip at `now`.
    pub(crate) fn set_round_trip(&mut self, now: Time, smoothed: Duration, timeout: Duration) {
        self.smoothed = smoothed;
        self.timeout = timeout;
        self.round_at = now;
    }

    /// A data packet has come that echoes a timestamp of ours, or none.
    pub(crate) fn on_echo(&mut self, now: Time, packet: &Packet) {
        let reports = packet.corruption_reports() > 0;
        let is_full = u32::from(packet.payload) >= self.full;
        if packet.timestamp_echo != 0 && !reports {
            self.round_trip.on_echo(now, packet.timestamp_echo, is_full);
        }
    }

    /// The application reads up to byte `read`, and up to byte `next` then: it
    /// had to wait for what lies between, which does not count yet.
    fn tune(&mut self, now: Time, read: u64, next: u64) {
        let handshake = self.smoothed;
        if self.room == self.largest || !self.round_trip.is_over(handshake, self.round_at, now) {
            return;
        }
        self.round_at = now;
        let from = std::mem::replace(&mut self.round_from, read);
        let read = read.saturating_sub(from).saturating_sub(next - read);
        if read > self.most {
            let twice = u128::from(2 * read);
            let faster = twice * u128::from(read - self.most) / u128::from(self.most.max(1));
            let room = u32::try_from(twice + 2 * faster).unwrap_or(u32::MAX);
            self.room = self.room.max(room.min(self.largest));
            self.most = read;
        }
    }

    /// The window to advertise when everything below byte `next` is there, and
    /// `held` bytes wait above a gap.
    pub(crate) fn advertise(&mut self, next: u64, held: u64) -> u32 {
        let unread = u64::from(std::mem::take(&mut self.unread));
        let free = u64::from(self.room).saturating_sub(held + unread);
        if free < u64::from(self.room / 2) {
            self.quick = 0;
        }
        let window = free.min(u64::from(self.window)).next_multiple_of(self.step);
        self.edge = self.edge.max(next + window);
        u32::try_from(self.edge - next).unwrap_or(u32::MAX)
    }

    /// The next so many segments are acknowledged at once, if the window is
    /// worth it.
    fn be_quick(&mut self) {
        let half = (self.window / (2 * self.full.max(536))).max(2);
        self.quick = self.quick.max(half.min(self.rule.quick_acks.max(QUICK)));
    }

    /// A duplicate has arrived.
    pub(crate) fn on_duplicate(&mut self) {
        self.be_quick();
        self.interactive = false;
        self.delay = Some(LEAST);
    }

    /// A segment above the gap at `next` has arrived, where `held` bytes wait now.
    pub(crate) fn on_gap(
        &mut self,
        now: Time,
        (next, held): (u64, u64),
        deadline: Time,
        len: u32,
    ) -> Decision {
        self.open_window(len, held);
        if std::mem::take(&mut self.crowded) {
            return Decision::Wait;
        }
        if self.is_quick() {
            return Decision::Now;
        }
        if self.gap != next {
            self.gap = next;
            self.gap_acks = 0;
        }
        if self.gap_acks < GAP_QUICK {
            self.gap_acks += 1;
            return Decision::Now;
        }
        self.gap_waiting += 1;
        if self.gap_waiting > GAP_SEGMENTS {
            return Decision::Now;
        }
        if deadline != Time::MAX {
            return Decision::Wait;
        }
        let round_trip = self.smoothed.min(self.round_trip.smoothed());
        Decision::By(now + (round_trip / 20).min(GAP_DELAY))
    }

    /// A segment of `len` bytes has arrived in order, so that all is there below
    /// `next`; `waiting` bytes of it are not acknowledged, and a timer runs until `deadline`.
    /// `fills` if it closes the last gap; else `held` bytes may wait above one.
    pub(crate) fn on_segment(
        &mut self,
        now: Time,
        len: u32,
        (next, waiting): (u64, u64),
        deadline: Time,
        (fills, held): (bool, u64),
    ) -> Decision {
        let below_gap = held > 0;
        self.note_arrival(now, len);
        self.open_window(len, held);
        let read = if fills || below_gap {
            next - waiting + u64::from(len)
        } else {
            next
        };
        self.tune(now, read.min(next), next);
        let full = u64::from(self.full.max(1));
        let enough = u64::from(self.rule.count.max(1) - 1) * full;
        let was_interactive = self.interactive;
        let at_once = fills || below_gap || waiting > enough || self.is_quick();
        if below_gap && waiting <= enough && !self.is_quick() {
            // It counts among those that are acknowledged at once.
            self.gap = next;
            self.gap_acks = 1;
        }
        // The application reads, and what it wrote ends here.
        let read = len < self.full && !was_interactive;
        let asks_from = self.first + u64::from(self.rule.quick_acks) * full;
        self.interactive |= self.rule.quick_acks < QUICK && next >= asks_from;
        if at_once || read {
            return Decision::Now;
        }
        self.delayed(now, deadline, self.delay.unwrap_or(LEAST), was_interactive)
    }

    /// The connection is closed on this side: the peer's FIN will be acknowledged at once.
    pub(crate) fn close(&mut self) {
        self.closed = true;
    }

    /// The peer's FIN has arrived in order, behind `len` bytes of data; `waiting` bytes, itself
    /// included, are not acknowledged, and a timer runs until `deadline`. Linux owes it an
    /// ACK, but takes the session for interactive from here on, as the application will answer by
    /// closing: so the ACK waits like that of data. Who has closed before answers at once
    /// (`tcp_fin`).
    pub(crate) fn on_fin(&mut self, now: Time, len: u32, waiting: u64, deadline: Time) -> Decision {
        if len > 0 {
            self.note_arrival(now, len);
            self.open_window(len, 0);
        }
        self.interactive = true;
        let enough = u64::from(self.rule.count.max(1) - 1) * u64::from(self.full.max(1));
        if self.closed || self.rule.count <= 1 || waiting > enough {
            return Decision::Now;
        }
        // Before the first segment of data there is no delay but a tick.
        self.delayed(now, deadline, self.delay.unwrap_or(Duration::ZERO), true)
    }

    /// When an ACK goes that waits for `wait`, while a timer runs until `deadline`
    /// (`tcp_send_delayed_ack`).
    fn delayed(
        &self,
        now: Time,
        deadline: Time,
        mut wait: Duration,
        was_interactive: bool,
    ) -> Decision {
        if wait > LEAST {
            wait = wait.min(Duration::from_millis(if was_interactive {
                200
            } else {
                500
            }));
            if !self.smoothed.is_zero() {
                wait = wait.min(self.smoothed.max(LEAST));
            }
        }
        wait = wait.min(self.rule.timer);
        let by = expiry(self.tick, now, now + wait);
        if deadline == Time::MAX {
            return Decision::By(by);
        }
        if deadline <= now + wait / 4 {
            return Decision::Now;
        }
        if by < deadline {
            Decision::By(by)
        } else {
            Decision::Wait
        }
    }

    /// The next segment sends the ACK of what waits, before it is taken itself. For Linux that is
    /// the ACK that it owes for the segment, too: it neither sends another nor counts the segment
    /// among those that wait.
    pub(crate) fn on_crowd(&mut self) {
        self.crowded = true;
    }

    /// What has come was there before: its report waits for an ACK of its own.
    pub(crate) fn owes_report(&mut self) {
        self.crowded = false;
    }

    /// True if segments above a gap wait for an ACK.
    pub(crate) fn waits_above_gap(&self) -> bool {
        self.gap_waiting > 0
    }

    fn is_quick(&self) -> bool {
        self.rule.count <= 1 || (self.quick > 0 && !self.interactive)
    }

    /// The time between segments in order, and their size. What lies above a gap does not count:
    /// the first segment below it that comes after a timeout finds a pause.
    fn note_arrival(&mut self, now: Time, len: u32) {
        // A packet can be several segments that left together.
        self.full = self.full.max(len.min(self.mss));
        match self.delay {
            None => {
                self.be_quick();
                self.delay = Some(LEAST);
            }
            Some(delay) => {
                let gap = now.since(self.received_at);
                if gap <= LEAST / 2 {
                    self.delay = Some(delay / 2 + LEAST / 2);
                } else if gap < delay {
                    self.delay = Some((delay / 2 + gap).min(self.timeout));
                } else if gap > self.timeout {
                    self.be_quick();
                }
            }
        }
        self.received_at = now;
    }

    /// A segment has arrived, so that the window opens while there is room.
    fn open_window(&mut self, len: u32, held: u64) {
        self.unread = if held > 0 { 0 } else { len };
        let free = u64::from(self.room).saturating_sub(held);
        if len >= SMALL && u64::from(self.window) < free {
            let opened = self.window.saturating_add(2 * self.mss.max(len));
            self.window = opened.min(u32::try_from(free).unwrap_or(u32::MAX));
            self.quick |= 1;
        }
    }

    /// An ACK is sent.
    pub(crate) fn on_ack(&mut self, of_data: bool) {
        self.gap_waiting = 0;
        if !of_data || self.quick == 0 {
            return;
        }
        self.quick -= 1;
        if self.quick == 0 {
            self.delay = Some(LEAST);
        }
    }

    /// The timer ran out before an ACK went.
    pub(crate) fn on_timer(&mut self) {
        self.unread = 0;
        if self.gap_waiting > 0 {
            return;
        }
        if self.interactive {
            self.interactive = (1..QUICK).contains(&self.rule.quick_acks);
            self.delay = Some(LEAST);
        } else {
            self.delay = self.delay.map(|delay| (delay * 2).min(self.timeout));
        }
    }
}

#[cfg(test)]
mod tests;
