//! Names and passwords of clients of the SOCKS and CONNECT listeners.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::digest::{SHA256, digest};
use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};

/// Longest name or password, as in RFC 1929.
const LONGEST: usize = 255;

/// Names, each with its password.
#[derive(Clone, Default)]
pub struct Users {
    /// Digests, so that no comparison takes the longer the more is right, and no
    /// password lies in memory.
    digests: HashMap<Vec<u8>, [u8; 32]>,
}

impl fmt::Debug for Users {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Users({})", self.digests.len())
    }
}

/// Why a file of users cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum UsersError {
    /// It cannot be read.
    #[error("{path}: {error}")]
    Read {
        /// Path of the file.
        path: PathBuf,
        /// Error of the system.
        error: std::io::Error,
    },
    /// A line has no colon, or its name or password is empty or too long.
    #[error("{path}:{line}: expected `name:password`, each of 1 to 255 bytes")]
    Line {
        /// Path of the file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
    },
    /// No user could use the listener.
    #[error("{path}: no users; expected a line `name:password` for each")]
    Empty {
        /// Path of the file.
        path: PathBuf,
    },
}

impl Users {
    /// Reads a file with a line `name:password` for each user. Empty lines and those that begin
    /// with `#` are ignored.
    ///
    /// # Errors
    /// Where it cannot be read, or a line is no user.
    pub fn read(path: &Path) -> Result<Users, UsersError> {
        let text = std::fs::read_to_string(path).map_err(|error| UsersError::Read {
            path: path.into(),
            error,
        })?;
        Users::parse(&text).map_err(|line| match line {
            Some(line) => UsersError::Line {
                path: path.into(),
                line,
            },
            None => UsersError::Empty { path: path.into() },
        })
    }

    /// The users of a text; the number of its first wrong line otherwise, or
    /// `None` where it has no user.
    fn parse(text: &str) -> Result<Users, Option<usize>> {
        let mut users = Users::default();
        for (index, line) in text.lines().enumerate() {
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            let (name, password) = line.split_once(':').ok_or(Some(index + 1))?;
            let good = |text: &str| (1..=LONGEST).contains(&text.len());
            if !good(name) || !good(password) {
                return Err(Some(index + 1));
            }
            let digest = secret(name.as_bytes(), password.as_bytes());
            users.digests.insert(name.into(), digest);
        }
        if users.digests.is_empty() {
            return Err(None);
        }
        Ok(users)
    }

    /// True if there is such a user with this password.
    #[must_use]
    pub fn admit(&self, name: &[u8], password: &[u8]) -> bool {
        // An unknown name also costs a digest, so that timing does not reveal which names exist.
        let given = secret(name, password);
        self.digests.get(name) == Some(&given)
    }

    /// True for the credentials of HTTP's Basic authentication (RFC 7617): a name,
    /// a colon and a password in base64.
    #[must_use]
    pub fn admit_basic(&self, header: &[u8]) -> bool {
        let Some((scheme, token)) = std::str::from_utf8(header)
            .ok()
            .and_then(|text| text.trim().split_once(' '))
        else {
            return false;
        };
        let decoded = STANDARD.decode(token.trim()).ok();
        let Some(decoded) = decoded.filter(|_| scheme.eq_ignore_ascii_case("basic")) else {
            return false;
        };
        let Some(colon) = decoded.iter().position(|b| *b == b':') else {
            return false;
        };
        self.admit(&decoded[..colon], &decoded[colon + 1..])
    }
}

/// The digest of a name and its password.
fn secret(name: &[u8], password: &[u8]) -> [u8; 32] {
    let mut both = Vec::with_capacity(name.len() + password.len() + 1);
    both.extend_from_slice(name);
    // No name has a colon.
    both.push(b':');
    both.extend_from_slice(password);
    let mut found = [0; 32];
    found.copy_from_slice(digest(&SHA256, &both).as_ref());
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_are_known_by_both_name_and_password() {
        let users = Users::parse("# the crew\nann:s3cret:with colon\n\nbob:x\n").unwrap();
        assert!(users.admit(b"ann", b"s3cret:with colon"));
        assert!(users.admit(b"bob", b"x"));
        assert!(!users.admit(b"ann", b"x"));
        assert!(!users.admit(b"bob", b""));
        assert!(!users.admit(b"", b""));
        assert!(!users.admit(b"ann:s3cret", b"with colon"));
        assert_eq!(Users::parse("ann:x\nbob\n").unwrap_err(), Some(2));
        assert_eq!(Users::parse("# nobody\n").unwrap_err(), None);
    }

    #[test]
    fn basic_credentials_are_decoded() {
        let users = Users::parse("Aladdin:open sesame\n").unwrap();
        // The example of RFC 7617, section 2.
        assert!(users.admit_basic(b"Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="));
        assert!(users.admit_basic(b"basic  QWxhZGRpbjpvcGVuIHNlc2FtZQ=="));
        for wrong in [
            &b"Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ="[..],
            b"Basic QWxhZGRpbjpvcGVuIHNlc2FtYQ==",
            b"Bearer QWxhZGRpbjpvcGVuIHNlc2FtZQ==",
            b"Basic ====",
            b"Basic",
            b"",
            b"\xff\xfe",
        ] {
            assert!(!users.admit_basic(wrong), "{wrong:?}");
        }
    }
}
