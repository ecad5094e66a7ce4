//! Values set from outside, the content hash, and that no input panics.

use bentpipe_link::{ChannelSettings, Limit, QueueSettings};
use bentpipe_scenario::{Document, Override, Scenario, template};
use bentpipe_units::{Bytes, Duration, Rate};
use proptest::prelude::*;

/// The template, with a congestion control that has a parameter.
fn document() -> Document {
    let text = template().replace(
        "base = \"cubic\"",
        "base = \"mtsi\"\nthresholds = [10, 20, 30]",
    );
    Document::parse("template.toml", &text).unwrap()
}

fn set(path: &str, value: impl Into<Override>) -> Scenario {
    let document = document()
        .with(path, &value.into())
        .unwrap_or_else(|e| panic!("{e}"));
    document
        .validate()
        .unwrap_or_else(|e| panic!("{}", e.render(false)))
}

#[test]
fn values_of_every_kind_can_be_set() {
    assert_eq!(set("duration", "5 s").duration, Duration::from_secs(5));
    assert_eq!(
        set("duration", Duration::from_millis(1500))
            .duration
            .as_nanos(),
        1_500_000_000
    );
    assert_eq!(set("seed", 7u64).seed, 7);
    assert_eq!(
        set("link.satellite.rate", Rate::from_mbps(9)).links[2]
            .settings
            .rate
            .bps(),
        9_000_000
    );
    let transport = |s: Scenario| s.flows[0].transport.clone().unwrap();
    assert_eq!(
        transport(set("flow.download.transport", "cubic")).name,
        "cubic"
    );
    let mine = transport(set("transport.tuned.thresholds", vec![5.0, 6.0, 7.0]));
    assert_eq!(
        mine.parameters.get("thresholds").unwrap().to_string(),
        "[5, 6, 7]"
    );
    let mine = transport(set("transport.tuned.send_buffer", Bytes::new(12_000)));
    assert_eq!(mine.send_buffer, Bytes::new(12_000));
    assert_eq!(
        transport(set("transport.tuned.delayed_ack.count", 1u32))
            .delayed_ack
            .count,
        1
    );
    assert!(transport(set("transport.tuned.ecn", true)).ecn);
}

#[test]
fn a_leaf_that_the_file_leaves_out_is_added() {
    assert_eq!(
        set("link.lan.framing", "18 B").links[0].settings.framing,
        Bytes::new(18)
    );
    assert_eq!(
        set("link.lan.reverse.rate", "1 Mbit/s").links[1]
            .settings
            .rate,
        Rate::from_mbps(1)
    );
    assert_eq!(set("limits.packets", 12u32).limits.packets, 12);
    assert_eq!(set("node.client.count", 3u32).flows.len(), 3);
    assert_eq!(set("flow.download.count", 3.0).flows.len(), 3);
}

#[test]
fn a_key_of_a_short_form_can_be_set() {
    let satellite = set("link.satellite.queue.limit", "9 packets").links[2]
        .settings
        .clone();
    assert_eq!(satellite.queue, QueueSettings::drop_tail(Limit::Packets(9)));
    let document = document()
        .with("link.satellite.channel", &"perfect".into())
        .unwrap();
    let document = document
        .with("link.satellite.channel.kind", &"uniform".into())
        .unwrap();
    let path = "link.satellite.channel.packet_error_rate";
    let scenario = document
        .with(path, &0.25.into())
        .unwrap()
        .validate()
        .unwrap();
    assert!(matches!(
        scenario.links[2].settings.channel,
        ChannelSettings::Uniform { .. }
    ));
}

#[test]
fn one_delay_takes_the_place_of_the_other() {
    let scenario = set("link.satellite.round_trip_delay", "100 ms");
    assert_eq!(
        scenario.links[2].settings.one_way_delay,
        Duration::from_millis(50)
    );
}

#[test]
fn a_named_transport_can_be_refined_without_a_table() {
    let path = "transport.\"westwood+\".initial_window";
    let document = document()
        .with("flow.download.transport", &"westwood+".into())
        .unwrap();
    let scenario = document
        .with(path, &3.0.into())
        .unwrap()
        .validate()
        .unwrap();
    assert_eq!(
        scenario.flows[0]
            .transport
            .as_deref()
            .unwrap()
            .initial_window,
        3.0
    );
}

#[test]
fn the_document_itself_does_not_change() {
    let document = document();
    let before = document.validate().unwrap();
    let _ = document
        .with("link.satellite.rate", &"9 Mbit/s".into())
        .unwrap();
    assert_eq!(document.validate().unwrap(), before);
}

#[test]
fn an_axis_of_a_list_of_tables() {
    let value = Override::parse(
        "{ kind = \"gilbert-elliott\", packet_error_rate = \"1%\", mean_burst = 3 }",
    );
    let channel = set("link.satellite.channel", value).links[2]
        .settings
        .channel;
    assert!(matches!(
        channel,
        ChannelSettings::GilbertElliott {
            mean_burst: 3.0,
            ..
        }
    ));
}

#[test]
fn documents_can_be_shared_between_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<Document>();
    shared::<Override>();
    shared::<bentpipe_scenario::Diagnostics>();
}

#[test]
fn the_hash_is_pinned() {
    let scenario = document().validate().unwrap();
    insta::assert_snapshot!("canonical_text", scenario.canonical_text());
    insta::assert_snapshot!("hash", scenario.hash().to_string());
}

#[test]
fn the_hash_covers_what_changes_a_run_and_nothing_else() {
    let hash = document().validate().unwrap().hash();
    for (path, value) in [
        ("name", Override::from("another")),
        ("description", "other words".into()),
        ("seed", 99u64.into()),
        ("duration", "300000 ms".into()),
    ] {
        assert_eq!(set(path, value).hash(), hash, "{path}");
    }
    for (path, value) in [
        ("duration", Override::from("299 s")),
        ("link.satellite.rate", "2.000001 Mbit/s".into()),
        ("link.satellite.one_way_delay", "255.500001 ms".into()),
        ("link.satellite.channel.packet_error_rate", 0.0010001.into()),
        ("link.satellite.queue", "150 kB".into()),
        ("link.satellite.framing", "1 B".into()),
        ("transport.tuned.thresholds", vec![10.0, 20.0, 31.0].into()),
        ("transport.tuned.timestamps", false.into()),
        ("transport.tuned.profile", "linux-2.4".into()),
        ("transport.tuned.pacing", "window".into()),
        ("flow.download.start", "1 ns".into()),
        ("flow.download.stop", "100 s".into()),
        ("flow.download.handshake", "skipped".into()),
        ("flow.download.application", "persistent".into()),
        ("limits.events", 5u32.into()),
    ] {
        assert_ne!(set(path, value).hash(), hash, "{path}");
    }
}

/// Pieces of scenarios, good and bad, to be put together at random.
fn toml_ish() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("[node.a]\n".to_string()),
        Just("[node.b]\ncount = 3\n".to_string()),
        Just(
            "[link.l]\nbetween = [\"a\", \"b\"]\nrate = \"1 Mbit/s\"\none_way_delay = \"1 ms\"\n"
                .to_string()
        ),
        Just("[link.l.reverse]\nqueue = \"2 BDP\"\n".to_string()),
        Just("[transport.t]\nbase = \"mtsi\"\n".to_string()),
        Just("[transport.\"mtsi\"]\nslopes = [1]\n".to_string()),
        Just(
            "[flow.f]\nfrom = \"a\"\nto = \"b\"\ntransport = \"t\"\napplication = \"persistent\"\n"
                .to_string()
        ),
        Just("[[flow]]\nx = 1\n".to_string()),
        Just("count = 0\n".to_string()),
        Just("duration = \"1 s\"\n".to_string()),
        Just("channel = { kind = \"uniform\", packet_error_rate = 2 }\n".to_string()),
        Just("delayed_ack = { count = -1 }\npacing = 3\n".to_string()),
        Just("start = inf\nstop = nan\nspacing = 1979-05-27\n".to_string()),
        "[a-z]{1,6}(\\.[a-z]{1,3}){0,3} = [\\[\\]{}\"'0-9a-z ,.=-]{0,20}\n",
        "\\PC{0,20}\n",
        "[\\x00-\\x7f]{0,12}",
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

/// Everything that a user can do with a text.
fn exercise(text: &str) {
    match Document::parse("any.toml", text) {
        Ok(document) => match document.validate() {
            Ok(scenario) => drop(scenario.hash()),
            Err(errors) => drop((errors.render(true), errors.to_string())),
        },
        Err(errors) => drop((errors.render(false), errors.to_string())),
    }
}

proptest! {
    #[test]
    fn no_text_panics(text in toml_ish()) {
        exercise(&text);
    }

    #[test]
    fn no_damaged_scenario_panics(at in 0usize..2000, length in 0usize..60, with in "\\PC{0,8}") {
        let mut text: Vec<char> = template().chars().collect();
        let at = at.min(text.len());
        let end = (at + length).min(text.len());
        text.splice(at..end, with.chars());
        exercise(&text.into_iter().collect::<String>());
    }

    #[test]
    fn no_override_panics(
        path in prop_oneof![
            "[a-z\"'.\\[\\]+ ]{0,24}",
            Just("link.satellite.rate".to_string()),
            Just("link.satellite.queue".to_string()),
            Just("link.satellite.channel".to_string()),
            Just("node.client".to_string()),
            Just("flow.download.application".to_string()),
            Just("transport.tuned.base".to_string()),
            Just("transport.cubic.x".to_string()),
            Just("seed".to_string()),
        ],
        value in prop_oneof!["\\PC{0,16}", "[0-9a-z .\\[\\]{}=,\"-]{0,20}"],
    ) {
        let value = Override::parse(&value);
        match document().with(&path, &value).and_then(|d| d.validate()) {
            Ok(scenario) => drop(scenario.hash()),
            Err(errors) => {
                for error in &errors.errors {
                    prop_assert!(error.line().is_none() || error.setting().is_none());
                }
                drop((errors.render(true), errors.to_string()));
            }
        }
    }
}
