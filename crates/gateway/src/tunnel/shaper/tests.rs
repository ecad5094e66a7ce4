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
    let (_, one) = waker();
    let (woken, two) = waker();
    assert_eq!(shaper.turn(first, now, &one), Turn::Now);
    shaper.sent(Some(first), 1500, now);
    assert!(matches!(shaper.turn(first, now, &one), Turn::At(_)));
    assert_eq!(shaper.turn(second, now, &two), Turn::Behind);
    let later = now + Duration::from_millis(7);
    assert_eq!(shaper.turn(second, later, &two), Turn::Behind);
    assert_eq!(shaper.turn(first, later, &one), Turn::Now);
    shaper.sent(Some(first), 1500, later);
    assert_eq!(woken.0.load(Ordering::Relaxed), 1);
    assert!(matches!(shaper.turn(second, later, &two), Turn::At(_)));
    // The first one waits again, behind the second, and a sender that ends lets
    // the next one in.
    assert_eq!(shaper.turn(first, later, &one), Turn::Behind);
    shaper.leave(second);
    assert!(matches!(shaper.turn(first, later, &one), Turn::At(_)));
}

#[test]
fn a_new_rate_wakes_who_waits() {
    let shaper = Shaper::new(Some(Rate::from_bps(1)));
    let (woken, waker) = waker();
    let now = Instant::now();
    let sender = shaper.sender();
    shaper.sent(None, 1500, now);
    assert!(matches!(shaper.turn(sender, now, &waker), Turn::At(_)));
    shaper.set_rate(mbps(20));
    assert_eq!(woken.0.load(Ordering::Relaxed), 1);
    shaper.set_rate(None);
    assert_eq!(shaper.turn(sender, now, &waker), Turn::Now);
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
