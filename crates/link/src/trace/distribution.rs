//! Distributions of delays in files.
//!
//! Delays as somebody measured them, one a line, or a table of netem.

use super::TraceError;
use bentpipe_units::Duration;
use std::sync::Arc;

/// Reads the delays of a file, one a line in milliseconds, into equally spaced
/// quantiles: at most [`MOST_VALUES`] of them.
///
/// # Errors
/// With the first line that is wrong.
pub fn read_delays(text: &str) -> Result<Arc<[Duration]>, TraceError> {
    let mut delays = Vec::new();
    for (number, line) in numbered(text) {
        match line.parse::<f64>() {
            Ok(ms) if (0.0..=LONGEST_MS).contains(&ms) => {
                delays.push(Duration::from_secs_f64(ms / 1e3));
            }
            _ => {
                let shown: String = line.chars().take(40).collect();
                let what = format!(
                    "expected a delay in milliseconds, from 0 to {LONGEST_MS:.0}, found `{shown}`"
                );
                return Err(TraceError::new(number, what));
            }
        }
    }
    delays.sort_unstable();
    enough(text, delays.len())?;
    Ok(thinned(&delays, |a, b, part| *a + (*b - *a).scaled(part)))
}

/// Reads a table of netem (`/usr/lib/tc/*.dist`): whole numbers in units of 1/8192 of
/// the deviation, ascending, with lines that begin with `#` as comments.
///
/// # Errors
/// With the first line that is wrong.
pub fn read_netem(text: &str) -> Result<Arc<[f64]>, TraceError> {
    let mut values: Vec<f64> = Vec::new();
    for (number, line) in numbered(text) {
        for word in line.split_ascii_whitespace() {
            let value = word.parse::<i16>().map(f64::from).map_err(|_| {
                let shown: String = word.chars().take(40).collect();
                let what = format!("expected whole numbers from -32768 to 32767, found `{shown}`");
                TraceError::new(number, what)
            })?;
            values.push(value / 8192.0);
        }
    }
    values.sort_unstable_by(f64::total_cmp);
    enough(text, values.len())?;
    Ok(thinned(&values, |a, b, part| a + (b - a) * part))
}

/// Values of a distribution, at most: as many as netem reads.
pub const MOST_VALUES: usize = 16_384;

/// The longest delay of a file: a minute.
const LONGEST_MS: f64 = 60_000.0;

/// The lines that are neither empty nor comments, with their numbers.
fn numbered(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = (1..).zip(text.lines().map(str::trim));
    lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
}

fn enough(text: &str, values: usize) -> Result<(), TraceError> {
    match values {
        0 | 1 => {
            let last = text.lines().count().max(1);
            let what = format!("expected at least two values, found {values}");
            Err(TraceError::new(last, what))
        }
        _ => Ok(()),
    }
}

/// As many of ascending values as are kept, at equal distances.
fn thinned<T: Copy>(values: &[T], between: impl Fn(&T, &T, f64) -> T) -> Arc<[T]> {
    if values.len() <= MOST_VALUES {
        return values.into();
    }
    let last = values.len() - 1;
    let at = |i: usize| {
        let place = i as f64 * last as f64 / (MOST_VALUES - 1) as f64;
        let below = (place as usize).min(last - 1);
        between(&values[below], &values[below + 1], place - below as f64)
    };
    (0..MOST_VALUES).map(at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn files_are_sorted_and_errors_name_their_line() {
        let delays = read_delays("# ms\n3\n1.5\n\n20\n").unwrap();
        assert_eq!(&delays[..], [MS.scaled(1.5), MS * 3, MS * 20]);
        let many: String = (0..100_000)
            .rev()
            .map(|i| format!("{}\n", f64::from(i) / 1e3))
            .collect();
        let delays = read_delays(&many).unwrap();
        assert_eq!(delays.len(), MOST_VALUES);
        assert_eq!(
            (delays[0], delays[MOST_VALUES - 1]),
            (Duration::ZERO, Duration::from_micros(99_999))
        );
        let values = read_netem("# mean 0\n -8192 0\n 8192 16384\n").unwrap();
        assert_eq!(&values[..], [-1.0, 0.0, 1.0, 2.0]);
        let error = |text: &str| read_delays(text).unwrap_err().to_string();
        assert_eq!(
            error("1\n-2\n"),
            "line 2: expected a delay in milliseconds, from 0 to 60000, found `-2`"
        );
        assert_eq!(error("1\nnan\n").split(':').next(), Some("line 2"));
        assert_eq!(
            error("1\n"),
            "line 1: expected at least two values, found 1"
        );
        assert_eq!(
            read_netem("1 2\n3 four").unwrap_err().to_string(),
            "line 2: expected whole numbers from -32768 to 32767, found `four`"
        );
    }

    proptest! {
        /// No text makes the readers panic, and what they read ascends.
        #[test]
        fn any_text_is_read_or_refused(text in "[-0-9. #en\n]{0,80}") {
            if let Ok(delays) = read_delays(&text) {
                prop_assert!(delays.windows(2).all(|w| w[0] <= w[1]));
            }
            if let Ok(values) = read_netem(&text) {
                prop_assert!(values.windows(2).all(|w| w[0] <= w[1]));
            }
        }
    }
}
