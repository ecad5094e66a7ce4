//! The behaviour of a constellation for given pairs of terminals over a run: paths, delays and
//! handovers, computed in advance.

use bentpipe_units::{Duration, Time};

use crate::isl::{Isl, IslKind};
use crate::position::Position;

/// A node of a path.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Node {
    /// A satellite, by its number in the constellation.
    Satellite(u32),
    /// A terminal, by its number in the request.
    Terminal(u32),
}

/// What an edge joins.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum EdgeKind {
    /// A terminal and a satellite.
    Ground,
    /// A link between two satellites.
    Isl(IslKind),
}

/// A point of a delay's course.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Knot {
    /// Time of this point.
    pub at: Time,
    /// The one-way propagation delay then.
    pub delay: Duration,
}

/// A stretch of time over which an edge is used, and its delay over it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Span {
    /// The first and the last at its ends, in order; a straight line from each
    /// to the next is within 10 us of the delay.
    pub knots: Vec<Knot>,
}

impl Span {
    /// Start of the stretch.
    #[must_use]
    pub fn from(&self) -> Time {
        self.knots[0].at
    }

    /// End of the stretch.
    #[must_use]
    pub fn to(&self) -> Time {
        self.knots[self.knots.len() - 1].at
    }

    /// The one-way delay at `time`, between the knots; before the first and
    /// after the last theirs.
    #[must_use]
    pub fn delay_at(&self, time: Time) -> Duration {
        let next = self.knots.partition_point(|knot| knot.at <= time);
        if next == 0 {
            return self.knots[0].delay;
        }
        let a = self.knots[next - 1];
        let Some(b) = self.knots.get(next) else {
            return a.delay;
        };
        let share = time.since(a.at).as_nanos() as f64 / b.at.since(a.at).as_nanos() as f64;
        let (from, to) = (a.delay.as_nanos() as f64, b.delay.as_nanos() as f64);
        Duration::from_nanos((from + (to - from) * share + 0.5) as u64)
    }
}

/// Two nodes that some path joins directly, for both directions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Edge {
    /// The smaller end in the order of [`Node`]: of a ground edge the
    /// satellite.
    pub a: Node,
    /// The other end of the edge.
    pub b: Node,
    /// Kind of the edge.
    pub kind: EdgeKind,
    /// When it is used, in order; gaps are longer than a minute.
    pub spans: Vec<Span>,
}

impl Edge {
    /// The one-way delay at `time`; none when no span holds it.
    #[must_use]
    pub fn delay_at(&self, time: Time) -> Option<Duration> {
        let next = self.spans.partition_point(|span| span.from() <= time);
        let span = self.spans.get(next.checked_sub(1)?)?;
        (time <= span.to()).then(|| span.delay_at(time))
    }
}

/// From when on a pair has which path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stretch {
    /// Until the next one begins, or the plan ends.
    pub from: Time,
    /// Into [`Plan::path`]; none while there is no way.
    pub path: Option<u32>,
}

/// Two terminals and their paths over time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pair {
    /// The terminal where paths begin.
    pub from: u32,
    /// The terminal where they end.
    pub to: u32,
    /// In order, the first at time 0, neighbours different.
    pub stretches: Vec<Stretch>,
}

/// A stretch of a pair's time and the delay over it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Leg<'a> {
    /// Until the next one begins, or the plan ends.
    pub from: Time,
    /// None while there is no way.
    pub path: Option<&'a [Node]>,
    /// From its beginning to its end, as in [`Span`]; none without a path.
    pub knots: Vec<Knot>,
}

/// A change of satellite.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Handover {
    /// Time of the handover.
    pub at: Time,
    /// The satellite from then on; `None` while none is above the mask.
    pub satellite: Option<u32>,
}

/// The satellites that one terminal, or one pair over a bent pipe, uses.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Track {
    /// The terminals that use them together: one, or two.
    pub terminals: Vec<u32>,
    /// In order, the first at time 0: what it starts with, no change.
    pub handovers: Vec<Handover>,
}

/// A link between satellites that went up, down or to another satellite.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct IslChange {
    pub(crate) at: Time,
    pub(crate) index: u32,
    pub(crate) isl: Isl,
}

/// Paths, delays and handovers over a run.
#[derive(Clone, PartialEq, Debug)]
pub struct Plan {
    pub(crate) duration: Duration,
    pub(crate) paths: Vec<Box<[Node]>>,
    pub(crate) edges: Vec<Edge>,
    pub(crate) pairs: Vec<Pair>,
    pub(crate) tracks: Vec<Track>,
    pub(crate) isls: Vec<Isl>,
    pub(crate) isl_changes: Vec<IslChange>,
    pub(crate) ground: Vec<Position>,
}

impl Plan {
    /// How much time it covers, from 0 on.
    #[must_use]
    pub fn duration(&self) -> Duration {
        self.duration
    }

    /// The pairs, as requested.
    #[must_use]
    pub fn pairs(&self) -> &[Pair] {
        &self.pairs
    }

    /// The nodes of a path, from terminal to terminal.
    #[must_use]
    pub fn path(&self, id: u32) -> &[Node] {
        &self.paths[id as usize]
    }

    /// How many different paths there are.
    #[must_use]
    pub fn paths(&self) -> usize {
        self.paths.len()
    }

    /// Every edge that lies on a path, in the order of its ends.
    #[must_use]
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// The edge between two nodes, in either order.
    #[must_use]
    pub fn edge(&self, a: Node, b: Node) -> Option<&Edge> {
        let key = (a.min(b), a.max(b));
        let found = self
            .edges
            .binary_search_by_key(&key, |edge| (edge.a, edge.b));
        found.ok().map(|index| &self.edges[index])
    }

    /// Who used which satellite when.
    #[must_use]
    pub fn tracks(&self) -> &[Track] {
        &self.tracks
    }

    /// The tracks of one terminal: its own, or over a bent pipe those of its pairs.
    fn tracks_of(&self, terminal: u32) -> impl Iterator<Item = &Track> {
        // A terminal's own track has its number, so that a plan of many need not be searched.
        let own = self.tracks.get(terminal as usize);
        let own = own.filter(|track| track.terminals == [terminal]);
        let all: &[Track] = if own.is_some() { &[] } else { &self.tracks };
        let shared = all.iter().filter(move |t| t.terminals.contains(&terminal));
        own.into_iter().chain(shared)
    }

    /// Where the terminals are.
    #[must_use]
    pub fn ground(&self) -> &[Position] {
        &self.ground
    }

    /// The path of pair `pair` at `time`.
    #[must_use]
    pub fn path_at(&self, pair: usize, time: Time) -> Option<&[Node]> {
        let stretches = &self.pairs[pair].stretches;
        let next = stretches.partition_point(|stretch| stretch.from <= time);
        let stretch = stretches.get(next.checked_sub(1)?)?;
        stretch.path.map(|id| self.path(id))
    }

    /// The one-way propagation delay of pair `pair` at `time`, from the knots;
    /// none while there is no path.
    #[must_use]
    pub fn delay_at(&self, pair: usize, time: Time) -> Option<Duration> {
        let path = self.path_at(pair, time)?;
        path.windows(2).try_fold(Duration::ZERO, |sum, ends| {
            let edge = self.edge(ends[0], ends[1])?;
            Some(sum + edge.delay_at(time)?)
        })
    }

    /// The stretches of pair `pair` with their ends and paths.
    pub fn stretches(
        &self,
        pair: usize,
    ) -> impl Iterator<Item = (Time, Time, Option<&[Node]>)> + '_ {
        let stretches = &self.pairs[pair].stretches;
        let end = Time::ZERO + self.duration;
        stretches.iter().enumerate().map(move |(i, stretch)| {
            let to = stretches.get(i + 1).map_or(end, |next| next.from);
            (stretch.from, to, stretch.path.map(|id| self.path(id)))
        })
    }

    /// The share of the time in which pair `pair` has a path.
    #[must_use]
    pub fn availability(&self, pair: usize) -> f64 {
        let joined: f64 = self
            .stretches(pair)
            .filter(|(.., path)| path.is_some())
            .map(|(from, to, _)| to.since(from).as_secs())
            .sum();
        joined / self.duration.as_secs()
    }

    /// When the edge is up: from when on it is, or is not, in order, the first
    /// at time 0. A ground edge is up while its terminal uses its satellite.
    #[must_use]
    pub fn ups(&self, edge: &Edge) -> Vec<(Time, bool)> {
        let mut ups: Vec<(Time, bool)> = Vec::new();
        let mut note = |at: Time, up: bool| match ups.last_mut() {
            Some(last) if last.0 == at => last.1 = up,
            Some(last) if last.1 == up => {}
            _ => ups.push((at, up)),
        };
        match (edge.a, edge.b) {
            (Node::Satellite(satellite), Node::Terminal(terminal)) => {
                // Over a bent pipe each pair has its own satellite.
                let mut users = 0u32;
                let mut changes: Vec<(Time, bool)> = Vec::new();
                for track in self.tracks_of(terminal) {
                    let mut using = false;
                    for handover in &track.handovers {
                        let uses = handover.satellite == Some(satellite);
                        if uses != using {
                            changes.push((handover.at, uses));
                            using = uses;
                        }
                    }
                }
                changes.sort_unstable_by_key(|change| change.0);
                note(Time::ZERO, false);
                for (at, uses) in changes {
                    users = if uses { users + 1 } else { users - 1 };
                    note(at, users > 0);
                }
            }
            (Node::Satellite(a), Node::Satellite(b)) => {
                let joins = |isl: &Isl| (isl.a.min(isl.b), isl.a.max(isl.b)) == (a, b);
                // Several links may join the two in turn, across a seam.
                let mut up: Vec<bool> = self.isls.iter().map(|i| joins(i) && i.up).collect();
                let mut count = up.iter().filter(|up| **up).count();
                note(Time::ZERO, count > 0);
                for change in &self.isl_changes {
                    let slot = &mut up[change.index as usize];
                    let now = joins(&change.isl) && change.isl.up;
                    if now != *slot {
                        *slot = now;
                        count = if now { count + 1 } else { count - 1 };
                        note(change.at, count > 0);
                    }
                }
            }
            _ => note(Time::ZERO, true),
        }
        ups
    }

    /// The course of the one-way delay of pair `pair`: for each stretch its
    /// path, and knots from its beginning to its end; no knots without a path.
    #[must_use]
    pub fn course(&self, pair: usize) -> Vec<Leg<'_>> {
        let stretches = self.stretches(pair);
        let course = stretches.map(|(from, to, path)| {
            let edges: Vec<&Edge> = path
                .unwrap_or(&[])
                .windows(2)
                .filter_map(|ends| self.edge(ends[0], ends[1]))
                .collect();
            let mut times: Vec<Time> = edges
                .iter()
                .flat_map(|edge| &edge.spans)
                .flat_map(|span| &span.knots)
                .map(|knot| knot.at)
                .filter(|at| (from..=to).contains(at))
                .chain([from, to])
                .collect();
            times.sort_unstable();
            times.dedup();
            let delay = |at: &Time| {
                let delays = edges.iter().filter_map(|edge| edge.delay_at(*at));
                delays.fold(Duration::ZERO, |sum, delay| sum + delay)
            };
            let knots = times.iter().map(|at| Knot {
                at: *at,
                delay: delay(at),
            });
            let knots = path.map_or(Vec::new(), |_| knots.collect());
            Leg { from, path, knots }
        });
        course.collect()
    }

    /// The links between satellites as they are before anybody looked at them,
    /// in the order of the numbers in [`Plan::isl_changes`].
    #[must_use]
    pub fn isls(&self) -> &[Isl] {
        &self.isls
    }

    /// What becomes of the links between satellites: when, which of
    /// [`Plan::isls`], and what it is from then on, in order of time.
    pub fn isl_changes(&self) -> impl Iterator<Item = (Time, usize, Isl)> + '_ {
        let changes = self.isl_changes.iter();
        changes.map(|change| (change.at, change.index as usize, change.isl))
    }

    /// The links between satellites at `time`, up or not.
    #[must_use]
    pub fn isls_at(&self, time: Time) -> Vec<Isl> {
        let mut isls = self.isls.clone();
        for change in self.isl_changes.iter().take_while(|c| c.at <= time) {
            isls[change.index as usize] = change.isl;
        }
        isls
    }
}
