//! Studies with the files that they name.

use crate::catalogue::Catalogue;
use crate::expr::{Argument, Binders, Expr, Filter, Kind};
use crate::input::{self, InputError};
use crate::reference::Reference;
use crate::study::{ClaimSpec, FigureSpec, Study, TableSpec};
use crate::table::labels;
use bentpipe_document::Diagnostics;
use bentpipe_units::nearest;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Why studies could not be loaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// A file cannot be read.
    #[error(transparent)]
    Read(#[from] InputError),
    /// A study or the description of a paper is wrong.
    #[error("{0}")]
    Study(#[from] Diagnostics),
    /// Published numbers are wrong.
    #[error("{}: {why}", path.display())]
    Reference {
        /// Path of the file.
        path: PathBuf,
        /// Description of the error.
        why: String,
    },
    /// Two studies have the same name.
    #[error("{}: there is another study `{name}`", path.display())]
    Duplicate {
        /// The second file.
        path: PathBuf,
        /// The name.
        name: String,
    },
}

impl LoadError {
    /// The error as text that points at each line, in colour if wanted.
    #[must_use]
    pub fn render(&self, color: bool) -> String {
        match self {
            LoadError::Study(diagnostics) => diagnostics.render(color),
            other => format!("error: {other}\n"),
        }
    }
}

/// A study with the text of its scenario and its published numbers.
#[derive(Clone, Debug)]
pub struct LoadedStudy {
    /// The study.
    pub study: Arc<Study>,
    /// The study as its file has it, where only some points of it are run.
    pub(crate) whole: Option<Arc<Study>>,
    /// Path of the file.
    pub path: PathBuf,
    /// Path and text of its scenario.
    pub scenario: Option<(PathBuf, String)>,
    /// Published numbers of tables and figures, by slug.
    pub references: BTreeMap<String, Reference>,
}

impl LoadedStudy {
    /// Reads a study, its scenario and its published numbers.
    ///
    /// # Errors
    /// If a file cannot be read or is wrong.
    pub fn load(path: &Path) -> Result<LoadedStudy, LoadError> {
        LoadedStudy::parse(path, &read(path)?)
    }

    /// Takes the text of the study at `path`, and reads its scenario and its
    /// published numbers.
    ///
    /// # Errors
    /// If a file cannot be read or is wrong.
    pub fn parse(path: &Path, text: &str) -> Result<LoadedStudy, LoadError> {
        let study = Study::parse(&path.to_string_lossy(), text)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let scenario = match &study.scenario {
            Some(file) => {
                let path = folder.join(file);
                let text = read(&path)?;
                Some((path, text))
            }
            None => None,
        };
        let files = study.tables.iter().map(|t| (&t.slug, &t.reference));
        let files = files.chain(study.figures.iter().map(|f| (&f.slug, &f.reference)));
        let mut references = BTreeMap::new();
        for (slug, file) in files {
            let Some(file) = file else { continue };
            let path = folder.join(file);
            let reference = Reference::parse(&read(&path)?)
                .map_err(|why| LoadError::Reference { path, why })?;
            references.insert(slug.clone(), reference);
        }
        Ok(LoadedStudy {
            study: Arc::new(study),
            whole: None,
            path: path.to_path_buf(),
            scenario,
            references,
        })
    }
}

pub(crate) fn read(path: &Path) -> Result<String, LoadError> {
    Ok(input::text(path)?)
}

/// Studies that may name each other.
#[derive(Clone, Debug, Default)]
pub struct Collection {
    studies: BTreeMap<String, LoadedStudy>,
    order: Vec<String>,
}

impl Catalogue for Collection {
    fn study(&self, name: &str) -> Option<&Study> {
        self.studies.get(name).map(|loaded| &*loaded.study)
    }

    fn names(&self) -> Vec<&str> {
        self.order.iter().map(String::as_str).collect()
    }

    fn is_complete(&self) -> bool {
        true
    }
}

impl Collection {
    /// Loads the studies of these files.
    ///
    /// # Errors
    /// If one is wrong, or names another that is not among them.
    pub fn load<P: AsRef<Path>>(paths: &[P]) -> Result<Collection, LoadError> {
        let mut collection = Collection::default();
        for path in paths {
            collection.add(path.as_ref())?;
        }
        collection.check()?;
        Ok(collection)
    }

    /// A study, and the studies in its folder that it names, by the names of
    /// their files.
    ///
    /// # Errors
    /// If one is wrong or missing.
    pub fn with_siblings(first: LoadedStudy) -> Result<Collection, LoadError> {
        let mut collection = Collection::default();
        let folder = first.path.parent().unwrap_or(Path::new("")).to_path_buf();
        collection.insert(first)?;
        while let Some(missing) = collection.missing() {
            let sibling = folder.join(format!("{missing}.toml"));
            let known = collection.order.len();
            if sibling.is_file() {
                collection.add(&sibling)?;
            }
            // What is still unknown then, the check reports in its place.
            if collection.order.len() == known || collection.study(&missing).is_none() {
                break;
            }
        }
        collection.check()?;
        Ok(collection)
    }

    /// Changes every study, such as for runs that are not simulated.
    ///
    /// # Errors
    /// What `change` says.
    pub fn adapt<E>(
        &mut self,
        mut change: impl FnMut(&mut Study) -> Result<(), E>,
    ) -> Result<(), E> {
        for loaded in self.studies.values_mut() {
            change(Arc::make_mut(&mut loaded.study))?;
        }
        Ok(())
    }

    /// Keeps only these points of an axis in every study that has them, and
    /// none of the claims, which may be about the others. Results of the other
    /// points that are there already stay.
    ///
    /// # Errors
    /// If no study has such an axis with such points; lists the existing ones.
    pub fn keep(&mut self, axis: &str, points: &[&str]) -> Result<(), String> {
        let (mut found, mut why) = (false, None);
        for loaded in self.studies.values_mut() {
            let mut study = Study::clone(&loaded.study);
            match study.keep(axis, points) {
                Ok(()) => {
                    found = true;
                    study.claims.clear();
                    let whole = std::mem::replace(&mut loaded.study, Arc::new(study));
                    loaded.whole.get_or_insert(whole);
                }
                Err(e) => why = why.or(Some(e)),
            }
        }
        if found {
            return Ok(());
        }
        Err(why.unwrap_or_default())
    }

    /// The studies as their files have them.
    pub(crate) fn whole(&self) -> Collection {
        let mut whole = self.clone();
        for loaded in whole.studies.values_mut() {
            if let Some(study) = loaded.whole.take() {
                loaded.study = study;
            }
        }
        whole
    }

    fn add(&mut self, path: &Path) -> Result<(), LoadError> {
        self.insert(LoadedStudy::load(path)?)
    }

    fn insert(&mut self, loaded: LoadedStudy) -> Result<(), LoadError> {
        let name = loaded.study.name.clone();
        if self.studies.contains_key(&name) {
            let path = loaded.path;
            return Err(LoadError::Duplicate { path, name });
        }
        self.order.push(name.clone());
        self.studies.insert(name, loaded);
        Ok(())
    }

    fn missing(&self) -> Option<String> {
        let named = self.studies.values().flat_map(|s| mentioned(&s.study));
        let mut missing = named.filter(|name| !self.studies.contains_key(name));
        missing.next()
    }

    fn check(&self) -> Result<(), LoadError> {
        for loaded in self.iter() {
            loaded.study.check(self)?;
            for table in &loaded.study.tables {
                let home = self.home(loaded, table.from.as_deref());
                self.check_reference(loaded, table, home.unwrap_or(&loaded.study))?;
            }
        }
        Ok(())
    }

    /// Published numbers are those of rows and columns that the table has.
    fn check_reference(
        &self,
        loaded: &LoadedStudy,
        table: &TableSpec,
        home: &Study,
    ) -> Result<(), LoadError> {
        let Some(reference) = loaded.references.get(&table.slug) else {
            return Ok(());
        };
        let (rows, columns) = labels(table, home);
        for (row, column) in reference.labels() {
            for (kind, label, known) in [("row", row, &rows), ("column", column, &columns)] {
                if known.iter().any(|k| k == label) {
                    continue;
                }
                let near = nearest(label, known.iter().map(String::as_str));
                let near = near.map_or(String::new(), |n| format!("; did you mean `{n}`?"));
                let file = table.reference.as_deref().unwrap_or("");
                let folder = loaded.path.parent().unwrap_or(Path::new(""));
                return Err(LoadError::Reference {
                    path: folder.join(file),
                    why: format!("`{}` has no {kind} `{label}`{near}", table.slug),
                });
            }
        }
        Ok(())
    }

    /// Every file that the studies are made of.
    #[must_use]
    pub fn inputs(&self) -> Vec<PathBuf> {
        let mut files = Vec::new();
        for loaded in self.iter() {
            let folder = loaded.path.parent().unwrap_or(Path::new(""));
            files.push(loaded.path.clone());
            files.extend(loaded.scenario.iter().map(|(path, _)| path.clone()));
            let tables = loaded
                .study
                .tables
                .iter()
                .filter_map(|t| t.reference.as_ref());
            let figures = loaded
                .study
                .figures
                .iter()
                .filter_map(|f| f.reference.as_ref());
            files.extend(tables.chain(figures).map(|file| folder.join(file)));
        }
        files
    }

    /// The study of that name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&LoadedStudy> {
        self.studies.get(name)
    }

    /// The study that an item of another is about.
    pub(crate) fn home<'a>(
        &'a self,
        loaded: &LoadedStudy,
        from: Option<&str>,
    ) -> Option<&'a Study> {
        self.study(from.unwrap_or(&loaded.study.name))
    }

    /// The studies, in the order in which they were named.
    pub fn iter(&self) -> impl Iterator<Item = &LoadedStudy> {
        self.order.iter().filter_map(|name| self.studies.get(name))
    }

    /// Of these studies and those that they lead to, the ones with runs.
    pub(crate) fn runs_of(&self, names: &BTreeSet<String>) -> Vec<&LoadedStudy> {
        let mut all: BTreeSet<String> = names.clone();
        loop {
            let metrics = all
                .iter()
                .filter_map(|name| self.study(name))
                .flat_map(|s| &s.metrics);
            let more: BTreeSet<String> = metrics
                .flat_map(|m| studies_of(&m.expression.expr))
                .filter(|name| !all.contains(name))
                .collect();
            if more.is_empty() {
                break;
            }
            all.extend(more);
        }
        self.iter()
            .filter(|s| all.contains(&s.study.name) && s.scenario.is_some())
            .collect()
    }
}

/// Every other study that a study names.
fn mentioned(study: &Study) -> BTreeSet<String> {
    let tables = study.tables.iter().map(TableSpec::mentions);
    let figures = study.figures.iter().map(FigureSpec::mentions);
    let claims = study.claims.iter().map(ClaimSpec::mentions);
    let metrics = study.metrics.iter().map(|m| (None, vec![&m.expression]));
    let mut names = BTreeSet::new();
    for (from, expressions) in tables.chain(figures).chain(claims).chain(metrics) {
        names.extend(from.map(str::to_owned));
        names.extend(expressions.iter().flat_map(|e| studies_of(&e.expr)));
    }
    names
}

/// The studies that an expression names.
pub(crate) fn studies_of(expr: &Expr) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    collect(expr, &mut names);
    names
}

fn collect(expr: &Expr, names: &mut BTreeSet<String>) {
    match &expr.kind {
        Kind::Number(..) | Kind::Label(_) => {}
        Kind::Use {
            study, arguments, ..
        } => {
            names.extend(study.as_ref().map(|s| s.text.clone()));
            for Argument { value, over, .. } in arguments.iter().flatten() {
                collect(value, names);
                over.iter().for_each(|binders| in_binders(binders, names));
            }
        }
        Kind::Negative(inner) | Kind::Not(inner) => collect(inner, names),
        Kind::Arithmetic(_, left, right) => {
            collect(left, names);
            collect(right, names);
        }
        Kind::And(parts) | Kind::Or(parts) => parts.iter().for_each(|p| collect(p, names)),
        Kind::Chain { first, rest, .. } => {
            collect(first, names);
            rest.iter().for_each(|(_, e)| collect(e, names));
        }
        Kind::Trend {
            value: body,
            binders,
            ..
        }
        | Kind::ForAll(binders, body)
        | Kind::Exists(binders, body)
        | Kind::Count { binders, body, .. } => {
            in_binders(binders, names);
            collect(body, names);
        }
    }
}

fn in_binders(binders: &Binders, names: &mut BTreeSet<String>) {
    for binder in &binders.axes {
        if let Filter::Compare(_, expr) = &binder.filter {
            collect(expr, names);
        }
    }
    if let Some(condition) = &binders.condition {
        collect(condition, names);
    }
}
