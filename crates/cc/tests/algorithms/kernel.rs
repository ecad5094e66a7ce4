//! The kernel's controls as the transport calls them.

use crate::wire::{a_loss, an_ack};
use bentpipe_cc::{Parameters, Repair, Window, build, list};
use bentpipe_units::Duration;

#[test]
fn recovery_also_ends_where_only_the_state_of_repair_tells() {
    let mut paced = 0;
    for described in list().filter(|described| described.name.starts_with("bp_")) {
        let mut controller = build(described.name, &Parameters::new()).unwrap();
        let mut window = Window::new(40.0);
        controller.on_established(Some(Duration::from_millis(600)), &mut window);
        if !controller.owns_window() {
            continue;
        }
        paced += 1;
        let mut ack = an_ack();
        (ack.outstanding, ack.flight, ack.flight_before) = (40.0, 40.0, 41.0);
        controller.on_sample(&ack, &mut window);
        controller.on_control(&ack, Repair::None, &mut window);
        controller.on_loss(&a_loss(40.0), &mut window);
        for repair in [Repair::Recovery, Repair::Recovery, Repair::None] {
            controller.on_sample(&ack, &mut window);
            controller.on_control(&ack, repair, &mut window);
        }
        assert_eq!(
            window.cwnd,
            if window.ssthresh > 2.0 {
                window.ssthresh
            } else {
                30.0
            }
        );
    }
    assert_eq!(paced, 2);
}

#[test]
fn what_no_catalogue_allows_is_refused() {
    for (name, parameter, value) in [
        ("bp_const", "k", 2.5),
        ("bp_const", "k", 0.0),
        ("bp_hybla", "pacing_gain", 5.0),
    ] {
        let error = build(name, &Parameters::new().with(parameter, value)).unwrap_err();
        assert!(error.to_string().contains(parameter), "{error}");
    }
    let uneven = Parameters::new().with("thresholds", vec![10.0, 20.0]);
    let error = build("bp_mtsi", &uneven).unwrap_err();
    assert!(error.to_string().contains("as many slopes"), "{error}");
}
