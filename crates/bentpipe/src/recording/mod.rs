//! What the transport of one user does over time: a run of a comparison again, with
//! everything that an explanation or a figure of it needs.
//!
//! ```
//! use bentpipe::prelude::*;
//! use bentpipe::recording::Detail;
//!
//! let answer = Comparison::new()
//!     .rate(Rate::from_mbps(2))
//!     .rtt(Duration::from_millis(511))
//!     .size(Bytes::new(300_000))
//!     .runs(1)
//!     .transports(["cubic"])
//!     .run()?;
//! let recording = answer.record(&answer.rows[0], 0, &Detail::default())?;
//! assert_eq!(recording.seed, answer.seed);
//! assert!(recording.why(&answer).acts[0].title.starts_with("Handshake"));
//! # Ok::<(), bentpipe::Error>(())
//! ```

mod export;
mod frames;
mod packets;
mod quic;
mod spans;
mod text;
mod trace;
mod users;
mod waits;
mod watch;
mod why;

pub use export::{write_packets, write_qlog};
pub use packets::{Packets, Step, StepKind, Trigger};
pub use quic::Datagrams;
pub use spans::{Phase, PhaseSpan};
pub use trace::{PacketRecorder, PacketTrace};
pub use users::{is_user, rates, sender_of, together};
pub use watch::{Loss, Resent};
pub use why::{Act, Doing, Explained, Facts, Range, Spent, TimeSpent, Why, difference};

use crate::Error;
use crate::compare::{Activity, Answer, Cell, GIVEN_UP, Pep, Row, Traffic};
use bentpipe_outcome::{FlowOutcome, FlowSeries, Outcome};
use bentpipe_scenario::{Connection, LinkId, Scenario};
use bentpipe_sim::{Options, Stop};
use bentpipe_units::{Bytes, Duration, Time};
use waits::Waits;
use watch::Watch;

/// The link that is compared on: the builder of the comparison adds it first.
const LINK: u32 = 0;

/// The time over which users read pages or watch videos, to space samples by.
const SESSION: Duration = Duration::from_secs(120);

/// What is recorded of a run.
#[derive(Clone, Debug)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub struct Detail {
    /// The number of the user, from zero on.
    pub user: u32,
    /// Seed of the run; `None` is the run of median time.
    pub seed: Option<u64>,
    /// Samples of the sender and of the queue in a run, about; a change of phase is
    /// always one.
    pub samples: u64,
    /// Packets between these times are noted one by one.
    pub packets: Option<[Time; 2]>,
    /// What stops the run.
    pub stop: Stop,
}

impl Default for Detail {
    fn default() -> Detail {
        Detail {
            user: 0,
            seed: None,
            samples: 20_000,
            packets: None,
            stop: Stop::default(),
        }
    }
}

/// One run of a row, as one of its users experienced it.
#[derive(Clone, Debug)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub struct Recording {
    /// Seed of the run.
    pub seed: u64,
    /// The number of the user, from zero on.
    pub user: u32,
    /// What the run yielded.
    pub outcome: Outcome,
    /// What the user received, and the state of the sender that sends over the link:
    /// behind a split-connection proxy that of the proxy. The state is empty for a
    /// bound that is computed and not simulated.
    pub series: FlowSeries,
    /// Name of the transport that sends over the link.
    pub transport: String,
    /// Bytes of payload in a full segment.
    pub mss: u32,
    /// When the user began.
    pub started_at: Time,
    /// When the first data were sent over the link; `None` if none were.
    pub first_data_at: Option<Time>,
    /// When the user had everything; `None` if that did not come, and for pages and
    /// videos, which come one by one.
    pub ended_at: Option<Time>,
    /// Data of the user that were lost on the link or before it.
    pub losses: Vec<Loss>,
    /// When acknowledgements to the sender were lost.
    pub lost_acks: Vec<Time>,
    /// When packets that open the connection were lost.
    pub lost_openings: Vec<Time>,
    /// What was sent again.
    pub resent: Vec<Resent>,
    /// When retransmission timers expired.
    pub timeouts: Vec<Time>,
    /// When the sender waited for something else than its window.
    waits: Waits,
    /// Packets of all users that waited before the link.
    pub queue: Vec<(Time, u64)>,
    /// Bytes at the IP layer that the link had carried by then, of all users, as of
    /// their arrival at the far end of their connection. Those that its channel
    /// destroyed took as much of it.
    pub carried: Vec<(Time, u64)>,
    /// Round-trip propagation time between the ends of the connection that crosses
    /// the link.
    pub rtt: Duration,
    /// Bandwidth-delay product of that connection's path, full packets.
    pub bdp_segments: f64,
    /// The packets of [`Detail::packets`].
    pub packets: Packets,
}

impl Answer {
    /// Runs a row again and records what one user's transport does; `size` is an
    /// index into [`Answer::sizes`].
    ///
    /// # Errors
    /// If the run hits a bound or there is no such user.
    pub fn record(&self, row: &Row, size: usize, detail: &Detail) -> Result<Recording, Error> {
        let cell = row.cells.get(size);
        let median = cell.and_then(Cell::median_run).map(|run| run.seed);
        let seed = detail.seed.or(median).unwrap_or(self.seed);
        let scenario = self.scenario_of_run(row, size, seed)?;
        let name = users::name(detail.user);
        let flow = scenario.flows.iter().position(|f| f.name == name);
        let flow = flow.ok_or_else(|| {
            Error::setting("users", format!("leaves out user {}", detail.user + 1))
        })?;
        let leg = over_link(&scenario, flow);
        let spacing = self.span(cell) / detail.samples.max(1);
        let mut watch = Watch::new(&scenario, leg.as_ref().map(|l| l.number), spacing);
        watch.packets.between(detail.packets);
        let options = Options {
            seed,
            series: Some(match detail.packets {
                Some(_) => Duration::ZERO,
                None => spacing,
            }),
            queueing_delays: false,
            stop: detail.stop.clone(),
            ..Options::default()
        };
        let outcome = self.observe(row, size, &options, &mut watch)?;
        self.recorded(row, &scenario, leg, outcome, watch, (seed, detail.user))
    }

    /// About how long a run lasts.
    fn span(&self, cell: Option<&Cell>) -> Duration {
        let median = cell.and_then(Cell::time).map(|times| times.median);
        match (self.traffic, median) {
            (Traffic::Download, Some(seconds)) => Duration::from_secs_f64(seconds),
            (Traffic::Download, None) => GIVEN_UP,
            _ => SESSION,
        }
    }

    /// Puts together what the run and its observer have.
    fn recorded(
        &self,
        row: &Row,
        scenario: &Scenario,
        leg: Option<LegOverLink>,
        outcome: Outcome,
        watch: Watch,
        (seed, user): (u64, u32),
    ) -> Result<Recording, Error> {
        let name = users::name(user);
        let found = outcome.flows.iter().find(|f| f.name == name);
        let flow = found.cloned().unwrap_or_default();
        let of = |name: &str| outcome.series.iter().find(|s| s.flow == name);
        let own = of(&name).cloned().unwrap_or_default();
        let series = match &leg {
            Some(leg) if leg.series != name => FlowSeries {
                sender: of(&leg.series)
                    .map(|s| s.sender.clone())
                    .unwrap_or_default(),
                ..own
            },
            _ => own,
        };
        // No proxy ends a QUIC connection.
        let is_quic = self.candidates[row.candidate].setting.quic;
        let is_end_to_end = is_quic || !matches!(row.pep, Pep::Split | Pep::Gateway);
        let ground = self.path.server_rtt.filter(|_| is_end_to_end);
        let rtt = self.path.rtt + ground.unwrap_or(Duration::ZERO);
        let bdp = self.path.rate.bytes_in(rtt).as_f64();
        Ok(Recording {
            seed,
            user,
            transport: leg
                .as_ref()
                .map_or_else(|| row.name.clone(), |l| l.transport.clone()),
            mss: leg.as_ref().map_or(1448, |leg| leg.mss).max(1),
            started_at: flow.started_at,
            first_data_at: watch.first_data_at,
            ended_at: ended(&flow, self.traffic.of_user(user)),
            carried: watch.carried(scenario.links.first().map(|l| l.settings.framing)),
            losses: watch.losses,
            lost_acks: watch.lost_acks,
            lost_openings: watch.lost_openings,
            resent: match is_quic {
                true => found_lost(&series, &flow),
                false => watch.resent,
            },
            timeouts: watch.timeouts,
            waits: watch.waits,
            queue: watch.queue,
            packets: watch.packets.finish(&series),
            series,
            rtt,
            bdp_segments: bdp / FULL_PACKET,
            outcome,
        })
    }
}

/// What a sender over QUIC found lost, one for each: it sends what they carried again in packets that
/// show no difference.
fn found_lost(series: &FlowSeries, flow: &FlowOutcome) -> Vec<Resent> {
    let mut found = Vec::new();
    let samples = series.sender.iter().map(|s| (s.at, s.retransmissions));
    let last = series.sender.last().map(|s| (s.at, flow.retransmissions));
    for (at, retransmissions) in samples.chain(last) {
        let count = found.len().max(retransmissions as usize);
        found.resize(count, Resent { at, sequence: 0 });
    }
    found
}

/// Bytes of a full packet at the IP layer.
const FULL_PACKET: f64 = 1500.0;

/// When a download was complete.
fn ended(flow: &FlowOutcome, activity: Activity) -> Option<Time> {
    let time = flow
        .transfer_time
        .filter(|_| activity == Activity::Download)?;
    Some(flow.started_at + time)
}

/// The connection of a flow that crosses the link.
#[derive(Clone, Debug)]
struct LegOverLink {
    /// Its number: endpoints are twice that and one more.
    number: u32,
    /// The name of its series.
    series: String,
    transport: String,
    mss: u32,
}

fn over_link(scenario: &Scenario, flow: usize) -> Option<LegOverLink> {
    let crosses = |c: &Connection<'_>| c.flow == flow && c.forward.contains(&LinkId(LINK));
    let mut all = (0..).zip(scenario.connections());
    let (number, connection) = all.find(|(_, c)| crosses(c))?;
    Some(LegOverLink {
        number,
        series: trace::series_name(scenario, &connection),
        transport: connection.transport.map_or("", |t| &t.name).to_owned(),
        mss: connection.transport.map_or(1448, |t| t.mss),
    })
}

impl Recording {
    /// Where the recording ends: when the user had everything, or with the run.
    #[must_use]
    pub fn end(&self) -> Time {
        self.ended_at.unwrap_or(self.outcome.ended_at)
    }

    /// The phases of the congestion control, in their order.
    #[must_use]
    pub fn phases(&self) -> Vec<PhaseSpan> {
        spans::of(&self.series.sender, self.end())
    }

    /// Share of the time from `from` to `to` that the link was busy with what arrived
    /// or was destroyed on it, on the mean rate of the link; `None` for times shorter
    /// than its delay.
    #[must_use]
    pub fn busy(&self, answer: &Answer, from: Time, to: Time) -> Option<f64> {
        let path = &answer.path;
        let time = to.since(from);
        if time < path.rtt / 2 || time.is_zero() {
            return None;
        }
        let by = |at: Time| self.carried_by(answer, at);
        let bytes = Bytes::new(by(to).saturating_sub(by(from)));
        let needs = path.rate.transmission_time(bytes).as_secs();
        Some((needs / time.as_secs()).min(1.0))
    }

    /// Bytes at the IP layer that the link had carried by `at`.
    fn carried_by(&self, answer: &Answer, at: Time) -> u64 {
        // What arrives then was sent half a round trip before.
        let at = at + answer.path.rtt / 2;
        let place = self.carried.partition_point(|(t, _)| *t <= at);
        place.checked_sub(1).map_or(0, |i| self.carried[i].1)
    }
}
