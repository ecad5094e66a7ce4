//! An association that holds the rate of its link against what arrives, by the gateway's own rules
//! ([`bentpipe_quic::delivery`]). Where the link delivers less, the association follows that, and
//! probes until it takes more again.

use bentpipe_quic::Clock;
use bentpipe_quic::delivery::Estimator;
use bentpipe_units::{Bytes, Duration, Rate, Time};

/// What an association has found out.
#[derive(Debug)]
pub(super) struct Verified {
    estimator: Estimator,
    clock: Clock,
    /// The rate to send at, bytes a second, where it is below that of the link.
    pace: Option<f64>,
    /// When the next packet may leave at it.
    free_at: Time,
}

impl Verified {
    pub(super) fn new() -> Verified {
        let clock = Clock::new();
        Verified {
            estimator: Estimator::new(clock.instant(Time::ZERO)),
            clock,
            pace: None,
            free_at: Time::ZERO,
        }
    }

    /// When the next packet may leave.
    pub(super) const fn free_at(&self) -> Time {
        self.free_at
    }

    /// What of this rate may be sent.
    pub(super) fn limit(&self, rate: Rate) -> Rate {
        let pace = self.pace.map(|pace| Rate::from_bps_f64(pace * 8.0));
        pace.map_or(rate, |pace| pace.min(rate))
    }

    /// A packet of so many bytes has left, and counts where its arrival is reported.
    pub(super) fn sent(&mut self, now: Time, bytes: Bytes, counts: bool) {
        let at = self.clock.instant(now);
        if counts {
            self.estimator.sent(at, bytes.get());
        }
        self.pace = self.estimator.pace(at);
        if let Some(pace) = self.pace {
            let time = Duration::from_secs_f64(bytes.as_f64() / pace);
            self.free_at = self.free_at.max(now) + time;
        }
    }

    /// Packets have arrived, which were sent then and had so many bytes each, and so many bytes were
    /// found lost, on a link of this rate.
    pub(super) fn follow(
        &mut self,
        now: Time,
        arrived: impl Iterator<Item = (Time, u64)>,
        lost: u64,
        rate: Rate,
    ) {
        let at = self.clock.instant(now);
        let mut newest = None;
        for (sent, bytes) in arrived {
            let sent = self.clock.instant(sent);
            self.estimator.arrived(sent, bytes);
            newest = newest.max(Some(sent));
        }
        if let Some(newest) = newest {
            self.estimator
                .acknowledged(at, newest, rate.bps_f64() / 8.0);
        }
        if lost > 0 {
            self.estimator.lost(lost);
        }
        self.pace = self.estimator.pace(at);
        if self.pace.is_none() {
            self.free_at = now;
        }
    }
}
