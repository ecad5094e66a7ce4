//! `bentpipe reproduce --report`: what came out as pages, one for each paper and an
//! index. Each page is one file that needs nothing else and no network.

mod claims;
mod index;
mod paper;
mod tables;

use crate::exit::Failure;
use crate::pages::Results;
use bentpipe_outcome::write_whole;
use bentpipe_report::html::Page;
use std::path::{Path, PathBuf};

const STYLE: &str = include_str!("style.css");

/// A page in the style of these.
fn page(title: &str) -> Page {
    Page::new(title).style(STYLE)
}

/// The files that a report on these papers consists of.
pub(crate) fn file_names<'a>(slugs: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let pages = slugs.into_iter().map(|slug| format!("{slug}.html"));
    std::iter::once("index.html".to_owned())
        .chain(pages)
        .collect()
}

/// Writes the pages into `folder`; returns the index.
pub(crate) fn write(folder: &Path, results: &[Results]) -> Result<PathBuf, Failure> {
    let write = |name: &str, page: &Page| {
        let path = folder.join(name);
        write_whole(&path, page.to_html().as_bytes()).map_err(|e| Failure::new(e.to_string()))?;
        Ok::<PathBuf, Failure>(path)
    };
    for one in results {
        write(&format!("{}.html", one.paper.slug), &paper::page(one))?;
    }
    write("index.html", &index::page(results))
}

/// Replications of a study's cells, and how many the study asks for, where some study
/// had fewer.
fn fewer_runs(one: &Results) -> Option<usize> {
    let results = one.made.results.values();
    let fewer = results.filter(|r| r.are_fewer());
    fewer.map(bentpipe_study::StudyResults::replications).max()
}

/// The text of a Markdown link in place of the link: pages elsewhere have no such files.
fn without_links(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('[') {
        let link = after.split_once("](").and_then(|(label, behind)| {
            let (_, behind) = behind.split_once(')')?;
            Some((label, behind))
        });
        plain.push_str(before);
        match link {
            Some((label, behind)) => {
                plain.push_str(label);
                rest = behind;
            }
            None => {
                plain.push('[');
                rest = after;
            }
        }
    }
    plain + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_become_their_text() {
        assert_eq!(
            without_links("on Linux ([test bed](docs/testbed.md)), [1] or ["),
            "on Linux (test bed), [1] or ["
        );
        assert_eq!(file_names(["a"]), ["index.html", "a.html"]);
    }
}
