//! Names in messages.

/// `` `a`, `b` and `c` ``.
pub fn quoted<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names = names.into_iter().map(|n| format!("`{n}`"));
    joined(names.collect(), "and", "none")
}

/// `"a", "b" or "c"`.
pub fn alternatives<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names = names.into_iter().map(|n| format!("\"{n}\""));
    joined(names.collect(), "or", "nothing")
}

fn joined(names: Vec<String>, last_by: &str, empty: &str) -> String {
    match names.split_last() {
        None => empty.to_string(),
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} {last_by} {last}", rest.join(", ")),
    }
}

/// Names in backticks, as a list for a message: at most eight.
pub fn list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    const SHOWN: usize = 8;
    let names: Vec<&str> = names.into_iter().collect();
    let mut text: Vec<String> = names.iter().take(SHOWN).map(|n| format!("`{n}`")).collect();
    if names.len() > SHOWN {
        text.push(format!("and {} more", names.len() - SHOWN));
    }
    text.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_cut() {
        assert_eq!(list(["a", "b"]), "`a`, `b`");
        assert!(list(["x"; 12]).ends_with("and 4 more"));
    }

    #[test]
    fn names_are_joined() {
        assert_eq!(quoted(["a", "b", "c"]), "`a`, `b` and `c`");
        assert_eq!(alternatives(["a"]), "\"a\"");
        assert_eq!(quoted([]), "none");
    }
}
