use super::*;
use proptest::prelude::*;

const RTT: Duration = Duration::from_millis(550);
const RATE: Rate = Rate::from_mbps(20);

fn packet(number: u64) -> Packet {
    let mut packet = Packet::new(3);
    packet.sequence = number * 1420;
    packet.payload = 1420;
    packet.bytes = 1480;
    packet
}

/// Protects what `streams` send, a packet each millisecond; one in a hundred was lost before.
fn protected(streams: &[usize]) -> Protection {
    let mut protection = Protection::new(RTT, 1480);
    protection.losses.sent(1000);
    protection.losses.lost(10);
    for (number, stream) in streams.iter().enumerate() {
        let now = Time::ZERO + Duration::from_millis(number as u64);
        let pauses = !streams[number + 1..].contains(stream);
        protection.sent(now, Some(*stream), packet(number as u64), pauses);
    }
    protection
}

fn repairs(protection: &mut Protection) -> Vec<Packet> {
    std::iter::from_fn(|| protection.take_repair()).collect()
}

#[test]
fn without_losses_nothing_is_protected() {
    let mut protection = Protection::new(RTT, 1480);
    for number in 0..10 {
        protection.sent(Time::ZERO, Some(0), packet(number), true);
    }
    assert_eq!(protection.due(), Time::MAX);
    protection.protect(Time::ZERO + RTT, RATE);
    assert!(repairs(&mut protection).is_empty());
}

#[test]
fn a_pause_is_followed_by_repairs_once() {
    let mut protection = protected(&[0; 30]);
    let due = Time::ZERO + Duration::from_micros(29_000 + 17_187) + Duration::from_nanos(500);
    assert_eq!(protection.due(), due);
    protection.protect(due, RATE);
    let sent = repairs(&mut protection);
    // Two generations of 15 packets, with two repairs each.
    assert_eq!(sent.len(), 4);
    assert!(sent.iter().all(|repair| repair.bytes == 1540));
    assert_eq!(protection.due(), Time::MAX);
}

/// A stream that has ended while another goes on is protected, with all that was sent until then.
#[test]
fn a_tail_does_not_wait_for_others() {
    let mut streams = vec![1, 1, 1];
    streams.extend([0; 40]);
    let mut protection = protected(&streams);
    let due = Time::ZERO + Duration::from_micros(2_000 + 17_187) + Duration::from_nanos(500);
    assert_eq!(protection.due(), due);
    protection.protect(due, RATE);
    assert_eq!(protection.blocks[0].packets.len(), 43);
}

#[test]
fn one_packet_is_repeated_and_old_ones_are_not() {
    let mut protection = protected(&[0]);
    let later = Time::ZERO + RTT * 2;
    protection.sent(later, Some(1), packet(1), true);
    protection.protect(later + Duration::from_millis(20), RATE);
    let sent = repairs(&mut protection);
    assert_eq!((sent.len(), sent[0].bytes), (1, 1480));
    assert_eq!(protection.blocks[0].first, 1);
}

proptest! {
    /// What was lost is restored, once, where no more is missing of a generation than repairs have
    /// arrived, and else nothing of it is; what has arrived never is. In whatever order they come.
    #[test]
    fn a_packet_is_counted_once(
        arrives in proptest::collection::vec(any::<bool>(), 1..120),
        repaired in proptest::collection::vec(any::<bool>(), 16),
        repairs_first: bool,
    ) {
        let mut protection = protected(&vec![0; arrives.len()]);
        let due = protection.due();
        protection.protect(due, RATE);
        let first = protection.blocks[0].first;
        let count = protection.blocks[0].repairs.len();
        let sent: Vec<Packet> = repairs(&mut protection);
        let came: Vec<Packet> = sent.into_iter().zip(&repaired).filter(|(_, it)| **it).map(|(p, _)| p).collect();
        let mut restored = Vec::new();
        let data = |protection: &mut Protection, restored: &mut Vec<Packet>| {
            for (number, arrives) in (0..).zip(&arrives) {
                if *arrives {
                    protection.arrived(number, restored);
                }
            }
        };
        if !repairs_first {
            data(&mut protection, &mut restored);
        }
        came.iter().for_each(|repair| protection.repaired(repair, &mut restored));
        if repairs_first {
            // Some arrive after the repairs have restored them: their receiver has them twice, as
            // where a packet is late.
            data(&mut protection, &mut restored);
            restored.retain(|packet| !arrives[(packet.sequence / 1420) as usize]);
        }
        let mut numbers: Vec<u64> = restored.iter().map(|packet| packet.sequence / 1420).collect();
        numbers.sort_unstable();
        let restored_once = numbers.clone();
        numbers.dedup();
        prop_assert_eq!(&numbers, &restored_once);
        for generation in 0..count {
            let members = (first..arrives.len() as u64).skip(generation).step_by(count);
            let missing: Vec<u64> = members.filter(|it| !arrives[*it as usize]).collect();
            let repairs = came.iter().filter(|it| it.window as usize == generation).count();
            let restored = missing.iter().filter(|it| numbers.contains(it)).count();
            let expected = if missing.len() <= repairs { missing.len() } else { 0 };
            prop_assert_eq!(restored, expected, "{:?} {}", missing, repairs);
        }
        prop_assert!(numbers.iter().all(|it| !arrives[*it as usize]));
    }
}
