//! Flows that pass split-connection PEPs, and the paths of their legs.

use crate::model::{Flow, Leg, Link, LinkId, Pep, RouteChange, Split, SplitPep};
use bentpipe_cc::Parameters;
use bentpipe_middlebox::split::{Alone, Discovery, Pool, ProxyControl, SplitSettings, Tunnel};
use bentpipe_tcp::{CongestionControlChoice, HostProfile, Pacing, Recovery, Transport};
use bentpipe_traffic::Application;
use bentpipe_units::{Bytes, Duration};

/// Why a flow cannot be split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoSplit {
    /// The PEP does not see the packets of both directions.
    OneWay,
    /// Its way changes, and then it does not pass the PEP.
    Elsewhere,
    /// PEPs confirm what is no transfer, or fail.
    Confirms,
    /// A PEP on its path fails, and its application does not reconnect.
    Reconnects,
    /// The one-way agents of ns-2 have no receive window: nothing could keep
    /// them from overrunning a relay.
    NoFlowControl,
    /// A PEP with a tunnel is not followed or preceded by another on its way.
    NoTunnel,
    /// A PEP with grants is not followed or preceded by another on its way.
    NoGrants,
    /// The transport between two PEPs with grants repairs losses in a way that
    /// cannot wait for turns, or has a window of its own.
    GrantedTransport,
}

/// Least backlog of a PEP that grants, where none is said.
const LEAST_BACKLOG: Bytes = Bytes::new(64 * 1024);

/// Backlog of a PEP that grants, where none is said, in bandwidth-delay products. A grant is used
/// and renewed in a round trip, or in one and a third where status reports come three times in
/// one; what is lost holds up what follows it for two such times, and is lost again now and then.
const BACKLOG: u64 = 4;

/// Bound of what one connection has in flight where PEPs grant, in bandwidth-delay products of the
/// leg: far more than fills the link, so that the grants decide.
const GRANTED_WINDOW: f64 = 8.0;

impl NoSplit {
    /// In words.
    pub(crate) fn reason(self) -> &'static str {
        match self {
            NoSplit::OneWay => "its packets back take another way",
            NoSplit::Elsewhere => "its way changes, and then it does not pass there",
            NoSplit::Confirms => {
                "only transfers are confirmed end to end, and by PEPs that do not fail"
            }
            NoSplit::Reconnects => {
                "the PEP fails, and only `transfer` and `persistent` connect again then"
            }
            NoSplit::NoFlowControl => {
                "the one-way agents of ns-2 have no receive window that could stop them"
            }
            NoSplit::NoTunnel => {
                "a tunnel has two ends: expected `tunnel` at the PEP before or after it, too"
            }
            NoSplit::NoGrants => {
                "one PEP grants and another sends: expected `proxy_control = \"grants\"` at the PEP \
                 before or after it, too"
            }
            NoSplit::GrantedTransport => {
                "where PEPs grant, a transport only finds and repairs losses: expected `transport = \
                 \"stp\"` or `\"sack\"` on profile `rfc` for the leg, without a congestion control of \
                 its own"
            }
        }
    }
}

/// A flow that cannot be split, and the PEP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Failed {
    pub(crate) flow: usize,
    pub(crate) pep: usize,
    pub(crate) why: NoSplit,
}

/// Splits every flow that passes a PEP that is there for it.
pub(crate) fn split(links: &[Link], flows: &mut [Flow], places: &[SplitPep]) -> Result<(), Failed> {
    if places.is_empty() {
        return Ok(());
    }
    for (index, flow) in flows.iter_mut().enumerate() {
        let found = legs(links, flow, places);
        let found = found.map_err(|(pep, why)| Failed {
            flow: index,
            pep,
            why,
        })?;
        flow.split = found.map(Box::new);
    }
    Ok(())
}

/// True where the PEP is there for the flow: by the name of its table.
fn is_meant(settings: &SplitSettings, flow: &str) -> bool {
    let table = flow.split_once('[').map_or(flow, |(table, _)| table);
    let named = |name: &String| name == table || name == flow;
    settings.flows.is_empty() || settings.flows.iter().any(named)
}

fn legs(
    links: &[Link],
    flow: &Flow,
    places: &[SplitPep],
) -> Result<Option<Split>, (usize, NoSplit)> {
    let Some(transport) = &flow.transport else {
        return Ok(None);
    };
    // No proxy can end a QUIC connection, which is encrypted.
    if transport.quic.is_some() {
        return Ok(None);
    }
    // An end accepts nothing under IPsec but what the other end has sent.
    if transport.congestion_control == CongestionControlChoice::Ideal || flow.ipsec.is_some() {
        return Ok(None);
    }
    let mut split = Split {
        legs: vec![whole(flow, transport)],
        peps: Vec::new(),
        bypass: None,
    };
    let has_peer = answering(links, flow, places) > 1;
    // Links of the way forth that the legs before have taken.
    let mut taken = 0;
    for at in 1..flow.forward.len() {
        let (into, out) = (flow.forward[at - 1], flow.forward[at]);
        let Some(index) = pep_between(links, flow, places, into, out) else {
            continue;
        };
        let place = &places[index];
        if !splits(&place.settings, flow, has_peer) {
            continue;
        }
        cut(links, &mut split, at - taken, transport).ok_or((index, NoSplit::OneWay))?;
        taken = at;
        if let Some(own) = &place.settings.transport {
            let faces_back = !place.toward.is_empty() && !place.toward.contains(&out);
            let leg = split.legs.len() - 1 - usize::from(faces_back);
            split.legs[leg].transport = own.clone();
        }
        split.peps.push(Pep {
            name: place.name.clone(),
            pep_index: index,
            settings: place.settings.clone(),
        });
    }
    join_tunnels(&mut split)?;
    join_grants(links, flow, &mut split)?;
    let one_way = |leg: &Leg| leg.transport.profile.rules().stack.is_ns2();
    if let (Some(pep), true) = (split.peps.first(), split.legs.iter().any(one_way)) {
        return Err((pep.pep_index, NoSplit::NoFlowControl));
    }
    for change in &flow.changes {
        cut_change(links, &mut split, change)?;
    }
    check_confirms(&split, flow)?;
    split.bypass = bypass(&split, flow, transport)?;
    Ok((!split.peps.is_empty()).then_some(split))
}

/// The first way of a flow in one piece.
fn whole(flow: &Flow, transport: &Transport) -> Leg {
    Leg {
        from: flow.from,
        to: flow.to,
        transport: transport.clone(),
        forward: flow.forward.clone(),
        reverse: flow.reverse.clone(),
        changes: Vec::new(),
        tunnel: false,
        grants: false,
    }
}

/// Cuts the last leg before the link at place `at` of its way forth; `None` if the way back does
/// not pass there.
fn cut(links: &[Link], split: &mut Split, at: usize, transport: &Transport) -> Option<()> {
    let from = |id: LinkId| links[id.0 as usize].from;
    let before = split.legs.last_mut()?;
    let node = from(before.forward[at]);
    // The return path passes the PEPs in the opposite order.
    let back = before.reverse.iter().position(|&id| from(id) == node);
    let back = back.filter(|&back| back > 0)?;
    let after = Leg {
        from: node,
        to: before.to,
        transport: transport.clone(),
        forward: before.forward.split_off(at),
        reverse: before.reverse.drain(..back).collect(),
        changes: Vec::new(),
        tunnel: false,
        grants: false,
    };
    before.to = node;
    split.legs.push(after);
    Some(())
}

/// PEPs that confirm what they took carry files, and do not fail.
fn check_confirms(split: &Split, flow: &Flow) -> Result<(), (usize, NoSplit)> {
    let is_transfer = matches!(flow.application, Application::Transfer { .. });
    let fails = split.peps.iter().any(|pep| pep.settings.failure.is_some());
    let mut peps = split.peps.iter();
    match peps.find(|pep| pep.settings.confirms.is_some()) {
        Some(pep) if !is_transfer || fails => Err((pep.pep_index, NoSplit::Confirms)),
        _ => Ok(()),
    }
}

/// The connection past the PEPs, where one of them fails.
fn bypass(
    split: &Split,
    flow: &Flow,
    transport: &Transport,
) -> Result<Option<Leg>, (usize, NoSplit)> {
    let fails = |pep: &&Pep| pep.settings.failure.is_some_and(|f| f.at > flow.start);
    let Some(pep) = split.peps.iter().find(fails) else {
        return Ok(None);
    };
    match flow.application {
        Application::Transfer { .. } | Application::Persistent => Ok(Some(Leg {
            changes: flow.changes.clone(),
            ..whole(flow, transport)
        })),
        _ => Err((pep.pep_index, NoSplit::Reconnects)),
    }
}

/// Makes the legs between two PEPs with a tunnel streams of it.
fn join_tunnels(split: &mut Split) -> Result<(), (usize, NoSplit)> {
    let mut at = 0;
    while let Some(pep) = split.peps.get(at) {
        if pep.settings.tunnel == Tunnel::None {
            at += 1;
            continue;
        }
        let next = split.peps.get(at + 1);
        if next.is_none_or(|next| next.settings.tunnel != pep.settings.tunnel) {
            return Err((pep.pep_index, NoSplit::NoTunnel));
        }
        let leg = &mut split.legs[at + 1];
        leg.tunnel = true;
        leg.transport = Transport::of_tunnel();
        at += 2;
    }
    Ok(())
}

/// Regulates the legs between two PEPs that grant, and gives these their backlog.
fn join_grants(links: &[Link], flow: &Flow, split: &mut Split) -> Result<(), (usize, NoSplit)> {
    let grants = |pep: &Pep| pep.settings.proxy_control == ProxyControl::Grants;
    for at in 1..split.peps.len() {
        if !(grants(&split.peps[at - 1]) && grants(&split.peps[at])) {
            continue;
        }
        let leg = &mut split.legs[at];
        let pep = split.peps[at - 1].pep_index;
        grant(links, leg).ok_or((pep, NoSplit::GrantedTransport))?;
    }
    let ways = || flow.forward.iter().chain(&flow.reverse);
    let delays = ways().map(|id| links[id.0 as usize].settings.one_way_delay);
    let rtt = delays.fold(Duration::ZERO, |sum, delay| sum + delay);
    for at in 0..split.peps.len() {
        let legs = [&split.legs[at], &split.legs[at + 1]];
        let pep = &mut split.peps[at];
        if !grants(pep) {
            continue;
        }
        let granted = legs.into_iter().filter(|leg| leg.grants);
        let ways = granted.flat_map(|leg| [&leg.forward, &leg.reverse]);
        let slowest = ways.filter_map(|way| {
            let rates = way.iter().map(|id| links[id.0 as usize].settings.rate);
            rates.min_by_key(|rate| rate.bps())
        });
        let fastest = slowest.max_by_key(|rate| rate.bps());
        let Some(rate) = fastest else {
            return Err((pep.pep_index, NoSplit::NoGrants));
        };
        let products = Bytes::new(rate.bytes_in(rtt).get().saturating_mul(BACKLOG));
        let backlog = pep.settings.backlog;
        pep.settings.buffer = backlog.unwrap_or(products.max(LEAST_BACKLOG));
        pep.settings.pool = Pool::Shared;
    }
    Ok(())
}

/// Takes the congestion control from a leg: its transport only finds and repairs losses. `None`
/// where it cannot do that alone.
fn grant(links: &[Link], leg: &mut Leg) -> Option<()> {
    let transport = &mut leg.transport;
    transport.recovery = match transport.recovery {
        Recovery::Stp => Recovery::Stp,
        // A retransmission that is lost as well must not wait for the timer.
        Recovery::Sack | Recovery::SackRepeat => Recovery::SackRepeat,
        _ => return None,
    };
    let has_none = match &transport.congestion_control {
        CongestionControlChoice::Named(name) => {
            matches!(name.as_str(), "newreno" | "complete-knowledge")
        }
        _ => false,
    };
    if !has_none || transport.profile != HostProfile::Rfc {
        return None;
    }
    let (mss, header) = (
        f64::from(transport.mss),
        f64::from(transport.header_bytes()),
    );
    let slowest = |way: &[LinkId]| {
        let links = way.iter().map(|id| &links[id.0 as usize].settings);
        let rates = links.map(|link| link.payload_rate(mss, header));
        rates.fold(f64::INFINITY, f64::min)
    };
    let rate = slowest(&leg.forward).max(slowest(&leg.reverse)) / 1e6;
    transport.congestion_control = CongestionControlChoice::Named("complete-knowledge".to_owned());
    transport.parameters = Parameters::new()
        .with("rate", rate.clamp(0.001, 1_000_000.0))
        .with("window_gain", GRANTED_WINDOW);
    transport.pacing = Pacing::Off;
    leg.grants = true;
    Some(())
}

/// How many PEPs that answer an option on the SYN are on the way of a flow when it
/// starts.
fn answering(links: &[Link], flow: &Flow, places: &[SplitPep]) -> usize {
    let hops = flow.forward.iter().zip(flow.forward.iter().skip(1));
    let peps = hops.filter_map(|(into, out)| pep_between(links, flow, places, *into, *out));
    let answers = |settings: &SplitSettings| {
        settings.discovery == Discovery::SynOption
            && !settings
                .failure
                .is_some_and(|failure| failure.covers(flow.start))
    };
    peps.filter(|pep| answers(&places[*pep].settings)).count()
}

/// True if a PEP on the way of a flow splits it.
fn splits(settings: &SplitSettings, flow: &Flow, has_peer: bool) -> bool {
    let looks = settings.discovery == Discovery::SynOption;
    let is_alone = looks && !has_peer && settings.alone == Alone::EndToEnd;
    !is_alone
        && !settings
            .failure
            .is_some_and(|failure| failure.covers(flow.start))
}

/// The number of the PEP that splits `flow` between the links `into` and `out`.
fn pep_between(
    links: &[Link],
    flow: &Flow,
    places: &[SplitPep],
    into: LinkId,
    out: LinkId,
) -> Option<usize> {
    let node = links[out.0 as usize].from;
    let back = links[into.0 as usize].reverse;
    let faces = |p: &SplitPep| back.is_some_and(|back| p.toward.contains(&back));
    let passes = |p: &SplitPep| p.toward.is_empty() || p.toward.contains(&out) || faces(p);
    places
        .iter()
        .position(|p| p.node == node && passes(p) && is_meant(&p.settings, &flow.name))
}

/// Gives each leg its part of another way that the flow takes later.
fn cut_change(
    links: &[Link],
    split: &mut Split,
    change: &RouteChange,
) -> Result<(), (usize, NoSplit)> {
    let (mut forward, mut reverse) = (&change.forward[..], &change.reverse[..]);
    let last = split.legs.len() - 1;
    for (index, leg) in split.legs.iter_mut().enumerate() {
        let (mut there, mut back) = (forward, reverse);
        if index < last {
            let pep = split.peps[index].pep_index;
            let leaves = |id: &LinkId| links[id.0 as usize].from == leg.to;
            let elsewhere = (pep, NoSplit::Elsewhere);
            // Without a way there is none of any leg.
            if !forward.is_empty() {
                let at = forward.iter().position(leaves).ok_or(elsewhere)?;
                (there, forward) = forward.split_at(at);
            }
            if !reverse.is_empty() {
                let at = reverse.iter().position(leaves).ok_or(elsewhere)?;
                (reverse, back) = reverse.split_at(at);
            }
        }
        leg.changes.push(RouteChange {
            at: change.at,
            forward: there.to_vec(),
            reverse: back.to_vec(),
        });
    }
    Ok(())
}
