//! The same scenario and seed give the same outcome; looking changes nothing.

use crate::line::{Line, named, sack};
use bentpipe_outcome::Outcome;
use bentpipe_sim::{LossCause, LostPacket, Observer, Options, Simulation, run};
use bentpipe_tcp::{Packet, Recovery};
use bentpipe_traffic::Application;
use bentpipe_units::{Bytes, Duration, Rate, Time};

fn busy() -> Line {
    let mut line = Line {
        loss: 0.01,
        queue: 30,
        ..Line::geo()
    };
    for cc in ["newreno", "mtsi", "westwood+", "hybla", "cubic", "bbr"] {
        line = line.transfer(500_000, named(cc, Recovery::Sack));
    }
    let datagrams = Application::ConstantRate {
        rate: Rate::from_bps(300_000),
        packet_size: Bytes::new(500),
        control: None,
        deadline: None,
    };
    Line {
        duration: Duration::from_secs(120),
        ..line
    }
    .with(datagrams, None)
}

#[test]
fn twice_the_same() {
    let scenario = busy().scenario();
    let options = Options {
        series: Some(Duration::ZERO),
        ..Options::default()
    };
    let runs = [0, 1].map(|_| format!("{:?}", run(&scenario, &options)));
    assert!(runs[0] == runs[1]);
}

#[test]
fn another_seed_is_another_run() {
    let scenario = busy().scenario();
    let one = |seed| {
        run(
            &scenario,
            &Options {
                seed,
                ..Options::default()
            },
        )
        .unwrap()
    };
    assert_ne!(one(1).flows, one(2).flows);
}

/// Sees all that there is to see.
#[derive(Default)]
struct Count {
    packets: u64,
    lost: Vec<LostPacket>,
    timeouts: u64,
    queues: Vec<(Time, u32, u64)>,
}

impl Observer for Count {
    fn sent(&mut self, _: Time, _: u32, _: &Packet) {
        self.packets += 1;
    }
    fn received(&mut self, _: Time, _: u32, _: &Packet) {
        self.packets += 1;
    }
    fn lost(&mut self, loss: &LostPacket) {
        self.lost.push(*loss);
    }
    fn timed_out(&mut self, _: Time, _: u32) {
        self.timeouts += 1;
    }
    fn queue_interval(&self) -> Option<Duration> {
        Some(Duration::from_millis(7))
    }
    fn queue(&mut self, now: Time, link: u32, packets: u64) {
        self.queues.push((now, link, packets));
    }
}

#[test]
fn looking_changes_nothing() {
    let scenario = busy().scenario();
    let blind = run(
        &scenario,
        &Options {
            queueing_delays: false,
            ..Options::default()
        },
    )
    .unwrap();
    let options = Options {
        series: Some(Duration::from_millis(10)),
        ..Options::default()
    };
    let mut count = Count::default();
    let seen = Simulation::new(&scenario, &options)
        .unwrap()
        .run(&mut count)
        .unwrap();
    assert!(count.packets > 10_000);
    assert_eq!(blind.flows, seen.flows);
    assert_eq!(blind.events, seen.events);
    sees_what_is_counted(&count, &seen);
}

/// Losses, timeouts and queues are those of the outcome.
fn sees_what_is_counted(count: &Count, seen: &Outcome) {
    for (index, link) in (0..).zip(&seen.links) {
        let of = |causes: &[LossCause]| {
            let here = count.lost.iter().filter(|l| l.link == Some(index));
            let happened = here.filter(|l| l.at <= seen.ended_at);
            happened.filter(|l| causes.contains(&l.cause)).count() as u64
        };
        let queue = of(&[LossCause::QueueFull, LossCause::Aqm]);
        assert_eq!(queue, link.queue_drops, "{}", link.name);
        assert_eq!(of(&[LossCause::Aqm]), link.early_drops, "{}", link.name);
        assert_eq!(
            of(&[LossCause::Channel]),
            link.channel_losses,
            "{}",
            link.name
        );
        let waiting: Vec<u64> = count
            .queues
            .iter()
            .filter(|(_, of, _)| *of == index)
            .map(|(_, _, packets)| *packets)
            .collect();
        let most = waiting.iter().copied().max().unwrap_or(0);
        assert!(most <= link.max_queue_packets, "{}: {most}", link.name);
        let mean = waiting.iter().sum::<u64>() as f64 / waiting.len() as f64;
        let off = (mean - link.mean_queue_packets).abs();
        assert!(
            off <= 0.5 + 0.05 * mean,
            "{}: {mean} {}",
            link.name,
            link.mean_queue_packets
        );
    }
    let timeouts: u64 = seen.flows.iter().map(|f| f.timeouts).sum();
    assert_eq!(count.timeouts, timeouts);
    let times: Vec<Time> = count.queues.iter().map(|(at, ..)| *at).collect();
    assert!(times.is_sorted());
}

#[test]
fn jitter_moves_the_starts_of_a_lossless_run() {
    let scenario = Line::geo().transfer(100_000, sack()).scenario();
    let start = |seed| {
        let start_jitter = Duration::from_millis(100);
        let options = Options {
            seed,
            start_jitter,
            ..Options::default()
        };
        run(&scenario, &options).unwrap().flows[0].started_at
    };
    assert_ne!(start(1), start(2));
    assert!(start(1) < Time::ZERO + Duration::from_millis(700));
}

#[test]
fn every_packet_is_accounted_for() {
    let outcome = run(&busy().scenario(), &Options::default()).unwrap();
    for link in &outcome.links {
        let gone = link.delivered_packets + link.queue_drops + link.channel_losses;
        // The rest was on the link when the run ended.
        let left = link.offered_packets - gone;
        assert!(left < 200, "{}: {left}", link.name);
    }
    let dropped: u64 = outcome.links.iter().map(|l| l.queue_drops).sum();
    let of_flows: u64 = outcome.flows.iter().map(|f| f.queue_drops).sum();
    assert_eq!(dropped, of_flows);
    assert!(dropped > 0);
    for f in &outcome.flows[..6] {
        assert_eq!(f.delivered, Bytes::new(500_000), "{}", f.name);
        assert_eq!(f.acknowledged, f.delivered);
        assert!(f.retransmissions + 5 >= f.queue_drops + f.channel_losses - f.acks_received / 50);
        let again = f.retransmitted.get();
        assert!(again <= f.sent.get() && (again > 0) == (f.retransmissions > 0));
    }
}
