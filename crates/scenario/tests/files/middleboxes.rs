//! Where middleboxes stand, and what they make of flows.

use bentpipe_cc::ParameterValue;
use bentpipe_link::medium::{AccessSettings, AlohaSettings, MediumSettings};
use bentpipe_link::{ArqScheme, ArqSettings, LinkSettings};
use bentpipe_middlebox::split::Pool;
use bentpipe_middlebox::{Settings, SnoopSettings, SnoopVariant, SpoofSettings};
use bentpipe_scenario::{Document, LinkId, Scenario};
use bentpipe_tcp::Recovery;
use bentpipe_traffic::Application;
use bentpipe_units::{Bytes, Duration, Rate};

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
    assert!(none.canonical_text().contains("\"middleboxes\":[]"));
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
    let own = with_peps("").flows[0]
        .transport
        .clone()
        .unwrap()
        .name
        .clone();
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

/// 8 Mbit/s over 60 ms, both ways and all links: a product of 60 kB, of which a relay holds four.
#[test]
fn peps_that_grant_take_the_control_from_the_leg() {
    let two = |keys: &str| {
        let first = format!(
            "[middlebox.gateway]\nkind = \"split\"\nnode = \"gateway\"\ntoward = \"satellite\"\n\
             transport = \"stp\"\n{keys}\n"
        );
        let second = format!("[middlebox.terminal]\nkind = \"split\"\nnode = \"terminal\"\n{keys}");
        with_peps(&(first + &second))
    };
    let grants = two("proxy_control = \"grants\"");
    for flow in &grants.flows {
        let split = flow.split.as_ref().unwrap();
        let granted: Vec<bool> = split.legs.iter().map(|leg| leg.grants).collect();
        assert_eq!(granted, [false, true, false], "{}", flow.name);
        let leg = &split.legs[1];
        assert_eq!(leg.transport.name, "stp");
        assert_eq!(leg.transport.recovery, Recovery::Stp);
        let rate = 8.0 * 1460.0 / 1500.0;
        let told = leg.transport.parameters.get("rate").cloned();
        assert_eq!(told, Some(ParameterValue::Number(rate)));
        for pep in &split.peps {
            assert_eq!(pep.settings.buffer, Bytes::new(240_000));
            assert_eq!(pep.settings.pool, Pool::Shared);
        }
    }
    let said = two("proxy_control = \"grants\"\nbacklog = \"100 kB\"");
    let split = said.flows[0].split.as_ref().unwrap();
    assert_eq!(split.peps[1].settings.buffer, Bytes::new(100_000));
    // Written, read and told apart.
    for scenario in [&grants, &said] {
        let text = scenario.to_toml().unwrap();
        assert_eq!(&read(&text).flows, &scenario.flows, "{text}");
        assert_eq!(read(&text).hash(), scenario.hash());
    }
    let hashes = [&two(""), &grants, &said].map(Scenario::hash);
    assert!(hashes[0] != hashes[1] && hashes[1] != hashes[2] && hashes[0] != hashes[2]);
    // The default is no other scenario than one without the key.
    assert_eq!(two("proxy_control = \"window\"").hash(), two("").hash());
}

#[test]
fn a_program_adds_middleboxes() {
    let link = LinkSettings::clone(&two_nodes(DELAY, FILE).links[0].settings);
    let mut builder = Scenario::builder("program");
    let [a, b, c] = ["a", "b", "c"].map(|n| builder.node(n));
    builder.link("lan", a, b, link.clone());
    builder.link("leg", b, c, link);
    let udp = Application::ConstantRate {
        rate: Rate::from_mbps(1),
        packet_size: Bytes::new(1000),
        control: None,
        deadline: None,
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

/// A box beside a link in one direction once got a stranger for its way back.
#[test]
fn a_link_in_one_direction_has_no_way_back() {
    let link = LinkSettings::clone(&two_nodes(DELAY, FILE).links[0].settings);
    let mut builder = Scenario::builder("program");
    let [a, b, c] = ["a", "b", "c"].map(|n| builder.node(n));
    let alone = builder.one_way_link("broadcast", a, c, link.clone(), None);
    let [lan, _] = builder.link("lan", a, b, link.clone());
    let [leg, back] = builder.link("leg", b, c, link);
    let transport = two_nodes(DELAY, FILE).flows[0]
        .transport
        .as_deref()
        .cloned();
    builder
        .flow("f", a, c, Application::Persistent)
        .transport(transport);
    let snoop = Settings::Snoop(SnoopSettings::default());
    builder.middlebox("cache", b, "leg", snoop.clone());
    let built = builder.build().unwrap();
    assert_eq!(built.links[alone.0 as usize].reverse, None);
    assert_eq!(built.middleboxes[0].toward, [leg]);
    assert_eq!(built.middleboxes[0].back, [back]);
    assert_ne!(built.links[lan.0 as usize].reverse, None);
    builder.middlebox("one way", a, "broadcast", snoop);
    let built = builder.build().unwrap();
    assert_eq!(built.middleboxes[1].toward, [alone]);
    assert!(built.middleboxes[1].back.is_empty());
}

#[test]
fn combinations_are_checked_for_files_and_programs_alike() {
    let scenario = two_nodes(DELAY, FILE);
    let link = LinkSettings::clone(&scenario.links[0].settings);
    let mut builder = Scenario::builder("program");
    let [a, b] = ["a", "b"].map(|n| builder.node(n));
    let medium = builder.medium(
        "air",
        MediumSettings {
            rate: Rate::from_mbps(1),
            one_way_delay: Duration::from_millis(250),
            access: AccessSettings::Aloha(AlohaSettings::NS2),
        },
    );
    builder.shared_link("up", (a, b), medium, link.clone(), link);
    let transport = scenario.flows[0].transport.as_deref().cloned();
    builder
        .flow("f", a, b, Application::Persistent)
        .transport(transport);
    assert!(builder.build().is_ok());
    builder.arq(
        "up",
        ArqSettings {
            scheme: ArqScheme::GoBackN,
            window: 8,
            timeout: None,
            transmissions: 8,
            in_order: true,
        },
    );
    let error = builder.build().unwrap_err().to_string();
    assert_eq!(
        error,
        "link `up` shares a medium and has ARQ, but the medium's frames carry no acknowledgements \
         of terminals"
    );
}
