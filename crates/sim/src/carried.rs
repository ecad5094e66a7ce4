//! Datagrams that pass the two boxes of a gateway: UDP, QUIC and look-ups of names. The boxes carry
//! them in their association, as `crates/gateway/src/udp` does: they wait for their turns beside the
//! streams and do not fill the queue of the satellite link.

use crate::ideal;
use bentpipe_middlebox::split::{KnownRate, Tunnel};
use bentpipe_quic::IP_HEADERS;
use bentpipe_scenario::{Connection, LinkId, NodeId, Scenario, SplitPep};
use bentpipe_tcp::Packet;
use bentpipe_units::Duration;

/// Bytes of IP, UDP and QUIC around a datagram of the association: flags, connection id, packet number
/// and tag, and the frame's type.
const AROUND: u32 = 28 + 1 + 8 + 4 + 16 + 1;
/// Bytes before the payload of a datagram that is carried, and before those of each part of a longer
/// one.
const HEADER: u32 = 5;
/// Where a datagram has its own length meanwhile: it reports nothing.
const PLACE: usize = 1;
/// What one packet of the association carries at most.
const MOST: u32 = 1480 - AROUND;

/// The way of the datagrams to one end of a flow through the two boxes.
#[derive(Clone, Debug)]
pub(crate) struct Carried {
    /// The end that they go to.
    pub(crate) endpoint: u32,
    /// Whose they are.
    pub(crate) subscriber: u32,
    /// The box that they come to, and that which they leave.
    pub(crate) nodes: [NodeId; 2],
    /// The links between the boxes.
    pub(crate) links: Vec<LinkId>,
    /// The links before and after the first box, and before and after the second.
    pub(crate) entry: (u32, u32),
    pub(crate) exit: (u32, u32),
    /// The propagation delay between the boxes, there and back.
    pub(crate) rtt: Duration,
    /// The first box verifies the rate of its link.
    pub(crate) verifies: bool,
}

/// Bytes of the association's packets that carry an IP packet of UDP of `bytes`, and of its datagram.
pub(crate) fn sizes(bytes: u16) -> (u16, u64) {
    let payload = u32::from(bytes).saturating_sub(u32::from(IP_HEADERS)) + HEADER;
    let (parts, each) = match payload <= MOST {
        true => (1, 0),
        false => (payload.div_ceil(MOST - HEADER), HEADER),
    };
    let all = payload + parts * (AROUND + each);
    (u16::try_from(all).unwrap_or(u16::MAX), u64::from(payload))
}

/// `packet` as the association carries it, in packets of its own, and bytes of its datagram.
pub(crate) fn pack(mut packet: Packet) -> (Packet, u64) {
    let (bytes, datagram) = sizes(packet.bytes);
    packet.sack[PLACE].start = u32::from(packet.bytes);
    packet.bytes = bytes;
    (packet, datagram)
}

/// `packet` as it was before it was carried.
pub(crate) fn unpack(mut packet: Packet) -> Packet {
    packet.bytes = std::mem::take(&mut packet.sack[PLACE].start) as u16;
    packet
}

/// All ways of datagrams that pass two boxes in both directions.
pub(crate) fn all(scenario: &Scenario) -> Vec<Carried> {
    let has_tunnel = |pep: &SplitPep| pep.settings.tunnel == Tunnel::Gateway;
    if !scenario.peps.iter().any(has_tunnel) {
        return Vec::new();
    }
    let subscribers = scenario.subscribers();
    let mut all = Vec::new();
    for (number, connection) in (0..).zip(scenario.connections()) {
        let flow = &scenario.flows[connection.flow];
        let is_tcp = flow.transport.as_ref().is_some_and(|t| t.quic.is_none());
        let is_lookup = connection.leg == Connection::LOOKUP;
        if is_tcp && !is_lookup {
            continue;
        }
        let ways = [connection.forward, connection.reverse];
        let places = ways.map(|way| boxes(scenario, &flow.name, way));
        let [Some(forth), Some(back)] = places else {
            continue;
        };
        let between = |way: &[LinkId], [first, last]: [usize; 2]| way[first..last].to_vec();
        let links = [between(ways[0], forth), between(ways[1], back)];
        let rtt = ideal::round_trip_of(scenario, &links[0], &links[1]);
        for (side, [first, last]) in [forth, back].into_iter().enumerate() {
            let way = ways[side];
            let nodes = [first, last].map(|at| scenario.links[way[at].0 as usize].from);
            let verifies = scenario
                .peps
                .iter()
                .any(|pep| pep.node == nodes[0] && pep.settings.rate == KnownRate::Verified);
            all.push(Carried {
                // Data goes to the `to` side, which has the odd number.
                endpoint: 2 * number + 1 - side as u32,
                subscriber: subscribers[connection.flow],
                nodes,
                links: links[side].clone(),
                entry: (way[first - 1].0, way[first].0),
                exit: (way[last - 1].0, way[last].0),
                rtt,
                verifies,
            });
        }
    }
    all
}

/// The places of the first two boxes on a way, by the links that leave them.
fn boxes(scenario: &Scenario, flow: &str, way: &[LinkId]) -> Option<[usize; 2]> {
    let table = flow.split_once('[').map_or(flow, |(table, _)| table);
    let stands = |at: &usize| {
        let node = scenario.links[way[*at].0 as usize].from;
        let back = scenario.links[way[*at - 1].0 as usize].reverse;
        scenario.peps.iter().any(|pep| {
            let faces = |link: &LinkId| *link == way[*at] || Some(*link) == back;
            let named = |name: &String| name == table || name == flow;
            pep.node == node
                && pep.settings.tunnel == Tunnel::Gateway
                && (pep.toward.is_empty() || pep.toward.iter().any(faces))
                && (pep.settings.flows.is_empty() || pep.settings.flows.iter().any(named))
        })
    };
    let mut places = (1..way.len()).filter(stands);
    Some([places.next()?, places.next()?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn datagrams_have_the_headers_of_the_association() {
        // 172 bytes of voice: 28 of IP and UDP less, 5 and 58 more.
        assert_eq!(sizes(200), (172 + 5 + 58, 177));
        // The longest in one packet, and one that goes in two parts.
        assert_eq!(sizes(1417 + 28), (1480, 1422));
        assert_eq!(sizes(1418 + 28), (1418 + 5 + 2 * (58 + 5), 1423));
    }
}
