//! RED compared with ns-2.35.
//!
//! Poisson packets into a link of 10 Mbit/s and 10 ms with `limit_ 50`. ns-2 (`Queue/RED`, Debian's
//! 2.35) ran each case five times for 200 s with `ns-random` 1 to 5; below are the means and
//! standard deviations of its runs. Its random numbers are not ours, so the figures agree as those
//! of other seeds do.

use super::*;
use crate::testing::Link;
use crate::{LinkSettings, QueueSettings};
use bentpipe_units::Rate;

/// Mean and standard deviation of ns-2's runs.
type Runs = (f64, f64);

struct Case {
    preset: RedPreset,
    adaptive: bool,
    gentle: bool,
    load_mbps: f64,
    bytes: u32,
    /// Mean of `ave_` over the arrivals, packets or bytes.
    average: Runs,
    /// Packets that wait, mean over time.
    waiting: Runs,
    dropped: Runs,
    max_p: Runs,
}

const CASES: [Case; 10] = [
    // A light load: idle times.
    case(RedPreset::Ns2001, false, 9.0, 1000).gave(
        (3.4356, 0.0607),
        (3.988, 0.061),
        (0.00082, 0.00017),
        (0.1, 0.0),
    ),
    case(RedPreset::Ns2001, false, 12.0, 1000).gave(
        (17.4186, 0.0289),
        (17.517, 0.027),
        (0.16979, 0.00105),
        (0.1, 0.0),
    ),
    case(RedPreset::Ns2001, false, 12.0, 1000).harsh().gave(
        (14.1222, 0.0099),
        (14.232, 0.013),
        (0.17178, 0.00156),
        (0.1, 0.0),
    ),
    case(RedPreset::Ns2001, true, 10.5, 1000).gave(
        (11.4750, 0.0549),
        (11.770, 0.052),
        (0.06611, 0.00170),
        (0.16806, 0.00564),
    ),
    case(RedPreset::Ns2001, true, 12.0, 1000).gave(
        (13.3528, 0.2326),
        (13.470, 0.229),
        (0.17339, 0.00133),
        (0.41535, 0.00589),
    ),
    case(RedPreset::Ns2002, false, 11.0, 1000).gave(
        (19.4820, 0.0772),
        (19.853, 0.083),
        (0.09965, 0.00166),
        (0.1, 0.0),
    ),
    case(RedPreset::Ns2002, true, 11.0, 500).gave(
        (13.9037, 0.0513),
        (14.061, 0.053),
        (0.10377, 0.00087),
        (0.28703, 0.00323),
    ),
    case(RedPreset::Ns235, false, 11.0, 1500).gave(
        (7492.8255, 29.1183),
        (5.479, 0.017),
        (0.12432, 0.00148),
        (0.1, 0.0),
    ),
    case(RedPreset::Ns235, true, 10.5, 1500).gave(
        (6259.4992, 17.1726),
        (4.734, 0.011),
        (0.09647, 0.00237),
        (0.11821, 0.00173),
    ),
    case(RedPreset::Ns235, true, 9.5, 500).gave(
        (4097.5788, 74.0967),
        (8.482, 0.148),
        (0.00089, 0.00032),
        (0.01052, 0.00054),
    ),
];

const fn case(preset: RedPreset, adaptive: bool, load_mbps: f64, bytes: u32) -> Case {
    Case {
        preset,
        adaptive,
        gentle: true,
        load_mbps,
        bytes,
        average: (0.0, 0.0),
        waiting: (0.0, 0.0),
        dropped: (0.0, 0.0),
        max_p: (0.0, 0.0),
    }
}

impl Case {
    const fn harsh(mut self) -> Case {
        self.gentle = false;
        self
    }

    const fn gave(mut self, average: Runs, waiting: Runs, dropped: Runs, max_p: Runs) -> Case {
        self.average = average;
        self.waiting = waiting;
        self.dropped = dropped;
        self.max_p = max_p;
        self
    }

    /// Average, packets waiting, share dropped, `max_p`.
    fn run(&self, seed: u64) -> [f64; 4] {
        let mut red = RedSettings::preset(self.preset, Limit::Packets(50));
        red.gentle = self.gentle;
        if self.adaptive {
            red = red.adaptive(self.preset);
        }
        let settings = LinkSettings::new(
            Rate::from_mbps(10),
            Duration::from_millis(10),
            QueueSettings::Red(red),
        );
        let mut link: Link<()> = Link::new(&settings, seed, "l");
        let mut gaps = Stream::new(seed, &format!("gaps of {}", self.load_mbps));
        let gap = f64::from(self.bytes) * 8.0 / (self.load_mbps * 1e6);
        let end = Time::ZERO + Duration::from_secs(200);
        let (mut now, mut average, mut max_p, mut n) = (Time::ZERO, 0.0, 0.0, 0.0);
        while now < end {
            link.admit(now, PacketMeta::plain(self.bytes));
            let red = link.red().unwrap();
            average += red.average;
            max_p += red.max_p;
            n += 1.0;
            now += Duration::from_secs_f64(gaps.exponential(gap));
        }
        let dropped = link.counters().queue_drops as f64 / n;
        [average / n, link.mean_waiting(now), dropped, max_p / n]
    }
}

#[test]
fn the_figures_are_those_of_ns_2() {
    for (i, case) in CASES.iter().enumerate() {
        let runs = [1, 2].map(|seed| case.run(seed));
        let expected = [case.average, case.waiting, case.dropped, case.max_p];
        for (k, (mean, sd)) in expected.into_iter().enumerate() {
            let got = (runs[0][k] + runs[1][k]) / 2.0;
            // Five samples do not give a standard deviation to rely on.
            let near = 4.0 * sd + 0.005 * mean;
            assert!(
                (got - mean).abs() <= near,
                "case {i}, figure {k}: {got} for {mean}"
            );
        }
    }
}
