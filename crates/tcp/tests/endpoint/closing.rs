//! How connections end, and applications that read in their own time.

use crate::pipe::{Fate, ONE_WAY, Pipe, plain};
use bentpipe_tcp::packet::flags;
use bentpipe_tcp::{
    CongestionControlChoice, ConnectionState as State, DelayedAck, Endpoint, HostProfile, Packet,
    Transport,
};
use bentpipe_units::{Bytes, Duration, Time};
use proptest::prelude::*;

fn deliver(_: usize, _: &Packet) -> Fate {
    Fate::Deliver
}

fn states(pipe: &Pipe) -> [State; 2] {
    [pipe.ends[0].state(), pipe.ends[1].state()]
}

fn close(pipe: &mut Pipe, end: usize) {
    pipe.act(end, |e, now, out| e.close(now, out));
}

/// Drops the first packet that `which` picks.
fn drop_first(
    which: impl Fn(usize, &Packet) -> bool + 'static,
) -> impl FnMut(usize, &Packet) -> Fate {
    let mut left = true;
    move |to, p| {
        if left && which(to, p) {
            left = false;
            return Fate::Drop;
        }
        Fate::Deliver
    }
}

#[test]
fn one_side_closes_and_then_the_other() {
    let mut pipe = Pipe::closed(&plain(), deliver);
    pipe.connect();
    pipe.write(20);
    close(&mut pipe, 0);
    pipe.run_for(ONE_WAY * 2);
    assert_eq!(states(&pipe), [State::FinWait1, State::SynReceived]);
    pipe.run_for(Duration::from_secs(2));
    assert_eq!(states(&pipe), [State::FinWait2, State::CloseWait]);
    assert_eq!(pipe.ends[1].delivered(), Bytes::new(20_000));
    assert_eq!(pipe.ends[0].acknowledged(), Bytes::new(20_000));
    // Half closed: the other direction goes on.
    pipe.act(1, |e, now, out| e.write(now, Bytes::new(5_000), out));
    pipe.run_for(Duration::from_secs(1));
    assert_eq!(pipe.ends[0].delivered(), Bytes::new(5_000));
    close(&mut pipe, 1);
    assert_eq!(states(&pipe), [State::FinWait2, State::LastAck]);
    pipe.run_for(Duration::from_secs(1));
    assert_eq!(states(&pipe), [State::TimeWait, State::Closed]);
    assert!(
        pipe.ends
            .iter()
            .all(|e| e.is_closed() && e.deadline() == Time::MAX)
    );
}

#[test]
fn the_fin_rides_on_the_last_segment() {
    let mut pipe = Pipe::open(&plain(), deliver);
    pipe.packets_seen = Some(Vec::new());
    pipe.act(0, |e, now, out| e.write(now, Bytes::new(2_500), out));
    pipe.act(0, |e, now, out| {
        e.write(now, Bytes::new(700), out);
        e.close(now, out);
    });
    pipe.run_for(Duration::from_secs(1));
    let seen = pipe.packets_seen.take().unwrap();
    let payloads: Vec<_> = seen
        .iter()
        .map(|p| (p.payload, p.has(flags::FIN)))
        .collect();
    // What is written later goes on its own; the FIN found nothing left.
    let expected = [
        (1000, false),
        (1000, false),
        (500, false),
        (700, false),
        (0, true),
    ];
    assert_eq!(payloads, expected);
    assert_eq!(pipe.ends[0].counters().payload, 3_200);

    // With the window shut by cwnd, the FIN finds data to ride on.
    let mut pipe = Pipe::open(&plain(), deliver);
    pipe.packets_seen = Some(Vec::new());
    pipe.act(0, |e, now, out| {
        e.write(now, Bytes::new(6_400), out);
        e.close(now, out);
    });
    pipe.run_for(Duration::from_secs(1));
    let last = pipe.packets_seen.take().unwrap().pop().unwrap();
    assert_eq!(
        (last.payload, last.bytes, last.has(flags::FIN)),
        (400, 452, true)
    );
}

#[test]
fn a_full_last_segment_carries_the_fin() {
    let mut pipe = Pipe::open(&plain(), deliver);
    pipe.packets_seen = Some(Vec::new());
    pipe.act(0, |e, now, out| e.write_last(now, Bytes::new(3_000), out));
    pipe.run_for(Duration::from_secs(1));
    let seen = pipe.packets_seen.take().unwrap();
    let payloads: Vec<_> = seen
        .iter()
        .map(|p| (p.payload, p.bytes, p.has(flags::FIN)))
        .collect();
    let full = (1000, 1052, false);
    assert_eq!(payloads, [full, full, (1000, 1052, true)]);
    assert_eq!(states(&pipe), [State::FinWait2, State::CloseWait]);
    assert_eq!(pipe.ends[0].counters().payload, 3_000);
}

#[test]
fn a_fin_that_the_receive_window_cuts_off_goes_alone() {
    let transport = Transport {
        receive_buffer: Bytes::new(3_000),
        ..plain()
    };
    let mut pipe = Pipe::open(&transport, deliver);
    pipe.packets_seen = Some(Vec::new());
    pipe.act(0, |e, now, out| e.write_last(now, Bytes::new(3_000), out));
    pipe.run_for(Duration::from_secs(1));
    let seen = pipe.packets_seen.take().unwrap();
    let last: Vec<_> = seen[2..]
        .iter()
        .map(|p| (p.payload, p.has(flags::FIN)))
        .collect();
    assert_eq!(last, [(1000, false), (0, true)]);
    assert_eq!(states(&pipe), [State::FinWait2, State::CloseWait]);
}

#[test]
fn a_fin_is_acknowledged_at_once() {
    let delays = Transport {
        delayed_ack: DelayedAck {
            count: 2,
            timer: Duration::from_millis(200),
            quick_acks: 0,
        },
        ..plain()
    };
    // Three segments: the last waits for no second one.
    let mut pipe = Pipe::open(&delays, deliver);
    pipe.act(0, |e, now, out| e.write_last(now, Bytes::new(3_000), out));
    pipe.run_for(ONE_WAY * 2);
    assert_eq!(pipe.ends[0].acknowledged(), Bytes::new(3_000));
    let mut pipe = Pipe::open(&delays, deliver);
    pipe.act(0, |e, now, out| e.write(now, Bytes::new(3_000), out));
    pipe.run_for(ONE_WAY * 2);
    assert_eq!(pipe.ends[0].acknowledged(), Bytes::new(2_000));
}

#[test]
fn agents_of_ns2_have_no_fin() {
    for profile in [HostProfile::Ns2, HostProfile::Ns2Linux] {
        let transport = Transport {
            profile,
            congestion_control: CongestionControlChoice::Named(
                match profile {
                    HostProfile::Ns2 => "newreno",
                    _ => "reno-linux",
                }
                .into(),
            ),
            ..plain()
        };
        let mut pipe = Pipe::open(&transport, deliver);
        pipe.packets_seen = Some(Vec::new());
        pipe.act(0, |e, now, out| e.write_last(now, Bytes::new(3_000), out));
        pipe.run_for(Duration::from_secs(1));
        let seen = pipe.packets_seen.take().unwrap();
        assert!(!seen.is_empty() && seen.iter().all(|p| !p.has(flags::FIN)));
        assert_eq!(pipe.ends[1].delivered(), Bytes::new(3_000));
    }
}

#[test]
fn both_close_at_the_same_time() {
    let mut pipe = Pipe::open(&plain(), deliver);
    close(&mut pipe, 0);
    close(&mut pipe, 1);
    pipe.run_for(ONE_WAY);
    assert_eq!(states(&pipe), [State::Closing, State::Closing]);
    pipe.run_for(ONE_WAY);
    assert_eq!(states(&pipe), [State::TimeWait, State::TimeWait]);
}

#[test]
fn a_lost_fin_goes_again() {
    let mut pipe = Pipe::open(&plain(), drop_first(|_, p| p.has(flags::FIN)));
    pipe.write(3);
    close(&mut pipe, 0);
    pipe.run_for(Duration::from_secs(3));
    assert_eq!(states(&pipe), [State::FinWait2, State::CloseWait]);
    assert_eq!(pipe.ends[0].counters().timeouts, 1);
    assert_eq!(pipe.ends[0].counters().retransmissions, 1);
}

#[test]
fn a_fin_that_comes_again_is_answered() {
    // The ACK of the second FIN is lost: LAST-ACK sends it again, TIME-WAIT
    // answers it.
    let mut fins = 0;
    let mut pipe = Pipe::open(&plain(), move |to, p| {
        fins += u32::from(to == 0 && p.has(flags::FIN));
        let answer = to == 1 && fins == 1 && p.payload == 0 && p.acknowledgement == 1;
        if answer { Fate::Drop } else { Fate::Deliver }
    });
    close(&mut pipe, 0);
    pipe.run_for(Duration::from_secs(1));
    close(&mut pipe, 1);
    pipe.run_for(Duration::from_millis(500));
    assert_eq!(states(&pipe), [State::TimeWait, State::LastAck]);
    pipe.run_for(Duration::from_secs(5));
    assert_eq!(states(&pipe), [State::TimeWait, State::Closed]);
}

#[test]
fn nothing_is_written_after_a_close() {
    let mut pipe = Pipe::open(&plain(), deliver);
    pipe.write(2);
    close(&mut pipe, 0);
    pipe.write(2);
    assert_eq!(pipe.ends[0].writable(), Bytes::ZERO);
    pipe.run_for(Duration::from_secs(1));
    assert_eq!(pipe.ends[0].offered(), Bytes::new(2_000));
    assert_eq!(pipe.ends[1].delivered(), Bytes::new(2_000));
}

#[test]
fn an_abort_resets_the_peer() {
    let mut pipe = Pipe::open(&plain(), deliver);
    pipe.write(100);
    pipe.run_for(ONE_WAY);
    pipe.act(1, |e, now, out| e.abort(now, out));
    pipe.run_for(Duration::from_secs(1));
    assert_eq!(states(&pipe), [State::Reset, State::Reset]);
    assert!(pipe.ends.iter().all(|e| e.deadline() == Time::MAX));
    assert_eq!(pipe.ends[1].delivered(), Bytes::new(6_000));
}

#[test]
fn a_lost_reset_is_repeated_to_whoever_sends() {
    let mut pipe = Pipe::open(&plain(), drop_first(|_, p| p.has(flags::RST)));
    pipe.write(100);
    pipe.act(1, |e, now, out| e.abort(now, out));
    pipe.run_for(Duration::from_secs(1));
    assert_eq!(states(&pipe), [State::Reset, State::Reset]);
}

#[test]
fn a_refused_syn_resets_the_caller() {
    let mut pipe = Pipe::closed(&plain(), deliver);
    pipe.act(1, |e, now, out| e.abort(now, out));
    pipe.connect();
    pipe.write(5);
    pipe.run_for(Duration::from_secs(1));
    assert_eq!(states(&pipe), [State::Reset, State::Reset]);
    assert!(pipe.sent.is_empty());
}

/// A connection whose end 1 reads by hand from a buffer of `size` bytes.
fn by_hand(size: u64, fate: impl FnMut(usize, &Packet) -> Fate + 'static) -> Pipe {
    let mut pipe = Pipe::closed(&plain(), fate);
    pipe.ends[1].read_by_hand(Bytes::new(size));
    pipe.connect();
    pipe
}

fn read(pipe: &mut Pipe, bytes: u64) -> u64 {
    let mut got = Bytes::ZERO;
    pipe.act(1, |e, now, out| got = e.read(now, Bytes::new(bytes), out));
    got.get()
}

#[test]
fn what_is_not_read_stops_the_sender() {
    let mut pipe = by_hand(8_000, deliver);
    pipe.write(50);
    pipe.run_for(Duration::from_secs(2));
    assert_eq!(pipe.ends[1].readable(), Bytes::new(8_000));
    assert_eq!(pipe.sent.len(), 8);
    assert_eq!(read(&mut pipe, 3_000), 3_000);
    pipe.run_for(ONE_WAY * 2);
    assert_eq!(pipe.ends[1].readable(), Bytes::new(8_000));
    for _ in 0..100 {
        read(&mut pipe, u64::MAX);
        pipe.run_for(ONE_WAY);
    }
    assert_eq!(pipe.ends[1].delivered(), Bytes::new(50_000));
    assert_eq!(pipe.sent.len(), 50, "no silly segments, nothing twice");
}

#[test]
fn a_lost_window_update_is_asked_for() {
    // Drops the ACK that opens the window.
    let mut pipe = by_hand(4_000, {
        let mut dropped = false;
        move |to, p| {
            let update = to == 0 && p.acknowledgement == 4_000 && p.window > 0;
            if update && !std::mem::replace(&mut dropped, true) {
                return Fate::Drop;
            }
            Fate::Deliver
        }
    });
    pipe.write(6);
    pipe.run_for(Duration::from_millis(500));
    assert_eq!(read(&mut pipe, 4_000), 4_000);
    pipe.run_for(Duration::from_millis(400));
    assert_eq!(pipe.ends[1].readable(), Bytes::ZERO);
    pipe.run_for(Duration::from_secs(2));
    assert_eq!(pipe.ends[1].readable(), Bytes::new(2_000));
    assert_eq!(pipe.ends[0].counters().retransmissions, 0);
}

#[test]
fn probes_of_a_shut_window_back_off() {
    let at = std::rc::Rc::new(std::cell::RefCell::new(Vec::new()));
    let seen = at.clone();
    let mut pipe = by_hand(4_000, move |to, p| {
        if to == 1 && p.has(flags::DUMMY) {
            seen.borrow_mut().push(p.timestamp / 1_000_000);
        }
        Fate::Deliver
    });
    pipe.write(6);
    pipe.run_for(Duration::from_secs(200));
    // 1, 2, 4, ... 60 s apart: the timeout is at least a second.
    assert_eq!(*at.borrow(), [1, 3, 7, 15, 31, 63, 123, 183]);
}

#[test]
fn the_window_of_the_handshake_holds() {
    // End 0 must not send its six segments into a buffer of two.
    let mut pipe = by_hand(2_000, deliver);
    pipe.write(6);
    pipe.run_for(ONE_WAY * 3);
    assert_eq!(pipe.sent.len(), 2);
}

#[test]
fn a_bounded_send_buffer_shows_its_room() {
    let mut transport = plain();
    transport.send_buffer = Bytes::new(10_000);
    let mut pipe = Pipe::open(&transport, deliver);
    assert_eq!(pipe.ends[0].writable(), Bytes::new(10_000));
    pipe.write(8);
    assert_eq!(pipe.ends[0].writable(), Bytes::new(2_000));
    assert_eq!(pipe.ends[0].unacknowledged(), Bytes::new(8_000));
    pipe.run_for(Duration::from_secs(1));
    assert_eq!(pipe.ends[0].writable(), Bytes::new(10_000));
}

/// What an end does at one instant of the property test.
#[derive(Clone, Copy, Debug)]
enum Step {
    Write(u16),
    Read(u16),
    Wait(u8),
    Close,
}

fn step() -> impl Strategy<Value = (usize, Step)> {
    let step = prop_oneof![
        4 => (1..20_000u16).prop_map(Step::Write),
        4 => (1..20_000u16).prop_map(Step::Read),
        4 => (1..200u8).prop_map(Step::Wait),
        1 => Just(Step::Close),
    ];
    (0..2usize, step)
}

/// Losses with probability `loss` in 100, by a small generator.
fn lossy(seed: u64, loss: u64) -> impl FnMut(usize, &Packet) -> Fate {
    let mut state = seed | 1;
    move |_, _| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        if state % 100 < loss {
            Fate::Drop
        } else {
            Fate::Deliver
        }
    }
}

fn both_by_hand(size: u64, fate: impl FnMut(usize, &Packet) -> Fate + 'static) -> Pipe {
    let mut pipe = Pipe::closed(&plain(), fate);
    for end in &mut pipe.ends {
        end.read_by_hand(Bytes::new(size));
    }
    pipe.connect();
    pipe
}

fn perform(pipe: &mut Pipe, end: usize, step: Step, written: &mut [u64; 2]) {
    match step {
        Step::Write(bytes) => pipe.act(end, |e, now, out| {
            let bytes = Bytes::new(u64::from(bytes)).min(e.writable());
            written[end] += bytes.get();
            e.write(now, bytes, out);
        }),
        Step::Read(bytes) => pipe.act(end, |e, now, out| {
            e.read(now, Bytes::new(u64::from(bytes)), out);
        }),
        Step::Wait(ms) => pipe.run_for(Duration::from_millis(u64::from(ms))),
        Step::Close => close(pipe, end),
    }
}

fn holds_no_more_than(end: &Endpoint, size: u64) -> bool {
    end.readable().get() <= size
}

proptest! {
    /// Whatever is written arrives, in order and once, and the FIN after it, by
    /// any losses and any pace of reading.
    #[test]
    fn every_byte_arrives_and_then_the_fin(
        steps in proptest::collection::vec(step(), 1..60),
        size in prop_oneof![Just(500u64), 1_000..40_000u64],
        seed in any::<u64>(),
        loss in 0..30u64,
    ) {
        let mut pipe = both_by_hand(size, lossy(seed, loss));
        let mut written = [0; 2];
        for (end, step) in steps {
            perform(&mut pipe, end, step, &mut written);
            prop_assert!(pipe.ends.iter().all(|e| holds_no_more_than(e, size)));
        }
        close(&mut pipe, 0);
        close(&mut pipe, 1);
        for _ in 0..3_000 {
            for end in 0..2 {
                perform(&mut pipe, end, Step::Read(u16::MAX), &mut written);
            }
            pipe.run_for(Duration::from_secs(1));
            if pipe.ends.iter().all(Endpoint::is_closed) {
                break;
            }
        }
        prop_assert!(pipe.ends.iter().all(Endpoint::is_closed), "{:?}", states(&pipe));
        for (end, bytes) in written.into_iter().enumerate() {
            prop_assert_eq!(pipe.ends[1 - end].delivered().get(), bytes);
            prop_assert_eq!(pipe.ends[end].acknowledged().get(), bytes);
            prop_assert_eq!(pipe.ends[end].deadline(), Time::MAX);
        }
    }

    /// A reset ends both sides as soon as the other one hears of it, and nothing
    /// is due afterwards.
    #[test]
    fn a_reset_ends_everything(
        steps in proptest::collection::vec(step(), 1..30),
        killer in 0..2usize,
        seed in any::<u64>(),
        loss in 0..20u64,
    ) {
        let mut pipe = both_by_hand(10_000, lossy(seed, loss));
        let mut written = [0; 2];
        for (end, step) in steps {
            perform(&mut pipe, end, step, &mut written);
        }
        pipe.act(killer, |e, now, out| e.abort(now, out));
        // Who lost the RST hears of it when it sends, which a probe of a shut
        // window does, too. Who has never heard of the connection, or has closed
        // its side, has nothing to send.
        let closed = pipe.ends[1 - killer].is_closed();
        for _ in 0..300 {
            perform(&mut pipe, 1 - killer, Step::Write(1), &mut written);
            pipe.run_for(Duration::from_secs(1));
        }
        let other = pipe.ends[1 - killer].state();
        let shut = matches!(
            other,
            State::Listen | State::FinWait2 | State::TimeWait | State::Closed
        );
        prop_assert!(other == State::Reset || closed || shut, "{other:?}");
        if other == State::Reset {
            prop_assert!(pipe.ends.iter().all(|e| e.deadline() == Time::MAX));
        }
    }
}
