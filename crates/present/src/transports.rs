//! The catalogue of transports and congestion controls, as `bentpipe transports` shows it.

use crate::output::{Output, did_you_mean};
use bentpipe_cc::{Described, Parameter, find, list};
use bentpipe_report::table::{Column, Table};
use bentpipe_tcp::{
    CongestionControlChoice, HostProfile, NamedTransport, Pacing, Recovery, Transport,
    find_transport, transports,
};
use bentpipe_units::Bytes;
use serde_json::{Value, json};
use std::io;

/// Everything, as JSON.
#[must_use]
pub fn all() -> Value {
    let all: Vec<Value> = transports().map(|named| document(&named)).collect();
    json!({ "transports": all, "congestion_controls": controls() })
}

/// Prints a line for each transport.
///
/// # Errors
/// If the writer fails.
pub fn print(out: &mut Output) -> io::Result<()> {
    let mut table = Table::new([
        Column::text("transport"),
        Column::text("congestion control").optional(1),
        Column::text("on linux").optional(3),
        Column::number("IW").optional(4),
        Column::text("recovery").optional(2),
        Column::prose("source"),
    ]);
    for named in transports() {
        let t = named.transport();
        table.row([
            named.name.to_owned(),
            control_name(&t).to_owned(),
            on_linux(&named).unwrap_or_default(),
            t.initial_window.to_string(),
            recovery(t.recovery).to_owned(),
            named.source.to_owned(),
        ]);
    }
    out.table(&table)?;
    out.line("")?;
    out.paragraph(
        0,
        "On hosts with `profile = \"linux\"` a name that the kernel has, too, runs the kernel's \
         control, in the column `on linux`; `congestion_control = \"cubic\"` in the transport's \
         table runs the other one there. `bentpipe transports NAME` explains one, with its parameters. A scenario refines a \
         transport in its own table: congestion control, profile, windows, buffers, options. \
         `bentpipe compare --transport NAME` also knows settings such as cubic-iw32.",
    )
}

/// A transport, or a congestion control that is the transport of none.
#[derive(Debug)]
pub struct Found {
    transport: Option<NamedTransport>,
    control: Option<&'static Described>,
}

impl Found {
    /// What has that name.
    ///
    /// # Errors
    /// If nothing has it; the message has the nearest name.
    pub fn named(name: &str) -> Result<Found, String> {
        let transport = find_transport(name);
        let control = match &transport {
            Some(named) => find(control_name(&named.transport())),
            None => find(name),
        };
        if transport.is_none() && control.is_none() {
            let names = transports().map(|t| t.name).chain(list().map(|d| d.name));
            let hint = did_you_mean(name, names);
            return Err(format!(
                "there is no transport `{name}`{hint}\n  `bentpipe transports` lists them"
            ));
        }
        Ok(Found { transport, control })
    }

    /// All of it, as JSON.
    #[must_use]
    pub fn document(&self) -> Value {
        let plain = || self.control.map_or(Value::Null, described);
        self.transport.as_ref().map_or_else(plain, document)
    }

    /// Prints what it is, its settings and its parameters.
    ///
    /// # Errors
    /// If the writer fails.
    pub fn print(&self, out: &mut Output) -> io::Result<()> {
        if let Some(named) = &self.transport {
            out.strong(format_args!("{}: {}", named.name, named.summary))?;
            out.line("")?;
            out.entry(2, "source", 18, named.source)?;
            for (what, value) in settings(&named.transport()) {
                out.entry(2, what, 18, &value)?;
            }
            if let Some(control) = on_linux(named) {
                let what = "on profile linux";
                out.entry(2, what, 18, &format!("runs {control}, the kernel's own"))?;
            }
        }
        match self.control {
            Some(control) => explain(control, self.transport.is_none(), out),
            None => Ok(()),
        }
    }
}

/// The control that it runs on hosts of profile `linux`, where that is another.
fn on_linux(named: &NamedTransport) -> Option<String> {
    let mut settings = named.settings();
    let usual = settings.control();
    settings.profile = Some(HostProfile::Linux);
    let there = settings.control();
    if there == usual {
        return None;
    }
    if let CongestionControlChoice::Named(name) = there {
        Some(name)
    } else {
        None
    }
}

fn explain(control: &Described, alone: bool, out: &mut Output) -> io::Result<()> {
    if !alone {
        out.line("")?;
    }
    out.strong(format_args!(
        "congestion control {}: {}",
        control.name, control.summary
    ))?;
    out.line("")?;
    out.entry(2, "source", 18, control.source)?;
    if let Some(slots) = control.slots {
        let slots = format!(
            "{} (start), {} (avoidance), {} (reaction)",
            slots.start, slots.avoidance, slots.reaction
        );
        out.entry(2, "slots", 18, &slots)?;
    }
    if !control.open.is_empty() {
        out.line("")?;
        out.line("What the source leaves open, and the reading chosen:")?;
        out.paragraph(2, control.open)?;
    }
    if control.parameters.is_empty() {
        return Ok(());
    }
    out.line("")?;
    out.line("Parameters, with their defaults:")?;
    for parameter in control.parameters {
        let default = default_with_unit(parameter);
        out.entry(2, parameter.name, 18, &default)?;
        for text in [parameter.meaning, &parameter.range.to_string()] {
            out.entry(2, "", 18, text)?;
        }
    }
    Ok(())
}

/// `4 segments`; times print their own unit.
fn default_with_unit(parameter: &Parameter) -> String {
    match parameter.unit {
        "" | "time" => parameter.default.to_string(),
        unit => format!("{} {unit}", parameter.default),
    }
}

fn settings(t: &Transport) -> Vec<(&'static str, String)> {
    let on = |yes: bool| if yes { "on" } else { "off" }.to_owned();
    let bytes = |b: Bytes| b.to_string();
    let d = &t.delayed_ack;
    vec![
        ("congestion control", control_name(t).to_owned()),
        ("host profile", t.profile.name().to_owned()),
        ("recovery", recovery(t.recovery).to_owned()),
        ("initial window", format!("{} segments", t.initial_window)),
        ("MSS", format!("{} B", t.mss)),
        ("send buffer", bytes(t.send_buffer)),
        ("receive buffer", bytes(t.receive_buffer)),
        (
            "delayed ACK",
            format!(
                "one per {} segments, after {} at the latest",
                d.count, d.timer
            ),
        ),
        ("timestamps", on(t.timestamps)),
        ("limited transmit", on(t.limited_transmit)),
        ("recovery fix", on(t.recovery_fix)),
        ("undo", on(t.undo)),
        (
            "pacing",
            match t.pacing {
                Pacing::Off => "off".to_owned(),
                Pacing::Window {
                    gain,
                    initial_burst,
                } => {
                    format!("{gain} x cwnd / RTT, first {initial_burst} segments at once")
                }
            },
        ),
        ("ECN", on(t.ecn)),
        (
            "smallest RTO",
            t.minimum_rto
                .unwrap_or(t.profile.rules().minimum_rto)
                .to_string(),
        ),
    ]
}

fn control_name(t: &Transport) -> &str {
    match &t.congestion_control {
        CongestionControlChoice::Named(name) => name,
        CongestionControlChoice::Own(control) => control.name(),
        CongestionControlChoice::Slots { .. } => "slots",
        CongestionControlChoice::Ideal => "none: a bound",
    }
}

fn recovery(recovery: Recovery) -> &'static str {
    Recovery::ALL
        .iter()
        .find(|(_, r)| *r == recovery)
        .map_or("", |(name, _)| name)
}

fn document(named: &NamedTransport) -> Value {
    let t = named.transport();
    let (pacing_gain, initial_burst) = match t.pacing {
        Pacing::Off => (None, None),
        Pacing::Window {
            gain,
            initial_burst,
        } => (Some(gain), Some(initial_burst)),
    };
    json!({
        "name": named.name,
        "summary": named.summary,
        "source": named.source,
        "congestion_control": find(control_name(&t)).map(described),
        "host_profile": t.profile.name(),
        "recovery": recovery(t.recovery),
        "initial_window_segments": t.initial_window,
        "mss_bytes": t.mss,
        "send_buffer_bytes": t.send_buffer.get(),
        "receive_buffer_bytes": t.receive_buffer.get(),
        "ack_count_segments": t.delayed_ack.count,
        "ack_timer_ns": t.delayed_ack.timer.as_nanos(),
        "quick_acks_segments": t.delayed_ack.quick_acks,
        "timestamps": t.timestamps,
        "limited_transmit": t.limited_transmit,
        "recovery_fix": t.recovery_fix,
        "undo": t.undo,
        "pacing_gain": pacing_gain,
        "pacing_initial_burst_segments": initial_burst,
        "ecn": t.ecn,
        "minimum_rto_ns": t.minimum_rto.unwrap_or(t.profile.rules().minimum_rto).as_nanos(),
    })
}

fn controls() -> Vec<Value> {
    list().map(described).collect()
}

fn described(control: &Described) -> Value {
    let parameters: Vec<Value> = control
        .parameters
        .iter()
        .map(|p| {
            json!({
                "name": p.name,
                "default": p.default.to_string(),
                "unit": p.unit,
                "range": p.range.to_string(),
                "meaning": p.meaning,
            })
        })
        .collect();
    json!({
        "name": control.name,
        "summary": control.summary,
        "source": control.source,
        "left_open": control.open,
        "start": control.slots.map(|s| s.start),
        "avoidance": control.slots.map(|s| s.avoidance),
        "reaction": control.slots.map(|s| s.reaction),
        "parameters": parameters,
    })
}
