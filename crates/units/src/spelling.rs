//! The nearest name to a misspelt one.

/// The candidate that `name` most likely means: the one with the fewest
/// insertions, deletions, substitutions and swaps of neighbours, case ignored.
/// `None` where even that is too far away.
#[must_use]
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = folded(name);
    // Two letters of three are another word.
    let least = if wanted.len() > 3 { 2 } else { 1 };
    let allowed = (wanted.len() / 3).max(least);
    candidates
        .into_iter()
        .map(|candidate| (distance(&wanted, &folded(candidate)), candidate))
        .filter(|&(distance, candidate)| {
            // Something of the candidate must be left.
            distance <= allowed && distance < candidate.chars().count()
        })
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, candidate)| candidate)
}

/// At most 64 characters, so that a long text costs nothing.
fn folded(name: &str) -> Vec<char> {
    name.chars().flat_map(char::to_lowercase).take(64).collect()
}

/// Damerau-Levenshtein distance (optimal string alignment).
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let substitution = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = substitution.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = last;
        last = row;
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_was_meant() {
        let names = ["newreno", "mtsi", "westwood", "westwood+", "hybla", "cubic"];
        assert_eq!(nearest("mtis", names), Some("mtsi"));
        assert_eq!(nearest("Hybla", names), Some("hybla"));
        assert_eq!(nearest("westwod", names), Some("westwood"));
        assert_eq!(nearest("new-reno", names), Some("newreno"));
        assert_eq!(nearest("quic-bbr", names), None);
        assert_eq!(nearest("pie", ["line", "bar"]), None);
        assert_eq!(nearest("", ["k"]), None);
    }

    #[test]
    fn a_swap_counts_once() {
        let d = |a: &str, b: &str| distance(&folded(a), &folded(b));
        assert_eq!(d("ab", "ba"), 1);
        assert_eq!(d("kitten", "sitting"), 3);
        assert_eq!(d("", "abc"), 3);
    }
}
