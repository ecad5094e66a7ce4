//! What each way of writing a scenario means.

use bentpipe_cc::ParameterValue;
use bentpipe_link::{
    AdaptiveSettings, ChannelSettings, CoDelSettings, Limit, PriorityDropSettings, QueueSettings,
    RedMode, RedPreset, RedSettings,
};
use bentpipe_middlebox::{Settings, SnoopSettings, SnoopVariant, SpoofSettings};
use bentpipe_scenario::{Document, Handshake, Limits, LinkId, Scenario, schema};
use bentpipe_tcp::{CongestionControlChoice, HostProfile, Pacing, Recovery, Transport};
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

/// The transport that `[transport.mine]` with these keys makes.
fn transport(keys: &str) -> Transport {
    let flow = "transport = \"mine\"\napplication = \"persistent\"\n[transport.mine]\n";
    let scenario = two_nodes(DELAY, &format!("{flow}{keys}"));
    scenario.flows[0].transport.clone().unwrap()
}

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
        ", mean = \"4100 B\", deviation = \"30 kB\", largest = \"100 kB\", \
                       reading = \"10 s\", request = \"300 B\", connection = \"page\"",
    );
    assert_eq!(usual, written);
    let other = web(", connection = \"persistent\", count = 3");
    assert_eq!(
        other.flows[0].application,
        Application::Web(WebSettings {
            connection: PageConnection::Persistent,
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
fn the_file_wins_over_the_named_transport_and_it_over_the_profile() {
    let as_it_is = transport("base = \"mtsi\"");
    assert_eq!(as_it_is.profile, HostProfile::Rfc);
    assert_eq!(
        (as_it_is.initial_window, as_it_is.recovery),
        (6.0, Recovery::Sack)
    );

    let on_linux = transport("base = \"mtsi\"\nprofile = \"linux-2.2\"");
    // Of mtsi itself:
    assert_eq!(on_linux.initial_window, 6.0);
    assert_eq!(on_linux.receive_buffer, Bytes::new(320 * 1024));
    // Of the profile:
    assert_eq!(on_linux.recovery, Recovery::Fack);
    assert_eq!(
        on_linux.delayed_ack,
        HostProfile::Linux22.rules().delayed_ack
    );
    assert!(!on_linux.limited_transmit);

    let by_hand = transport(
        "base = \"mtsi\"\nprofile = \"linux-2.2\"\ninitial_window = 2\nrecovery = \"reno\"\n\
         delayed_ack = { count = 1 }\nlimited_transmit = true",
    );
    assert_eq!(
        (by_hand.initial_window, by_hand.recovery),
        (2.0, Recovery::Reno)
    );
    assert!(by_hand.limited_transmit);
    assert_eq!(by_hand.delayed_ack.count, 1);
    // The rest of the table is still the profile's.
    assert_eq!(by_hand.delayed_ack.timer, Duration::from_millis(40));
    assert_eq!(by_hand.delayed_ack.quick_acks, 1);
    assert_eq!(by_hand.name, "mine");
}

#[test]
fn every_key_of_a_transport() {
    let all = transport(
        "base = \"newreno\"\nprofile = \"ns-2\"\nrecovery = \"sack\"\nmss = \"1000 B\"\n\
         initial_window = 3.5\ninitial_ssthresh = 64\nsend_buffer = \"64 KiB\"\n\
         receive_buffer = \"1 MB\"\ntimestamps = true\nlimited_transmit = false\n\
         recovery_fix = true\nundo = true\necn = true\nminimum_rto = \"200 ms\"\n\
         pacing = { kind = \"window\", gain = 1.25, initial_burst = 4 }\n\
         delayed_ack = { count = 3, timer = \"100 ms\", quick_acks = 2 }",
    );
    assert_eq!(all.profile, HostProfile::Ns2);
    assert_eq!(
        (all.mss, all.initial_window, all.initial_ssthresh),
        (1000, 3.5, Some(64.0))
    );
    assert_eq!(
        (all.send_buffer, all.receive_buffer),
        (Bytes::new(65536), Bytes::new(1_000_000))
    );
    assert!(all.timestamps && !all.limited_transmit && all.recovery_fix && all.undo && all.ecn);
    assert_eq!(all.minimum_rto, Some(Duration::from_millis(200)));
    assert_eq!(
        all.pacing,
        Pacing::Window {
            gain: 1.25,
            initial_burst: 4
        }
    );
    assert_eq!((all.delayed_ack.count, all.delayed_ack.quick_acks), (3, 2));
    let again = transport("base = \"hybla\"\npacing = \"off\"\ninitial_ssthresh = \"unlimited\"");
    assert_eq!((again.pacing, again.initial_ssthresh), (Pacing::Off, None));
}

#[test]
fn parameters_stand_beside_the_keys() {
    let mine = transport("base = \"mtsi\"\nthresholds = [10, 20.5, 30]\nrule = \"B\"");
    let thresholds = Some(&ParameterValue::Numbers(vec![10.0, 20.5, 30.0]));
    assert_eq!(mine.parameters.get("thresholds"), thresholds);
    assert!(mine.controller().is_ok());
    let hybla = transport("base = \"hybla\"\nrtt0 = \"50 ms\"\ndoubling_limit = false");
    let rtt0 = Some(&ParameterValue::Duration(Duration::from_millis(50)));
    assert_eq!(hybla.parameters.get("rtt0"), rtt0);
    // `count` is a parameter here, as `count` of other tables is a number.
    let cubic = transport("base = \"cubic\"\ncount = \"segments\"");
    assert_eq!(
        cubic.parameters.get("count"),
        Some(&ParameterValue::Text("segments".into()))
    );
}

#[test]
fn slots_combine_freely() {
    let slots = |start: &str, avoidance: &str, reaction: &str| CongestionControlChoice::Slots {
        start: start.into(),
        avoidance: avoidance.into(),
        reaction: reaction.into(),
    };
    let mixed = transport("start = \"mtsi\"\navoidance = \"hybla\"\nreaction = \"westwood+\"");
    assert_eq!(
        mixed.congestion_control,
        slots("mtsi", "hybla", "westwood+")
    );
    let changed = transport("base = \"hybla\"\nreaction = \"westwood+\"\nrtt0 = \"25 ms\"");
    assert_eq!(
        changed.congestion_control,
        slots("hybla", "hybla", "westwood+")
    );
    assert_eq!(
        changed.pacing,
        Pacing::Window {
            gain: 1.0,
            initial_burst: 10
        }
    );
    let replaced = transport("base = \"hybla\"\ncongestion_control = \"cubic\"");
    assert_eq!(
        replaced.congestion_control,
        CongestionControlChoice::Named("cubic".into())
    );
    assert_eq!(replaced.recovery, Recovery::Sack);
}

#[test]
fn a_transport_may_refine_another_of_the_file_or_its_namesake() {
    let text = "transport = \"b\"\napplication = \"persistent\"\n\
                [transport.b]\nbase = \"a\"\nmss = \"500 B\"\n\
                [transport.a]\nbase = \"mtsi\"\nthresholds = [1, 2, 3]\ninitial_window = 9\n\
                [transport.mtsi]\ninitial_window = 4\necn = true";
    let transport = two_nodes(DELAY, text).flows[0].transport.clone().unwrap();
    assert_eq!(
        (transport.mss, transport.initial_window, transport.ecn),
        (500, 9.0, true)
    );
    assert!(transport.parameters.get("thresholds").is_some());
}

#[test]
fn a_middlebox_stands_at_the_near_end_of_links() {
    let star = |boxes: &str| {
        read(&format!(
            "duration = \"10 s\"\n[node.hub]\n[node.host]\n[node.a]\ncount = 2\n\
             [link.leg]\nbetween = [\"a\", \"hub\"]\nrate = \"8 Mbit/s\"\n{DELAY}\n\
             [link.lan]\nbetween = [\"hub\", \"host\"]\nrate = \"8 Mbit/s\"\n{DELAY}\n\
             [flow.f]\nfrom = \"host\"\nto = \"a\"\n{FILE}\n{boxes}\n"
        ))
    };
    let snoop = "[middlebox.cache]\nkind = \"snoop\"\nnode = \"hub\"\ntoward = ";
    let ids = |ids: &[LinkId]| ids.iter().map(|id| id.0).collect::<Vec<_>>();
    let all = star(&format!("{snoop}\"leg\""));
    assert_eq!(all.middleboxes[0].name, "cache");
    assert_eq!(ids(&all.middleboxes[0].toward), [1, 3]);
    assert_eq!(ids(&all.middleboxes[0].back), [0, 2]);
    let one = star(&format!("{snoop}\"leg[2]\""));
    assert_eq!(ids(&one.middleboxes[0].toward), [3]);
    let lan = star(&format!("{snoop}\"lan\"\ncache = 7\nvariant = \"ns-2\""));
    assert_eq!(ids(&lan.middleboxes[0].toward), [4]);
    assert_eq!(
        lan.middleboxes[0].settings,
        Settings::Snoop(SnoopSettings {
            cache: 7,
            variant: SnoopVariant::Ns2,
            ..SnoopSettings::default()
        })
    );
    let spoof = snoop.replace("snoop", "spoof");
    let other = star(&format!("{spoof}\"lan\"\ntick = \"200 ms\""));
    assert_eq!(
        other.middleboxes[0].settings,
        Settings::Spoof(SpoofSettings {
            tick: Duration::from_millis(200),
            ..SpoofSettings::default()
        })
    );
    // What a box is and where it stands makes another scenario; none is as
    // before there were any.
    let none = star("");
    assert!(none.canonical_text().contains("middleboxes=[]"));
    let hashes = [&none, &all, &one, &lan, &other].map(Scenario::hash);
    for (i, hash) in hashes.iter().enumerate() {
        assert!(!hashes[i + 1..].contains(hash));
    }
}

/// Two hosts, two PEPs between them and a satellite between those; a flow each
/// way.
fn with_peps(boxes: &str) -> Scenario {
    read(&format!(
        "duration = \"10 s\"\n[node.server]\n[node.gateway]\n[node.terminal]\n[node.client]\n\
         [link.lan]\nbetween = [\"server\", \"gateway\"]\nrate = \"8 Mbit/s\"\n{DELAY}\n\
         [link.satellite]\nbetween = [\"gateway\", \"terminal\"]\nrate = \"8 Mbit/s\"\n{DELAY}\n\
         [link.home]\nbetween = [\"client\", \"terminal\"]\nrate = \"8 Mbit/s\"\n{DELAY}\n\
         [flow.down]\nfrom = \"server\"\nto = \"client\"\n{FILE}\n\
         [flow.up]\nfrom = \"client\"\nto = \"server\"\n{FILE}\n{boxes}\n"
    ))
}

/// Transport, links forth and links back of each leg.
fn legs(flow: &bentpipe_scenario::Flow) -> Vec<(String, Vec<u32>, Vec<u32>)> {
    let ids = |ids: &[LinkId]| ids.iter().map(|id| id.0).collect::<Vec<_>>();
    let split = flow.split.iter().flat_map(|s| &s.legs);
    split
        .map(|l| (l.transport.name.clone(), ids(&l.forward), ids(&l.reverse)))
        .collect()
}

#[test]
fn the_leg_on_the_side_of_the_link_has_the_transport_of_the_pep() {
    let pep = "[middlebox.operator]\nkind = \"split\"\nnode = \"gateway\"\ntransport = \"hybla\"";
    let leg =
        |name: &str, forth: &[u32], back: &[u32]| (name.into(), forth.to_vec(), back.to_vec());
    let own = with_peps("").flows[0].transport.clone().unwrap().name;
    let toward = with_peps(&format!("{pep}\ntoward = \"satellite\""));
    assert_eq!(
        legs(&toward.flows[0]),
        [leg(&own, &[0], &[1]), leg("hybla", &[2, 5], &[4, 3])]
    );
    assert_eq!(
        legs(&toward.flows[1]),
        [leg("hybla", &[4, 3], &[2, 5]), leg(&own, &[1], &[0])]
    );
    // Without it, it is the leg towards the flow's `to`.
    let any = with_peps(pep);
    assert_eq!(legs(&any.flows[1])[1].0, "hybla");
    // Two of them, and flows by name.
    let second = "[middlebox.terminal]\nkind = \"split\"\nnode = \"terminal\"\nflows = \"down\"";
    let two = with_peps(&format!("{pep}\ntoward = \"satellite\"\n{second}"));
    assert_eq!(
        legs(&two.flows[0]),
        [
            leg(&own, &[0], &[1]),
            leg("hybla", &[2], &[3]),
            leg(&own, &[5], &[4])
        ]
    );
    assert_eq!(legs(&two.flows[1]).len(), 2);
    // A PEP is for what passes its link, and what it was told matters.
    let lan = with_peps(&format!("{pep}\ntoward = \"lan\"\nbuffer = \"64 kB\""));
    assert_eq!(legs(&lan.flows[0])[0].0, "hybla");
    assert!(with_peps("").flows.iter().all(|f| f.split.is_none()));
    let hashes = [&with_peps(""), &toward, &any, &two, &lan].map(Scenario::hash);
    for (i, hash) in hashes.iter().enumerate() {
        assert!(!hashes[i + 1..].contains(hash));
    }
    // Connections: the first legs, then the others.
    let order: Vec<_> = two.connections().map(|c| (c.flow, c.leg)).collect();
    assert_eq!(order, [(0, 0), (1, 0), (0, 1), (0, 2), (1, 1)]);
}

#[test]
fn a_program_adds_middleboxes() {
    let link = two_nodes(DELAY, FILE).links[0].settings.clone();
    let mut builder = Scenario::builder("program");
    let [a, b, c] = ["a", "b", "c"].map(|n| builder.node(n));
    builder.link("lan", a, b, link.clone());
    builder.link("leg", b, c, link);
    let udp = Application::ConstantRate {
        rate: Rate::from_mbps(1),
        packet_size: Bytes::new(1000),
    };
    builder.flow("f", a, c, udp);
    let snoop = Settings::Snoop(SnoopSettings::default());
    builder.middlebox("cache", b, "leg", snoop.clone());
    let built = builder.build().unwrap();
    assert_eq!(built.middleboxes[0].toward, [LinkId(2)]);
    assert_eq!(built.middleboxes[0].back, [LinkId(3)]);
    builder.middlebox("other", a, "leg", snoop);
    let error = builder.build().unwrap_err();
    assert_eq!(error.to_string(), "middlebox `other` is not at link `leg`");
}

#[test]
fn no_parameter_is_named_like_a_key_of_a_transport() {
    let section = schema().find(|s| s.path == "transport.NAME").unwrap();
    for described in bentpipe_cc::list() {
        for parameter in described.parameters {
            assert!(section.key(parameter.name).is_none(), "{}", parameter.name);
        }
    }
}

#[test]
fn the_schema_describes_every_key_once() {
    for section in schema() {
        for (i, key) in section.keys.iter().enumerate() {
            assert!(!key.meaning.is_empty() && !key.kind.to_string().is_empty());
            let again = section.keys[i + 1..].iter().any(|k| k.name == key.name);
            assert!(!again, "{} of {}", key.name, section.path);
        }
    }
    assert!(schema().any(|s| s.kind == Some("gilbert-elliott")));
}

#[test]
fn the_defaults_of_the_schema_are_those_of_the_code() {
    let default = |path: &str, kind: Option<&str>, name: &str| {
        let section = schema().find(|s| s.path == path && s.kind == kind).unwrap();
        section.key(name).unwrap().presence.to_string()
    };
    let limits = Limits::default();
    let limit = |name: &str| default("limits", None, name).parse::<u64>().unwrap();
    assert_eq!(limit("events"), limits.events);
    assert_eq!(limit("packets"), u64::from(limits.packets));
    let buffer = default("transport.NAME", None, "receive_buffer");
    assert_eq!(buffer.parse(), Ok(bentpipe_tcp::DEFAULT_BUFFER));

    // Written out, the defaults of a link and a flow change nothing.
    let link = |name: &str| default("link.NAME", None, name);
    let flow = |name: &str| default("flow.NAME", None, name);
    let written = format!(
        "{DELAY}\nqueue = \"{}\"\nchannel = \"{}\"\nframing = \"{}\"",
        link("queue"),
        link("channel"),
        link("framing")
    );
    let rest = format!(
        "{FILE}\nstart = \"{}\"\nspacing = \"{}\"\nhandshake = \"{}\"",
        flow("start"),
        flow("spacing"),
        flow("handshake")
    );
    assert_eq!(two_nodes(&written, &rest), two_nodes(DELAY, FILE));

    let spoof = |name: &str| default("middlebox.NAME", Some("spoof"), name);
    let usual = SpoofSettings::default();
    assert_eq!(spoof("cache").parse(), Ok(usual.cache));
    assert_eq!(spoof("threshold").parse(), Ok(usual.threshold));
    assert_eq!(spoof("tick").parse(), Ok(usual.tick));
    let snoop = |name: &str| default("middlebox.NAME", Some("snoop"), name);
    let usual = SnoopSettings::default();
    assert_eq!(snoop("cache").parse(), Ok(usual.cache));
    assert_eq!(snoop("threshold").parse(), Ok(usual.threshold));
    assert_eq!(snoop("tick").parse(), Ok(usual.tick));
    assert_eq!(snoop("srtt").parse(), Ok(usual.srtt));
    assert_eq!(snoop("rttvar").parse(), Ok(usual.rttvar));
    assert_eq!(snoop("gain").parse(), Ok(usual.gain));
    assert_eq!(snoop("retransmissions").parse(), Ok(usual.retransmissions));
}
