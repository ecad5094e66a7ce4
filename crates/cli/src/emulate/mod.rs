//! `bentpipe emulate`: the links of a scenario, live.

#[cfg(all(feature = "linux", target_os = "linux"))]
mod capture;
#[cfg(all(feature = "linux", target_os = "linux"))]
mod live;
#[cfg(all(feature = "linux", target_os = "linux"))]
mod quick;
#[cfg(all(feature = "linux", target_os = "linux"))]
mod report;
#[cfg(all(feature = "linux", target_os = "linux"))]
mod status;

#[cfg(all(feature = "linux", target_os = "linux"))]
pub(crate) use live::main;

/// Says how to get it.
#[cfg(not(all(feature = "linux", target_os = "linux")))]
pub(crate) fn main(
    _: &crate::args::Emulate,
    _: &mut crate::output::Output,
) -> Result<crate::exit::Status, crate::exit::Failure> {
    Err(crate::exit::Failure::new(if cfg!(target_os = "linux") {
        "this build has no emulator\n  build it with `make`, or with `cargo build --release \
         --features linux`"
    } else {
        "the emulator needs Linux"
    }))
}
