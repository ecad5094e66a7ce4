//! Claims on a page: verdict, statement, parts with what shows them, readings.

use crate::study::pages::tally;
use bentpipe_report::escape;
use bentpipe_study::of_the_paper;
use bentpipe_study::{ClaimResult, Verdict};
use std::fmt::Write;

/// The claims of a paper, and those that the project adds.
pub(super) struct Sorted<'a> {
    pub(super) own: Vec<&'a ClaimResult>,
    pub(super) added: Vec<&'a ClaimResult>,
}

impl<'a> Sorted<'a> {
    pub(super) fn new(claims: &'a [ClaimResult]) -> Sorted<'a> {
        let (own, added) = claims.iter().partition(|claim| of_the_paper(&claim.id));
        Sorted { own, added }
    }
}

/// The class of a verdict in the style.
fn class(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Holds => "holds",
        Verdict::Mostly => "mostly",
        Verdict::Hardly => "hardly",
        Verdict::Fails => "fails",
        Verdict::Open => "open",
    }
}

fn badge(verdict: Verdict) -> String {
    let name = verdict.name();
    format!("<span class=\"badge {}\">{name}</span>", class(verdict))
}

/// How many claims have each verdict, as a bar and in words.
pub(super) fn bar(claims: &[&ClaimResult]) -> String {
    let mut bar = String::from("<div class=\"tally\" aria-hidden=\"true\">");
    for (_, verdict) in Verdict::ALL {
        let count = claims.iter().filter(|c| c.verdict == verdict).count();
        if count > 0 {
            let class = class(verdict);
            let _ = write!(
                bar,
                "<span class=\"{class}\" style=\"flex:{count}\">{count}</span>"
            );
        }
    }
    bar + "</div>"
}

/// `26 claims of the paper: 15 hold, ...`.
pub(super) fn sum(claims: &[&ClaimResult], whose: &str) -> String {
    let n = claims.len();
    let noun = if n == 1 { "claim" } else { "claims" };
    format!("{n} {noun} {whose}: {}", tally(claims))
}

/// The claims, one after another.
pub(super) fn list(claims: &[&ClaimResult]) -> String {
    let mut html = String::new();
    for claim in claims {
        let id = escape(&claim.id);
        let _ = write!(
            html,
            "<section class=\"claim\" id=\"claim-{id}\">\n<p class=\"statement\">{} <b>{id}</b> {}</p>\n",
            badge(claim.verdict),
            escape(&claim.claim)
        );
        if !claim.basis.is_empty() {
            let _ = writeln!(
                html,
                "<p class=\"note\">The verdict rests on: {}</p>",
                escape(&claim.basis)
            );
        }
        if claim.regression
            && let Some(recorded) = claim.recorded
        {
            let _ = writeln!(
                html,
                "<p class=\"changed\">Not as recorded: it was <b>{}</b>.</p>",
                recorded.name()
            );
        }
        parts(claim, &mut html);
        if claim.parts.is_empty() && !claim.evidence.is_empty() {
            let _ = writeln!(
                html,
                "<p class=\"shown\">Shown by: {}</p>",
                escape(&claim.evidence)
            );
        }
        if !claim.reason.is_empty() {
            let _ = writeln!(html, "<p>{}</p>", escape(&claim.reason));
        }
        readings(claim, &mut html);
        html.push_str("</section>\n");
    }
    html
}

fn parts(claim: &ClaimResult, html: &mut String) {
    if claim.parts.is_empty() {
        return;
    }
    html.push_str("<ul class=\"parts\">\n");
    for part in &claim.parts {
        let shown = match part.evidence.as_str() {
            "" => String::new(),
            evidence => format!(
                "<br/><span class=\"shown\">Shown by: {}</span>",
                escape(evidence)
            ),
        };
        let _ = writeln!(
            html,
            "<li>{} {}{shown}</li>",
            badge(part.verdict),
            escape(&part.claim)
        );
    }
    html.push_str("</ul>\n");
}

/// The verdict under each reading, side by side.
fn readings(claim: &ClaimResult, html: &mut String) {
    if claim.readings.is_empty() {
        return;
    }
    html.push_str("<div class=\"table\"><table class=\"readings\"><tr><th>reading</th>");
    for reading in &claim.readings {
        let _ = write!(html, "<th>{}</th>", escape(&reading.reading));
    }
    html.push_str("</tr><tr><td>verdict</td>");
    for reading in &claim.readings {
        let parts = match reading.parts.len() {
            0 | 1 => String::new(),
            n => {
                let holding = reading
                    .parts
                    .iter()
                    .filter(|v| **v == Verdict::Holds)
                    .count();
                format!(" {holding} of {n}")
            }
        };
        let _ = write!(html, "<td>{}{parts}</td>", badge(reading.verdict));
    }
    html.push_str("</tr></table></div>\n");
}
