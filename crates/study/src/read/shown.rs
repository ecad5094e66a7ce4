//! What tables, figures and claims show: the study, its axes, and the points and metrics of those.

use crate::catalogue::Catalogue;
use crate::expr::{Scope, number};
use crate::schema::given;
use crate::study::{Labels, Shown, Study, ValueSpec};
use crate::unit::Unit;
use bentpipe_document::names::list;
use bentpipe_document::{Diagnostic, Errors, Many, Map, OptionalField, Place, Reported};

/// The study that a table, figure or claim is about; `None` if it is not known
/// yet, or wrong and reported.
pub(super) fn home<'a>(
    study: &'a Study,
    from: Option<&str>,
    studies: &'a dyn Catalogue,
    place: Place,
    errors: &Errors,
) -> Option<&'a Study> {
    let Some(name) = from else { return Some(study) };
    if name == study.name {
        return Some(study);
    }
    let found = studies.study(name);
    if found.is_none() && studies.is_complete() {
        let message = format!("`from` names an unknown study `{name}`");
        errors.report(Diagnostic::new(place, message).suggest_from(name, studies.names()));
    }
    found
}

/// `at = { axis = "point" }` and `only = { axis = ["point", ...] }`.
pub(super) fn selection(
    at: OptionalField<Map<String>>,
    only: OptionalField<Map<Many<String>>>,
) -> Result<(Labels, Shown), Reported> {
    let only = given(only)?.unwrap_or_default().values();
    let only = only.map(|(axis, points)| (axis, points.values()));
    let at = given(at)?.unwrap_or_default().values();
    Ok((at.collect(), only.collect()))
}

/// A metric resolves where some axes are fixed, and is in a unit that fits.
pub(super) fn check_value(
    value: &ValueSpec,
    home: &Study,
    studies: &dyn Catalogue,
    fixed: &[&str],
    errors: &Errors,
) {
    let text = &value.expression;
    let scope = Scope::new(home, studies, &text.text).with_bound(fixed.iter().copied());
    match (number(&text.expr, &scope), &value.unit) {
        (Err(fault), _) => {
            let mut error = text.fault(fault);
            if error.message().ends_with("is not fixed here") {
                error =
                    error.help_instead("show the axis, or fix it with `at = { AXIS = \"point\" }`");
            }
            errors.report(error);
        }
        (Ok((_, Some(measure))), Some(unit)) if measure.factor(unit).is_none() => {
            let names: Vec<&str> = Unit::names(measure).collect();
            errors.report(
                Diagnostic::new(
                    text.place.string,
                    format!("{} cannot be shown in `{unit}`", measure.article()),
                )
                .label(format!(
                    "possible units are {}",
                    list(names.iter().copied())
                ))
                .suggest_from(unit, names.iter().copied()),
            );
        }
        _ => {}
    }
}

/// The axes that an item names.
pub(super) struct Axes<'a> {
    pub(super) home: &'a Study,
    pub(super) place: Place,
    pub(super) errors: &'a Errors,
}

impl Axes<'_> {
    /// True if every name is one of an axis and every label one of a point.
    pub(super) fn check(
        &self,
        shown: &[&String],
        at: &[(String, String)],
        only: &[(String, Vec<String>)],
    ) -> bool {
        let mut good = true;
        for (i, name) in shown.iter().enumerate() {
            good &= self.axis(name).is_some();
            if shown[..i].contains(name) || at.iter().any(|(a, _)| a == *name) {
                self.error(format!("axis `{name}` is used twice"));
                good = false;
            }
        }
        let points = at
            .iter()
            .map(|(axis, point)| (axis, std::slice::from_ref(point)));
        for (name, points) in points.chain(only.iter().map(|(axis, points)| (axis, &points[..]))) {
            let Some(axis) = self.axis(name) else {
                good = false;
                continue;
            };
            for point in points.iter().filter(|p| axis.point(p).is_none()) {
                self.errors.report(
                    Diagnostic::new(self.place, format!("axis `{name}` has no point `{point}`"))
                        .suggest_from(point, axis.names()),
                );
                good = false;
            }
        }
        good
    }

    fn error(&self, message: String) {
        self.errors.report(Diagnostic::new(self.place, message));
    }

    fn axis(&self, name: &str) -> Option<&crate::study::Axis> {
        let found = self.home.axis(name);
        if found.is_none() {
            let known = || self.home.axes.iter().map(|a| a.name.as_str());
            self.errors.report(
                Diagnostic::new(self.place, format!("unknown axis `{name}`"))
                    .label(format!(
                        "axes of `{}` are {}",
                        self.home.name,
                        list(known())
                    ))
                    .suggest_from(name, known()),
            );
        }
        found
    }

    /// The axes that are fixed in a cell.
    pub(super) fn fixed<'s>(
        &self,
        shown: &[&'s String],
        at: &'s [(String, String)],
    ) -> Vec<&'s str> {
        let shown = shown.iter().map(|s| s.as_str());
        shown
            .chain(at.iter().map(|(axis, _)| axis.as_str()))
            .collect()
    }
}
