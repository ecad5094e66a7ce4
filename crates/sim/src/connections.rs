//! Assignment of endpoints to flows.
//!
//! Connection `f` is flow `f`, or its first leg where PEPs split it; the further legs of split
//! flows come after those, and then those that look names up. Endpoint `2 c` is the `from` side of connection `c`, endpoint `2 c + 1`
//! its `to` side. Within a flow the ends are numbered along its path: 0 is its `from`, then two for
//! each PEP, the last is its `to`.

use bentpipe_scenario::{Connection, Scenario};

/// The connections of a run.
#[derive(Clone, Debug)]
pub(crate) struct Connections {
    flows: usize,
    /// Flow and leg of each connection after those; by flow, then by leg.
    further: Vec<(u32, u32)>,
    /// Flow of each connection after those, which looks a name up.
    lookups: Vec<u32>,
}

/// The first of the two ends of a flow's look-up.
pub(crate) const LOOKUP: usize = 2 * Connection::LOOKUP;

impl Connections {
    pub(crate) fn new(scenario: &Scenario) -> Connections {
        let all = scenario.connections().skip(scenario.flows.len());
        let (lookups, further): (Vec<_>, Vec<_>) = all
            .map(|c| (c.flow as u32, c.leg))
            .partition(|(_, leg)| *leg == Connection::LOOKUP);
        Connections {
            flows: scenario.flows.len(),
            further: further
                .into_iter()
                .map(|(f, leg)| (f, leg as u32))
                .collect(),
            lookups: lookups.into_iter().map(|(flow, _)| flow).collect(),
        }
    }

    /// The first connection that looks a name up.
    fn first_lookup(&self) -> usize {
        self.flows + self.further.len()
    }

    /// The connection by which a flow looks a name up, if it does.
    pub(crate) fn lookup(&self, flow: usize) -> Option<usize> {
        let place = self.lookups.binary_search(&(flow as u32)).ok()?;
        Some(self.first_lookup() + place)
    }

    /// Endpoints in all.
    pub(crate) fn endpoints(&self) -> usize {
        2 * (self.first_lookup() + self.lookups.len())
    }

    /// The flow of an endpoint, and which of its ends that is.
    #[inline]
    pub(crate) fn owner(&self, endpoint: u32) -> (usize, usize) {
        let (connection, side) = (endpoint as usize / 2, endpoint as usize % 2);
        if connection < self.flows {
            return (connection, side);
        }
        match self.further.get(connection - self.flows) {
            Some(&(flow, leg)) => (flow as usize, 2 * leg as usize + side),
            None => self.owner_of_lookup(connection, side),
        }
    }

    #[cold]
    fn owner_of_lookup(&self, connection: usize, side: usize) -> (usize, usize) {
        let flow = self.lookups[connection - self.first_lookup()];
        (flow as usize, LOOKUP + side)
    }

    /// The endpoint that is end `end` of `flow`.
    #[inline]
    pub(crate) fn endpoint(&self, flow: usize, end: usize) -> usize {
        if end < 2 {
            return 2 * flow + end;
        }
        2 * (self.flows + self.first_of(flow) + end / 2 - 1) + end % 2
    }

    fn first_of(&self, flow: usize) -> usize {
        self.further.partition_point(|&(f, _)| (f as usize) < flow)
    }

    /// The endpoints of a flow: those that data arrive at before those that
    /// acknowledgements arrive at, leg after leg.
    pub(crate) fn of(&self, flow: usize) -> impl Iterator<Item = usize> + use<> {
        let first = self.first_of(flow);
        let legs = self.further[first..]
            .iter()
            .take_while(|(f, _)| *f as usize == flow);
        let further = self.flows + first..self.flows + first + legs.count();
        std::iter::once(flow)
            .chain(further)
            .flat_map(|c| [2 * c + 1, 2 * c])
    }
}
