//! Congestion controls that QUIC cannot carry.

use bentpipe_cc::{BuildError, CWND_LIMIT, Controller, Parameters, Window, build};
use bentpipe_units::Duration as Span;

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

/// Why the control of that name cannot run over QUIC; `None` where it can.
#[must_use]
pub fn refusal(name: &str) -> Option<Refusal> {
    match build(name, &Parameters::new()) {
        Ok(control) => refused(name, control),
        Err(error) => Some(Refusal::Unknown(words(&error))),
    }
}

/// The same of a control that is built already.
#[must_use]
pub fn refused(name: &str, mut control: Controller) -> Option<Refusal> {
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
