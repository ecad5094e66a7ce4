//! What names mean at a place of an expression.

use super::Fault;
use super::ast::Name;
use crate::catalogue::Catalogue;
use crate::study::{Axis, Study};
use crate::unit::Unit;
use bentpipe_document::names::list;

/// What a number measures; `None` for a bare number, and where units do not tell.
pub(crate) type Dimension = Option<Unit>;

/// What names mean at a place of an expression.
#[derive(Clone)]
pub(crate) struct Scope<'a> {
    /// The study whose axes and metrics are meant.
    pub(crate) home: &'a Study,
    /// The other studies.
    pub(crate) studies: &'a dyn Catalogue,
    /// Axes that are fixed here.
    pub(crate) bound: Vec<String>,
    /// Derived metrics of the home study that may be used: those before.
    pub(crate) metrics: usize,
    /// Metrics inside each other.
    pub(crate) depth: usize,
    /// The text, for evidence.
    pub(crate) text: &'a str,
}

impl<'a> Scope<'a> {
    pub(crate) fn new(home: &'a Study, studies: &'a dyn Catalogue, text: &'a str) -> Scope<'a> {
        let metrics = home.metrics.len();
        Scope {
            home,
            studies,
            bound: Vec::new(),
            metrics,
            depth: 0,
            text,
        }
    }

    pub(crate) fn with_bound<'n>(mut self, names: impl IntoIterator<Item = &'n str>) -> Scope<'a> {
        self.bound.extend(names.into_iter().map(str::to_owned));
        self
    }

    pub(super) fn axis(&self, name: &Name) -> Result<&'a Axis, Fault> {
        self.home.axis(&name.text).ok_or_else(|| {
            let names: Vec<&str> = self.home.axes.iter().map(|a| a.name.as_str()).collect();
            Fault::new(name.span.clone(), format!("unknown axis `{}`", name.text))
                .label(format!("`{}` has {}", self.home.name, axes_text(&names)))
                .suggest(&name.text, names)
        })
    }
}

fn axes_text(names: &[&str]) -> String {
    if names.is_empty() {
        "no axes".to_owned()
    } else {
        format!("the axes {}", list(names.to_vec()))
    }
}
