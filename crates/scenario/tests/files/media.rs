//! Media in scenarios: their meaning, and the messages about mistakes.

use bentpipe_link::medium::{AccessSettings, Requests, Scheduler};
use bentpipe_link::{Limit, LinkSettings, QueueSettings};
use bentpipe_scenario::{BuildError, Document, LinkId, MediumId, Scenario};
use bentpipe_traffic::Application;
use bentpipe_units::{Bytes, Duration, Rate};

const GOOD: &str = r#"duration = "60 s"

[node.hub]
[node.vsat]
count = 3

[medium.uplink]
kind = "cf-dama"
rate = "2 Mbit/s"
one_way_delay = "250 ms"
frame = "24 ms"
slots = 20
minislot = "8 B"

[link.up]
between = ["vsat", "hub"]
medium = "uplink"
queue = "50 packets"

[link.up.reverse]
rate = "6 Mbit/s"

[flow.upload]
from = "vsat"
to = "hub"
transport = "sack"
application = "persistent"
"#;

fn with(from: &str, to: &str) -> String {
    assert!(GOOD.contains(from), "{from:?} is not in the scenario");
    GOOD.replacen(from, to, 1)
}

fn read(text: &str) -> Scenario {
    let document = Document::parse("vsat.toml", text).unwrap_or_else(|e| panic!("{e}"));
    document
        .validate()
        .unwrap_or_else(|e| panic!("{}", e.render(false)))
}

#[test]
fn a_counted_link_is_as_many_terminals() {
    let scenario = read(GOOD);
    assert_eq!(scenario.media.len(), 1);
    assert_eq!(scenario.media[0].name, "uplink");
    let terminals: Vec<LinkId> = scenario.terminals(MediumId(0)).collect();
    assert_eq!(terminals, [LinkId(0), LinkId(2), LinkId(4)]);
    for link in &scenario.links {
        let up = link.medium.is_some();
        assert_eq!(up, !link.name.ends_with("reverse"));
        let rate = if up { 2 } else { 6 };
        assert_eq!(link.settings.rate, Rate::from_mbps(rate));
        // The way back takes the delay of the way forth, as with any link.
        assert_eq!(link.settings.one_way_delay, Duration::from_millis(250));
    }
    let AccessSettings::CfDama {
        frame,
        scheduler,
        requests,
    } = &scenario.media[0].settings.access
    else {
        panic!("{:?}", scenario.media[0]);
    };
    assert_eq!((frame.slots, frame.minislot), (20, Bytes::new(8)));
    assert_eq!(
        (*scheduler, *requests),
        (Scheduler::Ground, Requests::Preassigned)
    );
}

#[test]
fn a_code_of_a_terminal_takes_its_share_of_the_medium() {
    let code = "{ kind = \"given\", code_rate = 0.5, bit_error_rate = 1e-7 }";
    let text = with(
        "medium = \"uplink\"\n",
        &format!("medium = \"uplink\"\ncoding = {code}\n"),
    );
    let scenario = read(&text);
    assert_eq!(scenario.media[0].settings.rate, Rate::from_mbps(2));
    assert_eq!(scenario.links[0].settings.rate, Rate::from_mbps(1));
}

#[test]
fn the_way_back_may_share_a_medium() {
    let text = with(
        "medium = \"uplink\"\n",
        "rate = \"6 Mbit/s\"\none_way_delay = \"250 ms\"\n",
    );
    let text = text.replace(
        "[link.up.reverse]\nrate = \"6 Mbit/s\"",
        "[link.up.reverse]\nmedium = \"uplink\"",
    );
    let scenario = read(&text);
    assert_eq!(scenario.terminals(MediumId(0)).next(), Some(LinkId(1)));
    assert_eq!(scenario.links[1].settings.rate, Rate::from_mbps(2));
}

#[test]
fn every_value_counts_in_the_hash() {
    let hash = |text: &str| read(text).hash();
    let good = hash(GOOD);
    for (from, to) in [
        ("slots = 20", "slots = 21"),
        ("minislot = \"8 B\"", "minislot = \"9 B\""),
        ("minislot = \"8 B\"", "scheduler = \"on-board\""),
        ("minislot = \"8 B\"", "requests = \"random\""),
        ("frame = \"24 ms\"", "frame = \"25 ms\""),
        ("\"cf-dama\"", "\"dama\""),
        ("medium.uplink", "medium.other"),
    ] {
        let text = with(from, to).replace(
            "medium = \"uplink\"",
            if to.ends_with("other") {
                "medium = \"other\""
            } else {
                "medium = \"uplink\""
            },
        );
        assert_ne!(hash(&text), good, "{to}");
    }
}

#[test]
fn the_builder_builds_the_same() {
    let mut builder = Scenario::builder("vsat");
    let file = read(GOOD);
    builder.duration(file.duration);
    let hub = builder.node("hub");
    let vsats = [1, 2, 3].map(|i| builder.node(format!("vsat[{i}]")));
    let uplink = builder.medium("uplink", file.media[0].settings.clone());
    let settings = |mbps| {
        LinkSettings::new(
            Rate::from_mbps(mbps),
            Duration::from_millis(250),
            QueueSettings::drop_tail(Limit::Packets(50)),
        )
    };
    for (i, vsat) in vsats.into_iter().enumerate() {
        let name = format!("up[{}]", i + 1);
        // The rate is the medium's, whatever is set here.
        builder.shared_link(name, (vsat, hub), uplink, settings(9), settings(6));
    }
    for (i, vsat) in vsats.into_iter().enumerate() {
        let name = format!("upload[{}]", i + 1);
        let sack = bentpipe_tcp::find_transport("sack").map(|t| t.transport());
        builder
            .flow(name, vsat, hub, Application::Persistent)
            .transport(sack);
    }
    let built = builder.build().unwrap();
    assert_eq!(built.canonical_text(), file.canonical_text());

    let mut tight = file.media[0].settings.clone();
    tight.rate = Rate::from_bps(1000);
    let narrow = builder.medium("narrow", tight);
    builder.shared_link("more", (vsats[0], hub), narrow, settings(1), settings(1));
    let error = builder.build().unwrap_err();
    assert_eq!(error, BuildError::NoSlots("narrow".to_string()));
}

macro_rules! mistakes {
    ($($name:ident: $from:literal => $to:literal;)+) => {
        $(#[test]
        fn $name() {
            let text = with($from, $to);
            let document = Document::parse("vsat.toml", &text).unwrap_or_else(|e| panic!("{e}"));
            let errors = document.validate().map(|_| ()).unwrap_err();
            insta::assert_snapshot!(stringify!($name), errors.render(false));
        })+
    };
}

mistakes! {
    unknown_medium: "medium = \"uplink\"" => "medium = \"uplnk\"";
    unknown_rule: "\"cf-dama\"" => "\"csma\"";
    rate_of_a_shared_link: "medium = \"uplink\"" => "medium = \"uplink\"\nrate = \"1 Mbit/s\"";
    no_room_for_minislots: "minislot = \"8 B\"" => "minislot = \"2000 B\"";
    scheduler_somewhere: "minislot = \"8 B\"" => "scheduler = \"moon\"";
    satellite_beyond_the_hub: "minislot = \"8 B\"" => "scheduler = \"on-board\"\nto_satellite = \"1 s\"";
    minislots_of_nobody: "minislot = \"8 B\"" => "minislots = 4";
    router_on_a_medium: "\"50 packets\"" => "{ kind = \"xcp\", limit = \"50 packets\" }";
    arq_on_a_medium: "medium = \"uplink\"" => "medium = \"uplink\"\narq = \"go-back-n\"";
    preamble_on_a_medium: "medium = \"uplink\"" => "medium = \"uplink\"\npreamble = \"2 ms\"";
    timeline_on_a_medium: "medium = \"uplink\"" => "medium = \"uplink\"\ntimeline = [{ at = \"1 s\", up = false }]";
    timeout_before_the_hop: "kind = \"cf-dama\"\nrate = \"2 Mbit/s\"\none_way_delay = \"250 ms\"\nframe = \"24 ms\"\nslots = 20\nminislot = \"8 B\"" => "kind = \"aloha\"\nrate = \"2 Mbit/s\"\none_way_delay = \"250 ms\"\ntimeout = \"200 ms\"";
}
