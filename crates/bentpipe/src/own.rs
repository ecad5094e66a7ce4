//! Congestion controls that a program brings along.

use crate::Error;
use bentpipe_cc::{CongestionControl, Controller};
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// Builds a congestion control for each connection that needs one.
#[derive(Clone)]
pub(crate) struct OwnControl(Arc<dyn Fn() -> Box<dyn CongestionControl> + Send + Sync>);

impl OwnControl {
    pub(crate) fn new(
        make: impl Fn() -> Box<dyn CongestionControl> + Send + Sync + 'static,
    ) -> OwnControl {
        OwnControl(Arc::new(make))
    }

    pub(crate) fn controller(&self) -> Controller {
        Controller::from((self.0)())
    }
}

impl fmt::Debug for OwnControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OwnControl")
    }
}

/// Loads controls, each `[NAME=]FILE` as `--cc` takes it, and makes them known in this
/// process as [`register_control`](crate::register_control) does. Returns them.
///
/// # Errors
/// If one cannot be loaded, or two have the same name.
pub fn register_files<S: AsRef<str>>(given: &[S]) -> Result<Vec<bentpipe_cc::OwnControl>, Error> {
    let mut loaded: Vec<(bentpipe_cc::OwnControl, &str)> = Vec::new();
    for text in given.iter().map(AsRef::as_ref) {
        let control = load(text)?;
        let same = loaded
            .iter()
            .find(|(other, _)| other.name() == control.name());
        if let Some((_, other)) = same {
            return Err(Error::Control(format!(
                "--cc {other} and --cc {text} are both named `{0}`: expected another name for \
                 one of them, such as --cc {0}-2={text}",
                control.name()
            )));
        }
        loaded.push((control, text));
    }
    let controls: Vec<_> = loaded.into_iter().map(|(control, _)| control).collect();
    for control in controls.iter().cloned() {
        bentpipe_tcp::register_control(control)
            .map_err(|e| Error::Control(format!("--cc: {e}")))?;
    }
    Ok(controls)
}

/// The control of `[NAME=]FILE`.
fn load(text: &str) -> Result<bentpipe_cc::OwnControl, Error> {
    let (name, file) = match text.split_once('=') {
        // A path may have an equals sign.
        Some((name, file)) if !name.contains(['/', '\\']) => (Some(name), file),
        _ => (None, text),
    };
    bentpipe_plugin::load_as(name, Path::new(file)).map_err(|e| Error::Control(e.to_string()))
}
