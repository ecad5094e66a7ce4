//! The Satellite Transport Protocol, end to end.

use crate::pipe::{Fate, ONE_WAY, Pipe, drop_once, plain};
use bentpipe_tcp::packet::{flags, priority};
use bentpipe_tcp::{Packet, Polling, Recovery, Transport, TransportError, find_transport};
use bentpipe_units::{Bytes, Duration, Time};
use proptest::prelude::*;

/// Ten segments at once, in congestion avoidance.
fn ten() -> Transport {
    Transport {
        recovery: Recovery::Stp,
        timestamps: false,
        initial_window: 10.0,
        initial_ssthresh: Some(10.0),
        ..plain()
    }
}

/// When segments were sent for the second time, in ms.
fn again(pipe: &Pipe) -> Vec<(u64, u64)> {
    let mut seen = std::collections::BTreeSet::new();
    let again = pipe.sent.iter().filter(|s| !seen.insert(s.segment));
    again
        .map(|s| (s.segment, s.at.since(Time::ZERO).as_micros() / 1000))
        .collect()
}

/// A connection whose handshake took a round trip of 100 ms.
fn connected(transport: &Transport, fate: impl FnMut(usize, &Packet) -> Fate + 'static) -> Pipe {
    let mut pipe = Pipe::closed(transport, fate);
    pipe.connect();
    pipe.run_for(ONE_WAY * 2);
    pipe
}

#[test]
fn a_poll_finds_what_is_missing_at_the_end_without_a_timeout() {
    // The worked example: sent at 100 ms, polled at 133, reported at 233.
    let mut pipe = connected(&ten(), drop_once(&[9]));
    pipe.write(10);
    pipe.run_for(Duration::from_secs(1));
    assert_eq!(again(&pipe), [(9, 233)]);
    assert_eq!(pipe.ends[0].acknowledged(), Bytes::new(10_000));
    let counters = pipe.ends[0].counters();
    assert_eq!((counters.timeouts, counters.recoveries), (0, 1));
    assert_eq!(pipe.ends[1].duplicates_received(), 0);
}

#[test]
fn a_gap_is_reported_at_once_and_not_sent_again_for_each_report() {
    let mut pipe = connected(&ten(), drop_once(&[3]));
    pipe.write(10);
    pipe.run_for(Duration::from_secs(1));
    // Segment 4 shows the gap after one way; the report takes the other. The
    // STATs that answer the POLLs after 33 and 67 ms name it still.
    assert_eq!(again(&pipe), [(3, 200)]);
    assert_eq!(pipe.ends[1].duplicates_received(), 0);
}

#[test]
fn a_lost_retransmission_is_found_by_the_next_poll() {
    let mut pipe = connected(&ten(), drop_once(&[3, 3]));
    pipe.write(10);
    pipe.run_for(Duration::from_secs(1));
    let again = again(&pipe);
    assert_eq!(again[0], (3, 200));
    // A POLL that left after it, at most a third of a round trip later, and its
    // STAT.
    assert!((300..=334).contains(&again[1].1), "{again:?}");
    assert_eq!(again.len(), 2);
    assert_eq!(pipe.ends[0].counters().timeouts, 0);
}

#[test]
fn only_polls_and_gaps_are_answered() {
    let mut polls = 0;
    let (sender, receiver) = std::sync::mpsc::channel();
    let fate = move |end: usize, packet: &Packet| {
        if end == 1 && packet.carries(priority::POLL) {
            assert!(packet.has(flags::DUMMY));
            polls += 1;
        }
        if end == 0 && packet.payload == 0 && !packet.has(flags::SYN) {
            let _ = sender.send((polls, packet.carries(priority::POLL), packet.sack_count));
        }
        Fate::Deliver
    };
    let mut pipe = connected(&ten(), fate);
    pipe.write(100);
    pipe.run_for(Duration::from_secs(3));
    assert_eq!(pipe.ends[0].acknowledged(), Bytes::new(100_000));
    let reports: Vec<_> = receiver.try_iter().collect();
    assert!(
        reports
            .iter()
            .all(|(_, status, gaps)| *status && *gaps == 0)
    );
    // Three in a round trip of 100 ms, over about ten of them.
    assert!((25..45).contains(&reports.len()), "{}", reports.len());
}

#[test]
fn many_gaps_leave_in_pieces_with_the_bytes_of_one_report() {
    let (sender, receiver) = std::sync::mpsc::channel();
    let mut count = 0;
    let fate = move |end: usize, packet: &Packet| {
        if end == 0 && packet.carries(priority::POLL) {
            let _ = sender.send((packet.bytes, packet.sack_count));
        }
        if end == 1 && packet.payload > 0 {
            count += 1;
            // Every second one of the first forty, and all reports of gaps.
            if count <= 40 && count % 2 == 0 {
                return Fate::Drop;
            }
        }
        if end == 0 && packet.sack_count > 0 && !packet.carries(priority::POLL) {
            return Fate::Drop;
        }
        Fate::Deliver
    };
    let transport = Transport {
        initial_window: 40.0,
        initial_ssthresh: Some(40.0),
        ..ten()
    };
    let mut pipe = connected(&transport, fate);
    pipe.write(40);
    pipe.run_for(Duration::from_secs(2));
    assert_eq!(pipe.ends[0].acknowledged(), Bytes::new(40_000));
    assert_eq!(pipe.ends[1].duplicates_received(), 0);
    let pieces: Vec<_> = receiver.try_iter().take(7).collect();
    // 20 gaps: six pieces of three, and one of two.
    let gaps: u32 = pieces.iter().map(|(_, gaps)| u32::from(*gaps)).sum();
    let bytes: u32 = pieces.iter().map(|(bytes, _)| u32::from(*bytes)).sum();
    assert_eq!((gaps, bytes), (20, 40 + 8 * 20));
}

#[test]
fn without_reports_one_reading_waits_and_the_other_times_out() {
    let silent = |timeout: bool| {
        let transport = Transport {
            polling: Polling {
                timeout,
                ..Polling::default()
            },
            ..ten()
        };
        // Nothing comes back for 5 s.
        let mut sent = Vec::new();
        let fate = move |end: usize, packet: &Packet| {
            if end == 1 && packet.carries(priority::POLL) {
                sent.push(());
            }
            let back = end == 0 && !packet.has(flags::SYN);
            if back && sent.len() < 150 {
                Fate::Drop
            } else {
                Fate::Deliver
            }
        };
        let mut pipe = connected(&transport, fate);
        pipe.write(20);
        pipe.run_for(Duration::from_secs(30));
        assert_eq!(pipe.ends[0].acknowledged(), Bytes::new(20_000));
        pipe.ends[0].counters().timeouts
    };
    assert_eq!(silent(false), 0);
    assert!(silent(true) > 0);
}

#[test]
fn a_fin_that_is_lost_is_polled_for() {
    let mut fins = 0;
    let fate = move |end: usize, packet: &Packet| {
        fins += u32::from(end == 1 && packet.has(flags::FIN));
        let lost = end == 1 && packet.has(flags::FIN) && fins == 1;
        if lost { Fate::Drop } else { Fate::Deliver }
    };
    let mut pipe = connected(&ten(), fate);
    pipe.write(10);
    pipe.act(0, |end, now, out| end.close(now, out));
    pipe.run_for(Duration::from_secs(2));
    assert!(pipe.ends[1].is_finished());
    assert_eq!(pipe.ends[0].acknowledged(), Bytes::new(10_000));
    assert_eq!(pipe.ends[0].counters().timeouts, 0);
}

#[test]
fn a_poll_follows_so_many_segments_at_the_latest() {
    let transport = Transport {
        polling: Polling {
            segments: Some(5),
            ..Polling::default()
        },
        ..ten()
    };
    let mut pipe = connected(&transport, drop_once(&[9]));
    pipe.write(10);
    pipe.run_for(Duration::from_secs(1));
    // The second poll leaves with the last segment.
    assert_eq!(again(&pipe), [(9, 200)]);
}

#[test]
fn it_runs_on_the_stack_of_the_rfcs_only() {
    let stp = find_transport("stp").unwrap();
    assert!(stp.transport().controller().is_ok());
    for profile in [
        bentpipe_tcp::HostProfile::Linux,
        bentpipe_tcp::HostProfile::Ns2,
    ] {
        let other = Transport {
            profile,
            ..stp.transport()
        };
        let error = other.controller().unwrap_err();
        assert!(matches!(
            error,
            TransportError::Recovery {
                recovery: "stp",
                ..
            }
        ));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Whatever is lost both ways, everything arrives, and without the other
    /// reading's timeout nothing that had arrived is sent again.
    #[test]
    fn everything_arrives(losses in proptest::collection::vec(0u32..100, 400), cut in 0u32..40) {
        let mut i = 0;
        let lossy = move |_: usize, _: &Packet| {
            i += 1;
            let lost = losses.get(i).is_some_and(|x| *x < cut);
            if lost { Fate::Drop } else { Fate::Deliver }
        };
        let mut pipe = Pipe::open(&ten(), lossy);
        pipe.write(150);
        pipe.run_for(Duration::from_secs(600));
        prop_assert_eq!(pipe.ends[0].acknowledged(), Bytes::new(150_000));
        prop_assert_eq!(pipe.ends[1].duplicates_received(), 0);
        prop_assert_eq!(pipe.ends[0].counters().timeouts, 0);
    }
}
