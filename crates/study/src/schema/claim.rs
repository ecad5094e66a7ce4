//! Claims.

use crate::Verdict;
use crate::study::Expression;
use bentpipe_document::table;

/// The verdicts to hold a formula to. Only a claim of several parts holds mostly or hardly.
const RECORDED: [(&str, Verdict); 3] = [
    ("holds", Verdict::Holds),
    ("fails", Verdict::Fails),
    ("open", Verdict::Open),
];

table! {
    /// a statement that the results are held to
    pub(crate) ClaimKeys at "claim", each "a claim of",
        example "[[claim]]\nid = \"short\"\nstatement = \"With a short queue BBR is faster\"\n\
                 check = 'time(bbr, \"0.5 BDP\") < time(cubic, \"0.5 BDP\")'\nrecorded = \"holds\"";
    /// its name
    id: String, required;
    /// what it says
    statement: String, required;
    /// the formula that decides, such as `time(bbr) < time(cubic)`, or `for all size: ...`
    check: Expression, or "those of its parts";
    /// the verdict to expect; another one is exit status 1
    recorded: Verdict { all RECORDED }, or "any verdict is as recorded";
    /// why it is as it is; it may quote results in braces
    reason: String, or "nothing";
    /// what the verdict rests on besides the source's own words, printed beside it: `"by fit: ..."`,
    /// `"arithmetic on printed numbers"`, `"our reading of the mechanism"`
    basis: String, or "the source's words";
    /// statements that it consists of
    part: Vec<PartKeys>, or "it is one statement";
    /// the study whose axes and results it is about
    from: String, or "its own";
    /// an axis of readings of the paper: the verdict of each is told
    readings: String, or "none";
}

table! {
    /// one of the statements that a claim consists of
    pub(crate) PartKeys at "claim.part", each "a part of",
        example "[[claim]]\nid = \"order\"\nstatement = \"CUBIC is fast with every queue\"\n\
                 [[claim.part]]\nstatement = \"It is fast with a short queue\"\n\
                 check = 'time(cubic, \"0.5 BDP\") < 9 s'\nrecorded = \"holds\"";
    /// what it says
    statement: String, required;
    /// the formula that decides
    check: Expression, required;
    /// the verdict to expect
    recorded: Verdict { all RECORDED }, or "any verdict is as recorded";
}
