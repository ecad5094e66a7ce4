//! The declaration of the kernel's controls: the catalogue of `bentpipe-bpf` in
//! the words of this crate.
//!
//! `initial_window` is left out: in the simulator it is a setting of the
//! transport.

use super::Kernel;
use crate::declaration::{Algorithm, Control, Described, Family, TransportDefaults};
use crate::own::{Definition, OwnControl};
use crate::parameter::Reader;
use crate::{BuildError, DefaultValue, Parameter, ParameterValue, Range};
use bentpipe_bpf::{CONTROLS, Hooks, Kind, Native, ValueError, Values};
use bentpipe_units::Duration;

/// A setting of the transport.
const INITIAL_WINDOW: &str = "initial_window";

impl Algorithm for Kernel {
    fn controls() -> Vec<Control<Kernel>> {
        CONTROLS.iter().map(declared).collect()
    }
}

fn declared(control: &'static bentpipe_bpf::Control) -> Control<Kernel> {
    let described = described(control);
    let build = move |reader: &Reader<'_>| {
        let hooks = Hooks::built_in(control.name);
        build(control, hooks, described.parameters, reader)
    };
    Control {
        described,
        build: Box::new(build),
    }
}

/// A user's control, whose C has these `hooks`; `fingerprint` is the hash of
/// its source.
///
/// # Errors
/// If the name has a form that scenarios cannot take.
pub fn own(
    control: &'static bentpipe_bpf::Control,
    hooks: Hooks,
    fingerprint: impl Into<String>,
) -> Result<OwnControl, BuildError> {
    let described = described(control);
    let definition = Definition {
        summary: described.summary.to_owned(),
        origin: described.source.to_owned(),
        parameters: described.parameters.to_vec(),
        transport: described.transport,
        ..Definition::new(control.name, fingerprint)
    };
    OwnControl::new(definition, move |parameters| {
        let built = Reader::new(control.name, described.parameters, parameters)
            .and_then(|reader| build(control, Some(hooks), described.parameters, &reader));
        match built {
            Ok(kernel) => Ok(Box::new(kernel)),
            Err(error) => Err(error.to_string()),
        }
    })
}

fn described(control: &'static bentpipe_bpf::Control) -> Described {
    let own = control.parameters.iter();
    let parameters: Vec<Parameter> = own
        .filter(|parameter| parameter.name != INITIAL_WINDOW)
        .map(translated)
        .collect();
    let parameters: &'static [Parameter] = parameters.leak();
    Described {
        name: control.name,
        summary: control.summary,
        source: control.origin,
        open: "the C that runs in the kernel, in whole segments and microseconds",
        family: Family::Kernel,
        parameters,
        transport: TransportDefaults {
            summary: control.transport.summary,
            source: control.transport.source,
            on_linux: true,
            ..TransportDefaults::NEW
        },
        ..Described::NEW
    }
}

fn translated(parameter: &'static bentpipe_bpf::Parameter) -> Parameter {
    let word = |at: usize| parameter.default.get(at).copied().unwrap_or(0);
    let (minimum, maximum) = (parameter.minimum, parameter.maximum);
    let number = |parts: u64| Range::Number {
        min: minimum as f64 / parts as f64,
        max: maximum as f64 / parts as f64,
    };
    let (default, range) = match parameter.kind {
        Kind::Count => (DefaultValue::Number(word(0) as f64), number(1)),
        Kind::Decimal(parts) => {
            let default = word(0) as f64 / parts as f64;
            (DefaultValue::Number(default), number(parts))
        }
        Kind::Time => (
            DefaultValue::Duration(Duration::from_nanos(word(0))),
            Range::Duration {
                min: Duration::from_nanos(minimum),
                max: Duration::from_nanos(maximum),
            },
        ),
        Kind::Choice(words) => (
            DefaultValue::Text(words.get(word(0) as usize).copied().unwrap_or_default()),
            Range::OneOf(words),
        ),
        Kind::Flag => (DefaultValue::Flag(word(0) != 0), Range::Flag),
        Kind::List(_) => {
            let list: Vec<f64> = parameter.default.iter().map(|word| *word as f64).collect();
            let range = Range::Numbers {
                min: minimum as f64,
                max: maximum as f64,
            };
            (DefaultValue::Numbers(list.leak()), range)
        }
    };
    Parameter {
        name: parameter.name,
        default,
        unit: parameter.unit,
        range,
        meaning: parameter.summary,
    }
}

/// A value in the text form of the catalogue.
fn text(value: &ParameterValue) -> String {
    match value {
        ParameterValue::Numbers(list) => {
            let numbers: Vec<String> = list.iter().map(f64::to_string).collect();
            numbers.join("-")
        }
        other => other.to_string(),
    }
}

/// A connection of `control` with the reader's parameters.
fn build(
    control: &'static bentpipe_bpf::Control,
    hooks: Option<Hooks>,
    parameters: &[Parameter],
    reader: &Reader<'_>,
) -> Result<Kernel, BuildError> {
    let mut values = Values::new(control);
    let refused = |error: ValueError| refused(parameters, reader, &error);
    for parameter in parameters {
        let value = reader.value(parameter);
        values
            .set_text(parameter.name, &text(&value))
            .map_err(refused)?;
    }
    values.check().map_err(refused)?;
    hooks
        .and_then(|hooks| Native::of(hooks, &values))
        .map(Kernel::new)
        .ok_or_else(|| BuildError::BadValue {
            algorithm: control.name.to_owned(),
            parameter: "",
            given: control.source.to_owned(),
            expected: "a control whose C is compiled in".to_owned(),
        })
}

/// What the catalogue refuses beyond the ranges of the parameters: fractions
/// where it counts, and lists that do not belong together.
fn refused(parameters: &[Parameter], reader: &Reader<'_>, error: &ValueError) -> BuildError {
    let expected = match error {
        ValueError::Value { expected, .. } => expected.clone(),
        ValueError::Form(_) | ValueError::Unknown { .. } => error.to_string(),
    };
    let name = match error {
        ValueError::Value { parameter, .. } => parameter,
        // Every name comes from the catalogue itself.
        ValueError::Form(name) | ValueError::Unknown { given: name, .. } => name.as_str(),
    };
    match parameters.iter().find(|parameter| parameter.name == name) {
        Some(parameter) => reader.bad(parameter.name, &reader.value(parameter), expected),
        None => reader.bad("", &ParameterValue::Text(name.to_owned()), expected),
    }
}
