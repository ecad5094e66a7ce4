//! What is written of a run packet by packet.

use clap::Args;
use std::path::PathBuf;

/// Files about the packets of a run of the simulator.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Recorded {
    /// Draw sequence numbers (sent, sent again, acknowledged, SACKed, lost), RTT and
    /// queue against time (.svg, .png or .pdf)
    #[arg(long, value_name = "FILE")]
    pub(crate) sequence: Option<PathBuf>,
    /// Write a row per packet event (.csv or .parquet)
    #[arg(long, value_name = "FILE")]
    pub(crate) packets: Option<PathBuf>,
    /// Write the sender's packets, losses, window and RTT as qlog, for qvis (.sqlog)
    #[arg(long, value_name = "FILE")]
    pub(crate) qlog: Option<PathBuf>,
}

impl Recorded {
    /// The files, in the order of the options.
    pub(crate) fn files(&self) -> impl Iterator<Item = &PathBuf> {
        [&self.sequence, &self.packets, &self.qlog]
            .into_iter()
            .flatten()
    }

    /// True if a file is asked for.
    pub(crate) fn is_any(&self) -> bool {
        self.files().next().is_some()
    }
}
