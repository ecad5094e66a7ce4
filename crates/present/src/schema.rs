//! The languages of scenarios and studies, as `bentpipe help` and `bentpipe schema` print them.

use crate::output::Output;
use bentpipe_document::reference::{heading, presence};
use bentpipe_document::schema::Section;
use bentpipe_study::METRICS;
use std::io;

/// Characters of the names of keys.
pub const NAME: usize = 18;

/// How quantities are written: what, the units, and an example.
pub const QUANTITIES: [(&str, &str); 5] = [
    (
        "time",
        "ns, us, ms, s, min, h: \"255.5 ms\", \"2 min\". The unit must be written.",
    ),
    (
        "rate",
        "bit/s, kbit/s, Mbit/s, Gbit/s, also B/s, kB/s, MB/s and the forms of tc and iperf3: \
         \"2 Mbit/s\", \"20Mbit\". The prefixes are powers of 1000.",
    ),
    (
        "size",
        "B, kB, MB, GB, TB, powers of 1000; KiB, MiB, GiB, powers of 1024: \"320 kB\", \"64 KiB\".",
    ),
    (
        "share",
        "a number from 0 to 1 or a percentage: 0.01, \"1%\".",
    ),
    (
        "queue length",
        "packets, a size, or bandwidth-delay products: \"100 packets\", \"64 kB\", \"0.5 BDP\".",
    ),
];

/// Prints a table of the language with its keys and an example.
///
/// # Errors
/// If the writer fails.
pub fn print_section(section: &Section, out: &mut Output) -> io::Result<()> {
    out.strong(heading(section))?;
    out.paragraph(4, section.meaning)?;
    for key in &section.keys {
        out.entry(2, key.name, NAME, key.meaning)?;
        out.entry(2, "", NAME, &format!("{}; {}", key.kind, presence(key)))?;
    }
    example(section.example, out)
}

/// Prints the metrics that every run of a study has.
///
/// # Errors
/// If the writer fails.
pub fn print_metrics(out: &mut Output) -> io::Result<()> {
    out.strong("Metrics that every run has")?;
    for metric in METRICS.iter() {
        out.entry(2, metric.name, 2 * NAME, &metric.about)?;
    }
    Ok(())
}

fn example(text: &str, out: &mut Output) -> io::Result<()> {
    if text.is_empty() {
        return Ok(());
    }
    out.line("  example:")?;
    for line in text.lines() {
        out.line(format_args!("    {line}"))?;
    }
    Ok(())
}

/// The line that ends the errors of a document: where to read about its parts.
#[must_use]
pub fn see(topics: &[&str]) -> String {
    /// More are no help.
    const MOST: usize = 3;
    let words = topics.iter().take(MOST);
    let words: Vec<String> = words
        .map(|topic| format!("`bentpipe help {topic}`"))
        .collect();
    match words.as_slice() {
        [] => String::new(),
        words => format!("see {}\n", words.join(", ")),
    }
}
