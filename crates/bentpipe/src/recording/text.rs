//! Numbers and lists as text.

use bentpipe_report::text::seconds;
use bentpipe_sim::LossCause;
use bentpipe_units::{Duration, Time};

/// A number of packets or segments: `3.5`, `620`, `12,400`.
pub(super) fn count(x: f64) -> String {
    if !x.is_finite() {
        return "any number of".to_owned();
    }
    if x < 9.95 && (x - x.round()).abs() >= 0.05 {
        return format!("{x:.1}");
    }
    let digits = format!("{:.0}", x.round());
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// `1 segment`, `412 segments`.
pub(super) fn counted(n: u64, one: &str) -> String {
    match n {
        1 => format!("1 {one}"),
        n => format!("{} {one}s", count(n as f64)),
    }
}

/// `a`, `a and b`, `a, b and c`.
pub(super) fn list(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// A point in time.
pub(super) fn at(time: Time) -> String {
    seconds(time.as_secs())
}

/// A length of time.
pub(super) fn lasting(time: Duration) -> String {
    seconds(time.as_secs())
}

/// Where or by what packets are lost.
pub(super) const fn place(cause: LossCause) -> &'static str {
    match cause {
        LossCause::QueueFull => "at the full queue",
        LossCause::Aqm => "by early drops of the queue",
        LossCause::Channel => "to channel errors",
        LossCause::Outage => "in a link outage",
        LossCause::NoRoute => "without a route",
        _ => "elsewhere",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_by_thousands() {
        let of = [0.0, 3.5, 4.0, 9.96, 1240.4, 1_000_000.0].map(count);
        assert_eq!(of, ["0", "3.5", "4", "10", "1,240", "1,000,000"]);
        assert_eq!(counted(1, "segment"), "1 segment");
        assert_eq!(counted(0, "timeout"), "0 timeouts");
        let items = ["a", "b", "c"].map(str::to_owned);
        assert_eq!(list(&items), "a, b and c");
    }
}
