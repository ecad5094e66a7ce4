//! Connections of a run packet by packet, for files and figures.
//!
//! ```
//! use bentpipe::recording::PacketRecorder;
//! use bentpipe::sim::Simulation;
//! use bentpipe::prelude::*;
//!
//! let scenario = bentpipe::parse(bentpipe::template())?;
//! let mut recorder = PacketRecorder::new(&scenario, &[], [Time::ZERO, Time::MAX])?;
//! let options = recorder.options(scenario.seed);
//! let outcome = Simulation::new(&scenario, &options)?.run(&mut recorder)?;
//! let traces = recorder.finish(&outcome)?;
//! assert_eq!(traces[0].flow, scenario.flows[0].name);
//! assert!(traces[0].packets.steps.len() > 1000);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use super::packets::Packets;
use super::quic::Datagrams;
use crate::Error;
use crate::compare::Answer;
use bentpipe_outcome::{FlowSeries, Outcome, SenderSample};
use bentpipe_quic::SMALLEST_PAYLOAD;
use bentpipe_scenario::{Connection, LinkId, Scenario};
use bentpipe_sim::{LostPacket, Observer, Options, ideal};
use bentpipe_tcp::{Ciphers, Packet};
use bentpipe_units::{Duration, Time};

/// Steps of a connection at most: what is recorded stays in memory until the run ends.
const MOST_STEPS: usize = 2_000_000;

/// The packets of one connection of a run.
#[derive(Clone, Debug)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub struct PacketTrace {
    /// The flow; behind a split-connection proxy `FLOW/PROXY`, as in series.
    pub flow: String,
    /// The transport of its sender.
    pub transport: String,
    /// Bytes of payload in a full segment.
    pub mss: u32,
    /// What happened to each packet, and the timeouts.
    pub packets: Packets,
    /// Over QUIC, what the sender's datagrams carry.
    pub datagrams: Datagrams,
    /// Ciphers protect what they carry: there is nothing in `datagrams`.
    pub is_sealed: bool,
    /// The state of the sender, a sample at each change.
    pub sender: Vec<SenderSample>,
    /// Packets, of all flows, that wait before the slowest link on the way to the
    /// receiver, wherever their number has changed. Empty without a fixed way.
    pub queue: Vec<(Time, u64)>,
    /// The name of that link; empty without one.
    pub link: String,
    /// The names of all links, by their numbers.
    pub links: Vec<String>,
    /// The time that was recorded.
    pub between: [Time; 2],
    /// Seed of the run.
    pub seed: u64,
    /// Name of the scenario.
    pub scenario: String,
}

/// Records connections of a run: an [`Observer`].
#[derive(Debug)]
pub struct PacketRecorder {
    connections: Vec<Recorded>,
    /// By the number of a connection, its place in `connections`.
    places: Vec<Option<usize>>,
    links: Vec<String>,
    between: [Time; 2],
    interval: Duration,
}

/// A connection that is recorded.
#[derive(Debug)]
struct Recorded {
    flow: String,
    transport: String,
    mss: u32,
    slowest: Option<LinkId>,
    packets: Packets,
    datagrams: Datagrams,
    /// Ciphers protect what it carries.
    is_sealed: bool,
    queue: Vec<(Time, u64)>,
}

impl PacketRecorder {
    /// Records the flows of these names between two times; all that TCP carries if there
    /// are no names.
    ///
    /// # Errors
    /// [`Error::Row`] if there is no flow of a name, or if no TCP carries it.
    pub fn new(
        scenario: &Scenario,
        flows: &[String],
        between: [Time; 2],
    ) -> Result<PacketRecorder, Error> {
        let names: Vec<String> = scenario
            .connections()
            .map(|c| series_name(scenario, &c))
            .collect();
        let carried = |i: usize| {
            let connection = scenario.connections().nth(i);
            connection.is_some_and(|c| c.transport.is_some())
        };
        for flow in flows {
            match names.iter().position(|name| name == flow) {
                Some(i) if !carried(i) => {
                    return Err(Error::Row(format!(
                        "flow `{flow}` sends datagrams: only TCP has sequence numbers to record"
                    )));
                }
                Some(_) => {}
                None => return Err(Error::Row(no_flow(flow, &names))),
            }
        }
        let (mut connections, mut places) = (Vec::new(), Vec::new());
        for (connection, name) in scenario.connections().zip(&names) {
            let wanted = flows.is_empty() || flows.contains(name);
            let Some(transport) = connection.transport.filter(|_| wanted) else {
                places.push(None);
                continue;
            };
            let smallest = transport.quic.map(|_| {
                let settings = bentpipe_scenario::quic_settings(transport);
                settings.mtu.unwrap_or(SMALLEST_PAYLOAD)
            });
            let mut packets = Packets::default();
            packets.is_quic = transport.quic.is_some();
            packets.between(Some(between));
            packets.at_most(MOST_STEPS);
            places.push(Some(connections.len()));
            connections.push(Recorded {
                flow: name.clone(),
                transport: transport.name.clone(),
                mss: transport.mss.max(1),
                slowest: slowest(scenario, connection.forward),
                packets,
                is_sealed: transport
                    .quic
                    .is_some_and(|quic| quic.ciphers != Ciphers::None),
                datagrams: Datagrams::new(smallest.map_or(0, u32::from)),
                queue: Vec::new(),
            });
        }
        let shortest = scenario
            .flows
            .iter()
            .map(|flow| ideal::round_trip(scenario, flow))
            .min();
        Ok(PacketRecorder {
            connections,
            places,
            links: scenario
                .links
                .iter()
                .map(|link| link.name.clone())
                .collect(),
            between,
            interval: (shortest.unwrap_or_default() / 50).max(Duration::from_micros(100)),
        })
    }

    /// The options of the run: with every change of a sender's state.
    #[must_use]
    pub fn options(&self, seed: u64) -> Options {
        Options {
            seed,
            series: Some(Duration::ZERO),
            ..Options::default()
        }
    }

    /// The recorded connections, once the run has ended.
    ///
    /// # Errors
    /// [`Error::Row`] if there were more packets than are kept.
    pub fn finish(self, outcome: &Outcome) -> Result<Vec<PacketTrace>, Error> {
        let none = FlowSeries::default();
        let of = |name: &str| outcome.series.iter().find(|s| s.flow == name);
        let traces = self.connections.into_iter().map(|recorded| {
            let series = of(&recorded.flow).unwrap_or(&none);
            let packets = recorded.packets.finish(series);
            if let Some(at) = packets.cut_at {
                return Err(Error::Row(format!(
                    "flow `{}` has more than {MOST_STEPS} packet events, reached at {:.1} s; narrow \
                     it with --from and --to",
                    recorded.flow,
                    at.as_secs()
                )));
            }
            let [from, to] = self.between;
            let is_inside = |sample: &&SenderSample| (from..=to).contains(&sample.at);
            let samples = series.sender.iter().filter(is_inside);
            Ok(PacketTrace {
                transport: recorded.transport,
                mss: recorded.mss,
                packets,
                is_sealed: recorded.is_sealed,
                datagrams: recorded.datagrams.finish(&series.sender, self.between),
                sender: samples.copied().collect(),
                queue: recorded.queue,
                link: recorded
                    .slowest
                    .and_then(|link| self.links.get(link.0 as usize).cloned())
                    .unwrap_or_default(),
                links: self.links.clone(),
                between: self.between,
                seed: outcome.seed,
                scenario: outcome.scenario.clone(),
                flow: recorded.flow,
            })
        });
        traces.collect()
    }

    fn is_inside(&self, at: Time) -> bool {
        at >= self.between[0] && at <= self.between[1]
    }

    /// The connection at one of whose ends this is, and whether it is the sender's.
    fn of(&mut self, endpoint: u32) -> Option<(&mut Recorded, bool)> {
        let place = self.places.get(endpoint as usize / 2).copied().flatten()?;
        let recorded = self.connections.get_mut(place)?;
        Some((recorded, endpoint.is_multiple_of(2)))
    }
}

impl Observer for PacketRecorder {
    fn carries(&mut self, endpoint: u32, packet: &Packet, datagram: &[u8]) {
        let of = self
            .of(endpoint)
            .filter(|(recorded, _)| !recorded.is_sealed);
        if let Some((recorded, by_sender)) = of {
            recorded
                .datagrams
                .carries(by_sender, packet.sequence, datagram);
        }
    }

    fn sent(&mut self, now: Time, endpoint: u32, packet: &Packet) {
        let is_inside = self.is_inside(now);
        if let Some((recorded, by_sender)) = self.of(endpoint) {
            recorded.packets.sent(now, by_sender, packet);
            if by_sender {
                recorded.datagrams.sent(now, is_inside);
            }
        }
    }

    fn received(&mut self, now: Time, endpoint: u32, packet: &Packet) {
        let is_inside = self.is_inside(now);
        if let Some((recorded, at_sender)) = self.of(endpoint) {
            recorded.packets.received(now, !at_sender, packet);
            if at_sender {
                recorded.datagrams.received(now, packet.sequence, is_inside);
            }
        }
    }

    fn lost(&mut self, loss: &LostPacket) {
        if let Some((recorded, to_sender)) = self.of(loss.packet.destination) {
            recorded.packets.lost(loss, !to_sender);
        }
    }

    fn timed_out(&mut self, now: Time, endpoint: u32) {
        if let Some((recorded, true)) = self.of(endpoint) {
            recorded.packets.timed_out(now);
        }
    }

    fn queue_interval(&self) -> Option<Duration> {
        Some(self.interval)
    }

    fn queue(&mut self, now: Time, link: u32, waiting: u64) {
        let [from, to] = self.between;
        for recorded in &mut self.connections {
            let is_its = recorded.slowest == Some(LinkId(link)) && now >= from && now <= to;
            let is_new = recorded
                .queue
                .last()
                .is_none_or(|(_, last)| *last != waiting);
            if is_its && is_new && recorded.queue.len() < MOST_STEPS {
                recorded.queue.push((now, waiting));
            }
        }
    }
}

impl Answer {
    /// The packets of a row's typical run
    /// ([`Cell::typical`](crate::compare::Cell::typical)): of the connection over the link.
    ///
    /// # Errors
    /// If the run hits a bound or has too many packets, if it was none of the simulator, or
    /// for a bound that is computed.
    pub fn trace(&self, row: usize, size: usize, between: [Time; 2]) -> Result<PacketTrace, Error> {
        self.check_recordable(size)?;
        let row = &self.rows[row];
        let typical = row.cells.get(size).and_then(|cell| cell.typical());
        let (seed, user) = typical.map_or((self.seed, 0), |(run, user)| (run.seed, user));
        let scenario = self.scenario_of_run(row, size, seed)?;
        let name = super::users::name(user);
        let flow = scenario.flows.iter().position(|flow| flow.name == name);
        let leg = flow.and_then(|flow| super::over_link(&scenario, flow));
        let leg = leg.ok_or_else(|| Error::Row(format!("{} has no packets", row.name)))?;
        let mut recorder = PacketRecorder::new(&scenario, &[leg.series], between)?;
        let options = Options {
            stop: self.stop_of_runs(),
            ..recorder.options(seed)
        };
        let outcome = self.observe(row, size, &options, &mut recorder)?;
        let mut traces = recorder.finish(&outcome)?;
        match traces.pop().filter(|trace| !trace.packets.steps.is_empty()) {
            Some(trace) => Ok(trace),
            None => Err(Error::Row(format!(
                "{} has no packets in this time",
                self.row_name(row)
            ))),
        }
    }
}

/// What series call a connection.
pub(super) fn series_name(scenario: &Scenario, connection: &Connection<'_>) -> String {
    let flow = &scenario.flows[connection.flow];
    let pep = connection.leg.checked_sub(1);
    let pep = pep.and_then(|pep| flow.split.as_ref()?.peps.get(pep));
    match (pep, connection.leg) {
        (Some(pep), _) => format!("{}/{}", flow.name, pep.name),
        (None, 0) => flow.name.clone(),
        (None, Connection::LOOKUP) => format!("{}/look-up", flow.name),
        // The way past the proxies.
        (None, leg) => format!("{}/{leg}", flow.name),
    }
}

/// The link of the lowest rate on a way.
fn slowest(scenario: &Scenario, way: &[LinkId]) -> Option<LinkId> {
    let rate = |link: &LinkId| scenario.links[link.0 as usize].settings.rate;
    way.iter().copied().min_by_key(rate)
}

/// That there is no flow of that name, and which there are.
fn no_flow(name: &str, names: &[String]) -> String {
    /// More names are no help.
    const NAMED: usize = 12;
    let nearest = bentpipe_cc::nearest(name, names.iter().map(String::as_str));
    let hint = nearest.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
    let known = names.iter().take(NAMED).map(String::as_str);
    let mut known = known.collect::<Vec<_>>().join(", ");
    if names.len() > NAMED {
        known += &format!(" and {} more", names.len() - NAMED);
    }
    format!("there is no flow `{name}`{hint}\n  flows: {known}")
}
