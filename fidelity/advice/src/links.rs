//! Links as operators have them, drawn at random.

use bentpipe::compare::{Comparison, Loss, Pep};
use bentpipe::prelude::*;
use bentpipe::scenario::QueueLength;
use bentpipe::units::math;
use bentpipe_random::Stream;

/// A question about a link, and the link in words.
pub(crate) struct Question {
    pub(crate) number: u64,
    pub(crate) text: String,
    pub(crate) comparison: Comparison,
}

/// A number between two others, evenly by its logarithm.
fn between(stream: &mut Stream, [low, high]: [f64; 2]) -> f64 {
    low * math::pow(high / low, stream.uniform())
}

/// Rounded to two digits, as people give numbers.
fn rounded(value: f64) -> f64 {
    let unit = math::pow(10.0, math::floor(math::log10(value)) - 1.0);
    (value / unit).round() * unit
}

/// Link `number`: always the same.
pub(crate) fn question(number: u64) -> Question {
    let stream = &mut Stream::new(number, "advice");
    let kbps = rounded(between(stream, [250.0, 100_000.0]));
    let rate = Rate::from_bps((kbps * 1e3) as u64);
    // Low, medium and geostationary orbits.
    let orbits = [[30.0, 120.0], [120.0, 300.0], [500.0, 700.0]];
    let orbit = orbits[((stream.uniform() * 3.0) as usize).min(2)];
    let rtt = Duration::from_millis(rounded(between(stream, orbit)) as u64);
    let loss = loss(stream);
    let queue = rounded(between(stream, [0.2, 2.0]));
    let users = match stream.chance(0.5) {
        true => 1,
        false => 2 + (stream.uniform() * 14.0) as u32,
    };
    // All downloads together keep the link busy for 2 to 60 s.
    let busy = between(stream, [2.0, 60.0]);
    let kilobytes = (kbps * busy / 8.0 / f64::from(users)).clamp(30.0, 100_000.0);
    let size = Bytes::new((rounded(kilobytes) * 1e3) as u64);
    let narrow = stream.chance(0.2);
    let proxies = stream.chance(0.2);
    let mut comparison = Comparison::new()
        .rate(rate)
        .rtt(rtt)
        .loss(loss)
        .queue(QueueLength::Bdp(queue))
        .users(users)
        .size(size);
    let mut text = format!("{rate}, {rtt}, loss {loss}, queue {queue:.2} BDP, {users} x {size}");
    if narrow {
        comparison = comparison.return_rate(Rate::from_bps((rate.bps() / 20).max(16_000)));
        text += ", 1/20 back";
    }
    if proxies {
        comparison = comparison.peps([Pep::None, Pep::Split]);
        text += ", with and without a proxy";
    }
    Question {
        number,
        text,
        comparison,
    }
}

/// None on two links in five, else up to 3%, half of the time in bursts.
fn loss(stream: &mut Stream) -> Loss {
    if stream.chance(0.4) {
        return Loss::NONE;
    }
    let share = rounded(between(stream, [1e-4, 0.03]));
    let share = Ratio::new(share).unwrap_or(Ratio::ZERO);
    match stream.chance(0.5) {
        true => Loss::independent(share),
        false => Loss::bursts(share, rounded(between(stream, [2.0, 20.0]))),
    }
}
