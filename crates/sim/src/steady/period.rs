//! The shortest period of a sequence.

/// The length of the shortest sequence of which `values` is so many repetitions, at least two and the
/// last perhaps cut short; `None` where there is none. In linear time, by the longest end of every
/// beginning that is also a beginning (Knuth, Morris, Pratt, SIAM J. Comput. 6(2), 1977).
pub(super) fn period<T: PartialEq>(values: &[T]) -> Option<usize> {
    let mut border = vec![0u32; values.len()];
    for i in 1..values.len() {
        let mut length = border[i - 1] as usize;
        while length > 0 && values[i] != values[length] {
            length = border[length - 1] as usize;
        }
        border[i] = (length + usize::from(values[i] == values[length])) as u32;
    }
    let period = values.len() - *border.last()? as usize;
    (2 * period <= values.len()).then_some(period)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn repetitions_are_found() {
        assert_eq!(period(b"abcabcab"), Some(3));
        assert_eq!(period(b"aaaa"), Some(1));
        assert_eq!(period(b"abab"), Some(2));
        // Once, and a part of it again, is no repetition.
        assert_eq!(period(b"abcab"), None);
        assert_eq!(period(b"aab"), None);
        assert_eq!(period(b"a"), None);
        assert_eq!(period(b""), None);
    }

    proptest! {
        #[test]
        fn it_is_the_shortest(
            unit in proptest::collection::vec(0u8..3, 1..8),
            length in 0usize..40,
        ) {
            let values: Vec<u8> = unit.iter().copied().cycle().take(length).collect();
            let repeats = |p: &usize| (*p..length).all(|i| values[i] == values[i - p]);
            let expected = (1..=length / 2).find(repeats);
            prop_assert_eq!(period(&values), expected);
        }
    }
}
