use super::*;
use std::sync::atomic::AtomicU32;
use std::task::Wake;

fn mbps(x: u64) -> Option<Rate> {
    Some(Rate::from_mbps(x))
}

#[derive(Default)]
struct Count(AtomicU32);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

fn waker() -> (Arc<Count>, Waker) {
    let count = Arc::new(Count::default());
    (Arc::clone(&count), Waker::from(count))
}

/// Sends packets of `size` for `time` with a timer that is late by `late`;
/// returns the bytes sent.
fn send_for(bucket: &mut Bucket, start: Instant, time: Duration, late: Duration) -> f64 {
    let mut now = start;
    let mut sent = 0.0;
    while now < start + time {
        match bucket.wait(now) {
            Some(at) => now = at + late,
            None => {
                bucket.charge(1500, now);
                sent += 1500.0;
            }
        }
    }
    sent
}

#[test]
fn a_bucket_keeps_its_rate_though_timers_are_late() {
    for rate in [2, 20, 1000] {
        for late in [0, 1, 3] {
            let start = Instant::now();
            let mut bucket = Bucket::new(mbps(rate), start);
            let time = Duration::from_secs(10);
            let sent = send_for(&mut bucket, start, time, Duration::from_millis(late));
            let due = Rate::from_mbps(rate).bps_f64() / 8.0 * 10.0;
            let most = due + due * 0.001 + 3000.0;
            assert!(
                sent <= most,
                "{rate} Mbit/s, {late} ms late: {sent} > {most}"
            );
            assert!(
                sent >= due * 0.998 - 3000.0,
                "{rate} {late}: {sent} < {due}"
            );
        }
    }
}

#[test]
fn an_idle_link_takes_two_milliseconds_at_once() {
    let start = Instant::now();
    let mut bucket = Bucket::new(mbps(20), start);
    bucket.charge(1500, start);
    let later = start + Duration::from_secs(5);
    let mut at_once = 0;
    while bucket.wait(later).is_none() {
        bucket.charge(1500, later);
        at_once += 1500;
    }
    // 2 ms of 20 Mbit/s are 5000 bytes, and a packet that begins at the end.
    assert_eq!(at_once, 6000);
}

#[test]
fn a_change_of_rate_holds_at_once() {
    let start = Instant::now();
    let mut bucket = Bucket::new(mbps(20), start);
    bucket.charge(15_000, start);
    assert_eq!(bucket.wait(start), Some(start + Duration::from_millis(6)));
    bucket.set_rate(mbps(2), start);
    assert_eq!(bucket.wait(start), Some(start + Duration::from_millis(60)));
    bucket.set_rate(None, start);
    assert_eq!(bucket.wait(start), None);
}

#[test]
fn senders_take_turns_in_their_order() {
    let shaper = Shaper::new(mbps(2));
    let now = Instant::now();
    let (first, second) = (shaper.sender(), shaper.sender());
    let (woken, one) = waker();
    let (_, two) = waker();
    assert_eq!(shaper.turn(&first, now, &one), Turn::Now);
    shaper.sent(Some(&first), 1500, now);
    assert!(matches!(shaper.turn(&first, now, &one), Turn::At(_)));
    // The second has had nothing.
    assert!(matches!(shaper.turn(&second, now, &two), Turn::At(_)));
    assert_eq!(shaper.turn(&first, now, &one), Turn::Behind);
    let later = now + Duration::from_millis(7);
    assert_eq!(shaper.turn(&first, later, &one), Turn::Behind);
    assert_eq!(shaper.turn(&second, later, &two), Turn::Now);
    shaper.sent(Some(&second), 1500, later);
    assert_eq!(woken.0.load(Ordering::Relaxed), 1);
    assert!(matches!(shaper.turn(&first, later, &one), Turn::At(_)));
    // The second waits again, behind the first, and a sender that ends lets
    // the next one in.
    assert_eq!(shaper.turn(&second, later, &two), Turn::Behind);
    shaper.leave(&first);
    assert!(matches!(shaper.turn(&second, later, &two), Turn::At(_)));
}

/// Bytes that each of these senders sends in 10 s at 20 Mbit/s: its weight, the bytes of its batches,
/// and when it has something to send, of each second.
fn sent_by(senders: &[(u64, usize, std::ops::Range<f64>)]) -> Vec<usize> {
    let shaper = Shaper::new(mbps(20));
    let start = Instant::now();
    let (_, waker) = waker();
    let all: Vec<Sender> = senders.iter().map(|_| shaper.sender()).collect();
    for (sender, (weight, ..)) in all.iter().zip(senders) {
        sender.set_weight(*weight);
    }
    let mut bytes = vec![0; senders.len()];
    for tick in 0..100_000 {
        let now = start + Duration::from_micros(100 * tick);
        let second = (tick % 10_000) as f64 / 1e4;
        let is_busy = |at: usize| senders[at].2.contains(&second);
        for at in (0..all.len()).filter(|at| !is_busy(*at)) {
            shaper.leave(&all[at]);
        }
        // Whoever has its turn asks again at once.
        let sends = |at: &usize| is_busy(*at) && shaper.turn(&all[*at], now, &waker) == Turn::Now;
        while let Some(at) = (0..all.len()).rev().find(sends) {
            shaper.sent(Some(&all[at]), senders[at].1, now);
            bytes[at] += senders[at].1;
        }
    }
    bytes
}

#[test]
fn senders_share_the_rate_by_their_weights() {
    let always = 0.0..2.0;
    for (weights, sizes) in [
        ([100, 100], [1500, 300]),
        ([300, 100], [1500, 4500]),
        ([1, 50], [3000, 1500]),
    ] {
        let senders = [0, 1].map(|at| (weights[at], sizes[at], always.clone()));
        let bytes = sent_by(&senders);
        let (share, due) = (
            bytes[0] as f64 / bytes[1] as f64,
            weights[0] as f64 / weights[1] as f64,
        );
        assert!(
            (share / due - 1.0).abs() < 0.02,
            "{weights:?} {sizes:?}: {share}"
        );
        let all = bytes.iter().sum::<usize>() as f64;
        assert!((all / 25e6 - 1.0).abs() < 0.01, "{all}");
    }
}

#[test]
fn who_was_away_gets_no_more_for_it() {
    // One sends half of the time.
    let bytes = sent_by(&[(100, 1500, 0.0..2.0), (100, 1500, 0.5..2.0)]);
    let share = bytes[1] as f64 / bytes[0] as f64;
    assert!((share - 1.0 / 3.0).abs() < 0.02, "{share}");
    // And whoever has little to send is first.
    let shaper = Shaper::new(mbps(20));
    let now = Instant::now();
    let (_, waker) = waker();
    let (busy, calm) = (shaper.sender(), shaper.sender());
    for _ in 0..50 {
        shaper.sent(Some(&busy), 1500, now);
    }
    assert!(matches!(shaper.turn(&busy, now, &waker), Turn::At(_)));
    assert!(matches!(shaper.turn(&calm, now, &waker), Turn::At(_)));
    assert_eq!(shaper.turn(&busy, now, &waker), Turn::Behind);
}

#[test]
fn a_new_rate_wakes_who_waits() {
    let shaper = Shaper::new(Some(Rate::from_bps(1)));
    let (woken, waker) = waker();
    let now = Instant::now();
    let sender = shaper.sender();
    shaper.sent(None, 1500, now);
    assert!(matches!(shaper.turn(&sender, now, &waker), Turn::At(_)));
    shaper.set_rate(mbps(20));
    assert_eq!(woken.0.load(Ordering::Relaxed), 1);
    shaper.set_rate(None);
    assert_eq!(shaper.turn(&sender, now, &waker), Turn::Now);
}

#[test]
fn batches_fit_two_milliseconds_of_the_slowest_link() {
    assert_eq!(Shaper::new(mbps(2)).most_segments(), 1);
    assert_eq!(Shaper::new(mbps(20)).most_segments(), 3);
    let shaper = Shaper::new(None);
    assert_eq!(shaper.most_segments(), MOST_SEGMENTS);
    let address = "192.0.2.1:4433".parse().unwrap();
    let peer = shaper.peer(address);
    peer.set_rate(mbps(20));
    assert_eq!(shaper.most_segments(), 3);
    // A cap is none of the link.
    peer.set_cap(mbps(1));
    assert_eq!((peer.rate(), shaper.most_segments()), (mbps(1), 3));
    peer.set_cap(None);
    peer.set_pace(mbps(2));
    assert_eq!(peer.rate(), mbps(2));
    assert_eq!(shaper.most_segments(), 1);
    drop(peer);
    assert_eq!(shaper.most_segments(), MOST_SEGMENTS);
}

#[test]
fn a_packet_counts_with_its_ip_header() {
    let bytes = |address: &str| packet_bytes(1200, &address.parse().unwrap());
    assert_eq!(bytes("192.0.2.1:1"), 1228);
    assert_eq!(bytes("[::ffff:192.0.2.1]:1"), 1228);
    assert_eq!(bytes("[2001:db8::1]:1"), 1248);
}
