use super::*;

const MS: fn(u64) -> Duration = Duration::from_millis;
const CONDITIONS: Conditions = Conditions {
    share: 0.01,
    rtt: Duration::from_millis(550),
    rate: 2.5e6,
    wait: Duration::from_millis(16),
};

fn packet(of: u8, length: usize) -> Vec<u8> {
    vec![of; length]
}

/// How many packets each group has.
fn sizes(groups: &[Group]) -> Vec<usize> {
    groups.iter().map(|it| it.0.len()).collect()
}

#[test]
fn repairs_are_due_when_nothing_more_comes() {
    let start = Instant::now();
    let mut outgoing = Outgoing::default();
    let due = |outgoing: &Outgoing, idle| Some(outgoing.due(idle, &CONDITIONS)? - start);
    assert_eq!(due(&outgoing, true), None);
    outgoing.sent(start, &packet(1, 100));
    outgoing.sent(start + MS(5), &packet(2, 100));
    assert_eq!(due(&outgoing, true), Some(MS(21)));
    // Data waits: a slow link only has gaps between packets.
    assert_eq!(due(&outgoing, false), Some(MS(280)));
    let groups = outgoing.take(start + MS(21), true, &CONDITIONS);
    assert_eq!(sizes(&groups), [2]);
    assert_eq!(due(&outgoing, true), None);
}

#[test]
fn a_small_stream_that_pauses_while_others_send_has_repairs_of_its_own() {
    let start = Instant::now();
    let mut outgoing = Outgoing::default();
    (0..60).for_each(|at| outgoing.sent(start + MS(at), &packet(at as u8, 100)));
    // 5 kB take 2 ms; its packets leave between 36 and 50 ms.
    outgoing.pause(start + MS(40), 5_000, &CONDITIONS);
    let due = outgoing.due(false, &CONDITIONS);
    assert_eq!(due, Some(start + MS(50)));
    let groups = outgoing.take(start + MS(50), false, &CONDITIONS);
    assert_eq!(sizes(&groups), [24]);
    // The others are covered when they pause.
    assert_eq!(outgoing.recent.len(), 36);
    for at in 60..64 {
        outgoing.pause(start + MS(at), 100_000, &CONDITIONS);
    }
    let due = outgoing.due(false, &CONDITIONS);
    assert_eq!(due, Some(start + MS(111)));
}

#[test]
fn a_pause_that_has_passed_is_none_any_more() {
    let start = Instant::now();
    let mut outgoing = Outgoing::default();
    outgoing.pause(start, 1_000, &CONDITIONS);
    outgoing.pause(start + MS(300), 1_000, &CONDITIONS);
    outgoing.sent(start + MS(301), &packet(1, 100));
    let due = outgoing.due(false, &CONDITIONS).unwrap() - start;
    assert!((MS(308)..MS(309)).contains(&due), "{due:?}");
}

#[test]
fn a_link_that_is_too_fast_for_the_packets_of_a_pause_has_none() {
    let mut outgoing = Outgoing::default();
    let rate = 125e6;
    let conditions = Conditions { rate, ..CONDITIONS };
    outgoing.pause(Instant::now(), 1_000, &conditions);
    assert!(outgoing.paused.is_none());
}

#[test]
fn what_is_older_than_a_round_trip_needs_none() {
    let now = Instant::now();
    let mut outgoing = Outgoing::default();
    outgoing.sent(now, &packet(1, 100));
    outgoing.sent(now + MS(600), &packet(2, 100));
    let groups = outgoing.take(now + MS(617), true, &CONDITIONS);
    assert_eq!(sizes(&groups), [1]);
}

/// Packets of a slow link are further apart than its round trip.
#[test]
fn a_slow_link_has_repairs() {
    let wait = MS(700);
    let conditions = Conditions { wait, ..CONDITIONS };
    let now = Instant::now();
    let mut outgoing = Outgoing::default();
    outgoing.sent(now, &packet(1, 100));
    let groups = outgoing.take(now + wait, true, &conditions);
    assert_eq!(sizes(&groups), [1]);
}

#[test]
fn no_repair_is_longer_than_a_packet() {
    let now = Instant::now();
    for (length, packets) in [(1_452, 96), (1_452, 8), (1_452, 1), (700, 8), (60, 2)] {
        let mut outgoing = Outgoing::default();
        (0..packets).for_each(|of| outgoing.sent(now, &packet(of, length)));
        let groups = outgoing.take(now, true, &CONDITIONS);
        let credit = Credit::default();
        let repairs = groups.iter().map(|it| it.repairs(&CONDITIONS, &credit));
        let repairs: Vec<_> = repairs.flatten().collect();
        assert!(!repairs.is_empty());
        assert!(repairs.iter().all(|it| it.len() <= length.max(1_200)));
        assert!(repairs.iter().all(|it| repair::decode(it).is_some()));
    }
}

#[test]
fn repairs_of_all_take_a_tenth_of_the_link_at_most() {
    let (start, credit) = (Instant::now(), Credit::default());
    let times = (0..1_000).map(|at| start + MS(at * 10));
    let takes = times.filter(|now| credit.take(*now, CONDITIONS.rate, 3_000));
    let bytes = takes.count() as f64 * 3_000.0;
    let most = 36_000.0 + 0.1 * CONDITIONS.rate * 10.0;
    assert!(bytes <= most && bytes > 0.9 * most, "{bytes}");
}
