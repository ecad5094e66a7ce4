//! The sending end of a stream.

use super::control::{Control, State};
use super::{Feedback, StreamSettings};
use bentpipe_units::{Bytes, Duration, Time};

/// What a packet of a stream is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamPacketKind {
    /// Opens the stream and has no media.
    Opening,
    /// Media.
    Data,
    /// Of low priority, and to be thrown away.
    Dummy,
}

/// A packet that a sender of a stream sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamPacket {
    /// What it is.
    pub kind: StreamPacketKind,
    /// Its number among those of its kind, from 0.
    pub number: u64,
    /// When it was sent.
    pub sent_at: Time,
    /// Its size at the IP layer.
    pub bytes: Bytes,
}

/// The first wait for an answer to the opening packet, and the longest.
const FIRST_OPENING: Duration = Duration::from_secs(1);
const LONGEST_OPENING: Duration = Duration::from_secs(64);

/// Round trips as answers have shown them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct RoundTrips {
    smallest: Option<Duration>,
    sum: Duration,
    number: u64,
}

/// The sending end of a stream. Its owner calls [`StreamSender::start`], and from then on
/// [`StreamSender::send`] until that returns nothing, at each [`StreamSender::next`].
#[derive(Clone, Debug, PartialEq)]
pub struct StreamSender {
    settings: StreamSettings,
    control: Control,
    /// When the opening packet goes (again), and how long after the one before.
    opens_at: Time,
    opening: Duration,
    /// When the last packet of data and the last dummy went.
    last_data: Option<Time>,
    last_dummy: Option<Time>,
    /// When the first packet of data went.
    began_at: Option<Time>,
    stopped: bool,
    data: u64,
    dummies: u64,
    openings: u64,
    /// Losses that answers have reported.
    lost: u64,
    answers: u64,
    round_trips: RoundTrips,
}

impl StreamSender {
    /// The sender of a stream that has not begun.
    #[must_use]
    pub fn new(settings: StreamSettings) -> StreamSender {
        StreamSender {
            control: Control::new(&settings.control, settings.target),
            settings,
            opens_at: Time::MAX,
            opening: FIRST_OPENING,
            last_data: None,
            last_dummy: None,
            began_at: None,
            stopped: false,
            data: 0,
            dummies: 0,
            openings: 0,
            lost: 0,
            answers: 0,
            round_trips: RoundTrips::default(),
        }
    }

    /// Begins with the packet that opens the stream.
    pub fn start(&mut self, now: Time) {
        self.opens_at = now;
    }

    /// Sends no more.
    pub fn stop(&mut self) {
        self.stopped = true;
    }

    /// When [`StreamSender::send`] is to be called next, seen from `now`.
    #[must_use]
    pub fn next(&self, now: Time) -> Time {
        if self.stopped {
            return Time::MAX;
        }
        if self.control.state == State::Opening {
            return self.opens_at;
        }
        // Before the earliest of these the control changes nothing by itself.
        let deadline = self.control.deadline();
        let at = deadline.min(self.data_at());
        at.min(self.dummy_at(now, deadline)).max(now)
    }

    fn data_at(&self) -> Time {
        due(self.last_data, self.control.rate)
    }

    /// When the next dummy is due, from `now` on, if that is before `deadline`.
    fn dummy_at(&self, now: Time, deadline: Time) -> Time {
        let at = due(self.last_dummy, self.control.dummy_rate(now)).max(now);
        if at < deadline && self.control.dummy_rate(at) > 0.0 {
            at
        } else {
            Time::MAX
        }
    }

    /// The next packet that goes at `now`; `None` where nothing more is due.
    pub fn send(&mut self, now: Time) -> Option<StreamPacket> {
        if self.stopped {
            return None;
        }
        self.control.on_time(now, self.data);
        if self.control.state == State::Opening {
            if now < self.opens_at {
                return None;
            }
            self.opens_at = now + self.opening;
            self.opening = (self.opening * 2).min(LONGEST_OPENING);
            self.openings += 1;
            return Some(self.packet(StreamPacketKind::Opening, self.openings - 1, now));
        }
        if let (Some(length), Some(began)) = (self.settings.length, self.began_at)
            && now >= began + length
        {
            self.stopped = true;
            return None;
        }
        if self.data_at() <= now {
            self.last_data = Some(paced(self.last_data, self.control.rate, now));
            self.began_at.get_or_insert(now);
            self.data += 1;
            return Some(self.packet(StreamPacketKind::Data, self.data - 1, now));
        }
        let rate = self.control.dummy_rate(now);
        if rate > 0.0 && due(self.last_dummy, rate) <= now {
            self.last_dummy = Some(paced(self.last_dummy, rate, now));
            self.dummies += 1;
            return Some(self.packet(StreamPacketKind::Dummy, self.dummies - 1, now));
        }
        None
    }

    fn packet(&self, kind: StreamPacketKind, number: u64, sent_at: Time) -> StreamPacket {
        StreamPacket {
            kind,
            number,
            sent_at,
            bytes: self.settings.packet,
        }
    }

    /// An answer has come.
    pub fn on_answer(&mut self, now: Time, answer: &Feedback) {
        self.answers += 1;
        let rtt = now.since(answer.sent_at);
        let smallest = self
            .round_trips
            .smallest
            .map_or(rtt, |least| least.min(rtt));
        self.round_trips.smallest = Some(smallest);
        self.round_trips.sum += rtt;
        self.round_trips.number += 1;
        // What is due comes first: an answer at the end of Detected comes after it.
        self.control.on_time(now, self.data);
        let dummy = answer.kind == StreamPacketKind::Dummy;
        self.control.on_answer(now, dummy, rtt, self.data);
        // If the stream is opened again, it is at once.
        self.opening = FIRST_OPENING;
        self.opens_at = now;
        if answer.lost > self.lost {
            self.lost = answer.lost;
            self.control.on_loss(now, answer.last_lost, self.data);
        }
    }

    /// The rate that is allowed, packets a second.
    #[must_use]
    pub const fn rate(&self) -> f64 {
        self.control.rate
    }

    /// The state of the rate control, by its name.
    #[must_use]
    pub const fn state(&self) -> &'static str {
        match self.control.state {
            State::Opening => "opening",
            State::Initial { .. } => "initial",
            State::Steady { .. } => "steady",
            State::Detected { .. } => "detected",
            State::Backoff { .. } => "backoff",
        }
    }

    /// Packets of media sent.
    #[must_use]
    pub const fn data_sent(&self) -> u64 {
        self.data
    }

    /// Dummies sent.
    #[must_use]
    pub const fn dummies_sent(&self) -> u64 {
        self.dummies
    }

    /// Answers received.
    #[must_use]
    pub const fn answers(&self) -> u64 {
        self.answers
    }

    /// Times that the rate was halved.
    #[must_use]
    pub const fn reductions(&self) -> u64 {
        self.control.reductions
    }

    /// The smallest round trip and the mean one, once there is one.
    #[must_use]
    pub fn round_trips(&self) -> Option<(Duration, Duration)> {
        let smallest = self.round_trips.smallest?;
        Some((smallest, self.round_trips.sum / self.round_trips.number))
    }
}

/// The time between two packets at a rate.
fn interval(rate: f64) -> Duration {
    Duration::from_nanos((1e9 / rate).clamp(1.0, 1e18) as u64)
}

/// When the packet after that at `last` is due at a rate; at once if there was none.
fn due(last: Option<Time>, rate: f64) -> Time {
    match last {
        _ if rate <= 0.0 => Time::MAX,
        None => Time::ZERO,
        Some(last) => last + interval(rate),
    }
}

/// The time that a packet sent at `now` counts as sent at: when it was due, unless that is long
/// ago, so that a rate is kept exactly.
fn paced(last: Option<Time>, rate: f64, now: Time) -> Time {
    let at = due(last, rate);
    if now.since(at) < interval(rate) {
        at
    } else {
        now
    }
}
