//! `bentpipe kernel list`: what there is to load. Works in every build.

use super::{control, manage};
use crate::args;
use crate::exit::{Failure, Status};
use crate::output::Output;
use bentpipe_bpf::{CONTROLS, Control, Kind, Parameter};
use serde_json::{Value, json};

/// Parameters that every control has; they come first.
const COMMON: usize = 2;

/// Lists or explains.
pub(super) fn main(args: &args::KernelList, out: &mut Output) -> Result<Status, Failure> {
    let loaded = manage::loaded();
    let controls: Vec<&Control> = match &args.name {
        Some(name) => vec![control(name)?],
        None => CONTROLS.iter().collect(),
    };
    if args.json {
        let list: Vec<Value> = controls.iter().map(|c| document(c, &loaded)).collect();
        out.json(&json!({ "controls": list }))?;
        return Ok(Status::Done);
    }
    for control in &controls {
        let names = names_of(control, &loaded);
        out.strong(format_args!("{}: {}", control.name, control.summary))?;
        out.paragraph(2, control.origin)?;
        if !names.is_empty() {
            out.paragraph(2, &format!("loaded now as {}", names.join(", ")))?;
        }
        let common = if args.name.is_some() { 0 } else { COMMON };
        for parameter in control.parameters.iter().skip(common) {
            explain(parameter, out)?;
        }
        out.line("")?;
    }
    if args.name.is_none() {
        out.line("Each of them also takes:")?;
        for parameter in controls
            .iter()
            .take(1)
            .flat_map(|c| &c.parameters[..COMMON])
        {
            explain(parameter, out)?;
        }
        out.line("")?;
    }
    let example = controls.first().map_or("", |c| c.name);
    out.paragraph(
        0,
        &format!(
            "`bentpipe kernel load {example} --set NAME=VALUE` loads one with its parameters."
        ),
    )?;
    Ok(Status::Done)
}

fn explain(parameter: &Parameter, out: &mut Output) -> Result<(), Failure> {
    let default = parameter.default_text();
    let unit = parameter.unit;
    // A time is written with its unit.
    let has_unit = parameter.kind == Kind::Time || default.ends_with(unit);
    let blank = if unit.is_empty() || has_unit {
        String::new()
    } else {
        format!(" {unit}")
    };
    out.entry(2, parameter.name, 20, &format!("{default}{blank}"))?;
    let text = format!("{} ({})", parameter.summary, parameter.expected());
    Ok(out.entry(2, "", 20, &text)?)
}

/// The names under which `load` has put a control into the kernel.
fn names_of<'a>(control: &Control, loaded: &'a [(String, &'static str)]) -> Vec<&'a str> {
    loaded
        .iter()
        .filter(|(_, of)| *of == control.name)
        .map(|(name, _)| name.as_str())
        .collect()
}

fn document(control: &Control, loaded: &[(String, &'static str)]) -> Value {
    let parameters: Vec<Value> = control
        .parameters
        .iter()
        .map(|p| {
            json!({
                "name": p.name,
                "default": p.default_text(),
                "unit": p.unit,
                "range": p.expected(),
                "meaning": p.summary,
            })
        })
        .collect();
    json!({
        "name": control.name,
        "summary": control.summary,
        "source": control.origin,
        "parameters": parameters,
        "loaded_as": names_of(control, loaded),
    })
}
