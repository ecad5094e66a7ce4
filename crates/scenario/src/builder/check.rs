//! The conditions on a scenario built by a program.

use super::BuildError;
use crate::incompatible::{incompatibility, no_lookup};
use crate::model::{Flow, Link, MediumId, NodeId, Scenario};
use crate::route;
use bentpipe_link::QueueSettings;
use bentpipe_tcp::Transport;
use bentpipe_units::{Bytes, Rate, Time};
use std::cmp::Ordering;
use std::collections::HashSet;

/// Checks everything but what routes and boxes need.
pub(super) fn check(scenario: &Scenario) -> Result<(), BuildError> {
    if scenario.duration.is_zero() {
        return Err(BuildError::NoDuration);
    }
    if scenario.flows.is_empty() {
        return Err(BuildError::NoFlows);
    }
    unique("node", scenario.nodes.iter().map(|n| &n.name))?;
    unique("link", scenario.links.iter().map(|l| &l.name))?;
    unique("medium", scenario.media.iter().map(|m| &m.name))?;
    unique("flow", scenario.flows.iter().map(|f| &f.name))?;
    let boxes = scenario.middleboxes.iter().map(|m| &m.name);
    let peps = scenario.peps.iter().map(|p| &p.name);
    unique("middlebox", boxes.chain(peps))?;
    for (medium, id) in scenario.media.iter().zip(0..) {
        let terminals = scenario.terminals(MediumId(id)).count();
        let settings = &medium.settings;
        if settings.frame().is_some() && settings.slot_payload(terminals) == Bytes::ZERO {
            return Err(BuildError::NoSlots(medium.name.clone()));
        }
    }
    scenario
        .links
        .iter()
        .try_for_each(|l| check_link(scenario, l))?;
    scenario
        .flows
        .iter()
        .try_for_each(|f| check_flow(scenario, f))?;
    for pep in &scenario.peps {
        check_control(&pep.name, pep.settings.transport.as_ref())?;
    }
    Ok(())
}

fn check_link(scenario: &Scenario, link: &Link) -> Result<(), BuildError> {
    check_ends(scenario, "link", &link.name, link.from, link.to)?;
    if link.settings.rate == Rate::ZERO {
        return Err(BuildError::NoRate(link.name.clone()));
    }
    if let Some(MediumId(medium)) = link.medium
        && medium as usize >= scenario.media.len()
    {
        return Err(BuildError::NoMedium(link.name.clone()));
    }
    if let Some(conflict) = link.conflict() {
        return Err(BuildError::LinkConflict {
            link: link.name.clone(),
            conflict,
        });
    }
    if let QueueSettings::Red(red) = &link.settings.queue {
        let (minimum, maximum) = red.thresholds(link.settings.rate);
        // Nor is a threshold that is no number.
        if minimum.partial_cmp(&maximum) != Some(Ordering::Less) {
            return Err(BuildError::Thresholds(link.name.clone()));
        }
    }
    Ok(())
}

fn check_flow(scenario: &Scenario, flow: &Flow) -> Result<(), BuildError> {
    check_ends(scenario, "flow", &flow.name, flow.from, flow.to)?;
    let application = &flow.application;
    let fits = match &flow.transport {
        None => !application.needs_transport(),
        Some(t) => application.takes_transport() && incompatibility(t, application).is_none(),
    };
    if !fits {
        return Err(BuildError::Transport(flow.name.clone()));
    }
    if let Some(why) = flow.dns.then(|| no_lookup(flow)).flatten() {
        return Err(BuildError::NoLookup {
            flow: flow.name.clone(),
            why,
        });
    }
    check_routes(&scenario.links, flow)?;
    check_control(&flow.name, flow.transport.as_deref())
}

/// The congestion control can be built.
fn check_control(name: &str, transport: Option<&Transport>) -> Result<(), BuildError> {
    match transport.map(Transport::controller) {
        Some(Err(why)) => Err(BuildError::CongestionControl {
            flow: name.to_string(),
            why,
        }),
        _ => Ok(()),
    }
}

/// Both nodes exist and are not the same.
fn check_ends(
    scenario: &Scenario,
    what: &'static str,
    name: &str,
    from: NodeId,
    to: NodeId,
) -> Result<(), BuildError> {
    let known = |node: NodeId| (node.0 as usize) < scenario.nodes.len();
    let name = name.to_string();
    if !known(from) || !known(to) {
        return Err(BuildError::UnknownNode { what, name });
    }
    if from == to {
        return Err(BuildError::SameNode { what, name });
    }
    Ok(())
}

/// The routes that were given for a flow lead from end to end.
fn check_routes(links: &[Link], flow: &Flow) -> Result<(), BuildError> {
    let wrong = |at: Time, why: &'static str| BuildError::Route {
        flow: flow.name.clone(),
        at,
        why,
    };
    let mut before = Time::ZERO;
    let first = (Time::ZERO, &flow.forward, &flow.reverse);
    let later = flow.changes.iter().map(|c| (c.at, &c.forward, &c.reverse));
    for (i, (at, forward, reverse)) in std::iter::once(first).chain(later).enumerate() {
        if i > 0 && at <= before {
            return Err(wrong(at, "does not begin after the one before it"));
        }
        before = at;
        for (path, from, to) in [(forward, flow.from, flow.to), (reverse, flow.to, flow.from)] {
            if path.len() > route::LONGEST {
                return Err(wrong(at, "has more than 255 links"));
            }
            let mut node = from;
            for link in path {
                match links.get(link.0 as usize) {
                    Some(link) if link.from == node => node = link.to,
                    Some(_) => return Err(wrong(at, "is not one link after the other")),
                    None => return Err(wrong(at, "has a link that does not exist")),
                }
            }
            if !path.is_empty() && node != to {
                return Err(wrong(at, "does not lead to the other node"));
            }
        }
    }
    Ok(())
}

fn unique<'a>(
    what: &'static str,
    names: impl Iterator<Item = &'a String>,
) -> Result<(), BuildError> {
    let mut seen = HashSet::new();
    for name in names {
        if !seen.insert(name) {
            return Err(BuildError::Duplicate {
                what,
                name: name.clone(),
            });
        }
    }
    Ok(())
}
