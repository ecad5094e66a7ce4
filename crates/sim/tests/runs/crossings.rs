//! What flows do to links, held against independent counts.

use crate::line::sack;
use bentpipe_link::{ChannelSettings, Limit, LinkSettings, QueueSettings};
use bentpipe_outcome::{FlowLinkCounts, Outcome};
use bentpipe_scenario::{Scenario, ScenarioBuilder};
use bentpipe_sim::{Observer, Options, Simulation, run};
use bentpipe_tcp::Packet;
use bentpipe_traffic::{Application, Period};
use bentpipe_units::{Bytes, Duration, Rate, Ratio, Time};
use proptest::prelude::*;

fn at(us: u64) -> Time {
    Time::from_nanos(us * 1_000)
}

fn settings(rate: Rate, delay_us: u64, packets: u32, loss: f64) -> LinkSettings {
    LinkSettings {
        channel: ChannelSettings::Uniform {
            packet_error_rate: Ratio::new(loss).unwrap(),
        },
        framing: Bytes::new(20),
        ..LinkSettings::new(
            rate,
            Duration::from_micros(delay_us),
            QueueSettings::drop_tail(Limit::Packets(packets)),
        )
    }
}

/// Packets of 980 bytes, 1000 with framing: 8 ms each at 1 Mbit/s, one every
/// 8 ms; so that the transmitter never rests and nothing waits.
fn stream() -> Application {
    Application::ConstantRate {
        rate: Rate::from_bps(980_000),
        packet_size: Bytes::new(980),
        control: None,
        deadline: None,
    }
}

/// The stream over links of 1 Mbit/s with these delays and losses, for `us`.
fn chain(links: &[(u64, f64)], us: u64) -> Outcome {
    let mut builder = Scenario::builder("chain");
    builder.duration(Duration::from_micros(us));
    let nodes: Vec<_> = (0..=links.len())
        .map(|i| builder.node(i.to_string()))
        .collect();
    for (i, (delay, loss)) in links.iter().enumerate() {
        let settings = settings(Rate::from_mbps(1), *delay, 10, *loss);
        builder.link(format!("l{i}"), nodes[i], nodes[i + 1], settings);
    }
    builder.flow("f", nodes[0], nodes[links.len()], stream());
    run(&builder.build().unwrap(), &Options::default()).unwrap()
}

fn counts(offered: u64, sent: u64, delivered: u64, lost: u64) -> FlowLinkCounts {
    FlowLinkCounts {
        offered_packets: offered,
        transmitted: Bytes::new(sent * 1000),
        delivered_packets: delivered,
        delivered: Bytes::new(delivered * 980),
        queue_drops: 0,
        channel_losses: lost,
        outage_losses: 0,
    }
}

#[test]
fn a_packet_is_offered_transmitted_and_delivered_in_turn() {
    // At 204.5 ms packets 0 to 25 have been offered, all but the last one
    // transmitted, and those up to 104.5 ms have arrived.
    let outcome = chain(&[(100_000, 0.0)], 204_500);
    assert_eq!(outcome.crossings[0].counts(), counts(26, 25, 13, 0));
    assert_eq!(outcome.crossings.len(), 2, "nothing comes back");
    assert_eq!(outcome.crossings[1].counts(), FlowLinkCounts::default());
}

#[test]
fn a_lost_packet_is_transmitted_first() {
    let outcome = chain(&[(100_000, 1.0)], 204_500);
    assert_eq!(outcome.crossings[0].counts(), counts(26, 25, 0, 25));
    assert_eq!(outcome.links[0].channel_losses, 25);
}

#[test]
fn a_packet_offered_ahead_of_time_is_still_on_the_link_before() {
    // The second link follows the first: 10 ms later, and 8 ms more.
    let expected = |delay: u64| (204_500 - delay) / 8_000;
    let first = counts(26, 25, expected(10_000), 0);
    let outcome = chain(&[(10_000, 0.0), (50_000, 0.0)], 204_500);
    assert_eq!(outcome.crossings[0].counts(), first);
    let (offered, sent) = (expected(10_000), expected(18_000));
    let second = counts(offered, sent, expected(68_000), 0);
    assert_eq!(outcome.crossings[1].counts(), second);
    // Nor is it lost yet there.
    let outcome = chain(&[(10_000, 0.0), (50_000, 1.0)], 204_500);
    assert_eq!(outcome.crossings[0].counts(), first);
    assert_eq!(
        outcome.crossings[1].counts(),
        counts(offered, sent, 0, sent)
    );
    let (one, two) = (&outcome.links[0], &outcome.links[2]);
    assert_eq!(
        (one.delivered_packets, one.delivered_bytes.get()),
        (offered, offered * 980)
    );
    assert_eq!((two.offered_packets, two.channel_losses), (offered, sent));
    assert_eq!(outcome.flows[0].channel_losses, sent);
}

/// Counts packets and bytes at the ends.
#[derive(Default)]
pub(crate) struct Ends {
    pub(crate) sent: Vec<(u64, u64)>,
    pub(crate) received: Vec<(u64, u64)>,
}

fn count(list: &mut Vec<(u64, u64)>, endpoint: u32, packet: &Packet) {
    let endpoint = endpoint as usize;
    list.resize(list.len().max(endpoint + 1), (0, 0));
    list[endpoint].0 += 1;
    list[endpoint].1 += u64::from(packet.bytes);
}

impl Observer for Ends {
    fn sent(&mut self, _: Time, endpoint: u32, packet: &Packet) {
        count(&mut self.sent, endpoint, packet);
    }
    fn received(&mut self, _: Time, endpoint: u32, packet: &Packet) {
        count(&mut self.received, endpoint, packet);
    }
}

/// What a property test varies.
#[derive(Clone, Debug)]
struct Shape {
    flows: usize,
    leg_us: u64,
    leg_loss: f64,
    queue: u32,
    loss: f64,
    seed: u64,
    end_us: u64,
}

/// Flows of all kinds, each behind its own leg, over one bottleneck of
/// 2 Mbit/s.
fn dumbbell(shape: &Shape) -> Scenario {
    let mut builder = Scenario::builder("dumbbell");
    builder.duration(Duration::from_micros(shape.end_us));
    let (r1, r2) = (builder.node("r1"), builder.node("r2"));
    let fast = Rate::from_mbps(20);
    let bottleneck = settings(Rate::from_mbps(2), 30_000, shape.queue, shape.loss);
    builder.link("bottleneck", r1, r2, bottleneck);
    for i in 0..shape.flows {
        add_pair(&mut builder, i, (r1, r2), fast, shape);
    }
    builder.build().unwrap()
}

fn add_pair(
    builder: &mut ScenarioBuilder,
    i: usize,
    (r1, r2): (bentpipe_scenario::NodeId, bentpipe_scenario::NodeId),
    fast: Rate,
    shape: &Shape,
) {
    let (from, to) = (builder.node(format!("s{i}")), builder.node(format!("d{i}")));
    let delay = shape.leg_us * i as u64;
    let leg = settings(fast, delay, 20, shape.leg_loss);
    builder.link(format!("leg{i}"), from, r1, leg);
    builder.link(format!("exit{i}"), r2, to, settings(fast, 1_000, 20, 0.0));
    let mean = Duration::from_millis(100);
    let (application, transport) = match i % 3 {
        0 => (Application::Persistent, Some(sack())),
        1 => {
            let on_off = Application::OnOff {
                on: Period::Exponential { mean },
                off: Period::Exponential { mean },
                rate: Rate::from_mbps(2),
                packet_size: Bytes::new(500),
            };
            (on_off, None)
        }
        _ => {
            let size = Bytes::new(300_000);
            (Application::Transfer { size }, Some(sack()))
        }
    };
    builder
        .flow(format!("f{i}"), from, to, application)
        .transport(transport);
}

prop_compose! {
    fn shape()(
        flows in 1..6_usize,
        leg_us in 0..40_000_u64,
        leg_loss in prop_oneof![Just(0.0), 0.0..0.2],
        queue in 1..40_u32,
        loss in prop_oneof![Just(0.0), 0.0..0.2],
        seed in 0..1000_u64,
        end_us in 1..3_000_000_u64,
    ) -> Shape {
        Shape { flows, leg_us, leg_loss, queue, loss, seed, end_us }
    }
}

fn options(seed: u64, marks: Vec<Time>) -> Options {
    Options {
        seed,
        checkpoints: marks,
        ..Options::default()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    /// Along its way a flow's packets are conserved, from what an observer
    /// sees at one end to what it sees at the other; and the flows of a link
    /// add up to what the link itself has counted.
    #[test]
    fn crossings_add_up(shape in shape()) {
        let scenario = dumbbell(&shape);
        let mut ends = Ends::default();
        let options = options(shape.seed, Vec::new());
        let outcome = Simulation::new(&scenario, &options).unwrap().run(&mut ends).unwrap();
        for (f, flow) in scenario.flows.iter().enumerate() {
            for (way, from, to) in [(&flow.forward, 2 * f, 2 * f + 1), (&flow.reverse, 2 * f + 1, 2 * f)] {
                let hops: Vec<FlowLinkCounts> = way
                    .iter()
                    .map(|l| outcome.crossings[outcome.crossing(f, l.0 as usize).unwrap()].counts())
                    .collect();
                let sent = ends.sent.get(from).copied().unwrap_or_default();
                let received = ends.received.get(to).copied().unwrap_or_default();
                prop_assert_eq!(hops[0].offered_packets, sent.0);
                let last = hops[hops.len() - 1];
                prop_assert_eq!((last.delivered_packets, last.delivered.get()), received);
                for (before, after) in hops.iter().zip(&hops[1..]) {
                    prop_assert_eq!(before.delivered_packets, after.offered_packets);
                }
                // Its own leg and exit are crossed by nobody else.
                for (link, counts) in way.iter().zip(&hops) {
                    let l = &outcome.links[link.0 as usize];
                    if !l.name.starts_with("bottleneck") {
                        prop_assert_eq!(l.offered_packets, counts.offered_packets);
                        prop_assert_eq!(l.delivered_bytes, counts.delivered);
                    }
                }
            }
        }
        for (l, link) in outcome.links.iter().enumerate() {
            let of = |get: fn(&FlowLinkCounts) -> u64| -> u64 {
                let crossings = outcome.crossings.iter().filter(|c| c.link == l);
                crossings.map(|c| get(&c.counts())).sum()
            };
            prop_assert_eq!(of(|c| c.offered_packets), link.offered_packets);
            prop_assert_eq!(of(|c| c.delivered_packets), link.delivered_packets);
            prop_assert_eq!(of(|c| c.delivered.get()), link.delivered_bytes.get());
            prop_assert_eq!(of(|c| c.queue_drops), link.queue_drops);
            prop_assert_eq!(of(|c| c.channel_losses), link.channel_losses);
            // The transmitter was busy for what was transmitted and part of
            // one packet more; a link that is offered its packets ahead of
            // time does not say so to the packet.
            let many = shape.flows > 1 && link.name.starts_with("bottleneck");
            let host = link.name.starts_with("leg") && !link.name.ends_with("reverse")
                || link.name.starts_with("exit") && link.name.ends_with("reverse");
            if !(many || host) {
                continue;
            }
            let busy = link.utilisation * outcome.ended_at.as_secs();
            let needed = of(|c| c.transmitted.get()) as f64 * 8.0 / link.rate.bps_f64();
            let packet = 1520.0 * 8.0 / link.rate.bps_f64();
            prop_assert!(
                busy > needed - 1e-6 && busy < needed + packet + 1e-6,
                "{}: busy {busy} s, {needed} s needed", link.name
            );
        }
        for (f, flow) in outcome.flows.iter().enumerate() {
            let range = outcome.crossings_of(f);
            let drops: u64 = outcome.crossings[range].iter().map(|c| c.counts().queue_drops).sum();
            prop_assert_eq!(drops, flow.queue_drops);
        }
    }

    /// A mark says what a run that ends there says, and changes nothing.
    #[test]
    fn a_mark_is_the_end_of_a_shorter_run(shape in shape(), share in 0.0..1.0) {
        let scenario = dumbbell(&shape);
        let mark = at((shape.end_us as f64 * share) as u64 + 1);
        let unmarked = run(&scenario, &options(shape.seed, Vec::new())).unwrap();
        let marked = run(&scenario, &options(shape.seed, vec![mark, mark])).unwrap();
        let short = Shape { end_us: mark.as_nanos() / 1000, ..shape.clone() };
        let ended = run(&dumbbell(&short), &options(shape.seed, Vec::new())).unwrap();
        if ended.ended_at < mark {
            prop_assert!(marked.checkpoints.is_empty());
        } else if mark < marked.ended_at {
            let counts: Vec<FlowLinkCounts> = ended.crossings.iter().map(|c| c.counts()).collect();
            prop_assert_eq!(&marked.checkpoints[0].crossings, &counts);
            let flows: Vec<_> = ended.flows.iter().map(|f| f.counts()).collect();
            prop_assert_eq!(&marked.checkpoints[0].flows, &flows);
        }
        let same = Outcome { checkpoints: Vec::new(), ..marked };
        prop_assert_eq!(same, unmarked);
    }
}
