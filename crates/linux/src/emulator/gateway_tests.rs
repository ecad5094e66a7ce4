//! The emulator between two interfaces of a gateway, which here is a namespace
//! between two others.

use super::live_tests::{pair, settings};
use super::*;
use crate::namespace::Namespace;
use crate::sys::packet::ethtool;
use crate::testing;
use bentpipe_units::Rate;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream, UdpSocket};

/// `ETHTOOL_GGRO`.
const GRO: u32 = 0x2b;

/// Hosts `left` and `right` with cables to a gateway.
fn cables() -> [Namespace; 3] {
    let namespaces = ["left", "gateway", "right"]
        .map(|name| Namespace::create(&testing::name(&format!("cable-{name}"))).unwrap());
    let [left, gateway, right] = &namespaces;
    for (host, cable, own) in [(left, "east", 1), (right, "west", 2)] {
        let name = host.name();
        gateway
            .ip(&format!(
                "link add {cable} type veth peer name eth0 netns {name}\n\
                 link set {cable} up addrgenmode none\n"
            ))
            .unwrap();
        host.ip(&format!(
            "link set eth0 addrgenmode none\n\
             address add 192.0.2.{own}/24 dev eth0\n\
             address add 2001:db8::{own}/64 dev eth0 nodad\n\
             link set eth0 up\n"
        ))
        .unwrap();
    }
    namespaces
}

#[test]
fn frames_pass_a_gateway_with_the_delay_of_the_link() {
    if !testing::may("frames_pass_a_gateway_with_the_delay_of_the_link") {
        return;
    }
    let [left, gateway, right] = cables();
    let gro = || {
        let control = UdpSocket::bind("0.0.0.0:0").unwrap();
        ethtool(&control, "east", GRO, 0).unwrap()
    };
    let control = || {
        let control = UdpSocket::bind("0.0.0.0:0").unwrap();
        // Some kernels have it off for veth.
        ethtool(&control, "east", 0x2c, 1).unwrap();
    };
    gateway.enter(control).unwrap();
    let forward = settings(Rate::from_mbps(50), Duration::from_millis(30), 2000, 0.0);
    let scenario = pair(forward);
    let make = || Emulator::between(&scenario, &Options::default(), ["east", "west"]);
    let emulator = gateway.enter(make).unwrap().unwrap();
    assert_eq!(gateway.enter(gro).unwrap(), 0);
    let stop = emulator.stop();
    let running = std::thread::spawn(move || emulator.run(Instant::now(), &mut ()).unwrap());
    // Neighbours are found over the link, too.
    for (from, to) in [("192.0.2.1", "192.0.2.2"), ("2001:db8::1", "2001:db8::2")] {
        let listener = right
            .enter(|| TcpListener::bind((to, 80)))
            .unwrap()
            .unwrap();
        let began = Instant::now();
        let stream = left.enter(|| TcpStream::connect((to, 80))).unwrap();
        let mut stream = stream.unwrap();
        assert!(began.elapsed() >= std::time::Duration::from_millis(35));
        let (mut peer, address) = listener.accept().unwrap();
        assert_eq!(address.ip().to_string(), from);
        let sent: Vec<u8> = (0..1_000_000_u32).map(|n| (n / 11) as u8).collect();
        let copy = std::thread::spawn(move || {
            let mut copy = Vec::new();
            peer.read_to_end(&mut copy).unwrap();
            copy
        });
        stream.write_all(&sent).unwrap();
        drop(stream);
        assert!(copy.join().unwrap() == sent);
    }
    stop.stop();
    let report = running.join().unwrap();
    // Segments of the hosts were cut: full packets, and nothing longer.
    let sent = report.pairs[0].sent[0];
    assert!(sent.packets >= 1382, "{report:?}");
    assert!(sent.bytes / sent.packets <= 1500, "{report:?}");
    assert_eq!(report.machine.write, 0, "{report:?}");
    assert_eq!(gateway.enter(gro).unwrap(), 1);
}

#[test]
fn an_interface_must_be_there() {
    if !testing::may("an_interface_must_be_there") {
        return;
    }
    let scenario = pair(settings(Rate::from_mbps(1), Duration::ZERO, 10, 0.0));
    let wrong = Emulator::between(&scenario, &Options::default(), ["none0", "none1"]);
    assert_eq!(
        wrong.unwrap_err().to_string(),
        "there is no network interface `none0` in this network namespace"
    );
    let wrong = Emulator::between(&scenario, &Options::default(), ["lo", "none1"]);
    let wrong = wrong.unwrap_err().to_string();
    assert!(wrong.contains("`lo` is not Ethernet"), "{wrong}");
}
