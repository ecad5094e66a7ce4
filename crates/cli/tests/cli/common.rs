//! Runs the built binary.

pub(crate) use bentpipe_testing::skip;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// How a command ended and what it said.
pub(crate) struct Ended {
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs `bentpipe ARGUMENTS` in a folder, without colour and terminal.
pub(crate) fn bentpipe_in(folder: &Path, arguments: &[&str]) -> Ended {
    let output = Command::new(env!("CARGO_BIN_EXE_bentpipe"))
        .args(arguments)
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .env_remove("COLUMNS")
        .stdin(Stdio::null())
        .output()
        .expect("the binary runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("output is UTF-8");
    Ended {
        status: output.status.code().expect("no signal ended it"),
        stdout: text(output.stdout),
        stderr: text(output.stderr),
    }
}

/// The same with lines of `columns` characters.
pub(crate) fn bentpipe_at(columns: usize, folder: &Path, arguments: &[&str]) -> Ended {
    let output = Command::new(env!("CARGO_BIN_EXE_bentpipe"))
        .args(arguments)
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .env("COLUMNS", columns.to_string())
        .stdin(Stdio::null())
        .output()
        .expect("the binary runs");
    Ended {
        status: output.status.code().expect("no signal ended it"),
        stdout: String::from_utf8(output.stdout).expect("output is UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("output is UTF-8"),
    }
}

/// True if namespaces and devices can be made here by the built binary; says so in
/// a line if not.
pub(crate) fn may(test: &str) -> bool {
    let root = Path::new("/proc/self/status");
    let root = std::fs::read_to_string(root).is_ok_and(|text| text.contains("Uid:\t0\t0"));
    let wants = if !cfg!(feature = "linux") {
        "the feature linux"
    } else if !root {
        "root"
    } else if !Path::new("/dev/net/tun").exists() {
        "/dev/net/tun"
    } else if Command::new("ip").arg("-V").output().is_err() {
        "`ip` of iproute2"
    } else {
        return true;
    };
    skip(test, wants);
    false
}

/// The same with a text on standard input.
pub(crate) fn bentpipe_with(folder: &Path, arguments: &[&str], input: &str) -> Ended {
    let mut child = Command::new(env!("CARGO_BIN_EXE_bentpipe"))
        .args(arguments)
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .env_remove("COLUMNS")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(input.as_bytes()).expect("it reads");
    drop(stdin);
    let output = child.wait_with_output().expect("it ends");
    Ended {
        status: output.status.code().expect("no signal ended it"),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Runs `bentpipe ARGUMENTS` where it does not matter.
pub(crate) fn bentpipe(arguments: &[&str]) -> Ended {
    bentpipe_in(Path::new(env!("CARGO_MANIFEST_DIR")), arguments)
}

impl Ended {
    /// stdout of a command that must have succeeded.
    pub(crate) fn ok(self) -> String {
        assert_eq!(self.status, 0, "{}", self.stderr);
        self.stdout
    }

    /// stdout of a command that must have ended with this status.
    #[cfg(all(feature = "gateway", target_os = "linux"))]
    pub(crate) fn ended(self, status: i32) -> String {
        assert_eq!(self.status, status, "{}{}", self.stdout, self.stderr);
        self.stdout
    }

    /// stderr of a command that must not have been able to run.
    pub(crate) fn refused(self) -> String {
        assert_eq!(self.status, 2, "{}{}", self.stdout, self.stderr);
        assert_eq!(self.stdout, "", "what is not data belongs on stderr");
        self.stderr
    }
}
