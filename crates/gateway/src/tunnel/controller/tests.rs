use super::*;
use crate::tunnel::known::Knowledge;
use std::collections::VecDeque;
use std::time::Duration;

const MTU: u16 = 1452;
/// Maximum of packets in flight, whatever the window is.
const MOST: u64 = 3_000;
const RTT: Duration = Duration::from_millis(500);

/// A path without loss and with a fixed delay, and a sender that fills its window:
/// quinn's calls, in quinn's order.
struct Bed {
    adapter: Adapter<Link>,
    now: Instant,
    flight: VecDeque<(Instant, u64)>,
    number: u64,
}

impl Bed {
    fn new(name: &str, rate: Option<Rate>) -> Bed {
        let knowledge = Knowledge::new(rate, RTT);
        let peer = knowledge.shaper().peer("192.0.2.1:1".parse().unwrap());
        let now = Instant::now();
        let choice = Choice::named(name).unwrap();
        let control = choice.build(&knowledge);
        let path = Link { knowledge, peer };
        Bed {
            adapter: Adapter::new(control, 1, path, now, MTU),
            now,
            flight: VecDeque::new(),
            number: 0,
        }
    }

    fn in_flight(&self) -> u64 {
        self.flight.iter().map(|(_, bytes)| bytes).sum()
    }

    /// Whole packets that the window allows.
    fn packets(&self) -> u64 {
        (self.adapter.window() - 1) / u64::from(MTU)
    }

    fn fill(&mut self) {
        let packet = u64::from(MTU);
        let window = self.adapter.window().min(MOST * packet);
        let mut in_flight = self.in_flight();
        while in_flight + packet < window {
            in_flight += packet;
            self.number += 1;
            self.adapter.on_sent(self.now, packet, self.number);
            self.flight.push_back((self.now, packet));
        }
    }

    /// Acknowledges what has been in flight for a round trip, `each` packets a frame; the sender
    /// fills its window after each.
    fn round(&mut self, each: usize) {
        self.now += RTT;
        let due = self.flight.partition_point(|(at, _)| *at + RTT <= self.now);
        let due: Vec<_> = self.flight.drain(..due).collect();
        let mut left: u64 = due.iter().map(|(_, bytes)| bytes).sum();
        for frame in due.chunks(each) {
            for (sent, bytes) in frame {
                self.adapter.acknowledged(*sent, *bytes, RTT);
                left -= bytes;
            }
            let flight = self.in_flight() + left;
            self.adapter.on_end_acks(self.now, flight, false, None);
            let packet = u64::from(MTU);
            let window = self.adapter.window().min(MOST * packet);
            let mut in_flight = flight;
            while in_flight + packet < window {
                in_flight += packet;
                self.number += 1;
                self.adapter.on_sent(self.now, packet, self.number);
                self.flight.push_back((self.now, packet));
            }
        }
    }

    fn lose(&mut self, packets: usize) {
        let lost: Vec<_> = self.flight.drain(..packets).collect();
        let bytes = lost.iter().map(|(_, bytes)| bytes).sum();
        let newest = lost.last().unwrap().0;
        self.adapter
            .on_congestion_event(self.now, newest, false, bytes);
    }
}

#[test]
fn newreno_doubles_each_round_trip_and_halves_at_a_loss() {
    let mut bed = Bed::new("newreno", None);
    assert_eq!(bed.packets(), 10);
    bed.fill();
    let mut windows = Vec::new();
    for _ in 0..4 {
        bed.round(1);
        windows.push(bed.packets());
    }
    assert_eq!(windows, [20, 40, 80, 160]);
    bed.lose(3);
    assert_eq!(bed.packets(), 80);
    // A second loss of the same window changes nothing.
    bed.lose(1);
    assert_eq!(bed.packets(), 80);
    // The window does not grow while the loss is repaired; then by one a round.
    bed.round(1);
    assert_eq!(bed.packets(), 80);
    bed.round(1);
    bed.round(1);
    assert!((81..=82).contains(&bed.packets()), "{}", bed.packets());
}

#[test]
fn complete_knowledge_has_two_products_from_the_start_and_follows_a_fade() {
    let mut bed = Bed::new("complete-knowledge", Some(Rate::from_mbps(20)));
    // 2 x 19.8 Mbit/s x 0.525 s of IP packets are 1756 packets of 1480 bytes.
    assert!((1740..=1790).contains(&bed.packets()), "{}", bed.packets());
    bed.fill();
    bed.round(10);
    assert!((1740..=1780).contains(&bed.packets()), "{}", bed.packets());
    bed.lose(100);
    assert!((1740..=1780).contains(&bed.packets()), "{}", bed.packets());
    // The link fades to a tenth; the window follows at the next packet.
    let knowledge = bed.adapter.path(|path| Arc::clone(&path.knowledge));
    knowledge.set_rate(Some(Rate::from_mbps(2)));
    bed.adapter.on_sent(bed.now, 1, 0);
    assert!((172..=180).contains(&bed.packets()), "{}", bed.packets());
    // It leaves pacing to the shaper, which has the same rate.
    assert_eq!(bed.adapter.path(|path| path.peer.rate()), None);
    assert_eq!(knowledge.shaper().rate(), Some(Rate::from_bps(1_980_000)));
}

#[test]
fn a_control_that_paces_reaches_the_shaper() {
    let mut bed = Bed::new("bbr", None);
    bed.fill();
    for _ in 0..6 {
        bed.round(2);
    }
    let rate = bed.adapter.path(|path| path.peer.rate());
    assert!(
        rate.is_some_and(|rate| rate > Rate::from_bps(300_000)),
        "{rate:?}"
    );
}

#[test]
fn complete_knowledge_without_a_rate_becomes_a_control_that_finds_it() {
    let bed = Bed::new("complete-knowledge", None);
    assert_eq!(bed.adapter.name(), "bbr");
}

#[test]
fn a_path_that_is_shorter_than_configured_keeps_the_window_of_the_configured_one() {
    let mut bed = Bed::new("complete-knowledge", Some(Rate::from_mbps(20)));
    bed.fill();
    // Acknowledgements of several packets wait for 25 ms on any path.
    bed.adapter.acknowledged(bed.now, u64::from(MTU), RTT);
    bed.now += Duration::from_micros(100);
    bed.adapter.on_end_acks(bed.now, 0, false, None);
    assert!((1740..=1780).contains(&bed.packets()), "{}", bed.packets());
}

#[test]
fn a_first_round_trip_that_was_too_long_does_not_slow_the_link_down() {
    let mut bed = Bed::new("complete-knowledge", Some(Rate::from_mbps(20)));
    let window = bed.adapter.window();
    bed.adapter.acknowledged(bed.now, 0, RTT);
    assert_eq!(bed.adapter.window(), window);
    bed.adapter.acknowledged(bed.now, 0, 10 * RTT);
    assert_eq!(bed.adapter.window(), bentpipe_quic::controller::UNPACED);
    // It is still the window that holds what is in flight.
    let packet = u64::from(MTU);
    let mut in_flight = 0;
    while in_flight + packet < bed.adapter.window() {
        bed.adapter.on_sent(bed.now, packet, 0);
        in_flight += packet;
    }
    assert_eq!(bed.adapter.window(), window);
    assert!(in_flight < window, "{in_flight}");
    let slack = window - in_flight;
    assert!(slack <= 3 * u64::from(MTU), "{slack}");
}

#[test]
fn a_larger_packet_leaves_the_window_in_bytes() {
    let mut bed = Bed::new("newreno", None);
    let before = bed.adapter.window();
    bed.adapter.on_mtu_update(1200);
    assert!(before.abs_diff(bed.adapter.window()) <= 1200);
}

#[test]
fn controls_that_need_more_than_quic_gives_are_refused_by_name() {
    for (name, needs) in [
        ("xcp", "routers"),
        ("ba-tcp", "bandwidth"),
        ("stcp", "shares"),
        ("dvegas", "modem"),
        ("pbs", "corrupted"),
        ("peach", "probes"),
        ("peach+", "probes"),
        ("rcs", "probes"),
        ("swift", "probes"),
        ("tp-planet", "probes"),
        ("fast-start", "priority"),
        ("bulk-repeat", "again"),
        ("nonsense", "nonsense"),
    ] {
        let refusal = Choice::named(name).expect_err(name).to_string();
        assert!(refusal.contains(needs), "{name}: {refusal}");
    }
    for name in [
        "newreno",
        "cubic",
        "hybla",
        "bbr",
        "bbr3",
        "westwood+",
        "vegas",
        "copa",
    ] {
        assert!(refusal(name).is_none(), "{name}: {:?}", refusal(name));
    }
}

#[test]
fn every_control_that_is_not_refused_runs() {
    for described in bentpipe_cc::list() {
        if refusal(described.name).is_some() {
            continue;
        }
        for rate in [None, Some(Rate::from_mbps(20))] {
            let mut bed = Bed::new(described.name, rate);
            bed.fill();
            for round in 0..12 {
                if round == 6 {
                    bed.lose(2);
                }
                if round == 9 {
                    let newest = bed.flight.back().unwrap().0;
                    bed.adapter.on_congestion_event(bed.now, newest, true, 0);
                    bed.fill();
                }
                bed.round(if round % 2 == 0 { 1 } else { 7 });
            }
            assert!(bed.packets() >= 2, "{}", described.name);
        }
    }
}
