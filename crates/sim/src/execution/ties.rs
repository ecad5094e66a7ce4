//! What flows of a run have in common beside links.

use crate::carried;
use crate::flow::{Ends, Running};
use crate::knowledge::Knowledge;
use crate::sharing::Sharing;
use crate::tunnel::Tunnels;
use bentpipe_scenario::Scenario;
use bentpipe_tcp::Endpoint;

/// What ties flows together: what happens at one concerns others at the same instant.
#[derive(Debug, Default)]
pub(crate) struct Ties {
    pub(super) knowledge: Option<Box<Knowledge>>,
    pub(super) sharing: Option<Box<Sharing>>,
    pub(super) tunnels: Option<Box<Tunnels>>,
}

impl Ties {
    pub(crate) fn new(scenario: &Scenario, flows: &mut [Running]) -> Ties {
        Ties {
            knowledge: Knowledge::new(scenario, flows),
            sharing: Sharing::new(scenario, flows),
            tunnels: Tunnels::new(scenario, flows),
        }
    }

    /// True if flows may have ties, which does not tell their senders anything yet.
    pub(crate) fn are_possible(scenario: &Scenario, flows: &[Running]) -> bool {
        let ties = |end: &Endpoint| end.wants_path() || end.shares_state();
        let ends = flows.iter().any(|flow| match &flow.ends {
            Ends::Tcp(ends) => ends.iter().any(ties),
            Ends::Split(chain) => chain.all().any(ties),
            Ends::Datagrams { .. } | Ends::Stream(_) | Ends::Quic(_) | Ends::Ideal => false,
        });
        let carries = !carried::all(scenario).is_empty();
        let splits = scenario.flows.iter().flat_map(|flow| &flow.split);
        let mut legs = splits.flat_map(|split| &split.legs);
        ends || carries || legs.any(|leg| leg.tunnel || leg.grants)
    }

    /// True if there is any.
    pub(crate) fn is_any(&self) -> bool {
        self.knowledge.is_some() || self.sharing.is_some() || self.tunnels.is_some()
    }
}
