//! What `bentpipe explore` keeps between its runs, in the state folder of the user: its
//! token, so that a tab that is open goes on when the command is started again.

use bentpipe_explore::guard;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

/// Characters of a token, at most; one that this command made has 32.
const LONGEST: u64 = 128;

/// The folder. Others may see which files are in it, and read none of them.
#[derive(Debug)]
pub(crate) struct State(PathBuf);

impl State {
    /// The folder of this user (XDG Base Directory Specification); `None` without a home.
    pub(crate) fn find() -> Option<State> {
        let absolute = |name: &str| {
            let path = PathBuf::from(std::env::var_os(name)?);
            path.is_absolute().then_some(path)
        };
        let home = || Some(absolute("HOME")?.join(".local/state"));
        let base = absolute("XDG_STATE_HOME").or_else(home)?;
        Some(State(base.join("bentpipe")))
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// The token of the last run; a new one if there is none, or if others could read it.
    ///
    /// # Errors
    /// If it cannot be kept.
    pub(crate) fn token(&self) -> io::Result<String> {
        if let Some(token) = self.kept() {
            return Ok(token);
        }
        let random = || io::Error::other("the system has no random numbers");
        let token = guard::secret().ok_or_else(random)?;
        self.write("explore-token", &token)?;
        Ok(token)
    }

    fn kept(&self) -> Option<String> {
        let file = File::open(self.0.join("explore-token")).ok()?;
        if !is_private(&file) {
            return None;
        }
        let mut token = String::new();
        file.take(LONGEST).read_to_string(&mut token).ok()?;
        let is_token = token.len() >= 32 && token.bytes().all(|b| b.is_ascii_hexdigit());
        is_token.then_some(token)
    }

    /// Writes a file, whole or not at all, that only the user can read.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn write(&self, name: &str, content: &str) -> io::Result<PathBuf> {
        fs::create_dir_all(&self.0)?;
        let path = self.0.join(name);
        let half = self.0.join(format!(".{name}.{}", std::process::id()));
        // One that is left of a process of that number that was killed.
        let _ = fs::remove_file(&half);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&half)?;
        file.write_all(content.as_bytes())?;
        file.sync_all()?;
        fs::rename(&half, &path)?;
        Ok(path)
    }
}

/// True if nobody but the user can read or write the file.
#[cfg(unix)]
fn is_private(file: &File) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let meta = file.metadata();
    meta.is_ok_and(|meta| meta.is_file() && meta.mode() & 0o077 == 0)
}

#[cfg(not(unix))]
fn is_private(file: &File) -> bool {
    file.metadata().is_ok_and(|meta| meta.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_kept_as_long_as_only_its_user_can_read_it() {
        let folder = tempfile::tempdir().unwrap();
        let state = State(folder.path().join("bentpipe"));
        let token = state.token().unwrap();
        assert_eq!(token.len(), 32);
        assert_eq!(state.token().unwrap(), token);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let path = state.path().join("explore-token");
            let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
            assert_eq!(mode(&path), 0o600);
            fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
            assert_ne!(state.token().unwrap(), token);
            assert_eq!(mode(&path), 0o600);
        }
    }

    #[test]
    fn what_is_no_token_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let state = State(folder.path().to_path_buf());
        for wrong in ["", "short", "; Domain=example.org; pad pad pad pad"] {
            state.write("explore-token", wrong).unwrap();
            let token = state.token().unwrap();
            assert!(token.len() == 32 && token != wrong);
        }
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        assert!(State(file.join("bentpipe")).token().is_err());
    }
}
