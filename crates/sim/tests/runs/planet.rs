//! TP-Planet over a round trip of minutes: its start, its blackouts, its losses.

use crate::text::read;
use bentpipe_outcome::FlowOutcome;
use bentpipe_sim::{Options, run};

/// An hour of `transport` over 1 Mbit/s and a round trip of four minutes, with
/// losses of `per` on the way forth and this timeline.
fn flow(transport: &str, per: f64, timeline: &str) -> FlowOutcome {
    let text = format!(
        "duration = \"60 min\"\n[node.mars]\n[node.earth]\n[link.space]\n\
         between = [\"mars\", \"earth\"]\nrate = \"1 Mbit/s\"\none_way_delay = \"120 s\"\n\
         queue = {{ kind = \"priority-drop\", limit = \"500 packets\" }}\n\
         channel = {{ kind = \"uniform\", packet_error_rate = {per} }}\n{timeline}\
         [link.space.reverse]\nchannel = \"perfect\"\n\
         [transport.t]\nbase = \"{transport}\"\nmss = \"1460 B\"\nminimum_rto = \"550 s\"\n\
         receive_buffer = \"120 MB\"\nsend_buffer = \"240 MB\"\n\
         [flow.f]\nfrom = \"mars\"\nto = \"earth\"\ntransport = \"t\"\n\
         application = \"persistent\"\nhandshake = \"not-counted\"\n"
    );
    run(&read(&text), &Options::default())
        .unwrap()
        .flows
        .remove(0)
}

/// The parameters that a link of 1 Mbit/s asks for: 20,000 segments a round trip.
const PLANET: &str = "tp-planet\"\nreach = 20000\nincrease = 100\n#\"";

/// Mbit/s over the time in which data can have arrived: an hour without the
/// handshake and the first round trip and a half.
fn goodput(flow: &FlowOutcome) -> f64 {
    flow.delivered.as_f64() * 8e-6 / (3600.0 - 600.0)
}

#[test]
fn the_link_is_full_after_the_second_round_trip() {
    let planet = flow(PLANET, 0.0, "");
    assert!(goodput(&planet) > 0.75, "{} {planet:?}", goodput(&planet));
    assert_eq!(planet.timeouts, 0);
    // Slow start has sent some hundreds of segments by then.
    let sack = flow("sack", 0.0, "");
    assert!(
        goodput(&sack) < 0.1 * goodput(&planet),
        "{}",
        goodput(&sack)
    );
}

#[test]
fn losses_do_not_lower_the_rate() {
    let planet = flow(PLANET, 0.01, "");
    // What waits for repairs of the last round trips is not delivered yet.
    assert!(goodput(&planet) > 0.6, "{} {planet:?}", goodput(&planet));
    assert_eq!((planet.timeouts, planet.reductions), (0, 0));
    let sack = flow("sack", 0.01, "");
    assert!(goodput(&sack) < 0.02, "{}", goodput(&sack));
}

/// Ten minutes without the link, which is more than the retransmission timeout.
/// What they cost is themselves, what was on its way when they began, and the
/// round trip in which the sender learns of their end.
#[test]
fn a_blackout_costs_its_length_and_two_round_trips() {
    let timeline = "in_flight = \"lost\"\n\
                    timeline = [{ at = \"25 min\", up = false }, { at = \"35 min\", up = true }]\n";
    let (whole, cut) = (flow(PLANET, 0.0, ""), flow(PLANET, 0.0, timeline));
    assert!(cut.timeouts > 0, "{cut:?}");
    let lost = (whole.delivered.as_f64() - cut.delivered.as_f64()) * 8e-6;
    let rate = goodput(&whole);
    let cost = lost / rate;
    assert!(
        (600.0..600.0 + 3.0 * 240.0).contains(&cost),
        "{cost} s, {cut:?}"
    );
}
