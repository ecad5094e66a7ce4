//! The same C in the kernel and in the simulator: a real connection over an
//! emulated link and the simulated one have the same congestion window, ACK by
//! ACK and so round by round.
//!
//! Nothing is lost and every segment is acknowledged at once, so that a window
//! that counts ACKs depends on their number alone and not on the machine's
//! timing. What depends on measured times is compared with some room.

use crate::common::{open, ready, unique};
use crate::sys::{Info, info};
use bentpipe_bpf::{CONTROLS, Control, Values};
use bentpipe_linux::emulator::{Emulator, Host, Options, Pairs, ipv4};
use bentpipe_linux::kernel::load;
use bentpipe_scenario::{Document, Scenario};
use bentpipe_sim::{Observer, Simulation};
use bentpipe_tcp::Packet;
use bentpipe_units::{Duration as ModelDuration, Time};
use socket2::SockRef;
use std::collections::BTreeMap;
use std::io::{Read, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc;
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

/// Payload of a segment with timestamps.
const MSS: u64 = 1448;

/// Segments at the start.
const INITIAL_WINDOW: u64 = 2;

/// Tries, where the machine gets in the way.
const ATTEMPTS: usize = 5;

/// Room in sockets for a whole transfer.
const BUFFERS: &str = "4096 33554432 67108864";

/// A transfer, and how close the two must be.
#[derive(Clone, Copy)]
struct Case {
    /// Names and values; those of the scenario are written in the same way.
    parameters: &'static [(&'static str, &'static str)],
    rate: &'static str,
    one_way_delay: &'static str,
    segments: u64,
    /// Largest difference as a share of the window; one segment is always
    /// allowed.
    share: f64,
    /// A window that the comparison must have reached, segments; a machine that
    /// is too busy sees too little.
    reaches: f64,
}

/// Slow start to some hundred segments, far below what fits the path, which some
/// estimate.
const SHORT: Case = Case {
    parameters: &[],
    rate: "200 Mbit/s",
    one_way_delay: "30 ms",
    segments: 1500,
    share: 0.0,
    reaches: 400.0,
};

/// What is transferred with a control.
fn cases(control: &Control) -> Vec<Case> {
    match control.name {
        "bp_const" => vec![
            // Ten rounds of doubling, 2 to 2048.
            Case {
                parameters: &[("k", "1")],
                rate: "200 Mbit/s",
                one_way_delay: "100 ms",
                segments: 5000,
                reaches: 2048.0,
                ..SHORT
            },
            Case {
                parameters: &[("k", "4")],
                ..SHORT
            },
        ],
        // rho is 2 and a little, by the smallest RTT that either measures, and
        // the window stays below Hoe's estimate, which differs.
        "bp_hybla" => vec![Case {
            parameters: &[("rtt0", "100 ms")],
            rate: "200 Mbit/s",
            one_way_delay: "100 ms",
            segments: 3000,
            share: 0.01,
            reaches: 1500.0,
        }],
        // The spacing of ACKs is the machine's: Hoe's estimate stays out of it.
        "bp_etcpw" => vec![Case {
            parameters: &[("hoe", "off")],
            ..SHORT
        }],
        // So is a difference of microseconds between round trips.
        "bp_vegas" => vec![Case {
            parameters: &[("gamma", "1000")],
            ..SHORT
        }],
        // And so is the moment at which a paced segment ends a round.
        "bp_newvegas" => vec![Case {
            parameters: &[("gamma", "1000"), ("paced_start", "false")],
            ..SHORT
        }],
        "bp_proactive" => vec![Case {
            parameters: &[("start_ssthresh", "transport"), ("dead_band", "0.2")],
            ..SHORT
        }],
        _ => vec![SHORT],
    }
}

fn scenario(control: &Control, case: &Case) -> Scenario {
    let Case {
        rate,
        one_way_delay,
        segments,
        ..
    } = case;
    let (name, size) = (control.name, segments * MSS);
    // Numbers and flags go without quotes, times with them.
    let parameters: String = case
        .parameters
        .iter()
        .map(|(name, value)| match value.parse::<f64>() {
            Ok(_) => format!("{name} = {value}\n"),
            Err(_) if *value == "false" => format!("{name} = false\n"),
            Err(_) => format!("{name} = \"{value}\"\n"),
        })
        .collect();
    let text = format!(
        r#"
duration = "6 s"
[node.server]
[node.client]
[link.path]
between = ["server", "client"]
rate = "{rate}"
one_way_delay = "{one_way_delay}"
queue = "20000 packets"
[transport.tested]
base = "{name}"
profile = "rfc"
{parameters}
initial_window = {INITIAL_WINDOW}
delayed_ack = {{ count = 1 }}
timestamps = true
send_buffer = "32 MB"
receive_buffer = "32 MB"
[flow.download]
from = "server"
to = "client"
transport = "tested"
application = {{ kind = "transfer", size = "{size} B" }}
"#
    );
    Document::parse("test.toml", &text)
        .and_then(|document| document.validate())
        .unwrap_or_else(|e| panic!("{}", e.render(false)))
}

/// cwnd after each number of acknowledged segments.
type Windows = BTreeMap<u64, f64>;

/// Notes what the sender hears.
#[derive(Default)]
struct Heard(Vec<(Time, u64)>);

impl Observer for Heard {
    fn sent(&mut self, _: Time, _: u32, _: &Packet) {}
    fn received(&mut self, now: Time, endpoint: u32, packet: &Packet) {
        if endpoint == 0 {
            self.0.push((now, packet.acknowledgement));
        }
    }
}

fn simulated(scenario: &Scenario) -> Windows {
    let options = bentpipe_sim::Options {
        series: Some(ModelDuration::ZERO),
        ..Default::default()
    };
    let mut heard = Heard::default();
    let outcome = Simulation::new(scenario, &options)
        .and_then(|simulation| simulation.run(&mut heard))
        .expect("the simulation runs");
    let samples = &outcome.series[0].sender;
    let mut windows = Windows::new();
    let mut next = 0_usize;
    for (at, acknowledged) in heard.0 {
        while next < samples.len() && samples[next].at <= at {
            next += 1;
        }
        if let Some(sample) = next.checked_sub(1).and_then(|i| samples.get(i)) {
            windows.insert(acknowledged / MSS, sample.cwnd);
        }
    }
    windows
}

/// What the kernel does; nothing where the machine got in the way.
fn measured(control: &'static Control, case: &Case, scenario: &Scenario) -> Option<Windows> {
    let mut values = Values::new(control);
    values
        .set_text("initial_window", &INITIAL_WINDOW.to_string())
        .unwrap();
    for (name, value) in case.parameters {
        values.set_text(name, value).unwrap();
    }
    let loaded = load(control, &values, &unique()).unwrap_or_else(|e| panic!("{e}"));
    let options = Options {
        pairs: Pairs::Flows,
        ..Options::default()
    };
    let emulator = Emulator::new(scenario, &options).unwrap_or_else(|e| panic!("{e}"));
    let [server, client] = emulator.hosts() else {
        panic!("two hosts");
    };
    let (server, client) = (server.clone(), client.clone());
    prepare(&server, &client);
    let stop = emulator.stop();
    thread::scope(|scope| {
        let running = scope.spawn(|| emulator.run(Instant::now(), &mut ()));
        let windows = transfer(case, loaded.name(), &server, &client);
        stop.stop();
        let report = running
            .join()
            .expect("no panic")
            .expect("the emulator runs");
        windows.filter(|_| report.machine.total() == 0)
    })
}

/// Buffers that never fill, no memory of earlier connections, and an ACK for
/// every segment.
fn prepare(server: &Host, client: &Host) {
    for host in [server, client] {
        for (key, value) in [
            ("net.ipv4.tcp_no_metrics_save", "1"),
            ("net.ipv4.tcp_ecn", "0"),
            ("net.ipv4.tcp_rmem", BUFFERS),
            ("net.ipv4.tcp_wmem", BUFFERS),
        ] {
            host.namespace.sysctl(key, value).unwrap();
        }
    }
    let (to, device) = (ipv4(0, 0), &client.interface);
    let route = format!("route replace {to}/32 dev {device} quickack 1 initrwnd 20000\n");
    client.namespace.ip(&route).unwrap();
}

/// Sends everything at once and looks at the window until all is acknowledged,
/// or half a minute has gone. Nothing where a segment was sent again: no link
/// loses one here, so that the machine stood still.
fn transfer(case: &Case, control: &str, server: &Host, client: &Host) -> Option<Windows> {
    let address = SocketAddr::from((ipv4(0, 1), 5000));
    let bytes = case.segments * MSS;
    let listener = client
        .namespace
        .enter(|| TcpListener::bind(address))
        .unwrap()
        .unwrap();
    // Nobody reads until all is there: a reader would hold the socket now and
    // then, and segments that wait for it are acknowledged together.
    let (done, all_there) = mpsc::channel::<()>();
    let reader = thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("the connection");
        let _ = all_there.recv();
        let mut all = Vec::new();
        stream.read_to_end(&mut all).expect("the data");
        all.len() as u64
    });
    let mut stream = server.namespace.enter(|| open(control, address)).unwrap();
    let mut windows = Windows::new();
    windows.insert(0, f64::from(info(&stream).cwnd));
    stream.write_all(&vec![0; bytes as usize]).unwrap();
    let begun = Instant::now();
    let (mut acknowledged, mut disturbed) = (0, false);
    while acknowledged < bytes && begun.elapsed() < Duration::from_secs(30) {
        let now = settled(&stream);
        disturbed |= now.retransmissions > 0;
        // The SYN counts as a byte.
        acknowledged = now.acknowledged.saturating_sub(1);
        windows.insert(acknowledged / MSS, f64::from(now.cwnd));
        sleep(Duration::from_millis(1));
    }
    let _ = stream.shutdown(Shutdown::Write);
    drop(done);
    assert_eq!(reader.join().unwrap(), bytes);
    // No socket that waits for an emulator that is gone.
    let at_once = Some(Duration::ZERO);
    SockRef::from(&stream).set_linger(at_once).unwrap();
    (!disturbed).then_some(windows)
}

/// The kernel reads the window a little before it counts what is acknowledged:
/// two looks at the same state are one state.
fn settled(stream: &TcpStream) -> Info {
    let mut last = info(stream);
    loop {
        let now = info(stream);
        if now == last {
            return now;
        }
        last = now;
    }
}

#[test]
fn the_simulator_has_the_windows_of_the_kernel() {
    if !ready("the_simulator_has_the_windows_of_the_kernel") {
        return;
    }
    for control in CONTROLS {
        for case in cases(control) {
            let scenario = scenario(control, &case);
            let model = simulated(&scenario);
            let enough = (0..ATTEMPTS).any(|_| {
                let kernel = measured(control, &case, &scenario);
                kernel.is_some_and(|k| compare(control, &case, &model, &k) >= case.reaches)
            });
            assert!(enough, "{}: this machine is too busy", control.name);
        }
    }
}

/// Holds the windows against each other until the last segment is sent: what is
/// beyond that is a question of the host and not of the control. Returns the
/// largest window that was looked at.
fn compare(control: &Control, case: &Case, model: &Windows, kernel: &Windows) -> f64 {
    let what = format!("{} {:?}", control.name, case.parameters);
    let mut largest = 0.0_f64;
    for (acknowledged, &real) in kernel {
        let Some(expected) = model.get(acknowledged).map(|cwnd| cwnd.floor()) else {
            panic!("{what}: no ACK of {acknowledged} segments in the simulator");
        };
        if *acknowledged as f64 + expected >= case.segments as f64 {
            break;
        }
        largest = largest.max(real);
        assert!(
            (real - expected).abs() <= 1.0 + case.share * expected,
            "{what}: after {acknowledged} segments cwnd is {real} in the kernel and {expected} \
             in the simulator"
        );
    }
    largest
}
