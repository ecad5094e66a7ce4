//! Paths that are another every so often.

use bentpipe_document::schema::{Kind, SPAN, number};
use bentpipe_document::{Each, table};
use bentpipe_units::{Duration, Ratio};

/// Shares of the link's rate.
const SHARES: Kind = Kind::List(&SHARE);
const SHARE: Kind = number(0.0, 1000.0);

/// Names of presets, with their places in [`bentpipe_link::slots::presets::PRESETS`].
const PRESETS: [(&str, usize); 2] = [
    (bentpipe_link::slots::presets::PRESETS[0], 0),
    (bentpipe_link::slots::presets::PRESETS[1], 1),
];

table! {
    /// both directions are another path every so often, such as Starlink's every 15 s; what a
    /// distribution has is in quantiles, ascending, with equally many draws between each two
    pub(crate) SlotsTable at "link.NAME.slots", called "the slots of",
        example "[link.satellite.slots]\ndelay = [\"0 ms\", \"10 ms\", \"25 ms\", \"90 ms\"]\n\
                 stays = 0.4\nrate = [0.5, 1, 1.2]\ninterruption = [\"0 ms\", \"90 ms\"]";
    /// slots that were measured, and jitter on the way forth unless a direction has its own; keys
    /// beside it replace what it has
    preset: usize { all PRESETS }, or "none";
    /// how long a slot lasts
    every: Duration [SPAN], or "15 s";
    /// when slots begin, from the start of the run, as if that were a full minute
    offset: Duration, or "12 s";
    /// round trip of a slot above that of the link, half of it each way
    delay: Each<Duration>, or "none";
    /// share of slots that have the delay of the one before, but for `wander`
    stays: Ratio, or "0";
    /// standard deviation that is added to the round trip of each slot
    wander: Duration, or "0 s";
    /// capacity as a share of the link's rate, drawn for each direction
    rate: Each<f64> [SHARES], or "always 1";
    /// share of packets that are lost, instead of what the channel loses
    loss: Each<Ratio>, or "as the channel";
    /// how long nothing comes through when a slot begins
    interruption: Each<Duration>, or "none";
}
