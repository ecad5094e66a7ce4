//! The Ideal bound of Marchese 2006, section 4.3.1: the time that the
//! bottleneck's rate, less headers and losses, and one round trip need.
//!
//! For a flow whose route changes with time it uses the first route, and for a link with a timeline
//! the rate, delay and channel outside it.

use bentpipe_link::ChannelSettings;
use bentpipe_scenario::{Flow, LinkId, Scenario};
use bentpipe_tcp::{CongestionControlChoice, Transport};
use bentpipe_units::{Bytes, Duration};

/// True for a flow that is this bound, computed instead of simulated.
pub(crate) fn is_ideal(flow: &Flow) -> bool {
    let transport = flow.transport.as_ref();
    transport.is_some_and(|t| t.congestion_control == CongestionControlChoice::Ideal)
}

/// Payload rate in bit/s of the slowest link on `flow`'s way: rate x MSS /
/// bytes on the wire x (1 - loss), for full segments.
#[must_use]
pub fn payload_rate(scenario: &Scenario, flow: &Flow) -> f64 {
    let (mss, header) = flow.transport.as_deref().map_or((1448.0, 52.0), |t| {
        (f64::from(t.mss), f64::from(t.header_bytes()))
    });
    let mut rate = f64::INFINITY;
    let mut survival = 1.0;
    for id in first_way(flow).0 {
        let link = &scenario.links[id.0 as usize].settings;
        let wire = mss + header + link.framing.as_f64();
        survival *= 1.0 - loss(&link.channel, wire);
        rate = rate.min(link.payload_rate(mss, header));
    }
    rate * survival
}

/// Payload rate in bit/s of one link for full segments, losses not counted.
pub(crate) fn payload_of_link(scenario: &Scenario, link: u32, transport: &Transport) -> f64 {
    let link = &scenario.links[link as usize].settings;
    let (mss, header) = (
        f64::from(transport.mss),
        f64::from(transport.header_bytes()),
    );
    link.payload_rate(mss, header)
}

/// Two-way propagation delay of a way forth and one back.
pub(crate) fn round_trip_of(
    scenario: &Scenario,
    forward: &[LinkId],
    reverse: &[LinkId],
) -> Duration {
    forward.iter().chain(reverse).fold(Duration::ZERO, |d, id| {
        d + scenario.links[id.0 as usize].settings.one_way_delay
    })
}

/// The first route that leads anywhere, forth and back.
fn first_way(flow: &Flow) -> (&[LinkId], &[LinkId]) {
    let later = flow.changes.iter().map(|c| (&c.forward, &c.reverse));
    let mut ways = std::iter::once((&flow.forward, &flow.reverse)).chain(later);
    let way = ways.find(|(forward, _)| !forward.is_empty());
    way.map_or((&[], &[]), |(forward, reverse)| (forward, reverse))
}

fn loss(channel: &ChannelSettings, wire_bytes: f64) -> f64 {
    match *channel {
        ChannelSettings::Perfect => 0.0,
        ChannelSettings::Uniform { packet_error_rate }
        | ChannelSettings::GilbertElliott {
            packet_error_rate, ..
        }
        | ChannelSettings::Bursts {
            packet_error_rate, ..
        } => packet_error_rate.get(),
        ChannelSettings::BitErrors { bit_error_rate } => {
            1.0 - bentpipe_units::math::pow(1.0 - bit_error_rate.get(), 8.0 * wire_bytes)
        }
    }
}

/// Two-way propagation delay of `flow`.
#[must_use]
pub fn round_trip(scenario: &Scenario, flow: &Flow) -> Duration {
    let (forward, reverse) = first_way(flow);
    round_trip_of(scenario, forward, reverse)
}

/// The ideal time of `bytes` over `flow`'s way when `sharing` equal flows
/// share it.
#[must_use]
pub fn transfer_time(scenario: &Scenario, flow: &Flow, bytes: Bytes, sharing: usize) -> Duration {
    let seconds = bytes.as_f64() * 8.0 * sharing.max(1) as f64 / payload_rate(scenario, flow);
    Duration::from_secs_f64(seconds) + round_trip(scenario, flow)
}
