use super::*;

/// What a flow of 10 Mbit/s shows when it is sampled every `interval`.
fn steady(interval: u64) -> StoredSeries {
    let spacing = interval + 1_200_000;
    let steps: Vec<(u64, u64)> = (0..20).map(|i| (i * spacing, i * spacing / 800)).collect();
    StoredSeries {
        delivered: steps.clone(),
        sent: steps,
        ..StoredSeries::default()
    }
}

#[test]
fn a_rate_is_that_of_the_flow_however_rarely_it_is_sampled() {
    const SECOND: u64 = 1_000_000_000;
    for interval in [SECOND / 10, SECOND, 10 * SECOND] {
        for quantity in [SeriesQuantity::Rate, SeriesQuantity::SentRate] {
            let points = sampled(&steady(interval), quantity, SECOND / 2, 1.0);
            assert!(points.len() > 2);
            for point in points {
                assert!((point.y - 1250.0).abs() < 1.0, "{interval}: {point:?}");
            }
        }
    }
}
