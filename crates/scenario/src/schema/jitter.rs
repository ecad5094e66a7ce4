//! Delays that vary from packet to packet.

use bentpipe_document::Each;
use bentpipe_document::schema::{Kind, number};
use bentpipe_document::{kinds, table};
use bentpipe_units::{Duration, Ratio};

/// Values in deviations.
const VALUES: Kind = Kind::List(&VALUE);
const VALUE: Kind = number(-1e6, 1e6);

table! {
    /// how draws follow each other
    pub(crate) DrawKeys at "link.NAME.jitter", called "the jitter of";
    /// correlation of a draw with the one before it; it changes no distribution
    correlation: Ratio, default 0;
    /// how long a draw holds, for all packets whose transmission ends then
    holds: Duration, or "each packet has a draw of its own";
}

kinds! {
    /// variation of the delay; packets keep their order, and what they wait for each other comes
    /// on top
    pub(crate) JitterTable at "link.NAME.jitter", called "jitter";
    /// every packet has the same delay
    Steady "none", example "[link.satellite.reverse]\njitter = \"none\"" {}
    /// evenly around the link's delay
    Uniform "uniform", example "[link.satellite]\njitter = { kind = \"uniform\", spread = \"5 ms\" }",
        with draws: DrawKeys
    {
        /// largest difference from the link's delay, on both sides
        spread: Duration, required;
    }
    /// normal around the link's delay, and never below zero
    Normal "normal",
        example "[link.satellite]\njitter = { kind = \"normal\", deviation = \"5 ms\", \
                 holds = \"15 ms\" }",
        with draws: DrawKeys
    {
        /// standard deviation
        deviation: Duration, required;
    }
    /// Pareto's of shape 3 with the link's delay as its mean: a long tail above
    Pareto "pareto",
        example "[link.satellite]\njitter = { kind = \"pareto\", deviation = \"5 ms\", \
                 correlation = 0.3 }",
        with draws: DrawKeys
    {
        /// standard deviation
        deviation: Duration, required;
    }
    /// a quarter normal and three quarters Pareto's, as netem's `paretonormal`
    ParetoNormal "pareto-normal",
        example "[link.satellite]\njitter = { kind = \"pareto-normal\", deviation = \"5 ms\" }",
        with draws: DrawKeys
    {
        /// standard deviation
        deviation: Duration, required;
    }
    /// a table of netem, around the link's delay
    Table "table",
        example "[link.satellite]\njitter = { kind = \"table\", deviation = \"5 ms\", \
                 values = [-1.5, -0.5, 0.2, 2] }",
        with draws: DrawKeys
    {
        /// what a value of 1 stands for
        deviation: Duration, required;
        /// a distribution for netem, such as those in `/usr/lib/tc`
        file: String [Kind::File], or "this or `values` is required";
        /// ascending, in deviations, with equally many draws between each two
        values: Each<f64> [VALUES], or "this or `file` is required";
    }
    /// delays that are added to the link's
    Quantiles "quantiles",
        example "[link.satellite]\njitter = { kind = \"quantiles\", \
                 delays = [\"0 ms\", \"2 ms\", \"5 ms\", \"30 ms\"] }",
        with draws: DrawKeys
    {
        /// one a line, ms, in any order
        file: String [Kind::File], or "this or `delays` is required";
        /// ascending, with equally many draws between each two
        delays: Each<Duration>, or "this or `file` is required";
    }
}
