//! No datagrams make an endpoint of the simulator's QUIC panic or hang, whatever arrives: those of the
//! other end, kept back, repeated, cut or changed, and any others.

#![no_main]

use bentpipe_quic::{Datagram, Host, Settings, Side};
use bentpipe_units::{Duration, Time};
use bytes::BytesMut;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    // The reader of logs takes anything, too, and reads no more than is there.
    let read = bentpipe_quic::wire::read(bytes);
    let lengths: u64 = read.iter().map(|packet| u64::from(packet.length)).sum();
    assert!(lengths <= bytes.len() as u64);
    let settings = Settings::default();
    let mut hosts = [Side::Client, Side::Server].map(|side| {
        let control = bentpipe_cc::build("cubic", &bentpipe_cc::Parameters::new()).unwrap();
        Host::new(side, &settings, control, 7).unwrap()
    });
    let mut now = Time::ZERO;
    hosts[0].open(now);
    hosts[0].write(20_000, true);
    let mut ways: [Vec<Datagram>; 2] = Default::default();
    // Two bytes decide about each datagram.
    for choice in bytes.chunks(2).take(400) {
        let (what, value) = (choice[0], *choice.last().unwrap_or(&0));
        now = now + Duration::from_micros(100 * u64::from(value) + 1);
        let side = usize::from(what & 1);
        for _ in 0..64 {
            let Some(datagram) = hosts[side].transmit(now) else {
                break;
            };
            ways[side].push(datagram);
        }
        let Some(mut datagram) = ways[side].pop() else {
            let payload = BytesMut::from(bytes);
            let stray = Datagram {
                payload,
                ecn_capable: false,
            };
            hosts[1 - side].receive(now, stray, false);
            continue;
        };
        match what >> 1 & 7 {
            0 => continue,
            1 => ways[side].push(datagram.clone()),
            2 => datagram.payload.truncate(usize::from(value)),
            3 => {
                let at = usize::from(value) % datagram.payload.len().max(1);
                if let Some(byte) = datagram.payload.get_mut(at) {
                    *byte ^= 1 << (what >> 5);
                }
            }
            _ => {}
        }
        hosts[1 - side].receive(now, datagram, what & 0x80 != 0);
        for host in &mut hosts {
            if host.deadline() <= now {
                host.on_deadline(now);
            }
        }
    }
});
