//! qlog (draft-ietf-quic-qlog-main-schema): what QUIC does on the associations of one
//! process, as a file that qvis and Wireshark read.

use crate::config::Config;
use quinn::{QlogConfig, QlogStream};
use std::fs::{self, OpenOptions};
use std::io::{self, BufWriter};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

/// A new file in the folder that the configuration names, if it names one. Without
/// it the gateway works as well, so an error is reported and no more.
#[must_use]
pub fn stream(config: &Config) -> Option<QlogStream> {
    let folder = config.log.qlog.as_ref()?;
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let seconds = since.map_or(0, |since| since.as_secs());
    let name = format!("{}-{seconds}-{}.sqlog", config.name, std::process::id());
    match open(folder.join(name)) {
        Ok(file) => {
            let mut qlog = QlogConfig::default();
            qlog.writer(Box::new(BufWriter::new(file)));
            qlog.title(Some(config.name.clone()));
            qlog.into_stream()
        }
        Err(error) => {
            tracing::warn!(folder = %folder.display(), %error, "no qlog file is written");
            None
        }
    }
}

fn open(path: PathBuf) -> io::Result<fs::File> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    // It has addresses and times of users.
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
}
