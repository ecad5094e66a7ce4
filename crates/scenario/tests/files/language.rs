//! What each way of writing nodes, links and flows means.

use bentpipe_link::{
    AdaptiveSettings, ChannelSettings, CoDelSettings, Limit, PriorityDropSettings, QueueSettings,
    RedMode, RedPreset, RedSettings,
};
use bentpipe_scenario::{Document, Handshake, Limits, Scenario};
use bentpipe_traffic::{Application, PageConnection, Period, WebSettings};
use bentpipe_units::{Bytes, Duration, Rate, Ratio, Time};

fn read(text: &str) -> Scenario {
    let document = Document::parse("test.toml", text).unwrap_or_else(|e| panic!("{e}"));
    document
        .validate()
        .unwrap_or_else(|e| panic!("{}", e.render(false)))
}

/// A scenario of two nodes with this after the link's rate and delay, and this
/// after the flow.
fn two_nodes(link: &str, rest: &str) -> Scenario {
    read(&format!(
        "duration = \"10 s\"\n[node.a]\n[node.b]\n[link.l]\nbetween = [\"a\", \"b\"]\n\
         rate = \"8 Mbit/s\"\n{link}\n[flow.f]\nfrom = \"a\"\nto = \"b\"\n{rest}\n"
    ))
}

const DELAY: &str = "one_way_delay = \"10 ms\"";
const FILE: &str = "transport = \"sack\"\napplication = { kind = \"transfer\", size = \"1 MB\" }";

#[test]
fn what_is_left_out_has_its_default() {
    let scenario = two_nodes(DELAY, FILE);
    assert_eq!((&*scenario.name, &*scenario.description), ("test", ""));
    assert_eq!((scenario.seed, scenario.limits), (1, Limits::default()));
    let link = &scenario.links[0].settings;
    assert_eq!(link.queue, QueueSettings::drop_tail(Limit::Packets(1000)));
    assert_eq!(link.channel, ChannelSettings::Perfect);
    assert_eq!(link.framing, Bytes::ZERO);
    assert_eq!(scenario.links[1].settings, *link);
    let flow = &scenario.flows[0];
    assert_eq!((flow.start, flow.stop), (Time::ZERO, None));
    assert_eq!(flow.handshake, Handshake::Counted);
}

#[test]
fn limits_and_the_largest_seed() {
    let text = "seed = 18446744073709551615\nduration = \"1 s\"\n[limits]\nevents = 5\npackets = 7\n\
                [node.a]\n[node.b]\n[link.l]\nbetween = [\"a\", \"b\"]\nrate = \"1 Mbit/s\"\n\
                one_way_delay = \"0 s\"\n[flow.f]\nfrom = \"a\"\nto = \"b\"\ntransport = \"sack\"\n\
                application = \"persistent\"\n";
    let scenario = read(text);
    assert_eq!(scenario.seed, u64::MAX);
    assert_eq!(
        scenario.limits,
        Limits {
            events: 5,
            packets: 7
        }
    );
}

#[test]
fn queues_in_packets_bytes_and_bdp() {
    let limit = |link: &str| {
        let scenario = two_nodes(&format!("{DELAY}\n{link}"), FILE);
        scenario.links[0].settings.queue.limit()
    };
    assert_eq!(limit("queue = \"100 packets\""), Limit::Packets(100));
    assert_eq!(limit("queue = \"1 packet\""), Limit::Packets(1));
    assert_eq!(limit("queue = \"60 kB\""), Limit::Bytes(Bytes::new(60_000)));
    // 8 Mbit/s x 20 ms.
    assert_eq!(limit("queue = \"1 BDP\""), Limit::Bytes(Bytes::new(20_000)));
    assert_eq!(
        limit("queue = \"0.5BDP\""),
        Limit::Bytes(Bytes::new(10_000))
    );
    let table = "queue = { kind = \"drop-tail\", limit = \"2 BDP\" }\nbdp_round_trip = \"1 s\"";
    assert_eq!(limit(table), Limit::Bytes(Bytes::new(2_000_000)));
}

#[test]
fn each_direction_has_its_own_bdp() {
    let link = format!("{DELAY}\nqueue = \"1 BDP\"\n[link.l.reverse]\nrate = \"4 Mbit/s\"");
    let scenario = two_nodes(&link, FILE);
    let limit = |n: usize| scenario.links[n].settings.queue.clone();
    let bytes = |n: u64| QueueSettings::drop_tail(Limit::Bytes(Bytes::new(n)));
    assert_eq!((limit(0), limit(1)), (bytes(20_000), bytes(10_000)));
}

/// The RED queue of a link of 8 Mbit/s and 10 ms with these keys.
fn red(keys: &str) -> RedSettings {
    let link = format!("{DELAY}\nqueue = {{ {keys} }}");
    match two_nodes(&link, FILE).links[0].settings.queue {
        QueueSettings::Red(red) => red,
        ref other => panic!("{other:?}"),
    }
}

#[test]
fn red_has_the_defaults_of_its_preset() {
    let limit = Limit::Packets(50);
    for (name, preset) in RedPreset::ALL {
        let keys = format!("limit = \"50 packets\", preset = \"{name}\"");
        let expected = RedSettings::preset(preset, limit);
        assert_eq!(red(&format!("kind = \"red\", {keys}")), expected);
        let adaptive = red(&format!("kind = \"adaptive-red\", {keys}"));
        assert_eq!(adaptive, expected.adaptive(preset));
    }
    let plain = red("kind = \"red\", limit = \"50 packets\"");
    assert_eq!(plain, RedSettings::preset(RedPreset::Ns2002, limit));
}

#[test]
fn every_parameter_of_red_can_be_set() {
    let got = red(
        "kind = \"adaptive-red\", preset = \"ns-2.35\", limit = \"0.5 BDP\", mode = \"packets\", \
         mean_packet = \"1 kB\", minimum = \"2.5 packets\", maximum = \"10 kB\", weight = 0.01, \
         max_p = \"5%\", gentle = false, wait = false, ecn = true, mark_below = \"unlimited\", \
         target_delay = \"20 ms\", interval = \"1 s\", alpha = 0.02, beta = 0.8, bottom = 0.001, \
         top = 0.4",
    );
    let expected = RedSettings {
        // Half of 8 Mbit/s x 20 ms.
        limit: Limit::Bytes(Bytes::new(10_000)),
        mode: RedMode::Packets,
        mean_packet: Bytes::new(1000),
        minimum: Some(2.5),
        maximum: Some(10.0),
        weight: Some(0.01),
        max_p: Ratio::new(0.05).unwrap(),
        gentle: false,
        wait: false,
        ecn: true,
        mark_below: None,
        target_delay: Duration::from_millis(20),
        adaptive: Some(AdaptiveSettings {
            interval: Duration::from_secs(1),
            alpha: 0.02,
            beta: 0.8,
            bottom: Some(0.001),
            top: 0.4,
        }),
    };
    assert_eq!(got, expected);
    // The way back has it, too, with its own BDP.
    let link = "one_way_delay = \"10 ms\"\nqueue = { kind = \"red\", limit = \"1 BDP\" }\n\
                [link.l.reverse]\nrate = \"4 Mbit/s\"";
    let back = two_nodes(link, FILE).links[1].settings.queue.clone();
    assert_eq!(back.limit(), Limit::Bytes(Bytes::new(10_000)));
}

/// The queue of a link of 8 Mbit/s and 10 ms with these keys.
fn queue(keys: &str) -> QueueSettings {
    let link = format!("{DELAY}\nqueue = {{ {keys} }}");
    two_nodes(&link, FILE).links[0].settings.queue.clone()
}

#[test]
fn codel_and_priority_drop() {
    let limit = Limit::Packets(50);
    let default = queue("kind = \"codel\", limit = \"50 packets\"");
    assert_eq!(default, QueueSettings::CoDel(CoDelSettings::new(limit)));
    let all = queue(
        "kind = \"codel\", limit = \"1 BDP\", target = \"20 ms\", interval = \"600 ms\", \
         mtu = \"9 kB\", ecn = true",
    );
    let expected = CoDelSettings {
        limit: Limit::Bytes(Bytes::new(20_000)),
        target: Duration::from_millis(20),
        interval: Duration::from_millis(600),
        mtu: Bytes::new(9000),
        ecn: true,
    };
    assert_eq!(all, QueueSettings::CoDel(expected));
    let low_limit = None;
    assert_eq!(
        queue("kind = \"priority-drop\", limit = \"50 packets\""),
        QueueSettings::PriorityDrop(PriorityDropSettings { limit, low_limit })
    );
    let low_limit = Some(Limit::Bytes(Bytes::new(10_000)));
    assert_eq!(
        queue("kind = \"priority-drop\", limit = \"50 packets\", low_limit = \"0.5 BDP\""),
        QueueSettings::PriorityDrop(PriorityDropSettings { limit, low_limit })
    );
}

#[test]
fn every_parameter_of_codel_and_priority_drop_counts_in_the_hash() {
    let hash = |keys: &str| {
        let link = format!("{DELAY}\nqueue = {{ limit = \"9 packets\", {keys} }}");
        two_nodes(&link, FILE).hash()
    };
    let keys = [
        "kind = \"drop-tail\"",
        "kind = \"codel\"",
        "kind = \"codel\", target = \"6 ms\"",
        "kind = \"codel\", interval = \"6 ms\"",
        "kind = \"codel\", mtu = \"600 B\"",
        "kind = \"codel\", ecn = true",
        "kind = \"priority-drop\"",
        "kind = \"priority-drop\", low_limit = \"6 packets\"",
        "kind = \"priority-drop\", low_limit = \"6 B\"",
    ];
    let mut hashes: Vec<_> = keys.iter().map(|k| hash(k)).collect();
    hashes.sort();
    hashes.dedup();
    assert_eq!(hashes.len(), keys.len());
}

#[test]
fn every_parameter_of_red_counts_in_the_hash() {
    let hash = |keys: &str| {
        let link = format!(
            "{DELAY}\nqueue = {{ kind = \"adaptive-red\", limit = \"9 packets\", {keys} }}"
        );
        two_nodes(&link, FILE).hash()
    };
    let keys = [
        "preset = \"ns-2001\"",
        "preset = \"ns-2002\"",
        "preset = \"ns-2.35\"",
        "mode = \"bytes\"",
        "mean_packet = \"1 kB\"",
        "minimum = \"2 packets\"",
        "maximum = \"99 packets\"",
        "weight = 0.01",
        "max_p = 0.2",
        "gentle = false",
        "wait = false",
        "ecn = true",
        "mark_below = 0.3",
        "target_delay = \"9 ms\"",
        "interval = \"2 s\"",
        "alpha = 0.3",
        "beta = 0.3",
        "bottom = 0.3",
        "top = 0.3",
    ];
    let mut hashes: Vec<_> = keys.iter().map(|k| hash(k)).collect();
    hashes.sort();
    hashes.dedup();
    assert_eq!(hashes.len(), keys.len());
}

#[test]
fn a_round_trip_is_split_evenly() {
    let scenario = two_nodes("round_trip_delay = \"511 ms\"", FILE);
    let delays: Vec<u64> = scenario
        .links
        .iter()
        .map(|l| l.settings.one_way_delay.as_nanos())
        .collect();
    assert_eq!(delays, [255_500_000, 255_500_000]);
    let scenario = two_nodes("round_trip_delay = \"3 ns\"", FILE);
    let delays: Vec<u64> = scenario
        .links
        .iter()
        .map(|l| l.settings.one_way_delay.as_nanos())
        .collect();
    assert_eq!(delays, [1, 2], "nothing is lost");
    let link = format!("{DELAY}\n[link.l.reverse]\none_way_delay = \"30 ms\"");
    let scenario = two_nodes(&link, FILE);
    assert_eq!(
        scenario.links[1].settings.one_way_delay,
        Duration::from_millis(30)
    );
}

#[test]
fn the_first_four_applications() {
    let application = |text: &str| {
        let rest = format!("transport = \"sack\"\napplication = {text}");
        two_nodes(DELAY, &rest).flows[0].application.clone()
    };
    assert_eq!(application("\"persistent\""), Application::Persistent);
    assert_eq!(
        application("{ kind = \"persistent\" }"),
        Application::Persistent
    );
    let size = Bytes::new(3_000_000);
    let transfer = application("{ kind = \"transfer\", size = \"3 MB\" }");
    assert_eq!(transfer, Application::Transfer { size });
    let text = "{ kind = \"request-response\", request = \"1 kB\", response = \"3 MB\" }";
    let request = Bytes::new(1000);
    assert_eq!(
        application(text),
        Application::RequestResponse {
            request,
            response: size,
            count: 1,
            think_time: Duration::ZERO
        }
    );
    let rest = "application = { kind = \"constant-rate\", rate = \"1 Mbit/s\" }";
    let flow = &two_nodes(DELAY, rest).flows[0];
    assert!(
        matches!(flow.application, Application::ConstantRate { packet_size, .. }
        if packet_size == Bytes::new(1500))
    );
    assert_eq!(flow.transport, None);
}

#[test]
fn readers_of_pages() {
    let web = |keys: &str| {
        let application = format!("transport = \"sack\"\napplication = {{ kind = \"web\"{keys} }}");
        two_nodes(DELAY, &application)
    };
    let usual = web("");
    assert_eq!(
        usual.flows[0].application,
        Application::Web(WebSettings::default())
    );
    let written = web(
        ", mean = \"2 MB\", deviation = \"2 MB\", largest = \"10 MB\", reading = \"8 s\", \
                       request = \"400 B\", connection = \"persistent\"",
    );
    assert_eq!(usual, written);
    let scaled = web(", mean = \"100 kB\"");
    assert_eq!(
        scaled.flows[0].application,
        Application::Web(WebSettings::of_mean(Bytes::new(100_000)))
    );
    let other = web(", connection = \"page\", count = 3");
    assert_eq!(
        other.flows[0].application,
        Application::Web(WebSettings {
            connection: PageConnection::Page,
            count: Some(3),
            ..WebSettings::default()
        })
    );
    assert_ne!(usual.hash(), other.hash());
}

#[test]
fn on_off_traffic_with_and_without_a_transport() {
    let on_off = |transport: &str, periods: &str| {
        let rest = format!(
            "{transport}application = {{ kind = \"on-off\", rate = \"5 Mbit/s\", {periods} }}"
        );
        two_nodes(DELAY, &rest).flows[0].clone()
    };
    let second = Duration::from_secs(1);
    let flow = on_off("", "on = \"1 s\", off = \"0 s\"");
    assert_eq!(flow.transport, None);
    let expected = Application::OnOff {
        on: Period::Constant(second),
        off: Period::Constant(Duration::ZERO),
        rate: Rate::from_mbps(5),
        packet_size: Bytes::new(1500),
    };
    assert_eq!(flow.application, expected);
    let flow = on_off(
        "transport = \"sack\"\n",
        "on = { kind = \"exponential\", mean = \"1 s\" }, \
         off = { kind = \"pareto\", mean = \"1 s\" }",
    );
    let expected = Application::OnOff {
        on: Period::Exponential { mean: second },
        off: Period::Pareto {
            mean: second,
            shape: 1.5,
        },
        rate: Rate::from_mbps(5),
        packet_size: Bytes::new(1448),
    };
    assert_eq!(flow.application, expected);
    let flow = on_off(
        "transport = \"sack\"\n",
        "on = \"1 s\", off = { kind = \"pareto\", mean = \"1 s\", shape = 2 }, \
         packet_size = \"100 B\"",
    );
    assert!(matches!(
        flow.application,
        Application::OnOff { off: Period::Pareto { shape: 2.0, .. }, packet_size, .. }
            if packet_size == Bytes::new(100)
    ));
}

/// `count` nodes in two groups, a router between them, and this flow.
fn counted(left: &str, right: &str, flow: &str) -> Scenario {
    read(&format!(
        "duration = \"10 s\"\n[node.l]\n{left}\n[node.m]\n[node.r]\n{right}\n\
         [link.x]\nbetween = [\"l\", \"m\"]\nrate = \"1 Mbit/s\"\none_way_delay = \"1 ms\"\n\
         [link.y]\nbetween = [\"m\", \"r\"]\nrate = \"1 Mbit/s\"\none_way_delay = \"1 ms\"\n\
         [flow.f]\ntransport = \"sack\"\napplication = \"persistent\"\n{flow}\n"
    ))
}

/// `name: from > to over links` of each flow.
fn flows(scenario: &Scenario) -> Vec<String> {
    let node = |id: bentpipe_scenario::NodeId| scenario.nodes[id.0 as usize].name.clone();
    let link = |id: &bentpipe_scenario::LinkId| scenario.links[id.0 as usize].name.clone();
    let path =
        |links: &[bentpipe_scenario::LinkId]| links.iter().map(link).collect::<Vec<_>>().join(" ");
    let line = |f: &bentpipe_scenario::Flow| {
        let (from, to) = (node(f.from), node(f.to));
        format!(
            "{}: {from} > {to} over {} | {}",
            f.name,
            path(&f.forward),
            path(&f.reverse)
        )
    };
    scenario.flows.iter().map(line).collect()
}

#[test]
fn counted_nodes_pair_up_fan_in_and_fan_out() {
    let pairs = counted("count = 2", "count = 2", "from = \"l\"\nto = \"r\"");
    assert_eq!(
        flows(&pairs),
        [
            "f[1]: l[1] > r[1] over x[1] y[1] | y[1].reverse x[1].reverse",
            "f[2]: l[2] > r[2] over x[2] y[2] | y[2].reverse x[2].reverse",
        ]
    );
    let fan_in = counted("count = 2", "", "from = \"l\"\nto = \"r\"");
    assert_eq!(
        flows(&fan_in),
        [
            "f[1]: l[1] > r over x[1] y | y.reverse x[1].reverse",
            "f[2]: l[2] > r over x[2] y | y.reverse x[2].reverse",
        ]
    );
    let one = counted("count = 2", "", "from = \"l[2]\"\nto = \"r\"");
    assert_eq!(
        flows(&one),
        ["f: l[2] > r over x[2] y | y.reverse x[2].reverse"]
    );
    let single = counted("count = 1", "", "from = \"l\"\nto = \"r\"");
    assert_eq!(
        flows(&single),
        ["f[1]: l[1] > r over x[1] y | y.reverse x[1].reverse"]
    );
}

#[test]
fn several_flows_for_each_pair_start_one_after_the_other() {
    let keys = "from = \"l\"\nto = \"r\"\ncount = 2\nspacing = \"10 ms\"\nstart = \"1 s\"";
    let scenario = counted("count = 2", "", keys);
    let starts: Vec<u64> = scenario
        .flows
        .iter()
        .map(|f| f.start.as_nanos() / 1_000_000)
        .collect();
    assert_eq!(starts, [1000, 1010, 1020, 1030]);
    let from: Vec<u32> = scenario.flows.iter().map(|f| f.from.0).collect();
    assert_eq!(from, [0, 0, 1, 1]);
    assert_eq!(scenario.flows[3].name, "f[4]");
}

#[test]
fn a_preamble_is_hashed_where_there_is_one() {
    let with = |preamble: &str| two_nodes(&format!("{DELAY}\n{preamble}"), FILE);
    let (none, some) = (with(""), with("preamble = \"2 ms\""));
    let two = Duration::from_millis(2);
    assert!(some.links.iter().all(|link| link.settings.preamble == two));
    assert_ne!(some.hash(), none.hash());
    assert_eq!(with("preamble = \"0 s\"").hash(), none.hash());
    assert!(!none.canonical_text().contains("preamble"));
    let back = with("preamble = \"2 ms\"\nreverse = { preamble = \"0 s\" }");
    let preambles = [0, 1].map(|link: usize| back.links[link].settings.preamble);
    assert_eq!(preambles, [two, Duration::ZERO]);
}
