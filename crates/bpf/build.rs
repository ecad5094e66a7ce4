//! Compiles every congestion control of `bpf/` for this machine.

use std::path::{Path, PathBuf};

fn main() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bpf");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut sources: Vec<PathBuf> = std::fs::read_dir(&folder)
        .expect("the folder bpf/ of the repository")
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.to_string_lossy().ends_with(".bpf.c"))
        .collect();
    sources.sort();
    sources.push(folder.join("native.c"));
    let mut library = cc::Build::new();
    for source in sources {
        let name = source.file_name().unwrap_or_default().to_string_lossy();
        let name = name.split('.').next().unwrap_or_default();
        // Each file gets its own name for its ops.
        let objects = cc::Build::new()
            .file(&source)
            .include(&folder)
            .define("BENTPIPE_NATIVE", None)
            .define("BENTPIPE_OPS", Some(format!("bp_{name}_ops").as_str()))
            .flag_if_supported("-std=gnu11")
            .opt_level(2)
            .warnings(true)
            .extra_warnings(true)
            .compile_intermediates();
        library.objects(objects);
    }
    library.compile("bentpipe_controls");
}
