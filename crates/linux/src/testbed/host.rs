//! A host of a run: its namespace, and the settings of the kernel that hold for
//! all of its connections.

use super::setup::Setup;
use crate::namespace::{Namespace, NamespaceError};
use crate::release;
use bentpipe_tcp::Buffers;
use bentpipe_units::Bytes;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::{Arc, Mutex, PoisonError};

/// What holds for every host of a run. Nothing that one run learns may change
/// the next, and ECN is answered but asked for by those who want it only.
const SETTINGS: [(&str, &str); 6] = [
    ("net.ipv4.tcp_no_metrics_save", "1"),
    ("net.ipv4.tcp_window_scaling", "1"),
    ("net.ipv4.tcp_timestamps", "1"),
    ("net.ipv4.tcp_sack", "1"),
    ("net.ipv4.tcp_ecn", "2"),
    // Where a transport has stock buffers, this is the limit of what it sends from.
    ("net.ipv4.tcp_wmem", "4096 16384 4194304"),
];

/// The limit of receive buffers that are tuned where none is stock: a window of 16 MB and more.
const AMPLE_RMEM: Bytes = Bytes::new(32 << 20);

/// A host of the test bed: its namespace, and the options of the kernel that are set there.
#[derive(Debug)]
pub(crate) struct Host {
    namespace: Arc<Namespace>,
    options: Mutex<Options>,
}

/// The settings that a SYN is built by. The files are those of the namespace in
/// which they were opened, whoever writes them.
#[derive(Debug)]
struct Options {
    timestamps: File,
    sack: File,
    ecn: File,
}

impl Host {
    /// The host in `namespace`, prepared for a run. Its receive buffers are tuned up to the window of
    /// a `stock` host, whatever this kernel's own limit is.
    pub(crate) fn new(
        namespace: Arc<Namespace>,
        restart_after_idle: bool,
        stock: Option<Bytes>,
    ) -> Result<Host, NamespaceError> {
        for (key, value) in SETTINGS {
            namespace.sysctl(key, value)?;
        }
        let most = stock.map_or(AMPLE_RMEM, |window| {
            Buffers::receive_memory(window, measures_payload())
        });
        let rmem = format!("4096 131072 {}", most.get());
        namespace.sysctl("net.ipv4.tcp_rmem", &rmem)?;
        let restart = if restart_after_idle { "1" } else { "0" };
        namespace.sysctl("net.ipv4.tcp_slow_start_after_idle", restart)?;
        let open = |name: &str| {
            let path = format!("/proc/sys/net/ipv4/{name}");
            OpenOptions::new().write(true).open(path)
        };
        let options = namespace.enter(|| {
            Ok(Options {
                timestamps: open("tcp_timestamps")?,
                sack: open("tcp_sack")?,
                ecn: open("tcp_ecn")?,
            })
        })?;
        let options = options.map_err(|why| NamespaceError::System {
            doing: "open the settings of TCP in",
            name: namespace.name().to_owned(),
            why,
        })?;
        Ok(Host {
            namespace,
            options: Mutex::new(options),
        })
    }

    /// Calls `make` in the host's namespace. Sockets made there stay there.
    pub(crate) fn enter<T: Send>(
        &self,
        make: impl FnOnce() -> io::Result<T> + Send,
    ) -> io::Result<T> {
        self.namespace.enter(make).map_err(io::Error::other)?
    }

    /// Calls `connect`, which sends a SYN, with the options of a setup. Options
    /// belong to the host; one connection after the other is opened.
    pub(crate) fn with_options<T>(
        &self,
        setup: &Setup,
        connect: impl FnOnce() -> io::Result<T>,
    ) -> io::Result<T> {
        let options = self.options.lock().unwrap_or_else(PoisonError::into_inner);
        let digit = |on: bool| if on { "1" } else { "0" };
        set(&options.timestamps, digit(setup.timestamps))?;
        set(&options.sack, digit(setup.sack))?;
        // 2 answers, 1 asks as well.
        set(&options.ecn, if setup.ecn { "1" } else { "2" })?;
        connect()
    }
}

/// True if this kernel measures which part of a receive buffer's memory is payload.
fn measures_payload() -> bool {
    release::at_least(&release::of_this_machine(), (6, 6))
}

/// Writes a setting; it counts at the beginning of its file only.
fn set(file: &File, value: &str) -> io::Result<()> {
    file.write_all_at(value.as_bytes(), 0)
}
