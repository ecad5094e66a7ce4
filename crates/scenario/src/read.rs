//! From the tables of a document to the validated model.
//!
//! Each part reports its errors and continues, so that one pass finds as many errors as possible. A
//! value that could not be read is `Err(Reported)`: code that needs it reports nothing more.

mod applications;
mod constellations;
mod controls;
mod flows;
pub(crate) mod jitter;
mod links;
mod media;
mod middleboxes;
mod nodes;
mod protection;
pub(crate) mod queues;
mod quic;
mod routers;
pub(crate) mod slots;
mod space;
mod timelines;
mod transports;
mod ways;

use crate::document::GivenControls;
use crate::model::{Kept, Limits, Scenario};
use crate::route::SkyWays;
use crate::schema::network::Top;
use crate::space::{ExpandedConstellations, Hop};
use bentpipe_document::reading::Declared;
use bentpipe_document::{Context, Diagnostic, Errors, Place, Reported, Table, form, printable};

/// The scenario that a document describes, and its constellations.
pub(crate) fn scenario(
    table: &Table,
    default_name: &str,
    given: &GivenControls,
    errors: &Errors,
) -> Result<(Scenario, ExpandedConstellations), Reported> {
    if table.is_empty() {
        let error = Diagnostic::new(Place::Whole, "the scenario is empty")
            .help("a scenario has a `duration`, nodes, links and flows")
            .help("`bentpipe new` writes one to start from");
        return Err(errors.report(error));
    }
    if let Some(error) = not_a_scenario(table) {
        return Err(errors.report(error));
    }
    let context = Context::top::<Top>(table, errors, "the scenario");
    let Top {
        context: top,
        name,
        description,
        duration,
        seed,
        stranded,
        limits: bounds,
        node,
        link,
        constellation,
        medium,
        control,
        transport,
        flow,
        middlebox,
    } = Top::from_context(context);
    let end = duration.ok().map(|d| d.value);
    let limits = form::settle_or_none::<_, Limits, _>(&bounds, &());
    let seed_of_skies = seed.map_or(1, |seed| seed.value);
    let skies = constellations::read(constellation, end, seed_of_skies);
    let nodes = nodes::read(&top, node, &skies);
    let media = media::read(&top, medium);
    let mut links = links::read(&top, link, !skies.names.is_empty(), &nodes, &media);
    media.check(&links.links);
    nodes::check_linked(&top, &nodes, &links);
    let controls = controls::read(control, given);
    let transports = transports::read(transport, controls);
    let flows = flows::read(&top, flow, &nodes, &transports, end);
    let ends: Vec<_> = flows.iter().flat_map(flows::Unrouted::ends).collect();
    let ways = ways::join(&top, &skies, &nodes, &mut links, &ends);
    let none = SkyWays::default();
    let over_sky = ways.as_ref().map_or(&none, |ways| &ways.over_sky);
    let flows = flows::route(&top, flows?, &nodes, &links, over_sky);
    // A middlebox may be at a link of a constellation, which does not exist yet.
    let early = skies
        .names
        .is_empty()
        .then(|| middleboxes::read(middlebox.clone(), &nodes, &links, &transports));
    let mut scenario = Scenario {
        name: name?.map_or_else(|| default_name.to_string(), |name| printable(&name.value)),
        description: description?.map_or_else(String::new, |text| printable(&text.value)),
        duration: duration?.value,
        seed: seed?.value,
        nodes: nodes.list(),
        links: std::mem::take(&mut links.links),
        media: media.into_media()?,
        flows: flows?,
        stranded: stranded?.value,
        middleboxes: Vec::new(),
        peps: Vec::new(),
        limits: limits?.unwrap_or_default(),
        kept: Kept::default(),
    };
    let mut space = ExpandedConstellations::default();
    if early.is_none() {
        space = space::expand(&top, &skies.skies, &ways?, &mut scenario)?;
    }
    if space.skies.is_empty() {
        let ways = scenario.flows.iter();
        let ways = ways.map(|flow| flow.forward.iter().copied().map(Hop::Link).collect());
        space.ways = ways.collect();
    }
    links.links = std::mem::take(&mut scenario.links);
    let boxes = early.unwrap_or_else(|| middleboxes::read(middlebox, &nodes, &links, &transports));
    (scenario.middleboxes, scenario.peps) = boxes?;
    middleboxes::split(&top, &links, &mut scenario.flows, &scenario.peps)?;
    scenario.links = links.links;
    Ok((scenario, space))
}

/// What to say of a file that is something else: one message, not one for each
/// key.
fn not_a_scenario(table: &Table) -> Option<Diagnostic> {
    let has = |key: &str| table.get(key).is_some();
    if has("node") || has("link") || has("flow") {
        return None;
    }
    let key = ["axis", "scenario", "claim", "table", "figure"];
    let entry = key.iter().find_map(|key| table.get(key))?;
    let error = Diagnostic::new(entry.key_place, "this is a study, not a scenario");
    let error = error.label(format!("`{}` belongs to studies", entry.key));
    Some(error.help("`bentpipe study FILE` runs it"))
}
