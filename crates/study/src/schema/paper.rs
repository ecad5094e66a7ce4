//! Papers.

use bentpipe_document::schema::integer;
use bentpipe_document::{Many, table};

table! {
    /// a paper, and the studies that reproduce it
    pub(crate) PaperKeys at "", called "the paper",
        example "title = \"TCP over satellite\"\nyear = 2006\nstudies = [\"table-3.toml\"]";
    /// its title
    title: String, required;
    /// the names of its authors, as it prints them
    authors: Many<String>, or "none";
    /// the year of its publication
    year: u64 [integer(1900, 2200)], or "unknown";
    /// how to cite it
    citation: String, or "none";
    /// the files of the studies that reproduce it, relative to this one
    studies: Many<String>, required;
    /// lines for an overview of papers
    highlight: Vec<HighlightKeys>, or "none";
}

table! {
    /// a line of an overview of papers
    pub(crate) HighlightKeys at "highlight", each "a highlight of",
        example "[[highlight]]\nwhat = \"table 3\"\n\
                 result = \"{table-3: time(mtsi); s; 1} with MTSI\"";
    /// what is reproduced
    what: String, required;
    /// how near the results are, with numbers in braces
    result: String, required;
}
