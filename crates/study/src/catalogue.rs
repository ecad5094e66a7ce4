//! Where expressions look up the studies that they name.

use crate::study::Study;

/// Where names of studies are looked up.
pub(crate) trait Catalogue {
    /// The study of that name.
    fn study(&self, name: &str) -> Option<&Study>;

    /// Names of the studies, for messages.
    fn names(&self) -> Vec<&str>;

    /// False if there may be more studies than are known.
    fn is_complete(&self) -> bool;
}

/// No study is known, and any may exist.
pub(crate) struct Unknown;

impl Catalogue for Unknown {
    fn study(&self, _: &str) -> Option<&Study> {
        None
    }

    fn names(&self) -> Vec<&str> {
        Vec::new()
    }

    fn is_complete(&self) -> bool {
        false
    }
}
