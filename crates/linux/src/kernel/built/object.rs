//! From an object of clang to a congestion control in the kernel.
//!
//! An object has one struct_ops map `ops` and its parameters as 64-bit words in
//! the section `.rodata.parameters`. Name and parameters are written into the
//! initial values of these maps before the kernel sees them, so that the
//! verifier knows the parameters as constants.

use super::log::{listening, rejection};
use crate::kernel::{KernelError, taken};
use bentpipe_bpf::{Control, Values};
use libbpf_rs::btf::ReferencesType as _;
use libbpf_rs::btf::types::{FuncProto, MemberAttr, Ptr, Struct};
use libbpf_rs::{Btf, ErrorKind, Link, MapCore as _, Object, ObjectBuilder, OpenObject};

/// The objects of this build, by the name of their source.
static OBJECTS: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/objects.rs"));

/// The map with the operations.
const OPS: &str = "ops";
/// The map with the parameters.
const PARAMETERS: &str = ".rodata.parameters";
/// The constant with the number of arguments of the kernel's `cong_control`, in objects that have
/// this hook.
const KERNEL: &str = ".rodata.kernel";
/// Length of the field for the name, its final zero included.
const NAME_FIELD: usize = 16;

/// A loaded object, registered with TCP while the link lives.
#[derive(Debug)]
pub(in crate::kernel) struct Attached {
    /// Before the object, which the link points into.
    pub(super) link: Link,
    _object: Object,
}

/// The object that was compiled from `source`.
pub(super) fn find(source: &str) -> Option<&'static [u8]> {
    OBJECTS
        .iter()
        .find(|(name, _)| *name == source)
        .map(|&(_, object)| object)
}

/// What the build calls the array of parameters in an object's BTF, so that a
/// loaded control can be told from others.
pub(super) fn parameters_array(source: &str) -> String {
    let stem = source.strip_suffix(".bpf.c").unwrap_or(source);
    format!("parameters_of_{stem}")
}

/// Loads a control of the catalogue and registers it as `name`.
pub(in crate::kernel) fn load(
    control: &Control,
    values: &Values,
    name: &str,
) -> Result<Attached, KernelError> {
    let object = find(control.source).ok_or_else(|| KernelError::BadObject {
        object: control.source.to_owned(),
        reason: "this build has none of that name".to_owned(),
    })?;
    load_object(control.source, object, values.words(), name)
}

/// Loads any object of the same form.
pub(in crate::kernel) fn load_object(
    file: &str,
    object: &[u8],
    parameters: &[u64],
    name: &str,
) -> Result<Attached, KernelError> {
    let (result, said) = listening(|| {
        let mut open = open(object)?;
        let place = Place::find(file, object)?;
        prepare(&mut open, &place, parameters, name)?;
        let mut object = open.load().map_err(|e| Trouble::Load(format!("{e:#}")))?;
        let link = register(&mut object)?;
        Ok(Attached {
            link,
            _object: object,
        })
    });
    result.map_err(|trouble: Trouble| trouble.explain(file, name, said))
}

/// The error, without libbpf's message.
enum Trouble {
    /// It is not of the form that the loader knows.
    Form(String),
    /// libbpf cannot read it.
    Open(String),
    /// The kernel does not take it.
    Load(String),
    /// Another process has taken the name in the meantime.
    Taken,
    /// TCP does not take it.
    Register(String),
}

impl Trouble {
    fn explain(self, file: &str, name: &str, said: String) -> KernelError {
        let system = |doing: &str, reason: String, log: String| KernelError::System {
            doing: format!("{doing} {file}"),
            reason,
            log,
        };
        match self {
            Trouble::Form(reason) => KernelError::BadObject {
                object: file.to_owned(),
                reason,
            },
            Trouble::Open(reason) => system("read", reason, said),
            Trouble::Load(reason) => match rejection(&said) {
                Some((program, log)) => KernelError::Rejected { program, log },
                None => system("load", reason, said),
            },
            Trouble::Taken => taken(name),
            Trouble::Register(reason) => system("register", reason, said),
        }
    }
}

fn open(object: &[u8]) -> Result<OpenObject, Trouble> {
    ObjectBuilder::default()
        .open_memory(object)
        .map_err(|e| Trouble::Open(format!("{e:#}")))
}

/// Offset of the name in the object's `struct tcp_congestion_ops`.
struct Place {
    name: usize,
}

impl Place {
    fn find(file: &str, object: &[u8]) -> Result<Place, Trouble> {
        let missing = || Trouble::Form("it does not say where the name stands".to_owned());
        let btf = Btf::from_raw(file, object)
            .ok()
            .flatten()
            .ok_or_else(missing)?;
        let ops: Struct<'_> = btf.type_by_name("tcp_congestion_ops").ok_or_else(missing)?;
        let name = offset(&ops, "name").ok_or_else(missing)?;
        Ok(Place { name })
    }
}

/// Offset of a member in bytes.
pub(super) fn offset(of: &Struct<'_>, member: &str) -> Option<usize> {
    let found = of.iter().find(|m| m.name.is_some_and(|n| n == member))?;
    match found.attr {
        MemberAttr::Normal { offset } => Some(offset as usize / 8),
        MemberAttr::BitField { .. } => None,
    }
}

/// Writes name and parameters into the maps.
fn prepare(
    open: &mut OpenObject,
    place: &Place,
    parameters: &[u64],
    name: &str,
) -> Result<(), Trouble> {
    let (mut named, mut set) = (false, parameters.is_empty());
    for mut map in open.maps_mut() {
        if map.name() == OPS {
            let field = map
                .initial_value_mut()
                .and_then(|ops| ops.get_mut(place.name..place.name + NAME_FIELD))
                .ok_or_else(|| Trouble::Form("its map `ops` has no room for a name".to_owned()))?;
            field.fill(0);
            field[..name.len()].copy_from_slice(name.as_bytes());
            named = true;
        } else if map.name() == PARAMETERS {
            let words = map.initial_value_mut().unwrap_or_default();
            if words.len() != parameters.len() * 8 {
                return Err(Trouble::Form(format!(
                    "it has {} parameters, and {} are given",
                    words.len() / 8,
                    parameters.len()
                )));
            }
            for (word, parameter) in words.chunks_exact_mut(8).zip(parameters) {
                word.copy_from_slice(&parameter.to_ne_bytes());
            }
            set = true;
        } else if map.name() == KERNEL {
            let word = map.initial_value_mut().and_then(|v| v.get_mut(..4));
            let word = word.ok_or_else(|| Trouble::Form(format!("its `{KERNEL}` is too short")))?;
            word.copy_from_slice(&cong_control_arguments()?.to_ne_bytes());
        }
    }
    if !named {
        return Err(Trouble::Form("it has no struct_ops map `ops`".to_owned()));
    }
    if !set {
        return Err(Trouble::Form(format!(
            "parameters are given, and it has no section `{PARAMETERS}`"
        )));
    }
    Ok(())
}

/// How many arguments `cong_control` has: `(sk, rs)` became `(sk, ack, flag,
/// rs)` in 6.10, and distributions carry changes back.
fn cong_control_arguments() -> Result<u32, Trouble> {
    let unknown = || Trouble::Form("the kernel's BTF has no `cong_control`".to_owned());
    let btf = Btf::from_vmlinux().map_err(|e| Trouble::Open(format!("{e:#}")))?;
    let ops: Struct<'_> = btf.type_by_name("tcp_congestion_ops").ok_or_else(unknown)?;
    let hook = ops
        .iter()
        .find(|m| m.name.is_some_and(|n| n == "cong_control"))
        .ok_or_else(unknown)?;
    let pointer: Ptr<'_> = btf.type_by_id(hook.ty).ok_or_else(unknown)?;
    let function: FuncProto<'_> = btf
        .type_by_id(pointer.referenced_type_id())
        .ok_or_else(unknown)?;
    u32::try_from(function.len()).map_err(|_| unknown())
}

/// Makes the control known to TCP.
fn register(object: &mut Object) -> Result<Link, Trouble> {
    let mut ops = object
        .maps_mut()
        .find(|map| map.name() == OPS)
        .ok_or_else(|| Trouble::Form("it has no struct_ops map `ops`".to_owned()))?;
    ops.attach_struct_ops().map_err(|e| match e.kind() {
        ErrorKind::AlreadyExists => Trouble::Taken,
        _ => Trouble::Register(format!("{e:#}")),
    })
}
