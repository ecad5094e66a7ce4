//! Papers: a folder with the studies that reproduce one.
//!
//! ```text
//! papers/marchese-2006/
//!   paper.toml        title, authors, year, citation, studies = [...],
//!                     [[highlight]] with what and result, for an overview
//!   emulator.toml     a scenario
//!   table-3.toml      a study
//!   reference/*.csv   published numbers
//! ```

use crate::collection::{Collection, LoadError, LoadedStudy, read};
use crate::input::InputError;
use crate::read::Section;
use crate::study::Study;
use bentpipe_document::{Diagnostic, Diagnostics, Errors, Parsed};
use std::path::{Path, PathBuf};

/// Where names of studies are looked up.
pub(crate) trait Catalogue {
    /// The study of that name.
    fn study(&self, name: &str) -> Option<&Study>;

    /// Names of the studies, for messages.
    fn names(&self) -> Vec<&str>;

    /// False if there may be more studies than are known.
    fn is_complete(&self) -> bool;
}

/// No study is known, and any may exist.
pub(crate) struct Unknown;

impl Catalogue for Unknown {
    fn study(&self, _: &str) -> Option<&Study> {
        None
    }

    fn names(&self) -> Vec<&str> {
        Vec::new()
    }

    fn is_complete(&self) -> bool {
        false
    }
}

/// A paper and the studies that reproduce it.
#[derive(Clone, Debug)]
pub struct Paper {
    /// Name of its folder: `marchese-2006`.
    pub slug: String,
    /// Title.
    pub title: String,
    /// Authors.
    pub authors: Vec<String>,
    /// Year.
    pub year: u64,
    /// How to cite it.
    pub citation: String,
    /// What was reproduced best and worst, for an overview of papers.
    pub highlights: Vec<Highlight>,
    /// Its folder.
    pub folder: PathBuf,
    /// Its studies.
    pub studies: Collection,
}

/// A line of an overview of papers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Highlight {
    /// What is reproduced.
    pub what: String,
    /// How near, with numbers in braces: see [`crate::Reproduction::quoted`].
    pub result: String,
}

/// A table or a figure of a paper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// Name: `table-3`.
    pub slug: String,
    /// Title.
    pub title: String,
    /// What it is.
    pub kind: ItemKind,
    /// The study that draws it.
    pub study: String,
    /// True if there are published numbers for it.
    pub has_reference: bool,
}

/// What an item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ItemKind {
    /// A table.
    Table,
    /// A figure.
    Figure,
}

impl Paper {
    /// Loads the paper of a folder, with everything that its studies name.
    ///
    /// # Errors
    /// If a file cannot be read or is wrong.
    pub fn load(folder: &Path) -> Result<Paper, LoadError> {
        let path = folder.join("paper.toml");
        let text = read(&path)?;
        let name = path.to_string_lossy().into_owned();
        let parsed = Parsed::new(&name, &text)?;
        let errors = Errors::new(parsed.origin.clone());
        let top = Section::top(&parsed, &errors);
        let title = top.required_text("title").map(|t| t.value);
        let authors = top.texts("authors").into_iter().map(|t| t.value).collect();
        let year = top.integer("year", 1900..=2200);
        let citation = top.text("citation").map(|t| t.value);
        let highlights = top.tables("highlight");
        let highlights = highlights.iter().filter_map(highlight).collect();
        let files = top.texts("studies");
        if files.is_empty() {
            top.error(Diagnostic::whole("`studies` is missing or empty"));
        }
        top.finish();
        errors.finish(Ok(()))?;
        let files: Vec<PathBuf> = files.iter().map(|f| folder.join(&f.value)).collect();
        let paper = Paper {
            slug: slug(folder),
            title: title.unwrap_or_default(),
            authors,
            year: year.unwrap_or_default(),
            citation: citation.unwrap_or_default(),
            highlights,
            folder: folder.to_path_buf(),
            studies: Collection::load(&files)?,
        };
        paper.check_names()?;
        Ok(paper)
    }

    /// Items and claims have one name each in a paper.
    fn check_names(&self) -> Result<(), LoadError> {
        let items = self.items();
        let claims: Vec<(&LoadedStudy, &str)> = self
            .studies
            .iter()
            .flat_map(|s| s.study.claims.iter().map(move |c| (s, c.id.as_str())))
            .collect();
        let items = items.iter().enumerate().filter_map(|(i, item)| {
            let twice = items[..i].iter().any(|other| other.slug == item.slug);
            twice.then(|| (self.studies.get(&item.study), item.slug.as_str()))
        });
        let claims = claims.iter().enumerate().filter_map(|(i, (study, id))| {
            claims[..i]
                .iter()
                .any(|(_, other)| other == id)
                .then_some((Some(*study), *id))
        });
        let mut twice = items
            .chain(claims)
            .filter_map(|(study, name)| Some((study?, name)));
        match twice.next() {
            Some((loaded, name)) => {
                let message = format!("another study of the paper has an item or claim `{name}`");
                Err(Diagnostics::single(&loaded.study.origin, Diagnostic::whole(message)).into())
            }
            None => Ok(()),
        }
    }

    /// Tables and figures, in the order of the studies.
    #[must_use]
    pub fn items(&self) -> Vec<Item> {
        let mut items = Vec::new();
        for loaded in self.studies.iter() {
            let study = &loaded.study;
            let item = |slug: &str, title: &str, kind| Item {
                slug: slug.to_owned(),
                title: title.to_owned(),
                kind,
                study: study.name.clone(),
                has_reference: loaded.references.contains_key(slug),
            };
            items.extend(
                study
                    .tables
                    .iter()
                    .map(|t| item(&t.slug, &t.title, ItemKind::Table)),
            );
            items.extend(
                study
                    .figures
                    .iter()
                    .map(|f| item(&f.slug, &f.title, ItemKind::Figure)),
            );
        }
        items
    }

    /// Identifiers and statements of the claims, in the order of the studies.
    #[must_use]
    pub fn claims(&self) -> Vec<(&str, &str)> {
        let studies = self.studies.iter();
        let claims = studies.flat_map(|s| &s.study.claims);
        claims
            .map(|c| (c.id.as_str(), c.statement.as_str()))
            .collect()
    }
}

/// `[[highlight]]`: what, result.
fn highlight(section: &Section<'_>) -> Option<Highlight> {
    let what = section.required_text("what");
    let result = section.required_text("result");
    section.finish();
    Some(Highlight {
        what: what?.value,
        result: result?.value,
    })
}

/// The name of a folder, also of `papers/x/.`.
fn slug(folder: &Path) -> String {
    let name = |p: &Path| p.file_name().map(|n| n.to_string_lossy().into_owned());
    name(folder)
        .or_else(|| name(&folder.canonicalize().ok()?))
        .unwrap_or_default()
}

/// A paper by the name of its folder, or what is wrong with it.
pub type NamedPaper = (String, Result<Paper, LoadError>);

/// Every paper in a folder of papers, by slug.
///
/// # Errors
/// If the folder cannot be read. A paper that is wrong is an error of its own.
pub fn papers(folder: &Path) -> Result<Vec<NamedPaper>, LoadError> {
    let error = |source| InputError {
        path: folder.to_path_buf(),
        source,
    };
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(error)? {
        let path = entry.map_err(error)?.path();
        if path.join("paper.toml").is_file() {
            found.push((slug(&path), Paper::load(&path)));
        }
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(found)
}
