//! Properties of every kind of queue.

use super::*;
use crate::testing::Link;
use crate::{
    ChannelSettings, CoDelSettings, Feedback, FqCoDelSettings, Limit, LinkSettings, PieSettings,
    PriorityDropSettings, QueueSettings, RedPreset, RedSettings, XcpHeader, XcpSettings,
};
use bentpipe_units::{Bytes, Rate, Ratio};
use proptest::prelude::*;

/// A packet: gap to the one before in nanoseconds, and what it is.
pub(super) type Step = (u64, PacketMeta);

pub(super) fn any_steps() -> impl Strategy<Value = Vec<Step>> {
    let step = (
        // Half of the packets come in bursts; the mean gap is 2 ms, that of
        // 750 bytes at 3 Mbit/s.
        prop_oneof![Just(0u64), 0u64..8_000_000],
        40u32..1500,
        any::<bool>(),
        any::<bool>(),
    );
    let step = step.prop_map(|(gap, bytes, ecn_capable, low_priority)| {
        let offered = PacketMeta {
            bytes,
            ecn_capable,
            low_priority,
            flow: 0,
        };
        (gap, offered)
    });
    proptest::collection::vec(step, 1..400)
}

pub(super) fn any_queue() -> impl Strategy<Value = QueueSettings> {
    let limit = prop_oneof![
        (1u32..40).prop_map(Limit::Packets),
        (1500u64..40_000).prop_map(|n| Limit::Bytes(Bytes::new(n))),
    ];
    (limit, 0usize..10, any::<bool>()).prop_map(|(limit, kind, ecn)| match kind {
        0 => QueueSettings::drop_tail(limit),
        1..=3 => {
            let preset = RedPreset::ALL[kind - 1].1;
            let mut red = RedSettings::preset(preset, limit).adaptive(preset);
            red.ecn = ecn;
            // Quick enough for a short test.
            red.weight = Some(0.1);
            QueueSettings::Red(red)
        }
        4 => QueueSettings::CoDel(CoDelSettings {
            ecn,
            target: Duration::from_millis(2),
            interval: Duration::from_millis(10),
            ..CoDelSettings::new(limit)
        }),
        5 => QueueSettings::Xcp(XcpSettings {
            p_xcp: ecn,
            ..XcpSettings::new(limit)
        }),
        9 => QueueSettings::Pie(PieSettings {
            ecn,
            // Quick enough for a short test.
            target: Duration::from_millis(1),
            burst: Duration::from_millis(15),
            alpha: 50.0,
            beta: 500.0,
            ..PieSettings::new(limit)
        }),
        6 => QueueSettings::FqCoDel(FqCoDelSettings {
            quantum: Bytes::new(700),
            ..FqCoDelSettings::new(limit)
        }),
        7 => QueueSettings::PriorityDrop(PriorityDropSettings {
            limit,
            low_limit: None,
        }),
        _ => QueueSettings::PriorityDrop(PriorityDropSettings {
            limit,
            low_limit: Some(Limit::Packets(3)),
        }),
    })
}

pub(super) fn settings(queue: QueueSettings, loss: f64) -> LinkSettings {
    LinkSettings {
        channel: ChannelSettings::Uniform {
            packet_error_rate: Ratio::new(loss).unwrap(),
        },
        framing: Bytes::new(10),
        ..LinkSettings::new(Rate::from_mbps(3), Duration::from_millis(7), queue)
    }
}

/// The link of `settings` that decides over nothing in advance.
pub(super) fn event_driven(settings: &LinkSettings) -> Link<usize> {
    Link::build(&LinkPlan {
        precompute: false,
        ..LinkPlan::new(settings, 1, "l")
    })
}

/// Fate of packets 0, 1, ...
#[derive(Debug, Default, PartialEq)]
pub(super) struct Done {
    pub(super) arrived: Vec<(usize, Time)>,
    marked: Vec<usize>,
    pub(super) dropped: Vec<usize>,
    pub(super) lost: Vec<usize>,
    told: Vec<(usize, Feedback)>,
}

impl Done {
    fn tell(&mut self, packet: usize, verdict: Verdict) {
        match verdict {
            Verdict::Accepted | Verdict::Waits => {}
            Verdict::Marked | Verdict::Notified => self.marked.push(packet),
            Verdict::Feedback(feedback) => self.told.push((packet, feedback)),
            Verdict::Stamped(_) => {}
            Verdict::QueueDrop => self.dropped.push(packet),
            Verdict::ChannelLoss | Verdict::OutageLoss => self.lost.push(packet),
        }
    }

    fn sorted(mut self) -> Done {
        // The mark of a lost packet is invisible: a precomputed link does not report it.
        self.marked.retain(|p| !self.lost.contains(p));
        self.marked.sort_unstable();
        self.dropped.sort_unstable();
        self.lost.sort_unstable();
        self
    }
}

/// Offers all steps; looks at the link whenever it asks for it and, if
/// `curious`, every half millisecond.
pub(super) fn drive(link: &mut Link<usize>, steps: &[Step], curious: bool) -> Done {
    let mut done = Done::default();
    let mut at = Time::ZERO;
    let mut looked = Time::ZERO;
    let look = |link: &mut Link<usize>, now: Time, done: &mut Done| {
        while let Some(at) = link.next_event().filter(|at| *at <= now) {
            done.arrived.extend(link.deliver_due(at).map(|p| (p, at)));
            while let Some((packet, verdict)) = link.poll_verdict() {
                done.tell(packet, verdict);
            }
        }
    };
    for (i, (gap, offered)) in steps.iter().enumerate() {
        at += Duration::from_nanos(*gap);
        if curious {
            while looked < at {
                link.advance(looked);
                looked += Duration::from_micros(500);
            }
        }
        // What is due at the same time comes after the offer.
        look(
            link,
            Time::from_nanos(at.as_nanos().saturating_sub(1)),
            &mut done,
        );
        let header = XcpHeader {
            x: 0.001,
            rtt: 0.02,
            request: (offered.bytes * 1000) as f32,
        };
        let verdict = link.offer_xcp(
            at,
            i,
            *offered,
            Some(header).filter(|_| !i.is_multiple_of(3)),
        );
        done.tell(i, verdict);
        while let Some((packet, verdict)) = link.poll_verdict() {
            done.tell(packet, verdict);
        }
    }
    look(link, Time::MAX, &mut done);
    // Nothing asks for a look at what is lost.
    link.advance(Time::MAX);
    while let Some((packet, verdict)) = link.poll_verdict() {
        done.tell(packet, verdict);
    }
    done.sorted()
}

proptest! {
    #[test]
    fn every_packet_is_accounted_for(
        steps in any_steps(), queue in any_queue(), loss in 0.0..0.2f64, stop in 0usize..400,
    ) {
        let settings = settings(queue.clone(), loss);
        let mut link = Link::new(&settings, 1, "l");
        link.record_delays();
        // In the middle of it: offered = delivered + dropped + lost + inside.
        let half = drive_without_waiting(&mut link.clone(), &steps[..stop.min(steps.len())]);
        prop_assert!(half);
        let done = drive(&mut link, &steps, false);
        let ends = done.arrived.len() + done.dropped.len() + done.lost.len();
        prop_assert_eq!(ends, steps.len());
        prop_assert_eq!(link.in_flight(), 0);
        // In order, each once.
        prop_assert!(done.arrived.windows(2).all(|w| w[0].0 < w[1].0 && w[0].1 <= w[1].1));
        let mut all: Vec<usize> = done.arrived.iter().map(|a| a.0).collect();
        all.extend(done.dropped.iter().chain(&done.lost));
        all.sort_unstable();
        prop_assert!(all.into_iter().eq(0..steps.len()));
        // The counters say the same.
        let c = link.counters();
        prop_assert_eq!(c.offered, steps.len() as u64);
        prop_assert_eq!(c.queue_drops, done.dropped.len() as u64);
        prop_assert_eq!(c.channel_losses, done.lost.len() as u64);
        let marked = done.marked.len() as u64;
        prop_assert!(c.marks >= marked && c.marks - marked <= c.channel_losses);
        prop_assert!(c.early_drops <= c.queue_drops);
        prop_assert_eq!(link.delivered(), done.arrived.len() as u64);
        let bytes: u64 = done.arrived.iter().map(|a| u64::from(steps[a.0].1.bytes)).sum();
        prop_assert_eq!(c.accepted_bytes, bytes);
        // A router tells each packet with a header that leaves.
        let told = matches!(queue, QueueSettings::Xcp(_));
        let with_header = |p: &&usize| !p.is_multiple_of(3);
        let left = done.arrived.iter().map(|a| &a.0).chain(&done.lost);
        prop_assert_eq!(done.told.len(), if told { left.filter(with_header).count() } else { 0 });
        // Only the capable are marked.
        prop_assert!(done.marked.iter().all(|&p| steps[p].1.ecn_capable));
        // Never more than the limit waits; in bytes RED admits by what is
        // there before.
        match queue.limit() {
            Limit::Packets(n) => prop_assert!(c.max_packets <= u64::from(n)),
            Limit::Bytes(n) => {
                let over = if matches!(queue, QueueSettings::Red(_)) { 1500 } else { 0 };
                prop_assert!(c.max_bytes <= n.get() + over);
            }
        }
        let end = done.arrived.last().map_or(Time::ZERO, |a| a.1) + Duration::from_secs(1);
        let mean = link.mean_waiting(end);
        prop_assert!(mean <= c.max_packets as f64);
        prop_assert!((0.0..=1.0).contains(&link.utilisation(end)));
    }

    #[test]
    fn an_event_driven_link_does_what_the_precomputed_one_does(
        steps in any_steps(), queue in any_queue(), loss in 0.0..0.2f64,
    ) {
        // With priority drop that is only so without packets of low priority.
        let mut steps = steps;
        let precomputed = match queue {
            QueueSettings::PriorityDrop(PriorityDropSettings { limit, .. }) => {
                steps.iter_mut().for_each(|s| s.1.low_priority = false);
                QueueSettings::drop_tail(limit)
            }
            // And with XCP where nobody hears of the feedback.
            QueueSettings::Xcp(ref xcp) => QueueSettings::drop_tail(xcp.limit),
            QueueSettings::CoDel(_) | QueueSettings::FqCoDel(_) | QueueSettings::Pie(_) => {
                return Ok(());
            }
            ref other => other.clone(),
        };
        let mut one: Link<usize> = Link::new(&settings(precomputed, loss), 1, "l");
        let mut other = event_driven(&settings(queue, loss));
        prop_assert!(!one.is_event_driven() && other.is_event_driven());
        let mut event_driven = drive(&mut other, &steps, false);
        event_driven.told.clear();
        prop_assert_eq!(drive(&mut one, &steps, false), event_driven);
        prop_assert_eq!(one.counters(), other.counters());
        let end = Time::ZERO + Duration::from_secs(10);
        prop_assert_eq!(one.mean_waiting(end), other.mean_waiting(end));
        prop_assert_eq!(one.utilisation(end), other.utilisation(end));
    }

    #[test]
    fn looking_changes_nothing(steps in any_steps(), queue in any_queue(), loss in 0.0..0.2f64) {
        let settings = settings(queue, loss);
        let mut links: [Link<usize>; 2] = std::array::from_fn(|_| event_driven(&settings));
        let [one, other] = &mut links;
        prop_assert_eq!(drive(one, &steps, false), drive(other, &steps, true));
        prop_assert_eq!(one.counters(), other.counters());
    }

    #[test]
    fn the_mean_queue_is_what_is_seen(steps in any_steps(), queue in any_queue()) {
        // The same queue looked at every 20 us, against the waiting times.
        let settings = settings(queue, 0.0);
        let mut link: Link<usize> = Link::new(&settings, 1, "l");
        let mut at = Time::ZERO;
        let mut now = Time::ZERO;
        let (mut seen, mut looks) = (0u64, 0u64);
        for (gap, offered) in &steps {
            at += Duration::from_nanos(*gap);
            while now < at {
                seen += link.waiting(now) as u64;
                looks += 1;
                now += Duration::from_micros(20);
            }
            link.offer(at, 0, *offered);
        }
        if looks > 5000 {
            let (mean, seen) = (link.mean_waiting(at), seen as f64 / looks as f64);
            prop_assert!((mean - seen).abs() < 0.02 * seen.max(1.0), "{mean} {seen}");
        }
    }
}

/// Offers without delivering; true if nothing is missing after each step.
fn drive_without_waiting(link: &mut Link<usize>, steps: &[Step]) -> bool {
    let mut at = Time::ZERO;
    steps.iter().enumerate().all(|(i, (gap, offered))| {
        at += Duration::from_nanos(*gap);
        link.offer(at, i, *offered);
        let c = link.counters();
        c.offered == c.queue_drops + c.channel_losses + link.in_flight() as u64
    })
}
