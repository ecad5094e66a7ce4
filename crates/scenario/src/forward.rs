//! A scenario's links and paths as the forwarding core drives them.

use crate::model::{Connection, LinkDownPolicy, LinkId, MediumId, RouteChange, Scenario};
use bentpipe_link::forward::{Network, Paths};
use bentpipe_link::medium::Medium;
use bentpipe_link::{Link as RunningLink, LinkPlan};

/// The paths between two endpoints.
#[derive(Clone, Copy, Debug)]
pub struct Routes<'a> {
    /// Links from the first endpoint to the second; empty: no path.
    pub forward: &'a [LinkId],
    /// Links from the second to the first.
    pub reverse: &'a [LinkId],
    /// Other paths later on, in order of time.
    pub changes: &'a [RouteChange],
}

impl<'a> From<Connection<'a>> for Routes<'a> {
    fn from(connection: Connection<'a>) -> Routes<'a> {
        Routes {
            forward: connection.forward,
            reverse: connection.reverse,
            changes: connection.changes,
        }
    }
}

impl From<LinkId> for u32 {
    fn from(link: LinkId) -> u32 {
        link.0
    }
}

impl Scenario {
    /// The links of this scenario in the run with seed `seed`, and the paths
    /// `routes` through them: endpoint `2 r` is the first of `routes[r]`,
    /// endpoint `2 r + 1` the second. With `record_delays`, every link keeps the
    /// distribution of its queueing delay.
    pub fn network<'a>(
        &self,
        routes: impl Iterator<Item = Routes<'a>>,
        seed: u64,
        record_delays: bool,
    ) -> Network {
        let may_reroute = self.stranded == LinkDownPolicy::Rerouted;
        let courses = self
            .links
            .iter()
            .map(|link| link.course(seed, self.duration));
        let links = self.links.iter().zip(courses).map(|(link, course)| {
            RunningLink::build(&LinkPlan {
                timeline: course.as_ref(),
                arq: link.arq.as_deref(),
                jitter: link.jitter.as_deref(),
                shares_medium: link.medium.is_some(),
                medium_rate: link
                    .medium
                    .map(|id| self.media[id.0 as usize].settings.rate),
                record_delays,
                precompute: course.is_none() || !may_reroute,
                ..LinkPlan::new(&link.settings, seed, &link.name)
            })
        });
        let media = self.media.iter().zip(0..).map(|(medium, number)| {
            let terminals = self.terminals(MediumId(number));
            let terminals: Vec<u32> = terminals.map(u32::from).collect();
            let medium = Medium::new(&medium.settings, terminals.len(), seed, &medium.name);
            (medium, terminals)
        });
        let mut paths = Paths::default();
        for r in routes {
            let changes = r.changes.iter();
            paths.add_endpoint(r.reverse, changes.map(|c| (c.at, c.reverse.as_slice())));
            let changes = r.changes.iter();
            paths.add_endpoint(r.forward, changes.map(|c| (c.at, c.forward.as_slice())));
        }
        let nodes = || self.links.iter().map(|l| l.from.0).collect();
        let reroutes = may_reroute.then(nodes);
        Network::new(links.collect(), media, paths, reroutes)
    }
}
