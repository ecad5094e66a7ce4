//! How long it takes to plan an hour of a Starlink-size shell with a look a
//! second. The bar: under 10 s and 500 MB on one core.

use std::hint::black_box;

use bentpipe_orbit::{Settings, Terminal, plan, preset};
use bentpipe_units::Duration;
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};

/// Ten pairs between these, across continents.
const PLACES: [&str; 11] = [
    "37.9,-122.3",
    "42.3,-71.1",
    "51.5,-0.1",
    "44.4,8.9",
    "35.7,139.7",
    "-33.9,151.2",
    "-23.5,-46.6",
    "19.4,-99.1",
    "28.6,77.2",
    "1.35,103.8",
    "-33.9,18.4",
];

fn starlink_hour(c: &mut Criterion) {
    let preset = preset("starlink").expect("a preset");
    let terminals = PLACES.map(|place| Terminal {
        place: place.parse().expect("a place"),
        mask: preset.mask,
    });
    let settings = Settings {
        duration: Duration::from_secs(3600),
        search: Duration::from_secs(1),
        ..Settings::default()
    };
    let mut group = c.benchmark_group("starlink hour, a look a second");
    group.sample_size(10);
    for count in [1u32, 10] {
        let pairs: Vec<(u32, u32)> = (1..=count).map(|to| (0, to)).collect();
        group.bench_with_input(BenchmarkId::from_parameter(count), &pairs, |b, pairs| {
            b.iter(|| {
                plan(
                    &preset.constellation,
                    black_box(&terminals),
                    pairs,
                    &settings,
                )
            });
        });
    }
    group.finish();
}

criterion_group!(benches, starlink_hour);
criterion_main!(benches);
