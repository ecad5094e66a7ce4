//! `bentpipe reproduce --report`: what came out as pages, one for each paper and an
//! index. Each page is one file that needs nothing else and no network.

mod claims;
mod index;
mod paper;
mod tables;

use super::Results;
use bentpipe_report::html::Page;

const STYLE: &str = include_str!("style.css");

/// The file of the page that leads to the others.
pub const INDEX: &str = "index.html";

/// A page in the style of these.
fn page(title: &str) -> Page {
    Page::new(title).style(STYLE)
}

/// The files that a report on these papers consists of.
pub fn file_names<'a>(slugs: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let pages = slugs.into_iter().map(|slug| format!("{slug}.html"));
    std::iter::once(INDEX.to_owned()).chain(pages).collect()
}

/// The pages, each with the name of its file; the index is the last.
#[must_use]
pub fn pages(results: &[Results]) -> Vec<(String, Page)> {
    let of_papers = results
        .iter()
        .map(|one| (format!("{}.html", one.paper.slug), paper::page(one)));
    of_papers
        .chain([(INDEX.to_owned(), index::page(results))])
        .collect()
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
