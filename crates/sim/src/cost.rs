//! Estimates the cost of a run, by which work is divided.

use bentpipe_scenario::{Flow, Link, Scenario};
use bentpipe_tcp::CongestionControlChoice;
use bentpipe_traffic::Application;
use bentpipe_units::{Duration, Time};

/// Seconds that a run takes in addition to its packets: to set up the scenario, and to store the
/// result. Measured, as the next, on one core of a server of 2023.
const SET_UP: f64 = 80e-6;

/// Seconds per packet and link, its acknowledgement included.
const PER_HOP: f64 = 150e-9;

/// Payload of a packet, bytes.
const PAYLOAD: f64 = 1448.0;

/// How long a run of a scenario will take on one core, in seconds. Within a factor of
/// two or so: what matters is how runs of one study compare.
#[must_use]
pub fn seconds(scenario: &Scenario) -> f64 {
    let mut load = vec![0.0; scenario.links.len()];
    let flows: Vec<f64> = scenario.flows.iter().map(|f| wanted(f, scenario)).collect();
    for (flow, bytes) in scenario.flows.iter().zip(&flows) {
        for link in &flow.forward {
            if let Some(load) = load.get_mut(link.0 as usize) {
                *load += bytes;
            }
        }
    }
    let mut hops = 0.0;
    for (flow, bytes) in scenario.flows.iter().zip(&flows) {
        // Flows that share a link share what it can carry.
        let share = |link: &bentpipe_scenario::LinkId| {
            let capacity = scenario.links.get(link.0 as usize).map(bytes_per_second);
            let capacity = capacity.unwrap_or(0.0) * active(flow, scenario.duration);
            let load = load.get(link.0 as usize).copied().unwrap_or(0.0);
            if load > capacity {
                capacity / load
            } else {
                1.0
            }
        };
        let share = flow.forward.iter().map(share).fold(1.0, f64::min);
        let links = (flow.forward.len() + flow.reverse.len()) as f64 / 2.0;
        if !is_computed(flow) {
            hops += bytes * share / PAYLOAD * links;
        }
    }
    SET_UP + scenario.links.len() as f64 * 1e-6 + hops * PER_HOP
}

/// The analytic bound takes no packets.
fn is_computed(flow: &Flow) -> bool {
    let transport = flow.transport.as_deref();
    transport.is_some_and(|t| t.congestion_control == CongestionControlChoice::Ideal)
}

fn bytes_per_second(link: &Link) -> f64 {
    link.settings.rate.bps_f64() / 8.0
}

/// Seconds in which a flow may send.
fn active(flow: &Flow, duration: Duration) -> f64 {
    let end = Time::ZERO + duration;
    let end = flow.stop.map_or(end, |stop| stop.min(end));
    if end > flow.start {
        end.since(flow.start).as_secs()
    } else {
        0.0
    }
}

/// Bytes that a flow would send if it were alone.
fn wanted(flow: &Flow, scenario: &Scenario) -> f64 {
    let time = active(flow, scenario.duration);
    let rates = flow.forward.iter();
    let rates = rates.filter_map(|link| scenario.links.get(link.0 as usize));
    let rate = rates.map(bytes_per_second).fold(f64::INFINITY, f64::min);
    let rate = if rate.is_finite() { rate } else { 0.0 };
    let most = rate * time;
    let wanted = match &flow.application {
        Application::ConstantRate { rate, .. } => rate.bps_f64() / 8.0 * time,
        // As long on as off, and readers who read as long as they wait.
        Application::OnOff { rate, .. } => rate.bps_f64() / 16.0 * time,
        Application::Web(_) => most / 2.0,
        other => other.offered().map_or(most, |bytes| bytes.as_f64()),
    };
    wanted.min(most)
}
