//! The two boxes of a gateway in a run: their nodes, and the features of scenarios with PEPs that
//! they do not support.
//!
//! A scenario names two PEPs with `tunnel = "gateway"`. The one on the side on which
//! connections are opened is the terminal, which intercepts them; the other is the hub.

use super::application::opener;
use bentpipe_middlebox::split::{Accept, Tunnel};
use bentpipe_outcome::Outcome;
use bentpipe_scenario::{LinkId, NodeId, Scenario};
use bentpipe_units::{Bytes, Duration, Rate, Time};

/// How long before the flows the boxes start: time for several round trips of the
/// longest satellite link.
pub(crate) const AHEAD: Duration = Duration::from_secs(10);

/// The two boxes of a gateway in a scenario.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Boxes {
    /// The terminal and the hub.
    pub(crate) nodes: [NodeId; 2],
    /// The pair that their tunnel runs on, and the terminal's end of it.
    pub(crate) pair: usize,
    pub(crate) end: usize,
    /// Rate at which each sends: of the slowest link on its way to the other.
    pub(crate) rates: [Rate; 2],
    /// Propagation delay there and back.
    pub(crate) rtt: Duration,
    /// What each holds of a connection.
    pub(crate) window: Bytes,
}

impl Boxes {
    /// Those of a scenario that [`refusals`] has nothing against; `None` without PEPs.
    pub(crate) fn of(scenario: &Scenario) -> Option<Boxes> {
        let legs = scenario
            .flows
            .iter()
            .enumerate()
            .filter_map(|(index, flow)| {
                let leg = flow
                    .split
                    .as_ref()?
                    .legs
                    .iter()
                    .position(|leg| leg.tunnel)?;
                Some((index, leg, opener(&flow.application)))
            });
        let (flow, leg, end) = legs.min()?;
        let mut connections = scenario.connections().enumerate();
        let (pair, part) = connections.find(|(_, c)| c.flow == flow && c.leg == leg)?;
        let ways = match end {
            0 => [part.forward, part.reverse],
            _ => [part.reverse, part.forward],
        };
        let link = |id: &LinkId| &scenario.links[id.0 as usize].settings;
        let slowest = |way: &[LinkId]| {
            let rates = way.iter().map(|id| link(id).rate);
            rates.min_by_key(|rate| rate.bps()).unwrap_or(Rate::ZERO)
        };
        let delays = ways.iter().copied().flatten();
        Some(Boxes {
            nodes: [part.nodes[end], part.nodes[1 - end]],
            pair,
            end,
            rates: ways.map(slowest),
            rtt: delays.fold(Duration::ZERO, |sum, id| sum + link(id).one_way_delay),
            window: scenario
                .peps
                .first()
                .map_or(Bytes::ZERO, |pep| pep.settings.buffer),
        })
    }
}

/// What of the PEPs of `scenario` the boxes cannot do, a sentence each.
pub(crate) fn refusals(scenario: &Scenario) -> Vec<String> {
    let mut why = Vec::new();
    for pep in &scenario.peps {
        let (name, settings) = (&pep.name, &pep.settings);
        if settings.tunnel != Tunnel::Gateway {
            why.push(format!(
                "middlebox `{name}` splits connections, which is simulated only; two with \
                 `tunnel = \"gateway\"` are the boxes of `bentpipe gateway`"
            ));
        } else if settings.failure.is_some()
            || settings.confirms.is_some()
            || settings.accept() != Accept::Early
        {
            why.push(format!(
                "middlebox `{name}` fails, confirms or answers late, which is simulated only"
            ));
        }
    }
    if !why.is_empty() || scenario.peps.is_empty() {
        return why;
    }
    let mut ends: Option<[NodeId; 2]> = None;
    for flow in &scenario.flows {
        let Some(split) = &flow.split else { continue };
        let mut tunnels = split.legs.iter().filter(|leg| leg.tunnel);
        let (Some(leg), None) = (tunnels.next(), tunnels.next()) else {
            why.push(format!("flow `{}` passes more than one tunnel", flow.name));
            continue;
        };
        let here = match opener(&flow.application) {
            0 => [leg.from, leg.to],
            _ => [leg.to, leg.from],
        };
        if *ends.get_or_insert(here) != here {
            why.push(format!(
                "flow `{}` passes other boxes than those before, or opens its connection on \
                 their other side; a gateway has one terminal, which intercepts, and one hub",
                flow.name
            ));
            // Many may do so, and one shows it.
            break;
        }
    }
    let ends = ends.into_iter().flatten();
    for node in ends {
        if scenario
            .flows
            .iter()
            .any(|f| f.from == node || f.to == node)
        {
            let name = &scenario.nodes[node.0 as usize].name;
            why.push(format!(
                "a flow ends at node `{name}`, where a box of the gateway stands"
            ));
        }
    }
    if let Some(link) = scenario.links.iter().find(|link| link.timeline.is_some()) {
        why.push(format!(
            "link `{}` changes with time, which would begin {AHEAD} before the flows, when the \
             boxes start",
            link.name
        ));
    }
    why
}

/// The scenario as it runs with boxes: everything [`AHEAD`] later.
pub(crate) fn later(scenario: &Scenario) -> Scenario {
    let mut later = scenario.clone();
    later.peps.clear();
    later.duration += AHEAD;
    for flow in &mut later.flows {
        flow.start += AHEAD;
        flow.stop = flow.stop.map(|stop| stop + AHEAD);
    }
    later
}

/// The outcome of such a run, with the times of the scenario.
pub(crate) fn earlier(outcome: &mut Outcome) {
    let earlier = |at: &mut Time| *at = Time::ZERO + at.since(Time::ZERO + AHEAD);
    earlier(&mut outcome.ended_at);
    for flow in &mut outcome.flows {
        earlier(&mut flow.started_at);
        let deliveries = [&mut flow.first_delivery_at, &mut flow.last_delivery_at];
        deliveries.into_iter().flatten().for_each(earlier);
    }
    for checkpoint in &mut outcome.checkpoints {
        earlier(&mut checkpoint.at);
    }
    for series in &mut outcome.series {
        series.sender.iter_mut().for_each(|s| earlier(&mut s.at));
        let counts = series.delivered.iter_mut().chain(&mut series.sent);
        counts.for_each(|(at, _)| earlier(at));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bentpipe_link::{Limit, LinkSettings, QueueSettings};
    use bentpipe_middlebox::split::SplitSettings;
    use bentpipe_scenario::ScenarioBuilder;
    use bentpipe_tcp::find_transport;
    use bentpipe_traffic::Application;

    /// Two boxes between a server and a client.
    fn builder(pep: &SplitSettings) -> (ScenarioBuilder, [NodeId; 4]) {
        let mut builder = Scenario::builder("boxes");
        let nodes = ["server", "hub", "terminal", "client"].map(|name| builder.node(name));
        for (name, at, mbps) in [("internet", 0, 100), ("satellite", 1, 5), ("home", 2, 100)] {
            let settings = LinkSettings::new(
                Rate::from_mbps(mbps),
                Duration::from_millis(250),
                QueueSettings::drop_tail(Limit::Packets(100)),
            );
            builder.link(name, nodes[at], nodes[at + 1], settings);
        }
        builder.split_pep("hub", nodes[1], pep.clone());
        builder.split_pep("terminal", nodes[2], pep.clone());
        (builder, nodes)
    }

    fn pep() -> SplitSettings {
        SplitSettings {
            tunnel: Tunnel::Gateway,
            ..SplitSettings::default()
        }
    }

    fn scenario(application: Application) -> Scenario {
        let (mut builder, [server, .., client]) = builder(&pep());
        let transport = find_transport("cubic").unwrap().transport();
        builder
            .flow("data", server, client, application)
            .transport(transport);
        builder.build().unwrap()
    }

    fn page() -> Application {
        Application::RequestResponse {
            request: Bytes::new(100),
            response: Bytes::new(1_000),
            count: 1,
            think_time: Duration::ZERO,
        }
    }

    #[test]
    fn the_terminal_stands_where_connections_are_opened() {
        let scenario = scenario(page());
        assert!(refusals(&scenario).is_empty());
        let boxes = Boxes::of(&scenario).unwrap();
        // The flow's own part is pair 0, that between the boxes pair 1.
        assert_eq!(
            (boxes.nodes, boxes.pair, boxes.end),
            ([NodeId(2), NodeId(1)], 1, 1)
        );
        assert_eq!(boxes.rates, [Rate::from_mbps(5); 2]);
        assert_eq!(boxes.rtt, Duration::from_millis(500));
        let upload = scenario_of_transfer();
        let boxes = Boxes::of(&upload).unwrap();
        assert_eq!((boxes.nodes, boxes.end), ([NodeId(1), NodeId(2)], 0));
    }

    fn scenario_of_transfer() -> Scenario {
        scenario(Application::Transfer {
            size: Bytes::new(1_000),
        })
    }

    #[test]
    fn what_the_boxes_cannot_do_is_said() {
        let (mut two_sides, [server, .., client]) = builder(&pep());
        let transport = find_transport("cubic").unwrap().transport();
        for (name, from, to) in [("a", server, client), ("b", client, server)] {
            two_sides
                .flow(name, from, to, page())
                .transport(transport.clone());
        }
        let why = refusals(&two_sides.build().unwrap());
        assert_eq!(why.len(), 1);
        assert!(why[0].starts_with("flow `b` passes other boxes"), "{why:?}");

        let (mut plain, [server, .., client]) = builder(&SplitSettings::default());
        plain.flow("a", server, client, page()).transport(transport);
        let why = refusals(&plain.build().unwrap());
        assert_eq!(why.len(), 2);
        assert!(why[0].contains("simulated only"), "{why:?}");
    }

    #[test]
    fn a_run_with_boxes_is_later_and_counts_as_if_it_were_not() {
        let scenario = scenario(page());
        let later = later(&scenario);
        assert_eq!(later.flows[0].start, scenario.flows[0].start + AHEAD);
        assert!(later.peps.is_empty() && later.flows[0].split.is_some());
    }
}
