use super::*;
use bentpipe_link::{Limit, LinkSettings, QueueSettings, Timeline, Way};
use bentpipe_units::Time;

const MS: Duration = Duration::from_millis(1);

fn truth() -> SlotSettings {
    SlotSettings {
        delay: [0, 10, 30, 100].map(|ms| MS * ms).into(),
        stays: Ratio::new(0.4).unwrap(),
        wander: MS * 4,
        interruption: [Duration::ZERO, MS * 100].into(),
        ..SlotSettings::steady()
    }
}

/// Two hours of pings, about four a second, from a full minute on.
fn measured() -> Vec<Ping> {
    let settings = LinkSettings::new(
        Rate::from_mbps(20),
        MS * 25,
        QueueSettings::drop_tail(Limit::Packets(100)),
    );
    let below = Timeline::steady(&settings);
    let length = Duration::from_secs(7200);
    let line = truth().over(&below, (Way::Forth, length), 5, "satellite");
    (0..28_600u64)
        .map(|i| {
            let state = line.at(Time::ZERO + MS * (251 * i));
            // Within a slot from 0 to 18 ms, in no order.
            let more = (i * 7919 % 19) as f64;
            let ms = 2e3 * state.one_way_delay.as_secs() + more;
            Ping {
                at: 1_694_476_800.0 + 0.251 * i as f64,
                ms: state.up.then_some(ms),
            }
        })
        .collect()
}

#[test]
fn what_was_drawn_is_found_again() {
    let found = fit(&measured(), (Duration::from_secs(15), None), [None, None]).unwrap();
    assert_eq!(found.slots.offset, Duration::from_secs(12));
    assert!(found.distance < 0.08, "{}", found.distance);
    let stays = found.slots.stays.get();
    assert!((0.2..=0.6).contains(&stays), "{stays}");
    let floor = found.floor.as_secs() * 1e3;
    assert!((45.0..60.0).contains(&floor), "{floor}");
    let longest = found.slots.interruption[1].as_secs() * 1e3;
    assert!((60.0..140.0).contains(&longest), "{longest}");
    let DelayDistribution::Quantiles { delays } = &found.jitter.distribution else {
        panic!("it is quantiles");
    };
    let median = delays[JITTERS / 2].as_secs() * 1e3;
    assert!((8.0..10.0).contains(&median), "{median}");
    // It is a scenario that is read again.
    let text = found.scenario().unwrap().to_toml().unwrap();
    assert_eq!(
        crate::parse(&text).unwrap().links[0].slots.as_deref(),
        Some(&found.slots)
    );
}

#[test]
fn losses_that_come_together_are_bursts() {
    let lossy = |is_lost: &dyn Fn(usize) -> bool| {
        let mut pings = measured();
        for (i, ping) in pings.iter_mut().enumerate() {
            // The fourth second of a slot, away from its ends.
            let within = (0.251 * i as f64 + 3.0) % 15.0;
            if (4.0..5.0).contains(&within) && is_lost(i) {
                ping.ms = None;
            }
        }
        let slots = (Duration::from_secs(15), Some(Duration::from_secs(12)));
        fit(&pings, slots, [None, None]).unwrap().channel
    };
    assert_eq!(lossy(&|_| false), ChannelSettings::Perfect);
    assert!(matches!(
        lossy(&|i| i % 40 == 0),
        ChannelSettings::Uniform { .. }
    ));
    // Half of the lost ones follow another: exp(-251 ms / L) = 1 / 2.
    let bursts = lossy(&|i| i % 40 < 2);
    let ChannelSettings::Bursts { mean_burst, .. } = bursts else {
        panic!("{bursts:?}");
    };
    let ms = mean_burst.as_secs() * 1e3;
    assert!((250.0..460.0).contains(&ms), "{ms}");
}

#[test]
fn what_is_too_little_is_refused() {
    let few = fit(
        &measured()[..600],
        (Duration::from_secs(15), None),
        [None, None],
    );
    let error = few.unwrap_err();
    assert!(
        error.contains("slots with at least 5 pings; expected at least 20"),
        "{error}"
    );
    let short = fit(&measured(), (MS * 100, None), [None, None]);
    assert_eq!(
        short.unwrap_err(),
        "a slot must last from a second to an hour"
    );
}

#[test]
fn capacity_is_what_nearly_all_seconds_stay_below() {
    let second = |from: u32| Interval {
        from: f64::from(from),
        to: f64::from(from) + 1.0,
        bytes: if from == 0 { 9e9 } else { 1e6 },
    };
    let flow: Vec<Interval> = (0..100).map(second).collect();
    let found = fit(
        &measured(),
        (Duration::from_secs(15), Some(Duration::from_secs(12))),
        [Some(&flow), None],
    );
    let found = found.unwrap();
    assert_eq!(found.rates, [Some(Rate::from_mbps(8)), None]);
    // One of the six times of 15 s has the burst.
    assert_eq!(found.slots.rate[..5], [1.0; 5]);
}

#[test]
fn capacity_varies_from_slot_to_slot() {
    let second = |at: u32| Interval {
        from: f64::from(at),
        to: f64::from(at) + 1.0,
        bytes: if (at / 15).is_multiple_of(2) {
            2e6
        } else {
            5e6
        },
    };
    let slots = (Duration::from_secs(15), Some(Duration::from_secs(12)));
    let of = |length: u32| {
        let flow: Vec<Interval> = (0..length).map(second).collect();
        fit(&measured(), slots, [Some(&flow), None])
            .unwrap()
            .slots
            .rate
    };
    assert_eq!(of(90)[..], [0.4, 0.4, 0.4, 1.0, 1.0, 1.0]);
    // Intervals of iperf3 are not whole, and what is left over at the end is no slot.
    let tenth = |i: u32| {
        let (from, to) = (0.1003 * f64::from(i), 0.1003 * f64::from(i + 1));
        let fast = (from / 15.0) as u32 % 2 == 1;
        let bytes = if fast { 5e5 } else { 2e5 };
        Interval { from, to, bytes }
    };
    let flow: Vec<Interval> = (0..950).map(tenth).collect();
    let rate = fit(&measured(), slots, [Some(&flow), None]).unwrap();
    let rate = rate.slots.rate;
    assert_eq!(rate.len(), 6);
    // A second may lie across a border.
    assert!(rate[2] < 0.5 && rate[3] == 1.0, "{rate:?}");
    // Too few to say.
    assert!(of(60).is_empty());
}

#[test]
fn the_distance_is_that_of_kolmogorov_and_smirnov() {
    let near = |a: &[f64], b: &[f64], d: f64| (kolmogorov_smirnov(a, b) - d).abs() < 1e-12;
    assert!(near(&[1.0, 2.0, 3.0], &[1.0, 2.0, 3.0], 0.0));
    assert!(near(&[1.0, 2.0], &[3.0, 4.0], 1.0));
    assert!(near(&[1.0, 2.0, 3.0, 4.0], &[3.0, 4.0, 5.0, 6.0], 0.5));
}
