//! Numbers in running text, and words of a command.

/// `x` with about three digits that count: `0.042`, `3.18`, `47.1`, `1230`.
#[must_use]
pub fn digits3(x: f64) -> String {
    match x.abs() {
        a if !a.is_finite() => "-".to_owned(),
        a if a >= 99.95 => format!("{x:.0}"),
        a if a >= 9.995 => format!("{x:.1}"),
        a if a >= 0.0995 || a == 0.0 => format!("{x:.2}"),
        _ => format!("{x:.3}"),
    }
}

/// `x` seconds as `12.3 s`, `85.0 ms`.
#[must_use]
pub fn seconds(x: f64) -> String {
    if x == 0.0 {
        "0 ms".to_owned()
    } else if x < 1.0 {
        format!("{} ms", digits3(x * 1e3))
    } else {
        format!("{} s", digits3(x))
    }
}

/// A share as a percentage: `1.2%`, `<0.1%`.
#[must_use]
pub fn percent(share: f64) -> String {
    match 100.0 * share {
        0.0 => "0%".to_owned(),
        p if p < 0.05 => "<0.1%".to_owned(),
        p => format!("{p:.1}%"),
    }
}

/// A word of a command as one types it in a POSIX shell: in quotes where it needs them.
#[must_use]
pub fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_=+.,:/%@".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_shell_are_quoted_where_they_must_be() {
        assert_eq!(shell_word("seed=1"), "seed=1");
        assert_eq!(shell_word("2 Mbit/s"), "'2 Mbit/s'");
        assert_eq!(shell_word("it's"), r"'it'\''s'");
        assert_eq!(shell_word(""), "''");
    }

    #[test]
    fn numbers_have_three_digits_that_count() {
        for (x, text) in [
            (0.0, "0.00"),
            (0.0421, "0.042"),
            (0.9999, "1.00"),
            (9.996, "10.0"),
            (47.12, "47.1"),
            (99.96, "100"),
            (1234.5, "1234"),
            (f64::INFINITY, "-"),
        ] {
            assert_eq!(digits3(x), text);
        }
        assert_eq!(seconds(0.085), "85.0 ms");
        assert_eq!(seconds(12.34), "12.3 s");
    }
}
