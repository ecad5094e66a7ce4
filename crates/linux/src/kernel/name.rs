//! Names that a congestion control may be loaded under.

use super::KernelError;

/// Prefix of all names, so that `bp_hybla` is not mistaken for Linux' `hybla`, and nothing of ours
/// replaces a module of Linux.
pub const PREFIX: &str = "bp_";

/// Room for a name in `struct tcp_congestion_ops`, without its final zero.
pub const LONGEST_NAME: usize = 15;

/// Refuses a name that the kernel, its file system for pins or a reader of
/// `sysctl` could misunderstand.
///
/// # Errors
///
/// [`KernelError::BadName`], with the reason.
pub fn check_name(name: &str) -> Result<(), KernelError> {
    let bad = |reason: String| {
        Err(KernelError::BadName {
            name: name.to_owned(),
            reason,
        })
    };
    let Some(rest) = name.strip_prefix(PREFIX) else {
        return bad(format!(
            "it must begin with `{PREFIX}`, so that it cannot be mistaken for one of Linux's own"
        ));
    };
    if rest.is_empty() {
        return bad(format!("something must follow `{PREFIX}`"));
    }
    if name.len() > LONGEST_NAME {
        return bad(format!(
            "it has {} characters, and the kernel has room for {LONGEST_NAME}",
            name.len()
        ));
    }
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    match name.chars().find(|&c| !fits(c)) {
        Some(c) => bad(format!(
            "`{c}` is none of the letters, digits, `_` and `-` that it may have"
        )),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(name: &str) -> String {
        check_name(name).expect_err(name).to_string()
    }

    #[test]
    fn names_fit_the_kernel_and_are_ours() {
        for name in ["bp_a", "bp_hybla", "bp_hybla-2", "bp_123456789012"] {
            assert!(check_name(name).is_ok(), "{name}");
        }
        assert!(refused("cubic").contains("begin with `bp_`"));
        assert!(refused("hybla").contains("begin with `bp_`"));
        assert!(refused("bp_").contains("must follow"));
        assert!(refused("bp_1234567890123").contains("has 16 characters"));
        assert!(refused("bp_a b").contains("` `"));
        assert!(refused("bp_../x").contains("`.`"));
        assert!(refused("bp_é").contains('é'));
    }
}
