//! Names for messages: the nearest one, and lists.

pub(crate) use bentpipe_cc::nearest;

/// Names in backticks, as a list for a message: at most eight.
pub(crate) fn list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
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
}
