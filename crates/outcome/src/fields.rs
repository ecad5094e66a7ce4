//! The fields of a record as they are read back.

use crate::cell::Cell;
use crate::value::Value;
use std::collections::HashMap;

/// The fields of a row or of a JSON object by their names. Errors name the field and the problem.
pub struct Fields<'a> {
    get: &'a dyn Fn(&str) -> Value,
    names: Option<&'a Names>,
}

/// The indices of the flows and links of a run by their names.
#[derive(Debug, Default)]
pub(crate) struct Names {
    flows: HashMap<String, usize>,
    links: HashMap<String, usize>,
}

impl Names {
    pub(crate) fn new<'a>(
        flows: impl Iterator<Item = &'a String>,
        links: impl Iterator<Item = &'a String>,
    ) -> Names {
        Names {
            flows: flows.cloned().zip(0..).collect(),
            links: links.cloned().zip(0..).collect(),
        }
    }
}

impl<'a> Fields<'a> {
    pub(crate) fn new(get: &'a dyn Fn(&str) -> Value) -> Fields<'a> {
        Fields { get, names: None }
    }

    /// With the indices of the names of flows and links.
    pub(crate) fn with(get: &'a dyn Fn(&str) -> Value, names: &'a Names) -> Fields<'a> {
        let names = Some(names);
        Fields { get, names }
    }

    pub(crate) fn is_missing(&self, name: &str) -> bool {
        (self.get)(name).is_missing()
    }

    /// A field of any type.
    pub(crate) fn get<T: Cell>(&self, name: &str) -> Result<T, String> {
        T::read((self.get)(name), name)?.ok_or_else(|| format!("`{name}` is missing"))
    }

    /// The index of the name in the field `what`, `flow` or `link`; 0 in a table, whose rows are of
    /// one flow or link each.
    pub(crate) fn index(&self, what: &str) -> Result<usize, String> {
        let Some(names) = self.names else {
            return Ok(0);
        };
        let known = match what {
            "flow" => &names.flows,
            _ => &names.links,
        };
        let name: String = self.get(what)?;
        let index = known.get(&name).copied();
        index.ok_or_else(|| format!("`{what}` names no {what} of the run: `{name}`"))
    }
}
