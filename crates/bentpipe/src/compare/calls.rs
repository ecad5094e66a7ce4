//! Calls: which of their packets come in time.

use super::path::NetworkPath;
use super::traffic::CALL_DEADLINE;
use bentpipe_scenario::Scenario;
use bentpipe_sim::Observer;
use bentpipe_tcp::Packet;
use bentpipe_units::{Duration, Time};

/// Sees the packets of some flows of datagrams.
#[derive(Debug)]
pub(super) struct CallWatch {
    /// A packet is in time that takes no longer.
    limit: Duration,
    /// By connection, the place in `calls`.
    places: Vec<Option<usize>>,
    calls: Vec<Call>,
}

/// One way of a call.
#[derive(Debug, Default)]
struct Call {
    flow: String,
    /// When each packet was sent.
    sent: Vec<Time>,
    /// Of each whether it arrived in time.
    in_time: Vec<bool>,
}

impl CallWatch {
    /// Watches those flows of `scenario` whose names `is_call` takes.
    pub(super) fn new(
        scenario: &Scenario,
        path: &NetworkPath,
        is_call: impl Fn(&str) -> bool,
    ) -> CallWatch {
        let longest = path.profile.as_ref().map_or(path.rtt, |p| p.rtt[2]);
        let way = (longest + path.server_rtt.unwrap_or_default()) / 2;
        let mut watch = CallWatch {
            limit: way + CALL_DEADLINE,
            places: vec![None; scenario.flows.len()],
            calls: Vec::new(),
        };
        for (number, flow) in scenario.flows.iter().enumerate() {
            if flow.transport.is_none() && is_call(&flow.name) {
                watch.places[number] = Some(watch.calls.len());
                watch.calls.push(Call {
                    flow: flow.name.clone(),
                    ..Call::default()
                });
            }
        }
        watch
    }

    fn call(&mut self, connection: u32) -> Option<&mut Call> {
        let place = *self.places.get(connection as usize)?;
        self.calls.get_mut(place?)
    }

    /// Packets of a flow that were lost or late, and all of which that is known when the run
    /// ends.
    pub(super) fn missed(&self, flow: &str, end: Time) -> Option<(u64, u64)> {
        let call = self.calls.iter().find(|call| call.flow == flow)?;
        let mut counts = (0, 0);
        for (sent, in_time) in call.sent.iter().zip(&call.in_time) {
            if *sent + self.limit <= end {
                counts.0 += u64::from(!in_time);
                counts.1 += 1;
            }
        }
        Some(counts)
    }
}

impl Observer for CallWatch {
    fn sent(&mut self, now: Time, endpoint: u32, _: &Packet) {
        // The sender of a connection has the even number of its two ends.
        if endpoint.is_multiple_of(2)
            && let Some(call) = self.call(endpoint / 2)
        {
            call.sent.push(now);
            call.in_time.push(false);
        }
    }

    fn received(&mut self, now: Time, endpoint: u32, packet: &Packet) {
        let limit = self.limit;
        let Some(call) = self.call(endpoint / 2) else {
            return;
        };
        // Datagrams of a flow are of one size, and numbered by their bytes.
        let number = packet.sequence / u64::from(packet.payload.max(1));
        let place = usize::try_from(number).unwrap_or(usize::MAX);
        if let (Some(sent), Some(in_time)) = (call.sent.get(place), call.in_time.get_mut(place)) {
            *in_time = now.since(*sent) <= limit;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Comparison, Mix, Traffic};
    use bentpipe_units::{Bytes, Duration, Rate};

    /// A download fills a long queue before a slow link, and a call waits in it; a short one
    /// does not make it late, and neither does a queue that gives each flow its turn.
    #[test]
    fn a_call_misses_its_deadline_behind_a_long_queue() {
        let mix: Mix = "download 50%,call 50%".parse().unwrap();
        let queues = ["2 s", "20 packets", "fq-codel"];
        let queues = queues.map(|queue| queue.parse::<super::super::Queue>().unwrap());
        let answer = Comparison::new()
            .rate(Rate::from_mbps(2))
            .rtt(Duration::from_millis(60))
            .loss(super::super::Loss::NONE)
            .queues(queues)
            .traffic(Traffic::Mix(mix))
            .size(Bytes::new(3_000_000))
            .transports(["cubic"])
            .runs(1)
            .run()
            .unwrap();
        let missed: Vec<f64> = answer
            .rows
            .iter()
            .map(|row| {
                row.cells[0]
                    .users_mean(|user| user.call_missed_share)
                    .unwrap()
            })
            .collect();
        assert!(missed[0] > 0.3, "{missed:?}");
        assert!(missed[1] < 0.1 && missed[2] < 0.1, "{missed:?}");
        assert!(answer.rows.iter().all(|row| row.cells[0].unfinished() == 0));
    }

    #[test]
    fn an_upload_takes_the_way_back() {
        let mix: Mix = "download 50%,upload 50%".parse().unwrap();
        let question = |back: u64| {
            let answer = Comparison::new()
                .rate(Rate::from_mbps(10))
                .return_rate(Rate::from_mbps(back))
                .loss(super::super::Loss::NONE)
                .traffic(Traffic::Mix(mix))
                .size(Bytes::new(1_000_000))
                .transports(["cubic"])
                .runs(1)
                .run()
                .unwrap();
            let time = answer.rows[0].cells[0].time_of(super::super::Activity::Upload);
            time.unwrap().mean
        };
        let (slow, fast) = (question(1), question(5));
        // 2 MB over 1 Mbit/s take 16 s.
        assert!(slow > 16.0 && fast < slow / 2.0, "{slow} {fast}");
    }
}
