//! Selects the congestion control of an association, and refuses unsuitable ones.

use crate::tunnel::known::Knowledge;
use bentpipe_cc::{Controller, Parameters, Window, build};
use bentpipe_quic::controller::{Refusal, refusal};

/// The control for a link of unknown rate, if the configured one needs the rate.
const WITHOUT_RATE: &str = "bbr";

/// A congestion control that can run here.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    name: String,
    parameters: Parameters,
}

impl Choice {
    /// The control of that name.
    ///
    /// # Errors
    /// There is none, or it cannot run over QUIC.
    pub fn named(name: &str) -> Result<Choice, Refusal> {
        match refusal(name) {
            Some(refusal) => Err(refusal),
            None => Ok(Choice {
                name: name.to_owned(),
                parameters: Parameters::new(),
            }),
        }
    }

    /// Name of the congestion control.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The control with these parameters if they are valid; otherwise unchanged.
    #[must_use]
    pub fn with(mut self, parameters: Parameters) -> Choice {
        if build(&self.name, &parameters).is_ok() {
            self.parameters = parameters;
        }
        self
    }

    /// Whether the control never slows down by itself, since it is told the rate of the path.
    pub(in crate::tunnel) fn trusts_rate(&self) -> bool {
        build(&self.name, &self.parameters).is_ok_and(|control| control.needs_path())
    }

    /// One for an association that begins now. If the rate of the path is unknown, a control that
    /// needs it is replaced by one that estimates it.
    pub(super) fn build(&self, knowledge: &Knowledge) -> Controller {
        let built = build(&self.name, &self.parameters);
        match built {
            Ok(control) if !control.needs_path() || knowledge.rate().is_some() => control,
            _ => build(WITHOUT_RATE, &Parameters::new()).unwrap_or_else(|_| fixed()),
        }
    }
}

/// A control that cannot be missing.
fn fixed() -> Controller {
    Controller::custom(Fixed)
}

#[derive(Debug)]
struct Fixed;

impl bentpipe_cc::CongestionControl for Fixed {
    fn name(&self) -> &str {
        "fixed"
    }

    fn on_ack(&mut self, _: &bentpipe_cc::Ack, _: &mut Window) {}
}
