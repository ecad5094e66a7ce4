//! Tables of results.

use super::{Percent, Slug};
use crate::study::Expression;
use bentpipe_document::schema::{Kind, integer, number};
use bentpipe_document::{Many, Map, table};
use bentpipe_units::Ratio;

/// Differences in the unit of a table.
const DIFFERENCE: Kind = number(0.0, f64::MAX);

/// Digits after the point.
const DECIMALS: Kind = integer(0, 12);

table! {
    /// a table of the results, and the published numbers beside it
    pub(crate) TableKeys at "table", each "a table of",
        example "[[table]]\nslug = \"times\"\nrows = [\"queue\"]\ncolumns = [\"transport\"]\n\
                 metric = \"time\"\nunit = \"s\"";
    /// its name: that of its file
    slug: Slug, required;
    /// its title
    title: String, or "none";
    /// the study whose axes and results it shows
    from: String, or "its own";
    /// axes down the side
    rows: Many<String>, or "none";
    /// axes across
    columns: Many<String>, or "none";
    /// printed with rows as columns
    transposed: bool, default false;
    /// axes that are fixed: `{ size = "3 MB" }`
    at: Map<String>, or "none";
    /// points of axes that are shown: `{ transport = ["cubic", "bbr"] }`
    only: Map<Many<String>>, or "all";
    /// what each cell shows: a metric or an expression
    metric: Expression, or "what `metrics` say";
    /// several in place of one
    metrics: Vec<ValueKeys>, or "what `metric` says";
    /// unit of the cells, such as `ms`, `kbit/s` or `%`
    unit: String, or "the base unit of the metric";
    /// decimals of the cells
    decimals: u32 [DECIMALS], default 2;
    /// published numbers: a CSV file, relative to the study
    reference: String [Kind::File], or "none";
    /// how near to them the results must be
    bar: BarKeys, or "they are only shown";
    /// cells that miss the bar, with the reason
    known: Vec<KnownKeys>, or "none";
    /// remarks on rows or columns, by label
    notes: Map<String>, or "none";
}

table! {
    /// one of several numbers that a cell shows
    pub(crate) ValueKeys at "table.metrics", each "a metric of",
        example "[[table]]\nslug = \"several\"\nrows = [\"queue\"]\nmetrics = [\n  { label = \"time\", \
                 metric = \"time(cubic)\", unit = \"s\" },\n  { label = \"lost\", metric = \
                 \"queue_drops(cubic)\", decimals = 0 },\n]";
    /// what the table calls it
    label: String, required;
    /// a metric or an expression
    metric: Expression, required;
    /// its unit
    unit: String, or "that of the table";
    /// its decimals
    decimals: u32 [DECIMALS], or "those of the table";
}

table! {
    /// how near to published numbers the results must be
    pub(crate) BarKeys at "table.bar", called "the bar of",
        example "[[table]]\nslug = \"held\"\nrows = [\"queue\"]\ncolumns = [\"transport\"]\n\
                 metric = \"time\"\nbar = { mean = \"5%\", worst = \"9%\" }",
        with limits: LimitKeys;
    /// other limits for columns, by label
    per_column: Map<LimitKeys>, or "as all";
}

table! {
    /// other limits for the column of that label
    pub(crate) LimitKeys at "table.bar.per_column", named "the bar of column",
        example "[[table]]\nslug = \"by-column\"\nrows = [\"queue\"]\ncolumns = [\"transport\"]\n\
                 metric = \"time\"\n[table.bar.per_column]\n\"cubic\" = { worst = \"9%\" }";
    /// largest mean of the relative errors
    mean: Ratio, or "any";
    /// largest median of the relative errors
    median: Ratio, or "any";
    /// largest relative error of a cell
    worst: Ratio, or "any";
    /// largest mean of the differences, in the unit of the table
    mean_difference: f64 [DIFFERENCE], or "any";
    /// largest difference of a cell, in the unit of the table
    worst_difference: f64 [DIFFERENCE], or "any";
    /// largest mean of the differences by that of the best constant, below 100%
    spread: Ratio, or "any";
    /// the results are equal as printed
    exact_digits: bool, default false;
    /// errors that are on record in place of a bar, or beside one that is missed
    recorded: RecordedKeys, or "none";
    /// why the mean, median or spread is known to miss its bar, which needs `recorded`
    missed: String, or "it is to meet them";
}

table! {
    /// errors that are on record and not aimed at: one that leaves the band, for better or worse,
    /// is not as recorded
    pub(crate) RecordedKeys at "table.bar.recorded", called "what is recorded of",
        example "[[table]]\nslug = \"far\"\nrows = [\"queue\"]\ncolumns = [\"transport\"]\n\
                 metric = \"time\"\n[table.bar.recorded]\nmean = \"47%\"\nband = \"2%\"";
    /// mean of the relative errors
    mean: Percent, or "any";
    /// largest relative error of a cell
    worst: Percent, or "any";
    /// mean of the differences by that of the best constant
    spread: Percent, or "any";
    /// how many percentage points each may move, up or down, where it has no band of its own
    band: Percent, or "each has its own";
    /// how many the mean may
    mean_band: Percent, or "`band`";
    /// how many the worst may
    worst_band: Percent, or "`band`";
    /// how many the share of the spread may
    spread_band: Percent, or "`band`";
}

table! {
    /// a cell that is known to miss its bar: as recorded while it does and lies between `best` and
    /// `worst`
    pub(crate) KnownKeys at "table.known", each "a known miss of",
        example "[[table]]\nslug = \"missed\"\nrows = [\"queue\"]\ncolumns = [\"transport\"]\n\
                 metric = \"time\"\n[[table.known]]\nrow = \"1 BDP\"\ncolumn = \"cubic\"\n\
                 worst = \"50%\"\nreason = \"the paper does not say which CUBIC\"";
    /// label of the row
    row: String, required;
    /// label of the column
    column: String, required;
    /// its largest relative error, which may be above 100%
    worst: Percent, required;
    /// its smallest relative error: a cell that comes nearer is judged again
    best: Percent, or "its bar";
    /// why it misses
    reason: String, required;
}
