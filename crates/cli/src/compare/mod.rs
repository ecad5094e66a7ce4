//! `bentpipe compare`: which transport for this link and its users?

pub(crate) mod day;
pub(crate) mod json;
mod live;
pub(crate) mod over_time;
pub(crate) mod plot;
pub(crate) mod print;
pub(crate) mod report;

use crate::args::{self, On};
use crate::exit::{Failure, Status};
use crate::output::{Output, picture_kind};
use crate::outputs;
use crate::progress::Progress;
use bentpipe::compare::{Answer, Build, Comparison, Orbit, Trace};
use bentpipe_outcome::write_whole;
use std::ffi::OsString;
use std::path::PathBuf;

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
    let orbit = args.orbit.iter().map(PathBuf::from);
    let read: Vec<PathBuf> = orbit.chain(args.trace.iter().cloned()).collect();
    let files = pictures.chain(&args.report);
    outputs::check(&read, files.map(PathBuf::as_path))?;
    let comparison = comparison(args)?;
    let (answer, measured) = answers(args, &comparison)?;
    match &measured {
        Some(measured) if args.json => out.json(&serde_json::json!({
            "simulated": json::document(&answer, BUILD),
            "measured": json::document(measured, BUILD),
        }))?,
        None if args.json => out.json(&json::document(&answer, BUILD))?,
        _ => print::all(&answer, BUILD, args.details, out)?,
    }
    if let (Some(measured), false) = (&measured, args.json) {
        live::beside(&answer, measured, out)?;
    }
    if let Some(file) = &args.report {
        let words = arguments
            .iter()
            .map(|word| word.to_string_lossy().into_owned());
        let page = report::page(&answer, BUILD, &report::command(words));
        write_whole(file, page.to_html().as_bytes()).map_err(|e| Failure::new(e.to_string()))?;
        crate::exit::talk(format_args!("wrote {}", file.display()));
    }
    let ended = answer.recommended().is_some();
    let drew = |file: &PathBuf| crate::exit::talk(format_args!("drew {}", file.display()));
    if let (Some(file), true) = (&args.plot, ended) {
        match answer.day() {
            Some(day) => day::draw(&answer, &day, file)?,
            None => plot::draw(&answer, file)?,
        }
        drew(file);
    }
    if let (Some(file), true) = (&args.curves, ended) {
        over_time::draw(&answer, !args.transport.is_empty(), file)?;
        drew(file);
    }
    if !ended {
        crate::exit::talk("nothing can be recommended");
        return Ok(Status::Worse);
    }
    Ok(Status::Done)
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
    let mut comparison = Comparison::new()
        .sizes(args.size.iter().copied())
        .queue(args.queue)
        .hosts(args.hosts)
        .traffic(args.traffic)
        .peps(args.pep.iter().copied())
        .seed(args.seed)
        .threads(args.threads.threads.map_or(0, usize::from));
    if !args.transport.is_empty() {
        let names = args.transport.iter().map(|name| name.trim());
        comparison = comparison.transports(names.filter(|name| !name.is_empty()));
    }
    if let Some(users) = args.users {
        comparison = comparison.users(users);
    }
    if let Some(beside) = &args.beside {
        comparison = comparison.beside(beside);
    }
    if let Some(background) = args.background {
        comparison = comparison.background(background);
    }
    if let Some(time) = args.stagger {
        comparison = comparison.stagger(time);
    }
    if let Some(rate) = args.return_rate {
        comparison = comparison.return_rate(rate);
    }
    if let Some(rtt) = args.server_rtt {
        comparison = comparison.server_rtt(rtt);
    }
    let in_real_time = (args.on != On::Sim).then_some(live::RUNS);
    if let Some(runs) = args.runs.or(in_real_time) {
        comparison = comparison.runs(runs);
    }
    if let Some(rate) = args.rate {
        comparison = comparison.rate(rate);
    }
    if let Some(rtt) = args.rtt {
        comparison = comparison.rtt(rtt);
    }
    if let Some(loss) = args.loss {
        comparison = comparison.loss(loss);
    }
    if let Some(time) = args.over {
        comparison = comparison.over(time);
    }
    if !args.trace.is_empty() {
        comparison = comparison.trace(Trace::new(&args.trace));
    }
    if let Some(name) = &args.orbit {
        let (Some(from), Some(to)) = (&args.from, &args.to) else {
            return Err(Failure::new("--orbit needs --from PLACE and --to PLACE"));
        };
        let mut orbit = Orbit::new(name, from.clone(), to.clone());
        if let Some(longitude) = args.slot {
            orbit = orbit.slot(longitude);
        }
        comparison = comparison.orbit(orbit);
    }
    Ok(comparison)
}
