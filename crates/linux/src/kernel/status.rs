//! What `status` tells about the congestion controls in the kernel.

use bentpipe_bpf::{Control, Parameter};
use std::path::PathBuf;

/// The holder that keeps a congestion control loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Holder {
    /// A file in the BPF file system: it stays until it is unloaded, or until
    /// the machine restarts.
    Pin {
        /// Path of the pin.
        path: PathBuf,
    },
    /// A process: it goes away with it.
    Process {
        /// Process number.
        pid: u32,
        /// Command line of the process.
        command: String,
    },
    /// Something that cannot be seen from here: a process in another container,
    /// or a pin that bentpipe has not made.
    Elsewhere,
    /// Nothing any more: it is unloaded, no new socket can choose it, and those that have it keep
    /// it until they close.
    Nobody,
}

/// A program of a loaded congestion control, and what it costs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// Its name, of which the kernel keeps 15 characters.
    pub name: String,
    /// Instructions that it has in the kernel.
    pub instructions: usize,
    /// Instructions that the verifier walked through on all paths to let it in;
    /// the limit is a million.
    pub verified: u32,
    /// Bytes of machine code.
    pub machine_code: usize,
}

/// A congestion control of ours in the kernel.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The name that programs choose it by.
    pub name: String,
    /// Which one it is, if it is one of this build.
    pub control: Option<&'static Control>,
    /// Its parameters as the C reads them: words in the order of the catalogue.
    pub words: Vec<u64>,
    /// What uses it now, by the kernel's own count: sockets, those in other
    /// network namespaces included, and namespaces whose default it is.
    pub users: u64,
    /// The holder that keeps it loaded.
    pub holder: Holder,
    /// Its eBPF programs.
    pub programs: Vec<Program>,
}

impl Entry {
    /// Each parameter with the text of its value; none if the control is not
    /// of this build.
    pub fn parameters(&self) -> impl Iterator<Item = (&'static Parameter, String)> + '_ {
        let mut rest = self.words.as_slice();
        let parameters = self.control.map_or(&[][..], |control| control.parameters);
        parameters.iter().map_while(move |parameter| {
            let (words, after) = rest.split_at_checked(parameter.width())?;
            rest = after;
            Some((parameter, parameter.write(words)))
        })
    }
}
