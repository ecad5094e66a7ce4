//! Congestion controls that a program brings along.

use bentpipe_cc::{CongestionControl, Controller};
use std::fmt;
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
