//! Loss recovery, timeouts and their undoing.

use crate::pipe::{Fate, MSS, ONE_WAY, Pipe, drop_once, plain};
use bentpipe_tcp::{HostProfile, Pacing, Recovery, Transport};
use bentpipe_units::{Bytes, Duration, Time};
use proptest::prelude::*;

/// Twenty segments at once, in congestion avoidance.
fn twenty(recovery: Recovery) -> Transport {
    Transport {
        recovery,
        initial_window: 20.0,
        initial_ssthresh: Some(20.0),
        ..plain()
    }
}

fn resent(pipe: &Pipe) -> Vec<u64> {
    let mut seen = std::collections::BTreeSet::new();
    pipe.sent
        .iter()
        .filter(|s| !seen.insert(s.segment))
        .map(|s| s.segment)
        .collect()
}

#[test]
fn reno_halves_and_inflates() {
    // Flight 20, three duplicate ACKs: ssthresh 10, cwnd 10 + 3.
    let mut pipe = Pipe::open(&twenty(Recovery::Reno), drop_once(&[0]));
    pipe.write(100);
    pipe.run_for(Duration::from_millis(100));
    assert_eq!((pipe.ssthresh(), pipe.cwnd()), (10.0, 10.0));
    assert_eq!(resent(&pipe), [0]);
    // 19 duplicates inflate to 10 + 19 = 29: nine new segments go.
    assert_eq!(pipe.sent.len(), 20 + 1 + 9);
    pipe.run_for(Duration::from_millis(100));
    assert_eq!(pipe.ends[0].snapshot().phase.name(), "congestion_avoidance");
    assert_eq!(pipe.ends[0].counters().timeouts, 0);
}

#[test]
fn newreno_repairs_one_hole_a_round_trip() {
    let mut pipe = Pipe::open(&twenty(Recovery::NewReno), drop_once(&[0, 4, 8]));
    pipe.write(20);
    pipe.run_for(Duration::from_secs(1));
    let again: Vec<u64> = pipe
        .sent
        .iter()
        .skip(20)
        .map(|s| s.at.as_nanos() / (2 * ONE_WAY.as_nanos()))
        .collect();
    assert_eq!(resent(&pipe), [0, 4, 8]);
    assert_eq!(again, [1, 2, 3]);
    assert_eq!(pipe.ends[0].counters().recoveries, 1);
    assert_eq!(pipe.ends[0].counters().reductions, 1);
    assert_eq!(pipe.ends[0].counters().timeouts, 0);
}

#[test]
fn sack_repairs_all_holes_in_one_round_trip() {
    for recovery in [Recovery::Sack, Recovery::Fack] {
        let mut pipe = Pipe::open(&twenty(recovery), drop_once(&[0, 4, 8]));
        pipe.write(100);
        pipe.run_for(Duration::from_millis(199));
        assert_eq!(resent(&pipe), [0, 4, 8], "{recovery:?}");
        assert_eq!(pipe.ssthresh(), 10.0);
        pipe.run_for(Duration::from_millis(2));
        assert!(pipe.ends[0].acknowledged() >= Bytes::new(20_000));
        assert_eq!(pipe.ends[0].counters().recoveries, 1);
    }
}

#[test]
fn one_segment_is_sent_to_the_rescue_when_nothing_new_is_left() {
    // RFC 6675, NextSeg (4): the end of the data is lost with the first
    // segment, and only the rescue retransmission spares the timeout.
    for (profile, timeouts) in [(HostProfile::Rfc, 0), (HostProfile::Linux24, 1)] {
        let transport = Transport {
            profile,
            ..twenty(Recovery::Sack)
        };
        let mut pipe = Pipe::open(&transport, drop_once(&[0, 19]));
        pipe.write(20);
        pipe.run_for(Duration::from_secs(5));
        assert_eq!(pipe.ends[0].acknowledged(), Bytes::new(20_000));
        assert_eq!(pipe.ends[0].counters().timeouts, timeouts, "{profile:?}");
    }
}

#[test]
fn a_lost_retransmission_waits_for_the_timer_or_is_repeated() {
    for profile in [HostProfile::Rfc, HostProfile::Ns2] {
        for (recovery, timeouts) in [(Recovery::Sack, 1), (Recovery::SackRepeat, 0)] {
            let transport = Transport {
                profile,
                ..twenty(recovery)
            };
            let lost = std::cell::Cell::new(0);
            let mut pipe = Pipe::open(&transport, move |_, p| {
                if p.payload > 0 && p.sequence == 0 && lost.get() < 2 {
                    lost.set(lost.get() + 1);
                    return Fate::Drop;
                }
                Fate::Deliver
            });
            pipe.write(100);
            pipe.run_for(Duration::from_secs(5));
            let counters = pipe.ends[0].counters();
            assert_eq!(pipe.ends[0].acknowledged(), Bytes::new(100_000));
            assert_eq!(counters.timeouts, timeouts, "{profile:?} {recovery:?}");
            if timeouts == 0 {
                assert_eq!(resent(&pipe), [0, 0], "{profile:?}");
                assert_eq!(counters.recoveries, 1);
            }
        }
    }
}

#[test]
fn tahoe_slow_starts_after_a_loss() {
    let mut pipe = Pipe::open(&twenty(Recovery::Tahoe), drop_once(&[0]));
    pipe.write(100);
    pipe.run_for(Duration::from_millis(101));
    assert_eq!((pipe.ssthresh(), pipe.cwnd()), (10.0, 1.0));
    pipe.run_for(Duration::from_secs(4));
    assert_eq!(pipe.ends[0].acknowledged(), Bytes::new(100_000));
    assert_eq!(pipe.ends[0].counters().timeouts, 0);
}

#[test]
fn the_recovery_fix_leaves_no_burst() {
    // One window of 20 with the first lost and no data left behind it: at the
    // end nothing is in flight. With the fix cwnd is 0 + 1, without ssthresh.
    for (recovery_fix, cwnd) in [(true, 1.0), (false, 10.0)] {
        let transport = Transport {
            recovery_fix,
            ..twenty(Recovery::Sack)
        };
        let mut pipe = Pipe::open(&transport, drop_once(&[0]));
        pipe.write(20);
        pipe.run_for(Duration::from_secs(1));
        assert_eq!(pipe.cwnd(), cwnd);
    }
}

#[test]
fn a_lost_tail_waits_for_the_timer_and_backs_off() {
    let lost = std::cell::Cell::new(0);
    let mut pipe = Pipe::open(&twenty(Recovery::Sack), move |_, p| {
        if p.sequence / u64::from(MSS) == 19 && p.payload > 0 && lost.get() < 3 {
            lost.set(lost.get() + 1);
            return Fate::Drop;
        }
        Fate::Deliver
    });
    pipe.write(20);
    pipe.run_for(Duration::from_secs(30));
    assert_eq!(pipe.ends[0].counters().timeouts, 3);
    // From one segment the window cannot be reduced any more.
    assert_eq!(pipe.ends[0].counters().reductions, 1);
    let tail: Vec<u64> = pipe
        .sent
        .iter()
        .filter(|s| s.segment == 19)
        .map(|s| s.at.as_nanos() / 1_000_000)
        .collect();
    // The floor of RFC 6298 is a second, doubled each time; the timer was
    // restarted by the last ACK at 100 ms.
    assert_eq!(tail, [0, 1_100, 3_100, 7_100]);
    assert_eq!(pipe.ends[0].acknowledged(), Bytes::new(20_000));
    // ssthresh falls once per segment, not once per timeout.
    assert_eq!(pipe.ssthresh(), 2.0);
}

#[test]
fn a_spurious_timeout_is_undone() {
    // A pause of two seconds in the path: everything arrives, late.
    let transport = Transport {
        undo: true,
        ..twenty(Recovery::Sack)
    };
    let mut pipe = Pipe::open(&transport, |to, p| {
        let segment = p.sequence / u64::from(MSS);
        if to == 1 && (20..40).contains(&segment) && p.payload > 0 {
            Fate::Delay(Duration::from_secs(2))
        } else {
            Fate::Deliver
        }
    });
    pipe.write(200);
    pipe.run_for(Duration::from_millis(2_250));
    assert!(pipe.ends[0].counters().timeouts >= 1);
    assert_eq!(pipe.ends[0].counters().undone, 1);
    assert_eq!(pipe.ends[0].counters().reductions, 0);
    assert!(pipe.cwnd() >= 20.0, "{}", pipe.cwnd());
    pipe.run_for(Duration::from_secs(5));
    assert_eq!(pipe.ends[0].acknowledged(), Bytes::new(200_000));
    assert!(pipe.ends[1].duplicates_received() >= 1);
}

#[test]
fn reordering_beyond_the_threshold_is_undone_by_duplicates() {
    // Segment 3 is overtaken by ten others; without timestamps only D-SACK
    // can tell that its retransmission was needless.
    let transport = Transport {
        undo: true,
        timestamps: false,
        ..twenty(Recovery::Sack)
    };
    let mut pipe = Pipe::open(&transport, |to, p| {
        if to == 1 && p.sequence == 3 * u64::from(MSS) {
            Fate::Delay(Duration::from_millis(60))
        } else {
            Fate::Deliver
        }
    });
    pipe.write(60);
    pipe.run_for(Duration::from_secs(3));
    assert_eq!(pipe.ends[0].counters().undone, 1);
    assert_eq!(pipe.ends[0].counters().reductions, 0);
    assert!(pipe.cwnd() >= 20.0, "{}", pipe.cwnd());
}

#[test]
fn linux_2_2_begins_recovery_three_segments_higher() {
    let transport = Transport {
        profile: HostProfile::Linux22,
        ..twenty(Recovery::Fack)
    };
    let mut pipe = Pipe::open(&transport, drop_once(&[0]));
    pipe.write(100);
    pipe.run_for(Duration::from_millis(100));
    assert_eq!((pipe.ssthresh(), pipe.cwnd()), (10.0, 13.0));
    pipe.run_for(Duration::from_millis(100));
    // More than three duplicates arrived: it ends with cwnd = ssthresh, and
    // the equality test then takes one slow start step per ACK up to 11.
    assert!((10.0..=12.0).contains(&pipe.cwnd()), "{}", pipe.cwnd());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn everything_arrives_whatever_is_lost(
        seed in any::<u64>(),
        loss_percent in 0u64..35,
        recovery in 0usize..7,
        profile in 0..HostProfile::ALL.len(),
        segments in 1u64..150,
        timestamps in any::<bool>(),
        count in 1u32..4,
        (reorder, paced) in any::<(bool, bool)>(),
    ) {
        let mut transport = Transport {
            recovery: Recovery::ALL[recovery].1,
            profile: HostProfile::ALL[profile].1,
            timestamps,
            undo: true,
            recovery_fix: seed % 2 == 0,
            limited_transmit: seed % 3 == 0,
            ..plain()
        };
        transport.delayed_ack.count = count;
        if transport.controller().is_err() {
            // RACK-TLP belongs to the Linux stack.
            transport.recovery = transport.profile.rules().recovery;
        }
        if paced {
            transport.pacing = Pacing::Window {
                gain: 1.2,
                initial_burst: 3,
            };
        }
        let mut state = seed | 1;
        let mut pipe = Pipe::closed(&transport, move |_, _| {
            // A small congruential generator is random enough for fates.
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let draw = state >> 40;
            if draw % 100 < loss_percent {
                Fate::Drop
            } else if reorder && draw % 7 == 0 {
                Fate::Delay(Duration::from_micros(draw % 200_000))
            } else {
                Fate::Deliver
            }
        });
        pipe.connect();
        pipe.write(segments);
        let end = Time::ZERO + Duration::from_secs(40_000);
        while pipe.ends[0].acknowledged() < Bytes::new(segments * u64::from(MSS)) {
            prop_assert!(pipe.step(end), "stuck at {:?}", pipe.ends[0].acknowledged());
            // The agents of ns-2 halve below a segment.
            let least = if transport.profile == HostProfile::Ns2 { 0.25 } else { 1.0 };
            prop_assert!(pipe.cwnd() >= least);
        }
        prop_assert_eq!(pipe.ends[1].delivered(), Bytes::new(segments * u64::from(MSS)));
    }
}
