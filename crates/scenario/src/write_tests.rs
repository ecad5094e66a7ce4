//! A written scenario is read as the same scenario.

use crate::{Document, Kept, Offload, Scenario};
use bentpipe_document::{Form, Value};
use bentpipe_link::{
    AckFilterSettings, BecnSettings, ChannelSettings, CoDelSettings, DelayDistribution,
    FqCoDelSettings, FuzzySettings, InFlightPolicy, JitterSettings, Limit, LinkSettings, Loss,
    PieSettings, Piece, PriorityDropSettings, QueueSettings, RedPreset, RedSettings, Timeline,
    WhenDown, XcpSettings,
};
use bentpipe_middlebox::split::KnownRate;
use bentpipe_tcp::{Pacing, TransportSettings, find_transport};
use bentpipe_traffic::{Application, Objects, Period, RateControl, VideoSettings, WebSettings};
use bentpipe_units::{Bytes, Duration, Rate, Ratio, Time};
use proptest::prelude::*;
use std::path::Path;
use std::sync::Arc;

/// Reads what was written.
fn again(scenario: &Scenario) -> Scenario {
    let text = scenario.to_toml().unwrap();
    Document::parse("again.toml", &text)
        .unwrap()
        .validate()
        .unwrap()
}

/// Gives a document the files that it names, which are in `folder`.
fn with_files(mut document: Document, folder: &Path) -> Document {
    for file in document.wanted_files() {
        let text = std::fs::read_to_string(folder.join(&file)).unwrap();
        document.give_file(&file, text);
    }
    document
}

/// Scenarios of these folders, and whether they are written without their document.
fn examples(folder: &str) -> Vec<(String, bool)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut found = Vec::new();
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
            continue;
        };
        if !name.ends_with(".toml") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let document = with_files(Document::parse(name, &text).unwrap(), &folder);
        // Studies and configurations lie beside them.
        let Ok(mut scenario) = document.validate() else {
            assert!(!text.contains("[flow."), "{name}");
            continue;
        };
        let text = scenario.to_toml().unwrap_or_else(|e| panic!("{name}: {e}"));
        let read = with_files(Document::parse("again.toml", &text).unwrap(), &folder);
        let read = read.validate().unwrap();
        assert_eq!(read, scenario, "{name}");
        assert_eq!(read.hash(), scenario.hash(), "{name}");
        scenario.kept = Kept::default();
        found.push((name.to_owned(), scenario.to_toml().is_ok()));
    }
    found
}

#[test]
fn every_example_is_written() {
    let found = examples("../../scenarios");
    assert!(found.len() >= 26, "{found:?}");
    let of_model = found.iter().filter(|(_, of_model)| *of_model);
    assert!(of_model.count() >= 11, "{found:?}");
}

/// A scenario that was changed after it was read is not written as it was read.
#[test]
fn a_kept_document_is_no_older_than_the_scenario() {
    let text = crate::template().replace("[node.client]", "[node.client]\ncount = 3");
    let document = Document::parse("mine.toml", &text).unwrap();
    let mut scenario = document.validate().unwrap();
    assert!(scenario.to_toml().unwrap().contains("count = 3"));
    scenario.flows[0].start = Time::ZERO + Duration::from_secs(1);
    assert!(scenario.to_toml().is_err());
}

#[test]
fn what_the_boxes_of_a_gateway_know_survives_the_file() {
    let file = format!(
        "{}/../../scenarios/pep-gateway.toml",
        env!("CARGO_MANIFEST_DIR")
    );
    let text = std::fs::read_to_string(file).unwrap();
    let text = text
        .replace("count = 4\nspacing = \"100 ms\"\n", "")
        .replacen("tunnel =", "rate = \"verified\"\ntunnel =", 1)
        .replacen(
            "[flow.browsing]",
            "[flow.browsing]\nsubscriber = \"guest\"",
            1,
        );
    let mut scenario = Document::parse("mine.toml", &text)
        .unwrap()
        .validate()
        .unwrap();
    assert_eq!(scenario.peps[0].settings.rate, KnownRate::Verified);
    assert_eq!(scenario.peps[1].settings.rate, KnownRate::Reported);
    assert_eq!(scenario.subscribers(), [0, 1]);
    scenario.kept = Kept::default();
    assert_eq!(again(&scenario).peps, scenario.peps);
    assert_eq!(again(&scenario).subscribers(), scenario.subscribers());
}

#[test]
fn offload_survives_the_file() {
    let mut scenario = two_nodes(Application::Persistent, link(2, 250), None);
    for link in &mut scenario.links {
        link.offload = Offload::Whole;
    }
    let linux = TransportSettings {
        profile: Some(bentpipe_tcp::HostProfile::Linux),
        offload: Some(false),
        buffers: Some(bentpipe_tcp::Buffers::STOCK),
        ..TransportSettings::default()
    };
    let below = find_transport("cubic").unwrap().settings();
    let transport = linux.over(below).resolve("mine");
    scenario.flows[0].transport = Some(transport.into());
    assert_eq!(again(&scenario).links, scenario.links);
    assert_eq!(
        again(&scenario).flows[0].transport,
        scenario.flows[0].transport
    );
}

#[test]
fn tls_survives_the_file() {
    for (_, resumption) in bentpipe_tcp::Resumption::ALL {
        let mut scenario = two_nodes(Application::Persistent, link(2, 250), None);
        let secure = TransportSettings {
            tls: Some(true),
            resumption: Some(resumption),
            ..TransportSettings::default()
        };
        let below = find_transport("cubic").unwrap().settings();
        let transport = secure.over(below).resolve("mine");
        assert_eq!(transport.tls, Some(resumption));
        scenario.flows[0].transport = Some(transport.into());
        assert_eq!(
            again(&scenario).flows[0].transport,
            scenario.flows[0].transport
        );
    }
}

#[test]
fn names_that_no_file_has_are_changed() {
    let mut scenario = two_nodes(Application::Persistent, link(1, 1), None);
    let transport = Arc::make_mut(scenario.flows[0].transport.as_mut().unwrap());
    transport.name = "cubic + IW 32".to_owned();
    transport.initial_window = 32.0;
    transport.send_buffer = Bytes::MAX;
    let read = again(&scenario);
    let found = read.flows[0].transport.as_deref().unwrap();
    assert_eq!(
        (found.name.as_str(), found.initial_window),
        ("cubic-iw-32", 32.0)
    );
    // One that differs from its namesake in the catalogue is no refinement of that.
    let transport = Arc::make_mut(scenario.flows[0].transport.as_mut().unwrap());
    transport.name = "cubic".to_owned();
    let read = again(&scenario);
    assert_eq!(
        read.flows[0].transport.as_deref().unwrap().name,
        "cubic-here"
    );
}

#[test]
fn what_no_file_can_say_is_refused() {
    let mut scenario = two_nodes(Application::Persistent, link(1, 1), None);
    scenario.nodes[0].name = "users[3]".to_owned();
    let why = scenario.to_toml().unwrap_err().to_string();
    assert!(why.contains("node `users[3]`"), "{why}");
}

fn link(mbps: u64, ms: u64) -> LinkSettings {
    LinkSettings::new(
        Rate::from_mbps(mbps),
        Duration::from_millis(ms),
        QueueSettings::drop_tail(Limit::Packets(100)),
    )
}

/// One flow over one link.
fn two_nodes(application: Application, link: LinkSettings, line: Option<Timeline>) -> Scenario {
    let mut builder = Scenario::builder("two nodes: \"quoted\"");
    builder.duration(Duration::from_secs(100));
    let (a, b) = (builder.node("a"), builder.node("b"));
    match line {
        Some(line) => {
            let line = Arc::new(line);
            builder.link_with_timeline("satellite", a, b, link, [line.clone(), line]);
        }
        None => {
            builder.link("satellite", a, b, link);
        }
    }
    let is_datagrams = !application.takes_transport() || application.sends_datagrams();
    let flow = builder.flow("flow", a, b, application);
    if !is_datagrams {
        flow.transport(find_transport("hybla").map(|named| named.transport()));
    }
    builder.build().unwrap()
}

/// A queue of each discipline, with values that are no defaults.
fn queue(discipline: i32, limit: Limit, share: Ratio, burst: f64) -> QueueSettings {
    let time = Duration::from_nanos((burst * 1e7) as u64);
    let codel = CoDelSettings {
        interval: time,
        ecn: true,
        ..CoDelSettings::new(limit)
    };
    let red = |preset| RedSettings {
        max_p: share,
        minimum: Some(burst),
        maximum: Some(burst * 3.5),
        wait: false,
        ..RedSettings::preset(preset, limit)
    };
    let mut rules = FuzzySettings::RULES;
    rules[1][2] = 0.07;
    let fuzzy = FuzzySettings {
        limit,
        period: time,
        swing: 0.07,
        rules,
    };
    match discipline {
        0 => QueueSettings::CoDel(codel),
        1 => QueueSettings::FqCoDel(FqCoDelSettings {
            codel,
            flows: 77,
            quantum: Bytes::new(300),
        }),
        2 => QueueSettings::Red(red(RedPreset::Ns2001)),
        3 => QueueSettings::Red(red(RedPreset::Ns235)),
        4 => QueueSettings::Red(red(RedPreset::Ns235).adaptive(RedPreset::Ns235)),
        5 => QueueSettings::Red(red(RedPreset::Ns2002).adaptive(RedPreset::Ns2002)),
        6 => QueueSettings::PriorityDrop(PriorityDropSettings {
            limit,
            low_limit: Some(Limit::Packets(1)),
        }),
        7 => QueueSettings::Xcp(XcpSettings {
            p_xcp: true,
            longest_rtt: time,
            ..XcpSettings::new(limit)
        }),
        8 => QueueSettings::AckFilter(AckFilterSettings { limit }),
        9 => QueueSettings::Fuzzy(fuzzy),
        10 => QueueSettings::Becn(BecnSettings {
            fuzzy,
            severe: share.get(),
            quiet: time,
        }),
        11 => QueueSettings::Pie(PieSettings {
            target: time,
            burst: time * 3,
            alpha: share.get() + 0.01,
            ecn: true,
            ..PieSettings::new(limit)
        }),
        _ => QueueSettings::drop_tail(limit),
    }
}

prop_compose! {
    fn any_link()(
        bps in 1_000_u64..10_000_000_000,
        ns in 0_u64..2_000_000_000,
        limit in prop_oneof![
            (1_u32..1_000_000).prop_map(Limit::Packets),
            (1_500_u64..1 << 40).prop_map(|n| Limit::Bytes(Bytes::new(n))),
        ],
        discipline in 0..13,
        share in 0.0_f64..0.3,
        burst in 1.0_f64..50.0,
        kind in 0..5,
        framing in 0_u64..50,
        preamble in prop_oneof![Just(0), 0_u64..1 << 40],
    ) -> LinkSettings {
        let share = Ratio::new(share).unwrap();
        LinkSettings {
            rate: Rate::from_bps(bps),
            one_way_delay: Duration::from_nanos(ns),
            queue: queue(discipline, limit, share, burst),
            channel: match kind {
                0 => ChannelSettings::Perfect,
                1 => ChannelSettings::Uniform { packet_error_rate: share },
                2 => ChannelSettings::BitErrors { bit_error_rate: share },
                3 => ChannelSettings::GilbertElliott { packet_error_rate: share, mean_burst: burst },
                _ => ChannelSettings::Bursts {
                    packet_error_rate: share,
                    mean_burst: Duration::from_nanos((burst * 1e8) as u64),
                },
            },
            framing: Bytes::new(framing),
            // A router has none.
            preamble: match discipline {
                7 => Duration::ZERO,
                _ => Duration::from_nanos(preamble),
            },
        }
    }
}

fn any_application() -> impl Strategy<Value = Application> {
    let ns = || (1_000_000_u64..100_000_000_000).prop_map(Duration::from_nanos);
    let bytes = || (1_u64..10_000_000_000).prop_map(Bytes::new);
    prop_oneof![
        bytes().prop_map(|size| Application::Transfer { size }),
        Just(Application::Persistent),
        (bytes(), bytes(), 1_u32..1000, ns()).prop_map(|(request, response, count, think_time)| {
            Application::RequestResponse {
                request,
                response,
                count,
                think_time,
            }
        }),
        (
            1_000_u64..100_000_000,
            20_u64..1500,
            proptest::option::of(any_control())
        )
            .prop_map(|(bps, size, control)| Application::ConstantRate {
                rate: Rate::from_bps(bps),
                packet_size: Bytes::new(size),
                control,
                deadline: (bps % 2 == 0).then(|| Duration::from_nanos(bps)),
            }),
        (ns(), ns(), 1.1_f64..3.0).prop_map(|(on, mean, shape)| Application::OnOff {
            on: Period::Constant(on),
            off: Period::Pareto { mean, shape },
            rate: Rate::from_mbps(1),
            packet_size: Bytes::new(1000),
        }),
        (
            bytes(),
            ns(),
            proptest::option::of(1_u32..100),
            proptest::option::of(2_u32..100)
        )
            .prop_map(|(mean, reading, count, objects)| {
                Application::Web(WebSettings {
                    mean,
                    reading,
                    count,
                    largest: Bytes::new(mean.get() * 10),
                    objects: objects.map(|count| Objects {
                        count,
                        priorities: count % 2 == 0,
                        ..Objects::default()
                    }),
                    ..WebSettings::default()
                })
            }),
        (any_control(), 1_000_u64..10_000_000, 1_u64..100).prop_map(|(control, bps, seconds)| {
            Application::Video(VideoSettings {
                segment: Duration::from_secs(seconds),
                bitrate: Rate::from_bps(bps),
                startup: Duration::from_secs(1),
                buffer: Duration::from_secs(30),
                length: Duration::from_secs(20 * seconds),
                request: Bytes::new(300),
                control: Some(control),
            })
        }),
        (ns(), 1_000_u64..10_000_000).prop_map(|(segment, bps)| {
            Application::Video(VideoSettings {
                segment,
                bitrate: Rate::from_bps(bps),
                startup: segment,
                buffer: segment * 8,
                length: segment * 20,
                request: Bytes::new(300),
                control: None,
            })
        }),
    ]
}

fn any_control() -> impl Strategy<Value = RateControl> {
    let rcs = (1_u32..10_000, 1_u32..100)
        .prop_map(|(dummies, give_up)| RateControl::Rcs { dummies, give_up });
    prop_oneof![rcs, Just(RateControl::Aimd)]
}

fn any_jitter() -> impl Strategy<Value = JitterSettings> {
    let ns = || (0_u64..1 << 36).prop_map(Duration::from_nanos);
    let distribution = prop_oneof![
        ns().prop_map(|spread| DelayDistribution::Uniform { spread }),
        ns().prop_map(|deviation| DelayDistribution::Normal { deviation }),
        ns().prop_map(|deviation| DelayDistribution::Pareto { deviation }),
        ns().prop_map(|deviation| DelayDistribution::ParetoNormal { deviation }),
        (ns(), -1e3_f64..0.0, 0.0..1e3_f64).prop_map(|(deviation, low, high)| {
            DelayDistribution::Table {
                values: [low, 0.0, high].into(),
                deviation,
            }
        }),
        (ns(), ns()).prop_map(|(low, more)| DelayDistribution::Quantiles {
            delays: [low, low + more].into(),
        }),
    ];
    (
        distribution,
        0.0..1.0_f64,
        proptest::option::of(1_u64..1 << 36),
    )
        .prop_map(|(distribution, correlation, holds)| JitterSettings {
            distribution,
            correlation: Ratio::new(correlation).unwrap(),
            holds: Duration::from_nanos(holds.unwrap_or(0)),
        })
}

fn any_timeline() -> impl Strategy<Value = Timeline> {
    let piece = (
        1_u64..5_000_000_000,
        0_u64..100_000_000,
        1_u64..1 << 36,
        any::<bool>(),
        0_u32..9,
        0_u64..1 << 30,
    );
    let pieces = proptest::collection::vec(piece, 1..12);
    (pieces, any::<bool>()).prop_map(|(pieces, waits)| {
        let mut from = Time::ZERO;
        let pieces = pieces
            .into_iter()
            .map(|(lasts, delay, bps, up, route, jitter)| {
                let piece = Piece {
                    from,
                    rate: Rate::from_bps(bps),
                    one_way_delay: Duration::from_nanos(delay),
                    sloped: up,
                    loss: Loss::Packets(Ratio::new(0.25).unwrap()),
                    up,
                    route,
                    jitter: Some(Duration::from_nanos(jitter)),
                };
                from += Duration::from_nanos(lasts);
                piece
            });
        let line = Timeline::new(pieces.collect()).unwrap();
        let line = line.when_down(if waits {
            WhenDown::Waits
        } else {
            WhenDown::Lost
        });
        line.in_flight(InFlightPolicy::Lost)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn a_scenario_survives_the_file(
        application in any_application(),
        link in any_link(),
        line in proptest::option::of(any_timeline()),
        jitter in [0, 1].map(|_| proptest::option::of(any_jitter())),
    ) {
        let mut scenario = two_nodes(application, link, line);
        let links = scenario.links.iter_mut();
        links.zip(jitter).for_each(|(link, jitter)| link.jitter = jitter.map(Box::new));
        prop_assert_eq!(again(&scenario), scenario);
    }

    #[test]
    fn a_transport_survives_the_file(
        name in proptest::sample::select(
            bentpipe_tcp::transports().map(|named| named.name).collect::<Vec<_>>()
        ),
        window in 1.0_f64..1000.0,
        burst in 1_u32..100,
        ecn in any::<bool>(),
        rto in proptest::option::of(1_u64..1 << 40),
    ) {
        let mut transport = find_transport(name).unwrap().transport();
        transport.initial_window = window;
        transport.pacing = Pacing::Window { gain: window / 500.0 + 0.01, initial_burst: burst };
        transport.ecn = ecn;
        if let Some(ns) = rto {
            transport.minimum_rto = Some(Duration::from_nanos(ns));
        }
        transport.name = "mine".to_owned();
        let mut scenario = two_nodes(Application::Persistent, link(2, 250), None);
        scenario.flows[0].transport = Some(transport.into());
        match scenario.to_toml() {
            Ok(_) => prop_assert_eq!(again(&scenario), scenario),
            // Some need routers that this link has not, and the bound no transport.
            Err(error) => prop_assert!(error.to_string().contains("cannot be written")),
        }
    }

    #[test]
    fn quantities_are_written_exactly(n in 1_u64..1 << 48) {
        fn read<T: Form<T> + std::str::FromStr>(value: &T) -> Option<T> {
            match T::written(value) {
                Value::Text(text) => text.parse().ok(),
                _ => None,
            }
        }
        prop_assert_eq!(read(&Duration::from_nanos(n)), Some(Duration::from_nanos(n)));
        prop_assert_eq!(read(&Rate::from_bps(n)), Some(Rate::from_bps(n)));
        prop_assert_eq!(read(&Bytes::new(n)), Some(Bytes::new(n)));
    }
}
