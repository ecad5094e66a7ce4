use super::*;
#[cfg(feature = "tls")]
use crate::session::Lengths;
use crate::session::{Ciphers, Resumption};
use crate::wire::Frame;
use bentpipe_cc::{Parameters, build};
use bentpipe_units::Bytes as Size;
use proptest::prelude::*;
use quinn_proto::congestion::NewRenoConfig;

/// One direction of a link: a queue of `limit` packets, a rate and a delay.
struct Link {
    rate: Rate,
    delay: Span,
    limit: usize,
    free: Time,
    leaves: VecDeque<Time>,
    arriving: VecDeque<(Time, Datagram)>,
    /// Every n-th packet is lost, where it is not zero.
    loses: u64,
    count: u64,
}

impl Link {
    fn new(mbps: u64, delay_ms: u64, limit: usize) -> Link {
        Link {
            rate: Rate::from_mbps(mbps),
            delay: Span::from_millis(delay_ms),
            limit,
            free: Time::ZERO,
            leaves: VecDeque::new(),
            arriving: VecDeque::new(),
            loses: 0,
            count: 0,
        }
    }

    fn send(&mut self, now: Time, datagram: Datagram) {
        while self.leaves.front().is_some_and(|at| *at <= now) {
            self.leaves.pop_front();
        }
        self.count += 1;
        let lost = self.loses > 0 && self.count.is_multiple_of(self.loses);
        if self.leaves.len() > self.limit || lost {
            return;
        }
        let bytes = datagram.payload.len() as u64 + u64::from(IP_HEADERS);
        self.free = self.free.max(now) + self.rate.transmission_time(Size::new(bytes));
        self.leaves.push_back(self.free);
        self.arriving.push_back((self.free + self.delay, datagram));
    }
}

struct Bed {
    hosts: [Host; 2],
    links: [Link; 2],
    now: Time,
    /// All bytes on the wire, each datagram with its time and sender.
    wire: Vec<(Time, usize, BytesMut)>,
}

impl Bed {
    fn new(hosts: [Host; 2], link: impl Fn() -> Link) -> Bed {
        Bed {
            hosts,
            links: [link(), link()],
            now: Time::ZERO,
            wire: Vec::new(),
        }
    }

    fn flush(&mut self) {
        for side in 0..2 {
            while let Some(datagram) = self.hosts[side].transmit(self.now) {
                self.wire.push((self.now, side, datagram.payload.clone()));
                self.links[side].send(self.now, datagram);
            }
        }
    }

    /// Sends `bytes`; returns when all are acknowledged.
    fn transfer(&mut self, bytes: u64) -> Time {
        self.hosts[0].open(self.now);
        self.hosts[0].write(bytes, true);
        let end = self.run(|hosts| hosts[0].is_acknowledged());
        assert_eq!(self.hosts[1].received(), bytes);
        end
    }

    /// Runs until `done`, which sees the hosts after each event and may act on them.
    fn run(&mut self, mut done: impl FnMut(&mut [Host; 2]) -> bool) -> Time {
        self.flush();
        for _ in 0..5_000_000 {
            if done(&mut self.hosts) {
                return self.now;
            }
            self.flush();
            let arrivals = self.links.iter().filter_map(|l| l.arriving.front());
            let mut next = arrivals.map(|(at, _)| *at).min().unwrap_or(Time::MAX);
            for host in &mut self.hosts {
                next = next.min(host.deadline());
            }
            assert!(next < Time::MAX, "nothing is due: {:?}", self.hosts);
            self.now = self.now.max(next);
            for side in 0..2 {
                let link = &mut self.links[side];
                while link.arriving.front().is_some_and(|(at, _)| *at <= self.now) {
                    let (_, datagram) = link.arriving.pop_front().unwrap();
                    self.hosts[1 - side].receive(self.now, datagram, false);
                }
            }
            for host in &mut self.hosts {
                host.on_deadline(self.now);
            }
            self.flush();
        }
        panic!("no end: {:?} {:?}", self.hosts, self.now);
    }
}

fn ours(name: &str, settings: &Settings, seed: u64) -> [Host; 2] {
    [Side::Client, Side::Server].map(|side| {
        let control = build(name, &Parameters::new()).unwrap();
        let seed = 2 * seed + u64::from(side.is_server());
        Host::new(side, settings, control, seed).unwrap()
    })
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let wire = |seed| {
        let mut bed = Bed::new(ours("newreno", &Settings::default(), seed), || {
            let mut link = Link::new(10, 20, 1000);
            link.loses = 97;
            link
        });
        bed.transfer(1_000_000);
        bed.wire
    };
    let first = wire(1);
    assert!(first.len() > 800, "{}", first.len());
    assert!(first == wire(1));
    assert!(first != wire(2));
}

/// RFC 9000, section 14.1: the client's first packet has 1200 bytes, and so has the server's
/// answer to it; data leave after a round trip.
#[test]
fn the_handshake_has_the_flights_of_tls() {
    let mut bed = Bed::new(ours("newreno", &Settings::default(), 3), || {
        Link::new(1000, 100, 1000)
    });
    let took = bed.transfer(1000);
    assert_eq!(bed.wire[0].2.len(), 1200);
    let server = bed
        .wire
        .iter()
        .filter(|(at, side, _)| *side == 1 && *at < Time::ZERO + Span::from_millis(150));
    let flight: usize = server.map(|(_, _, bytes)| bytes.len()).sum();
    // ServerHello, extensions, 2,800 bytes of certificates, their headers and the padding.
    assert!((3_100..=3_600).contains(&flight), "{flight}");
    let ms = took.as_nanos() / 1_000_000;
    assert!((400..=402).contains(&ms), "{ms} ms for two round trips");
}

/// quinn's own NewReno and ours on the same link: the windows follow the same law.
#[test]
fn our_newreno_takes_as_long_as_quinns() {
    let settings = Settings {
        mtu: Some(1200),
        ..Settings::default()
    };
    for (mbps, delay, limit, loses, most) in [
        (10, 10, 60, 0, 1.05),
        (20, 50, 100, 0, 1.05),
        (5, 150, 200, 331, 1.05),
    ] {
        let link = || {
            let mut link = Link::new(mbps, delay, limit);
            link.loses = loses;
            link
        };
        let quinns = [Side::Client, Side::Server].map(|side| {
            let control = Arc::new(NewRenoConfig::default());
            Host::with(side, &settings, control, u64::from(side.is_server())).unwrap()
        });
        let theirs = Bed::new(quinns, link).transfer(3_000_000);
        let ours = Bed::new(ours("newreno", &settings, 0), link).transfer(3_000_000);
        let ratio = ours.as_secs() / theirs.as_secs();
        assert!((0.95..=most).contains(&ratio), "{ratio}");
    }
}

/// A control that paces, now and then or always, and lets `quantum` packets go together.
#[derive(Debug)]
struct Paces {
    acks: u64,
    cwnd: f64,
    quantum: u32,
    pauses: bool,
}

impl bentpipe_cc::CongestionControl for Paces {
    fn name(&self) -> &str {
        "paces"
    }

    fn on_ack(&mut self, _: &bentpipe_cc::Ack, window: &mut bentpipe_cc::Window) {
        self.acks += 1;
        window.cwnd = self.cwnd;
        window.send_quantum = self.quantum;
        let paces = !self.pauses || self.acks % 50 < 25;
        window.pacing_rate = paces.then(|| Rate::from_mbps(2));
    }
}

fn pacing(cwnd: f64, quantum: u32, pauses: bool) -> Bed {
    let settings = Settings {
        pacing: Pacing::Off,
        batch: 1,
        ..Settings::default()
    };
    let hosts = [Side::Client, Side::Server].map(|side| {
        let control = Controller::custom(Paces {
            acks: 0,
            cwnd,
            quantum,
            pauses,
        });
        Host::new(side, &settings, control, u64::from(side.is_server())).unwrap()
    });
    Bed::new(hosts, || Link::new(10, 50, 500))
}

/// A sender that stops pacing while packets are held back must not wait for a time that is past.
#[test]
fn a_control_may_stop_pacing() {
    let took = pacing(40.0, 1, true).transfer(1_000_000).as_secs();
    assert!((1.0..=6.0).contains(&took), "{took} s");
}

#[test]
fn a_paced_sender_lets_its_quantum_go_at_once() {
    let together = |quantum| {
        let mut bed = pacing(4.0, quantum, false);
        bed.transfer(100_000);
        // After the first window, which leaves before anything is known.
        let later = Time::ZERO + Span::from_millis(500);
        let times = bed
            .wire
            .iter()
            .filter(|(at, side, _)| *side == 0 && *at > later);
        let times: Vec<Time> = times.map(|(at, _, _)| *at).collect();
        let runs = times.chunk_by(|a, b| a == b).map(<[Time]>::len);
        runs.max().unwrap()
    };
    // An ACK is for two packets.
    assert_eq!((together(1), together(12)), (1, 2));
}

/// quic-go and picoquic begin with a small limit that grows: a first window of 64 kB takes more round
/// trips than one of 16 MB, and a limit that could not grow would take far more.
#[test]
fn a_limit_of_the_receiver_grows() {
    let took = |initial: Option<u64>| {
        let settings = Settings {
            initial_receive_window: initial.map(Size::new),
            initial_window: 2_000.0,
            ..Settings::default()
        };
        let mut bed = Bed::new(ours("newreno", &settings, 9), || {
            Link::new(1000, 100, 10_000)
        });
        bed.transfer(2_000_000).as_secs()
    };
    let (ample, small) = (took(None), took(Some(65_536)));
    // 64 kB double five times until 2 MB fit; 31 windows of 64 kB would take 6 s.
    assert!((0.4..=1.4).contains(&(small - ample)), "{ample} {small}");
}

/// RFC 9002, appendix B.6: what was sent before a reduction belongs to it, also where it is found
/// lost after the recovery has ended.
#[test]
fn one_overflow_is_one_loss() {
    let control = build("newreno", &Parameters::new()).unwrap();
    let factory = Arc::new(Factory::new(control, 1, &Settings::default()));
    let clock = Clock::new();
    let at = |ms| clock.instant(Time::ZERO + Span::from_millis(ms));
    let mut quinn = Arc::clone(&factory).build(at(0), 1200);
    let acknowledge = |sent| {
        let adapter = factory.made.get().unwrap();
        adapter.acknowledged(at(sent), 1200, std::time::Duration::from_millis(100));
    };
    quinn.on_sent(at(100), 12_000, 1);
    acknowledge(100);
    quinn.on_end_acks(at(200), 10_800, false, None);
    let full = quinn.metrics().congestion_window;
    quinn.on_congestion_event(at(250), at(120), false, 1200);
    let halved = quinn.metrics().congestion_window;
    assert!(halved < full);
    // What was sent after that arrives, and then a loss from before is found.
    acknowledge(300);
    quinn.on_end_acks(at(400), 5_000, false, None);
    quinn.on_congestion_event(at(410), at(240), false, 1200);
    assert!(quinn.metrics().congestion_window >= halved);
    quinn.on_congestion_event(at(500), at(420), false, 1200);
    assert!(quinn.metrics().congestion_window < halved);
}

#[test]
fn a_control_with_a_rate_is_paced_outside() {
    for (name, pacing) in [
        ("bbr", Pacing::Quinn),
        ("newreno", Pacing::Off),
        ("newreno", Pacing::Window(1.2)),
    ] {
        let settings = Settings {
            pacing,
            ..Settings::default()
        };
        let mut bed = Bed::new(ours(name, &settings, 5), || Link::new(10, 50, 500));
        let took = bed.transfer(5_000_000).as_secs();
        assert!((4.2..=6.0).contains(&took), "{name} {pacing:?}: {took} s");
        let view = bed.hosts[0].view().unwrap();
        assert!(
            view.min_rtt
                .is_some_and(|rtt| rtt >= Span::from_millis(100))
        );
    }
}

#[test]
fn packets_below_1200_bytes_are_refused() {
    let settings = Settings {
        mtu: Some(1199),
        ..Settings::default()
    };
    let control = build("newreno", &Parameters::new()).unwrap();
    let error = Host::new(Side::Client, &settings, control, 1).unwrap_err();
    assert!(error.to_string().contains("1199"));
}

/// Three requests at once: each on its own stream, so that a response whose packets arrive is complete
/// while another waits for what was lost.
#[test]
fn requests_are_answered_on_their_streams() {
    let mut bed = Bed::new(ours("cubic", &Settings::default(), 7), || {
        let mut link = Link::new(10, 50, 500);
        link.loses = 23;
        link
    });
    bed.hosts[0].open(Time::ZERO);
    for _ in 0..3 {
        bed.hosts[0].ask(400);
    }
    let mut answered = 0;
    let mut completed = Vec::new();
    bed.run(|[client, server]| {
        while server.answer(100_000) {
            answered += 1;
        }
        if completed.last() != Some(&client.completed()) {
            completed.push(client.completed());
        }
        client.completed() == 3
    });
    assert_eq!(answered, 3);
    assert_eq!(completed.first(), Some(&0));
    assert_eq!(bed.hosts[0].received(), 300_000);
    assert_eq!(
        (bed.hosts[1].received(), bed.hosts[1].completed()),
        (1_200, 3)
    );
    assert!(!bed.hosts[1].answer(1), "nothing is asked any more");
}

/// What is more urgent arrives first, although it was asked for later.
#[test]
fn urgent_responses_come_before_others() {
    let mut bed = Bed::new(ours("cubic", &Settings::default(), 7), || {
        Link::new(10, 50, 500)
    });
    bed.hosts[0].open(Time::ZERO);
    for _ in 0..4 {
        bed.hosts[0].ask(400);
    }
    let mut order = Vec::new();
    bed.run(|[client, server]| {
        while let Some(number) = server.requested() {
            let urgency = if number == 2 { 1 } else { 3 };
            server.answer_urgently(100_000, urgency);
        }
        order.extend(std::iter::from_fn(|| client.responded()));
        client.completed() == 4
    });
    assert_eq!(order[0], 2);
    order.sort_unstable();
    assert_eq!(order, [0, 1, 2, 3]);
}

/// A datagram that is lost is not sent again, and the largest fills a packet.
#[test]
fn datagrams_are_sent_once() {
    let settings = Settings {
        mtu: Some(1_200),
        ..Settings::default()
    };
    let mut bed = Bed::new(ours("cubic", &settings, 7), || {
        let mut link = Link::new(10, 50, 500);
        link.loses = 10;
        link
    });
    bed.hosts[0].open(Time::ZERO);
    let largest = crate::largest_datagram(1_200);
    let mut arrived = Vec::new();
    let mut sent = 0;
    bed.run(|[client, server]| {
        if client.is_connected() && sent < 200 {
            client.send_datagram(largest);
            sent += 1;
        }
        arrived.extend(std::iter::from_fn(|| server.take_datagram()));
        sent == 200 && arrived.last() >= Some(&195)
    });
    assert!((150..200).contains(&arrived.len()), "{}", arrived.len());
    assert!(arrived.is_sorted_by(|a, b| a < b));
    let bytes = bed.hosts[1].received();
    assert_eq!(bytes, arrived.len() as u64 * largest);
}

/// More gaps than quinn-proto keeps for who reads in order: of two seconds of a fast path every second
/// packet is lost.
#[test]
fn a_stream_of_many_gaps_goes_on() {
    let settings = Settings {
        initial_window: 5_000.0,
        pacing: Pacing::Off,
        ..Settings::default()
    };
    let mut bed = Bed::new(ours("cubic", &settings, 7), || {
        let mut link = Link::new(1_000, 300, 10_000);
        link.loses = 2;
        link
    });
    bed.hosts[0].open(Time::ZERO);
    bed.hosts[0].write(8_000_000, true);
    bed.run(|[sender, _]| sender.is_acknowledged());
    assert_eq!(bed.hosts[1].received(), 8_000_000);
    assert_eq!(bed.hosts[0].error(), None);
}

/// Who answers with a rate-based control is spaced by it, although the stream has taken it all.
#[test]
fn a_response_is_paced() {
    let mut bed = Bed::new(ours("bbr", &Settings::default(), 5), || {
        Link::new(10, 50, 200)
    });
    bed.hosts[0].open(Time::ZERO);
    bed.hosts[0].ask(400);
    let took = bed.run(|[client, server]| {
        server.answer(3_000_000);
        client.completed() == 1
    });
    assert!((2.4..=4.0).contains(&took.as_secs()), "{took:?}");
    // At most what 2/ln 2 times the rate has in a millisecond, a timer's and an ACK's; unpaced, an
    // acknowledgement after a loss lets tens go.
    let mut at_once = std::collections::BTreeMap::new();
    for (at, side, bytes) in &bed.wire {
        if *side == 1 && bytes.len() > 1000 {
            *at_once.entry(*at).or_insert(0) += 1;
        }
    }
    let most = at_once
        .range(Time::ZERO + Span::from_millis(500)..)
        .map(|(_, n)| *n)
        .max();
    assert!(most.is_some_and(|most| most <= 4), "{most:?}");
}

/// With a ticket the server sends no certificates, and with 0-RTT packets an answer comes a round trip
/// earlier.
#[test]
fn a_ticket_saves_certificates_and_a_round_trip() {
    let ask = |resumption| {
        let settings = Settings {
            resumption,
            ..Settings::default()
        };
        let mut bed = Bed::new(ours("cubic", &settings, 9), || Link::new(1000, 100, 1000));
        bed.hosts[0].open(Time::ZERO);
        bed.hosts[0].ask(400);
        let end = bed.run(|[client, server]| {
            server.answer(1_000);
            client.completed() == 1
        });
        let until = Time::ZERO + Span::from_millis(150);
        let flight = bed
            .wire
            .iter()
            .filter(|(at, side, _)| *side == 1 && *at < until);
        let flight: usize = flight.map(|(_, _, bytes)| bytes.len()).sum();
        assert!(bed.hosts[1].error().is_none() && bed.hosts[0].error().is_none());
        (end.as_nanos() / 1_000_000, flight)
    };
    let (full, certificates) = ask(Resumption::None);
    let (resumed, short) = ask(Resumption::OneRtt);
    let (early, _) = ask(Resumption::ZeroRtt);
    assert!((400..=402).contains(&full), "{full} ms");
    assert!((400..=402).contains(&resumed), "{resumed} ms");
    assert!((200..=202).contains(&early), "{early} ms");
    assert!(certificates > short + 1_000, "{certificates} {short}");
}

/// Data that are lost with the first flight are sent again.
#[test]
fn early_data_that_are_lost_come_again() {
    let settings = Settings {
        resumption: Resumption::ZeroRtt,
        ..Settings::default()
    };
    for loses in [2, 5, 7] {
        let mut bed = Bed::new(ours("newreno", &settings, 9), || {
            let mut link = Link::new(10, 100, 1000);
            link.loses = loses;
            link
        });
        let took = bed.transfer(100_000).as_secs();
        assert!(took < 40.0, "{took} s with one in {loses} lost");
    }
}

/// With ciphers every packet leaves at the same time and has the same length as without.
#[cfg(feature = "tls")]
#[test]
fn ciphers_change_no_time_and_no_length() {
    let run = |ciphers, loses, certificate| {
        let settings = Settings {
            ciphers,
            lengths: Lengths { certificate },
            ..Settings::default()
        };
        let mut bed = Bed::new(ours("cubic", &settings, 5), || {
            let mut link = Link::new(10, 50, 100);
            link.loses = loses;
            link
        });
        bed.transfer(1_000_000);
        let lengths = bed
            .wire
            .iter()
            .map(|(at, side, bytes)| (*at, *side, bytes.len()));
        (lengths.collect::<Vec<_>>(), bed.wire)
    };
    for (loses, certificate) in [(0, 2_800), (0, 4_000), (7, 2_800), (50, 2_800)] {
        let (plain, _) = run(Ciphers::None, loses, certificate);
        let (sealed, bytes) = run(Ciphers::Tls, loses, certificate);
        for (i, (one, other)) in plain.iter().zip(&sealed).enumerate() {
            assert_eq!(one, other, "packet {i}, one in {loses} lost");
        }
        assert_eq!(plain.len(), sealed.len());
        // They are ciphers: the zeros of the stream are not to be seen.
        let full = bytes
            .iter()
            .max_by_key(|(_, _, bytes)| bytes.len())
            .unwrap();
        let zeros = full.2.iter().filter(|byte| **byte == 0).count();
        assert!(zeros < full.2.len() / 20, "{zeros}");
    }
}

#[test]
fn ciphers_that_are_not_there_are_refused() {
    let settings = Settings {
        ciphers: Ciphers::Tls,
        resumption: Resumption::OneRtt,
        ..Settings::default()
    };
    let control = build("cubic", &Parameters::new()).unwrap();
    let refused = Host::new(Side::Client, &settings, control, 1).unwrap_err();
    assert!(refused.to_string().contains("resumption"), "{refused}");
    let settings = Settings {
        resumption: Resumption::None,
        ..settings
    };
    let control = build("cubic", &Parameters::new()).unwrap();
    let made = Host::new(Side::Client, &settings, control, 1);
    assert_eq!(made.is_ok(), cfg!(feature = "tls"), "{made:?}");
}

/// Every datagram is read to its end, frame by frame, and what is read makes sense.
#[test]
fn datagrams_are_read_whole() {
    for resumption in [Resumption::None, Resumption::ZeroRtt] {
        let settings = Settings {
            resumption,
            acks: Some((10, Span::from_millis(25))),
            ..Settings::default()
        };
        let mut bed = Bed::new(ours("cubic", &settings, 5), || {
            let mut link = Link::new(10, 50, 100);
            link.loses = 50;
            link
        });
        bed.transfer(1_000_000);
        let mut newest = [[None; 3]; 2];
        let mut arrived = vec![false; 1_000_000];
        for (_, side, datagram) in &bed.wire {
            let packets = crate::wire::read(datagram);
            let lengths: u32 = packets.iter().map(|packet| packet.length).sum();
            assert_eq!(lengths as usize, datagram.len());
            for packet in packets {
                let space = packet.kind.space();
                assert!(newest[*side][space] < Some(packet.number), "{packet:?}");
                newest[*side][space] = Some(packet.number);
                for frame in packet.frames {
                    match frame {
                        Frame::Unknown(_) => panic!("{frame:?}"),
                        Frame::Ack { ranges, .. } => {
                            assert!(Some(ranges[0][1]) <= newest[1 - side][space]);
                        }
                        Frame::Stream { offset, length, .. } => {
                            arrived[offset as usize..][..length as usize].fill(true);
                        }
                        _ => {}
                    }
                }
            }
        }
        assert!(arrived.iter().all(|byte| *byte));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    /// Whatever happens to datagrams on their way (lost, repeated, last first, cut, changed, strays), no
    /// end panics, and no more data arrive than were sent, unless a bit was changed: without a cipher
    /// nothing shows that.
    #[test]
    fn datagrams_may_be_anything(choices in prop::collection::vec(any::<(u8, u8)>(), 0..200), zero in any::<bool>()) {
        let resumption = if zero { Resumption::ZeroRtt } else { Resumption::None };
        let settings = Settings { resumption, ..Settings::default() };
        let mut hosts = ours("cubic", &settings, 7);
        let mut now = Time::ZERO;
        hosts[0].open(now);
        hosts[0].write(20_000, true);
        let mut ways: [Vec<Datagram>; 2] = Default::default();
        let mut is_changed = false;
        for (what, value) in choices {
            now += Span::from_micros(100 * u64::from(value) + 1);
            let side = usize::from(what & 1);
            while let Some(datagram) = hosts[side].transmit(now) {
                ways[side].push(datagram);
            }
            let stray = || Datagram {
                payload: BytesMut::from(&vec![what; usize::from(value)][..]),
                ecn_capable: false,
            };
            let mut datagram = ways[side].pop().unwrap_or_else(stray);
            match what >> 1 & 7 {
                0 => continue,
                1 => ways[side].push(datagram.clone()),
                2 => datagram.payload.truncate(usize::from(value)),
                3 if !datagram.payload.is_empty() => {
                    let at = usize::from(value) % datagram.payload.len();
                    datagram.payload[at] ^= 1 << (what >> 5);
                    is_changed = true;
                }
                _ => {}
            }
            hosts[1 - side].receive(now, datagram, what & 0x80 != 0);
            for host in &mut hosts {
                if host.deadline() <= now {
                    host.on_deadline(now);
                }
            }
            prop_assert!(is_changed || hosts[1].received() <= 20_000);
        }
    }
}
