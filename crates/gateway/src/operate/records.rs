//! Records of what was carried: a line of JSON for each TCP connection and each flow of UDP, when it ends.
//!
//! They are written by a thread of their own. Whoever carries never waits for the disk: lines beyond what
//! may wait are left out, and counted.

use crate::CloseReason;
use serde_json::json;
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Lines that may wait for the disk.
const WAITING: usize = 4096;
/// How long a line may wait to be written with others.
const LATEST: Duration = Duration::from_secs(1);

/// What was carried from its beginning to its end.
#[derive(Debug)]
pub(crate) struct Record {
    /// `tcp` or `udp`.
    pub(crate) protocol: &'static str,
    pub(crate) client: Option<SocketAddr>,
    /// Address or name, and port.
    pub(crate) server: String,
    /// Whose it is.
    pub(crate) subscriber: Option<String>,
    /// At a hub, the key of the terminal.
    pub(crate) terminal: Option<String>,
    pub(crate) began: Instant,
    /// Bytes from the client to the server, and back.
    pub(crate) up: u64,
    pub(crate) down: u64,
    /// `None` where it ended in order.
    pub(crate) cut: Option<CloseReason>,
}

impl Record {
    fn line(&self, now: SystemTime) -> String {
        let ended = now.duration_since(UNIX_EPOCH).unwrap_or_default();
        let lasted = self.began.elapsed();
        let millis = |time: Duration| (time.as_secs_f64() * 1e3).round() / 1e3;
        let mut line = json!({
            "ended_unix_seconds": millis(ended),
            "lasted_seconds": millis(lasted),
            "protocol": self.protocol,
            "client": self.client.map(|client| client.to_string()),
            "server": self.server,
            "subscriber": self.subscriber,
            "terminal": self.terminal,
            "bytes_up": self.up,
            "bytes_down": self.down,
            "end": self.cut.map_or("in order", CloseReason::words),
        })
        .to_string();
        line.push('\n');
        line
    }
}

/// The file of records, where one is configured.
#[derive(Debug, Default)]
pub(crate) struct Records {
    writing: Mutex<Option<Writing>>,
}

#[derive(Debug)]
struct Writing {
    path: PathBuf,
    lines: SyncSender<Line>,
}

#[derive(Debug)]
enum Line {
    Text(String),
    /// The file may have been moved: from here on, the one of this name.
    Reopen,
}

impl Records {
    /// Writes to this file from now on, also where it is the same and was moved meanwhile; `None` writes
    /// nowhere.
    pub(crate) fn hold_to(&self, path: Option<&Path>) {
        let mut writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        match (&*writing, path) {
            (Some(now), Some(path)) if now.path == path => {
                // Where it is full, the disk is slow, and the file that was moved gets these.
                let _ = now.lines.try_send(Line::Reopen);
            }
            (_, None) => *writing = None,
            (_, Some(path)) => {
                let (lines, waiting) = sync_channel(WAITING);
                let path = path.to_owned();
                let to = path.clone();
                let started = std::thread::Builder::new()
                    .name("records".to_owned())
                    .spawn(move || write(&to, &waiting));
                *writing = match started {
                    Ok(_) => Some(Writing { path, lines }),
                    Err(error) => {
                        tracing::error!(%error, "no records are written");
                        None
                    }
                };
            }
        }
    }

    /// Writes a record, where any are written; false where it had to be left out.
    pub(crate) fn write(&self, record: impl FnOnce() -> Record) -> bool {
        let lines = {
            let writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
            writing.as_ref().map(|writing| writing.lines.clone())
        };
        let Some(lines) = lines else { return true };
        let line = record().line(SystemTime::now());
        lines.try_send(Line::Text(line)).is_ok()
    }
}

fn open(path: &Path) -> io::Result<BufWriter<File>> {
    let file = OpenOptions::new().create(true).append(true).open(path)?;
    Ok(BufWriter::new(file))
}

/// Writes lines until nobody has more.
fn write(path: &Path, lines: &Receiver<Line>) {
    let mut file: Option<BufWriter<File>> = None;
    let mut failed = false;
    loop {
        let line = match lines.recv_timeout(LATEST) {
            Ok(line) => Some(line),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => break,
        };
        let written = match line {
            Some(Line::Text(text)) => (|| {
                if file.is_none() {
                    file = Some(open(path)?);
                }
                file.as_mut()
                    .map_or(Ok(()), |it| it.write_all(text.as_bytes()))
            })(),
            Some(Line::Reopen) => file.take().map_or(Ok(()), |mut it| it.flush()),
            None => file.as_mut().map_or(Ok(()), BufWriter::flush),
        };
        match written {
            Ok(()) => failed = false,
            // Once, until it works again.
            Err(error) if !std::mem::replace(&mut failed, true) => {
                tracing::error!(path = %path.display(), %error, "records cannot be written");
                file = None;
            }
            Err(_) => file = None,
        }
    }
    if let Some(mut file) = file {
        let _ = file.flush();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(server: &str) -> Record {
        Record {
            protocol: "tcp",
            client: Some(([10, 1, 0, 7], 5000).into()),
            server: server.to_owned(),
            subscriber: Some("10.1.0.7/32".to_owned()),
            terminal: None,
            began: Instant::now(),
            up: 3,
            down: 4,
            cut: Some(CloseReason::Reset),
        }
    }

    fn servers(path: &Path) -> Vec<String> {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        text.lines()
            .map(|line| {
                let line: serde_json::Value = serde_json::from_str(line).unwrap();
                assert_eq!(
                    (&line["bytes_up"], &line["end"]),
                    (&json!(3), &json!("reset"))
                );
                line["server"].as_str().unwrap().to_owned()
            })
            .collect()
    }

    fn wait(path: &Path, expected: &[&str]) {
        let until = Instant::now() + Duration::from_secs(20);
        while servers(path) != expected {
            assert!(Instant::now() < until, "{:?}", servers(path));
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    #[test]
    fn lines_are_appended_and_a_file_that_was_moved_is_made_anew() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("flows.jsonl");
        let records = Records::default();
        assert!(records.write(|| unreachable!("nobody asked for records")));
        records.hold_to(Some(&path));
        assert!(records.write(|| record("a:1")) && records.write(|| record("b:2")));
        wait(&path, &["a:1", "b:2"]);
        let moved = folder.path().join("flows.1");
        std::fs::rename(&path, &moved).unwrap();
        records.hold_to(Some(&path));
        records.write(|| record("c:3"));
        wait(&path, &["c:3"]);
        assert_eq!(servers(&moved), ["a:1", "b:2"]);
        let other = folder.path().join("other");
        records.hold_to(Some(&other));
        records.write(|| record("d:4"));
        wait(&other, &["d:4"]);
        records.hold_to(None);
        assert!(records.write(|| unreachable!("nobody asks any more")));
    }
}
