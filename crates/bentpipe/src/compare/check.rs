//! Questions that make no sense, and what is said of them.

use super::path::NetworkPath;
use super::pep::Pep;
use super::question::Comparison;
use super::traffic::Traffic;
use crate::Error;

/// Most users.
const MOST_USERS: u32 = 1_000;

impl Comparison {
    /// Refuses what makes no sense, whatever the path is.
    pub(super) fn check(&self) -> Result<(), Error> {
        let wrong = |setting, why: String| Err(Error::setting(setting, why));
        if self.all_sizes().iter().any(|size| size.get() == 0) {
            return wrong("size", "must be above zero".to_owned());
        }
        if self.traffic == Traffic::Video && !self.sizes.is_empty() {
            return wrong(
                "size",
                "is for downloads and pages; a video lasts a minute".to_owned(),
            );
        }
        let (users, least) = (self.user_count(), self.traffic.least_users());
        if users < least || users > MOST_USERS {
            let traffic = self.traffic.name();
            let why = format!("must be from {least} to {MOST_USERS} with {traffic} traffic");
            return wrong("users", why);
        }
        if self.peps.is_empty() {
            return wrong("pep", "names no proxy, and not `none` either".to_owned());
        }
        if !self.own.is_empty() && self.peps.contains(&Pep::Split) {
            let why = "split: a congestion control of your own cannot run from a proxy on";
            return wrong("pep", why.to_owned());
        }
        if self.runs == Some(0) {
            return wrong("runs", "must be above zero".to_owned());
        }
        Ok(())
    }

    /// Refuses what makes no sense on this path.
    pub(super) fn check_path(&self, path: &NetworkPath) -> Result<(), Error> {
        let load = self.background.map(|background| background.rate(path.rate));
        if let Some(load) = load.filter(|load| *load >= path.rate || load.bps() == 0) {
            let why = format!("of {load} must be above zero and below the rate of the link");
            return Err(Error::setting("background", why));
        }
        Ok(())
    }
}
