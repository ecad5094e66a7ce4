//! Queue disciplines in whole runs.

use crate::line::{Line, sack};
use bentpipe_link::{
    ChannelSettings, CoDelSettings, FqCoDelSettings, Limit, PriorityDropSettings, QueueSettings,
    RedMode, RedPreset, RedSettings,
};
use bentpipe_outcome::{FlowOutcome, LinkOutcome, Outcome};
use bentpipe_scenario::Scenario;
use bentpipe_sim::{Options, run};
use bentpipe_traffic::Application;
use bentpipe_units::{Bytes, Duration, Rate, Ratio};
use std::sync::Arc;

/// The satellite link of [`Line`].
const SATELLITE: usize = 1;

/// Four persistent flows over 10 Mbit/s and 100 ms with this queue.
fn persistent(queue: QueueSettings, ecn: bool) -> Scenario {
    let mut line = Line {
        rate: Rate::from_mbps(10),
        rtt: Duration::from_millis(100),
        duration: Duration::from_secs(60),
        ..Line::geo()
    };
    for _ in 0..4 {
        let mut transport = sack();
        transport.ecn = ecn;
        line = line.with(Application::Persistent, Some(transport));
    }
    let mut scenario = line.scenario();
    Arc::make_mut(&mut scenario.links[SATELLITE].settings).queue = queue;
    scenario
}

fn outcome(queue: QueueSettings, ecn: bool) -> Outcome {
    run(&persistent(queue, ecn), &Options::default()).unwrap()
}

fn drop_tail(packets: u32) -> QueueSettings {
    QueueSettings::drop_tail(Limit::Packets(packets))
}

fn adaptive_red() -> RedSettings {
    let mut red = RedSettings::preset(RedPreset::Ns2001, Limit::Packets(100));
    red.ecn = true;
    red.adaptive(RedPreset::Ns2001)
}

#[test]
fn adaptive_red_keeps_the_queue_between_its_thresholds() {
    let tail = &outcome(drop_tail(100), false).links[SATELLITE];
    let red = &outcome(QueueSettings::Red(adaptive_red()), false).links[SATELLITE];
    assert!(
        tail.mean_queue_packets > 40.0,
        "{}",
        tail.mean_queue_packets
    );
    assert!(
        (5.0..15.0).contains(&red.mean_queue_packets),
        "{}",
        red.mean_queue_packets
    );
    assert!(red.utilisation > 0.85, "{}", red.utilisation);
    assert_eq!((tail.early_drops, tail.marks, red.marks), (0, 0, 0));
    assert!(red.early_drops > 0 && red.early_drops <= red.queue_drops);
}

#[test]
fn marks_take_the_place_of_early_drops() {
    let outcome = outcome(QueueSettings::Red(adaptive_red()), true);
    let link = &outcome.links[SATELLITE];
    assert!(link.marks > 50, "{}", link.marks);
    // Retransmissions are not ECN-capable (RFC 3168, 6.1.5).
    let early = (link.early_drops, link.marks);
    assert!(early.0 * 10 < early.1, "{early:?}");
    let repeated: u64 = outcome.flows.iter().map(|f| f.retransmissions).sum();
    assert!(repeated < link.marks, "{repeated}");
    assert!(link.utilisation > 0.85, "{}", link.utilisation);
}

#[test]
fn red_in_bytes_spares_small_packets() {
    // ns-2.35 as it comes holds two full packets on average.
    let red = RedSettings::preset(RedPreset::Ns235, Limit::Packets(50));
    assert_eq!(red.mode, RedMode::Bytes);
    let link = &outcome(QueueSettings::Red(red), false).links[SATELLITE];
    assert!(link.max_queue_bytes.get() < 25_000 + 1500);
    assert!(link.mean_queue_packets < 8.0, "{}", link.mean_queue_packets);
}

#[test]
fn the_mean_queue_is_that_of_the_waiting_times() {
    let outcome = outcome(drop_tail(100), false);
    let link = &outcome.links[SATELLITE];
    let transmitted = link.offered_packets - link.queue_drops;
    let waited = link.mean_queueing_delay.as_secs() * transmitted as f64;
    // All but the packets that still waited at the end.
    let mean = waited / outcome.ended_at.as_secs();
    assert!((link.mean_queue_packets - mean).abs() < 0.5, "{mean}");
    assert!(link.mean_queue_packets <= mean + 1e-6);
}

fn codel(ecn: bool) -> QueueSettings {
    QueueSettings::CoDel(CoDelSettings {
        ecn,
        ..CoDelSettings::new(Limit::Packets(1000))
    })
}

#[test]
fn codel_keeps_the_delay_low() {
    let link = &outcome(codel(false), false).links[SATELLITE];
    assert!(link.mean_queueing_delay < Duration::from_millis(20));
    assert!(link.utilisation > 0.85, "{}", link.utilisation);
    assert_eq!(link.early_drops, link.queue_drops);
    assert_eq!(link.marks, 0);
    let marked = &outcome(codel(true), true).links[SATELLITE];
    assert!(marked.marks > 50, "{}", marked.marks);
    assert!(marked.early_drops * 20 < marked.marks);
}

#[test]
fn fq_codel_shares_a_link_with_flows_that_do_not_yield() {
    let fq = QueueSettings::FqCoDel(FqCoDelSettings::new(Limit::Packets(1000)));
    let [tail, fair] = [drop_tail(100), fq.clone()].map(|queue| {
        let mut line = Line {
            rate: Rate::from_mbps(10),
            rtt: Duration::from_millis(100),
            duration: Duration::from_secs(60),
            ..Line::geo()
        };
        let datagrams = Application::ConstantRate {
            rate: Rate::from_mbps(9),
            packet_size: Bytes::new(1500),
            control: None,
            deadline: None,
        };
        line = line.with(datagrams, None);
        for _ in 0..3 {
            line = line.with(Application::Persistent, Some(sack()));
        }
        let mut scenario = line.scenario();
        Arc::make_mut(&mut scenario.links[SATELLITE].settings).queue = queue;
        let outcome = run(&scenario, &Options::default()).unwrap();
        let shares = outcome.flows.iter();
        let shares = shares.map(|f| f.delivered.get() as f64 * 8.0 / 60e6);
        shares.collect::<Vec<f64>>()
    });
    // Served in order of arrival, the TCP flows get what the datagrams do not
    // take. Fair queueing gives each a quarter of 10 Mbit/s, and the datagrams
    // what the TCP flows leave of theirs.
    assert!(tail[1..].iter().sum::<f64>() < 2.0, "{tail:?}");
    assert!(fair[1..].iter().all(|rate| *rate > 2.0), "{fair:?}");
    assert!(fair[0] < 3.5, "{fair:?}");
    // Alone among themselves, TCP flows are delayed by the target.
    let link = &outcome(fq, true).links[SATELLITE];
    assert!(link.mean_queueing_delay < Duration::from_millis(20));
    assert!(link.utilisation > 0.85, "{}", link.utilisation);
    assert!(link.marks > 50, "{}", link.marks);
}

/// [`persistent`] with losses, one file among the flows, and short enough to
/// end in the middle of everything.
fn everything(queue: &QueueSettings) -> Scenario {
    let mut scenario = persistent(queue.clone(), true);
    scenario.duration = Duration::from_millis(7_777);
    let lossy = ChannelSettings::GilbertElliott {
        packet_error_rate: Ratio::new(0.01).unwrap(),
        mean_burst: 3.0,
    };
    for link in &mut scenario.links {
        Arc::make_mut(&mut link.settings).channel = lossy;
    }
    // The way back, too.
    Arc::make_mut(&mut scenario.links[SATELLITE + 1].settings).queue = queue.clone();
    scenario
}

#[test]
fn every_kind_accounts_for_every_packet() {
    let limit = Limit::Packets(30);
    let kinds = [
        drop_tail(30),
        QueueSettings::Red(adaptive_red()),
        codel(true),
        QueueSettings::FqCoDel(FqCoDelSettings::new(limit)),
        QueueSettings::PriorityDrop(PriorityDropSettings {
            limit,
            low_limit: Some(Limit::Packets(10)),
        }),
    ];
    for queue in kinds {
        let outcome = run(&everything(&queue), &Options::default()).unwrap();
        let again = run(&everything(&queue), &Options::default()).unwrap();
        assert_eq!(format!("{outcome:?}"), format!("{again:?}"));
        let total = |of: &dyn Fn(&LinkOutcome) -> u64| outcome.links.iter().map(of).sum::<u64>();
        let flows = |of: &dyn Fn(&FlowOutcome) -> u64| outcome.flows.iter().map(of).sum::<u64>();
        assert_eq!(total(&|l| l.queue_drops), flows(&|f| f.queue_drops));
        assert_eq!(total(&|l| l.channel_losses), flows(&|f| f.channel_losses));
        assert!(total(&|l| l.channel_losses) > 0);
        for link in &outcome.links {
            let gone = link.delivered_packets + link.queue_drops + link.channel_losses;
            let inside = link.offered_packets - gone;
            assert!(inside < 200, "{queue:?} {}: {inside}", link.name);
        }
        // The network without ahead-of-time offers and with priority drop does what drop-tail does:
        // there are no packets of low priority here.
        if let QueueSettings::PriorityDrop(PriorityDropSettings { limit, .. }) = queue {
            let tail = run(
                &everything(&QueueSettings::drop_tail(limit)),
                &Options::default(),
            );
            assert_eq!(outcome.flows, tail.unwrap().flows);
        }
    }
}
