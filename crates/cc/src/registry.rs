//! The built-in congestion controls by name: what they are, which parameters
//! they take, and how to build one from a scenario's text.
//!
//! One list serves the command line, the documentation, the transports and the
//! checks of a scenario, so that they cannot disagree.

use crate::declaration::Control;
use crate::hoe::{HoeOff, HoeSetting as _};
use crate::own::{self, OwnControl};
use crate::parameter::{ParameterSet as _, Reader, add, names};
use crate::slot::{CongestionAvoidance as _, Parts};
use crate::slots::{AVOIDANCES, REACTIONS, STARTS, combinations};
use crate::{BuildError, Classic, Controller, Described, Parameters, Slot, SlotKind, algorithms};
use bentpipe_units::nearest;
use std::sync::LazyLock;

static CONTROLS: LazyLock<Vec<Control<Controller>>> = LazyLock::new(|| {
    let classic = combinations().into_iter().map(|control| {
        let name = control.described.name;
        control.map(move |parts| Controller::Classic(Classic::from_parts(name, parts)))
    });
    let monolithic = algorithms::controls().into_iter();
    let monolithic = monolithic.map(|control| control.map(Controller::from));
    classic.chain(monolithic).collect()
});

/// Every built-in congestion control.
pub fn list() -> impl Iterator<Item = &'static Described> {
    CONTROLS.iter().map(|control| &control.described)
}

/// The congestion control of that name, built in or registered ([`own`]).
#[must_use]
pub fn find(name: &str) -> Option<&'static Described> {
    built_in(name).or_else(|| own::find(name).map(|control| control.described()))
}

/// The built-in congestion control of that name.
pub(crate) fn built_in(name: &str) -> Option<&'static Described> {
    list().find(|described| described.name == name)
}

/// Everything that can fill a slot.
#[must_use]
pub fn slots(kind: SlotKind) -> &'static [Slot] {
    match kind {
        SlotKind::Start => &STARTS.slots,
        SlotKind::Avoidance => &AVOIDANCES.slots,
        SlotKind::Reaction => &REACTIONS.slots,
    }
}

fn unknown(
    kind: &'static str,
    name: &str,
    known: impl Iterator<Item = &'static str> + Clone,
) -> BuildError {
    BuildError::UnknownName {
        kind,
        name: name.to_owned(),
        nearest: nearest(name, known.clone()),
        known: names(known),
    }
}

/// Builds the named congestion control, built in or registered ([`own`]); what `parameters` leave out has its
/// default.
///
/// # Errors
/// When the name or a parameter is unknown, or a value is out of range.
pub fn build(name: &str, parameters: &Parameters) -> Result<Controller, BuildError> {
    let built_in = CONTROLS
        .iter()
        .find(|control| control.described.name == name);
    let Some(control) = built_in else {
        return match own::find(name) {
            Some(control) => control.build(parameters),
            None => {
                let own = own::registered();
                let own = own.iter().map(OwnControl::name);
                let known: Vec<&str> = own.chain(list().map(|it| it.name)).collect();
                Err(unknown("congestion control", name, known.into_iter()))
            }
        };
    };
    let reader = Reader::new(name, control.described.parameters, parameters)?;
    (control.build)(&reader)
}

/// Builds a combination of three slots by their names ([`slots`]); parameters
/// are those of the three and `hoe`.
///
/// # Errors
/// When a name or a parameter is unknown, or a value is out of range.
pub fn build_slots(
    start: &str,
    avoidance: &str,
    reaction: &str,
    parameters: &Parameters,
) -> Result<Classic, BuildError> {
    let missing = |kind: SlotKind, name: &str| {
        unknown(kind.name(), name, slots(kind).iter().map(|slot| slot.name))
    };
    let name = format!("{start}/{avoidance}/{reaction}");
    let (start_slot, start) = STARTS
        .find(start)
        .ok_or_else(|| missing(SlotKind::Start, start))?;
    let (avoidance_slot, avoidance) = AVOIDANCES
        .find(avoidance)
        .ok_or_else(|| missing(SlotKind::Avoidance, avoidance))?;
    let (reaction_slot, reaction) = REACTIONS
        .find(reaction)
        .ok_or_else(|| missing(SlotKind::Reaction, reaction))?;
    let mut described = Vec::new();
    for slot in [start_slot, avoidance_slot, reaction_slot] {
        for parameter in slot.parameters {
            add(&mut described, *parameter);
        }
    }
    HoeOff::declare(&mut described);
    let reader = Reader::new(&name, &described, parameters)?;
    let (start, avoidance, reaction) = (start(&reader)?, avoidance(&reader)?, reaction(&reader)?);
    let hoe = HoeOff::read(&reader)?.estimator(avoidance.needs_estimate());
    let parts = Parts::new(start, avoidance, reaction, hoe);
    Ok(Classic::from_parts(name.clone(), parts))
}
