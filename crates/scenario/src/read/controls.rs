//! Users' congestion controls that the document was given.

use crate::document::GivenControls;
use crate::schema::control::ControlTable;
use bentpipe_cc::OwnControl;
use bentpipe_document::{Diagnostic, Named, OneNamed, OptionalField, Reported};
use bentpipe_tcp::{NamedTransport, find_transport, transports};

/// The congestion controls of a file.
#[derive(Default)]
pub(super) struct Controls {
    own: Vec<OwnControl>,
    /// Every name in the file, good or bad.
    written: Vec<String>,
}

pub(super) fn read(tables: OptionalField<Named<ControlTable>>, given: &GivenControls) -> Controls {
    let tables = tables.ok().flatten().map(|t| t.value).unwrap_or_default();
    let own = tables.tables.iter().filter_map(|one| own(one, given).ok());
    Controls {
        own: own.collect(),
        written: tables.names.clone(),
    }
}

fn own(one: &OneNamed<ControlTable>, given: &GivenControls) -> Result<OwnControl, Reported> {
    let table = one.table.as_ref().map_err(|reported| *reported)?;
    let file = table.file.as_ref().map_err(|reported| *reported)?;
    let wrong = |message: String, label: &str| {
        let error = Diagnostic::new(file.place, message);
        table.context.report(error.label(label))
    };
    let control = match given.get(&(one.name.clone(), file.value.clone())) {
        Some(Ok(control)) => control,
        Some(Err(why)) => {
            let message = format!(
                "the congestion control `{}` cannot be loaded: {why}",
                one.name
            );
            return Err(wrong(message, "named here"));
        }
        None => {
            let message = format!("the congestion control `{}` was not loaded", one.name);
            return Err(wrong(message, "only programs that read files load it"));
        }
    };
    match bentpipe_tcp::check_name(control) {
        Ok(()) => Ok(control.clone()),
        Err(taken) => {
            let error = Diagnostic::new(one.place, taken.to_string());
            Err(table.context.report(error.label("expected another name")))
        }
    }
}

impl Controls {
    /// The control of that name in the file.
    pub(super) fn find(&self, name: &str) -> Option<&OwnControl> {
        self.own.iter().find(|control| control.name() == name)
    }

    /// The transport of that name: the file's controls come first.
    pub(super) fn transport(&self, name: &str) -> Option<NamedTransport> {
        let own = self.find(name).map(NamedTransport::of_own);
        own.or_else(|| find_transport(name))
    }

    /// True for a name of the file, also where the control could not be loaded,
    /// which was reported.
    pub(super) fn is_written(&self, name: &str) -> bool {
        self.written.iter().any(|written| written == name)
    }

    /// The names of all transports.
    pub(super) fn transports(&self) -> impl Iterator<Item = &'static str> {
        let own = self.own.iter().map(OwnControl::name);
        let own: Vec<&'static str> = own.collect();
        own.into_iter().chain(transports().map(|t| t.name))
    }

    /// The controls that are no built-in ones: the file's, and those of the process.
    pub(super) fn all(&self) -> Vec<OwnControl> {
        let mut all = self.own.clone();
        let registered = bentpipe_cc::own::registered();
        all.extend(
            registered
                .into_iter()
                .filter(|it| self.find(it.name()).is_none()),
        );
        all
    }
}
