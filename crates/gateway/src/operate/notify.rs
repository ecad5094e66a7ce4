//! Notifies the service manager (`sd_notify(3)`) that the process is ready, reloads, stops, or is
//! alive.

use rustix::time::{ClockId, clock_gettime};
use std::env;
use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::sync::Arc;
use std::time::Duration;

/// The socket of the service manager, where there is one.
#[derive(Clone, Debug)]
pub struct Notify {
    socket: Option<(Arc<UnixDatagram>, SocketAddr)>,
}

impl Notify {
    /// The manager that has started this process, if one waits for messages.
    #[must_use]
    pub fn from_environment() -> Notify {
        let to = env::var_os("NOTIFY_SOCKET");
        let socket = to.and_then(|to| {
            let to = to.to_str()?;
            let address = match to.strip_prefix('@') {
                Some(name) => SocketAddr::from_abstract_name(name.as_bytes()),
                None => SocketAddr::from_pathname(to),
            };
            Some((Arc::new(UnixDatagram::unbound().ok()?), address.ok()?))
        });
        Notify { socket }
    }

    /// It takes connections. `status` is shown by `systemctl status`.
    pub fn ready(&self, status: &str) {
        self.send(&format!(
            "READY=1\nSTATUS={status}\nMAINPID={}",
            std::process::id()
        ));
    }

    /// It reads its configuration again; [`Notify::ready`] ends that.
    pub fn reloading(&self) {
        let now = clock_gettime(ClockId::Monotonic);
        let us = i128::from(now.tv_sec) * 1_000_000 + i128::from(now.tv_nsec) / 1000;
        self.send(&format!("RELOADING=1\nMONOTONIC_USEC={us}"));
    }

    /// It stops, which may take as long as `drain`.
    pub fn stopping(&self, drain: Duration) {
        let us = (drain + Duration::from_secs(10)).as_micros();
        self.send(&format!(
            "STOPPING=1\nSTATUS=connections finish\nEXTEND_TIMEOUT_USEC={us}"
        ));
    }

    /// Feeds systemd's watchdog.
    pub fn alive(&self) {
        self.send("WATCHDOG=1");
    }

    /// How often [`Notify::alive`] must come; half of what the manager allows.
    #[must_use]
    pub fn watchdog() -> Option<Duration> {
        let us: u64 = env::var("WATCHDOG_USEC").ok()?.parse().ok()?;
        let pid = env::var("WATCHDOG_PID").ok();
        let ours = pid.is_none_or(|pid| pid == std::process::id().to_string());
        (ours && us > 0).then(|| Duration::from_micros(us / 2))
    }

    fn send(&self, text: &str) {
        if let Some((socket, to)) = &self.socket {
            let sent: io::Result<usize> = socket.send_to_addr(text.as_bytes(), to);
            if let Err(error) = sent {
                tracing::debug!(%error, "the service manager was not told");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manager_gets_whole_messages() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notify");
        let manager = UnixDatagram::bind(&path).unwrap();
        let notify = Notify {
            socket: Some((
                Arc::new(UnixDatagram::unbound().unwrap()),
                SocketAddr::from_pathname(&path).unwrap(),
            )),
        };
        notify.ready("terminal");
        let mut buffer = [0; 200];
        let n = manager.recv(&mut buffer).unwrap();
        let text = std::str::from_utf8(&buffer[..n]).unwrap();
        assert!(text.starts_with("READY=1\nSTATUS=terminal\n"), "{text}");
        notify.reloading();
        let n = manager.recv(&mut buffer).unwrap();
        assert!(buffer[..n].starts_with(b"RELOADING=1\nMONOTONIC_USEC="));
    }
}
