//! With the feature `kernel`: compiles the congestion controls of `bpf/` for
//! the kernel and writes the table of objects that `kernel::object` embeds.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    if env::var_os("CARGO_FEATURE_KERNEL").is_none()
        || env::var("CARGO_CFG_TARGET_OS").as_deref() != Ok("linux")
    {
        println!("cargo::rerun-if-changed=build.rs");
        return ExitCode::SUCCESS;
    }
    match embed() {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            for line in why.lines() {
                println!("cargo::error={line}");
            }
            ExitCode::FAILURE
        }
    }
}

/// Compiles each `*.bpf.c` and lists name and object in `objects.rs`.
fn embed() -> Result<(), String> {
    for name in ["CLANG", "LLVM_STRIP"] {
        println!("cargo::rerun-if-env-changed={name}");
    }
    // The build script of bentpipe-bpf says where they are.
    let sources = PathBuf::from(variable("DEP_BENTPIPE_CONTROLS_SOURCES")?);
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={}", sources.display());
    let out = PathBuf::from(variable("OUT_DIR")?);
    let clang = env::var_os("CLANG").unwrap_or_else(|| "clang".into());

    let mut table = String::from("&[\n");
    for source in listing(&sources)? {
        let Some(name) = source.file_name().and_then(OsStr::to_str) else {
            continue;
        };
        let Some(stem) = name.strip_suffix(".bpf.c") else {
            continue;
        };
        let object = out.join(format!("{stem}.bpf.o"));
        compile(&clang, &sources, name, &object)?;
        strip(&clang, &object);
        writeln!(
            table,
            "    ({name:?}, include_bytes!({:?}).as_slice()),",
            object.display().to_string()
        )
        .map_err(|e| e.to_string())?;
    }
    table.push_str("]\n");
    fs::write(out.join("objects.rs"), table).map_err(|e| format!("cannot write objects.rs: {e}"))
}

/// The files of a folder, sorted, so that builds are the same.
fn listing(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let read = |e| format!("cannot read {}: {e}", folder.display());
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(read)? {
        files.push(entry.map_err(read)?.path());
    }
    files.sort();
    Ok(files)
}

fn variable(name: &str) -> Result<OsString, String> {
    env::var_os(name).ok_or_else(|| format!("cargo has not set {name}"))
}

/// `-mcpu=v3` (jumps on 32-bit halves) is known to every kernel that has links
/// for struct_ops; `-g` gives the BTF without which nothing loads. The sources
/// are compiled in their own folder, so that no path of this machine gets into
/// the object.
///
/// All sources call their parameters `parameters`; the array is renamed after
/// the source, which tells a loaded control from others.
fn compile(clang: &OsStr, folder: &Path, source: &str, object: &Path) -> Result<(), String> {
    let stem = source.trim_end_matches(".bpf.c");
    let run = Command::new(clang)
        .current_dir(folder)
        .args(["-O2", "-g", "-target", "bpf", "-mcpu=v3", "-Wall", "-c"])
        .arg("-fdebug-compilation-dir=.")
        .arg(format!("-Dparameters=parameters_of_{stem}"))
        .arg(source)
        .arg("-o")
        .arg(object)
        .output()
        .map_err(|e| {
            format!(
                "cannot run `{}`: {e}\n\
                 The feature `kernel` compiles congestion controls for the kernel with clang: \
                 install it (Debian: apt-get install clang llvm libelf-dev zlib1g-dev), name it \
                 in the variable CLANG, or build without that feature.",
                clang.to_string_lossy()
            )
        })?;
    let said = String::from_utf8_lossy(&run.stderr);
    if !run.status.success() {
        return Err(format!("clang cannot compile {source}:\n{said}"));
    }
    for line in said.lines() {
        println!("cargo::warning={line}");
    }
    Ok(())
}

/// Drops the debug information that only debuggers read; BTF stays. Objects
/// load with it, too, so that a missing tool only makes them larger.
fn strip(clang: &OsStr, object: &Path) {
    let tool = env::var_os("LLVM_STRIP").unwrap_or_else(|| beside(clang, "llvm-strip"));
    let done = Command::new(&tool).arg("-g").arg(object).status();
    if !done.is_ok_and(|status| status.success()) {
        println!(
            "cargo::warning=`{}` does not work: the embedded kernel objects are larger than they \
             need to be",
            tool.to_string_lossy()
        );
    }
}

/// The tool that belongs to this clang, which may have a version in its name.
fn beside(clang: &OsStr, tool: &str) -> OsString {
    Command::new(clang)
        .arg(format!("-print-prog-name={tool}"))
        .output()
        .ok()
        .and_then(|run| String::from_utf8(run.stdout).ok())
        .map(|path| path.trim().to_owned())
        .filter(|path| !path.is_empty())
        .map_or_else(|| tool.into(), OsString::from)
}
