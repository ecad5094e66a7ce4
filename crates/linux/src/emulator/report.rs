//! Report of a run of the emulator, and of its accuracy.

use super::lateness::Lateness;
use super::network::Network;
use super::plan::Pair;
use bentpipe_link::Counters;
use bentpipe_link::forward::Count;
use bentpipe_outcome::{FlowLinkCounts, FlowLinkStats, LinkOutcome};
use bentpipe_scenario::Scenario;
use bentpipe_units::{Bytes, Duration, Time};
use std::collections::BTreeMap;

/// No later than this, for 99 packets in a hundred, and the emulator has kept
/// up.
pub const IN_TIME: Duration = Duration::from_millis(1);

/// How the emulator's thread was scheduled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Priority {
    /// As a real-time thread (SCHED_FIFO).
    RealTime,
    /// Before others, with this nice value.
    Nice(i32),
    /// Like any other thread.
    Ordinary,
}

/// Packets that the machine dropped, which the model did not want dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MachineDrops {
    /// Before they were read: the ring between the kernel and the emulator was
    /// full.
    pub ring: u64,
    /// When they were to be written: the kernel did not take them.
    pub write: u64,
    /// There was no memory left for packets in flight.
    pub memory: u64,
}

impl MachineDrops {
    /// Drops for all reasons.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.ring + self.write + self.memory
    }
}

/// Traffic between two hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PairReport {
    /// Name of the pair.
    pub name: String,
    /// Traffic read from its `from` end, and from its `to` end.
    pub sent: [Count; 2],
    /// Traffic written to its `to` end, and to its `from` end.
    pub arrived: [Count; 2],
    /// Packets that had no route, both directions.
    pub no_route: u64,
}

/// Report of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Seed of the random processes.
    pub seed: u64,
    /// How long it ran.
    pub elapsed: Duration,
    /// Counters of each link, as in a simulation.
    pub links: Vec<LinkOutcome>,
    /// What each pair did to each link on its way; `flow` is the number of the
    /// pair.
    pub crossings: Vec<FlowLinkStats>,
    /// Traffic between each pair of hosts.
    pub pairs: Vec<PairReport>,
    /// Packets read from hosts.
    pub read: u64,
    /// Packets written to hosts.
    pub written: u64,
    /// Packets in flight at the end.
    pub under_way: u64,
    /// Packets that were read and that no pair of hosts sent, such as multicasts.
    pub unmatched: u64,
    /// What the machine dropped.
    pub machine: MachineDrops,
    /// How late packets left.
    pub lateness: Lateness,
    /// What the processor spent on the emulator's thread, the kernel's work on
    /// reads and writes included.
    pub cpu: Duration,
    /// How the thread was scheduled.
    pub priority: Priority,
    /// GSO segments passed whole: losses come in bursts.
    pub gso: bool,
    /// The crossings as they were at the checkpoints that were asked for and reached.
    pub checkpoints: Vec<(Time, Vec<FlowLinkStats>)>,
}

impl Report {
    /// Packets that the model dropped.
    #[must_use]
    pub fn model_drops(&self) -> u64 {
        let lost = |l: &LinkOutcome| l.queue_drops + l.channel_losses + l.outage_losses;
        let no_route: u64 = self.pairs.iter().map(|p| p.no_route).sum();
        self.links.iter().map(lost).sum::<u64>() + no_route
    }

    /// Processor time for each packet that was read; `None` if none was.
    #[must_use]
    pub fn cpu_per_packet(&self) -> Option<Duration> {
        (self.read > 0).then(|| self.cpu / self.read)
    }

    /// True if the run was true to the model: 99% of the packets left no later
    /// than [`IN_TIME`] and the machine dropped none. Without packets nothing
    /// speaks against it.
    #[must_use]
    pub fn kept_up(&self) -> bool {
        self.lateness.p99 <= IN_TIME && self.machine.total() == 0
    }

    /// Whether the run was true to the model, in words, with the criterion.
    #[must_use]
    pub fn verdict(&self) -> String {
        // Bins are not finer than this.
        let late = Duration::from_micros(self.lateness.p99.as_micros());
        let drops = self.machine.total();
        if self.lateness.packets == 0 && drops == 0 {
            return "passed no packets: there is nothing to judge".to_owned();
        }
        if self.kept_up() {
            return format!(
                "kept up: 99% of the packets left within {late} of the model's time (the criterion \
                 is {IN_TIME}) and the machine dropped none"
            );
        }
        let mut why = Vec::new();
        if self.lateness.p99 > IN_TIME {
            why.push(format!(
                "1% of the packets left more than {late} late (the criterion is {IN_TIME})"
            ));
        }
        if drops > 0 {
            why.push(format!("the machine dropped {drops} packets"));
        }
        format!("DID NOT KEEP UP: {}", why.join(", and "))
    }
}

/// Intermediate report of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// Since when it runs.
    pub at: Time,
    /// Counts of each link, and packets that wait at it.
    pub links: Vec<(Counters, usize)>,
    /// Packets written to hosts.
    pub written: u64,
    /// Packets that could not be written, or not be kept.
    pub failed: u64,
    /// Of the packets since the snapshot before.
    pub lateness: Lateness,
}

/// What the links did, as a simulation says it.
pub(super) fn links(scenario: &Scenario, network: &mut Network, end: Time) -> Vec<LinkOutcome> {
    network.map_links(|index, link, pool, access| {
        let settings = &scenario.links[index];
        let of = (settings.name.as_str(), settings.settings.rate);
        LinkOutcome::of(of, link, pool, &access, end)
    })
}

/// What each pair did to each link on its paths.
pub(super) fn crossings(scenario: &Scenario, network: &Network, end: Time) -> Vec<FlowLinkStats> {
    let mut of: BTreeMap<(usize, usize), FlowLinkCounts> = BTreeMap::new();
    for (pair, link, hop) in network.hops() {
        let framing = scenario.links[link].settings.framing;
        let c = of.entry((pair, link)).or_default();
        c.offered_packets += hop.offered.packets;
        c.delivered_packets += hop.delivered.packets;
        c.delivered += Bytes::new(hop.delivered.bytes);
        c.queue_drops += hop.queue.packets;
        c.channel_losses += hop.channel.packets;
        c.outage_losses += hop.outage.packets;
        for count in [hop.delivered, hop.channel, hop.outage] {
            c.transmitted += Bytes::new(count.bytes + framing.get() * count.packets);
        }
    }
    // Propagating packets have also been transmitted.
    for index in 0..network.links().len() {
        let framing = scenario.links[index].settings.framing;
        for (sent, packet) in network.sent(index) {
            if sent <= end {
                let c = of.entry((network.pair_of(packet), index)).or_default();
                c.transmitted += Bytes::new(u64::from(packet.bytes())) + framing;
            }
        }
    }
    let crossings = of.into_iter();
    crossings
        .map(|((flow, link), counts)| FlowLinkStats {
            flow,
            link,
            ..counts.into()
        })
        .collect()
}

/// Traffic between the hosts of each pair.
pub(super) fn pairs(pairs: &[Pair], counts: &[Passed]) -> Vec<PairReport> {
    let ends = counts.chunks(2).zip(pairs);
    ends.map(|(ends, pair)| PairReport {
        name: pair.name.clone(),
        sent: [ends[1].sent, ends[0].sent],
        arrived: [ends[1].arrived, ends[0].arrived],
        no_route: ends[0].no_route + ends[1].no_route,
    })
    .collect()
}

/// Traffic to one endpoint.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Passed {
    pub(super) sent: Count,
    pub(super) arrived: Count,
    pub(super) no_route: u64,
}
