//! From the outcomes of three runs that end a period apart to that of a longer one.

use super::NoSkip;
use crate::Options;
use crate::collect::Sums;
use bentpipe_outcome::{
    Checkpoint, FlowCounts, FlowLinkCounts, FlowLinkStats, FlowOutcome, LinkOutcome, Outcome,
};
use bentpipe_scenario::Scenario;
use bentpipe_traffic::Application;
use bentpipe_units::{Bytes, Duration, Time};

/// Two differences of times are the same up to this, seconds: they are sums of floating-point
/// numbers.
const SAME: f64 = 1e-6;

/// So many periods of that length follow `stop`, where the last run ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Periods {
    pub(super) length: Duration,
    pub(super) times: u64,
    pub(super) stop: Time,
}

/// What three runs have counted, the shortest first.
type Three<'a, T> = [&'a T; 3];

impl Periods {
    /// The checkpoints that the last run needs for those of the whole that ends at `end`.
    pub(super) fn checkpoints(&self, wanted: &[Time], end: Time) -> Vec<Time> {
        let wanted = wanted.iter().filter(|at| **at < end);
        let own = wanted.flat_map(|at| match self.place(*at) {
            None => [*at; 2],
            Some((at, _)) => [at, Time::ZERO + (at.since(Time::ZERO) - self.length)],
        });
        own.collect()
    }

    /// The time at which the last run is where the whole is at `at`, and how many periods before;
    /// `None` where the last run comes to `at` itself.
    fn place(&self, at: Time) -> Option<(Time, u64)> {
        if at < self.stop {
            return None;
        }
        let times = at.since(self.stop).as_nanos() / self.length.as_nanos() + 1;
        let back = self.length * times;
        Some((Time::ZERO + (at.since(Time::ZERO) - back), times))
    }

    /// The outcome of the whole, with these checkpoints.
    pub(super) fn whole(
        &self,
        scenario: &Scenario,
        options: &Options,
        runs: [(Outcome, Sums); 3],
    ) -> Result<Outcome, NoSkip> {
        let end = Time::ZERO + scenario.duration;
        let outcomes = [0, 1, 2].map(|run: usize| &runs[run].0);
        let sums = [0, 1, 2].map(|run: usize| &runs[run].1);
        let last = outcomes[2];
        let mut flows = Vec::with_capacity(scenario.flows.len());
        for (i, flow) in scenario.flows.iter().enumerate() {
            let each = outcomes.map(|outcome| &outcome.flows[i]);
            let whole = self.flow(each, sums.map(|sums| &sums.rtts[i]))?;
            if let Application::Transfer { size } = flow.application
                && whole.sent > last.flows[i].sent
                && whole.sent + (whole.sent - last.flows[i].sent) > size
            {
                return Err(NoSkip::Ends {
                    flow: flow.name.clone(),
                });
            }
            flows.push(whole);
        }
        let mut links = Vec::with_capacity(scenario.links.len());
        for i in 0..scenario.links.len() {
            let each = outcomes.map(|outcome| &outcome.links[i]);
            links.push(self.link(each, sums, i, end)?);
        }
        let crossings = self.crossings(outcomes.map(|outcome| &outcome.crossings))?;
        let whole = Outcome {
            scenario: last.scenario.clone(),
            seed: last.seed,
            ended_at: end,
            // Timers that were moved are counted when they come up: not at the same places of
            // each period.
            events: self.more(last.events, last.events.saturating_sub(outcomes[1].events)),
            packet_hops: self.count(outcomes.map(|outcome| outcome.packet_hops))?,
            flows,
            links,
            middleboxes: Vec::new(),
            crossings,
            legs: Vec::new(),
            checkpoints: self.noted(&options.checkpoints, end, &last.checkpoints)?,
            series: Vec::new(),
        };
        if whole.events > scenario.limits.events {
            return Err(NoSkip::Limits);
        }
        Ok(whole)
    }

    /// A count, and what it grows by in all periods.
    fn more(&self, last: u64, each: u64) -> u64 {
        last.saturating_add(each.saturating_mul(self.times))
    }

    /// A count at the end of the whole.
    fn count(&self, [early, middle, late]: [u64; 3]) -> Result<u64, NoSkip> {
        let grown = |from: u64, to: u64| to.checked_sub(from).ok_or(NoSkip::Uneven);
        let each = grown(middle, late)?;
        match each == grown(early, middle)? {
            true => Ok(self.more(late, each)),
            false => Err(NoSkip::Uneven),
        }
    }

    /// The same of a time that was rounded to nanoseconds.
    fn time(&self, [early, middle, late]: [Duration; 3]) -> Result<Duration, NoSkip> {
        let each = late - middle;
        let before = middle - early;
        let apart = each.saturating_sub(before) + before.saturating_sub(each);
        match apart <= Duration::from_nanos(2) {
            true => Ok(late + each * self.times),
            false => Err(NoSkip::Uneven),
        }
    }

    fn bytes(&self, three: [Bytes; 3]) -> Result<Bytes, NoSkip> {
        self.count(three.map(Bytes::get)).map(Bytes::new)
    }

    /// The mean over time of a number at the end of the whole, from those of the three runs.
    fn mean(&self, means: [f64; 3], end: Time) -> Result<f64, NoSkip> {
        let stop = self.stop.as_secs();
        let length = self.length.as_secs();
        let [early, middle, late] = means;
        let sums = [
            early * (stop - 2.0 * length),
            middle * (stop - length),
            late * stop,
        ];
        let each = sums[2] - sums[1];
        if (each - (sums[1] - sums[0])).abs() > SAME * (1.0 + each.abs()) {
            return Err(NoSkip::Uneven);
        }
        Ok((sums[2] + each * self.times as f64) / end.as_secs())
    }

    fn flow(
        &self,
        each: Three<'_, FlowOutcome>,
        rtts: Three<'_, Option<(Duration, u64)>>,
    ) -> Result<FlowOutcome, NoSkip> {
        let [_, middle, late] = each;
        let count = |get: fn(&FlowOutcome) -> u64| self.count(each.map(get));
        let counts = self.flow_counts(each.map(FlowOutcome::counts))?;
        // Every field is named, so that a new one is thought of here.
        let FlowOutcome {
            name,
            transport,
            started_at,
            transfer_time,
            offered,
            delivered: _,
            acknowledged: _,
            first_delivery_at,
            last_delivery_at,
            sent: _,
            packets_sent: _,
            retransmissions: _,
            retransmitted: _,
            spurious_retransmissions: _,
            probes_sent: _,
            timeouts: _,
            recoveries: _,
            reductions: _,
            acks_received: _,
            queue_drops: _,
            channel_losses: _,
            outage_losses: _,
            no_route_losses: _,
            pages,
            page_times,
            video,
            deadline,
            min_rtt,
            mean_rtt,
            max_cwnd,
        } = late.clone();
        let moves = last_delivery_at != middle.last_delivery_at;
        let is_same = transfer_time == middle.transfer_time
            && first_delivery_at == middle.first_delivery_at
            && max_cwnd.to_bits() == middle.max_cwnd.to_bits()
            && moves == (counts.delivered > late.delivered)
            && (pages, video, deadline) == (None, None, None);
        if !is_same {
            return Err(NoSkip::Uneven);
        }
        let later = |at: Time| match moves {
            true => at + self.length * self.times,
            false => at,
        };
        Ok(FlowOutcome {
            name,
            transport,
            started_at,
            transfer_time,
            offered,
            acknowledged: self.bytes(each.map(|flow| flow.acknowledged))?,
            first_delivery_at,
            last_delivery_at: last_delivery_at.map(later),
            spurious_retransmissions: count(|flow| flow.spurious_retransmissions)?,
            probes_sent: count(|flow| flow.probes_sent)?,
            recoveries: count(|flow| flow.recoveries)?,
            acks_received: count(|flow| flow.acks_received)?,
            page_times,
            min_rtt,
            mean_rtt: match self.mean_rtt(rtts)? {
                Some(mean) => Some(mean),
                None => mean_rtt,
            },
            max_cwnd,
            ..counts.into()
        })
    }

    /// The mean of the RTT samples, whose sums a host may round to microseconds.
    fn mean_rtt(
        &self,
        rtts: Three<'_, Option<(Duration, u64)>>,
    ) -> Result<Option<Duration>, NoSkip> {
        let [Some(early), Some(middle), Some(late)] = rtts else {
            return Ok(None);
        };
        let samples = self.count([early.1, middle.1, late.1])?;
        let each = late.0.saturating_sub(middle.0);
        let before = middle.0.saturating_sub(early.0);
        let grown = Duration::from_micros(2) * (late.1 - middle.1);
        if each.saturating_sub(before) > grown || before.saturating_sub(each) > grown {
            return Err(NoSkip::Uneven);
        }
        let sum =
            u128::from(late.0.as_nanos()) + u128::from(each.as_nanos()) * u128::from(self.times);
        let mean = sum.checked_div(u128::from(samples));
        Ok(mean.map(|mean| Duration::from_nanos(mean as u64)))
    }

    fn flow_counts(&self, each: [FlowCounts; 3]) -> Result<FlowCounts, NoSkip> {
        let count = |get: fn(&FlowCounts) -> u64| self.count(each.map(|counts| get(&counts)));
        let bytes = |get: fn(&FlowCounts) -> Bytes| self.bytes(each.map(|counts| get(&counts)));
        Ok(FlowCounts {
            delivered: bytes(|c| c.delivered)?,
            sent: bytes(|c| c.sent)?,
            packets_sent: count(|c| c.packets_sent)?,
            retransmissions: count(|c| c.retransmissions)?,
            retransmitted: bytes(|c| c.retransmitted)?,
            timeouts: count(|c| c.timeouts)?,
            reductions: count(|c| c.reductions)?,
            queue_drops: count(|c| c.queue_drops)?,
            channel_losses: count(|c| c.channel_losses)?,
            outage_losses: count(|c| c.outage_losses)?,
            no_route_losses: count(|c| c.no_route_losses)?,
        })
    }

    fn link(
        &self,
        each: Three<'_, LinkOutcome>,
        sums: Three<'_, Sums>,
        index: usize,
        end: Time,
    ) -> Result<LinkOutcome, NoSkip> {
        let [_, middle, late] = each;
        let count = |get: fn(&LinkOutcome) -> u64| self.count(each.map(get));
        let is_same = late.max_queue_packets == middle.max_queue_packets
            && late.max_queue_bytes == middle.max_queue_bytes;
        if !is_same {
            return Err(NoSkip::Uneven);
        }
        let links = sums.map(|sums| &sums.links[index]);
        let waited = self.count(links.map(|link| link.waited.as_nanos()))?;
        let transmitted = self.count(links.map(|link| link.transmitted))?;
        let work = self.time(links.map(|link| link.work))?;
        if links[2].ahead != links[1].ahead {
            return Err(NoSkip::Uneven);
        }
        let busy = work.saturating_sub(links[2].ahead);
        let p95_queueing_delay = match links.map(|link| link.delays.as_ref()) {
            [_, Some(middle), Some(late)] => {
                let mut whole = late.clone();
                whole.repeat(middle, self.times);
                whole.quantile(0.95)
            }
            _ => late.p95_queueing_delay,
        };
        Ok(LinkOutcome {
            name: late.name.clone(),
            rate: late.rate,
            offered_packets: count(|link| link.offered_packets)?,
            delivered_packets: count(|link| link.delivered_packets)?,
            delivered_bytes: self.bytes(each.map(|link| link.delivered_bytes))?,
            queue_drops: count(|link| link.queue_drops)?,
            early_drops: count(|link| link.early_drops)?,
            marks: count(|link| link.marks)?,
            channel_losses: count(|link| link.channel_losses)?,
            outage_losses: count(|link| link.outage_losses)?,
            in_flight_packets: count(|link| link.in_flight_packets)?,
            collisions: count(|link| link.collisions)?,
            requests: count(|link| link.requests)?,
            free_slots: count(|link| link.free_slots)?,
            demand_slots: count(|link| link.demand_slots)?,
            utilisation: (busy.as_secs() / end.as_secs()).min(1.0),
            mean_queue_packets: self.mean(each.map(|link| link.mean_queue_packets), end)?,
            max_queue_packets: late.max_queue_packets,
            max_queue_bytes: late.max_queue_bytes,
            mean_queueing_delay: Duration::from_nanos(waited / transmitted.max(1)),
            p95_queueing_delay,
        })
    }

    fn crossings(&self, each: Three<'_, Vec<FlowLinkStats>>) -> Result<Vec<FlowLinkStats>, NoSkip> {
        let [early, middle, late] = each;
        if early.len() != late.len() || middle.len() != late.len() {
            return Err(NoSkip::Uneven);
        }
        let rows = early.iter().zip(middle).zip(late);
        let whole = rows.map(|((early, middle), late)| {
            let counts = [early, middle, late].map(FlowLinkStats::counts);
            Ok(FlowLinkStats {
                flow: late.flow,
                link: late.link,
                ..self.crossing(counts)?.into()
            })
        });
        whole.collect()
    }

    fn crossing(&self, each: [FlowLinkCounts; 3]) -> Result<FlowLinkCounts, NoSkip> {
        let count = |get: fn(&FlowLinkCounts) -> u64| self.count(each.map(|counts| get(&counts)));
        Ok(FlowLinkCounts {
            offered_packets: count(|c| c.offered_packets)?,
            transmitted: self.bytes(each.map(|c| c.transmitted))?,
            delivered_packets: count(|c| c.delivered_packets)?,
            delivered: self.bytes(each.map(|c| c.delivered))?,
            queue_drops: count(|c| c.queue_drops)?,
            channel_losses: count(|c| c.channel_losses)?,
            outage_losses: count(|c| c.outage_losses)?,
        })
    }

    /// The checkpoints of the whole, by those of the last run.
    fn noted(
        &self,
        wanted: &[Time],
        end: Time,
        noted: &[Checkpoint],
    ) -> Result<Vec<Checkpoint>, NoSkip> {
        let find = |at: Time| noted.iter().find(|c| c.at == at).ok_or(NoSkip::Uneven);
        let mut wanted: Vec<Time> = wanted.iter().copied().filter(|at| *at < end).collect();
        wanted.sort_unstable();
        wanted.dedup();
        let whole = wanted.into_iter().map(|at| {
            let Some((place, times)) = self.place(at) else {
                return find(at).cloned();
            };
            let late = find(place)?;
            let middle = find(Time::ZERO + (place.since(Time::ZERO) - self.length))?;
            let periods = Periods { times, ..*self };
            // That the period before adds the same is known of the ends.
            let flows = middle.flows.iter().zip(&late.flows);
            let flows = flows.map(|(middle, late)| {
                let early = middle.since(&late.since(middle));
                periods.flow_counts([early, *middle, *late])
            });
            let crossings = middle.crossings.iter().zip(&late.crossings);
            let crossings = crossings.map(|(middle, late)| {
                let early = middle.since(&late.since(middle));
                periods.crossing([early, *middle, *late])
            });
            Ok(Checkpoint {
                at,
                flows: flows.collect::<Result<_, _>>()?,
                crossings: crossings.collect::<Result<_, _>>()?,
            })
        });
        whole.collect()
    }
}
