//! Tests that need what a machine may not have, such as root, a device or a
//! program.

use std::io::Write as _;

/// Set to `all`, it makes a skipped test a failure: for machines that are to
/// have everything.
pub const REQUIRE: &str = "BENTPIPE_REQUIRE";

/// Prints a line on stderr, past the test harness, which hides the output of
/// tests that pass: `test` is skipped because it needs `wants`.
///
/// # Panics
/// If [`REQUIRE`] is `all`.
pub fn skip(test: &str, wants: &str) {
    let line = format!("skipped: {test} needs {wants}");
    let strict = std::env::var_os(REQUIRE).is_some_and(|value| value == "all");
    assert!(!strict, "{line}, and {REQUIRE} is `all`");
    let _ = writeln!(std::io::stderr(), "{line}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skip_is_a_failure_where_everything_is_required() {
        let run = |value: &str| {
            let this = std::env::current_exe().unwrap();
            let mut again = std::process::Command::new(this);
            again.args(["--exact", "tests::skipped", "--ignored"]);
            let ended = again.env(REQUIRE, value).output().unwrap();
            let said = String::from_utf8_lossy(&ended.stderr).into_owned();
            (ended.status.success(), said)
        };
        let (passed, said) = run("");
        assert!(
            passed && said.contains("skipped: this needs that"),
            "{said}"
        );
        assert!(!run("all").0);
    }

    #[test]
    #[ignore = "run by the other test"]
    fn skipped() {
        skip("this", "that");
    }
}
