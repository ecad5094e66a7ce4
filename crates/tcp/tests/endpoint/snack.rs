//! Negative acknowledgements of SCPS-TP, end to end.

use crate::pipe::{Fate, ONE_WAY, Pipe, drop_once, plain};
use bentpipe_tcp::{Packet, Recovery, Transport};
use bentpipe_units::{Bytes, Duration, Time};
use proptest::prelude::*;

/// Twenty segments at once, in congestion avoidance.
fn twenty() -> Transport {
    Transport {
        recovery: Recovery::Snack,
        initial_window: 20.0,
        initial_ssthresh: Some(20.0),
        ..plain()
    }
}

/// When segments were sent for the second time.
fn again(pipe: &Pipe) -> Vec<(u64, Time)> {
    let mut seen = std::collections::BTreeSet::new();
    let again = pipe.sent.iter().filter(|s| !seen.insert(s.segment));
    again.map(|s| (s.segment, s.at)).collect()
}

#[test]
fn what_is_named_goes_again_at_once() {
    // Nothing is left to make duplicates of: the last segments but one.
    let mut pipe = Pipe::open(&twenty(), drop_once(&[16, 18]));
    pipe.write(20);
    pipe.run_for(Duration::from_millis(500));
    let round_trip = Time::ZERO + ONE_WAY * 2;
    assert_eq!(again(&pipe), [(16, round_trip), (18, round_trip)]);
    assert_eq!(pipe.ends[0].acknowledged(), Bytes::new(20_000));
    let counters = pipe.ends[0].counters();
    assert_eq!((counters.timeouts, counters.recoveries), (0, 1));
    assert_eq!(counters.reductions, 1, "a loss is congestion");
}

#[test]
fn corruption_that_a_link_reports_cuts_nothing() {
    let reported = |transport: &Transport, reports: u32| {
        let mut pipe = Pipe::open(transport, drop_once(&[4]));
        pipe.reports = vec![(5, reports)];
        pipe.write(60);
        pipe.run_for(Duration::from_secs(1));
        assert_eq!(pipe.ends[0].acknowledged(), Bytes::new(60_000));
        assert_eq!(again(&pipe).len(), 1);
        let counters = *pipe.ends[0].counters();
        (counters.reductions, pipe.cwnd() > 20.0)
    };
    assert_eq!(reported(&twenty(), 0), (1, false));
    assert_eq!(reported(&twenty(), 1), (0, true));
    // Other receivers do not listen.
    let sack = Transport {
        recovery: Recovery::Sack,
        ..twenty()
    };
    assert_eq!(reported(&sack, 1).0, 1);
}

#[test]
fn a_lost_retransmission_is_named_again_before_the_timer() {
    let mut pipe = Pipe::closed(&twenty(), drop_once(&[4, 4]));
    pipe.connect();
    pipe.run_for(ONE_WAY * 2);
    pipe.write(20);
    pipe.run_for(Duration::from_secs(2));
    assert_eq!(pipe.ends[0].acknowledged(), Bytes::new(20_000));
    assert_eq!(pipe.ends[0].counters().timeouts, 0);
    let sent: Vec<u64> = again(&pipe)
        .iter()
        .map(|(_, at)| at.since(Time::ZERO).as_micros() / 1000)
        .collect();
    // The handshake, a round trip, and 1.25 more.
    assert_eq!(sent, [200, 325]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Whatever is lost both ways, everything arrives, and nothing that had arrived
    /// is sent again but after a timeout.
    #[test]
    fn everything_arrives(losses in proptest::collection::vec(0u32..100, 400), cut in 0u32..30) {
        let mut i = 0;
        let lossy = move |_: usize, _: &Packet| {
            i += 1;
            let lost = losses.get(i).is_some_and(|x| *x < cut);
            if lost { Fate::Drop } else { Fate::Deliver }
        };
        let mut pipe = Pipe::open(&twenty(), lossy);
        pipe.write(150);
        // Longer than the list of losses can delay it by timeouts.
        pipe.run_for(Duration::from_secs(60_000));
        prop_assert_eq!(pipe.ends[0].acknowledged(), Bytes::new(150_000));
        if pipe.ends[0].counters().timeouts == 0 {
            prop_assert_eq!(pipe.ends[1].duplicates_received(), 0);
        }
    }
}
