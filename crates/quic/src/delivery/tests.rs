//! A sender over a link of the model's, on the model's clock.

use super::*;
use crate::clock::start;
use proptest::prelude::*;

const PACKET: u64 = 1_440;
const MBIT: f64 = 125_000.0;
const STEP: Duration = Duration::from_micros(500);

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// A packet in flight.
struct Packet {
    number: u64,
    sent: Instant,
    /// When its acknowledgement arrives, unless it is lost.
    answer: Option<Instant>,
}

/// A link with a queue, and a sender that has always something to send, or `offers` bytes a second.
struct Model {
    estimator: Estimator,
    now: Instant,
    ceiling: f64,
    rtt: Duration,
    /// Bytes a second of the link now, and bytes that its queue has room for.
    rate: f64,
    room: f64,
    loss: f64,
    offers: f64,
    queue: f64,
    credit: f64,
    number: u64,
    flight: VecDeque<Packet>,
    random: u64,
    delivered: f64,
    dropped: u64,
    /// No acknowledgement leaves before that, unless for nine packets.
    next: Instant,
}

impl Model {
    fn new(ceiling: f64, rtt: Duration, seed: u64) -> Model {
        let now = start();
        Model {
            estimator: Estimator::new(now),
            now,
            ceiling,
            rtt,
            rate: ceiling,
            room: ceiling * rtt.as_secs_f64(),
            loss: 0.0,
            offers: f64::INFINITY,
            queue: 0.0,
            credit: 0.0,
            number: 0,
            flight: VecDeque::new(),
            random: seed.wrapping_mul(2) + 1,
            delivered: 0.0,
            dropped: 0,
            next: now,
        }
    }

    fn chance(&mut self) -> f64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Runs for `time`; the least and the greatest pace meanwhile.
    fn run(&mut self, time: Duration) -> (f64, f64) {
        let (mut least, mut most) = (f64::INFINITY, 0.0_f64);
        let end = self.now + time;
        while self.now < end {
            self.now += STEP;
            let seconds = STEP.as_secs_f64();
            let drained = (self.rate * seconds).min(self.queue);
            self.queue -= drained;
            self.delivered += drained;
            self.answer();
            let pace = self.estimator.pace(self.now).unwrap_or(self.ceiling);
            let pace = pace.min(self.ceiling);
            (least, most) = (least.min(pace), most.max(pace));
            self.credit = (self.credit + pace.min(self.offers) * seconds).min(4.0 * PACKET as f64);
            // As the control that knows its rate: twice the product.
            let window = 2.0 * pace * (self.rtt + ms(25)).as_secs_f64() + 4.0 * PACKET as f64;
            while self.credit >= PACKET as f64
                && self.flight.len() as f64 * (PACKET as f64) < window
            {
                self.credit -= PACKET as f64;
                self.send();
            }
        }
        (least, most)
    }

    fn send(&mut self) {
        self.estimator.sent(self.now, PACKET);
        self.number += 1;
        let fits = self.queue + PACKET as f64 <= self.room.max(10.0 * PACKET as f64);
        let survives = self.chance() >= self.loss;
        if fits {
            self.queue += PACKET as f64;
        } else {
            self.dropped += 1;
        }
        let waits = Duration::from_secs_f64(self.queue / self.rate);
        self.flight.push_back(Packet {
            number: self.number,
            sent: self.now,
            answer: (fits && survives).then(|| self.now + waits + self.rtt),
        });
    }

    /// Acknowledges what is due; what three later packets overtook is lost.
    fn answer(&mut self) {
        let due = |packet: &Packet, now| packet.answer.is_some_and(|at| at <= now);
        // Nine packets are acknowledged together, or what there is after 25 ms.
        let count = self.flight.iter().filter(|it| due(it, self.now)).count();
        if count == 0 {
            self.next = self.now + ms(25);
        }
        if count < 9 && self.now < self.next {
            return;
        }
        self.next = self.now + ms(25);
        let newest = self.flight.iter().rev().find(|it| due(it, self.now));
        let Some((newest, sent)) = newest.map(|it| (it.number, it.sent)) else {
            return;
        };
        let mut lost = 0;
        let now = self.now;
        let estimator = &mut self.estimator;
        self.flight.retain(|packet| {
            let arrived = due(packet, now);
            let overtaken = packet.answer.is_none() && packet.number + 3 <= newest;
            if arrived {
                estimator.arrived(packet.sent, PACKET);
            }
            lost += u64::from(overtaken);
            !arrived && !overtaken
        });
        self.estimator.acknowledged(now, sent, self.ceiling);
        if lost > 0 {
            self.estimator.lost(lost * PACKET);
        }
    }

    /// Changes the rate of the link; what waits leaves at the new one.
    fn set_rate(&mut self, rate: f64) {
        let scale = self.rate / rate - 1.0;
        let now = self.now;
        for packet in &mut self.flight {
            if let Some(at) = &mut packet.answer {
                let left = (*at).saturating_duration_since(now + self.rtt);
                *at += left.mul_f64(scale.max(0.0));
                if scale < 0.0 {
                    *at -= left.mul_f64(-scale);
                }
            }
        }
        self.rate = rate;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn random_loss_never_lowers_the_rate(
        loss in 0.0..0.05_f64, rtt in 20..700_u64, mbit in 2.0..50.0_f64, seed: u64
    ) {
        let mut model = Model::new(mbit * MBIT, ms(rtt), seed);
        model.loss = loss;
        let (least, _) = model.run(ms(20_000));
        prop_assert!(least >= 0.99 * model.ceiling, "{} of {}", least, model.ceiling);
    }

    #[test]
    fn a_fade_is_followed_and_the_rate_comes_back(
        loss in 0.0..0.03_f64, rtt in 100..700_u64, factor in 2.0..10.0_f64, seed: u64,
        queue in 0.05..1.0_f64
    ) {
        let full = 20.0 * MBIT;
        let mut model = Model::new(full, ms(rtt), seed);
        model.loss = loss;
        model.room = queue * full * ms(rtt).as_secs_f64();
        model.run(ms(5_000));
        model.set_rate(full / factor);
        // A short round trip shows a queue late: windows are longer than half of it.
        model.run(ms(3 * rtt) + 4 * SHORTEST);
        let rate = model.estimator.limit().unwrap_or(full);
        prop_assert!(rate <= 1.3 * full / factor, "{} of {}", rate, full / factor);
        let before = model.delivered;
        model.run(ms(10_000));
        let share = (model.delivered - before) / (10.0 * full / factor);
        prop_assert!(share >= 0.8, "{}", share);
        model.set_rate(full);
        model.run(ms(8 * rtt) + ms(2_000));
        let pace = model.estimator.pace(model.now).unwrap_or(full);
        prop_assert!(pace >= 0.9 * full, "{} of {}", pace, full);
    }
}

#[test]
fn a_fade_to_a_tenth_is_followed_within_two_round_trips() {
    for (queue, loss) in [(0.05, 0.0), (0.05, 0.02), (1.0, 0.0), (1.0, 0.02)] {
        let full = 20.0 * MBIT;
        let mut model = Model::new(full, ms(550), 1);
        model.loss = loss;
        model.room = queue * full * 0.55;
        model.run(ms(5_000));
        model.set_rate(full / 10.0);
        // The first acknowledgement that shows it comes after one.
        model.run(ms(550 + 2 * 550));
        let pace = model.estimator.pace(model.now).unwrap_or(full);
        assert!(pace <= 0.12 * full, "{pace} with a queue of {queue}");
        model.run(ms(8_350));
        model.set_rate(full);
        model.run(ms(4_000));
        let pace = model.estimator.pace(model.now).unwrap_or(full);
        assert!(pace >= full, "{pace} with a queue of {queue}");
    }
}

#[test]
fn an_outage_and_a_longer_path_do_not_lower_the_rate() {
    let full = 20.0 * MBIT;
    let mut model = Model::new(full, ms(550), 1);
    model.run(ms(5_000));
    // A handover to a path that is 40 ms longer.
    model.rtt = ms(590);
    let (least, _) = model.run(ms(5_000));
    assert!(least >= full, "{least}");
    // Nothing passes for three seconds.
    for packet in &mut model.flight {
        packet.answer = packet.answer.map(|at| at + ms(3_000));
    }
    model.run(ms(3_600));
    let (_, most) = model.run(ms(4_000));
    assert!(most >= full, "{most}");
}

#[test]
fn a_sender_with_little_to_send_is_not_held_to_that() {
    let full = 20.0 * MBIT;
    let mut model = Model::new(full, ms(550), 1);
    model.loss = 0.03;
    for offers in [0.1, 1.0, 5.0, 20.0, 2.0, 20.0] {
        model.offers = offers * MBIT;
        let (least, _) = model.run(ms(3_000));
        assert!(least >= full, "{least} at {offers}");
    }
}
