//! Parts of the link for hubs that send into it at the same time.
//!
//! Each hub sends at the rate of the link, and none knows of the others. While connections that are
//! open stay at one hub and new ones go to another, both would fill the link: the queue before it
//! grows, and the one with little to send, which finds that not all of it arrives, gives way to the
//! other. The terminal sees what arrives from each, and tells them what part of the rate is theirs: as
//! much as a hub uses and as much again, up to an equal part, and the rest for the one that uses most.

/// The whole rate, in thousandths.
pub(crate) const WHOLE: u16 = 1000;
/// The least part of a hub that uses some of the link.
const LEAST: u64 = 100;
/// Bytes a second that heartbeats stay below.
const IDLE: u64 = 2_000;

/// The parts of hubs from which so many bytes a second arrive, in thousandths. Those that send nothing
/// are not limited, so that they may begin.
pub(crate) fn split(arrives: &[u64]) -> Vec<u16> {
    let total: u64 = arrives.iter().sum();
    let is_active = |bytes: u64| bytes > IDLE.max(total / 100);
    let active = arrives.iter().filter(|bytes| is_active(**bytes)).count() as u64;
    let mut parts = vec![WHOLE; arrives.len()];
    if active < 2 {
        return parts;
    }
    let equal = u64::from(WHOLE) / active;
    let largest = (0..arrives.len())
        .max_by_key(|&at| arrives[at])
        .unwrap_or(0);
    let mut rest = u64::from(WHOLE);
    for (at, &bytes) in arrives.iter().enumerate() {
        if at == largest || !is_active(bytes) {
            continue;
        }
        let twice = 2 * bytes * u64::from(WHOLE) / total;
        let part = twice.clamp(LEAST.min(equal), equal);
        parts[at] = u16::try_from(part).unwrap_or(WHOLE);
        rest -= part;
    }
    parts[largest] = u16::try_from(rest).unwrap_or(WHOLE);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn one_that_sends_alone_is_not_limited() {
        assert!(split(&[]).is_empty());
        assert_eq!(split(&[0, 0]), [1000, 1000]);
        assert_eq!(split(&[2_500_000, 500]), [1000, 1000]);
        assert_eq!(split(&[1_500, 1_900, 1_000]), [1000, 1000, 1000]);
    }

    #[test]
    fn who_uses_little_may_use_twice_as_much_and_the_rest_is_the_others() {
        assert_eq!(split(&[2_400_000, 100_000]), [900, 100]);
        assert_eq!(split(&[2_000_000, 500_000]), [600, 400]);
        assert_eq!(split(&[1_300_000, 1_200_000]), [500, 500]);
        assert_eq!(split(&[300_000, 2_200_000, 0]), [240, 760, 1000]);
        assert_eq!(split(&[800_000, 800_000, 800_000]), [333, 333, 334]);
    }

    /// Two that want all of the link have half of it each within a few turns.
    #[test]
    fn a_hub_comes_to_its_part_soon() {
        let mut parts = vec![950, 50];
        for _ in 0..4 {
            let arrives: Vec<u64> = parts.iter().map(|&part| 2_500 * u64::from(part)).collect();
            parts = split(&arrives);
        }
        assert_eq!(parts, [500, 500]);
    }

    proptest! {
        /// Those that send never have more than the link together, nor any of them nothing.
        #[test]
        fn the_parts_of_those_that_send_are_the_whole(
            arrives in prop::collection::vec(0..10_000_000u64, 1..9),
        ) {
            let parts = split(&arrives);
            let total: u64 = arrives.iter().sum();
            let active: Vec<u16> = arrives.iter().zip(&parts)
                .filter(|(bytes, _)| **bytes > IDLE.max(total / 100))
                .map(|(_, part)| *part)
                .collect();
            if active.len() > 1 {
                prop_assert_eq!(active.iter().sum::<u16>(), WHOLE);
                prop_assert!(active.iter().all(|&part| part >= 100));
            } else {
                prop_assert!(parts.iter().all(|&part| part == WHOLE));
            }
        }
    }
}
