//! Papers with their tables, figures and claims, as `bentpipe reproduce --list` shows them.

use crate::output::Output;
use bentpipe_study::{ItemKind, Paper};
use serde_json::{Value, json};
use std::io;

/// Prints papers with their tables, figures and claims.
///
/// # Errors
/// If the writer fails.
pub fn print(papers: &[Paper], out: &mut Output) -> io::Result<()> {
    for (i, paper) in papers.iter().enumerate() {
        if i > 0 {
            out.line("")?;
        }
        out.strong(format_args!("{}: {}", paper.slug, paper.title))?;
        out.paragraph(2, &paper.citation)?;
        let items = paper.items();
        let width = items.iter().map(|i| i.slug.len()).max().unwrap_or(0);
        for item in &items {
            let published = if item.has_reference {
                ""
            } else {
                " (no published numbers)"
            };
            out.entry(2, &item.slug, width, &format!("{}{published}", item.title))?;
        }
        let claims = paper.claims();
        let width = claims.iter().map(|(id, _)| id.len()).max().unwrap_or(0);
        for (id, statement) in &claims {
            out.entry(2, id, width, &format!("claim: {statement}"))?;
        }
    }
    Ok(())
}

/// The same as JSON.
#[must_use]
pub fn document(papers: &[Paper]) -> Value {
    papers.iter().map(listed).collect()
}

fn listed(paper: &Paper) -> Value {
    let items: Vec<Value> = paper
        .items()
        .iter()
        .map(|item| {
            json!({
                "item": item.slug,
                "title": item.title,
                "kind": match item.kind {
                    ItemKind::Table => "table",
                    ItemKind::Figure => "figure",
                },
                "study": item.study,
                "has_published_numbers": item.has_reference,
            })
        })
        .collect();
    let claims: Vec<Value> = paper
        .claims()
        .iter()
        .map(|(id, claim)| json!({ "id": id, "claim": claim }))
        .collect();
    json!({
        "paper": paper.slug,
        "title": paper.title,
        "authors": paper.authors,
        "year": paper.year,
        "citation": paper.citation,
        "items": items,
        "claims": claims,
    })
}
