//! What a study would run, as `bentpipe check` says it.

use crate::output::Output;
use bentpipe_report::table::{Column, Table};
use bentpipe_study::Study;
use serde_json::{Value, json};
use std::io;

/// What a study would run, as JSON; `runs` is how many there are.
#[must_use]
pub fn document(study: &Study, runs: usize) -> Value {
    let axes: Vec<Value> = study
        .axes
        .iter()
        .map(|axis| {
            let labels: Vec<&str> = axis.points.iter().map(|p| p.label.as_str()).collect();
            json!({ "name": axis.name, "points": labels })
        })
        .collect();
    json!({
        "kind": "study",
        "name": study.name,
        "title": study.title,
        "scenario": study.scenario,
        "axes": axes,
        "cells": study.cells(),
        "replications": study.replications,
        "runs": runs,
        "tables": study.tables.iter().map(|t| t.slug.as_str()).collect::<Vec<_>>(),
        "figures": study.figures.iter().map(|f| f.slug.as_str()).collect::<Vec<_>>(),
        "claims": study.claims.iter().map(|c| c.id.as_str()).collect::<Vec<_>>(),
    })
}

/// Prints the same as text.
///
/// # Errors
/// If the writer fails.
pub fn print(study: &Study, runs: usize, out: &mut Output) -> io::Result<()> {
    out.strong(format_args!("{}: this study is valid", study.name))?;
    out.paragraph(0, &study.title)?;
    out.line("")?;
    let mut table = Table::new([
        Column::text("axis"),
        Column::number("points"),
        Column::text("from ... to"),
    ]);
    for axis in &study.axes {
        let labels: Vec<&str> = axis.points.iter().map(|p| p.label.as_str()).collect();
        let span = match labels.as_slice() {
            [first, .., last] => format!("{first} ... {last}"),
            few => few.concat(),
        };
        table.row([axis.name.clone(), axis.points.len().to_string(), span]);
    }
    if !table.is_empty() {
        out.table(&table)?;
        out.line("")?;
    }
    let scenario = study
        .scenario
        .as_deref()
        .unwrap_or("none: it looks at other studies");
    out.entry(0, "scenario", 12, scenario)?;
    let cells = study.cells();
    let shared = cells * study.replications as usize;
    let fewer = if runs < shared {
        ", as cells that are the same share their runs"
    } else {
        ""
    };
    let most = if study.precision.is_some() {
        "at most "
    } else {
        ""
    };
    let all = format!(
        "{most}{runs}: {cells} cells x {most}{} replications{fewer}",
        study.replications
    );
    out.entry(0, "runs", 12, &all)?;
    let tables = study.tables.iter().map(|t| t.slug.as_str());
    let figures = study.figures.iter().map(|f| f.slug.as_str());
    let claims = study.claims.iter().map(|c| c.id.as_str());
    let listed: [(&str, Vec<&str>); 3] = [
        ("tables", tables.collect()),
        ("figures", figures.collect()),
        ("claims", claims.collect()),
    ];
    for (what, names) in listed {
        if !names.is_empty() {
            out.entry(0, what, 12, &names.join(", "))?;
        }
    }
    Ok(())
}
