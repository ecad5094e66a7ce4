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
    let document = Document::parse("many.toml", &text).map_err(|errors| errors.render(false))?;
    document.validate().map_err(|errors| errors.render(false))
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
    // Over the ground, Lisbon's host and Oslo's are 30 ms apart; over the satellites less.
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
fn a_terminal_without_a_flow_costs_nothing() {
    let one = "f = { from = \"user[7]\", to = \"south\", transport = \"sack\", application = \"persistent\" }";
    let few = scenario(7, 30, one).unwrap();
    let many = scenario(20_000, 30, one).unwrap();
    assert_eq!(few.links.len(), many.links.len());
    assert_eq!(
        names(&few, &few.flows[0].forward),
        names(&many, &many.flows[0].forward)
    );
}

#[test]
fn too_many_gateways_are_named() {
    let text = "duration = \"30 s\"
[node]
user = { count = 2500, terminal_of = \"sky\", place = \"Berlin\" }
hosts = { count = 2500 }
[link.behind]
between = [\"user\", \"hosts\"]
rate = \"1 Gbit/s\"
one_way_delay = \"1 ms\"
[constellation.sky]
kind = \"starlink\"
up_rate = \"10 Mbit/s\"
down_rate = \"100 Mbit/s\"
[flow.f]
from = \"hosts[1]\"
to = \"hosts[2]\"
transport = \"sack\"
application = \"persistent\"
";
    let document = Document::parse("many.toml", text).unwrap();
    let message = document.validate().unwrap_err().render(false);
    assert!(
        message.contains("2500 of its 2500 terminals have links to other nodes"),
        "{message}"
    );
}
