//! Middleboxes on nodes.

use super::links::Links;
use super::nodes::Nodes;
use super::{Fields, quoted};
use crate::attach::{NotThere, attach};
use crate::diagnostic::{Diagnostic, Reported};
use crate::model::{LinkId, Middlebox, NodeId};
use crate::schema;
use crate::tree::Entry;
use bentpipe_cc::nearest;
use bentpipe_middlebox::{Settings, SnoopSettings, SnoopVariant};

pub(super) fn read(
    top: &Fields<'_>,
    nodes: &Nodes<'_>,
    links: &Links,
) -> Result<Vec<Middlebox>, Reported> {
    let tables = top.tables("middlebox")?;
    let read: Vec<_> = tables
        .into_iter()
        .map(|(entry, _)| middlebox(top, nodes, links, entry))
        .collect();
    read.into_iter().collect()
}

fn middlebox(
    top: &Fields<'_>,
    nodes: &Nodes<'_>,
    links: &Links,
    entry: &Entry,
) -> Result<Middlebox, Reported> {
    let kind = top.kind(entry, &schema::MIDDLEBOXES, "middlebox")?;
    let node = node(&kind, nodes);
    let settings = snoop(&kind).map(Settings::Snoop);
    let node = node?;
    let (toward, back) = toward(&kind, links, nodes, node)?;
    Ok(Middlebox {
        name: entry.key.clone(),
        node,
        toward,
        back,
        settings: settings?,
    })
}

fn node(kind: &Fields<'_>, nodes: &Nodes<'_>) -> Result<NodeId, Reported> {
    let Some(entry) = kind.entry("node") else {
        return Err(kind.missing("node"));
    };
    let end = nodes.end(kind, &entry.item)?;
    end.single().ok_or_else(|| {
        let error = Diagnostic::new(entry.item.place, "a middlebox stands on one node");
        kind.errors.report(
            error
                .label("several nodes")
                .help("name one of them, such as `NAME[1]`"),
        )
    })
}

fn toward(
    kind: &Fields<'_>,
    links: &Links,
    nodes: &Nodes<'_>,
    node: NodeId,
) -> Result<(Vec<LinkId>, Vec<LinkId>), Reported> {
    let name: String = kind.required("toward")?;
    let place = kind.entry("toward").map_or(kind.at, |e| e.item.place);
    attach(&links.links, node, &name).map_err(|why| {
        if !links.complete && why == NotThere::UnknownLink {
            // It may be one of those that could not be read.
            return kind.errors.already();
        }
        let at = |leaves: &mut dyn FnMut(NodeId) -> bool| -> Vec<&str> {
            let forth = links.links.iter().step_by(2);
            let all = forth.filter(|l| leaves(l.from) || leaves(l.to));
            all.map(|l| l.name.as_str()).collect()
        };
        let error = match why {
            NotThere::UnknownLink => {
                let error = Diagnostic::new(place, format!("unknown link `{name}`"));
                let error = error.label("no link has this name");
                let known = at(&mut |_| true);
                match nearest(&name, known.iter().copied()) {
                    Some(near) => error.help(format!("did you mean `{near}`?")),
                    None => error,
                }
            }
            NotThere::Elsewhere => {
                let message = format!("link `{name}` is not at node `{}`", nodes.name(node));
                let error = Diagnostic::new(place, message).label("expected a link of its node");
                let here = at(&mut |end| end == node);
                error.help(format!(
                    "links there are {}",
                    quoted(here.into_iter().take(10))
                ))
            }
        };
        kind.errors.report(error)
    })
}

fn snoop(kind: &Fields<'_>) -> Result<SnoopSettings, Reported> {
    let (cache, threshold) = (kind.optional("cache"), kind.optional("threshold"));
    let (tick, srtt, rttvar) = (
        kind.optional("tick"),
        kind.optional("srtt"),
        kind.optional("rttvar"),
    );
    let (gain, retransmissions) = (kind.optional("gain"), kind.optional("retransmissions"));
    let variant = kind.optional_word("variant");
    let usual = SnoopSettings::default();
    let variant = variant?.and_then(|word| {
        let all = SnoopVariant::ALL.into_iter();
        all.into_iter().find(|(name, _)| *name == word)
    });
    Ok(SnoopSettings {
        cache: cache?.unwrap_or(usual.cache),
        threshold: threshold?.unwrap_or(usual.threshold),
        tick: tick?.unwrap_or(usual.tick),
        srtt: srtt?.unwrap_or(usual.srtt),
        rttvar: rttvar?.unwrap_or(usual.rttvar),
        gain: gain?.unwrap_or(usual.gain),
        retransmissions: retransmissions?.unwrap_or(usual.retransmissions),
        variant: variant.map_or(usual.variant, |(_, variant)| variant),
    })
}
