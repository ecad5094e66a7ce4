//! A gateway between the server and the link, and a proxy on it.
//!
//! The transports that are compared run over the link: from the server on,
//! unless a split-connection PEP ends the server's connection, which then is
//! CUBIC as servers run it.

use super::entries;
use super::setup::Path;
use crate::args::Pep;
use bentpipe_link::{ChannelSettings, Limit, LinkSettings, QueueSettings};
use bentpipe_middlebox::split::SplitSettings;
use bentpipe_middlebox::{Settings, SnoopSettings};
use bentpipe_scenario::{
    Flow, Leg, Link, LinkId, Middlebox, Node, NodeId, Scenario, Split, SplitPep,
};
use bentpipe_tcp::CongestionControlChoice;
use bentpipe_units::{Bytes, Duration, Rate};

const SERVER: NodeId = NodeId(0);
const RECEIVER: NodeId = NodeId(1);
const GATEWAY: NodeId = NodeId(2);

/// The links that are there already, and those between server and gateway.
const DOWN: LinkId = LinkId(0);
const UP: LinkId = LinkId(1);
const OUT: LinkId = LinkId(2);
const BACK: LinkId = LinkId(3);

/// Slowest rate between server and gateway; it is ten times that of the link.
const SLOWEST: Rate = Rate::from_mbps(100);

/// Smallest relay buffer.
const BUFFER: Bytes = Bytes::new(64_000);

/// What stands at the gateway, in words.
pub(super) const fn words(pep: Pep) -> &'static str {
    match pep {
        Pep::None => "No proxy",
        Pep::Split => "Split-connection PEP at the gateway, CUBIC before it",
        Pep::Snoop => "Snoop at the gateway",
    }
}

/// Puts the gateway, if there is one, before the link of `scenario`.
pub(super) fn add(path: &Path, scenario: &mut Scenario) {
    let Some(rtt) = path.server_rtt else { return };
    scenario.nodes.push(Node {
        name: "gateway".to_owned(),
    });
    for link in &mut scenario.links {
        for end in [&mut link.from, &mut link.to] {
            if *end == SERVER {
                *end = GATEWAY;
            }
        }
    }
    let rate = SLOWEST.max(Rate::from_bps(path.rate.bps().saturating_mul(10)));
    for (name, from, to) in [
        ("internet", SERVER, GATEWAY),
        ("internet.reverse", GATEWAY, SERVER),
    ] {
        scenario.links.push(server_link(name, from, to, rate, rtt));
    }
    for flow in &mut scenario.flows {
        flow.forward = vec![OUT, DOWN];
        flow.reverse = vec![UP, BACK];
    }
    match path.pep {
        Pep::None => {}
        Pep::Split => split(path, scenario),
        Pep::Snoop => scenario.middleboxes.push(Middlebox {
            name: "snoop".to_owned(),
            node: GATEWAY,
            toward: vec![DOWN],
            back: vec![UP],
            settings: Settings::Snoop(SnoopSettings {
                cache: cache(path),
                ..SnoopSettings::default()
            }),
        }),
    }
}

fn server_link(name: &str, from: NodeId, to: NodeId, rate: Rate, rtt: Duration) -> Link {
    Link {
        medium: None,
        reports_corruption: false,
        name: name.to_owned(),
        from,
        to,
        settings: LinkSettings {
            rate,
            one_way_delay: rtt / 2,
            queue: QueueSettings::drop_tail(Limit::Packets(10_000)),
            channel: ChannelSettings::Perfect,
            framing: Bytes::ZERO,
        },
        timeline: None,
        arq: None,
    }
}

/// Packets for all that the link and its queue hold.
fn cache(path: &Path) -> u32 {
    let queue = path.queue_bytes().get() / 1500;
    let all = u64::from(path.bdp_segments()).saturating_add(queue);
    u32::try_from(all.clamp(100, 1_000_000)).unwrap_or(1_000_000)
}

/// Twice what the link holds: its losses take round trips to repair.
fn buffer(path: &Path) -> Bytes {
    Bytes::new(path.bdp().get().saturating_mul(2)).max(BUFFER)
}

fn split(path: &Path, scenario: &mut Scenario) {
    let settings = SplitSettings {
        buffer: buffer(path),
        ..SplitSettings::default()
    };
    let pep = SplitPep {
        name: "pep".to_owned(),
        node: GATEWAY,
        toward: vec![DOWN],
        settings,
    };
    for flow in &mut scenario.flows {
        flow.split = legs(flow, &pep);
    }
    scenario.peps.push(pep);
}

fn legs(flow: &Flow, pep: &SplitPep) -> Option<Split> {
    let satellite = flow.transport.clone()?;
    // The bound is one of the whole way.
    if satellite.congestion_control == CongestionControlChoice::Ideal {
        return None;
    }
    let leg = |from, to, transport, forth, back| Leg {
        from,
        to,
        transport,
        forward: vec![forth],
        reverse: vec![back],
        changes: Vec::new(),
    };
    Some(Split {
        legs: vec![
            leg(SERVER, GATEWAY, entries::default_transport(), OUT, BACK),
            leg(GATEWAY, RECEIVER, satellite, DOWN, UP),
        ],
        peps: vec![bentpipe_scenario::Pep {
            name: pep.name.clone(),
            place: 0,
            settings: pep.settings.clone(),
        }],
    })
}

#[cfg(test)]
mod tests {
    use super::super::setup::tests::path;
    use super::*;
    use bentpipe_scenario::Handshake;

    fn scenario(pep: Pep) -> Scenario {
        let path = Path {
            server_rtt: Some(Duration::from_millis(50)),
            pep,
            ..path()
        };
        let hybla = bentpipe_tcp::find_transport("hybla").unwrap().transport();
        path.scenario(&[&hybla])
    }

    #[test]
    fn a_gateway_stands_before_the_link() {
        let none = scenario(Pep::None);
        assert_eq!(none.links[0].from, GATEWAY);
        assert_eq!(none.links[1].to, GATEWAY);
        assert_eq!(none.flows[0].handshake, Handshake::Counted);
        assert!(none.flows[0].split.is_none() && none.middleboxes.is_empty());
        assert_eq!(scenario(Pep::Snoop).middleboxes[0].toward, [DOWN]);
        let split = scenario(Pep::Split);
        let legs = &split.flows[0].split.as_ref().unwrap().legs;
        let names: Vec<_> = legs.iter().map(|l| l.transport.name.as_str()).collect();
        assert_eq!(names[1], "hybla");
        assert_ne!(names[0], "hybla");
        // Nothing of it without a gateway.
        let hybla = bentpipe_tcp::find_transport("hybla").unwrap().transport();
        let plain = path().scenario(&[&hybla]);
        assert_eq!((plain.nodes.len(), plain.links.len()), (2, 2));
    }
}
