//! Nodes, and the names of nodes in links and flows.

use super::constellations::Skies;
use super::links::Links;
use crate::model::{Node, NodeId};
use crate::schema::LARGEST_COUNT;
use crate::schema::network::NodeTable;
use bentpipe_document::names::quoted;
use bentpipe_document::{Context, Diagnostic, Item, Named, OptionalField, Place, Reported, Value};
use bentpipe_orbit::Angle;
use bentpipe_units::{Rate, nearest};
use std::collections::HashMap;

/// A node of the file, which may represent several.
#[derive(Clone, Copy, Debug)]
struct Group {
    first: u32,
    /// `None` for a node without `count`.
    count: Option<u32>,
    place: Place,
    /// The constellation that they are terminals of, and how.
    station: Option<(usize, Station)>,
}

/// The place of a terminal, and its own settings.
#[derive(Clone, Copy, Debug)]
pub(super) struct Station {
    pub(super) place: bentpipe_orbit::Place,
    pub(super) mask: Option<Angle>,
    pub(super) up_rate: Option<Rate>,
    pub(super) down_rate: Option<Rate>,
}

/// The nodes of a scenario.
pub(super) struct Nodes {
    groups: HashMap<String, Group>,
    /// Names of those that could be read, for messages.
    names: Vec<String>,
    /// Every name in the file, good or bad.
    written: Vec<String>,
    nodes: Vec<Node>,
    /// False where a node could not be read, so that an unknown name may be
    /// one of those.
    complete: bool,
}

/// The meaning of a name in a link or flow: one node, or all of a counted one.
#[derive(Clone, Copy, Debug)]
pub(super) struct End {
    first: u32,
    count: Option<u32>,
    pub(super) place: Place,
}

pub(super) fn read(top: &Context, tables: OptionalField<Named<NodeTable>>, skies: &Skies) -> Nodes {
    let mut read = Nodes {
        groups: HashMap::new(),
        names: Vec::new(),
        written: Vec::new(),
        nodes: Vec::new(),
        complete: tables.is_ok(),
    };
    let Ok(tables) = tables else {
        return read;
    };
    let tables = tables.map(|t| t.value).unwrap_or_default();
    if tables.names.is_empty() {
        let error = Diagnostic::new(top.at, "the scenario has no nodes");
        top.report(error.help("write a table such as `[node.server]` for each"));
        read.complete = false;
    }
    read.written = tables.names;
    for one in tables.tables {
        let Ok(table) = one.table else {
            read.complete = false;
            continue;
        };
        let count = table.count;
        let station = station(table, skies);
        read.complete &= count.is_ok() && station.is_ok();
        let count = count.ok().flatten().map(|c| c.value);
        let first = read.nodes.len();
        if first as u64 + u64::from(count.unwrap_or(1)) > LARGEST_COUNT {
            let message = format!("more than {LARGEST_COUNT} nodes");
            top.report(Diagnostic::new(one.place, message).label("too many with these"));
            read.complete = false;
            continue;
        }
        let group = Group {
            first: first as u32,
            count,
            place: one.place,
            station: station.ok().flatten(),
        };
        match count {
            None => read.nodes.push(Node {
                name: one.name.clone(),
            }),
            Some(count) => {
                let numbered = (1..=count).map(|i| Node {
                    name: format!("{}[{i}]", one.name),
                });
                read.nodes.extend(numbered);
            }
        }
        read.names.push(one.name.clone());
        read.groups.insert(one.name, group);
    }
    read
}

/// The keys that make a node a terminal.
fn station(table: NodeTable, skies: &Skies) -> Result<Option<(usize, Station)>, Reported> {
    let context = table.context;
    let Some(of) = table.terminal_of? else {
        let keys = [
            "place",
            "latitude",
            "longitude",
            "mask",
            "up_rate",
            "down_rate",
        ];
        let Some(entry) = keys.iter().find_map(|key| context.table.get(key)) else {
            return Ok(None);
        };
        let message = format!("{} is no terminal of a constellation", context.what);
        let error = Diagnostic::new(entry.key_place, message).label("only terminals have this");
        let help = "name its constellation with `terminal_of`, or remove this";
        return Err(context.report(error.help(help)));
    };
    if !skies.names.contains(&of.value) {
        let known = skies.names.iter().map(String::as_str);
        return Err(context.unknown("constellation", &of, known));
    }
    let station = Station {
        place: ground(&context, table.place, table.latitude, table.longitude)?,
        mask: table.mask?.map(|mask| Angle::from_degrees(mask.value)),
        up_rate: table.up_rate?.map(|rate| rate.value),
        down_rate: table.down_rate?.map(|rate| rate.value),
    };
    let index = skies.skies.iter().position(|sky| sky.name == of.value);
    match index {
        Some(index) => Ok(Some((index, station))),
        None => Err(context.errors.already()),
    }
}

/// The place of a terminal: by name, or in degrees.
fn ground(
    context: &Context,
    place: OptionalField<String>,
    latitude: OptionalField<f64>,
    longitude: OptionalField<f64>,
) -> Result<bentpipe_orbit::Place, Reported> {
    let (place, latitude, longitude) = (place?, latitude?, longitude?);
    let Some(named) = place else {
        if latitude.is_none() && longitude.is_none() {
            let message = format!("{} has no place", context.what);
            let error = Diagnostic::new(context.at, message);
            let help = "write `place = \"Berlin\"`, or `latitude` and `longitude` in degrees";
            return Err(context.report(error.help(help)));
        }
        let latitude = context.need("latitude", latitude)?;
        let longitude = context.need("longitude", longitude)?;
        // Both are in their ranges.
        return bentpipe_orbit::Place::new(latitude.value, longitude.value)
            .map_err(|_| context.errors.already());
    };
    if let Some(degrees) = latitude.or(longitude) {
        let error = Diagnostic::new(degrees.key, "the place is given twice");
        let error = error.label("in degrees").related(named.key, "and by name");
        return Err(context.report(error.help("keep one of the two")));
    }
    let site = named.value.parse::<bentpipe_orbit::Site>();
    site.map(|site| site.place()).map_err(|why| {
        let message = format!("{} has no place", context.what);
        context.report(Diagnostic::new(named.place, message).label(why.to_string()))
    })
}

impl Nodes {
    pub(super) fn is_complete(&self) -> bool {
        self.complete
    }

    /// The terminals of a constellation, in the order of the nodes.
    pub(super) fn stations(&self, sky: usize) -> Vec<(NodeId, Station)> {
        let mut stations = Vec::new();
        for group in self.names.iter().filter_map(|name| self.groups.get(name)) {
            if let Some((_, station)) = group.station.filter(|(of, _)| *of == sky) {
                let nodes = group.first..group.first + group.count.unwrap_or(1);
                stations.extend(nodes.map(|node| (NodeId(node), station)));
            }
        }
        stations
    }

    pub(super) fn count(&self) -> usize {
        self.nodes.len()
    }

    pub(super) fn name(&self, id: NodeId) -> &str {
        self.nodes.get(id.0 as usize).map_or("?", |n| &n.name)
    }

    pub(super) fn list(&self) -> Vec<Node> {
        self.nodes.clone()
    }

    /// The nodes that a value names.
    pub(super) fn end(&self, context: &Context, item: &Item) -> Result<End, Reported> {
        let report = |error: Diagnostic| Err(context.report(error));
        let Value::Text(text) = &item.value else {
            let message = format!("expected the name of a node, found {}", item.value.kind());
            let error = Diagnostic::new(item.place, message);
            return report(error.label("expected a name in quotes, such as \"server\""));
        };
        let (name, number) = match text.strip_suffix(']').and_then(|t| t.split_once('[')) {
            Some((name, number)) => (name, Some(number)),
            None => (text.as_str(), None),
        };
        let Some(group) = self.groups.get(name) else {
            if self.written.iter().any(|n| n == name) {
                return Err(context.errors.already());
            }
            return Err(context.errors.report_with(|| {
                let names = || self.names.iter().map(String::as_str);
                let error = Diagnostic::new(item.place, format!("unknown node `{text}`"));
                let error = error.label("no node has this name");
                match nearest(name, names()) {
                    Some(name) => error.help(format!("did you mean `{name}`?")),
                    None if self.names.is_empty() => {
                        error.help("write a table `[node.NAME]` for it")
                    }
                    None => error.help(format!("nodes are {}", quoted(names().take(10)))),
                }
            }));
        };
        let Some(number) = number else {
            return Ok(End {
                first: group.first,
                count: group.count,
                place: item.place,
            });
        };
        let count = group.count.unwrap_or(0);
        match number
            .parse::<u32>()
            .ok()
            .filter(|n| (1..=count).contains(n))
        {
            Some(n) => Ok(End {
                first: group.first + n - 1,
                count: None,
                place: item.place,
            }),
            None => {
                let error = Diagnostic::new(item.place, format!("there is no node `{text}`"));
                let error = match group.count {
                    Some(count) => error.label(format!("`{name}` has numbers 1 to {count}")),
                    None => error.label(format!("`{name}` is a single node")),
                };
                report(error.related(group.place, "the node"))
            }
        }
    }
}

impl End {
    /// The node, if it represents only one.
    pub(super) fn single(&self) -> Option<NodeId> {
        self.count.is_none().then_some(NodeId(self.first))
    }

    /// The nodes that face each other: one to one where both are counted, all
    /// to one where one is.
    pub(super) fn pairs(
        &self,
        other: &End,
        context: &Context,
    ) -> Result<Vec<(NodeId, NodeId)>, Reported> {
        let nodes = match (self.count, other.count) {
            (Some(a), Some(b)) if a != b => {
                let message = format!("{a} nodes cannot pair up with {b}");
                let error = Diagnostic::new(other.place, message);
                return Err(context.report(
                    error
                        .label(format!("{b} nodes"))
                        .related(self.place, format!("{a} nodes"))
                        .help("counted nodes pair up one to one, or all with a single node"),
                ));
            }
            (a, b) => a.or(b).unwrap_or(1),
        };
        let at = |end: &End, i: u32| NodeId(end.first + if end.count.is_some() { i } else { 0 });
        let pairs: Vec<_> = (0..nodes).map(|i| (at(self, i), at(other, i))).collect();
        if pairs.iter().any(|(a, b)| a == b) {
            let error = Diagnostic::new(
                other.place,
                format!("{} ends where it starts", context.what),
            );
            return Err(context.report(
                error
                    .label("the same node")
                    .related(self.place, "starts here")
                    .help("name two different nodes"),
            ));
        }
        Ok(pairs)
    }

    /// True if either represents several nodes.
    pub(super) fn counted(&self, other: &End) -> bool {
        self.count.is_some() || other.count.is_some()
    }
}

/// Reports nodes that no link reaches.
pub(super) fn check_linked(top: &Context, nodes: &Nodes, links: &Links) {
    // One misspelt name in a link would make several nodes look lonely.
    if !nodes.complete || !links.complete || links.links.is_empty() {
        return;
    }
    let mut linked = vec![false; nodes.nodes.len()];
    for group in nodes.groups.values().filter(|g| g.station.is_some()) {
        let range = group.first as usize..(group.first + group.count.unwrap_or(1)) as usize;
        linked[range].fill(true);
    }
    for link in &links.links {
        linked[link.from.0 as usize] = true;
    }
    for name in &nodes.names {
        let Some(group) = nodes.groups.get(name) else {
            continue;
        };
        let range = group.first as usize..(group.first + group.count.unwrap_or(1)) as usize;
        let Some(alone) = linked[range.clone()].iter().position(|l| !l) else {
            continue;
        };
        let alone = &nodes.nodes[range.start + alone].name;
        let error = Diagnostic::new(group.place, format!("no link reaches node `{alone}`"));
        top.report(
            error
                .label("not in the `between` of any link")
                .help("add a link to it, or remove it"),
        );
    }
}
