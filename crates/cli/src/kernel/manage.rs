//! `bentpipe kernel load`, `unload` and `status`: what is in the kernel.

use super::control;
use crate::args::kernel::{KernelCommand, KernelLoad, KernelStatus, KernelUnload};
use crate::exit::{Failure, Status, talk};
use crate::output::Output;
use bentpipe_bpf::Values;
use bentpipe_linux::kernel::{self, Entry, Holder, KernelError};
use bentpipe_report::table::{Cell, Column, Table, Tone};
use serde_json::{Map, Value, json};

impl From<KernelError> for Failure {
    fn from(error: KernelError) -> Failure {
        Failure::new(error.to_string())
    }
}

/// Everything but `list`.
pub(super) fn main(command: &KernelCommand, out: &mut Output) -> Result<Status, Failure> {
    match command {
        KernelCommand::Load(args) => load(args, out),
        KernelCommand::Unload(args) => unload(args, out),
        KernelCommand::Status(args) => status(args, out),
        KernelCommand::List(args) => super::list::main(args, out),
    }
}

/// What `load` has loaded, and which control each is; nothing where one may not
/// look. Copies that running test beds hold are theirs: `status` shows them.
pub(super) fn loaded() -> Vec<(String, &'static str)> {
    let entries = kernel::status().unwrap_or_default();
    entries
        .into_iter()
        .filter(|e| matches!(e.holder, Holder::Pin { .. }))
        .filter_map(|e| Some((e.name, e.control?.name)))
        .collect()
}

fn load(args: &KernelLoad, out: &mut Output) -> Result<Status, Failure> {
    let control = control(&args.name)?;
    let mut values = Values::new(control);
    let wrong = |e: bentpipe_bpf::ValueError| Failure::new(e.to_string());
    for assignment in &args.set {
        values.set(assignment).map_err(wrong)?;
    }
    values.check().map_err(wrong)?;
    let name = args.under.as_deref().unwrap_or(control.name);
    let pin = kernel::load_pinned(control, &values, name)?;
    if args.json {
        let parameters: Map<String, Value> = values
            .texts()
            .map(|(p, text)| (p.name.to_owned(), text.into()))
            .collect();
        out.json(&json!({
            "name": name,
            "control": control.name,
            "parameters": parameters,
            "pin": pin,
        }))?;
        return Ok(Status::Done);
    }
    let parameters: Vec<String> = values
        .texts()
        .map(|(p, text)| format!("{}={text}", p.name))
        .collect();
    out.line(format_args!("{name} is loaded"))?;
    out.paragraph(2, &parameters.join(", "))?;
    out.line("")?;
    for (who, how) in [
        (
            "a program",
            format!("its option for TCP_CONGESTION: iperf3 --congestion {name}"),
        ),
        (
            "a route",
            format!("ip route change ROUTE congctl {name}   (ROUTE as `ip route` shows it)"),
        ),
        (
            "everything",
            format!("sysctl net.ipv4.tcp_congestion_control={name}"),
        ),
        (
            "undo",
            format!("bentpipe kernel unload {name}   (a restart of the machine does, too)"),
        ),
    ] {
        out.entry(2, who, 10, &how)?;
    }
    Ok(Status::Done)
}

fn unload(args: &KernelUnload, out: &mut Output) -> Result<Status, Failure> {
    let names: Vec<String> = if args.all {
        let entries = kernel::status()?;
        let pinned = |e: &Entry| matches!(e.holder, Holder::Pin { .. });
        entries.into_iter().filter(pinned).map(|e| e.name).collect()
    } else {
        args.names.clone()
    };
    let mut gone = Vec::new();
    let mut failed: Vec<String> = Vec::new();
    for name in &names {
        match kernel::unload(&pinned(name)) {
            Ok(users) => {
                if users > 0 {
                    talk(format_args!(
                        "note: {users} user{} of `{name}` (sockets, and namespaces whose default \
                         it is) keep it until they close",
                        if users == 1 { "" } else { "s" },
                    ));
                }
                gone.push((name, users));
            }
            // The others can be unloaded all the same.
            Err(mut why) => {
                if let KernelError::NotLoaded { names, .. } = &mut why {
                    *names = loaded().into_iter().map(|(name, _)| name).collect();
                }
                failed.push(why.to_string());
            }
        }
    }
    if args.json {
        let list: Vec<Value> = gone
            .iter()
            .map(|(name, users)| json!({ "name": name, "users": users }))
            .collect();
        out.json(&json!({ "unloaded": list }))?;
    } else {
        for (name, _) in &gone {
            out.line(format_args!("{name} is unloaded"))?;
        }
        if names.is_empty() {
            out.line("nothing is loaded")?;
        }
    }
    if failed.is_empty() {
        return Ok(Status::Done);
    }
    // What was done is said before what could not be.
    out.flush()?;
    Err(Failure::new(failed.join("\nerror: ")))
}

/// What is loaded under the name `name`, or else under the name that `load`
/// gives the control called `name`: `unload hybla` undoes `load hybla`.
fn pinned(name: &str) -> String {
    meant(name, &loaded())
}

/// The same of those that are `loaded`.
fn meant(name: &str, loaded: &[(String, &'static str)]) -> String {
    let is_there = |name: &str| loaded.iter().any(|(under, _)| under == name);
    match control(name) {
        Ok(control) if !is_there(name) && is_there(control.name) => control.name.to_owned(),
        _ => name.to_owned(),
    }
}

fn status(args: &KernelStatus, out: &mut Output) -> Result<Status, Failure> {
    let entries = kernel::status()?;
    if args.json {
        let list: Vec<Value> = entries.iter().map(document).collect();
        out.json(&json!({ "loaded": list }))?;
        return Ok(Status::Done);
    }
    if entries.is_empty() {
        out.line("nothing is loaded; `bentpipe kernel list` shows what there is")?;
        return Ok(Status::Done);
    }
    let mut table = Table::new([
        Column::text("name"),
        Column::text("control").optional(2),
        Column::number("users"),
        Column::text("kept by").optional(1),
        Column::prose("parameters"),
    ]);
    for entry in &entries {
        table.row([
            Cell::new(entry.name.clone()),
            Cell::new(entry.control.map_or("not of this build", |c| c.name)),
            Cell::new(entry.users.to_string()),
            kept(&entry.holder),
            Cell::new(changed(entry)).tone(Tone::Faint),
        ]);
    }
    out.table(&table)?;
    if args.programs {
        out.line("")?;
        programs(&entries, out)?;
    }
    Ok(Status::Done)
}

/// What each program costs.
fn programs(entries: &[Entry], out: &mut Output) -> Result<(), Failure> {
    let mut table = Table::new([
        Column::text("name"),
        Column::text("program"),
        Column::number("instructions"),
        Column::number("verified"),
        Column::number("bytes"),
    ]);
    for entry in entries {
        for program in &entry.programs {
            table.row([
                entry.name.clone(),
                program.name.clone(),
                program.instructions.to_string(),
                program.verified.to_string(),
                program.machine_code.to_string(),
            ]);
        }
    }
    Ok(out.table(&table)?)
}

fn kept(holder: &Holder) -> Cell {
    match holder {
        Holder::Pin { .. } => Cell::new("load"),
        Holder::Process { pid, command } => Cell::new(format!("process {pid} ({command})")),
        Holder::Elsewhere => Cell::new("not seen from here").tone(Tone::Warn),
        Holder::Nobody => Cell::new("its users; unloaded").tone(Tone::Warn),
    }
}

/// The parameters that are not at their defaults.
fn changed(entry: &Entry) -> String {
    let changed: Vec<String> = entry
        .parameters()
        .filter(|(p, text)| *text != p.default_text())
        .map(|(p, text)| format!("{}={text}", p.name))
        .collect();
    if changed.is_empty() {
        "defaults".to_owned()
    } else {
        changed.join(" ")
    }
}

fn document(entry: &Entry) -> Value {
    let parameters: Map<String, Value> = entry
        .parameters()
        .map(|(p, text)| (p.name.to_owned(), text.into()))
        .collect();
    let (kept_by, pin, pid, command) = match &entry.holder {
        Holder::Pin { path } => ("pin", Some(path), None, None),
        Holder::Process { pid, command } => ("process", None, Some(*pid), Some(command)),
        Holder::Elsewhere => ("elsewhere", None, None, None),
        Holder::Nobody => ("nobody", None, None, None),
    };
    let programs: Vec<Value> = entry
        .programs
        .iter()
        .map(|p| {
            json!({
                "name": p.name,
                "instructions": p.instructions,
                "verified_instructions": p.verified,
                "machine_code_bytes": p.machine_code,
            })
        })
        .collect();
    json!({
        "name": entry.name,
        "control": entry.control.map(|c| c.name),
        "parameters": parameters,
        "users": entry.users,
        "kept_by": kept_by,
        "pin": pin,
        "pid": pid,
        "command": command,
        "programs": programs,
    })
}

#[cfg(test)]
mod tests {
    use super::meant;

    #[test]
    fn unload_knows_the_names_that_load_does() {
        let loaded = [
            ("bp_hybla".to_owned(), "bp_hybla"),
            ("mine".to_owned(), "bp_mtsi"),
        ];
        // `load hybla` and `load bp_hybla` load the same.
        assert_eq!(meant("hybla", &loaded), "bp_hybla");
        assert_eq!(meant("bp_hybla", &loaded), "bp_hybla");
        assert_eq!(meant("mine", &loaded), "mine");
        // A name that was given comes first.
        let both = [
            ("bp_hybla".to_owned(), "bp_hybla"),
            ("hybla".to_owned(), "bp_mtsi"),
        ];
        assert_eq!(meant("hybla", &both), "hybla");
        assert_eq!(meant("cubic", &loaded), "cubic");
    }
}
