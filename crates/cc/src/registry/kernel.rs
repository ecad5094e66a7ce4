//! The kernel's controls: the catalogue of `bentpipe-bpf` in the words of this
//! registry.
//!
//! `initial_window` is left out: in the simulator it is a setting of the
//! transport.

use super::reader::Reader;
use super::{BuildError, DefaultValue, Described, Parameter, ParameterValue, Range};
use crate::Whole;
use crate::kernel::Kernel;
use bentpipe_bpf::{CONTROLS, Control, Kind, Native, ValueError, Values};
use bentpipe_units::Duration;
use std::sync::LazyLock;

/// A setting of the transport.
const INITIAL_WINDOW: &str = "initial_window";

/// The controls, described; made once and kept.
pub(super) static NAMED: LazyLock<Vec<Described>> =
    LazyLock::new(|| CONTROLS.iter().map(described).collect());

fn described(control: &'static Control) -> Described {
    let parameters: Vec<Parameter> = control
        .parameters
        .iter()
        .filter(|parameter| parameter.name != INITIAL_WINDOW)
        .map(translated)
        .collect();
    Described {
        name: control.name,
        summary: control.summary,
        source: control.origin,
        open: "the C that runs in the kernel, in whole segments and microseconds",
        slots: None,
        parameters: parameters.leak(),
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

/// The control of that name with the reader's parameters.
pub(super) fn build(name: &str, reader: &Reader<'_>) -> Result<Option<Whole>, BuildError> {
    let Some(control) = bentpipe_bpf::find(name) else {
        return Ok(None);
    };
    let mut values = Values::new(control);
    for parameter in reader.described {
        let value = reader.value(parameter.name);
        values
            .set_text(parameter.name, &text(&value))
            .map_err(|error| refused(reader, &error))?;
    }
    values.check().map_err(|error| refused(reader, &error))?;
    Ok(Native::new(&values).map(|native| Whole::Kernel(Kernel::new(native))))
}

/// What the catalogue refuses and this registry cannot say: a whole number, lists
/// that belong together.
fn refused(reader: &Reader<'_>, error: &ValueError) -> BuildError {
    match error {
        ValueError::Value {
            parameter,
            expected,
            ..
        } => reader.bad(parameter, &reader.value(parameter), expected.clone()),
        // Every name comes from the catalogue itself.
        ValueError::Form(name) | ValueError::Unknown { given: name, .. } => BuildError::BadValue {
            algorithm: name.clone(),
            parameter: "",
            given: name.clone(),
            expected: error.to_string(),
        },
    }
}
