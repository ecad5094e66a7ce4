//! The default labels of a figure's axes: words, and the unit in parentheses.

use crate::study::SeriesQuantity;
use crate::unit::Unit;

/// `transfer_time` as `Transfer time`.
pub(super) fn words(name: &str) -> String {
    let text = name.trim().replace('_', " ");
    let mut letters = text.chars();
    let first = letters.next().map(|c| c.to_uppercase().to_string());
    // An abbreviation such as `cwnd` or `rtt` has no capital of its own, but one as
    // a whole where it is known as that.
    match text.as_str() {
        "rtt" | "ber" | "pep" | "iw" => text.to_uppercase(),
        "cwnd" | "ssthresh" => text,
        _ => first.unwrap_or_default() + letters.as_str(),
    }
}

fn with_unit(text: &str, unit: &str) -> String {
    if unit.is_empty() {
        text.to_owned()
    } else {
        format!("{text} ({unit})")
    }
}

/// The label of what an expression says: words for a name, else the expression as it
/// is written.
pub(super) fn of_value(expression: &str, unit: &str) -> String {
    let name = expression.trim();
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    // A metric of a certain flow or link is that metric.
    let head = name.split_once('(').map_or(name, |(head, _)| head);
    let whole = head.len() == name.len() || name.find(')') == Some(name.len() - 1);
    if !head.is_empty() && whole && head.chars().all(is_name) {
        return with_unit(&words(head), unit);
    }
    with_unit(name, unit)
}

/// The label of an axis of the study.
pub(super) fn of_axis(name: &str, unit: &str) -> String {
    with_unit(&words(name), unit)
}

/// The label of time.
pub(super) fn time() -> String {
    "Time (s)".to_owned()
}

/// The label of a time series, and the factor from its usual unit to `unit`.
pub(super) fn of_series(quantity: SeriesQuantity, unit: Option<&str>) -> (String, f64) {
    let (about, usual) = quantity.label();
    let factor = |unit: &str| {
        let from = Unit::BitRate.factor(usual)?;
        Some(Unit::BitRate.factor(unit)? / from)
    };
    match unit.and_then(|unit| Some((unit, factor(unit)?))) {
        Some((unit, factor)) => (with_unit(&words(about), unit), factor),
        None => (with_unit(&words(about), usual), 1.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_words_with_units() {
        assert_eq!(of_value("transfer_time", "s"), "Transfer time (s)");
        assert_eq!(
            of_value("goodput(flow = down)", "Mbit/s"),
            "Goodput (Mbit/s)"
        );
        assert_eq!(of_value("a(x) - b(x)", "s"), "a(x) - b(x) (s)");
        assert_eq!(of_axis("rtt", "ms"), "RTT (ms)");
        assert_eq!(
            of_series(SeriesQuantity::Rate, Some("Mbit/s")),
            ("Rate of delivery (Mbit/s)".to_owned(), 8e-3)
        );
        assert_eq!(
            of_series(SeriesQuantity::Cwnd, None).0,
            "Congestion window (segments)"
        );
    }
}
