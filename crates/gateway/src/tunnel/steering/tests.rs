//! The program in the kernel, and what a process leaves alone.

use super::super::transport;
use super::*;
use proptest::prelude::*;
use std::time::Duration;

/// A packet with a short header, or one with a long header and an id of this length.
fn packet(long: Option<u8>, instance: u8) -> Vec<u8> {
    let mut packet = match long {
        None => vec![FIXED, instance],
        Some(length) => vec![LONG | FIXED, 0, 0, 0, 1, length, instance],
    };
    packet.resize(40, 7);
    packet
}

fn seat(address: SocketAddr, shared: bool, instance: u8) -> Seat {
    let bound = match shared {
        true => transport::bind_beside(address),
        false => transport::bind(address),
    };
    let socket = bound.unwrap();
    socket.set_nonblocking(false).unwrap();
    let patience = Duration::from_secs(10);
    socket.set_read_timeout(Some(patience)).unwrap();
    Seat { instance, socket }
}

/// The instance of the process that gets a packet.
fn receives(seats: &[&Seat], packet: &[u8]) -> u8 {
    let address = seats[0].socket.local_addr().unwrap();
    // Another port for each, so that the kernel's own choice would differ.
    let sender = UdpSocket::bind((address.ip(), 0)).unwrap();
    sender.send_to(packet, address).unwrap();
    let end = std::time::Instant::now() + Duration::from_secs(10);
    while std::time::Instant::now() < end {
        for seat in seats {
            seat.socket.set_nonblocking(true).unwrap();
            let mut bytes = [0; 100];
            if let Ok((length, _)) = seat.socket.recv_from(&mut bytes) {
                assert_eq!(&bytes[..length], packet);
                return seat.instance;
            }
        }
    }
    panic!("nobody gets {packet:?}");
}

#[test]
fn each_process_gets_its_own_packets_and_the_newest_all_others() {
    let any: SocketAddr = "127.0.0.1:0".parse().unwrap();
    let first = seat(any, false, 5);
    let address = first.socket.local_addr().unwrap();
    // Before the second is there, all is for the first.
    steer(&first.socket, &[5]).unwrap();
    for packet in [packet(None, 5), packet(None, 6), packet(Some(20), 5)] {
        assert_eq!(receives(&[&first], &packet), 5);
    }
    let second = seat(address, true, 6);
    let both = [&first, &second];
    for _ in 0..20 {
        assert_eq!(receives(&both, &packet(None, 5)), 5);
        assert_eq!(receives(&both, &packet(None, 6)), 6);
        assert_eq!(receives(&both, &packet(None, 9)), 6);
        assert_eq!(receives(&both, &packet(Some(8), 5)), 5);
        // A first packet of a new association, and a repair.
        assert_eq!(receives(&both, &packet(Some(20), 5)), 6);
        assert_eq!(receives(&both, &[0x2b, 5, 0, 0]), 6);
    }
    steer(&second.socket, &[5, 6]).unwrap();
    let third = seat(address, true, 7);
    let all = [&first, &second, &third];
    for _ in 0..20 {
        assert_eq!(receives(&all, &packet(None, 5)), 5);
        assert_eq!(receives(&all, &packet(None, 6)), 6);
        assert_eq!(receives(&all, &packet(Some(20), 6)), 7);
    }
    // One that fails to start leaves all as it was.
    drop(third);
    steer(&second.socket, &[5]).unwrap();
    for _ in 0..20 {
        assert_eq!(receives(&both, &packet(Some(20), 6)), 6);
        assert_eq!(receives(&both, &packet(None, 5)), 5);
    }
    // The first has ended.
    drop(first);
    for packet in [packet(None, 5), packet(None, 6), packet(Some(20), 5)] {
        assert_eq!(receives(&[&second], &packet), 6);
    }
}

#[test]
fn an_address_of_another_gateway_is_taken() {
    let first = transport::bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let taken = transport::bind(first.local_addr().unwrap()).unwrap_err();
    assert_eq!(taken.kind(), io::ErrorKind::AddrInUse);
}

#[test]
fn the_next_process_has_a_byte_of_its_own() {
    let any: SocketAddr = "127.0.0.1:0".parse().unwrap();
    let seats = [seat(any, false, 0), seat(any, false, 2)];
    assert_eq!(free_instance(seats.iter()), 1);
    assert_eq!(free_instance(seats[1..].iter()), 0);
}

#[test]
fn what_names_another_process_is_blanked() {
    let foreign = Foreign::default();
    let mut joined = [packet(None, 200), packet(None, 3), packet(Some(20), 3)].concat();
    let before = joined.clone();
    foreign.blank(&mut joined, 40);
    assert_eq!(joined, before);
    foreign.leave(&[3, 77]);
    foreign.blank(&mut joined, 40);
    assert_eq!(
        (joined[0], joined[40], joined[80]),
        (FIXED, 0, LONG | FIXED)
    );
    foreign.keep(200);
    foreign.blank(&mut joined, 40);
    assert_eq!((joined[0], joined[40], joined[80]), (FIXED, 0, 0));
    foreign.leave(&[]);
    assert!(!foreign.any.load(Relaxed));
}

proptest! {
    /// The program does as [`named`] says, whatever a packet is; it is run here as the kernel would.
    #[test]
    fn the_program_and_the_process_agree(
        packet in prop::collection::vec(any::<u8>(), 7..12),
        first in prop::sample::select(vec![0x00, 0x2b, 0x40, 0x80, 0xc0, 0xff]),
        length in prop::sample::select(vec![0, 8, 20]),
        older in prop::collection::hash_set(any::<u8>(), 0..6),
    ) {
        let mut packet = packet;
        (packet[0], packet[5]) = (first, length);
        let older: Vec<u8> = older.into_iter().collect();
        let expected = named(&packet)
            .and_then(|instance| older.iter().position(|it| *it == instance))
            .unwrap_or(older.len());
        prop_assert_eq!(run(&program(&older), &packet), expected);
    }
}

/// Runs the few instructions that the program has.
fn run(program: &[sock_filter], packet: &[u8]) -> usize {
    let (mut at, mut value) = (0, 0_u32);
    loop {
        let step = program[at];
        at += 1;
        let code = u32::from(step.code);
        let branch = |taken: bool| usize::from(if taken { step.jt } else { step.jf });
        if code == BPF_LD | BPF_B | BPF_ABS {
            value = packet[step.k as usize].into();
        } else if code == BPF_JMP | BPF_JSET | BPF_K {
            at += branch(value & step.k != 0);
        } else if code == BPF_JMP | BPF_JEQ | BPF_K {
            at += branch(value == step.k);
        } else if code == BPF_JMP | BPF_JA {
            at += step.k as usize;
        } else {
            return step.k as usize;
        }
    }
}
