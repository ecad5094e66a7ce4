//! `bentpipe compare`: which transport for this link and its users?

mod capacity;
mod live;

use crate::args::{self, On};
use crate::exit::{Failure, Status};
use crate::output::{Output, draw, picture_kind};
use crate::progress::Progress;
use crate::{outputs, recorded};
use bentpipe::compare::{Answer, Build, Comparison};
use bentpipe::recording::Explained;
use bentpipe_outcome::write_whole;
use bentpipe_present::answer::{self, why};
use bentpipe_units::Time;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Compares and prints.
pub(crate) fn main(
    args: &args::Compare,
    arguments: &[OsString],
    out: &mut Output,
) -> Result<Status, Failure> {
    if let Some(args::CompareCommand::Capacity(args)) = &args.command {
        return capacity::main(args, out);
    }
    let pictures = [&args.plot, &args.curves].into_iter().flatten();
    for file in pictures.clone() {
        picture_kind(file)?;
    }
    recorded::check(&args.recorded)?;
    let comparison = comparison(args)?;
    let question = comparison.question();
    let orbit = question.orbit.iter().map(PathBuf::from);
    let read: Vec<PathBuf> = orbit.chain(question.trace.iter().cloned()).collect();
    let row_file = args.scenario_of.as_deref().and_then(scenario_file);
    let table = args.csv.iter().filter(|file| !is_stdout(file));
    let files = pictures.chain(&args.report).chain(&row_file).chain(table);
    let files = files.chain(args.recorded.files());
    outputs::check(&read, files.map(PathBuf::as_path))?;
    check_csv(args)?;
    let questions = comparison.by_users();
    if questions.len() > 1 {
        return by_users(args, &questions, out);
    }
    check_rows(args, &comparison)?;
    let (answer, measured) = answers(args, &comparison)?;
    if let Some([row, ..]) = args.scenario_of.as_deref() {
        let row = answer.row_named(row)?;
        let text = scenario_text(args, &answer, row)?;
        match &row_file {
            None => {
                out.text(&text)?;
                return Ok(Status::Done);
            }
            Some(file) => {
                write_whole(file, text.as_bytes()).map_err(|e| Failure::new(e.to_string()))?;
                crate::exit::talk(format_args!("wrote {}", file.display()));
            }
        }
    }
    let explained = explained(args, &answer)?;
    let document = || {
        let mut document = answer::document(&answer, BUILD);
        if let (Some(explained), Some(keys)) = (&explained, document.as_object_mut()) {
            keys.insert("why".to_owned(), why::document(&answer, explained));
        }
        document
    };
    let printed = match &args.csv {
        Some(file) => csv(file, std::slice::from_ref(&answer), out)?,
        None => false,
    };
    match &measured {
        _ if printed => {}
        Some(measured) if args.json => out.json(&serde_json::json!({
            "simulated": document(),
            "measured": answer::document(measured, BUILD),
        }))?,
        None if args.json => out.json(&document())?,
        _ => answer::print(&answer, BUILD, args.details, out)?,
    }
    if let (Some(explained), false) = (&explained, args.json || printed) {
        out.line("")?;
        why::print(&answer, explained, out)?;
    }
    if let (Some(measured), false) = (&measured, args.json || printed) {
        live::beside(&answer, measured, out)?;
    }
    if args.recorded.is_any() {
        record(args, &answer)?;
    }
    if let Some(file) = &args.report {
        let words = arguments
            .iter()
            .map(|word| word.to_string_lossy().into_owned());
        let page = answer::page(&answer, BUILD, &answer::command(words));
        write_whole(file, page.to_html().as_bytes()).map_err(|e| Failure::new(e.to_string()))?;
        crate::exit::talk(format_args!("wrote {}", file.display()));
    }
    let ended = answer.recommended().is_some();
    let drew = |file: &PathBuf| crate::exit::talk(format_args!("drew {}", file.display()));
    if let (Some(file), Some(chart)) = (&args.plot, answer::chart(&answer)) {
        draw(&chart, file)?;
        drew(file);
    }
    if let (Some(file), true) = (&args.curves, ended) {
        draw(
            &answer::curves(&answer, !question.transport.is_empty())?,
            file,
        )?;
        drew(file);
    }
    if !ended {
        crate::exit::talk("nothing can be recommended");
        return Ok(Status::Worse);
    }
    Ok(Status::Done)
}

/// The names of rows that `--why` has; the word that clap has for none is empty.
fn named(why: &[String]) -> Vec<String> {
    why.iter()
        .filter(|name| !name.trim().is_empty())
        .cloned()
        .collect()
}

/// The file that `--scenario-of` writes; none if it prints.
fn scenario_file(values: &[String]) -> Option<PathBuf> {
    let file = values.get(1).filter(|file| *file != "-");
    file.map(PathBuf::from)
}

/// The scenario of a row, with what else the file needs to run.
fn scenario_text(args: &args::Compare, answer: &Answer, row: usize) -> Result<String, Failure> {
    let text = answer::scenario(answer, row, answer.sizes.len().saturating_sub(1))?;
    if args.own.files.is_empty() {
        return Ok(text);
    }
    let own = args.own.files.iter().map(|file| format!(" --cc {file}"));
    let own: String = own.collect();
    Ok(format!(
        "# Transports may be of a file: bentpipe run FILE{own}\n{text}"
    ))
}

/// Looks at the names of rows before a long comparison begins, and whether their runs can
/// be recorded.
fn check_rows(args: &args::Compare, comparison: &Comparison) -> Result<(), Failure> {
    let wants_packets = args.recorded.is_any();
    if args.row.is_some() && !wants_packets {
        return Err(Failure::new(
            "--row says what --sequence, --packets or --qlog are about; give one of them",
        ));
    }
    if args.why.is_none() && args.scenario_of.is_none() && !wants_packets {
        return Ok(());
    }
    if args.on == On::Linux && (args.why.is_some() || wants_packets) {
        return Err(Failure::new(
            "--why, --sequence, --packets and --qlog are about runs of the simulator; leave out --on \
             linux, or use --on both",
        ));
    }
    let why = named(args.why.as_deref().unwrap_or_default());
    if why.len() > 2 {
        return Err(Failure::new("--why takes one row or two"));
    }
    let unrun = comparison.without_runs()?;
    let scenario_of = args.scenario_of.iter().flat_map(|values| values.first());
    for name in why.iter().chain(scenario_of).chain(&args.row) {
        unrun.row_named(name)?;
    }
    if args.why.is_some() || wants_packets {
        unrun.check_recordable(unrun.sizes.len().saturating_sub(1))?;
    }
    Ok(())
}

/// Writes what the packets of a row's run did.
fn record(args: &args::Compare, answer: &Answer) -> Result<(), Failure> {
    let row = match &args.row {
        Some(name) => answer.row_named(name)?,
        None => answer.verdict.pick.unwrap_or(answer.verdict.baseline),
    };
    let size = answer.sizes.len().saturating_sub(1);
    let trace = answer.trace(row, size, [Time::ZERO, Time::MAX])?;
    let scenario = answer.scenario_of_run(&answer.rows[row], size, trace.seed)?;
    recorded::write(&args.recorded, &[trace], &scenario.hash().to_string())
}

/// The runs that `--why` explains.
fn explained(args: &args::Compare, answer: &Answer) -> Result<Option<Vec<Explained>>, Failure> {
    let Some(why) = &args.why else {
        return Ok(None);
    };
    let rows = why::rows(answer, &named(why))?;
    let size = answer.sizes.len().saturating_sub(1);
    Ok(Some(answer.explain_beside(&rows, size)?))
}

/// What the table as comma-separated values does not go with.
fn check_csv(args: &args::Compare) -> Result<(), Failure> {
    if args.json && args.csv.as_deref().is_some_and(is_stdout) {
        return Err(Failure::new(
            "--json and --csv - both write to standard output",
        ));
    }
    if args.csv.is_some() && args.on == On::Both {
        return Err(Failure::new(
            "--csv is for one kind of hosts, not --on both",
        ));
    }
    Ok(())
}

/// The answers for several numbers of users.
fn by_users(
    args: &args::Compare,
    questions: &[Comparison],
    out: &mut Output,
) -> Result<Status, Failure> {
    let of_one = [
        ("plot", args.plot.is_some()),
        ("curves", args.curves.is_some()),
        ("report", args.report.is_some()),
        ("why", args.why.is_some()),
        ("scenario-of", args.scenario_of.is_some()),
        ("row", args.recorded.is_any()),
        ("on", args.on != On::Sim),
    ];
    if let Some((name, _)) = of_one.iter().find(|(_, is_given)| *is_given) {
        let text = format!("--{name} is for one number of users; --users has several");
        return Err(Failure::new(text));
    }
    let answers: Vec<Answer> = questions.iter().map(asked).collect::<Result<_, _>>()?;
    let printed = match &args.csv {
        Some(file) => csv(file, &answers, out)?,
        None => false,
    };
    match args.json {
        _ if printed => {}
        true => out.json(&answer::by_users::document(&answers, BUILD))?,
        false => answer::by_users::print(&answers, BUILD, args.details, out)?,
    }
    if answers.iter().all(|answer| answer.recommended().is_none()) {
        crate::exit::talk("nothing can be recommended");
        return Ok(Status::Worse);
    }
    Ok(Status::Done)
}

/// Writes the rows of answers as a table; true if it went to standard output.
fn csv(file: &Path, answers: &[Answer], out: &mut Output) -> Result<bool, Failure> {
    let text = answer::by_users::csv(answers).map_err(|e| Failure::new(e.to_string()))?;
    if is_stdout(file) {
        out.text(&text)?;
        return Ok(true);
    }
    write_whole(file, text.as_bytes()).map_err(|e| Failure::new(e.to_string()))?;
    crate::exit::talk(format_args!("wrote {}", file.display()));
    Ok(false)
}

/// `-` stands for standard output.
fn is_stdout(file: &Path) -> bool {
    file.as_os_str() == "-"
}

/// The answer, and with `--on both` that of real hosts as well.
fn answers(
    args: &args::Compare,
    question: &Comparison,
) -> Result<(Answer, Option<Answer>), Failure> {
    let simulated = (args.on != On::Linux)
        .then(|| asked(question))
        .transpose()?;
    if args.on == On::Sim
        && let Some(answer) = simulated
    {
        return Ok((answer, None));
    }
    let hosts = live::Hosts::new()?;
    let question = question.clone().runner(hosts.clone());
    let measured = asked(&question)?;
    crate::exit::talk(hosts.remark());
    Ok(match simulated {
        Some(simulated) => (simulated, Some(measured)),
        None => (measured, None),
    })
}

/// Asks, and shows how far it is.
fn asked(question: &Comparison) -> Result<Answer, Failure> {
    let progress = Progress::new("runs");
    let show = |done: usize, total: usize| progress.set(done as u64, total as u64);
    Ok(question.run_with(&show)?)
}

/// What this program can do.
pub(crate) const BUILD: Build =
    Build::with_kernel(cfg!(all(feature = "kernel", target_os = "linux")));

/// What the command line asks for.
pub(crate) fn comparison(args: &args::Compare) -> Result<Comparison, Failure> {
    let mut question = args.asked.0.clone().map_err(bentpipe::Error::from)?;
    if args.on != On::Sim {
        question.runs = question.runs.or(Some(live::RUNS));
    }
    let threads = args.threads.threads.map_or(0, usize::from);
    Ok(Comparison::from(question).threads(threads))
}
