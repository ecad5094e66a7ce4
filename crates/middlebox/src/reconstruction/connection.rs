//! The state of one connection.

use super::ReconstructionSettings;
use crate::connections;
use crate::interface::{Pass, Surroundings};
use bentpipe_tcp::packet::{flags, priority};
use bentpipe_tcp::{Packet, Transmit};
use bentpipe_units::{Duration, Time};

type Shared = connections::Shared<ReconstructionSettings, ()>;

#[derive(Clone, Debug, Default)]
pub(crate) struct Connection {
    /// Payload of the largest segment seen.
    segment: u64,
    /// The highest number that has gone on to the sender.
    sent: u64,
    /// The newest acknowledgement that came, while ACKs up to it are still to be
    /// sent.
    held: Option<Packet>,
    /// The highest number that came.
    last: u64,
    /// When one arrived last that advanced.
    advanced_at: Option<Time>,
    /// The mean time between those; `None` before a sample.
    between: Option<Duration>,
    /// When the last one left for the sender, and how long after it the next of
    /// the series does.
    left_at: Time,
    gap: Duration,
    /// Arrival time of the newest held ACK: the series continues no earlier.
    held_at: Time,
}

impl Connection {
    /// Bytes from one acknowledgement to the next.
    fn step(&self, shared: &Shared) -> u64 {
        u64::from(shared.settings.threshold.max(1)) * self.segment.max(1)
    }

    /// Takes the time since the last ACK that advanced into the mean.
    fn sample(&mut self, now: Time, shared: &Shared) {
        let before = self.advanced_at.replace(now);
        let Some(gap) = before.map(|before| now.since(before)) else {
            return;
        };
        if gap > shared.settings.pause {
            return;
        }
        self.between = Some(match self.between {
            None => gap,
            Some(mean) => {
                let gain = shared.settings.gain;
                mean.scaled(1.0 - gain) + gap.scaled(gain)
            }
        });
    }

    /// Time from one acknowledgement to the next, with `bytes` to cover until
    /// another is expected from the receiver.
    fn spacing(&self, bytes: u64, shared: &Shared) -> Duration {
        let fixed = shared.settings.spacing;
        fixed.unwrap_or_else(|| {
            let count = bytes.div_ceil(self.step(shared)).max(1);
            // A count of ACKs is far below 2^53.
            let share = 1.0 / count as f64;
            self.between.unwrap_or(Duration::ZERO).scaled(share)
        })
    }

    /// Sends the next acknowledgement of the series, which is due at `at`.
    fn advance<T: Transmit>(&mut self, at: Time, shared: &mut Shared, out: &mut T) {
        let Some(held) = self.held else {
            return;
        };
        let next = (self.sent + self.step(shared)).min(held.acknowledgement);
        self.send(&held, next, shared, out);
        self.left_at = at;
        if next == held.acknowledgement {
            self.held = None;
        }
    }

    /// Sends what is held at once, as one acknowledgement.
    fn flush<T: Transmit>(&mut self, shared: &mut Shared, out: &mut T) {
        if let Some(held) = self.held.take() {
            self.send(&held, held.acknowledgement, shared, out);
        }
    }

    fn send<T: Transmit>(&mut self, held: &Packet, number: u64, shared: &mut Shared, out: &mut T) {
        // The right edge of the window is that of the ACK that it is made from.
        let ahead = held.acknowledgement.saturating_sub(number);
        let window = (u64::from(held.window) + ahead).min(u64::from(u32::MAX));
        out.transmit(Packet {
            acknowledgement: number,
            window: window as u32,
            ..*held
        });
        shared.counters.acknowledged += 1;
        self.sent = number;
    }

    /// When the next of the series is due.
    fn due(&self) -> Time {
        match self.held {
            Some(_) => (self.left_at + self.gap).max(self.held_at),
            None => Time::MAX,
        }
    }
}

/// True if a packet says no more than how far the receiver has got.
fn is_plain(packet: &Packet) -> bool {
    packet.payload == 0
        && packet.flags == flags::ACK
        && packet.sack_count == 0
        && packet.priority == priority::NORMAL
}

impl connections::Connection for Connection {
    type Settings = ReconstructionSettings;
    type More = ();

    fn of_data(packet: &Packet, _: &ReconstructionSettings) -> Connection {
        Connection {
            sent: packet.sequence,
            last: packet.sequence,
            ..Connection::default()
        }
    }

    fn on_data<T: Transmit>(
        &mut self,
        _around: Surroundings,
        packet: &Packet,
        _shared: &mut Shared,
        _out: &mut T,
    ) -> Pass {
        self.segment = self.segment.max(u64::from(packet.payload));
        Pass::Forward
    }

    fn on_ack<T: Transmit>(
        &mut self,
        now: Time,
        packet: &Packet,
        shared: &mut Shared,
        out: &mut T,
    ) -> Pass {
        let number = packet.acknowledgement;
        if number < self.last && is_plain(packet) {
            return Pass::Suppress; // It came late, and a newer one has passed.
        }
        let advances = number > self.last;
        if advances {
            self.last = number;
            self.sample(now, shared);
        }
        if !advances || !is_plain(packet) {
            self.flush(shared, out);
            self.sent = self.sent.max(number);
            self.left_at = now;
            return Pass::Forward;
        }
        let waits = self.held.is_some();
        let bytes = number - self.sent;
        if !waits && bytes <= self.step(shared) {
            self.sent = number;
            self.left_at = now;
            return Pass::Forward;
        }
        self.held = Some(*packet);
        self.held_at = now;
        self.gap = self.spacing(bytes, shared);
        if !waits {
            // The first of a series leaves at once.
            self.advance(now, shared, out);
        }
        Pass::Suppress
    }

    fn deadline(&self) -> Time {
        self.due()
    }

    fn on_deadline<T: Transmit>(&mut self, now: Time, shared: &mut Shared, out: &mut T) {
        // Without a spacing all of them leave together.
        while self.due() <= now && !out.is_full() {
            self.advance(self.due(), shared, out);
        }
    }
}
