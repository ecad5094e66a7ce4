//! Escaping, shared by SVG and HTML.

/// Appends text, escaped for use between tags and inside a quoted attribute. What XML cannot carry
/// at all becomes U+FFFD; line breaks and tabs become spaces.
pub(crate) fn escape_into(out: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\r' | '\t' => out.push(' '),
            c if c.is_control() || c == '\u{FFFE}' || c == '\u{FFFF}' => out.push('\u{FFFD}'),
            c => out.push(c),
        }
    }
}

/// Text escaped for use between tags and inside a quoted attribute.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    escape_into(&mut out, text);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_becomes_text() {
        assert_eq!(
            escape("<a href=\"x\">R&D's</a>\n"),
            "&lt;a href=&quot;x&quot;&gt;R&amp;D&#39;s&lt;/a&gt; "
        );
        assert_eq!(
            escape("a\u{0}b\u{1b}[1m\u{FFFF}"),
            "a\u{FFFD}b\u{FFFD}[1m\u{FFFD}"
        );
        assert_eq!(escape("µ ≥ 漢"), "µ ≥ 漢");
    }
}
