//! Numbers as text: coordinates of the drawing and labels of the ticks.

/// Ten to an integer power, correctly rounded.
pub(super) fn pow10(exponent: i32) -> f64 {
    format!("1e{exponent}").parse().unwrap_or(f64::INFINITY)
}

/// The exponent of the first digit of a positive number.
pub(super) fn exponent(value: f64) -> i32 {
    // The decimal text is exact where a logarithm may be one too low.
    let text = format!("{value:e}");
    text.split_once('e')
        .and_then(|(_, e)| e.parse().ok())
        .unwrap_or(0)
}

fn superscript(exponent: i32) -> String {
    let digits = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    exponent
        .to_string()
        .chars()
        .map(|c| match c.to_digit(10) {
            Some(d) => digits[d as usize],
            None => '⁻',
        })
        .collect()
}

/// Groups the digits of a whole part in threes from five digits on, and uses a
/// real minus sign.
fn typeset(plain: &str) -> String {
    let (sign, rest) = match plain.strip_prefix('-') {
        Some(rest) => ("−", rest),
        None => ("", plain),
    };
    let (whole, fraction) = rest.split_once('.').unwrap_or((rest, ""));
    let mut out = String::from(sign);
    for (i, c) in whole.chars().enumerate() {
        if whole.len() > 4 && i > 0 && (whole.len() - i) % 3 == 0 {
            out.push('\u{2009}');
        }
        out.push(c);
    }
    if !fraction.is_empty() {
        out.push('.');
        out.push_str(fraction);
    }
    out
}

/// `mantissa` x 10^`power`, without a mantissa of one.
fn scientific(mantissa: &str, power: i32) -> String {
    match mantissa {
        "1" => format!("10{}", superscript(power)),
        "−1" => format!("−10{}", superscript(power)),
        _ => format!("{mantissa}×10{}", superscript(power)),
    }
}

/// The labels of ticks that are multiples of `step`.
pub(super) fn linear_labels(ticks: &[f64], step: f64) -> Vec<String> {
    let largest = ticks.iter().fold(0.0_f64, |m, t| m.max(t.abs()));
    if largest == 0.0 || !largest.is_finite() {
        return ticks.iter().map(|_| "0".to_owned()).collect();
    }
    let top = exponent(largest);
    let grain = exponent(step);
    if (-3..6).contains(&top) {
        let decimals = usize::try_from(-grain).unwrap_or(0).min(17);
        return ticks
            .iter()
            .map(|t| typeset(&format!("{:.decimals$}", t + 0.0)))
            .collect();
    }
    let decimals = usize::try_from(top - grain).unwrap_or(0).min(17);
    let label = |t: &f64| {
        if t.abs() < step / 2.0 {
            return "0".to_owned();
        }
        // In two steps: 10^-top may be infinite where the quotient is not.
        let mantissa = t / pow10(top / 2) / pow10(top - top / 2);
        scientific(&typeset(&format!("{mantissa:.decimals$}")), top)
    };
    ticks.iter().map(label).collect()
}

/// The label of `digit` x 10^`power` on a logarithmic axis; `plain` writes the
/// number out.
pub(super) fn log_label(digit: u32, power: i32, plain: bool) -> String {
    if !plain {
        return scientific(&digit.to_string(), power);
    }
    let decimals = usize::try_from(-power).unwrap_or(0);
    typeset(&format!("{:.decimals$}", f64::from(digit) * pow10(power)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponents_are_exact_at_powers_of_ten() {
        assert_eq!(exponent(1000.0), 3);
        assert_eq!(exponent(999.999), 2);
        assert_eq!(exponent(1e-7), -7);
        assert_eq!(exponent(5e-324), -324);
    }

    #[test]
    fn linear_labels_share_their_decimals() {
        assert_eq!(linear_labels(&[0.0, 0.5, 1.0], 0.5), ["0.0", "0.5", "1.0"]);
        assert_eq!(linear_labels(&[-20.0, 0.0, 20.0], 20.0), ["−20", "0", "20"]);
        assert_eq!(linear_labels(&[0.0, 5e4], 5e4), ["0", "50\u{2009}000"]);
        assert_eq!(
            linear_labels(&[0.0, 5e5, 1e6], 5e5),
            ["0", "0.5×10⁶", "1.0×10⁶"]
        );
        assert_eq!(
            linear_labels(&[0.0, 1e-4, 2e-4], 1e-4),
            ["0", "10⁻⁴", "2×10⁻⁴"]
        );
        assert_eq!(linear_labels(&[-0.0, 1.0], 1.0), ["0", "1"]);
    }

    #[test]
    fn log_labels() {
        assert_eq!(log_label(1, -7, false), "10⁻⁷");
        assert_eq!(log_label(2, 4, false), "2×10⁴");
        assert_eq!(log_label(5, -2, true), "0.05");
        assert_eq!(log_label(1, 5, true), "100\u{2009}000");
    }
}
