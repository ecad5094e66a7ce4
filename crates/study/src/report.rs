//! The report of a reproduction: a row per cell and per claim.

use crate::bar::CellVerdict;
use crate::claim::{ClaimResult, PartResult, ReadingResult};
use crate::table::TableData;
use crate::verdict::Verdict;
use serde::{Deserialize, Serialize, Serializer};

/// A report, which is an array of rows: cells first, then claims.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ReproduceReport {
    /// The rows.
    pub rows: Vec<ReportRow>,
    /// Whether something is not as recorded: a cell or a mean outside its bar
    /// that is not known to be, one within its bar that is known to miss it,
    /// or a claim whose verdict, or that on a part of it, changed.
    pub regression: bool,
}

impl Serialize for ReproduceReport {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.rows.serialize(to)
    }
}

/// A row of a report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ReportRow {
    /// A cell of a table.
    Cell(CellRow),
    /// A claim.
    Claim(ClaimRow),
}

/// A cell of a table, with the published number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CellRow {
    /// Slug of the paper.
    pub paper: String,
    /// Slug of the table.
    pub item: String,
    /// Label of the row.
    pub row: String,
    /// Label of the column.
    pub column: String,
    /// The published number, if the paper prints one.
    pub published: Option<f64>,
    /// Our number, if there is a result.
    pub ours: Option<f64>,
    /// Half the width of its 95% interval.
    pub ci95: Option<f64>,
    /// The unit of all three.
    pub unit: String,
    /// (ours - published) / published, as a fraction.
    pub relative_error: Option<f64>,
    /// Comparison with the published number.
    pub verdict: CellVerdict,
    /// Remarks.
    pub note: String,
}

/// A claim, with its recorded verdict.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClaimRow {
    /// Slug of the paper.
    pub paper: String,
    /// Identifier, such as `000-1`.
    pub id: String,
    /// Statement of the claim.
    pub claim: String,
    /// Verdict of the results.
    pub verdict: Verdict,
    /// Expected verdict.
    pub recorded: Option<Verdict>,
    /// What the verdict rests on besides the words of the source, such as `by fit`; left out
    /// where it rests on these alone.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub basis: String,
    /// Numbers that show it.
    pub evidence: String,
    /// Its parts, each with a verdict; left out of a claim that is one
    /// statement.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<PartResult>,
    /// The verdict under each reading, the main one first; left out of a claim
    /// without readings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub readings: Vec<ReadingResult>,
}

pub(crate) fn report(
    paper: &str,
    tables: &[(String, TableData)],
    claims: &[ClaimResult],
) -> ReproduceReport {
    let mut report = ReproduceReport::default();
    for (_, table) in tables {
        for cell in table.cells.iter().flatten() {
            report.regression |= cell.changed;
            report.rows.push(ReportRow::Cell(CellRow {
                paper: paper.to_owned(),
                item: table.slug.clone(),
                row: cell.row.clone(),
                column: cell.column.clone(),
                published: cell.published,
                ours: cell.ours,
                ci95: cell.ci95,
                unit: cell.unit.clone(),
                relative_error: cell.relative_error,
                verdict: cell.verdict,
                note: cell.note.clone(),
            }));
        }
        report.regression |= table.errors.iter().any(|e| e.changed);
    }
    for claim in claims {
        report.regression |= claim.regression;
        report.rows.push(ReportRow::Claim(ClaimRow {
            paper: paper.to_owned(),
            id: claim.id.clone(),
            claim: claim.claim.clone(),
            verdict: claim.verdict,
            recorded: claim.recorded,
            basis: claim.basis.clone(),
            evidence: claim.evidence.clone(),
            parts: claim.parts.clone(),
            readings: claim.readings.clone(),
        }));
    }
    report
}
