//! The command with a folder and a state of its own, and requests to it.

use serde_json::Value;
use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// A running `bentpipe explore`; it ends when this is dropped.
pub(crate) struct Served {
    child: Child,
    pub(crate) port: u16,
    pub(crate) token: String,
    pub(crate) folder: TempDir,
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    /// Zero if the connection was closed without one.
    pub(crate) status: u16,
    /// Names in small letters.
    pub(crate) headers: Vec<(String, String)>,
    /// As it came, with the marks of chunks.
    pub(crate) body: String,
}

impl Answer {
    fn parse(bytes: &[u8]) -> Answer {
        let text = String::from_utf8_lossy(bytes);
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let mut lines = head.lines();
        let status = lines.next().and_then(|line| line.split(' ').nth(1));
        let header = |line: &str| {
            let (name, value) = line.split_once(':')?;
            Some((name.to_ascii_lowercase(), value.trim().to_owned()))
        };
        Answer {
            status: status.and_then(|status| status.parse().ok()).unwrap_or(0),
            headers: lines.filter_map(header).collect(),
            body: body.to_owned(),
        }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        headers
            .find(|(n, _)| n == name)
            .map(|(_, value)| value.as_str())
    }

    /// The body as JSON.
    pub(crate) fn json(&self) -> Value {
        let wrong = |error| panic!("{error}: {self:?}");
        serde_json::from_str(&self.body).unwrap_or_else(wrong)
    }
}

/// The command, with its state and a page in `folder`.
pub(crate) fn command(folder: &Path) -> Command {
    let page = folder.join("page");
    fs::create_dir_all(page.join("assets")).unwrap();
    fs::write(page.join("index.html"), "<!doctype html>the page __NONCE__").unwrap();
    fs::write(page.join("assets/main.js"), "the script").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_bentpipe"));
    command.args(["explore", "--no-open", "--page"]).arg(page);
    command.env("XDG_STATE_HOME", folder.join("state"));
    command
}

impl Served {
    /// Starts it on a free port; it opens `open`, a file or folder in its folder.
    pub(crate) fn new(open: Option<&str>) -> Served {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("secret.toml"), "secret").unwrap();
        fs::create_dir_all(folder.path().join("open/sub")).unwrap();
        fs::write(folder.path().join("open/geo.toml"), "[[node]]\n").unwrap();
        Served::start(folder, 0, open)
    }

    pub(crate) fn start(folder: TempDir, port: u16, open: Option<&str>) -> Served {
        let mut command = command(folder.path());
        command.args(["--port", &port.to_string()]);
        if let Some(open) = open {
            command.arg(folder.path().join(open));
        }
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut address = String::new();
        let stdout = child.stdout.take().unwrap();
        BufReader::new(stdout).read_line(&mut address).unwrap();
        let after = address.trim().strip_prefix("http://127.0.0.1:").unwrap();
        let (port, token) = after.split_once("/?token=").unwrap();
        let (token, _) = token.split_once('#').unwrap_or((token, ""));
        Served {
            port: port.parse().unwrap(),
            token: token.to_owned(),
            child,
            folder,
        }
    }

    /// Ends it and starts it again on the same port with the same state.
    pub(crate) fn restart(mut self, open: Option<&str>) -> Served {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let folder = std::mem::replace(&mut self.folder, tempfile::tempdir().unwrap());
        let port = self.port;
        Served::start(folder, port, open)
    }

    /// The number of its process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// A file or folder of its folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        stream
    }

    /// Sends bytes and reads until the server closes the connection.
    pub(crate) fn raw(&self, bytes: &[u8]) -> Vec<u8> {
        let mut stream = self.connect();
        // It may answer before it has read everything.
        let _ = stream.write_all(bytes);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        answer
    }

    /// The header that has the token.
    pub(crate) fn cookie(&self) -> String {
        format!("bentpipe-{}={}", self.port, self.token)
    }

    /// The headers of a page of the server.
    pub(crate) fn headers(&self) -> Vec<(&'static str, String)> {
        vec![
            ("Host", format!("127.0.0.1:{}", self.port)),
            ("Cookie", self.cookie()),
        ]
    }

    /// A request with these headers and no others.
    pub(crate) fn ask(&self, line: &str, headers: &[(&str, String)], body: &str) -> Answer {
        let mut text = format!("{line} HTTP/1.1\r\nConnection: close\r\n");
        for (name, value) in headers {
            write!(text, "{name}: {value}\r\n").unwrap();
        }
        if !body.is_empty() {
            write!(text, "Content-Length: {}\r\n", body.len()).unwrap();
        }
        text += "\r\n";
        text += body;
        Answer::parse(&self.raw(text.as_bytes()))
    }

    /// A request of the page.
    pub(crate) fn get(&self, path: &str) -> Answer {
        self.ask(&format!("GET {path}"), &self.headers(), "")
    }

    /// A request of the page with a JSON object.
    pub(crate) fn post(&self, path: &str, body: &str) -> Answer {
        let mut headers = self.headers();
        headers.push(("Content-Type", "application/json".to_owned()));
        headers.push(("Origin", format!("http://127.0.0.1:{}", self.port)));
        headers.push(("Sec-Fetch-Site", "same-origin".to_owned()));
        self.ask(&format!("POST {path}"), &headers, body)
    }
}
