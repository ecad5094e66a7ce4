//! Which kernel runs.

/// Its release: `6.18.44`, or empty where that cannot be read.
pub(crate) fn of_this_machine() -> String {
    std::fs::read_to_string("/proc/sys/kernel/osrelease")
        .map(|text| text.trim().to_owned())
        .unwrap_or_default()
}

/// True if `release` is not older than the version `wanted`.
pub(crate) fn at_least(release: &str, wanted: (u32, u32)) -> bool {
    let mut numbers = release
        .split(|c: char| !c.is_ascii_digit())
        .map(|n| n.parse().unwrap_or(0));
    let found = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    found >= wanted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_number() {
        assert!(at_least("6.4.0", (6, 4)));
        assert!(at_least("6.18.5-1-amd64", (6, 4)));
        assert!(at_least("7.0-rc1", (6, 4)));
        assert!(!at_least("6.1.0-49-cloud-amd64", (6, 4)));
        assert!(!at_least("5.15.0", (6, 4)));
        assert!(!at_least("", (6, 4)));
    }
}
