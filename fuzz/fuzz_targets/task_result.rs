//! No result that a worker sends makes the collector of a study panic, or is taken for
//! another's.

#![no_main]

use libfuzzer_sys::fuzz_target;
use std::path::PathBuf;
use std::sync::LazyLock;

/// A folder of this process, in memory where that can be: each input writes a study.
static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    let memory = PathBuf::from("/dev/shm");
    let base = if memory.is_dir() {
        memory
    } else {
        std::env::temp_dir()
    };
    let folder = base.join(format!("bentpipe-fuzz-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
});

fuzz_target!(|bytes: &[u8]| {
    bentpipe_study::fuzz_task(bytes, &FOLDER);
});
