//! What most programs need: `use bentpipe::prelude::*;`

pub use crate::compare::{Answer, Comparison, Loss, Orbit, Pep, QueueLength, Traffic};
pub use crate::{Error, Run, ScenarioFile, Study};
pub use bentpipe_link::{ChannelSettings, Limit, LinkSettings, QueueSettings};
pub use bentpipe_outcome::Outcome;
pub use bentpipe_scenario::{Document, Scenario};
pub use bentpipe_tcp::Transport;
pub use bentpipe_traffic::Application;
pub use bentpipe_units::{Bytes, Duration, Rate, Ratio, Time};
