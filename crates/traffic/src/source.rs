//! Departure times of the packets of a source with a rate.

use crate::{Application, Period};
use bentpipe_random::Stream;
use bentpipe_units::{Duration, Time};

/// The clock of a source that sends packets at a constant rate, always or in
/// on-periods.
///
/// A packet leaves every `packet size / rate` of on-time: what an on-period
/// leaves of that passes at the start of the next one. The mean rate is
/// therefore the rate times the share of on-time, however short the periods
/// are. (Rounding each period to whole packets, as ns-2's sources do, sends up
/// to half a packet a period more.)
#[derive(Clone, Debug)]
pub struct Source {
    /// Interval between packets during on-periods.
    interval: Duration,
    /// Off for ever before the start.
    on: bool,
    /// End of the on-period.
    on_until: Time,
    /// When [`Source::sends`] is to be called next.
    next: Time,
    /// On-time before the first packet of the next on-period.
    carried: Duration,
    periods: Option<Periods>,
}

/// The lengths of periods, each kind with its own stream.
#[derive(Clone, Debug)]
struct Periods {
    on: (Period, Stream),
    off: (Period, Stream),
}

impl Source {
    /// The source of the flow called `name` in the run with seed `seed`;
    /// `None` for applications that have no rate.
    #[must_use]
    pub fn new(application: &Application, seed: u64, name: &str) -> Option<Source> {
        let (rate, packet_size, periods) = match *application {
            Application::ConstantRate {
                rate,
                packet_size,
                control: None,
                ..
            } => (rate, packet_size, None),
            Application::OnOff {
                on,
                off,
                rate,
                packet_size,
            } => {
                let stream = |which: &str| Stream::new(seed, &format!("{which}-periods {name}"));
                let periods = Periods {
                    on: (on, stream("on")),
                    off: (off, stream("off")),
                };
                (rate, packet_size, Some(periods))
            }
            _ => return None,
        };
        Some(Source {
            interval: rate.transmission_time(packet_size),
            on: false,
            on_until: Time::ZERO,
            next: Time::MAX,
            carried: Duration::ZERO,
            periods,
        })
    }

    /// Starts with an on-period.
    pub fn start(&mut self, now: Time) {
        self.next = now;
    }

    /// When [`Source::sends`] is to be called next.
    #[must_use]
    pub fn next(&self) -> Time {
        self.next
    }

    /// True if a packet leaves at `now`. Called early it says no; called when
    /// a period without packets begins it says no as well.
    pub fn sends(&mut self, now: Time) -> bool {
        if now < self.next {
            return false;
        }
        if !self.on {
            self.begin(now);
            if !self.on || self.next > now {
                return false;
            }
        }
        self.next = now + self.interval;
        if self.next >= self.on_until {
            self.pause();
        }
        true
    }

    fn begin(&mut self, now: Time) {
        self.on = true;
        self.on_until = match &mut self.periods {
            None => Time::MAX,
            Some(Periods {
                on: (length, stream),
                ..
            }) => now + length.draw(stream),
        };
        self.next = now + self.carried;
        if self.next >= self.on_until {
            self.pause();
        }
    }

    /// The on-period ends before the next packet is due.
    fn pause(&mut self) {
        self.on = false;
        self.carried = self.next.since(self.on_until);
        self.next = match &mut self.periods {
            None => Time::MAX,
            Some(Periods {
                off: (length, stream),
                ..
            }) => self.on_until + length.draw(stream),
        };
    }
}

#[cfg(test)]
#[path = "source_tests.rs"]
mod tests;
