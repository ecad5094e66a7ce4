//! Selects the congestion control of an association, and refuses unsuitable ones.

use crate::tunnel::known::Knowledge;
use bentpipe_cc::{BuildError, CWND_LIMIT, Controller, Parameters, Window, build};
use bentpipe_units::Duration as Span;

/// The control for a link of unknown rate, if the configured one needs the rate.
const WITHOUT_RATE: &str = "bbr";

/// Why a congestion control cannot run here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// There is none of that name.
    #[error("{0}")]
    Unknown(String),
    /// It needs what the path or QUIC does not give.
    #[error("`{name}` {needs}")]
    Needs {
        /// Name of the congestion control.
        name: String,
        /// What it needs, as the end of a sentence.
        needs: &'static str,
    },
}

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

/// Why the control of that name cannot run over QUIC; `None` where it can.
#[must_use]
pub fn refusal(name: &str) -> Option<Refusal> {
    let mut control = match build(name, &Parameters::new()) {
        Ok(control) => control,
        Err(error) => return Some(Refusal::Unknown(words(&error))),
    };
    // What a control requests when it begins, it requests for its whole life.
    let mut window = Window::new(10.0);
    control.on_open(CWND_LIMIT);
    control.on_established(Some(Span::from_millis(600)), &mut window);
    let needs = [
        (
            control.needs_feedback(),
            "needs the feedback of routers in a header of its own, which QUIC does not carry",
        ),
        (
            control.needs_bandwidth(),
            "needs the bandwidth that routers write into each packet, which QUIC does not carry",
        ),
        (
            control.needs_error_reports(),
            "needs links that report corrupted packets to the sender",
        ),
        (
            control.needs_queue_reports(),
            "needs reports on the queue of the terminal's modem",
        ),
        (
            control.shares_state(),
            "shares a window among connections, and an association is one connection",
        ),
        (
            window.actions.probes.is_some() || matches!(name, "rcs" | "tp-planet"),
            "sends probes of low priority, which QUIC does not have",
        ),
        (
            window.actions.low_priority > 0 || name == "fast-start",
            "sends data of low priority, which QUIC does not have",
        ),
        (
            name == "bulk-repeat",
            "sends a whole window again, and QUIC repeats only what is lost",
        ),
    ];
    let (_, needs) = needs.into_iter().find(|(does, _)| *does)?;
    Some(Refusal::Needs {
        name: name.to_owned(),
        needs,
    })
}

fn words(error: &BuildError) -> String {
    error.to_string()
}
