//! Processes that hold BPF links, from `/proc`.

use crate::kernel::Holder;
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The links of `links` (by number) that processes have open, and which: of
/// several the one with the lowest number, since a child that is about to run a
/// program has the files of its parent for a moment.
pub(super) fn processes(links: &HashMap<u32, u32>) -> HashMap<u32, Holder> {
    let mut found = HashMap::new();
    if links.is_empty() {
        return found;
    }
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let mut pids: Vec<u32> = entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect();
    pids.sort_unstable();
    for pid in pids {
        let process = PathBuf::from(format!("/proc/{pid}"));
        // Processes end while we look, and threads of the kernel have none.
        for file in fs::read_dir(process.join("fd"))
            .into_iter()
            .flatten()
            .flatten()
        {
            let bpf =
                fs::read_link(file.path()).is_ok_and(|to| to.to_string_lossy().contains("bpf"));
            if !bpf {
                continue;
            }
            let info = process.join("fdinfo").join(file.file_name());
            let Some(link) = fs::read_to_string(info).ok().as_deref().and_then(link_id) else {
                continue;
            };
            if links.contains_key(&link) {
                found.entry(link).or_insert_with(|| Holder::Process {
                    pid,
                    command: command(&process),
                });
            }
        }
    }
    found
}

fn command(process: &Path) -> String {
    fs::read_to_string(process.join("comm"))
        .map(|comm| comm.trim().to_owned())
        .unwrap_or_default()
}

/// The number of the link in a file of `/proc/PID/fdinfo`.
fn link_id(info: &str) -> Option<u32> {
    info.lines()
        .find_map(|line| line.strip_prefix("link_id:"))?
        .trim()
        .parse()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_known_by_its_number() {
        let info = "pos:\t0\nflags:\t02000000\nlink_type:\tstruct_ops\nlink_id:\t17\n";
        assert_eq!(link_id(info), Some(17));
        assert_eq!(link_id("pos:\t0\n"), None);
    }
}
