//! Reads the struct_ops maps of the loaded congestion controls back from the kernel, with the
//! kernel's own type information.

use super::fdinfo::processes;
use super::object::{offset, parameters_array};
use super::pin::pins;
use crate::kernel::{Entry, Holder, KernelError, PREFIX, Program};
use bentpipe_bpf::{CONTROLS, Control};
use libbpf_rs::btf::BtfKind;
use libbpf_rs::btf::types::{Ptr, Struct, Var};
use libbpf_rs::btf::{ReferencesType as _, TypeId};
use libbpf_rs::query::{
    LinkInfoIter, LinkTypeInfo, MapInfo, MapInfoIter, ProgInfoIter, ProgInfoQueryOptions,
    ProgramInfo,
};
use libbpf_rs::{Btf, Link, MapCore as _, MapFlags, MapHandle, MapType, ProgramType};
use std::collections::HashMap;

/// The kernel keeps 15 characters of `.rodata.parameters`.
const PARAMETERS: &str = ".rodata.paramet";

/// Bytes of an instruction.
const INSTRUCTION: usize = 8;

/// The congestion controls of ours in the kernel, by name.
pub(in crate::kernel) fn status() -> Result<Vec<Entry>, KernelError> {
    let missing = crate::kernel::available::missing_to_look();
    if !missing.is_empty() {
        return Err(KernelError::NotPermitted {
            missing: missing.join(", "),
        });
    }
    let Some(shape) = Shape::of_kernel() else {
        return Err(KernelError::NoBtf);
    };
    let maps: Vec<MapInfo> = MapInfoIter::default()
        .filter(|m| m.ty == MapType::StructOps && m.btf_vmlinux_value_type_id == shape.id)
        .collect();
    let mut entries = Vec::new();
    if maps.is_empty() {
        return Ok(entries);
    }
    let programs = programs();
    // Number of the map by number of the link.
    let links: HashMap<u32, u32> = LinkInfoIter::default()
        .filter_map(|link| match link.info {
            LinkTypeInfo::StructOps(ops) => Some((link.id, ops.map_id)),
            _ => None,
        })
        .collect();
    let holders = holders(&links);
    for map in maps {
        let Some(ops) = value(map.id).and_then(|bytes| shape.read(&bytes)) else {
            continue;
        };
        if !ops.name.starts_with(PREFIX) {
            continue;
        }
        let holder = holders.get(&map.id).cloned().unwrap_or(Holder::Nobody);
        let own: Vec<&ProgramInfo> = ops
            .programs
            .iter()
            .filter_map(|id| programs.get(id))
            .collect();
        entries.push(Entry {
            name: ops.name,
            control: own.first().and_then(|p| recognise(p.id)),
            words: own.iter().find_map(|p| parameters(p)).unwrap_or_default(),
            // The link counts as one.
            users: ops.users - u64::from(ops.users > 0 && holder != Holder::Nobody),
            holder,
            programs: own.into_iter().map(cost).collect(),
        });
    }
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(entries)
}

/// Offsets in the value of a struct_ops map of TCP.
struct Shape {
    /// The type of the value in the kernel's BTF.
    id: u32,
    users: usize,
    name: usize,
    /// All other members of 8 bytes: pointers to functions among them.
    words: Vec<usize>,
}

/// The fields of the map's value that are read.
struct Ops {
    name: String,
    users: u64,
    programs: Vec<u32>,
}

impl Shape {
    fn of_kernel() -> Option<Shape> {
        let btf = Btf::from_vmlinux().ok()?;
        let value: Struct<'_> = btf.type_by_name("bpf_struct_ops_tcp_congestion_ops")?;
        let ops: Struct<'_> = btf.type_by_name("tcp_congestion_ops")?;
        let common: Option<Struct<'_>> = btf.type_by_name("bpf_struct_ops_common_value");
        // The count comes first: since 6.9 in its own structure.
        let users = match offset(&value, "refcnt") {
            Some(at) => at,
            None => offset(&value, "common")? + offset(&common?, "refcnt")?,
        };
        let data = offset(&value, "data")?;
        let words = ops
            .iter()
            .filter(|m| is_function(&btf, m.ty))
            .filter_map(|m| Some(data + offset(&ops, m.name?.to_str()?)?))
            .collect();
        Some(Shape {
            id: value.type_id().into(),
            users,
            name: data + offset(&ops, "name")?,
            words,
        })
    }

    fn read(&self, bytes: &[u8]) -> Option<Ops> {
        let name = bytes.get(self.name..self.name + 16)?;
        let name = name.split(|&b| b == 0).next()?;
        let programs = self
            .words
            .iter()
            // The kernel puts the program's number where its address was.
            .filter_map(|&at| word(bytes, at))
            .filter(|&id| id != 0)
            .collect();
        Some(Ops {
            name: String::from_utf8_lossy(name).into_owned(),
            users: word(bytes, self.users)?.into(),
            programs,
        })
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at + 4)?;
    Some(u32::from_ne_bytes(bytes.try_into().ok()?))
}

/// Whether a type is a pointer to a function.
fn is_function(btf: &Btf<'_>, id: TypeId) -> bool {
    btf.type_by_id::<Ptr<'_>>(id)
        .is_some_and(|pointer| matches!(pointer.referenced_type().kind(), BtfKind::FuncProto))
}

/// The only value of a map.
fn value(id: u32) -> Option<Vec<u8>> {
    let map = MapHandle::from_map_id(id).ok()?;
    map.lookup(&0_u32.to_ne_bytes(), MapFlags::empty()).ok()?
}

/// All struct_ops programs, by number.
fn programs() -> HashMap<u32, ProgramInfo> {
    let options = ProgInfoQueryOptions::default()
        .include_map_ids(true)
        .include_xlated_prog_insns(true)
        .include_jited_prog_insns(true);
    ProgInfoIter::with_query_opts(options)
        .filter(|p| p.ty == ProgramType::StructOps)
        .map(|p| (p.id, p))
        .collect()
}

fn cost(program: &ProgramInfo) -> Program {
    Program {
        name: program.name.to_string_lossy().into_owned(),
        instructions: program.xlated_prog_insns.len() / INSTRUCTION,
        verified: program.verified_insns,
        machine_code: program.jited_prog_insns.len(),
    }
}

/// The words of `.rodata.parameters`, if the program has that map.
fn parameters(program: &ProgramInfo) -> Option<Vec<u64>> {
    let id = program
        .map_ids
        .iter()
        .find(|&&id| MapHandle::from_map_id(id).is_ok_and(|map| map.name() == PARAMETERS))?;
    let bytes = value(*id)?;
    let words = bytes.chunks_exact(8);
    Some(
        words
            .filter_map(|w| Some(u64::from_ne_bytes(w.try_into().ok()?)))
            .collect(),
    )
}

/// The control whose object a program came from: the build has named the array
/// of its parameters after its source.
fn recognise(program: u32) -> Option<&'static Control> {
    let btf = Btf::from_prog_id(program).ok()?;
    CONTROLS.iter().find(|control| {
        let array = parameters_array(control.source);
        btf.type_by_name::<Var<'_>>(&array).is_some()
    })
}

/// Who holds the link of the map with each number.
fn holders(links: &HashMap<u32, u32>) -> HashMap<u32, Holder> {
    let mut holders: HashMap<u32, Holder> = links
        .values()
        .map(|&map| (map, Holder::Elsewhere))
        .collect();
    for (link, holder) in processes(links) {
        if let Some(&map) = links.get(&link) {
            holders.insert(map, holder);
        }
    }
    // A pin outlives the process that has made it and may still be open.
    for (_, path) in pins() {
        let info = Link::open(&path).and_then(|link| link.info());
        if let Some(&map) = info.ok().and_then(|info| links.get(&info.id)) {
            holders.insert(map, Holder::Pin { path });
        }
    }
    holders
}
