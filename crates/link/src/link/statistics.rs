//! What a link keeps of its queue and its transmitter over time.

use super::{Link, Service};
use crate::delays::DelayHistogram;
use bentpipe_units::{Duration, Time};

impl<P: Copy> Link<P> {
    /// Keeps the distribution of the queueing delay over time from here on.
    pub(super) fn record_delays(&mut self) {
        if self.port_records_waits() {
            return;
        }
        self.delays = Some(Box::new(DelayHistogram::new()));
    }

    /// Packets that wait at `now`.
    pub fn waiting(&mut self, now: Time) -> usize {
        self.advance(now);
        self.backlog.advance(now);
        self.waiting_backlog().0 as usize
    }

    /// Packets that wait at `now`, without an effect on the link: it may be asked
    /// of any time since the last event, and what was offered ahead of time counts
    /// once it enters. Where the transmitter takes packets from a queue, it is as of
    /// the last event of the link.
    #[must_use]
    pub fn waiting_at(&self, now: Time) -> u64 {
        match &self.service {
            Service::DropTail | Service::Red(_) => self.backlog.waiting_at(now),
            Service::Scheduled(service) => service.waiting_at(now),
            Service::EventDriven(_) | Service::Port(_) => self.waiting_backlog().0,
        }
    }

    /// True if the queue has room for a packet of `bytes` at `now`. The
    /// discipline may drop it nevertheless.
    pub fn has_room(&mut self, now: Time, bytes: u32) -> bool {
        self.advance(now);
        self.backlog.advance(now);
        let (packets, waiting) = self.waiting_backlog();
        let idle = matches!(self.service, Service::DropTail | Service::Red(_))
            && self.transmitter.next_free <= now;
        idle || self.backlog.limit().admits(packets, waiting, bytes)
    }

    /// Packets that wait, and their bytes, as of the last look.
    fn waiting_backlog(&self) -> (u64, u64) {
        match &self.service {
            Service::DropTail | Service::Red(_) => (self.backlog.packets(), self.backlog.bytes()),
            Service::Scheduled(service) => (service.packets(), service.bytes()),
            Service::EventDriven(server) => server.queue.backlog(),
            Service::Port(port) => port.queue.backlog(),
        }
    }

    /// How long a packet would wait that arrived at `now`.
    pub(super) fn delay(&self, now: Time) -> Duration {
        let free = self.transmitter.next_free;
        let (packets, bytes) = self.waiting_backlog();
        match &self.service {
            Service::DropTail | Service::Red(_) => free.since(now),
            Service::Scheduled(service) => service.delay(now, free),
            Service::EventDriven(_) | Service::Port(_) => match self.timed() {
                Some(timed) => timed.course.drain(now, free, packets, bytes),
                None => free.since(now) + self.transmitter.time_of(packets, bytes),
            },
        }
    }

    /// The distribution of the queueing delay over the time up to `now`, where it is recorded.
    pub fn delays(&mut self, now: Time) -> Option<DelayHistogram> {
        self.record_pauses(now);
        let delay = self.delay(now);
        let mut delays = self.delays.as_deref()?.clone();
        delays.record(now, delay);
        Some(delays)
    }

    /// Closes the record of delays at `now`, the end of the run, and returns
    /// the delay at `quantile` (0 to 1) of time; zero if none was recorded. For
    /// a [port](crate::LinkPlan::shares_medium) it is of packets instead: how long a packet waits
    /// there depends on others, too, and not on the backlog alone.
    pub fn queueing_delay_quantile(&mut self, now: Time, quantile: f64) -> Duration {
        self.record_pauses(now);
        let delay = self.delay(now);
        match &mut self.delays {
            Some(delays) => {
                delays.record(now, delay);
                delays.quantile(quantile)
            }
            None => self.port_wait_quantile(quantile),
        }
    }

    /// Packets that waited on average over the time up to `now`, the end of
    /// the run.
    #[must_use]
    pub fn mean_waiting(&mut self, now: Time) -> f64 {
        self.advance(now);
        self.backlog.advance(now);
        // By Little's law: the waiting times of all packets over the time.
        let waited = match (&self.service, self.managed_queue()) {
            (Service::Scheduled(service), _) => self.counters.queueing + service.waited(now),
            (_, Some(queue)) => self.counters.queueing + queue.waited(now) + self.held_since(now),
            (_, None) => {
                let still = self.backlog.still_to_wait(now);
                self.counters.queueing.saturating_sub(still)
            }
        };
        if now == Time::ZERO {
            0.0
        } else {
            waited.as_secs() / now.as_secs()
        }
    }

    /// Share of the time up to `now` that the transmitter was busy.
    #[must_use]
    pub fn utilisation(&self, now: Time) -> f64 {
        if let Service::Scheduled(service) = &self.service {
            return share(service.course.busy_precomputed(now), now);
        }
        if let Some(course) = self.course() {
            return share(course.busy(now), now);
        }
        if let Some(arq) = self.arq() {
            let ahead = self.transmitter.next_free.since(now);
            return share(arq.busy.saturating_sub(ahead), now);
        }
        let ahead = self.transmitter.next_free.since(now);
        share(self.work().saturating_sub(ahead), now)
    }

    /// How long a transmitter of one rate is busy with all that it has accepted, up to
    /// [`Link::free_at`].
    #[must_use]
    pub fn work(&self) -> Duration {
        let c = &self.counters;
        let sent = c.offered - c.queue_drops - self.unsent();
        let bytes = c.accepted_bytes + c.rare().lost_bytes;
        self.transmitter.time_of(sent, bytes)
    }
}

/// Share of the time up to `now`.
fn share(busy: Duration, now: Time) -> f64 {
    if now == Time::ZERO {
        0.0
    } else {
        (busy.as_secs() / now.as_secs()).min(1.0)
    }
}
