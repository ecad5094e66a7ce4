//! Compiles every congestion control of `bpf/` for this machine and declares its
//! ops to Rust.

use std::fmt::Write as _;
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
    declare(&sources);
    sources.push(folder.join("native.c"));
    let mut library = cc::Build::new();
    for source in sources {
        let name = stem(&source);
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

/// `NAME` of `NAME.bpf.c`.
fn stem(source: &Path) -> String {
    let name = source.file_name().unwrap_or_default().to_string_lossy();
    name.split('.').next().unwrap_or_default().to_owned()
}

/// Writes `ops.rs`: the constants of the C, and a function from names to them.
fn declare(sources: &[PathBuf]) {
    let (mut statics, mut arms) = (String::new(), String::new());
    for name in sources.iter().map(|source| stem(source)) {
        let _ = writeln!(statics, "    static bp_{name}_ops: Ops;");
        let _ = writeln!(
            arms,
            "        // SAFETY: constant data, never written. The hooks touch only the socket\n        \
             // and the sample that they are given: that is what makes calling them\n        \
             // through a safe pointer sound.\n        \
             \"bp_{name}\" => Some(unsafe {{ &bp_{name}_ops }}),"
        );
    }
    let text = format!(
        "// SAFETY: each is a constant that build.rs compiles from bpf/, of the type that\n\
         // native.h gives it, whose layout a test compares.\n\
         unsafe extern \"C\" {{\n{statics}}}\n\n\
         /// The hooks of the control of that name.\n\
         pub(super) fn ops(name: &str) -> Option<&'static Ops> {{\n    \
         match name {{\n{arms}        _ => None,\n    }}\n}}\n"
    );
    let folder = std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR");
    std::fs::write(Path::new(&folder).join("ops.rs"), text).expect("OUT_DIR can be written");
}
