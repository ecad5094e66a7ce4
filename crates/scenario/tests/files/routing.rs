//! Routes: shortest delay, then fewest links, the same whatever else flows.

use bentpipe_link::{Limit, LinkSettings, QueueSettings};
use bentpipe_scenario::{BuildError, LinkId, NodeId, Scenario, ScenarioBuilder};
use bentpipe_tcp::find_transport;
use bentpipe_traffic::Application;
use bentpipe_units::{Duration, Rate};
use proptest::prelude::*;

fn settings(delay_ms: u64) -> LinkSettings {
    LinkSettings::new(
        Rate::from_mbps(10),
        Duration::from_millis(delay_ms),
        QueueSettings::drop_tail(Limit::Packets(100)),
    )
}

/// A network of `nodes` nodes and these links: from, to, delay.
fn network(nodes: usize, links: &[(usize, usize, u64)]) -> (ScenarioBuilder, Vec<NodeId>) {
    let mut builder = Scenario::builder("network");
    let nodes: Vec<NodeId> = (0..nodes).map(|i| builder.node(format!("n{i}"))).collect();
    for (i, (a, b, delay)) in links.iter().enumerate() {
        builder.link(format!("l{i}"), nodes[*a], nodes[*b], settings(*delay));
    }
    (builder, nodes)
}

fn flow(builder: &mut ScenarioBuilder, name: &str, from: NodeId, to: NodeId) {
    let transport = find_transport("sack").unwrap().transport();
    builder
        .flow(name, from, to, Application::Persistent)
        .transport(transport);
}

/// The path of a flow between two nodes, by the names of its links.
fn path(nodes: usize, links: &[(usize, usize, u64)], from: usize, to: usize) -> Vec<String> {
    let (mut builder, ids) = network(nodes, links);
    flow(&mut builder, "f", ids[from], ids[to]);
    let scenario = builder.build().unwrap();
    let name = |id: &LinkId| scenario.links[id.0 as usize].name.clone();
    scenario.flows[0].forward.iter().map(name).collect()
}

#[test]
fn the_shortest_delay_wins_over_fewer_links() {
    let links = [(0, 3, 100), (0, 1, 10), (1, 2, 10), (2, 3, 10)];
    assert_eq!(path(4, &links, 0, 3), ["l1", "l2", "l3"]);
    assert_eq!(
        path(4, &links, 3, 0),
        ["l3.reverse", "l2.reverse", "l1.reverse"]
    );
}

#[test]
fn among_equal_delays_the_fewest_links_win() {
    let links = [(0, 1, 0), (1, 2, 0), (0, 2, 0)];
    assert_eq!(path(3, &links, 0, 2), ["l2"]);
    let links = [(0, 1, 5), (1, 2, 5), (0, 2, 10)];
    assert_eq!(path(3, &links, 0, 2), ["l2"]);
}

#[test]
fn among_parallel_links_the_shorter_and_then_the_first_wins() {
    assert_eq!(path(2, &[(0, 1, 9), (0, 1, 5), (0, 1, 5)], 0, 1), ["l1"]);
    assert_eq!(
        path(3, &[(0, 1, 9), (0, 1, 5), (0, 1, 5), (1, 2, 1)], 0, 2),
        ["l1", "l3"]
    );
    assert_eq!(
        path(3, &[(2, 0, 1), (0, 1, 5), (0, 1, 5)], 2, 1),
        ["l0", "l1"]
    );
}

#[test]
fn neighbours_behind_one_link_reach_each_other() {
    assert_eq!(path(2, &[(0, 1, 1)], 1, 0), ["l0.reverse"]);
    assert_eq!(path(3, &[(0, 1, 1), (1, 2, 1)], 2, 1), ["l1.reverse"]);
}

#[test]
fn what_a_builder_refuses() {
    let (builder, _) = network(2, &[(0, 1, 1)]);
    assert_eq!(builder.build(), Err(BuildError::NoFlows));

    let (mut builder, ids) = network(3, &[(0, 1, 1)]);
    flow(&mut builder, "f", ids[0], ids[2]);
    let unconnected = BuildError::Unconnected {
        from: "n0".into(),
        to: "n2".into(),
    };
    assert_eq!(builder.build(), Err(unconnected));

    let (mut builder, ids) = network(2, &[(0, 1, 1)]);
    flow(&mut builder, "f", ids[0], ids[0]);
    assert_eq!(
        builder.build(),
        Err(BuildError::SameNode {
            what: "flow",
            name: "f".into()
        })
    );

    let (mut builder, ids) = network(2, &[(0, 1, 1)]);
    flow(&mut builder, "f", ids[0], ids[1]);
    flow(&mut builder, "f", ids[1], ids[0]);
    assert_eq!(
        builder.build(),
        Err(BuildError::Duplicate {
            what: "flow",
            name: "f".into()
        })
    );

    let (mut builder, ids) = network(2, &[(0, 1, 1)]);
    builder.flow("f", ids[0], ids[1], Application::Persistent);
    assert_eq!(builder.build(), Err(BuildError::Transport("f".into())));

    let (mut builder, ids) = network(2, &[(0, 1, 1)]);
    flow(&mut builder, "f", ids[0], NodeId(7));
    assert!(matches!(
        builder.build(),
        Err(BuildError::UnknownNode { .. })
    ));

    let (mut builder, ids) = network(2, &[(0, 1, 1)]);
    builder.link(
        "dead",
        ids[0],
        ids[1],
        LinkSettings {
            rate: Rate::ZERO,
            ..settings(1)
        },
    );
    flow(&mut builder, "f", ids[0], ids[1]);
    assert_eq!(builder.build(), Err(BuildError::NoRate("dead".into())));

    let chain: Vec<_> = (0..300).map(|i| (i, i + 1, 1)).collect();
    let (mut builder, ids) = network(301, &chain);
    flow(&mut builder, "f", ids[0], ids[300]);
    assert!(matches!(
        builder.build(),
        Err(BuildError::Unconnected { .. })
    ));
}

/// Length of the shortest path between all nodes: delay and links.
fn floyd_warshall(
    nodes: usize,
    links: &[(usize, usize, u64)],
    one_way: &[(usize, usize, u64)],
) -> Vec<Vec<(u64, usize)>> {
    let far = (u64::MAX / 4, usize::MAX / 4);
    let mut length = vec![vec![far; nodes]; nodes];
    for (i, row) in length.iter_mut().enumerate() {
        row[i] = (0, 0);
    }
    let back = links.iter().map(|(a, b, delay)| (b, a, delay));
    let forth = links
        .iter()
        .chain(one_way)
        .map(|(a, b, delay)| (a, b, delay));
    for (&a, &b, &delay) in forth.chain(back) {
        length[a][b] = length[a][b].min((delay, 1));
    }
    for k in 0..nodes {
        for i in 0..nodes {
            for j in 0..nodes {
                let (a, b) = (length[i][k], length[k][j]);
                length[i][j] = length[i][j].min((a.0 + b.0, a.1 + b.1));
            }
        }
    }
    length
}

proptest! {
    #[test]
    fn routes_are_shortest_paths(
        links in prop::collection::vec((0usize..9, 0usize..9, 0u64..4), 1..24),
        one_way in prop::collection::vec((0usize..9, 0usize..9, 0u64..4), 0..8),
        pairs in prop::collection::vec((0usize..9, 0usize..9), 1..12),
    ) {
        let joins = |(a, b, _): &(usize, usize, u64)| a != b;
        let links: Vec<_> = links.into_iter().filter(joins).collect();
        let one_way: Vec<_> = one_way.into_iter().filter(joins).collect();
        let network = || {
            let (mut builder, ids) = network(9, &links);
            for (i, (a, b, delay)) in one_way.iter().enumerate() {
                let name = format!("single{i}");
                builder.one_way_link(name, ids[*a], ids[*b], settings(*delay), None);
            }
            (builder, ids)
        };
        let length = floyd_warshall(9, &links, &one_way);
        let connected = |a: usize, b: usize| {
            a != b && length[a][b].1 < 99 && length[b][a].1 < 99
        };
        let pairs: Vec<_> = pairs.into_iter().filter(|(a, b)| connected(*a, *b)).collect();
        prop_assume!(!pairs.is_empty());
        let (mut builder, ids) = network();
        for (i, (a, b)) in pairs.iter().enumerate() {
            flow(&mut builder, &format!("f{i}"), ids[*a], ids[*b]);
        }
        let scenario = builder.build().unwrap();
        for (i, flow) in scenario.flows.iter().enumerate() {
            for (path, from, to) in
                [(&flow.forward, flow.from, flow.to), (&flow.reverse, flow.to, flow.from)]
            {
                let mut at = from;
                let mut delay = 0;
                for link in path {
                    let link = &scenario.links[link.0 as usize];
                    prop_assert_eq!(link.from, at);
                    at = link.to;
                    delay += link.settings.one_way_delay.as_nanos() / 1_000_000;
                }
                prop_assert_eq!(at, to);
                let expected = length[from.0 as usize][to.0 as usize];
                prop_assert_eq!((delay, path.len()), expected);
            }
            // The same route as when this flow is alone.
            let (mut alone, ids) = network();
            let (a, b) = pairs[i];
            self::flow(&mut alone, "f", ids[a], ids[b]);
            let alone = alone.build().unwrap();
            prop_assert_eq!(&alone.flows[0].forward, &flow.forward);
            prop_assert_eq!(&alone.flows[0].reverse, &flow.reverse);
        }
    }
}
