//! Which links can be offered their packets ahead of time.
//!
//! A link that only one other link feeds gets its packets in the order in which
//! that one accepts them, at times that are known then. It need not wait for an
//! event at the node between them: it is offered the packet at once, with the
//! time at which the packet will be there. In a dumbbell this saves a third of
//! all events. What the links do to the packets is the same.
//!
//! A event-driven link neither leads nor follows: it does not know a packet's
//! arrival when it is offered one, and what is offered to it later may push out
//! what waits. Links with a timeline are event-driven. Where routes change with time
//! a link is fed by whoever feeds it on any way; where packets may be rerouted
//! anywhere, nobody follows. Nor does a link that begins at a node with a
//! middlebox.

use bentpipe_scenario::{LinkId, Scenario, Stranded};

/// Who feeds a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Feeder {
    Nobody,
    Link(u32),
    /// A host, or more than one link.
    Many,
}

/// Leaders and followers among the links.
#[derive(Clone, Debug)]
pub(crate) struct Ahead {
    /// For each link the one that it follows.
    leader: Vec<Option<u32>>,
    leads: Vec<bool>,
}

impl Ahead {
    pub(crate) fn new(scenario: &Scenario) -> Ahead {
        let mut feeders = vec![Feeder::Nobody; scenario.links.len()];
        let ways = scenario.connections().flat_map(|c| {
            let later = c.changes.iter().flat_map(|c| [&*c.forward, &*c.reverse]);
            [c.forward, c.reverse].into_iter().chain(later)
        });
        for path in ways {
            let mut before = None;
            for &LinkId(link) in path {
                let feeder = before.map_or(Feeder::Many, Feeder::Link);
                let known = &mut feeders[link as usize];
                *known = match *known {
                    Feeder::Nobody => feeder,
                    same if same == feeder => same,
                    _ => Feeder::Many,
                };
                before = Some(link);
            }
        }
        let only = |feeder: Feeder| match feeder {
            Feeder::Link(link) => Some(link),
            Feeder::Nobody | Feeder::Many => None,
        };
        let mut leader = vec![None; feeders.len()];
        let mut leads = vec![false; feeders.len()];
        if scenario.stranded == Stranded::Rerouted {
            feeders.fill(Feeder::Many);
        }
        let event_driven = |link: usize| {
            let link = &scenario.links[link];
            link.timeline.is_some()
                || link.arq.is_some()
                || link.medium.is_some()
                || link.settings.queue.is_event_driven()
        };
        // A middlebox sees a packet when it comes.
        let boxed = |link: usize| {
            let node = scenario.links[link].from;
            scenario.middleboxes.iter().any(|m| m.node == node)
        };
        for (link, &feeder) in feeders.iter().enumerate() {
            // No longer chains: a leader does not follow itself.
            if let Some(first) = only(feeder)
                && only(feeders[first as usize]).is_none()
                && !event_driven(link)
                && !boxed(link)
                && !event_driven(first as usize)
            {
                leader[link] = Some(first);
                leads[first as usize] = true;
            }
        }
        Ahead { leader, leads }
    }

    /// True if `link` is offered its packets ahead of time.
    #[inline]
    pub(crate) fn follows(&self, link: u32) -> bool {
        self.leader[link as usize].is_some()
    }

    /// True if some link follows `link`.
    #[inline]
    pub(crate) fn leads(&self, link: u32) -> bool {
        self.leads[link as usize]
    }

    /// The link that `link` follows.
    pub(crate) fn leader(&self, link: usize) -> Option<usize> {
        self.leader[link].map(|l| l as usize)
    }
}
