//! Connections whose data leaves in turns: the sender that they share decides when, the window that
//! their receiver advertises how much.

use crate::pipe::{Fate, MSS, Pipe, drop_once, plain};
use bentpipe_cc::Parameters;
use bentpipe_tcp::{CongestionControlChoice, Packet, Recovery, Transport};
use bentpipe_units::{Bytes, Duration};

/// A leg between relays that grant: 1 segment a ms is known, and the receiver's buffer is the grant.
fn granted(recovery: Recovery, grant: u64) -> Transport {
    Transport {
        recovery,
        timestamps: false,
        congestion_control: CongestionControlChoice::Named("complete-knowledge".into()),
        parameters: Parameters::new().with("rate", 8.0).with("window_gain", 8.0),
        receive_buffer: Bytes::new(grant * u64::from(MSS)),
        ..plain()
    }
}

const BOTH: [Recovery; 2] = [Recovery::Stp, Recovery::SackRepeat];

/// A connected pair of which end 0 waits for turns.
fn waiting(transport: &Transport, fate: impl FnMut(usize, &Packet) -> Fate + 'static) -> Pipe {
    let mut pipe = Pipe::closed(transport, fate);
    pipe.ends[0].wait_for_turns();
    pipe.connect();
    pipe.run_for(Duration::from_millis(100));
    pipe
}

/// A turn each millisecond for `ms`.
fn turns(pipe: &mut Pipe, ms: u64) {
    for _ in 0..ms {
        if pipe.ends[0].wants_turn() {
            pipe.act(0, |end, now, out| end.take_turn(now, out));
        }
        pipe.run_for(Duration::from_millis(1));
    }
}

#[test]
fn a_packet_leaves_in_each_turn_and_none_without() {
    for recovery in BOTH {
        let mut pipe = waiting(&granted(recovery, 1_000), |_, _| Fate::Deliver);
        assert!(!pipe.ends[0].wants_turn());
        pipe.write(20);
        pipe.run_for(Duration::from_millis(300));
        assert_eq!(pipe.sent.len(), 0, "{recovery:?}");
        assert!(pipe.ends[0].wants_turn());
        turns(&mut pipe, 10);
        assert_eq!(pipe.sent.len(), 10, "{recovery:?}");
        turns(&mut pipe, 200);
        assert_eq!(pipe.sent.len(), 20, "{recovery:?}");
        assert!(!pipe.ends[0].wants_turn());
        turns(&mut pipe, 200);
        assert_eq!(pipe.ends[0].acknowledged(), Bytes::new(20_000));
        assert!(pipe.ends[1].answered() >= Bytes::new(40));
    }
}

/// Segment 5 of 60 is lost, and again. It goes in the next turn after a report, in both cases
/// before the segments that were not sent yet, and the window stays what it was.
#[test]
fn a_loss_is_sent_again_and_reduces_nothing() {
    for recovery in BOTH {
        let mut pipe = waiting(&granted(recovery, 1_000), drop_once(&[5, 5]));
        pipe.write(500);
        let before = pipe.cwnd();
        turns(&mut pipe, 1_000);
        let again: Vec<_> = pipe.sent.iter().filter(|s| s.segment == 5).collect();
        assert_eq!(again.len(), 3, "{recovery:?}");
        // STP hears of the gap from the segment behind it, SACK from the third.
        let first = again[1].at.since(again[0].at).as_micros() / 1_000;
        assert!((100..=105).contains(&first), "{recovery:?}: {first}");
        // A STAT comes at most a third of a round trip later.
        let second = again[2].at.since(again[1].at).as_micros() / 1_000;
        assert!((100..=140).contains(&second), "{recovery:?}: {second}");
        assert_eq!(pipe.sent.len(), 502, "{recovery:?}");
        assert_eq!(pipe.ends[0].acknowledged(), Bytes::new(500_000));
        assert!(pipe.cwnd() >= before, "{recovery:?}");
        let counters = pipe.ends[0].counters();
        assert_eq!((counters.reductions, counters.timeouts), (0, 0));
        assert_eq!(pipe.ends[1].duplicates_received(), 0, "{recovery:?}");
    }
}

/// A receiver that reads nothing has granted 30 segments; each segment that it reads then grants
/// another, and the sender hears of it although nothing else arrives.
#[test]
fn no_more_leaves_than_was_granted() {
    for recovery in BOTH {
        let mut pipe = Pipe::closed(&granted(recovery, 30), |_, _| Fate::Deliver);
        pipe.ends[0].wait_for_turns();
        pipe.ends[1].read_by_hand(Bytes::new(30_000));
        pipe.ends[1].announce_room_by(Bytes::new(4_000));
        pipe.connect();
        pipe.run_for(Duration::from_millis(100));
        pipe.write(1_000);
        turns(&mut pipe, 2_000);
        assert_eq!(pipe.sent.len(), 30, "{recovery:?}");
        assert!(!pipe.ends[0].wants_turn());
        pipe.act(1, |end, now, out| {
            end.read(now, Bytes::new(4_000), out);
        });
        turns(&mut pipe, 2_000);
        assert_eq!(pipe.sent.len(), 34, "{recovery:?}");
    }
}

/// Where the packet is lost that announces room, the sender asks.
#[test]
fn a_lost_grant_is_asked_for() {
    for recovery in BOTH {
        let mut pipe = Pipe::closed(&granted(recovery, 10), |_, _| Fate::Deliver);
        pipe.ends[0].wait_for_turns();
        pipe.ends[1].read_by_hand(Bytes::new(10_000));
        pipe.connect();
        pipe.run_for(Duration::from_millis(100));
        pipe.write(20);
        turns(&mut pipe, 1_000);
        assert_eq!(pipe.sent.len(), 10, "{recovery:?}");
        // What announces the room goes nowhere.
        let now = pipe.now;
        let mut lost: Vec<Packet> = Vec::new();
        pipe.ends[1].read(now, Bytes::new(10_000), &mut lost);
        assert!(!lost.is_empty());
        turns(&mut pipe, 10_000);
        assert_eq!(pipe.sent.len(), 20, "{recovery:?}");
        assert_eq!(pipe.ends[1].delivered(), Bytes::new(20_000));
    }
}

/// The FIN waits for its turn like data, and both ends close.
#[test]
fn a_connection_closes_in_its_turn() {
    for recovery in BOTH {
        let mut pipe = waiting(&granted(recovery, 100), |_, _| Fate::Deliver);
        pipe.write(3);
        pipe.act(0, |end, now, out| end.close(now, out));
        pipe.run_for(Duration::from_millis(200));
        assert!(!pipe.ends[1].is_finished());
        turns(&mut pipe, 400);
        assert!(pipe.ends[1].is_finished(), "{recovery:?}");
        assert_eq!(pipe.ends[1].delivered(), Bytes::new(3_000));
        assert!(!pipe.ends[0].wants_turn());
    }
}
