//! What is written is read as the same scenario.

use super::text;
use crate::{Document, Scenario};
use bentpipe_link::{
    ChannelSettings, CoDelSettings, InFlightPolicy, Limit, LinkSettings, Loss, Piece,
    QueueSettings, Timeline, WhenDown,
};
use bentpipe_tcp::{Pacing, find_transport};
use bentpipe_traffic::{Application, Period, VideoSettings, WebSettings};
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

/// The examples that come with the program: what can be written and what cannot, by the
/// reason.
#[test]
fn examples_are_written_or_refused_by_name() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let (mut written, mut refused) = (Vec::new(), Vec::new());
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let mut document =
            Document::parse(&name, &std::fs::read_to_string(&path).unwrap()).unwrap();
        for file in document.wanted_files() {
            let text = std::fs::read_to_string(folder.join(&file)).unwrap();
            document.give_file(&file, &text);
        }
        let scenario = document.validate().unwrap();
        match scenario.to_toml() {
            Ok(text) => {
                let read = Document::parse("again.toml", &text).unwrap();
                assert_eq!(read.validate().unwrap(), scenario, "{name}");
                written.push(name);
            }
            Err(error) => refused.push((name, error.to_string())),
        }
    }
    for name in [
        "geo",
        "geo-ka-asymmetric",
        "onboard-switch",
        "pep-integrated",
        "petra",
    ] {
        assert!(
            written.iter().any(|known| known == name),
            "{name}: {refused:#?}"
        );
    }
    assert!(written.len() >= 10, "{written:?}\n{refused:#?}");
    // A reason says what it is.
    assert!(
        refused.iter().all(|(_, why)| why.len() > 50),
        "{refused:#?}"
    );
}

#[test]
fn names_that_no_file_has_are_changed() {
    let mut scenario = two_nodes(Application::Persistent, link(1, 1), None);
    let transport = scenario.flows[0].transport.as_mut().unwrap();
    transport.name = "cubic + IW 32".to_owned();
    transport.initial_window = 32.0;
    transport.send_buffer = Bytes::MAX;
    let read = again(&scenario);
    let found = read.flows[0].transport.as_ref().unwrap();
    assert_eq!(
        (found.name.as_str(), found.initial_window),
        ("cubic-iw-32", 32.0)
    );
    // One that differs from its namesake in the catalogue is no refinement of that.
    let transport = scenario.flows[0].transport.as_mut().unwrap();
    transport.name = "cubic".to_owned();
    let read = again(&scenario);
    assert_eq!(read.flows[0].transport.as_ref().unwrap().name, "cubic-here");
}

#[test]
fn what_no_file_can_say_is_refused() {
    let mut scenario = two_nodes(Application::Persistent, link(1, 1), None);
    scenario.nodes[0].name = "users[3]".to_owned();
    let why = scenario.to_toml().unwrap_err().to_string();
    assert!(why.contains("node `users[3]`"), "{why}");
}

fn link(mbps: u64, ms: u64) -> LinkSettings {
    LinkSettings {
        rate: Rate::from_mbps(mbps),
        one_way_delay: Duration::from_millis(ms),
        queue: QueueSettings::drop_tail(Limit::Packets(100)),
        channel: ChannelSettings::Perfect,
        framing: Bytes::ZERO,
    }
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
    let is_datagrams = matches!(application, Application::ConstantRate { .. });
    let flow = builder.flow("flow", a, b, application);
    if !is_datagrams {
        flow.transport(find_transport("hybla").map(|named| named.transport()));
    }
    builder.build().unwrap()
}

prop_compose! {
    fn any_link()(
        bps in 1_000_u64..10_000_000_000,
        ns in 0_u64..2_000_000_000,
        limit in prop_oneof![
            (1_u32..1_000_000).prop_map(Limit::Packets),
            (1_500_u64..1 << 40).prop_map(|n| Limit::Bytes(Bytes::new(n))),
        ],
        codel in any::<bool>(),
        share in 0.0_f64..0.3,
        burst in 1.0_f64..50.0,
        kind in 0..5,
        framing in 0_u64..50,
    ) -> LinkSettings {
        let share = Ratio::new(share).unwrap();
        LinkSettings {
            rate: Rate::from_bps(bps),
            one_way_delay: Duration::from_nanos(ns),
            queue: match codel {
                true => QueueSettings::CoDel(CoDelSettings::new(limit)),
                false => QueueSettings::drop_tail(limit),
            },
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
        (1_000_u64..100_000_000, 20_u64..1500).prop_map(|(bps, size)| Application::ConstantRate {
            rate: Rate::from_bps(bps),
            packet_size: Bytes::new(size),
        }),
        (ns(), ns(), 1.1_f64..3.0).prop_map(|(on, mean, shape)| Application::OnOff {
            on: Period::Constant(on),
            off: Period::Pareto { mean, shape },
            rate: Rate::from_mbps(1),
            packet_size: Bytes::new(1000),
        }),
        (bytes(), ns(), proptest::option::of(1_u32..100)).prop_map(|(mean, reading, count)| {
            Application::Web(WebSettings {
                mean,
                reading,
                count,
                largest: Bytes::new(mean.get() * 10),
                ..WebSettings::default()
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
            })
        }),
    ]
}

fn any_timeline() -> impl Strategy<Value = Timeline> {
    let piece = (
        1_u64..5_000_000_000,
        0_u64..100_000_000,
        1_u64..1 << 36,
        any::<bool>(),
        0_u32..9,
    );
    let pieces = proptest::collection::vec(piece, 1..12);
    (pieces, any::<bool>()).prop_map(|(pieces, waits)| {
        let mut from = Time::ZERO;
        let pieces = pieces.into_iter().map(|(lasts, delay, bps, up, route)| {
            let piece = Piece {
                from,
                rate: Rate::from_bps(bps),
                one_way_delay: Duration::from_nanos(delay),
                sloped: up,
                loss: Loss::Packets(Ratio::new(0.25).unwrap()),
                up,
                route,
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
    ) {
        let scenario = two_nodes(application, link, line);
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
        scenario.flows[0].transport = Some(transport);
        match scenario.to_toml() {
            Ok(_) => prop_assert_eq!(again(&scenario), scenario),
            // Some need routers that this link has not, and the bound no transport.
            Err(error) => prop_assert!(error.to_string().contains("cannot be written")),
        }
    }

    #[test]
    fn quantities_are_written_exactly(n in 1_u64..1 << 48) {
        prop_assert_eq!(text::time(Duration::from_nanos(n)).parse(), Ok(Duration::from_nanos(n)));
        prop_assert_eq!(text::rate(Rate::from_bps(n)).parse(), Ok(Rate::from_bps(n)));
        prop_assert_eq!(text::size(Bytes::new(n)).parse(), Ok(Bytes::new(n)));
    }
}
