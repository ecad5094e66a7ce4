//! A user's own algorithm runs where the built-in ones do.

use crate::wire::{a_loss, a_timeout, an_ack, an_exit};
use bentpipe_cc::{Ack, CongestionControl, Controller, Loss, Phase, Window};
use bentpipe_units::Rate;

/// Half a segment per ACK; a loss takes one segment.
#[derive(Debug)]
struct Gentle {
    losses: u32,
}

impl CongestionControl for Gentle {
    fn name(&self) -> &str {
        "gentle"
    }

    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        if ack.cwnd_limited {
            window.cwnd += 0.5;
        }
    }

    fn on_loss(&mut self, _: &Loss, window: &mut Window) {
        self.losses += 1;
        window.cwnd = (window.cwnd - 1.0).max(2.0);
        window.ssthresh = window.cwnd;
    }

    fn bandwidth_estimate(&self) -> Option<Rate> {
        Some(Rate::from_mbps(u64::from(self.losses)))
    }
}

#[test]
fn an_own_algorithm_needs_no_fork() {
    let mut controller = Controller::custom(Gentle { losses: 0 });
    let mut window = Window::new(10.0);
    controller.on_established(None, &mut window);
    controller.on_sample(&an_ack(), &mut window);
    controller.on_ack(&an_ack(), &mut window);
    assert_eq!((controller.name(), window.cwnd), ("gentle", 10.5));
    assert_eq!(controller.phase(&window), Phase::SlowStart);

    let before = window.clone();
    controller.on_loss(&a_loss(10.0), &mut window);
    assert_eq!(window.cwnd, 9.5);
    assert_eq!(controller.bandwidth_estimate(), Some(Rate::from_mbps(1)));

    // The rest has the defaults of the trait.
    controller.on_recovery_exit(&an_exit(3.0, true), &mut window);
    assert_eq!(window.cwnd, 4.0);
    controller.on_timeout(&a_timeout(4.0), &mut window);
    assert_eq!((window.cwnd, window.ssthresh), (1.0, 2.0));
    controller.on_spurious(&before, &mut window);
    assert_eq!(window, before);
}
