use super::*;
use std::time::Duration;

const SHIP: &str = r#"
role = "terminal"
[link]
rate = "2 Mbit/s"
[tunnel]
address = "203.0.113.7"
peers = ["bpk1abc"]
[intercept]
"#;

fn message(text: &str) -> String {
    config_from_str(text).unwrap_err().render(false)
}

#[test]
fn the_smallest_file_of_a_ship_has_fewer_than_ten_lines() {
    assert!(SHIP.trim().lines().count() < 10);
    let config = config_from_str(SHIP).unwrap();
    let tunnel = config.tunnel.unwrap();
    assert_eq!(tunnel.hubs, ["203.0.113.7:4433".parse().unwrap()]);
    assert_eq!(tunnel.outage, Duration::from_secs(600));
    assert_eq!(tunnel.key, Path::new("gateway.key"));
    assert_eq!(tunnel.when_down, WhenDown::Open);
    assert_eq!(tunnel.stream_window, 4_000_000);
    assert_eq!(config.link.transport, "complete-knowledge");
    assert_eq!(config.limits, Limits::default());
    assert_eq!(config.policy, Policy::default());
    assert!(config.intercept.unwrap().keep_source);
    assert_eq!(config.log.level, Level::Info);
}

#[test]
fn paths_start_from_the_folder_of_the_file() {
    let text = SHIP.replace("peers", "key = \"k/ship\"\npeers");
    let config = Config::read(Path::new("/etc/bentpipe/ship.toml"), &text).unwrap();
    assert_eq!(config.name, "ship");
    assert_eq!(
        config.tunnel.unwrap().key,
        Path::new("/etc/bentpipe/k/ship")
    );
    assert!(config.status.control.ends_with("ship.sock"));
}

#[test]
fn a_typo_is_shown_with_its_line_and_the_nearest_name() {
    let text = message(&SHIP.replace("rate =", "rat ="));
    assert!(text.contains("gateway.toml:4:1"), "{text}");
    assert!(text.contains("did you mean `rate`?"), "{text}");
    let text = message(&SHIP.replace("terminal", "terminl"));
    assert!(text.contains("did you mean `terminal`?"), "{text}");
    let text = message(&SHIP.replace("2 Mbit/s", "2 Mbits"));
    assert!(text.contains("2 Mbit/s"), "{text}");
    let text = message(&SHIP.replace("203.0.113.7", "203.0.113"));
    assert!(text.contains("gateway.toml:6:11"), "{text}");
    assert!(
        text.contains("`203.0.113` is no address of a hub"),
        "{text}"
    );
}

#[test]
fn a_terminal_may_have_several_hubs_by_name_and_address() {
    let with = |address: &str| SHIP.replace("\"203.0.113.7\"", address);
    let hubs = |address: &str| {
        config_from_str(&with(address))
            .unwrap()
            .tunnel
            .unwrap()
            .hubs
    };
    let shown: Vec<String> = hubs("[\"hub1.example\", \"[2001:db8::7]:443\"]")
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(shown, ["hub1.example:4433", "[2001:db8::7]:443"]);
    let tunnel = config_from_str(SHIP).unwrap().tunnel.unwrap();
    assert_eq!(tunnel.return_after, Duration::from_secs(30));
    for (address, wrong) in [
        ("[]", "`address` is empty"),
        (
            "[\"a.example\", \"A.example:4433\"]",
            "`a.example:4433` is listed twice",
        ),
        ("\"0.0.0.0\"", "is not the address of a hub"),
        ("7", "a whole number"),
        ("[\"a.example\", \"b:c\"]", "`b:c` is no address of a hub"),
    ] {
        let text = message(&with(address));
        assert!(text.contains(wrong), "{address}: {text}");
    }
    let nine: Vec<String> = (1..10).map(|n| format!("hub{n}.example")).collect();
    assert!(message(&with(&format!("{nine:?}"))).contains("8 hubs at most"));
}

#[test]
fn a_hub_listens_at_one_address() {
    let hub = |address: &str| {
        format!("role = \"hub\"\n[tunnel]\naddress = {address}\npeers = [\"bpk1abc\"]\n")
    };
    let listens = |address: &str| {
        let tunnel = config_from_str(&hub(address)).unwrap().tunnel.unwrap();
        assert!(tunnel.hubs.is_empty());
        tunnel.listen.to_string()
    };
    assert_eq!(listens("\":9000\""), "[::]:9000");
    assert_eq!(listens("\"203.0.113.7\""), "203.0.113.7:4433");
    assert!(message(&hub("\"hub.example\"")).contains("is a name"));
    assert!(message(&hub("[\"::1\", \"::2\"]")).contains("listens at one address"));
}

#[test]
fn every_section_is_checked_in_one_pass() {
    let text = message(
        "role = \"hub\"\n[link]\nrate = 3\n[tunnel]\npeers = []\n[policy]\ndeny = [\"10.1.0.0/8\", \"x\"]\n[limits]\nconnections = 0\n",
    );
    for part in [
        "has no unit",
        "10.0.0.0/8",
        "`x` is not a net",
        "0 is too small",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn what_a_role_needs_is_asked_for() {
    assert!(message("role = \"hub\"").contains("a hub needs `[tunnel]`"));
    assert!(message("role = \"single\"").contains("no connection can reach"));
    let both = format!("{}\n", SHIP.replace("terminal", "single"));
    assert!(message(&both).contains("one box has no tunnel"));
    let closed = SHIP.replace("[intercept]", "");
    assert!(message(&closed).contains("`[socks]` and `[connect]`"));
    assert!(message("").contains("has no `role`"));
}

#[test]
fn a_reserve_is_a_share_of_a_rate_that_is_kept() {
    let with = |text: &str| SHIP.replace("rate = \"2 Mbit/s\"", text);
    let link = config_from_str(&with("rate = \"2 Mbit/s\"\nreserve = 0.25"));
    assert_eq!(link.unwrap().link.reserve.get(), 0.25);
    assert_eq!(config_from_str(SHIP).unwrap().link.reserve.get(), 0.0);
    assert!(message(&with("reserve = \"10%\"")).contains("add `rate`"));
    let most = message(&with("rate = \"2 Mbit/s\"\nreserve = \"50%\""));
    assert!(most.contains("at most 40%"), "{most}");
    let one = "role = \"single\"\n[link]\nrate = \"2 Mbit/s\"\nreserve = 0.1\n[intercept]\n";
    assert!(message(one).contains("the kernel sends"));
}

#[test]
fn ports_are_numbers_and_ranges() {
    let text = format!("{SHIP}\nexcept_ports = [22, \"6000-6063\"]\n");
    let intercept = config_from_str(&text).unwrap().intercept.unwrap();
    assert!(intercept.except_ports.contains(22) && intercept.except_ports.contains(6001));
    assert!(!intercept.except_ports.contains(23));
    let text = message(&format!("{SHIP}\nexcept_ports = [22, 0, \"9-8\"]\n"));
    assert!(
        text.contains("0 is no port") && text.contains("\"9-8\" is no port"),
        "{text}"
    );
}

/// Defaults of the declaration are read like values of a file.
#[test]
fn defaults_are_valid_and_the_examples_are_too() {
    for section in schema().all() {
        let example = section.example;
        let text = match section.path {
            "" => example.to_owned(),
            "link" => SHIP.replace("[link]\nrate = \"2 Mbit/s\"", example),
            "tunnel" => SHIP.replace(
                "[tunnel]\naddress = \"203.0.113.7\"\npeers = [\"bpk1abc\"]",
                example,
            ),
            "intercept" => SHIP.replace("[intercept]", example),
            "terminal" => {
                format!("role = \"hub\"\n[tunnel]\npeers = [\"bpk1...\"]\n{example}\n")
            }
            _ => format!("{SHIP}\n{example}\n"),
        };
        if let Err(wrong) = config_from_str(&text) {
            panic!("{}: {}", section.path, wrong.render(false));
        }
    }
}

#[test]
fn a_name_that_is_no_interface_never_reaches_the_rules() {
    for name in [
        "lan0\\\" } accept #",
        "",
        "a b",
        "-x",
        "a/b",
        "..",
        "0123456789abcdef",
    ] {
        let text = message(&format!("{SHIP}interfaces = [\"{name}\"]\n"));
        assert!(text.contains("is no name of an interface"), "{text}");
    }
    for name in ["lan0", "eth0.100", "br-lan", "wg_1"] {
        config_from_str(&format!("{SHIP}interfaces = \"{name}\"\n")).unwrap();
    }
}

/// `UPDATE_DOCS=1 cargo test -p bentpipe-gateway --lib reference` writes the page again.
#[test]
fn the_reference_is_that_of_the_declarations() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/gateway-reference.md"
    );
    let page = reference();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(path, &page).unwrap();
    }
    let written = std::fs::read_to_string(path).unwrap_or_default();
    let same = written == page;
    assert!(
        same,
        "docs/gateway-reference.md is not what the declarations say: \
         `UPDATE_DOCS=1 cargo test -p bentpipe-gateway --lib reference` writes it"
    );
}

/// The files that the package installs, and those of the documentation.
#[test]
fn the_examples_are_valid() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    for name in ["ship", "teleport", "village", "laptop"] {
        let path = root.join(format!("packaging/{name}.toml"));
        let text = std::fs::read_to_string(&path).unwrap();
        if let Err(wrong) = Config::read(&path, &text) {
            panic!("{}", wrong.render(false));
        }
    }
    let page = std::fs::read_to_string(root.join("docs/gateway.md")).unwrap();
    let blocks = page.split("```toml\n").skip(1);
    let blocks: Vec<&str> = blocks.filter_map(|it| it.split("```").next()).collect();
    assert_eq!(blocks.len(), 9);
    for block in blocks {
        if let Err(wrong) = config_from_str(block) {
            panic!("{block}\n{}", wrong.render(false));
        }
    }
}
