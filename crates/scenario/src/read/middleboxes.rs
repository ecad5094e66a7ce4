//! Middleboxes on nodes.

use super::links::Links;
use super::nodes::Nodes;
use super::transports::Transports;
use super::{Fields, quoted, routers};
use crate::attach::{NotThere, attach};
use crate::diagnostic::{Diagnostic, Reported};
use crate::model::{Flow, LinkId, Middlebox, NodeId, SplitPep};
use crate::schema;
use crate::source::Place;
use crate::tree::{Entry, Value};
use bentpipe_cc::nearest;
use bentpipe_middlebox::split::{Accept, Pool, SplitSettings};
use bentpipe_middlebox::{Settings, SnoopSettings, SnoopVariant, SpoofSettings};
use bentpipe_tcp::CongestionControlChoice;

pub(super) fn read(
    top: &Fields<'_>,
    nodes: &Nodes<'_>,
    links: &Links,
    transports: &Transports<'_>,
) -> Result<(Vec<Middlebox>, Vec<SplitPep>), Reported> {
    let (mut boxes, mut peps) = (Vec::new(), Vec::new());
    let mut result = Ok(());
    for (entry, _) in top.tables("middlebox")? {
        let kind = top.kind(entry, &schema::MIDDLEBOXES, "middlebox");
        let read = kind.and_then(|kind| match kind.section.kind {
            Some("split") => pep(&kind, nodes, links, transports, entry).map(|p| peps.push(p)),
            _ => middlebox(&kind, nodes, links, entry).map(|m| boxes.push(m)),
        });
        // Reported where it failed; the others are read all the same.
        result = result.and(read);
    }
    result.map(|()| (boxes, peps))
}

/// Splits the flows that pass a PEP.
pub(super) fn split(
    top: &Fields<'_>,
    links: &Links,
    flows: &mut [Flow],
    peps: &[SplitPep],
) -> Result<(), Reported> {
    let place = |name: &str| match top.entry("middlebox").map(|e| &e.item.value) {
        Some(Value::Table(tables)) => tables.get(name).map_or(Place::Whole, |e| e.key_place),
        _ => Place::Whole,
    };
    for pep in peps {
        let of = |flow: &Flow, name: &str| {
            let table = flow.name.split_once('[').map_or(&*flow.name, |(t, _)| t);
            table == name || flow.name == name
        };
        let unknown = |name: &&String| !flows.iter().any(|flow| of(flow, name));
        if let Some(name) = pep.settings.flows.iter().find(unknown) {
            let message = format!("middlebox `{}`: unknown flow `{name}`", pep.name);
            let error = Diagnostic::new(place(&pep.name), message).label("no flow has this name");
            let known = flows.iter().map(|flow| flow.name.as_str());
            return Err(top.errors.report(error.suggest(nearest(name, known))));
        }
    }
    crate::split::split(&links.links, flows, peps).map_err(|failed| {
        let (pep, flow) = (&peps[failed.place].name, &flows[failed.flow].name);
        let message = format!("middlebox `{pep}` cannot split flow `{flow}`");
        let error = Diagnostic::new(place(pep), message).label(failed.why.reason());
        let help = "name the flows that it is to split, such as `flows = [\"download\"]`";
        top.errors.report(error.help(help))
    })?;
    let splits = |pep: &SplitPep| {
        let mut split = flows.iter().filter_map(|flow| flow.split.as_ref());
        split.any(|split| split.peps.iter().any(|p| p.name == pep.name))
    };
    // One at a link that no flow crosses waits for studies to move flows there.
    let crossed = |pep: &SplitPep| {
        let mut links = flows
            .iter()
            .flat_map(|f| f.forward.iter().chain(&f.reverse));
        pep.toward.is_empty() || links.any(|link| pep.toward.contains(link))
    };
    if let Some(idle) = peps.iter().find(|pep| crossed(pep) && !splits(pep)) {
        let message = format!("middlebox `{}` splits no flow", idle.name);
        let error = Diagnostic::new(place(&idle.name), message)
            .label("no flow that it is to split passes its node")
            .help("put it on a node between the ends of a flow over TCP");
        return Err(top.errors.report(error));
    }
    for flow in flows.iter() {
        let Some(split) = &flow.split else { continue };
        for (number, leg) in split.legs.iter().enumerate() {
            if !routers::lacking(&leg.transport, [&leg.forward, &leg.reverse], &links.links) {
                continue;
            }
            let pep = &split.peps[number.saturating_sub(1)].name;
            let who = format!("a leg of flow `{}`", flow.name);
            let error = routers::lacks(&who, &leg.transport, place(pep));
            return Err(top.errors.report(error));
        }
    }
    Ok(())
}

fn pep(
    kind: &Fields<'_>,
    nodes: &Nodes<'_>,
    links: &Links,
    transports: &Transports<'_>,
    entry: &Entry,
) -> Result<SplitPep, Reported> {
    let node = node(kind, nodes);
    let transport = kind
        .entry("transport")
        .map(|e| transports.find(kind, &e.item));
    let (buffer, receive_buffer) = (kind.optional("buffer"), kind.optional("receive_buffer"));
    let (accept, pool) = (kind.optional_word("accept"), kind.optional_word("pool"));
    let flows = kind.optional::<Vec<String>>("flows");
    let node = node?;
    let toward = match kind.has("toward") {
        true => toward(kind, links, nodes, node)?.0,
        false => Vec::new(),
    };
    fn named<T: Copy + Default>(all: [(&str, T); 2], word: Option<&str>) -> T {
        let found = all.iter().find(|(name, _)| Some(*name) == word);
        found.map_or_else(T::default, |(_, value)| *value)
    }
    let transport = transport.transpose()?;
    if let (Some(t), Some(e)) = (&transport, kind.entry("transport"))
        && t.congestion_control == CongestionControlChoice::Ideal
    {
        let error = Diagnostic::new(e.item.place, "the ideal bound is not that of a leg");
        let label = "expected a transport that sends";
        return Err(kind.errors.report(error.label(label)));
    }
    Ok(SplitPep {
        name: entry.key.clone(),
        node,
        toward,
        settings: SplitSettings {
            buffer: buffer?.unwrap_or(SplitSettings::default().buffer),
            receive_buffer: receive_buffer?,
            accept: named(Accept::ALL, accept?),
            pool: named(Pool::ALL, pool?),
            transport,
            flows: flows?.unwrap_or_default(),
        },
    })
}

fn middlebox(
    kind: &Fields<'_>,
    nodes: &Nodes<'_>,
    links: &Links,
    entry: &Entry,
) -> Result<Middlebox, Reported> {
    let node = node(kind, nodes);
    let settings = match kind.section.kind {
        Some("spoof") => spoof(kind).map(Settings::Spoof),
        _ => snoop(kind).map(Settings::Snoop),
    };
    let node = node?;
    let (toward, back) = toward(kind, links, nodes, node)?;
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

fn spoof(kind: &Fields<'_>) -> Result<SpoofSettings, Reported> {
    let (cache, threshold) = (kind.optional("cache"), kind.optional("threshold"));
    let tick = kind.optional("tick");
    let usual = SpoofSettings::default();
    Ok(SpoofSettings {
        cache: cache?.unwrap_or(usual.cache),
        threshold: threshold?.unwrap_or(usual.threshold),
        tick: tick?.unwrap_or(usual.tick),
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
