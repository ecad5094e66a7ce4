//! Delay against load.

use super::drive::{HOP, all, at, cf_dama, drain, on_board, poisson, shared, slotted};
use bentpipe_link::PacketMeta;
use bentpipe_link::medium::{Requests, Scheduler};
use bentpipe_units::Time;

#[test]
fn light_load_costs_a_hop_and_half_a_frame() {
    // 24 terminals, 24 slots: a round of free slots is a frame.
    for requests in [
        Requests::Preassigned,
        Requests::Piggyback,
        Requests::Random { minislots: 4 },
    ] {
        for scheduler in [Scheduler::Ground, on_board()] {
            let settings = cf_dama(scheduler, requests);
            let (link, _) = poisson(&settings, 24, 0.005, 20_000, false);
            let got = link.total().mean_delay().as_secs() * 1e3;
            // A packet takes a slot.
            let want = 250.0 + 12.0 + 1.0;
            assert!((got - want).abs() < 1.5, "{got} ms, {want} expected");
        }
    }
}

#[test]
fn slots_begin_when_the_minislots_have_ended() {
    // 24 minislots of 10 bytes take 0.96 ms, and leave 24 slots of 0.96 ms, 240 bytes each. Free
    // slots go round, so that each terminal's packet goes in the first frame.
    let settings = cf_dama(Scheduler::Ground, Requests::Preassigned);
    let mut link = shared(&settings, 24, 1);
    for terminal in 0..24 {
        link.offer(at(2.3999), terminal, 0, PacketMeta::plain(240));
    }
    let mut arrivals = Vec::new();
    drain(&mut link, Time::MAX, |at, _, _| arrivals.push(at));
    let slots = (1..=24).map(|n| at(2.4 + 0.96e-3 * f64::from(1 + n) + HOP.as_secs()));
    assert_eq!(arrivals, slots.collect::<Vec<_>>());
}

/// How long after a burst at terminal 7 of 24 its slots on request begin, as
/// seen at the hub.
fn answered_after(scheduler: Scheduler) -> f64 {
    let settings = cf_dama(scheduler, Requests::Preassigned);
    let mut link = shared(&settings, 24, 1);
    // Just before a frame, so that the minislot comes at once.
    let start = at(2.3999);
    for n in 0..100 {
        link.offer(start, 7, n, PacketMeta::plain(240));
    }
    let mut arrivals = Vec::new();
    drain(&mut link, Time::MAX, |at, _, _| arrivals.push(at));
    assert_eq!(arrivals.len(), 100);
    // The first goes in a free slot, one hop.
    let first = arrivals[0].since(start).as_secs();
    assert!((0.25..0.275).contains(&first), "{first}");
    // Free slots come once a frame; those on request follow each other.
    let back_to_back = |pair: &&[Time]| pair[1].since(pair[0]).as_secs() < 0.002;
    let begins = arrivals.windows(2).find(back_to_back).unwrap()[0];
    begins.since(start).as_secs()
}

#[test]
fn demand_takes_three_hops_on_ground_and_two_on_board() {
    // Minislots, and a slot to send the packet in, take less than 2 ms.
    let hop = HOP.as_secs();
    for (scheduler, hops) in [(Scheduler::Ground, 3.0), (on_board(), 2.0)] {
        let got = answered_after(scheduler);
        let want = hops * hop;
        assert!((want..want + 0.003).contains(&got), "{got} s, {hops} hops");
    }
}

#[test]
fn the_delay_stays_bounded_at_high_load() {
    for settings in all() {
        // ALOHA waits a hop for every packet: 24 terminals cannot send more
        // than 24 packets in 270 ms.
        let load = if settings.frame().is_none() {
            0.04
        } else {
            0.85
        };
        let (link, _) = poisson(&settings, 24, load, 20_000, false);
        let total = link.total();
        assert!(total.sent > 19_900, "{total:?}");
        let mean = total.mean_delay().as_secs();
        assert!(mean < 1.5, "{mean} s at {load}: {settings:?}");
    }
}

/// Claim of the field (Mitchell et al. 2000; Salamanca 2008, section 2.3):
/// CF-DAMA is quicker than slotted ALOHA at virtually every load.
#[test]
fn cf_dama_is_quicker_than_slotted_aloha() {
    // With 100 terminals a round of free slots takes 4 frames, half of it
    // 50 ms; a collision costs 1.27 s. So ALOHA is quicker only up to a load of
    // some percent.
    let cf = cf_dama(Scheduler::Ground, Requests::Preassigned);
    let aloha = slotted(3);
    let delay = |settings, load| {
        let (link, _) = poisson(settings, 100, load, 20_000, false);
        let total = link.total();
        (total.mean_delay().as_secs(), total.sent)
    };
    for load in [0.06, 0.1, 0.15, 0.2, 0.25, 0.3] {
        let ((cf, cf_sent), (aloha, aloha_sent)) = (delay(&cf, load), delay(&aloha, load));
        assert!(cf < aloha, "load {load}: {cf} s and {aloha} s");
        assert!(cf_sent == 20_000 && aloha_sent <= cf_sent);
    }
    let ((cf, _), (aloha, _)) = (delay(&cf, 0.005), delay(&aloha, 0.005));
    assert!(aloha < cf, "{cf} s and {aloha} s");
}
