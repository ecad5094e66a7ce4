//! Compiles every congestion control of `bpf/` for this machine, declares its ops to
//! Rust, and embeds the headers.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

fn main() {
    let folder = folder();
    println!("cargo::rerun-if-changed={}", folder.display());
    // For the build script of bentpipe-linux, which compiles them for the kernel.
    println!("cargo::metadata=sources={}", folder.display());
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder)
        .expect("the folder bpf/ of the repository")
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    files.sort();
    let (mut sources, headers): (Vec<PathBuf>, Vec<PathBuf>) = files
        .into_iter()
        .partition(|path| path.to_string_lossy().ends_with(".bpf.c"));
    declare(&sources);
    embed(&headers);
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

/// The C sources: a published package holds them in itself. In the repository they are
/// at its root, to which `bpf` in this folder is a link, which Windows may not follow.
fn folder() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let own = here.join("bpf");
    if own.is_dir() {
        own
    } else {
        here.join("../../bpf")
    }
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
    write("ops.rs", &text);
}

/// Writes `headers.rs`: name and text of each file that a control is compiled against.
fn embed(headers: &[PathBuf]) {
    let mut table = String::from("&[\n");
    for path in headers {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let _ = writeln!(
            table,
            "    ({name:?}, include_str!({:?})),",
            path.display().to_string()
        );
    }
    table.push_str("]\n");
    write("headers.rs", &table);
}

/// Writes a file that the crate includes.
fn write(name: &str, text: &str) {
    let folder = std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR");
    std::fs::write(Path::new(&folder).join(name), text).expect("OUT_DIR can be written");
}
