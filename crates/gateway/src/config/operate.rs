//! Settings for the operator: status, metrics, logs.

use super::read::{self, ADDRESS, Reading};
use bentpipe_document::Reported;
use bentpipe_document::schema::Kind;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// How the gateway shows itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// The Unix socket of `bentpipe gateway status` and `rate`.
    pub control: PathBuf,
    /// Where metrics are served over HTTP, for Prometheus.
    pub metrics: Option<SocketAddr>,
}

/// What is logged, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Log {
    /// The least severe level that is written.
    pub level: Level,
    /// Lines of JSON instead of text.
    pub json: bool,
    /// The file for records of connections and flows.
    pub flows: Option<PathBuf>,
    /// The folder for qlog files of associations.
    pub qlog: Option<PathBuf>,
}

/// Levels of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// What stops the gateway or a part of it.
    Error,
    /// What an operator should look at.
    Warn,
    /// Changes of state.
    Info,
    /// Every connection.
    Debug,
    /// Everything.
    Trace,
}

impl Level {
    /// The words of the file.
    pub const WORDS: [(&'static str, Level); 5] = [
        ("error", Level::Error),
        ("warn", Level::Warn),
        ("info", Level::Info),
        ("debug", Level::Debug),
        ("trace", Level::Trace),
    ];
}

/// The folder of control sockets: that of the service, or the user's own.
#[must_use]
pub fn control_folder() -> PathBuf {
    let user =
        std::env::var_os("XDG_RUNTIME_DIR").filter(|_| !rustix::process::geteuid().is_root());
    match (std::env::var_os("RUNTIME_DIRECTORY"), user) {
        // systemd may name several.
        (Some(folders), _) => {
            let folders = folders.to_string_lossy();
            PathBuf::from(folders.split(':').next().unwrap_or_default())
        }
        (None, Some(user)) => Path::new(&user).join("bentpipe-gateway"),
        (None, None) => PathBuf::from("/run/bentpipe-gateway"),
    }
}

bentpipe_document::table! {
    /// how the gateway shows itself
    pub(super) StatusTable at "status", called "the status of", example "[status]\nmetrics = \"127.0.0.1:9464\"";
    /// the Unix socket that `bentpipe gateway status` and `bentpipe gateway rate` use
    control: String [Kind::File], or "`NAME.sock` in /run/bentpipe-gateway, or in $XDG_RUNTIME_DIR/bentpipe-gateway without root; NAME is that of this file";
    /// where metrics are served over HTTP in the format of Prometheus, and where the modem may set the rate (`PUT /rate`); it has no authentication, so keep it to this machine. All but metrics must be asked for by an IP address or `localhost`
    metrics: String [Kind::Form(ADDRESS)], or "not served";
}

bentpipe_document::table! {
    /// what is logged, to standard error
    pub(super) LogTable at "log", called "the log of", example "[log]\nlevel = \"debug\"\nformat = \"json\"";
    /// the least severe level that is written; `debug` has a line for every connection
    level: Level { all Level::WORDS }, default "info";
    /// lines of text or of JSON
    format: bool { "text" => false, "json" => true }, default "text";
    /// a file to which a line of JSON is appended for each connection and each flow of UDP when it ends: who, whereto, how much, how long and how it ended; a reload opens it anew, so that it can be rotated
    flows: String [Kind::File], or "none is written";
    /// the folder into which a qlog file of the associations of each process is written, for qvis or Wireshark; it grows without limit
    qlog: String [Kind::File], or "none is written";
}

/// The section on status.
pub(super) fn status(reading: &Reading<'_>, table: StatusTable) -> Result<Status, Reported> {
    let control = match table.control? {
        Some(path) => reading.path(&path.value),
        None => control_folder().join(format!("{}.sock", reading.name)),
    };
    let metrics = match table.metrics? {
        Some(text) => Some(read::address(&table.context, &text, "metrics", Some(9464))?),
        None => None,
    };
    Ok(Status { control, metrics })
}

/// The section on logs.
pub(super) fn log(reading: &Reading<'_>, table: LogTable) -> Result<Log, Reported> {
    Ok(Log {
        level: table.level?.value,
        json: table.format?.value,
        flows: table.flows?.map(|file| reading.path(&file.value)),
        qlog: table.qlog?.map(|folder| reading.path(&folder.value)),
    })
}
