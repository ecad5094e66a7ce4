//! Figures of results.

use super::{Slug, Word};
use crate::study::{Expression, SeriesQuantity};
use bentpipe_document::schema::{Kind, SPAN, integer, number};
use bentpipe_document::{Many, Map, kinds, table};
use bentpipe_units::Duration;

/// An end of what an axis leaves out.
const END: Kind = number(0.0, f64::MAX);

table! {
    /// a figure of the results
    pub(crate) FigureKeys at "figure", each "a figure of";
    /// its name: that of its files
    slug: Slug, required;
    /// its title
    title: String, or "none";
    /// the study whose axes and results it shows
    from: String, or "its own";
    /// the axis with a curve, a bar or a row of a map for each point
    series: String, or "one curve";
    /// the axis with a panel for each point
    facets: String, or "one panel";
    /// axes that are fixed: `{ size = "3 MB" }`
    at: Map<String>, or "none";
    /// points of axes that are shown: `{ transport = ["cubic", "bbr"] }`
    only: Map<Many<String>>, or "all";
    /// label of the axis from left to right
    x_label: String, or "the usual one";
    /// label of the upward axis; of a map, of its colours
    y_label: String, or "the usual one";
    /// how the axis from left to right is drawn
    x_scale: bool { "linear" => false, "log" => true }, default "linear";
    /// how the upward axis is drawn; of a map, its colours
    y_scale: bool { "linear" => false, "log" => true }, default "linear";
    /// what the axis from left to right leaves out
    x_break: BreakKeys, or "nothing";
    /// what the upward axis leaves out
    y_break: BreakKeys, or "nothing";
    /// published numbers: a CSV file, relative to the study
    reference: String [Kind::File], or "none";
    /// numbers that a paper prints in its text
    published: Vec<PublishedKeys>, or "none";
}

table! {
    /// what a figure shows of its cells
    pub(crate) ShownKeys at "figure", each "a figure of";
    /// what is drawn upwards, distributed or coloured: a metric or an expression
    y: Expression, required;
    /// its unit
    unit: String, or "the base unit of the metric";
}

table! {
    /// the groups of a figure
    pub(crate) GroupKeys at "figure", each "a figure of";
    /// the axes that make the groups
    groups: Many<String>, or "one group";
}

kinds! {
    /// a figure of the results
    pub(crate) FigureKinds at "figure", each "figure";
    /// a quantity over time, of the first replication
    Series "series", example "series = \"1 s\"\n[[figure]]\nslug = \"over-time\"\n\
                              kind = \"series\"\ny = \"cwnd\"\nseries = \"transport\"\n\
                              at = { queue = \"1 BDP\" }",
        with common: FigureKeys {
        /// what is drawn upwards
        y: SeriesQuantity { all SeriesQuantity::WORDS }, required;
        /// the flow
        flow: String, or "the first";
        /// window of rates, no shorter than `series` of the study
        window: Duration [SPAN], or "500 ms, or `series` of the study if that is longer";
        /// unit of rates
        unit: String, or "kB/s";
    }
    /// a metric over an axis; bars where that has no numbers
    Line "line", example "[[figure]]\nslug = \"by-queue\"\nkind = \"line\"\nx = \"queue\"\n\
                          y = \"time\"\nseries = \"transport\"",
        with common: FigureKeys, with shown: ShownKeys {
        /// the axis from left to right
        x: String, required;
    }
    /// a metric as bars in groups
    Bars "bars", example "[[figure]]\nslug = \"bars\"\nkind = \"bars\"\ngroups = [\"queue\"]\n\
                          y = \"time\"\nseries = \"transport\"",
        with common: FigureKeys, with shown: ShownKeys, with groups: GroupKeys {}
    /// a box over the runs of each cell, in groups
    Box "box", example "[[figure]]\nslug = \"boxes\"\nkind = \"box\"\ngroups = [\"queue\"]\n\
                        y = \"time\"\nseries = \"transport\"",
        with common: FigureKeys, with shown: ShownKeys, with groups: GroupKeys {}
    /// the distribution of a metric over the runs of a cell
    Cdf "cdf", example "[[figure]]\nslug = \"spread\"\nkind = \"cdf\"\ny = \"time\"\n\
                        series = \"transport\"\nat = { queue = \"1 BDP\" }",
        with common: FigureKeys, with shown: ShownKeys {}
    /// a map of coloured cells: `series` down, `x` across
    Heat "heat", example "[[figure]]\nslug = \"map\"\nkind = \"heat\"\nx = \"queue\"\n\
                          series = \"transport\"\ny = \"time\"",
        with common: FigureKeys, with shown: ShownKeys {
        /// the axis across
        x: String, required;
        /// decimals of the numbers in the cells
        decimals: u32 [integer(0, 6)], default 1;
    }
}

table! {
    /// the range that an axis leaves out, in the unit that it shows
    pub(crate) BreakKeys at "figure.y_break", called "the break of",
        example "[[figure]]\nslug = \"broken\"\nkind = \"line\"\nx = \"queue\"\ny = \"time\"\n\
                 series = \"transport\"\ny_break = { from = 20, to = 180 }";
    /// where it begins
    from: f64 [END], required;
    /// where it ends
    to: f64 [END], required;
}

table! {
    /// a number that a paper prints in its text
    pub(crate) PublishedKeys at "figure.published", each "a published number of",
        example "[[figure]]\nslug = \"printed\"\nkind = \"line\"\nx = \"queue\"\ny = \"time\"\n\
                 series = \"transport\"\npublished = [\n  { y = 15, series = \"cubic\", \
                 text = \"about 15 s (section 4)\" },\n]";
    /// where on the axis from left to right
    x: Word, or "a line across the panel";
    /// the number, in the unit of the upward axis
    y: f64 [END], required;
    /// the point of `series` that it is of
    series: String, or "none";
    /// the point of `facets` that it is of
    facet: String, or "every panel";
    /// its words and place in the paper
    text: String, required;
}
