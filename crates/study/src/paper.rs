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
use crate::schema::{HighlightKeys, PaperKeys, given};
use bentpipe_document::reading::Declared;
use bentpipe_document::{Context, Diagnostic, Diagnostics, Errors, Parsed, Reported};
use std::path::{Path, PathBuf};

/// A paper and the studies that reproduce it.
#[derive(Clone, Debug)]
pub struct Paper {
    /// Name of its folder: `marchese-2006`.
    pub slug: String,
    /// Title of the paper or item.
    pub title: String,
    /// Names of the authors, in print order.
    pub authors: Vec<String>,
    /// Year of publication.
    pub year: u64,
    /// How to cite it.
    pub citation: String,
    /// Highlights of the reproduction, for an overview of papers.
    pub highlights: Vec<Highlight>,
    /// Folder of the studies and reference tables.
    pub folder: PathBuf,
    /// The studies that reproduce it.
    pub studies: Collection,
}

/// A line of an overview of papers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Highlight {
    /// The reproduced item.
    pub what: String,
    /// How near, with numbers in braces: see [`crate::Reproduction::quoted`].
    pub result: String,
}

/// A table or a figure of a paper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// Name: `table-3`.
    pub slug: String,
    /// Title of the paper or item.
    pub title: String,
    /// Its kind.
    pub kind: ItemKind,
    /// The study that draws it.
    pub study: String,
    /// True if there are published numbers for it.
    pub has_reference: bool,
}

/// Kind of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ItemKind {
    /// A printed table.
    Table,
    /// A printed figure.
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
        let top = Context::top::<PaperKeys>(&parsed.table, &errors, "the paper");
        let described = described(PaperKeys::from_context(top), folder);
        let (paper, files) = errors.finish(described)?;
        let paper = Paper {
            studies: Collection::load(&files)?,
            ..paper
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

/// The paper that `paper.toml` describes, still without its studies, and their files.
fn described(keys: PaperKeys, folder: &Path) -> Result<(Paper, Vec<PathBuf>), Reported> {
    let highlight = |keys: HighlightKeys| {
        Ok(Highlight {
            what: keys.what?.value,
            result: keys.result?.value,
        })
    };
    let highlights = given(keys.highlight)?.unwrap_or_default().into_iter();
    let files = keys.studies?;
    if files.value.0.is_empty() {
        let error = Diagnostic::new(files.place, "a paper without studies");
        return Err(keys.context.report(error));
    }
    let paper = Paper {
        slug: slug(folder),
        title: keys.title?.value,
        authors: given(keys.authors)?.unwrap_or_default().values(),
        year: given(keys.year)?.unwrap_or_default(),
        citation: given(keys.citation)?.unwrap_or_default(),
        highlights: highlights.map(highlight).collect::<Result<_, _>>()?,
        folder: folder.to_path_buf(),
        studies: Collection::default(),
    };
    let files = files.value.values().into_iter();
    Ok((paper, files.map(|file| folder.join(file)).collect()))
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
/// If the folder cannot be read. An invalid paper is a separate error.
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
