//! From a constellation and terminals to a [`Plan`].
//!
//! Three clocks run through the plan: every terminal (or, over a bent pipe, every pair) searches
//! for a satellite at its interval, inter-satellite links are updated at theirs, and routes are
//! recomputed at each of these instants. In between, paths stay the same and delays change. (ns-2
//! can compute routes for every packet; for a packet just after an update the two agree.)

use std::collections::HashMap;

use bentpipe_random::Stream;
use bentpipe_units::{Duration, Time};

use crate::constellation::Constellation;
use crate::handover::{Group, Policy, Terminal};
use crate::isl::{Isl, IslKind};
use crate::plan::{Edge, EdgeKind, Handover, IslChange, Node, Pair, Plan, Stretch, Track};
use crate::position::Position;
use crate::quantity::Distance;
use crate::route::Router;
use crate::spans::Delays;

/// What satellites do with packets.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Mode {
    /// Repeat them to the ground: two terminals are joined while one satellite
    /// serves both.
    BentPipe,
    /// Hand them on over inter-satellite links.
    #[default]
    Isl,
}

/// Settings of the planner.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Settings {
    /// From time 0 on.
    pub duration: Duration,
    /// How satellites forward: bent pipe or inter-satellite links.
    pub mode: Mode,
    /// How terminals choose their satellite.
    pub policy: Policy,
    /// Between two looks for a satellite.
    pub search: Duration,
    /// If given, pauses between looks are uniform between half and one and a
    /// half times `search`, drawn with this seed, for each terminal its own.
    pub jitter: Option<u64>,
    /// Between two looks at the inter-satellite links.
    pub isl_check: Duration,
}

impl Default for Settings {
    /// ns-2's, for a day: looks every 10 s, none drawn.
    fn default() -> Settings {
        Settings {
            duration: Duration::from_secs(86_400),
            mode: Mode::Isl,
            policy: Policy::Keep,
            search: Duration::from_secs(10),
            jitter: None,
            isl_check: Duration::from_secs(10),
        }
    }
}

/// Why there is no plan.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PlanError {
    /// A constellation without satellites.
    #[error("the constellation has no satellites")]
    Empty,
    /// A pair names a terminal that is not there, or one twice.
    #[error("a pair joins two different terminals of {count}, not {from} and {to}")]
    Pair {
        /// Index of the first terminal.
        from: u32,
        /// Index of the second terminal.
        to: u32,
        /// How many there are.
        count: usize,
    },
    /// No time between two looks.
    #[error("satellites must be looked for at an interval of at least 1 ms")]
    Interval,
    /// More work than anybody waits for.
    #[error(
        "{looks} looks at {satellites} satellites for {pairs} pairs of terminals are too many: take a \
         longer `search`, a shorter run or fewer terminals, and leave out `jitter`"
    )]
    TooMuch {
        /// Number of updates that the plan would need.
        looks: u64,
        /// Number of satellites.
        satellites: usize,
        /// Number of pairs whose paths are looked for at each update.
        pairs: usize,
    },
}

/// Looks times satellites and pairs: some minutes of work.
const MOST_POSITIONS: u64 = 10_000_000_000;
const MOST_LOOKS: u64 = 5_000_000;
const SHORTEST: Duration = Duration::from_millis(1);

/// The satellite that a group uses, and when it looks again.
struct Tracker {
    group: Group,
    current: Option<u32>,
    next: Time,
    draws: Option<Stream>,
}

impl Tracker {
    fn pause(&mut self, interval: Duration) -> Duration {
        match &mut self.draws {
            Some(stream) => interval.scaled(0.5 + stream.uniform()).max(SHORTEST),
            None => interval,
        }
    }
}

/// Works out the plan of `pairs` of `terminals` in `constellation`.
///
/// # Errors
/// If the request makes no sense or is too large.
pub fn plan(
    constellation: &Constellation,
    terminals: &[Terminal],
    pairs: &[(u32, u32)],
    settings: &Settings,
) -> Result<Plan, PlanError> {
    check(constellation, terminals, pairs, settings)?;
    let mut planner = Planner::new(constellation, terminals, pairs, settings);
    planner.run();
    Ok(planner.finish())
}

fn check(
    constellation: &Constellation,
    terminals: &[Terminal],
    pairs: &[(u32, u32)],
    settings: &Settings,
) -> Result<(), PlanError> {
    let satellites = constellation.len();
    if satellites == 0 {
        return Err(PlanError::Empty);
    }
    let count = terminals.len();
    for &(from, to) in pairs {
        if from == to || from.max(to) as usize >= count {
            return Err(PlanError::Pair { from, to, count });
        }
    }
    let mut interval = settings.search.min(settings.isl_check);
    if interval < SHORTEST {
        return Err(PlanError::Interval);
    }
    let mut clocks = 1;
    if settings.jitter.is_some() {
        clocks += count as u64 * 2;
        interval = interval.max(SHORTEST * 2);
    }
    let looks = (settings.duration.as_nanos() / interval.as_nanos()).saturating_mul(clocks);
    let work = looks.saturating_mul(satellites as u64 * (1 + pairs.len() as u64));
    if looks > MOST_LOOKS || work > MOST_POSITIONS {
        return Err(PlanError::TooMuch {
            looks,
            satellites,
            pairs: pairs.len(),
        });
    }
    Ok(())
}

struct Planner<'a> {
    constellation: &'a Constellation,
    settings: &'a Settings,
    trackers: Vec<Tracker>,
    tracks: Vec<Track>,
    pairs: Vec<Pair>,
    /// The trackers of each pair's ends; the same one twice over a bent pipe.
    ends: Vec<(usize, usize)>,
    isls: Vec<Isl>,
    changes: Vec<IslChange>,
    router: Router,
    next_isl: Time,
    positions: Vec<Position>,
    path: Vec<u32>,
    nodes: Vec<Node>,
    paths: Vec<Box<[Node]>>,
    known: HashMap<Box<[Node]>, u32>,
    kinds: HashMap<(u32, u32), IslKind>,
    ground: Vec<Position>,
}

impl<'a> Planner<'a> {
    fn new(
        constellation: &'a Constellation,
        terminals: &[Terminal],
        pairs: &[(u32, u32)],
        settings: &'a Settings,
    ) -> Planner<'a> {
        let groups: Vec<Vec<u32>> = match settings.mode {
            Mode::Isl => (0..terminals.len() as u32).map(|t| vec![t]).collect(),
            Mode::BentPipe => pairs.iter().map(|&(a, b)| vec![a, b]).collect(),
        };
        let trackers = groups.iter().enumerate().map(|(i, group)| {
            let members: Vec<Terminal> = group.iter().map(|t| terminals[*t as usize]).collect();
            let draws = |seed| Stream::new(seed, &format!("handover search {i}"));
            Tracker {
                group: Group::new(&members),
                current: None,
                next: Time::ZERO,
                draws: settings.jitter.map(draws),
            }
        });
        let trackers: Vec<Tracker> = trackers.collect();
        let tracks = groups.into_iter().map(|terminals| Track {
            terminals,
            handovers: Vec::new(),
        });
        let ends = pairs
            .iter()
            .enumerate()
            .map(|(i, &(a, b))| match settings.mode {
                Mode::Isl => (a as usize, b as usize),
                Mode::BentPipe => (i, i),
            });
        let isls = match settings.mode {
            Mode::Isl => constellation.isls().to_vec(),
            Mode::BentPipe => Vec::new(),
        };
        Planner {
            constellation,
            settings,
            trackers,
            tracks: tracks.collect(),
            pairs: pairs
                .iter()
                .map(|&(from, to)| Pair {
                    from,
                    to,
                    stretches: Vec::new(),
                })
                .collect(),
            ends: ends.collect(),
            isls,
            changes: Vec::new(),
            router: Router::default(),
            next_isl: Time::ZERO,
            positions: Vec::new(),
            path: Vec::new(),
            nodes: Vec::new(),
            paths: Vec::new(),
            known: HashMap::new(),
            kinds: HashMap::new(),
            ground: terminals
                .iter()
                .map(|t| Position::above(t.place, Distance::from_km(0.0)))
                .collect(),
        }
    }

    fn run(&mut self) {
        self.router.set_links(self.constellation.len(), &self.isls);
        if self.isls.is_empty() {
            self.next_isl = Time::MAX;
        }
        let end = Time::ZERO + self.settings.duration;
        loop {
            let next = self.trackers.iter().map(|tracker| tracker.next).min();
            let now = next.unwrap_or(Time::MAX).min(self.next_isl);
            if now > end || (now == end && now > Time::ZERO) || self.pairs.is_empty() {
                break;
            }
            self.constellation.positions(now, &mut self.positions);
            if self.next_isl == now {
                self.look_at_links(now);
                self.next_isl = now + self.settings.isl_check;
            }
            self.look_for_satellites(now);
            for pair in 0..self.pairs.len() {
                self.route(pair, now);
            }
        }
    }

    fn look_at_links(&mut self, now: Time) {
        let rules = self.constellation.rules();
        let mut changed = false;
        for (index, isl) in self.isls.iter_mut().enumerate() {
            let follower = |satellite| self.constellation.follower(satellite);
            if rules.look(isl, &self.positions, follower) {
                changed = true;
                self.changes.push(IslChange {
                    at: now,
                    index: index as u32,
                    isl: *isl,
                });
            }
        }
        if changed || now == Time::ZERO {
            self.router.set_links(self.constellation.len(), &self.isls);
            for isl in self.isls.iter().filter(|isl| isl.up) {
                let ends = (isl.a.min(isl.b), isl.a.max(isl.b));
                self.kinds.insert(ends, isl.kind);
            }
        }
    }

    fn look_for_satellites(&mut self, now: Time) {
        let interval = self.settings.search;
        for (tracker, track) in self.trackers.iter_mut().zip(&mut self.tracks) {
            if tracker.next != now {
                continue;
            }
            let found = tracker.group.look(
                self.settings.policy,
                tracker.current,
                self.constellation,
                &self.positions,
                (now, interval),
            );
            if found != tracker.current || now == Time::ZERO {
                tracker.current = found;
                track.handovers.push(Handover {
                    at: now,
                    satellite: found,
                });
            }
            tracker.next = now + tracker.pause(interval);
        }
    }

    fn route(&mut self, pair: usize, now: Time) {
        let (a, b) = self.ends[pair];
        let satellites = self.trackers[a].current.zip(self.trackers[b].current);
        self.path.clear();
        if let Some((first, last)) = satellites {
            if first == last {
                self.path.push(first);
            } else {
                self.router
                    .route(&self.positions, (first, last), &mut self.path);
            }
        }
        let Pair {
            from,
            to,
            stretches,
        } = &mut self.pairs[pair];
        let path = if self.path.is_empty() {
            None
        } else {
            self.nodes.clear();
            self.nodes.push(Node::Terminal(*from));
            self.nodes
                .extend(self.path.iter().map(|s| Node::Satellite(*s)));
            self.nodes.push(Node::Terminal(*to));
            let known = self.known.get(self.nodes.as_slice()).copied();
            Some(known.unwrap_or_else(|| {
                let id = self.paths.len() as u32;
                let path: Box<[Node]> = self.nodes.as_slice().into();
                self.paths.push(path.clone());
                self.known.insert(path, id);
                id
            }))
        };
        if stretches.last().is_none_or(|last| last.path != path) {
            stretches.push(Stretch { from: now, path });
        }
    }

    fn finish(self) -> Plan {
        let isls = self.isls_at_start();
        let mut plan = Plan {
            duration: self.settings.duration,
            paths: self.paths,
            edges: Vec::new(),
            pairs: self.pairs,
            tracks: self.tracks,
            isls,
            isl_changes: self.changes,
            ground: self.ground,
        };
        let mut uses: Vec<(Node, Node, Time, Time)> = Vec::new();
        for pair in 0..plan.pairs.len() {
            for (from, to, path) in plan.stretches(pair) {
                for ends in path.unwrap_or(&[]).windows(2) {
                    uses.push((ends[0].min(ends[1]), ends[0].max(ends[1]), from, to));
                }
            }
        }
        uses.sort_unstable();
        let delays = Delays::new(self.constellation, &plan.ground);
        plan.edges = uses
            .chunk_by(|x, y| (x.0, x.1) == (y.0, y.1))
            .map(|uses| {
                let (a, b, ..) = uses[0];
                let kind = match (a, b) {
                    (Node::Satellite(a), Node::Satellite(b)) => EdgeKind::Isl(self.kinds[&(a, b)]),
                    _ => EdgeKind::Ground,
                };
                let spans = delays.spans(a, b, uses.iter().map(|u| (u.2, u.3)));
                Edge { a, b, kind, spans }
            })
            .collect();
        plan
    }

    fn isls_at_start(&self) -> Vec<Isl> {
        match self.settings.mode {
            Mode::Isl => self.constellation.isls().to_vec(),
            Mode::BentPipe => Vec::new(),
        }
    }
}
