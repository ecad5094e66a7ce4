//! A hook around each run: a program whose congestion controls need their thread prepared, for
//! instance for an interpreter, prepares it once per run and not for each call.

use bentpipe_cc::OwnControl;
use bentpipe_scenario::Scenario;
use bentpipe_tcp::{CongestionControlChoice, Transport};
use std::sync::OnceLock;

/// Is given the congestion controls of a run that are a user's own, and does the run
/// once, on the same thread, between what goes before and after.
pub type Surround = fn(&[&OwnControl], &mut dyn FnMut());

static SURROUND: OnceLock<Surround> = OnceLock::new();

/// Has every run of this process that uses a user's congestion control take
/// place inside `surround`. Only the first call counts. It can change no result.
pub fn surround_runs(surround: Surround) {
    // The first call counts.
    let _ = SURROUND.set(surround);
}

/// Does `run`, inside what [`surround_runs`] was given where `scenario` needs it.
pub(crate) fn with_run_scope<T>(scenario: &Scenario, run: impl FnOnce() -> T) -> T {
    let Some(surround) = SURROUND.get() else {
        return run();
    };
    let own = own_of(scenario);
    if own.is_empty() {
        return run();
    }
    let (mut run, mut result) = (Some(run), None);
    surround(&own, &mut || result = run.take().map(|run| run()));
    match (result, run) {
        (Some(result), _) => result,
        // It did not do what it was given.
        (None, Some(run)) => run(),
        (None, None) => unreachable!("what ran has a result"),
    }
}

/// The controls of the flows and of the legs of split ones.
fn own_of(scenario: &Scenario) -> Vec<&OwnControl> {
    let mut found = Vec::new();
    for flow in &scenario.flows {
        let legs = flow.split.iter().flat_map(|split| &split.legs);
        let legs = legs.map(|leg| &leg.transport);
        found.extend(
            flow.transport
                .as_deref()
                .into_iter()
                .chain(legs)
                .filter_map(own),
        );
    }
    found
}

fn own(transport: &Transport) -> Option<&OwnControl> {
    match &transport.congestion_control {
        CongestionControlChoice::Own(control) => Some(control),
        _ => None,
    }
}
