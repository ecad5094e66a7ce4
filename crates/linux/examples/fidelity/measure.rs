//! The measurements.

use bentpipe_link::{
    Admission, ChannelSettings, Limit, Link, LinkSettings, Loss, PacketMeta, Piece, QueueSettings,
    Timeline, Verdict,
};
use bentpipe_linux::emulator::{Cause, Emulator, Host, Options, Report, Seen, Tap, addresses};
use bentpipe_scenario::{LinkId, Scenario};
use bentpipe_tcp::find_transport;
use bentpipe_traffic::Application;
use bentpipe_units::{Bytes, Duration, Rate, Ratio, Time};
use nix::sys::socket::sockopt::UdpGsoSegment;
use std::io::{Read, Write};
use std::net::{IpAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

pub(crate) type Done<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// Payload of a datagram that makes a packet of 1500 bytes.
const PAYLOAD: usize = 1472;

pub(crate) fn main() -> Done<()> {
    let mut cases: Vec<String> = std::env::args().skip(1).collect();
    let mut seconds = 10;
    if let Some(given) = cases.first().and_then(|first| first.parse().ok()) {
        seconds = given;
        cases.remove(0);
    }
    let wanted = |case: &str| cases.is_empty() || cases.iter().any(|c| c == case);
    if wanted("model") {
        model()?;
    }
    if wanted("loss") {
        loss()?;
    }
    if wanted("rate") {
        for (mbps, datagrams) in [
            (200, 1),
            (500, 1),
            (1000, 1),
            (1500, 1),
            (2000, 1),
            (2500, 16),
        ] {
            rate(mbps, datagrams, seconds)?;
        }
    }
    if wanted("gso") {
        for (mbps, gso) in [
            (1000, false),
            (2500, false),
            (10_000, false),
            (1000, true),
            (5000, true),
            (10_000, true),
        ] {
            tcp(mbps, gso, seconds)?;
        }
    }
    if wanted("soak") {
        soak()?;
    }
    Ok(())
}

/// Two hosts and one link between them, with a fast way back.
fn scenario(forward: LinkSettings, timeline: Option<Timeline>) -> Done<Scenario> {
    let mut builder = Scenario::builder("fidelity");
    let (a, b) = (builder.node("a"), builder.node("b"));
    let back = LinkSettings {
        rate: forward.rate.max(Rate::from_mbps(100)),
        queue: packets(100_000),
        channel: ChannelSettings::Perfect,
        ..forward.clone()
    };
    builder.one_way_link("there", a, b, forward, timeline.map(Arc::new));
    builder.one_way_link("back", b, a, back, None);
    let file = Application::Transfer {
        size: Bytes::new(1),
    };
    let cubic = find_transport("cubic").map(|t| t.transport());
    builder.flow("file", a, b, file).transport(cubic);
    Ok(builder.build()?)
}

fn packets(n: u32) -> QueueSettings {
    QueueSettings::drop_tail(Limit::Packets(n))
}

fn link(rate: Rate, delay: Duration, queue: u32) -> LinkSettings {
    LinkSettings::new(rate, delay, packets(queue))
}

/// Runs `work` on the two hosts while the emulator runs.
fn emulate<T: Tap + Send, R: Send>(
    scenario: &Scenario,
    options: &Options,
    tap: &mut T,
    work: impl FnOnce(&Host, &Host) -> Done<R> + Send,
) -> Done<(Report, R)> {
    let emulator = Emulator::new(scenario, options)?;
    let hosts = emulator.hosts().to_vec();
    let stop = emulator.stop();
    std::thread::scope(|scope| {
        let running = scope.spawn(move || emulator.run(Instant::now(), tap));
        let worked = scope.spawn(|| work(&hosts[0], &hosts[1])).join();
        stop.stop();
        let report = running.join().map_err(|_| "the emulator panicked")??;
        let worked = worked.map_err(|_| "the traffic panicked")??;
        Ok((report, worked))
    })
}

fn address(end: usize) -> IpAddr {
    addresses(0, end)[0]
}

fn datagrams(host: &Host, end: usize, port: u16) -> Done<UdpSocket> {
    let socket = host
        .namespace
        .enter(|| UdpSocket::bind((address(end), port)))??;
    let socket2 = socket2::SockRef::from(&socket);
    // Whatever is allowed: the receiver is not to be the one that drops.
    socket2.set_recv_buffer_size(64 << 20).ok();
    socket2.set_send_buffer_size(4 << 20).ok();
    Ok(socket)
}

/// What came of datagrams that carry the time at which they were sent.
#[derive(Default)]
struct Received {
    packets: u64,
    /// Between the first and the last.
    took: f64,
    /// One-way delays, nanoseconds.
    delays: Vec<u64>,
}

/// Room for so many delays is taken at once, and no more are kept: in a soak
/// memory is not to grow for them.
const DELAYS: usize = 100_000;

/// Sends datagrams at `rate` (bits a second at the IP layer) for `seconds`,
/// `batch` with each system call, and receives them at the other end until none
/// has come for two seconds.
fn flood(from: &Host, to: &Host, rate: f64, batch: usize, seconds: f64) -> Done<(u64, Received)> {
    let receiver = datagrams(to, 1, 7)?;
    receiver.set_read_timeout(Some(std::time::Duration::from_secs(2)))?;
    let origin = Instant::now();
    let receiving = std::thread::spawn(move || {
        let mut received = Received {
            // Touched, so that it is there from now on.
            delays: vec![1; DELAYS],
            ..Received::default()
        };
        received.delays.clear();
        let mut buffer = [0; 2048];
        let (mut first, mut last) = (None, origin);
        while let Ok(length) = receiver.recv(&mut buffer) {
            let now = Instant::now();
            if let Some(stamp) = buffer[..length].first_chunk::<8>()
                && received.delays.len() < DELAYS
            {
                let sent = u64::from_ne_bytes(*stamp);
                let now = now.duration_since(origin).as_nanos() as u64;
                received.delays.push(now.saturating_sub(sent));
            }
            received.packets += 1;
            first.get_or_insert(now);
            last = now;
        }
        received.took = first.map_or(0.0, |first| (last - first).as_secs_f64());
        received
    });
    let sender = datagrams(from, 0, 0)?;
    sender.connect((address(1), 7))?;
    if batch > 1 {
        nix::sys::socket::setsockopt(&sender, UdpGsoSegment, &(PAYLOAD as i32))?;
    }
    let interval = 1500.0 * 8.0 / rate;
    let mut payload = vec![0; PAYLOAD * batch];
    let mut sent: u64 = 0;
    let begin = Instant::now();
    while begin.elapsed().as_secs_f64() < seconds {
        let due = sent as f64 * interval;
        let early = due - begin.elapsed().as_secs_f64();
        if early > 200e-6 {
            std::thread::sleep(std::time::Duration::from_secs_f64(early - 100e-6));
            continue;
        }
        let stamp = origin.elapsed().as_nanos() as u64;
        for datagram in payload.chunks_exact_mut(PAYLOAD) {
            datagram[..8].copy_from_slice(&stamp.to_ne_bytes());
        }
        if sender.send(&payload).is_ok() {
            sent += batch as u64;
        }
    }
    let received = receiving.join().map_err(|_| "the receiver panicked")?;
    Ok((sent, received))
}

/// What entered and what was dropped, in order.
#[derive(Default)]
struct Log {
    entered: Vec<(Time, bool, u32)>,
    dropped: Vec<(bool, Cause)>,
}

impl Tap for Log {
    fn entered(&mut self, at: Time, seen: &Seen<'_>) {
        self.entered.push((at, seen.forward, seen.bytes));
    }
    fn arrived(&mut self, _: Time, _: Duration, _: &Seen<'_>) {}
    fn dropped(&mut self, _: Time, _: Option<LinkId>, why: Cause, seen: &Seen<'_>) {
        self.dropped.push((seen.forward, why));
    }
}

/// What the link does with the recorded arrivals in virtual time: the drops,
/// and the one-way delays of the others.
fn replay(settings: &LinkSettings, seed: u64, log: &Log) -> (Vec<(bool, Cause)>, Vec<u64>) {
    let mut link: Link<()> = Link::new(settings, seed, "there");
    let mut dropped = Vec::new();
    let mut delays = Vec::new();
    for &(at, _, bytes) in log.entered.iter().filter(|entered| entered.1) {
        match link.admit(at, PacketMeta::plain(bytes)) {
            Admission::Lost {
                verdict: Verdict::QueueDrop,
                ..
            } => dropped.push((true, Cause::Queue)),
            Admission::Lost { .. } => dropped.push((true, Cause::Channel)),
            _ => {
                let arrives = link.free_at() + settings.one_way_delay;
                delays.push(arrives.since(at).as_nanos());
            }
        }
    }
    (dropped, delays)
}

fn quantile(sorted: &[u64], quantile: f64) -> f64 {
    let rank = (quantile * sorted.len() as f64) as usize;
    sorted
        .get(rank.min(sorted.len().saturating_sub(1)))
        .map_or(0.0, |ns| *ns as f64 / 1e3)
}

/// A saturated link of 2 Mbit/s and 255.5 ms with 100 packets of queue.
fn model() -> Done<()> {
    println!("model: 2 Mbit/s, 255.5 ms, 100 packets; datagrams of 1500 bytes at 2.4 Mbit/s, 60 s");
    let forward = link(Rate::from_mbps(2), Duration::from_micros(255_500), 100);
    let mut log = Log::default();
    let options = Options {
        seed: Some(3),
        ..Options::default()
    };
    let (report, (sent, received)) = emulate(
        &scenario(forward.clone(), None)?,
        &options,
        &mut log,
        |a, b| flood(a, b, 2.4e6, 1, 60.0),
    )?;
    let rate = (received.packets - 1) as f64 * 1500.0 * 8.0 / received.took / 1e6;
    let (dropped, expected) = replay(&forward, 3, &log);
    let same = dropped == log.dropped;
    let mut errors: Vec<u64> = received
        .delays
        .iter()
        .zip(&expected)
        .map(|(found, expected)| found.abs_diff(*expected))
        .collect();
    errors.sort_unstable();
    println!(
        "  sent {sent}, received {}, rate {rate:.4} Mbit/s ({:+.3}%)",
        received.packets,
        100.0 * (rate / 2.0 - 1.0)
    );
    println!(
        "  drops {} (of the link in virtual time: {}), identical: {same}",
        log.dropped.len(),
        dropped.len()
    );
    println!(
        "  one-way delay between the programs less the model's: p50 {:.0} us, p99 {:.0} us, p99.9 {:.0} us",
        quantile(&errors, 0.5),
        quantile(&errors, 0.99),
        quantile(&errors, 0.999)
    );
    say(&report);
    Ok(())
}

/// Losses of 1% over 100,000 packets.
fn loss() -> Done<()> {
    println!("loss: 1% of 100,000 datagrams of 1500 bytes, 100 Mbit/s, 20 ms");
    let mut forward = link(Rate::from_mbps(200), Duration::from_millis(20), 10_000);
    forward.channel = ChannelSettings::Uniform {
        packet_error_rate: Ratio::new(0.01).ok_or("no share")?,
    };
    for seed in 1..=3 {
        let mut log = Log::default();
        let options = Options {
            seed: Some(seed),
            ..Options::default()
        };
        let (report, (sent, received)) = emulate(
            &scenario(forward.clone(), None)?,
            &options,
            &mut log,
            |a, b| flood(a, b, 100e6, 1, 100_000.0 * 12_000.0 / 100e6),
        )?;
        let n = log.entered.len() as f64;
        let lost = log.dropped.len() as f64;
        // Two-sided 99.9%.
        let band = 3.2905 * (n * 0.01 * 0.99).sqrt();
        let same = replay(&forward, seed, &log).0 == log.dropped;
        println!(
            "  seed {seed}: sent {sent}, received {}, lost {lost} of {n}: {:.3}%, band {:.0}..{:.0}, \
             inside: {}, identical to the link in virtual time: {same}",
            received.packets,
            100.0 * lost / n,
            0.01 * n - band,
            0.01 * n + band,
            (lost - 0.01 * n).abs() <= band
        );
        say(&report);
    }
    Ok(())
}

/// Datagrams of 1500 bytes at a rate just below that of a link with 100 ms.
fn rate(mbps: u64, batch: usize, seconds: u64) -> Done<()> {
    println!(
        "rate: datagrams of 1500 bytes, {batch} a system call, at 98% of {mbps} Mbit/s, 100 ms, \
         {seconds} s"
    );
    let forward = link(Rate::from_mbps(mbps), Duration::from_millis(100), 10_000);
    let (report, (sent, received)) = emulate(
        &scenario(forward, None)?,
        &Options::default(),
        &mut (),
        |a, b| flood(a, b, 0.98e6 * mbps as f64, batch, seconds as f64),
    )?;
    let rate = received.packets as f64 * 12e3 / received.took / 1e6;
    println!(
        "  sent {sent}, received {}: {rate:.0} Mbit/s",
        received.packets
    );
    say(&report);
    Ok(())
}

/// TCP by the kernel, in bulk.
fn tcp(mbps: u64, gso: bool, seconds: u64) -> Done<()> {
    let how = if gso {
        "segments whole (GSO)"
    } else {
        "packet by packet"
    };
    println!("gso: TCP over {mbps} Mbit/s, 5 ms, {how}, {seconds} s");
    let forward = link(Rate::from_mbps(mbps), Duration::from_millis(5), 4000);
    let options = Options {
        gso,
        ..Options::default()
    };
    let scenario = scenario(forward, None)?;
    let (report, received) = emulate(&scenario, &options, &mut (), |a, b| {
        let listener = b
            .namespace
            .enter(|| TcpListener::bind((address(1), 80)))??;
        for host in [a, b] {
            host.namespace
                .sysctl("net.ipv4.tcp_rmem", "4096 131072 67108864")?;
            host.namespace
                .sysctl("net.ipv4.tcp_wmem", "4096 131072 67108864")?;
        }
        let mut stream = a
            .namespace
            .enter(|| TcpStream::connect((address(1), 80)))??;
        let (mut peer, _) = listener.accept()?;
        let over = Arc::new(AtomicBool::new(false));
        let ended = over.clone();
        let receiving = std::thread::spawn(move || {
            let mut buffer = vec![0; 1 << 20];
            let mut total = 0_u64;
            while let Ok(n @ 1..) = peer.read(&mut buffer) {
                if !ended.load(Ordering::Relaxed) {
                    total += n as u64;
                }
            }
            total
        });
        let chunk = vec![1; 1 << 18];
        let begin = Instant::now();
        while begin.elapsed().as_secs() < seconds {
            stream.write_all(&chunk)?;
        }
        over.store(true, Ordering::Relaxed);
        drop(stream);
        let total = receiving.join().map_err(|_| "the receiver panicked")?;
        Ok(total as f64 * 8.0 / begin.elapsed().as_secs_f64().max(seconds as f64))
    })?;
    println!("  goodput {:.0} Mbit/s", received / 1e6);
    say(&report);
    Ok(())
}

/// Changes of rate, delay and state, a thousand a second, under traffic: memory
/// and descriptors after every ten thousand of them.
fn soak() -> Done<()> {
    println!("soak: a change of the timeline each millisecond, 8 Mbit/s of datagrams, 50 s");
    let pieces = (0..1000).map(|n| Piece {
        from: Time::from_nanos(n * 1_000_000),
        rate: Rate::from_mbps(5 + n % 10),
        one_way_delay: Duration::from_micros(1000 + 100 * (n % 50)),
        sloped: false,
        loss: Loss::Channel,
        up: n % 97 != 0,
        route: (n / 10) as u32,
        jitter: None,
    });
    let timeline = Timeline::new(pieces.collect())?.repeating(Duration::from_secs(1))?;
    let forward = link(Rate::from_mbps(10), Duration::from_millis(2), 50);
    let scenario = scenario(forward, Some(timeline))?;
    let over = AtomicBool::new(false);
    let (report, _) = std::thread::scope(|scope| {
        scope.spawn(|| {
            for tens in 1..=5 {
                std::thread::sleep(std::time::Duration::from_secs(10));
                match footprint() {
                    Ok((memory, files)) if !over.load(Ordering::Relaxed) => println!(
                        "  after {tens}0,000 changes: RSS {memory} kB, {files} descriptors"
                    ),
                    _ => break,
                }
            }
        });
        let ran = emulate(&scenario, &Options::default(), &mut (), |a, b| {
            flood(a, b, 8e6, 1, 52.0)
        });
        over.store(true, Ordering::Relaxed);
        ran
    })?;
    say(&report);
    Ok(())
}

/// Memory and open files of this process.
fn footprint() -> Done<(u64, usize)> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let memory = status.lines().find_map(|line| {
        line.strip_prefix("VmRSS:")?
            .split_whitespace()
            .next()?
            .parse()
            .ok()
    });
    let files = std::fs::read_dir("/proc/self/fd")?.count();
    Ok((memory.ok_or("no VmRSS")?, files))
}

fn say(report: &Report) {
    let us = |d: Duration| d.as_secs() * 1e6;
    let l = report.lateness;
    println!(
        "  late by p50 {:.0} us, p99 {:.0} us, p99.9 {:.0} us, max {:.0} us; {:.2} us CPU a packet \
         read, {:.2} of a core",
        us(l.p50),
        us(l.p99),
        us(l.p999),
        us(l.max),
        us(report.cpu_per_packet().unwrap_or_default()),
        report.cpu.as_secs() / report.elapsed.as_secs()
    );
    println!(
        "  dropped by the model {}, by the machine {} (ring {}, write {}, memory {}), {:?}",
        report.model_drops(),
        report.machine.total(),
        report.machine.ring,
        report.machine.write,
        report.machine.memory,
        report.priority
    );
    println!("  {}", report.verdict());
}
