use super::*;

const GEO: &str = include_str!("../../../../scenarios/geo.toml");

fn edited(text: &str, edit: &Edit) -> String {
    apply(text, &splices(text, edit).unwrap())
}

fn path(path: &str) -> Vec<String> {
    path.split('.').map(str::to_owned).collect()
}

fn set(text: &str, at: &str, value: &str) -> String {
    let edit = Edit::Set {
        path: path(at),
        value: Some(value.to_owned()),
    };
    edited(text, &edit)
}

fn unset(text: &str, at: &str) -> String {
    let edit = Edit::Set {
        path: path(at),
        value: None,
    };
    edited(text, &edit)
}

fn named(group: &str, name: &str) -> (String, String) {
    (group.to_owned(), name.to_owned())
}

fn removed(text: &str, group: &str, name: &str) -> String {
    let (group, name) = named(group, name);
    edited(text, &Edit::Remove { group, name })
}

fn renamed(text: &str, group: &str, name: &str, to: &str) -> String {
    let (group, name) = named(group, name);
    let to = to.to_owned();
    edited(text, &Edit::Rename { group, name, to })
}

#[test]
fn a_value_is_replaced_and_nothing_else() {
    let made = set(GEO, "link.satellite.rate", "\"5 Mbit/s\"");
    assert_eq!(
        made,
        GEO.replace("rate = \"2 Mbit/s\"", "rate = \"5 Mbit/s\"")
    );
    let made = set(GEO, "flow.download.transport", "\"hybla\"");
    assert!(made.contains("transport = \"hybla\"        # initial window 6"));
}

#[test]
fn a_key_is_added_behind_the_last_of_its_table() {
    let made = set(GEO, "link.lan.queue", "\"10 packets\"");
    assert!(
        made.contains("one_way_delay = \"0 ms\"\nqueue = \"10 packets\"\n\n# Up to"),
        "{made}"
    );
    let made = set(GEO, "link.satellite.reverse.rate", "\"1 Mbit/s\"");
    let expected =
        "queue = \"100 packets\"\n\n[link.satellite.reverse]\nrate = \"1 Mbit/s\"\n\n[flow";
    assert!(made.contains(expected), "{made}");
    let made = set("seed = 1\n[node.a]\n", "duration", "\"1 s\"");
    assert_eq!(made, "seed = 1\nduration = \"1 s\"\n[node.a]\n");
    assert_eq!(set("", "seed", "3"), "seed = 3\n");
}

#[test]
fn keys_of_tables_in_braces_come_and_go() {
    let made = set(GEO, "flow.download.application.size", "\"1 MB\"");
    assert!(made.contains("{ kind = \"transfer\", size = \"1 MB\" }"));
    let made = set("a = { b = 1 }\n", "a.c", "2");
    assert_eq!(made, "a = { b = 1, c = 2 }\n");
    assert_eq!(set("a = {}\n", "a.c", "2"), "a = { c = 2 }\n");
    assert_eq!(unset("a = { b = 1, c = 2 }\n", "a.c"), "a = { b = 1 }\n");
    assert_eq!(unset("a = { b = 1, c = 2 }\n", "a.b"), "a = { c = 2 }\n");
}

#[test]
fn a_word_becomes_the_table_that_it_stands_for() {
    let text = "[link.a]\nchannel = \"uniform\"\n";
    let made = set(text, "link.a.channel.packet_error_rate", "\"1%\"");
    assert_eq!(
        made,
        "[link.a]\nchannel = { kind = \"uniform\", packet_error_rate = \"1%\" }\n"
    );
}

#[test]
fn a_key_is_removed_with_its_line() {
    let made = unset(GEO, "link.satellite.queue");
    assert_eq!(made, GEO.replace("queue = \"100 packets\"\n", ""));
    assert_eq!(unset(GEO, "link.satellite.channel"), GEO);
}

#[test]
fn new_tables_stand_with_their_group() {
    let (group, name) = named("node", "relay");
    let made = edited(
        GEO,
        &Edit::Add {
            group,
            name,
            keys: Vec::new(),
        },
    );
    assert_eq!(
        made,
        GEO.replace("[node.client]\n", "[node.client]\n[node.relay]\n")
    );
    let (group, name) = named("link", "more");
    let keys = vec![("rate".to_owned(), "\"1 Mbit/s\"".to_owned())];
    let made = edited(GEO, &Edit::Add { group, name, keys });
    let expected = "queue = \"100 packets\"\n\n[link.more]\nrate = \"1 Mbit/s\"\n\n[flow.download]";
    assert!(made.contains(expected), "{made}");
}

#[test]
fn names_change_where_they_are_used() {
    let made = renamed(GEO, "node", "gateway", "hub");
    assert!(made.contains("[node.hub]") && !made.contains("\"gateway\""));
    assert!(made.contains("between = [\"server\", \"hub\"]"));
    assert!(made.contains("between = [\"hub\", \"client\"]"));
    let text = "[link.a]\n[link.a.reverse]\nrate = \"1 kbit/s\"\n";
    let made = renamed(text, "link", "a", "b+");
    assert_eq!(
        made,
        "[link.\"b+\"]\n[link.\"b+\".reverse]\nrate = \"1 kbit/s\"\n"
    );
    let (group, name) = named("node", "gateway");
    let to = "client".to_owned();
    let refused = splices(GEO, &Edit::Rename { group, name, to }).unwrap_err();
    assert_eq!(refused, "there is a node `client` already");
}

#[test]
fn what_is_nothing_without_a_node_goes_with_it() {
    let made = removed(GEO, "node", "client");
    assert!(!made.contains("[link.satellite]") && !made.contains("[flow.download]"));
    assert!(made.contains("[link.lan]"));
    // The comment that opens the file stays, that above the link goes.
    assert!(made.starts_with("# One file over") && !made.contains("# Up to the satellite"));
}

#[test]
fn a_key_that_names_what_is_gone_goes_and_its_table_stays() {
    let text =
        "[medium.m]\nkind = \"tdma\"\n\n[link.a]\nmedium = \"m\"\nbetween = [\"x\", \"y\"]\n";
    assert_eq!(
        removed(text, "medium", "m"),
        "[link.a]\nbetween = [\"x\", \"y\"]\n"
    );
}

#[test]
fn every_edit_of_every_example_keeps_it_toml() {
    for entry in std::fs::read_dir("../../scenarios").unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        let read = Read::new(&text).unwrap();
        let tables = read.places.entries.iter().filter(|e| e.path.len() == 2);
        for table in tables.filter(|e| matches!(e.form, Form::Header | Form::Implicit)) {
            let (group, name) = named(&table.path[0], &table.path[1]);
            let to = "renamed".to_owned();
            for edit in [
                Edit::Rename {
                    group: group.clone(),
                    name: name.clone(),
                    to,
                },
                Edit::Remove { group, name },
            ] {
                splices(&text, &edit).unwrap();
            }
        }
    }
}

#[test]
fn what_is_no_toml_is_refused() {
    for value in ["", "1 2", "\"a", "1\nb = 2\n[x"] {
        let edit = Edit::Set {
            path: path("link.lan.rate"),
            value: Some(value.to_owned()),
        };
        assert!(splices(GEO, &edit).is_err(), "{value}");
    }
    assert!(
        splices(
            "a = ",
            &Edit::Set {
                path: path("a"),
                value: None
            }
        )
        .is_err()
    );
}
