//! Constellations with many terminals: which ways there are between them, and what routes take.

use bentpipe_scenario::{Document, LinkId, Scenario};

/// Terminals in Berlin (many), in Lisbon and in Oslo, the last two with a host behind them that a line
/// joins too.
fn scenario(many: usize, line_ms: u32, flows: &str) -> Result<Scenario, String> {
    let text = format!(
        "duration = \"30 s\"
[node]
user = {{ count = {many}, terminal_of = \"sky\", place = \"Berlin\" }}
lisbon = {{ terminal_of = \"sky\", place = \"Lisbon\" }}
oslo = {{ terminal_of = \"sky\", place = \"Oslo\" }}
south = {{}}
north = {{}}
[link]
south = {{ between = [\"lisbon\", \"south\"], rate = \"1 Gbit/s\", one_way_delay = \"1 ms\" }}
north = {{ between = [\"oslo\", \"north\"], rate = \"1 Gbit/s\", one_way_delay = \"1 ms\" }}
line = {{ between = [\"south\", \"north\"], rate = \"1 Gbit/s\", one_way_delay = \"{line_ms} ms\" }}
[constellation.sky]
kind = \"starlink\"
up_rate = \"10 Mbit/s\"
down_rate = \"100 Mbit/s\"
isl_rate = \"1 Gbit/s\"
[flow]
{flows}
"
    );
    read(&text)
}

const UP: &str =
    "up = { from = \"user\", to = \"south\", transport = \"sack\", application = \"persistent\" }";

fn names(scenario: &Scenario, links: &[LinkId]) -> Vec<String> {
    let name = |id: &LinkId| scenario.links[id.0 as usize].name.clone();
    links.iter().map(name).collect()
}

#[test]
fn a_route_does_not_depend_on_how_many_terminals_there_are() {
    let few = scenario(2, 30, UP).unwrap();
    let many = scenario(3000, 30, UP).unwrap();
    assert_eq!(many.flows.len(), 3000);
    let (few_route, many_route) = (&few.flows[0], &many.flows[0]);
    assert_eq!(
        names(&few, &few_route.forward),
        names(&many, &many_route.forward)
    );
    assert_eq!(
        names(&few, &few_route.reverse),
        names(&many, &many_route.reverse)
    );
    assert_eq!(few_route.changes.len(), many_route.changes.len());
    // What is for a terminal grows with them, and nothing else does.
    let own = many.links.len() - few.links.len();
    let of_one = few
        .links
        .iter()
        .filter(|l| l.name.contains("user[1]"))
        .count();
    assert_eq!(own, 2998 * of_one);
}

#[test]
fn routes_pass_through_terminals_that_have_links() {
    // The line between the hosts takes `line_ms`, a way over the satellites some 10 to 20 ms.
    let from_to = |from: &str, to: &str| {
        format!(
            "f = {{ from = \"{from}\", to = \"{to}\", transport = \"sack\", application = \"persistent\" }}"
        )
    };
    let path = |line_ms: u32, from: &str, to: &str| {
        let scenario = scenario(3, line_ms, &from_to(from, to)).unwrap();
        let path = names(&scenario, &scenario.flows[0].forward);
        let ground = path.iter().filter(|name| !name.starts_with("sky"));
        (ground.cloned().collect::<Vec<_>>(), path.len())
    };
    // A user reaches a host through the gateway that is nearer in time.
    assert_eq!(path(30, "user[2]", "south").0, ["south"]);
    assert_eq!(path(1, "user[2]", "south").0, ["north", "line.reverse"]);
    assert_eq!(path(30, "user[2]", "north").0, ["north"]);
    // Two users are joined by the constellation alone.
    assert_eq!(path(1, "user[2]", "user[3]").0, [""; 0]);
    // Gateways too, where the line between them is the longer way.
    assert_eq!(path(90, "south", "north").0, ["south.reverse", "north"]);
    assert_eq!(path(1, "south", "north"), (vec!["line".to_owned()], 1));
    assert_eq!(path(90, "lisbon", "north").0, ["north"]);
    assert_eq!(path(90, "lisbon", "user[1]").0, [""; 0]);
}

#[test]
fn terminals_without_flows_get_no_links() {
    let one = "f = { from = \"user[7]\", to = \"south\", transport = \"sack\", application = \"persistent\" }";
    let few = scenario(7, 30, one).unwrap();
    let many = scenario(20_000, 30, one).unwrap();
    assert_eq!(few.links.len(), many.links.len());
    assert_eq!(
        names(&few, &few.flows[0].forward),
        names(&many, &many.flows[0].forward)
    );
}

fn read(text: &str) -> Result<Scenario, String> {
    let document = Document::parse("many.toml", text).map_err(|errors| errors.render(false))?;
    document.validate().map_err(|errors| errors.render(false))
}

/// What a file of these tests ends with.
const SKY: &str = "[constellation.sky]
kind = \"starlink\"
up_rate = \"10 Mbit/s\"
down_rate = \"100 Mbit/s\"
";

/// A flow from a node to another.
fn flow(name: &str, from: &str, to: &str) -> String {
    format!(
        "[flow.{name}]\nfrom = \"{from}\"\nto = \"{to}\"\ntransport = \"sack\"\n\
         application = \"persistent\"\n"
    )
}

#[test]
fn many_terminals_may_send_to_one_without_links() {
    // Routes to Lisbon could pass the two others, which a line joins.
    let text = format!(
        "duration = \"30 s\"
[node]
user = {{ count = 20000, terminal_of = \"sky\", place = \"Berlin\" }}
lisbon = {{ terminal_of = \"sky\", place = \"Lisbon\" }}
oslo = {{ terminal_of = \"sky\", place = \"Oslo\" }}
rome = {{ terminal_of = \"sky\", place = \"Rome\" }}
[link.line]
between = [\"oslo\", \"rome\"]
rate = \"1 Gbit/s\"
one_way_delay = \"9 ms\"
{SKY}{}",
        flow("f", "user", "lisbon")
    );
    let scenario = read(&text).unwrap();
    assert_eq!(scenario.flows.len(), 20_000);
    for flow in scenario.flows.iter().step_by(997) {
        for path in [&flow.forward, &flow.reverse] {
            let path = names(&scenario, path);
            assert!(!path.is_empty());
            assert!(path.iter().all(|name| name.starts_with("sky")), "{path:?}");
        }
    }
}

#[test]
fn each_of_many_terminals_may_have_a_host_behind_it() {
    let text = format!(
        "duration = \"30 s\"
[node]
user = {{ count = 3000, terminal_of = \"sky\", place = \"Berlin\" }}
pc = {{ count = 3000 }}
lisbon = {{ terminal_of = \"sky\", place = \"Lisbon\" }}
server = {{}}
[link]
lan = {{ between = [\"user\", \"pc\"], rate = \"1 Gbit/s\", one_way_delay = \"0 s\" }}
south = {{ between = [\"lisbon\", \"server\"], rate = \"1 Gbit/s\", one_way_delay = \"1 ms\" }}
{SKY}{}{}",
        flow("f", "server", "pc"),
        flow("between", "pc[1]", "pc[3000]")
    );
    let scenario = read(&text).unwrap();
    let path = |flow: usize| names(&scenario, &scenario.flows[flow].forward);
    let (first, last) = (path(0), path(2999));
    assert_eq!(
        (first[0].as_str(), last[0].as_str()),
        ("south.reverse", "south.reverse")
    );
    assert_eq!(first.last().unwrap(), "lan[1]");
    assert_eq!(last.last().unwrap(), "lan[3000]");
    let between = path(3000);
    assert_eq!(between[0], "lan[1].reverse");
    assert_eq!(between.last().unwrap(), "lan[3000]");
    assert!(
        between[1..between.len() - 1]
            .iter()
            .all(|name| name.starts_with("sky"))
    );
}

#[test]
fn a_bent_pipe_and_a_second_constellation_take_part() {
    let text = format!(
        "duration = \"30 s\"
[node]
user = {{ count = 500, terminal_of = \"sky\", place = \"Berlin\" }}
relay = {{ terminal_of = \"sky\", place = \"Rome\" }}
dish = {{ terminal_of = \"geo\", place = \"Rome\" }}
far = {{ count = 500, terminal_of = \"geo\", place = \"Cairo\" }}
[link.line]
between = [\"relay\", \"dish\"]
rate = \"1 Gbit/s\"
one_way_delay = \"1 ms\"
[constellation.geo]
kind = \"geo\"
longitude = 13
up_rate = \"10 Mbit/s\"
down_rate = \"100 Mbit/s\"
{SKY}isl = false
search = \"15 s\"
{}",
        flow("f", "user", "far")
    );
    let scenario = read(&text).unwrap();
    let path = names(&scenario, &scenario.flows[499].forward);
    assert_eq!(path, ["sky[user[500]-relay]", "line", "geo[dish-far[500]]"]);
    assert_eq!(scenario.links.len(), 2 + 2 * 500 + 2 * 500);
}

#[test]
fn too_many_terminals_of_one_network_are_named() {
    let text = format!(
        "duration = \"30 s\"
[node]
user = {{ count = 2500, terminal_of = \"sky\", place = \"Berlin\" }}
ground = {{}}
[link.behind]
between = [\"user\", \"ground\"]
rate = \"1 Gbit/s\"
one_way_delay = \"1 ms\"
{SKY}{}{}",
        flow("a", "user[1]", "user[2]"),
        flow("b", "user[2499]", "user[2500]")
    );
    let message = read(&text).unwrap_err();
    assert!(
        message.contains("2500 terminals that links join to others, beside 0 with flows"),
        "{message}"
    );
}
