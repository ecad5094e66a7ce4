//! Traces of LeoReplayer, as measured over Starlink (SIGCOMM 2025).
//!
//! Two files: the rate, as delivery opportunities in the format of
//! [`mahimahi`](super::mahimahi), and the delay, a number a line: the one-way
//! propagation delay in milliseconds, with or without a fraction, each for an
//! interval of the same length (10 ms in the published traces).
//!
//! The delay is constant during an interval. Packets keep their order when it falls: the trace does
//! not record the route. Each file begins again after its own end.

use super::{MOST_LINES, TraceError};
use crate::timeline::Piece;
use bentpipe_units::{Duration, Time};

/// The longest delay that is read, ms: a minute.
const LONGEST_MS: f64 = 60_000.0;

/// The delays of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delays {
    /// One for each interval, at least one.
    delays: Vec<Duration>,
    interval: Duration,
}

/// Reads the file of delays, of which each holds for `interval`.
///
/// # Errors
/// With the first line that is wrong.
pub fn read_delays(text: &str, interval: Duration) -> Result<Delays, TraceError> {
    let mut delays = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        if number > MOST_LINES {
            let what = format!("more than {MOST_LINES} lines");
            return Err(TraceError::new(number, what));
        }
        let word = line.trim();
        let plain = word.bytes().all(|b| b.is_ascii_digit() || b == b'.');
        let ms = word.parse::<f64>().ok().filter(|_| plain);
        let Some(ms) = ms.filter(|ms| *ms <= LONGEST_MS) else {
            let shown: String = word.chars().take(40).collect();
            let what = format!("expected a delay in milliseconds, found `{shown}`");
            return Err(TraceError::new(number, what));
        };
        delays.push(Duration::from_secs_f64(ms / 1000.0));
    }
    if delays.is_empty() {
        return Err(TraceError::new(1, "the trace is empty"));
    }
    Ok(Delays { delays, interval })
}

impl Delays {
    /// After what time the delays begin again.
    #[must_use]
    pub fn period(&self) -> Duration {
        self.interval * self.delays.len() as u64
    }

    /// The pieces of a link that is otherwise as `base`: one for each change of
    /// the delay.
    #[must_use]
    pub fn pieces(&self, base: Piece) -> Vec<Piece> {
        let mut pieces: Vec<Piece> = Vec::new();
        for (delay, number) in self.delays.iter().zip(0..) {
            if pieces.last().is_none_or(|p| p.one_way_delay != *delay) {
                pieces.push(Piece {
                    from: Time::ZERO + self.interval * number,
                    one_way_delay: *delay,
                    ..base
                });
            }
        }
        pieces
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timeline::Loss;
    use bentpipe_units::Rate;
    use proptest::prelude::*;

    const INTERVAL: Duration = Duration::from_millis(10);

    fn base() -> Piece {
        Piece {
            from: Time::ZERO,
            rate: Rate::from_mbps(1),
            one_way_delay: Duration::ZERO,
            sloped: false,
            loss: Loss::Channel,
            up: true,
            route: 0,
            jitter: None,
        }
    }

    #[test]
    fn a_piece_begins_with_each_change_of_the_delay() {
        let delays = read_delays("20\n20\n31.25\n20.0\n", INTERVAL).unwrap();
        assert_eq!(delays.period(), Duration::from_millis(40));
        let pieces = delays.pieces(base());
        let seen: Vec<(u64, u64)> = pieces
            .iter()
            .map(|p| {
                (
                    p.from.as_nanos() / 1_000_000,
                    p.one_way_delay.as_nanos() / 1000,
                )
            })
            .collect();
        assert_eq!(seen, [(0, 20_000), (20, 31_250), (30, 20_000)]);
    }

    #[test]
    fn mistakes_are_told_with_their_lines() {
        let wrong = |text: &str| read_delays(text, INTERVAL).unwrap_err().to_string();
        assert_eq!(wrong(""), "line 1: the trace is empty");
        for bad in ["x", "-1", "", "1e3", "inf", "60001", "1 2", "."] {
            let expected = "line 2: expected a delay in milliseconds";
            assert!(
                wrong(&format!("5\n{bad}\n7\n")).starts_with(expected),
                "{bad}"
            );
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "[0-9.a\n \\-]{0,60}") {
            match read_delays(&text, INTERVAL) {
                Ok(delays) => {
                    prop_assert_eq!(delays.delays.len(), text.lines().count());
                    prop_assert!(crate::Timeline::new(delays.pieces(base())).is_ok());
                }
                Err(error) => prop_assert!(error.line <= text.lines().count().max(1)),
            }
        }
    }
}
