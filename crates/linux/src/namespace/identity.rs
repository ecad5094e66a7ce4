//! Which network namespace one is, whatever its name.

use std::fmt;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Which network namespace one is: the device and the inode of its file. The
/// inode may be used again once the namespace is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Identity {
    device: u64,
    inode: u64,
}

impl Identity {
    /// Of the namespace of which `path` is a file.
    pub(super) fn of(path: impl AsRef<Path>) -> io::Result<Identity> {
        let file = fs::metadata(path)?;
        Ok(Identity {
            device: file.dev(),
            inode: file.ino(),
        })
    }

    /// Of the one that the calling thread is in.
    pub(crate) fn of_this_thread() -> io::Result<Identity> {
        Identity::of("/proc/thread-self/ns/net")
    }

    /// True if both are on one device: two namespaces, or two common files.
    pub(super) fn is_beside(self, other: Identity) -> bool {
        self.device == other.device
    }

    /// As it is displayed.
    pub(super) fn read(text: &str) -> Option<Identity> {
        let (device, inode) = text.split_once(':')?;
        Some(Identity {
            device: device.parse().ok()?,
            inode: inode.parse().ok()?,
        })
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.device, self.inode)
    }
}
