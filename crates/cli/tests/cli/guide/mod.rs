//! The pages of `docs/guide` and the README, run as their readers would run them.
//!
//! Every block of a shell in a page runs, in the page's order, in one empty
//! folder with the built `bentpipe` on the path. A block ```` ```sh ```` is one
//! script. A block ```` ```console ```` has commands after `$ ` and what they
//! print, on stdout and stderr; a command goes on in the next line after `\` and
//! within single quotes. What it prints is held against what they print now, and
//! written again with `BENTPIPE_GUIDE=write`. Lines of progress are left out, and what a
//! build without the feature `kernel` says must be installed. Words after the language say more:
//!
//! | word | meaning |
//! |---|---|
//! | `head=N`, `tail=N` | of the output the page shows the first, the last N lines |
//! | `parts=1,3` | of the output, as blank lines divide it, the page shows these parts |
//! | `status=N,M` | the last command of the block ends with one of these, not with 0 |
//! | `varies` | the output is of a clock or a machine, and not compared |
//! | `needs=root` | runs where namespaces can be made; a line says so elsewhere |
//! | `needs=kernel` | the same with the build's kernel congestion controls |
//! | `needs=PROGRAM` | runs where this program is installed |
//! | `with=papers,scenarios` | these folders of the checkout are in the folder from here on |
//! | `file=NAME` | (any language) the block is this file, written here |
//! | `not-run` | for the eye only |

mod links;
mod page;
mod run;

use page::{Page, Piece};
use std::path::{Path, PathBuf};

/// Set to `write`, it has the pages rewritten where their outputs are old.
const WRITE: &str = "BENTPIPE_GUIDE";

/// The checkout.
fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().expect("the workspace is there")
}

/// The pages of the guide, by path.
fn pages() -> Vec<PathBuf> {
    let folder = root().join("docs/guide");
    let mut pages: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("docs/guide is there")
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "md"))
        .collect();
    pages.sort();
    pages
}

/// Runs a page and compares its outputs, or writes them.
fn hold(name: &str) {
    let path = root().join(name);
    let text = std::fs::read_to_string(&path).expect("the page is there");
    let mut page = Page::parse(&text).unwrap_or_else(|e| panic!("{name}: {e}"));
    let stale = run::run(&mut page, name, &root());
    let now = page.to_text();
    if std::env::var_os(WRITE).is_some_and(|value| value == "write") {
        if now != text {
            std::fs::write(&path, now).unwrap();
        }
        return;
    }
    assert!(
        stale.is_empty(),
        "{name} shows what is not printed any more; `make guide` writes it again:\n\n{}",
        stale.join("\n")
    );
}

/// A test for each page, so that they run at the same time.
macro_rules! hold {
    ($($test:ident $path:literal,)*) => {
        $(#[test] fn $test() { hold($path); })*

        #[test]
        fn every_page_is_run() {
            let held = [$($path),*].map(|path| root().join(path));
            for page in pages() {
                assert!(held.contains(&page), "no test runs {}", page.display());
            }
        }
    };
}

hold! {
    the_readme "README.md",
    the_contents "docs/guide/README.md",
    first_answer "docs/guide/1-first-answer.md",
    my_link "docs/guide/2-my-link.md",
    many_users "docs/guide/3-many-users.md",
    leo "docs/guide/4-leo.md",
    a_study "docs/guide/5-a-study.md",
    the_papers "docs/guide/6-the-papers.md",
    real_linux "docs/guide/7-real-linux.md",
    what_it_cannot_do "docs/guide/8-what-it-cannot-do.md",
    python "docs/guide/9-python.md",
}

#[test]
fn pages_are_short_and_fit_the_screen() {
    for path in pages() {
        let text = std::fs::read_to_string(&path).unwrap();
        let page = Page::parse(&text).unwrap();
        let lines = text.lines().count();
        assert!(lines <= 150, "{}: {lines} lines", path.display());
        for piece in &page.pieces {
            let Piece::Block(block) = piece else { continue };
            // A terminal breaks what is wrong with an option; bentpipe does not.
            let lines = block.to_text();
            for line in lines.lines().filter(|l| !l.starts_with("error: ")) {
                let wide = line.chars().count();
                assert!(wide <= 100, "{}: {wide} columns: {line}", path.display());
            }
        }
    }
}
