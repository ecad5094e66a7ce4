//! A gateway between the server and the link, and a proxy on it.
//!
//! The transports that are compared run over the link: from the server on,
//! unless a split-connection PEP ends the server's connection, which then is
//! CUBIC as servers run it.

use super::entries;
use super::path::{NetworkPath, PACKET, Pep};
use bentpipe_link::{ChannelSettings, Limit, LinkSettings, QueueSettings};
use bentpipe_middlebox::split::SplitSettings;
use bentpipe_middlebox::{Settings, SnoopSettings};
use bentpipe_scenario::{NodeId, ScenarioBuilder};
use bentpipe_tcp::{CongestionControlChoice, Transport};
use bentpipe_units::{Bytes, Duration, Rate};

/// Slowest rate between server and gateway; it is ten times that of the link.
const SLOWEST: Rate = Rate::from_mbps(100);

/// Smallest relay buffer.
const BUFFER: Bytes = Bytes::new(64_000);

/// Adds the link between server and gateway, and the proxy. Returns true if
/// the proxy ends the connections of the server.
pub(super) fn add(
    path: &NetworkPath,
    builder: &mut ScenarioBuilder,
    [server, gateway]: [NodeId; 2],
    transports: &[&Transport],
) -> bool {
    let rate = SLOWEST.max(Rate::from_bps(path.rate.bps().saturating_mul(10)));
    let rtt = path.server_rtt.unwrap_or(Duration::ZERO);
    builder.link("internet", server, gateway, server_link(rate, rtt));
    match path.pep {
        Pep::None => false,
        Pep::Snoop => {
            let settings = Settings::Snoop(SnoopSettings {
                cache: cache(path),
                ..SnoopSettings::default()
            });
            builder.middlebox("snoop", gateway, "satellite", settings);
            false
        }
        Pep::Split => {
            for (i, transport) in transports.iter().enumerate() {
                let i = i + 1;
                let settings = SplitSettings {
                    buffer: buffer(path),
                    transport: Some((*transport).clone()),
                    flows: vec![format!("download-{i}")],
                    ..SplitSettings::default()
                };
                builder.split_pep(format!("pep-{i}"), gateway, settings);
            }
            true
        }
    }
}

/// The transport of the server where a proxy may end its connection.
pub(super) fn server_transport(transport: &Transport, proxied: bool) -> Transport {
    // The bound is one of the whole way.
    if proxied && transport.congestion_control != CongestionControlChoice::Ideal {
        return entries::default_transport();
    }
    transport.clone()
}

fn server_link(rate: Rate, rtt: Duration) -> LinkSettings {
    LinkSettings {
        rate,
        one_way_delay: rtt / 2,
        queue: QueueSettings::drop_tail(Limit::Packets(10_000)),
        channel: ChannelSettings::Perfect,
        framing: Bytes::ZERO,
    }
}

/// Packets for all that the link and its queue hold.
fn cache(path: &NetworkPath) -> u32 {
    let queue = path.queue_bytes().get() / PACKET;
    let all = u64::from(path.bdp_segments()).saturating_add(queue);
    u32::try_from(all.clamp(100, 1_000_000)).unwrap_or(1_000_000)
}

/// Twice what the link holds: its losses take round trips to repair.
fn buffer(path: &NetworkPath) -> Bytes {
    Bytes::new(path.bdp().get().saturating_mul(2)).max(BUFFER)
}

#[cfg(test)]
mod tests {
    use super::super::path::tests::path;
    use super::*;
    use bentpipe_scenario::{Handshake, Scenario};

    fn scenario(pep: Pep) -> Scenario {
        let path = NetworkPath {
            server_rtt: Some(Duration::from_millis(50)),
            pep,
            ..path()
        };
        let hybla = bentpipe_tcp::find_transport("hybla").unwrap().transport();
        let vegas = bentpipe_tcp::find_transport("vegas").unwrap().transport();
        path.scenario(&[&hybla, &vegas]).unwrap()
    }

    #[test]
    fn a_gateway_stands_before_the_link() {
        let none = scenario(Pep::None);
        let gateway = NodeId(2);
        assert_eq!(none.links[0].from, gateway);
        assert_eq!(none.links[1].to, gateway);
        assert_eq!(none.flows[0].handshake, Handshake::Counted);
        assert!(none.flows[0].split.is_none() && none.middleboxes.is_empty());
        assert_eq!(scenario(Pep::Snoop).middleboxes[0].toward.len(), 1);
        let split = scenario(Pep::Split);
        for (flow, name) in split.flows.iter().zip(["hybla", "vegas"]) {
            let legs = &flow.split.as_ref().unwrap().legs;
            let names: Vec<_> = legs.iter().map(|l| l.transport.name.as_str()).collect();
            assert_eq!(names, ["cubic", name]);
        }
        // Nothing of it without a gateway.
        let hybla = bentpipe_tcp::find_transport("hybla").unwrap().transport();
        let plain = path().scenario(&[&hybla]).unwrap();
        assert_eq!((plain.nodes.len(), plain.links.len()), (2, 2));
    }
}
