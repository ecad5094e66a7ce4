//! Loss processes: which packets a link's channel destroys.

use crate::ChannelSettings;
use bentpipe_random::Stream;
use bentpipe_units::{Ratio, Time};

/// The loss process of one link, with its own random stream.
#[derive(Clone, Debug)]
pub struct Channel {
    process: Process,
    stream: Stream,
}

#[derive(Clone, Debug)]
enum Process {
    Uniform {
        p: f64,
    },
    Bits {
        ln_good: f64,
        cached: [(u32, f64); 2],
    },
    TwoState {
        good_to_bad: f64,
        bad_to_good: f64,
        bad: bool,
    },
    Bursts {
        p: f64,
        /// How fast the past is forgotten, seconds.
        memory: f64,
        bad: bool,
        at: Time,
    },
}

impl Channel {
    /// The channel of the link called `name` in the run with seed `seed`;
    /// `None` if it loses nothing.
    #[must_use]
    pub fn new(settings: &ChannelSettings, seed: u64, name: &str) -> Option<Channel> {
        let mut stream = Stream::new(seed, &format!("channel {name}"));
        let process = match *settings {
            ChannelSettings::Perfect => return None,
            // No draw of theirs would lose anything.
            ChannelSettings::Uniform {
                packet_error_rate: rate,
            }
            | ChannelSettings::BitErrors {
                bit_error_rate: rate,
            } if rate == Ratio::ZERO => return None,
            // It would draw for every packet and lose none.
            ChannelSettings::Uniform { packet_error_rate }
            | ChannelSettings::Bursts {
                packet_error_rate, ..
            } if packet_error_rate.get() <= 0.0 => {
                return None;
            }
            ChannelSettings::Uniform { packet_error_rate } => Process::Uniform {
                p: packet_error_rate.get(),
            },
            ChannelSettings::BitErrors { bit_error_rate } => Process::Bits {
                ln_good: libm::log1p(-bit_error_rate.get()),
                cached: [(0, 0.0); 2],
            },
            ChannelSettings::GilbertElliott {
                packet_error_rate,
                mean_burst,
            } => {
                // p_BG = 1/L; p_GB = p p_BG / (1 - p), so that the stationary
                // share of the bad state is p. Where p_GB would exceed 1, the
                // bursts are longer than L instead: p / (1 - p).
                let p = packet_error_rate.get();
                let bad_to_good = (1.0 / mean_burst.max(1.0)).min((1.0 - p) / p);
                let good_to_bad = (p * bad_to_good / (1.0 - p)).min(1.0);
                Process::TwoState {
                    good_to_bad,
                    bad_to_good,
                    bad: stream.chance(p),
                }
            }
            ChannelSettings::Bursts {
                packet_error_rate,
                mean_burst,
            } => {
                // Bad ends at rate 1/L, good at p / ((1 - p) L): the correlation
                // of the state decays at the sum of both, 1 / ((1 - p) L).
                let p = packet_error_rate.get();
                Process::Bursts {
                    p,
                    memory: (1.0 - p) * mean_burst.as_secs(),
                    bad: stream.chance(p),
                    at: Time::ZERO,
                }
            }
        };
        Some(Channel { process, stream })
    }

    /// Draws the fate of the next packet of `wire_bytes` (framing included),
    /// whose transmission ends at `now`: true if it is lost. To be called once
    /// per packet that is transmitted, in order.
    pub fn loses(&mut self, wire_bytes: u32, now: Time) -> bool {
        match &mut self.process {
            Process::Uniform { p } => self.stream.chance(*p),
            Process::Bits { ln_good, cached } => {
                let p = match cached.iter().find(|(size, _)| *size == wire_bytes) {
                    Some(&(_, p)) => p,
                    None => {
                        let p = packet_error_rate(*ln_good, wire_bytes);
                        cached.swap(0, 1);
                        cached[0] = (wire_bytes, p);
                        p
                    }
                };
                self.stream.chance(p)
            }
            Process::TwoState {
                good_to_bad,
                bad_to_good,
                bad,
            } => {
                let leave = if *bad { *bad_to_good } else { *good_to_bad };
                if self.stream.chance(leave) {
                    *bad = !*bad;
                }
                *bad
            }
            Process::Bursts { p, memory, bad, at } => {
                let passed = now.since(*at).as_secs();
                let kept = match *memory > 0.0 {
                    true => libm::exp(-passed / *memory),
                    false => 0.0,
                };
                let state = f64::from(u8::from(*bad));
                *bad = self.stream.chance(*p + (state - *p) * kept);
                *at = now;
                *bad
            }
        }
    }
}

/// 1 - (1 - BER)^(8 n), from the logarithm of (1 - BER).
pub(crate) fn packet_error_rate(ln_good: f64, bytes: u32) -> f64 {
    -libm::expm1(8.0 * f64::from(bytes) * ln_good)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bentpipe_units::Duration;

    fn ratio(x: f64) -> Ratio {
        Ratio::new(x).unwrap()
    }

    #[test]
    fn bit_errors_become_packet_errors() {
        // n = 1024: 1e-7 8.189e-4, 1e-6 8.159e-3, 1e-5 7.865e-2;
        // n = 1500: 1e-5 .11308, 1e-8 1.2e-4.
        let per = |ber: f64, n| packet_error_rate(libm::log1p(-ber), n);
        for (ber, n, expected) in [
            (1e-7, 1024, 8.189e-4),
            (1e-6, 1024, 8.159e-3),
            (1e-5, 1024, 7.865e-2),
            (1e-5, 128, 1.0188e-2),
            (1e-6, 1500, 0.011_928),
            (1e-5, 1500, 0.11308),
            (1e-8, 1500, 1.2e-4),
        ] {
            let got = per(ber, n);
            assert!(
                (got / expected - 1.0).abs() < 1e-3,
                "{ber} {n}: {got} for {expected}"
            );
        }
    }

    /// Share of packets lost and mean burst length over a million packets.
    fn measure(settings: ChannelSettings) -> (f64, f64) {
        let mut c = Channel::new(&settings, 3, "test").unwrap();
        let (mut lost, mut bursts, mut before) = (0u32, 0u32, false);
        for _ in 0..1_000_000 {
            let l = c.loses(1500, Time::ZERO);
            lost += u32::from(l);
            bursts += u32::from(l && !before);
            before = l;
        }
        (
            f64::from(lost) / 1e6,
            f64::from(lost) / f64::from(bursts.max(1)),
        )
    }

    #[test]
    fn gilbert_elliott_transition_probabilities() {
        for (burst, leave, enter) in [
            (2.0, 0.5, 0.005_050_5),
            (4.0, 0.25, 0.002_525_25),
            (10.0, 0.1, 0.001_010_1),
        ] {
            let settings = ChannelSettings::GilbertElliott {
                packet_error_rate: ratio(0.01),
                mean_burst: burst,
            };
            let Process::TwoState {
                good_to_bad,
                bad_to_good,
                ..
            } = Channel::new(&settings, 1, "test").unwrap().process
            else {
                unreachable!("a Gilbert-Elliott channel has two states")
            };
            assert!((bad_to_good - leave).abs() < 1e-12);
            assert!((good_to_bad - enter).abs() < 1e-8);
        }
    }

    /// 1 in 20 is lost, 8 in a row where packets follow one another, and a
    /// packet that comes later meets another state.
    #[test]
    fn bursts_in_time_end_while_nothing_is_sent() {
        let settings = ChannelSettings::Bursts {
            packet_error_rate: ratio(0.05),
            mean_burst: Duration::from_millis(8),
        };
        let measure = |gap: Duration| {
            let mut c = Channel::new(&settings, 3, "test").unwrap();
            let (mut lost, mut bursts, mut before) = (0u32, 0u32, false);
            for i in 0..400_000_u64 {
                let l = c.loses(1500, Time::ZERO + gap * i);
                lost += u32::from(l);
                bursts += u32::from(l && !before);
                before = l;
            }
            (f64::from(lost) / 4e5, f64::from(lost) / f64::from(bursts))
        };
        let (share, burst) = measure(Duration::from_millis(1));
        assert!((share - 0.05).abs() < 0.003, "{share}");
        assert!((burst - 8.5).abs() < 0.6, "{burst}");
        let (share, burst) = measure(Duration::from_secs(1));
        assert!((share - 0.05).abs() < 0.002, "{share}");
        assert!((burst - 1.05).abs() < 0.02, "{burst}");
    }

    #[test]
    fn frequent_losses_keep_their_rate_and_lengthen_their_bursts() {
        // A rate of p leaves gaps of a packet at least, so bursts of p / (1 - p).
        for (rate, expected) in [(0.9, 9.0), (0.6, 1.5)] {
            let (p, burst) = measure(ChannelSettings::GilbertElliott {
                packet_error_rate: ratio(rate),
                mean_burst: 1.0,
            });
            assert!((p - rate).abs() < 0.003, "{p}");
            assert!((burst / expected - 1.0).abs() < 0.02, "{burst}");
        }
        let settings = ChannelSettings::GilbertElliott {
            packet_error_rate: Ratio::ONE,
            mean_burst: 10.0,
        };
        assert_eq!(measure(settings).0, 1.0);
    }

    #[test]
    fn losses_have_their_rate_and_bursts() {
        let (p, burst) = measure(ChannelSettings::Uniform {
            packet_error_rate: ratio(0.01),
        });
        assert!(
            (p - 0.01).abs() < 0.0005 && (burst - 1.01).abs() < 0.02,
            "{p} {burst}"
        );
        for l in [2.0, 4.0, 10.0] {
            let (p, burst) = measure(ChannelSettings::GilbertElliott {
                packet_error_rate: ratio(0.01),
                mean_burst: l,
            });
            assert!(
                (p - 0.01).abs() < 0.001 && (burst / l - 1.0).abs() < 0.05,
                "{p} {burst}"
            );
        }
        let (p, _) = measure(ChannelSettings::BitErrors {
            bit_error_rate: ratio(1e-6),
        });
        assert!((p - 0.011_928).abs() < 0.0005);
        assert!(Channel::new(&ChannelSettings::Perfect, 3, "test").is_none());
    }
}
