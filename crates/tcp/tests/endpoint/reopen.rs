//! A connection that follows another between the same ends does what a first one does.

use crate::pipe::{Fate, MSS, Pipe, plain};
use bentpipe_tcp::{CongestionControlChoice, DelayedAck, HostProfile, Recovery, Transport};
use bentpipe_units::{Bytes, Duration, Time};
use std::sync::{Arc, Mutex};

/// A packet, in bytes of its connection: the end that it goes to, sequence number,
/// acknowledgement, payload, window, flags, and SACK blocks relative to the acknowledgement.
type Seen = (usize, u64, u64, u16, u32, u8, Vec<(u32, u32)>);

/// The beginning of the connection that is looked at.
const BEGIN: Time = Time::from_nanos(20_000_000_000);

/// What a transfer of 60 segments sends, and when the data left: on a fresh pair of ends, or
/// on one that had a connection before. The data packets of these numbers, from 0, are lost.
fn transfer(
    transport: &Transport,
    handshake: bool,
    reopened: bool,
    lost: &'static [u64],
) -> (Vec<Seen>, Vec<(Duration, u64)>) {
    let seen: Arc<Mutex<Vec<Seen>>> = Arc::default();
    let list = Arc::clone(&seen);
    let first = if reopened { 7 * u64::from(MSS) } else { 0 };
    let mut data = 0;
    let mut pipe = Pipe::closed(transport, move |to, p| {
        // Nothing is sent the other way; STP's reports have numbers of this one.
        let acknowledgement = if to == 1 { 0 } else { first };
        let blocks = p.sack[..usize::from(p.sack_count)].iter();
        list.lock().unwrap().push((
            to,
            p.sequence.saturating_sub(first),
            p.acknowledgement.saturating_sub(acknowledgement),
            p.payload,
            p.window,
            p.flags,
            blocks.map(|b| (b.start, b.end)).collect(),
        ));
        let is_data = to == 1 && p.payload > 0 && p.sequence >= first;
        data += u64::from(is_data);
        if is_data && lost.contains(&(data - 1)) {
            Fate::Drop
        } else {
            Fate::Deliver
        }
    });
    let open = |pipe: &mut Pipe| {
        if handshake {
            pipe.connect();
            pipe.run_for(Duration::from_secs(1));
        } else {
            for end in &mut pipe.ends {
                end.assume_open();
            }
        }
    };
    if reopened {
        open(&mut pipe);
        pipe.write(7);
        pipe.run_for(Duration::from_secs(10));
        assert_eq!(pipe.ends[0].acknowledged(), Bytes::new(first));
        for end in &mut pipe.ends {
            end.reopen(transport, transport.controller().unwrap());
        }
    }
    pipe.now = BEGIN;
    pipe.sent.clear();
    seen.lock().unwrap().clear();
    open(&mut pipe);
    pipe.write(60);
    pipe.run_for(Duration::from_secs(30));
    assert_eq!(pipe.ends[1].delivered(), Bytes::new(first + 60_000));
    let sent = pipe.sent.iter();
    let sent = sent.map(|s| (s.at.since(BEGIN), s.segment - first / u64::from(MSS)));
    let sent = sent.collect();
    (std::mem::take(&mut *seen.lock().unwrap()), sent)
}

fn transports() -> Vec<(String, Transport)> {
    let mut all = Vec::new();
    let mut add = |profile: HostProfile, recovery, quick_acks, control: &str| {
        let rules = profile.rules();
        let transport = Transport {
            congestion_control: CongestionControlChoice::Named(control.into()),
            profile,
            recovery,
            limited_transmit: true,
            receive_buffer: Bytes::new(1 << 22),
            delayed_ack: DelayedAck {
                quick_acks,
                ..rules.delayed_ack
            },
            ..plain()
        };
        let name = format!("{profile:?} {recovery:?} {quick_acks} {control}");
        all.push((name, transport));
    };
    for quick_acks in [0, 1, 4, 16] {
        add(HostProfile::Linux, Recovery::Rack, quick_acks, "cubic");
        add(HostProfile::Rfc, Recovery::Sack, quick_acks, "newreno");
    }
    for control in ["bbr", "bbr3", "hybla"] {
        add(HostProfile::Linux, Recovery::Rack, 16, control);
    }
    add(HostProfile::Linux, Recovery::NewReno, 16, "newreno");
    add(HostProfile::Linux24, Recovery::Sack, 2, "newreno");
    add(HostProfile::Linux22, Recovery::NewReno, 1, "newreno");
    add(HostProfile::Rfc, Recovery::NewReno, 0, "newreno");
    add(HostProfile::Rfc, Recovery::Snack, 0, "newreno");
    add(HostProfile::Rfc, Recovery::Stp, 0, "newreno");
    all
}

#[test]
fn a_reopened_connection_does_what_a_first_one_does() {
    let losses: [&[u64]; 3] = [&[], &[0], &[12, 13, 30]];
    for (name, transport) in transports() {
        for handshake in [true, false] {
            for lost in losses {
                let [first, again] =
                    [false, true].map(|reopened| transfer(&transport, handshake, reopened, lost));
                let what = format!("{name}, handshake {handshake}, lost {lost:?}");
                assert_eq!(first.1, again.1, "{what}: when data leave");
                for (i, pair) in first.0.iter().zip(&again.0).enumerate() {
                    assert_eq!(pair.0, pair.1, "{what}: packet {i}");
                }
                assert_eq!(first.0.len(), again.0.len(), "{what}: packets");
            }
        }
    }
}
