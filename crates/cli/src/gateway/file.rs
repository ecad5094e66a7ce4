//! The file of a configuration.

use crate::exit::Failure;
use crate::output::{stderr_colour, talk_width};
use bentpipe_gateway::config::Config;
use bentpipe_gateway::gateway::{RunError, load};
use bentpipe_present::rendered;
use std::path::Path;

impl From<RunError> for Failure {
    fn from(error: RunError) -> Failure {
        match error {
            RunError::Config(diagnostics) => Failure::Rendered(
                rendered(&diagnostics, stderr_colour(), talk_width())
                    + "\n`bentpipe gateway schema` prints every key",
            ),
            other => Failure::new(other.to_string()),
        }
    }
}

/// The configuration in a file.
pub(super) fn read(file: &Path) -> Result<Config, Failure> {
    Ok(load(file)?)
}
