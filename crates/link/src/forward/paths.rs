//! The paths that packets take, and when endpoints change theirs.
//!
//! A path leads to one endpoint. A packet is given the path that its destination has when it is
//! sent and keeps it, whatever changes later (unless the scenario lets stranded packets be
//! rerouted). A path without links means that there is no route: packets sent on it are lost.

use super::Count;
use bentpipe_units::Time;
use std::collections::HashMap;
use std::hash::Hash;

/// In a hop: no link but the end of the path; the other bits are the endpoint.
const END: u32 = 1 << 31;
/// In a hop: middleboxes see what enters the link.
const INTERCEPTED: u32 = 1 << 30;
/// In a hop: the link after this one is offered packets ahead of time.
const LEADS: u32 = 1 << 29;
/// In a hop: what is after it is in another part of the network.
const CROSSES: u32 = 1 << 28;
/// The number of a link or an endpoint.
const NUMBER: u32 = CROSSES - 1;

/// One hop of a path: a link with flags, or the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hop(u32);

impl Hop {
    /// The link, or at the end the endpoint.
    #[inline]
    pub(super) const fn number(self) -> u32 {
        self.0 & NUMBER
    }

    #[inline]
    pub(super) const fn is_end(self) -> bool {
        self.0 & END != 0
    }

    /// True for a hop into a link that is only that.
    #[inline]
    pub(super) const fn is_plain(self) -> bool {
        self.0 & (END | INTERCEPTED) == 0
    }

    #[inline]
    pub(super) const fn leads(self) -> bool {
        self.0 & LEADS != 0
    }

    /// True for a hop whose packets do not wait in the ring of its link.
    #[inline]
    pub(super) const fn passes_on(self) -> bool {
        self.0 & (LEADS | CROSSES) != 0
    }
}

/// A path to an endpoint, and what has been sent on it.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub struct Path {
    /// Index of its first hop.
    begin: u32,
    /// Number of its links.
    length: u32,
    endpoint: u32,
    /// The packets that were sent on it from its beginning.
    pub sent: Count,
}

impl Path {
    /// Indices of its hops.
    #[must_use]
    pub fn range(&self) -> core::ops::Range<usize> {
        self.begin as usize..(self.begin + self.length) as usize
    }
}

/// All paths of a run.
#[derive(Clone, Debug, Default)]
pub struct Paths {
    /// The links of each path and its end, flattened.
    hops: Vec<Hop>,
    /// Those to one endpoint side by side, in the order of their first use.
    paths: Vec<Path>,
    /// The first path of each endpoint.
    first: Vec<u32>,
    /// The path that each endpoint has now.
    current: Vec<u32>,
    /// (when, endpoint, path), the next last.
    changes: Vec<(Time, u32, u32)>,
}

impl Paths {
    /// Adds an endpoint, the next in number, to which packets take the path
    /// `first` and, from the times in `changes` on, others.
    pub fn add_endpoint<'a, L>(
        &mut self,
        first: &'a [L],
        changes: impl Iterator<Item = (Time, &'a [L])>,
    ) where
        L: Copy + Eq + Hash + Into<u32>,
    {
        let endpoint = self.first.len() as u32;
        let mut current = self.add_path(endpoint, first);
        self.first.push(current);
        self.current.push(current);
        let mut known = HashMap::new();
        for (at, links) in changes {
            known.entry(first).or_insert(self.first[endpoint as usize]);
            let path = match known.get(links) {
                Some(path) => *path,
                None => self.add_path(endpoint, links),
            };
            known.insert(links, path);
            if path != current {
                self.changes.push((at, endpoint, path));
                current = path;
            }
        }
    }

    fn add_path<L: Copy + Into<u32>>(&mut self, endpoint: u32, links: &[L]) -> u32 {
        let begin = self.hops.len() as u32;
        self.hops.extend(links.iter().map(|l| Hop((*l).into())));
        self.hops.push(Hop(END | endpoint));
        self.paths.push(Path {
            begin,
            length: links.len() as u32,
            endpoint,
            sent: Count::default(),
        });
        (self.paths.len() - 1) as u32
    }

    /// To be called when all endpoints have been added.
    pub(super) fn finish(&mut self) {
        self.changes.sort_unstable_by(|a, b| b.cmp(a));
    }

    /// Marks the hops at which middleboxes see packets: those from one link to
    /// another for which `sees` holds.
    pub fn intercept(&mut self, sees: impl Fn(u32, u32) -> bool) {
        for at in 1..self.hops.len() {
            let (from, to) = (self.hops[at - 1], self.hops[at]);
            if !from.is_end() && !to.is_end() && sees(from.number(), to.number()) {
                self.hops[at].0 |= INTERCEPTED;
            }
        }
    }

    /// Marks the hops after which packets are offered to the next link ahead
    /// of time; `follows` says to which links.
    pub(super) fn look_ahead(&mut self, follows: impl Fn(u32) -> bool) {
        for at in 1..self.hops.len() {
            let next = self.hops[at];
            if !self.hops[at - 1].is_end() && next.is_plain() && follows(next.number()) {
                self.hops[at - 1].0 |= LEADS;
            }
        }
    }

    /// Cuts the network behind the hops for which `crosses` holds: what their links admit goes to
    /// [`Driver::cross`](super::Driver::cross).
    pub fn cut(&mut self, crosses: impl Fn(usize) -> bool) {
        for at in 0..self.hops.len() {
            if !self.hops[at].is_end() && crosses(at) {
                self.hops[at].0 |= CROSSES;
            }
        }
    }

    /// True at the end of a path, which is no link.
    #[must_use]
    pub fn is_end(&self, hop: usize) -> bool {
        self.hops[hop].is_end()
    }

    /// What has been sent on each path.
    pub fn sent(&self) -> impl Iterator<Item = Count> {
        self.paths.iter().map(|path| path.sent)
    }

    /// Replaces what has been sent on each path.
    pub fn set_sent(&mut self, sent: impl IntoIterator<Item = Count>) {
        for (path, sent) in self.paths.iter_mut().zip(sent) {
            path.sent = sent;
        }
    }

    /// The hops of all paths, their ends among them.
    #[must_use]
    pub fn hops(&self) -> usize {
        self.hops.len()
    }

    #[inline]
    pub(super) fn hop(&self, hop: u32) -> Hop {
        self.hops[hop as usize]
    }

    /// The link of a hop.
    #[must_use]
    pub fn link_of(&self, hop: usize) -> usize {
        self.hops[hop].number() as usize
    }

    /// The endpoint that the path of a hop leads to.
    #[must_use]
    pub fn endpoint_of(&self, hop: u32) -> u32 {
        let rest = self.hops[hop as usize..].iter();
        rest.copied().find(|h| h.is_end()).map_or(0, Hop::number)
    }

    /// Counts a packet of `bytes` that is sent to `endpoint`: the first hop of
    /// its path, if there is one.
    #[inline]
    pub fn send(&mut self, endpoint: u32, bytes: u32) -> Option<u32> {
        let path = self.current[endpoint as usize];
        let path = &mut self.paths[path as usize];
        path.sent.add(bytes);
        (path.length > 0).then_some(path.begin)
    }

    /// The hops of the path that an endpoint has now.
    #[must_use]
    pub fn now(&self, endpoint: u32) -> core::ops::Range<usize> {
        self.paths[self.current[endpoint as usize] as usize].range()
    }

    /// When endpoints change their paths next.
    #[must_use]
    pub fn next_change(&self) -> Option<Time> {
        self.changes.last().map(|&(at, ..)| at)
    }

    /// Changes the paths that change by `now`.
    pub fn change(&mut self, now: Time) {
        while let Some((_, endpoint, path)) = self.changes.pop_if(|c| c.0 <= now) {
            self.current[endpoint as usize] = path;
        }
    }

    /// All paths, those to one endpoint side by side.
    pub(super) fn all(&self) -> impl Iterator<Item = &Path> {
        self.paths.iter()
    }

    /// All paths to an endpoint, in the order of their first use.
    pub fn to(&self, endpoint: usize) -> impl Iterator<Item = &Path> {
        let of = move |path: &&Path| path.endpoint as usize == endpoint;
        self.paths[self.first[endpoint] as usize..]
            .iter()
            .take_while(of)
    }

    /// What was sent to an endpoint while it had no path.
    #[must_use]
    pub fn sent_nowhere(&self, endpoint: usize) -> Count {
        let empty = self.to(endpoint).filter(|path| path.length == 0);
        empty.fold(Count::default(), |sum, path| sum.plus(path.sent))
    }

    /// All hops into links, with their links and the endpoints of their paths.
    pub fn by_endpoint(&self) -> impl Iterator<Item = (usize, u32, u32)> {
        self.paths.iter().flat_map(|path| {
            let hops = path.range();
            hops.map(|hop| (hop, self.hops[hop].number(), path.endpoint))
        })
    }
}
