//! The profile `linux` against what a kernel did (6.18, reno, delayed ACKs
//! forced at the receiver): 2 Mbit/s, 255.5 ms one way, no limit to the queue,
//! chosen packets dropped. The tables are captures at the sender.

use crate::pipe::{Fate, Pipe, plain};
use bentpipe_tcp::packet::flags;
use bentpipe_tcp::{CongestionControlChoice, DelayedAck, HostProfile, Recovery, Transport};
use bentpipe_units::{Bytes, Duration, Time};

fn transport() -> Transport {
    let rules = HostProfile::Linux.rules();
    Transport {
        congestion_control: CongestionControlChoice::Named("reno-linux".into()),
        profile: HostProfile::Linux,
        recovery: Recovery::Rack,
        mss: 1448,
        initial_window: 10.0,
        delayed_ack: DelayedAck {
            quick_acks: 0,
            ..rules.delayed_ack
        },
        undo: true,
        ..plain()
    }
}

/// A transfer of `size` bytes during which the data packets of
/// these numbers, from 1, are dropped, seen from its first packet on.
fn transfer(size: u64, drops: &'static [u64]) -> Pipe {
    transfer_on(&transport(), size, drops)
}

fn transfer_on(transport: &Transport, size: u64, drops: &'static [u64]) -> Pipe {
    let mut count = 0;
    let mut pipe = Pipe::closed(transport, move |to, p| {
        count += u64::from(to == 1 && p.payload > 0);
        if to == 1 && p.payload > 0 && drops.contains(&count) {
            Fate::Drop
        } else {
            Fate::Deliver
        }
    });
    pipe.byte_time = Duration::from_micros(4);
    pipe.one_way = Duration::from_micros(255_500);
    pipe.connect();
    pipe.act(0, |end, now, out| end.write(now, Bytes::new(size), out));
    while pipe.ends[0].acknowledged().get() < size {
        assert!(pipe.step(Time::MAX), "the transfer stands still");
    }
    pipe
}

/// When and what was sent again, milliseconds and segments; and the time of the
/// last ACK.
fn repairs(pipe: &Pipe) -> (Vec<(i64, u64)>, i64) {
    let start = pipe.sent[0].at;
    let ms = |t: Time| (t.since(start).as_nanos() / 1_000_000) as i64;
    let mut next = 0;
    let mut again = Vec::new();
    for sent in &pipe.sent {
        if sent.segment < next {
            again.push((ms(sent.at), sent.segment));
        }
        next = next.max(sent.segment + 1);
    }
    (again, ms(pipe.now))
}

/// Timers of the kernel run in steps of up to 32 ms, and its segments leave in
/// pairs.
fn agrees((again, end): (Vec<(i64, u64)>, i64), kernel: &[(i64, u64)], kernel_end: i64) {
    let near = |a: i64, b: i64| (a - b).abs() <= 36;
    assert_eq!(again.len(), kernel.len(), "{again:?}");
    for (ours, theirs) in again.iter().zip(kernel) {
        assert_eq!(ours.1, theirs.1, "{again:?}");
        assert!(near(ours.0, theirs.0), "{ours:?} for {theirs:?}");
    }
    assert!(near(end, kernel_end), "{end} for {kernel_end}");
}

#[test]
fn a_single_loss() {
    let pipe = transfer(300_000, &[40]);
    agrees(repairs(&pipe), &[(1636, 39)], 4381);
    assert_eq!(pipe.ends[0].counters().recoveries, 1);
    assert_eq!(pipe.ends[0].counters().timeouts, 0);
}

#[test]
fn a_retransmission_that_is_lost_is_found_by_what_was_sent_after_it() {
    let pipe = transfer(300_000, &[40, 92]);
    agrees(repairs(&pipe), &[(1638, 39), (2223, 39)], 4747);
    assert_eq!(pipe.ends[0].counters().timeouts, 0);
}

/// The last segment is the probe: its arrival shows the two others lost.
#[test]
fn a_tail_that_is_lost_is_probed_for() {
    let pipe = transfer(101_360, &[68, 69, 70]);
    agrees(repairs(&pipe), &[(3046, 69), (3563, 67), (4080, 68)], 4598);
    let counters = pipe.ends[0].counters();
    assert_eq!((counters.timeouts, counters.recoveries), (0, 1));
}

/// A megabyte with 1% lost at random: what was dropped, how many packets the
/// kernel sent and how many milliseconds it took.
const A_PERCENT: [(&[u64], usize, i64); 7] = [
    (&[171, 346, 524], 727, 6_727),
    (&[108, 155, 409, 610, 725], 729, 10_956),
    (&[51], 725, 11_106),
    (&[91, 96, 188, 307, 640, 682, 684, 716], 732, 13_412),
    (&[44, 89, 411, 666, 680], 729, 15_362),
    (&[230, 264, 307, 345, 419, 509, 598], 731, 6_254),
    (
        &[72, 77, 148, 245, 263, 357, 511, 549, 551, 669, 722],
        735,
        23_164,
    ),
];

#[test]
fn the_times_of_transfers_with_losses() {
    let (mut ours, mut theirs) = (0, 0);
    for (drops, packets, kernel) in A_PERCENT {
        let pipe = transfer(1_048_352, drops);
        let end = repairs(&pipe).1;
        assert_eq!(pipe.sent.len(), packets, "{drops:?}");
        assert!((end - kernel).abs() * 40 < kernel, "{end} for {kernel}");
        ours += end;
        theirs += kernel;
    }
    assert!((ours - theirs).abs() * 200 < theirs, "{ours} for {theirs}");
}

/// The profile selects the stack: RACK-TLP is refused on another host, and a
/// SACK recovery of a named transport runs the Linux stack on this one.
#[test]
fn the_profile_alone_selects_the_stack() {
    let elsewhere = Transport {
        profile: HostProfile::Rfc,
        ..transport()
    };
    let Err(error) = elsewhere.controller() else {
        panic!("RACK-TLP on the RFC stack");
    };
    assert_eq!(error.key(), "recovery");
    assert!(error.to_string().contains("profile `linux`"), "{error}");
    let sack = Transport {
        recovery: Recovery::Sack,
        ..transport()
    };
    // A tail that only a host with tail loss probes repairs before a timeout.
    let tail: &'static [u64] = &[68, 69, 70];
    let of = |transport: &Transport| repairs(&transfer_on(transport, 101_360, tail));
    assert_eq!(of(&sack), of(&transport()));
}

/// The link waits from 2 s to 5 s after the start, and drops one of what it held:
/// the timeouts prove spurious, and RACK finds the loss among what they had taken
/// for lost, without another timeout.
#[test]
fn a_loss_behind_a_spurious_timeout_is_found_without_another() {
    let size = 1_448_000;
    let (waits, goes_on) = (2_000_000, 5_000_000);
    let mut held = 0;
    let mut pipe = Pipe::closed(&transport(), move |to, p| {
        if to == 0 || p.payload == 0 || !(waits..goes_on).contains(&p.timestamp) {
            return Fate::Deliver;
        }
        held += 1;
        if held == 20 {
            return Fate::Drop;
        }
        Fate::Delay(Duration::from_micros(u64::from(goes_on - p.timestamp)))
    });
    pipe.one_way = Duration::from_micros(255_500);
    pipe.connect();
    pipe.act(0, |end, now, out| end.write(now, Bytes::new(size), out));
    while pipe.ends[0].acknowledged().get() < size {
        assert!(pipe.step(Time::MAX), "the transfer stands still");
    }
    let counters = pipe.ends[0].counters();
    let (again, _) = repairs(&pipe);
    // A timeout while the link waits, one repair within a round trip after it, and
    // nothing else.
    assert_eq!((counters.timeouts, counters.undone), (1, 1), "{again:?}");
    assert_eq!(again.len(), 2, "{again:?}");
    let mut repaired = pipe.sent.iter().filter(|sent| sent.segment == again[1].1);
    let at = repaired
        .next_back()
        .map(|sent| sent.at.as_nanos() / 1_000_000);
    assert!(at.is_some_and(|at| (5_255..6_100).contains(&at)), "{at:?}");
}

/// As captured on 6.18: the answer to the first SYN was lost. The second one echoes
/// the first SYN's timestamp, so that the window is not reduced and the first
/// round trip counts from there.
#[test]
fn a_lost_answer_to_the_first_syn_leaves_the_initial_window() {
    let mut answers = 0;
    let mut pipe = Pipe::closed(&transport(), move |to, p| {
        answers += u32::from(to == 0);
        if to == 0 && answers == 1 && p.payload == 0 {
            Fate::Drop
        } else {
            Fate::Deliver
        }
    });
    pipe.connect();
    pipe.act(0, |end, now, out| end.write(now, Bytes::new(144_800), out));
    while pipe.ends[0].acknowledged().get() < 144_800 {
        assert!(pipe.step(Time::MAX), "the transfer stands still");
    }
    let first = pipe.sent[0].at;
    // The other end waits from 50 ms on for a second, and for the next slot of the
    // timer wheel.
    assert_eq!(first.as_nanos() / 1_000_000, 1_056 + 50);
    assert_eq!(pipe.sent.iter().filter(|sent| sent.at == first).count(), 10);
    assert_eq!(pipe.ends[0].counters().timeouts, 0);
}

/// The ACK of the last segment is lost, and the receiver's FIN acknowledges it.
#[test]
fn the_fin_of_the_receiver_acknowledges_as_well() {
    let size = 14_480;
    let mut pipe = Pipe::closed(&transport(), move |to, p| {
        if to == 0 && p.acknowledgement > size && !p.has(flags::FIN) {
            Fate::Drop
        } else {
            Fate::Deliver
        }
    });
    pipe.connect();
    pipe.act(0, |end, now, out| end.write(now, Bytes::new(size), out));
    pipe.act(0, |end, now, out| end.close(now, out));
    while !pipe.ends[1].is_finished() {
        assert!(pipe.step(Time::MAX), "the transfer stands still");
    }
    pipe.act(1, |end, now, out| end.close(now, out));
    let soon = pipe.now + Duration::from_secs(1);
    while pipe.step(soon) {}
    assert_eq!(pipe.ends[0].acknowledged().get(), size);
    assert_eq!(pipe.ends[0].counters().retransmissions, 0);
}
