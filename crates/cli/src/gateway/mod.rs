//! `bentpipe gateway`: the split-TCP gateway.

#[cfg(all(feature = "gateway", target_os = "linux"))]
mod check;
#[cfg(all(feature = "gateway", target_os = "linux"))]
mod doctor;
#[cfg(all(feature = "gateway", target_os = "linux"))]
mod file;
#[cfg(all(feature = "gateway", target_os = "linux"))]
mod keys;
#[cfg(all(feature = "gateway", target_os = "linux"))]
mod new;
#[cfg(all(feature = "gateway", target_os = "linux"))]
mod real;
#[cfg(all(feature = "gateway", target_os = "linux"))]
mod status;

#[cfg(not(all(feature = "gateway", target_os = "linux")))]
mod real {
    //! A build without the gateway says so.

    use crate::args::Gateway;
    use crate::exit::{Failure, Status};
    use crate::output::Output;

    pub(crate) fn main(_: &Gateway, _: &mut Output) -> Result<Status, Failure> {
        Err(Failure::new(if cfg!(target_os = "linux") {
            "this build has no gateway\n  build it with `make`, or with `cargo build --release \
             --features gateway`"
        } else {
            "the gateway needs Linux"
        }))
    }
}

pub(crate) use real::main;
