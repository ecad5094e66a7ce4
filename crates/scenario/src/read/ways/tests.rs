use super::*;
use crate::model::{Flow, Handshake, Link};
use crate::route::route;
use bentpipe_link::{Limit, LinkSettings, QueueSettings};
use bentpipe_traffic::Application;
use bentpipe_units::{Bytes, Duration, Rate};
use proptest::prelude::*;

const NODES: usize = 14;

/// Links (one direction each), and terminals with their constellation and place.
#[derive(Clone, Debug)]
struct Network {
    links: Vec<(usize, usize, u64)>,
    terminals: Vec<(usize, usize, u64)>,
}

fn network() -> impl Strategy<Value = Network> {
    let link = (0..NODES, 0..NODES, 0u64..6, any::<bool>());
    let terminal = (0usize..2, 0u64..20);
    let terminals = prop::collection::btree_map(0..NODES, terminal, 2..NODES);
    (prop::collection::vec(link, 0..12), terminals).prop_map(|(links, terminals)| {
        let links = links.into_iter().filter(|(a, b, ..)| a != b);
        let both = links.flat_map(|(a, b, delay, both)| {
            let back = both.then_some((b, a, delay));
            [(a, b, delay)].into_iter().chain(back)
        });
        let terminals = terminals.into_iter();
        Network {
            links: both.collect(),
            terminals: terminals.map(|(node, (sky, at))| (node, sky, at)).collect(),
        }
    })
}

fn node(number: usize) -> NodeId {
    NodeId(number as u32)
}

fn delay(a: u64, b: u64) -> Duration {
    Duration::from_millis(4 + a.abs_diff(b))
}

fn links(network: &Network) -> Vec<Link> {
    let link = |(a, b, ms): &(usize, usize, u64)| {
        let queue = QueueSettings::drop_tail(Limit::Packets(1));
        let settings = LinkSettings::new(Rate::from_mbps(1), Duration::from_millis(*ms), queue);
        Link::new("", [node(*a), node(*b)], settings, None)
    };
    network.links.iter().map(link).collect()
}

fn flow((from, to): (usize, usize)) -> Flow {
    Flow {
        name: String::new(),
        from: node(from),
        to: node(to),
        transport: None,
        application: Application::Transfer { size: Bytes::ZERO },
        start: Time::ZERO,
        stop: None,
        handshake: Handshake::default(),
        dns: false,
        subscriber: None,
        forward: Vec::new(),
        reverse: Vec::new(),
        changes: Vec::new(),
        ipsec: None,
        split: None,
    }
}

/// The ways that `pairs` finds for these flows.
fn needed(network: &Network, flows: &[(usize, usize)]) -> SkyWays {
    let all = network.terminals.iter().map(|t| node(t.0));
    let joined = network.links.iter().map(|(a, b, _)| (node(*a), node(*b)));
    let gates = gates(NODES, joined, all);
    let ends: Vec<_> = flows.iter().map(|(a, b)| (node(*a), node(*b))).collect();
    let mut ways = Vec::new();
    for sky in 0..2 {
        let here = network.terminals.iter().filter(|t| t.1 == sky);
        let here: Vec<_> = here.collect();
        let nodes: Vec<NodeId> = here.iter().map(|t| node(t.0)).collect();
        let pairs = pairs(&nodes, &gates, &ends, 10_000).unwrap();
        ways.extend(pairs.into_iter().map(|(a, b)| {
            let (a, b) = (here[a as usize], here[b as usize]);
            Way {
                from: node(a.0),
                to: node(b.0),
                one_way_delay: delay(a.2, b.2),
            }
        }));
    }
    SkyWays { ways, gates }
}

type Length = (Duration, usize);

/// Lengths of the shortest paths over all links and over ways between any two terminals of a constellation.
fn floyd_warshall(network: &Network) -> Vec<Vec<Option<Length>>> {
    let mut length = vec![vec![None; NODES]; NODES];
    for (i, row) in length.iter_mut().enumerate() {
        row[i] = Some((Duration::ZERO, 0));
    }
    let mut edge = |a: usize, b: usize, delay: Duration| {
        let old: Option<Length> = length[a][b];
        length[a][b] = Some(old.map_or((delay, 1), |old| old.min((delay, 1))));
    };
    for (a, b, ms) in &network.links {
        edge(*a, *b, Duration::from_millis(*ms));
    }
    for (a, sky, here) in &network.terminals {
        for (b, other, there) in &network.terminals {
            if a != b && sky == other {
                edge(*a, *b, delay(*here, *there));
            }
        }
    }
    for k in 0..NODES {
        for i in 0..NODES {
            for j in 0..NODES {
                if let (Some(a), Some(b)) = (length[i][k], length[k][j]) {
                    let sum = (a.0 + b.0, a.1 + b.1);
                    length[i][j] = Some(length[i][j].map_or(sum, |old| old.min(sum)));
                }
            }
        }
    }
    length
}

#[test]
fn too_many_ways_are_counted_before_they_are_made() {
    // Two gateways that a line joins, and three terminals with a flow to the first.
    let terminals: Vec<NodeId> = (0..5).map(node).collect();
    let gates = gates(
        5,
        [(node(0), node(1))].into_iter(),
        terminals.iter().copied(),
    );
    assert_eq!(gates[..3], [None, None, Some(node(2))]);
    let ends = [(node(2), node(0)), (node(3), node(0)), (node(4), node(0))];
    let found = |room| pairs(&terminals, &gates, &ends, room).map(|pairs| pairs.len());
    assert_eq!(found(14), Ok(2 + 2 * 2 * 3));
    assert_eq!(
        found(13),
        Err(TooMany {
            several: 2,
            ones: 3
        })
    );
}

proptest! {
    /// Routes over the ways that are needed are the shortest over all.
    #[test]
    fn no_way_is_missing(
        network in network(),
        pairs in prop::collection::vec((0..NODES, 0..NODES), 1..8),
    ) {
        let length = floyd_warshall(&network);
        let pairs: Vec<_> = pairs.into_iter().filter(|(a, b)| a != b).collect();
        let links = links(&network);
        let over_sky = needed(&network, &pairs);
        let mut flows: Vec<Flow> = pairs.iter().map(|pair| flow(*pair)).collect();
        let failed = match route(NODES, &links, &over_sky, &mut flows) {
            Ok(()) => Vec::new(),
            Err(failed) => failed.into_iter().map(|(flow, _)| flow).collect(),
        };
        for (number, (flow, (from, to))) in flows.iter().zip(&pairs).enumerate() {
            let (there, back) = (length[*from][*to], length[*to][*from]);
            prop_assert_eq!(failed.contains(&number), there.is_none() || back.is_none());
            for (path, from, to, expected) in
                [(&flow.forward, from, to, there), (&flow.reverse, to, from, back)]
            {
                prop_assert_eq!(path.is_empty(), expected.is_none());
                if path.is_empty() {
                    continue;
                }
                let mut at = node(*from);
                let mut sum = Duration::ZERO;
                for id in path {
                    let id = id.0 as usize;
                    let (start, end, delay) = match links.get(id) {
                        Some(link) => (link.from, link.to, link.settings.one_way_delay),
                        None => {
                            let way = over_sky.ways[id - links.len()];
                            (way.from, way.to, way.one_way_delay)
                        }
                    };
                    prop_assert_eq!(start, at);
                    at = end;
                    sum += delay;
                }
                prop_assert_eq!(at, node(*to));
                prop_assert_eq!(Some((sum, path.len())), expected);
            }
        }
        // The same routes as alone, by what they take.
        let ends = |over_sky: &SkyWays, path: &[LinkId]| -> Vec<(u32, Option<Way>)> {
            let id = |id: &LinkId| match links.get(id.0 as usize) {
                Some(_) => (id.0, None),
                None => (0, Some(over_sky.ways[id.0 as usize - links.len()])),
            };
            path.iter().map(id).collect()
        };
        for (together, pair) in flows.iter().zip(&pairs) {
            let ways_alone = needed(&network, &[*pair]);
            let mut alone = [flow(*pair)];
            let _ = route(NODES, &links, &ways_alone, &mut alone);
            for (together, alone) in [
                (&together.forward, &alone[0].forward),
                (&together.reverse, &alone[0].reverse),
            ] {
                prop_assert_eq!(ends(&over_sky, together), ends(&ways_alone, alone));
            }
        }
    }
}
