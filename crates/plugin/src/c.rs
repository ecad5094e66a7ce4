//! Controls from C files of the kernel's form.

use crate::sources::Sources;
use crate::{LoadError, cache};
use bentpipe_bpf::{Control, HEADERS, Hooks, OPS_SYMBOL};
use bentpipe_cc::OwnControl;
use bentpipe_cc::algorithms::kernel;
use bentpipe_cc::own::KernelForm;
use bentpipe_units::Fnv128;
use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Parameters that every control has: not the file's own.
const COMMON: u32 = 2;

const HELP: &str = "install one (Debian: apt-get install gcc; macOS: xcode-select --install), or \
                    name it in the variable CC";

/// The control in the C file at `path`.
pub(crate) fn load(
    name: Option<&str>,
    path: &Path,
    sources: &Sources,
) -> Result<OwnControl, LoadError> {
    let wrong = |source| LoadError::Source {
        path: path.to_owned(),
        source,
    };
    // Before the compiler, which takes longer.
    Control::from_source("check", "", &sources.text).map_err(wrong)?;
    let library = compile(path, &sources.hash)?;
    let (hooks, reads) = Hooks::open(&library).map_err(|source| LoadError::Open {
        path: path.to_owned(),
        source,
    })?;
    let name = name.map_or_else(|| hooks.name(), str::to_owned);
    let file = path.display().to_string();
    let control = Control::from_source(&name, &file, &sources.text).map_err(wrong)?;
    let declares = (control.width() as u32).saturating_sub(COMMON);
    let reads = reads.unwrap_or(COMMON).saturating_sub(COMMON);
    if reads != declares {
        return Err(LoadError::Parameters {
            path: path.to_owned(),
            reads,
            declares,
        });
    }
    let own = kernel::own(control, hooks, &sources.hash);
    let own = own.map_err(|source| LoadError::Build {
        path: path.to_owned(),
        source: Box::new(source),
    })?;
    let (source, hash) = (path.to_owned(), sources.hash.clone());
    let form = KernelForm::new(control, move || {
        kernel_object(&source, &hash).map_err(|e| e.to_string())
    });
    Ok(own.in_the_kernel(form))
}

/// The folder with our headers, by their hash.
fn headers() -> Result<PathBuf, LoadError> {
    let mut hash = Fnv128::default();
    for (name, text) in HEADERS {
        hash.update(name.as_bytes());
        hash.update(text.as_bytes());
    }
    cache::files(&format!("headers-{:032x}", hash.value()), HEADERS)
}

/// The shared library of the C at `path`, whose sources have this hash.
fn compile(path: &Path, hash: &str) -> Result<PathBuf, LoadError> {
    let compiler = env::var_os("CC").filter(|name| !name.is_empty());
    let compiler = compiler.unwrap_or_else(|| "cc".into());
    let mut by = Fnv128::default();
    by.update(compiler.as_encoded_bytes());
    let suffix = env::consts::DLL_SUFFIX;
    let name = format!("{hash}-{:08x}{suffix}", by.value() as u32);
    cache::file(&name, |library| {
        let headers = headers()?;
        let mut command = Command::new(&compiler);
        command
            .args(["-std=gnu11", "-O2", "-fPIC", "-shared", "-Wall", "-Wextra"])
            // Fractions are computed the same on every machine.
            .arg("-ffp-contract=off")
            .args(["-DBENTPIPE_NATIVE", "-DBENTPIPE_LOADED"])
            .arg(format!("-DBENTPIPE_OPS={OPS_SYMBOL}"))
            .arg("-I")
            .arg(&headers)
            .arg(path)
            .arg(headers.join("native.c"))
            .arg("-o")
            .arg(library);
        let said = run(&compiler, command, "compiles congestion controls", HELP)?;
        said.map_err(|said| failed(path, &compiler, said))
    })
}

/// The object for the kernel of the C at `path`, whose sources have this hash: eBPF
/// with BTF.
fn kernel_object(path: &Path, hash: &str) -> Result<Vec<u8>, LoadError> {
    let now = crate::sources::of_c(path)?;
    if now.hash != hash {
        return Err(LoadError::Library {
            path: path.to_owned(),
            reason: "it has changed since the simulator loaded it: run the command again"
                .to_owned(),
        });
    }
    let clang = env::var_os("CLANG").unwrap_or_else(|| "clang".into());
    let help = "install it (Debian: apt-get install clang), or name it in the variable CLANG";
    let object = cache::file(&format!("{hash}.bpf.o"), |object| {
        let mut command = Command::new(&clang);
        command
            .args([
                "-O2", "-g", "-target", "bpf", "-mcpu=v3", "-Wall", "-c", "-I",
            ])
            .arg(headers()?)
            .arg("-Dparameters=parameters_of_own")
            .arg(path)
            .arg("-o")
            .arg(object);
        let said = run(&clang, command, "compiles C for the kernel", help)?;
        said.map_err(|said| failed(path, &clang, said))
    })?;
    std::fs::read(&object).map_err(|e| LoadError::read(&object, &e))
}

fn failed(path: &Path, program: &OsStr, said: String) -> LoadError {
    LoadError::Compile {
        path: path.to_owned(),
        program: program.to_string_lossy().into_owned(),
        said,
    }
}

/// Runs a compiler: what it said, if it failed.
pub(crate) fn run(
    program: &OsStr,
    mut command: Command,
    purpose: &'static str,
    help: &'static str,
) -> Result<Result<(), String>, LoadError> {
    let output = command.output().map_err(|e| LoadError::NoCompiler {
        program: program.to_string_lossy().into_owned(),
        purpose,
        reason: e.to_string(),
        help,
    })?;
    if output.status.success() {
        return Ok(Ok(()));
    }
    let said = OsString::from(String::from_utf8_lossy(&output.stderr).trim_end());
    Ok(Err(said.to_string_lossy().into_owned()))
}
