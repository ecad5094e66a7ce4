//! What a scenario would run: text and JSON, as `bentpipe check` prints them.

pub(crate) mod counts;
mod space;
mod tables;

use crate::output::Output;
use bentpipe_link::{ArqScheme, ChannelSettings, Limit, QueueSettings};
use bentpipe_scenario::space::ExpandedConstellations;
use bentpipe_scenario::{Flow, Link, LinkId, NodeId, Scenario};
use bentpipe_sim::ideal;
use bentpipe_traffic::Application;
use bentpipe_units::Rate;
use serde_json::{Value, json};
use std::io;

/// Prints what a scenario would run.
pub fn print(
    scenario: &Scenario,
    space: &ExpandedConstellations,
    out: &mut Output,
) -> io::Result<()> {
    out.strong(format_args!("{}: this scenario is valid", scenario.name))?;
    if !scenario.description.is_empty() {
        out.paragraph(0, &scenario.description)?;
    }
    out.paragraph(
        0,
        &format!(
            "nodes: {}, links: {}, flows: {}, up to {} simulated, seed {}",
            scenario.nodes.len(),
            scenario.links.len(),
            scenario.flows.len(),
            scenario.duration,
            scenario.seed,
        ),
    )?;
    for note in counts::notes(scenario) {
        out.paragraph(0, &note)?;
    }
    for sky in &space.skies {
        out.line("")?;
        space::print(scenario, sky, out)?;
    }
    tables::print(scenario, space, out)
}

/// What a link does beyond its queue and channel.
pub(crate) fn more_of(link: &Link) -> String {
    let varies = link.jitter.as_ref().map_or("", |_| ", jitter");
    let more = match (&link.timeline, link.arq.as_ref().map(|arq| arq.scheme)) {
        (Some(timeline), _) if timeline.opportunities().is_some() => ", delivery opportunities",
        (Some(_), _) => ", changes with time",
        (None, Some(ArqScheme::SelectiveRepeat)) => ", selective repeat",
        (None, Some(ArqScheme::GoBackN)) => ", go-back-N",
        (None, None) => "",
    };
    format!("{more}{varies}")
}

/// The queue before a link: `drop-tail, 100 packets`.
#[must_use]
pub fn queue(queue: &QueueSettings) -> String {
    let kind = queue.name();
    match queue.limit() {
        Limit::Packets(1) => format!("{kind}, 1 packet"),
        Limit::Packets(n) => format!("{kind}, {n} packets"),
        Limit::Bytes(n) => format!("{kind}, {n}"),
    }
}

pub(crate) fn channel(channel: &ChannelSettings) -> String {
    match channel {
        ChannelSettings::Perfect => "no loss".to_owned(),
        ChannelSettings::Uniform { packet_error_rate } => format!("loses {packet_error_rate}"),
        ChannelSettings::BitErrors { bit_error_rate } => {
            format!("bit error rate {:e}", bit_error_rate.get())
        }
        ChannelSettings::GilbertElliott {
            packet_error_rate,
            mean_burst,
        } => {
            format!("loses {packet_error_rate} in bursts of {mean_burst}")
        }
        ChannelSettings::Bursts {
            packet_error_rate,
            mean_burst,
        } => {
            format!("loses {packet_error_rate} in bursts of {mean_burst}")
        }
    }
}

/// What a flow's way gives it.
struct Way {
    /// Rate of its slowest link.
    rate: Rate,
    /// Two-way propagation, seconds.
    round_trip: f64,
    /// Bandwidth-delay product, bytes.
    bdp: f64,
    /// Ideal transfer time alone, seconds.
    ideal: Option<f64>,
}

fn way(scenario: &Scenario, flow: &Flow) -> Way {
    let link = |id: &LinkId| scenario.links.get(id.0 as usize);
    let rates = flow
        .forward
        .iter()
        .filter_map(link)
        .map(|l| l.settings.rate);
    let rate = rates.min().unwrap_or_default();
    let round_trip = ideal::round_trip(scenario, flow);
    let ideal = if let Application::Transfer { size } = flow.application {
        Some(ideal::transfer_time(scenario, flow, size, 1).as_secs())
    } else {
        None
    };
    Way {
        rate,
        round_trip: round_trip.as_secs(),
        bdp: rate.bytes_in(round_trip).as_f64(),
        ideal,
    }
}

/// What `bentpipe check --json` prints.
pub fn document(scenario: &Scenario) -> Value {
    let link_names = |ids: &[LinkId]| -> Vec<&str> {
        ids.iter()
            .filter_map(|id| scenario.links.get(id.0 as usize))
            .map(|l| l.name.as_str())
            .collect()
    };
    let flows: Vec<Value> = scenario
        .flows
        .iter()
        .map(|flow| {
            let way = way(scenario, flow);
            json!({
                "name": flow.name,
                "transport": flow.transport.as_deref().map(|t| t.name.as_str()),
                "application": flow.application.to_string(),
                "bottleneck_bps": way.rate.bps(),
                "round_trip_s": way.round_trip,
                "bdp_bytes": way.bdp,
                "ideal_transfer_time_s": way.ideal,
                "forward": link_names(&flow.forward),
                "reverse": link_names(&flow.reverse),
            })
        })
        .collect();
    let links: Vec<Value> = scenario
        .links
        .iter()
        .map(|l| {
            json!({
                "name": l.name,
                "rate_bps": l.settings.rate.bps(),
                "one_way_delay_ns": l.settings.one_way_delay.as_nanos(),
                "queue": queue(&l.settings.queue),
                "channel": channel(&l.settings.channel),
                "more": more_of(l).trim_start_matches([',', ' ']).to_owned(),
            })
        })
        .collect();
    let node_name = |id: NodeId| scenario.nodes.get(id.0 as usize).map(|n| n.name.as_str());
    let peps = scenario.peps.iter().map(|p| {
        json!({
            "name": p.name,
            "kind": "split",
            "node": node_name(p.node),
            "toward": link_names(&p.toward),
            "buffer_bytes": p.settings.buffer.get(),
            "receive_buffer_bytes": p.settings.receive_buffer().get(),
            "transport": p.settings.transport.as_ref().map(|t| t.name.as_str()),
        })
    });
    let middleboxes: Vec<Value> = scenario
        .middleboxes
        .iter()
        .map(|m| {
            json!({
                "name": m.name,
                "kind": m.settings.kind(),
                "node": scenario.nodes.get(m.node.0 as usize).map(|n| n.name.as_str()),
                "toward": link_names(&m.toward),
            })
        })
        .chain(peps)
        .collect();
    json!({
        "kind": "scenario",
        "name": scenario.name,
        "description": scenario.description,
        "hash": scenario.hash().to_string(),
        "duration_ns": scenario.duration.as_nanos(),
        "seed": scenario.seed,
        "nodes": scenario.nodes.iter().map(|n| n.name.as_str()).collect::<Vec<_>>(),
        "links": links,
        "flows": flows,
        "middleboxes": middleboxes,
    })
}
