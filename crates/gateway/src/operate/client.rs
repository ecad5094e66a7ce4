//! The client of the control socket, for `bentpipe gateway status` and `rate`.

use serde_json::Value;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Why a running gateway could not be asked.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// No gateway listens at the control socket.
    #[error("no gateway runs at `{}`", .0.display())]
    NotRunning(PathBuf),
    /// The socket belongs to others.
    #[error("no permission for `{}`: use sudo, or join the group of the service", .0.display())]
    Forbidden(PathBuf),
    /// The exchange with the gateway failed.
    #[error("the gateway at `{}` does not answer: {error}", path.display())]
    Failed {
        /// Path of the control socket.
        path: PathBuf,
        /// Error of the system.
        error: io::Error,
    },
    /// The gateway refused the request, with this message.
    #[error("{0}")]
    Refused(String),
}

/// Time for an answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// Bytes of an answer, at most.
const LARGEST: u64 = 16 << 20;

/// The status of the gateway whose control socket is at `path`.
///
/// # Errors
/// When it does not run or answer.
pub fn status(path: &Path) -> Result<Value, AskError> {
    let text = ask(path, "GET", "/status", "")?;
    serde_json::from_str(&text).map_err(|error| AskError::Failed {
        path: path.into(),
        error: error.into(),
    })
}

/// Sets the rate of the link, or `measured`, and returns what holds now.
///
/// # Errors
/// When the gateway does not run, or `rate` is none.
pub fn set_rate(path: &Path, rate: &str) -> Result<String, AskError> {
    let text = ask(path, "PUT", "/rate", rate)?;
    Ok(text.trim().to_owned())
}

/// The sockets of the gateways that run, as far as the folder shows them.
#[must_use]
pub fn running() -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(crate::config::control_folder()) else {
        return Vec::new();
    };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut found: Vec<PathBuf> = paths
        .filter(|path| path.extension().is_some_and(|ending| ending == "sock"))
        .collect();
    found.sort();
    found
}

fn ask(path: &Path, method: &str, what: &str, body: &str) -> Result<String, AskError> {
    let mut stream = UnixStream::connect(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => {
            AskError::NotRunning(path.into())
        }
        io::ErrorKind::PermissionDenied => AskError::Forbidden(path.into()),
        _ => AskError::Failed {
            path: path.into(),
            error,
        },
    })?;
    let failed = |error| AskError::Failed {
        path: path.into(),
        error,
    };
    let answer = exchange(&mut stream, method, what, body).map_err(failed)?;
    let (head, content) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    match head.split(' ').nth(1) {
        Some("200") => Ok(content.to_owned()),
        Some(_) => Err(AskError::Refused(content.trim().to_owned())),
        None => Err(failed(io::ErrorKind::InvalidData.into())),
    }
}

/// One request of HTTP/1.1; the gateway closes after its answer.
fn exchange(stream: &mut UnixStream, method: &str, what: &str, body: &str) -> io::Result<String> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let length = body.len();
    let head = format!(
        "{method} {what} HTTP/1.1\r\nHost: gateway\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n"
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(body.as_bytes())?;
    let mut answer = String::new();
    stream.take(LARGEST).read_to_string(&mut answer)?;
    Ok(answer)
}
