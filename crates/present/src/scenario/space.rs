//! A constellation in a few lines: its satellites, their links, and what the run uses.

use crate::output::{Output, seconds};
use bentpipe_orbit::{Mode, Node, Plan};
use bentpipe_scenario::Scenario;
use bentpipe_scenario::space::ExpandedConstellation;
use bentpipe_units::Time;
use std::collections::BTreeSet;
use std::io;

/// Characters of the terms.
const TERM: usize = 12;

/// Pairs of terminals whose first paths are shown.
const PAIRS: usize = 4;

/// Terminals that are named.
const NAMES: usize = 6;

/// Prints the lines.
pub(super) fn print(
    scenario: &Scenario,
    sky: &ExpandedConstellation,
    out: &mut Output,
) -> io::Result<()> {
    out.strong(format_args!("constellation {}", sky.name))?;
    out.entry(2, "satellites", TERM, &satellites(sky))?;
    out.entry(2, "laser links", TERM, &laser_links(sky))?;
    out.entry(2, "terminals", TERM, &terminals(scenario, sky))?;
    out.entry(2, "in this run", TERM, &used(sky))?;
    let pairs = sky.plan.pairs();
    for pair in 0..pairs.len().min(PAIRS) {
        let term = if pair == 0 { "first path" } else { "" };
        out.entry(2, term, TERM, &first_path(scenario, sky, pair))?;
    }
    match pairs.len().saturating_sub(PAIRS) {
        0 => Ok(()),
        more => out.entry(2, "", TERM, &format!("and {more} more pairs of terminals")),
    }
}

/// `66 in 6 planes of 11, 780 km high`.
fn satellites(sky: &ExpandedConstellation) -> String {
    let all = &sky.constellation;
    let count = all.len();
    let heights = (0..count).map(|i| all.position(i, Time::ZERO).altitude().km());
    // A satellite whose elements hold no longer is put at the centre of the earth.
    let heights: Vec<f64> = heights.filter(|km| *km > 0.0).collect();
    let low = heights.iter().copied().fold(f64::INFINITY, f64::min);
    let high = heights.iter().copied().fold(0.0, f64::max);
    let height = match (low.round(), high.round()) {
        (low, high) if high <= 0.0 || low > high => String::new(),
        (low, high) if high - low < 10.0 => format!(", {high:.0} km high"),
        (low, high) => format!(", {low:.0} to {high:.0} km high"),
    };
    match all.as_shell() {
        Some(shell) => format!(
            "{count} in {} planes of {}{height}",
            shell.planes, shell.per_plane
        ),
        None if all.stands() => format!("{count} over the equator{height}"),
        None => format!("{count} from a file of elements{height}"),
    }
}

/// `2 to 4 for each satellite, 110 in all`.
fn laser_links(sky: &ExpandedConstellation) -> String {
    if sky.mode == Mode::BentPipe {
        return "none: satellites repeat what they receive to the ground".to_owned();
    }
    let isls = sky.constellation.isls();
    let mut of_each = vec![0_u32; sky.constellation.len()];
    for end in isls.iter().flat_map(|isl| [isl.a, isl.b]) {
        if let Some(count) = of_each.get_mut(end as usize) {
            *count += 1;
        }
    }
    let least = of_each.iter().min().copied().unwrap_or(0);
    let most = of_each.iter().max().copied().unwrap_or(0);
    let each = match least == most {
        true => most.to_string(),
        false => format!("{least} to {most}"),
    };
    format!("{each} for each satellite, {} in all", isls.len())
}

fn terminals(scenario: &Scenario, sky: &ExpandedConstellation) -> String {
    let nodes = sky
        .nodes
        .iter()
        .filter_map(|id| scenario.nodes.get(id.0 as usize));
    let names: Vec<&str> = nodes.take(NAMES).map(|n| n.name.as_str()).collect();
    let more = match sky.nodes.len().saturating_sub(NAMES) {
        0 => String::new(),
        n => format!(" and {n} more"),
    };
    format!(
        "{}{more}; by default {} up and {} down",
        names.join(", "),
        sky.up_rate,
        sky.down_rate
    )
}

/// What the paths of the run go over.
fn used(sky: &ExpandedConstellation) -> String {
    let plan = &sky.plan;
    let mut satellites = BTreeSet::new();
    let (mut ground, mut laser) = (BTreeSet::new(), BTreeSet::new());
    for path in (0..plan.paths()).map(|id| plan.path(id as u32)) {
        for ends in path.windows(2) {
            let [a, b] = [ends[0].min(ends[1]), ends[0].max(ends[1])];
            let both = [a, b].iter().all(|n| matches!(n, Node::Satellite(_)));
            if both {
                laser.insert((a, b))
            } else {
                ground.insert((a, b))
            };
        }
        satellites.extend(path.iter().filter_map(|node| match node {
            Node::Satellite(number) => Some(*number),
            Node::Terminal(_) => None,
        }));
    }
    let laser = match sky.mode {
        Mode::BentPipe => String::new(),
        Mode::Isl => format!(" and {} laser links", laser.len()),
    };
    let count = match satellites.len() {
        1 => "1 satellite".to_owned(),
        n => format!("{n} satellites"),
    };
    format!("{count} over {} ground links{laser}", ground.len())
}

/// `berkeley > leo[2-4] > leo[3-4] > boston, 33.9 ms one way; 2 changes in 600 s`.
fn first_path(scenario: &Scenario, sky: &ExpandedConstellation, pair: usize) -> String {
    let plan: &Plan = &sky.plan;
    let Some(ends) = plan.pairs().get(pair) else {
        return String::new();
    };
    let terminal = |number: u32| {
        let node = sky.nodes.get(number as usize);
        let node = node.and_then(|id| scenario.nodes.get(id.0 as usize));
        node.map_or("?", |n| n.name.as_str()).to_owned()
    };
    let name = |node: &Node| match node {
        Node::Terminal(number) => terminal(*number),
        Node::Satellite(number) => {
            let label = sky.constellation.label(*number as usize);
            format!("{}[{label}]", sky.name)
        }
    };
    let length = seconds(plan.duration().as_secs());
    let Some(first) = ends.stretches.iter().find(|s| s.path.is_some()) else {
        let [from, to] = [ends.from, ends.to].map(terminal);
        return format!("{from} to {to}: no path within {length}");
    };
    let path = first.path.map_or(&[][..], |id| plan.path(id));
    let path: Vec<String> = path.iter().map(name).collect();
    let delay = plan.delay_at(pair, first.from);
    let delay = delay.map_or_else(String::new, |d| {
        format!(", {} one way", seconds(d.as_secs()))
    });
    let since = match first.from {
        Time::ZERO => String::new(),
        at => format!(" from {} on", seconds(at.as_secs())),
    };
    let changes = ends.stretches.len() - 1;
    let changes = match changes {
        0 => format!("the same for {length}"),
        1 => format!("one change in {length}"),
        n => format!("{n} changes in {length}"),
    };
    format!("{}{delay}{since}; {changes}", path.join(" > "))
}
