//! Congestion controls that users bring along, and the registry of their names.
//!
//! An [`OwnControl`] is a name with a factory that makes one
//! [`CongestionControl`] per connection, and a fingerprint of its source. The
//! fingerprint is part of the hash of every scenario that uses the control, so
//! results of two versions never mix. Once [`register`]ed, a control is found by
//! its name wherever a built-in one is; whatever has resolved a name keeps the
//! version that it found.
//!
//! ```
//! use bentpipe_cc::own::{self, Definition, OwnControl};
//! use bentpipe_cc::{Ack, CongestionControl, Parameter, Parameters, Window, build};
//!
//! #[derive(Debug)]
//! struct Steady { step: f64 }
//!
//! impl CongestionControl for Steady {
//!     fn name(&self) -> &str { "steady" }
//!     fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
//!         window.cwnd += self.step * ack.acked / window.cwnd;
//!     }
//! }
//!
//! let definition = Definition {
//!     summary: "a constant number of segments a round trip".into(),
//!     parameters: vec![Parameter::of_number("step", 1.0, (0.1, 100.0), "segments", "growth")],
//!     ..Definition::new("steady", "8c1f6d")
//! };
//! let control = OwnControl::new(definition, |parameters: &Parameters| {
//!     Ok(Box::new(Steady { step: parameters.number("step") }))
//! })?;
//! own::register(control)?;
//! assert_eq!(build("steady", &Parameters::new().with("step", 2.0))?.name(), "steady");
//! assert!(build("stedy", &Parameters::new()).unwrap_err().to_string().contains("`steady`"));
//! # Ok::<(), bentpipe_cc::BuildError>(())
//! ```

use crate::parameter::Reader;
use crate::watch::Watch;
use crate::{
    BuildError, CongestionControl, Controller, Described, Family, Parameter, Parameters,
    TransportDefaults, registry,
};
use bentpipe_units::Time;
use serde::Serialize;
use serde::ser::SerializeStruct as _;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

/// Longest name of a control.
const LONGEST_NAME: usize = 40;

/// The declaration of a user's control, without its code.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    /// As scenarios write it: a letter, then letters, digits, `-`, `_` and `.`.
    pub name: String,
    /// One-line summary.
    pub summary: String,
    /// Where its source is: a file, or a class with its module.
    pub origin: String,
    /// A hash of its source, and of everything else that decides what it does.
    pub fingerprint: String,
    /// Its parameters.
    pub parameters: Vec<Parameter>,
    /// The transport of the same name.
    pub transport: TransportDefaults,
}

impl Definition {
    /// A control without parameters, whose transport leaves everything to the host
    /// profile.
    #[must_use]
    pub fn new(name: impl Into<String>, fingerprint: impl Into<String>) -> Definition {
        Definition {
            name: name.into(),
            summary: String::new(),
            origin: String::new(),
            fingerprint: fingerprint.into(),
            parameters: Vec::new(),
            transport: TransportDefaults::default(),
        }
    }
}

/// Makes the congestion control of one connection from a value for every
/// parameter; an error is a message for people.
type Factory =
    dyn Fn(&Parameters) -> Result<Box<dyn CongestionControl>, String> + Send + Sync + 'static;

/// A congestion control that a user brings along. Cheap to clone.
#[derive(Clone)]
pub struct OwnControl(Arc<Inner>);

struct Inner {
    described: &'static Described,
    fingerprint: String,
    make: Box<Factory>,
    kernel: Option<KernelForm>,
}

/// Compiles a control for the kernel; an error is a message for people.
type Compile = dyn Fn() -> Result<Vec<u8>, String> + Send + Sync + 'static;

/// The kernel's counterpart of a control.
pub struct KernelForm {
    control: &'static bentpipe_bpf::Control,
    compile: Box<Compile>,
}

impl KernelForm {
    /// The control with its parameters, and what compiles its source to an eBPF object.
    #[must_use]
    pub fn new(
        control: &'static bentpipe_bpf::Control,
        compile: impl Fn() -> Result<Vec<u8>, String> + Send + Sync + 'static,
    ) -> KernelForm {
        KernelForm {
            control,
            compile: Box::new(compile),
        }
    }

    /// Its parameters in the order of the words that the kernel's object reads.
    #[must_use]
    pub fn control(&self) -> &'static bentpipe_bpf::Control {
        self.control
    }

    /// The object for the kernel.
    ///
    /// # Errors
    /// Why it cannot be compiled.
    pub fn object(&self) -> Result<Vec<u8>, String> {
        (self.compile)()
    }
}

impl OwnControl {
    /// A control of that definition; `make` is called once per connection, from
    /// any thread, with a value for every parameter.
    ///
    /// The definition lives until the program ends, a few hundred bytes for each
    /// call.
    ///
    /// # Errors
    /// If the name has a form that scenarios and command lines cannot take.
    pub fn new(
        definition: Definition,
        make: impl Fn(&Parameters) -> Result<Box<dyn CongestionControl>, String> + Send + Sync + 'static,
    ) -> Result<OwnControl, BuildError> {
        let Definition {
            name,
            summary,
            origin,
            fingerprint,
            parameters,
            transport,
        } = definition;
        if !is_name(&name) {
            return Err(BuildError::Name { name });
        }
        let described = Described {
            name: name.leak(),
            summary: summary.leak(),
            source: origin.leak(),
            family: Family::Own,
            parameters: parameters.leak(),
            transport,
            ..Described::NEW
        };
        Ok(OwnControl(Arc::new(Inner {
            described: Box::leak(Box::new(described)),
            fingerprint,
            make: Box::new(make),
            kernel: None,
        })))
    }

    /// The same, which the kernel can run as well. Nothing changes in a control that
    /// has been copied already.
    #[must_use]
    pub fn in_the_kernel(mut self, form: KernelForm) -> OwnControl {
        if let Some(inner) = Arc::get_mut(&mut self.0) {
            inner.kernel = Some(form);
        }
        self
    }

    /// What it is in the kernel; `None` where it is simulated only.
    #[must_use]
    pub fn kernel(&self) -> Option<&KernelForm> {
        self.0.kernel.as_ref()
    }

    /// As scenarios write it.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.0.described.name
    }

    /// Its declaration, in the form of the built-in ones.
    #[must_use]
    pub fn described(&self) -> &'static Described {
        self.0.described
    }

    /// The hash of its source.
    #[must_use]
    pub fn fingerprint(&self) -> &str {
        &self.0.fingerprint
    }

    /// The control of one connection; what `parameters` leave out has its default.
    ///
    /// # Errors
    /// When a parameter is unknown or out of range, or the factory fails.
    pub fn build(&self, parameters: &Parameters) -> Result<Controller, BuildError> {
        let described = self.0.described;
        let reader = Reader::new(described.name, described.parameters, parameters)?;
        let all = reader.all(described.parameters)?;
        Watch::new().tell(described.name, "new", Time::ZERO);
        let made = crate::guard::caught(|| (self.0.make)(&all)).and_then(|made| made);
        made.map(|control| Controller::own(described.name, control))
            .map_err(|reason| BuildError::Own {
                name: described.name,
                reason,
            })
    }
}

impl fmt::Debug for OwnControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnControl")
            .field("name", &self.name())
            .field("fingerprint", &self.0.fingerprint)
            .finish_non_exhaustive()
    }
}

/// The same name and source.
impl PartialEq for OwnControl {
    fn eq(&self, other: &OwnControl) -> bool {
        self.name() == other.name() && self.0.fingerprint == other.0.fingerprint
    }
}

impl Eq for OwnControl {}

impl Serialize for OwnControl {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut own = serializer.serialize_struct("OwnControl", 2)?;
        own.serialize_field("name", self.name())?;
        own.serialize_field("fingerprint", &self.0.fingerprint)?;
        own.end()
    }
}

fn is_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    name.len() <= LONGEST_NAME
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(plain)
}

pub use crate::watch::watch;

static REGISTERED: RwLock<Vec<OwnControl>> = RwLock::new(Vec::new());

/// Makes `control` known by its name in this process. A control that was
/// registered under the name before gives way to it.
///
/// Transports that are not named after a congestion control are checked by
/// `bentpipe_tcp::register_control`, which calls this.
///
/// # Errors
/// If a built-in control has the name.
pub fn register(control: OwnControl) -> Result<(), BuildError> {
    if let Some(taken) = registry::built_in(control.name()) {
        return Err(BuildError::Taken {
            name: control.name(),
            origin: control.described().source,
            by: taken.summary,
        });
    }
    let mut all = REGISTERED.write().unwrap_or_else(PoisonError::into_inner);
    match all.iter_mut().find(|have| have.name() == control.name()) {
        Some(have) => *have = control,
        None => all.push(control),
    }
    Ok(())
}

/// Forgets the control of that name; what has resolved the name keeps it.
pub fn unregister(name: &str) -> Option<OwnControl> {
    let mut all = REGISTERED.write().unwrap_or_else(PoisonError::into_inner);
    let at = all.iter().position(|have| have.name() == name)?;
    Some(all.remove(at))
}

/// Every registered control, in the order of registration.
#[must_use]
pub fn registered() -> Vec<OwnControl> {
    let all = REGISTERED.read().unwrap_or_else(PoisonError::into_inner);
    all.clone()
}

/// The registered control of that name.
#[must_use]
pub fn find(name: &str) -> Option<OwnControl> {
    let all = REGISTERED.read().unwrap_or_else(PoisonError::into_inner);
    all.iter().find(|have| have.name() == name).cloned()
}

#[cfg(test)]
mod tests;
