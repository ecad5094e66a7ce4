//! `bentpipe compare`: which transport for this link and its users?

mod live;

use crate::args::{self, On};
use crate::exit::{Failure, Status};
use crate::output::{Output, draw, picture_kind};
use crate::outputs;
use crate::progress::Progress;
use bentpipe::compare::{Answer, Build, Comparison};
use bentpipe_outcome::write_whole;
use bentpipe_present::answer;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Compares and prints.
pub(crate) fn main(
    args: &args::Compare,
    arguments: &[OsString],
    out: &mut Output,
) -> Result<Status, Failure> {
    let pictures = [&args.plot, &args.curves].into_iter().flatten();
    for file in pictures.clone() {
        picture_kind(file)?;
    }
    let comparison = comparison(args)?;
    let question = comparison.question();
    let orbit = question.orbit.iter().map(PathBuf::from);
    let read: Vec<PathBuf> = orbit.chain(question.trace.iter().cloned()).collect();
    let table = args.csv.iter().filter(|file| !is_stdout(file));
    let files = pictures.chain(&args.report).chain(table);
    outputs::check(&read, files.map(PathBuf::as_path))?;
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
    let questions = comparison.by_users();
    if questions.len() > 1 {
        return by_users(args, &questions, out);
    }
    let (answer, measured) = answers(args, &comparison)?;
    let printed = match &args.csv {
        Some(file) => csv(file, std::slice::from_ref(&answer), out)?,
        None => false,
    };
    match &measured {
        _ if printed => {}
        Some(measured) if args.json => out.json(&serde_json::json!({
            "simulated": answer::document(&answer, BUILD),
            "measured": answer::document(measured, BUILD),
        }))?,
        None if args.json => out.json(&answer::document(&answer, BUILD))?,
        _ => answer::print(&answer, BUILD, args.details, out)?,
    }
    if let (Some(measured), false) = (&measured, args.json || printed) {
        live::beside(&answer, measured, out)?;
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
