//! The files of `bentpipe cc new`: a congestion control that works, to be changed.

use crate::INTERFACE;

/// Longest name of a control of the kernel's form.
const LONGEST_IN_C: usize = 15;

const MANIFEST: &str = include_str!("../template/Cargo.toml.txt");
const LIB: &str = include_str!("../template/lib.rs");
const README: &str = include_str!("../template/README.md");
const C: &str = include_str!("../template/control.c");

/// A file: its path in the folder of the control, and its text.
pub type File = (String, String);

/// Why there is no control of that name, in words for people; `None` where it is
/// fine. It must also be the name of a crate.
#[must_use]
pub fn complaint(name: &str, in_c: bool) -> Option<String> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_".contains(c);
    let longest = if in_c { LONGEST_IN_C } else { 40 };
    if !name.starts_with(|c: char| c.is_ascii_lowercase()) || !name.chars().all(plain) {
        return Some("expected a small letter, then small letters, digits, `-` and `_`".to_owned());
    }
    if name.len() > longest {
        return Some(format!("expected at most {longest} letters"));
    }
    if matches!(
        name,
        "test" | "core" | "std" | "alloc" | "bentpipe" | "self" | "super" | "crate"
    ) {
        return Some("expected a name that means nothing to Rust".to_owned());
    }
    None
}

/// The files of a Rust crate of that name.
#[must_use]
pub fn rust(name: &str) -> Vec<File> {
    let filled = |text: &str| text.replace("NAME", name).replace("TYPE", &type_name(name));
    vec![
        ("Cargo.toml".to_owned(), filled(MANIFEST)),
        ("README.md".to_owned(), filled(README)),
        (".gitignore".to_owned(), "/target\n".to_owned()),
        ("src/lib.rs".to_owned(), filled(LIB)),
        ("src/bentpipe.rs".to_owned(), INTERFACE.to_owned()),
    ]
}

/// The file of a control in C.
#[must_use]
pub fn c(name: &str) -> File {
    (format!("{name}.c"), C.replace("NAME", name))
}

/// `quick-start` as `QuickStart`.
fn type_name(name: &str) -> String {
    let words = name.split(['-', '_']).filter(|word| !word.is_empty());
    let capital = |word: &str| {
        let (first, rest) = word.split_at(1);
        format!("{}{rest}", first.to_ascii_uppercase())
    };
    words.map(capital).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_crates_and_types() {
        assert_eq!(type_name("quick-start_2"), "QuickStart2");
        for bad in ["", "Mine", "2fast", "a b", "é", "test"] {
            assert!(complaint(bad, false).is_some(), "{bad}");
        }
        assert!(complaint("sixteen-letters-", true).is_some());
        assert!(complaint("sixteen-letters-", false).is_none());
    }
}
