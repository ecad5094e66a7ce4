//! The scenario to hold a run against in the simulator: the same network and
//! flows, with transports that are what this machine runs.

use super::control::Control;
use super::header_room::header_room;
use super::setup::Setup;
use bentpipe_bpf::Kind;
use bentpipe_cc::{ParameterValue, Parameters};
use bentpipe_scenario::Scenario;
use bentpipe_tcp::{CongestionControlChoice, DEFAULT_BUFFER, HostProfile, Recovery, Transport};
use bentpipe_units::Bytes;
use std::sync::Arc;

/// `scenario` with every transport replaced by what Linux runs for it: the congestion control that
/// the kernel runs (the C of `bp_*`, or the imitation of a module), on the host profile `linux`.
/// What Linux refuses is left unchanged.
#[must_use]
pub fn as_run_on_linux(scenario: &Scenario) -> Scenario {
    let mut changed = scenario.clone();
    for flow in &mut changed.flows {
        // QUIC runs the same endpoints on both.
        if let Some(transport) = &mut flow.transport
            && transport.quic.is_none()
            && let Ok(setup) = Setup::new(transport)
        {
            *transport = Arc::new(of(transport, &setup));
        }
        // The hosts run the outer legs; what is between the boxes of a gateway is its own.
        let legs = flow.split.iter_mut().flat_map(|split| &mut split.legs);
        for leg in legs.filter(|leg| !leg.tunnel) {
            if let Ok(setup) = Setup::new(&leg.transport) {
                leg.transport = of(&leg.transport, &setup);
            }
        }
    }
    changed
}

fn of(transport: &Transport, setup: &Setup) -> Transport {
    let profile = HostProfile::Linux;
    let rules = profile.rules();
    let mut simulated = Transport {
        profile,
        recovery: if setup.sack {
            Recovery::Rack
        } else {
            Recovery::NewReno
        },
        limited_transmit: rules.limited_transmit,
        recovery_fix: rules.recovery_fix,
        undo: rules.undo,
        ..transport.clone()
    };
    simulated.kernel.header_room = header_room();
    match &setup.control {
        // The window is the receiver's.
        Control::Module(module) => {
            let simulation = bentpipe_cc::list().find(|d| d.module == Some(module));
            if let Some(simulation) = simulation {
                let name = simulation.name.to_owned();
                simulated.congestion_control = CongestionControlChoice::Named(name);
            }
            if setup.stock_receive.is_none() {
                let window = setup.window.map(|w| u64::from(w) * u64::from(setup.mss));
                let bytes = window.map_or(DEFAULT_BUFFER, Bytes::new);
                let divisor = rules.receive_buffer_divisor.max(1);
                simulated.receive_buffer = Bytes::new(bytes.get().saturating_mul(divisor));
            }
        }
        Control::Ours(values) | Control::Own(_, values) => {
            simulated.congestion_control = match &setup.control {
                Control::Own(own, _) => CongestionControlChoice::Own(own.clone()),
                _ => CongestionControlChoice::Named(values.control().name.to_owned()),
            };
            simulated.parameters = Parameters::new();
            for (parameter, value) in values.texts() {
                // In the simulator the initial window is the transport's.
                if parameter.name != "initial_window" && value != parameter.default_text() {
                    simulated
                        .parameters
                        .set(parameter.name, typed(parameter.kind, &value));
                }
            }
            // The control keeps the window.
            if setup.stock_receive.is_none() {
                simulated.receive_buffer = DEFAULT_BUFFER;
            }
            if !setup.stock_send {
                simulated.set_send_buffer(DEFAULT_BUFFER);
            }
        }
    }
    simulated
}

/// A value of the kernel's catalogue as a scenario would have it.
fn typed(kind: Kind, text: &str) -> ParameterValue {
    let number = |text: &str| text.trim().parse::<f64>().ok();
    let value = match kind {
        Kind::Count | Kind::Decimal(_) => number(text).map(ParameterValue::Number),
        Kind::List(_) => {
            let numbers: Option<Vec<f64>> = text.split('-').map(number).collect();
            numbers.map(ParameterValue::Numbers)
        }
        Kind::Flag => Some(ParameterValue::Flag(text == "true")),
        Kind::Time => text.parse().ok().map(ParameterValue::Duration),
        Kind::Choice(_) => None,
    };
    value.unwrap_or_else(|| ParameterValue::Text(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use bentpipe_tcp::{TransportSettings, find_transport};

    #[test]
    fn stock_buffers_are_the_kernels() {
        let named = find_transport("reno-linux").expect("it is known");
        let of = |receive_buffer| {
            let settings = TransportSettings {
                profile: Some(bentpipe_tcp::HostProfile::Linux),
                receive_buffer,
                ..named.settings()
            };
            let transport = settings.resolve("reno-linux");
            let setup = Setup::new(&transport).expect("it runs on Linux");
            (of(&transport, &setup), setup.window)
        };
        let (stock, window) = of(None);
        assert_eq!(stock.receive_buffer, bentpipe_tcp::Buffers::STOCK_WINDOW);
        assert_eq!(window, None);
        // The window that is given is set; the memory of the sender limits, too.
        let (wide, window) = of(Some(Bytes::new(12_000_000)));
        let segments = 12_000_000 / wide.mss;
        assert_eq!(window, Some(segments));
        assert_eq!(wide.receive_buffer.get(), u64::from(segments * wide.mss));
        assert!(stock.kernel.send_memory.is_some() && wide.kernel.send_memory.is_some());
    }

    #[test]
    fn its_transports_can_be_simulated() {
        for name in ["newreno", "mtsi", "hybla", "const", "linear", "reno-linux"] {
            let named = find_transport(name).expect(name);
            let settings = TransportSettings {
                receive_buffer: Some(Bytes::new(64 * 1024)),
                ..named.settings()
            };
            let transport = settings.resolve(name);
            let setup = Setup::new(&transport).expect(name);
            let simulated = of(&transport, &setup);
            assert!(
                simulated.controller().is_ok(),
                "{name}: {:?}",
                simulated.controller()
            );
            assert_eq!(simulated.profile, HostProfile::Linux);
            assert_eq!(simulated.initial_window, transport.initial_window);
        }
    }
}
