//! Probes, low-priority bursts, bulk repeats: what only some congestion controls
//! ask of a sender.

use crate::pipe::{Fate, MSS, ONE_WAY, Pipe, drop_once, plain};
use bentpipe_cc::Parameters;
use bentpipe_tcp::packet::{flags, priority};
use bentpipe_tcp::{CongestionControlChoice, HostProfile, Packet, Recovery, Transport};
use bentpipe_units::{Bytes, Duration, Time};
use std::cell::RefCell;
use std::rc::Rc;

/// `name` with a receive window of 64 segments and an RTT of 100 ms.
fn transport(name: &str, recovery: Recovery) -> Transport {
    Transport {
        congestion_control: CongestionControlChoice::Named(name.into()),
        receive_buffer: Bytes::new(64 * u64::from(MSS)),
        initial_window: 1.0,
        recovery,
        ..plain()
    }
}

/// Opens with a handshake, which gives the RTT, and sends `segments`.
fn connected(
    transport: &Transport,
    segments: u64,
    fate: impl FnMut(usize, &Packet) -> Fate + 'static,
) -> Pipe {
    let mut pipe = Pipe::closed(transport, fate);
    pipe.connect();
    pipe.write(segments);
    pipe
}

fn is_probe(p: &Packet) -> bool {
    p.has(flags::PROBE)
}

#[test]
fn the_sudden_start_opens_the_window_in_two_round_trips() {
    for (name, recovery) in [("peach", Recovery::NewReno), ("peach+", Recovery::Sack)] {
        let mut pipe = connected(&transport(name, recovery), 1000, |_, _| Fate::Deliver);
        pipe.run_for(Duration::from_millis(600));
        // After the handshake: one, then one per answer, then a window.
        assert_eq!(pipe.rounds()[..4], [0, 1, 64, 64], "{name}");
        // No probe lifts it above the receive window; data may, by a segment.
        assert!((64.0..66.0).contains(&pipe.cwnd()), "{}", pipe.cwnd());
        assert_eq!(pipe.probes.len(), 63);
        let tau = Duration::from_nanos(100_000_000 / 64);
        let first = pipe.probes[0].at;
        assert_eq!(first, Time::ZERO + ONE_WAY * 2 + tau);
        let gaps = pipe.probes.windows(2).map(|w| w[1].at.since(w[0].at));
        assert!(gaps.into_iter().all(|gap| gap == tau));
    }
}

#[test]
fn the_agents_of_ns2_probe_like_others() {
    for (name, recovery) in [("peach", Recovery::NewReno), ("peach+", Recovery::Sack)] {
        let ns2 = Transport {
            profile: HostProfile::Ns2,
            timestamps: false,
            ..transport(name, recovery)
        };
        let mut pipe = connected(&ns2, 2000, drop_once(&[700]));
        pipe.run_for(Duration::from_millis(600));
        assert_eq!(pipe.rounds()[..4], [0, 1, 64, 64], "{name}");
        pipe.run_for(Duration::from_secs(3));
        assert_eq!(pipe.probes.len(), 63 + 64, "{name}");
        let counters = pipe.ends[0].counters();
        assert_eq!((counters.recoveries, counters.timeouts), (1, 0), "{name}");
        assert_eq!(counters.probe_answers, 63 + 64);
        assert_eq!(pipe.ends[0].acknowledged(), Bytes::new(2_000_000));
    }
}

#[test]
fn probes_are_counted_apart_and_are_of_low_priority() {
    for (name, recovery) in [("peach", Recovery::NewReno), ("peach+", Recovery::Sack)] {
        let seen = Rc::new(RefCell::new([0; 2]));
        let log = Rc::clone(&seen);
        let mut pipe = connected(&transport(name, recovery), 100, move |to, p| {
            assert_eq!(p.priority == priority::LOW, is_probe(p));
            log.borrow_mut()[to] += u32::from(is_probe(p));
            Fate::Deliver
        });
        pipe.run_for(Duration::from_secs(2));
        let counters = *pipe.ends[0].counters();
        assert_eq!((counters.packets, counters.payload), (100, 100_000));
        assert_eq!((counters.probes, counters.probe_payload), (63, 63_000));
        assert_eq!(counters.probe_answers, 63);
        assert_eq!(*seen.borrow(), [63, 63], "an answer for each");
        assert_eq!(pipe.ends[1].delivered(), Bytes::new(100_000));
        // The receiver throws dummies away, and data that it has out of NIL
        // segments: neither is a needless retransmission.
        assert_eq!(pipe.ends[1].duplicates_received(), 0, "{name}");
    }
}

#[test]
fn probes_that_are_lost_leave_nothing_behind() {
    let mut pipe = connected(&transport("peach", Recovery::NewReno), 100, |_, p| {
        if is_probe(p) {
            Fate::Drop
        } else {
            Fate::Deliver
        }
    });
    pipe.run_for(Duration::from_secs(5));
    let counters = pipe.ends[0].counters();
    assert_eq!((counters.retransmissions, counters.timeouts), (0, 0));
    assert_eq!(pipe.ends[0].acknowledged(), Bytes::new(100_000));
}

#[test]
fn answers_are_no_duplicate_acks() {
    // Without SACK, 63 answers with the same acknowledgement number: were they
    // duplicates, the second segment would be sent again.
    let mut pipe = connected(&transport("peach", Recovery::NewReno), 200, |_, _| {
        Fate::Deliver
    });
    pipe.run_for(Duration::from_secs(2));
    let counters = pipe.ends[0].counters();
    assert_eq!((counters.retransmissions, counters.recoveries), (0, 0));
}

#[test]
fn a_sender_whose_data_has_arrived_probes_no_more() {
    let mut pipe = connected(&transport("peach", Recovery::NewReno), 1, |_, _| {
        Fate::Deliver
    });
    pipe.run_for(Duration::from_secs(1));
    // Its only segment was acknowledged after 100 ms: at the 64th probe's time.
    assert_eq!(pipe.ends[0].acknowledged(), Bytes::new(1000));
    assert_eq!(pipe.probes.len(), 63);
    pipe.run_for(Duration::from_secs(100));
    assert_eq!(pipe.probes.len(), 63);
}

#[test]
fn rapid_recovery_restores_the_window_after_an_error() {
    let mut pipe = connected(
        &transport("peach", Recovery::NewReno),
        2000,
        drop_once(&[700]),
    );
    let mut smallest = f64::INFINITY;
    let mut recovered_at = None;
    let end = Time::ZERO + Duration::from_secs(3);
    while pipe.step(end) {
        if pipe.ends[0].counters().recoveries == 1 {
            smallest = smallest.min(pipe.cwnd());
            if pipe.cwnd() >= 64.0 && recovered_at.is_none() {
                recovered_at = Some(pipe.now);
            }
        }
    }
    assert_eq!(smallest, 32.0);
    assert_eq!(pipe.probes.len(), 63 + 64, "W0 dummies");
    let lost_at = pipe.sent.iter().find(|s| s.fate == Fate::Drop).unwrap().at;
    let took = recovered_at.unwrap().since(lost_at);
    assert!(took < ONE_WAY * 6, "three round trips: {took}");
}

#[test]
fn nil_segments_repair_losses() {
    // Every retransmission is lost, but one copy in a NIL segment arrives.
    let peach = transport("peach+", Recovery::Sack);
    let mut pipe = connected(&peach, 400, |_, p| {
        let hole = p.payload > 0 && p.sequence == 100 * u64::from(MSS);
        if hole && !is_probe(p) {
            Fate::Drop
        } else {
            Fate::Deliver
        }
    });
    pipe.run_for(Duration::from_secs(4));
    assert_eq!(pipe.ends[1].delivered(), Bytes::new(400_000));
    let sent = pipe.sent.iter().filter(|s| s.segment == 100).count();
    assert_eq!(sent, 2, "once, and once again");
    assert_eq!(pipe.ends[0].counters().timeouts, 0);
}

#[test]
fn nil_segments_go_through_the_unacknowledged_data_in_turn() {
    let peach = transport("peach+", Recovery::Sack);
    let mut pipe = connected(&peach, 2000, drop_once(&[700]));
    pipe.run_for(Duration::from_secs(3));
    // The jump start has one segment to carry; quick recovery begins with the
    // oldest one, and goes on with those that were not selectively acknowledged.
    let carried: Vec<u64> = pipe.probes.iter().map(|s| s.segment).collect();
    assert!(carried[..63].iter().filter(|s| **s == 0).count() > 60);
    assert_eq!(carried[63], 700);
    let rest = &carried[63..];
    assert!(rest.len() >= 60, "{}", rest.len());
    let mut seen: Vec<u64> = rest.to_vec();
    seen.sort_unstable();
    seen.dedup();
    assert!(seen.len() > rest.len() / 2, "{rest:?}");
}

#[test]
fn a_fast_start_sends_its_cached_window_at_low_priority() {
    let cached = Transport {
        parameters: Parameters::new().with("cached_cwnd", 40.0),
        initial_window: 4.0,
        ..transport("fast-start", Recovery::Sack)
    };
    let low = Rc::new(RefCell::new(Vec::new()));
    let log = Rc::clone(&low);
    let mut pipe = connected(&cached, 200, move |_, p| {
        if p.payload > 0 && p.priority == priority::LOW {
            log.borrow_mut().push(p.sequence / u64::from(MSS));
        }
        Fate::Deliver
    });
    pipe.run_for(Duration::from_secs(2));
    assert_eq!(pipe.rounds()[1], 40);
    assert_eq!(*low.borrow(), (0..40).collect::<Vec<u64>>());
    // After an idle time it goes on with the window that it had.
    pipe.run_for(Duration::from_secs(60));
    let before = pipe.cwnd();
    low.borrow_mut().clear();
    pipe.write(200);
    assert_eq!(pipe.cwnd(), before);
    pipe.run_for(Duration::from_secs(2));
    assert_eq!(low.borrow().first(), Some(&200));
    assert_eq!(low.borrow().len(), (before as usize).min(200));
}

#[test]
fn a_bulk_repeat_sends_everything_outstanding_again() {
    for recovery in [Recovery::NewReno, Recovery::Sack] {
        let bulk = Transport {
            initial_window: 20.0,
            initial_ssthresh: Some(20.0),
            ..transport("bulk-repeat", recovery)
        };
        let mut pipe = connected(&bulk, 200, drop_once(&[25, 27, 30, 33]));
        pipe.run_for(Duration::from_secs(3));
        assert_eq!(pipe.ends[1].delivered(), Bytes::new(200_000));
        assert!(pipe.cwnd() > 20.0, "nothing is cut: {}", pipe.cwnd());
        let counters = pipe.ends[0].counters();
        assert_eq!((counters.recoveries, counters.timeouts), (1, 0));
        let again = counters.retransmissions;
        assert!((10..=30).contains(&again), "{recovery:?}: {again}");
    }
}

#[test]
fn a_bulk_repeat_does_not_back_off() {
    // Nothing arrives from 400 ms on: one timeout after the other.
    let timeouts = |name: &str| {
        let mut pipe = connected(&transport(name, Recovery::NewReno), 5_000, |to, p| {
            if to == 1 && p.sequence > 60_000 {
                Fate::Drop
            } else {
                Fate::Deliver
            }
        });
        pipe.run_for(Duration::from_secs(32));
        pipe.ends[0].counters().timeouts
    };
    assert_eq!(timeouts("westwood"), 5, "after 1, 3, 7, 15 and 31 s");
    assert!(timeouts("bulk-repeat") >= 30);
}

/// TP-Planet's first round trip and what follows: 64 segments in 20 slots are 3 a
/// slot, and later pairs of both priorities, answered apart.
#[test]
fn slots_fill_up_and_pairs_are_of_both_priorities() {
    let seen = Rc::new(RefCell::new(Vec::new()));
    let record = seen.clone();
    let mut pipe = connected(
        &transport("tp-planet", Recovery::Sack),
        2000,
        move |to, p| {
            if is_probe(p) {
                let low = p.priority & priority::LOW != 0;
                record.borrow_mut().push((to, low, p.has(flags::DUMMY)));
            }
            Fate::Deliver
        },
    );
    pipe.run_for(Duration::from_millis(200));
    // 1, 1, 1 ... 3: half of 3 is the threshold.
    let gaps: Vec<u64> = pipe
        .probes
        .windows(2)
        .map(|w| w[1].at.since(w[0].at).as_nanos())
        .collect();
    assert_eq!(gaps[0], 5_000_000);
    assert!(gaps.last() < gaps.first(), "{gaps:?}");
    assert!(
        (25..=60).contains(&pipe.probes.len()),
        "{}",
        pipe.probes.len()
    );
    assert!(seen.borrow().iter().all(|(_, low, _)| *low));
    let start = seen.borrow().len();
    pipe.run_for(Duration::from_millis(400));
    let later = seen.borrow()[start..].to_vec();
    let count = |to, low| later.iter().filter(|p| p.0 == to && p.1 == low).count();
    assert!(count(1, false) > 5, "{later:?}");
    assert!(count(0, false) > 5, "{later:?}");
    // An answer says which it answers.
    let told = |p: &&(usize, bool, bool)| p.0 == 0 && p.1 == p.2;
    assert_eq!(later.iter().filter(told).count(), 0, "{later:?}");
}
