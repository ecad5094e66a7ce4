//! Packets that are of use until a deadline, such as those of a call: which of them come in time.

use bentpipe_units::{Duration, Time};

/// The packets of one flow, numbered from zero in the order in which they are sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deadline {
    /// A packet is in time that takes no longer.
    limit: Duration,
    /// When each was sent, and how long it took; `None` until it arrives.
    packets: Vec<(Time, Option<Duration>)>,
}

/// What a receiver of packets with a deadline has had.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeadlineReport {
    /// Packets whose deadline is over.
    pub due: u64,
    /// Those of them that were lost or late.
    pub missed: u64,
    /// Mean time that the packets took which arrived; `None` if none did.
    pub mean_delay: Option<Duration>,
    /// The time that 95% of these did not exceed.
    pub p95_delay: Option<Duration>,
}

impl Deadline {
    /// Packets that are in time if they take no longer than `limit`.
    #[must_use]
    pub const fn new(limit: Duration) -> Deadline {
        Deadline {
            limit,
            packets: Vec::new(),
        }
    }

    /// The next packet is sent. Returns its number.
    pub fn sent(&mut self, now: Time) -> u64 {
        self.packets.push((now, None));
        self.packets.len() as u64 - 1
    }

    /// The packet of this number arrives; what was never sent is ignored, and so is a copy.
    pub fn arrived(&mut self, now: Time, number: u64) {
        let place = usize::try_from(number).unwrap_or(usize::MAX);
        if let Some((sent, took)) = self.packets.get_mut(place) {
            took.get_or_insert(now.since(*sent));
        }
    }

    /// What is known at `end`.
    #[must_use]
    pub fn report(&self, end: Time) -> DeadlineReport {
        let limit = self.limit;
        let due = self.packets.iter().filter(|(sent, _)| *sent + limit <= end);
        let is_missed = |took: &Option<Duration>| took.is_none_or(|took| took > limit);
        let missed = due.clone().filter(|(_, took)| is_missed(took));
        let took: Vec<Duration> = self.packets.iter().filter_map(|(_, took)| *took).collect();
        let (mean_delay, p95_delay) = crate::mean_and_p95(&took);
        DeadlineReport {
            due: due.count() as u64,
            missed: missed.count() as u64,
            mean_delay,
            p95_delay,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_counts_once_its_deadline_is_over() {
        let at = |ms| Time::ZERO + Duration::from_millis(ms);
        let mut deadline = Deadline::new(Duration::from_millis(100));
        for ms in [0, 20, 40, 60] {
            deadline.sent(at(ms));
        }
        // In time, exactly in time, late; the last is lost.
        deadline.arrived(at(50), 0);
        deadline.arrived(at(120), 1);
        deadline.arrived(at(141), 2);
        deadline.arrived(at(500), 0);
        deadline.arrived(at(500), 9);
        let of = |ms| {
            let report = deadline.report(at(ms));
            (report.due, report.missed)
        };
        assert_eq!(
            [of(99), of(100), of(140), of(160)],
            [(0, 0), (1, 0), (3, 1), (4, 2)]
        );
        let report = deadline.report(at(160));
        assert_eq!(report.mean_delay, Some(Duration::from_millis(251) / 3));
        assert_eq!(report.p95_delay, Some(Duration::from_millis(101)));
        let none = Deadline::new(Duration::ZERO).report(at(1));
        assert_eq!(none, DeadlineReport::default());
    }
}
