//! `bentpipe help`: commands, and the language of scenarios and studies by topic.

use crate::args;
use crate::exit::{Failure, Status, did_you_mean};
use crate::output::{Output, width};
use bentpipe_document::reference::{Topic, topics};
use bentpipe_present::schema::{NAME, QUANTITIES, print_metrics, print_section};
use bentpipe_present::transports;

/// Other words for topics.
const ALIASES: [(&str, &[&str]); 5] = [
    ("pep", &["middlebox", "split"]),
    ("proxy", &["middlebox"]),
    ("orbit", &["constellation"]),
    ("satellite", &["constellation"]),
    ("loss", &["channel"]),
];

/// What a word of the glossary is also explained by: a topic with a kind of it.
const EXPLAINED: [(&str, &[&str]); 2] = [("AQM", &["queue"]), ("rain fade", &["fade"])];

/// The word for the list of topics.
const TOPICS: &str = "topics";

/// The word for how quantities are written.
const UNITS: &str = "units";

/// The word for the words of the field.
const GLOSSARY: &str = "glossary";

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
    // A command says of itself what it is.
    let topic = Found::named(first, rest)
        .filter(|found| command.is_none() || !matches!(found, Found::Word(..)));
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
    Glossary,
    /// Tables of a scenario or a study: all of a topic, or those of one kind.
    Tables(Topic, Option<String>),
    /// What the glossary says of it, the topics that have a kind of this name, and the
    /// transport that is called so; at least one of them.
    Word(
        Vec<(&'static str, String)>,
        Vec<Found>,
        Option<transports::Found>,
    ),
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
            GLOSSARY => return Some(Found::Glossary),
            _ => {}
        }
        let Some(topic) = language().into_iter().find(|topic| topic.name == word) else {
            return Found::word(word).filter(|_| rest.is_empty());
        };
        let kind = rest.first().map(|kind| (*kind).to_owned());
        let known = |kind: &String| topic.sections.iter().any(|s| s.kind == Some(kind));
        if kind.as_ref().is_some_and(|kind| !known(kind)) {
            return None;
        }
        Some(Found::Tables(topic, kind))
    }

    /// A word of the field.
    fn word(word: &str) -> Option<Found> {
        let terms: Vec<_> = terms()
            .flat_map(|(_, terms)| terms)
            .filter(|(term, _)| is_named(term, word))
            .collect();
        let lower = word.to_ascii_lowercase();
        let is_kind = |topic: &Topic| topic.sections.iter().any(|s| s.kind == Some(&lower));
        let mut tables: Vec<Found> = language()
            .into_iter()
            .filter(is_kind)
            .map(|topic| Found::Tables(topic, Some(lower.clone())))
            .collect();
        for (term, _) in &terms {
            let explained = EXPLAINED.iter().find(|(known, _)| known == term);
            if let Some((_, [topic, rest @ ..])) = explained {
                tables.extend(Found::named(topic, rest));
            }
        }
        let transport = transports::Found::named(&lower).ok();
        let is_known = !terms.is_empty() || !tables.is_empty() || transport.is_some();
        is_known.then_some(Found::Word(terms, tables, transport))
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
            Found::Glossary => glossary(out),
            Found::Tables(topic, kind) => tables(topic, kind.as_deref(), out),
            Found::Word(terms, tables, transport) => {
                for (term, meaning) in terms {
                    out.paragraph(0, &format!("{term}: {meaning}"))?;
                }
                let mut is_first = terms.is_empty();
                let mut apart = |out: &mut Output| match std::mem::take(&mut is_first) {
                    true => Ok(()),
                    false => out.line(""),
                };
                for table in tables {
                    apart(out)?;
                    table.print(out)?;
                }
                if let Some(transport) = transport {
                    apart(out)?;
                    transport.print(out)?;
                }
                Ok(())
            }
        }
    }
}

/// The topics of scenarios and studies. What both have, such as `control`, is one topic.
fn language() -> Vec<Topic> {
    let mut all = topics(bentpipe_scenario::schema());
    for topic in topics(bentpipe_study::schema()) {
        match all.iter_mut().find(|known| known.name == topic.name) {
            Some(known) => known.sections.extend(topic.sections),
            None => all.push(topic),
        }
    }
    all
}

fn tables(topic: &Topic, kind: Option<&str>, out: &mut Output) -> Result<(), Failure> {
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
    if topic.name == "metric" {
        out.line("")?;
        print_metrics(out)?;
    }
    Ok(())
}

/// Prints `docs/glossary.md`: its headings, and below each its words, of which each is an
/// item of a list, `- **word**: meaning`.
fn glossary(out: &mut Output) -> Result<(), Failure> {
    for (i, (heading, words)) in terms().enumerate() {
        if i > 0 {
            out.line("")?;
        }
        out.strong(heading)?;
        for (word, meaning) in words {
            out.entry(2, word, NAME, &meaning)?;
        }
    }
    Ok(())
}

/// The words of a heading, each with its meaning.
type Terms = Vec<(&'static str, String)>;

/// The headings of the glossary, each with its words.
fn terms() -> impl Iterator<Item = (&'static str, Terms)> {
    let page = include_str!("../glossary.md");
    page.split("\n## ").skip(1).map(|section| {
        let (heading, words) = section.split_once('\n').unwrap_or((section, ""));
        let words = words.split("\n- **").skip(1).map(|word| {
            let (word, meaning) = word.split_once("**: ").unwrap_or((word, ""));
            let meaning: Vec<&str> = meaning.split_whitespace().collect();
            (word, meaning.join(" "))
        });
        (heading, words.collect())
    })
}

/// True if a word of the glossary, such as `CoDel, FQ-CoDel` or `rain fade`, is called so:
/// by one of its names, or by a word of one.
fn is_named(term: &str, word: &str) -> bool {
    let mut names = term.split(", ");
    names.any(|name| {
        name.eq_ignore_ascii_case(word)
            || name
                .split_whitespace()
                .any(|part| part.eq_ignore_ascii_case(word))
    })
}

/// Prints the words that there are.
fn list(out: &mut Output) -> Result<(), Failure> {
    out.strong("Topics of `bentpipe help`")?;
    let names = |schema| {
        let topics = topics(schema).into_iter();
        topics.map(|topic| topic.name).collect::<Vec<&str>>()
    };
    let scenario = names(bentpipe_scenario::schema());
    let study = names(bentpipe_study::schema());
    let aliases: Vec<&str> = ALIASES.iter().map(|(alias, _)| *alias).collect();
    out.entry(2, "of a scenario", NAME, &scenario.join(", "))?;
    out.entry(2, "of a study", NAME, &study.join(", "))?;
    out.entry(2, "of both", NAME, &[UNITS, GLOSSARY].join(", "))?;
    out.entry(2, "other words", NAME, &aliases.join(", "))?;
    Ok(out.paragraph(
        0,
        "`bentpipe help COMMAND` explains a command, `bentpipe schema` prints all of the language \
         of scenarios, `bentpipe schema --study` that of studies, and `bentpipe transports` lists the transports.",
    )?)
}

fn unknown(words: &[&str]) -> Failure {
    let all = language();
    let names = all.iter().map(|topic| topic.name);
    let names = names.chain(ALIASES.iter().map(|(alias, _)| *alias));
    let kinds = all.iter().flat_map(|topic| &topic.sections);
    let names = names.chain(kinds.filter_map(|section| section.kind));
    let commands = args::commands();
    let names = names
        .chain([TOPICS, UNITS, GLOSSARY])
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
