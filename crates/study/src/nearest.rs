//! The nearest of several names, for `did you mean ...?`.

/// The name of `known` that is nearest to `name`, if it is near enough to be
/// meant: about a third of the letters may differ.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let name: Vec<char> = name.to_lowercase().chars().take(100).collect();
    let allowed = (name.len() / 3).max(1);
    known
        .into_iter()
        .map(|other| {
            let chars: Vec<char> = other.to_lowercase().chars().take(100).collect();
            (distance(&name, &chars), other)
        })
        .filter(|(d, other)| *d <= allowed && !other.is_empty())
        .min_by_key(|(d, _)| *d)
        .map(|(_, other)| other)
}

/// Letters to insert, remove, replace or swap with the next.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let mut best = (above[j] + usize::from(x != y))
                .min(above[j + 1] + 1)
                .min(row[j] + 1);
            if i > 0 && j > 0 && *x == b[j - 1] && a[i - 1] == *y {
                best = best.min(before[j - 1] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut above, row);
    }
    above[b.len()]
}

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
    fn near_names_are_found_and_far_ones_are_not() {
        let known = ["transfer_time", "goodput", "throughput"];
        assert_eq!(nearest("transfer_tiem", known), Some("transfer_time"));
        assert_eq!(nearest("Goodput", known), Some("goodput"));
        assert_eq!(nearest("bandwidth", known), None);
        assert_eq!(nearest("", known), None);
    }

    #[test]
    fn a_list_is_cut() {
        assert_eq!(list(["a", "b"]), "`a`, `b`");
        assert!(list(["x"; 12]).ends_with("and 4 more"));
    }
}
