//! What queues do to packets reaches the arena and the flows' losses.

use super::*;
use crate::observer::Unobserved;
use bentpipe_link::{CoDelSettings, Limit, LinkSettings, PriorityDropSettings, QueueSettings};
use bentpipe_tcp::packet::{ecn, priority};
use bentpipe_traffic::Application;
use bentpipe_units::{Bytes, Duration, Rate};

/// One flow over one link of 8 Mbit/s (a packet of 1000 bytes takes 1 ms).
fn scenario(queue: QueueSettings) -> Scenario {
    let mut builder = Scenario::builder("one link");
    let (a, b) = (builder.node("a"), builder.node("b"));
    let settings = LinkSettings::new(Rate::from_mbps(8), Duration::ZERO, queue);
    builder.link("l", a, b, settings);
    let stream = Application::ConstantRate {
        rate: Rate::from_mbps(1),
        packet_size: Bytes::new(1000),
        control: None,
        deadline: None,
    };
    builder.flow("f", a, b, stream);
    builder.build().unwrap()
}

/// Packet `n` of 1000 bytes to the far end.
fn packet(n: u64, ecn: u8, priority: u8) -> Packet {
    let mut packet = Packet::new(1);
    (packet.sequence, packet.bytes) = (n, 1000);
    (packet.ecn, packet.priority) = (ecn, priority);
    packet
}

/// Runs the links dry; the packets that arrive.
fn arrivals<const WATCHED: bool>(net: &mut Network<'_, WATCHED>) -> Vec<Packet> {
    let mut arrived = Vec::new();
    while let Some(event) = net.driver.events.pop() {
        net.now = event.at;
        if let Some(handle) = net.arrive(event.component) {
            arrived.push(net.take(handle));
        }
    }
    arrived
}

#[test]
fn a_normal_packet_takes_the_place_of_a_low_one() {
    let scenario = scenario(QueueSettings::PriorityDrop(PriorityDropSettings {
        limit: Limit::Packets(2),
        low_limit: None,
    }));
    let mut observer = Unobserved;
    let mut net = Network::<false>::new(&scenario, 1, false, &mut observer);
    for (n, class) in [
        (0, priority::NORMAL),
        (1, priority::LOW),
        (2, priority::LOW),
        (3, priority::LOW),
        (4, priority::NORMAL),
    ] {
        net.transmit(packet(n, ecn::NOT_CAPABLE, class));
    }
    // 0 is in transmission; 3 was refused, 2 had to go.
    assert_eq!(net.losses_of(0).queue.packets, 2);
    let arrived: Vec<u64> = arrivals(&mut net).iter().map(|p| p.sequence).collect();
    assert_eq!(arrived, [0, 1, 4]);
    let slots = net.driver.packets.capacity();
    for n in 5..10 {
        net.transmit(packet(n, ecn::NOT_CAPABLE, priority::NORMAL));
    }
    assert_eq!(
        net.driver.packets.capacity(),
        slots,
        "every slot was given back"
    );
}

#[test]
fn codel_marks_the_packet_itself() {
    let scenario = scenario(QueueSettings::CoDel(CoDelSettings {
        ecn: true,
        ..CoDelSettings::new(Limit::Packets(1000))
    }));
    let mut observer = Unobserved;
    let mut net = Network::<false>::new(&scenario, 1, false, &mut observer);
    for n in 0..300 {
        // Every second one can be marked.
        let capable = if n % 2 == 0 {
            ecn::CAPABLE
        } else {
            ecn::NOT_CAPABLE
        };
        net.transmit(packet(n, capable, priority::NORMAL));
    }
    let arrived = arrivals(&mut net);
    let marked = arrived.iter().filter(|p| p.ecn == ecn::MARKED).count() as u64;
    let counters = net.forward.links[0].counters();
    assert!(marked > 0 && counters.queue_drops > 0);
    assert_eq!(counters.marks, marked);
    assert_eq!(counters.queue_drops, net.losses_of(0).queue.packets);
    assert_eq!(arrived.len() as u64, 300 - counters.queue_drops);
    assert!(arrived.windows(2).all(|w| w[0].sequence < w[1].sequence));
    assert!(
        arrived
            .iter()
            .all(|p| p.ecn != ecn::MARKED || p.sequence % 2 == 0)
    );
}
