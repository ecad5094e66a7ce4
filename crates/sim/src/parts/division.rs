//! Which part of a network each link and each end of a flow is in.
//!
//! Elements are the links and the two ends of each flow. What shares state at one instant is one
//! piece: [`crate::parts`] says what that is. Links with less than some delay are not cut; the delay
//! is the largest with which the pieces are small enough to be spread evenly, since a longer window
//! costs less. Pieces go to parts by their weight, the heaviest first, each to the part that it hands
//! most packets to, as long as that has room (linear deterministic greedy partitioning, Stanton and
//! Kliot, KDD 2012, with heavy pieces first). The weight is the time for which paths lead over a
//! link, and some hops for the endpoints: how much an application will send is not known.

use crate::execution::Ties;
use crate::flow::Running;
use crate::network::Network;
use crate::observer::Unobserved;
use crate::{Options, ideal};
use bentpipe_link::forward;
use bentpipe_scenario::{Groups, LinkDownPolicy, LinkId, Scenario};
use bentpipe_units::{Duration, Time};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// The work of an endpoint for a packet, in that of a link.
const END: u64 = 4;

/// Delays that are tried as the least one of a link that is cut.
const TRIES: usize = 12;

/// Links with less delay are not cut: a meeting costs some microseconds.
const LEAST_WINDOW: Duration = Duration::from_micros(50);

/// What a meeting of two parts costs on two cores that others use as well, seconds; a tenth of that
/// where they are free. Measured on a row of three links with windows of 2 ms.
const MEETING: f64 = 40e-6;

/// A run that is estimated to take so many seconds on one thread stays there, unless more were asked
/// for.
const SHORT: f64 = 1.0;

/// Division is worth it if the heaviest piece leaves at least this over one thread.
const WORTH: f64 = 1.2;

/// How a run on several threads takes place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threads {
    /// On one thread, for this reason.
    One(OneThread),
    /// The network is divided.
    Many {
        /// Number of threads.
        threads: usize,
        /// Time for which they run without hearing of each other; `None`: to the end, since no
        /// packet goes from one part to another.
        window: Option<Duration>,
    },
}

/// Why a run takes place on one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OneThread {
    /// No more were wanted.
    Wanted,
    /// It is over as soon on one.
    Small,
    /// An observer sees its packets in their order.
    Observed,
    /// A congestion control is a user's own.
    OwnControl,
    /// Congestion controls know of each other, or PEPs share a tunnel or grants.
    Ties,
    /// Queues or links notify ends of flows at once.
    Notices,
    /// It waits for no flow.
    Idle,
    /// No links can be cut so that no part has nearly all the work.
    OnePiece,
}

impl fmt::Display for OneThread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            OneThread::Wanted => "no more threads were asked for",
            OneThread::Small => "it is over as soon",
            OneThread::Observed => "its packets are recorded in their order",
            OneThread::OwnControl => "a congestion control is your own",
            OneThread::Ties => {
                "congestion controls know of each other, or PEPs share a tunnel or grants"
            }
            OneThread::Notices => "a queue or a link notifies ends of flows at once",
            OneThread::Idle => "it waits for no flow",
            OneThread::OnePiece => {
                "nearly all of its work is in one piece: ends of flows, and links without a delay or \
                 whose arrivals are not known ahead"
            }
        })
    }
}

impl Threads {
    /// How a run with this division takes place.
    pub(crate) fn of(division: &Result<Division, OneThread>) -> Threads {
        match division {
            Err(why) => Threads::One(*why),
            Ok(division) => Threads::Many {
                threads: division.parts,
                window: Some(division.window).filter(|window| *window != Duration::MAX),
            },
        }
    }
}

/// Which part each link and each end of a flow is in.
#[derive(Clone, Debug)]
pub(crate) struct Division {
    parts: usize,
    /// The least delay of a link that is cut.
    window: Duration,
    /// By link.
    links: Vec<u8>,
    /// By flow: its `from`, its `to`.
    flows: Vec<[u8; 2]>,
    /// By hop of all paths.
    hops: Arc<[u8]>,
}

impl Division {
    pub(crate) fn parts(&self) -> usize {
        self.parts
    }

    /// The time for which parts can run without hearing of each other.
    pub(crate) fn window(&self) -> Duration {
        self.window
    }

    /// The part of a link's near end.
    pub(crate) fn home(&self, link: u32) -> usize {
        usize::from(self.links[link as usize])
    }

    /// The parts of a flow's `from` and `to`.
    pub(crate) fn sides(&self, flow: usize) -> [usize; 2] {
        self.flows[flow].map(usize::from)
    }

    /// By hop of all paths, the part that packets are in that have come to it.
    pub(crate) fn hops(&self) -> Arc<[u8]> {
        Arc::clone(&self.hops)
    }
}

/// Divides the network of `scenario` into as many parts as there are cores, if it is large enough:
/// what the parts save, by an estimate of the run's time on one core, is twice what meeting costs
/// them.
pub(crate) fn divide_by_itself(
    scenario: &Scenario,
    options: &Options,
    flows: &[Running],
) -> Result<Division, OneThread> {
    let seconds = crate::seconds(scenario);
    if seconds < SHORT {
        return Err(OneThread::Small);
    }
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let division = divide(scenario, options, flows, cores)?;
    let windows = scenario.duration.as_secs() / division.window.as_secs();
    let saved = seconds * (1.0 - 1.0 / division.parts as f64);
    match saved > 2.0 * windows * MEETING {
        true => Ok(division),
        false => Err(OneThread::Small),
    }
}

/// Divides the network of `scenario` into up to `threads` parts.
pub(crate) fn divide(
    scenario: &Scenario,
    options: &Options,
    flows: &[Running],
    threads: usize,
) -> Result<Division, OneThread> {
    if threads < 2 {
        return Err(OneThread::Wanted);
    }
    if flows.iter().any(|flow| flow.ends.has_own_control()) {
        return Err(OneThread::OwnControl);
    }
    if Ties::are_possible(scenario, flows) {
        return Err(OneThread::Ties);
    }
    let notifies =
        |l: &bentpipe_scenario::Link| l.reports_corruption || l.settings.queue.notifies();
    if scenario.links.iter().any(notifies) {
        return Err(OneThread::Notices);
    }
    let decisive = options.foreground.unwrap_or(flows.len());
    if flows.iter().take(decisive).all(Running::has_ended) {
        return Err(OneThread::Idle);
    }
    let mut unobserved = Unobserved;
    let net = Network::<false>::new(scenario, options.seed, false, &mut unobserved);
    let pieces = Pieces::new(scenario, flows, &net.forward);
    pieces.divide(threads.min(usize::from(u8::MAX)))
}

/// The elements of a network, and what passes between them.
struct Pieces<'a> {
    scenario: &'a Scenario,
    forward: &'a forward::Network,
    /// What belongs together wherever the network is cut.
    tied: Groups,
    /// By element, its work.
    weights: Vec<u64>,
    /// From a link to the element after it, with the work of the packets between them.
    steps: Vec<(usize, usize, u64)>,
    /// By link, the least delay with which a packet crosses it; zero where it is not cut.
    delays: Vec<Duration>,
}

impl<'a> Pieces<'a> {
    fn new(scenario: &'a Scenario, flows: &[Running], forward: &'a forward::Network) -> Pieces<'a> {
        let links = scenario.links.len();
        let mut tied = Groups::new(links + 2 * flows.len());
        let mut weights = vec![0; links + 2 * flows.len()];
        let mut steps = BTreeMap::new();
        for (index, (flow, running)) in scenario.flows.iter().zip(flows).enumerate() {
            let proxies = !scenario.middleboxes.is_empty() || flow.split.is_some();
            if proxies || !running.is_separable() {
                tied.tie(links + 2 * index, links + 2 * index + 1);
            }
        }
        let end = Time::ZERO + scenario.duration;
        for connection in scenario.connections() {
            let flow = connection.flow;
            if ideal::is_ideal(&scenario.flows[flow]) {
                continue;
            }
            let [from, to] = [0, 1].map(|side| links + 2 * flow + side);
            let first = (
                flows[flow].starts_at,
                connection.forward,
                connection.reverse,
            );
            let changes = connection.changes.iter();
            let later = changes.map(|c| (c.at, &c.forward[..], &c.reverse[..]));
            let routes: Vec<_> = std::iter::once(first).chain(later).collect();
            for (place, (at, forth, back)) in routes.iter().enumerate() {
                let until = routes.get(place + 1).map_or(end, |next| next.0).min(end);
                let used = until.since((*at).max(flows[flow].starts_at));
                // Milliseconds: no sum of them overflows.
                let work = 1 + used.as_micros() / 1_000;
                for (path, sender, receiver) in [(forth, from, to), (back, to, from)] {
                    let path = path.iter().map(|LinkId(link)| *link as usize);
                    let mut before = None;
                    for element in path.chain([receiver]) {
                        match before {
                            None => tied.tie(sender, element),
                            Some(link) => {
                                *steps.entry((link, element)).or_insert(0) += work;
                            }
                        }
                        weights[element] += if element < links { work } else { END * work };
                        before = Some(element);
                    }
                    weights[sender] += END * work;
                }
            }
        }
        let steps = steps.into_iter().map(|((from, to), work)| (from, to, work));
        let delays = (0..links).map(|link| {
            // What a link that leads admits is offered at once to the one that follows it.
            let leader = forward.lookahead.leader(link);
            let led = leader.map_or(Some(Duration::ZERO), |l| forward.links[l].least_delay());
            let delay = led.and_then(|led| Some(led + forward.links[link].least_delay()?));
            delay
                .filter(|delay| *delay >= LEAST_WINDOW)
                .unwrap_or(Duration::ZERO)
        });
        let mut pieces = Pieces {
            scenario,
            forward,
            tied,
            weights,
            steps: steps.collect(),
            delays: delays.collect(),
        };
        pieces.tie();
        pieces
    }

    /// Ties what shares state wherever the network is cut.
    fn tie(&mut self) {
        let links = &self.scenario.links;
        for link in 0..links.len() {
            if let Some(leader) = self.forward.lookahead.leader(link) {
                self.tied.tie(leader, link);
            }
        }
        for medium in 0..self.scenario.media.len() {
            let shares = |link: usize| links[link].medium.is_some_and(|m| m.0 as usize == medium);
            self.tied
                .tie_all((0..links.len()).filter(|link| shares(*link)));
        }
        // Middleboxes and packets that find a link down see the other links of the node.
        let mut nodes: Vec<u32> = self.scenario.middleboxes.iter().map(|m| m.node.0).collect();
        if self.scenario.stranded == LinkDownPolicy::Rerouted {
            nodes.extend(links.iter().map(|link| link.from.0));
        }
        nodes.sort_unstable();
        nodes.dedup();
        for node in nodes {
            let begins = (0..links.len()).filter(|link| links[*link].from.0 == node);
            self.tied.tie_all(begins);
        }
    }

    /// The groups where no link with less than `least` of delay is cut.
    fn groups(&self, least: Duration) -> Groups {
        let mut groups = self.tied.clone();
        for &(link, next, _) in &self.steps {
            let delay = self.delays[link];
            if delay.is_zero() || delay < least {
                groups.tie(link, next);
            }
        }
        groups
    }

    /// How many parts as heavy as the heaviest piece there would be.
    fn share(&self, groups: &mut Groups) -> f64 {
        let mut sums = vec![0; self.weights.len()];
        for (element, weight) in self.weights.iter().enumerate() {
            sums[groups.least(element)] += weight;
        }
        let all: u64 = self.weights.iter().sum();
        let heaviest = sums.iter().max().copied().unwrap_or(0);
        all as f64 / heaviest.max(1) as f64
    }

    /// The groups whose links to cut have the longest delay among those that are small enough, and
    /// the number of parts that they are worth.
    fn choose(&self, threads: usize) -> Result<(Groups, usize), OneThread> {
        let mut delays: Vec<Duration> = self.steps.iter().map(|s| self.delays[s.0]).collect();
        delays.sort_unstable();
        delays.dedup();
        let tries = (0..TRIES).map(|i| delays.get(i * delays.len() / TRIES));
        let mut tries: Vec<Duration> = tries.flatten().copied().collect();
        // Where no link is cut at all.
        tries.push(Duration::MAX);
        tries.dedup();
        let tried = tries.into_iter().map(|least| {
            let mut groups = self.groups(least);
            (self.share(&mut groups).min(threads as f64), groups)
        });
        let tried: Vec<_> = tried.collect();
        let best = tried.iter().map(|(gain, _)| *gain).fold(0.0, f64::max);
        if best < WORTH {
            return Err(OneThread::OnePiece);
        }
        let enough = tried.into_iter().rfind(|(gain, _)| *gain >= 0.9 * best);
        let (gain, groups) = enough.ok_or(OneThread::OnePiece)?;
        Ok((groups, gain.ceil() as usize))
    }

    fn divide(&self, threads: usize) -> Result<Division, OneThread> {
        let (groups, parts) = self.choose(threads)?;
        let homes = self.place(groups, parts);
        let links = self.scenario.links.len();
        let cut = self.steps.iter().filter(|s| homes[s.0] != homes[s.1]);
        let window = cut.map(|s| self.delays[s.0]).min();
        let paths = &self.forward.paths;
        // A path goes backward from its end, which says whose it is.
        let mut hops = vec![0; paths.hops()];
        let connections: Vec<usize> = self.scenario.connections().map(|c| c.flow).collect();
        for hop in 0..paths.hops() {
            let number = paths.link_of(hop);
            let element = match paths.is_end(hop) {
                false => number,
                // Legs of a split flow are together.
                true => links + 2 * connections[number / 2] + number % 2,
            };
            hops[hop] = homes[element];
        }
        let flows = (0..self.scenario.flows.len()).map(|flow| {
            let first = links + 2 * flow;
            [homes[first], homes[first + 1]]
        });
        Ok(Division {
            parts,
            window: window.unwrap_or(Duration::MAX),
            flows: flows.collect(),
            links: homes[..links].to_vec(),
            hops: hops.into(),
        })
    }

    /// The part of each element.
    fn place(&self, mut groups: Groups, parts: usize) -> Vec<u8> {
        let count = self.weights.len();
        let of: Vec<usize> = (0..count).map(|element| groups.least(element)).collect();
        let mut weights = vec![0; count];
        for (element, weight) in self.weights.iter().enumerate() {
            weights[of[element]] += weight;
        }
        // Both ways: what a piece hands to others, and what they hand to it.
        let mut near = BTreeMap::new();
        for &(link, next, work) in &self.steps {
            let (a, b) = (of[link], of[next]);
            if a != b {
                *near.entry((a, b)).or_insert(0) += work;
                *near.entry((b, a)).or_insert(0) += work;
            }
        }
        let mut order: Vec<usize> = (0..count).filter(|e| of[*e] == *e).collect();
        order.sort_by_key(|piece| std::cmp::Reverse(weights[*piece]));
        let all: u64 = weights.iter().sum();
        // Half a percent over its share is room enough for the small pieces, which come last.
        let heaviest = weights.iter().max().copied().unwrap_or(0);
        let room = heaviest.max(all / parts as u64 + all / 200 + 1);
        let mut loads = vec![0; parts];
        let mut placed: Vec<Option<u8>> = vec![None; count];
        for piece in order {
            let mut attracts = vec![0u64; parts];
            for (&(_, other), work) in near.range((piece, 0)..(piece + 1, 0)) {
                if let Some(part) = placed[other] {
                    attracts[usize::from(part)] += work;
                }
            }
            let fits = |part: &usize| loads[*part] + weights[piece] <= room;
            let among: Vec<usize> = (0..parts).filter(fits).collect();
            let nearest = among
                .into_iter()
                .max_by_key(|part| (attracts[*part], std::cmp::Reverse((loads[*part], *part))));
            let lightest = (0..parts).min_by_key(|part| (loads[*part], *part));
            let part = nearest.or(lightest).unwrap_or(0);
            loads[part] += weights[piece];
            placed[piece] = Some(part as u8);
        }
        of.iter().map(|piece| placed[*piece].unwrap_or(0)).collect()
    }
}
