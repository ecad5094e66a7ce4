//! The typeface of the figures: embedded, so that a figure looks the same on a
//! machine that has no font at all, and measured, so that text never overlaps.

use std::sync::OnceLock;

use ttf_parser::Face;
use unicode_width::UnicodeWidthChar;

/// The family name that figures ask for first.
pub(crate) const FAMILY: &str = "DejaVu Sans";

/// The regular cut, reduced to the characters that figures use.
pub(crate) const REGULAR: &[u8] = include_bytes!("../fonts/DejaVuSans-subset.ttf");

/// The bold cut, reduced to the same characters.
pub(crate) const BOLD: &[u8] = include_bytes!("../fonts/DejaVuSans-Bold-subset.ttf");

/// The two weights that figures use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weight {
    Regular,
    Bold,
}

fn face(weight: Weight) -> Option<&'static Face<'static>> {
    static FACES: OnceLock<[Option<Face<'static>>; 2]> = OnceLock::new();
    let [regular, bold] =
        FACES.get_or_init(|| [Face::parse(REGULAR, 0).ok(), Face::parse(BOLD, 0).ok()]);
    match weight {
        Weight::Regular => regular.as_ref(),
        Weight::Bold => bold.as_ref(),
    }
}

/// The number of the glyph of a character.
pub(crate) fn glyph(c: char, weight: Weight) -> Option<u16> {
    face(weight)?.glyph_index(c).map(|glyph| glyph.0)
}

/// The width of one character at size 1.
fn advance(c: char, weight: Weight) -> f64 {
    let measured = face(weight).and_then(|face| {
        let glyph = face.glyph_index(c)?;
        let units = f64::from(face.units_per_em());
        Some(f64::from(face.glyph_hor_advance(glyph)?) / units)
    });
    // A character that we do not have is drawn by whatever font the reader
    // has: assume the widest letter rather than an average one.
    measured.unwrap_or_else(|| if c.width() == Some(0) { 0.0 } else { 1.0 })
}

/// The width of a text in the unit of `size`.
///
/// The embedded fonts carry no kerning, so the sum of the advances is exact.
pub(crate) fn width(text: &str, size: f64, weight: Weight) -> f64 {
    text.chars().map(|c| advance(c, weight)).sum::<f64>() * size
}

/// Cuts a text to `max`, ending in an ellipsis if something is missing.
pub(crate) fn elide(text: &str, max: f64, size: f64, weight: Weight) -> String {
    if width(text, size, weight) <= max {
        return text.to_owned();
    }
    let room = max - width("…", size, weight);
    let mut kept = String::new();
    let mut used = 0.0;
    for c in text.chars() {
        used += advance(c, weight) * size;
        if used > room {
            break;
        }
        kept.push(c);
    }
    kept.truncate(kept.trim_end().len());
    kept.push('…');
    kept
}

/// Cuts a text to `max` in its middle: names of one family differ at the end.
pub(crate) fn elide_middle(text: &str, max: f64, size: f64, weight: Weight) -> String {
    if width(text, size, weight) <= max {
        return text.to_owned();
    }
    let room = (max - width("…", size, weight)) / 2.0;
    let fits = |used: &mut f64, c: &char| {
        *used += advance(*c, weight) * size;
        *used <= room
    };
    let (mut from_start, mut from_end) = (0.0, 0.0);
    let head: String = text
        .chars()
        .take_while(|c| fits(&mut from_start, c))
        .collect();
    let tail: Vec<char> = text
        .chars()
        .rev()
        .take_while(|c| fits(&mut from_end, c))
        .collect();
    let tail: String = tail.into_iter().rev().collect();
    format!("{}…{}", head.trim_end(), tail.trim_start())
}

/// Breaks a text at spaces into at most `lines` lines no wider than `max`; a
/// word wider than a line is cut, and so is what does not fit on the last line.
pub(crate) fn wrap(text: &str, max: f64, size: f64, weight: Weight, lines: usize) -> Vec<String> {
    let mut done: Vec<String> = Vec::new();
    let mut words = text.split_whitespace().peekable();
    while words.peek().is_some() && done.len() < lines {
        let last = done.len() + 1 == lines;
        let mut line = String::new();
        while let Some(word) = words.peek() {
            let longer = if line.is_empty() {
                (*word).to_owned()
            } else {
                format!("{line} {word}")
            };
            if !line.is_empty() && !last && width(&longer, size, weight) > max {
                break;
            }
            line = longer;
            words.next();
        }
        done.push(elide(&line, max, size, weight));
    }
    done
}

/// [`wrap`] with lines as equal as the number of lines allows: "1 Mbyte" over
/// "500 kbit/s" rather than a lone "kbit/s".
pub(crate) fn balance(
    text: &str,
    max: f64,
    size: f64,
    weight: Weight,
    lines: usize,
) -> Vec<String> {
    let mut best = wrap(text, max, size, weight, lines);
    let wide = |lines: &[String]| {
        lines
            .iter()
            .map(|l| width(l, size, weight))
            .fold(0.0, f64::max)
    };
    if best.len() < 2 {
        return best;
    }
    loop {
        let widest = wide(&best);
        let next = wrap(text, widest - 0.5, size, weight, best.len());
        // Stop where a word would be cut instead of moved.
        if next.len() != best.len() || next.join(" ") != best.join(" ") || wide(&next) >= widest {
            return best;
        }
        best = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_fonts_parse_and_know_our_characters() {
        for weight in [Weight::Regular, Weight::Bold] {
            let face = face(weight).expect("an embedded font");
            for c in "Mbit/s ×10⁻⁷ µ ± − – … ≥ → █▏ €".chars() {
                assert!(face.glyph_index(c).is_some(), "{c:?} is missing");
            }
        }
    }

    #[test]
    fn widths_follow_the_font() {
        // 1303 and 569 units of 2048, as `hmtx` of DejaVu Sans says.
        assert_eq!(width("0", 2048.0, Weight::Regular), 1303.0);
        assert_eq!(width("il", 2048.0, Weight::Regular), 1138.0);
        assert!(width("mm", 12.0, Weight::Bold) > width("mm", 12.0, Weight::Regular));
        assert_eq!(width("漢", 10.0, Weight::Regular), 10.0);
        assert_eq!(
            width("e\u{301}", 10.0, Weight::Regular),
            width("e", 10.0, Weight::Regular)
        );
    }

    #[test]
    fn elided_text_fits() {
        assert_eq!(elide("hybla", 100.0, 12.0, Weight::Regular), "hybla");
        let short = elide("a very long transport name", 60.0, 12.0, Weight::Regular);
        assert!(
            short.ends_with('…') && width(&short, 12.0, Weight::Regular) <= 60.0,
            "{short}"
        );
    }

    #[test]
    fn the_middle_goes_first() {
        let short = elide_middle(
            "Reykjavík – Johannesburg, hour 12",
            90.0,
            11.0,
            Weight::Regular,
        );
        assert!(short.starts_with("Reyk") && short.ends_with("12") && short.contains('…'));
        assert!(width(&short, 11.0, Weight::Regular) <= 90.0);
    }

    #[test]
    fn wrapping_keeps_every_word_while_lines_last() {
        let text = "1 Mbyte 500 kbit/s";
        assert_eq!(
            wrap(text, 70.0, 11.0, Weight::Regular, 3),
            ["1 Mbyte 500", "kbit/s"]
        );
        assert_eq!(
            balance(text, 70.0, 11.0, Weight::Regular, 3),
            ["1 Mbyte", "500 kbit/s"]
        );
        assert_eq!(wrap(text, 500.0, 11.0, Weight::Regular, 3), [text]);
        let cut = wrap(text, 60.0, 11.0, Weight::Regular, 1);
        assert_eq!(cut.len(), 1);
        assert!(cut[0].ends_with('…'));
        assert!(wrap("", 60.0, 11.0, Weight::Regular, 2).is_empty());
    }
}
