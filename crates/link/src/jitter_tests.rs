use super::*;
use crate::testing::Link;
use crate::{Limit, LinkPlan, LinkSettings, PacketMeta, QueueSettings, Verdict};
use bentpipe_units::{Rate, math};
use proptest::prelude::*;

const MS: Duration = Duration::from_millis(1);

fn draws(settings: &JitterSettings, count: usize) -> Vec<f64> {
    let mut jitter = Jitter::new(Some(settings), 1, "satellite");
    let at = |i: usize| Time::from_nanos(i as u64 * 1_000_000);
    (0..count).map(|i| jitter.draw(at(i)) / 1e6).collect()
}

fn moments(draws: &[f64]) -> (f64, f64) {
    let mean = draws.iter().sum::<f64>() / draws.len() as f64;
    let square = draws.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>();
    (mean, (square / draws.len() as f64).sqrt())
}

/// Correlation of what is `apart`.
fn correlation(draws: &[f64], apart: usize) -> f64 {
    let (mean, deviation) = moments(draws);
    let pairs = draws.iter().zip(&draws[apart..]);
    let sum: f64 = pairs.map(|(a, b)| (a - mean) * (b - mean)).sum();
    sum / (draws.len() - apart) as f64 / (deviation * deviation)
}

/// Every distribution of mean zero, with the deviation 4 ms.
fn around() -> Vec<DelayDistribution> {
    let deviation = MS * 4;
    let values: Vec<f64> = (0..=200).map(|i| (f64::from(i) - 100.0) / 100.0).collect();
    vec![
        DelayDistribution::Uniform {
            spread: deviation.scaled(math::sqrt(3.0)),
        },
        DelayDistribution::Normal { deviation },
        DelayDistribution::Pareto { deviation },
        DelayDistribution::ParetoNormal { deviation },
        DelayDistribution::Table {
            values: values.into(),
            deviation: deviation.scaled(math::sqrt(3.0)),
        },
    ]
}

#[test]
fn distributions_have_the_deviation_that_is_asked_for() {
    for distribution in around() {
        for correlation in [0.0, 0.5] {
            let settings = JitterSettings {
                correlation: Ratio::new(correlation).unwrap(),
                ..JitterSettings::new(distribution.clone())
            };
            let (mean, deviation) = moments(&draws(&settings, 400_000));
            assert!(mean.abs() < 0.03, "{settings:?}: mean {mean}");
            // The tail of Pareto's makes its deviation slow to settle.
            assert!((deviation - 4.0).abs() < 0.12, "{settings:?}: {deviation}");
        }
    }
}

#[test]
fn the_shapes_are_those_of_their_names() {
    let at = |distribution: DelayDistribution| {
        let mut draws = draws(&JitterSettings::new(distribution), 200_000);
        draws.sort_unstable_by(f64::total_cmp);
        [0.001, 0.5, 0.8413, 0.999].map(|share| draws[(share * 200_000.0) as usize])
    };
    let near = |got: [f64; 4], expected: [f64; 4], by: f64| {
        let pairs = got.iter().zip(&expected);
        let off = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(off < by, "{got:?}, not {expected:?}");
    };
    let deviation = MS;
    near(
        at(DelayDistribution::Normal { deviation }),
        [-3.09, 0.0, 1.0, 3.09],
        0.1,
    );
    // (u^(-1/3) - 1.4997) / 0.8374 for the share u above.
    near(
        at(DelayDistribution::Pareto { deviation }),
        [-0.596, -0.286, 0.415, 10.15],
        0.6,
    );
    let delays: Arc<[Duration]> = [MS, MS * 2, MS * 10].into();
    near(
        at(DelayDistribution::Quantiles { delays }),
        [1.0, 2.0, 7.46, 10.0],
        0.1,
    );
}

#[test]
fn correlation_is_that_of_a_process_of_first_order() {
    for distribution in around() {
        let settings = JitterSettings {
            correlation: Ratio::new(0.7).unwrap(),
            ..JitterSettings::new(distribution.clone())
        };
        let drawn = draws(&settings, 400_000);
        let normal = matches!(distribution, DelayDistribution::Normal { .. });
        // Of a distribution that is not normal it is somewhat less: that of normal
        // numbers is kept, and its ranks.
        let by = if normal { 0.01 } else { 0.2 };
        for (apart, expected) in [(1, 0.7), (2, 0.49), (5, 0.168)] {
            let found = correlation(&drawn, apart);
            assert!(
                (expected - by..expected + 0.01).contains(&found),
                "{distribution:?}: {found} at {apart}, not {expected}"
            );
        }
    }
    let alone = draws(&JitterSettings::new(around()[0].clone()), 100_000);
    assert!(correlation(&alone, 1).abs() < 0.01);
}

#[test]
fn a_draw_holds_as_long_as_it_is_told() {
    let settings = JitterSettings {
        holds: MS * 20,
        correlation: Ratio::new(0.8).unwrap(),
        ..JitterSettings::new(DelayDistribution::Normal { deviation: MS })
    };
    let drawn = draws(&settings, 200_000);
    for frame in drawn.chunks(20) {
        assert!(frame.iter().all(|x| *x == frame[0]), "{frame:?}");
    }
    let frames: Vec<f64> = drawn.chunks(20).map(|frame| frame[0]).collect();
    assert!((correlation(&frames, 1) - 0.8).abs() < 0.02);
    // Frames in which nothing is sent pass all the same.
    let mut jitter = Jitter::new(Some(&settings), 1, "satellite");
    let every_third = |i: u64| Time::from_nanos(i * 60_000_000);
    let sparse: Vec<f64> = (0..30_000).map(|i| jitter.draw(every_third(i))).collect();
    assert!((correlation(&sparse, 1) - 0.512).abs() < 0.03);
}

fn link(jitter: Option<&JitterSettings>, precompute: bool, seed: u64) -> Link<u32> {
    let settings = LinkSettings::new(
        Rate::from_mbps(12),
        MS * 20,
        QueueSettings::drop_tail(Limit::Packets(50)),
    );
    Link::build(&LinkPlan {
        jitter,
        precompute,
        ..LinkPlan::new(&settings, seed, "satellite")
    })
}

/// When packets arrive that are offered at these times.
fn arrivals(link: &mut Link<u32>, offers: &[Time]) -> Vec<(u32, Time)> {
    let mut arrived = Vec::new();
    let mut take = |link: &mut Link<u32>, until: Time| {
        while let Some(at) = link.next_event().filter(|at| *at <= until) {
            if let Some(packet) = link.deliver_due(at) {
                arrived.push((packet, at));
            }
        }
    };
    for (number, at) in (0..).zip(offers) {
        take(link, *at);
        let verdict = link.offer(*at, number, PacketMeta::plain(1500));
        assert!(matches!(
            verdict,
            Verdict::Accepted | Verdict::Waits | Verdict::QueueDrop
        ));
    }
    take(link, Time::MAX);
    arrived
}

#[test]
fn a_link_without_jitter_is_as_it_was() {
    let steady = JitterSettings::new(DelayDistribution::Uniform {
        spread: Duration::ZERO,
    });
    let offers: Vec<Time> = (0..200).map(|i| Time::from_nanos(i * 700_000)).collect();
    let plain = arrivals(&mut link(None, true, 1), &offers);
    assert_eq!(plain, arrivals(&mut link(Some(&steady), true, 1), &offers));
    assert!(plain.len() < 200, "the queue is full at times");
}

#[test]
fn runs_repeat_and_seeds_differ() {
    let settings = JitterSettings::new(DelayDistribution::Pareto { deviation: MS * 3 });
    let offers: Vec<Time> = (0..100).map(|i| Time::from_nanos(i * 5_000_000)).collect();
    let of = |seed| arrivals(&mut link(Some(&settings), true, seed), &offers);
    assert_eq!(of(7), of(7));
    assert_ne!(of(7), of(8));
}

#[test]
fn a_delay_is_never_below_zero() {
    let settings = JitterSettings::new(DelayDistribution::Normal {
        deviation: MS * 100,
    });
    let offers: Vec<Time> = (0..100)
        .map(|i| Time::from_nanos(i * 900_000_000))
        .collect();
    let arrived = arrivals(&mut link(Some(&settings), true, 1), &offers);
    let sent = |packet: u32| offers[packet as usize] + MS;
    assert!(arrived.iter().all(|(packet, at)| *at >= sent(*packet)));
    assert!(arrived.iter().any(|(packet, at)| *at == sent(*packet)));
}

fn any_jitter() -> impl Strategy<Value = JitterSettings> {
    let ns = || (0u64..30_000_000).prop_map(Duration::from_nanos);
    let distribution = prop_oneof![
        ns().prop_map(|spread| DelayDistribution::Uniform { spread }),
        ns().prop_map(|deviation| DelayDistribution::Normal { deviation }),
        ns().prop_map(|deviation| DelayDistribution::Pareto { deviation }),
        ns().prop_map(|deviation| DelayDistribution::ParetoNormal { deviation }),
        (ns(), ns()).prop_map(|(a, b)| DelayDistribution::Quantiles {
            delays: [a, a + b].into()
        }),
    ];
    (
        distribution,
        0.0..1.0f64,
        prop_oneof![Just(0), 1u64..50_000_000],
    )
        .prop_map(|(distribution, correlation, holds)| JitterSettings {
            distribution,
            correlation: Ratio::new(correlation).unwrap(),
            holds: Duration::from_nanos(holds),
        })
}

proptest! {
    /// Packets arrive in their order, after their transmission, and whether the link decides
    /// at once or packet by packet.
    #[test]
    fn order_is_kept(
        jitter in any_jitter(),
        gaps in proptest::collection::vec(0u64..5_000_000, 1..80),
        seed in 0u64..100,
    ) {
        let mut now = 0;
        let offers: Vec<Time> = gaps.iter().map(|gap| {
            now += gap;
            Time::from_nanos(now)
        }).collect();
        let arrived = arrivals(&mut link(Some(&jitter), true, seed), &offers);
        prop_assert!(arrived.windows(2).all(|w| w[0].0 < w[1].0 && w[0].1 <= w[1].1));
        prop_assert!(arrived.iter().all(|(packet, at)| *at >= offers[*packet as usize] + MS));
        prop_assert_eq!(arrived, arrivals(&mut link(Some(&jitter), false, seed), &offers));
    }
}
