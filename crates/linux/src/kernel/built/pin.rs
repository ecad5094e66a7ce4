//! Congestion controls that outlive their loader: a file in the BPF file system
//! holds the link, and removing it unloads.

use super::look;
use super::object::Attached;
use crate::kernel::{Holder, KernelError, PREFIX, default, names};
use libbpf_rs::Link;
use nix::mount::{MsFlags, mount};
use nix::sys::statfs::{BPF_FS_MAGIC, statfs};
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::parent_id;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

/// Where the BPF file system belongs.
const BPFFS: &str = "/sys/fs/bpf";
/// Our own folder in it.
const FOLDER: &str = "/sys/fs/bpf/bentpipe";

fn trouble(doing: &'static str, path: &Path) -> impl Fn(io::Error) -> KernelError {
    move |reason| KernelError::Pin {
        doing,
        path: path.to_owned(),
        reason: reason.to_string(),
    }
}

/// Pins the link as `name`.
pub(in crate::kernel) fn pin(attached: &mut Attached, name: &str) -> Result<PathBuf, KernelError> {
    mount_bpffs()?;
    let folder = Path::new(FOLDER);
    fs::create_dir_all(folder).map_err(trouble("create", folder))?;
    let path = folder.join(name);
    attached.link.pin(&path).map_err(|e| KernelError::Pin {
        doing: "pin to",
        path: path.clone(),
        reason: format!("{e:#}"),
    })?;
    Ok(path)
}

/// Mounts the BPF file system at its usual place, as systemd does, if it is not mounted.
fn mount_bpffs() -> Result<(), KernelError> {
    let at = Path::new(BPFFS);
    let there = statfs(at).map_err(|e| trouble("look at", at)(e.into()))?;
    let mounted = there.filesystem_type() == BPF_FS_MAGIC;
    if ends_with_us(mounted) {
        return Err(KernelError::Pin {
            doing: "keep it loaded through",
            path: at.to_owned(),
            reason: "what is mounted there ends with this process, as under `ip netns exec`\n  \
                     load it outside: congestion controls are for all network namespaces"
                .to_owned(),
        });
    }
    if mounted {
        return Ok(());
    }
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    mount(Some("bpf"), at, Some("bpf"), flags, Some("mode=700"))
        .map_err(|e| trouble("mount the BPF file system at", at)(e.into()))
}

/// Whether a pin would be gone with this process: it has its own mounts, and not the machine's BPF
/// file system among them. The machine's mounts are those of its first process or, where that
/// cannot be seen, of our parent.
fn ends_with_us(mounted: bool) -> bool {
    let mounts = |process: &str| fs::read_link(format!("/proc/{process}/ns/mnt")).ok();
    let candidates = ["1".to_owned(), parent_id().to_string()];
    let Some(other) = candidates.iter().find(|process| mounts(process).is_some()) else {
        return false;
    };
    if mounts(other) == mounts("self") {
        return false;
    }
    let device = |path: &str| fs::metadata(path).ok().map(|m| m.dev());
    !mounted || device(&format!("/proc/{other}/root{BPFFS}")) != device(BPFFS)
}

/// The pins that exist, with the name that each file has.
pub(super) fn pins() -> Vec<(String, PathBuf)> {
    let Ok(folder) = fs::read_dir(FOLDER) else {
        return Vec::new();
    };
    folder
        .filter_map(|entry| {
            let entry = entry.ok()?;
            Some((entry.file_name().into_string().ok()?, entry.path()))
        })
        .collect()
}

/// Removes the pin of `name` and waits until TCP has forgotten the control.
pub(in crate::kernel) fn unload(name: &str) -> Result<u64, KernelError> {
    let entries = look::status()?;
    let found = entries
        .iter()
        .find(|e| e.name == name && e.holder != Holder::Nobody);
    let Some(entry) = found else {
        let names = entries
            .into_iter()
            .filter(|e| e.holder != Holder::Nobody)
            .map(|e| e.name)
            .collect();
        return Err(KernelError::NotLoaded {
            name: name.to_owned(),
            names,
        });
    };
    let path = match &entry.holder {
        Holder::Pin { path } => path,
        Holder::Process { pid, command } => {
            return Err(KernelError::Held {
                name: name.to_owned(),
                pid: *pid,
                command: command.clone(),
            });
        }
        Holder::Elsewhere | Holder::Nobody => {
            return Err(KernelError::Elsewhere {
                name: name.to_owned(),
            });
        }
    };
    if default().as_deref() == Some(name) {
        let fits = |n: &&String| !n.starts_with(PREFIX);
        let other = names().iter().find(fits).cloned().unwrap_or_default();
        return Err(KernelError::Default {
            name: name.to_owned(),
            other,
        });
    }
    // With a descriptor of ours open, closing it is what unregisters, and not
    // work that the kernel does some time after the file is gone.
    let link = Link::open(path).ok();
    fs::remove_file(path).map_err(trouble("remove", path))?;
    drop(link);
    // The kernel may give up the file itself a moment later.
    for _ in 0..200 {
        if !names().iter().any(|n| n == name) {
            break;
        }
        sleep(Duration::from_millis(10));
    }
    // Ours is empty again: leave nothing. It may not be, that is fine, too.
    let _ = fs::remove_dir(FOLDER);
    Ok(entry.users)
}
