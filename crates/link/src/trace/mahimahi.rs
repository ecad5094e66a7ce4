//! Traces of mahimahi's `mm-link`.
//!
//! One integer a line: a millisecond at which 1500 bytes may leave the queue, a
//! *delivery opportunity*; a number may be repeated. After the last line the
//! file begins again, with its last number as the new time zero.
//!
//! Semantics, those of mahimahi's link queue: an opportunity serves the packets that wait when it
//! comes, as many as its bytes allow, several small ones or a part of a large one, which the next
//! opportunity continues. Unused bytes are wasted. A packet that comes at the very instant of an
//! opportunity is too late for it. A packet leaves the queue when its first byte is served and the
//! link when its last byte is. mahimahi counts 1504 bytes, of which 4 are the header of its tunnel;
//! here they are 1500 at the IP layer, so that small packets are served a little more often than
//! there (32 instead of 30 of 46 bytes).

use super::{MOST_LINES, TraceError, Unwritable};
use crate::timeline::{Opportunities, Timeline, WhenDown};
use bentpipe_units::{Duration, Time};

/// Bytes at the IP layer that an opportunity serves.
pub const BYTES: u32 = 1500;

const MS: u64 = 1_000_000;

/// The longest trace: a year.
const LONGEST_MS: u64 = 366 * 86_400_000;

/// Reads a trace. It repeats unless `wraps` is false.
///
/// # Errors
/// With the first line that is wrong.
pub fn read(text: &str, wraps: bool) -> Result<Opportunities, TraceError> {
    let mut times: Vec<Time> = Vec::new();
    let mut lines = 0;
    for (i, line) in text.lines().enumerate() {
        lines = i + 1;
        if lines > MOST_LINES {
            let what = format!("more than {MOST_LINES} lines");
            return Err(TraceError::new(lines, what));
        }
        let word = line.trim();
        let number = Some(word).filter(|w| w.bytes().all(|b| b.is_ascii_digit()));
        let ms = number.and_then(|w| w.parse::<u64>().ok());
        let Some(ms) = ms.filter(|ms| *ms <= LONGEST_MS) else {
            let shown: String = word.chars().take(40).collect();
            let what = format!("expected a whole number of milliseconds, found `{shown}`");
            return Err(TraceError::new(lines, what));
        };
        let at = Time::from_nanos(ms * MS);
        if let Some(before) = times.last().filter(|before| **before > at) {
            let before = before.as_nanos() / MS;
            let what = format!("{ms} comes before the {before} of the line above");
            return Err(TraceError::new(lines, what));
        }
        times.push(at);
    }
    match times.last() {
        None => Err(TraceError::new(1, "the trace is empty")),
        Some(last) if *last == Time::ZERO => {
            let what = "the last number is zero, so that the trace has no length";
            Err(TraceError::new(lines, what))
        }
        Some(last) => Ok(Opportunities {
            period: wraps.then_some(last.since(Time::ZERO)),
            bytes: BYTES,
            times: times.into(),
            begin: Duration::ZERO,
            passed: 0,
        }),
    }
}

/// The trace of `timeline` from the start for `duration`: an opportunity, in
/// the millisecond that has begun by then, whenever the rate has carried 1500
/// bytes more. Nothing is carried while the link is down. Delay and loss have
/// no place in it: mahimahi has `mm-delay` and `mm-loss` for them. It wraps
/// after its last opportunity.
///
/// # Errors
/// Where nothing is carried, or too much.
pub fn write(timeline: &Timeline, duration: Duration) -> Result<String, Unwritable> {
    let end = Time::ZERO + duration;
    let mut text = String::new();
    let mut lines = 0;
    let mut line = |at: Time| {
        text.push_str(&at.as_nanos().div_ceil(MS).to_string());
        text.push('\n');
        lines += 1;
        if lines > MOST_LINES {
            Err(Unwritable::TooLong)
        } else {
            Ok(())
        }
    };
    if let Some(given) = timeline.opportunities() {
        let mut index = 0;
        while let Some(at) = given.at(index).filter(|at| *at <= end) {
            // What comes at once in the next period belongs to that.
            let periods = index / given.times.len() as u64;
            if given
                .period
                .is_some_and(|p| periods > 0 && p * periods >= duration)
            {
                break;
            }
            line(at)?;
            index += 1;
        }
    } else {
        let timeline = timeline.clone().when_down(WhenDown::Waits);
        timeline.every(BYTES, end, line)?;
    }
    if text.is_empty() || text == "0\n" {
        return Err(Unwritable::Nothing);
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timeline::{Loss, Piece};
    use bentpipe_units::Rate;
    use proptest::prelude::*;

    fn wrong(text: &str) -> String {
        read(text, true).unwrap_err().to_string()
    }

    #[test]
    fn mistakes_are_told_with_their_lines() {
        assert_eq!(wrong(""), "line 1: the trace is empty");
        assert!(wrong("0\n0\n").starts_with("line 2: the last number is zero"));
        assert_eq!(
            wrong("1\n5\n4\n"),
            "line 3: 4 comes before the 5 of the line above"
        );
        for bad in ["x", "-1", "1.5", "+3", "", "99999999999999999999999"] {
            let text = format!("1\n{bad}\n7\n");
            let expected = "line 2: expected a whole number of milliseconds";
            assert!(
                wrong(&text).starts_with(expected),
                "{bad}: {}",
                wrong(&text)
            );
        }
    }

    #[test]
    fn a_rate_becomes_opportunities_and_back() {
        // 12 Mbit/s is one a millisecond; half of that for 4 ms, then nothing.
        let piece = |ms: u64, bps: u64, up| Piece {
            from: Time::from_nanos(ms * MS),
            rate: Rate::from_bps(bps),
            one_way_delay: Duration::ZERO,
            sloped: false,
            loss: Loss::Channel,
            up,
            route: 0,
            jitter: None,
        };
        let line = Timeline::new(vec![
            piece(0, 12_000_000, true),
            piece(3, 6_000_000, true),
            piece(7, 12_000_000, false),
            piece(10, 36_000_000, true),
        ])
        .unwrap();
        let text = write(&line, Duration::from_millis(11)).unwrap();
        assert_eq!(text, "1\n2\n3\n5\n7\n11\n11\n11\n");
        let given = read(&text, true).unwrap();
        let line = line.with_opportunities(given);
        assert_eq!(write(&line, Duration::from_millis(11)).unwrap(), text);
        // It wraps round.
        let twice = write(&line, Duration::from_millis(14)).unwrap();
        assert_eq!(twice, format!("{text}12\n13\n14\n"));
        // Nor is the start of the next period a part of the first.
        let zero = read("0\n5\n", true).unwrap();
        let line = line.with_opportunities(zero);
        assert_eq!(write(&line, Duration::from_millis(5)).unwrap(), "0\n5\n");
        let dark = Timeline::new(vec![piece(0, 0, true)]).unwrap();
        let nothing = write(&dark, Duration::from_secs(1));
        assert_eq!(nothing, Err(Unwritable::Nothing));
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "[0-9a\n \\-]{0,60}", wraps in any::<bool>()) {
            match read(&text, wraps) {
                Ok(given) => prop_assert_eq!(given.times.len(), text.lines().count()),
                Err(error) => prop_assert!(error.line <= text.lines().count().max(1)),
            }
        }
    }
}
