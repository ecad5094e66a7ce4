//! Routes and links that change with time.

use crate::crossings::Ends;
use crate::line::sack;
use bentpipe_link::{
    ArqScheme, ArqSettings, ChannelSettings, InFlightPolicy, Limit, LinkSettings, Loss, Piece,
    QueueSettings, Timeline, WhenDown,
};
use bentpipe_outcome::{FlowLinkCounts, Outcome};
use bentpipe_scenario::{BuildError, LinkDownPolicy, LinkId, Scenario, ScenarioBuilder};
use bentpipe_sim::{Options, Simulation, run};
use bentpipe_traffic::Application;
use bentpipe_units::{Bytes, Duration, Rate, Ratio, Time};
use proptest::prelude::*;
use std::sync::Arc;

fn at(ms: u64) -> Time {
    Time::from_nanos(ms * 1_000_000)
}

fn settings(delay_ms: u64, loss: f64) -> LinkSettings {
    LinkSettings {
        channel: ChannelSettings::Uniform {
            packet_error_rate: Ratio::new(loss).unwrap(),
        },
        ..LinkSettings::new(
            Rate::from_mbps(8),
            Duration::from_millis(delay_ms),
            QueueSettings::drop_tail(Limit::Packets(20)),
        )
    }
}

/// A packet of 1000 bytes every 10 ms: 1 ms each on a link.
fn stream() -> Application {
    Application::ConstantRate {
        rate: Rate::from_bps(800_000),
        packet_size: Bytes::new(1000),
        control: None,
        deadline: None,
    }
}

/// `a - x - b` and `a - y - b`, with `x - y` across. Links there are even,
/// those back odd: 0 and 1 between a and x, 2 and 3 between x and b, 4 and 5
/// between a and y, 6 and 7 between y and b, 8 and 9 between x and y.
fn diamond(
    delays: [u64; 5],
    loss: f64,
    mut timeline: impl FnMut(usize) -> Option<Timeline>,
) -> (ScenarioBuilder, [bentpipe_scenario::NodeId; 2]) {
    let mut builder = Scenario::builder("diamond");
    let [a, b, x, y] = ["a", "b", "x", "y"].map(|name| builder.node(name));
    let ends = [(a, x), (x, b), (a, y), (y, b), (x, y)];
    for (i, ((from, to), delay)) in ends.into_iter().zip(delays).enumerate() {
        let settings = settings(delay, loss);
        let name = format!("l{i}");
        let lines = timeline(i).map(|line| [Arc::new(line.clone()), Arc::new(line)]);
        builder.link_pair(name, (from, to), [settings.clone(), settings], lines);
    }
    (builder, [a, b])
}

fn links(path: &[u32]) -> Vec<LinkId> {
    path.iter().copied().map(LinkId).collect()
}

/// The ways from a to b, and back.
fn way(number: usize) -> (Vec<LinkId>, Vec<LinkId>) {
    let (forth, back): (&[u32], &[u32]) = match number {
        0 => (&[0, 2], &[3, 1]),
        1 => (&[4, 6], &[7, 5]),
        2 => (&[0, 8, 6], &[7, 9, 1]),
        3 => (&[4, 9, 2], &[3, 8, 5]),
        _ => (&[], &[]),
    };
    (links(forth), links(back))
}

fn routes(list: &[(u64, usize)]) -> Vec<(Time, Vec<LinkId>, Vec<LinkId>)> {
    let route = |&(ms, number): &(u64, usize)| {
        let (forth, back) = way(number);
        (at(ms), forth, back)
    };
    list.iter().map(route).collect()
}

fn piece(ms: u64, delay_ms: u64, up: bool) -> Piece {
    Piece {
        from: at(ms),
        rate: Rate::from_mbps(8),
        one_way_delay: Duration::from_millis(delay_ms),
        sloped: false,
        loss: Loss::Channel,
        up,
        route: 0,
        jitter: None,
    }
}

/// The stream of 100 packets from a to b by these routes.
fn stream_by(
    list: &[(u64, usize)],
    builder: (ScenarioBuilder, [bentpipe_scenario::NodeId; 2]),
) -> Outcome {
    let (mut builder, [a, b]) = builder;
    builder.duration(Duration::from_millis(999));
    builder.flow("f", a, b, stream()).route(routes(list));
    run(&builder.build().unwrap(), &Options::default()).unwrap()
}

#[test]
fn packets_keep_the_way_that_they_began() {
    // From 500 ms on the way over y, which is shorter.
    let outcome = stream_by(
        &[(0, 0), (500, 1)],
        diamond([100, 100, 10, 10, 1], 0.0, |_| None),
    );
    let delivered = |l: usize| outcome.links[l].delivered_packets;
    // 50 packets each; those of 980 and 990 ms have not arrived (23 ms).
    assert_eq!((delivered(0), delivered(2)), (50, 50));
    assert_eq!((delivered(4), delivered(6)), (49, 48));
    assert_eq!(outcome.flows[0].packets_sent, 100);
    assert_eq!(outcome.flows[0].no_route_losses, 0);
}

#[test]
fn what_is_sent_without_a_route_is_lost() {
    let outcome = stream_by(
        &[(0, 0), (300, 9), (350, 1), (900, 9)],
        diamond([1; 5], 0.0, |_| None),
    );
    let flow = &outcome.flows[0];
    assert_eq!((flow.packets_sent, flow.no_route_losses), (100, 15));
    assert_eq!(flow.delivered, Bytes::new(85 * 972));
    // No route before the first.
    let outcome = stream_by(&[(100, 0)], diamond([1; 5], 0.0, |_| None));
    assert_eq!(outcome.flows[0].no_route_losses, 10);
}

#[test]
fn a_packet_at_a_link_that_is_down_is_lost_or_rerouted() {
    // The link from x to b goes down at 500 ms, and the flow goes over x and y
    // from then on. The packets of 450 to 490 ms are before x then.
    let down = |i| {
        let pieces = vec![piece(0, 10, true), piece(500, 10, false)];
        (i == 1).then(|| Timeline::new(pieces).unwrap())
    };
    let delays = [55, 10, 10, 10, 10];
    let outcome = stream_by(&[(0, 0), (500, 2)], diamond(delays, 0.0, down));
    let flow = &outcome.flows[0];
    assert_eq!(flow.outage_losses, 5);
    assert_eq!(outcome.links[2].outage_losses, 5);
    let (mut builder, ends) = diamond(delays, 0.0, down);
    builder.stranded(LinkDownPolicy::Rerouted);
    let outcome = stream_by(&[(0, 0), (500, 2)], (builder, ends));
    let flow = &outcome.flows[0];
    assert_eq!((flow.outage_losses, flow.channel_losses), (0, 0));
    // The five cross from x to y with those that were sent that way.
    let crossing = |l| outcome.crossings[outcome.crossing(0, l).unwrap()].counts();
    assert_eq!(crossing(2).offered_packets, 45);
    assert_eq!(crossing(8).offered_packets, 5 + 45);
}

#[test]
fn a_route_that_leads_nowhere_is_refused() {
    let wrong = |list: Vec<(Time, Vec<LinkId>, Vec<LinkId>)>| {
        let (mut builder, [a, b]) = diamond([1; 5], 0.0, |_| None);
        builder.flow("f", a, b, stream()).route(list);
        match builder.build() {
            Err(BuildError::Route { why, .. }) => why,
            other => panic!("{other:?}"),
        }
    };
    let (forth, back) = way(0);
    assert!(
        wrong(vec![(at(0), links(&[0, 6]), back.clone())]).contains("one link after the other")
    );
    assert!(wrong(vec![(at(0), links(&[0]), back.clone())]).contains("other node"));
    assert!(wrong(vec![(at(0), links(&[77]), back.clone())]).contains("does not exist"));
    let twice = (at(5), forth.clone(), back.clone());
    assert!(wrong(vec![twice.clone(), twice]).contains("after the one before"));
}

#[test]
fn a_route_that_does_not_change_is_no_route_that_changes() {
    let outcome = |list: Option<&[(u64, usize)]>| {
        let (mut builder, [a, b]) = diamond([10, 10, 20, 20, 1], 0.01, |_| None);
        builder.duration(Duration::from_secs(5));
        let flow = builder.flow("f", a, b, Application::Persistent);
        let flow = flow.transport(sack());
        if let Some(list) = list {
            flow.route(routes(list));
        }
        run(&builder.build().unwrap(), &Options::default()).unwrap()
    };
    let plain = outcome(None);
    assert_eq!(outcome(Some(&[(0, 0)])), plain);
    assert_eq!(outcome(Some(&[(0, 0), (100, 0), (200, 0)])), plain);
    assert_ne!(outcome(Some(&[(0, 0), (100, 1)])), plain);
}

/// What a property test varies.
#[derive(Clone, Debug)]
struct Shape {
    delays: [u64; 5],
    loss: f64,
    routes: [Vec<(u64, usize)>; 2],
    lines: Vec<Option<Timeline>>,
    rerouted: bool,
    end_ms: u64,
    seed: u64,
}

fn any_routes() -> impl Strategy<Value = Vec<(u64, usize)>> {
    proptest::collection::vec((1u64..400, 0usize..6), 1..8).prop_map(|list| {
        let mut now = 0;
        let route = |(gap, number)| {
            let from = now;
            now += gap;
            (from, number)
        };
        list.into_iter().map(route).collect()
    })
}

fn any_line() -> impl Strategy<Value = Option<Timeline>> {
    let piece = (1u64..300, 0u64..60, 0u32..4, 0u32..2, 0u64..3);
    let rules = (any::<bool>(), any::<bool>(), any::<bool>());
    let line = (proptest::collection::vec(piece, 1..8), rules);
    proptest::option::of(line.prop_map(|(list, (waits, lost, repeats))| {
        let mut now = 0;
        let mut pieces = Vec::new();
        for (gap, delay, up, route, rate) in list {
            pieces.push(Piece {
                rate: Rate::from_mbps(4 * rate),
                route,
                sloped: rate == 1,
                ..self::piece(now, delay, up > 0)
            });
            now += gap;
        }
        let mut line = Timeline::new(pieces).unwrap();
        if waits {
            line = line.when_down(WhenDown::Waits);
        }
        if lost {
            line = line.in_flight(InFlightPolicy::Lost);
        }
        if repeats {
            line = line.repeating(Duration::from_millis(now)).unwrap();
        }
        line
    }))
}

prop_compose! {
    fn shape()(
        delays in any::<[u8; 5]>(),
        loss in prop_oneof![Just(0.0), 0.0..0.2],
        routes in [any_routes(), any_routes()],
        lines in proptest::collection::vec(any_line(), 5),
        rerouted in any::<bool>(),
        end_ms in 1u64..2_000,
        seed in 0u64..1000,
    ) -> Shape {
        let delays = delays.map(|d| u64::from(d) % 60);
        Shape { delays, loss, routes, lines, rerouted, end_ms, seed }
    }
}

fn scenario(shape: &Shape) -> Scenario {
    let (mut builder, [a, b]) = diamond(shape.delays, shape.loss, |i| shape.lines[i].clone());
    builder.duration(Duration::from_millis(shape.end_ms));
    for (i, scheme) in [ArqScheme::SelectiveRepeat, ArqScheme::GoBackN]
        .into_iter()
        .enumerate()
    {
        let arq = ArqSettings {
            scheme,
            window: 30,
            timeout: None,
            transmissions: 2,
            in_order: shape.seed.is_multiple_of(3),
        };
        if shape.lines[i + 1].is_none() && shape.seed.is_multiple_of(2) {
            builder.arq(&format!("l{}", i + 1), arq);
        }
    }
    if shape.rerouted {
        builder.stranded(LinkDownPolicy::Rerouted);
    }
    let [one, other] = &shape.routes;
    builder
        .flow("f", a, b, Application::Persistent)
        .transport(sack())
        .route(routes(one));
    builder.flow("g", a, b, stream()).route(routes(other));
    builder.build().unwrap()
}

fn options(seed: u64, marks: Vec<Time>) -> Options {
    Options {
        seed,
        checkpoints: marks,
        ..Options::default()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Whatever changes, what a flow sends arrives, is lost for one of the
    /// reasons, or is on a link; and flows and links have counted the same.
    #[test]
    fn every_packet_is_accounted_for(shape in shape()) {
        let scenario = scenario(&shape);
        let mut ends = Ends::default();
        let options = options(shape.seed, Vec::new());
        let outcome = Simulation::new(&scenario, &options).unwrap().run(&mut ends).unwrap();
        let lost = |c: &FlowLinkCounts| c.queue_drops + c.channel_losses + c.outage_losses;
        for (f, flow) in outcome.flows.iter().enumerate() {
            let both = |list: &[(u64, u64)]| -> u64 {
                list.iter().skip(2 * f).take(2).map(|c| c.0).sum()
            };
            let crossings = &outcome.crossings[outcome.crossings_of(f)];
            let of = |get: &dyn Fn(&FlowLinkCounts) -> u64| -> u64 {
                crossings.iter().map(|c| get(&c.counts())).sum()
            };
            let on_links = of(&|c| c.offered_packets - c.delivered_packets - lost(c));
            let gone = flow.no_route_losses + of(&lost);
            prop_assert_eq!(both(&ends.sent), both(&ends.received) + gone + on_links);
            prop_assert_eq!(of(&|c| c.queue_drops), flow.queue_drops);
            prop_assert_eq!(of(&|c| c.channel_losses), flow.channel_losses);
            prop_assert_eq!(of(&|c| c.outage_losses), flow.outage_losses);
            // Nothing appears on the way.
            let entered = of(&|c| c.offered_packets) + flow.no_route_losses;
            let left = of(&|c| c.delivered_packets);
            prop_assert_eq!(entered - left + both(&ends.received), both(&ends.sent));
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
            prop_assert_eq!(of(|c| c.outage_losses), link.outage_losses);
            prop_assert!((0.0..=1.0).contains(&link.utilisation));
        }
    }

    /// A mark says what a run that ends there says, and changes nothing.
    #[test]
    fn a_mark_is_the_end_of_a_shorter_run(shape in shape(), share in 0.0..1.0) {
        let ms = (shape.end_ms as f64 * share) as u64 + 1;
        let unmarked = run(&scenario(&shape), &options(shape.seed, Vec::new())).unwrap();
        let marked = run(&scenario(&shape), &options(shape.seed, vec![at(ms)])).unwrap();
        let short = Shape { end_ms: ms, ..shape.clone() };
        let ended = run(&scenario(&short), &options(shape.seed, Vec::new())).unwrap();
        if at(ms) < marked.ended_at {
            let counts: Vec<FlowLinkCounts> = ended.crossings.iter().map(|c| c.counts()).collect();
            prop_assert_eq!(&marked.checkpoints[0].crossings, &counts);
            let flows: Vec<_> = ended.flows.iter().map(|f| f.counts()).collect();
            prop_assert_eq!(&marked.checkpoints[0].flows, &flows);
        }
        let same = Outcome { checkpoints: Vec::new(), ..marked };
        prop_assert_eq!(same, unmarked);
    }
}
