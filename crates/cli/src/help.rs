//! `bentpipe help`: commands, and the language of scenarios and studies by topic.

use crate::args;
use crate::exit::{Failure, Status, did_you_mean};
use crate::output::{Output, width};
use bentpipe_document::reference::{Topic, heading, presence, topics};
use bentpipe_document::schema::Section;
use bentpipe_study::{METRICS, STUDY_TABLES, StudyTable};

/// Characters of the names of keys.
const NAME: usize = 18;

/// Other words for topics.
const ALIASES: [(&str, &[&str]); 5] = [
    ("pep", &["middlebox", "split"]),
    ("proxy", &["middlebox"]),
    ("orbit", &["constellation"]),
    ("satellite", &["constellation"]),
    ("loss", &["channel"]),
];

/// The word for the list of topics.
const TOPICS: &str = "topics";

/// The word for how quantities are written.
const UNITS: &str = "units";

/// How quantities are written: what, the units, and an example.
pub(crate) const QUANTITIES: [(&str, &str); 5] = [
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

/// Prints the help of a command, of a topic, or of all.
pub(crate) fn main(args: &args::Help, out: &mut Output) -> Result<Status, Failure> {
    let words: Vec<&str> = args.topic.iter().map(String::as_str).collect();
    let command = args::help_of(&words, width(), out.is_coloured());
    if let Some(text) = &command {
        out.text(text)?;
    }
    let Some((first, rest)) = words.split_first() else {
        return Ok(Status::Done);
    };
    let topic = Found::named(first, rest);
    if topic.is_some() && command.is_some() {
        out.line("")?;
        out.line("")?;
    }
    match (topic, command) {
        (Some(found), _) => found.print(out)?,
        (None, Some(_)) => {}
        (None, None) => return Err(unknown(&words)),
    }
    Ok(Status::Done)
}

/// What a word stands for.
enum Found {
    Topics,
    Units,
    /// Tables of a scenario: all of a topic, or those of one kind.
    Scenario(Topic, Option<String>),
    Study(&'static StudyTable),
}

impl Found {
    fn named(word: &str, rest: &[&str]) -> Option<Found> {
        let alias = ALIASES.iter().find(|(alias, _)| *alias == word);
        if let Some((_, [topic, kind @ ..])) = alias {
            let kind = if rest.is_empty() { kind } else { rest };
            return Found::named(topic, kind);
        }
        match word {
            TOPICS => return Some(Found::Topics),
            UNITS => return Some(Found::Units),
            _ => {}
        }
        let all = topics(bentpipe_scenario::schema());
        if let Some(topic) = all.into_iter().find(|topic| topic.name == word) {
            let kind = rest.first().map(|kind| (*kind).to_owned());
            let known = |kind: &String| topic.sections.iter().any(|s| s.kind == Some(kind));
            if kind.as_ref().is_some_and(|kind| !known(kind)) {
                return None;
            }
            return Some(Found::Scenario(topic, kind));
        }
        let study = STUDY_TABLES.iter().find(|table| table.topic == word);
        study.map(Found::Study)
    }

    fn print(&self, out: &mut Output) -> Result<(), Failure> {
        match self {
            Found::Topics => list(out),
            Found::Units => {
                out.strong("How quantities are written")?;
                for (what, how) in QUANTITIES {
                    out.entry(2, what, NAME, how)?;
                }
                Ok(())
            }
            Found::Scenario(topic, kind) => of_scenario(topic, kind.as_deref(), out),
            Found::Study(table) => of_study(table, out),
        }
    }
}

fn of_scenario(topic: &Topic, kind: Option<&str>, out: &mut Output) -> Result<(), Failure> {
    let shown = topic
        .sections
        .iter()
        .filter(|s| kind.is_none() || s.kind == kind);
    for (i, section) in shown.enumerate() {
        if i > 0 {
            out.line("")?;
        }
        print_section(section, out)?;
    }
    let kinds = topic.sections.iter().filter(|s| s.kind.is_some()).count();
    if kind.is_none() && kinds > 1 {
        out.line("")?;
        out.paragraph(
            0,
            &format!("`bentpipe help {} KIND` prints one kind only.", topic.name),
        )?;
    }
    Ok(())
}

/// Prints a table of the language with its keys and an example.
pub(crate) fn print_section(section: &Section, out: &mut Output) -> Result<(), Failure> {
    out.strong(heading(section))?;
    out.paragraph(4, section.meaning)?;
    for key in &section.keys {
        out.entry(2, key.name, NAME, key.meaning)?;
        out.entry(2, "", NAME, &format!("{}; {}", key.kind, presence(key)))?;
    }
    example(section.example, out)
}

fn of_study(table: &StudyTable, out: &mut Output) -> Result<(), Failure> {
    out.strong(table.heading)?;
    out.paragraph(4, table.meaning)?;
    for (name, meaning) in table.keys {
        out.entry(2, name, NAME, meaning)?;
    }
    example(table.example, out)?;
    if table.topic == "metric" {
        out.line("")?;
        out.strong("Metrics that every run has")?;
        for metric in METRICS.iter() {
            out.entry(2, metric.name, 2 * NAME, &metric.about)?;
        }
    }
    Ok(())
}

fn example(text: &str, out: &mut Output) -> Result<(), Failure> {
    if text.is_empty() {
        return Ok(());
    }
    out.line("  example:")?;
    for line in text.lines() {
        out.line(format_args!("    {line}"))?;
    }
    Ok(())
}

/// Prints the words that there are.
fn list(out: &mut Output) -> Result<(), Failure> {
    out.strong("Topics of `bentpipe help`")?;
    let scenario: Vec<&str> = topics(bentpipe_scenario::schema())
        .iter()
        .map(|topic| topic.name)
        .collect();
    let study: Vec<&str> = STUDY_TABLES.iter().map(|table| table.topic).collect();
    let aliases: Vec<&str> = ALIASES.iter().map(|(alias, _)| *alias).collect();
    out.entry(2, "of a scenario", NAME, &scenario.join(", "))?;
    out.entry(2, "of a study", NAME, &study.join(", "))?;
    out.entry(2, "of both", NAME, UNITS)?;
    out.entry(2, "other words", NAME, &aliases.join(", "))?;
    out.paragraph(
        0,
        "`bentpipe help COMMAND` explains a command, `bentpipe schema` prints all of the language \
         of scenarios, and `bentpipe transports` lists the transports.",
    )
}

fn unknown(words: &[&str]) -> Failure {
    let all = topics(bentpipe_scenario::schema());
    let names = all.iter().map(|topic| topic.name);
    let names = names.chain(STUDY_TABLES.iter().map(|table| table.topic));
    let names = names.chain(ALIASES.iter().map(|(alias, _)| *alias));
    let commands = args::commands();
    let names = names
        .chain([TOPICS, UNITS])
        .chain(commands.iter().map(String::as_str));
    let first = words.first().copied().unwrap_or("");
    if let (Some(topic), [_, kind, ..]) = (all.iter().find(|t| t.name == first), words) {
        let kinds = topic.sections.iter().filter_map(|s| s.kind);
        let hint = did_you_mean(kind, kinds.clone());
        let kinds: Vec<&str> = kinds.collect();
        let known = match kinds.as_slice() {
            [] => "it has no kinds".to_owned(),
            kinds => format!("its kinds are {}", kinds.join(", ")),
        };
        return Failure::new(format!("there is no {first} `{kind}`{hint}\n  {known}"));
    }
    Failure::new(format!(
        "there is no command or topic `{}`{}\n  `bentpipe help` lists the commands, `bentpipe help \
         topics` the topics",
        words.join(" "),
        did_you_mean(first, names)
    ))
}

/// The line that ends the errors of a document: where to read about its parts.
pub(crate) fn see(topics: &[&str]) -> String {
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
