//! Horizontal bars made of characters.

/// The characters of a [`bar`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BarStyle {
    /// Blocks, to an eighth of a character.
    #[default]
    Unicode,
    /// `#`, to half a character (`=`), for terminals and logs without Unicode.
    Ascii,
}

const EIGHTHS: [char; 8] = [' ', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/// A bar of `value` on a scale where `max` fills `width` characters.
///
/// Longer values are cut at `width`; a positive value is never invisible; one
/// that is not positive, or not a number, has no bar.
pub fn bar(value: f64, max: f64, width: usize, style: BarStyle) -> String {
    // Also catches what is not a number.
    if !(value > 0.0 && max > 0.0) || width == 0 {
        return String::new();
    }
    let share = if value >= max { 1.0 } else { value / max };
    let (parts, full) = match style {
        BarStyle::Unicode => (8, '█'),
        BarStyle::Ascii => (2, '#'),
    };
    let filled = ((share * (width * parts) as f64).round() as usize).clamp(1, width * parts);
    let mut out: String = std::iter::repeat_n(full, filled / parts).collect();
    match (style, filled % parts) {
        (_, 0) => {}
        (BarStyle::Unicode, rest) => out.push(EIGHTHS[rest]),
        (BarStyle::Ascii, _) => out.push('='),
    }
    out
}

/// Characters of a bar where nothing says otherwise.
pub(super) const WIDTH: usize = 14;

/// A bar of a share of `width` characters; one above 1 ends with `>`.
pub(super) fn with_end(share: f64, width: usize) -> String {
    if share > 1.0 && width > 1 {
        return format!("{}>", bar(1.0, 1.0, width - 1, BarStyle::Unicode));
    }
    bar(share, 1.0, width, BarStyle::Unicode)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_proportional() {
        let unicode = |v| bar(v, 4.0, 4, BarStyle::Unicode);
        assert_eq!(unicode(4.0), "████");
        assert_eq!(unicode(2.5), "██▌");
        assert_eq!(unicode(1e-9), "▏");
        assert_eq!(unicode(99.0), "████");
        let ascii = |v| bar(v, 4.0, 4, BarStyle::Ascii);
        assert_eq!(ascii(2.5), "##=");
        assert_eq!(ascii(0.01), "=");
    }

    #[test]
    fn nonsense_has_no_bar() {
        for (value, max) in [
            (0.0, 1.0),
            (-1.0, 1.0),
            (f64::NAN, 1.0),
            (1.0, 0.0),
            (1.0, f64::NAN),
        ] {
            assert_eq!(bar(value, max, 10, BarStyle::Unicode), "");
        }
        assert_eq!(bar(f64::INFINITY, f64::INFINITY, 2, BarStyle::Ascii), "##");
        assert_eq!(bar(1.0, 1.0, 0, BarStyle::Ascii), "");
    }
}
