//! How many repair packets protect the tails of what a box of the gateway sends.
//!
//! What is lost in the middle of a stream is found by what follows it. What is lost at its end, or of a
//! request that is one packet, waits for a timer: a round trip and more. A box that has seen losses
//! therefore sends repairs after a pause, a code over the packets since the last ones of which any k of
//! k + r restore all k (maximum distance separable, such as Reed and Solomon's). Here is its arithmetic;
//! nothing here reads a clock or knows of packets.

use std::time::Duration;

/// Packets of one generation at most.
pub const GENERATION: usize = 24;
/// The packets before a pause that are protected, at most.
pub const PROTECTED: usize = 96;
/// Repairs of one generation, at most.
pub const MOST: usize = 4;
/// How likely a generation may still be lost in part.
const FAILS: f64 = 0.003;
/// The share of lost packets from which on a box protects, and the limits of what it reckons with.
const LEAST_SHARE: f64 = 0.001;
const SHARES: (f64, f64) = (0.005, 0.2);
/// Packets after which older ones count half.
const REMEMBERED: f64 = 4000.0;
/// The share is not taken from fewer packets than this.
const LEAST_SENT: f64 = 100.0;
/// A pause, as a part of the smoothed round trip; and its limits.
const PAUSE: u32 = 32;
const PAUSES: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(20));
/// The same in full packets of the rate, which on a slow link are that far apart; and a bound on what
/// they take.
const PAUSE_PACKETS: f64 = 3.0;
const SLOWEST: f64 = 60.0;
/// The part of the link's rate that repairs take at most, and full packets of it that they may take at
/// once.
const BUDGET: f64 = 0.1;
const BURST: f64 = 24.0;

/// The silence after which what was sent is protected, on a link of so many bytes a second with full packets
/// of so many bytes.
#[must_use]
pub fn pause(smoothed_rtt: Duration, rate: f64, packet: u32) -> Duration {
    let packets = PAUSE_PACKETS * f64::from(packet) / rate.max(1.0);
    let packets = Duration::from_secs_f64(packets.min(SLOWEST));
    (smoothed_rtt / PAUSE)
        .clamp(PAUSES.0, PAUSES.1)
        .max(packets)
}

/// Generations of so many packets: packet `i` belongs to generation `i` modulo that.
#[must_use]
pub const fn generations(packets: usize) -> usize {
    packets.div_ceil(GENERATION)
}

/// Repairs of a generation of so many packets where this share of packets is lost: the fewest with which
/// no more than 0.3% of generations lose more than they restore. Where a repair goes in several `parts`,
/// since it is longer than a packet, those of each part must suffice.
#[must_use]
pub fn repairs(packets: usize, parts: usize, share: f64) -> usize {
    let share = share.clamp(SHARES.0, SHARES.1);
    let fails = FAILS / parts as f64;
    let suffices = |repairs: &usize| exceeds(packets + repairs, share, *repairs) <= fails;
    (1..MOST).find(suffices).unwrap_or(MOST)
}

/// How likely more than `most` of `count` are lost, each with probability `share` by itself.
fn exceeds(count: usize, share: f64, most: usize) -> f64 {
    let kept = 1.0 - share;
    let mut exactly = (0..count).fold(1.0, |product, _| product * kept);
    let mut up_to = exactly;
    for lost in 1..=most.min(count) {
        exactly *= (count - lost + 1) as f64 / lost as f64 * (share / kept);
        up_to += exactly;
    }
    1.0 - up_to
}

/// What an association has lost of what it sent.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Losses {
    sent: f64,
    lost: f64,
    /// What the other direction has lost meanwhile.
    other: f64,
}

impl Losses {
    /// So many packets were sent.
    pub fn sent(&mut self, packets: u64) {
        self.sent += packets as f64;
        while self.sent >= REMEMBERED {
            self.sent /= 2.0;
            self.lost /= 2.0;
            self.other /= 2.0;
        }
    }

    /// So many packets were found lost.
    pub fn lost(&mut self, packets: u64) {
        self.lost += packets as f64;
    }

    /// So many packets of the other direction were lost.
    pub fn lost_of_other(&mut self, packets: u64) {
        self.other += packets as f64;
    }

    /// The share that is lost; `None` where that is too little to protect anything. A link that is noisy in
    /// one direction may be in the other, in which requests are too few to show it: there it counts as
    /// one packet.
    #[must_use]
    pub fn share(&self) -> Option<f64> {
        let share = self.lost.max(self.other.min(1.0)) / self.sent.max(LEAST_SENT);
        (share >= LEAST_SHARE).then_some(share)
    }
}

/// What repairs may take of the link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Budget {
    full: f64,
    /// Bytes that they may take now.
    level: f64,
}

impl Budget {
    /// That of a link with full packets of so many bytes.
    #[must_use]
    pub fn new(packet: u32) -> Budget {
        let full = f64::from(packet) * BURST;
        Budget { full, level: full }
    }

    /// So much time has passed, in which the link could have carried so many bytes a second. No more is kept
    /// than a second brings, or two full packets.
    pub fn pass(&mut self, time: Duration, rate: f64) {
        let second = rate * BUDGET;
        let most = second.clamp(2.0 / BURST * self.full, self.full);
        self.level = (self.level + second * time.as_secs_f64()).min(most);
    }

    /// Takes so many bytes, if there are as many.
    pub fn take(&mut self, bytes: u32) -> bool {
        let bytes = f64::from(bytes);
        let takes = bytes <= self.level;
        if takes {
            self.level -= bytes;
        }
        takes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// P[Binomial(k + r, p) > r], by hand: 1 of 2 at 1%: 0.0001; of 9 more than one: 0.0034.
    #[test]
    fn as_many_repairs_as_the_losses_need() {
        let of = |packets| [0.0, 0.01, 0.03, 0.1, 0.5].map(|share| repairs(packets, 1, share));
        assert_eq!(of(1), [1, 1, 1, 2, 3]);
        assert_eq!(of(8), [1, 2, 2, 4, 4]);
        assert_eq!(of(24), [2, 2, 4, 4, 4]);
        assert_eq!(
            [1, 8, 24].map(|packets| repairs(packets, 2, 0.01)),
            [1, 2, 3]
        );
        assert!((exceeds(2, 0.01, 1) - 0.0001).abs() < 1e-12);
        assert!((exceeds(9, 0.01, 1) - 0.003_436).abs() < 1e-6);
    }

    #[test]
    fn a_pause_is_a_part_of_a_round_trip() {
        let ms = Duration::from_millis;
        assert_eq!(
            pause(ms(550), 2.5e6, 1500),
            Duration::from_micros(17_187) + Duration::from_nanos(500)
        );
        let fast = [ms(10), ms(900)].map(|rtt| pause(rtt, 1e9, 1500));
        assert_eq!(fast, [ms(1), ms(20)]);
        // Three packets of 1500 bytes at 64 kbit/s.
        assert_eq!(
            pause(ms(550), 8_000.0, 1500),
            Duration::from_micros(562_500)
        );
        assert_eq!([1, 24, 25, 96].map(generations), [1, 1, 2, 4]);
    }

    #[test]
    fn one_loss_in_a_thousand_is_enough_and_old_ones_are_forgotten() {
        let mut losses = Losses::default();
        losses.sent(2000);
        assert_eq!(losses.share(), None);
        losses.lost(1);
        assert_eq!(losses.share(), None);
        losses.lost(1);
        assert_eq!(losses.share(), Some(0.001));
        losses.lost(38);
        losses.sent(2000);
        assert_eq!(losses.share(), Some(0.01));
        losses.sent(200_000);
        assert_eq!(losses.share(), None);
    }

    #[test]
    fn noise_in_the_other_direction_is_a_reason_for_few_repairs() {
        let mut losses = Losses::default();
        losses.sent(300);
        losses.lost_of_other(50);
        assert_eq!(losses.share(), Some(1.0 / 300.0));
        losses.sent(2_700);
        assert_eq!(losses.share(), None);
        // One lost packet of few is no large share.
        let mut losses = Losses::default();
        losses.sent(5);
        losses.lost(1);
        assert_eq!(losses.share(), Some(0.01));
    }

    #[test]
    fn repairs_take_a_tenth_of_the_link() {
        let mut budget = Budget::new(1500);
        assert!((0..24).all(|_| budget.take(1500)) && !budget.take(1500));
        // 2 Mbit/s for 60 ms: 15 kB, of which a tenth is one packet.
        budget.pass(Duration::from_millis(60), 250_000.0);
        assert!(budget.take(1500) && !budget.take(1));
        budget.pass(Duration::from_secs(3600), 250_000.0);
        assert!(!budget.take(25_001) && budget.take(25_000));
        // A slow link is not busy with repairs for long.
        budget.pass(Duration::from_secs(3600), 8_000.0);
        assert!(!budget.take(3_001) && budget.take(3_000));
    }

    proptest! {
        /// More packets or more losses never need fewer repairs, and what the number promises holds.
        #[test]
        fn repairs_grow_with_what_can_be_lost(packets in 1_usize..=GENERATION, share in 0.0_f64..0.3) {
            let own = repairs(packets, 1, share);
            prop_assert!((1..=MOST).contains(&own));
            prop_assert!(repairs(packets + 1, 1, share) >= own);
            prop_assert!(repairs(packets, 1, share + 0.01) >= own);
            let reckoned = share.clamp(SHARES.0, SHARES.1);
            prop_assert!(own == MOST || exceeds(packets + own, reckoned, own) <= FAILS);
        }
    }
}
