//! Dotted paths such as `link.satellite.rate`, with quotes as in TOML.

/// The keys of a path; why it is not one, otherwise.
pub(crate) fn split(path: &str) -> Result<Vec<String>, String> {
    let mut keys = Vec::new();
    let mut rest = path.trim();
    loop {
        let (key, after) = first_key(rest)?;
        keys.push(key);
        match after.trim_start().strip_prefix('.') {
            Some(next) => rest = next.trim_start(),
            None if after.trim_start().is_empty() => return Ok(keys),
            None => return Err(format!("expected `.` before `{}`", after.trim_start())),
        }
    }
}

/// The first key of a path and what follows it.
fn first_key(text: &str) -> Result<(String, &str), String> {
    if let Some(quote) = text.chars().next().filter(|c| *c == '"' || *c == '\'') {
        let inner = &text[1..];
        let end = inner
            .find(quote)
            .ok_or_else(|| format!("{quote} is not closed"))?;
        return Ok((inner[..end].to_string(), &inner[end + 1..]));
    }
    let end = text.find(['.', '"', '\'', ' ']).unwrap_or(text.len());
    if end == 0 {
        return Err("a key is missing".to_string());
    }
    Ok((text[..end].to_string(), &text[end..]))
}

/// Where the last key of a path starts.
pub(crate) fn last_key(path: &str) -> usize {
    let mut quote = None;
    let mut start = 0;
    for (i, c) in path.char_indices() {
        match quote {
            Some(q) if c == q => quote = None,
            Some(_) => {}
            None if c == '"' || c == '\'' => quote = Some(c),
            None if c == '.' => start = i + 1,
            None => {}
        }
    }
    start
}

/// A key as it is written, quoted where TOML needs it: `satellite`, `"a.b"`.
#[must_use]
pub fn key_text(key: &str) -> String {
    let mut text = String::new();
    push_key(&mut text, key);
    text
}

/// Writes a key, quoted where TOML needs it.
pub(crate) fn push_key(text: &mut String, key: &str) {
    let bare = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if !key.is_empty() && key.chars().all(bare) {
        text.push_str(key);
    } else {
        text.push('"');
        for c in key.chars() {
            push_escaped(text, c);
        }
        text.push('"');
    }
}

/// Writes a character of a TOML string.
pub(crate) fn push_escaped(text: &mut String, c: char) {
    match c {
        '"' => text.push_str("\\\""),
        '\\' => text.push_str("\\\\"),
        '\n' => text.push_str("\\n"),
        '\t' => text.push_str("\\t"),
        c if c.is_control() => text.push_str(&format!("\\u{:04X}", u32::from(c))),
        c => text.push(c),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_bare_and_quoted_keys() {
        assert_eq!(
            split("link.satellite.rate").unwrap(),
            ["link", "satellite", "rate"]
        );
        assert_eq!(
            split("transport.\"westwood+\".mss").unwrap(),
            ["transport", "westwood+", "mss"]
        );
        assert_eq!(split("a . 'b.c'").unwrap(), ["a", "b.c"]);
        assert_eq!(split("transport.westwood+.mss").unwrap()[1], "westwood+");
        for wrong in ["", ".", "a.", ".a", "a..b", "\"a", "\"a\"b", "a b"] {
            assert!(split(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn finds_the_last_key() {
        assert_eq!(last_key("duration"), 0);
        assert_eq!(last_key("link.satellite.rate"), 15);
        assert_eq!(last_key("transport.\"a.b\""), 10);
    }

    #[test]
    fn quotes_a_key_where_needed() {
        let mut text = String::new();
        push_key(&mut text, "mss");
        push_key(&mut text, "westwood+");
        assert_eq!(text, "mss\"westwood+\"");
    }
}
