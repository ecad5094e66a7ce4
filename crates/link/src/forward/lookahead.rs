//! Links that can be offered their packets ahead of time.
//!
//! A link that only one other link feeds gets its packets in the order in which that one accepts
//! them, at times that are known then. It need not wait for an event at the node between them: it
//! is offered the packet at once, with the time at which the packet will be there. In a dumbbell
//! this saves a third of all events. It does not change the fate of any packet.
//!
//! Event-driven links neither lead nor follow: a packet's arrival is not known
//! when it is offered, and what is offered later may push out what waits. Nor do
//! links with a timeline. Where routes change with time, every link
//! that feeds another on any path counts. Where packets may be rerouted
//! anywhere, no link follows. Nor does one that begins at a node with a
//! middlebox.

use super::{InFlight, Paths};
use crate::Link;

/// The source of a link's packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Feeder {
    None,
    Link(u32),
    /// A host, or more than one link.
    Many,
}

/// Leaders and followers among the links.
#[derive(Clone, Debug, Default)]
pub struct Lookahead {
    /// For each link the one that it follows.
    leader: Vec<Option<u32>>,
}

impl Lookahead {
    /// Finds the links that follow others on `paths` and marks the hops there;
    /// no link follows for which `is_excluded` holds.
    pub(super) fn new(
        links: &[Link<InFlight>],
        paths: &mut Paths,
        is_excluded: impl Fn(u32) -> bool,
    ) -> Lookahead {
        let mut feeders = vec![Feeder::None; links.len()];
        for path in paths.all() {
            let mut feeder = Feeder::Many;
            for hop in path.range() {
                let link = paths.link_of(hop);
                feeders[link] = match feeders[link] {
                    Feeder::None => feeder,
                    same if same == feeder => same,
                    _ => Feeder::Many,
                };
                feeder = Feeder::Link(link as u32);
            }
        }
        let only = |link: u32| match feeders[link as usize] {
            Feeder::Link(first) => Some(first),
            Feeder::None | Feeder::Many => None,
        };
        let decides_at_once = |link: u32| {
            let link = &links[link as usize];
            !link.is_event_driven() && !link.changes()
        };
        let leader = (0..links.len() as u32).map(|link| {
            // No longer chains: a leader does not follow itself.
            only(link).filter(|&first| {
                only(first).is_none()
                    && !is_excluded(link)
                    && decides_at_once(link)
                    && decides_at_once(first)
            })
        });
        let lookahead = Lookahead {
            leader: leader.collect(),
        };
        paths.look_ahead(|link| lookahead.leader(link as usize).is_some());
        lookahead
    }

    /// The link that `link` follows.
    #[must_use]
    pub fn leader(&self, link: usize) -> Option<usize> {
        let leader = self.leader.get(link).copied().flatten();
        leader.map(|l| l as usize)
    }
}
