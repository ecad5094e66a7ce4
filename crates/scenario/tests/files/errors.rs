//! What a person sees who makes a mistake: one snapshot for each.

use bentpipe_scenario::{Document, Override, SetBy};

/// A good scenario, in which each test makes its mistakes.
const GOOD: &str = r#"name = "geo"
duration = "300 s"

[node.server]
[node.gateway]
[node.client]

[link.lan]
between = ["server", "gateway"]
rate = "10 Mbit/s"
one_way_delay = "0 ms"

[link.satellite]
between = ["gateway", "client"]
rate = "2 Mbit/s"
one_way_delay = "255.5 ms"
queue = "100 packets"
channel = { kind = "uniform", packet_error_rate = 0.01 }

[transport.mine]
base = "mtsi"
thresholds = [10, 20, 30]

[flow.download]
from = "server"
to = "client"
transport = "mine"
application = { kind = "transfer", size = "3 MB" }
"#;

/// The good scenario with replacements, each of which must hit.
fn with(replacements: &[(&str, &str)]) -> String {
    let mut text = GOOD.to_string();
    for (from, to) in replacements {
        assert!(text.contains(from), "{from:?} is not in the scenario");
        text = text.replacen(from, to, 1);
    }
    text
}

fn rendered(text: &str) -> String {
    let errors = match Document::parse("geo.toml", text) {
        Ok(document) => document.validate().map(|_| ()).unwrap_err(),
        Err(errors) => errors,
    };
    errors.render(false)
}

macro_rules! mistakes {
    ($($name:ident: [$($from:literal => $to:literal),+ $(,)?];)+) => {
        $(#[test]
        fn $name() {
            insta::assert_snapshot!(stringify!($name), rendered(&with(&[$(($from, $to)),+])));
        })+
    };
}

#[test]
fn the_good_scenario_is_good() {
    Document::parse("geo.toml", GOOD)
        .unwrap()
        .validate()
        .unwrap();
}

mistakes! {
    unknown_key: ["queue = \"100" => "qeue = \"100"];
    unknown_key_in_place_of_a_required_one: ["rate = \"2 Mbit" => "rat = \"2 Mbit"];
    flow_of_no_subscriber: ["transport = \"mine\"" => "transport = \"mine\"\nsubscriber = \"\""];
    unknown_key_at_the_top: ["duration =" => "lenght = 3\nduration ="];
    unknown_key_of_a_kind: ["packet_error_rate = 0.01" => "packet_error_rate = 0.01, burst = 3"];
    unknown_transport: ["transport = \"mine\"" => "transport = \"mtis\""];
    datagrams_over_tcp: ["application = { kind = \"transfer\", size = \"3 MB\" }" => "application = { kind = \"constant-rate\", rate = \"64 kbit/s\" }"];
    datagrams_too_large: [
        "base = \"mtsi\"\nthresholds = [10, 20, 30]" => "base = \"cubic\"\nprotocol = \"quic\"",
        "application = { kind = \"transfer\", size = \"3 MB\" }" => "application = { kind = \"constant-rate\", rate = \"64 kbit/s\" }",
    ];
    resumption_without_tls: ["base = \"mtsi\"" => "base = \"mtsi\"\nresumption = \"0-rtt\""];
    opener_without_quic: ["base = \"mtsi\"" => "base = \"mtsi\"\ntls = true\nopener = \"to\""];
    tls_over_quic: ["base = \"mtsi\"\nthresholds = [10, 20, 30]" => "base = \"cubic\"\nprotocol = \"quic\"\ntls = true"];
    tls_one_way: ["base = \"mtsi\"" => "base = \"mtsi\"\nprofile = \"ns-2\"\ntls = true"];
    tls_for_each_page: [
        "base = \"mtsi\"" => "base = \"mtsi\"\ntls = true",
        "application = { kind = \"transfer\", size = \"3 MB\" }" => "application = { kind = \"web\", connection = \"page\" }",
    ];
    objects_for_each_page: [
        "application = { kind = \"transfer\", size = \"3 MB\" }" => "application = { kind = \"web\", connection = \"page\", objects = {} }",
    ];
    one_object: [
        "application = { kind = \"transfer\", size = \"3 MB\" }" => "application = { kind = \"web\", objects = { count = 1, blocking = 2 } }",
    ];
    unknown_transport_far_from_any: ["transport = \"mine\"" => "transport = \"quic-bbr-v3\""];
    unknown_base: ["base = \"mtsi\"" => "base = \"newrino\""];
    unknown_node: ["to = \"client\"" => "to = \"cleint\""];
    unknown_channel_kind: ["kind = \"uniform\"" => "kind = \"unifrom\""];
    unknown_channel_word: ["channel = { kind = \"uniform\", packet_error_rate = 0.01 }" => "channel = \"perfetc\""];
    unknown_queue_kind: ["queue = \"100 packets\"" => "queue = { kind = \"droptail\", limit = \"9 kB\" }"];
    unknown_queue_word: ["queue = \"100 packets\"" => "queue = \"red\""];
    unknown_application: ["kind = \"transfer\", size" => "kind = \"transfr\", size"];
    unknown_profile: ["base = \"mtsi\"" => "base = \"mtsi\"\nprofile = \"linux-2.3\""];
    rack_without_linux: ["base = \"mtsi\"" => "base = \"mtsi\"\nprofile = \"linux-2.4\"\nrecovery = \"rack\""];
    unknown_start: ["base = \"mtsi\"" => "base = \"mtsi\"\nstart = \"hystart\""];
    missing_key: ["rate = \"2 Mbit/s\"\n" => ""];
    missing_keys_of_a_flow: ["from = \"server\"\n" => "", "transport = \"mine\"\n" => ""];
    missing_key_of_a_kind: [", packet_error_rate = 0.01" => ""];
    missing_kind: ["kind = \"uniform\", " => ""];
    missing_base: ["base = \"mtsi\"\n" => ""];
    missing_flows: ["[flow.download]\nfrom = \"server\"\nto = \"client\"\ntransport = \"mine\"\napplication = { kind = \"transfer\", size = \"3 MB\" }\n" => ""];
    missing_duration: ["duration = \"300 s\"\n" => ""];
    wrong_type: ["name = \"geo\"" => "name = 3", "between = [\"server\", \"gateway\"]" => "between = \"server\""];
    wrong_type_of_a_table: ["[node.server]" => "[node]\nserver = 1"];
    three_nodes_in_a_link: ["[\"server\", \"gateway\"]" => "[\"server\", \"gateway\", \"client\"]"];
    unit_missing: ["\"2 Mbit/s\"" => "2_000_000", "\"300 s\"" => "\"300\"", "\"100 packets\"" => "100"];
    unknown_unit: ["2 Mbit/s" => "2 Mbits", "3 MB" => "3 Mo", "255.5 ms" => "255.5 parsec"];
    rate_zero: ["2 Mbit/s" => "0 Mbit/s"];
    duration_zero: ["300 s" => "0 s"];
    loss_above_one: ["packet_error_rate = 0.01" => "packet_error_rate = 1.5"];
    loss_above_hundred_percent: ["packet_error_rate = 0.01" => "packet_error_rate = \"150%\""];
    negative: ["255.5 ms" => "-255.5 ms", "0.01" => "-0.01"];
    queue_of_no_packets: ["100 packets" => "0 packets"];
    red_thresholds_upside_down: ["queue = \"100 packets\"" => "queue = { kind = \"red\", limit = \"100 packets\", minimum = \"20 packets\", maximum = \"15 packets\" }"];
    red_maximum_below_an_automatic_minimum: ["queue = \"100 packets\"" => "queue = { kind = \"red\", limit = \"100 packets\", maximum = \"5 packets\" }"];
    red_unknown_preset: ["queue = \"100 packets\"" => "queue = { kind = \"red\", limit = \"100 packets\", preset = \"ns-2.29\" }"];
    red_threshold_without_unit: ["queue = \"100 packets\"" => "queue = { kind = \"red\", limit = \"100 packets\", minimum = 5, maximum = \"-3 packets\" }"];
    red_with_a_key_of_adaptive_red: ["queue = \"100 packets\"" => "queue = { kind = \"red\", limit = \"100 packets\", alpha = 0.01 }"];
    bdp_of_a_link_without_delay: ["one_way_delay = \"0 ms\"" => "one_way_delay = \"0 ms\"\nqueue = \"1 BDP\""];
    unlinked_node: ["[node.client]" => "[node.client]\n[node.lonely]"];
    unconnected: ["[node.client]" => "[node.client]\n[node.a]\n[node.b]", "[transport.mine]" => "[link.other]\nbetween = [\"a\", \"b\"]\nrate = \"1 Mbit/s\"\none_way_delay = \"1 ms\"\n\n[transport.mine]", "to = \"client\"" => "to = \"a\""];
    flow_to_itself: ["to = \"client\"" => "to = \"server\""];
    link_to_itself: ["[\"gateway\", \"client\"]" => "[\"gateway\", \"gateway\"]"];
    duplicate_table: ["[node.gateway]" => "[node.server]"];
    duplicate_key: ["rate = \"2 Mbit/s\"" => "rate = \"2 Mbit/s\"\nrate = \"3 Mbit/s\""];
    broken_syntax: ["rate = \"2 Mbit/s\"" => "rate = 2 Mbit/s"];
    broken_header: ["[link.satellite]" => "[link.satellite"];
    delay_given_twice: ["one_way_delay = \"255.5 ms\"" => "one_way_delay = \"255.5 ms\"\nround_trip_delay = \"511 ms\""];
    count_zero: ["[node.client]" => "[node.client]\ncount = 0"];
    count_too_large: ["[node.client]" => "[node.client]\ncount = 100_001"];
    too_many_nodes: ["[node.client]" => "[node.client]\ncount = 100_000"];
    count_of_flows_too_large: ["to = \"client\"" => "to = \"client\"\ncount = 1_000_000_000_000"];
    counts_that_do_not_pair_up: ["[node.server]" => "[node.server]\ncount = 3", "[node.client]" => "[node.client]\ncount = 4"];
    number_outside_a_count: ["[node.client]" => "[node.client]\ncount = 4", "to = \"client\"" => "to = \"client[5]\""];
    bad_name: ["[node.client]" => "[node.\"my client\"]"];
    unknown_parameter: ["thresholds" => "treshholds"];
    parameter_of_another: ["thresholds = [10, 20, 30]" => "beta = 0.7"];
    parameter_out_of_range: ["[10, 20, 30]" => "[0, 20, 30]"];
    parameters_that_do_not_fit: ["[10, 20, 30]" => "[10, 20]"];
    thresholds_that_descend: ["[10, 20, 30]" => "[30, 20, 10]"];
    parameter_word: ["base = \"mtsi\"" => "base = \"mtsi\"\nscope = \"stricct\""];
    transport_that_refines_itself: ["base = \"mtsi\"" => "base = \"other\"", "[flow.download]" => "[transport.other]\nbase = \"mine\"\n\n[flow.download]"];
    flow_that_never_starts: ["to = \"client\"" => "to = \"client\"\nstart = \"400 s\""];
    flow_that_stops_first: ["to = \"client\"" => "to = \"client\"\nstart = \"10 s\"\nstop = \"5 s\""];
    datagrams_with_a_transport: ["{ kind = \"transfer\", size = \"3 MB\" }" => "{ kind = \"constant-rate\", rate = \"1 Mbit/s\" }"];
    on_off_without_off: ["{ kind = \"transfer\", size = \"3 MB\" }" => "{ kind = \"on-off\", rate = \"1 Mbit/s\", on = \"1 s\" }"];
    on_off_of_no_length: ["{ kind = \"transfer\", size = \"3 MB\" }" => "{ kind = \"on-off\", rate = \"1 Mbit/s\", on = { kind = \"exponential\", mean = \"10 ns\" }, off = \"1 s\" }"];
    on_off_with_an_unknown_period: ["{ kind = \"transfer\", size = \"3 MB\" }" => "{ kind = \"on-off\", rate = \"1 Mbit/s\", on = { kind = \"paretto\", mean = \"1 s\" }, off = \"1 s\" }"];
    on_off_without_a_mean: ["{ kind = \"transfer\", size = \"3 MB\" }" => "{ kind = \"on-off\", rate = \"1 Mbit/s\", on = { kind = \"pareto\", shape = 1 }, off = \"1 s\" }"];
    pages_over_ideal: ["{ kind = \"transfer\", size = \"3 MB\" }" => "\"web\"", "transport = \"mine\"" => "transport = \"ideal\""];
    pages_over_an_agent_of_ns2: ["{ kind = \"transfer\", size = \"3 MB\" }" => "{ kind = \"web\", connection = \"page\" }", "thresholds" => "profile = \"ns-2\"\nthresholds"];
    on_off_over_ideal: ["{ kind = \"transfer\", size = \"3 MB\" }" => "{ kind = \"on-off\", rate = \"1 Mbit/s\", on = \"1 s\", off = \"1 s\" }", "transport = \"mine\"" => "transport = \"ideal\""];
    many_mistakes: ["300 s" => "300 parsec", "2 Mbit/s" => "2", "client\"]" => "cleint\"]", "mtsi" => "mtis", "3 MB" => "many"];
}

#[test]
fn empty_file() {
    insta::assert_snapshot!("empty_file", rendered(""));
    insta::assert_snapshot!("empty_but_for_a_comment", rendered("# nothing yet\n"));
}

#[test]
fn nested_too_deeply() {
    let text = format!("a{} = 1", ".a".repeat(100_000));
    let errors = Document::parse("deep.toml", &text).unwrap_err();
    assert!(errors.to_string().contains("nested too deeply"));
    // As deep as TOML's own limit and ours let both kinds of nesting go.
    let text = format!(
        "x = {}1{}",
        format!("{{ a{} = ", ".a".repeat(16)).repeat(79),
        "}".repeat(79)
    );
    let errors = Document::parse("deep.toml", &text).unwrap_err();
    assert!(errors.to_string().contains("nested too deeply"));
    let text = format!("a = {}1{}", "[".repeat(60), "]".repeat(60));
    let errors = Document::parse("deep.toml", &text).unwrap_err();
    assert!(errors.to_string().contains("nested too deeply"));
}

#[test]
fn not_utf8() {
    let errors = Document::parse_bytes("latin1.toml", b"name = \"\xe9\"").unwrap_err();
    insta::assert_snapshot!("not_utf8", errors.render(false));
}

#[test]
fn more_errors_than_one_wants_to_read() {
    let text: String = (0..80).map(|i| format!("unknown{i} = 1\n")).collect();
    let errors = Document::parse("geo.toml", &text)
        .unwrap()
        .validate()
        .unwrap_err();
    assert_eq!(errors.errors.len(), 50);
    let text = errors.render(false);
    let last = text.trim_end().lines().last().unwrap();
    assert_eq!(last, "error: geo.toml has 84 errors: 50 shown, and 34 more");
}

/// The message for a value that was set from outside.
fn overridden(path: &str, value: impl Into<Override>) -> String {
    let document = Document::parse("geo.toml", GOOD).unwrap();
    let result = document
        .with(path, &value.into())
        .and_then(|d| d.validate());
    result.unwrap_err().render(false)
}

/// The good scenario and this in the table of a middlebox.
fn boxed(keys: &str) -> String {
    rendered(&format!("{GOOD}\n[middlebox.cache]\n{keys}\n"))
}

#[test]
fn middleboxes() {
    insta::assert_snapshot!(
        "middlebox_of_no_kind",
        boxed("node = \"gateway\"\ntoward = \"satellite\"")
    );
    insta::assert_snapshot!(
        "middlebox_of_an_unknown_kind",
        boxed("kind = \"snop\"\nnode = \"gateway\"\ntoward = \"satellite\"")
    );
    insta::assert_snapshot!(
        "middlebox_at_an_unknown_link",
        boxed("kind = \"snoop\"\nnode = \"gateway\"\ntoward = \"satelite\"")
    );
    insta::assert_snapshot!(
        "middlebox_at_a_link_elsewhere",
        boxed("kind = \"snoop\"\nnode = \"server\"\ntoward = \"satellite\"")
    );
    insta::assert_snapshot!(
        "middlebox_without_its_place",
        boxed("kind = \"snoop\"\ntick = \"0 s\"")
    );
    insta::assert_snapshot!(
        "middlebox_with_an_unknown_variant",
        boxed("kind = \"snoop\"\nnode = \"gatway\"\ntoward = \"lan\"\nvariant = \"ns2\"")
    );
}

#[test]
fn split_peps() {
    insta::assert_snapshot!(
        "pep_with_bad_values",
        boxed(
            "kind = \"split\"\nnode = \"gateway\"\ntransport = \"hibla\"\n\
             buffer = \"0 B\"\naccept = \"erly\"\npool = 3\nflows = [1]"
        )
    );
    insta::assert_snapshot!(
        "pep_for_an_unknown_flow",
        boxed("kind = \"split\"\nnode = \"gateway\"\nflows = [\"downlod\"]")
    );
    insta::assert_snapshot!(
        "pep_before_an_agent_of_ns2",
        boxed("kind = \"split\"\nnode = \"gateway\"\n\n[transport.mtsi]\nprofile = \"ns-2\"")
    );
    insta::assert_snapshot!(
        "pep_over_no_router",
        boxed("kind = \"split\"\nnode = \"gateway\"\ntransport = \"xcp\"")
    );
    insta::assert_snapshot!(
        "pep_on_an_end",
        boxed("kind = \"split\"\nnode = \"client\"")
    );
    insta::assert_snapshot!(
        "pep_with_the_ideal_bound",
        boxed("kind = \"split\"\nnode = \"gateway\"\ntransport = \"ideal\"")
    );
}

/// The good scenario with a terminal behind the satellite and these keys of a PEP on both sides.
fn two_peps(first: &str, second: &str) -> String {
    let with_terminal = with(&[
        (
            "between = [\"gateway\", \"client\"]",
            "between = [\"gateway\", \"terminal\"]",
        ),
        (
            "[node.client]\n",
            "[node.client]\n[node.terminal]\n[link.home]\nbetween = [\"terminal\", \"client\"]\n\
             rate = \"10 Mbit/s\"\none_way_delay = \"1 ms\"\n",
        ),
    ]);
    rendered(&format!(
        "{with_terminal}\n[middlebox.hub]\nkind = \"split\"\nnode = \"gateway\"\n\
         toward = \"satellite\"\n{first}\n[middlebox.terminal]\nkind = \"split\"\n\
         node = \"terminal\"\n{second}\n"
    ))
}

#[test]
fn peps_that_grant() {
    const GRANTS: &str = "proxy_control = \"grants\"";
    insta::assert_snapshot!(
        "pep_with_a_backlog_and_no_grants",
        boxed("kind = \"split\"\nnode = \"gateway\"\nbacklog = \"1 MB\"")
    );
    insta::assert_snapshot!(
        "pep_with_grants_and_a_buffer",
        boxed(&format!(
            "kind = \"split\"\nnode = \"gateway\"\n{GRANTS}\nbuffer = \"1 MB\""
        ))
    );
    insta::assert_snapshot!(
        "pep_with_grants_in_a_tunnel",
        boxed(&format!(
            "kind = \"split\"\nnode = \"gateway\"\n{GRANTS}\ntunnel = \"gateway\""
        ))
    );
    insta::assert_snapshot!(
        "pep_that_verifies_no_rate",
        boxed("kind = \"split\"\nnode = \"gateway\"\nrate = \"verified\"")
    );
    insta::assert_snapshot!(
        "pep_that_grants_alone",
        two_peps(&format!("{GRANTS}\ntransport = \"stp\""), "")
    );
    insta::assert_snapshot!(
        "pep_with_grants_and_a_window",
        two_peps(&format!("{GRANTS}\ntransport = \"hybla\""), GRANTS)
    );
}

#[test]
fn axis_values() {
    insta::assert_snapshot!("axis_unit", overridden("link.satellite.rate", "2 Mbits"));
    insta::assert_snapshot!("axis_key", overridden("link.satellite.rte", "2 Mbit/s"));
    insta::assert_snapshot!("axis_link", overridden("link.satelite.rate", "2 Mbit/s"));
    insta::assert_snapshot!(
        "axis_transport",
        overridden("flow.download.transport", "mtis")
    );
    insta::assert_snapshot!(
        "axis_named_transport",
        overridden("transport.mtis.mss", "1 kB")
    );
    insta::assert_snapshot!(
        "axis_list",
        overridden("transport.mine.thresholds", vec![1.5, 0.5])
    );
    insta::assert_snapshot!("axis_through_a_value", overridden("duration.x", "1 s"));
    insta::assert_snapshot!("axis_not_a_path", overridden("link..rate", "1 s"));
    insta::assert_snapshot!("axis_number", overridden("duration", 3.0));
}

#[test]
fn errors_say_where_they_are() {
    let text = with(&[("2 Mbit/s", "2 Mbits")]);
    let errors = Document::parse("dir/geo.toml", &text)
        .unwrap()
        .validate()
        .unwrap_err();
    let error = &errors.errors[0];
    assert_eq!((error.line(), error.column()), (Some(15), Some(8)));
    assert_eq!(&text[error.span().unwrap()], "\"2 Mbits\"");
    assert_eq!(
        errors.to_string(),
        "dir/geo.toml:15:8: `rate`: unknown unit `Mbits` in `2 Mbits`"
    );
    assert!(errors.render(true).contains("\u{1b}["));
}

#[test]
fn a_study_is_refused_in_one_message() {
    let study = "name = 'x'\ntitle = 'y'\nscenario = 'z.toml'\n[[axis]]\nname = 'a'\n";
    let shown = rendered(study);
    assert!(shown.contains("this is a study, not a scenario"), "{shown}");
    assert!(shown.ends_with("error: geo.toml has 1 error\n"), "{shown}");
}

#[test]
fn a_value_of_the_command_line_has_words_of_its_own() {
    let mut document = Document::parse("geo.toml", GOOD).unwrap();
    document
        .set_by(SetBy::Option, "link.sat.rate", &"5 Mbit/s".into())
        .map_err(|e| insta::assert_snapshot!("option_link", e.render(false)))
        .unwrap_err();
    document
        .set_by(SetBy::Option, "link.satellite.rate", &"5 Mbits".into())
        .unwrap();
    let errors = document.validate().unwrap_err();
    insta::assert_snapshot!("option_value", errors.render(false));
}

/// A hundred thousand errors took minutes when each looked through all tables.
#[test]
fn errors_take_linear_time() {
    let tables: String = (0..100_000)
        .map(|i| format!("[zzzzzz{i}]\nx = 1\n"))
        .collect();
    let flows: String = (0..20_000)
        .map(|i| format!("[flow.f{i}]\nfrom = \"sever\"\nto = \"cliet\"\ntransport = \"quc\"\n"))
        .collect();
    for text in [tables, flows] {
        let errors = Document::parse("big.toml", &format!("{GOOD}{text}"))
            .unwrap()
            .validate()
            .unwrap_err();
        assert_eq!(errors.errors.len(), 50);
        assert!(errors.more > 19_000, "{}", errors.more);
        let _ = errors.render(false);
    }
}

#[test]
fn escapes_do_not_reach_the_terminal() {
    let text = with(&[("name = \"geo\"", "name = \"\\u001b[31mred\"")]);
    let scenario = Document::parse("geo.toml", &text)
        .unwrap()
        .validate()
        .unwrap();
    assert_eq!(scenario.name, "\u{241b}[31mred");
    let text = with(&[("to = \"client\"", "to = \"\\u001b[31m\"")]);
    let errors = Document::parse("geo.toml", &text)
        .unwrap()
        .validate()
        .unwrap_err();
    assert!(!errors.to_string().contains('\u{1b}') && !errors.render(false).contains('\u{1b}'));
}
