//! What holds for every rule of access.

use super::drive::{all, at, drain, shared};
use bentpipe_link::medium::MediumSettings;
use bentpipe_link::{Limit, PacketMeta, QueueSettings, Verdict};
use bentpipe_units::{Bytes, Duration, Time};
use proptest::prelude::*;

/// Arrivals of a script of offers, and the packets lost; `looks` are extra
/// looks at the medium.
fn run(
    settings: &MediumSettings,
    offers: &[(u64, u8, u16)],
    looks: &[u64],
) -> (Vec<(Time, usize, u64)>, Vec<u64>) {
    let mut link = shared(settings, 5, 3);
    let (mut arrivals, mut lost) = (Vec::new(), Vec::new());
    let mut now = 0;
    let mut times: Vec<(u64, Option<(u8, u16)>)> = Vec::new();
    for (gap, terminal, bytes) in offers {
        now += gap;
        times.push((now, Some((*terminal, *bytes))));
    }
    times.extend(looks.iter().map(|at| (*at, None)));
    times.sort_by_key(|(at, _)| *at);
    for (n, (us, offer)) in times.into_iter().enumerate() {
        let now = Time::ZERO + Duration::from_micros(us);
        let gone = drain(&mut link, now, |at, t, p| arrivals.push((at, t, p)));
        lost.extend(gone);
        if let Some((terminal, bytes)) = offer {
            let offered = PacketMeta::plain(u32::from(bytes));
            // The offers are numbered without the looks.
            let number = u64::from(terminal) << 32 | us;
            let _ = n;
            let verdict = link.offer(now, usize::from(terminal), number, offered);
            assert_eq!(verdict, Some(Verdict::Waits));
        } else {
            assert_eq!(link.deliver_due(now), None, "drained before");
        }
    }
    let gone = drain(&mut link, Time::MAX, |at, t, p| arrivals.push((at, t, p)));
    lost.extend(gone);
    assert_eq!(link.next_event(), None, "nothing left, nothing to do");
    (arrivals, lost)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn looking_changes_nothing_and_nothing_vanishes(
        offers in proptest::collection::vec((0u64..300_000, 0u8..5, 40u16..1500), 1..60),
        looks in proptest::collection::vec(0u64..10_000_000, 0..60),
    ) {
        for settings in all() {
            let (arrivals, lost) = run(&settings, &offers, &[]);
            let looked = run(&settings, &offers, &looks);
            prop_assert_eq!(&looked, &(arrivals.clone(), lost.clone()));
            prop_assert_eq!(arrivals.len() + lost.len(), offers.len());
            // Each terminal's packets arrive in their order.
            for terminal in 0..5 {
                let own: Vec<u64> = arrivals
                    .iter()
                    .filter(|(_, t, _)| *t == terminal)
                    .map(|(_, _, p)| *p)
                    .collect();
                prop_assert!(own.is_sorted());
            }
            prop_assert!(arrivals.is_sorted_by_key(|(at, ..)| *at));
        }
    }
}

#[test]
fn an_idle_medium_sleeps() {
    for settings in all() {
        let mut link = shared(&settings, 5, 3);
        assert_eq!(link.next_event(), None);
        for hour in 0..3u32 {
            let now = at(3600.0 * f64::from(hour) + 0.0007);
            link.offer(now, 2, u64::from(hour), PacketMeta::plain(250));
            let mut looks = 0;
            while let Some(at) = link.next_event() {
                link.deliver_due(at);
                looks += 1;
            }
            // Less than three seconds of slots of a millisecond.
            assert!(looks < 3000, "{looks} looks: {settings:?}");
        }
    }
}

#[test]
fn a_full_queue_drops() {
    for settings in all() {
        let queue = QueueSettings::drop_tail(Limit::Packets(2));
        let mut link =
            bentpipe_link::medium::SharedLink::new(&settings, &queue, Bytes::ZERO, 5, 1, "uplink");
        let verdicts: Vec<_> = (0..4u64)
            .map(|n| link.offer(at(0.1004), 1, n, PacketMeta::plain(250)))
            .collect();
        let waits = verdicts
            .iter()
            .filter(|v| **v == Some(Verdict::Waits))
            .count();
        // With ALOHA unslotted the first one is sent at once.
        assert!((2..=3).contains(&waits), "{verdicts:?}");
        assert_eq!(verdicts[3], Some(Verdict::QueueDrop));
        let counters = link.link(1).unwrap().counters();
        assert_eq!(counters.queue_drops, 4 - waits as u64);
        assert_eq!(counters.offered, 4);
        let mut arrived = 0;
        drain(&mut link, Time::MAX, |_, terminal, _| {
            assert_eq!(terminal, 1);
            arrived += 1;
        });
        assert_eq!(arrived, waits, "{settings:?}");
    }
}

#[test]
fn a_large_packet_goes_in_pieces() {
    // 1500 bytes are six slots of 250 bytes; with five terminals, a terminal
    // has every fifth.
    let settings = &all()[0];
    let mut link = shared(settings, 5, 1);
    link.offer(at(0.0), 1, 0, PacketMeta::plain(1500));
    let mut arrival = Time::ZERO;
    drain(&mut link, Time::MAX, |at, _, _| arrival = at);
    // Slots 1, 6, 11, 16, 21 of the first frame and 2 of the second.
    let sixth = 24.0 + 2.0 + 1.0;
    assert_eq!(arrival, at((sixth + 250.0) / 1e3));
    assert_eq!(link.access(1).transmissions, 6);
}
