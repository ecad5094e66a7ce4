//! The keys of studies, for those who write them.

/// A table of a study.
#[derive(Clone, Copy, Debug)]
pub struct StudyTable {
    /// What one asks for to read about it.
    pub topic: &'static str,
    /// As it is written; empty for the top of the file.
    pub heading: &'static str,
    /// What it describes.
    pub meaning: &'static str,
    /// Its keys, each with its meaning.
    pub keys: &'static [(&'static str, &'static str)],
    /// TOML that shows it.
    pub example: &'static str,
}

const FROM: (&str, &str) = (
    "from",
    "the study whose axes and results it shows; its own where left out",
);

/// The tables of a study, the top of the file first.
pub const STUDY_TABLES: [StudyTable; 6] = [
    StudyTable {
        topic: "study",
        heading: "The top of a study",
        meaning: "a scenario, what is varied in it, and what is made of the results",
        keys: &[
            (
                "name",
                "its name: that of the folder of its results (required)",
            ),
            ("title", "its title"),
            ("description", "what it is about"),
            (
                "scenario",
                "the scenario file, relative to the study; a study without one looks at the results of others",
            ),
            (
                "control",
                "congestion controls of one's own: `[control.NAME]` with a `file`, relative to the study (`bentpipe help cc`)",
            ),
            (
                "replications",
                "runs of each cell, with other losses; 1 where left out. Or until when a cell goes on: `{ until = \"2%\", of = \"transfer_time\", at_least = 5, at_most = 1000 }` ends it when the 95% interval of that metric's mean is within 2% of the mean",
            ),
            (
                "seed",
                "seed of the first replication, which the others follow; 1 where left out",
            ),
            (
                "start_jitter",
                "by how much flows start later at random, such as `\"40 ms\"`; none where left out",
            ),
            (
                "set",
                "values of the scenario that hold in every run, by their paths: `{ \"link.satellite.rate\" = \"5 Mbit/s\" }`",
            ),
            (
                "series",
                "interval of time series, such as `\"100 ms\"`; none are kept where left out",
            ),
            (
                "marks",
                "times at which metrics can be taken, such as `[\"10 s\", \"60 s\"]`",
            ),
            ("paper", "the paper that it reproduces"),
            ("axis", "what is varied: `[[axis]]`, see the topic axis"),
            (
                "metric",
                "metrics by an expression: `[[metric]]`, see the topic metric",
            ),
            ("table", "tables: `[[table]]`, see the topic table"),
            ("figure", "figures: `[[figure]]`, see the topic figure"),
            (
                "claim",
                "statements that the results are held to: `[[claim]]`, see the topic claim",
            ),
        ],
        example: "name = \"sizes\"\ntitle = \"Two transports\"\nscenario = \"geo.toml\"\nreplications = 20",
    },
    StudyTable {
        topic: "axis",
        heading: "[[axis]]",
        meaning: "something that is varied: values at a path of the scenario, or points that set several",
        keys: &[
            (
                "name",
                "its name, which tables, figures and claims use (required)",
            ),
            (
                "path",
                "where in the scenario the values go, such as `link.satellite.queue`; one path or several",
            ),
            ("values", "the values, as the scenario writes them"),
            (
                "labels",
                "what tables call the values; the values themselves where left out",
            ),
            ("aliases", "short names of the values for expressions"),
            (
                "points",
                "in place of path and values: `[{ label, alias, value, set = { PATH = VALUE } }]`",
            ),
        ],
        example: "[[axis]]\nname = \"queue\"\npath = \"link.satellite.queue\"\nvalues = [\"0.5 BDP\", \"1 BDP\"]",
    },
    StudyTable {
        topic: "metric",
        heading: "[[metric]]",
        meaning: "a metric by an expression of others",
        keys: &[
            ("name", "its name (required)"),
            (
                "expression",
                "the expression, such as `time(hybla) / time(cubic)` (required)",
            ),
            ("unit", "its unit"),
        ],
        example: "[[metric]]\nname = \"kilobytes_lost\"\nexpression = \"queue_drops * 1.5\"",
    },
    StudyTable {
        topic: "table",
        heading: "[[table]]",
        meaning: "a table of the results, and the published numbers beside it",
        keys: &[
            ("slug", "its name: that of its file (required)"),
            ("title", "its title"),
            FROM,
            ("rows", "axes down the side"),
            ("columns", "axes across"),
            ("transposed", "printed with rows as columns"),
            ("at", "axes that are fixed: `{ size = \"3 MB\" }`"),
            (
                "only",
                "points of axes that are shown: `{ transport = [\"cubic\", \"bbr\"] }`",
            ),
            ("metric", "what each cell shows: a metric or an expression"),
            (
                "metrics",
                "several in place of one: `[{ label, metric, unit, decimals }]`",
            ),
            ("unit", "unit of the cells"),
            ("decimals", "decimals of the cells; 2 where left out"),
            (
                "reference",
                "published numbers: a CSV file, relative to the study",
            ),
            (
                "bar",
                "how near to them the results must be: `{ mean, median, worst, ... }`",
            ),
            (
                "known",
                "cells that miss the bar, with the reason: `[{ row, column, worst, reason }]`",
            ),
            ("notes", "remarks on rows or columns, by label"),
        ],
        example: "[[table]]\nslug = \"times\"\nrows = [\"queue\"]\ncolumns = [\"transport\"]\nmetric = \"time\"\nunit = \"s\"",
    },
    StudyTable {
        topic: "figure",
        heading: "[[figure]]",
        meaning: "a figure of the results",
        keys: &[
            ("slug", "its name: that of its files (required)"),
            ("title", "its title"),
            FROM,
            (
                "kind",
                "what is drawn: `line`, `bar`, `series` and others, which an unknown kind lists (required)",
            ),
            ("x", "the axis from left to right"),
            (
                "y",
                "what is drawn upwards: a metric, an expression, or a quantity of time series",
            ),
            ("series", "the axis with a curve or a bar for each point"),
            ("facets", "the axis with a panel for each point"),
            ("at", "axes that are fixed: `{ size = \"3 MB\" }`"),
            ("only", "points of axes that are shown"),
            ("unit", "unit of the upward axis"),
            ("x_label", "label of the axis from left to right"),
            ("y_label", "label of the upward axis"),
            ("x_scale", "`linear` or `log`"),
            ("y_scale", "`linear` or `log`"),
            ("x_break", "what the axis leaves out: `{ from, to }`"),
            ("y_break", "what the axis leaves out: `{ from, to }`"),
            (
                "reference",
                "published numbers: a CSV file, relative to the study",
            ),
            (
                "published",
                "numbers that a paper prints in its text: `[{ x, y, series, text }]`",
            ),
        ],
        example: "[[figure]]\nslug = \"by-queue\"\nkind = \"line\"\nx = \"queue\"\ny = \"time\"\nseries = \"transport\"",
    },
    StudyTable {
        topic: "claim",
        heading: "[[claim]]",
        meaning: "a statement that the results are held to",
        keys: &[
            ("id", "its name (required)"),
            ("statement", "what it says (required)"),
            (
                "check",
                "the formula that decides, such as `time(bbr) < time(cubic)`, or `for all size: ...`",
            ),
            (
                "recorded",
                "the verdict to expect: `holds`, `fails` or `open`; another one is exit status 1",
            ),
            (
                "reason",
                "why it is as it is; it may quote results in braces",
            ),
            (
                "part",
                "statements that it consists of: `[[claim.part]]` with statement, check and recorded",
            ),
            FROM,
            (
                "readings",
                "an axis of readings of the paper: the verdict of each is told",
            ),
        ],
        example: "[[claim]]\nid = \"short\"\nstatement = \"With a short queue BBR is faster\"\ncheck = 'time(bbr, \"0.5 BDP\") < time(cubic, \"0.5 BDP\")'\nrecorded = \"holds\"",
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::Study;

    /// The messages about a study in which `table` has the keys `keys`, all of them `true`.
    fn messages(table: &StudyTable, keys: &[&str]) -> String {
        let heading = match table.topic {
            "study" => "",
            _ => table.heading,
        };
        let keys: Vec<String> = keys.iter().map(|key| format!("{key} = true")).collect();
        let text = format!("{heading}\n{}\n", keys.join("\n"));
        match Study::parse("a.toml", &text) {
            Ok(_) => String::new(),
            Err(errors) => errors.render(false),
        }
    }

    #[test]
    fn every_key_is_known_to_the_reader() {
        for table in &STUDY_TABLES {
            for (key, _) in table.keys {
                // Some keys are read in place of others only.
                let kinds = ["true", "\"line\"", "\"series\""].map(|kind| {
                    let text = match table.topic {
                        "figure" if *key != "kind" => {
                            format!("{}\nkind = {kind}\n{key} = true\n", table.heading)
                        }
                        "study" => format!("{key} = true\n"),
                        _ => format!("{}\n{key} = true\n", table.heading),
                    };
                    let errors = Study::parse("a.toml", &text).map(|_| ());
                    errors.map_or_else(|e| e.render(false), |()| String::new())
                });
                let unknown = format!("unknown key `{key}`");
                let known = kinds.iter().any(|said| !said.contains(&unknown));
                assert!(known, "{}: {key}", table.heading);
            }
        }
    }

    #[test]
    fn an_unknown_key_is_found_in_every_table() {
        for table in &STUDY_TABLES {
            let said = messages(table, &["no_such_key"]);
            assert!(said.contains("unknown key `no_such_key`"), "{said}");
        }
    }
}
