//! Packets over the emulated links of this machine. They need root and TUN, and
//! judge no time closely: others may be using the processor.

use super::*;
use crate::testing;
use bentpipe_link::{
    AckFilterSettings, ChannelSettings, Link, LinkSettings, PacketMeta, PacketPool, QueueSettings,
    Verdict,
};
use bentpipe_scenario::LinkId;
use bentpipe_tcp::find_transport;
use bentpipe_traffic::Application;
use bentpipe_units::{Rate, Ratio};
use std::io::{Read as _, Write as _};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream, UdpSocket};

/// Events, as a tap sees them.
#[derive(Default)]
struct Log {
    entered: Vec<(Time, bool, u32)>,
    dropped: Vec<(bool, Cause)>,
    arrived: Vec<(Time, bool, u32)>,
    marked: usize,
}

impl Tap for Log {
    fn entered(&mut self, at: Time, seen: &Seen<'_>) {
        self.entered.push((at, seen.forward, seen.bytes));
    }
    fn arrived(&mut self, at: Time, _: Duration, seen: &Seen<'_>) {
        self.arrived.push((at, seen.forward, seen.bytes));
        self.marked += usize::from(seen.packet[0] >> 4 == 4 && seen.packet[1] & 3 == 3);
    }
    fn dropped(&mut self, _: Time, _: Option<LinkId>, why: Cause, seen: &Seen<'_>) {
        self.dropped.push((seen.forward, why));
    }
}

pub(super) fn settings(rate: Rate, delay: Duration, packets: u32, loss: f64) -> LinkSettings {
    LinkSettings {
        channel: ChannelSettings::Uniform {
            packet_error_rate: Ratio::new(loss).unwrap(),
        },
        framing: Bytes::new(8),
        ..LinkSettings::new(
            rate,
            delay,
            QueueSettings::drop_tail(Limit::Packets(packets)),
        )
    }
}

/// Two hosts and one link.
pub(super) fn pair(forward: LinkSettings) -> Scenario {
    let mut builder = Scenario::builder("pair");
    let (a, b) = (builder.node("a"), builder.node("b"));
    let back = settings(Rate::from_mbps(100), Duration::from_millis(5), 1000, 0.0);
    builder.asymmetric_link("hop", a, b, forward, back);
    let file = Application::Transfer {
        size: Bytes::new(1000),
    };
    let cubic = find_transport("cubic").map(|t| t.transport());
    builder.flow("file", a, b, file).transport(cubic);
    builder.build().unwrap()
}

/// Runs `work` on the hosts of an emulator; what that returns, the report and
/// the log.
fn emulate<R: Send>(
    scenario: &Scenario,
    options: &Options,
    work: impl FnOnce(&[Host]) -> R + Send,
) -> (R, Report, Log) {
    let emulator = Emulator::new(scenario, options).unwrap();
    let (hosts, stop) = (emulator.hosts().to_vec(), emulator.stop());
    let mut log = Log::default();
    let (result, report) = std::thread::scope(|scope| {
        let running = scope.spawn(|| emulator.run(Instant::now(), &mut log));
        let result = scope.spawn(|| work(&hosts)).join();
        stop.stop();
        (result, running.join().unwrap().unwrap())
    });
    let files: Vec<_> = hosts.iter().map(|h| h.namespace.path()).collect();
    drop(hosts);
    assert!(files.iter().all(|file| !file.exists()));
    (result.unwrap(), report, log)
}

/// A datagram socket of a host on its address of pair 0.
fn datagrams(host: &Host, end: usize, version: usize, port: u16) -> UdpSocket {
    let address: IpAddr = addresses(0, end)[version];
    let socket = host.namespace.enter(|| UdpSocket::bind((address, port)));
    let socket = socket.unwrap().unwrap();
    // A busy machine may let the reader wait: nothing may be lost or given up meanwhile.
    nix::sys::socket::setsockopt(&socket, nix::sys::socket::sockopt::RcvBufForce, &(16 << 20))
        .unwrap();
    let patience = std::time::Duration::from_secs(3);
    socket.set_read_timeout(Some(patience)).unwrap();
    socket
}

#[test]
fn drops_are_those_of_the_link_for_the_same_arrivals() {
    if !testing::may("drops_are_those_of_the_link_for_the_same_arrivals") {
        return;
    }
    let forward = settings(Rate::from_mbps(8), Duration::from_millis(20), 30, 0.05);
    let scenario = pair(forward.clone());
    let options = Options {
        seed: Some(11),
        ..Options::default()
    };
    let (received, report, log) = emulate(&scenario, &options, |hosts| {
        let (from, to) = (datagrams(&hosts[0], 0, 0, 0), datagrams(&hosts[1], 1, 0, 7));
        let peer: SocketAddr = (addresses(0, 1)[0], 7).into();
        let receiver = std::thread::spawn(move || {
            let mut buffer = [0; 2000];
            let mut received = 0;
            while to.recv(&mut buffer).is_ok() {
                received += 1;
            }
            received
        });
        for number in 0..1500_u32 {
            let size = 100 + number as usize % 1300;
            from.send_to(&vec![0; size], peer).unwrap();
            if number % 100 == 99 {
                std::thread::sleep(std::time::Duration::from_millis(60));
            }
        }
        receiver.join().unwrap()
    });
    assert_eq!(log.entered.len(), 1500, "{report:?}");
    let mut link = Link::new(&forward, 11, "hop");
    let mut pool = PacketPool::default();
    let mut expected = Vec::new();
    let mut arrivals = Vec::new();
    for &(at, toward, bytes) in &log.entered {
        assert!(toward);
        match link.offer(&mut pool, at, (), PacketMeta::plain(bytes)) {
            Verdict::QueueDrop => expected.push((true, Cause::Queue)),
            Verdict::ChannelLoss => expected.push((true, Cause::Channel)),
            _ => arrivals.push(bytes),
        }
    }
    assert_eq!(log.dropped, expected);
    assert!(expected.contains(&(true, Cause::Queue)) && expected.contains(&(true, Cause::Channel)));
    let arrived: Vec<u32> = log.arrived.iter().map(|a| a.2).collect();
    assert_eq!(arrived, arrivals);
    assert_eq!(received, arrivals.len());
    assert_eq!(report.model_drops(), expected.len() as u64);
    assert_eq!(report.crossings[0].counts().offered_packets, 1500);
    assert_eq!(report.pairs[0].arrived[0].packets, received as u64);
}

#[test]
fn tcp_runs_over_ipv4_and_ipv6() {
    if !testing::may("tcp_runs_over_ipv4_and_ipv6") {
        return;
    }
    let forward = settings(Rate::from_mbps(20), Duration::from_millis(10), 200, 0.0);
    for version in [0, 1] {
        let (copied, report, log) = emulate(&pair(forward.clone()), &Options::default(), |hosts| {
            let [from, to] = [0, 1].map(|end| addresses(0, end)[version]);
            let listener = hosts[1].namespace.enter(|| TcpListener::bind((to, 80)));
            let listener = listener.unwrap().unwrap();
            let stream = hosts[0].namespace.enter(|| TcpStream::connect((to, 80)));
            let mut stream = stream.unwrap().unwrap();
            let (mut peer, address) = listener.accept().unwrap();
            assert_eq!(address.ip(), from);
            let sent: Vec<u8> = (0..400_000_u32).map(|n| (n / 7) as u8).collect();
            let copy = std::thread::spawn(move || {
                let mut copy = Vec::new();
                peer.read_to_end(&mut copy).unwrap();
                copy
            });
            stream.write_all(&sent).unwrap();
            drop(stream);
            copy.join().unwrap() == sent
        });
        assert!(copied);
        // The kernel has cut its segments, and sends nothing else.
        assert!(log.entered.iter().all(|e| e.2 <= 1500));
        assert_eq!(report.unmatched, 0);
        // The link is as slow as it is said to be.
        assert!(report.elapsed >= Duration::from_millis(160), "{report:?}");
    }
}

#[test]
fn segments_are_passed_whole_if_asked_for() {
    if !testing::may("segments_are_passed_whole_if_asked_for") {
        return;
    }
    let forward = settings(Rate::from_mbps(1000), Duration::from_millis(1), 2000, 0.0);
    let options = Options {
        gso: true,
        ..Options::default()
    };
    let (copied, report, log) = emulate(&pair(forward), &options, |hosts| {
        let to = addresses(0, 1)[0];
        let listener = hosts[1].namespace.enter(|| TcpListener::bind((to, 80)));
        let listener = listener.unwrap().unwrap();
        let stream = hosts[0].namespace.enter(|| TcpStream::connect((to, 80)));
        let mut stream = stream.unwrap().unwrap();
        let (mut peer, _) = listener.accept().unwrap();
        let copy = std::thread::spawn(move || {
            let mut copy = Vec::new();
            peer.read_to_end(&mut copy).unwrap();
            copy.len()
        });
        stream.write_all(&vec![7; 2_000_000]).unwrap();
        drop(stream);
        copy.join().unwrap()
    });
    assert_eq!(copied, 2_000_000);
    assert!(report.gso && log.entered.iter().any(|e| e.2 > 3000));
    // Every packet of a segment has its headers.
    let bytes = report.pairs[0].sent[0].bytes;
    assert!(bytes >= 2_000_000 + 1380 * 52, "{bytes}");
}

#[test]
fn datagrams_are_not_cut_into_fragments() {
    let sending = |bytes| {
        let mut scenario = pair(settings(Rate::from_mbps(1), Duration::ZERO, 10, 0.0));
        scenario.flows[0].transport = None;
        scenario.flows[0].application = Application::ConstantRate {
            rate: Rate::from_mbps(1),
            packet_size: Bytes::new(bytes),
            control: None,
            deadline: None,
        };
        scenario
    };
    for (bytes, needed) in [(200, 1500), (4000, 4000), (65_535, 65_535)] {
        assert_eq!(mtu(&sending(bytes), None).unwrap(), needed);
    }
    assert!(refusals(&sending(65_535)).is_empty());
    assert_eq!(
        refusals(&sending(65_536)),
        ["flow `file` sends packets of 65.536 kB, and those of IP have 65.535 kB at most"]
    );
}

#[test]
fn what_cannot_be_done_is_refused_before_anything_is_made() {
    let mut scenario = pair(settings(Rate::from_mbps(1), Duration::ZERO, 10, 0.0));
    Arc::make_mut(&mut scenario.links[0].settings).queue =
        QueueSettings::AckFilter(AckFilterSettings {
            limit: Limit::Packets(10),
        });
    let wrong = Emulator::new(&scenario, &Options::default()).unwrap_err();
    assert!(wrong.to_string().contains("link `hop` filters"), "{wrong}");
    let mut scenario = pair(settings(Rate::from_mbps(1), Duration::ZERO, 10, 0.0));
    scenario.links[0].offload = bentpipe_scenario::Offload::Whole;
    assert_eq!(
        refusals(&scenario),
        [
            "link `hop` carries super-segments whole, and the links of the emulator carry packets of the wire"
        ]
    );
    let scenario = pair(settings(Rate::from_mbps(1), Duration::ZERO, 10, 0.0));
    let options = Options {
        duration: Some(Duration::ZERO),
        ..Options::default()
    };
    let wrong = Emulator::new(&scenario, &options).unwrap_err();
    assert!(matches!(wrong, EmulatorError::NoTime), "{wrong}");
    let wrong = Emulator::between(&scenario, &Options::default(), ["lo", "lo"]).unwrap_err();
    assert!(wrong.to_string().starts_with("`lo` twice"), "{wrong}");
    let options = Options {
        namespaces: vec![("c".to_owned(), "x".to_owned())],
        ..Options::default()
    };
    let wrong = Emulator::new(&scenario, &options).unwrap_err();
    assert_eq!(
        wrong.to_string(),
        "`c` is no host of the scenario; its hosts are a, b"
    );
}
