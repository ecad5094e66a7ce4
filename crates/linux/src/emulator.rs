//! The satellite emulator: the links of a scenario, live, between the network
//! namespaces of its hosts.
//!
//! Each host has a namespace with one TUN device. The emulator reads its packets, passes them over
//! the links of their path with the code of `bentpipe-link`, driven by the clock, and writes them
//! to the host at the other end at the model's time. The same seed and arrivals give the same drops
//! as in the simulator. IP packets pass unchanged except for the marks of queues (ECN); routers in
//! between do not lower the time to live.
//!
//! The [`Report`] separates the emulator from the model: it gives the lateness of packets and the
//! machine's drops next to the model's own results.
//!
//! ```no_run
//! use bentpipe_linux::emulator::{Emulator, Options};
//! use std::time::Instant;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let scenario: bentpipe_scenario::Scenario = unimplemented!();
//! let emulator = Emulator::new(&scenario, &Options::default())?;
//! let stop = emulator.stop();
//! let hosts = emulator.hosts().to_vec();
//! let running = std::thread::spawn(move || emulator.run(Instant::now(), &mut ()));
//! let client = hosts[0].namespace.enter(|| std::net::UdpSocket::bind("10.0.1.1:0"))?;
//! stop.stop();
//! println!("{}", running.join().expect("no panic")?.verdict());
//! # Ok(())
//! # }
//! ```

mod arena;
mod batch;
mod checksum;
mod device;
mod error;
mod header;
mod hosts;
mod io;
mod join;
mod lateness;
mod network;
mod plan;
mod priority;
mod report;
mod run;
mod segment;
mod split;
mod stop;
mod tap;

pub use crate::port::PortError;
pub use bentpipe_link::forward::Count;
pub use error::EmulatorError;
pub use hosts::Host;
pub use lateness::Lateness;
pub use network::Cause;
pub use plan::{Pair, Pairs, addresses, ipv4, ipv6, refusals};
pub use report::{IN_TIME, MachineDrops, PairReport, Priority, Report, Snapshot};
pub use stop::Stop;
pub use tap::{Seen, Tap};

use crate::namespace::{self, Leftover};
use crate::port::Port;
use crate::tun::ring_drops;

use arena::Arena;
use bentpipe_link::Limit;
use bentpipe_scenario::Scenario;
use bentpipe_units::{Bytes, Duration, Time};
use device::{Device, Devices, What};
use io::Io;
use network::Network;
use priority::{InTime, thread_time};
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::os::fd::AsFd;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// Bytes of a full packet on Ethernet, for counting in packets.
const PACKET: u64 = 1500;

/// Options of the emulator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Seed of all random processes; the scenario's where `None`.
    pub seed: Option<u64>,
    /// Pairs of hosts that have addresses.
    pub pairs: Pairs,
    /// When the run ends by itself, more than zero; never, where `None`.
    pub duration: Option<Duration>,
    /// MTU of the hosts' devices: by the largest packets of the scenario's
    /// flows, and at least 1500 bytes, where `None`.
    pub mtu: Option<u16>,
    /// Names of namespaces, by nodes: one that exists is used and stays, and
    /// one that does not is made. The others are `bp-PID-NODE`, for
    /// later emulators of a process `bp-PID.N-NODE`.
    pub namespaces: Vec<(String, String)>,
    /// Pass segments of up to 64 kB whole. For rates beyond some Gbit/s; losses
    /// come in bursts, and hosts acknowledge less often.
    pub gso: bool,
    /// Ask for a real-time priority, and if that is refused for a nice value.
    pub real_time: bool,
    /// Packets that the kernel holds for the emulator, by host.
    pub ring: u32,
    /// Limit of the memory for packets in flight.
    pub memory: Bytes,
    /// Times at which crossings are noted.
    pub checkpoints: Vec<Time>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            seed: None,
            pairs: Pairs::default(),
            duration: None,
            mtu: None,
            namespaces: Vec::new(),
            gso: false,
            real_time: true,
            ring: 4096,
            memory: Bytes::new(1 << 30),
            checkpoints: Vec::new(),
        }
    }
}

/// Reads what a run has done so far, from any thread.
#[derive(Clone, Debug)]
pub struct Watch(Arc<Mutex<Snapshot>>);

impl Watch {
    /// The state as it was half a second ago at most.
    #[must_use]
    pub fn latest(&self) -> Snapshot {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

/// An emulator that is ready to run: its namespaces and devices exist and are
/// removed when it is dropped.
#[derive(Debug)]
pub struct Emulator {
    scenario: Scenario,
    seed: u64,
    pairs: Vec<Pair>,
    hosts: Vec<Host>,
    /// The interfaces of a gateway, where there are no hosts.
    ports: Vec<Port>,
    devices: Devices,
    options: Options,
    mtu: u16,
    stop: Stop,
    published: Arc<Mutex<Snapshot>>,
    swept: Vec<Leftover>,
}

impl Emulator {
    /// Makes the namespaces and devices of the hosts of `scenario`, after
    /// removing what killed processes left behind.
    ///
    /// # Errors
    /// If the scenario has something that cannot be done live, before anything
    /// is made; without root, TUN or iproute2.
    pub fn new(scenario: &Scenario, options: &Options) -> Result<Emulator, EmulatorError> {
        let (scenario, pairs) = prepare(scenario, options)?;
        let mtu = mtu(&scenario, options.mtu)?;
        let stop = Stop::new().map_err(EmulatorError::Start)?;
        let swept = namespace::sweep();
        let (hosts, devices) = hosts::make(&scenario, &pairs, options, mtu)?;
        Ok(Emulator {
            seed: options.seed.unwrap_or(scenario.seed),
            scenario,
            pairs,
            hosts,
            ports: Vec::new(),
            devices,
            options: options.clone(),
            mtu,
            stop,
            published: Arc::default(),
            swept,
        })
    }

    /// An emulator between two interfaces of this machine, in the namespace of
    /// the calling thread: what one receives, whatever it is, goes over the
    /// links of the scenario's first pair of hosts and is sent by the other. The
    /// first interface is where the pair's `from` end is. Segments are cut;
    /// frames that the kernel has taken a VLAN tag off lose it.
    ///
    /// # Errors
    /// As [`Emulator::new`]; if there are no such interfaces of Ethernet, or they
    /// are one and the same.
    pub fn between(
        scenario: &Scenario,
        options: &Options,
        interfaces: [&str; 2],
    ) -> Result<Emulator, EmulatorError> {
        let options = Options {
            gso: false,
            ..options.clone()
        };
        if interfaces[0] == interfaces[1] {
            return Err(EmulatorError::SameInterface(interfaces[0].to_owned()));
        }
        let (scenario, mut pairs) = prepare(scenario, &options)?;
        pairs.truncate(1);
        let stop = Stop::new().map_err(EmulatorError::Start)?;
        let swept = namespace::sweep();
        let mut ports = Vec::new();
        let mut all = Vec::new();
        for (name, other) in interfaces.into_iter().zip([1, 0]) {
            let port = Port::open(name)?;
            all.push(Device {
                fd: port
                    .as_fd()
                    .try_clone_to_owned()
                    .map_err(EmulatorError::Start)?,
                other: Some(other),
                joins_datagrams: false,
            });
            ports.push(port);
        }
        let mtu = ports.iter().map(Port::mtu).max().unwrap_or(0);
        Ok(Emulator {
            seed: options.seed.unwrap_or(scenario.seed),
            scenario,
            pairs,
            hosts: Vec::new(),
            ports,
            devices: Devices {
                all,
                at: vec![0, 1],
                detours: BTreeMap::new(),
                what: What::Frames,
            },
            options,
            mtu: u16::try_from(mtu).map_err(|_| EmulatorError::Mtu(mtu))?,
            stop,
            published: Arc::default(),
            swept,
        })
    }

    /// The hosts, in the order of their nodes.
    #[must_use]
    pub fn hosts(&self) -> &[Host] {
        &self.hosts
    }

    /// The pairs that talk.
    #[must_use]
    pub fn pairs(&self) -> &[Pair] {
        &self.pairs
    }

    /// The MTU of the hosts' devices.
    #[must_use]
    pub fn mtu(&self) -> u16 {
        self.mtu
    }

    /// Ends the run from another thread.
    #[must_use]
    pub fn stop(&self) -> Stop {
        self.stop.clone()
    }

    /// Lets `stop` end the run, which may have done so already: one that was
    /// made before, to hear of signals from the start on.
    #[must_use]
    pub fn stopped_by(mut self, stop: &Stop) -> Emulator {
        self.stop = stop.clone();
        self
    }

    /// Looks at the run from another thread.
    #[must_use]
    pub fn watch(&self) -> Watch {
        Watch(self.published.clone())
    }

    /// What killed processes had left behind, and is removed.
    #[must_use]
    pub fn swept(&self) -> &[Leftover] {
        &self.swept
    }

    /// Runs on the calling thread until it is stopped or its duration is over. The model's time
    /// zero is `origin`: timelines begin then. Then everything is removed that no other process
    /// holds.
    ///
    /// # Errors
    /// If a device fails, for instance because it was removed.
    pub fn run<T: Tap>(self, origin: Instant, tap: &mut T) -> Result<Report, EmulatorError> {
        let mut network = Network::new(&self.scenario, &self.pairs, self.seed);
        let longest = match self.devices.what {
            What::Packets => self.mtu,
            What::Segments => u16::MAX,
            // Tags may come before the IP header.
            What::Frames => self.mtu.saturating_add(32),
        };
        let slot = self.devices.what.skip() + usize::from(longest);
        let memory = usize::try_from(self.options.memory.get()).unwrap_or(usize::MAX);
        let arena = Arena::new(slot.next_multiple_of(64), memory, 1024);
        let end = self.options.duration.map_or(Time::MAX, |d| Time::ZERO + d);
        // A port reports its drops only once.
        let before = self.ring_drops()?;
        let before = if self.ports.is_empty() { before } else { 0 };
        let mut io = Io::new(&self.devices, arena, origin, tap);
        let in_time = InTime::new(self.options.real_time);
        let cpu = thread_time();
        let mut checkpoints = Vec::new();
        let ended = self.stages(end).try_fold(Time::ZERO, |before, stage| {
            let ended = run::run(&mut network, &mut io, &self.stop, stage, &self.published)?;
            if ended == stage && ended < end {
                let crossings = report::crossings(&self.scenario, &network, ended);
                checkpoints.push((ended, crossings));
            }
            Ok::<_, Errno>(ended.max(before))
        });
        let cpu = thread_time().saturating_sub(cpu);
        let priority = in_time.priority;
        drop(in_time);
        let ended = ended.map_err(|e| EmulatorError::Device(e.into()))?;
        let counted = io.counted;
        let links = report::links(&self.scenario, &mut network, ended);
        Ok(Report {
            seed: self.seed,
            elapsed: ended.since(Time::ZERO),
            crossings: report::crossings(&self.scenario, &network, ended),
            links,
            pairs: report::pairs(&self.pairs, &counted.passed),
            read: counted.read,
            written: counted.written,
            under_way: network.in_flight() as u64,
            unmatched: counted.unmatched,
            machine: MachineDrops {
                ring: self.ring_drops()?.saturating_sub(before),
                write: counted.write_failed,
                memory: counted.no_memory,
            },
            lateness: counted.lateness.lateness(),
            cpu,
            priority,
            gso: self.options.gso,
            checkpoints,
        })
    }

    /// The checkpoints before `end`, each once and in their order, and `end`.
    fn stages(&self, end: Time) -> std::vec::IntoIter<Time> {
        let checkpoints = self.options.checkpoints.iter().copied();
        let mut stages: Vec<Time> = checkpoints.filter(|at| *at < end).chain([end]).collect();
        stages.sort_unstable();
        stages.dedup();
        stages.into_iter()
    }

    fn ring_drops(&self) -> Result<u64, EmulatorError> {
        let mut sum = self.ports.iter().map(Port::dropped).sum();
        for host in &self.hosts {
            sum += ring_drops(&host.namespace, &host.interface)?;
        }
        Ok(sum)
    }
}

/// The scenario as it is emulated, and its pairs.
fn prepare(scenario: &Scenario, options: &Options) -> Result<(Scenario, Vec<Pair>), EmulatorError> {
    if options.duration.is_some_and(|duration| duration.is_zero()) {
        return Err(EmulatorError::NoTime);
    }
    let mut why = refusals(scenario);
    let mut scenario = scenario.clone();
    if options.gso {
        why.extend(count_in_bytes(&mut scenario));
    }
    if !why.is_empty() {
        return Err(EmulatorError::Refused(why));
    }
    let pairs = plan::pairs(&scenario, options.pairs);
    match pairs.len() {
        0 => Err(EmulatorError::NoPairs),
        n if n > plan::MOST_PAIRS => Err(EmulatorError::TooManyPairs(n, plan::MOST_PAIRS)),
        _ => Ok((scenario, pairs)),
    }
}

/// Counts queues in bytes, since a segment is not a packet. Returns those that it cannot convert.
fn count_in_bytes(scenario: &mut Scenario) -> Vec<String> {
    let mut why = Vec::new();
    for link in &mut scenario.links {
        let refused = link.settings.queue.simulated_only().is_some();
        let Some(limit) = Arc::make_mut(&mut link.settings).segment_limit() else {
            if !refused {
                why.push(format!(
                    "link `{}` treats packets one by one, which segments that are passed whole (GSO) \
                     are not",
                    link.name
                ));
            }
            continue;
        };
        if let Limit::Packets(n) = *limit {
            *limit = Limit::Bytes(Bytes::new(u64::from(n) * PACKET));
        }
    }
    why
}

/// The MTU that was asked for, or that the scenario's flows need.
fn mtu(scenario: &Scenario, wanted: Option<u16>) -> Result<u16, EmulatorError> {
    let transports = scenario.flows.iter().filter_map(|f| f.transport.as_deref());
    let segments = transports.map(|t| t.mss + t.header_bytes());
    let datagrams = scenario.flows.iter().filter_map(plan::datagram);
    let datagrams = datagrams.map(|bytes| u32::try_from(bytes.get()).unwrap_or(u32::MAX));
    let largest = segments.chain(datagrams).max();
    let needed = || largest.unwrap_or(0).max(PACKET as u32);
    let mtu = wanted.map_or_else(needed, u32::from);
    match u16::try_from(mtu) {
        Ok(fits) if fits >= 1280 => Ok(fits),
        _ => Err(EmulatorError::Mtu(mtu)),
    }
}

#[cfg(test)]
#[path = "emulator/live_tests.rs"]
mod live_tests;

#[cfg(test)]
#[path = "emulator/gateway_tests.rs"]
mod gateway_tests;
