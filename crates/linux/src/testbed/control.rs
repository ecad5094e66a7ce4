//! The congestion control of a sender: a module of the kernel, or an eBPF
//! control that is loaded for the run.
//!
//! A congestion control of `bentpipe-cc` has the same parameters in the kernel where `bp_` and its
//! name is a control there; `newreno`, which counts ACKs, is `bp_const` with K = 1. A module of the
//! kernel replaces its simulation (`reno-linux`, `cubic-linux`, ...), as the declarations of
//! `bentpipe-cc` say, and for a control of the same name that has no counterpart (`cubic`).

use crate::kernel::{self, KernelError, Loaded};
use bentpipe_bpf::Values;
use bentpipe_cc::own::KernelForm;
use bentpipe_cc::{OwnControl, ParameterValue};
use bentpipe_tcp::{CongestionControlChoice, Pacing, Transport};
use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};

/// The baseline that counts ACKs, and what it is in the kernel.
const BASELINE: (&str, &str) = ("newreno", "bp_const");

/// The combination of slots that is one control in the kernel.
const SEARCHING: ([&str; 3], &str) = (["search", "cubic", "cubic"], "bp_cubic_search");

/// Westwood with Hoe's estimate is a separate control in the kernel.
const ENHANCED: &str = "bp_etcpw";

/// A congestion control of this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Control {
    /// A module that the kernel has.
    Module(&'static str),
    /// One of ours, with its parameters.
    Ours(Values),
    /// A user's own, with its parameters.
    Own(OwnControl, Values),
}

impl Control {
    /// The control of a transport whose windows allow `window` segments, or why
    /// there is none.
    pub(crate) fn of(transport: &Transport, window: Option<u32>) -> Result<Control, String> {
        let name = match &transport.congestion_control {
            CongestionControlChoice::Ideal => {
                return Err("the analytic bound is computed, not run".to_owned());
            }
            CongestionControlChoice::Slots {
                start,
                avoidance,
                reaction,
            } => {
                let slots = [start.as_str(), avoidance, reaction];
                if let (true, Some(found)) = (slots == SEARCHING.0, bentpipe_bpf::find(SEARCHING.1))
                {
                    let mut values = Values::new(found);
                    set(&mut values, SEARCHING.1, transport, window)?;
                    return Ok(Control::Ours(values));
                }
                return Err(
                    "a combination of slots is simulated only, but for `cubic` with `start = \"search\"`: \
                     the kernel has whole controls"
                        .to_owned(),
                );
            }
            CongestionControlChoice::Own(control) => return own(control, transport, window),
            CongestionControlChoice::Named(name) => name.as_str(),
        };
        let described = bentpipe_cc::find(name);
        if let Some(module) = described.and_then(|d| d.module) {
            return Control::module(transport, module);
        }
        let estimates = |value: &ParameterValue| *value != ParameterValue::from("off");
        let found = match transport.parameters.get("hoe") {
            Some(value) if name == "westwood" && estimates(value) => ours(ENHANCED),
            _ => ours(name),
        };
        let Some(mut values) = found else {
            // The kernel's own of that name is the nearest that it has.
            let kernels = described
                .and_then(|d| d.on_linux)
                .and_then(bentpipe_cc::find);
            return match kernels.and_then(|d| d.module) {
                Some(module) => Control::module(transport, module),
                None => Err(format!(
                    "the congestion control `{name}` has no counterpart in the kernel"
                )),
            };
        };
        set(&mut values, name, transport, window)?;
        Ok(Control::Ours(values))
    }

    fn module(transport: &Transport, module: &'static str) -> Result<Control, String> {
        if let Some((parameter, _)) = transport.parameters.iter().next() {
            return Err(format!(
                "`{parameter}` cannot be set: the kernel's `{module}` takes no parameters"
            ));
        }
        let names = kernel::names();
        if names.iter().any(|name| name == module) {
            return Ok(Control::Module(module));
        }
        Err(format!(
            "this kernel has no `{module}`; it has {} (`modprobe tcp_{module}` may load it)",
            names.join(", ")
        ))
    }

    /// True if it keeps the window itself.
    pub(crate) fn keeps_window(&self) -> bool {
        !matches!(self, Control::Module(_))
    }
}

/// A user's control, where its source can run in the kernel.
fn own(
    control: &OwnControl,
    transport: &Transport,
    window: Option<u32>,
) -> Result<Control, String> {
    let name = control.name();
    let Some(form) = control.kernel() else {
        return Err(format!(
            "the congestion control `{name}` is simulated only: the kernel runs C of the form of \
             bpf/ (`bentpipe cc new NAME --c`)"
        ));
    };
    let mut values = Values::new(form.control());
    set(&mut values, name, transport, window)?;
    Ok(Control::Own(control.clone(), values))
}

/// Sets what the transport says.
fn set(
    values: &mut Values,
    name: &str,
    transport: &Transport,
    window: Option<u32>,
) -> Result<(), String> {
    for (parameter, value) in transport.parameters.iter() {
        values
            .set_text(parameter, &text(value))
            .map_err(|e| format!("`{name}` in the kernel: {e}"))?;
    }
    given_by_transport(values, transport, window)?;
    values.check().map_err(|e| e.to_string())
}

/// The control of ours that is that congestion control, with its defaults.
fn ours(name: &str) -> Option<Values> {
    if name == BASELINE.0 {
        let mut values = Values::new(bentpipe_bpf::find(BASELINE.1)?);
        values.set_text("k", "1").ok()?;
        return Some(values);
    }
    let plain = name.replace('+', "p").replace('-', "");
    let candidates = [name.to_owned(), format!("bp_{plain}")];
    let found = candidates.iter().find_map(|name| bentpipe_bpf::find(name));
    found.map(Values::new)
}

/// Sets what is a transport's in a scenario and a control's in the kernel. What a
/// control does not have is left to the kernel, and what is the control's own
/// where the scenario names it (`bp_hybla`) to its parameters.
fn given_by_transport(
    values: &mut Values,
    transport: &Transport,
    window: Option<u32>,
) -> Result<(), String> {
    let pacing = match transport.pacing {
        Pacing::Off => 0.0,
        Pacing::Window { gain, .. } => gain,
    };
    let given = [
        (
            "initial_window",
            transport.initial_window.floor().to_string(),
        ),
        ("window_clamp", window.unwrap_or(0).to_string()),
        ("exit_fix", transport.recovery_fix.to_string()),
        ("pacing_gain", pacing.to_string()),
    ];
    let own = match &transport.congestion_control {
        CongestionControlChoice::Named(name) => name == values.control().name,
        CongestionControlChoice::Own(_) => true,
        _ => false,
    };
    let shared = if own { 2 } else { given.len() };
    for (name, value) in given.into_iter().take(shared) {
        let set = transport.parameters.get(name).is_some();
        let known = values.control().parameters.iter().any(|p| p.name == name);
        if known && !set {
            values.set_text(name, &value).map_err(|e| e.to_string())?;
        }
    }
    Ok(())
}

/// A value in the text form of the kernel's controls.
fn text(value: &ParameterValue) -> String {
    match value {
        ParameterValue::Numbers(list) => {
            let numbers: Vec<String> = list.iter().map(f64::to_string).collect();
            numbers.join("-")
        }
        other => other.to_string(),
    }
}

impl fmt::Display for Control {
    /// `bp_mtsi initial_window=6 window_clamp=113`: what is not the default.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Control::Module(name) => f.write_str(name),
            Control::Ours(values) | Control::Own(_, values) => {
                f.write_str(values.control().name)?;
                for (parameter, value) in values.texts() {
                    if value != parameter.default_text() {
                        write!(f, " {}={value}", parameter.name)?;
                    }
                }
                Ok(())
            }
        }
    }
}

/// The controls of ours that a run needs, in the kernel while this lives.
#[derive(Debug, Default)]
pub(crate) struct Controls {
    loaded: Vec<(Control, Loaded)>,
}

impl Controls {
    /// The name by which programs choose `control`, which is loaded for it under
    /// a name of its own if it is one of ours.
    pub(crate) fn name(&mut self, control: &Control) -> Result<String, KernelError> {
        if let Some((_, loaded)) = self.loaded.iter().find(|(known, _)| known == control) {
            return Ok(loaded.name().to_owned());
        }
        let loaded = match control {
            Control::Module(name) => return Ok((*name).to_owned()),
            Control::Ours(values) => kernel::load(values.control(), values, &next_name())?,
            Control::Own(own, values) => {
                let file = values.control().source;
                let object = own
                    .kernel()
                    .map_or_else(|| Ok(Vec::new()), KernelForm::object);
                let object = object.map_err(|reason| KernelError::BadObject {
                    object: file.to_owned(),
                    reason,
                })?;
                kernel::load_object(file, &object, values.words(), &next_name())?
            }
        };
        let name = loaded.name().to_owned();
        self.loaded.push((control.clone(), loaded));
        Ok(name)
    }
}

/// `bp_PID_N`, with numbers to the base of 16: 15 characters at most.
fn next_name() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    // Process numbers have 22 bits; four digits are more copies than run at once.
    let n = NEXT.fetch_add(1, Ordering::Relaxed) & 0xffff;
    format!("bp_{:x}_{n:x}", std::process::id())
}

#[cfg(test)]
mod tests {
    use super::*;
    use bentpipe_tcp::{TransportSettings, find_transport};

    fn control(name: &str, above: TransportSettings) -> Result<String, String> {
        let named = find_transport(name).expect(name);
        let transport = above.over(named.settings()).resolve(name);
        Control::of(&transport, Some(22)).map(|control| control.to_string())
    }

    #[test]
    fn the_baseline_adds_a_segment_an_ack() {
        let above = TransportSettings {
            initial_window: Some(2.0),
            ..TransportSettings::default()
        };
        assert_eq!(
            control("newreno", above),
            Ok("bp_const initial_window=2 window_clamp=22 k=1".to_owned())
        );
        let const_2 = TransportSettings {
            parameters: bentpipe_cc::Parameters::new().with("k", 2.0),
            ..TransportSettings::default()
        };
        assert_eq!(
            control("const", const_2),
            Ok("bp_const initial_window=6 window_clamp=22 k=2".to_owned())
        );
    }

    #[test]
    fn what_the_kernel_cannot_set_is_refused() {
        let hoe = TransportSettings {
            parameters: bentpipe_cc::Parameters::new().with("hoe", "round"),
            ..TransportSettings::default()
        };
        let why = control("newreno", hoe.clone()).unwrap_err();
        assert!(why.contains("no parameter `hoe`"), "{why}");
        let module = control("reno-linux", TransportSettings::default());
        assert_eq!(module, Ok("reno".to_owned()));
        let why = control("fixed-window", TransportSettings::default()).unwrap_err();
        assert!(why.contains("no counterpart"), "{why}");
    }

    #[test]
    fn names_are_short_enough() {
        assert!(next_name().len() <= kernel::LONGEST_NAME);
        assert_ne!(next_name(), next_name());
        assert!(kernel::check_name(&next_name()).is_ok());
    }

    #[test]
    fn names_of_the_simulator_find_their_control() {
        for (name, control) in [
            ("newreno", "bp_const"),
            ("mtsi", "bp_mtsi"),
            ("westwood", "bp_westwood"),
            ("westwood+", "bp_westwoodp"),
            ("e-tcpw", "bp_etcpw"),
            ("new-vegas", "bp_newvegas"),
            ("bp_hybla", "bp_hybla"),
        ] {
            let transport = find_transport(name).unwrap().transport();
            let Ok(Control::Ours(values)) = Control::of(&transport, None) else {
                panic!("{name}");
            };
            assert_eq!(values.control().name, control, "{name}");
        }
    }

    #[test]
    fn cubic_with_search_is_one_control_in_the_kernel() {
        let mut transport = find_transport("cubic").unwrap().transport();
        let slots = |start: &str| CongestionControlChoice::Slots {
            start: start.to_owned(),
            avoidance: "cubic".to_owned(),
            reaction: "cubic".to_owned(),
        };
        transport.congestion_control = slots("search");
        transport.parameters.set("threshold", 0.3);
        let found = Control::of(&transport, None).unwrap().to_string();
        assert_eq!(found, "bp_cubic_search initial_window=10 threshold=0.3");
        transport.congestion_control = slots("standard");
        let why = Control::of(&transport, None).unwrap_err();
        assert!(why.contains("simulated only"), "{why}");
    }

    #[test]
    fn a_kernel_control_by_its_own_name_keeps_its_own_parameters() {
        for (name, pacing) in [("bp_hybla", "1"), ("hybla", "1")] {
            let transport = find_transport(name).unwrap().transport();
            let Ok(Control::Ours(values)) = Control::of(&transport, Some(100)) else {
                panic!("{name}");
            };
            let mut texts = values.texts();
            assert!(texts.any(|(p, text)| p.name == "window_clamp" && text == "100"));
            assert!(texts.any(|(p, text)| p.name == "exit_fix" && text == "true"));
            assert!(texts.any(|(p, text)| p.name == "pacing_gain" && text == pacing));
        }
    }
}
