//! The scripts and records, without a kernel. `tests/intercept.rs` runs them in
//! one.

use super::plan::table;
use super::record::Record;
use super::script;
use super::{Left, Passing, Plan, Treatment, left};
use crate::config::{Config, config_from_str};

fn plan(section: &str) -> Plan {
    let text = format!("role = \"single\"\n[intercept]\n{section}");
    let config: Config = config_from_str(&text).unwrap();
    Plan {
        name: "ship-1".into(),
        mark: 20_993,
        intercept: config.intercept,
        udp: None,
        except: vec!["203.0.113.7".parse().unwrap()],
        except_interfaces: vec!["sat0".into()],
        ipv6: true,
    }
}

#[test]
fn the_script_replaces_everything_at_once() {
    let text = script::install(&plan(""), Passing::Gateway.into());
    let table = plan("").table();
    let start = format!("add table inet {table}\ndelete table inet {table}\ntable inet {table} {{");
    assert!(text.starts_with(&start), "{text}");
    for line in [
        "iifname != { \"sat0\", \"lo\" } tcp flags & (fin | syn | rst | ack) == syn jump arriving",
        "ip daddr { 203.0.113.7/32 } return",
        "tproxy ip to 127.0.0.1:4434 meta mark set 20993",
        "tproxy ip6 to [::1]:4434 meta mark set 20993",
    ] {
        assert!(text.contains(line), "{line} in {text}");
    }
}

#[test]
fn choices_of_the_file_become_rules() {
    let text = script::install(
        &plan(
            "interfaces = [\"lan0\", \"lan1\"]\nfrom = \"10.1.0.0/16\"\nto = \"2001:db8::/32\"\n\
             except = [\"10.9.0.0/16\", \"2001:db8:9::/48\"]\nports = [80, \"8000-8099\"]\n\
             except_ports = 22\nport = 999\nmark = 777",
        ),
        Passing::Gateway.into(),
    );
    for line in [
        "iifname { \"lan0\", \"lan1\" } tcp flags",
        "ip saddr { 10.9.0.0/16, 203.0.113.7/32 } return",
        "ip6 daddr { 2001:db8:9::/48 } return",
        "ip saddr != { 10.1.0.0/16 } return",
        "ip6 daddr != { 2001:db8::/32 } return",
        "tcp dport { 22 } return",
        "tcp dport != { 80, 8000-8099 } return",
        "127.0.0.1:999",
    ] {
        assert!(text.contains(line), "{line} in {text}");
    }
    // Only IPv4 clients and only IPv6 servers were named: no connection is both.
    assert!(text.contains("meta nfproto ipv6 return"), "{text}");
    assert!(text.contains("meta nfproto ipv4 return"), "{text}");
}

#[test]
fn new_connections_pass_or_are_refused_while_the_rest_stays() {
    let direct = script::install(&plan(""), Passing::Direct.into());
    assert!(!direct.contains("tproxy") && direct.contains("socket transparent 1"));
    let refused = script::install(&plan(""), Passing::Refused.into());
    assert!(!refused.contains("tproxy") && refused.contains("reject with tcp reset"));
}

/// The rules for UDP of a terminal.
fn udp(keys: &str, udp: Passing) -> String {
    let text = format!(
        "role = \"terminal\"\n[tunnel]\naddress = \"192.0.2.7\"\npeers = [\"k\"]\n\
         [intercept]\n[udp]\n{keys}"
    );
    let mut plan = plan("");
    plan.udp = Some(config_from_str(&text).unwrap().udp);
    let tcp = Passing::Gateway;
    script::install(&plan, Treatment { tcp, udp })
}

#[test]
fn udp_is_carried_passes_or_is_refused_as_the_file_says() {
    let keys = "[[udp.rule]]\naction = \"pass\"\nports = [53, \"5000-5009\"]\nlargest = 512\n\
                [[udp.rule]]\naction = \"block\"\nports = [443]\n";
    let text = udp(keys, Passing::Gateway);
    let lines = [
        "meta l4proto udp socket transparent 1 socket wildcard 0 meta mark set 20993 accept",
        "iifname != { \"sat0\", \"lo\" } meta l4proto udp jump arriving",
        "meta l4proto udp udp dport { 53, 5000-5009 } udp length 8-520 return",
        "meta l4proto udp udp dport { 443 } udp length 8-65515 reject with icmpx",
        "meta nfproto ipv4 meta l4proto udp tproxy ip to 127.0.0.1:4434 meta mark set 20993 accept",
    ];
    let places: Vec<_> = lines.iter().map(|line| text.find(line)).collect();
    assert!(places.iter().all(Option::is_some), "{places:?} in {text}");
    assert!(places.is_sorted(), "{text}");
    // Connections go on while UDP cannot be carried.
    let direct = udp(keys, Passing::Direct);
    assert!(
        !direct.contains("udp socket") && !direct.contains("udp tproxy"),
        "{direct}"
    );
    assert!(direct.contains("meta l4proto tcp tproxy"), "{direct}");
    let refused = udp("", Passing::Refused);
    assert!(
        refused.contains("    meta l4proto udp reject with icmpx"),
        "{refused}"
    );
    // Without the section nothing is said of UDP.
    let without = script::install(&plan(""), Passing::Gateway.into());
    assert!(!without.contains("udp"), "{without}");
}

#[test]
fn a_hub_has_only_the_way_back() {
    let mut plan = plan("");
    plan.intercept = None;
    let text = script::install(&plan, Passing::Gateway.into());
    assert!(text.contains("socket transparent 1"));
    assert!(!text.contains("arriving") && !text.contains("tproxy"));
    assert!(plan.listeners().is_empty());
}

#[test]
fn tables_of_different_names_differ() {
    assert_eq!(table("ship"), "bentpipe_ship");
    assert_ne!(table("ship-1"), table("ship_1"));
    assert_ne!(table("ship-1"), table("ship.1"));
    let strange = table("ein \"Schiff\"; drop\n");
    assert!(
        strange
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'_')
    );
    assert!(table(&"x".repeat(500)).len() < 90);
}

#[test]
fn records_are_found_again_and_others_are_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let record = Record {
        table: table("ship"),
        mark: 7,
        namespace: Some("net:[1]".into()),
    };
    record.write(folder.path()).unwrap();
    std::fs::write(folder.path().join("half.rules.json"), "{\"table\": \"bent").unwrap();
    let evil = r#"{"table": "bentpipe_x; flush ruleset", "mark": 1, "namespace": null}"#;
    std::fs::write(folder.path().join("evil.rules.json"), evil).unwrap();
    let found = left(folder.path()).unwrap();
    let file = folder.path().join("bentpipe_ship.1.rules.json");
    let wanted = Left {
        table: "bentpipe_ship".into(),
        mark: 7,
        file,
        here: false,
    };
    assert_eq!(found, [wanted]);
    assert_eq!(left(&folder.path().join("none")).unwrap(), []);
}

#[test]
fn gateways_of_one_name_in_two_namespaces_have_a_record_each() {
    let folder = tempfile::tempdir().unwrap();
    let outside = folder.path().join("outside");
    std::fs::write(&outside, "as it was").unwrap();
    for (mark, namespace) in [(7, "net:[1]"), (8, "net:[2]")] {
        let record = Record {
            table: table("ship"),
            mark,
            namespace: Some(namespace.into()),
        };
        // Where it is written first: a link there is not followed.
        let new = record.path(folder.path()).with_extension("new");
        std::os::unix::fs::symlink(&outside, new).unwrap();
        record.write(folder.path()).unwrap();
    }
    let marks: Vec<u32> = left(folder.path())
        .unwrap()
        .iter()
        .map(|it| it.mark)
        .collect();
    assert_eq!(marks, [7, 8]);
    assert_eq!(std::fs::read_to_string(outside).unwrap(), "as it was");
}
