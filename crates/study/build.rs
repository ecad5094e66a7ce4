//! Tells the crate which sources of the engine it is built with: see `sources.rs`.

mod sources;

use std::path::PathBuf;

fn main() {
    let own =
        PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo says where it is"));
    println!("cargo::rerun-if-changed=sources.rs");
    let files = sources::files(&own);
    for folder in sources::folders(&own) {
        println!("cargo::rerun-if-changed={}", folder.display());
    }
    let fingerprint = match files.as_slice() {
        [] => "release".to_owned(),
        files => sources::fingerprint(&own, files).expect("the sources can be read"),
    };
    println!("cargo::rustc-env=BENTPIPE_BUILD={fingerprint}");
}
