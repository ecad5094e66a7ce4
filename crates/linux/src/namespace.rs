//! Network namespaces with a name, as `ip netns` makes them.
//!
//! A namespace is a file under `/run/netns` on which the namespace is mounted,
//! so that `ip netns exec NAME` and `nsenter` find it. It is removed when its
//! [`Namespace`] is dropped. What a killed process leaves behind is written
//! down under `/run/bentpipe` and removed by the next start: see [`sweep`].
//!
//! Addresses and routes are set by iproute2, whose words are shown where it
//! refuses.

mod identity;
mod inside;
mod record;

pub use identity::Identity;
pub use record::{Leftover, sweep};

pub(crate) use record::{forget, note};

use crate::sys;
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sched::{CloneFlags, setns, unshare};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Where namespaces have their names.
const FOLDER: &str = "/run/netns";

/// Why something about a namespace failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NamespaceError {
    /// The name cannot be a file name that shells and `ip` take.
    #[error("`{0}` cannot be the name of a network namespace: use letters, digits, `-`, `_`, `.`")]
    Name(String),
    /// A namespace with that name already exists.
    #[error("there is a network namespace `{0}` already")]
    Exists(String),
    /// It does not exist.
    #[error("there is no network namespace `{0}`; `ip netns list` shows those that there are")]
    Missing(String),
    /// A system call failed.
    #[error("cannot {doing} network namespace `{name}`: {why}{}", hint(.why))]
    System {
        /// The operation that failed.
        doing: &'static str,
        /// Name of the namespace.
        name: String,
        /// Error of the system.
        why: io::Error,
    },
    /// `ip` could not be started.
    #[error("cannot run `ip` of iproute2, which sets addresses and routes: {0}")]
    NoIp(io::Error),
    /// The program `ip` failed.
    #[error("`ip` failed in network namespace `{name}`: {words}")]
    Ip {
        /// Name of the namespace.
        name: String,
        /// Standard error of `ip`.
        words: String,
    },
    /// A value of the kernel could not be set.
    #[error("cannot set {key} = {value} in network namespace `{name}`: {why}")]
    Sysctl {
        /// Name of the namespace.
        name: String,
        /// Its name, with dots.
        key: String,
        /// What it was to be.
        value: String,
        /// Error of the system.
        why: io::Error,
    },
}

fn hint(why: &io::Error) -> &'static str {
    match why.kind() {
        io::ErrorKind::PermissionDenied => " (this needs root)",
        _ => "",
    }
}

/// A network namespace. One that was made here is removed when this is
/// dropped, and the programs that still run in it are ended.
#[derive(Debug)]
pub struct Namespace {
    name: String,
    /// Which it is, if it was made here.
    made: Option<Identity>,
}

impl Namespace {
    /// Makes a namespace, with its loopback device up.
    ///
    /// # Errors
    /// Without root, with a name that is taken or impossible, without `ip`.
    pub fn create(name: &str) -> Result<Namespace, NamespaceError> {
        check(name)?;
        let path = path(name);
        if path.exists() {
            return Err(NamespaceError::Exists(name.to_owned()));
        }
        let failed = |doing| {
            move |why: io::Error| NamespaceError::System {
                doing,
                name: name.to_owned(),
                why,
            }
        };
        share_folder().map_err(failed("prepare /run/netns for"))?;
        // On a separate thread, which then ends, so that no other thread changes its namespace.
        let made = std::thread::scope(|scope| {
            let work = || {
                unshare(CloneFlags::CLONE_NEWNET).map_err(|e| failed("create")(e.into()))?;
                let identity = Identity::of_this_thread().map_err(failed("create"))?;
                let leftover = Leftover::Namespace {
                    name: name.to_owned(),
                    identity,
                };
                note(&leftover).map_err(failed("write down"))?;
                let named = OpenOptions::new()
                    .write(true)
                    .create_new(true)
                    .mode(0o444)
                    .open(&path);
                if let Err(why) = named {
                    // Another process made one in the meantime.
                    forget(&leftover);
                    return Err(match why.kind() {
                        io::ErrorKind::AlreadyExists => NamespaceError::Exists(name.to_owned()),
                        _ => failed("name")(why),
                    });
                }
                // From here on dropping it cleans up.
                let namespace = Namespace {
                    name: name.to_owned(),
                    made: Some(identity),
                };
                let own = Path::new("/proc/thread-self/ns/net");
                let none = None::<&str>;
                mount(Some(own), &path, none, MsFlags::MS_BIND, none)
                    .map_err(|e| failed("create")(e.into()))?;
                Ok(namespace)
            };
            scope.spawn(work).join()
        });
        let namespace = match made {
            Ok(result) => result?,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        namespace.ip("link set lo up\n")?;
        Ok(namespace)
    }

    /// A namespace that existed before; it is not removed.
    ///
    /// # Errors
    /// If there is none of that name.
    pub fn open(name: &str) -> Result<Namespace, NamespaceError> {
        check(name)?;
        if !path(name).exists() {
            return Err(NamespaceError::Missing(name.to_owned()));
        }
        Ok(Namespace {
            name: name.to_owned(),
            made: None,
        })
    }

    /// Name of the namespace.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Path under `/run/netns`.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        path(&self.name)
    }

    /// True if it is removed when this is dropped.
    #[must_use]
    pub fn is_own(&self) -> bool {
        self.made.is_some()
    }

    fn failed(&self, doing: &'static str, why: impl Into<io::Error>) -> NamespaceError {
        NamespaceError::System {
            doing,
            name: self.name.clone(),
            why: why.into(),
        }
    }

    /// Does `work` in the namespace, on its own thread that ends with it.
    /// Sockets that it opens stay in the namespace wherever they are used.
    ///
    /// # Errors
    /// If the namespace cannot be entered.
    pub fn enter<T: Send>(&self, work: impl FnOnce() -> T + Send) -> Result<T, NamespaceError> {
        let done = std::thread::scope(|scope| {
            let inside = || {
                self.move_this_thread()?;
                Ok(work())
            };
            scope.spawn(inside).join()
        });
        match done {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }

    /// Moves the calling thread into the namespace, for good: for a thread
    /// that was started for it, never for the main thread.
    ///
    /// # Errors
    /// If the namespace cannot be entered.
    pub fn move_this_thread(&self) -> Result<(), NamespaceError> {
        let file = File::open(self.path()).map_err(|e| self.failed("open", e))?;
        setns(&file, CloneFlags::CLONE_NEWNET).map_err(|e| self.failed("enter", e))
    }

    /// A program that will run in the namespace.
    ///
    /// # Errors
    /// If the namespace cannot be opened.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Result<Command, NamespaceError> {
        let file = File::open(self.path()).map_err(|e| self.failed("open", e))?;
        let mut command = Command::new(program);
        sys::begin_in(&mut command, file);
        Ok(command)
    }

    /// Gives `ip` commands to carry out in the namespace, one a line, without
    /// the word `ip`.
    ///
    /// # Errors
    /// With the words of `ip`, at the first command that fails.
    pub fn ip(&self, commands: &str) -> Result<(), NamespaceError> {
        let mut child = Command::new("ip")
            .args(["-netns", &self.name, "-batch", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(NamespaceError::NoIp)?;
        if let Some(mut to) = child.stdin.take() {
            // If it has ended early, its words say why.
            let _ = to.write_all(commands.as_bytes());
        }
        let output = child.wait_with_output().map_err(NamespaceError::NoIp)?;
        if output.status.success() {
            return Ok(());
        }
        let words = String::from_utf8_lossy(&output.stderr);
        let words: Vec<&str> = words.lines().map(str::trim).collect();
        Err(NamespaceError::Ip {
            name: self.name.clone(),
            words: words.join("; "),
        })
    }

    /// Sets a value of the kernel for the namespace, such as
    /// `net.ipv4.tcp_no_metrics_save`. Only names under `net.` belong to a
    /// namespace.
    ///
    /// # Errors
    /// If there is no such name here or it does not take the value.
    pub fn sysctl(&self, key: &str, value: &str) -> Result<(), NamespaceError> {
        let file = format!("/proc/sys/{}", key.replace('.', "/"));
        self.enter(|| fs::write(file, value))?
            .map_err(|why| NamespaceError::Sysctl {
                name: self.name.clone(),
                key: key.to_owned(),
                value: value.to_owned(),
                why,
            })
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        let Some(identity) = self.made else {
            return;
        };
        // Objects that could not be removed remain recorded.
        if remove(&self.name, identity).is_ok() {
            forget(&Leftover::Namespace {
                name: self.name.clone(),
                identity,
            });
        }
    }
}

/// Ends a program: asks it to, and after `patience` makes it.
///
/// # Errors
/// If it is not a child of this process.
pub fn terminate(child: &mut Child, patience: Duration) -> io::Result<ExitStatus> {
    let pid = i32::try_from(child.id()).map_err(io::Error::other)?;
    if child.try_wait()?.is_none() {
        // It may end in between.
        let _ = kill(Pid::from_raw(pid), Signal::SIGTERM);
    }
    let end = Instant::now() + patience;
    while Instant::now() < end {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    child.kill()?;
    child.wait()
}

fn path(name: &str) -> PathBuf {
    Path::new(FOLDER).join(name)
}

/// A name that is a single file name and needs no quoting in a shell.
fn check(name: &str) -> Result<(), NamespaceError> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let dots = name.chars().all(|c| c == '.');
    let option = name.starts_with('-');
    if name.len() > 200 || !name.chars().all(plain) || dots || option {
        return Err(NamespaceError::Name(name.to_owned()));
    }
    Ok(())
}

/// A part of a namespace's name made of `text`, whatever that is.
#[must_use]
pub fn plain(text: &str) -> String {
    let plain = |c: char| match c {
        c if c.is_ascii_alphanumeric() || matches!(c, '_' | '.') => c,
        _ => '-',
    };
    let name: String = text.chars().map(plain).collect();
    name.trim_matches('-').chars().take(60).collect()
}

/// Mounts made under the folder of names are seen in all mount namespaces, as
/// `ip netns` has it.
fn share_folder() -> io::Result<()> {
    fs::create_dir_all(FOLDER)?;
    let none = None::<&str>;
    let share = || {
        let flags = MsFlags::MS_SHARED | MsFlags::MS_REC;
        mount(none, FOLDER, none, flags, none)
    };
    if share().is_err() {
        // It is no mount point yet.
        let flags = MsFlags::MS_BIND | MsFlags::MS_REC;
        mount(Some(FOLDER), FOLDER, none, flags, none)?;
        share()?;
    }
    Ok(())
}

/// Ends the programs in the namespace `identity` and removes it, and says if it
/// was there. One of the same name that is another stays.
fn remove(name: &str, identity: Identity) -> io::Result<bool> {
    let path = path(name);
    let found = match Identity::of(&path) {
        Err(why) if why.kind() == io::ErrorKind::NotFound => return Ok(false),
        found => found?,
    };
    if found == identity {
        inside::end_all(identity);
        umount2(&path, MntFlags::MNT_DETACH)?;
    } else if !found.is_beside(Identity::of(FOLDER)?) {
        return Ok(false);
    }
    // A name without a namespace is what is left of one that was killed while
    // it made or removed it.
    fs::remove_file(&path)?;
    Ok(true)
}

#[cfg(test)]
#[path = "namespace/tests.rs"]
mod tests;
