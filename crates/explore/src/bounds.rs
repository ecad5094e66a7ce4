//! Bounds of what one request computes, below those of the command.

use bentpipe::scenario::{Limits, Scenario};
use bentpipe::sim::RunError;

/// Bytes of a scenario's text, at most.
pub(crate) const MOST_TEXT: usize = 1 << 20;

/// Events of a run, at most: some minutes of work.
const MOST_EVENTS: u64 = 2_000_000_000;

/// Packets of a run that are alive at once, at most: some hundred megabytes.
const MOST_PACKETS: u32 = 4_000_000;

/// What a run of the page may use.
pub(crate) const LIMITS: Limits = Limits {
    events: MOST_EVENTS,
    packets: MOST_PACKETS,
};

/// The scenario with bounds that a server can bear, whatever it asks for.
pub(crate) fn bounded(mut scenario: Scenario) -> Scenario {
    let limits = &mut scenario.limits;
    limits.events = limits.events.min(LIMITS.events);
    limits.packets = limits.packets.min(LIMITS.packets);
    scenario
}

/// What to add to the error of a run that hit one of these bounds.
pub(crate) fn note(error: &RunError) -> &'static str {
    let is_ours = match error {
        RunError::TooManyEvents { limit } => *limit == MOST_EVENTS,
        RunError::TooManyPackets { limit, .. } => *limit == MOST_PACKETS,
        _ => false,
    };
    match is_ours {
        true => "; the page is given no more, and `bentpipe run` as much as the scenario says",
        false => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scenario_can_lower_its_bounds_and_not_raise_them() {
        let text = "duration = \"1 s\"\n[node.a]\n[node.b]\n[link.l]\nbetween = [\"a\", \"b\"]\n\
             rate = \"1 Mbit/s\"\none_way_delay = \"1 ms\"\n[flow.f]\nfrom = \"a\"\nto = \"b\"\n\
             transport = \"cubic\"\napplication = \"persistent\"\n[limits]\nevents = 900_000_000_000\npackets = 1000\n";
        let scenario = bounded(bentpipe::parse(text).unwrap());
        assert_eq!(scenario.limits.events, MOST_EVENTS);
        assert_eq!(scenario.limits.packets, 1000);
        let ours = RunError::TooManyEvents { limit: MOST_EVENTS };
        assert!(note(&ours).contains("bentpipe run"));
        assert_eq!(note(&RunError::TooManyEvents { limit: 5 }), "");
    }
}
